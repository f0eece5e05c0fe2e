"""The ledger: what happened to a person's mail, in one file.

Verdicts with their evidence, corrections, and for each mailbox where its messages are (`spamnb.mailbox.record` reads
and writes these tables). The file is bounded by age and size.

The ``position`` of a verdict is the sum of the sizes of all earlier verdicts. So a verdict is too old if its position
is less than the end of the last verdict minus MAX_BYTES. Several programs may write to one file. The file is as private
as the mail: its mode is 0600, and deleted rows are overwritten.
"""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from spamnb.errors import Damaged, SpamnbError
from spamnb.ledger.verdicts import Place, VerdictRow, model_path
from spamnb.store.database import ColumnCheck, Database, checked_rows, identify_file, is_digest, sql_text

if TYPE_CHECKING:
    from spamnb.filter import Classifier
    from spamnb.reader.read_message import ReadMessage
    from spamnb.store.store import Store

APPLICATION_ID = 0x736E626C  # "snbl"
VERSION = 5
DAYS = 60  # days after which verdicts are deleted, because people look for a message for some weeks
YEAR = 365  # days after which corrections, and digests of mail that was classified, are deleted
MAX_BYTES = 256_000_000  # bytes of verdicts, some 70,000 messages: docs/experiments.md#the-ledger
ROW_BYTES = 400  # bytes of a verdict besides its texts and tokens: the other columns, and its part of the indexes
TIDY_EVERY = 1 << 16  # bytes of new verdicts, some 20 messages, after which old rows are deleted
MAX_SEARCH_WORDS = 8  # words of a search; further words would exclude hardly any messages, so they are ignored
# What is known of each mailbox, by its number.
PLACE_TABLES = {
    "classified": "mailbox INTEGER NOT NULL, digest BLOB NOT NULL, at INTEGER NOT NULL, PRIMARY KEY (mailbox, digest)",
    "new_mail": "mailbox INTEGER NOT NULL, key TEXT NOT NULL, is_classified INTEGER NOT NULL,"
    " PRIMARY KEY (mailbox, key)",
    # The mark up to which each folder was scanned; for the folder "" the mark up to which new mail was listed.
    "marks": "mailbox INTEGER NOT NULL, folder TEXT NOT NULL, mark TEXT NOT NULL, PRIMARY KEY (mailbox, folder)",
    # Where messages were at the last scan.
    "locations": "mailbox INTEGER NOT NULL, folder TEXT NOT NULL, key TEXT NOT NULL, identity BLOB NOT NULL,"
    " is_junk INTEGER NOT NULL, PRIMARY KEY (mailbox, folder, key)",
    # The side on which a message was recorded first, or since then moved by the program or learned.
    "sides": "mailbox INTEGER NOT NULL, identity BLOB NOT NULL, is_junk INTEGER NOT NULL, at INTEGER NOT NULL,"
    " PRIMARY KEY (mailbox, identity)",
    # Moves that were begun, each with the position of the message's verdict.
    "moves": "mailbox INTEGER NOT NULL, folder TEXT NOT NULL, key TEXT NOT NULL, identity BLOB NOT NULL,"
    " digest BLOB NOT NULL, target TEXT NOT NULL, mark TEXT NOT NULL, is_junk INTEGER NOT NULL,"
    " position INTEGER NOT NULL, PRIMARY KEY (mailbox, folder, key)",
}
CORRECTIONS = (
    "CREATE TABLE corrections (number INTEGER PRIMARY KEY, at INTEGER NOT NULL, user TEXT NOT NULL,"
    " digest BLOB NOT NULL, label TEXT NOT NULL, spam INTEGER NOT NULL, source TEXT NOT NULL,"
    " before TEXT NOT NULL, batch TEXT NOT NULL, moved_from TEXT NOT NULL,"
    " was_lesson INTEGER NOT NULL DEFAULT 1, UNIQUE (digest, user, batch))"
)
# What one run of a command did, which 'undo' takes back.
BATCHES = (
    "CREATE TABLE batches (number INTEGER PRIMARY KEY, batch TEXT NOT NULL UNIQUE, command TEXT NOT NULL,"
    " model TEXT NOT NULL, at REAL NOT NULL, of_user INTEGER NOT NULL DEFAULT 0)"
)
BY_TIME = "CREATE INDEX verdicts_by_time ON verdicts (at, user, verdict, doubtful, digest)"
TABLES = (
    "CREATE TABLE verdicts (position INTEGER PRIMARY KEY, at INTEGER NOT NULL, user TEXT NOT NULL,"
    " digest BLOB NOT NULL, message_id TEXT NOT NULL, sender TEXT NOT NULL,"
    " subject TEXT NOT NULL, received INTEGER NOT NULL, place TEXT NOT NULL, mailbox TEXT NOT NULL,"
    " folder TEXT NOT NULL, role TEXT NOT NULL, junk TEXT NOT NULL, verdict TEXT NOT NULL, log_odds REAL NOT NULL,"
    " threshold REAL NOT NULL, evidence TEXT NOT NULL, token_rules TEXT NOT NULL, model TEXT NOT NULL,"
    " batch TEXT NOT NULL, doubt REAL NOT NULL,"
    " doubtful INTEGER NOT NULL, size INTEGER NOT NULL)",
    # A table of its own, because lists of messages need no tokens.
    "CREATE TABLE tokens (position INTEGER PRIMARY KEY, tokens BLOB NOT NULL)",
    CORRECTIONS,
    "CREATE INDEX verdicts_by_digest ON verdicts (digest)",
    BY_TIME,
    # All columns that a search reads: with fewer, a search of 70,000 messages takes three times as long.
    "CREATE INDEX verdicts_by_date ON verdicts (received, sender, subject, user, digest, verdict, doubtful)",
    "CREATE INDEX corrections_by_time ON corrections (at)",
    "CREATE INDEX verdicts_by_batch ON verdicts (batch)",
    BATCHES,
    "CREATE TABLE mailboxes (number INTEGER PRIMARY KEY, address TEXT NOT NULL UNIQUE)",
    *(f"CREATE TABLE {name} ({columns}) WITHOUT ROWID" for name, columns in PLACE_TABLES.items()),
    "CREATE INDEX locations_by_identity ON locations (mailbox, identity)",
    "CREATE INDEX classified_by_time ON classified (at)",
    "CREATE INDEX sides_by_time ON sides (at)",
)
# The statements that make the tables of each version, and those that make the next version of them.
_WAS_LESSON, _OF_USER = " was_lesson INTEGER NOT NULL DEFAULT 1,", ", of_user INTEGER NOT NULL DEFAULT 0"
_CORRECTIONS_4 = CORRECTIONS.replace(_WAS_LESSON, "")
_TABLES_4 = {*TABLES} - {CORRECTIONS} | {_CORRECTIONS_4}
_TABLES_3 = _TABLES_4 - {BATCHES} | {BATCHES.replace(_OF_USER, "")}
_TABLES_2 = _TABLES_3 - {_CORRECTIONS_4, BY_TIME} | {
    _CORRECTIONS_4.replace(" source", " verdict TEXT NOT NULL, source"),
    BY_TIME.replace(", digest", ""),
}
TABLES_OF = {2: _TABLES_2, 3: _TABLES_3, 4: _TABLES_4, VERSION: {*TABLES}}
UPGRADES = {
    2: ("ALTER TABLE corrections DROP COLUMN verdict", "DROP INDEX verdicts_by_time", BY_TIME),
    3: (f"ALTER TABLE batches ADD COLUMN {_OF_USER.removeprefix(', ')}",),
    4: (f"ALTER TABLE corrections ADD COLUMN{_WAS_LESSON.removesuffix(',')}",),
}
_DAY = 86_400  # seconds
#: The fields of a `VerdictRow` that are columns of the table, and those that come from its correction c.
VERDICT_COLUMNS = VerdictRow._fields[: VerdictRow._fields.index("tokens")]
_TAUGHT = {
    "taught": "CASE WHEN c.spam IS NULL THEN '' WHEN c.spam THEN 'spam' ELSE 'good' END",
    "taught_by": "coalesce(c.source, '')",
}
# The last correction of a message counts; the earlier ones come back when it is undone.
_LAST = "SELECT max(number) FROM corrections WHERE digest = {0}.digest AND user"
_IS_LAST = f"c.number = ({_LAST.format('c')} = c.user)"
# The shared model classifies the mail of all users, so its corrections are those of each user's verdicts.
_CORRECTED = f"verdicts AS v LEFT JOIN corrections AS c ON c.number = ({_LAST.format('v')} IN ('', v.user))"
#: The lists of `Ledger.list_verdicts`: a condition on a verdict v and its correction c, which overrides the verdict.
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


