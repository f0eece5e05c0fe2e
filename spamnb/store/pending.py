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
from spamnb.model.delta import Units, check_correction
from spamnb.store.database import Database, checked_rows, parse_json

HASH = np.dtype("<i8")
MAX_PENDING = 4_000  # examples with pending units: 128, and those that earlier versions fitted again


class Pending(NamedTuple):
    """The sums of the pending units of all examples, by token."""

    hashes: np.ndarray  # (k,) ascending
    weights: np.ndarray  # (k + 1, C) by class number; the last row is 0

    @classmethod
    def read(cls, database: Database, class_ids: Mapping[str, int]) -> Pending:
        """Read and add up the pending units of a file; inside a transaction."""
        select = "SELECT pending, hashes FROM examples WHERE pending NOT NULL LIMIT ?"
        rows = checked_rows("examples", database.execute(select, (MAX_PENDING + 1,)), pending=str, hashes=bytes)
        if len(rows) > MAX_PENDING:
            raise Damaged("too many examples with pending units in table examples")
        arrays = [np.zeros(0, np.int64), *(parse_hashes(blob) for _, blob in rows)]
        units = np.zeros((len(arrays), len(class_ids)), np.int64)
        for i, (text, _) in enumerate(rows, 1):
            for name, n in parse_units(text, class_ids).items():
                units[i, class_ids[name]] = n
        hashes, example = np.concatenate(arrays), np.repeat(np.arange(len(arrays)), [*map(len, arrays)])
        order = np.argsort(hashes, kind="stable")  # which takes little time for parts that are sorted
        first = np.flatnonzero(np.append(True, np.diff(hashes[order]) != 0)[: len(order)])
        sums = np.add.reduceat(units[example[order]], first, axis=0) if len(first) else units[:0]
        return cls(hashes[order][first], np.append(sums, units[:1], axis=0))

    def add_to(self, figures: np.ndarray, hashes: np.ndarray) -> None:
        """Add the pending weights to the ``figures`` (n, C, 3) in the buckets of the tokens with these ``hashes``."""
        if len(self.hashes):
            figures[:, :, WEIGHT] += self.weights[find_sorted(self.hashes, hashes)]


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
