"""What a mailbox is, whatever its kind, and what it says of its mail.

Both kinds have the same methods, which ``MaildirBox`` explains. Errors are SpamnbError for the mailbox, OSError for one
message or folder.
"""

from __future__ import annotations

import select
import socket
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from spamnb.sources.mailbox import MailboxMessage
from spamnb.sources.spec import is_account

if TYPE_CHECKING:
    from spamnb.mailbox.imap import ImapBox
    from spamnb.mailbox.maildir import MaildirBox

Box: TypeAlias = "MaildirBox | ImapBox"


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


def box_at(name: str, junk: str | None = None) -> Box:
    """The mailbox at a path or a URL; ``junk`` names its folder of spam."""
    if is_account(name):
        from spamnb.mailbox.imap import ImapBox

        return ImapBox(name, junk)
    from spamnb.mailbox.maildir import MaildirBox

    return MaildirBox(Path(name), junk)


def readable(files: Iterable[int | socket.socket], seconds: float | None) -> bool:
    """Wait so many seconds until one of these can be read; whether one can."""
    poll = select.poll()
    for each in files:
        poll.register(each, select.POLLIN)
    return bool(poll.poll(None if seconds is None else seconds * 1000))
