"""Arrays and vectors of a model file: parameters of embedded models, which are no counts of tokens."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from spamnb.errors import Damaged
from spamnb.reader.tokens import TokenArray
from spamnb.store.database import checked_rows, int_between, parse_json
from spamnb.store.rows import MAX_COUNT
from spamnb.store.store import AMONG, REVISION, Store

VECTOR = np.dtype("<f4")
ARRAY = "array:"  # before the name of an array in table meta


def read_arrays(store: Store) -> dict[str, np.ndarray]:
    """Return all arrays by name, read-only; the same object until the model changes."""
    with store.reading():
        cache = store.state.cache
        if "arrays" not in cache:
            columns = "SELECT key, value, content FROM meta"
            rows = store.execute(f"{columns} WHERE content NOT NULL AND key != ? ORDER BY key", (REVISION,))
            arrays = {}
            for key, value, content in checked_rows("meta", rows, key=str, value=str, content=bytes):
                form = parse_json("meta", "value", value)
                dtype, shape = form if type(form) is list and len(form) == 2 else (None, None)
                name = key.removeprefix(ARRAY)
                arrays[name] = array_of(name, dtype, shape, content)
            cache["arrays"] = arrays
        arrays = cache["arrays"]
        return arrays


def put_arrays(store: Store, arrays: Mapping[str, np.ndarray]) -> None:
    """Keep arrays of numbers (never of objects) under their names."""
    with store.writing():
        rows = ((ARRAY + name, json.dumps([a.dtype.str, a.shape]), a.tobytes()) for name, a in arrays.items())
        store.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?, ?)", rows)
        store.state.cache.clear()


def read_vectors(store: Store, tokens: Sequence[str]) -> dict[str, np.ndarray]:
    """Return the vectors (d,) of those tokens that have one."""
    with store.reading():
        hashes = json.dumps(TokenArray.of(tokens).hashes.tolist())
        which = f"SELECT token, vector FROM tokens WHERE {AMONG} AND vector NOT NULL"  # noqa: S608
        rows = checked_rows("tokens", store.execute(which, (hashes,)), token=str)
        return dict(zip([token for token, _ in rows], _vectors_of([(vector,) for _, vector in rows])))


def all_vectors(store: Store) -> np.ndarray | None:
    """Return the vectors (V, d) of all tokens, ascending by hash, 0 where one has none; None where no token has any."""
    with store.reading():
        vectors = _vectors_of(store.execute("SELECT coalesce(vector, x'') FROM tokens ORDER BY hash").fetchall())
        dense = np.zeros((len(vectors), max(map(len, vectors), default=0)), VECTOR)
        for row, vector in zip(dense, vectors):
            row[: len(vector)] = vector
        return dense if dense.size else None


def put_vectors(store: Store, tokens: Sequence[str], vectors: np.ndarray) -> None:
    """Keep one vector for each of ``tokens`` that the model has, the rows of ``vectors`` (k, d) that are not 0."""
    with store.writing():
        store.write_changes()
        blobs, hashes = np.ascontiguousarray(vectors, VECTOR), TokenArray.of(tokens).hashes.tolist()
        rows = ((row.tobytes(), hash_) for row, hash_ in zip(blobs, hashes) if row.any())
        store.executemany("UPDATE tokens SET vector = ? WHERE hash = ?", rows)


def array_of(name: str, dtype: Any, shape: Any, content: bytes) -> np.ndarray:
    """Return the array that is kept so. Damaged where that is none of finite numbers."""
    try:
        if type(dtype) is not str or not all(map(int_between(MAX_COUNT), shape)):
            raise ValueError("no type, or no shape")
        array = np.frombuffer(content, np.dtype(dtype)).reshape(shape)
        if array.dtype.kind not in "iuf" or not np.isfinite(array).all():
            raise ValueError("no finite numbers")
    except (ValueError, TypeError, SyntaxError, RecursionError):  # SyntaxError: numpy, of some types
        raise Damaged(f"array {name} does not hold what it should") from None
    return array


def _vectors_of(rows: Iterable[tuple[bytes]]) -> list[np.ndarray]:
    """Return the vectors that stand in rows."""
    found = [vector for (vector,) in checked_rows("tokens", rows, vector=bytes)]
    if any(len(vector) % VECTOR.itemsize for vector in found):
        raise Damaged("vectors that were cut short")
    if not np.isfinite(np.frombuffer(b"".join(found), VECTOR)).all():
        raise Damaged("vectors that hold no numbers")
    return [np.frombuffer(vector, VECTOR) for vector in found]
