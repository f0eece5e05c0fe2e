"""Reads model files of the format before this one: what another training needs of them.

The tokens of such a file are of an older version, so ``upgrade`` trains the model again, from a copy with the settings,
the lessons, and how each message was learned, but without a token.
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
from spamnb.store.snapshot import read_snapshot
from spamnb.store.store import CLASSES, HARD, OLD_FORMAT, SCHEMA, Store

_OLD_TOKENS = (
    "CREATE TABLE tokens (hash INTEGER PRIMARY KEY, token TEXT NOT NULL, month INTEGER, cells BLOB NOT NULL,"
    " vector BLOB)"
)
_OLD_CLASSES = CLASSES.replace(" typicality BLOB NOT NULL,", "")
_OLD_HARD = HARD.replace("pending TEXT, groups BLOB", "offsets TEXT")
# Columns, and what they get: a column of the old table, or the sums of no token.
_COPIED = {
    "meta": ("key, value, content", "key, value, content"),
    "classes": (
        "id, name, documents, document_counts, occurrences, calibration, typicality, slope, intercept, knee",
        f"id, name, documents, 0, 0, zeroblob({2 * BINS * HISTOGRAM.itemsize}), zeroblob({NO_TYPICALITY.nbytes})"
        ", 0.0, 0.0, 1.0",
    ),
    "messages": ("digest, class, facts", "digest, class, facts"),
    "kept_lessons": ("position, digest, class, taught_at, message", "position, digest, class, taught_at, message"),
}


@contextlib.contextmanager
def readable_model(path: Path) -> Iterator[Path]:
    """Yield the path of a model that can be read: ``path``, or a copy without tokens if the file has the old format.

    The copy is beside the file, and is removed at the end.
    """
    if not _is_old(path):
        yield path
        return
    copy = path.with_name(f".{path.name}.{os.getpid()}.read.new")
    try:
        copy.unlink(missing_ok=True)
        with Store.connect(path, writable=False) as old, old.reading(), Store.create(copy, {}) as new:
            new.path = str(path)  # in error messages
            with new.writing():
                _copy(old, new)
            read_snapshot(new)  # which checks what was copied
            new._attach()  # an error of its shared model names the file, and not the copy
        yield copy
    finally:
        for suffix in ("", "-wal", "-shm"):
            Path(f"{copy}{suffix}").unlink(missing_ok=True)


def _is_old(path: Path) -> bool:
    try:
        with Store.connect(path, writable=False) as model:
            return model.read_format() == OLD_FORMAT
    except SpamnbError:  # no model; who reads the path says so
        return False


def _copy(old: Store, new: Store) -> None:
    """Copy the content of an old model, without its tokens, into a new store."""
    statements = old.execute("SELECT sql FROM sqlite_schema WHERE sql NOT NULL").fetchall()
    schema = {*SCHEMA, _OLD_TOKENS, _OLD_CLASSES, _OLD_HARD} - {TABLE, CLASSES, HARD}
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
