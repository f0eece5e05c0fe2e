"""Gaussian classes: naive Bayes with independent features, linear and quadratic discriminant analysis.

A singular covariance raises ValueError in ``fit`` and in predictions. ``partial_fit`` and ``forget`` do not raise it,
because with more rows the covariance may become regular.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from spamnb.estimators.base import DecisionFunction, check_fitted
from spamnb.estimators.generative import GenerativeClassifier
from spamnb.estimators.interface import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from spamnb.estimators.validation import check_number, check_whole
from spamnb.model.gaussian import (
    VAR_SMOOTHING,
    Covariances,
    Gaussians,
    QuadraticForm,
    independent_covariances,
    separate_covariances,
    shared_covariance,
)
from spamnb.model.priors import class_log_prior
from spamnb.model.softmax import softmax
from spamnb.model.sums import Scatter


@dataclass(eq=False, repr=False, kw_only=True)
class GaussianClassifier(GenerativeClassifier, DecisionFunction):
    """A model with Gaussian classes. X is dense.

    Parameters
    ----------
    fit_prior, class_prior, prior_concentration : bool, str or array
        Prior of the classes, as in ``spamnb.estimators.base.SumClassifier``.
    loss : array of shape (n_classes, n_classes), dict or "balanced", default=None
        What ``predict`` minimises, as in ``decide``.
    priors : array of shape (n_classes,), default=None
        Probabilities of the classes: scikit-learn's name of ``class_prior``.
    allow_nan : bool, default=False
        Whether predictions accept NaN, a value that is not known. It is integrated out.
    """

    priors: ArrayLike | None = None
    allow_nan: bool = False

    _is_sparse_allowed = False
    _is_diagonal = False  # whether the features are independent

    def _sums(self, X: Any, codes: np.ndarray, n_classes: int, weight: np.ndarray | None, previous: Any) -> Scatter:
        return Scatter.from_rows(X, codes, n_classes, weight, self._is_diagonal)

    def _derive(self, sums: Scatter) -> None:
        if not np.isfinite(sums.scatter).all():
            raise ValueError("the squares of X overflow: scale the columns of X to below 1e150")
        self.class_log_prior_ = self._class_log_prior(sums.documents)
        self._cached_gaussians: Gaussians | None = None

    def _class_log_prior(self, documents: np.ndarray) -> np.ndarray:
        if self.priors is None:
            return super()._class_log_prior(documents)
        if self.class_prior is not None:
            raise ValueError(f"{type(self).__name__}: give priors or class_prior, which mean the same")
        return class_log_prior(documents, self.priors)

    def with_class_prior(self, class_prior: str | ArrayLike) -> Self:
        model = super().with_class_prior(class_prior) if self.priors is None else None
        if model is None:
            raise ValueError(f"{type(self).__name__}: give class_prior in place of priors")
        return model

    def _draw(self, c: int, n: int, rng: np.random.Generator) -> np.ndarray:
        mean, covariance = self.means_[c], self._get_gaussians().covariance[c]
        if self._is_diagonal:
            return rng.normal(mean, np.sqrt(covariance), (n, len(mean)))
        return rng.multivariate_normal(mean, covariance, n, method="cholesky")

    def _compute_covariances(self, sums: Scatter) -> Covariances:
        """Compute the covariances from the sums. Raise ValueError for a singular covariance."""
        raise NotImplementedError

    def _get_gaussians(self) -> Gaussians:
        """Return the classes, whose covariances are computed in the first call after the sums have changed."""
        check_fitted(self)
        if not self.sums_.documents.any():
            raise ValueError(f"this {type(self).__name__} has forgotten all rows: learn some rows first")
        if self._cached_gaussians is None:
            log_prior = np.where(self.sums_.documents > 0, self.class_log_prior_, -np.inf)
            self._cached_gaussians = Gaussians(log_prior, self.sums_.mean, *self._compute_covariances(self.sums_))
        return self._cached_gaussians

    def fit(self, X: Any, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None) -> Self:
        super().fit(X, y, sample_weight)
        self._get_gaussians()  # raises ValueError for a singular covariance
        return self

    @property
    def means_(self) -> np.ndarray:
        """Mean of each class, 0 for a class without rows: array of shape (n_classes, n_features)."""
        return self.sums_.mean

    @property
    def priors_(self) -> np.ndarray:
        """Probability P(c) of each class, scikit-learn's name of ``class_prior_``: array of shape (n_classes,)."""
        return self.class_prior_

    def _joint(self, X: Any) -> np.ndarray:
        return self._get_gaussians().joint(X)

    _scores = _joint

    def restore(self, X: Any) -> np.ndarray:
        """Return rows with the expected value of each NaN, given the other columns: Σ_c P(c|x) E[x_j|x, c].

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            Rows, in which NaN is a value that is not known.

        Returns
        -------
        array of shape (n_samples, n_features)
            Rows without NaN.

        Examples
        --------
        >>> import spamnb
        >>> X = [[0, 0], [1, 1], [2, 2.5], [9, 3], [10, 4], [11, 4.5]]
        >>> model = spamnb.QuadraticDiscriminantAnalysis().fit(X, ["a", "a", "a", "b", "b", "b"])
        >>> model.restore([[1.5, np.nan], [10.5, np.nan]]).round(2).tolist()
        [[1.5, 1.79], [10.5, 4.21]]
        """
        check_fitted(self)
        X = self._to_rows(X, allow_nan=True).astype(float)
        return self._get_gaussians().expected(X, softmax(self._joint(X)))

    def quadratic_form(self) -> QuadraticForm:
        """Return log P(x, c) as polynomials of x.

        Returns
        -------
        QuadraticForm
            Coefficients ``quadratic``, ``linear`` (Λ_c μ_c with Λ_c = Σ_c⁻¹) and ``constant`` of each class. If the
            classes share Σ, the quadratic term is the same for all, and ``linear`` is the w_c of the linear scores.

        Examples
        --------
        >>> import spamnb
        >>> model = spamnb.GaussianNB().fit([[1.0], [2.0], [7.0], [9.0]], ["low", "low", "high", "high"])
        >>> [part.round(3).tolist() for part in model.quadratic_form()]
        [[[[-0.5]], [[-2.0]]], [[8.0], [6.0]], [-33.612, -5.419]]
        """
        return self._get_gaussians().quadratic_form()


