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

from spamnb.estimators.base import DecisionFunction, SumClassifier, Transformer
from spamnb.estimators.validation import check_number, check_whole
from spamnb.formulas.priors import class_log_prior
from spamnb.formulas.sums import Scatter, shrink, whitening

LOG_2PI = float(np.log(2 * np.pi))


class Covariances(NamedTuple):
    """Covariances of all classes, of independent features their diagonals (C, d); the identity for no rows."""

    covariance: np.ndarray  # (C, d, d)
    whiten: np.ndarray  # (C, d, d) W, lower triangular


class QuadraticForm(NamedTuple):
    """Coefficients of the scores xᵀ quadratic_c x + linear_c x + constant_c, in nats, but for a common term."""

    quadratic: np.ndarray  # (C, d, d)
    linear: np.ndarray  # (C, d)
    constant: np.ndarray  # (C,)


@dataclass(eq=False, repr=False, kw_only=True)
class GaussianClassifier(SumClassifier, DecisionFunction):
    """A model with Gaussian classes; ``_covariances`` makes their covariances of the sums."""

    priors: ArrayLike | None = None

    _sparse = False
    _independent = False

    def _sums(self, X: Any, codes: np.ndarray, n_classes: int, weight: np.ndarray | None, like: Any) -> Scatter:
        return Scatter.from_rows(X, codes, n_classes, weight, self._independent)

    def _derive(self, sums: Scatter) -> None:
        if not np.isfinite(sums.scatter).all():
            raise ValueError("the squares of X overflow: scale its columns to below 1e150")
        self.class_log_prior_ = self._class_log_prior(sums.documents)
        self._derived: Covariances | None = None

    def _class_log_prior(self, documents: np.ndarray) -> np.ndarray:
        if self.priors is None:
            return super()._class_log_prior(documents)
        if self.class_prior is not None:
            raise ValueError(f"{type(self).__name__}: give priors or class_prior, which mean the same")
        return class_log_prior(documents, self.priors)

    def _draw(self, c: int, n: int, rng: np.random.Generator) -> np.ndarray:
        mean, covariance = self.means_[c], self._density().covariance[c]
        if self._independent:
            return rng.normal(mean, np.sqrt(covariance), (n, len(mean)))
        return rng.multivariate_normal(mean, covariance, n, method="cholesky")

    def _covariances(self, sums: Scatter) -> Covariances:
        """Return the covariances of the sums; ValueError if one has no inverse."""
        raise NotImplementedError

    def _density(self) -> Covariances:
        """Return the covariances, which are computed at their first use."""
        self._check_fitted()
        if not self.sums_.documents.any():
            raise ValueError(f"this {type(self).__name__} has forgotten all rows: learn some before it is asked")
        if self._derived is None:
            self._derived = self._covariances(self.sums_)
        return self._derived

    def _constant(self) -> np.ndarray:
        """Return log P(c) + log N(μ_c | μ_c, Σ_c), (C,)."""
        whiten = self._density().whiten
        diagonal = whiten if self._independent else np.einsum("cii->ci", whiten)
        log_normalizer = 0.5 * LOG_2PI * self.n_features_in_ - np.log(diagonal).sum(axis=1)  # |Σ| = 1/|W|²
        return np.where(self.sums_.documents > 0, self.class_log_prior_ - log_normalizer, -np.inf)

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn from these rows alone, forgetting all rows that were learned before.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            Training rows.
        y : array of shape (n_samples,)
            Their classes.
        sample_weight : array of shape (n_samples,), default=None
            Weight of each row; None counts every row once.

        Returns
        -------
        Self
            The fitted model.

        Raises
        ------
        ValueError
            If X has missing or infinite values, or a covariance is singular.
        """
        super().fit(X, y, sample_weight)
        self._density()
        return self

    @property
    def means_(self) -> np.ndarray:
        """Means, zero for a class without rows: array of shape (n_classes, n_features)."""
        return self.sums_.mean

    def _scores(self, X: Any) -> np.ndarray:
        joint = np.tile(self._constant(), (len(X), 1))
        for c, (mean, whiten) in enumerate(zip(self.means_, self._density().whiten)):
            whitened = (X - mean) * whiten if self._independent else (X - mean) @ whiten.T
            joint[:, c] -= 0.5 * np.einsum("ij,ij->i", whitened, whitened)
        return joint

    def quadratic_form(self) -> QuadraticForm:
        """Return the scores as polynomials of x, for explanations.

        Returns
        -------
        QuadraticForm
            Coefficients ``quadratic``, ``linear`` and ``constant`` of each class.

        Examples
        --------
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
    """Naive Bayes of numbers: each column of a class is Gaussian.

    X is dense. A variance of zero raises ValueError: constant columns with ``var_smoothing=0``, or rows all equal.

    Parameters
    ----------
    var_smoothing : float, default=1e-9
        Share of the largest variance that is added to every variance, at least 0.
    fit_prior : bool, default=True
        Whether ``class_prior=None`` means "mle", the share of the training rows, and not "uniform".
    class_prior : str or array of shape (n_classes,), default=None
        "mle", "dirichlet", "map", "uniform", or the probabilities of the classes.
    prior_concentration : float or array of shape (n_classes,), default=1.0
        The Dirichlet's parameter a of "dirichlet" and "map".
    priors : array of shape (n_classes,), default=None
        Probabilities of the classes: scikit-learn's name of ``class_prior``.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        Classes, ascending.
    class_log_prior_ : array of shape (n_classes,)
        log P(c), in nats.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : array of shape (n_features,)
        Names of the columns, if X was a data frame.

    See Also
    --------
    QuadraticDiscriminantAnalysis : Columns that depend on one another.

    Notes
    -----
    P(x|c) = Π_j N(x_j | μ_jc, σ²_jc). The variance is the maximum-likelihood one (divided by N_c) plus
    ``var_smoothing`` times the largest variance of any column over all rows. After several ``partial_fit`` that
    is the variance of all rows, so batches make no difference; scikit-learn takes the last batch's.

    Source: Murphy, Machine Learning: A Probabilistic Perspective, section 3.5.

    Examples
    --------
    >>> X = np.array([[-1.0, 0.0], [-2.0, 1.0], [3.0, 0.0], [4.0, 1.0]])
    >>> model = GaussianNB().fit(X, ["low", "low", "high", "high"])
    >>> model.predict([[-3.0, 0.5]]).tolist(), model.theta_.tolist(), model.var_.round(6).tolist()
    (['low'], [[3.5, 0.5], [-1.5, 0.5]], [[0.25, 0.25], [0.25, 0.25]])
    >>> model.forget(X[:1], ["low"]).partial_fit(X[:1], ["low"]).theta_.tolist()
    [[3.5, 0.5], [-1.5, 0.5]]
    """

    var_smoothing: float = 1e-9

    _independent = True

    theta_ = GaussianClassifier.means_  # scikit-learn's name

    @property
    def var_(self) -> np.ndarray:
        """Smoothed variances: array of shape (n_classes, n_features)."""
        return self._density().covariance

    @property
    def epsilon_(self) -> float:
        """Number that smoothing added to every variance."""
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
    """Discriminant analysis: Gaussian classes whose covariances may be shrunk."""

    shrinkage: float | str | None = "oas"

    def _whitened(self, covariance: np.ndarray, n: float, spread: float, whose: str) -> tuple[np.ndarray, np.ndarray]:
        """Return (Σ shrunk, W) of a covariance from ``n`` rows; ValueError names ``whose`` it is."""
        covariance = shrink(covariance, self.shrinkage, n, spread)
        whiten = whitening(covariance)
        if whiten is None:
            remedy = "more rows, fewer columns, or shrinkage='oas' or a number such as shrinkage=0.1"
            if self.shrinkage:
                remedy = "more rows, and rows that differ"
            raise ValueError(f"{whose} from {n:g} samples in {len(covariance)} features is singular: {remedy}")
        return covariance, whiten


