"""Sums of rows by class, and their exact subtraction: what naive Bayes estimators learn.

Whole numbers in, whole numbers out: adding and then subtracting the same rows gives back the same sums.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True, slots=True, eq=False)
class ClassSums:
    """Rows per class (C,), or their weight, and the sums of their columns (C, V)."""

    documents: np.ndarray
    columns: np.ndarray

    @classmethod
    def from_rows(cls, X: Any, codes: np.ndarray, n_classes: int, weight: np.ndarray | None = None) -> ClassSums:
        """The sums of X (n, V), a numpy array or CSR array, whose classes are the numbers ``codes`` (n,)."""
        return cls(np.bincount(codes, weight, n_classes), class_sums(X, codes, n_classes, weight))

    @property
    def n_features(self) -> int:
        """V, the number of columns."""
        return self.columns.shape[1]

    def __add__(self, other: ClassSums) -> ClassSums:
        return ClassSums(self.documents + other.documents, self.columns + other.columns)

    def __sub__(self, other: ClassSums) -> ClassSums:
        return ClassSums(subtract(self.documents, other.documents), subtract(self.columns, other.columns))

    def reindex(self, positions: np.ndarray, n_classes: int) -> ClassSums:
        """The same sums where class c has become number ``positions[c]`` of ``n_classes``."""
        return ClassSums(*(placed(part, positions, n_classes) for part in (self.documents, self.columns)))


def class_sums(X: Any, codes: np.ndarray, n_classes: int, weight: np.ndarray | None = None) -> np.ndarray:
    """Sum of the rows of each class, (C, V), of X (n, V), a numpy array or CSR array.

    ``codes`` (n,) are class numbers, ``weight`` (n,) multiplies rows. Whole numbers stay int64.
    """
    from scipy.sparse import csr_array, issparse

    n, width = X.shape
    dtype = np.int64 if weight is None and X.dtype.kind in "biu" else np.float64
    if issparse(X):
        lengths = np.diff(X.indptr)
        cells = X.data if weight is None else X.data * np.repeat(weight, lengths)
        place = np.repeat(codes * width, lengths) + X.indices
        return np.bincount(place, cells, n_classes * width).reshape(n_classes, width).astype(dtype, copy=False)
    ones = np.ones(n, dtype) if weight is None else weight.astype(dtype)
    return csr_array((ones, (codes, np.arange(n))), shape=(n_classes, n)) @ X


def subtract(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """a − b; ValueError when anything would fall below zero.

    Of sums of real weights, what is zero but for rounding becomes zero."""
    difference = a - b
    if difference.dtype.kind == "f":
        difference[np.abs(difference) <= 1e-12 * a] = 0.0
    if (difference < 0).any():
        raise ValueError("more would be taken out than was learned")
    return difference


def placed(per_class: np.ndarray, positions: np.ndarray, n_classes: int) -> np.ndarray:
    """``per_class`` (C, …) with class c as number ``positions[c]`` of ``n_classes``; 0 for the others."""
    moved = np.zeros((n_classes, *per_class.shape[1:]), per_class.dtype)
    moved[positions] = per_class
    return moved
