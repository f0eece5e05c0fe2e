"""The counts of a naive Bayes model: messages per class, and messages and occurrences per class and token.

Counts are whole numbers, so that subtracting messages restores the counts before they were added. Log-probabilities are
computed from counts, and not stored. The arrays are numpy's alone, because importing scipy takes 0.1 s.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np


def inverse_index(numbers: np.ndarray, size: int) -> np.ndarray:
    """Return the position in ``numbers`` (k,) of each number below ``size``, or −1: (size,) int32."""
    positions = np.full(size, -1, np.int32)
    positions[numbers] = np.arange(len(numbers), dtype=np.int32)
    return positions


def sort_distinct(values: np.ndarray) -> np.ndarray:
    """Return the distinct values, ascending. np.unique takes longer, and imports numpy.ma, which takes 14 ms.

    >>> sort_distinct(np.array([3, 1, 3]))
    array([1, 3])
    """
    ordered = np.sort(values)
    return ordered[np.append(True, ordered[1:] != ordered[:-1])[: len(ordered)]]


def find_sorted(values: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Return the position of each wanted value in ``values``, which ascend; −1 if it is not there."""
    if not len(values):
        return np.full(len(wanted), -1)
    positions = np.minimum(np.searchsorted(values, wanted), len(values) - 1)
    return np.where(values[positions] == wanted, positions, -1)


def narrow(counts: np.ndarray) -> np.ndarray:
    """Return the counts as int32 if they fit."""
    return counts.astype(np.int32) if counts.max(initial=0) <= np.iinfo(np.int32).max else counts


class ClassTotals(NamedTuple):
    """Sums over all tokens. A score needs these sums, and the counts of the message's tokens."""

    classes: tuple[str, ...]  # sorted names of the C classes that have a message
    documents: np.ndarray  # (C,) N_c
    document_counts: np.ndarray  # (C,) Σ_j N_jc
    occurrences: np.ndarray  # (C,) Σ_j T_jc
    vocabulary_size: int


class SparseRow(NamedTuple):
    """The counts of one class, for the tokens of its messages."""

    columns: np.ndarray  # (k,), ascending in a ClassCounts; int32, as are all counts that fit
    document_counts: np.ndarray  # (k,) N_jc
    occurrences: np.ndarray  # (k,) T_jc

    @classmethod
    def sum(cls, parts: Iterable[SparseRow], size: int) -> SparseRow:
        """Add up parts, whose columns, below ``size``, are in any order and may repeat; drop cells of 0."""
        document_counts, occurrences = np.zeros(size, np.int32), np.zeros(size, np.int64)
        for part in parts:
            # np.add.at takes forty times as long, 43 ms for a million cells, if the types of its arguments differ.
            columns = part.columns.astype(np.intp, copy=False)
            np.add.at(document_counts, columns, part.document_counts.astype(np.int32, copy=False))
            np.add.at(occurrences, columns, part.occurrences.astype(np.int64, copy=False))
        columns = np.flatnonzero((document_counts != 0) | (occurrences != 0)).astype(np.int32)
        return cls(columns, document_counts[columns], narrow(occurrences[columns]))

    def frequencies(self) -> dict[int, int]:
        """Return {n: number of tokens in exactly n messages}, without n = 0."""
        tokens = np.bincount(self.document_counts)
        return {n: int(tokens[n]) for n in np.flatnonzero(tokens).tolist() if n}

    def subtract(self, other: SparseRow) -> SparseRow:
        """Subtract the counts of ``other``, which were added before; columns ascend in both."""
        _, document_counts, occurrences = difference = SparseRow(*map(np.copy, self))
        positions = np.searchsorted(self.columns, other.columns)
        document_counts[positions] -= other.document_counts
        occurrences[positions] -= other.occurrences
        return difference.take(np.flatnonzero(document_counts))

    def take(self, positions: np.ndarray) -> SparseRow:
        """Select the cells at these positions."""
        return SparseRow(*(values[positions] for values in self))

    def reindex(self, columns: np.ndarray) -> SparseRow:
        """Rename each column j to ``columns[j]``; −1 drops the column."""
        moved = self._replace(columns=columns[self.columns])
        if moved.columns.min(initial=0) < 0:
            moved = moved.take(np.flatnonzero(moved.columns >= 0))
        if (moved.columns[1:] < moved.columns[:-1]).any():
            moved = moved.take(np.argsort(moved.columns))
        return moved


