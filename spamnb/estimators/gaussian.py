"""Gaussian classes: naive Bayes with independent features, linear and quadratic discriminant analysis.

Each class's covariance is turned into W with WΣWᵀ = I, so that (x−μ)ᵀΣ⁻¹(x−μ) = |W(x−μ)|². One that is singular is
refused with the remedy named. ``fit`` refuses at once; ``partial_fit`` and ``forget`` keep their sums,
since more rows may mend it, and the predictions refuse until then.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike

from spamnb.estimators.base import DecisionFunction, SumClassifier
from spamnb.estimators.validation import check_number
from spamnb.formulas.sums import Scatter, shrink, whitening

LOG_2PI = float(np.log(2 * np.pi))


class Covariances(NamedTuple):
    """Of every class; classes without rows have the identity. Of independent features the diagonals (C, d) alone."""

    covariance: np.ndarray  # (C, d, d)
    whiten: np.ndarray  # (C, d, d) W, lower triangular


class QuadraticForm(NamedTuple):
    """Score of class c: xᵀ quadratic_c x + linear_c x + constant_c, in nats, but for a common term."""

    quadratic: np.ndarray  # (C, d, d)
    linear: np.ndarray  # (C, d)
    constant: np.ndarray  # (C,)


class GaussianClassifier(SumClassifier, DecisionFunction):
    """fit, partial_fit and forget for classes that are Gaussian in some way, by ``_covariances``."""

    _sparse = False
    _independent = False

    def _sums(self, X: Any, codes: np.ndarray, n_classes: int, weight: np.ndarray | None, like: Any) -> Scatter:
        return Scatter.from_rows(X, codes, n_classes, weight, self._independent)

    def _derive(self, sums: Scatter) -> None:
        if not np.isfinite(sums.scatter).all():
            raise ValueError("the squares of X overflow: scale its columns to below 1e150")
        self.class_log_prior_ = self._class_log_prior(sums.documents)
        self._derived: Covariances | None = None

    def _draw(self, c: int, n: int, rng: np.random.Generator) -> np.ndarray:
        mean, covariance = self.means_[c], self._density().covariance[c]
        if self._independent:
            return rng.normal(mean, np.sqrt(covariance), (n, len(mean)))
        return rng.multivariate_normal(mean, covariance, n, method="cholesky")

    def _covariances(self, sums: Scatter) -> Covariances:
        """The covariances, from the sums; ValueError where one has no inverse."""
        raise NotImplementedError

    def _density(self) -> Covariances:
        """The covariances, made when they are first asked for."""
        self._check_fitted()
        if not self.sums_.documents.any():
            raise ValueError(f"this {type(self).__name__} has forgotten all rows: learn some before it is asked")
        if self._derived is None:
            self._derived = self._covariances(self.sums_)
        return self._derived

    def _constant(self) -> np.ndarray:
        """log P(c) + log N(μ_c | μ_c, Σ_c), (C,)."""
        whiten = self._density().whiten
        diagonal = whiten if self._independent else np.einsum("cii->ci", whiten)
        log_normalizer = 0.5 * LOG_2PI * self.n_features_in_ - np.log(diagonal).sum(axis=1)  # |Σ| = 1/|W|²
        return np.where(self.sums_.documents > 0, self.class_log_prior_ - log_normalizer, -np.inf)

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn from X (n, d) and its labels alone. Raises ValueError for a singular covariance."""
        super().fit(X, y, sample_weight)
        self._density()
        return self

    @property
    def means_(self) -> np.ndarray:
        """Mean of every class, (C, d); zero for a class without rows."""
        return self.sums_.mean

    def class_scores(self, X: Any) -> np.ndarray:
        joint = np.tile(self._constant(), (len(X), 1))
        for c, (mean, whiten) in enumerate(zip(self.means_, self._density().whiten)):
            whitened = (X - mean) * whiten if self._independent else (X - mean) @ whiten.T
            joint[:, c] -= 0.5 * np.einsum("ij,ij->i", whitened, whitened)
        return joint

    def quadratic_form(self) -> QuadraticForm:
        """The scores as polynomials of x, for explanations.

        >>> import spamnb
        >>> model = spamnb.GaussianNB().fit([[1.0], [2.0], [7.0], [9.0]], ["low", "low", "high", "high"])
        >>> [part.round(3).tolist() for part in model.quadratic_form()]
        [[[[-0.5]], [[-2.0]]], [[8.0], [6.0]], [-33.612, -5.419]]
        """
        whiten, mean = self._density().whiten, self.means_
        if self._independent:
            whiten = whiten[:, :, None] * np.eye(whiten.shape[1])
        precision = np.swapaxes(whiten, 1, 2) @ whiten
        linear = np.einsum("cij,cj->ci", precision, mean)
        return QuadraticForm(-0.5 * precision, linear, self._constant() - 0.5 * np.einsum("ci,ci->c", linear, mean))


