"""What is known of an account, in a small SQLite file on this machine: what was judged, where mail was last seen, and
which moves were begun.

A message in a folder is known by UIDVALIDITY and UID; one that was moved by its ``kin``: a digest of header fields that
it keeps wherever it goes. No text of any message is kept.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterable, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple

from spamnb.errors import SpamnbError
from spamnb.naming import escape
from spamnb.sources.imap_reading import State, Uid
from spamnb.sources.imap_url import ImapUrl
from spamnb.sources.mailbox import MailboxMessage
from spamnb.store.database import Database

_TABLES = """
CREATE TABLE IF NOT EXISTS judged (digest BLOB PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS sorted (folder TEXT PRIMARY KEY, validity INTEGER NOT NULL, next INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS waiting (uid INTEGER PRIMARY KEY);
CREATE TABLE IF NOT EXISTS watched (folder TEXT PRIMARY KEY, validity INTEGER NOT NULL, next INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS mail (folder TEXT NOT NULL, uid INTEGER NOT NULL, kin BLOB NOT NULL, junk INTEGER NOT NULL,
    PRIMARY KEY (folder, uid)) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS mail_by_kin ON mail (kin);
CREATE TABLE IF NOT EXISTS places (kin BLOB PRIMARY KEY, junk INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS crossed (kin BLOB PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS moves (folder TEXT NOT NULL, validity INTEGER NOT NULL, uid INTEGER NOT NULL,
    kin BLOB NOT NULL, digest BLOB NOT NULL, target TEXT NOT NULL, target_validity INTEGER NOT NULL,
    target_next INTEGER NOT NULL, begun REAL NOT NULL, PRIMARY KEY (folder, validity, uid)) WITHOUT ROWID;
"""


class Move(NamedTuple):
    """A move that was begun: from where, of what, to where, and how far that folder's numbers had got before."""

    folder: str
    place: Uid
    kin: bytes
    digest: bytes
    target: str
    validity: int
    next_uid: int


def kin_of(head: bytes) -> bytes:
    r"""16 bytes that stand for a message in whatever folder it lies, by what ``ImapReader.heads`` gives of it.

    The first Received field is that of the person's own server: nobody else can send a message of the same kin, which
    would pass for one that was moved out of Junk.

    >>> kin_of(b"Received: by mx id 1\r\n\r\n") == kin_of(b"Received: by mx id 1\n\n")
    True
    """
    return blake2b(head.replace(b"\r\n", b"\n"), digest_size=16, usedforsecurity=False).digest()


def record_path(url: ImapUrl) -> Path:
    """Where the record of an account is kept; the same for each of its folders, encrypted or not."""
    home = os.environ.get("XDG_DATA_HOME") or os.path.join(os.path.expanduser("~"), ".local", "share")
    account = url.account.partition("://")[2]
    return Path(home, "spamnb", "accounts", re.sub(r"[^\w.@+-]", "_", account)[:150] + ".sqlite")


class AccountRecord(Database):
    """The record of one account."""

    KIND = "record of an account's mail"
    REMEDY = "remove it: new mail is then judged again, and mail is noted anew where it is"

    @classmethod
    def of(cls, url: ImapUrl) -> AccountRecord:
        """The record, made where there is none, for nobody else to read."""
        path = record_path(url)
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            os.close(os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600))
        except OSError as error:
            raise SpamnbError(f"{escape(str(path))}: cannot be made: {error.strerror}") from None
        record = cls.connect(path, writable=True)
        record.make_tables()
        return record

    @classmethod
    def copy_of(cls, url: ImapUrl) -> AccountRecord:
        """The same in memory, for a trial that must leave no trace."""
        copy = cls.connect(":memory:", writable=True)
        path = record_path(url)
        if path.exists():
            with cls.connect(path, writable=False) as kept, kept.reading():
                kept.copy_to(copy)
        copy.make_tables()
        return copy

    def make_tables(self) -> None:
        with self.writing():
            for statement in _TABLES.split(";\n"):
                if statement.strip():
                    self.execute(statement)

    # -- what 'sort' judged ----------------------------------------------------------------------------------

    def judged(self, digest: bytes) -> bool:
        """Whether a message of this content was judged."""
        with self.reading():
            return bool(self.execute("SELECT 1 FROM judged WHERE digest = ?", (digest,)).fetchone())

    def sorted_until(self, folder: str, validity: int) -> int:
        """The first UID that no run has looked at yet; 1 where the folder was numbered anew."""
        with self.reading():
            found = self.execute(
                "SELECT next FROM sorted WHERE folder = ? AND validity = ?", (folder, validity)
            ).fetchone()
        return found[0] if found else 1

    def waiting(self) -> set[int]:
        """UIDs below that which have not been judged."""
        with self.reading():
            return {uid for (uid,) in self.execute("SELECT uid FROM waiting")}

    def begin_sorting(self, folder: str, state: State, waiting: Iterable[int]) -> None:
        """From now on all below the state's next UID is known, and these are waiting to be judged."""
        with self.writing():
            self.execute("INSERT OR REPLACE INTO sorted VALUES (?, ?, ?)", (folder, state.validity, state.next_uid))
            self.execute("DELETE FROM waiting")
            self.executemany("INSERT INTO waiting VALUES (?)", [(uid,) for uid in waiting])

    def put_judged(self, judged: Iterable[tuple[int, bytes]]) -> None:
        """Messages, by UID and digest, that were judged and stay."""
        with self.writing():
            for uid, digest in judged:
                self.execute("DELETE FROM waiting WHERE uid = ?", (uid,))
                self.execute("INSERT OR IGNORE INTO judged VALUES (?)", (digest,))

    def no_longer_waiting(self, uids: Iterable[int]) -> None:
        """Messages that are gone."""
        with self.writing():
            self.executemany("DELETE FROM waiting WHERE uid = ?", [(uid,) for uid in uids])

    # -- moves -------------------------------------------------------------------------------------------------

    def begin(self, moves: Iterable[Move]) -> None:
        """Note moves before they are made."""
        now = time.time()
        with self.writing():
            self.executemany(
                "INSERT OR REPLACE INTO moves VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                [(m.folder, *m.place, m.kin, m.digest, m.target, m.validity, m.next_uid, now) for m in moves],
            )

    def begun(self) -> list[Move]:
        """Moves of which it is not known what became of them."""
        with self.reading():
            rows = self.execute(
                "SELECT folder, validity, uid, kin, digest, target, target_validity, target_next FROM moves"
            ).fetchall()
        return [Move(folder, Uid(validity, uid), *rest) for folder, validity, uid, *rest in rows]

    def end(self, moves: Sequence[Move], done: bool, junk: bool) -> None:
        """Moves were made, or were not; where ``done`` the messages are in a folder of that side."""
        with self.writing():
            for move in moves:
                known = move.folder, *move.place
                self.execute("DELETE FROM moves WHERE folder = ? AND validity = ? AND uid = ?", known)
                if done:
                    self.execute("INSERT OR REPLACE INTO places VALUES (?, ?)", (move.kin, junk))
                    self.execute("INSERT OR IGNORE INTO judged VALUES (?)", (move.digest,))
                    self.execute("DELETE FROM waiting WHERE uid = ?", (move.place.uid,))

    # -- where mail was seen -----------------------------------------------------------------------------------

    def looked(self) -> bool:
        """Whether the account was watched before."""
        with self.reading():
            return bool(self.execute("SELECT 1 FROM watched LIMIT 1").fetchone())

    def noted(self) -> int:
        """Of how many messages it is known where they are."""
        with self.reading():
            return self.execute("SELECT count(*) FROM mail").fetchone()[0]

    def watched_until(self, folder: str) -> tuple[int, int] | None:
        """UIDVALIDITY and next UID of a folder at the last look."""
        with self.reading():
            return self.execute("SELECT validity, next FROM watched WHERE folder = ?", (folder,)).fetchone()

    def put_mail(self, folder: str, state: State, junk: bool, found: Sequence[tuple[MailboxMessage, bytes]]) -> None:
        """Note what came into a folder since the last look, and of it what was last seen on the other side."""
        with self.writing():
            before = self.execute("SELECT validity FROM watched WHERE folder = ?", (folder,)).fetchone()
            if before and before[0] != state.validity:
                self.execute("DELETE FROM mail WHERE folder = ?", (folder,))
            self.execute("INSERT OR REPLACE INTO watched VALUES (?, ?, ?)", (folder, state.validity, state.next_uid))
            for message, kin in found:
                self.execute("INSERT OR REPLACE INTO mail VALUES (?, ?, ?, ?)", (folder, message.place.uid, kin, junk))
                known = self.execute("SELECT junk FROM places WHERE kin = ?", (kin,)).fetchone()
                if known is None:
                    self.execute("INSERT INTO places VALUES (?, ?)", (kin, junk))
                elif bool(known[0]) != junk:
                    self.execute("INSERT OR IGNORE INTO crossed VALUES (?)", (kin,))

    def crossed(self) -> list[tuple[bytes, bool]]:
        """Messages that came to another side than that on which they were, by kin, and the side that they left."""
        with self.reading():
            return [
                (kin, bool(junk))
                for kin, junk in self.execute("SELECT kin, junk FROM crossed JOIN places USING (kin)").fetchall()
            ]

    def being_moved(self, kin: bytes) -> bool:
        """Whether a move of such a message was begun and not ended: by this program, beside the one that asks."""
        with self.reading():
            return bool(self.execute("SELECT 1 FROM moves WHERE kin = ?", (kin,)).fetchone())

    def where(self, kin: bytes) -> list[tuple[str, int, bool]]:
        """Folder, UID and side of each message of this kin."""
        with self.reading():
            rows = self.execute("SELECT folder, uid, junk FROM mail WHERE kin = ?", (kin,)).fetchall()
        return [(folder, uid, bool(junk)) for folder, uid, junk in rows]

    def drop_mail(self, folder: str, uids: Iterable[int]) -> None:
        """Messages are no longer in a folder."""
        with self.writing():
            self.executemany("DELETE FROM mail WHERE folder = ? AND uid = ?", [(folder, uid) for uid in uids])

    def count(self, folder: str) -> int:
        """How many messages were seen in a folder."""
        with self.reading():
            return self.execute("SELECT count(*) FROM mail WHERE folder = ?", (folder,)).fetchone()[0]

    def uids(self, folder: str) -> set[int]:
        """The messages that were seen in a folder."""
        with self.reading():
            return {uid for (uid,) in self.execute("SELECT uid FROM mail WHERE folder = ?", (folder,))}

    def put(self, kin: bytes, junk: bool) -> None:
        """Note on which side a message is: that is no lesson, or no longer one."""
        with self.writing():
            self.execute("INSERT OR REPLACE INTO places VALUES (?, ?)", (kin, junk))
            self.execute("DELETE FROM crossed WHERE kin = ?", (kin,))

    def drop_folders(self, there: Iterable[str]) -> None:
        """Forget folders that are gone."""
        with self.writing():
            for (folder,) in self.execute("SELECT folder FROM watched").fetchall():
                if folder not in set(there):
                    self.execute("DELETE FROM mail WHERE folder = ?", (folder,))
                    self.execute("DELETE FROM watched WHERE folder = ?", (folder,))