class NotInLedger(SpamnbError):
    """The ledger does not have a verdict, perhaps because it was too old."""


class Correction(NamedTuple):
    """The label that a person gave to one message.

    - ``label``: the class; empty until it is known which model learns the message
    - ``spam``: whether this is the class of spam
    - ``source``: "page", "move", "command" or "client"
    - ``user``: the user whose model learned the message, or empty for the shared model
    - ``before``: the class that had learned the message before, or empty
    - ``was_lesson``: whether this class had learned it as a lesson, and not in training
    - ``batch``: an identifier that all messages of one request share
    - ``moved_from``: the name of the folder from which the message was moved when it was taught, or empty
    - ``at``: the time, in seconds since 1970; 0 for now
    """

    digest: bytes
    label: str
    spam: bool
    source: str
    user: str = ""
    before: str = ""
    batch: str = ""
    moved_from: str = ""
    at: int = 0
    was_lesson: bool = True


class Forgotten(NamedTuple):
    """A message that a model forgot. Writing this deletes the corrections of the message by this model."""

    digest: bytes
    model: str  # as in `Batch`; empty if the user has no model
    user: str = ""  # empty for the shared model


class Batch(NamedTuple):
    """What one run of a command, one scan of ``watch``, or one request of ``review`` did."""

    batch: str  # an identifier, which its verdicts and corrections have
    command: str
    model: str
    at: float  # seconds since 1970
    of_user: bool = False  # whether the model adds to a model of several users

    @classmethod
    def begin(cls, command: str, store: Store) -> Self:
        """Return a new batch of a command that uses this model."""
        with store.reading():
            of_user = store.shared is not None and store.starter is None
        return cls(secrets.token_hex(8), command, model_path(store), time.time(), of_user)


