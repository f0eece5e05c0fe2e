"""The operations that every kind of mailbox has: listing, reading, moving, and waiting for new mail."""

from __future__ import annotations

import select
import socket
from collections.abc import Hashable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol

from spamnb.sources.mailbox import Folder, MailboxMessage

NO_VERDICT = -1  # the position of a message that the ledger has no verdict of


class Arrivals(NamedTuple):
    """The messages that came into a folder since a mark."""

    messages: list[MailboxMessage]
    mark: str  # the folder's present mark
    is_complete: bool  # whether the messages are all messages of the folder


class Move(NamedTuple):
    """The record of a move that was begun: the message ``key`` goes from ``folder`` to ``target``."""

    folder: str
    key: str
    identity: bytes  # of the message, as `Mailbox.identities` computes it
    digest: bytes
    target: str
    mark: str  # of the target before the move
    is_junk: bool  # whether the target is a folder of spam
    position: int = NO_VERDICT  # of the message's verdict in the ledger


class Mailbox(Protocol):
    """A mailbox. Its methods raise SpamnbError for an error of the mailbox, and OSError for one message or folder."""

    display_name: str  # for people
    address: str  # its absolute path, or the URL of its account
    lock_path: Path  # the file that spamnb locks while it moves mail
    inbox: Folder

    def folders(self) -> list[Folder]:
        """Return all folders, the inbox first."""

    def forget_folders(self) -> None:
        """Forget the list of folders."""

    def locate(self, name: str) -> Folder:
        """Return the folder of this name, which may not exist yet."""

    def junk(self) -> Folder:
        """Return the folder of spam, which may not exist yet."""

    def exists(self, folder: Folder) -> bool:
        """Return whether a folder exists."""

    def make_folder(self, folder: Folder) -> None:
        """Make a folder if it does not exist, and subscribe it, because mail readers show only subscribed folders."""

    def is_within(self, folder: Folder, parent: Folder) -> bool:
        """Return whether a folder is ``parent`` or below it."""

    def folder_key(self, folder: Folder) -> str:
        """Return the folder's name in the record."""

    def state(self, folder: Folder) -> Hashable:
        """Return a value that changes when mail comes or goes; None if a change may have no effect on it."""

    def mark(self, folder: Folder) -> str:
        """Return the folder's present mark. Messages that come later are after this mark."""

    def count(self) -> int:
        """Return the number of messages in all folders."""

    def messages(self, folder: Folder) -> list[MailboxMessage]:
        """Return the messages of a folder, the oldest first."""

    def find(self, folder: Folder, keys: Sequence[str]) -> list[MailboxMessage]:
        """Return the messages with these keys that are still in the folder."""

    def lookup(self, path: str, message_id: str) -> list[MailboxMessage]:
        """Return the messages that `format_path` may have described with this path, the likely ones first."""

    def read(self, messages: Sequence[MailboxMessage]) -> Iterator[tuple[MailboxMessage, bytes | OSError]]:
        """Yield each message with its bytes or its error. The error is FileNotFoundError if the message is gone."""

    def headers(self, messages: Sequence[MailboxMessage]) -> Iterator[tuple[MailboxMessage, bytes | OSError]]:
        """Yield each message with its header, which may be truncated. Missing messages may be left out."""

    def identities(self, messages: Sequence[MailboxMessage]) -> Iterator[tuple[MailboxMessage, bytes | OSError]]:
        """Yield each message with its identity, which is the same in all folders. Missing messages may be left out."""

    def list_new(self, mark: str, waiting: Sequence[str]) -> tuple[list[MailboxMessage], str]:
        """Return the inbox's messages with the keys ``waiting``, and its mail after ``mark``; and its present mark."""

    def list_arrivals(self, folder: Folder, mark: str, n_recorded: int) -> Arrivals:
        """Return the messages that came since a mark. The record has ``n_recorded`` of the folder's messages."""

    def move(
        self, messages: Sequence[MailboxMessage], into: Folder
    ) -> dict[MailboxMessage, MailboxMessage | OSError | None]:
        """Move messages of one folder, and return for each its new message (None if it is unknown) or its error.

        Messages that were no longer in the folder are left out.
        """

    def settle(self, moves: Sequence[Move]) -> Iterator[tuple[Move, MailboxMessage | None]]:
        """Finish interrupted moves. Yield each with its message in the target, or with None if it was not moved."""

    def format_path(self, folder: Folder, message: MailboxMessage | None) -> str:
        """Return a path or URL with which `lookup` finds a message again, or an empty text."""

    def find_folder(self, path: str) -> Folder:
        """Return the folder in a path or URL of `format_path`."""

    def wait(self, state: Hashable, seconds: float, stop: int) -> None:
        """Wait until the inbox has another state, ``seconds`` have passed, or the descriptor ``stop`` is readable."""

    def close(self) -> None:
        """Close connections."""


def wait_readable(files: Iterable[int | socket.socket], seconds: float | None) -> bool:
    """Wait until one of the files is readable, and return whether one is."""
    poll = select.poll()
    for file in files:
        poll.register(file, select.POLLIN)
    return bool(poll.poll(None if seconds is None else seconds * 1000))
