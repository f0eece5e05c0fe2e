"""Gaussian naive Bayes: independent features, each with a mean and a variance per class."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from spamnb.estimators.discriminant import (
    LOG_2PI,
    GaussianClassifier,
    QuadraticForm,
    SingularCovariance,
    centred_blocks,
)
from spamnb.formulas.scatter import Scatter


class _Densities(NamedTuple):
    variance: np.ndarray  # (C, d), smoothed; 1 for classes without rows
    epsilon: float


class GaussianNB(GaussianClassifier):
    """Naive Bayes for real features: P(x|c) = Π_j N(x_j | μ_jc, σ²_jc).

    The variance is the maximum-likelihood one (divided by N_c) plus ``var_smoothing`` times the largest variance of any
    feature over all rows. Log-probabilities are in nats.

    Parameters
    ----------
    var_smoothing : the share of the largest variance that is added to every one, at least 0
    class_prior : "mle", "dirichlet", "map", "uniform" or the probabilities (C,) themselves; None means "mle",
        or "uniform" where ``fit_prior`` is False
    prior_concentration : the Dirichlet's a of "dirichlet" and "map", one number or (C,)

    Attributes
    ----------
    classes_ (C,), class_count_ (C,), class_log_prior_ (C,) in nats, theta_ (C, d) the means, var_ (C, d) the variances,
    epsilon_ what was added to them, n_features_in_, feature_names_in_ where X was a data frame.

    X is (n, d), dense. Unlike scikit-learn's, the smoothing after several ``partial_fit`` is that of all rows and not
    of the last batch's, so the batches make no difference.

    Raises ValueError where a variance is zero even so: constant features with ``var_smoothing=0``, or rows
    all equal; for missing or infinite values and for X of another width. TypeError for sparse X.

    Source: Murphy, Machine Learning: A Probabilistic Perspective, section 3.5.

    >>> X = np.array([[-1.0, 0.0], [-2.0, 1.0], [3.0, 0.0], [4.0, 1.0]])
    >>> model = GaussianNB().fit(X, ["low", "low", "high", "high"])
    >>> model.predict([[-3.0, 0.5]]).tolist(), model.theta_.tolist(), model.var_.round(6).tolist()
    (['low'], [[3.5, 0.5], [-1.5, 0.5]], [[0.25, 0.25], [0.25, 0.25]])
    >>> model.forget(X[:1], ["low"]).partial_fit(X[:1], ["low"]).theta_.tolist()
    [[3.5, 0.5], [-1.5, 0.5]]
    """

    scatter_kind = "diagonal"

    def __init__(
        self,
        var_smoothing: float = 1e-9,
        *,
        fit_prior: bool = True,
        class_prior: ArrayLike | str | None = None,
        prior_concentration: float | ArrayLike = 1.0,
    ) -> None:
        self.var_smoothing = var_smoothing
        self.fit_prior = fit_prior
        self.class_prior = class_prior
        self.prior_concentration = prior_concentration

    @property
    def theta_(self) -> np.ndarray:
        """Means (C, d), under scikit-learn's name."""
        return self.means_

    @property
    def var_(self) -> np.ndarray:
        """Smoothed variances (C, d)."""
        return self._density().variance

    @property
    def epsilon_(self) -> float:
        """What smoothing added to every variance."""
        return self._density().epsilon

    def _densities(self, sums: Scatter) -> _Densities:
        if not self.var_smoothing >= 0:
            raise ValueError(f"var_smoothing={self.var_smoothing!r}: must not be negative")
        epsilon = self.var_smoothing * float(sums.variance().max())
        variance = np.ones_like(sums.scatter)
        for c in np.flatnonzero(sums.documents):
            variance[c] = sums.scatter[c] / sums.documents[c] + epsilon
            constant = int(np.count_nonzero(variance[c] == 0))
            if constant:
                remedy = "more rows, and rows that differ" if self.var_smoothing else "more rows, or some var_smoothing"
                raise SingularCovariance(
                    f"from {sums.documents[c]:g} samples has {constant} features of variance 0: {remedy}", int(c)
                )
        return _Densities(variance, epsilon)

    def class_scores(self, X: Any) -> np.ndarray:
        variance = self._density().variance
        scale = np.sqrt(0.5 / variance)
        constant = self.class_log_prior_ - 0.5 * (LOG_2PI * X.shape[1] + np.log(variance).sum(axis=1))
        constant = np.where(self.sums_.documents > 0, constant, -np.inf)
        joint = np.empty((len(X), len(constant)))
        for rows, block in centred_blocks(X, self.sums_.origin):
            shifted = np.empty_like(block)
            for c, (offset, factor) in enumerate(zip(self.sums_.offset, scale)):
                np.subtract(block, offset, out=shifted)
                shifted *= factor
                joint[rows, c] = constant[c] - np.einsum("ij,ij->i", shifted, shifted)
        return joint

    def _sample(self, c: int, n: int, rng: np.random.Generator) -> np.ndarray:
        return self.means_[c] + rng.standard_normal((n, self.n_features_in_)) * np.sqrt(self.var_[c])

    def quadratic_form(self) -> QuadraticForm:
        """The scores as polynomials of x; the quadratic part is diagonal.

        >>> import spamnb
        >>> X, y = [[1.0], [2.0], [7.0], [9.0]], ["low", "low", "high", "high"]
        >>> model = spamnb.GaussianNB().fit(X, y)
        >>> [part.round(3).tolist() for part in model.quadratic_form() if part is not None]
        [[[[-0.5]], [[-2.0]]], [[8.0], [6.0]], [-33.612, -5.419]]
        """
        precision, mean = 1 / self.var_, self.means_
        quadratic = -0.5 * precision[:, :, None] * np.eye(precision.shape[1])
        constant = self.class_log_prior_ + 0.5 * np.sum(
            np.log(precision) - LOG_2PI - mean * mean * precision, axis=1
        )
        return QuadraticForm(quadratic, mean * precision, constant)
