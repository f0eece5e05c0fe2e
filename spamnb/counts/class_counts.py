"""The sums that a naive Bayes mail model is: per class the messages, and per class and token how many messages hold it
and how often it occurs.

Whole numbers: adding and then subtracting the same messages gives back the same sums. Log-probabilities are derived
from these and never kept. Kept class by class in numpy's arrays alone, since importing scipy's would take 0.1 s.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from spamnb.reader.rows import CsrRows


def inverse_index(kept: np.ndarray, size: int) -> np.ndarray:
    """For each of ``size`` places where it stands among ``kept`` (k,), −1 where it is left out: (size,)."""
    places = np.full(size, -1, np.intp)
    places[kept] = np.arange(len(kept))
    return places


class ClassTotals(NamedTuple):
    """The sums over all tokens: what a score needs besides the counts of a message's own tokens."""

    classes: tuple[str, ...]  # sorted names of the C classes that hold a message
    documents: np.ndarray  # (C,) N_c
    document_counts: np.ndarray  # (C,) Σ_j N_jc
    occurrences: np.ndarray  # (C,) Σ_j T_jc
    vocabulary_size: int


class TokenCounts(NamedTuple):
    """The counts of those tokens that a model knows, of a list of tokens that was asked for."""

    positions: np.ndarray  # (k,) places in that list
    document_counts: np.ndarray  # (C, k) N_jc
    occurrences: np.ndarray  # (C, k) T_jc
    groups: np.ndarray  # (k,) the tokens' groups
    weights: np.ndarray  # (C, k) what a correction adds for them, in units (formulas/correction.py); 0 without one


class CountedTokens(NamedTuple):
    """The tokens of one message, and how often each occurs."""

    tokens: Sequence[str]
    counts: np.ndarray  # (k,)

    @classmethod
    def of(cls, counted: Mapping[str, int] | CountedTokens) -> CountedTokens:
        """From {token: occurrences}."""
        if isinstance(counted, CountedTokens):
            return counted
        return cls(list(counted), np.fromiter(counted.values(), np.int64, len(counted)))

    @property
    def row(self) -> CsrRows:
        """As one row of places in ``tokens``."""
        k = len(self.counts)
        return CsrRows(np.array([0, k]), np.arange(k), self.counts)


class SparseRow(NamedTuple):
    """One class's sums over the tokens that its messages hold."""

    columns: np.ndarray  # (k,), ascending in a ClassCounts
    document_counts: np.ndarray  # (k,) N_jc
    occurrences: np.ndarray  # (k,) T_jc

    @classmethod
    def sum(cls, parts: Iterable[SparseRow], size: int, moved: np.ndarray | None = None) -> SparseRow:
        """The sum of parts whose columns, below ``size``, come in any order and may repeat; cells of 0 are dropped.

        With ``moved`` (m,) column j of the parts, below m, becomes ``moved[j]``, or is left out where that is -1."""
        document_counts, occurrences = sums = np.zeros((2, size if moved is None else len(moved)), np.int64)
        for columns, held, occurring in parts:
            # Values of another type take forty times as long: 43 ms a million.
            np.add.at(document_counts, columns, held.astype(np.int64, copy=False))
            np.add.at(occurrences, columns, occurring.astype(np.int64, copy=False))
        if moved is not None:
            kept = moved >= 0
            document_counts, occurrences = placed = np.zeros((2, size), np.int64)
            placed[:, moved[kept]] = sums[:, kept]
        columns = np.flatnonzero(document_counts | occurrences)
        return cls(columns, document_counts[columns], occurrences[columns])

    def frequencies(self) -> dict[int, int]:
        """{n: number of tokens that exactly n messages hold}, without n = 0."""
        of_n = np.bincount(self.document_counts)
        return {n: int(of_n[n]) for n in np.flatnonzero(of_n).tolist() if n}

    def subtract(self, other: SparseRow) -> SparseRow:
        """These sums without those of ``other``, which are part of them; columns ascending in both."""
        _, document_counts, occurrences = left = SparseRow(*map(np.copy, self))
        places = np.searchsorted(self.columns, other.columns)
        document_counts[places] -= other.document_counts
        occurrences[places] -= other.occurrences
        return left.take(np.flatnonzero(document_counts))

    def take(self, places: np.ndarray) -> SparseRow:
        """The cells at these places."""
        return SparseRow(*(values[places] for values in self))

    def reindex(self, columns: np.ndarray) -> SparseRow:
        """Column j becomes ``columns[j]``; it is left out where that is −1."""
        moved = self._replace(columns=columns[self.columns])
        if moved.columns.min(initial=0) >= 0:
            return moved
        return moved.take(np.flatnonzero(moved.columns >= 0))