@dataclass(eq=False, repr=False)
class GaussianNB(GaussianClassifier):
    """Naive Bayes of real numbers: each column of a class is Gaussian.

    X is dense. A variance of zero raises ValueError: if all rows are equal, or with ``var_smoothing=0`` if a column is
    constant in a class.

    Parameters
    ----------
    var_smoothing : float, default=1e-9
        Share of the largest variance of a column, at least 0, that is added to every variance.
    fit_prior, class_prior, prior_concentration, priors : bool, str or array
        Prior of the classes, as in ``spamnb.estimators.gaussian.GaussianClassifier``.
    loss : array of shape (n_classes, n_classes), dict or "balanced", default=None
        What ``predict`` minimises, as in ``decide``.
    allow_nan : bool, default=False
        Whether predictions accept NaN, a value that is not known. It is integrated out.

    See Also
    --------
    spamnb.estimators.base.SumClassifier : Parameters of the prior, and attributes such as ``classes_``.
    QuadraticDiscriminantAnalysis : The same for columns that depend on one another.

    Notes
    -----
    Each column of a class has a mean and a variance:

        P(x|c) = Π_j N(x_j | μ_jc, σ²_jc)

    The variance is the maximum-likelihood estimate (divided by N_c) plus
    ``var_smoothing`` times the largest variance of a column over all rows of all calls of ``partial_fit``.
    scikit-learn's model uses the largest variance of the last call.

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

    var_smoothing: float = VAR_SMOOTHING

    _is_diagonal = True

    theta_ = GaussianClassifier.means_  # scikit-learn's name

    @property
    def var_(self) -> np.ndarray:
        """Smoothed variances: array of shape (n_classes, n_features)."""
        return self._get_gaussians().covariance

    @property
    def epsilon_(self) -> float:
        """Number that smoothing adds to every variance."""
        return self.var_smoothing * float(self.sums_.overall_variance().max())

    def _compute_covariances(self, sums: Scatter) -> Covariances:
        check_number(self, "var_smoothing", zero=True)
        return independent_covariances(sums, self.classes_.tolist(), self.var_smoothing)


@dataclass(eq=False, repr=False)
class DiscriminantAnalysis(GaussianClassifier):
    """Discriminant analysis: Gaussian classes whose covariances can be shrunk."""

    shrinkage: float | str | None = "if_singular"


@dataclass(eq=False, repr=False)
class LinearDiscriminantAnalysis(ClassNamePrefixFeaturesOutMixin, TransformerMixin, DiscriminantAnalysis):
    """Gaussian classes with a shared covariance, whose log-odds are linear in x.

    X is dense. Σ is singular if there are fewer rows than columns, or if a column is constant or a linear combination
    of others.

    Parameters
    ----------
    shrinkage : "if_singular", "oas", float or None, default="if_singular"
        How far Σ is shrunk towards independent columns. None is maximum likelihood, and raises ValueError if Σ is
        singular. "oas" standardises the columns by their deviations within the classes, and computes the share s in
        (1−s) R + s (tr R/d) I from their covariance R and N. "if_singular" is None if Σ is regular, and otherwise
        "oas". A number from 0 to 1 is the share s in (1−s) Σ + s (tr Σ/d) I, which depends on the columns' units.
    fit_prior, class_prior, prior_concentration, priors : bool, str or array
        Prior of the classes, as in ``spamnb.estimators.gaussian.GaussianClassifier``.
    loss : array of shape (n_classes, n_classes), dict or "balanced", default=None
        What ``predict`` minimises, as in ``decide``.
    allow_nan : bool, default=False
        Whether predictions accept NaN, a value that is not known. It is integrated out.
    n_components : int, default=None
        Maximum number of directions that ``transform`` projects on, at least 1. None means all directions.

    See Also
    --------
    spamnb.estimators.base.SumClassifier : Parameters of the prior, and attributes such as ``classes_``.
    QuadraticDiscriminantAnalysis : The model with a covariance for each class.
    LogisticRegression : The same form of posterior without a model of x.

    Notes
    -----
    The maximum-likelihood estimate of Σ, whatever the class prior, is that of scikit-learn 1.9 with ``solver="svd"``:

        P(x|c) = N(x | μ_c, Σ)

        Σ = (1 / N) Σ_i (x_i − μ_{y_i}) (x_i − μ_{y_i})ᵀ

    For two classes:

        P(c₁|x) = σ(wᵀx + w₀)

        w = Σ⁻¹ (μ₁ − μ₀)

        w₀ = −½ μ₁ᵀ Σ⁻¹ μ₁ + ½ μ₀ᵀ Σ⁻¹ μ₀ + ln P(c₁)/P(c₀)

    For more classes P(c|x) is the softmax of w_cᵀx + b_c.

    Source: Bishop, Pattern Recognition and Machine Learning, section 4.2.

    Examples
    --------
    >>> X = np.array([[-1, -1], [-2, -1], [-3, -2], [1, 1], [2, 1], [3, 2]])
    >>> model = LinearDiscriminantAnalysis().fit(X, [1, 1, 1, 2, 2, 2])
    >>> model.predict([[-0.8, -1]]).tolist(), model.coef_.round(6).tolist(), model.intercept_.round(6)
    ([1], [[0.0, 12.0]], array([0.]))
    >>> model.fit_transform(X, [1, 1, 1, 2, 2, 2]).shape, model.transform([[0, 0]]).shape
    ((6, 1), (1, 1))
    >>> model.set_output(transform="pandas").transform(X).shape, len(model.get_feature_names_out())
    ((6, 1), 1)
    """

    _: KW_ONLY
    n_components: int | None = None

    def _compute_covariances(self, sums: Scatter) -> Covariances:
        return shared_covariance(sums, self.shrinkage)

    @property
    def covariance_(self) -> np.ndarray:
        """Shared covariance Σ after ``shrinkage``: array of shape (n_features, n_features)."""
        return self._get_gaussians().covariance[0]

    def _whiten_means(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the mean m of all rows (d,), W (d, d), and W(μ_c−m) (C, d), which is 0 for a class without rows."""
        whitener, documents = self._get_gaussians().whitener[0], self.sums_.documents
        mean = documents @ self.means_ / documents.sum()
        return mean, whitener, np.where(documents[:, None] > 0, self.means_ - mean, 0.0) @ whitener.T

    def _scores(self, X: Any) -> np.ndarray:
        weights, constants = self._get_gaussians().linear_coefficients()
        X = X.astype(float, copy=False)
        return self._joint(X) if np.isnan(X).any() else X @ weights.T + constants

    def transform(self, X: Any) -> np.ndarray:
        """Project rows on the directions that separate the classes best.

        The projections of the training rows have mean 0. Their covariance within classes is I unless Σ was shrunk.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            Rows to project.

        Returns
        -------
        array of shape (n_samples, n_directions)
            Projections, the best direction first. n_directions is the least of n_classes − 1, n_features and
            ``n_components``.
        """
        check_fitted(self)
        rows = self._to_rows(X)
        mean, whitener, means = self._whiten_means()
        directions = np.linalg.svd(np.sqrt(self.sums_.documents)[:, None] * means, full_matrices=False)[2]
        return (rows - mean) @ whitener.T @ directions[: self._n_features_out].T

    @property
    def _n_features_out(self) -> int:
        """Return the number of directions."""
        check_fitted(self)
        if self.n_components is not None:
            check_whole("LinearDiscriminantAnalysis: n_components", self.n_components, 1)
        return min(len(self.classes_) - 1, self.n_features_in_, self.n_components or self.n_features_in_)

    @property
    def coef_(self) -> np.ndarray:
        """Weights: array of shape (1, n_features) for two classes, otherwise (n_classes, n_features)."""
        weights, _ = self._get_gaussians().linear_coefficients()
        return weights[1:] - weights[:1] if len(weights) == 2 else weights

    @property
    def intercept_(self) -> np.ndarray:
        """Constants: array of shape (1,) for two classes, otherwise (n_classes,)."""
        _, constants = self._get_gaussians().linear_coefficients()
        return constants[1:] - constants[:1] if len(constants) == 2 else constants


