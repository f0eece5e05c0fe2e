"""Gaussian classes: densities, their marginals, and the covariances of the three models, from sums of rows.

A matrix W with WΣWᵀ = I is computed from the covariance Σ of each class, so that (x−μ)ᵀΣ⁻¹(x−μ) = |W(x−μ)|². For
independent features covariances and W are their diagonals. Functions raise ValueError for a singular covariance; the
text before the colon says what is wrong, the text after it what a programmer can do.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from spamnb.model.sums import Scatter, shrink, whitening

LOG_2PI = float(np.log(2 * np.pi))
VAR_SMOOTHING = 1e-9  # of Gaussian naive Bayes: share of the largest variance that is added to every variance


class Covariances(NamedTuple):
    """The covariance Σ_c of each class; for a class without rows the identity, or the covariance that classes share."""

    covariance: np.ndarray  # (C, d, d), or (C, d) for independent features
    whitener: np.ndarray  # W_c, lower triangular, in the same shape


class QuadraticForm(NamedTuple):
    """Coefficients of the scores xᵀ quadratic_c x + linear_c x + constant_c, in nats."""

    quadratic: np.ndarray  # (C, d, d)
    linear: np.ndarray  # (C, d)
    constant: np.ndarray  # (C,)


class _Estimate(NamedTuple):
    """A maximum-likelihood covariance, the number of rows that it is computed from, and its name in errors."""

    covariance: np.ndarray  # (d, d)
    n: float
    name: str


def independent_covariances(sums: Scatter, classes: Sequence[Any], var_smoothing: float = VAR_SMOOTHING) -> Covariances:
    """Return the variances of independent features, to which a share of the largest variance is added."""
    n, addition = sums.documents[:, None], var_smoothing * float(sums.overall_variance().max())
    variance = np.divide(sums.scatter, n, out=np.ones_like(sums.scatter), where=n > 0) + np.where(n > 0, addition, 0)
    for c, n_constant in enumerate((variance == 0).sum(axis=1)):
        if n_constant:
            remedy = "rows that differ" if var_smoothing else "more rows, or var_smoothing above 0"
            raise ValueError(
                f"the covariance of class {classes[c]} from {sums.documents[c]:g} samples has {n_constant}"
                f" features of variance 0: give {remedy}"
            )
    return Covariances(variance, 1 / np.sqrt(variance))


def shared_covariance(sums: Scatter, shrinkage: float | str | None) -> Covariances:
    """Return the covariance that all classes share, (1/N) Σ_i (x_i−μ_{y_i})(x_i−μ_{y_i})ᵀ, after shrinkage."""
    n, n_classes = sums.documents.sum(), len(sums.documents)
    estimate = _Estimate(sums.scatter.sum(axis=0) / n, n, "the shared covariance")
    arrays = _shrink_all([estimate], shrinkage, sums.deviation())
    return Covariances(*(np.broadcast_to(array[0], (n_classes, *array[0].shape)) for array in arrays))


def separate_covariances(sums: Scatter, classes: Sequence[Any], shrinkage: float | str | None) -> Covariances:
    """Return a covariance for each class, (1/N_c) Σ_{i in c} (x_i−μ_c)(x_i−μ_c)ᵀ, after shrinkage."""
    has_rows, d = sums.documents > 0, sums.n_features
    estimates = [
        _Estimate(scatter / n, n, f"the covariance of class {name}")
        for name, scatter, n in zip(classes, sums.scatter, sums.documents)
        if n > 0
    ]
    result = Covariances(*(np.tile(np.eye(d), (len(has_rows), 1, 1)) for _ in Covariances._fields))
    for array, values in zip(result, _shrink_all(estimates, shrinkage, sums.deviation())):
        array[has_rows] = values
    return result


def _shrink_all(estimates: Sequence[_Estimate], shrinkage: float | str | None, deviation: np.ndarray) -> Covariances:
    """Return the covariances after shrinkage, and their W. Raise ValueError if a W does not exist.

    "if_singular" is "oas" if a covariance is singular, and otherwise None, which is maximum likelihood.
    """
    covariances = [estimate.covariance for estimate in estimates]
    whiteners = [whitening(covariance) for covariance in covariances]
    if isinstance(shrinkage, str) and shrinkage == "if_singular":
        shrinkage = "oas" if any(whitener is None for whitener in whiteners) else None
    if shrinkage is not None and any(covariance.any() for covariance in covariances):
        covariances = [shrink(estimate.covariance, shrinkage, estimate.n, deviation) for estimate in estimates]
        whiteners = [whitening(covariance) for covariance in covariances]
    for estimate, whitener in zip(estimates, whiteners):
        if whitener is None:
            remedy = "rows that differ" if shrinkage else "more rows, fewer columns, or shrinkage='oas'"
            estimated = f"{estimate.name} from {estimate.n:g} samples in {len(deviation)} features"
            raise ValueError(f"{estimated} is singular: give {remedy}")
    return Covariances(np.array(covariances), np.array(whiteners))


class Gaussians(NamedTuple):
    """C classes with the densities N(x | μ_c, Σ_c). The log prior of a class without rows is −∞.

    >>> two = Gaussians(np.log([0.5, 0.5]), np.array([[0.0], [2.0]]), np.ones((2, 1)), np.ones((2, 1)))
    >>> two.joint(np.array([[1.0], [np.nan]])).round(3).tolist()
    [[-2.112, -2.112], [-0.693, -0.693]]
    """

    log_prior: np.ndarray  # (C,)
    mean: np.ndarray  # (C, d)
    covariance: np.ndarray  # (C, d, d), or (C, d) for independent features
    whitener: np.ndarray  # in the same shape

    def constants(self) -> np.ndarray:
        """Return log P(c) plus the log density of class c at its mean, (C,)."""
        diagonal = self.whitener if self.whitener.ndim == 2 else np.einsum("cii->ci", self.whitener)
        return self.log_prior - 0.5 * LOG_2PI * self.mean.shape[1] + np.log(diagonal).sum(axis=1)  # |Σ| = 1/|W|²

    def joint(self, X: np.ndarray) -> np.ndarray:
        """Return log P(x, c) of each row and class, (n, C). NaN in a row is a feature that is not known."""
        scores = np.tile(self.constants(), (len(X), 1))
        for c, (mean, whitener) in enumerate(zip(self.mean, self.whitener)):
            deviation = (X - mean) * whitener if whitener.ndim == 1 else (X - mean) @ whitener.T
            scores[:, c] -= 0.5 * np.einsum("ij,ij->i", deviation, deviation)
        for rows, is_known in patterns(X):
            scores[rows] = self.marginal(is_known).joint(X[np.ix_(rows, is_known)])
        return scores

    def linear_coefficients(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the weights (C, d) and constants (C,) of log P(c|x), up to a term that is the same for all classes.

        The classes share W. The weights are computed from μ_c − m, where m is the mean of the means, so that means far
        from zero cause smaller rounding errors.
        """
        whitener, has_rows = self.whitener[0], self.log_prior > -np.inf
        center = self.mean[has_rows].mean(axis=0)
        means = np.where(has_rows[:, None], self.mean - center, 0.0) @ whitener.T
        weights = means @ whitener
        return weights, self.log_prior - 0.5 * np.einsum("ij,ij->i", means, means) - weights @ center

    def marginal(self, columns: np.ndarray) -> Gaussians:
        """Return the classes of some columns, a mask (d,): of a Gaussian the rows and columns of Σ."""
        if self.covariance.ndim == 2:
            return Gaussians(self.log_prior, *(array[:, columns] for array in self[1:]))
        covariance = self.covariance[:, columns][:, :, columns]
        # A marginal of a regular Σ is regular.
        whiteners = [np.linalg.inv(np.linalg.cholesky(each)) for each in covariance]
        shape = covariance.shape
        return Gaussians(self.log_prior, self.mean[:, columns], covariance, np.reshape(whiteners, shape))

    def expected(self, X: np.ndarray, posterior: np.ndarray) -> np.ndarray:
        """Return X with the expected value, Σ_c P(c|x_k) E[x_j|x_k, c], in place of each NaN; x_k are the others.

        ``posterior`` (n, C) is P(c|x_k).
        """
        restored = X.copy()
        for rows, is_known in patterns(X):
            part, known = self.marginal(is_known), X[np.ix_(rows, is_known)]
            restored[np.ix_(rows, ~is_known)] = 0
            for c, whitener in enumerate(part.whitener):
                values = np.tile(self.mean[c, ~is_known], (len(rows), 1))
                if self.covariance.ndim == 3:  # μ_m + Σ_mk Σ_kk⁻¹ (x_k − μ_k)
                    gain = self.covariance[c][np.ix_(~is_known, is_known)] @ whitener.T @ whitener
                    values += (known - part.mean[c]) @ gain.T
                restored[np.ix_(rows, ~is_known)] += posterior[rows, c, None] * values
        return restored

    def quadratic_form(self) -> QuadraticForm:
        """Return log P(x, c) as polynomials of x."""
        whitener = self.whitener
        if whitener.ndim == 2:
            whitener = whitener[:, :, None] * np.eye(whitener.shape[1])
        precision = np.swapaxes(whitener, 1, 2) @ whitener
        linear = np.einsum("cij,cj->ci", precision, self.mean)
        constant = self.constants() - 0.5 * np.einsum("ci,ci->c", linear, self.mean)
        return QuadraticForm(-0.5 * precision, linear, constant)


def patterns(X: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return the rows with NaN by their known columns: pairs of row numbers and a mask (d,)."""
    is_missing = np.isnan(X)
    rows = np.flatnonzero(is_missing.any(axis=1))
    if not len(rows):
        return []
    masks, codes = np.unique(is_missing[rows], axis=0, return_inverse=True)
    return [(rows[codes.ravel() == k], ~mask) for k, mask in enumerate(masks)]
