"""Arrays of a model file: the parameters of embedded models, which are not sums of tokens."""

from __future__ import annotations

from typing import Any

import numpy as np

from spamnb.core.score import MAX_COUNT
from spamnb.errors import Damaged
from spamnb.store.database import Database, checked_rows, int_up_to, parse_json

ARRAY = "array:"  # prefix of the keys of arrays in table meta


def read_arrays(database: Database) -> dict[str, np.ndarray]:
    """Return all arrays by name, read-only."""
    rows = database.execute("SELECT key, value, content FROM meta WHERE content NOT NULL ORDER BY key")
    arrays = {}
    for key, value, content in checked_rows("meta", rows, key=str, value=str, content=bytes):
        pair = parse_json("meta", "value", value)
        dtype, shape = pair if type(pair) is list and len(pair) == 2 else (None, None)
        name = key.removeprefix(ARRAY)
        arrays[name] = parse_array(name, dtype, shape, content)
    return arrays


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
