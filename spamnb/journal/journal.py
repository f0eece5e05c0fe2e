"""The journal's file: verdicts with their evidence, and corrections; bounded by age and size.

The ``position`` of a verdict is the sum of the sizes of all earlier verdicts. So a verdict is too old if its position
is less than the end of the last verdict minus MAX_BYTES. Several programs may write to one file. The file is as
private as the mail: its mode is 0600, and deleted rows are overwritten.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple, Self

from spamnb.errors import SpamnbError
from spamnb.journal.entries import JournalEntry, Place
from spamnb.store.database import ColumnCheck, Database, checked_rows, is_digest, sql_text

APPLICATION_ID = 0x736E626A  # "snbj"
VERSION = 10
DAYS = 60  # days after which verdicts are deleted, because people look for a message for some weeks
MAX_BYTES = 256_000_000  # bytes of verdicts, some 70,000 messages: docs/experiments.md#the-journal
ROW_BYTES = 400  # bytes of a verdict besides its texts and tokens: the other columns, and its part of the indexes
TIDY_EVERY = 1 << 16  # bytes of new verdicts, some 20 messages, after which old rows are deleted
BUSY_MS = 2_000  # milliseconds to wait for a lock, because mail must not wait long for another writer of the journal
MAX_SEARCH_WORDS = 8  # words of a search; further words would exclude hardly any messages, so they are ignored
TABLES = (
    "CREATE TABLE verdicts (position INTEGER PRIMARY KEY, at INTEGER NOT NULL, user TEXT NOT NULL,"
    " digest BLOB NOT NULL, message_id TEXT NOT NULL, sender TEXT NOT NULL,"
    " subject TEXT NOT NULL, received INTEGER NOT NULL, place TEXT NOT NULL, mailbox TEXT NOT NULL,"
    " folder TEXT NOT NULL, role TEXT NOT NULL, junk TEXT NOT NULL, verdict TEXT NOT NULL, log_odds REAL NOT NULL,"
    " threshold REAL NOT NULL, evidence TEXT NOT NULL, token_rules TEXT NOT NULL, doubt REAL NOT NULL,"
    " doubtful INTEGER NOT NULL, size INTEGER NOT NULL)",
    # A table of its own, because lists of messages need no tokens.
    "CREATE TABLE tokens (position INTEGER PRIMARY KEY, tokens BLOB NOT NULL)",
    "CREATE TABLE corrections (number INTEGER PRIMARY KEY, at INTEGER NOT NULL, user TEXT NOT NULL,"
    " digest BLOB NOT NULL, label TEXT NOT NULL, spam INTEGER NOT NULL, verdict TEXT NOT NULL, source TEXT NOT NULL,"
    " before TEXT NOT NULL, batch TEXT NOT NULL, moved_from TEXT NOT NULL,"
    " UNIQUE (digest, user))",
    "CREATE INDEX verdicts_by_digest ON verdicts (digest)",
    "CREATE INDEX verdicts_by_time ON verdicts (at, user, verdict, doubtful)",
    # All columns that a search reads: with fewer, a search of 70,000 messages takes three times as long.
    "CREATE INDEX verdicts_by_date ON verdicts (received, sender, subject, user, digest, verdict, doubtful)",
    "CREATE INDEX corrections_by_time ON corrections (at)",
)
_DAY = 86_400  # seconds
_CORRECTED = "verdicts AS v LEFT JOIN corrections AS c ON c.digest = v.digest AND c.user = v.user"
#: The lists of `Journal.list_verdicts`: a condition on a verdict v and its correction c, which overrides the verdict.
SHOWN = {
    "all": "1",
    "spam": "coalesce(c.spam, v.verdict = 'spam')",
    "good": "NOT coalesce(c.spam, v.verdict = 'spam')",
    "doubtful": "v.doubtful AND c.spam IS NULL",
    "taught": "c.spam IS NOT NULL",
}
ORDERS = {
    "newest": "v.received DESC, v.position DESC",
    "oldest": "v.received, v.position",
    "doubtful": "v.doubt, v.received DESC",
}


class Correction(NamedTuple):
    """The label that a person gave to one message.

    - ``label``: the class; ``spam``: whether this is the class of spam
    - ``source``: "page", "move" or "client"
    - ``verdict``: the verdict of the filter; if it is empty, the journal looks it up
    - ``before``: the class that had learned the message before, or empty
    - ``batch``: an identifier that all messages of one request share
    - ``moved_from``: the place from which the message was moved when it was taught, or empty
    - ``at``: the time, in seconds since 1970; 0 for now
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
    """The numbers of verdicts of one day, UTC. ``day`` has the form "2026-11-22"."""

    day: str
    good: int
    unsure: int
    spam: int
    doubtful: int

    @property
    def total(self) -> int:
        """The number of all verdicts."""
        return self.good + self.unsure + self.spam