class ClassCounts(NamedTuple):
    """Sums over labelled messages: C classes × V tokens.

    >>> ham = SparseRow(np.array([0, 2]), np.array([1, 1]), np.array([3, 1]))
    >>> counts = ClassCounts(("ham",), np.array([1]), 3, (ham,))
    >>> counts.reindex(np.array([0, 1, 3]), 4, ("ham", "spam")).occurrences.toarray()
    array([[3, 0, 0, 1],
           [0, 0, 0, 0]])
    """

    classes: tuple[str, ...]  # sorted, C of them
    documents: np.ndarray  # (C,) N_c
    vocabulary_size: int  # V
    rows: tuple[SparseRow, ...]  # one a class

    @classmethod
    def from_cells(
        cls, classes: Sequence[str], documents: np.ndarray, vocabulary_size: int, label: np.ndarray, cells: SparseRow
    ) -> ClassCounts:
        """From k cells in any order; ``label`` (k,) is the class number of each."""
        parts = [cells.take(np.flatnonzero(label == c)) for c in range(len(classes))]
        rows = tuple(SparseRow.sum([part], vocabulary_size) for part in parts)
        return cls(tuple(classes), documents, vocabulary_size, rows)

    @classmethod
    def from_matrix(cls, X: Any, y: Sequence[str]) -> ClassCounts:
        """The sums of the messages in the CSR array X (n, V) of occurrences, labelled y (n,).

        >>> from scipy.sparse import csr_array
        >>> X = csr_array(np.array([[2, 1, 0], [0, 1, 1], [1, 0, 0]]))
        >>> ClassCounts.from_matrix(X, ["spam", "ham", "spam"]).occurrences.toarray()
        array([[0, 1, 1],
               [3, 1, 0]])
        """
        if X.shape[0] != len(y):
            raise ValueError(f"{X.shape[0]} rows but {len(y)} labels")
        names = [str(name) for name in y]  # numpy's own strings would reach files and messages
        classes = sorted(set(names))
        label = np.array([classes.index(name) for name in names], np.intp)
        cells = SparseRow(X.indices, (X.data != 0).astype(np.int64), X.data)
        documents = np.bincount(label, minlength=len(classes))
        return cls.from_cells(classes, documents, X.shape[1], np.repeat(label, np.diff(X.indptr)), cells)

    def __sub__(self, other: ClassCounts) -> ClassCounts:
        """These sums without those of ``other``, which are part of them."""
        rows = tuple(own.subtract(taken) for own, taken in zip(self.rows, other.rows))
        return self._replace(documents=self.documents - other.documents, rows=rows)

    def reindex(self, columns: np.ndarray, vocabulary_size: int, classes: tuple[str, ...] | None = None) -> ClassCounts:
        """The same on another vocabulary: column j becomes ``columns[j]``, or is left out where that is −1.

        ``classes``, a superset of ours in sorted order, adds classes without messages."""
        classes = self.classes if classes is None else classes
        none = SparseRow(*np.zeros((3, 0), np.int64))
        own = dict(zip(self.classes, zip(self.documents.tolist(), self.rows)))
        documents, rows = zip(*(own.get(name, (0, none)) for name in classes)) if classes else ((), ())
        moved = tuple(row.reindex(columns) for row in rows)
        return ClassCounts(classes, np.array(documents, np.int64), vocabulary_size, moved)

    def nonempty_classes(self) -> ClassCounts:
        """Without the classes that hold no message."""
        held = np.flatnonzero(self.documents)
        names, rows = tuple(self.classes[c] for c in held), tuple(self.rows[c] for c in held)
        return ClassCounts(names, self.documents[held], self.vocabulary_size, rows)

    def totals(self) -> ClassTotals:
        """The sums over all tokens."""
        sums = [[values.sum(dtype=np.int64) for values in row[1:]] for row in self.rows]
        document_counts, occurrences = np.array(sums, np.int64).reshape(-1, 2).T
        return ClassTotals(self.classes, self.documents, document_counts, occurrences, self.vocabulary_size)

    def document_frequency(self) -> np.ndarray:
        """Σ_c N_jc, how many messages hold each token, (V,)."""
        held = np.zeros(self.vocabulary_size, np.int64)
        for row in self.rows:
            held[row.columns] += row.document_counts
        return held

    @property
    def document_counts(self) -> Any:
        """N_jc as a scipy CSR array (C, V), made anew when it is asked for."""
        return self._matrix(1)

    @property
    def occurrences(self) -> Any:
        """T_jc as a scipy CSR array (C, V), made anew when it is asked for."""
        return self._matrix(2)

    def _matrix(self, field: int) -> Any:
        from scipy.sparse import csr_array

        indptr = np.cumsum([0, *(len(row.columns) for row in self.rows)])
        none = np.zeros(0, np.int64)
        columns, data = (np.concatenate([none, *(row[i] for row in self.rows)]) for i in (0, field))
        return csr_array((data, columns, indptr), shape=(len(self.classes), self.vocabulary_size))
