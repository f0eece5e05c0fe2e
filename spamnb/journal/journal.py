"""The journal's file: verdicts with what they were based on, and corrections; bounded by age and size.

A verdict's ``position`` is where its bytes begin if all were written one behind the other, so the last row's end, less
the bound, says which rows are to leave, and nobody adds up sizes. Several programs may write to one file. What is in it
is as private as the mail: the file's mode is 0600, and rows that leave are overwritten.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple, Self

from spamnb.errors import SpamnbError
from spamnb.journal.entries import Place, Verdict
from spamnb.store.database import Database, Fits, checked_rows, is_digest, sql_text

APPLICATION_ID = 0x736E626A  # "snbj"
VERSION = 8
DAYS = 60  # what is older leaves
MAX_BYTES = 256_000_000  # some 70,000 messages: docs/experiments.md#the-journal
ROW_BYTES = 300  # what a row takes beside its texts and tokens, with its part of the indexes
TIDY_EVERY = 1 << 16  # bytes of verdicts
BUSY_MS = 2_000  # mail waits for nobody who looks at the journal
TABLES = (
    "CREATE TABLE verdicts (position INTEGER PRIMARY KEY, at INTEGER NOT NULL, user TEXT NOT NULL,"
    " digest BLOB NOT NULL, message_id TEXT NOT NULL, sender TEXT NOT NULL,"
    " subject TEXT NOT NULL, sent INTEGER NOT NULL, place TEXT NOT NULL, mailbox TEXT NOT NULL,"
    " folder TEXT NOT NULL, role TEXT NOT NULL, junk TEXT NOT NULL, verdict TEXT NOT NULL,"
    " points REAL NOT NULL, log_odds REAL NOT NULL, evidence TEXT NOT NULL, made_by TEXT NOT NULL, doubt REAL NOT NULL,"
    " doubtful INTEGER NOT NULL, size INTEGER NOT NULL)",
    # Apart, so that who lists messages reads no tokens.
    "CREATE TABLE tokens (position INTEGER PRIMARY KEY, tokens BLOB NOT NULL)",
    "CREATE TABLE corrections (number INTEGER PRIMARY KEY, at INTEGER NOT NULL, user TEXT NOT NULL,"
    " digest BLOB NOT NULL, label TEXT NOT NULL, spam INTEGER NOT NULL, verdict TEXT NOT NULL, source TEXT NOT NULL,"
    " before TEXT NOT NULL, batch TEXT NOT NULL, moved_from TEXT NOT NULL,"
    " UNIQUE (digest, user))",
    "CREATE INDEX verdicts_by_digest ON verdicts (digest)",
    "CREATE INDEX verdicts_by_time ON verdicts (at, user, verdict, doubtful)",
    "CREATE INDEX corrections_by_time ON corrections (at)",
)
_DAY = 86_400
_COLUMNS = ", ".join(Verdict._fields[:-2])  # the tokens stand in a table of their own


class Correction(NamedTuple):
    """What a person taught.

    - ``label``: the class; ``spam``: whether that is spam
    - ``source``: "page", "move" or "client"
    - ``verdict``: what the filter had said; where it is empty, the journal looks it up
    - ``before``: the class that the message was learned as before, or empty
    - ``batch``: the same for what was taught at once
    - ``moved_from``: the place from which the message was moved with the lesson, or empty
    - ``at``: when, in seconds since 1970; 0 for now
    """

    digest: bytes
    label: str
    spam: bool
    source: str
    user: str = ""
    verdict: str = ""
    before: str = ""
    batch: str = ""
    moved_from: str = ""
    at: int = 0


class Day(NamedTuple):
    """The verdicts of one day, UTC, as 2026-11-22."""

    day: str
    good: int
    unsure: int
    spam: int
    doubtful: int

    @property
    def total(self) -> int:
        """All of them."""
        return self.good + self.unsure + self.spam


class Journal(Database):
    """The journal at a path; `at` opens it."""

    OWN_ID = APPLICATION_ID
    KIND = "journal of verdicts"
    REMEDY = "remove it: a new one is begun"

    @classmethod
    def at(cls, path: str | Path) -> Self:
        """The journal at ``path``, made where there is none. SpamnbError where something else is there."""
        journal = cls.connect(path, writable=True)
        try:
            journal._prepare()
        except BaseException:
            journal.close()
            raise
        return journal

    @classmethod
    def there(cls, path: Path) -> Self:
        """The journal that is at ``path``. SpamnbError where there is none."""
        if not path.exists():
            raise SpamnbError(f"{path}: no journal there; filter, sort, watch and serve write one with --journal")
        return cls.at(path)

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
        if application == APPLICATION_ID and version != VERSION:
            raise SpamnbError(f"{self.path}: a journal of another version of spamnb; remove it: a new one is begun")
        others = application == 0 and self.execute("SELECT 1 FROM sqlite_schema").fetchone()
        if others or application not in (0, APPLICATION_ID):
            raise SpamnbError(f"{self.path}: no journal, but another program's database; name another file")
        return application == APPLICATION_ID

    # -- writing ---------------------------------------------------------------------------------------------

    def add(self, entries: Sequence[Verdict]) -> None:
        """Keep verdicts, all or none. One that is there already, as after a kill, is not kept twice."""
        with self.writing():
            last = self.execute("SELECT position + size FROM verdicts ORDER BY position DESC LIMIT 1").fetchone()
            begin = position = last[0] if last else 0
            verdicts, tokens = [], []
            there = "SELECT 1 FROM verdicts WHERE digest = ? AND at = ? AND user = ?"
            for entry in entries:
                if self.execute(there, (entry.digest, entry.at, entry.user)).fetchone():
                    continue
                size = ROW_BYTES + sum(map(len, (entry.tokens, entry.evidence, entry.place, entry.subject)))
                verdicts.append((position, *entry[:-2], entry.doubt, entry.doubtful, size))
                if entry.tokens:
                    tokens.append((position, entry.tokens))
                position += size
            self.executemany(f"INSERT INTO verdicts VALUES ({', '.join('?' * 21)})", verdicts)  # noqa: S608
            self.executemany("INSERT INTO tokens VALUES (?, ?)", tokens)
            if begin // TIDY_EVERY != position // TIDY_EVERY:
                self.tidy(position)

    def tidy(self, end: int, *, days: float = DAYS, most: int = MAX_BYTES) -> None:
        """Let go of what is older than ``days``, and of the oldest until ``most`` bytes are left; ``end`` is where the
        last row ends."""
        with self.writing():
            oldest = int(time.time() - days * 86_400)
            last = "SELECT position + 1 FROM verdicts WHERE at < ? ORDER BY at DESC LIMIT 1"
            first = max(end - most, *(self.execute(last, (oldest,)).fetchone() or (0,)))
            self.execute("DELETE FROM tokens WHERE position < ?", (first,))
            self.execute("DELETE FROM verdicts WHERE position < ?", (first,))
            self.execute("DELETE FROM corrections WHERE at < ?", (oldest,))

    def drop(self, digest: bytes) -> int:
        """Let go of all that is kept of a message; how many verdicts that were."""
        with self.writing():
            positions = "SELECT position FROM verdicts WHERE digest = ?"
            self.execute(f"DELETE FROM tokens WHERE position IN ({positions})", (digest,))  # noqa: S608 (our own words)
            self.execute("DELETE FROM corrections WHERE digest = ?", (digest,))
            return self.execute("DELETE FROM verdicts WHERE digest = ?", (digest,)).rowcount

    def correct(self, correction: Correction) -> None:
        """Note what a person taught; an earlier correction of the same mail stands no longer."""
        with self.writing():
            last = None if correction.verdict else self.of_message(correction.digest)
            made = correction._replace(
                user=sql_text(correction.user),
                verdict=last.verdict if last else correction.verdict,
                at=correction.at or int(time.time()),
            )
            columns, values = ", ".join(made._fields), ", ".join("?" * len(made))
            self.execute(f"INSERT OR REPLACE INTO corrections ({columns}) VALUES ({values})", made)  # noqa: S608

    def undone(self, correction: Correction) -> None:
        """Let go of a correction that was taken back."""
        with self.writing():
            self.execute("DELETE FROM corrections WHERE digest = ? AND user = ?", (correction.digest, correction.user))

    def moved(self, position: int, lies: Place) -> None:
        """Note that a message lies elsewhere now."""
        with self.writing():
            self.execute(
                "UPDATE verdicts SET place = ?, mailbox = ?, folder = ?, role = ?, junk = ? WHERE position = ?",
                (*map(sql_text, lies), position),
            )

    # -- reading ---------------------------------------------------------------------------------------------

    def uncorrected(self, since: float, *, doubtful: bool = False, most: int = 50, skip: int = 0) -> list[Verdict]:
        """Mail since a time that nobody has corrected: what was called spam, or what is doubtful; the most doubtful
        first."""
        which = "doubtful" if doubtful else "verdict = 'spam'"
        corrected = "SELECT 1 FROM corrections AS c WHERE c.digest = verdicts.digest AND c.user = verdicts.user"
        condition = f"{which} AND at >= ? AND NOT EXISTS ({corrected})"
        order = "ORDER BY doubt, at DESC LIMIT ? OFFSET ?"
        return self._verdicts(f"WHERE {condition} {order}", (int(since), most, skip))

    def verdict(self, position: int) -> Verdict | None:
        """The verdict at a position."""
        found = self._verdicts("WHERE position = ?", (position,))
        return found[0] if found else None

    def of_message(self, digest: bytes, user: str | None = None) -> Verdict | None:
        """The last verdict on a message; on a user's, or on anybody's."""
        which = "WHERE digest = ? AND (? IS NULL OR user = ?) ORDER BY position DESC LIMIT 1"
        found = self._verdicts(which, (digest, user, user))
        return found[0] if found else None

    def _verdicts(self, which: str, values: tuple[Any, ...]) -> list[Verdict]:
        """The verdicts that the rest of a statement chooses, in its order, without their tokens."""
        with self.reading():
            found = self.execute(f"SELECT {_COLUMNS}, position FROM verdicts {which}", values)  # noqa: S608 (the same)
            fits: dict[str, Fits] = {name: str for name in (*Verdict._fields[:-2], "position")}
            fits |= dict.fromkeys(("position", "at", "sent", "points", "log_odds"), _is_number)
            fits["digest"] = is_digest
            return [Verdict._make([*row[:-1], b"", row[-1]]) for row in checked_rows("verdicts", found, **fits)]

    def tokens(self, position: int) -> bytes:
        """The packed tokens of a verdict; empty where they are not kept."""
        with self.reading():
            found = self.execute("SELECT tokens FROM tokens WHERE position = ?", (position,))
            rows = checked_rows("tokens", found, tokens=bytes)
            return rows[0][0] if rows else b""

    def corrections(
        self, since: float = 0, *, batch: str = "", digest: bytes = b"", most: int = 1_000
    ) -> list[Correction]:
        """What was taught and stands, the newest first; with ``batch`` or ``digest`` what has that one."""
        statement = (
            f"SELECT {', '.join(Correction._fields)} FROM corrections WHERE at >= ?"  # noqa: S608 (our own words)
            " AND (? = '' OR batch = ?) AND (? = x'' OR digest = ?) ORDER BY number DESC LIMIT ?"
        )
        with self.reading():
            found = self.execute(statement, (int(since), batch, batch, digest, digest, most))
            rows = [Correction(*row) for row in found if is_digest(row[0]) and type(row[1]) is str]
        return [made._replace(spam=bool(made.spam)) for made in rows]

    def days(self, number: int = 30) -> list[Day]:
        """Verdicts of the last days, the oldest first, with those that had no mail.

        >>> [day.total for day in Journal.at(":memory:").days(2)]
        [0, 0]
        """
        today = int(time.time()) // _DAY
        with self.reading():
            counted = self.execute(
                f"SELECT at / {_DAY} AS day, sum(verdict != 'spam' AND NOT doubtful),"  # noqa: S608 (our own words)
                " sum(verdict != 'spam' AND doubtful), sum(verdict = 'spam'), sum(doubtful)"
                " FROM verdicts WHERE at >= ? GROUP BY day",
                ((today - number + 1) * _DAY,),
            )
            counts = {day: sums for day, *sums in counted}
        days = range(today - number + 1, today + 1)
        return [Day(time.strftime("%Y-%m-%d", time.gmtime(day * _DAY)), *counts.get(day, [0] * 4)) for day in days]

    def wrong(self, since: float) -> tuple[int, int]:
        """Corrections since a time of good mail that was called spam, and of spam that was let through."""
        with self.reading():
            return self.execute(
                "SELECT coalesce(sum(verdict = 'spam' AND NOT spam), 0),"
                " coalesce(sum(verdict NOT IN ('spam', '') AND spam), 0)"
                " FROM corrections WHERE at >= ?",
                (int(since),),
            ).fetchone()


def _is_number(value: Any) -> bool:
    return type(value) in (int, float) and value == value
