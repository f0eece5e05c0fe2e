"""Sums of rows by class, and their exact subtraction. The estimators learn these sums.

Naive Bayes stores sums of columns, which are whole numbers for rows of whole numbers. Every Gaussian estimator stores
the weight, the mean and the scatter about the mean of each class (mail models store model/moments.py instead):

    n = Σ_i w_i      μ = Σ_i w_i x_i / n      S = Σ_i w_i (x_i − μ)(x_i − μ)ᵀ

n, nμ and S + nμμᵀ are plain sums. The centred form stays accurate even if the mean is far from zero. Two sets merge as
by Chan, Golub and LeVeque (1979), with δ = μ_b − μ_a:

    n = n_a + n_b    μ = μ_a + δ n_b/n    S = S_a + S_b + δδᵀ n_a n_b/n

and subtraction is the same equation solved for a. For normal numbers with mean 1e8 and variance 1, learned one by one,
the relative error of the variance is 1e-7. A variance computed from Σx² would be any number between −2 and 4.
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

# The least share of a feature's variance that the other features must leave unexplained. If the feature is a copy of
# another, rounding leaves a share of 1e-16; a share of 1e-12 is still known to four digits.
MIN_UNEXPLAINED_SHARE = 1e-12
MAX_ROUNDING = 1e-9  # if a subtraction leaves a scatter below −1e-9 Σx² of a feature, this is no rounding error
# Squares that overflow become inf or NaN, for which the models raise an error.
_allow_overflow = np.errstate(over="ignore", invalid="ignore")


@dataclass(frozen=True, slots=True, eq=False)
class ClassSums:
    """The number or weight of the rows of each class, (C,), and the sums of the columns, (C, V).

    A categorical feature j has ``categories[j]`` columns, one per category.
    """

    documents: np.ndarray
    columns: np.ndarray
    categories: np.ndarray | None = None

    @classmethod
    def from_rows(
        cls, X: Any, codes: np.ndarray, n_classes: int, weight: np.ndarray | None, categories: np.ndarray | None
    ) -> ClassSums:
        """Return the sums of X (n, V), a numpy array or CSR array, by the class numbers ``codes`` (n,).

        ``weight`` (n,) multiplies rows. Sums of whole numbers are int64.
        """
        from scipy.sparse import csr_array, issparse

        n = X.shape[0]
        is_whole = weight is None and X.dtype.kind in "biu"
        weights = np.ones(n, np.int64 if is_whole else float) if weight is None else weight
        sums = csr_array((weights, (codes, np.arange(n))), shape=(n_classes, n)) @ X
        columns = sums.toarray() if issparse(sums) else sums
        return cls(np.bincount(codes, weight, n_classes), columns, categories)

    @property
    def n_features(self) -> int:
        """Return the number of features."""
        return self.columns.shape[1] if self.categories is None else len(self.categories)

    def _check_same_categories(self, other: ClassSums) -> None:
        if not np.array_equal(self.categories, other.categories):  # type: ignore[arg-type]
            raise ValueError("these models have different categories: fit both with the same min_categories")

    def __add__(self, other: ClassSums) -> ClassSums:
        self._check_same_categories(other)
        return ClassSums(self.documents + other.documents, self.columns + other.columns, self.categories)

    def __sub__(self, other: ClassSums) -> ClassSums:
        """Return the sums without the rows of ``other``. Raise ValueError if ``other`` has larger sums."""
        documents, columns = subtract(self.documents, other.documents), subtract(self.columns, other.columns)
        return ClassSums(documents, columns, self.categories)


def subtract(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return a − b. Raise ValueError if a difference is below zero.

    A difference of real numbers that is zero except for rounding becomes zero.
    """
    difference = a - b
    if difference.dtype.kind == "f":
        difference[np.abs(difference) <= 1e-12 * a] = 0.0
    if (difference < 0).any():
        raise ValueError("these rows were not learned: a sum would be below zero without them")
    return difference


