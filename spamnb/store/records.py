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
    contribution: Mapping[str, int] = MappingProxyType({})  # units that it adds to the weight of its tokens, by class
    # Units by which learning it changed hard examples, by the example's number and by class.
    changes: Mapping[int, Mapping[str, int]] = MappingProxyType({})

    def facts(self) -> dict[str, Any]:
        """Return what is known of it beside its class: its part of a row, and of a line of an export."""
        contribution = {name: n for name, n in self.contribution.items() if n}
        facts = {"bins": self.bins, "contribution": contribution or None, "changes": dict(self.changes) or None}
        return {name: fact for name, fact in facts.items() if fact is not None}

    @classmethod
    def of_facts(cls, label: str, facts: Any, classes: Collection[str]) -> LearnedMessage:
        """From what ``facts`` gave, in a model of these classes. ValueError where it says something else."""
        if type(facts) is not dict:
            raise ValueError("facts that are no object")
        bins, contribution, changes = facts.get("bins"), facts.get("contribution", {}), facts.get("changes", {})
        if bins is not None and (type(bins) is not dict or not all(map(int_between(BINS - 1), bins.values()))):
            raise ValueError("bins that are none of the calibration's")
        if type(changes) is not dict or not all(number.isdecimal() and len(number) < 19 for number in changes):
            raise ValueError("changes that are none of hard examples")
        for units in (contribution, *changes.values()):
            check_correction(units, classes)
        return cls(label, bins, contribution, {int(number): units for number, units in changes.items()})


def check_correction(value: Any, classes: Collection[str]) -> None:
    """ValueError where that is not what a correction adds to the weight of a token, in units by class."""
    known = type(value) is dict and {*value} <= {*classes} and all(map(_is_units, value.values()))
    if not known or sum(value.values()):
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
