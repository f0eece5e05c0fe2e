"""Where mail of the journal lies, so that it can be read again and moved: in a folder of a Maildir or of an account.

An entry's ``place`` is a message's path, or for an account what RFC 5092 writes for it, as far as that is known:
``imaps://ann@mail.example.org/Junk;UIDVALIDITY=5/;UID=20``. Few servers say which number a message got where it was
moved to, so of one that was moved only the folder is kept; it is found by its Message-ID and told by its digest.
"""

from __future__ import annotations

import os
import re
import time
from typing import NamedTuple
from urllib.parse import quote, unquote

from spamnb.journal.entries import sql_text
from spamnb.journal.journal import Journal
from spamnb.sources.imap_reading import Uid
from spamnb.sources.spec import is_account

INBOX, JUNK, OTHER = "inbox", "junk", "other"
_NUMBERED = re.compile(r"(.{1,4000});UIDVALIDITY=([0-9]{1,10})/;UID=([0-9]{1,10})", re.DOTALL)


class FolderNoted(NamedTuple):
    """A folder that mail was seen in.

    - ``folder``: its path, or its URL; ``name``: for people
    - ``role``: INBOX, JUNK or OTHER
    - ``mailbox``: the path of its Maildir, or the URL of its account
    - ``junk``: the folder of spam there, as a person named it; empty for the usual one
    """

    folder: str
    name: str
    role: str
    mailbox: str
    junk: str


class MoveNoted(NamedTuple):
    """A message that was moved with a lesson: ``position`` in the journal, and its place ``before`` that."""

    position: int
    before: str


def place_in_account(account: str, folder: str, uid: Uid | None = None) -> str:
    """The URL of a folder of an account, or of a message there.

    >>> place_in_account("imaps://ann@mail.example.org", "Junk/2024; old", Uid(5, 20))
    'imaps://ann@mail.example.org/Junk/2024%3B%20old;UIDVALIDITY=5/;UID=20'
    """
    url = f"{account}/{quote(folder, safe='/')}"
    return url if uid is None else f"{url};UIDVALIDITY={uid.validity}/;UID={uid.uid}"


def folder_in_account(place: str) -> tuple[str, Uid | None]:
    """The folder's name, and the message's number where the place has one.

    >>> folder_in_account("imaps://ann@mail.example.org/Junk/2024%3B%20old;UIDVALIDITY=5/;UID=20")
    ('Junk/2024; old', Uid(validity=5, uid=20))
    """
    numbered = _NUMBERED.fullmatch(place)
    folder = unquote((numbered[1] if numbered else place).partition("://")[2].partition("/")[2])
    return folder, Uid(int(numbered[2]), int(numbered[3])) if numbered else None


def folder_of_place(place: str) -> str:
    """The path or URL of the folder that a message lies in.

    >>> folder_of_place("/home/ann/Mail/.Junk/cur/1.M1:2,S"), folder_of_place("imaps://ann@host/Junk")
    ('/home/ann/Mail/.Junk', 'imaps://ann@host/Junk')
    """
    if is_account(place):
        numbered = _NUMBERED.fullmatch(place)
        return numbered[1] if numbered else place
    return os.path.dirname(os.path.dirname(place))


def note_folder(journal: Journal, folder: FolderNoted) -> None:
    """Note which mailbox a folder is of."""
    with journal.writing():
        texts = [sql_text(text) for text in folder]
        journal.execute("INSERT OR REPLACE INTO folders VALUES (?, ?, ?, ?, ?)", texts)


def folder_noted(journal: Journal, place: str) -> FolderNoted | None:
    """The folder that a message lies in; None where nobody noted its mailbox, or the message has no place."""
    if not place:
        return None
    with journal.reading():
        found = journal.execute(
            "SELECT folder, name, role, mailbox, junk FROM folders WHERE folder = ?", (folder_of_place(place),)
        ).fetchone()
    return FolderNoted(*map(str, found)) if found else None


def note_place(journal: Journal, position: int, place: str, batch: str = "") -> None:
    """Note that a message lies elsewhere now; ``batch`` names the lesson that it was moved with."""
    with journal.writing():
        if batch:
            journal.execute(
                "INSERT OR REPLACE INTO moves SELECT ?, position, place, ? FROM verdicts WHERE position = ?",
                (batch, int(time.time()), position),
            )
        journal.execute("UPDATE verdicts SET place = ? WHERE position = ?", (sql_text(place), position))


def moves_of(journal: Journal, batch: str) -> list[MoveNoted]:
    """What was moved with a lesson."""
    with journal.reading():
        found = journal.execute("SELECT position, before FROM moves WHERE batch = ?", (batch,)).fetchall()
    return [MoveNoted(int(position), str(before)) for position, before in found]
