"""Opens one SQLite file, runs transactions, checks the rows that it reads, and describes an error in one line.

In write-ahead mode a reader sees the state before or after a change and never waits for a writer. If a process is
killed inside a change, the file has the state before the change.

SQLite allows any value in any column, and a file can be edited by hand or damaged. So each row is checked when it is
read, and other modules never see a text instead of a number. The exception Damaged names the table and the value.
"""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Self

from spamnb.class_names import check_class_name
from spamnb.errors import Damaged, Locked, SpamnbError
from spamnb.shown_text import escape

APPLICATION_ID = 0x736E6221  # "snb!"
_NESTED: contextlib.AbstractContextManager[None] = contextlib.nullcontext()  # for a part of an open transaction
# Messages that a command changes in one transaction. If it is killed, it loses them; others wait for them, some 2 s.
# With 250 `learn` takes a quarter longer, because each transaction writes most buckets of the model.
MAX_TOGETHER = 500
BUSY_SECONDS = 60  # longest wait for another writer, which needs some 3 ms to learn one message
# Errors when there is no room to write; SQLite reports a quota and a limit of file sizes as I/O errors.
NO_ROOM = ("SQLITE_FULL", "SQLITE_IOERR_WRITE", "SQLITE_IOERR_SHMOPEN", "SQLITE_IOERR_SHMSIZE")
LOCKED = ("SQLITE_BUSY", "SQLITE_BUSY_RECOVERY", "SQLITE_BUSY_SNAPSHOT", "SQLITE_BUSY_TIMEOUT", "SQLITE_LOCKED")
MAX_VALUE_BYTES = 1 << 26  # of a row: a bucket of 64 long tokens has 4 MB, a lesson 8 MB
MAX_SUM = 1 << 61  # two sums and the counts of one message do not overflow 64 bits

_CHECK_PERMISSIONS = "check the permissions of the file and of its folder"

ColumnCheck = type | Callable[[Any], bool]  # the type of a column's values, or a check of them


