"""Arrays and vectors of a model file: the parameters of embedded models, which are not counts of tokens."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from spamnb.errors import Damaged
from spamnb.reader.tokens import TokenArray
from spamnb.store.database import checked_rows, int_up_to, parse_json
from spamnb.store.rows import MAX_COUNT
from spamnb.store.store import HASH_IN_LIST, REVISION, Store

VECTOR = np.dtype("<f4")  # of the vectors in table tokens
ARRAY = "array:"  # prefix of the keys of arrays in table meta


def read_arrays(store: Store) -> dict[str, np.ndarray]:
    """Return all arrays by name, read-only; the same object until the model changes."""
    with store.reading():
        cache = store.state.cache
        if "arrays" not in cache:
            columns = "SELECT key, value, content FROM meta"
            rows = store.execute(f"{columns} WHERE content NOT NULL AND key != ? ORDER BY key", (REVISION,))
            arrays = {}
            for key, value, content in checked_rows("meta", rows, key=str, value=str, content=bytes):
                pair = parse_json("meta", "value", value)
                dtype, shape = pair if type(pair) is list and len(pair) == 2 else (None, None)
                name = key.removeprefix(ARRAY)
                arrays[name] = parse_array(name, dtype, shape, content)
            cache["arrays"] = arrays
        return cache["arrays"]


def put_arrays(store: Store, arrays: Mapping[str, np.ndarray]) -> None:
    """Write arrays of numbers (never of objects) by name."""
    with store.writing():
        rows = ((ARRAY + name, json.dumps([a.dtype.str, a.shape]), a.tobytes()) for name, a in arrays.items())
        store.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?, ?)", rows)
        store.state.cache.clear()


def read_vectors(store: Store, tokens: Sequence[str]) -> dict[str, np.ndarray]:
    """Return the vectors (d,) by token, for the tokens that have one."""
    with store.reading():
        hashes = json.dumps(TokenArray.of(tokens).hashes.tolist())
        select = f"SELECT token, vector FROM tokens WHERE {HASH_IN_LIST} AND vector NOT NULL"  # noqa: S608
        rows = checked_rows("tokens", store.execute(select, (hashes,)), token=str)
        return dict(zip([token for token, _ in rows], _parse_vectors([(vector,) for _, vector in rows])))


def all_vectors(store: Store) -> np.ndarray | None:
    """Return the vectors (V, d) of all tokens, ascending by hash, or None; a token without a vector has 0."""
    with store.reading():
        vectors = _parse_vectors(store.execute("SELECT coalesce(vector, x'') FROM tokens ORDER BY hash").fetchall())
        dense = np.zeros((len(vectors), max(map(len, vectors), default=0)), VECTOR)
        for row, vector in zip(dense, vectors):
            row[: len(vector)] = vector
        return dense if dense.size else None


def put_vectors(store: Store, tokens: Sequence[str], vectors: np.ndarray) -> None:
    """Write the vectors (k, d) of tokens; vectors of 0 and tokens that are not in the model are skipped."""
    with store.writing():
        store.write_changes()
        blobs, hashes = np.ascontiguousarray(vectors, VECTOR), TokenArray.of(tokens).hashes.tolist()
        rows = ((row.tobytes(), hash_) for row, hash_ in zip(blobs, hashes) if row.any())
        store.executemany("UPDATE tokens SET vector = ? WHERE hash = ?", rows)


def parse_array(name: str, dtype: Any, shape: Any, content: bytes) -> np.ndarray:
    """Return the array of these bytes; raise Damaged unless all its numbers are finite."""
    try:
        if type(dtype) is not str or not all(map(int_up_to(MAX_COUNT), shape)):
            raise ValueError
        array = np.frombuffer(content, np.dtype(dtype)).reshape(shape)
        if array.dtype.kind not in "iuf" or not np.isfinite(array).all():
            raise ValueError
    except (ValueError, TypeError, SyntaxError, RecursionError):  # np.dtype raises SyntaxError for some texts
        raise Damaged(f"array {name} in table meta is not an array of finite numbers") from None
    return array


def _parse_vectors(rows: Iterable[tuple[bytes]]) -> list[np.ndarray]:
    """Return the vectors of rows; raise Damaged unless all their numbers are finite."""
    blobs = [vector for (vector,) in checked_rows("tokens", rows, vector=bytes)]
    if any(len(vector) % VECTOR.itemsize for vector in blobs):
        raise Damaged("truncated vectors in table tokens")
    if not np.isfinite(np.frombuffer(b"".join(blobs), VECTOR)).all():
        raise Damaged("vectors in table tokens that are not finite")
    return [np.frombuffer(vector, VECTOR) for vector in blobs]