@dataclass(eq=False, repr=False)
class GaussianNB(GaussianClassifier):
    """Naive Bayes for real features: P(x|c) = Π_j N(x_j | μ_jc, σ²_jc).

    The variance is the maximum-likelihood one (divided by N_c) plus ``var_smoothing`` times the largest variance of any
    feature over all rows. Log-probabilities are in nats.

    Parameters
    ----------
    var_smoothing : the share of the largest variance that is added to every one, at least 0

    X is (n, d), dense. Unlike scikit-learn's, the smoothing after several ``partial_fit`` is that of all rows and not
    of the last batch's, so the batches make no difference.

    Raises ValueError where a variance is zero even so: constant features with ``var_smoothing=0``, or rows all equal.

    Source: Murphy, Machine Learning: A Probabilistic Perspective, section 3.5.

    >>> X = np.array([[-1.0, 0.0], [-2.0, 1.0], [3.0, 0.0], [4.0, 1.0]])
    >>> model = GaussianNB().fit(X, ["low", "low", "high", "high"])
    >>> model.predict([[-3.0, 0.5]]).tolist(), model.theta_.tolist(), model.var_.round(6).tolist()
    (['low'], [[3.5, 0.5], [-1.5, 0.5]], [[0.25, 0.25], [0.25, 0.25]])
    >>> model.forget(X[:1], ["low"]).partial_fit(X[:1], ["low"]).theta_.tolist()
    [[3.5, 0.5], [-1.5, 0.5]]
    """

    var_smoothing: float = 1e-9

    _independent = True

    @property
    def theta_(self) -> np.ndarray:
        """Means (C, d), under scikit-learn's name."""
        return self.means_

    @property
    def var_(self) -> np.ndarray:
        """Smoothed variances (C, d)."""
        return self._density().covariance

    @property
    def epsilon_(self) -> float:
        """What smoothing added to every variance."""
        return self.var_smoothing * float(self.sums_.overall_variance().max())

    def _covariances(self, sums: Scatter) -> Covariances:
        check_number(self, "var_smoothing", zero=True)
        n = sums.documents[:, None]
        variance = np.divide(sums.scatter, n, out=np.ones_like(sums.scatter), where=n > 0)
        variance += np.where(n > 0, self.epsilon_, 0)
        for c, constant in enumerate((variance == 0).sum(axis=1)):
            if constant:
                remedy = "more rows, and rows that differ" if self.var_smoothing else "more rows, or some var_smoothing"
                raise ValueError(
                    f"the covariance of class {self.classes_[c]} from {sums.documents[c]:g} samples has {constant}"
                    f" features of variance 0: {remedy}"
                )
        return Covariances(variance, 1 / np.sqrt(variance))


@dataclass(eq=False, repr=False)
class DiscriminantAnalysis(GaussianClassifier):
    """What linear and quadratic discriminant analysis share: covariances that may be shrunk."""

    shrinkage: float | str | None = "oas"

    def _whitened(self, covariance: np.ndarray, n: float, spread: float, whose: str) -> tuple[np.ndarray, np.ndarray]:
        """(Σ shrunk, W) of a covariance from ``n`` rows; ValueError names ``whose`` it is."""
        covariance = shrink(covariance, self.shrinkage, n, spread)
        whiten = whitening(covariance)
        if whiten is None:
            remedy = "more rows, fewer columns, or shrinkage='oas' or a number such as shrinkage=0.1"
            if self.shrinkage:
                remedy = "more rows, and rows that differ"
            raise ValueError(f"{whose} from {n:g} samples in {len(covariance)} features is singular: {remedy}")
        return covariance, whiten


