"""Sums of rows by class, and their exact subtraction: what naive Bayes estimators learn.

Whole numbers in, whole numbers out: adding and then subtracting the same rows gives back the same sums.
"""

from __future__ import annotations

from typing import Any

import numpy as np


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
        tiny = np.nonzero(abs(values) <= 1e-12 * abs(a).max())
        if len(tiny[0]):  # compared with what the same cell held before; only these few are looked up
            if issparse(difference):
                cells = difference.tocoo()
                before = a[cells.row[tiny], cells.col[tiny]]
            else:
                before = a[tiny]
            values[tiny] = np.where(abs(values[tiny]) <= 1e-12 * before, 0.0, values[tiny])
    if values.size and values.min() < 0:
        raise ValueError("more would be taken out than was learned")
    if issparse(difference):
        difference.eliminate_zeros()
    return difference
