"""The sums that a naive Bayes mail model is: per class the messages, and per class and token how many messages hold it
and how often it occurs.

Whole numbers: adding and then subtracting the same messages gives back the same sums. Log-probabilities are derived
from these and never kept. Kept class by class in numpy's arrays alone, since importing scipy's would take 0.1 s.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from spamnb.reader.rows import CsrRows


def inverse_index(chosen: np.ndarray, size: int) -> np.ndarray:
    """Return the position of each number below ``size`` in ``chosen`` (k,), −1 where it is not there: (size,) int32."""
    places = np.full(size, -1, np.int32)
    places[chosen] = np.arange(len(chosen), dtype=np.int32)
    return places


def narrow(counts: np.ndarray) -> np.ndarray:
    """Return the counts as int32 if they fit it."""
    return counts.astype(np.int32) if counts.max(initial=0) <= np.iinfo(np.int32).max else counts


class ClassTotals(NamedTuple):
    """The sums over all tokens: what a score needs besides the counts of a message's own tokens."""

    classes: tuple[str, ...]  # sorted names of the C classes that hold a message
    documents: np.ndarray  # (C,) N_c
    document_counts: np.ndarray  # (C,) Σ_j N_jc
    occurrences: np.ndarray  # (C,) Σ_j T_jc
    vocabulary_size: int


class TokenCounts(NamedTuple):
    """Counts of the requested tokens that are in the model."""

    positions: np.ndarray  # (k,) in the list that was requested
    document_counts: np.ndarray  # (C, k) N_jc
    occurrences: np.ndarray  # (C, k) T_jc
    groups: np.ndarray  # (k,) the tokens' groups
    weights: np.ndarray  # (C, k) what a correction adds for them, in units (formulas/correction.py); 0 without one


class CountedTokens(NamedTuple):
    """The tokens of one message, and how often each occurs."""

    tokens: Sequence[str]
    counts: np.ndarray  # (k,)

    @property
    def row(self) -> CsrRows:
        """The message as one row; the ids are positions in ``tokens``."""
        k = len(self.counts)
        return CsrRows(np.array([0, k]), np.arange(k), self.counts)


class SparseRow(NamedTuple):
    """One class's sums over the tokens that its messages hold."""

    columns: np.ndarray  # (k,), ascending in a ClassCounts; int32, as all counts that fit
    document_counts: np.ndarray  # (k,) N_jc
    occurrences: np.ndarray  # (k,) T_jc

    @classmethod
    def sum(cls, parts: Iterable[SparseRow], size: int) -> SparseRow:
        """Add up parts whose columns, below ``size``, come in any order and may repeat; drop cells of 0."""
        document_counts, occurrences = np.zeros(size, np.int32), np.zeros(size, np.int64)
        for columns, holding, occurring in parts:
            # Values and columns of other types take forty times as long: 43 ms a million.
            at = columns.astype(np.intp, copy=False)
            np.add.at(document_counts, at, holding.astype(np.int32, copy=False))
            np.add.at(occurrences, at, occurring.astype(np.int64, copy=False))
        columns = np.flatnonzero((document_counts != 0) | (occurrences != 0)).astype(np.int32)
        return cls(columns, document_counts[columns], narrow(occurrences[columns]))

    def frequencies(self) -> dict[int, int]:
        """Return {n: number of tokens that exactly n messages hold}, without n = 0."""
        of_n = np.bincount(self.document_counts)
        return {n: int(of_n[n]) for n in np.flatnonzero(of_n).tolist() if n}

    def subtract(self, other: SparseRow) -> SparseRow:
        """Subtract the sums of ``other``, which are part of these; columns ascend in both."""
        _, document_counts, occurrences = difference = SparseRow(*map(np.copy, self))
        places = np.searchsorted(self.columns, other.columns)
        document_counts[places] -= other.document_counts
        occurrences[places] -= other.occurrences
        return difference.take(np.flatnonzero(document_counts))

    def take(self, places: np.ndarray) -> SparseRow:
        """Select the cells at these places."""
        return SparseRow(*(values[places] for values in self))

    def reindex(self, columns: np.ndarray) -> SparseRow:
        """Make column j column ``columns[j]``; drop it where that is −1."""
        moved = self._replace(columns=columns[self.columns])
        if moved.columns.min(initial=0) < 0:
            moved = moved.take(np.flatnonzero(moved.columns >= 0))
        if (moved.columns[1:] < moved.columns[:-1]).any():
            moved = moved.take(np.argsort(moved.columns))
        return moved


