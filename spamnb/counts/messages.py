"""All counted messages as one table: rows of (token, occurrences), and what is known of each message.

A cell takes 6 bytes, and a message of mail as it is some 1.5 kB. Up to MAX_IN_MEMORY all rows lie in memory, since
training goes through them half a dozen times; those of more mail lie in files that are mapped, so that memory grows
with the vocabulary alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from tempfile import TemporaryFile
from typing import Any, NamedTuple

import numpy as np

from spamnb.counts.class_counts import ClassCounts, SparseRow
from spamnb.reader.rows import CsrRows

UNDATED = -1
MAX_IN_MEMORY = 1 << 28  # bytes of cells: those of some 150,000 messages
MESSAGES_AT_ONCE = 1 << 10  # summed at a time: their cells fit the processor's cache


def room(size: int, dtype: Any, *, in_file: bool) -> np.ndarray:
    """An array for ``size`` values: in memory, or in a temporary file that is gone with the array."""
    if not in_file:
        return np.empty(size, dtype)
    with TemporaryFile() as file:  # a mapping keeps it
        return np.memmap(file, dtype, "w+", shape=size)


class Messages(NamedTuple):
    """n messages in the order of the mail. Ids in the rows number tokens by how many messages hold them, the commonest
    first: what is read most lies together in memory. ``columns`` says what they are in the training set."""

    indptr: np.ndarray  # (n + 1,) where the rows begin and end
    ids: np.ndarray  # (nnz,) int32
    counts: np.ndarray  # (nnz,) occurrences of the token in the message
    columns: np.ndarray  # the training set's column of each id, −1 for those left out
    positions: np.ndarray  # (n,) place of the message in the whole of the mail, ascending
    labels: np.ndarray  # (n,) index into the training set's classes
    digests: np.ndarray  # (n, 16) bytes
    dates: np.ndarray  # (n,) when it was received, in seconds since 1970; UNDATED where it does not say
    included: np.ndarray  # (n,) False for a message that is not part of the sums: a second copy, say

    @property
    def lengths(self) -> np.ndarray:
        """The number of distinct tokens of each message, (n,), those left out among them."""
        return np.diff(self.indptr)

    def with_own_ids(self) -> Messages:
        """The same messages with their own ids for columns, without those left out."""
        return self._replace(columns=np.where(self.columns < 0, -1, np.arange(len(self.columns))))

    def _cells(self, numbers: np.ndarray) -> tuple[np.ndarray, Any]:
        """Where the rows of these messages (ascending, one or more) begin and end, and what takes their cells."""
        begins, ends = self.indptr[numbers], self.indptr[numbers + 1]
        lengths = ends - begins
        indptr = np.append(0, np.cumsum(lengths))
        if numbers[-1] - numbers[0] + 1 == len(numbers):
            return indptr, slice(begins[0], ends[-1])
        return indptr, np.repeat(begins - indptr[:-1], lengths) + np.arange(indptr[-1])

    def own_rows(self, numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Where the rows of these messages (ascending, one or more) begin and end, and their ids."""
        indptr, cells = self._cells(numbers)
        return indptr, self.ids[cells]

    def rows(self, numbers: np.ndarray) -> CsrRows:
        """The rows of these messages (ascending, one or more), over the training set's columns."""
        indptr, cells = self._cells(numbers)
        columns, counts = np.take(self.columns, self.ids[cells]), self.counts[cells].astype(np.int64)
        if len(columns) and columns.min() < 0:
            known = columns >= 0
            indptr = np.append(0, np.cumsum(known))[indptr]
            columns, counts = columns[known], counts[known]
        return CsrRows(indptr, columns, counts)

    def class_counts(self, classes: tuple[str, ...], vocabulary_size: int) -> ClassCounts:
        """The sums over the included messages."""
        one = np.ones((), np.int64)

        def parts(numbers: np.ndarray) -> Iterator[SparseRow]:
            for first in range(0, len(numbers), MESSAGES_AT_ONCE):
                _, cells = self._cells(numbers[first : first + MESSAGES_AT_ONCE])
                yield SparseRow(self.ids[cells].astype(np.intp), one, self.counts[cells])

        of_class = [np.flatnonzero(self.included & (self.labels == label)) for label in range(len(classes))]
        rows = tuple(SparseRow.sum(parts(numbers), vocabulary_size, self.columns) for numbers in of_class)
        return ClassCounts(classes, np.array([*map(len, of_class)], np.int64), vocabulary_size, rows)

    def last_copies(self) -> np.ndarray:
        """Which messages, (n,), have no copy further on in the mail."""
        order, begins = self.copies()
        last = np.zeros(len(order), bool)
        last[order[begins[1:] - 1]] = True
        last[order[-1:]] = True
        return last

    def copies(self) -> tuple[np.ndarray, np.ndarray]:
        """The messages sorted so that copies stand together, in the order of the mail; and where each message begins
        whose copies these are."""
        halves = self.digests.view(">u8").reshape(-1, 2)
        order = np.lexsort((halves[:, 1], halves[:, 0]))
        new = np.append(np.ones(min(len(order), 1), bool), (halves[order][1:] != halves[order][:-1]).any(axis=1))
        return order, np.flatnonzero(new)
