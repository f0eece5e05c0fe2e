"""The log of changes: what lessons added to the sums and took away, one row a transaction, in table ``changes``.

A message's few hundred tokens lie in as many places of the tables of sums, so that a lesson that was written there at
once gave the disk 1 MB (docs/experiments.md#lessons). Its row here takes three or four pages. compaction.py adds many
rows to the sums at once.

Rows have consecutive numbers, the first of them by chance. So who has read up to one of them knows whether the rows
after it are all that changed, and need not read anew what was looked up before. The first row holds no change. Rows up
to number ``summed`` of table ``compaction`` are parts: the sum of what lessons changed, each of a range of keys, in
ascending order.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from spamnb.errors import Damaged
from spamnb.reader.rows import TokenIds
from spamnb.reader.token_array import TokenArray
from spamnb.store.database import MAX_SUM, checked_rows, int_between, is_blob
from spamnb.store.pages import CountCache, tokens_of
from spamnb.store.tables import ModelTables

CHANGE = np.dtype([("token", "<u4"), ("class", "<u2"), ("documents", "<i4"), ("occurrences", "<i8")])
FIRST_KEY, LAST_KEY = -(1 << 63), (1 << 63) - 1
MAX_MONTH = 12 * 10_000
MAX_RARE = 4  # messages: of tokens that no more hold, the month in which they were last taught is kept
_SORTED_AT = 4096  # cells: so many are looked through faster than they are sorted


# Columns (k,), class number, and by how much their messages (k,) and occurrences (k,) change.
Pending = tuple[np.ndarray, int, np.ndarray, np.ndarray]

CHANGES_BETWEEN = (
    "SELECT sequence, month, keys, rare, cells, lengths, text FROM changes WHERE sequence BETWEEN ? AND ?"
    " ORDER BY sequence"
)


class Change(NamedTuple):
    """What one transaction changed: k tokens, and for each of them and each class that changed a cell."""

    sequence: int
    month: int  # of the transaction: months since year 0
    tokens: TokenArray  # (k,)
    rare: np.ndarray  # (k,) bool: few messages held the token after it
    cells: np.ndarray  # (nnz,) of CHANGE; ``token`` is a place among the tokens

    def row(self) -> tuple:
        """As table ``changes`` takes it."""
        keys = self.tokens.hashes.astype("<i8").tobytes()
        lengths = self.tokens.lengths.astype("<u2").tobytes()
        rare = np.packbits(self.rare).tobytes()
        text = self.tokens.packed().tobytes()
        return self.sequence, self.month, keys, rare, self.cells.tobytes(), lengths, text


def first_sequence() -> int:
    """A number for the first row of a log: no log of another file, or of this one before it was replaced, goes on
    there."""
    return int.from_bytes(os.urandom(8), "little") >> 4


def read_changes(rows: Iterable[tuple], classes: int) -> list[Change]:
    """Rows of CHANGES_BETWEEN, checked. Damaged where they hold something else."""
    blobs = dict.fromkeys(("keys", "rare", "cells", "lengths", "text"), is_blob)
    kinds = {"sequence": int_between(MAX_SUM), "month": int_between(MAX_MONTH), **blobs}
    return [_change(row, classes) for row in checked_rows("changes", rows, **kinds)]


def _change(row: tuple, classes: int) -> Change:
    sequence, month, keys, rare, cells, lengths, text = row
    if len(keys) % 8 or len(lengths) * 4 != len(keys) or len(cells) % CHANGE.itemsize:
        raise Damaged("rows of table changes that were cut short")
    hashes, found = np.frombuffer(keys, "<i8"), np.frombuffer(cells, CHANGE)
    if len(rare) != -(-len(hashes) // 8):
        raise Damaged("rows of table changes that were cut short")
    fit = (found["token"] < len(hashes)).all() and (found["class"] < classes).all()
    if not fit or np.abs(found["occurrences"]).max(initial=0) > MAX_SUM:
        raise Damaged("figures in table changes that cannot be")
    is_rare = np.unpackbits(np.frombuffer(rare, np.uint8), count=len(hashes)).astype(bool)
    return Change(sequence, month, tokens_of([(lengths, text)], hashes), is_rare, found)


class Cells(NamedTuple):
    """Cells of changes, ascending by their tokens' hashes."""

    hashes: np.ndarray  # (nnz,) int64
    cells: np.ndarray  # (nnz,) of CHANGE; ``token`` means nothing


_NOTHING = Cells(np.zeros(0, np.int64), np.zeros(0, CHANGE))


def _hashes_of(change: Change) -> np.ndarray:
    """(nnz,) the hash of each cell's token."""
    return change.tokens.hashes[change.cells["token"]]


def logged(store: ModelTables) -> list[Change]:
    """All changes of the log."""
    return changes_between(store) if store.has_table("changes") else []


def changes_between(store: ModelTables, first: int = 0, last: int = MAX_SUM) -> list[Change]:
    """The rows of the log with these numbers."""
    return read_changes(store.execute(CHANGES_BETWEEN, (first, last)), len(store.class_ids()))


