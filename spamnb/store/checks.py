"""What the rows of a model file may hold.

SQLite keeps any value in any column, and a file can be edited by hand or damaged on its way: what is read is looked at
here, so that nobody further on meets a text where a number should be. Damaged says which table holds what.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from spamnb.errors import Damaged
from spamnb.naming import check_class_name

MAX_SUM = 1 << 61  # of a sum: two of them and the few that one message adds still do not overflow

Fits = Callable[[Any], bool]


def is_text(value: Any) -> bool:
    return type(value) is str


def is_blob(value: Any) -> bool:
    return type(value) is bytes


def is_digest(value: Any) -> bool:
    return type(value) is bytes and len(value) == 16


def is_class_name(value: Any) -> bool:
    """A name that a class can have."""
    try:
        return type(value) is str and bool(check_class_name(value))
    except ValueError:
        return False


def int_between(most: int, least: int = 0) -> Fits:
    """A whole number from ``least`` to ``most``; True is none."""
    return lambda value: type(value) is int and least <= value <= most


def checked_rows(table: str, found: Iterable[tuple], /, **columns: Fits) -> list[tuple]:
    """All of ``found``, the values of each column as they should be.

    >>> checked_rows("classes", [("ham", 3)], name=is_text, documents=int_between(9))
    [('ham', 3)]
    >>> checked_rows("classes", [("ham", -3)], name=is_text, documents=int_between(9))
    Traceback (most recent call last):
    ...
    spamnb.errors.Damaged: documents in table classes: -3
    """
    read = list(found)
    for (column, fits), values in zip(columns.items(), zip(*read)):
        if not all(map(fits, values)):
            raise Damaged(f"{column} in table {table}: {_told(next(value for value in values if not fits(value)))}")
    return read


def int_array(table: str, found: Sequence[Sequence]) -> np.ndarray:
    """CountCache of whole numbers as an array."""
    array = np.array(found)
    if array.size and (array.dtype.kind != "i" or array.max() > MAX_SUM or array.min() < -MAX_SUM):
        raise Damaged(f"figures in table {table} that are no whole numbers, or too large")
    return array.astype(np.int64)


def parsed(table: str, column: str, value: Any) -> Any:
    """The JSON of one value."""
    try:
        return json.loads(value)
    except (ValueError, TypeError, RecursionError):
        raise Damaged(f"{column} in table {table}: {_told(value)}") from None


def token_counts(table: str, column: str, value: Any) -> dict[str, int]:
    """{token: occurrences} of one value."""
    found = parsed(table, column, value)
    if type(found) is not dict or not all(type(n) is int and n > 0 for n in found.values()):
        raise Damaged(f"{column} in table {table}: {_told(value)}")
    return found


def _told(value: Any) -> str:
    told = ascii(value)
    return told if len(told) <= 40 else told[:37] + "..."