class Database:
    """A connection to one file, with nested transactions, and hooks for the caches of subclasses."""

    OWN_ID = APPLICATION_ID  # SQLite's application_id
    KIND = "spamnb model"  # what error messages call the file
    REMEDY = "restore a copy, or remove it and train again"  # if the file is damaged

    def __init__(self, path: str, connection: sqlite3.Connection) -> None:
        self.path = path  # in error messages; subclasses may set another name
        self.file = path  # the path on disk, which SQLite cannot return if it is not UTF-8
        self._connection = connection
        self._busy = False  # inside a transaction
        self._data_version: int | None = None
        self.drop_cache()

    @classmethod
    def connect(cls, path: str | Path, *, writable: bool) -> Self:
        """Open the database at ``path``. Create a missing file if ``writable``; only its owner can read it."""
        name = str(path)
        if name == ":memory:":  # several threads may use it, but only one at a time
            return cls(name, sqlite3.connect(name, isolation_level=None, check_same_thread=False))
        if writable and not os.path.exists(name):
            try:  # only the owner may read words of private mail; SQLite gives the log the same mode
                os.close(os.open(name, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600))
            except OSError as error:
                raise SpamnbError(f"{name}: cannot be created ({error.strerror}); {_CHECK_PERMISSIONS}") from None
        try:
            return cls(name, _open_connection(name, writable))
        except sqlite3.OperationalError as error:
            if getattr(error, "sqlite_errorname", "") not in NO_ROOM:
                raise SpamnbError(f"{name}: cannot be opened ({error}); {_CHECK_PERMISSIONS}") from None
            raise SpamnbError(f"{name}: {cls._describe_error(error, name)}") from None
        except (sqlite3.DatabaseError, UnicodeDecodeError) as error:  # ``execute`` explains UnicodeDecodeError
            raise SpamnbError(f"{name}: {cls._describe_error(error, name)}") from None

    def close(self) -> None:
        """Close the file; an unfinished transaction is undone."""
        self._connection.close()
        self._busy = False

    def limit_pages(self, kilobytes: int) -> None:
        """Let SQLite keep at most so much of the file in memory."""
        self._connection.execute(f"PRAGMA cache_size = -{kilobytes:d}")

    def limit_steps(self, number: int) -> None:
        """Let each statement fail after this number of SQLite's steps, because a hostile file may have loops."""
        self._connection.set_progress_handler(lambda: 1, number)

    def execute(self, statement: str, values: Sequence[Any] = ()) -> Any:
        """Run one statement with ``values`` for its question marks, and return its cursor.

        Only subclasses and modules of the package call this, inside ``reading`` or ``writing``.
        """
        try:
            return self._connection.execute(statement, values)
        except UnicodeDecodeError as error:  # sqlite3 cannot decode its error message, which quotes a damaged schema
            raise Damaged(str(error)) from None

    def executemany(self, statement: str, rows: Iterable[Sequence[Any]]) -> None:
        """Run a statement once with each of ``rows``, inside ``writing``."""
        self._connection.executemany(statement, rows)

    def create_function(self, name: str, function: Callable[[str], str]) -> None:
        """Register a deterministic function of one text for use in statements."""
        self._connection.create_function(name, 1, function, deterministic=True)

    def copy_to(self, other: Database, **options: Any) -> None:
        """Replace the content of ``other`` by this content; ``options`` go to ``sqlite3.Connection.backup``."""
        self._connection.backup(other._connection, **options)

    def size(self) -> int:
        """Return the bytes on disk of the file and its write-ahead log."""
        log = Path(f"{self.file}-wal")
        return Path(self.file).stat().st_size + (log.stat().st_size if log.exists() else 0)

    def use_log(self) -> None:
        """Turn on write-ahead mode. SQLite does not wait for other connections to do this, so this is tried again."""
        end = time.monotonic() + BUSY_SECONDS
        while True:
            try:
                self.execute("PRAGMA journal_mode = WAL")
                return
            except sqlite3.OperationalError as error:
                if error.sqlite_errorname not in LOCKED or time.monotonic() > end:
                    raise
                time.sleep(0.01)

    def empty_log(self) -> bool:
        """Move all changes from the write-ahead log to the file, and return whether that was possible.

        It is impossible while another connection reads an older state; then the log keeps what was deleted until a
        later call, or until the last connection closes.
        """
        with self._translate_errors():
            self.execute("PRAGMA busy_timeout = 0")
            (is_busy, _, _) = self.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            self.execute(f"PRAGMA busy_timeout = {BUSY_SECONDS * 1000}")
            return not is_busy

    def as_bytes(self) -> bytes:
        """Return the content of the whole file."""
        with self.reading(), self._translate_errors():
            return self._connection.serialize()

    @classmethod
    def of_bytes(cls, content: bytes) -> Self:
        """Open in memory the content that ``as_bytes`` returned."""
        database = cls.connect(":memory:", writable=True)
        with database._translate_errors():
            # Bytes 18 and 19 are 2 in write-ahead mode, which a database in memory does not have.
            database._connection.deserialize(content[:18] + b"\1\1" + content[20:])
            return database

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def writing(self) -> contextlib.AbstractContextManager[None]:
        """Begin a transaction that writes. Inside another transaction it is a part of the other transaction."""
        return _NESTED if self._busy else self._transaction("BEGIN IMMEDIATE")

    def reading(self) -> contextlib.AbstractContextManager[None]:
        """Begin a transaction that reads one state of the file, even while another connection writes."""
        return _NESTED if self._busy else self._transaction("BEGIN")

    def check_writable(self) -> None:
        """Raise SpamnbError if the file cannot be written."""
        with self.writing():
            pass

    @contextlib.contextmanager
    def _transaction(self, begin: str) -> Iterator[None]:
        with self._translate_errors():
            self._connection.execute(begin)
            self._busy = True
            try:
                version = self.execute("PRAGMA data_version").fetchone()[0]
                if version != self._data_version:  # another connection has written
                    self._follow_changes()
                    self._data_version = version
                yield
                self._connection.execute("COMMIT")
            except BaseException:
                self.drop_cache()
                # After Ctrl-C before the with block, garbage collection ends this generator, maybe after ``close``.
                if self._busy and self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise
            finally:
                self._busy = False

    @contextlib.contextmanager
    def _translate_errors(self) -> Iterator[None]:
        """Raise errors of SQLite, and Damaged, as SpamnbError: one line with the file, the problem and a remedy."""
        try:
            yield
        except (sqlite3.Error, Damaged) as error:
            kind = Locked if getattr(error, "sqlite_errorname", "") in LOCKED else SpamnbError
            raise kind(f"{self.path}: {self._describe_error(error, self.file)}") from None

    @classmethod
    def _describe_error(cls, error: Exception, file: str) -> str:
        """Return the problem and the remedy. A message of SQLite is escaped, because it can quote the file."""
        remedy = cls.REMEDY if cls._has_own_id(file) else "name another file"
        problem = escape(str(error)[:100])[:160]  # escaping makes the text longer
        if isinstance(error, sqlite3.OperationalError):
            if getattr(error, "sqlite_errorname", "") in LOCKED:
                return "another process keeps writing to it; try again"
            if "readonly" in problem:
                if os.access(file, os.W_OK) and os.access(os.path.dirname(file) or ".", os.W_OK):
                    return "cannot be written, because it is open for reading; open it with writable=True"
                return f"cannot be written; {_CHECK_PERMISSIONS}"
            if getattr(error, "sqlite_errorname", "") in NO_ROOM:
                return "the disk is full, or your quota; this change was not made"
            return f"{problem}; if this lasts, {remedy}"
        if isinstance(error, sqlite3.ProgrammingError):  # the caller's mistake, not the file's
            return f"{problem.rstrip('.')}; open it again"
        return f"not a {cls.KIND}, or damaged ({problem}); {remedy}"

    @classmethod
    def _has_own_id(cls, file: str) -> bool:
        """Return whether the file has the id of this class. No message may advise to remove another program's file."""
        try:
            with open(file, "rb") as stream:
                head = stream.read(72)
        except OSError:
            return False
        return head.startswith(b"SQLite format 3\0") and int.from_bytes(head[68:]) == cls.OWN_ID

    def _follow_changes(self) -> None:
        """Drop the cache because another connection changed the file; inside a transaction."""
        self.drop_cache()

    def drop_cache(self) -> None:
        """Drop the cache, because a change was undone, or was made without updating the cache."""


