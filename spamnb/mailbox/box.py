"""What a mailbox is, whatever its kind: what it says of its mail, and how it waits for more."""

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
    """A mailbox. Errors are SpamnbError for the mailbox, OSError for one message or folder.

    - ``shown``: its name for people
    - ``home``: its absolute path, or its account
    - ``record``: the file of its ``Memory``
    """

    shown: str
    home: str
    record: Path
    inbox: Folder

    def folders(self) -> list[Folder]:
        """All folders, the inbox first."""

    def refresh(self) -> None:
        """Forget which folders there are."""

    def locate(self, name: str) -> Folder:
        """The folder that a person calls so. It may have yet to be made."""

    def junk(self) -> Folder:
        """The folder of spam. It may have yet to be made."""

    def exists(self, folder: Folder) -> bool:
        """Whether a folder is there."""

    def make(self, folder: Folder) -> None:
        """Make a folder where it is missing, and subscribe it: mail readers show no other."""

    def is_below(self, folder: Folder, parent: Folder) -> bool:
        """Whether a folder is ``parent`` or below it."""

    def key(self, folder: Folder) -> str:
        """What a folder is called in the record."""

    def state(self, folder: Folder) -> Hashable:
        """What changes when mail comes or goes; None where that cannot be told."""

    def mark(self, folder: Folder) -> str:
        """How far a folder has got."""

    def count(self) -> int:
        """How many messages all folders hold."""

    def messages(self, folder: Folder) -> list[MailboxMessage]:
        """What lies in a folder, the oldest first."""

    def find(self, folder: Folder, keys: Sequence[str]) -> list[MailboxMessage]:
        """Those messages that are still in a folder."""

    def lookup(self, place: str, message_id: str) -> list[MailboxMessage]:
        """Messages that may be the one that lay at a `place`, the likely ones first."""

    def read(self, messages: Sequence[MailboxMessage]) -> Iterator[tuple[MailboxMessage, bytes | OSError]]:
        """Each message's bytes, or why it cannot be read: FileNotFoundError where it is no longer there."""

    def headers(self, messages: Sequence[MailboxMessage]) -> Iterator[tuple[MailboxMessage, bytes | OSError]]:
        """Yield the header of each message, or a part of it where it is long; those that are gone may be left out."""

    def kin(self, messages: Sequence[MailboxMessage]) -> Iterator[tuple[MailboxMessage, bytes | OSError]]:
        """What each message is known by wherever it lies; those that are gone may be left out."""

    def new(self, mark: str, waiting: Sequence[str]) -> tuple[list[MailboxMessage], str]:
        """New mail since a mark, with the messages ``waiting`` since before, by key; and the mark of now."""

    def arrived(self, folder: Folder, mark: str, known: int) -> Arrived:
        """What came into a folder since a mark; ``known`` is how many messages of it are known."""

    def move(
        self, messages: Sequence[MailboxMessage], into: Folder
    ) -> dict[MailboxMessage, MailboxMessage | OSError | None]:
        """Move messages of one folder; where each lies then if that is known, or why it stays. Those that were gone are
        left out."""

    def settle(self, moves: Sequence[Move]) -> Iterator[tuple[Move, MailboxMessage | None]]:
        """Make whole each move that was interrupted: done, and where the message lies now; or not begun, and None."""

    def place(self, folder: Folder, message: MailboxMessage | None) -> str:
        """Where a message lies, as the journal keeps it: what helps to find it."""

    def folder_at(self, place: str) -> Folder:
        """The folder of a `place`."""

    def wait(self, state: Hashable, seconds: float, stop: int) -> None:
        """Wait until the inbox differs from a state, ``seconds`` have passed, or the file descriptor can be read."""

    def close(self) -> None:
        """Let go of what is open."""


def readable(files: Iterable[int | socket.socket], seconds: float | None) -> bool:
    """Wait so many seconds until one of these can be read; whether one can."""
    poll = select.poll()
    for each in files:
        poll.register(each, select.POLLIN)
    return bool(poll.poll(None if seconds is None else seconds * 1000))
