"""Gaussian classes from sums of their rows: covariances, scores, and the scores as polynomials.

A matrix W with WΣWᵀ = I is computed from the covariance Σ of each class, so that (x−μ)ᵀΣ⁻¹(x−μ) = |W(x−μ)|². The score
of a row is log P(x, c) = log P(c) − ½ (d log 2π + log|Σ_c| + |W_c(x−μ_c)|²), in nats. Functions raise ValueError for a
singular covariance; the text before the colon says what is wrong, the text after it what a programmer can do.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from spamnb.formulas.sums import Scatter, shrink, whitening

LOG_2PI = float(np.log(2 * np.pi))
VAR_SMOOTHING = 1e-9  # of Gaussian naive Bayes: share of the largest variance that is added to every variance


class Covariances(NamedTuple):
    """The covariance Σ_c of each class; for a class without rows the identity, or the covariance that classes share.

    For independent features both arrays contain the diagonals, (C, d).
    """

    covariance: np.ndarray  # (C, d, d)
    whitener: np.ndarray  # (C, d, d) W_c, lower triangular


class QuadraticForm(NamedTuple):
    """Coefficients of the scores xᵀ quadratic_c x + linear_c x + constant_c, in nats."""

    quadratic: np.ndarray  # (C, d, d)
    linear: np.ndarray  # (C, d)
    constant: np.ndarray  # (C,)


def independent_covariances(sums: Scatter, classes: Any, var_smoothing: float = VAR_SMOOTHING) -> Covariances:
    """Return the variances of independent features, to which a share of the largest variance is added."""
    n = sums.documents[:, None]
    variance = np.divide(sums.scatter, n, out=np.ones_like(sums.scatter), where=n > 0)
    variance += np.where(n > 0, var_smoothing * float(sums.overall_variance().max()), 0)
    for c, n_constant in enumerate((variance == 0).sum(axis=1)):
        if n_constant:
            remedy = "rows that differ" if var_smoothing else "more rows, or var_smoothing above 0"
            raise ValueError(
                f"the covariance of class {classes[c]} from {sums.documents[c]:g} samples has {n_constant}"
                f" features of variance 0: give {remedy}"
            )
    return Covariances(variance, 1 / np.sqrt(variance))


class CovariancePart(NamedTuple):
    """A covariance before shrinkage, the number of rows that it is computed from, and its name in errors."""

    covariance: np.ndarray  # (d, d)
    n: float
    name: str


def shared_covariance(sums: Scatter, shrinkage: float | str | None) -> Covariances:
    """Return the covariance that all classes share, as that of each class."""
    n, n_classes = sums.documents.sum(), len(sums.documents)
    part = CovariancePart(sums.scatter.sum(axis=0) / n, n, "the shared covariance")
    arrays = _shrink([part], shrinkage, sums.deviation())
    return Covariances(*(np.broadcast_to(array[0], (n_classes, *array.shape[1:])) for array in arrays))


def separate_covariances(sums: Scatter, classes: Any, shrinkage: float | str | None) -> Covariances:
    """Return the covariance of each class."""
    has_rows, d = sums.documents > 0, sums.n_features
    parts = [
        CovariancePart(scatter / n, n, f"the covariance of class {label}")
        for label, scatter, n in zip(classes, sums.scatter, sums.documents)
        if n > 0
    ]
    result = Covariances(*(np.tile(np.eye(d), (len(has_rows), 1, 1)) for _ in Covariances._fields))
    for array, values in zip(result, _shrink(parts, shrinkage, sums.deviation())):
        array[has_rows] = values
    return result


def _shrink(parts: Sequence[CovariancePart], shrinkage: float | str | None, deviation: np.ndarray) -> Covariances:
    """Return the covariances after ``shrinkage``, and their W. Raise ValueError if a W does not exist."""
    covariances = [part.covariance for part in parts]
    whiteners = [whitening(covariance) for covariance in covariances]
    is_singular = any(whitener is None for whitener in whiteners)
    if isinstance(shrinkage, str) and shrinkage == "if_singular":
        shrinkage = "oas" if is_singular else None
    if shrinkage is not None and any(covariance.any() for covariance in covariances):
        covariances = [shrink(part.covariance, shrinkage, part.n, deviation) for part in parts]
        whiteners = [whitening(covariance) for covariance in covariances]
    for part, whitener in zip(parts, whiteners):
        if whitener is None:
            remedy = "rows that differ" if shrinkage else "more rows, fewer columns, or shrinkage='oas'"
            what = f"{part.name} from {part.n:g} samples in {len(deviation)} features"
            raise ValueError(f"{what} is singular: give {remedy}")
    return Covariances(np.array(covariances), np.array(whiteners))


def scores_at_means(sums: Scatter, whitener: np.ndarray, log_prior: np.ndarray) -> np.ndarray:
    """Return log P(c) and the log density of class c at its mean, added, (C,); −inf for a class without rows."""
    diagonal = whitener if whitener.ndim == 2 else np.einsum("cii->ci", whitener)
    log_normalizer = 0.5 * LOG_2PI * sums.n_features - np.log(diagonal).sum(axis=1)  # |Σ| = 1/|W|²
    return np.where(sums.documents > 0, log_prior - log_normalizer, -np.inf)


def gaussian_scores(X: np.ndarray, sums: Scatter, whitener: np.ndarray, log_prior: np.ndarray) -> np.ndarray:
    """Return the scores (n, C) of rows X (n, d)."""
    scores = np.tile(scores_at_means(sums, whitener, log_prior), (len(X), 1))
    for c, (mean, factor) in enumerate(zip(sums.mean, whitener)):
        deviation = (X - mean) * factor if factor.ndim == 1 else (X - mean) @ factor.T
        scores[:, c] -= 0.5 * np.einsum("ij,ij->i", deviation, deviation)
    return scores


def whiten_means(sums: Scatter, whitener: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the mean m of all rows (d,), and W(μ_c−m) (C, d) of a shared W, which is 0 for a class without rows."""
    mean = sums.documents @ sums.mean / sums.documents.sum()
    return mean, np.where(sums.documents[:, None] > 0, sums.mean - mean, 0.0) @ whitener.T


def linear_coefficients(sums: Scatter, whitener: np.ndarray, log_prior: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the weights (C, d) and constants (C,) of log P(c|x), up to a term that is the same for all classes.

    The classes share W. The weights are computed from μ_c−m, so that means far from zero cause smaller rounding errors.
    """
    mean, means = whiten_means(sums, whitener)
    weights = means @ whitener
    constants = log_prior - 0.5 * np.einsum("ij,ij->i", means, means) - weights @ mean
    return weights, np.where(sums.documents > 0, constants, -np.inf)


def quadratic_form(sums: Scatter, whitener: np.ndarray, log_prior: np.ndarray) -> QuadraticForm:
    """Return the scores as polynomials of x."""
    constant = scores_at_means(sums, whitener, log_prior)
    if whitener.ndim == 2:
        whitener = whitener[:, :, None] * np.eye(whitener.shape[1])
    precision = np.swapaxes(whitener, 1, 2) @ whitener
    linear = np.einsum("cij,cj->ci", precision, sums.mean)
    return QuadraticForm(-0.5 * precision, linear, constant - 0.5 * np.einsum("ci,ci->c", linear, sums.mean))
