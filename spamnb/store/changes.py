"""The log of changes: what lessons added to the sums and took away, one row a transaction, in table ``changes``.

A message's few hundred tokens lie in as many places of the tables of sums, so that a lesson that was written there at
once gave the disk 1 MB (docs/experiments.md#lessons). Its row here takes three or four pages. compaction.py adds many
rows to the sums at once.

Rows have consecutive numbers, the first of them by chance. So who has read up to one of them knows whether the rows
after it are all that changed, and need not read anew what was looked up before. The first row holds no change: it says
how far compaction came.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from spamnb.errors import Damaged
from spamnb.store.database import MAX_SUM, checked_rows, int_between, is_blob
from spamnb.store.pages import CountCache, tokens_of
from spamnb.tokens.csr_rows import TokenIds
from spamnb.tokens.token_array import TokenArray

CHANGE = np.dtype([("token", "<u4"), ("class", "<u2"), ("documents", "<i4"), ("occurrences", "<i8")])
FIRST_KEY, LAST_KEY = -(1 << 63), (1 << 63) - 1
MAX_MONTH = 12 * 10_000
MAX_RARE = 4  # messages: of tokens that no more hold, the month in which they were last taught is kept
_SORTED_AT = 4096  # cells: so many are looked through faster than they are sorted


# Columns, class number, sign and occurrences of one message that was added or taken away.
Pending = tuple[np.ndarray, int, int, np.ndarray]

CHANGES_AFTER = (
    "SELECT sequence, month, keys, rare, cells, lengths, text FROM changes WHERE sequence > ? ORDER BY sequence"
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
    """Rows of CHANGES_AFTER, checked. Damaged where they hold something else."""
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


class ChangeLog:
    """The changes that are not yet in the sums, in memory: what each token's counts are to be changed by."""

    def __init__(self) -> None:
        self.sequence: int | None = None  # of the last row that was read
        self.size = 0  # cells
        self._changes: list[Change] = []
        self._tail: list[Change] = []
        self._hashes = np.zeros(0, np.int64)  # (n,) ascending, of the token of each cell of ``_cells``
        self._cells = np.zeros(0, CHANGE)

    def append(self, change: Change) -> None:
        """The next row."""
        self.sequence = change.sequence
        self._changes.append(change)
        self._tail.append(change)
        self.size += len(change.cells)

    def drop_before(self, first: int) -> None:
        """Rows before this number are part of the sums now."""
        if not self._changes or self._changes[0].sequence >= first:
            return
        self._changes = self._tail = [change for change in self._changes if change.sequence >= first]
        self._tail = list(self._tail)
        self._hashes, self._cells = np.zeros(0, np.int64), np.zeros(0, CHANGE)
        self.size = sum(len(change.cells) for change in self._changes)

    def look_up(self, hashes: np.ndarray, width: int) -> np.ndarray:
        """What the counts of the tokens with these ``hashes`` (k,) change by, (width, k): of each class in turn the
        messages and the occurrences."""
        table = np.zeros((width, len(hashes)), np.int64)
        if not self.size:
            return table
        if sum(len(change.cells) for change in self._tail) > _SORTED_AT:
            self._sort()
        order = np.argsort(hashes)
        wanted = hashes[order]
        start, end = np.searchsorted(self._hashes, wanted), np.searchsorted(self._hashes, wanted, "right")
        held = end - start
        place = np.repeat(end - np.cumsum(held), held) + np.arange(held.sum())
        _add(table, np.repeat(order, held), self._cells[place])
        for change in self._tail:
            of_cell = change.tokens.hashes[change.cells["token"]]
            place = np.searchsorted(wanted, of_cell)
            place[place == len(wanted)] = 0
            here = wanted[place] == of_cell if len(wanted) else np.zeros(len(of_cell), bool)
            _add(table, order[place[here]], change.cells[here])
        return table

    def _sort(self) -> None:
        parts = [change.tokens.hashes[change.cells["token"]] for change in self._tail]
        hashes = np.concatenate([self._hashes, *parts])
        order = np.argsort(hashes, kind="stable")
        self._hashes = hashes[order]
        self._cells = np.concatenate([self._cells, *(change.cells for change in self._tail)])[order]
        self._tail = []


def _add(table: np.ndarray, columns: np.ndarray, cells: np.ndarray) -> None:
    row = 2 * cells["class"].astype(np.intp)
    np.add.at(table, (row, columns), cells["documents"].astype(np.int64))
    np.add.at(table, (row + 1, columns), cells["occurrences"])


def join(pending: list[Pending], cache: CountCache, sequence: int, month: int) -> Change:
    """What several calls of ``Store.add`` changed, in one."""
    columns = np.concatenate([added for added, *_ in pending])
    label = np.repeat([number for _, number, *_ in pending], [len(added) for added, *_ in pending])
    sign = np.repeat([sign for _, _, sign, _ in pending], [len(added) for added, *_ in pending])
    ids, token = np.unique(columns, return_inverse=True)
    classes = len(cache.table) // 2
    cell, place = np.unique(token * classes + label, return_inverse=True)
    cells = np.zeros(len(cell), CHANGE)
    cells["token"], cells["class"] = cell // classes, cell % classes
    np.add.at(cells["documents"], place, sign.astype("<i4"))
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