@dataclass(eq=False, repr=False)
class LinearDiscriminantAnalysis(DiscriminantAnalysis, Transformer):
    """Gaussian classes with a shared covariance, whose log-odds are linear in x.

    X is dense. With ``shrinkage=None`` a singular Σ (fewer rows than columns, constant columns, columns that are sums
    of others) raises ValueError. Shrinking is the remedy, not a pseudo-inverse that drops directions silently.

    Parameters
    ----------
    shrinkage : float, "oas" or None, default="oas"
        Share s from 0 to 1 in (1−s) Σ + s (tr Σ/d) I. "oas" finds s from Σ and N; None leaves Σ as it is.
    fit_prior : bool, default=True
        Whether ``class_prior=None`` means "mle", the share of the training rows, and not "uniform".
    class_prior : str or array of shape (n_classes,), default=None
        "mle", "dirichlet", "map", "uniform", or the probabilities of the classes.
    prior_concentration : float or array of shape (n_classes,), default=1.0
        The Dirichlet's parameter a of "dirichlet" and "map".
    priors : array of shape (n_classes,), default=None
        Probabilities of the classes: scikit-learn's name of ``class_prior``.
    n_components : int, default=None
        The most directions that ``transform`` projects on, at least 1; None: all.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        Classes, ascending.
    class_log_prior_ : array of shape (n_classes,)
        log P(c), in nats.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : array of shape (n_features,)
        Names of the columns, if X was a data frame.

    See Also
    --------
    QuadraticDiscriminantAnalysis : A covariance for each class.
    LogisticRegression : The same posterior without a model of x.

    Notes
    -----
    P(x|c) = N(x | μ_c, Σ). For two classes P(c₁|x) = σ(wᵀx + w₀), w = Σ⁻¹(μ₁−μ₀) and w₀ = −½μ₁ᵀΣ⁻¹μ₁ + ½μ₀ᵀΣ⁻¹μ₀ +
    ln P(c₁)/P(c₀); for more the softmax of w_cᵀx + b_c. Σ = (1/N) Σ_i (x_i−μ_{y_i})(x_i−μ_{y_i})ᵀ is the
    maximum-likelihood estimate, whatever the class prior, as in scikit-learn 1.9's ``solver="svd"``. Scores are in
    nats.

    Source: Bishop, Pattern Recognition and Machine Learning, section 4.2.

    Examples
    --------
    >>> X = np.array([[-1, -1], [-2, -1], [-3, -2], [1, 1], [2, 1], [3, 2]])
    >>> model = LinearDiscriminantAnalysis(shrinkage=None).fit(X, [1, 1, 1, 2, 2, 2])
    >>> model.predict([[-0.8, -1]]).tolist(), model.coef_.round(6).tolist(), model.intercept_.round(6)
    ([1], [[0.0, 12.0]], array([0.]))
    >>> model.fit_transform(X, [1, 1, 1, 2, 2, 2]).shape, model.transform([[0, 0]]).shape
    ((6, 1), (1, 1))
    >>> model.set_output(transform="pandas").transform(X).shape, len(model.get_feature_names_out())
    ((6, 1), 1)
    """

    _: KW_ONLY
    n_components: int | None = None

    def _covariances(self, sums: Scatter) -> Covariances:
        n, classes = sums.documents.sum(), len(sums.documents)
        shared = self._whitened(sums.scatter.sum(axis=0) / n, n, 0.0, "the shared covariance")
        return Covariances(*(np.broadcast_to(part, (classes, *part.shape)) for part in shared))

    @property
    def covariance_(self) -> np.ndarray:
        """Shared covariance Σ, shrunk if ``shrinkage`` says so: array of shape (n_features, n_features)."""
        return self._density().covariance[0]

    def _whitened_means(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return m, the mean of all rows (d,); W (d, d) with WΣWᵀ = I; and W(μ_c−m) (C, d), 0 for no rows."""
        whiten, documents = self._density().whiten[0], self.sums_.documents
        mean = documents @ self.means_ / documents.sum()
        return mean, whiten, np.where(documents[:, None] > 0, self.means_ - mean, 0.0) @ whiten.T

    def _linear(self) -> tuple[np.ndarray, np.ndarray]:
        """Return weights (C, d) and constants (C,) of log P(c|x), but for a term that all classes share.

        The weights are those of x−m, so that a mean far from zero costs no digits.
        """
        mean, whiten, means = self._whitened_means()
        weights = means @ whiten
        constant = self.class_log_prior_ - 0.5 * np.einsum("ij,ij->i", means, means) - weights @ mean
        return weights, np.where(self.sums_.documents > 0, constant, -np.inf)

    def _scores(self, X: Any) -> np.ndarray:
        weights, constant = self._linear()
        return X.astype(float, copy=False) @ weights.T + constant

    def predict_joint_log_proba(self, X: Any) -> np.ndarray:
        """Return log P(x, c) = log P(c) + log P(x|c) of every row and class.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            Rows to classify.

        Returns
        -------
        array of shape (n_samples, n_classes)
            Log-probabilities in nats, columns as in ``classes_``.
        """
        return super()._scores(self._check_X(X))

    def transform(self, X: Any) -> np.ndarray:
        """Project rows on the directions that tell the classes apart best.

        Within the classes the covariance is then the identity, and the mean of all training rows is 0.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            Rows to project.

        Returns
        -------
        array of shape (n_samples, n_directions)
            Projections, the best direction first; at most n_classes − 1, n_features and ``n_components`` directions.
        """
        rows = self._check_X(X)
        mean, whiten, means = self._whitened_means()
        directions = np.linalg.svd(np.sqrt(self.sums_.documents)[:, None] * means, full_matrices=False)[2]
        best = directions[: len(self.get_feature_names_out())]
        return self._output((rows - mean) @ whiten.T @ best.T, X)

    def get_feature_names_out(self, input_features: object = None) -> np.ndarray:
        """Return the names of the directions, as scikit-learn forms them.

        Parameters
        ----------
        input_features : object, default=None
            Ignored.

        Returns
        -------
        array of shape (n_directions,)
            Names.
        """
        self._check_fitted()
        if self.n_components is not None:
            check_whole("LinearDiscriminantAnalysis: n_components", self.n_components, 1)
        n = min(len(self.classes_) - 1, self.n_features_in_, self.n_components or self.n_features_in_)
        return np.array([f"lineardiscriminantanalysis{number}" for number in range(n)], dtype=object)

    def fit_transform(self, X: Any, y: ArrayLike) -> np.ndarray:
        """Learn from these rows and project them: ``fit``, then ``transform``.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            Training rows.
        y : array of shape (n_samples,)
            Their classes.

        Returns
        -------
        array of shape (n_samples, n_directions)
            Projections, the best direction first.
        """
        return self.fit(X, y).transform(X)

    @property
    def coef_(self) -> np.ndarray:
        """Weights: array of shape (1, n_features) for two classes, else (n_classes, n_features)."""
        weights, _ = self._linear()
        return weights[1:] - weights[:1] if len(weights) == 2 else weights

    @property
    def intercept_(self) -> np.ndarray:
        """Constants: array of shape (1,) for two classes, else (n_classes,)."""
        _, constant = self._linear()
        return constant[1:] - constant[:1] if len(constant) == 2 else constant


class QuadraticDiscriminantAnalysis(DiscriminantAnalysis):
    """Gaussian classes, each with its own covariance, whose boundaries are quadrics.

    X is dense. A singular Σ_c raises ValueError, which names the class and the remedy.

    Parameters
    ----------
    shrinkage : float, "oas" or None, default="oas"
        Share s from 0 to 1 in (1−s) Σ_c + s (tr Σ_c/d) I. "oas" finds s of each class from Σ_c and N_c, so that small
        classes do not fail; if all rows of a class are equal, the mean variance within all classes takes the place of
        tr Σ_c/d. None leaves Σ_c as it is.
    fit_prior : bool, default=True
        Whether ``class_prior=None`` means "mle", the share of the training rows, and not "uniform".
    class_prior : str or array of shape (n_classes,), default=None
        "mle", "dirichlet", "map", "uniform", or the probabilities of the classes.
    prior_concentration : float or array of shape (n_classes,), default=1.0
        The Dirichlet's parameter a of "dirichlet" and "map".
    priors : array of shape (n_classes,), default=None
        Probabilities of the classes: scikit-learn's name of ``class_prior``.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        Classes, ascending.
    class_log_prior_ : array of shape (n_classes,)
        log P(c), in nats.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : array of shape (n_features,)
        Names of the columns, if X was a data frame.

    See Also
    --------
    LinearDiscriminantAnalysis : A covariance that all classes share.

    Notes
    -----
    log P(x, c) = log P(c) − ½ (d log 2π + log|Σ_c| + (x−μ_c)ᵀ Σ_c⁻¹ (x−μ_c)), in nats, with the maximum-likelihood
    estimate Σ_c = (1/N_c) Σ_{i in c} (x_i−μ_c)(x_i−μ_c)ᵀ, as in scikit-learn 1.9.

    Source: Bishop, Pattern Recognition and Machine Learning, section 4.2; Murphy, section 4.2.

    Examples
    --------
    >>> X = np.array([[0, 0], [2, 0], [0, 2], [2, 2], [-9, 1], [11, 1], [1, -9], [1, 11]])
    >>> y = ["in"] * 4 + ["around"] * 4  # one mean, two covariances
    >>> model = QuadraticDiscriminantAnalysis(shrinkage=None).fit(X, y)
    >>> model.predict([[1, 1], [1, 7]]).tolist(), model.covariance_.tolist()
    (['in', 'around'], [[[50.0, 0.0], [0.0, 50.0]], [[1.0, 0.0], [0.0, 1.0]]])
    """

    def _covariances(self, sums: Scatter) -> Covariances:
        d = sums.n_features
        # A class of one row, or of rows all alike, borrows the mean variance of the others.
        spread = np.einsum("cii->", sums.scatter) / sums.documents.sum() / d
        pairs: list[tuple[np.ndarray, np.ndarray]] = []
        for name, scatter, n in zip(self.classes_, sums.scatter, sums.documents):
            whose = f"the covariance of class {name}"
            pairs.append(self._whitened(scatter / n, n, spread, whose) if n else (np.eye(d), np.eye(d)))
        return Covariances(*map(np.array, zip(*pairs)))

    @property
    def covariance_(self) -> np.ndarray:
        """Covariances Σ_c, shrunk if ``shrinkage`` says so: array of shape (n_classes, n_features, n_features)."""
        return self._density().covariance
