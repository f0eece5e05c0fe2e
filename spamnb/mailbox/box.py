"""What a mailbox is, whatever its kind: folders with what they are for, messages that stay known, moves, new mail."""

from __future__ import annotations

import select
import socket
from collections.abc import Hashable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol

from spamnb.sources.mailbox import Folder, MailboxMessage


class Arrived(NamedTuple):
    """Messages of a folder that came since a mark, or all of them where ``complete``; and the mark of now."""

    messages: list[MailboxMessage]
    mark: str
    complete: bool


class Move(NamedTuple):
    """A move that was begun.

    - ``folder``, ``key``: the message, and the folder it was in
    - ``kin``: what the message is known by wherever it lies
    - ``target``, ``mark``: the folder it goes to, and that folder's mark before the move
    - ``junk``: whether that is a folder of spam
    - ``note``: what the journal shall have of it, as `spamnb.journal.entries.note_of` makes it; empty for nothing
    """

    folder: str
    key: str
    kin: bytes
    digest: bytes
    target: str
    mark: str
    junk: bool
    note: str = ""


class Box(Protocol):
    """What both kinds can do. Errors are SpamnbError for the mailbox, OSError for one message or folder."""

    shown: str  # its name for people
    home: str  # its absolute path, or its URL
    inbox: Folder
    record: Path  # the file of its memory

    def folders(self) -> list[Folder]:
        """All folders, the inbox first."""

    def refresh(self) -> None:
        """Forget which folders there are."""

    def locate(self, name: str) -> Folder:
        """The folder that a person calls so. It may have yet to be made."""

    def junk(self) -> Folder:
        """The folder of spam. It may have yet to be made."""

    def exists(self, folder: Folder) -> bool: ...

    def make(self, folder: Folder) -> None:
        """Make a folder where it is missing."""

    def is_below(self, folder: Folder, parent: Folder) -> bool:
        """Whether a folder is ``parent`` or below it."""

    def key(self, folder: Folder) -> str:
        """What a folder is called in the record."""

    def messages(self, folder: Folder) -> list[MailboxMessage]:
        """What lies in a folder, the oldest first."""

    def find(self, folder: Folder, keys: Sequence[str]) -> list[MailboxMessage]:
        """Those messages that are still in a folder."""

    def lookup(self, place: str, message_id: str) -> list[MailboxMessage]:
        """Messages that may be the one that lay at a `place`, the likely ones first."""

    def read(self, messages: Sequence[MailboxMessage]) -> Iterator[tuple[MailboxMessage, bytes | OSError]]:
        """Each message's bytes, or why it cannot be read: FileNotFoundError where it is no longer there."""

    def kin(self, messages: Sequence[MailboxMessage]) -> Iterator[tuple[MailboxMessage, bytes | OSError]]:
        """What each message is known by wherever it lies. Messages that are gone may be left out."""

    def new(self, mark: str, waiting: Sequence[str]) -> tuple[list[MailboxMessage], str]:
        """New mail since a mark, with the messages ``waiting`` since before, by key; and the mark of now."""

    def state(self, folder: Folder) -> Hashable:
        """What changes when mail comes or goes; None where that cannot be told."""

    def arrived(self, folder: Folder, mark: str, known: int) -> Arrived:
        """What came into a folder since a mark; ``known`` is how many messages of it are known."""

    def mark(self, folder: Folder) -> str:
        """How far a folder has got."""

    def move(
        self, messages: Sequence[MailboxMessage], into: Folder
    ) -> dict[MailboxMessage, MailboxMessage | OSError | None]:
        """Move messages of one folder; where each lies then if that is known, or why it stays. Those that were gone are
        left out. Unreachable where a server was lost meanwhile: `settle` then tells what was moved."""

    def settle(self, moves: Sequence[Move]) -> Iterator[tuple[Move, MailboxMessage | None]]:
        """Make whole each move that was interrupted: done, and where the message lies now; or not begun, and None."""

    def place(self, folder: Folder, message: MailboxMessage | None) -> str:
        """Where a message lies, as the journal keeps it: what helps to find it."""

    def folder_at(self, place: str) -> Folder:
        """The folder of a `place`."""

    def wait(self, state: Hashable, seconds: float, stop: int) -> None:
        """Wait until the inbox differs from a state, ``seconds`` have passed, or the file descriptor can be read."""

    def close(self) -> None:
        """Let go of what it holds open."""


def readable(files: Iterable[int | socket.socket], seconds: float | None) -> bool:
    """Wait so many seconds until one of these can be read; whether one can."""
    poll = select.poll()
    for each in files:
        poll.register(each, select.POLLIN)
    return bool(poll.poll(None if seconds is None else seconds * 1000))
