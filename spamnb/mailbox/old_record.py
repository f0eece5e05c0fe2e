"""The file in which earlier versions recorded where a mailbox's messages are: it is read once into the ledger."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from spamnb.errors import Damaged, SpamnbError
from spamnb.ledger.ledger import Ledger
from spamnb.shown_text import escape
from spamnb.sources.entries import OnError, check_link
from spamnb.store.database import ColumnCheck, Database, checked_rows, int_up_to, is_digest

_SCHEMA = {
    "CREATE TABLE classified (digest BLOB PRIMARY KEY) WITHOUT ROWID",
    "CREATE TABLE new_mail (key TEXT PRIMARY KEY, is_classified INTEGER NOT NULL) WITHOUT ROWID",
    "CREATE TABLE marks (folder TEXT PRIMARY KEY, mark TEXT NOT NULL) WITHOUT ROWID",
    "CREATE TABLE locations (folder TEXT NOT NULL, key TEXT NOT NULL, identity BLOB NOT NULL, is_junk INTEGER NOT NULL,"
    " PRIMARY KEY (folder, key)) WITHOUT ROWID",
    "CREATE TABLE sides (identity BLOB PRIMARY KEY, is_junk INTEGER NOT NULL) WITHOUT ROWID",
    "CREATE TABLE moves (folder TEXT NOT NULL, key TEXT NOT NULL, identity BLOB NOT NULL, digest BLOB NOT NULL,"
    " target TEXT NOT NULL, mark TEXT NOT NULL, is_junk INTEGER NOT NULL, note TEXT NOT NULL,"
    " PRIMARY KEY (folder, key)) WITHOUT ROWID",
    "CREATE INDEX locations_by_identity ON locations (identity)",
}
_bit: Callable[[object], bool] = int_up_to(1)
_COLUMNS: dict[str, dict[str, ColumnCheck]] = {
    "classified": {"digest": is_digest},
    "new_mail": {"key": str, "is_classified": _bit},
    "marks": {"folder": str, "mark": str},
    "locations": {"folder": str, "key": str, "identity": bytes, "is_junk": _bit},
    "sides": {"identity": bytes, "is_junk": _bit},
    "moves": {
        **{"folder": str, "key": str, "identity": bytes, "digest": is_digest},
        **{"target": str, "mark": str, "is_junk": _bit},
    },
}


class OldRecord(Database):
    """A file ``spamnb-places.sqlite``, or one in the folder ``accounts``."""

    KIND = "record of a mailbox's mail"
    REMEDY = "remove it"


def take_over(ledger: Ledger, mailbox: int, path: Path, report: OnError) -> bool:
    """Read an old record into the ledger, inside ``writing``, and return whether there was one.

    A damaged or hostile one is reported and not read.
    """
    check_link(path.parent, *(f"{path}{suffix}" for suffix in ("", "-wal", "-shm", "-journal")))
    if not path.exists():
        return False
    at = (int(time.time()),)
    added = {"classified": at, "sides": at, "moves": (-1,)}  # columns that an old record does not have
    try:
        with OldRecord.connect(path, writable=False) as old, old.reading():
            statements = {sql for (sql,) in old.execute("SELECT sql FROM sqlite_schema WHERE sql NOT NULL")}
            if statements != _SCHEMA:
                raise Damaged("other tables, views, triggers or indexes than a record's")
            for table, columns in _COLUMNS.items():
                rows = old.execute(f"SELECT {', '.join(columns)} FROM {table}")  # noqa: S608 (names of this file)
                new_rows = [(mailbox, *row, *added.get(table, ())) for row in checked_rows(table, rows, **columns)]
                marks = ", ".join("?" * (1 + len(columns) + len(added.get(table, ()))))
                ledger.executemany(f"INSERT OR REPLACE INTO {table} VALUES ({marks})", new_rows)  # noqa: S608
        return True
    except (SpamnbError, OSError) as error:
        report(escape(str(path)), error)
        return False


def remove_old(path: Path) -> None:
    """Remove an old record, whose rows the ledger has."""
    for suffix in ("", "-wal", "-shm"):
        with suppress(OSError):  # another process removed it, or it belongs to another user
            Path(f"{path}{suffix}").unlink()
