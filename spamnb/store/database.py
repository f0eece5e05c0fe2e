"""One SQLite file, safely: opening, transactions, checked rows, and SQLite's complaints as one line each.

Write-ahead mode: a reader sees the state before or after a change and never waits for a writer; a process killed
inside a change leaves the state before it.

SQLite keeps any value in any column, and a file can be edited by hand or damaged on its way. So rows are checked as
they are read, and nobody further on meets a text where a number should be. Damaged says which table holds what.
"""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Self

from spamnb.class_names import check_class_name
from spamnb.errors import Damaged, Locked, SpamnbError
from spamnb.shown_text import escape

APPLICATION_ID = 0x736E6221  # "snb!"
_PART: contextlib.AbstractContextManager[None] = contextlib.nullcontext()  # of the transaction at hand
BUSY_SECONDS = 60  # how long a writer waits for another: learning one message holds the file for some 3 ms
# What SQLite says where there is no room to write; beyond a quota or a limit of file sizes it calls that an I/O error.
NO_ROOM = ("SQLITE_FULL", "SQLITE_IOERR_WRITE", "SQLITE_IOERR_SHMOPEN", "SQLITE_IOERR_SHMSIZE")
LOCKED = ("SQLITE_BUSY", "SQLITE_BUSY_RECOVERY", "SQLITE_BUSY_SNAPSHOT", "SQLITE_BUSY_TIMEOUT", "SQLITE_LOCKED")
MAX_SUM = 1 << 61  # of a sum: two of them and the few that one message adds still do not overflow

Fits = type | Callable[[Any], bool]  # a type of Python, or what the value is asked


