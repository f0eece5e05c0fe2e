"""Reads model files of older formats: what another training needs of them.

``upgrade`` trains such a model again, from a copy with the settings, the lessons, and how each message was learned, but
without a token.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from spamnb.core.curve import BINS
from spamnb.errors import Damaged, SpamnbError
from spamnb.model.model import HISTOGRAM, NO_TYPICALITY, SHARED, SIZE
from spamnb.store.buckets import TABLE
from spamnb.store.snapshot import cannot_be_written, read_snapshot, remove_file
from spamnb.store.store import CLASSES, EXAMPLES, OLD_FORMATS, SCHEMA, Store

# By format, the tables that were other ones.
OLD_TABLES = {
    9: (
        "CREATE TABLE tokens (hash INTEGER PRIMARY KEY, token TEXT NOT NULL, month INTEGER, cells BLOB NOT NULL,"
        " vector BLOB)",
        CLASSES.replace(" typicality BLOB NOT NULL, unscored INTEGER NOT NULL,", ""),
        "CREATE TABLE hard (sequence INTEGER PRIMARY KEY, digest BLOB UNIQUE, class INTEGER NOT NULL,"
        " offsets TEXT NOT NULL, hashes BLOB NOT NULL)",
    ),
    13: (
        "CREATE TABLE tokens (bucket INTEGER PRIMARY KEY, hashes BLOB NOT NULL, places BLOB NOT NULL,"
        " labels BLOB NOT NULL, documents BLOB NOT NULL, further BLOB NOT NULL, weights BLOB NOT NULL,"
        " lengths BLOB NOT NULL, texts BLOB NOT NULL, vectors BLOB NOT NULL)",
        CLASSES.replace(" unscored INTEGER NOT NULL,", ""),
        "CREATE TABLE hard (sequence INTEGER PRIMARY KEY, digest BLOB UNIQUE, class INTEGER NOT NULL,"
        " pending TEXT, groups BLOB NOT NULL, hashes BLOB NOT NULL)",
    ),
}
# Columns, and what they get: a column of the old table, or the sums of no token.
_COPIED = {
    "meta": ("key, value, content", "key, value, content"),
    "classes": (
        "id, name, documents, document_counts, occurrences, calibration, typicality, unscored, slope, intercept, knee",
        f"id, name, documents, 0, 0, zeroblob({2 * BINS * HISTOGRAM.itemsize}), zeroblob({NO_TYPICALITY.nbytes})"
        ", documents, 0.0, 0.0, 1.0",
    ),
    "messages": ("digest, class, facts", "digest, class, facts"),
    "kept_lessons": ("position, digest, class, taught_at, message", "position, digest, class, taught_at, message"),
}


@contextlib.contextmanager
def readable_model(path: Path) -> Iterator[Path]:
    """Yield the path of a model that can be read: ``path``, or a copy without tokens if the file has the old format.

    The copy is beside the file, and is removed at the end.
    """
    if (version := _read_format(path)) not in OLD_FORMATS:
        yield path
        return
    copy = path.with_name(f".{path.name}.{os.getpid()}.read.new")
    try:
        try:
            copy.unlink(missing_ok=True)
            new = Store.create(copy, {})
        except (OSError, SpamnbError) as error:
            raise cannot_be_written(path, error) from None
        with new, Store.connect(path, writable=False) as old, old.reading():
            new.path = str(path)  # in error messages
            with new.writing():
                _copy(old, new, version)
            read_snapshot(new)  # which checks what was copied
            new._attach()  # an error of its shared model names the file, and not the copy
        yield copy
    finally:
        with contextlib.suppress(OSError):  # the folder takes no files, which was said
            remove_file(copy)


def _read_format(path: Path) -> int:
    """Return the number of the file's format; 0 if it is no model, which who reads the path says."""
    try:
        with Store.connect(path, writable=False) as model:
            return model.read_format()
    except SpamnbError:
        return 0


def _copy(old: Store, new: Store, version: int) -> None:
    """Copy the content of a model of an old format, without its tokens, into a new store."""
    statements = old.execute("SELECT sql FROM sqlite_schema WHERE sql NOT NULL").fetchall()
    schema = {*SCHEMA, *OLD_TABLES[version]} - {TABLE, CLASSES, EXAMPLES}
    if {statement for (statement,) in statements} != schema:
        raise Damaged("other tables, views, triggers or indexes than a model's")
    for table, (columns, values) in _COPIED.items():
        rows = iter(old.execute(f"SELECT {values} FROM {table}"))  # noqa: S608
        marks = ", ".join("?" * (columns.count(",") + 1))
        new.execute(f"DELETE FROM {table}")  # noqa: S608
        new.executemany(f"INSERT INTO {table} ({columns}) VALUES ({marks})", rows)  # noqa: S608
    new.execute("DELETE FROM meta WHERE content NOT NULL")  # parameters
    new.drop_cache()
    meta = {SHARED if key == "base" else key: value for key, value in new.own.meta.items() if key != "prior"}
    for key in ("tokens", "loss"):  # settings that were in dictionaries
        group = meta.pop(key, {})
        meta |= group if isinstance(group, dict) else {}
    new.execute("DELETE FROM meta")
    new.put_meta({**meta, SIZE: 0})
    new.recalibrate()