@dataclass(eq=False, repr=False)
class LinearDiscriminantAnalysis(DiscriminantAnalysis):
    """Gaussian classes with a shared covariance: P(x|c) = N(x | μ_c, Σ), so the log-odds are linear in x.

    For two classes P(c₁|x) = σ(wᵀx + w₀), w = Σ⁻¹(μ₁−μ₀) and w₀ = −½μ₁ᵀΣ⁻¹μ₁ + ½μ₀ᵀΣ⁻¹μ₀ + ln P(c₁)/P(c₀);
    for more the softmax of w_cᵀx + b_c. Σ = (1/N) Σ_i (x_i−μ_{y_i})(x_i−μ_{y_i})ᵀ, the maximum-likelihood
    estimate, whatever the class prior: that of scikit-learn 1.9's ``solver="svd"``.

    Parameters
    ----------
    shrinkage : a number s from 0 to 1 for (1−s) Σ + s (tr Σ/d) I; "oas", the default, which finds s from Σ and N; or
        None for Σ as it stands
    n_components : the most directions that ``transform`` projects on; None: all

    X is (n, d), dense; scores are in nats. Raises ValueError for a singular Σ (fewer rows than columns, constant
    columns, columns that are sums of others) under ``shrinkage=None``: shrinking is the remedy, not a pseudo-inverse
    that drops directions silently.

    Source: Bishop, Pattern Recognition and Machine Learning, section 4.2.

    >>> X = np.array([[-1, -1], [-2, -1], [-3, -2], [1, 1], [2, 1], [3, 2]])
    >>> model = LinearDiscriminantAnalysis(shrinkage=None).fit(X, [1, 1, 1, 2, 2, 2])
    >>> model.predict([[-0.8, -1]]).tolist(), model.coef_.round(6).tolist(), model.intercept_.round(6)
    ([1], [[0.0, 12.0]], array([0.]))
    >>> model.fit_transform(X, [1, 1, 1, 2, 2, 2]).shape, model.transform([[0, 0]]).shape
    ((6, 1), (1, 1))
    """

    _: KW_ONLY
    n_components: int | None = None

    def _covariances(self, sums: Scatter) -> Covariances:
        n, classes = sums.documents.sum(), len(sums.documents)
        shared = self._whitened(sums.scatter.sum(axis=0) / n, n, 0.0, "the shared covariance")
        return Covariances(*(np.broadcast_to(part, (classes, *part.shape)) for part in shared))

    @property
    def covariance_(self) -> np.ndarray:
        """Σ (d, d), shrunk where that is asked for."""
        return self._density().covariance[0]

    def _whitened_means(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """m, the mean of all rows (d,); W (d, d) with WΣWᵀ = I; and W(μ_c−m) (C, d), 0 for a class without rows."""
        whiten, documents = self._density().whiten[0], self.sums_.documents
        mean = documents @ self.means_ / documents.sum()
        return mean, whiten, np.where(documents[:, None] > 0, self.means_ - mean, 0.0) @ whiten.T

    def _linear(self) -> tuple[np.ndarray, np.ndarray]:
        """Weights (C, d) and constants (C,): log P(c|x) but for a term that all classes share. The weights are those of
        x−m, so that a mean far from zero costs no digits."""
        mean, whiten, means = self._whitened_means()
        weights = means @ whiten
        constant = self.class_log_prior_ - 0.5 * np.einsum("ij,ij->i", means, means) - weights @ mean
        return weights, np.where(self.sums_.documents > 0, constant, -np.inf)

    def class_scores(self, X: Any) -> np.ndarray:
        weights, constant = self._linear()
        return X.astype(float, copy=False) @ weights.T + constant

    def predict_joint_log_proba(self, X: Any) -> np.ndarray:
        """log P(x, c) = log P(c) + log P(x|c) in nats, (n, C), columns as in ``classes_``."""
        return super().class_scores(self._check_X(X))

    def transform(self, X: Any) -> np.ndarray:
        """Project X (n, d) on the directions that tell the classes apart best, the best first: (n, k) with k at most
        C−1, d and ``n_components``. Within the classes the covariance is then the identity, and the mean of all rows 0.
        """
        X = self._check_X(X)
        mean, whiten, means = self._whitened_means()
        directions = np.linalg.svd(np.sqrt(self.sums_.documents)[:, None] * means, full_matrices=False)[2]
        kept = directions[: min(len(means) - 1, self.n_components or len(means))]
        return (X - mean) @ whiten.T @ kept.T

    def fit_transform(self, X: Any, y: ArrayLike) -> np.ndarray:
        """Learn from X (n, d) and its labels, and project the rows: ``fit`` and then ``transform``."""
        return self.fit(X, y).transform(X)

    @property
    def coef_(self) -> np.ndarray:
        """Weights: (1, d) for two classes, else (C, d)."""
        weights, _ = self._linear()
        return weights[1:] - weights[:1] if len(weights) == 2 else weights

    @property
    def intercept_(self) -> np.ndarray:
        """Constants: (1,) for two classes, else (C,)."""
        _, constant = self._linear()
        return constant[1:] - constant[:1] if len(constant) == 2 else constant


class QuadraticDiscriminantAnalysis(DiscriminantAnalysis):
    """Gaussian classes, each with its own covariance: P(x|c) = N(x | μ_c, Σ_c); the boundaries are quadrics.

    log P(x, c) = log P(c) − ½ (d log 2π + log|Σ_c| + (x−μ_c)ᵀ Σ_c⁻¹ (x−μ_c)), in nats, with Σ_c = (1/N_c)
    Σ_{i in c} (x_i−μ_c)(x_i−μ_c)ᵀ, the maximum-likelihood estimate, as in scikit-learn 1.9.

    Parameters
    ----------
    shrinkage : a number s from 0 to 1 for (1−s) Σ_c + s (tr Σ_c/d) I; "oas", the default, which finds s per class from
        Σ_c and N_c, so that small classes do not fail (one of equal rows takes the mean variance within all classes
        for tr Σ_c/d); or None for Σ_c as it stands

    X is (n, d), dense. Raises ValueError for a singular Σ_c, naming the class and the remedy.

    Source: Bishop, Pattern Recognition and Machine Learning, section 4.2; Murphy, section 4.2.

    >>> X = np.array([[0, 0], [2, 0], [0, 2], [2, 2], [-9, 1], [11, 1], [1, -9], [1, 11]])
    >>> y = ["in"] * 4 + ["around"] * 4  # one mean, two covariances
    >>> model = QuadraticDiscriminantAnalysis(shrinkage=None).fit(X, y)
    >>> model.predict([[1, 1], [1, 7]]).tolist(), model.covariance_.tolist()
    (['in', 'around'], [[[50.0, 0.0], [0.0, 50.0]], [[1.0, 0.0], [0.0, 1.0]]])
    """

    def _covariances(self, sums: Scatter) -> Covariances:
        d = sums.n_features
        # What a class of one row, or of rows all alike, borrows from the others: their mean variance.
        spread = np.einsum("cii->", sums.scatter) / sums.documents.sum() / d
        found: list[tuple[np.ndarray, np.ndarray]] = []
        for name, scatter, n in zip(self.classes_, sums.scatter, sums.documents):
            whose = f"the covariance of class {name}"
            found.append(self._whitened(scatter / n, n, spread, whose) if n else (np.eye(d), np.eye(d)))
        return Covariances(*map(np.array, zip(*found)))

    @property
    def covariance_(self) -> np.ndarray:
        """Σ_c (C, d, d), shrunk where that is asked for."""
        return self._density().covariance
