"""Reads model files of the format before this one, and rewrites them, so that nothing has to be learned again.

A file of format 9 has a row per token. A row has four numbers for each class that has the token: the class, the
messages, the further occurrences, and twice the weight, plus 1 if the weight is negative, of which the absolute value
is then one less. A number has 7 bits per byte, the lowest first, and its last byte is below 128.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from spamnb.errors import Damaged
from spamnb.model.class_counts import Cells, find_sorted
from spamnb.model.model import NO_TYPICALITY, SHARED
from spamnb.reader.tokens import CHUNK_TOKENS, TokenArray
from spamnb.store.buckets import TABLE, VECTOR, Block, write_blocks
from spamnb.store.database import MAX_SUM, checked_rows, int_up_to
from spamnb.store.examples import GROUP
from spamnb.store.pending import parse_hashes
from spamnb.store.snapshot import atomic_replace, read_snapshot
from spamnb.store.store import CLASSES, HARD, OLD_FORMAT, SCHEMA, Store

_OLD_TOKENS = (
    "CREATE TABLE tokens (hash INTEGER PRIMARY KEY, token TEXT NOT NULL, month INTEGER, cells BLOB NOT NULL,"
    " vector BLOB)"
)
_OLD_CLASSES = CLASSES.replace(" typicality BLOB NOT NULL,", "")
_OLD_HARD = HARD.replace("pending TEXT, groups BLOB", "offsets TEXT")
# The columns of the other tables in the old format.
_COPIED = {
    "meta": "key, value, content",
    "classes": "id, name, documents, document_counts, occurrences, calibration, slope, intercept, knee",
    "messages": "digest, class, facts",
    "kept_lessons": "position, digest, class, taught_at, message",
    "hard": "sequence, digest, class, hashes",
}
_ADDED = {"classes": (", typicality", f", zeroblob({NO_TYPICALITY.nbytes})"), "hard": (", groups", ", x''")}
_MAX_BYTES = 5  # of a number: enough for 32 bits and a sign


def rewrite_old_model(path: Path) -> bool:
    """Rewrite the model at ``path`` if it has the old format, and return whether it had."""
    with Store.connect(path, writable=False) as old:
        if old.read_format() != OLD_FORMAT:
            return False

    def copy(new: Store) -> None:
        with Store.connect(path, writable=False) as old, old.reading(), new.writing():
            _copy(old, new)
        read_snapshot(new)  # which checks that all sums add up

    with atomic_replace(path, {}, force=True, catch_up=copy):
        return True


def _copy(old: Store, new: Store) -> None:
    """Copy the content of an old model into a new store."""
    statements = old.execute("SELECT sql FROM sqlite_schema WHERE sql NOT NULL").fetchall()
    schema = {*SCHEMA, _OLD_TOKENS, _OLD_CLASSES, _OLD_HARD} - {TABLE, CLASSES, HARD}
    if {statement for (statement,) in statements} != schema:
        raise Damaged("other tables, views, triggers or indexes than a model's")
    for table, columns in _COPIED.items():
        rows = iter(old.execute(f"SELECT {columns} FROM {table}"))  # noqa: S608
        new.execute(f"DELETE FROM {table}")  # noqa: S608
        added, values = _ADDED.get(table, ("", ""))
        marks = ", ".join("?" * (columns.count(",") + 1))
        new.executemany(f"INSERT INTO {table} ({columns}{added}) VALUES ({marks}{values})", rows)  # noqa: S608
    new.execute("DELETE FROM meta WHERE key = 'revision'")
    new.drop_cache()
    meta = {SHARED if key == "base" else key: value for key, value in new.own.meta.items() if key != "prior"}
    for key in ("tokens", "loss"):  # settings that were in dictionaries
        group = meta.pop(key, {})
        meta |= group if isinstance(group, dict) else {}
    new.execute("DELETE FROM meta WHERE content IS NULL")
    new.put_meta(meta)
    (classes,) = new.execute("SELECT count(*) FROM classes").fetchone()
    write_blocks(new, _read_blocks(old, classes))
    _add_groups(new)
    _count_as_seen(new)
    new.drop_cache()


def _add_groups(new: Store) -> None:
    """Write the groups of the tokens of the examples, which the old format does not have."""
    tokens = new.block().tokens
    select = "SELECT sequence, hashes FROM hard WHERE digest NOT NULL"
    for number, content in checked_rows("hard", new.execute(select), sequence=int_up_to(MAX_SUM), hashes=bytes):
        places = find_sorted(tokens.hashes, parse_hashes(content))
        if (places < 0).any():
            raise Damaged("hashes of no token in table hard")
        row = tokens.groups[places].astype(GROUP).tobytes(), number
        new.execute("UPDATE hard SET groups = ? WHERE sequence = ?", row)


def _count_as_seen(new: Store) -> None:
    """Count the messages of each class as seen (model/decision.py).

    The old format does not say how typical they are, so mail is called spam when the model has learned some spam more.
    """
    known = np.zeros_like(new.own.typicality)
    known[:, 0] = new.own.sums[:, 0]
    rows = [(sums.tobytes(), number) for number, sums in enumerate(known)]
    new.executemany("UPDATE classes SET typicality = ? WHERE id = ?", rows)


def _read_blocks(old: Store, classes: int) -> Iterator[Block]:
    rows = old.execute("SELECT CAST(token AS BLOB), cells, coalesce(vector, x'') FROM tokens ORDER BY hash")
    while part := rows.fetchmany(CHUNK_TOKENS):
        texts, cells, vectors = zip(*part)
        try:
            text, octets = np.frombuffer(b"".join(texts), np.uint8), b"".join(vectors)
        except TypeError:
            raise Damaged("tokens or vectors in table tokens that are not bytes") from None
        width = max(map(len, vectors))
        if width % VECTOR.itemsize or any(len(vector) not in (0, width) for vector in vectors):
            raise Damaged("truncated vectors in table tokens")
        dense = np.zeros((len(part), width // VECTOR.itemsize), VECTOR)
        dense[np.array([len(vector) > 0 for vector in vectors])] = np.frombuffer(octets, VECTOR).reshape(
            -1, dense.shape[1] or 1
        )
        tokens = TokenArray.of_packed(text, np.fromiter(map(len, texts), np.int32, len(texts)))
        yield Block(tokens, _parse_cells(cells, classes), dense)


def _parse_cells(blobs: Sequence[Any], classes: int) -> Cells:
    """Return the cells of tokens; raise Damaged if they are not of a model with this number of classes."""
    try:
        octets = np.frombuffer(b"".join(blobs), np.uint8)
    except TypeError:
        raise Damaged("cells in table tokens that are not bytes") from None
    row_ends = np.cumsum(np.fromiter(map(len, blobs), np.intp, len(blobs)))
    ends = np.flatnonzero(octets < 128) + 1  # of numbers
    lengths = np.diff(ends, prepend=0)
    if lengths.max(initial=0) > _MAX_BYTES or len(ends) % 4 or not np.isin(row_ends, np.append(0, ends[3::4])).all():
        raise Damaged("truncated cells in table tokens")
    shifts = 7 * (np.arange(len(octets)) - np.repeat(ends - lengths, lengths))
    numbers = np.add.reduceat((octets & 127).astype(np.int64) << shifts, ends - lengths) if len(ends) else ends
    label, documents, further, weight = numbers.reshape(-1, 4).T
    token = np.searchsorted(row_ends, ends[3::4])
    if label.max(initial=-1) >= classes or ((np.diff(token) == 0) & (np.diff(label) <= 0)).any():
        raise Damaged("cells in table tokens of unknown or repeated classes")
    return Cells(token, label, np.stack([documents, documents + further, weight >> 1 ^ -(weight & 1)]))