class ClassCounts(NamedTuple):
    """Counts of labelled messages: C classes × V tokens.

    >>> ham = SparseRow(np.array([0, 2]), np.array([1, 1]), np.array([3, 1]))
    >>> counts = ClassCounts(("ham",), np.array([1]), 3, (ham,))
    >>> counts.reindex(np.array([0, 1, 3]), 4).occurrences.toarray()
    array([[3, 0, 0, 1]])
    """

    classes: tuple[str, ...]  # sorted, C of them
    documents: np.ndarray  # (C,) N_c
    n_columns: int  # V, with the columns of tokens that do not occur
    rows: tuple[SparseRow, ...]  # (C,)

    def __sub__(self, other: ClassCounts) -> ClassCounts:
        """Subtract the counts of ``other``, which were added before."""
        rows = tuple(row.subtract(surplus) for row, surplus in zip(self.rows, other.rows))
        return self._replace(documents=self.documents - other.documents, rows=rows)

    def reindex(self, columns: np.ndarray, n_columns: int) -> ClassCounts:
        """Rename each column j to ``columns[j]``, of another vocabulary; −1 drops the column."""
        return self._replace(n_columns=n_columns, rows=tuple(row.reindex(columns) for row in self.rows))

    def between(self, first: int, end: int) -> ClassCounts:
        """Select the columns from ``first`` to before ``end``."""
        slices = [slice(*np.searchsorted(row.columns, [first, end])) for row in self.rows]
        parts = [SparseRow(*(values[cells] for values in row)) for row, cells in zip(self.rows, slices)]
        rows = tuple(row._replace(columns=row.columns - first) for row in parts)
        return self._replace(n_columns=end - first, rows=rows)

    def nonempty_classes(self) -> ClassCounts:
        """Drop the classes without a message."""
        nonempty = np.flatnonzero(self.documents)
        names, rows = tuple(self.classes[c] for c in nonempty), tuple(self.rows[c] for c in nonempty)
        return ClassCounts(names, self.documents[nonempty], self.n_columns, rows)

    def totals(self) -> ClassTotals:
        """Return the sums over all tokens; the vocabulary size is the number of tokens that occur."""
        sums = [[values.sum(dtype=np.int64) for values in row[1:]] for row in self.rows]
        document_counts, occurrences = np.array(sums, np.int64).reshape(-1, 2).T
        size = int(np.count_nonzero(self.document_frequency()))
        return ClassTotals(self.classes, self.documents, document_counts, occurrences, size)

    def document_frequency(self) -> np.ndarray:
        """Return the number of messages with each token, Σ_c N_jc, (V,)."""
        frequency = np.zeros(self.n_columns, np.int32)
        for row in self.rows:
            frequency[row.columns] += row.document_counts
        return frequency

    @property
    def document_counts(self) -> Any:
        """N_jc as a new scipy CSR array (C, V)."""
        return self._matrix(1)

    @property
    def occurrences(self) -> Any:
        """T_jc as a new scipy CSR array (C, V)."""
        return self._matrix(2)

    def _matrix(self, field: int) -> Any:
        from scipy.sparse import csr_array

        indptr = np.cumsum([0, *(len(row.columns) for row in self.rows)])
        empty = np.zeros(0, np.int64)  # makes the results int64, also without classes
        columns, data = (np.concatenate([empty, *(row[i] for row in self.rows)]) for i in (0, field))
        return csr_array((data, columns, indptr), shape=(len(self.classes), self.n_columns))