class ChangeLog:
    """The changes that are not yet in the sums, in memory: what each token's counts are to be changed by."""

    def __init__(self) -> None:
        self.sequence: int | None = None  # of the last row that was read
        self.summed: int | None = None  # of the last part
        self.parts: list[Change] = []
        self.lessons: list[Change] = []
        self.size = 0  # cells of the lessons
        self._of_parts = _NOTHING
        self._sorted = _NOTHING  # of the lessons but for ``_tail``
        self._tail: list[Change] = []

    def append(self, change: Change) -> None:
        """The next row, a lesson."""
        self.sequence = change.sequence
        self.lessons.append(change)
        self._tail.append(change)
        self.size += len(change.cells)

    def set_parts(self, parts: list[Change], summed: int) -> None:
        """The rows up to number ``summed``, in place of what they were before."""
        hashes = np.concatenate([_NOTHING.hashes, *map(_hashes_of, parts)])
        if (hashes[1:] < hashes[:-1]).any():
            raise Damaged("rows of table changes that are not in order")
        self.parts, self.summed = parts, summed
        self.sequence = summed if self.sequence is None else max(self.sequence, summed)
        self._of_parts = Cells(hashes, np.concatenate([_NOTHING.cells, *(part.cells for part in parts)]))
        if self.lessons and self.lessons[0].sequence <= summed:
            self.lessons = [change for change in self.lessons if change.sequence > summed]
            self._tail, self._sorted = list(self.lessons), _NOTHING
            self.size = sum(len(change.cells) for change in self.lessons)

    def begin(self, sequence: int) -> None:
        """The log, which is empty, begins with a row of this number."""
        self.sequence, self.summed = sequence, sequence - 1

    def drop_parts(self, first: int) -> None:
        """Parts before this number are in the sums now."""
        gone = sum(len(part.cells) for part in self.parts if part.sequence < first)
        self.parts = [part for part in self.parts if part.sequence >= first]
        self._of_parts = Cells(*(of[gone:] for of in self._of_parts))

    def look_up(self, hashes: np.ndarray, width: int) -> np.ndarray:
        """What the counts of the tokens with these ``hashes`` (k,) change by, (width, k): of each class in turn the
        messages and the occurrences."""
        table = np.zeros((width, len(hashes)), np.int64)
        if not self.size and not self.parts:
            return table
        if sum(len(change.cells) for change in self._tail) > _SORTED_AT:
            self._sort()
        order = np.argsort(hashes)
        wanted = hashes[order]
        for held_by, cells in (self._of_parts, self._sorted):
            start, end = np.searchsorted(held_by, wanted), np.searchsorted(held_by, wanted, "right")
            held = end - start
            place = np.repeat(end - np.cumsum(held), held) + np.arange(held.sum())
            _add(table, np.repeat(order, held), cells[place])
        for change in self._tail:
            of_cell = _hashes_of(change)
            place = np.searchsorted(wanted, of_cell)
            place[place == len(wanted)] = 0
            here = wanted[place] == of_cell if len(wanted) else np.zeros(len(of_cell), bool)
            _add(table, order[place[here]], change.cells[here])
        return table

    def _sort(self) -> None:
        hashes = np.concatenate([self._sorted.hashes, *map(_hashes_of, self._tail)])
        cells = np.concatenate([self._sorted.cells, *(change.cells for change in self._tail)])
        order = np.argsort(hashes, kind="stable")
        self._sorted = Cells(hashes[order], cells[order])
        self._tail = []


def _add(table: np.ndarray, columns: np.ndarray, cells: np.ndarray) -> None:
    row = 2 * cells["class"].astype(np.intp)
    np.add.at(table, (row, columns), cells["documents"].astype(np.int64))
    np.add.at(table, (row + 1, columns), cells["occurrences"])


def join(pending: list[Pending], cache: CountCache, sequence: int, month: int) -> Change:
    """What several calls of ``Store.add`` changed, in one."""
    columns = np.concatenate([added for added, *_ in pending])
    label = np.repeat([number for _, number, *_ in pending], [len(added) for added, *_ in pending])
    documents = np.concatenate([by for _, _, by, _ in pending])
    ids, token = np.unique(columns, return_inverse=True)
    classes = len(cache.table) // 2
    cell, place = np.unique(token * classes + label, return_inverse=True)
    cells = np.zeros(len(cell), CHANGE)
    cells["token"], cells["class"] = cell // classes, cell % classes
    np.add.at(cells["documents"], place, documents.astype("<i4"))
    np.add.at(cells["occurrences"], place, np.concatenate([occurrences for *_, occurrences in pending]))
    held = cache.table[0::2, ids].sum(axis=0)
    tokens = TokenArray.of(TokenIds(cache.vocabulary, ids))
    return Change(sequence, month, tokens, held <= MAX_RARE, cells)


def left_of(held: np.ndarray, columns: np.ndarray, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """What of a message can be taken back from a pruned model: those of its ``columns`` (k,) that are still there, and
    of their occurrences ``counts`` (k,) at most what leaves one for each other message.

    ``held`` (2, k) are the messages of the class that hold each token, and its occurrences.

    >>> left_of(np.array([[0, 1, 3], [0, 2, 4]]), np.array([5, 6, 7]), np.array([1, 1, 9]))
    (array([6, 7]), array([2, 2]))
    """
    here = held[0] > 0
    documents, occurrences = held[:, here]
    most = np.where(documents == 1, occurrences, occurrences - documents + 1)
    return columns[here], np.where(documents == 1, most, np.minimum(counts[here], most))
