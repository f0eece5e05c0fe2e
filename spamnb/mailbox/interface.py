"""The operations that every kind of mailbox has: listing, reading, moving, and waiting for new mail."""

from __future__ import annotations

import select
import socket
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Literal, NamedTuple, Protocol

from spamnb.sources.mailbox import Folder, MailboxMessage

Part = Literal["whole", "header", "identity"]


class Arrivals(NamedTuple):
    """The messages that came into a folder since a mark."""

    messages: list[MailboxMessage]
    mark: str  # the folder's present mark
    is_complete: bool  # whether the messages are all messages of the folder


class Move(NamedTuple):
    """The record of a move that was begun: the message ``key`` goes from ``folder`` to ``target``."""

    folder: str
    key: str
    identity: bytes  # of the message, as `Mailbox.read` computes it
    digest: bytes
    target: str
    mark: str  # of the target before the move
    is_junk: bool  # whether the target is a folder of spam
    position: int  # of the message's verdict in the ledger


class FolderState(Protocol):
    """The state of a folder. It differs from an earlier state if mail came or went."""

    @property
    def mark(self) -> str:
        """The mark of the folder. Messages that come later are after this mark."""


class Mailbox(Protocol):
    """A mailbox. Its methods raise SpamnbError for an error of the mailbox, and OSError for one message or folder."""

    display_name: str  # for people
    address: str  # its absolute path, or the URL of its account
    lock_path: Path  # the file that spamnb locks while it moves mail
    inbox: Folder

    def prepare_lock(self) -> None:
        """Make the folder of the file that is locked. Raise SpamnbError for a Maildir that is gone, or not mounted."""

    def folders(self, fresh: bool = False) -> list[Folder]:
        """Return all folders, the inbox first. An earlier list may be returned if it need not be ``fresh``."""

    def locate(self, name: str | None = None) -> Folder:
        """Return the folder of this name, or else the folder of spam. It may not exist yet."""

    def state(self, folder: Folder) -> FolderState:
        """Return the state of a folder, which may not exist yet."""

    def messages(self, folder: Folder, keys: Sequence[str] | None = None) -> list[MailboxMessage]:
        """Return the messages of a folder, the oldest first, or those with these keys that are still in it."""

    def arrivals(self, folder: Folder, mark: str, n_recorded: int = 0, *, unseen: bool = False) -> Arrivals:
        """Return the messages that came since a mark. The record has ``n_recorded`` of the folder's messages.

        With ``unseen`` the messages that a mail reader has shown are left out.
        """

    def lookup(self, path: str, message_id: str) -> list[MailboxMessage]:
        """Return the messages that `format_path` may have described with this path, the likely ones first."""

    def format_path(self, folder: Folder, message: MailboxMessage | None) -> str:
        """Return a path or URL with which `lookup` finds a message again, or an empty text."""

    def read(
        self, messages: Sequence[MailboxMessage], part: Part = "whole"
    ) -> Iterator[tuple[MailboxMessage, bytes | OSError]]:
        """Yield each message with a part of it, or with its error, FileNotFoundError if the message is gone.

        A header may be truncated. An identity is the same in all folders, and two messages have different ones.
        Messages that are gone may be left out, but not if they are read ``whole``.
        """

    def move(
        self, messages: Sequence[MailboxMessage], into: Folder
    ) -> dict[MailboxMessage, MailboxMessage | OSError | None]:
        """Move messages of one folder, and return for each its new message (None if it is unknown) or its error.

        Messages that were no longer in the folder are left out. If the folder ``into`` does not exist, it is made, and
        subscribed, because mail readers show only subscribed folders.
        """

    def settle(self, moves: Sequence[Move]) -> Iterator[tuple[Move, MailboxMessage | None]]:
        """Finish interrupted moves. Yield each with its message in the target, or with None if it was not moved."""

    def wait(self, state: FolderState | None, seconds: float, stop: int) -> None:
        """Wait until the inbox has another state, ``seconds`` have passed, or the descriptor ``stop`` is readable."""

    def close(self) -> None:
        """Close connections."""


def wait_readable(files: Iterable[int | socket.socket], seconds: float | None) -> bool:
    """Wait until one of the files is readable, and return whether one is."""
    poll = select.poll()
    for file in files:
        poll.register(file, select.POLLIN)
    return bool(poll.poll(None if seconds is None else seconds * 1000))
