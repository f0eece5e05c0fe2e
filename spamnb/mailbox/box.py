"""What both kinds of mailbox say of their mail, and how they wait for more."""

from __future__ import annotations

import select
import socket
from collections.abc import Iterable
from typing import NamedTuple

from spamnb.sources.mailbox import MailboxMessage


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


def readable(files: Iterable[int | socket.socket], seconds: float | None) -> bool:
    """Wait so many seconds until one of these can be read; whether one can."""
    poll = select.poll()
    for each in files:
        poll.register(each, select.POLLIN)
    return bool(poll.poll(None if seconds is None else seconds * 1000))
