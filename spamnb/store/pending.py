"""Weights that buckets lack: changes of the contributions of examples, in column ``pending`` of table ``examples``.

A lesson fits many examples again, and each has some hundred tokens. If each change were added to the buckets of these
tokens, the lesson would rewrite most buckets. So it is added to them when the example is no longer fitted again
(examples.py). Until then the weight of a token is the weight in its bucket and the pending units of each example that
has it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from spamnb.errors import Damaged
from spamnb.model.class_counts import WEIGHT, find_sorted
from spamnb.model.delta import Example, Examples, Units, check_correction, units_by_class
from spamnb.store.database import Database, checked_rows, parse_json

HASH = np.dtype("<i8")
MAX_PENDING = 128  # examples with pending units: those that are fitted again


class Pending(NamedTuple):
    """The sums of the pending units of all examples, by token."""

    hashes: np.ndarray  # (k,) ascending
    weights: np.ndarray  # (k + 1, C) by class number; the last row is 0

    @classmethod
    def of(cls, examples: Examples, class_ids: Mapping[str, int]) -> Pending:
        """Add up the pending units of examples."""
        units = units_by_class([each.pending for each in examples.messages], class_ids)
        if not units.any():
            return cls(examples.hashes[:0], np.zeros((1, len(class_ids)), np.int64))
        weights, of_tokens = np.zeros((len(examples.hashes) + 1, len(class_ids))), np.repeat(units, examples.lengths, 0)
        for c in class_ids.values():  # sums as floats, which are exact below 2 ** 53
            weights[:-1, c] = np.bincount(examples.columns, of_tokens[:, c], len(examples.hashes))
        return cls(examples.hashes, weights.astype(np.int64))

    def add_to(self, figures: np.ndarray, hashes: np.ndarray) -> None:
        """Add the pending weights to the ``figures`` (n, C, 3) in the buckets of the tokens with these ``hashes``."""
        if len(self.hashes):
            figures[:, :, WEIGHT] += self.weights.take(find_sorted(self.hashes, hashes), axis=0)


def read_pending(database: Database, class_ids: Mapping[str, int]) -> Examples:
    """Return the examples with pending units, without their contributions; inside a transaction."""
    select = "SELECT pending, hashes FROM examples WHERE pending NOT NULL LIMIT ?"
    rows = checked_rows("examples", database.execute(select, (MAX_PENDING + 1,)), pending=str, hashes=bytes)
    if len(rows) > MAX_PENDING:
        raise Damaged("too many examples with pending units in table examples")
    no_groups = np.zeros(0, np.int8)
    return Examples.of(
        [
            Example(b"", "", parse_hashes(hashes), no_groups, pending=parse_units(pending, class_ids))
            for pending, hashes in rows
        ]
    )


def parse_hashes(blob: bytes) -> np.ndarray:
    """Return the hashes of an example; raise Damaged if they are truncated."""
    if len(blob) % HASH.itemsize:
        raise Damaged("truncated hashes in table examples")
    return np.frombuffer(blob, HASH)


def parse_units(text: str, class_ids: Mapping[str, int]) -> Units:
    """Return pending units by class; raise Damaged if no contribution can have them."""
    units = parse_json("examples", "pending", text)
    try:
        check_correction(units, class_ids)
    except ValueError as error:
        raise Damaged(f"pending in table examples: {error}") from None
    return units