class Database:
    """A connection to one file, with nested transactions, and a hook to drop what was cached of its content."""

    OWN_ID = APPLICATION_ID  # SQLite's application_id
    KIND = "spamnb model"  # what the file is, and what to do where it is damaged
    REMEDY = "restore a copy, or remove it and train again"

    def __init__(self, path: str, connection: sqlite3.Connection) -> None:
        self.path = path  # what errors call it
        self.file = path  # its own name; not asked of SQLite, which tells no name that is not UTF-8
        self._connection = connection
        self._busy = False  # inside a transaction
        self._data_version: int | None = None
        self.drop_cache()

    @classmethod
    def connect(cls, path: str | Path, *, writable: bool) -> Self:
        """An open database; where there was none and ``writable``, a new one that nobody else may read."""
        name = str(path)
        if name == ":memory:":  # of one owner, who sees to it that one thread at a time uses it
            return cls(name, sqlite3.connect(name, isolation_level=None, check_same_thread=False))
        if writable and not os.path.exists(name):
            try:  # it will hold words of private mail; SQLite gives its log the same mode
                os.close(os.open(name, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600))
            except OSError as error:
                why = f"cannot be made ({error.strerror}); are its permissions and its folder's right?"
                raise SpamnbError(f"{name}: {why}") from None
        try:
            return cls(name, _opened(name, writable))
        except sqlite3.OperationalError as error:
            if getattr(error, "sqlite_errorname", "") not in NO_ROOM:
                why = f"cannot be opened ({error}); are its permissions and its folder's right?"
                raise SpamnbError(f"{name}: {why}") from None
            raise SpamnbError(f"{name}: {cls._advice(error, name)}") from None
        except (sqlite3.DatabaseError, UnicodeDecodeError) as error:  # the second as in `execute`
            raise SpamnbError(f"{name}: {cls._advice(error, name)}") from None

    def close(self) -> None:
        """Close the file; a transaction that was cut off on the way is undone."""
        self._connection.close()
        self._busy = False

    def execute(self, statement: str, values: Sequence[Any] = ()) -> Any:
        """Run one statement, ``values`` in place of its question marks, and hand back its cursor; for subclasses,
        inside ``reading`` or ``writing``."""
        try:
            return self._connection.execute(statement, values)
        except UnicodeDecodeError as error:  # sqlite3 cannot read its own words: they quote a damaged schema
            raise Damaged(str(error)) from None

    def executemany(self, statement: str, rows: Iterable[Sequence[Any]]) -> None:
        """Run a statement once with each of ``rows``; for subclasses, inside ``writing``."""
        self._connection.executemany(statement, rows)

    def create_function(self, name: str, function: Callable[[str], str]) -> None:
        """Make a function of one text callable in statements, whose result depends on the text alone."""
        self._connection.create_function(name, 1, function, deterministic=True)

    def copy_to(self, other: Database, **how: Any) -> None:
        """Make ``other`` hold what this one holds, as ``sqlite3.Connection.backup`` does it."""
        self._connection.backup(other._connection, **how)

    def size(self) -> int:
        """Bytes on disk, with those of the log of changes beside the file."""
        log = Path(f"{self.file}-wal")
        return Path(self.file).stat().st_size + (log.stat().st_size if log.exists() else 0)

    def as_bytes(self) -> bytes:
        """The whole file as it is now."""
        with self.reading(), self._told():
            return self._connection.serialize()

    @classmethod
    def of_bytes(cls, content: bytes) -> Self:
        """What ``as_bytes`` gave, in memory."""
        database = cls.connect(":memory:", writable=True)
        with database._told():
            # Bytes 18 and 19 say 2 in write-ahead mode, which there is none of in memory.
            database._connection.deserialize(content[:18] + b"\1\1" + content[20:])
            return database

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def writing(self) -> contextlib.AbstractContextManager[None]:
        """One change, whole or not at all. Inside another ``writing`` it is part of that one."""
        return _PART if self._busy else self._transaction("BEGIN IMMEDIATE")

    def reading(self) -> contextlib.AbstractContextManager[None]:
        """What is read inside belongs to one state of the file, whoever writes meanwhile."""
        return _PART if self._busy else self._transaction("BEGIN")

    def check_writable(self) -> None:
        """SpamnbError where the file cannot be written."""
        with self.writing():
            pass

    @contextlib.contextmanager
    def _transaction(self, begin: str) -> Iterator[None]:
        with self._told():
            self._connection.execute(begin)
            self._busy = True
            try:
                version = self.execute("PRAGMA data_version").fetchone()[0]
                if version != self._data_version:  # another connection wrote since
                    self.follow_changes()
                    self._data_version = version
                yield
                self._connection.execute("COMMIT")
            except BaseException:
                self.drop_cache()
                # Ctrl-C can cut a context off before its block begins; then this comes late, after the file was closed.
                if self._busy and self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise
            finally:
                self._busy = False

    @contextlib.contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, Damaged) as error:
            kind = Locked if getattr(error, "sqlite_errorname", "") in LOCKED else SpamnbError
            raise kind(f"{self.path}: {self._advice(error, self.file)}") from None

    @classmethod
    def _advice(cls, error: Exception, file: str) -> str:
        """What is wrong and what to do; SQLite's own words can hold what it found in the file."""
        remedy = cls.REMEDY if cls._is_own(file) else "name another file"
        said = escape(str(error)[:100])[:160]  # what is escaped gets longer
        if isinstance(error, sqlite3.OperationalError):
            if getattr(error, "sqlite_errorname", "") in LOCKED:
                return "another process keeps writing to it; try again"
            if "readonly" in said:
                return "cannot be written; are its permissions and its folder's right? In Python, open it writable=True"
            if getattr(error, "sqlite_errorname", "") in NO_ROOM:
                return "the disk is full, or your quota; this change was not made"
            return f"{said}; if this lasts, {remedy}"
        if isinstance(error, sqlite3.ProgrammingError):  # no file is to blame
            return f"{said.rstrip('.')}; open it anew"
        return f"not a {cls.KIND}, or damaged ({said}); {remedy}"

    @classmethod
    def _is_own(cls, file: str) -> bool:
        """Whether a file was made by spamnb, as its first bytes say: nobody is told to remove any other."""
        try:
            with open(file, "rb") as stream:
                head = stream.read(72)
        except OSError:
            return False
        return head.startswith(b"SQLite format 3\0") and int.from_bytes(head[68:]) == cls.OWN_ID

    def follow_changes(self) -> None:
        """Forget what another connection changed; inside a transaction."""
        self.drop_cache()

    def drop_cache(self) -> None:
        """Forget what was read: a change was undone, or made beside the methods that keep it up to date."""


