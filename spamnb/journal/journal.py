"""The journal's file: verdicts with what they were based on, and corrections; bounded by age and size.

A verdict's ``position`` is where its bytes begin if all were written one behind the other, so the last row's end, less
the bound, says which rows are to leave, and nobody adds up sizes. Several programs may write to one file. What is in it
is as private as the mail: the file's mode is 0600, and rows that leave are overwritten.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Self

from spamnb.errors import SpamnbError
from spamnb.journal.entries import Verdict, compressed, expanded
from spamnb.store.database import Database, checked_rows, is_blob, is_digest, is_text

APPLICATION_ID = 0x736E626A  # "snbj"
VERSION = 4
DAYS = 60  # what is older leaves
MAX_BYTES = 256_000_000  # some 70,000 messages: docs/experiments.md#the-journal
ROW_BYTES = 300  # what a row takes beside its texts and tokens, with its part of the indexes
TIDY_EVERY = 256  # verdicts
BUSY_MS = 2_000  # mail waits for nobody who looks at the journal
TABLES = (
    "CREATE TABLE verdicts (position INTEGER PRIMARY KEY, at INTEGER NOT NULL, user TEXT NOT NULL,"
    " digest BLOB NOT NULL, identity BLOB NOT NULL, message_id TEXT NOT NULL, sender TEXT NOT NULL,"
    " subject TEXT NOT NULL, sent INTEGER NOT NULL, place TEXT NOT NULL, verdict TEXT NOT NULL,"
    " points REAL NOT NULL, log_odds REAL NOT NULL, evidence TEXT NOT NULL, made_by TEXT NOT NULL, doubt REAL NOT NULL,"
    " expected REAL NOT NULL, size INTEGER NOT NULL)",
    # Apart, so that who lists messages reads no tokens.
    "CREATE TABLE tokens (position INTEGER PRIMARY KEY, tokens BLOB NOT NULL)",
    "CREATE TABLE corrections (number INTEGER PRIMARY KEY, at INTEGER NOT NULL, user TEXT NOT NULL,"
    " digest BLOB NOT NULL, label TEXT NOT NULL, spam INTEGER NOT NULL, verdict TEXT NOT NULL, source TEXT NOT NULL,"
    " before TEXT NOT NULL, before_taught INTEGER NOT NULL, batch TEXT NOT NULL, undone INTEGER NOT NULL)",
    # Folders that mail was seen in: the mailbox that each is of, how its folder of spam is called, and what it is for.
    "CREATE TABLE folders (folder TEXT PRIMARY KEY, name TEXT NOT NULL, role TEXT NOT NULL, mailbox TEXT NOT NULL,"
    " junk TEXT NOT NULL) WITHOUT ROWID",
    "CREATE TABLE moves (batch TEXT NOT NULL, position INTEGER NOT NULL, before TEXT NOT NULL, at INTEGER NOT NULL,"
    " PRIMARY KEY (batch, position)) WITHOUT ROWID",
    "CREATE TABLE digests (user TEXT PRIMARY KEY, position INTEGER NOT NULL) WITHOUT ROWID",
    "CREATE INDEX verdicts_by_digest ON verdicts (digest)",
    "CREATE INDEX verdicts_by_time ON verdicts (at, user, verdict, doubt, expected)",
    "CREATE INDEX verdicts_by_doubt ON verdicts (doubt, at, user) WHERE points >= 0",
    "CREATE INDEX corrections_by_digest ON corrections (digest)",
    "CREATE INDEX corrections_by_time ON corrections (at)",
    "CREATE INDEX corrections_by_batch ON corrections (batch)",
)
_COLUMNS = ", ".join(Verdict._fields[:-1])  # the tokens stand in a table of their own
_CORRECTION = "at, user, digest, label, spam, verdict, source, before, before_taught, batch"
UNCORRECTED = (
    "NOT EXISTS (SELECT number FROM corrections AS c WHERE c.digest = verdicts.digest AND c.user = verdicts.user"
    " AND c.undone = 0)"
)


class Teaching(NamedTuple):
    """What a person taught.

    - ``label``: the class; ``spam``: whether that is spam
    - ``verdict``: what the filter had said, or empty where the journal does not know
    - ``source``: "page", "move" or "client"
    - ``before``: the class that the message was learned as before, or empty; ``before_taught``: by a person?
    - ``batch``: the same for what was taught at once
    """

    at: int
    user: str
    digest: bytes
    label: str
    spam: bool
    verdict: str
    source: str
    before: str
    before_taught: bool
    batch: str


class Noted(NamedTuple):
    """An entry and where it stands."""

    position: int
    entry: Verdict


class Journal(Database):
    """The journal at a path.

    >>> import numpy as np
    >>> from spamnb.journal.entries import pack_tokens
    >>> journal = Journal.at(":memory:")
    >>> now, tokens = int(time.time()), pack_tokens(["tea"], np.array([1]))
    >>> entry = Verdict(now, "", bytes(16), bytes(16), "", "ann", "tea", 0, "", "spam", 6.0, 3.0, "[]", "", tokens)
    >>> journal.add([entry]), journal.count(), journal.doubtful(since=0)[0].entry.subject
    (None, 1, 'tea')
    """

    KIND = "journal of verdicts"
    REMEDY = "remove it: a new one is begun"

    def __init__(self, path: str, connection: sqlite3.Connection) -> None:
        super().__init__(path, connection)
        self._until_tidy = 0

    @classmethod
    def at(cls, path: str | Path) -> Self:
        """The journal at ``path``, made where there is none. SpamnbError where something else is there."""
        if str(path) != ":memory:" and not os.path.exists(path):
            with contextlib.suppress(FileExistsError):
                try:
                    os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
                except FileNotFoundError:
                    raise SpamnbError(f"{path}: its folder is not there; make it, or name another file") from None
                except PermissionError:
                    raise SpamnbError(f"{path}: cannot be made; are its folder's permissions right?") from None
        journal = cls.connect(path, writable=True)
        try:
            journal._prepare()
        except BaseException:
            journal.close()
            raise
        return journal

    def _prepare(self) -> None:
        with self._told():
            self.execute(f"PRAGMA busy_timeout = {BUSY_MS}")
            with self.reading():
                if self._identified():
                    return
            self.execute("PRAGMA journal_mode = WAL")
            with self.writing():
                if self._identified():  # another program made it meanwhile
                    return
                for statement in TABLES:
                    self.execute(statement)
                self.execute(f"PRAGMA application_id = {APPLICATION_ID}")
                self.execute(f"PRAGMA user_version = {VERSION}")

    def _identified(self) -> bool:
        """Is it a journal of this version? False for a file that holds nothing yet."""
        application = self.execute("PRAGMA application_id").fetchone()[0]
        version = self.execute("PRAGMA user_version").fetchone()[0]
        if application == APPLICATION_ID and version > VERSION:
            raise SpamnbError(f"{self.path}: made by a newer spamnb; upgrade spamnb")
        if application == APPLICATION_ID and version < VERSION:
            raise SpamnbError(f"{self.path}: a journal of a version before this one; remove it: a new one is begun")
        others = application == 0 and self.execute("SELECT 1 FROM sqlite_schema").fetchone()
        if others or application not in (0, APPLICATION_ID):
            raise SpamnbError(f"{self.path}: no journal, but another program's database; name another file")
        return application == APPLICATION_ID

    # -- writing ---------------------------------------------------------------------------------------------

    def add(self, entries: Sequence[Verdict]) -> None:
        """Keep verdicts, all or none."""
        with self.writing():
            last = self.execute("SELECT position + size FROM verdicts ORDER BY position DESC LIMIT 1").fetchone()
            position = last[0] if last else 0
            verdicts, tokens = [], []
            for entry in entries:
                stored = compressed(entry.tokens)
                size = ROW_BYTES + len(stored) + sum(map(len, (entry.evidence, entry.place, entry.subject)))
                verdicts.append((position, *entry[:-1], entry.doubt, entry.expected_error, size))
                if entry.tokens:
                    tokens.append((position, stored))
                position += size
            self.executemany(f"INSERT INTO verdicts VALUES ({', '.join('?' * 18)})", verdicts)  # noqa: S608
            self.executemany("INSERT INTO tokens VALUES (?, ?)", tokens)
            # Of two processes the one that took the lesson may write before the one that judged.
            late = "UPDATE corrections SET verdict = ? WHERE digest = ? AND verdict = '' AND at >= ?"
            self.executemany(late, [(entry.verdict, entry.digest, entry.at) for entry in entries])
            self._until_tidy -= len(entries)
            if self._until_tidy < 0:
                self._until_tidy = TIDY_EVERY
                self.tidy(position)

    def tidy(self, end: int, *, days: float = DAYS, most: int = MAX_BYTES) -> None:
        """Let go of what is older than ``days``, and of the oldest until ``most`` bytes are left; ``end`` is where the
        last row ends."""
        with self.writing():
            oldest = int(time.time() - days * 86_400)
            self.execute("PRAGMA secure_delete = ON")
            last = "SELECT position + 1 FROM verdicts WHERE at < ? ORDER BY at DESC LIMIT 1"
            first = max(end - most, *(self.execute(last, (oldest,)).fetchone() or (0,)))
            self.execute("DELETE FROM tokens WHERE position < ?", (first,))
            self.execute("DELETE FROM verdicts WHERE position < ?", (first,))
            for table in ("corrections", "moves"):
                self.execute(f"DELETE FROM {table} WHERE at < ?", (oldest,))  # noqa: S608 (one of these two)

    def drop_before(self, since: float, dry_run: bool = False) -> int:
        """Let go of all verdicts and corrections of before a time, and give their room back; how many verdicts."""
        old = (int(since),)
        with self.writing():
            self.execute("PRAGMA secure_delete = ON")
            number = self.execute("SELECT count(*) FROM verdicts WHERE at < ?", old).fetchone()[0]
            if dry_run:
                return number
            self._drop("at < ?", old)
        with contextlib.suppress(sqlite3.OperationalError):  # while others read it its room is left to what comes
            self.execute("VACUUM")
        return number

    def drop(self, digest: bytes) -> int:
        """Let go of all that is kept of a message; how many verdicts that were."""
        with self.writing():
            self.execute("PRAGMA secure_delete = ON")
            return self._drop("digest = ?", (digest,))

    def _drop(self, which: str, values: tuple[Any, ...]) -> int:
        """Delete verdicts and corrections that ``which`` chooses, with what is kept apart of these verdicts; how many
        verdicts that were."""
        for table in ("tokens", "moves"):
            of_them = f"position IN (SELECT position FROM verdicts WHERE {which})"  # noqa: S608 (our own words)
            self.execute(f"DELETE FROM {table} WHERE {of_them}", values)  # noqa: S608 (the same)
        self.execute(f"DELETE FROM corrections WHERE {which}", values)  # noqa: S608 (the same)
        return self.execute(f"DELETE FROM verdicts WHERE {which}", values).rowcount  # noqa: S608 (the same)

    def correct(self, corrections: Iterable[Teaching]) -> None:
        """Note what a person taught; an earlier correction of the same mail stands no longer. Where no verdict is told
        it is the last one on this message."""
        with self.writing():
            for made in corrections:
                if not made.verdict and (last := self.of_message(made.digest)):
                    made = made._replace(verdict=last.entry.verdict)
                same = (made.digest, made.user)
                self.execute("UPDATE corrections SET undone = 1 WHERE digest = ? AND user = ?", same)
                self.execute(
                    "INSERT INTO corrections (at, user, digest, label, spam, verdict, source, before, before_taught,"
                    " batch, undone) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0)",
                    made,
                )

    def undone(self, correction: Teaching) -> None:
        """Note that a correction was taken back."""
        with self.writing():
            self.execute(
                "UPDATE corrections SET undone = 1 WHERE digest = ? AND user = ? AND batch = ?",
                (correction.digest, correction.user, correction.batch),
            )

    # -- reading: of one user's mail, or of all where ``user`` is None ---------------------------------------

    def count(self) -> int:
        """How many verdicts are kept."""
        with self.reading():
            return self.execute("SELECT count(*) FROM verdicts").fetchone()[0]

    def doubtful(self, since: float, user: str | None = None, most: int = 50, skip: int = 0) -> list[Noted]:
        """Filtered and nearly filtered mail since a time that nobody has corrected, the most doubtful first."""
        condition = f"points >= 0 AND at >= ? AND (? IS NULL OR user = ?) AND {UNCORRECTED}"
        order = "ORDER BY doubt, at DESC LIMIT ? OFFSET ?"
        return self.rows(f"WHERE {condition} {order}", (int(since), user, user, most, skip))

    def row(self, position: int, user: str | None = None) -> Noted | None:
        """The verdict at a position."""
        found = self.rows("WHERE position = ? AND (? IS NULL OR user = ?)", (position, user, user))
        return found[0] if found else None

    def of_message(self, digest: bytes, user: str | None = None) -> Noted | None:
        """The last verdict on a message."""
        which = "WHERE digest = ? AND (? IS NULL OR user = ?) ORDER BY position DESC LIMIT 1"
        found = self.rows(which, (digest, user, user))
        return found[0] if found else None

    def tokens(self, position: int) -> bytes:
        """The packed tokens of a verdict; empty where they are not kept."""
        with self.reading():
            found = self.execute("SELECT tokens FROM tokens WHERE position = ?", (position,))
            rows = checked_rows("tokens", found, tokens=is_blob)
            return expanded(rows[0][0]) if rows else b""

    def batch(self, batch: str, user: str | None = None) -> list[Teaching]:
        """What was taught at once and stands."""
        return self._corrections("batch = ? AND undone = 0", (batch,), user, 1_000)

    def corrections(self, since: float, user: str | None = None, most: int = 20) -> list[Teaching]:
        """What was taught since a time and stands, the newest first."""
        return self._corrections("at >= ? AND undone = 0", (int(since),), user, most)

    def _corrections(self, which: str, values: tuple[Any, ...], user: str | None, most: int) -> list[Teaching]:
        with self.reading():
            of_user = "AND (? IS NULL OR user = ?) ORDER BY number DESC LIMIT ?"
            statement = f"SELECT {_CORRECTION} FROM corrections WHERE {which} {of_user}"  # noqa: S608 (our own words)
            found = self.execute(statement, (*values, user, user, most))
            rows = [row for row in found if is_digest(row[2]) and is_text(row[3])]
        return [Teaching(*row)._replace(spam=bool(row[4]), before_taught=bool(row[8])) for row in rows]

    def rows(self, which: str, values: tuple[Any, ...]) -> list[Noted]:
        """The verdicts that the rest of a statement chooses, in its order."""
        with self.reading():
            found = self.execute(f"SELECT position, {_COLUMNS} FROM verdicts {which}", values)  # noqa: S608 (the same)
            fits = {name: is_text for name in ("position", *Verdict._fields[:-1])}
            fits |= dict.fromkeys(("position", "at", "sent", "points", "log_odds"), _number)
            fits |= dict.fromkeys(("digest", "identity"), is_digest)
            rows = checked_rows("verdicts", found, **fits)
            return [Noted(row[0], Verdict._make([*row[1:], b""])) for row in rows]


def _number(value: Any) -> bool:
    return type(value) in (int, float) and value == value
