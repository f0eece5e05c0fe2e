"""What a model file holds beside its sums, checked as it is read: learned messages, arrays and vectors.

A learned message is declared here: to remember one more thing of it add the field, and what ``facts`` and ``of_facts``
make of it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from spamnb.errors import Damaged
from spamnb.formulas.calibration import BINS
from spamnb.store.database import checked_rows, int_between
from spamnb.store.rows import MAX_COUNT, MAX_UNITS

VECTOR = np.dtype("<f4")
_is_units = int_between(MAX_UNITS, -MAX_UNITS)


class LearnedMessage(NamedTuple):
    """How a message was learned."""

    label: str
    bins: dict[str, int] | None  # where in the calibration it was added, by class; None where training saw it
    brought: Mapping[str, int] = MappingProxyType({})  # units that it added to the weight of its tokens, by class
    # What learning it moved elsewhere: "units" by class, and "hard", the number of a hard message that was solved
    # again, or "tokens", the hashes of those of its own that moved alone.
    changed: dict[str, Any] | None = None

    def facts(self) -> dict[str, Any]:
        """What is known of it beside its class: its part of a row, and of a line of an export."""
        brought = {name: n for name, n in self.brought.items() if n}
        scored = {} if self.bins is None else {"bins": self.bins}
        return scored | ({"brought": brought} if brought else {}) | ({"changed": self.changed} if self.changed else {})

    @classmethod
    def of_facts(cls, label: str, facts: Any, classes: Collection[str]) -> LearnedMessage:
        """From what ``facts`` gave, in a model of these classes. ValueError where it says something else."""
        if type(facts) is not dict:
            raise ValueError("facts that are no object")
        bins, brought, changed = facts.get("bins", {}), facts.get("brought", {}), facts.get("changed")
        if type(bins) is not dict or not all(map(int_between(BINS - 1), bins.values())):
            raise ValueError("bins that are none of the calibration's")
        check_correction(brought, classes)
        if changed is not None and not _is_change(changed, classes):
            raise ValueError("a change that is none")
        return cls(label, facts.get("bins"), brought, changed)


def _are_units(value: Any, classes: Collection[str]) -> bool:
    return type(value) is dict and {*value} <= {*classes} and all(map(_is_units, value.values()))


def _is_change(value: Any, classes: Collection[str]) -> bool:
    if type(value) is not dict or not _are_units(value.get("units"), classes):
        return False
    if "hard" in value:
        return int_between(MAX_COUNT)(value["hard"])
    tokens = value.get("tokens")
    return type(tokens) is list and all(map(int_between(1 << 63, -(1 << 63)), tokens))


def check_correction(value: Any, classes: Collection[str]) -> None:
    """ValueError where that is not what a correction adds to the weight of a token, in units by class."""
    if not _are_units(value, classes) or sum(value.values()):
        raise ValueError("units of a correction that are no whole numbers, or too large, or do not sum to 0")


def array_of(name: str, dtype: Any, shape: Any, content: bytes) -> np.ndarray:
    """The array that is kept so. Damaged where that is none of finite numbers."""
    try:
        if type(dtype) is not str or not all(map(int_between(MAX_COUNT), shape)):
            raise ValueError("no type, or no shape")
        array = np.frombuffer(content, np.dtype(dtype)).reshape(shape)
        if array.dtype.kind not in "iuf" or not np.isfinite(array).all():
            raise ValueError("no finite numbers")
    except (ValueError, TypeError, SyntaxError, RecursionError):  # SyntaxError: numpy, of some types
        raise Damaged(f"array {name} does not hold what it should") from None
    return array


def vectors_of(rows: Iterable[tuple[bytes]]) -> list[np.ndarray]:
    """The vectors that stand in rows."""
    found = [vector for (vector,) in checked_rows("tokens", rows, vector=bytes)]
    if any(len(vector) % VECTOR.itemsize for vector in found):
        raise Damaged("vectors that were cut short")
    if not np.isfinite(np.frombuffer(b"".join(found), VECTOR)).all():
        raise Damaged("vectors that hold no numbers")
    return [np.frombuffer(vector, VECTOR) for vector in found]
