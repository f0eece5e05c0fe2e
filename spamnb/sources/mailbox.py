"""What a mailbox is to whoever sorts mail: folders with what they are for, messages that stay known, moving, new mail.

Two kinds stand behind it: ``maildir_box`` on this machine's disk, and ``imap`` on a server.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple, Protocol

#: Folders whose mail is neither good nor spam: what lies or comes there teaches nothing.
NEITHER = frozenset({"trash", "drafts", "templates", "sent", "outbox", "chats"})


class Folder(NamedTuple):
    """A folder: its name for people, where it is, and what it is for (`folder_names.role_of`'s words, or None)."""

    name: str
    place: Any  # what its kind of mailbox opens it by: a path, or the name that the server knows
    role: str | None = None


class MailboxMessage(NamedTuple):
    """A message where it lies. Its ``key`` stays the same as long as it lies in that folder, whatever its flags."""

    folder: Folder
    key: str
    name: str  # for people
    place: Any
    seen: bool = False  # whether a mail reader has shown it
    size: int = 0  # bytes, where that is known without reading it


class Mailbox(Protocol):
    """What both kinds can do. Errors are SpamnbError for the mailbox, OSError for one message."""

    shown: str  # its name for people

    def folders(self) -> list[Folder]:
        """All folders, the inbox first."""

    def locate(self, name: str | None) -> Folder:
        """The folder that a person calls so, or None's: that of spam. It may have yet to be made."""

    def messages(self, folder: Folder) -> list[MailboxMessage]:
        """What lies in a folder, the oldest first."""

    def read(self, messages: Sequence[MailboxMessage]) -> Iterator[tuple[MailboxMessage, bytes | OSError]]:
        """Each message's bytes, or why it cannot be read: FileNotFoundError where it is no longer there."""

    def move(self, messages: Sequence[MailboxMessage], into: Folder) -> list[MailboxMessage]:
        """Move messages of one folder, and make the folder where it is missing; where they lie then, if that is
        known."""

    def close(self) -> None:
        """Let go of what it holds open."""


def is_below(name: str, parent: str, separators: Iterable[str]) -> bool:
    """Whether a folder is ``parent`` or below it.

    >>> [is_below(name, "Junk", "/.") for name in ("Junk", "Junk/2024", "Junk.2024", "Junkyard")]
    [True, True, True, False]
    """
    return name == parent or any(name.startswith(parent + separator) for separator in separators)