@dataclass(frozen=True, slots=True, eq=False)
class Scatter:
    """Weights (C,), means (C, d) and scatter (C, d, d) of C classes.

    The mean of a class without rows is zero. For independent features the scatter is its diagonals, (C, d).

    >>> X = np.array([[0.0, 0.0], [2.0, 0.0], [1.0, 5.0]])
    >>> sums = Scatter.from_rows(X, np.array([0, 0, 1]), 2)
    >>> sums.documents, sums.mean.tolist(), sums.scatter[0].tolist()
    (array([2., 1.]), [[1.0, 0.0], [1.0, 5.0]], [[2.0, 0.0], [0.0, 0.0]])
    >>> last = Scatter.from_rows(X[1:], np.array([0, 1]), 2)
    >>> (sums - last).mean[0].tolist(), (sums - last).documents
    ([0.0, 0.0], array([1., 0.]))
    """

    documents: np.ndarray
    mean: np.ndarray
    scatter: np.ndarray

    @property
    def n_features(self) -> int:
        """Return d, the number of features."""
        return self.mean.shape[1]

    @classmethod
    @_allow_overflow
    def from_rows(
        cls,
        X: np.ndarray,
        y: np.ndarray,
        n_classes: int,
        sample_weight: np.ndarray | None = None,
        diagonal: bool = False,
    ) -> Scatter:
        """Return the sums of rows X (n, d) with class numbers y (n,), computed in two passes."""
        d = X.shape[1]
        documents, mean = np.zeros(n_classes), np.zeros((n_classes, d))
        scatter = np.zeros((n_classes, d) if diagonal else (n_classes, d, d))
        for c in range(n_classes):
            is_class = y == c
            rows = X[is_class].astype(float, copy=False)
            weights = np.ones(len(rows)) if sample_weight is None else sample_weight[is_class]
            documents[c] = weights.sum()
            if documents[c] > 0:
                mean[c] = weights @ rows / documents[c]
                rows -= mean[c]
                weighted = rows if sample_weight is None else rows * weights[:, None]
                scatter[c] = np.einsum("ij,ij->j", weighted, rows) if diagonal else weighted.T @ rows
        return cls(documents, mean, scatter)

    @_allow_overflow
    def __add__(self, other: Scatter) -> Scatter:
        """Return the sums of both sets of rows."""
        documents = self.documents + other.documents
        share = np.divide(other.documents, documents, out=np.zeros_like(documents), where=documents > 0)
        shift = other.mean - self.mean
        scatter = self.scatter + other.scatter + self._outer(shift, self.documents * share)
        return Scatter(documents, self.mean + shift * share[:, None], scatter)

    @_allow_overflow
    def __sub__(self, other: Scatter) -> Scatter:
        """Return the sums without the rows of ``other``, which must have been added before.

        The result is exact up to rounding, and exactly zero for a class that loses all its weight. Raise ValueError if
        ``other`` has more weight or more scatter.
        """
        documents = subtract(self.documents, other.documents)
        has_rows = documents > 0
        ratio = np.divide(other.documents, documents, out=np.zeros_like(documents), where=has_rows)
        mean = np.where(has_rows[:, None], self.mean + (self.mean - other.mean) * ratio[:, None], 0.0)
        part = np.divide(other.documents, self.documents, out=np.zeros_like(documents), where=has_rows)
        scatter = self.scatter - other.scatter - self._outer(other.mean - mean, documents * part)
        scatter[~has_rows] = 0.0
        squares, all_squares = Scatter(documents, mean, scatter)._squares(), self._squares()
        if (squares < -MAX_ROUNDING * (all_squares + self.documents[:, None] * self.mean**2)).any():
            raise ValueError("these rows were not learned: a sum would be below zero without them")
        np.maximum(squares, 0.0, out=squares)  # rounding errors of constant features
        return Scatter(documents, mean, scatter)

    def _outer(self, shift: np.ndarray, factor: np.ndarray) -> np.ndarray:
        """Return factor_c δ_c δ_cᵀ of every class, in the shape of the scatter."""
        scaled = shift * factor[:, None]
        return scaled * shift if self.scatter.ndim == 2 else scaled[:, :, None] * shift[:, None, :]

    def _squares(self) -> np.ndarray:
        """Return the scatter of every feature alone, (C, d)."""
        return self.scatter if self.scatter.ndim == 2 else np.einsum("cii->ci", self.scatter)

    def deviation(self) -> np.ndarray:
        """Return the standard deviation of every feature within the classes, (d,).

        If it is 0, because the feature is constant in every class, return its deviation over all rows, or 1 if that is
        0, too.
        """
        within = self._squares().sum(axis=0) / (self.documents.sum() or 1.0)
        overall = self.overall_variance()
        is_constant = within <= MIN_UNEXPLAINED_SHARE * overall
        return np.sqrt(np.where(is_constant, np.where(overall > 0, overall, 1.0), within))

    def overall_variance(self) -> np.ndarray:
        """Return the variance of every feature over all rows, (d,), within and between classes."""
        squares = self._squares()
        n = self.documents.sum() or 1.0
        shift = self.mean - self.documents @ self.mean / n
        return (squares.sum(axis=0) + self.documents @ (shift * shift)) / n


