"""What a model file holds beside its sums, checked as it is read: learned messages, arrays and vectors.

A learned message is declared here: its fields, its row, and its line of JSON. To remember one more thing of it add the
field, its column in ``MESSAGE_COLUMNS``, and what ``row``, ``of_row``, ``facts`` and ``of_facts`` make of it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from spamnb.errors import Damaged
from spamnb.formulas.calibration import BINS
from spamnb.naming import check_class_name
from spamnb.store.database import checked_rows, int_between, is_blob, is_digest, is_text, parse_json
from spamnb.store.rows import MAX_COUNT, MAX_UNITS

VECTOR = np.dtype("<f4")
_is_units = int_between(MAX_UNITS, -MAX_UNITS)


MESSAGE_COLUMNS = "digest, class, bins, brought, changed"


class LearnedMessage(NamedTuple):
    """How a message was learned."""

    label: str
    bins: dict[str, int] | None  # where in the calibration it was added, by class; None where training saw it
    brought: Mapping[str, int] = MappingProxyType({})  # units that it added to the weight of its tokens, by class
    # What learning it moved elsewhere: "units" by class, and "hard", the number of a hard message that was solved
    # again, or "tokens", the hashes of those of its own that moved alone.
    changed: dict[str, Any] | None = None

    @property
    def is_of_training(self) -> bool:
        """Whether ``train`` learned it, and not a lesson."""
        return self.bins is None

    def row(self, digest: bytes, classes: Sequence[str]) -> tuple:
        """Its row; ``classes`` are in the order of their numbers."""
        bins = None if self.bins is None else json.dumps(self.bins)
        units = [self.brought.get(name, 0) for name in classes] if self.brought else []
        if not all(map(_is_units, units)):
            raise OverflowError("a message brought more than a model file holds")
        brought = json.dumps(units) if any(units) else None
        changed = None if self.changed is None else json.dumps(self.changed, ensure_ascii=False)
        return digest, classes.index(self.label), bins, brought, changed

    @classmethod
    def of_row(cls, row: tuple, classes: Sequence[str]) -> tuple[bytes, LearnedMessage]:
        """Digest and message of a row. Damaged where it holds something else."""
        ((digest, label, *written),) = checked_rows(
            "messages", [row], digest=is_digest, **{"class": int_between(len(classes) - 1)}
        )
        bins, brought, changed = (
            None if value is None else parse_json("messages", column, value)
            for column, value in zip(("bins", "brought", "changed"), written)
        )
        if bins is not None and not are_bins(bins):
            raise Damaged(f"bins in table messages: {written[0]!a:.40}")
        units = [] if brought is None else brought
        if type(units) is not list or len(units) > len(classes) or not all(map(_is_units, units)):
            raise Damaged(f"brought in table messages: {written[1]!a:.40}")
        if changed is not None and not _is_change(changed, classes):
            raise Damaged(f"changed in table messages: {written[2]!a:.40}")
        by_class = {name: n for name, n in zip(classes, units) if n}
        return digest, cls(classes[label], bins, by_class, changed)

    def facts(self) -> dict[str, Any]:
        """Its part of a line of an export; what it moved elsewhere belongs to one file."""
        scored = {} if self.bins is None else {"bins": self.bins}
        brought = {"brought": self.brought} if self.brought else {}
        return {"class": self.label, **scored, **brought}

    @classmethod
    def of_facts(cls, facts: Mapping[str, Any]) -> LearnedMessage:
        """From its part of a line. ValueError where it says something else."""
        if not are_bins(facts.get("bins", {})):
            raise ValueError("bins that are none of the calibration's")
        return cls(facts["class"], facts.get("bins"), units_of(facts.get("brought", {})))


def are_bins(value: Any) -> bool:
    """Is that what ``LearnedMessage.bins`` may be, of a message that was scored?"""
    return type(value) is dict and all(map(is_text, value)) and all(map(int_between(BINS - 1), value.values()))


def _is_change(value: Any, classes: Sequence[str]) -> bool:
    units = value.get("units") if type(value) is dict else None
    if type(units) is not dict or not {*units} <= {*classes} or not all(map(_is_units, units.values())):
        return False
    if "hard" in value:
        return int_between(MAX_COUNT)(value["hard"])
    tokens = value.get("tokens")
    return type(tokens) is list and all(map(int_between(1 << 63, -(1 << 63)), tokens))


def units_of(record: Mapping[str, Any]) -> dict[str, int]:
    """What a line says of a correction, by class. ValueError where its units do not sum to 0."""
    if not all(map(_is_units, record.values())):
        raise ValueError("units of a correction that are no whole numbers, or too large")
    if sum(record.values()):
        raise ValueError("a correction that does not sum to 0 over the classes")
    return {check_class_name(str(name)): n for name, n in record.items()}


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


def vectors_of(rows: Iterable[tuple[str, bytes]]) -> dict[str, np.ndarray]:
    """Tokens and their vectors."""
    found = checked_rows("tokens", rows, token=is_text, vector=is_blob)
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
