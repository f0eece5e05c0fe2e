"""Arrays and vectors as a model keeps them, checked as they are read."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

import numpy as np

from spamnb.errors import Damaged
from spamnb.store.database import checked_rows, int_between, is_blob, is_text
from spamnb.store.pages import MAX_COUNT

VECTOR = np.dtype("<f4")


def array_of(name: str, dtype: str, shape: str, content: bytes) -> np.ndarray:
    """The array that is kept so; ``shape`` is JSON. Damaged where that is none of finite numbers."""
    try:
        sides = json.loads(shape)
        if not all(map(int_between(MAX_COUNT), sides)):
            raise ValueError("no shape")
        array = np.frombuffer(content, np.dtype(dtype)).reshape(sides)
        if array.dtype.kind not in "iuf" or not np.isfinite(array).all():
            raise ValueError("no finite numbers")
    except (ValueError, TypeError, SyntaxError, RecursionError):  # SyntaxError: numpy, of some types
        raise Damaged(f"array {name} does not hold what it should") from None
    return array


def vectors_of(rows: Iterable[tuple[str, bytes]]) -> dict[str, np.ndarray]:
    """Rows of table vectors."""
    found = checked_rows("vectors", rows, token=is_text, vector=is_blob)
    if any(len(vector) % VECTOR.itemsize for _, vector in found):
        raise Damaged("vectors that were cut short")
    if not np.isfinite(np.frombuffer(b"".join(vector for _, vector in found), VECTOR)).all():
        raise Damaged("vectors that hold no numbers")
    return {token: np.frombuffer(vector, VECTOR) for token, vector in found}


def dense_vectors(found: Mapping[str, np.ndarray], tokens: Iterable[str]) -> np.ndarray | None:
    """The vectors of ``tokens`` as the rows of one array (V, d), 0 where one has none; None where no token has any."""
    if not found:
        return None
    every = list(tokens)
    vectors = np.zeros((len(every), max(map(len, found.values()))), VECTOR)
    for j, token in enumerate(every):
        if token in found:
            vectors[j, : len(found[token])] = found[token]
    return vectors