class QuadraticDiscriminantAnalysis(DiscriminantAnalysis):
    """Gaussian classes, each with a covariance of its own, whose log-odds are quadratic in x.

    X is dense. Σ_c is singular if class c has too few rows, or if a column of it is constant or a linear combination of
    others.

    Parameters
    ----------
    shrinkage : "if_singular", "oas", float or None, default="if_singular"
        How far each Σ_c is shrunk towards independent columns. None is maximum likelihood, and raises ValueError if a
        Σ_c is singular. "oas" standardises the columns by their deviations within the classes, and computes the share s
        in (1−s) R_c + s (tr R_c/d) I from R_c and N_c; if all rows of a class are equal, tr R_c/d is replaced by 1.
        "if_singular" is None if all Σ_c are regular, and otherwise "oas". A number from 0 to 1 is the share s in
        (1−s) Σ_c + s (tr Σ_c/d) I, which depends on the columns' units.
    fit_prior, class_prior, prior_concentration, priors : bool, str or array
        Prior of the classes, as in ``spamnb.estimators.gaussian.GaussianClassifier``.
    loss : array of shape (n_classes, n_classes), dict or "balanced", default=None
        What ``predict`` minimises, as in ``decide``.
    allow_nan : bool, default=False
        Whether predictions accept NaN, a value that is not known. It is integrated out.

    See Also
    --------
    spamnb.estimators.base.SumClassifier : Parameters of the prior, and attributes such as ``classes_``.
    LinearDiscriminantAnalysis : The model with one covariance for all classes.

    Notes
    -----
    In nats, with the maximum-likelihood estimates of scikit-learn 1.9:

        log P(x, c) = log P(c) − ½ (d log 2π + log |Σ_c| + (x − μ_c)ᵀ Σ_c⁻¹ (x − μ_c))

        Σ_c = (1 / N_c) Σ_{i in c} (x_i − μ_c) (x_i − μ_c)ᵀ

    Source: Bishop, Pattern Recognition and Machine Learning, section 4.2; Murphy, section 4.2.

    Examples
    --------
    >>> X = np.array([[0, 0], [2, 0], [0, 2], [2, 2], [-9, 1], [11, 1], [1, -9], [1, 11]])
    >>> y = ["in"] * 4 + ["around"] * 4  # one mean, two covariances
    >>> model = QuadraticDiscriminantAnalysis().fit(X, y)
    >>> model.predict([[1, 1], [1, 7]]).tolist(), model.covariance_.tolist()
    (['in', 'around'], [[[50.0, 0.0], [0.0, 50.0]], [[1.0, 0.0], [0.0, 1.0]]])
    """

    def _compute_covariances(self, sums: Scatter) -> Covariances:
        return separate_covariances(sums, self.classes_.tolist(), self.shrinkage)

    @property
    def covariance_(self) -> np.ndarray:
        """Covariances Σ_c after ``shrinkage``: array of shape (n_classes, n_features, n_features)."""
        return self._get_gaussians().covariance