def _opened(name: str, writable: bool) -> sqlite3.Connection:
    # A reader, too, opens the file to write where it may, and then forbids itself to: a connection of mode=ro makes the
    # write-ahead log and its index but cannot take them away when it is the last to close, so each command left both
    # beside the model.
    try:
        connection = _tried(name, "mode=rw")
    except sqlite3.OperationalError:
        # A reader needs the write-ahead index beside the file. Where there is no place for it, in another's folder or
        # on a full disk, and no log is there or an empty one, nobody is writing: the file is read as it stands.
        log = Path(f"{name}-wal")
        if writable or (log.exists() and log.stat().st_size):
            raise
        return _tried(name, "mode=ro&immutable=1")
    connection.execute("PRAGMA cache_size = -8000")  # kB: a lesson changes some 400 pages
    if not writable:
        connection.execute("PRAGMA query_only = ON")
    else:
        connection.execute("PRAGMA secure_delete = ON")  # nothing is left in the file of what is deleted
        # A lesson writes some 350 pages: the write-ahead log is emptied after about ten.
        connection.execute("PRAGMA wal_autocheckpoint = 4000")
        connection.execute("PRAGMA journal_size_limit = 4000000")
    return connection


def _tried(name: str, how: str) -> sqlite3.Connection:
    uri = f"{Path(name).absolute().as_uri()}?{how}"
    # The thread that closes it may be another than the one that used it.
    connection = sqlite3.connect(uri, uri=True, isolation_level=None, timeout=BUSY_SECONDS, check_same_thread=False)
    try:
        connection.execute("PRAGMA schema_version")  # opens the file at last, and its write-ahead log
    except sqlite3.Error:
        connection.close()
        raise
    return connection


# -- what rows may hold ------------------------------------------------------------------------------------------


def sql_text(value: str) -> str:
    """A text as SQLite takes it, which cannot spell bytes that are no UTF-8.

    >>> sql_text("caf\\udce9")
    'caf\\\\udce9'
    """
    return value if value.isascii() else value.encode("utf-8", "backslashreplace").decode("utf-8")


def is_digest(value: Any) -> bool:
    """A message's digest: 16 bytes."""
    return type(value) is bytes and len(value) == 16


def is_class_name(value: Any) -> bool:
    """A name that a class can have."""
    try:
        return type(value) is str and bool(check_class_name(value))
    except ValueError:
        return False


def int_between(most: int, least: int = 0) -> Fits:
    """A whole number from ``least`` to ``most``; True is none."""
    return lambda value: type(value) is int and least <= value <= most


def checked_rows(table: str, found: Iterable[tuple], /, **columns: Fits) -> list[tuple]:
    """All of ``found``, the values of each column as they should be.

    >>> checked_rows("classes", [("ham", 3)], name=str, documents=int_between(9))
    [('ham', 3)]
    >>> checked_rows("classes", [("ham", -3)], name=str, documents=int_between(9))
    Traceback (most recent call last):
    ...
    spamnb.errors.Damaged: documents in table classes: -3
    """
    read = list(found)
    for (column, fits), values in zip(columns.items(), zip(*read)):
        wrong = [v for v in values if not (type(v) is fits if isinstance(fits, type) else fits(v))]
        if wrong:
            raise Damaged(f"{column} in table {table}: {_told(wrong[0])}")
    return read


def parse_json(table: str, column: str, value: Any) -> Any:
    """The JSON of one value."""
    try:
        return json.loads(value)
    except (ValueError, TypeError, RecursionError):
        raise Damaged(f"{column} in table {table}: {_told(value)}") from None


def _told(value: Any) -> str:
    told = ascii(value)
    return told if len(told) <= 40 else told[:37] + "..."
