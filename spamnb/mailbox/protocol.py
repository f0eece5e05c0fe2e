"""The operations that every kind of mailbox has: listing, reading, moving, and waiting for new mail."""

from __future__ import annotations

import select
import socket
from collections.abc import Hashable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol

from spamnb.sources.mailbox import Folder, MailboxMessage


class Arrivals(NamedTuple):
    """The messages that came into a folder since a mark.

    - ``messages``: these messages, or all messages of the folder if ``complete``
    - ``mark``: the folder's present mark
    """

    messages: list[MailboxMessage]
    mark: str
    complete: bool


class Move(NamedTuple):
    """A move that was begun.

    - ``folder``, ``key``: the message, and the folder that it was in
    - ``kin``: the message's identity, which is the same in every folder
    - ``target``, ``mark``: the folder that it goes to, and that folder's mark before the move
    - ``junk``: whether ``target`` is a folder of spam
    - ``note``: its entry for the journal, as `spamnb.journal.entries.encode_entry` writes it, or empty
    """

    folder: str
    key: str
    kin: bytes
    digest: bytes
    target: str
    mark: str
    junk: bool
    note: str = ""


class Mailbox(Protocol):
    """A mailbox. Its methods raise SpamnbError about the mailbox, and OSError about one message or folder.

    - ``display_name``: its name for people
    - ``address``: its absolute path, or the URL of its account
    - ``record_path``: the file of its `MailboxRecord`
    """

    display_name: str
    address: str
    record_path: Path
    inbox: Folder

    def folders(self) -> list[Folder]:
        """Return all folders, the inbox first."""

    def refresh(self) -> None:
        """Forget the list of folders."""

    def locate(self, name: str) -> Folder:
        """Return the folder of this name, which may not exist yet."""

    def junk(self) -> Folder:
        """Return the folder of spam, which may not exist yet."""

    def exists(self, folder: Folder) -> bool:
        """Return whether a folder exists."""

    def make_folder(self, folder: Folder) -> None:
        """Make a folder if it does not exist, and subscribe it, because mail readers show no other."""

    def is_below(self, folder: Folder, parent: Folder) -> bool:
        """Return whether a folder is ``parent`` or below it."""

    def key(self, folder: Folder) -> str:
        """Return the folder's name in the record."""

    def state(self, folder: Folder) -> Hashable:
        """Return a value that changes when mail comes or goes; None if it is uncertain."""

    def mark(self, folder: Folder) -> str:
        """Return the folder's present mark: later messages are behind it."""

    def count(self) -> int:
        """Return the number of messages in all folders."""

    def messages(self, folder: Folder) -> list[MailboxMessage]:
        """Return the messages of a folder, the oldest first."""

    def find(self, folder: Folder, keys: Sequence[str]) -> list[MailboxMessage]:
        """Return the messages of these keys that are still in the folder."""

    def lookup(self, path: str, message_id: str) -> list[MailboxMessage]:
        """Return the messages that may be the one of a `format_path`, the likely ones first."""

    def read(self, messages: Sequence[MailboxMessage]) -> Iterator[tuple[MailboxMessage, bytes | OSError]]:
        """Yield each message with its bytes or its error, which is FileNotFoundError if the message is gone."""

    def headers(self, messages: Sequence[MailboxMessage]) -> Iterator[tuple[MailboxMessage, bytes | OSError]]:
        """Yield each message with its header, of which a long one is truncated; missing messages may be left out."""

    def kin(self, messages: Sequence[MailboxMessage]) -> Iterator[tuple[MailboxMessage, bytes | OSError]]:
        """Yield each message with its identity, which is the same in every folder; missing ones may be left out."""

    def list_new(self, mark: str, waiting: Sequence[str]) -> tuple[list[MailboxMessage], str]:
        """Return the new mail since a mark, with the older messages of the keys ``waiting``; and the present mark."""

    def list_arrivals(self, folder: Folder, mark: str, n_recorded: int) -> Arrivals:
        """Return the messages that came into a folder since a mark; ``n_recorded`` of its messages are recorded."""

    def move(
        self, messages: Sequence[MailboxMessage], into: Folder
    ) -> dict[MailboxMessage, MailboxMessage | OSError | None]:
        """Move messages of one folder, and return for each its new message (None if that is unknown) or its error.

        Messages that were gone are left out.
        """

    def settle(self, moves: Sequence[Move]) -> Iterator[tuple[Move, MailboxMessage | None]]:
        """Finish interrupted moves, and yield each with its message in the target, or with None if it never began."""

    def format_path(self, folder: Folder, message: MailboxMessage | None) -> str:
        """Return the path or URL under which `lookup` finds a message again, or an empty text."""

    def find_folder(self, path: str) -> Folder:
        """Return the folder of a `format_path`."""

    def wait(self, state: Hashable, seconds: float, stop: int) -> None:
        """Wait until the inbox has another state, ``seconds`` have passed, or the file descriptor is readable."""

    def close(self) -> None:
        """Close connections."""


def wait_readable(files: Iterable[int | socket.socket], seconds: float | None) -> bool:
    """Wait until one of the files is readable, and return whether one is."""
    poll = select.poll()
    for file in files:
        poll.register(file, select.POLLIN)
    return bool(poll.poll(None if seconds is None else seconds * 1000))