class Day(NamedTuple):
    """The numbers of verdicts of one day, UTC, and of those that a person corrected."""

    day: str  # of the form "2026-11-22"
    good: int
    unsure: int
    spam: int
    doubtful: int
    false_positives: int  # good mail called spam
    false_negatives: int  # spam let through

    @property
    def total(self) -> int:
        """The number of all verdicts."""
        return self.good + self.unsure + self.spam


LedgerRow = VerdictRow | Correction | Forgotten | Batch


class Ledger(Database):
    """A ledger: its rows are verdicts, corrections, and batches of both."""

    OWN_ID = APPLICATION_ID
    KIND = "ledger"
    REMEDY = "remove it to begin a new one; new mail is then classified again"
    _identity: tuple[int, int] | None = None  # of the file at the first transaction; None in memory

    @classmethod
    def open(cls, path: str | Path, *, make: bool = True) -> Self:
        """Open the ledger at ``path``. If there is none, make it, or raise SpamnbError.

        Raise SpamnbError if the file is no ledger.
        """
        if not make and not Path(path).exists():
            raise SpamnbError(f"{path}: no such ledger; 'spamnb sort' and 'spamnb watch' write one")
        ledger = cls.connect(path, writable=True)
        try:
            ledger._prepare()
        except BaseException:
            ledger.close()
            raise
        return ledger

    @property
    def is_replaced(self) -> bool:
        """Whether the file was removed, or another file is at its path."""
        identity = identify_file(self.file)
        self._identity = self._identity or identity
        return identity != self._identity

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[None]:
        """Begin a transaction. Raise SpamnbError if the file was removed, because what it is told would be lost."""
        if self.is_replaced:
            raise SpamnbError(f"{self.path}: was removed or replaced while it was in use; run the command again")
        with super()._transaction(begin):
            yield

    @classmethod
    def copy_places(cls, path: Path) -> Self:
        """Return a ledger in memory with what the ledger at ``path``, if there is one, knows of mailboxes."""
        copy = cls.open(":memory:")
        if path.exists():
            with cls.connect(path, writable=False) as ledger, ledger.reading(), copy.writing():
                for table in ("mailboxes", *PLACE_TABLES) if ledger._find_version() else ():
                    if rows := ledger.execute(f"SELECT * FROM {table}").fetchall():  # noqa: S608 (our names)
                        marks = ", ".join("?" * len(rows[0]))
                        copy.executemany(f"INSERT INTO {table} VALUES ({marks})", rows)  # noqa: S608 (our names)
        return copy

    def _prepare(self) -> None:
        with self._translate_errors():
            self.create_function("folded", str.casefold)
            with self.reading():
                if self._find_version() == VERSION:
                    return
            self.use_log()
            with self.writing():
                version = self._find_version()
                if version == VERSION:  # another program has just made it
                    return
                for statement in chain(*(UPGRADES[each] for each in range(version, VERSION))) if version else TABLES:
                    self.execute(statement)
                self.execute(f"PRAGMA application_id = {APPLICATION_ID}")
                self.execute(f"PRAGMA user_version = {VERSION}")

    def _find_version(self) -> int:
        """Return the version of the ledger, one of TABLES_OF, or 0 if the file is empty.

        Raise SpamnbError for all other files.
        """
        application = self.execute("PRAGMA application_id").fetchone()[0]
        version = self.execute("PRAGMA user_version").fetchone()[0]
        statements = {sql for (sql,) in self.execute("SELECT sql FROM sqlite_schema WHERE sql NOT NULL").fetchall()}
        if application == APPLICATION_ID and version not in TABLES_OF:
            raise SpamnbError(f"{self.path}: a ledger of another version of spamnb; remove it to begin a new one")
        if (application == 0 and statements) or application not in (0, APPLICATION_ID):
            raise SpamnbError(f"{self.path}: a database of another program, not a ledger; name another file")
        # A view, trigger, index, generated column or constraint of a hostile file could compute without end.
        if application and statements != TABLES_OF[version]:
            raise Damaged("other tables, views, triggers or indexes than a ledger's")
        return version if application else 0

    def put(self, rows: Sequence[LedgerRow]) -> list[int]:
        """Write rows in one transaction, and return the positions of the verdicts.

        A verdict or a batch that the ledger has is not written again: a crash makes programs repeat a verdict. A
        verdict on a message in a mailbox replaces those of earlier runs on this message in the same folder. A copy in
        another folder keeps its verdict, by which 'undo' finds it. A correction replaces one of the same batch, message
        and user.
        """
        with self.writing():
            positions = self._put_verdicts([row for row in rows if isinstance(row, VerdictRow)])
            for row in rows:
                if isinstance(row, Batch):
                    names, marks = ", ".join(row._fields), ", ".join("?" * len(row))
                    self.execute(f"INSERT OR IGNORE INTO batches ({names}) VALUES ({marks})", row)  # noqa: S608
                elif isinstance(row, Forgotten):
                    self._delete_corrections(row._replace(user=sql_text(row.user)))
                elif isinstance(row, Correction):
                    row = row._replace(user=sql_text(row.user), at=row.at or int(time.time()))
                    names, marks = ", ".join(row._fields), ", ".join("?" * len(row))
                    self.execute(f"INSERT OR REPLACE INTO corrections ({names}) VALUES ({marks})", row)  # noqa: S608
        return positions

    def _put_verdicts(self, verdict_rows: Sequence[VerdictRow]) -> list[int]:
        last = self.execute("SELECT position + size FROM verdicts ORDER BY position DESC LIMIT 1").fetchone()
        begin = position = last[0] if last else 0
        verdicts, tokens, positions = [], [], []
        # Copies of a message in one mailbox that one run classified differ by their position alone.
        same = "(digest, at, user, batch) = (?, ?, ?, ?) ORDER BY position != ?"
        find_same = f"SELECT position FROM verdicts WHERE {same}"  # noqa: S608
        same_folder = "(digest, user, mailbox, folder) = (?, ?, ?, ?)"
        find_earlier = f"SELECT position FROM verdicts WHERE {same_folder} AND batch != ?"  # noqa: S608
        for row in verdict_rows:
            if same := self.execute(find_same, (row.digest, row.at, row.user, row.batch, row.position)).fetchone():
                positions.append(same[0])
                continue
            if row.mailbox:
                values = row.digest, row.user, row.mailbox, row.folder, row.batch
                for (number,) in self.execute(find_earlier, values).fetchall():
                    self.delete("verdicts", position=number)
            positions.append(position)
            size = ROW_BYTES + sum(map(len, (row.tokens, row.evidence, row.place, row.subject)))
            stored = [getattr(row, name) for name in VERDICT_COLUMNS]
            verdicts.append((position, *stored, row.doubt, row.doubtful, size))
            if row.tokens:
                tokens.append((position, row.tokens))
            position += size
        self.executemany(f"INSERT INTO verdicts VALUES ({', '.join('?' * 23)})", verdicts)  # noqa: S608
        self.executemany("INSERT INTO tokens VALUES (?, ?)", tokens)
        if begin // TIDY_EVERY != position // TIDY_EVERY:
            self.tidy(position)
        return positions

    def delete(self, table: str, **columns: Any) -> int:
        """Delete the rows of "verdicts", "corrections" or "batches" with these values, and return their number."""
        return self._delete(table, " AND ".join(f"{name} = ?" for name in columns), (*columns.values(),))

    def forget(self, digest: bytes, batch: Batch) -> None:
        """Delete the verdicts and corrections of a message by the model of a batch.

        A model that is no user's also has those of a path without a file, because this may have been its path.
        """
        user = Path(batch.model).stem if batch.of_user else ""
        with self.writing():
            others = json.dumps(self._find_other_models(digest, batch.model))
            is_own = "user = ?" if user else "user = '' AND model NOT IN (SELECT value FROM json_each(?))"
            self._delete("verdicts", f"digest = ? AND (model = ? OR {is_own})", (digest, batch.model, user or others))
            self._delete_corrections(Forgotten(digest, batch.model, user))

    def _delete_corrections(self, forgotten: Forgotten) -> None:
        """Delete the corrections of a message by the model that forgot it.

        What 'learn' taught has no user: each model has the lessons of its path.
        """
        digest, model, user = forgotten
        if user:
            is_own = "(user = ? OR batch IN (SELECT batch FROM batches WHERE model = ?))"
            self._delete("corrections", f"digest = ? AND {is_own}", (digest, user, model))
            return
        others = json.dumps(self._find_other_models(digest, model))
        of_others = "model IN (SELECT value FROM json_each(?)) OR of_user AND model != ?"
        is_own = f"user = '' AND batch NOT IN (SELECT batch FROM batches WHERE {of_others})"  # noqa: S608
        self._delete("corrections", f"digest = ? AND {is_own}", (digest, others, model))

    def _find_other_models(self, digest: bytes, model: str) -> list[str]:
        """Return the paths of the models besides this one that classified or learned a message and are there still."""
        taught = "SELECT batch FROM corrections WHERE digest = ?"
        paths = f"SELECT model FROM verdicts WHERE digest = ? UNION SELECT model FROM batches WHERE batch IN ({taught})"  # noqa: S608
        rows = checked_rows("batches", self.execute(paths, (digest, digest)), model=str)
        return [path for (path,) in rows if identify_file(path) not in (None, identify_file(model))]

    def _delete(self, table: str, where: str, values: tuple[Any, ...]) -> int:
        with self.writing():
            if table == "verdicts":
                positions = f"SELECT position FROM verdicts WHERE {where}"  # noqa: S608 (our names)
                self.execute(f"DELETE FROM tokens WHERE position IN ({positions})", values)  # noqa: S608
            return self.execute(f"DELETE FROM {table} WHERE {where}", values).rowcount  # noqa: S608

    def tidy(self, end: int, *, days: float = DAYS, max_bytes: int = MAX_BYTES) -> None:
        """Delete rows older than ``days``, and the verdicts more than ``max_bytes`` before the position ``end``."""
        with self.writing():
            oldest = int(time.time() - days * _DAY)
            last = "SELECT position + 1 FROM verdicts WHERE at < ? ORDER BY at DESC LIMIT 1"
            first = max(end - max_bytes, *(self.execute(last, (oldest,)).fetchone() or (0,)))
            self.execute("DELETE FROM tokens WHERE position < ?", (first,))
            self.execute("DELETE FROM verdicts WHERE position < ?", (first,))
            year_ago = (int(time.time() - YEAR * _DAY),)
            for table in ("corrections", "batches", "classified"):
                self.execute(f"DELETE FROM {table} WHERE at < ?", year_ago)  # noqa: S608 (one of these three)
            gone = "NOT EXISTS (SELECT 1 FROM locations AS l WHERE (l.mailbox, l.identity) = (s.mailbox, s.identity))"
            self.execute(f"DELETE FROM sides AS s WHERE at < ? AND {gone}", year_ago)  # noqa: S608 (our own words)

    def last_batch(self, **columns: Any) -> Batch | None:
        """Return the newest batch with these values, such as its ``command``."""
        return next(iter(self.list_batches(1, **columns)), None)

    def list_batches(self, limit: int = -1, **columns: Any) -> list[Batch]:
        """Return at most ``limit`` batches with these values, the newest first; -1 for all."""
        where = " AND ".join(["1", *(f"{name} = ?" for name in columns)])
        select = f"SELECT {', '.join(Batch._fields)} FROM batches WHERE {where} ORDER BY number DESC LIMIT ?"  # noqa: S608
        checks: dict[str, ColumnCheck] = {**dict.fromkeys(Batch._fields, str), "at": _is_number, "of_user": int}
        with self.reading():
            rows = self.execute(select, (*columns.values(), limit))
            return [Batch(*row) for row in checked_rows("batches", rows, **checks)]

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
    ) -> list[VerdictRow]:
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

    def verdict(self, position: int) -> VerdictRow:
        """Return the verdict at a position. Raise NotInLedger if there is none."""
        if row := self.find(position=position):
            return row
        raise NotInLedger(f"message {position} is not in the ledger, which keeps verdicts for {DAYS} days")

    def find(self, **columns: Any) -> VerdictRow | None:
        """Return the last verdict with these values, such as ``digest`` and ``user``."""
        return next(iter(self.find_all(**columns)), None)

    def verdict_of(self, correction: Correction) -> VerdictRow | None:
        """Return the last verdict on the message of a correction, if possible one with its mailbox.

        The shared model learns the mail of all users, who may have copies of a message. Its own verdicts come first.
        """
        user = sql_text(correction.user)
        order = "ORDER BY v.user = ? DESC, v.mailbox != '' DESC, v.position DESC LIMIT 1"
        values = correction.digest, user, user
        return next(iter(self._verdicts(f"WHERE v.digest = ? AND ? IN ('', v.user) {order}", values)), None)

    def find_all(self, **columns: Any) -> list[VerdictRow]:
        """Return the verdicts with these values, the newest first."""
        where = " AND ".join(f"v.{name} = ?" for name in columns)
        return self._verdicts(f"WHERE {where} ORDER BY v.position DESC", (*columns.values(),))

    def _verdicts(self, clauses: str, values: tuple[Any, ...]) -> list[VerdictRow]:
        """Return verdicts without their tokens; ``clauses`` follow the table in the statement."""
        checks: dict[str, ColumnCheck] = dict.fromkeys((*VERDICT_COLUMNS, "position", *_TAUGHT), str)
        checks |= dict.fromkeys(("position", "at", "received", "log_odds", "threshold"), _is_number)
        checks["digest"] = is_digest
        columns = ", ".join(_TAUGHT.get(name, f"v.{name}") for name in checks)
        with self.reading():
            rows = self.execute(f"SELECT {columns} FROM {_CORRECTED} {clauses}", values)  # noqa: S608 (no text of mail)
            return [VerdictRow(**dict(zip(checks, row))) for row in checked_rows("verdicts", rows, **checks)]

    def users(self, limit: int) -> list[str]:
        """Return the first names of users who have mail in the ledger."""
        with self.reading():
            rows = self.execute("SELECT DISTINCT user FROM verdicts WHERE user != '' ORDER BY user LIMIT ?", (limit,))
            return [user for (user,) in checked_rows("verdicts", rows, user=str)]

    def tokens(self, position: int) -> bytes:
        """Return the packed tokens of a verdict; empty if the ledger does not have them."""
        with self.reading():
            rows = self.execute("SELECT tokens FROM tokens WHERE position = ?", (position,))
            return next((tokens for (tokens,) in checked_rows("tokens", rows, tokens=bytes)), b"")

    def corrections(self, *, last: bool = False, **columns: Any) -> list[Correction]:
        """Return the corrections with these values, such as their ``batch``, the newest first.

        With ``last`` only the last correction of each message by each model is returned.
        """
        conditions = [_IS_LAST if last else "1", *(f"{name} = ?" for name in columns)]
        return self._corrections(f"{' AND '.join(conditions)} ORDER BY number DESC", (*columns.values(),))

    def correction_of(self, row: VerdictRow) -> Correction | None:
        """Return the last correction of a verdict."""
        number = f"SELECT c.number FROM {_CORRECTED} WHERE v.position = ?"  # noqa: S608 (our own words)
        return next(iter(self._corrections(f"number = ({number})", (row.position,))), None)

    def _corrections(self, where: str, values: tuple[Any, ...]) -> list[Correction]:
        """Return the corrections c that meet a condition, which may end with their order."""
        with self.reading():
            select = f"SELECT {', '.join(Correction._fields)} FROM corrections AS c WHERE {where}"  # noqa: S608
            rows = self.execute(select, values)
            checks: dict[str, ColumnCheck] = dict.fromkeys(Correction._fields, str)
            checks |= {"digest": is_digest, "spam": int, "was_lesson": int, "at": _is_number}
            corrections = [Correction(*row) for row in checked_rows("corrections", rows, **checks)]
        return [each._replace(spam=bool(each.spam), was_lesson=bool(each.was_lesson)) for each in corrections]

    def statistics(self, number: int = 30, user: str = "") -> list[Day]:
        """Return each of the last days, the oldest first. Without ``user`` the mail of all users is counted.

        >>> [day.total for day in Ledger.open(":memory:").statistics(2)]
        [0, 0]
        """
        today = int(time.time()) // _DAY
        since = (today - number + 1) * _DAY
        conditions = (
            "v.verdict NOT IN ('spam', 'unsure')",
            "v.verdict = 'unsure'",
            "v.verdict = 'spam'",
            "v.doubtful",
            "v.verdict = 'spam' AND NOT c.spam",
            "v.verdict != 'spam' AND c.spam",
        )
        numbers = ", ".join(f"count(*) FILTER (WHERE {condition})" for condition in conditions)
        where = "WHERE v.at >= ? AND ? IN ('', v.user) GROUP BY day"
        with self.reading():
            rows = self.execute(f"SELECT v.at / {_DAY} AS day, {numbers} FROM {_CORRECTED} {where}", (since, user))  # noqa: S608
            counts = {day: sums for day, *sums in rows}
        names = {day: time.strftime("%Y-%m-%d", time.gmtime(day * _DAY)) for day in range(since // _DAY, today + 1)}
        return [Day(name, *counts.get(day, [0] * len(conditions))) for day, name in names.items()]


def learn_correction(
    ledger: Ledger, model: Classifier, batch: Batch, correction: Correction, message: bytes | ReadMessage
) -> bool:
    """Write a correction and its batch, learn its message, and return whether the model changed.

    The correction is written first, because after a kill in between the next scan of ``watch`` or the next start of
    ``review`` learns the message, and so does `relearn`.
    """
    ledger.put([batch, correction])
    try:
        return model.learn(correction.label, message, taught_at=correction.at or None)
    except BaseException:
        ledger.delete("corrections", digest=correction.digest, user=correction.user, batch=correction.batch)
        raise


def _is_number(value: Any) -> bool:
    return type(value) in (int, float) and value == value