class Journal(Database):
    """A journal. `open` makes the file if there is none; `open_existing` does not."""

    OWN_ID = APPLICATION_ID
    KIND = "journal of verdicts"
    REMEDY = "remove it to begin a new one"

    @classmethod
    def open(cls, path: str | Path) -> Self:
        """Open the journal at ``path``, or make it. Raise SpamnbError if the file is no journal."""
        journal = cls.connect(path, writable=True)
        try:
            journal._prepare()
        except BaseException:
            journal.close()
            raise
        return journal

    @classmethod
    def open_existing(cls, path: Path) -> Self:
        """Open the journal at ``path``. Raise SpamnbError if there is none."""
        if not path.exists():
            raise SpamnbError(f"{path}: no such journal; filter, sort, watch and serve write one with --journal")
        return cls.open(path)

    def _prepare(self) -> None:
        with self._translate_errors():
            self.execute(f"PRAGMA busy_timeout = {BUSY_MS}")
            self.create_function("folded", str.casefold)
            with self.reading():
                if self._is_journal():
                    return
            self.execute("PRAGMA journal_mode = WAL")
            with self.writing():
                if self._is_journal():  # another program has just made it
                    return
                for statement in TABLES:
                    self.execute(statement)
                self.execute(f"PRAGMA application_id = {APPLICATION_ID}")
                self.execute(f"PRAGMA user_version = {VERSION}")

    def _is_journal(self) -> bool:
        """Return whether the file is a journal, or False if it is empty. Raise SpamnbError for all other files."""
        application = self.execute("PRAGMA application_id").fetchone()[0]
        version = self.execute("PRAGMA user_version").fetchone()[0]
        if application == APPLICATION_ID and version != VERSION:
            raise SpamnbError(f"{self.path}: a journal of another version of spamnb; remove it to begin a new one")
        others = application == 0 and self.execute("SELECT 1 FROM sqlite_schema").fetchone()
        if others or application not in (0, APPLICATION_ID):
            raise SpamnbError(f"{self.path}: a database of another program, not a journal; name another file")
        return application == APPLICATION_ID

    def add(self, entries: Sequence[JournalEntry]) -> None:
        """Write verdicts in one transaction. Skip those that the journal has: a crash makes programs repeat them."""
        with self.writing():
            last = self.execute("SELECT position + size FROM verdicts ORDER BY position DESC LIMIT 1").fetchone()
            begin = position = last[0] if last else 0
            verdicts, tokens = [], []
            find_same = "SELECT 1 FROM verdicts WHERE digest = ? AND at = ? AND user = ?"
            for entry in entries:
                if self.execute(find_same, (entry.digest, entry.at, entry.user)).fetchone():
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

    def tidy(self, end: int, *, days: float = DAYS, max_bytes: int = MAX_BYTES) -> None:
        """Delete rows older than ``days``, and the verdicts more than ``max_bytes`` before the position ``end``."""
        with self.writing():
            oldest = int(time.time() - days * _DAY)
            last = "SELECT position + 1 FROM verdicts WHERE at < ? ORDER BY at DESC LIMIT 1"
            first = max(end - max_bytes, *(self.execute(last, (oldest,)).fetchone() or (0,)))
            self.execute("DELETE FROM tokens WHERE position < ?", (first,))
            self.execute("DELETE FROM verdicts WHERE position < ?", (first,))
            self.execute("DELETE FROM corrections WHERE at < ?", (oldest,))

    def delete_message(self, digest: bytes) -> int:
        """Delete all rows of a message; return the number of its verdicts."""
        with self.writing():
            positions = "SELECT position FROM verdicts WHERE digest = ?"
            self.execute(f"DELETE FROM tokens WHERE position IN ({positions})", (digest,))  # noqa: S608 (our own words)
            self.execute("DELETE FROM corrections WHERE digest = ?", (digest,))
            return self.execute("DELETE FROM verdicts WHERE digest = ?", (digest,)).rowcount

    def put_correction(self, correction: Correction) -> None:
        """Write a correction, which replaces an earlier correction of the same message by the same user."""
        with self.writing():
            last = None if correction.verdict else self.last_verdict(correction.digest, correction.user)
            row = correction._replace(
                user=sql_text(correction.user),
                verdict=last.verdict if last else correction.verdict,
                at=correction.at or int(time.time()),
            )
            columns, values = ", ".join(row._fields), ", ".join("?" * len(row))
            self.execute(f"INSERT OR REPLACE INTO corrections ({columns}) VALUES ({values})", row)  # noqa: S608

    def delete_correction(self, correction: Correction) -> None:
        """Delete a correction that was undone."""
        with self.writing():
            self.execute("DELETE FROM corrections WHERE digest = ? AND user = ?", (correction.digest, correction.user))

    def put_place(self, position: int, place: Place) -> None:
        """Write the place to which a message was moved."""
        with self.writing():
            self.execute(
                "UPDATE verdicts SET place = ?, mailbox = ?, folder = ?, role = ?, junk = ? WHERE position = ?",
                (*map(sql_text, place), position),
            )

    def list_verdicts(
        self,
        shown: str = "all",
        words: str = "",
        *,
        user: str = "",
        order: str = "newest",
        limit: int = 50,
        skip: int = 0,
    ) -> list[JournalEntry]:
        """Return the verdicts of a list of SHOWN, in one of the ORDERS. Without ``user`` all users' mail is listed.

        Each of ``words`` must be in the sender or in the subject, in upper or lower case.
        """
        texts = words.casefold().split()[:MAX_SEARCH_WORDS]
        conditions = [SHOWN[shown], *["instr(folded(v.sender || ' ' || v.subject), ?)"] * len(texts)]
        if user:
            conditions.append("v.user = ?")
        values = (*texts, *[user] * bool(user), limit, skip)
        clauses = f"WHERE {' AND '.join(conditions)} ORDER BY {ORDERS[order]} LIMIT ? OFFSET ?"
        page = f"SELECT v.position FROM {_CORRECTED} {clauses}"  # noqa: S608 (no text of mail)
        return self._verdicts(f"WHERE v.position IN ({page}) ORDER BY {ORDERS[order]}", values)

    def verdict_at(self, position: int) -> JournalEntry | None:
        """Return the verdict at a position."""
        return next(iter(self._verdicts("WHERE v.position = ?", (position,))), None)

    def last_verdict(self, digest: bytes, user: str | None = None) -> JournalEntry | None:
        """Return the last verdict on a message, for any user if ``user`` is None."""
        clauses = "WHERE v.digest = ? AND (? IS NULL OR v.user = ?) ORDER BY v.position DESC LIMIT 1"
        return next(iter(self._verdicts(clauses, (digest, user, user))), None)

    def _verdicts(self, clauses: str, values: tuple[Any, ...]) -> list[JournalEntry]:
        """Return verdicts without their tokens; ``clauses`` follow the table in the statement."""
        columns = ", ".join(f"v.{name}" for name in (*JournalEntry._fields[:-2], "position"))
        fits: dict[str, ColumnCheck] = {name: str for name in (*JournalEntry._fields[:-2], "position")}
        fits |= dict.fromkeys(("position", "at", "received", "log_odds", "threshold"), _is_number)
        fits["digest"] = is_digest
        with self.reading():
            rows = self.execute(f"SELECT {columns} FROM {_CORRECTED} {clauses}", values)  # noqa: S608 (no text of mail)
            return [JournalEntry._make([*row[:-1], b"", row[-1]]) for row in checked_rows("verdicts", rows, **fits)]

    def users(self) -> list[str]:
        """Return the names of all users who have mail in the journal."""
        with self.reading():
            rows = self.execute("SELECT DISTINCT user FROM verdicts WHERE user != '' ORDER BY user")
            return [user for (user,) in checked_rows("verdicts", rows, user=str)]

    def tokens(self, position: int) -> bytes:
        """Return the packed tokens of a verdict; empty if the journal does not have them."""
        with self.reading():
            rows = self.execute("SELECT tokens FROM tokens WHERE position = ?", (position,))
            return next((tokens for (tokens,) in checked_rows("tokens", rows, tokens=bytes)), b"")

    def correction_of(self, digest: bytes, user: str) -> Correction | None:
        """Return the correction of a user's message."""
        return next(iter(self._corrections("WHERE digest = ? AND user = ?", (digest, user))), None)

    def corrections(self, batch: str = "") -> list[Correction]:
        """Return the corrections, the newest first: of one batch, or all if ``batch`` is empty."""
        return self._corrections("WHERE ? IN (batch, '') ORDER BY number DESC", (batch,))

    def _corrections(self, clauses: str, values: tuple[Any, ...]) -> list[Correction]:
        columns = ", ".join(Correction._fields)
        with self.reading():
            rows = self.execute(f"SELECT {columns} FROM corrections {clauses}", values)  # noqa: S608 (no text of mail)
            fits: dict[str, ColumnCheck] = dict.fromkeys(Correction._fields, str)
            fits |= {"digest": is_digest, "spam": int, "at": _is_number}
            corrections = [Correction(*row) for row in checked_rows("corrections", rows, **fits)]
        return [each._replace(spam=bool(each.spam)) for each in corrections]

    def count_by_day(self, number: int = 30) -> list[Day]:
        """Return the numbers of verdicts on each of the last days, the oldest first. Days without mail have zeros.

        >>> [day.total for day in Journal.open(":memory:").count_by_day(2)]
        [0, 0]
        """
        today = int(time.time()) // _DAY
        with self.reading():
            rows = self.execute(
                f"SELECT at / {_DAY} AS day, sum(verdict NOT IN ('spam', 'unsure')), sum(verdict = 'unsure'),"  # noqa: S608
                " sum(verdict = 'spam'), sum(doubtful) FROM verdicts WHERE at >= ? GROUP BY day",
                ((today - number + 1) * _DAY,),
            )
            counts = {day: sums for day, *sums in rows}
        days = range(today - number + 1, today + 1)
        return [Day(time.strftime("%Y-%m-%d", time.gmtime(day * _DAY)), *counts.get(day, [0] * 4)) for day in days]

    def count_errors(self, since: float) -> tuple[int, int]:
        """Return the numbers of corrected verdicts since a time: good mail called spam, and spam let through."""
        with self.reading():
            return self.execute(
                "SELECT coalesce(sum(verdict = 'spam' AND NOT spam), 0),"
                " coalesce(sum(verdict NOT IN ('spam', '') AND spam), 0)"
                " FROM corrections WHERE at >= ?",
                (int(since),),
            ).fetchone()


def _is_number(value: Any) -> bool:
    return type(value) in (int, float) and value == value
