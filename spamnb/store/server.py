"""A connection to a PostgreSQL server: transactions, one writer at a time, its complaints as one line each.

All that a transaction needs before its first question goes in one round trip: its beginning, the schema, a lock, and
the number of the last change. Nothing outlives a transaction on the server, no setting and no prepared statement, so
pgbouncer may give each transaction another connection.

Three locks, of a number made from the schema's name. Writers wait for one another at the first. Whoever reads or writes
shares the second, and only who puts a new model in the place of the old one takes it alone: a reader sees one of the
two and never a part of each.
"""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Any, Self

from spamnb.errors import Damaged, ServerAway, SpamnbError
from spamnb.naming import escape
from spamnb.store.database import BUSY_SECONDS, Database
from spamnb.store.schema import SERVER_FORMAT
from spamnb.store.server_name import ServerName

try:
    import psycopg
    from psycopg import errors, sql

    from spamnb.store.server_link import ServerLink
except ImportError as missing:
    raise SpamnbError(f"a model on a server needs psycopg ({missing}); pip install 'spamnb[postgresql]'") from None

_ROWS = 1000  # in one statement, which can have 65,535 values
_AWAY = "the server cannot be reached"
_NO_MODEL = "no model there; 'spamnb train' makes one, --model names another"


class ServerDatabase(Database):
    """A connection to one schema; it comes back by itself when the server does."""

    REMEDY = "restore a copy or train again"

    def __init__(self, path: str, writable: bool, link: ServerLink | None = None) -> None:
        """``link`` is a connection to the same server that others use too, in turn."""
        self.path = path
        self.file = None
        self._name = ServerName.of(path)
        self._writable = writable
        self._link = link or ServerLink(self._name.conninfo)
        self._own_link = link is None
        self._busy = False
        self._wrote = False
        self._data_version: int | None = None
        self._summed = 0  # the number of the last change that is in the sums
        self._drop_cache()

    @classmethod
    def connect(cls, path: str | Path, *, writable: bool, link: ServerLink | None = None) -> Self:
        """A store of the model at this URL, whether it is there or not."""
        store = cls(str(path), writable, link)
        with store._told():
            store._link.connected()
        return store

    def close(self) -> None:
        if self._own_link:
            self._link.close()

    def _number(self, which: str) -> int:
        """The number of a lock, in this database."""
        name = f"spamnb {which} {self._name.schema}".encode()
        return int.from_bytes(hashlib.blake2b(name, digest_size=8).digest(), "big", signed=True)

    def execute(self, statement: str, values: Sequence[Any] = ()) -> Any:
        if statement.startswith("SELECT"):
            return self._link.in_use().execute(_translated(statement), values or None, binary=True)
        self._wrote = True
        return self._link.write(_translated(statement), values or None)

    def executemany(self, statement: str, rows: Iterable[Sequence[Any]]) -> None:
        """Run a statement with each of ``rows``, an INSERT with many at once: a statement for each row of frequencies
        took a lesson 17 ms more of processor time."""
        self._wrote = True
        before, found, after = statement.partition("VALUES (")
        if not found:
            with self._link.in_use().cursor() as cursor:
                cursor.executemany(_translated(statement), list(rows))
            return
        marks, _, after = after.partition(")")
        every = iter(rows)
        while some := list(islice(every, _ROWS)):
            values = ", ".join([f"({marks})"] * len(some))
            self._link.write(_translated(f"{before}VALUES {values}{after}"), list(chain.from_iterable(some)))

    def copy_rows(self, statement: str, rows: Iterable[Sequence[Any]], types: Sequence[str]) -> None:
        """Write many rows with a COPY statement, a third of what inserting them takes."""
        self._wrote = True
        with self._link.in_use().cursor() as cursor, cursor.copy(statement.encode()) as copy:
            copy.set_types(types)
            for row in rows:
                copy.write_row(row)

    def has_table(self, name: str) -> bool:
        """A schema has all its tables from the beginning."""
        return True

    def has_log(self) -> bool:
        """A schema has one from the beginning."""
        return True

    def overwrite_deleted(self) -> None:
        """The server's own vacuum does it, later; it knows nothing else."""

    def size(self) -> int:
        relation = "SELECT coalesce(sum(pg_total_relation_size(oid)), 0)::bigint FROM pg_class"
        with self.reading():
            asked = self.execute(
                f"{relation} WHERE relkind = 'r' AND relnamespace = ?::regnamespace",
                (quoted(self._name.schema),),
            )
            return int(asked.fetchone()[0])

    def _ask(self, *statements: str) -> Any:
        """Run statements in one round trip; what the last one found."""
        cursor = self._link.connected().execute("; ".join(statements).encode())
        while cursor.nextset():
            pass
        return cursor.fetchone() if cursor.description else None

    def _path_to(self, schema: str) -> str:
        return f"SET LOCAL search_path TO {quoted(schema)}, pg_temp"

    def _begin(self, writing: bool) -> tuple[int, int]:
        """Begin a transaction; the numbers of the last change, and of the last that is in the sums."""
        if writing and not self._writable:
            raise SpamnbError(f"{self.path}: opened to be read only")
        how = "ISOLATION LEVEL READ COMMITTED" if writing else "ISOLATION LEVEL REPEATABLE READ READ ONLY"
        locks = [f"SELECT pg_advisory_xact_lock_shared({self._number('whole')})"]
        if writing:
            locks = [f"SELECT pg_advisory_xact_lock({self._number('writer')})", *locks]
        waits = f"SET LOCAL lock_timeout = '{BUSY_SECONDS}s'"
        last = "SELECT max(sequence), (SELECT sequence FROM summed) FROM changes"
        while True:
            found = self._ask(f"BEGIN {how}", waits, self._path_to(self._name.schema), *locks, last)
            if found[0] is not None:
                return int(found[0]), int(found[1])
            # What this transaction sees is older than the model that took the place of another while it waited.
            self._ask("ROLLBACK")

    @property
    def schema(self) -> str:
        return self._name.schema

    def told(self) -> contextlib.AbstractContextManager[None]:
        """Inside, the server's complaints are errors of one line."""
        return self._told()

    def ask_rows(self, statement: str, values: Sequence[Any]) -> list[tuple[Any, ...]]:
        """What a question beside all models finds."""
        return self._link.connected().execute(_translated(statement), values).fetchall()

    def run(self, statement: str) -> None:
        """Run a statement that names schemas, ``quoted``, inside a change."""
        self._link.in_use().execute(statement.encode())

    def run_with(self, statement: str, values: Sequence[Any]) -> None:
        """Run a statement with psycopg's own marks for its values, which say how each is sent."""
        self._wrote = True
        self._link.write(statement.encode(), values)

    def lock(self, which: str) -> None:
        """Wait until nobody else writes ("writer"), or until nobody has the model at all ("whole")."""
        self._link.in_use().execute(f"SELECT pg_advisory_xact_lock({self._number(which)})".encode())

    @contextlib.contextmanager
    def making(self, schema: str) -> Iterator[None]:
        """A change that begins with a new, empty schema and takes as long as it needs; the model that is there is read
        and taught meanwhile."""
        with self._told():
            self._link.connected()
            waits = f"SET LOCAL lock_timeout = '{BUSY_SECONDS}s'; SET LOCAL idle_in_transaction_session_timeout = 0"
            self._ask("BEGIN", waits, f"CREATE SCHEMA {quoted(schema)}", self._path_to(schema))
            self._busy = True
            try:
                yield
                self._link.commit()
            finally:
                self._drop_cache()
                self._data_version = None
                self._busy = False
                self._end()

    @contextlib.contextmanager
    def _transaction(self, begin: str) -> Iterator[None]:
        with self._told():
            writing, known = begin != "BEGIN", self._link.alive() is not None
            try:
                version, summed = self._begin(writing)
            except psycopg.OperationalError:
                if not known or self._link.alive() is not None:
                    raise
                version, summed = self._begin(writing)  # the server was started anew, or a proxy let the connection go
            self._busy, self._wrote = True, False
            try:
                if version != self._data_version:
                    self._drop_outdated()
                    self._data_version = version
                self._summed = summed
                yield
                if writing:
                    self._before_commit()
                    self._link.commit()
                else:
                    self._link.commit_unread()
            except BaseException:
                self._drop_cache()
                self._data_version = None
                self._end()
                raise
            finally:
                self._busy = False

    def _end(self) -> None:
        """Leave no transaction open behind an error."""
        self._link.forget_writes()
        server = self._link.alive()
        if server is not None and server.info.transaction_status != psycopg.pq.TransactionStatus.IDLE:
            try:
                server.rollback()
            except psycopg.Error:
                server.close()

    @contextlib.contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except (psycopg.Error, Damaged) as error:
            self._end()
            raise self._error_of(error) from None

    def _error_of(self, error: Exception) -> SpamnbError:
        told = self._told_of(error)
        return (ServerAway if told.startswith(_AWAY) else SpamnbError)(f"{self.path}: {told}")

    def _told_of(self, error: Exception) -> str:
        """What is wrong and what to do."""
        said = escape(" ".join(str(error).split())[:300])
        if isinstance(error, Damaged):
            return f"a damaged model ({said}); {self.REMEDY}"
        if isinstance(error, (errors.UndefinedTable, errors.InvalidSchemaName)):
            return _NO_MODEL
        if isinstance(error, (errors.LockNotAvailable, errors.DeadlockDetected)):
            return "another process keeps writing to it; try again"
        if isinstance(error, errors.InsufficientPrivilege):
            return f"not allowed ({said}); may this user create schemas in the database, or use the model's?"
        if isinstance(error, errors.ReadOnlySqlTransaction):
            return "this server takes no changes; name the one that does, as with target_session_attrs=read-write"
        if isinstance(error, errors.DiskFull):
            return "the server's disk is full; this change was not made"
        if isinstance(error, psycopg.OperationalError):
            return f"{_AWAY} ({said})"
        return f"the server refused ({said})"


def quoted(*names: str) -> str:
    """A name in the server's language, or several with points between them.

    >>> quoted("office", "tokens")
    '"office"."tokens"'
    """
    return sql.Identifier(*names).as_string(None)


def check_format(found: int, path: str) -> None:
    """SpamnbError where a schema's tables are those of another version."""
    if found != SERVER_FORMAT:
        made, what = ("a newer", "upgrade spamnb") if found > SERVER_FORMAT else ("an older", "train again")
        raise SpamnbError(f"{path}: made by {made} spamnb (format {found}, this one reads {SERVER_FORMAT}); {what}")


def _translated(statement: str) -> bytes:
    """A statement with its question marks as psycopg takes them; ours hold none in other places."""
    return statement.replace("?", "%s").encode()
