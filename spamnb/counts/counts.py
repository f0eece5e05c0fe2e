"""The sums that a naive Bayes model is: messages per class, and per class and token the messages that
contain it and its occurrences.

Whole numbers in, whole numbers out: adding and then subtracting the same messages gives back the same sums.
Log-probabilities are derived from these elsewhere and never kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

if TYPE_CHECKING:
    from scipy.sparse import csr_array


def class_sums(X: Any, codes: np.ndarray, n_classes: int, weight: np.ndarray | None = None) -> Any:
    """Sum of the rows of each class: (C, V), a CSR array for sparse X (n, V) and a numpy array for dense.

    ``codes`` (n,) are class numbers, ``weight`` (n,) multiplies rows. Whole numbers stay int64.
    """
    from scipy.sparse import csr_array, issparse

    n = X.shape[0]
    dtype = np.int64 if weight is None and X.dtype.kind in "biu" else np.float64
    order = np.argsort(codes, kind="stable")
    starts = np.concatenate(([0], np.cumsum(np.bincount(codes, minlength=n_classes))))
    ones = np.ones(n, dtype=dtype) if weight is None else weight[order].astype(dtype)
    # The class indicator as (C, n) CSR: the product touches each stored cell of X once, whatever C is.
    sums = csr_array((ones, order, starts), shape=(n_classes, n)) @ X
    if issparse(sums):
        sums.eliminate_zeros()
        sums.sort_indices()
    return sums


def presence(X: Any) -> Any:
    """The sparse X with every stored non-zero cell 1 (int8), sharing the structure of X."""
    from scipy.sparse import csr_array

    if not X.data.all():
        X = X.copy()
        X.eliminate_zeros()
    return csr_array((np.ones(X.nnz, dtype=np.int8), X.indices, X.indptr), shape=X.shape)


def subtract(a: Any, b: Any) -> Any:
    """a − b without stored zeros, of the same type as a; ValueError when anything would fall below zero.

    For sums of real weights, what is zero but for rounding becomes zero."""
    from scipy.sparse import issparse

    difference = a - b
    values = difference.data if issparse(difference) else difference
    if values.dtype.kind == "f" and values.size:
        crumbs = np.nonzero(abs(values) <= 1e-12 * abs(a).max())
        if len(crumbs[0]):  # against what was in the same cell, looked up for these few alone
            if issparse(difference):
                cells = difference.tocoo()
                before = a[cells.row[crumbs], cells.col[crumbs]]
            else:
                before = a[crumbs]
            values[crumbs] = np.where(abs(values[crumbs]) <= 1e-12 * before, 0.0, values[crumbs])
    if values.size and values.min() < 0:
        raise ValueError("more would be taken out than was learned")
    if issparse(difference):
        difference.eliminate_zeros()
    return difference


@dataclass(frozen=True, slots=True, eq=False)
class Counts:
    """Sums over labelled messages.

    classes          sorted class names, C of them
    documents        (C,) N_c, messages of class c
    document_counts  sparse (C, V) N_jc, messages of class c that contain token j
    occurrences      sparse (C, V) T_jc, occurrences of token j in the messages of class c

    >>> from scipy.sparse import csr_array
    >>> X = csr_array(np.array([[2, 1, 0], [0, 1, 1], [1, 0, 0]], dtype=np.int32))
    >>> counts = Counts.from_matrix(X, ["spam", "ham", "spam"])
    >>> counts.classes, counts.documents
    (('ham', 'spam'), array([1, 2]))
    >>> counts.occurrences.toarray()
    array([[0, 1, 1],
           [3, 1, 0]])
    >>> (counts + counts - counts) == counts
    True
    """

    classes: tuple[str, ...]
    documents: np.ndarray
    document_counts: csr_array
    occurrences: csr_array

    @classmethod
    def empty(cls, classes: Sequence[str], n_columns: int = 0) -> Self:
        """No messages yet, for these classes (put in sorted order) and columns."""
        from scipy.sparse import csr_array

        n = len(set(classes))
        zero = csr_array((n, n_columns), dtype=np.int64)
        return cls(tuple(sorted(set(classes))), np.zeros(n, dtype=np.int64), zero, zero.copy())

    @classmethod
    def from_matrix(cls, X: csr_array, y: Sequence[str], classes: Sequence[str] | None = None) -> Self:
        """The sums of the messages in X (n, V), labelled y (n,); ``classes`` may name more than y holds.

        Raises ValueError when a label is not among ``classes`` or X and y differ in length."""
        y = [str(label) for label in y]  # numpy's own strings would reach files and messages
        names = sorted(set(y) if classes is None else set(classes))
        number = {name: c for c, name in enumerate(names)}
        if X.shape[0] != len(y):
            raise ValueError(f"{X.shape[0]} rows but {len(y)} labels")
        unknown = sorted(set(y) - number.keys())
        if unknown:
            raise ValueError(f"label {unknown[0]!r} is not one of the classes {', '.join(names)}")
        codes = np.array([number[label] for label in y], dtype=np.intp)
        return cls(
            tuple(names),
            np.bincount(codes, minlength=len(names)).astype(np.int64),
            class_sums(presence(X), codes, len(names)),
            class_sums(X, codes, len(names)),
        )

    @property
    def n_columns(self) -> int:
        """V, the number of columns."""
        return self.occurrences.shape[1]

    def __add__(self, other: Counts) -> Counts:
        """Sums of both; ValueError when classes or columns differ."""
        self._check_same(other)
        return Counts(
            self.classes,
            self.documents + other.documents,
            self.document_counts + other.document_counts,
            self.occurrences + other.occurrences,
        )

    def __sub__(self, other: Counts) -> Counts:
        """Sums without those of ``other``; ValueError when ``other`` was not part of them."""
        self._check_same(other)
        return Counts(
            self.classes,
            subtract(self.documents, other.documents),
            subtract(self.document_counts, other.document_counts),
            subtract(self.occurrences, other.occurrences),
        )

    def __mul__(self, factor: float) -> Counts:
        """Every sum times ``factor`` ≥ 0, for ageing old mail; a whole factor keeps whole numbers."""
        if not 0 <= factor < float("inf"):
            raise ValueError(f"counts can be scaled by a finite number of at least 0, not {factor}")
        return Counts(self.classes, self.documents * factor, self.document_counts * factor, self.occurrences * factor)

    __rmul__ = __mul__

    def __eq__(self, other: object) -> bool:
        """The same classes and exactly the same numbers."""
        if not isinstance(other, Counts):
            return NotImplemented
        return (
            self.classes == other.classes
            and self.n_columns == other.n_columns
            and np.array_equal(self.documents, other.documents)
            and (self.document_counts != other.document_counts).nnz == 0
            and (self.occurrences != other.occurrences).nnz == 0
        )

    __hash__ = None  # type: ignore[assignment]

    def columns(self, index: np.ndarray | Sequence[int]) -> Counts:
        """The sums of the chosen columns alone, in the order of ``index`` (numbers, or a mask over V)."""
        index = np.asarray(index)
        if index.dtype != bool:
            index = index.astype(np.intp)  # an empty list would be float
        return Counts(self.classes, self.documents, self.document_counts[:, index], self.occurrences[:, index])

    def _check_same(self, other: Counts) -> None:
        if self.classes != other.classes:
            raise ValueError(f"the classes differ: {', '.join(self.classes)} and {', '.join(other.classes)}")
        if self.n_columns != other.n_columns:
            raise ValueError(f"the numbers of columns differ: {self.n_columns} and {other.n_columns}")