def shrink(covariance: np.ndarray, shrinkage: float | str, n: float, deviation: np.ndarray) -> np.ndarray:
    """Return Σ shrunk towards independent columns of one variance, in units of ``deviation`` (d,).

    With R_ij = Σ_ij / (δ_i δ_j), δ the deviations, and v = tr(R)/d, the result is (1−s) R + s v I, times δ_i δ_j. "oas"
    computes the share s from R and n: the oracle approximating shrinkage of Chen, Wiesel, Eldar and Hero (2010) in the
    form of scikit-learn. It falls to 0 as n grows, so that the limit is the maximum-likelihood Σ. Ledoit and Wolf's
    shrinkage needs more than the sums. For a number s all δ are their root mean square, as in scikit-learn. If all rows
    are equal, v is 1. Raise ValueError for any other ``shrinkage``.

    >>> shrink(np.array([[4.0, 2.0], [2.0, 16.0]]), 0.5, 10, np.array([2.0, 4.0]))
    array([[ 7.,  1.],
           [ 1., 13.]])
    """
    if shrinkage == "oas":
        unit = deviation
    elif isinstance(shrinkage, Real) and 0 <= shrinkage <= 1:
        unit = np.full_like(deviation, np.sqrt(np.mean(deviation**2)))
    else:
        raise ValueError(f"shrinkage={shrinkage!r:.60}: give 'if_singular', 'oas', None or a number from 0 to 1")
    units, d = np.outer(unit, unit), len(covariance)
    correlation = covariance / units
    variance = float(np.trace(correlation)) / d
    if is_constant := variance <= MIN_UNEXPLAINED_SHARE:  # a rounding error, so s cannot be computed from it
        correlation, variance = np.zeros_like(correlation), 0.0
    if isinstance(shrinkage, str):
        mean_square = float(np.mean(correlation * correlation))
        excess = (n + 1) * (mean_square - variance * variance / d)
        s = 1.0 if excess <= 0 else min(1.0, (mean_square + variance * variance) / excess)
    else:
        s = float(shrinkage)
    return ((1 - s) * correlation + s * (1.0 if is_constant else variance) * np.eye(d)) * units


def whitening(covariance: np.ndarray) -> np.ndarray | None:
    """Return W, lower triangular, with WΣWᵀ = I, so that (x−μ)ᵀΣ⁻¹(x−μ) = |W(x−μ)|². Return None for a singular Σ.

    >>> whitening(np.array([[4.0, 0.0], [0.0, 16.0]]))
    array([[0.5 , 0.  ],
           [0.  , 0.25]])
    """
    deviation = np.sqrt(np.diagonal(covariance))
    if not deviation.all():
        return None
    try:  # factorise the correlations, so that the scale of features does not matter
        factor = np.linalg.cholesky(covariance / np.outer(deviation, deviation))
    except np.linalg.LinAlgError:
        return None
    if np.diagonal(factor).min() ** 2 <= MIN_UNEXPLAINED_SHARE:
        return None
    return np.linalg.inv(factor) / deviation
