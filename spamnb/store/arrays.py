"""Arrays of a model file: the parameters of embedded models, which are not sums of tokens."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from spamnb.errors import Damaged
from spamnb.store.cells import MAX_COUNT
from spamnb.store.database import checked_rows, int_up_to, parse_json
from spamnb.store.store import Store

ARRAY = "array:"  # prefix of the keys of arrays in table meta


def read_arrays(store: Store) -> dict[str, np.ndarray]:
    """Return all arrays by name, read-only; the same object until the model changes."""
    with store.reading():
        cache = store.state.cache
        if "arrays" not in cache:
            columns = "SELECT key, value, content FROM meta"
            rows = store.execute(f"{columns} WHERE content NOT NULL ORDER BY key")
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
