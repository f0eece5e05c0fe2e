"""Linear discriminant analysis: a Gaussian per class, one covariance for all."""

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
    covariance: np.ndarray  # (d, d)
    whiten: np.ndarray  # (d, d)
    log_determinant: float
    centre: np.ndarray  # (d,): overall mean, as an offset from the sums' origin
    whitened_means: np.ndarray  # (C, d): W (μ_c − centre)


class LinearDiscriminantAnalysis(DiscriminantAnalysis):
    """Gaussian classes with a shared covariance: P(x|c) = N(x | μ_c, Σ), so the log-odds are linear in x.

    For two classes P(c₁|x) = σ(wᵀx + w₀), w = Σ⁻¹(μ₁−μ₀) and w₀ = −½μ₁ᵀΣ⁻¹μ₁ + ½μ₀ᵀΣ⁻¹μ₀ + ln P(c₁)/P(c₀);
    for more the softmax of w_cᵀx + b_c. Σ = (1/N) Σ_i (x_i−μ_{y_i})(x_i−μ_{y_i})ᵀ, the maximum-likelihood
    estimate, whatever the class prior: that of scikit-learn 1.9's ``solver="svd"``.

    Parameters
    ----------
    shrinkage : a number s from 0 to 1 for (1−s) Σ + s (tr Σ/d) I; "oas", the default, which finds s from Σ and N; or
        None for Σ as it stands
    class_prior : "mle", "dirichlet", "map", "uniform" or the probabilities (C,) themselves; None means "mle",
        or "uniform" where ``fit_prior`` is False
    prior_concentration : the Dirichlet's a of "dirichlet" and "map", one number or (C,)

    Attributes
    ----------
    classes_ (C,), class_count_ (C,), class_log_prior_ (C,) in nats, means_ (C, d), covariance_ (d, d) Σ, shrunk where
    that is asked for, coef_ and intercept_ w (1, d) and w₀ (1,) for two classes, else (C, d) and (C,), where
    w_c = Σ⁻¹(μ_c − mean of all rows); n_features_in_, feature_names_in_ where X was a data frame.

    X is (n, d), dense; scores are in nats. Raises ValueError for a singular Σ (fewer rows than columns, constant
    columns, columns that are sums of others) under ``shrinkage=None``: shrinking is the remedy, not a pseudo-inverse
    that drops directions silently; for missing or infinite values and for X of another width. TypeError for sparse X.

    Source: Bishop, Pattern Recognition and Machine Learning, section 4.2.

    >>> X = np.array([[-1, -1], [-2, -1], [-3, -2], [1, 1], [2, 1], [3, 2]])
    >>> model = LinearDiscriminantAnalysis(shrinkage=None).fit(X, [1, 1, 1, 2, 2, 2])
    >>> model.predict([[-0.8, -1]]).tolist(), model.coef_.round(6).tolist(), model.intercept_.round(6)
    ([1], [[0.0, 12.0]], array([0.]))
    """

    scatter_kind = "pooled"

    def _densities(self, sums: Scatter) -> _Densities:
        n = sums.documents.sum()
        covariance = shrink(sums.scatter / (n or 1.0), self.shrinkage, n)
        whiten, log_determinant = whitening(covariance, n, shrunk=bool(self.shrinkage))
        centre = sums.overall_offset()
        return _Densities(covariance, whiten, log_determinant, centre, (sums.offset - centre) @ whiten.T)

    def _weights(self) -> tuple[np.ndarray, np.ndarray]:
        """(C, d) weights and (C,) constants of x minus the overall mean."""
        density = self._density()
        constant = self.class_log_prior_ - 0.5 * np.square(density.whitened_means).sum(axis=1)
        seen = self.sums_.documents > 0
        return density.whitened_means @ density.whiten, np.where(seen, constant, -np.inf)

    @property
    def coef_(self) -> np.ndarray:
        """Weights: (1, d) for two classes, else (C, d)."""
        weights, _ = self._weights()
        return weights[1:] - weights[:1] if len(weights) == 2 else weights

    @property
    def intercept_(self) -> np.ndarray:
        """Constants: (1,) for two classes, else (C,)."""
        weights, constant = self._weights()
        constant = constant - weights @ (self.sums_.origin + self._density().centre)
        return constant[1:] - constant[:1] if len(constant) == 2 else constant

    def class_scores(self, X: Any) -> np.ndarray:
        weights, constant = self._weights()
        centre = self.sums_.origin + self._density().centre
        if len(constant) == 2 and np.isfinite(constant).all():
            # One product for the log-odds; the first class's score is the common term.
            weights, constant = weights[1:] - weights[:1], constant[1:] - constant[:1]
        # Centring every row costs as much as the product. Left out where the digits it would save are
        # beyond 1e-11 nats: rows of mean 1e8 need it, embeddings do not.
        if np.finfo(float).eps * np.max(np.abs(weights) @ np.abs(centre)) < 1e-11:
            score = X @ weights.T + (constant - weights @ centre)
        else:
            score = np.empty((len(X), len(constant)))
            for rows, block in centred_blocks(X, centre):
                score[rows] = block @ weights.T + constant
        return np.column_stack([np.zeros(len(X)), score]) if len(constant) < len(self.class_log_prior_) else score

    def predict_joint_log_proba(self, X: Any) -> np.ndarray:
        """log P(x, c) = log P(c) + log N(x | μ_c, Σ) in nats, (n, C), columns as in ``classes_``.

        >>> import spamnb
        >>> X, y = [[1.0], [2.0], [7.0], [9.0]], ["low", "low", "high", "high"]
        >>> model = spamnb.LinearDiscriminantAnalysis().fit(X, y)
        >>> model.predict_joint_log_proba([[1.5]]).shape
        (1, 2)
        """
        X = self._check_X(X)
        density = self._density()
        constant = self.class_log_prior_ - 0.5 * (LOG_2PI * X.shape[1] + density.log_determinant)
        constant = np.where(self.sums_.documents > 0, constant, -np.inf)
        joint = np.empty((len(X), len(constant)))
        for rows, block in centred_blocks(X, self.sums_.origin + density.centre):
            whitened = block @ density.whiten.T
            for c, mean in enumerate(density.whitened_means):
                joint[rows, c] = constant[c] - 0.5 * np.square(whitened - mean).sum(axis=1)
        return joint

    def _sample(self, c: int, n: int, rng: np.random.Generator) -> np.ndarray:
        factor = np.linalg.cholesky(self.covariance_)
        return self.means_[c] + rng.standard_normal((n, self.n_features_in_)) @ factor.T

    def quadratic_form(self) -> QuadraticForm:
        """The scores as polynomials of x, without the quadratic part, which all classes share.

        >>> import spamnb
        >>> X, y = [[1.0], [2.0], [7.0], [9.0]], ["low", "low", "high", "high"]
        >>> model = spamnb.LinearDiscriminantAnalysis().fit(X, y)
        >>> [part.round(3).tolist() for part in model.quadratic_form() if part is not None]
        [[[5.2], [-5.2]], [-33.843, 15.557]]
        """
        weights, constant = self._weights()
        return QuadraticForm(None, weights, constant - weights @ (self.sums_.origin + self._density().centre))
