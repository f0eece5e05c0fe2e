"""Quadratic discriminant analysis: a Gaussian per class, each with its own covariance."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from spamnb.estimators.discriminant import (
    LOG_2PI,
    DiscriminantAnalysis,
    QuadraticForm,
    centred_blocks,
    shrink,
    whitening,
)
from spamnb.formulas.scatter import Scatter


class _Densities(NamedTuple):
    covariance: np.ndarray  # (C, d, d); the identity matrix for classes without rows
    whiten: np.ndarray  # (C, d, d)
    log_determinant: np.ndarray  # (C,)


class QuadraticDiscriminantAnalysis(DiscriminantAnalysis):
    """Gaussian classes, each with its own covariance: P(x|c) = N(x | μ_c, Σ_c); the boundaries are quadrics.

    log P(x, c) = log P(c) − ½ (d log 2π + log|Σ_c| + (x−μ_c)ᵀ Σ_c⁻¹ (x−μ_c)), in nats, with Σ_c = (1/N_c)
    Σ_{i in c} (x_i−μ_c)(x_i−μ_c)ᵀ, the maximum-likelihood estimate, as in scikit-learn 1.9.

    Parameters
    ----------
    shrinkage : a number s from 0 to 1 for (1−s) Σ_c + s (tr Σ_c/d) I; "oas", the default, which finds s per class from
        Σ_c and N_c, so that small classes do not fail (one of equal rows takes the mean variance within all classes
        for tr Σ_c/d); or None for Σ_c as it stands
    class_prior : "mle", "dirichlet", "map", "uniform" or the probabilities (C,) themselves; None means "mle",
        or "uniform" where ``fit_prior`` is False
    prior_concentration : the Dirichlet's a of "dirichlet" and "map", one number or (C,)

    Attributes
    ----------
    classes_ (C,), class_count_ (C,), class_log_prior_ (C,) in nats, means_ (C, d), covariance_ (C, d, d) Σ_c, shrunk
    where that is asked for, n_features_in_, feature_names_in_ where X was a data frame.

    X is (n, d), dense. Raises ValueError for a singular Σ_c, naming the class and the remedy; for missing or infinite
    values and for X of another width. TypeError for sparse X.

    Source: Bishop, Pattern Recognition and Machine Learning, section 4.2; Murphy, section 4.2.

    >>> X = np.array([[0, 0], [2, 0], [0, 2], [2, 2], [-9, 1], [11, 1], [1, -9], [1, 11]])
    >>> y = ["in"] * 4 + ["around"] * 4  # one mean, two covariances
    >>> model = QuadraticDiscriminantAnalysis(shrinkage=None).fit(X, y)
    >>> model.predict([[1, 1], [1, 7]]).tolist(), model.covariance_.tolist()
    (['in', 'around'], [[[50.0, 0.0], [0.0, 50.0]], [[1.0, 0.0], [0.0, 1.0]]])
    """

    scatter_kind = "full"

    def _densities(self, sums: Scatter) -> _Densities:
        n_classes, d = sums.offset.shape
        covariance = np.tile(np.eye(d), (n_classes, 1, 1))
        whiten, log_determinant = covariance.copy(), np.zeros(n_classes)
        # What a class of one row, or of rows all alike, borrows from the others: their mean variance.
        spread = np.einsum("cii->", sums.scatter) / (sums.documents.sum() or 1.0) / d
        for c in np.flatnonzero(sums.documents):
            n = sums.documents[c]
            covariance[c] = shrink(sums.scatter[c] / n, self.shrinkage, n, spread)
            whiten[c], log_determinant[c] = whitening(covariance[c], n, int(c), bool(self.shrinkage))
        return _Densities(covariance, whiten, log_determinant)

    def _constant(self) -> np.ndarray:
        constant = self.class_log_prior_ - 0.5 * (
            LOG_2PI * self.n_features_in_ + self._density().log_determinant
        )
        return np.where(self.sums_.documents > 0, constant, -np.inf)

    def class_scores(self, X: Any) -> np.ndarray:
        whiten, constant = self._density().whiten, self._constant()
        whitened_offsets = np.einsum("cij,cj->ci", whiten, self.sums_.offset)
        joint = np.empty((len(X), len(constant)))
        for rows, block in centred_blocks(X, self.sums_.origin):
            for c, (matrix, offset) in enumerate(zip(whiten, whitened_offsets)):
                whitened = block @ matrix.T
                whitened -= offset
                joint[rows, c] = constant[c] - 0.5 * np.einsum("ij,ij->i", whitened, whitened)
        return joint

    def _sample(self, c: int, n: int, rng: np.random.Generator) -> np.ndarray:
        factor = np.linalg.cholesky(self.covariance_[c])
        return self.means_[c] + rng.standard_normal((n, self.n_features_in_)) @ factor.T

    def quadratic_form(self) -> QuadraticForm:
        """The scores as polynomials of x.

        >>> import spamnb
        >>> X, y = [[1.0], [2.0], [7.0], [9.0]], ["low", "low", "high", "high"]
        >>> model = spamnb.QuadraticDiscriminantAnalysis().fit(X, y)
        >>> [part.round(3).tolist() for part in model.quadratic_form() if part is not None]
        [[[[-0.5]], [[-2.0]]], [[8.0], [6.0]], [-33.612, -5.419]]
        """
        whiten, mean = self._density().whiten, self.means_
        precision = np.swapaxes(whiten, 1, 2) @ whiten
        linear = np.einsum("cij,cj->ci", precision, mean)
        return QuadraticForm(
            -0.5 * precision, linear, self._constant() - 0.5 * np.einsum("ci,ci->c", linear, mean)
        )