def _open_connection(name: str, writable: bool) -> sqlite3.Connection:
    # A reader also opens the file for writing if it can, and then sets query_only: a connection of mode=ro creates the
    # write-ahead log and its index but cannot remove them, so each command would leave both beside the model.
    try:
        connection = _connect(name, "rw")
    except sqlite3.OperationalError:
        # A reader needs the write-ahead index beside the file. The index cannot be created in another user's folder or
        # on a full disk. If there is no log, or an empty one, nobody is writing, and the index is not needed.
        log = Path(f"{name}-wal")
        if writable or (log.exists() and log.stat().st_size):
            raise
        return _connect(name, "ro&immutable=1")
    connection.execute("PRAGMA cache_size = -8000")  # kB: learning a message changes some 350 pages of 1 kB
    if not writable:
        connection.execute("PRAGMA query_only = ON")
    else:
        connection.execute("PRAGMA secure_delete = ON")  # deleted rows are overwritten
        connection.execute("PRAGMA wal_autocheckpoint = 4000")  # pages: the log is emptied after some ten messages
        connection.execute("PRAGMA journal_size_limit = 4000000")  # bytes of these pages
    return connection


def _connect(name: str, mode: str) -> sqlite3.Connection:
    from urllib.parse import quote  # Path.as_uri of Python 3.14 imports http, ssl and email too

    uri = f"file://{quote(os.fsencode(Path(name).absolute()))}?mode={mode}"
    # check_same_thread is off, because a thread may close a connection that another thread used.
    connection = sqlite3.connect(uri, uri=True, isolation_level=None, timeout=BUSY_SECONDS, check_same_thread=False)
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MAX_VALUE_BYTES)
    try:
        connection.execute("PRAGMA schema_version")  # opens the file and its write-ahead log
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def identify_file(name: str) -> tuple[int, int] | None:
    """Return the device and number of the file at a path; None in memory, and if there is no file."""
    try:
        status = os.stat(name)
    except (OSError, ValueError):
        return None
    return status.st_dev, status.st_ino


# -- checks of rows ----------------------------------------------------------------------------------------------


def sql_text(value: str) -> str:
    """Return a text that SQLite can store: surrogates, which stand for bytes that are not UTF-8, are escaped.

    >>> sql_text("caf\\udce9")
    'caf\\\\udce9'
    """
    return value if value.isascii() else value.encode("utf-8", "backslashreplace").decode("utf-8")


def is_digest(value: Any) -> bool:
    """Return whether a value is a message's digest, 16 bytes."""
    return type(value) is bytes and len(value) == 16


def is_class_name(value: Any) -> bool:
    """Return whether a value is a valid class name."""
    try:
        return type(value) is str and bool(check_class_name(value))
    except ValueError:
        return False


def int_up_to(most: int, least: int = 0) -> ColumnCheck:
    """Return a check for whole numbers from ``least`` to ``most``; True and False do not pass."""
    return lambda value: type(value) is int and least <= value <= most


def checked_rows(table: str, unchecked: Iterable[tuple], /, **columns: ColumnCheck) -> list[tuple]:
    """Return all rows; raise Damaged if a value does not fit its column.

    >>> checked_rows("classes", [("ham", 3)], name=str, documents=int_up_to(9))
    [('ham', 3)]
    >>> checked_rows("classes", [("ham", -3)], name=str, documents=int_up_to(9))
    Traceback (most recent call last):
    ...
    spamnb.errors.Damaged: documents in table classes: -3
    """
    rows = list(unchecked)
    for (column, check), values in zip(columns.items(), zip(*rows)):
        misfits = [v for v in values if not (type(v) is check if isinstance(check, type) else check(v))]
        if misfits:
            raise Damaged(f"{column} in table {table}: {_quote(misfits[0])}")
    return rows


def parse_json(table: str, column: str, value: Any) -> Any:
    """Return the value of a JSON text; raise Damaged if ``value`` is not one."""
    try:
        return json.loads(value)
    except (ValueError, TypeError, RecursionError):
        raise Damaged(f"{column} in table {table}: {_quote(value)}") from None


def _quote(value: Any) -> str:
    text = ascii(value)
    return text if len(text) <= 40 else text[:37] + "..."
