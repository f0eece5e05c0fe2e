"""One SQLite file, safely: opening, transactions, and SQLite's complaints as one line each.

Write-ahead mode: a reader sees the state before or after a change and never waits for a writer; a process killed
inside a change leaves the state before it.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Self

from spamnb.errors import Damaged, Outdated, SpamnbError
from spamnb.naming import escape

APPLICATION_ID = 0x736E6221  # "snb!"
FORMAT = 4  # rises with the tables, and whenever the same sums give other scores: the file's calibration is of scores
_PART: contextlib.AbstractContextManager[None] = contextlib.nullcontext()  # of the transaction at hand
BUSY_SECONDS = 60  # how long a writer waits for another: learning one message holds the file for some 3 ms


class Database:
    """A connection to one file, with nested transactions, and a hook to drop what was cached of its content."""

    KIND = "spamnb model"  # what the file is, and what to do where it is damaged
    REMEDY = "restore a copy or train again"

    def __init__(self, path: str, connection: sqlite3.Connection) -> None:
        self.path = path  # what errors call it
        self.file = path  # its own name; not asked of SQLite, which tells no name that is not UTF-8
        self._connection = connection
        self._busy = False  # inside a transaction
        self._data_version: int | None = None
        self._drop_cache()

    @classmethod
    def connect(cls, path: str | Path, *, writable: bool) -> Self:
        """An open database, new where there was none and ``writable``."""
        name = str(path)
        return cls(name, cls._connect(name, writable))

    def close(self) -> None:
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def _check_format(self) -> None:
        with self._told():
            application = self._connection.execute("PRAGMA application_id").fetchone()[0]
            version = self._connection.execute("PRAGMA user_version").fetchone()[0]
        if application != APPLICATION_ID:
            raise SpamnbError(f"{self.path}: no spamnb model (another program's database)")
        if version > FORMAT:
            raise SpamnbError(
                f"{self.path}: made by a newer spamnb (format {version}, this one reads {FORMAT}); upgrade spamnb"
            )
        if version < FORMAT:
            raise Outdated(f"{self.path}: made by an older spamnb (format {version}); train again")

    def writing(self) -> contextlib.AbstractContextManager[None]:
        """One change, whole or not at all. Inside another ``writing`` it is part of that one."""
        return _PART if self._busy else self._transaction("BEGIN IMMEDIATE")

    def reading(self) -> contextlib.AbstractContextManager[None]:
        """What is read inside belongs to one state of the file, whoever writes meanwhile."""
        return _PART if self._busy else self._transaction("BEGIN")

    @contextlib.contextmanager
    def _transaction(self, begin: str) -> Iterator[None]:
        with self._told():
            self._connection.execute(begin)
            self._busy = True
            try:
                version = self._connection.execute("PRAGMA data_version").fetchone()[0]
                if version != self._data_version:  # another process wrote since
                    self._drop_cache()
                    self._data_version = version
                yield
                self._before_commit()
                self._connection.execute("COMMIT")
            except BaseException:
                self._drop_cache()
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise
            finally:
                self._busy = False

    @contextlib.contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        # sqlite3 cannot read its own words where they quote what is no UTF-8 in a damaged schema.
        except (sqlite3.Error, Damaged, UnicodeDecodeError) as error:
            raise SpamnbError(f"{self.path}: {self._advice(error)}") from None

    @classmethod
    def _advice(cls, error: Exception) -> str:
        """What is wrong and what to do; SQLite's own words can hold what it found in the file."""
        said = escape(str(error)[:100])
        if isinstance(error, sqlite3.OperationalError):
            if "locked" in said or "busy" in said:
                return "another process keeps writing to it; try again"
            if "readonly" in said:
                return "cannot be written; are its permissions and its folder's right?"
            if "disk is full" in said:
                return "the disk is full; this change was not made"
            return f"{said}; if this lasts, {cls.REMEDY}"
        return f"no {cls.KIND}, or a damaged one ({said}); {cls.REMEDY}"

    @classmethod
    def _connect(cls, name: str, writable: bool) -> sqlite3.Connection:
        if name == ":memory:":
            return sqlite3.connect(name, isolation_level=None)
        mode = "rwc" if writable else "ro"
        try:
            return _opened(name, f"mode={mode}")
        except sqlite3.OperationalError as error:
            # A reader needs the write-ahead index beside the file. Where the folder is not ours to write and no log is
            # there, nobody is writing either: the file is read as it stands.
            if not writable and not Path(name + "-wal").exists():
                with contextlib.suppress(sqlite3.OperationalError):
                    return _opened(name, "mode=ro&immutable=1")
            if "disk is full" in str(error):
                raise SpamnbError(f"{name}: {cls._advice(error)}") from None
            raise SpamnbError(
                f"{name}: cannot be opened ({error}); are its permissions and its folder's right?"
            ) from None
        except sqlite3.DatabaseError as error:
            raise SpamnbError(f"{name}: {cls._advice(error)}") from None

    def _before_commit(self) -> None:
        """Write what was held back until the end of the change."""

    def _drop_cache(self) -> None:
        """Forget what was read: the file has changed, or a change was undone."""


def _opened(name: str, how: str) -> sqlite3.Connection:
    uri = f"{Path(name).absolute().as_uri()}?{how}"
    connection = sqlite3.connect(uri, uri=True, isolation_level=None, timeout=BUSY_SECONDS)
    try:
        connection.execute("PRAGMA schema_version")  # opens the file at last, and its write-ahead log
    except sqlite3.Error:
        connection.close()
        raise
    return connection
