"""The log of a model on a server: a row a lesson in table ``changes``, with all that it added to the rows of tokens.

A lesson's few hundred tokens are as many rows of the table, each in a page of its own: written there at once they took
the server 9 ms of processor time. Here they are one row. When the rows that are not yet in the sums hold MAX_LOG cells,
or are MAX_ROWS, they are added to the sums together (server_tokens.py), and the number of the last one is in table
``summed``. KEPT_CHANGES rows stay after that: whoever has the model open brings what is in memory up to date by them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from spamnb.errors import Damaged
from spamnb.store.changes import CHANGE, Change, ChangeLog, read_changes
from spamnb.store.correction_sums import TokenUnits
from spamnb.store.database import MAX_SUM, checked_rows, int_between, is_blob
from spamnb.tokens.token_array import TokenArray

if TYPE_CHECKING:
    from spamnb.store.tables import ModelTables

KEPT_CHANGES = 500
MAX_LOG = 32_768  # cells, after some 100 lessons, as in a file: whoever opens the model reads them
MAX_ROWS = 200
MOVED = np.dtype([("class", "<u2"), ("documents", "<u4"), ("tokens", "<i4")])
_HEAD, _KEY, _UNITS = np.dtype([("keys", "<u4"), ("classes", "<u4")]), np.dtype("<i8"), np.dtype("<i8")
_MANY = 16  # weights that were appended since the last sorting

Weights = tuple[np.ndarray, np.ndarray]  # keys (k,) int64, and what is added to each of them, (C,)
Moved = Mapping[int, Mapping[int, int]]  # class number → {n: change of the tokens that n messages hold}


class ServerChange(NamedTuple):
    """A row of the log."""

    change: Change
    moved: np.ndarray  # (m,) of MOVED
    weights: list[Weights]

    def row(self) -> tuple:
        """As table ``changes`` takes it."""
        return *self.change.row(), self.moved.tobytes(), b"".join(map(_packed, self.weights))


def no_change(sequence: int, month: int) -> Change:
    """A change of no token: something else changed."""
    return Change(sequence, month, TokenArray.of([]), np.zeros(0, bool), np.zeros(0, CHANGE))


def moved_cells(moved: Moved) -> np.ndarray:
    """What ``frequencies.note_moved`` noted of classes, (m,) of MOVED."""
    cells = [(c, n, by) for c, of_class in moved.items() for n, by in of_class.items() if n and by]
    return np.array(cells, MOVED)


def _packed(weights: Weights) -> bytes:
    keys, units = weights
    head = np.array([(len(keys), len(units))], _HEAD)
    return head.tobytes() + np.ascontiguousarray(keys, _KEY).tobytes() + np.ascontiguousarray(units, _UNITS).tobytes()


def _unpacked(packed: bytes, classes: int) -> list[Weights]:
    found, at = [], 0
    while at < len(packed):
        head = np.frombuffer(packed[at : at + _HEAD.itemsize].ljust(_HEAD.itemsize, b"\xff"), _HEAD)[0]
        keys, width = int(head["keys"]), int(head["classes"])
        middle = at + _HEAD.itemsize + keys * _KEY.itemsize
        end = middle + width * _UNITS.itemsize
        if end > len(packed) or width > classes:
            raise Damaged("weights in table changes that were cut short")
        units = np.zeros(classes, np.int64)  # classes that came later than this row have 0
        units[:width] = np.frombuffer(packed[middle:end], _UNITS)
        if np.abs(units).max(initial=0) > MAX_SUM:
            raise Damaged("weights in table changes that are too large")
        found.append((np.frombuffer(packed[at + _HEAD.itemsize : middle], _KEY), units))
        at = end
    return found


_ALL = "sequence, month, keys, rare, cells, lengths, text, moved, units"
_WITHOUT_TEXT = "sequence, month, keys, rare, cells, units"


def read_rows(store: ModelTables, first: int, last: int = MAX_SUM) -> list[ServerChange]:
    """The rows with these numbers."""
    asked = f"SELECT {_ALL} FROM changes WHERE sequence BETWEEN ? AND ? ORDER BY sequence"  # noqa: S608 (our own words)
    rows, classes = store.execute(asked, (first, last)).fetchall(), len(store.class_ids())
    changes = read_changes((row[:7] for row in rows), classes)
    moved = [_moved(row[7], classes) for row in rows]
    return list(map(ServerChange, changes, moved, (_unpacked(row[8], classes) for row in rows)))


def _moved(found: object, classes: int) -> np.ndarray:
    if type(found) is not bytes or len(found) % MOVED.itemsize:
        raise Damaged("frequencies in table changes that were cut short")
    cells = np.frombuffer(found, MOVED)
    if (cells["class"] >= classes).any():
        raise Damaged("frequencies in table changes of classes that are not there")
    return cells


def frequency_rows(store: ModelTables, summed: int) -> list[tuple[int, int, int]]:
    """What table ``frequencies`` holds, class number, n and tokens, with what rows after number ``summed`` change."""
    rows = store.execute("SELECT class, documents, tokens FROM frequencies").fetchall()
    checked_rows("frequencies", rows, **dict.fromkeys(("class", "documents", "tokens"), int_between(MAX_SUM)))
    held = {(c, n): tokens for c, n, tokens in rows}
    classes = len(store.class_ids())
    for (found,) in store.execute("SELECT moved FROM changes WHERE sequence > ?", (summed,)):
        for c, n, by in _moved(found, classes).tolist():
            held[c, n] = held.get((c, n), 0) + by
    return [(*cell, tokens) for cell, tokens in held.items() if tokens]


def sum_moved(rows: Iterable[ServerChange]) -> Moved:
    """What rows change in table ``frequencies``, in one sum."""
    moved: dict[int, dict[int, int]] = {}
    for row in rows:
        for c, n, by in row.moved.tolist():
            of_class = moved.setdefault(c, {})
            of_class[n] = of_class.get(n, 0) + by
    return moved


class ServerLog(ChangeLog):
    """The rows that are not yet in the sums, in memory, without the text of their tokens."""

    def __init__(self, summed: int) -> None:
        super().__init__()
        self.sequence = self.summed = summed
        self.weights = WeightLog()

    @classmethod
    def read(cls, store: ModelTables, summed: int) -> ServerLog:
        """All rows after number ``summed``."""
        log, classes = cls(summed), len(store.class_ids())
        asked = f"SELECT {_WITHOUT_TEXT} FROM changes WHERE sequence > ? ORDER BY sequence"  # noqa: S608
        kinds = {"sequence": int_between(MAX_SUM)}
        blobs = dict.fromkeys(("keys", "rare", "cells", "units"), is_blob)
        for sequence, _, keys, _, cells, units in checked_rows(
            "changes", store.execute(asked, (summed,)), **kinds, month=int_between(MAX_SUM), **blobs
        ):
            if len(keys) % _KEY.itemsize or len(cells) % CHANGE.itemsize:
                raise Damaged("rows of table changes that were cut short")
            found, hashes = np.frombuffer(cells, CHANGE), np.frombuffer(keys, _KEY)
            if (found["token"] >= len(hashes)).any() or (found["class"] >= classes).any():
                raise Damaged("figures in table changes that cannot be")
            none = np.zeros(len(hashes), np.int32)
            tokens = TokenArray(np.zeros(0, np.uint8), none.astype(np.int64), none, hashes)
            log.add(ServerChange(Change(sequence, 0, tokens, none, found), none, _unpacked(units, classes)))
        return log

    def add(self, row: ServerChange) -> None:
        """The next row."""
        self.append(row.change)
        self.weights.append(row.change.sequence, row.weights)

    def drop(self, summed: int) -> None:
        """Rows up to this number are in the sums."""
        self.set_parts([], summed)
        self.weights.drop(summed)

    def is_full(self) -> bool:
        """Is it time to add it to the sums?"""
        return self.size > MAX_LOG or len(self.lessons) > MAX_ROWS


class WeightLog:
    """What rows of the log add to the weights of tokens, as they follow one another."""

    def __init__(self) -> None:
        self._rows: list[tuple[int, Weights]] = []
        self._sorted = 0  # so many of them are in the arrays
        self._keys = np.zeros(0, np.int64)  # ascending
        self._row_of = np.zeros(0, np.intp)

    def append(self, sequence: int, weights: Iterable[Weights]) -> None:
        self._rows += [(sequence, of_tokens) for of_tokens in weights]

    def drop(self, summed: int) -> None:
        """Forget rows up to this number."""
        self._rows = [row for row in self._rows if row[0] > summed]
        self._sorted, self._keys, self._row_of = 0, self._keys[:0], self._row_of[:0]

    def look_up(self, keys: np.ndarray, classes: int) -> np.ndarray:
        """What the weights of the tokens with these distinct ``keys`` (k,) change by, (k, C)."""
        out = np.zeros((len(keys), classes), np.int64)
        if not self._rows or not len(keys):
            return out
        if len(self._rows) - self._sorted > _MANY:
            self._sort()
        order = np.argsort(keys)
        wanted = keys[order]
        start, end = np.searchsorted(self._keys, wanted), np.searchsorted(self._keys, wanted, "right")
        held = end - start
        if held.any():
            units = np.stack([_wide(units, classes) for _, (_, units) in self._rows[: self._sorted]])
            place = np.repeat(end - np.cumsum(held), held) + np.arange(held.sum())
            np.add.at(out, np.repeat(order, held), units[self._row_of[place]])
        for _, (hashes, units) in self._rows[self._sorted :]:
            place = np.minimum(np.searchsorted(wanted, hashes), len(wanted) - 1)
            out[order[place[wanted[place] == hashes]], : len(units)] += units
        return out

    def _sort(self) -> None:
        new = self._rows[self._sorted :]
        keys = np.concatenate([self._keys, *(hashes for _, (hashes, _) in new)])
        rows = np.repeat(np.arange(self._sorted, len(self._rows)), [len(hashes) for _, (hashes, _) in new])
        order = np.argsort(keys, kind="stable")
        self._keys, self._row_of = keys[order], np.concatenate([self._row_of, rows])[order]
        self._sorted = len(self._rows)


def _wide(units: np.ndarray, classes: int) -> np.ndarray:
    return units if len(units) == classes else np.pad(units, (0, classes - len(units)))


def sum_weights(rows: Sequence[ServerChange], classes: int) -> TokenUnits:
    """What rows add to the weights of tokens, in one sum."""
    parts = [
        TokenUnits(keys, np.tile(_wide(units, classes), (len(keys), 1))) for row in rows for keys, units in row.weights
    ]
    return TokenUnits.sum([TokenUnits(np.zeros(0, np.int64), np.zeros((0, classes), np.int64)), *parts])
