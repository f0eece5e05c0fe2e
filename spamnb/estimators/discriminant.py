"""What the Gaussian models share: covariances with an inverse, rows in blocks, scores as polynomials of x.

A covariance is turned into W with WΣWᵀ = I, so that (x−μ)ᵀΣ⁻¹(x−μ) = |W(x−μ)|². One that is singular is
refused with the remedy named. ``fit`` refuses at once; ``partial_fit`` and ``forget`` keep their sums,
since more rows may mend it, and the predictions refuse until then.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike

from spamnb.estimators.sum_classifier import GenerativeClassifier
from spamnb.formulas.scatter import Scatter

LOG_2PI = float(np.log(2 * np.pi))
# The least share of a feature's variance that the other features must leave unexplained. Rounding leaves about 1e-16 of
# an exact copy of another column; a share of 1e-12 still has four good digits.
MIN_OWN_VARIANCE = 1e-12
# Numbers in a block of rows: 2 MB. Smaller blocks are as fast on an idle machine, but slow where threads share cores:
# QDA of 20,000 rows of 100 columns then takes 1.4 s with blocks of 256 kB and .2 s with 2 MB.
BLOCK_SIZE = 1 << 18


class SingularCovariance(ValueError):
    """A covariance without an inverse; ``class_number`` says whose, None for the shared one."""

    def __init__(self, why: str, class_number: int | None = None) -> None:
        super().__init__(why)
        self.class_number = class_number


class QuadraticForm(NamedTuple):
    """Score of class c: xᵀ quadratic_c x + linear_c x + constant_c, in nats, but for a common term."""

    quadratic: np.ndarray | None  # (C, d, d); None where the score is linear
    linear: np.ndarray  # (C, d)
    constant: np.ndarray  # (C,)


def shrink(
    covariance: np.ndarray, shrinkage: float | str | None, n: float, spread: float = 0.0
) -> np.ndarray:
    """(1−s) Σ + s v I with v = tr(Σ)/d, for a share s from 0 to 1; "oas" finds s from Σ and n.

    "oas" is the oracle approximating shrinkage of Chen, Wiesel, Eldar and Hero (2010) in the form that
    scikit-learn computes; Ledoit and Wolf's needs more than the sums. It goes to 0 as n grows, so the
    maximum-likelihood Σ is its limit. Where v is zero (rows all alike) ``spread``, a variance from
    elsewhere, takes its place. Raises ValueError for any other ``shrinkage``.
    """
    if shrinkage is None:
        return covariance
    d = len(covariance)
    scale = float(np.trace(covariance)) / d
    if alike := scale <= MIN_OWN_VARIANCE * spread:  # what sums leave of zero is rounding, and no s is to be made of it
        covariance, scale = np.zeros_like(covariance), 0.0
    if isinstance(shrinkage, str):
        if shrinkage != "oas":
            raise ValueError(f"shrinkage={shrinkage!r} is unknown: use None, 'oas' or a number from 0 to 1")
        mean_square = float(np.mean(covariance * covariance))
        excess = (n + 1) * (mean_square - scale * scale / d)
        s = 1.0 if excess <= 0 else min(1.0, (mean_square + scale * scale) / excess)
    else:
        s = float(shrinkage)
        if not 0 <= s <= 1:
            raise ValueError(f"shrinkage={shrinkage!r}: must be between 0 and 1")
    return (1 - s) * covariance + s * (spread if alike else scale) * np.eye(d)


def whitening(
    covariance: np.ndarray, n: float, class_number: int | None = None, shrunk: bool = False
) -> tuple[np.ndarray, float]:
    """(W, log|Σ|) with WΣWᵀ = I, W lower triangular. Raises SingularCovariance; for a Σ that was ``shrunk`` it does
    not name shrinking as the remedy.

    >>> W, log_determinant = whitening(np.array([[4.0, 0.0], [0.0, 9.0]]), n=10)
    >>> W.round(3).tolist(), round(log_determinant, 6) == round(float(np.log(36)), 6)
    ([[0.5, 0.0], [0.0, 0.333]], True)
    """
    d = len(covariance)
    deviation = np.sqrt(np.diagonal(covariance))
    constant = int(np.count_nonzero(deviation == 0))
    if not constant:
        # Of the correlations, so that features on different scales are judged alike.
        correlation = covariance / np.outer(deviation, deviation)
        try:
            factor = np.linalg.cholesky(correlation)
        except np.linalg.LinAlgError:
            factor = np.zeros((d, d))
        pivots = np.diagonal(factor)
        if pivots.min() ** 2 > MIN_OWN_VARIANCE:
            log_determinant = 2 * float(np.log(pivots).sum() + np.log(deviation).sum())
            return np.linalg.inv(factor) / deviation, log_determinant
        rank = int(np.count_nonzero(np.linalg.eigvalsh(correlation) > MIN_OWN_VARIANCE))
    else:
        rank = d - constant
    raise SingularCovariance(
        f"from {n:g} samples in {d} features is singular (rank {min(rank, d - 1)}"
        + (f", {constant} constant" if constant else "")
        + "): "
        + (
            "more rows, and rows that differ"
            if shrunk
            else "more rows, fewer columns, or shrinkage='oas' or a number such as shrinkage=0.1"
        ),
        class_number,
    )


def centred_blocks(X: np.ndarray, centre: np.ndarray) -> Iterator[tuple[slice, np.ndarray]]:
    """(rows, X[rows] − centre) a block at a time, in one buffer that the next block overwrites."""
    height = max(1, BLOCK_SIZE // X.shape[1])
    buffer = np.empty((min(height, len(X)), X.shape[1]))
    for start in range(0, len(X), height):
        rows = slice(start, min(start + height, len(X)))
        yield rows, np.subtract(X[rows], centre, out=buffer[: rows.stop - start])


class GaussianClassifier(GenerativeClassifier):
    """fit, partial_fit, merge, forget and sample for classes that are Gaussian in some way.

    Subclasses give ``scatter_kind`` (what of the scatter they need: "full", "pooled" or "diagonal", see
    ``formulas.scatter``), ``_densities(sums)``, ``class_scores`` and ``quadratic_form``.
    """

    _sparse = False
    scatter_kind = "full"
    sums_: Scatter

    def _sums(self, X: Any, y: np.ndarray, n_classes: int, weight: np.ndarray | None) -> Scatter:
        return Scatter.from_rows(X, y, n_classes, weight, self.scatter_kind)

    def _derive(self, sums: Any) -> None:
        if not np.isfinite(sums.scatter).all():
            raise ValueError("the squares of X overflow: scale its columns to below 1e150")
        density: Any
        try:
            density = self._densities(sums)
        except SingularCovariance as refusal:
            density = refusal
        super()._derive(sums)
        self._derived = density

    def _densities(self, sums: Scatter) -> Any:
        """Whatever the predictions need, from the sums; raises SingularCovariance."""
        raise NotImplementedError

    def _density(self) -> Any:
        """What ``_densities`` gave, or its refusal as an error that names the class."""
        if not hasattr(self, "_derived"):
            raise AttributeError(f"this {type(self).__name__} is not fitted yet")
        if not self.sums_.documents.any():
            raise ValueError(f"this {type(self).__name__} has forgotten all rows: learn some before it is asked")
        if isinstance(self._derived, SingularCovariance):
            c = self._derived.class_number
            whose = "the shared covariance" if c is None else f"the covariance of class {self.classes_[c]}"
            raise ValueError(f"{whose} {self._derived}")
        return self._derived

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn from X (n, d) and its labels alone. Raises ValueError for a singular covariance.

        >>> import spamnb
        >>> X, y = [[1.0], [2.0], [7.0], [9.0]], ["low", "low", "high", "high"]
        >>> model = spamnb.LinearDiscriminantAnalysis().fit(X, y)
        >>> model.means_.tolist()
        [[8.0], [1.5]]
        """
        super().fit(X, y, sample_weight)
        self._density()
        return self

    @property
    def means_(self) -> np.ndarray:
        """Mean of every class, (C, d); zero for a class without rows."""
        return self.sums_.mean

    def decision_function(self, X: Any) -> np.ndarray:
        """Log-odds of ``classes_[1]`` over ``classes_[0]``, (n,); for more classes their scores, (n, C).

        >>> import spamnb
        >>> X, y = [[1.0], [2.0], [7.0], [9.0]], ["low", "low", "high", "high"]
        >>> model = spamnb.LinearDiscriminantAnalysis().fit(X, y)
        >>> (model.decision_function(X) > 0).tolist()
        [True, True, False, False]
        """
        joint = self.class_scores(self._check_X(X))
        return joint[:, 1] - joint[:, 0] if joint.shape[1] == 2 else joint

    def quadratic_form(self) -> QuadraticForm:
        """The scores as polynomials of x, for explanations."""
        raise NotImplementedError


class DiscriminantAnalysis(GaussianClassifier):
    """What linear and quadratic discriminant analysis share: covariances that may be shrunk."""

    def __init__(
        self,
        shrinkage: float | str | None = "oas",
        *,
        fit_prior: bool = True,
        class_prior: ArrayLike | str | None = None,
        prior_concentration: float | ArrayLike = 1.0,
    ) -> None:
        self.shrinkage = shrinkage
        self.fit_prior = fit_prior
        self.class_prior = class_prior
        self.prior_concentration = prior_concentration

    @property
    def covariance_(self) -> np.ndarray:
        """Σ (d, d), or Σ_c (C, d, d) where every class has its own; shrunk where that is asked for."""
        return self._density().covariance