class ClassCounts(NamedTuple):
    """Sums over labelled messages: C classes × V tokens.

    >>> ham = SparseRow(np.array([0, 2]), np.array([1, 1]), np.array([3, 1]))
    >>> counts = ClassCounts(("ham",), np.array([1]), 3, (ham,))
    >>> counts.reindex(np.array([0, 1, 3]), 4).occurrences.toarray()
    array([[3, 0, 0, 1]])
    """

    classes: tuple[str, ...]  # sorted, C of them
    documents: np.ndarray  # (C,) N_c
    vocabulary_size: int  # V
    rows: tuple[SparseRow, ...]  # one a class

    def __sub__(self, other: ClassCounts) -> ClassCounts:
        """Subtract the sums of ``other``, which are part of these."""
        rows = tuple(row.subtract(surplus) for row, surplus in zip(self.rows, other.rows))
        return self._replace(documents=self.documents - other.documents, rows=rows)

    def reindex(self, columns: np.ndarray, vocabulary_size: int) -> ClassCounts:
        """Go over to another vocabulary: column j becomes ``columns[j]``, and is dropped where that is −1."""
        return self._replace(vocabulary_size=vocabulary_size, rows=tuple(row.reindex(columns) for row in self.rows))

    def between(self, first: int, end: int) -> ClassCounts:
        """Select the columns from ``first`` to before ``end``."""
        places = [slice(*np.searchsorted(row.columns, [first, end])) for row in self.rows]
        parts = [SparseRow(*(values[at] for values in row)) for row, at in zip(self.rows, places)]
        rows = tuple(row._replace(columns=row.columns - first) for row in parts)
        return self._replace(vocabulary_size=end - first, rows=rows)

    def nonempty_classes(self) -> ClassCounts:
        """Drop the classes that hold no message."""
        nonempty = np.flatnonzero(self.documents)
        names, rows = tuple(self.classes[c] for c in nonempty), tuple(self.rows[c] for c in nonempty)
        return ClassCounts(names, self.documents[nonempty], self.vocabulary_size, rows)

    def totals(self) -> ClassTotals:
        """Return the sums over all tokens; the vocabulary's size counts those that occur."""
        sums = [[values.sum(dtype=np.int64) for values in row[1:]] for row in self.rows]
        document_counts, occurrences = np.array(sums, np.int64).reshape(-1, 2).T
        size = int(np.count_nonzero(self.document_frequency()))
        return ClassTotals(self.classes, self.documents, document_counts, occurrences, size)

    def document_frequency(self) -> np.ndarray:
        """Return how many messages hold each token, Σ_c N_jc, (V,)."""
        frequency = np.zeros(self.vocabulary_size, np.int32)
        for row in self.rows:
            frequency[row.columns] += row.document_counts
        return frequency

    @property
    def document_counts(self) -> Any:
        """N_jc as a scipy CSR array (C, V), a new one each time."""
        return self._matrix(1)

    @property
    def occurrences(self) -> Any:
        """T_jc as a scipy CSR array (C, V), a new one each time."""
        return self._matrix(2)

    def _matrix(self, field: int) -> Any:
        from scipy.sparse import csr_array

        indptr = np.cumsum([0, *(len(row.columns) for row in self.rows)])
        none = np.zeros(0, np.int64)
        columns, data = (np.concatenate([none, *(row[i] for row in self.rows)]) for i in (0, field))  # int64
        return csr_array((data, columns, indptr), shape=(len(self.classes), self.vocabulary_size))
