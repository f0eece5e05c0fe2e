"""Logistic regression: P(c|x) without a model of x.

Its weights are not a function of sums, so rows cannot be forgotten, and models cannot be added.
"""

from __future__ import annotations

import warnings
from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from spamnb.estimators.base import DecisionFunction, check_fitted, class_codes
from spamnb.estimators.validation import check_labels, check_number
from spamnb.model.cross_entropy import CrossEntropy, all_activations
from spamnb.model.softmax import softmax

# In nats. If rounding stops the search, it has converged if no component of the gradient is larger than this. With
# tol=1e-15 and C from 1 to 1e6 the largest was 5e-8 on the iris, wine, breast cancer and digits data of scikit-learn.
ZERO_GRADIENT = 1e-6


@dataclass(eq=False, repr=False)
class LogisticRegression(DecisionFunction):
    """Logistic regression with a quadratic penalty.

    X is dense or sparse.

    Parameters
    ----------
    C : float, default=1.0
        Inverse of the penalty. With inf there is no penalty, and ``fit`` warns if the classes are linearly separable.
    tol : float, default=1e-4
        ``fit`` stops when the norm of the gradient, divided by the number of rows, is at most ``tol``.
    max_iter : int, default=1000
        Maximum number of iterations of ``fit``.
    eta : float, default=0.1
        Size of the steps of ``partial_fit``.
    shuffle : bool, default=True
        Whether ``partial_fit`` takes the rows in a random order. In the order of X the last class wins if the rows are
        sorted by class.
    random_state : int, default=0
        Seed of that order.

    loss : array of shape (n_classes, n_classes), dict or "balanced", default=None
        What ``predict`` minimises, as in ``decide``. None means that all errors cost the same.
    fit_intercept : bool, default=True
        Whether the model has a constant b.

    Attributes
    ----------
    coef_ : array of shape (1, n_features) or (n_classes, n_features)
        Weights; for two classes only the weights of ``classes_[1]``.
    intercept_ : array of shape (1,) or (n_classes,)
        Constants.
    n_iter_ : array of shape (1,)
        Number of iterations of ``fit``.
    classes_ : array of shape (n_classes,)
        Classes, ascending.
    class_count_ : array of shape (n_classes,)
        Number of training rows of each class, or the sum of their weights.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : array of shape (n_features,)
        Names of the columns, if X was a data frame.

    See Also
    --------
    LinearDiscriminantAnalysis : The same form of posterior from Gaussian classes.

    Notes
    -----
    For two classes, and the softmax of w_cᵀx + b_c for more:

        P(c₁|x) = σ(wᵀx + b)

    ``fit`` minimises E in nats by Newton's method; b is not penalised:

        E(w) = Σ_n E_n + |w|² / (2C)

        E_n = −ln P(y_n|x_n)

    Without a penalty the likelihood of linearly separable rows has no maximum, and w grows without limit. ``fit`` gives
    a RuntimeWarning if the gradient is still large at the end.

    ``partial_fit`` takes a step for each row, without a penalty:

        w ← w − η s_n ∇E_n

        ∇E_n = (P(·|x_n) − t_n) x_nᵀ

    η is ``eta``, s_n is the weight of the row, and t_n is 1 for the class of the row and 0 for the others.
    The first call begins at w = 0, and a call after ``fit`` at the w of ``fit``.

    Source: Bishop, Pattern Recognition and Machine Learning, section 4.3.

    Examples
    --------
    >>> X, y = [[-2.0], [-1.0], [1.0], [2.0]], ["ham", "ham", "spam", "spam"]
    >>> model = LogisticRegression().fit(X, y)
    >>> model.predict([[-3.0], [0.5]]).tolist(), model.coef_.round(3).tolist()
    (['ham', 'spam'], [[1.007]])
    >>> LogisticRegression(C=1e6, tol=1e-9).fit(X, y).coef_.round(0).tolist()
    [[12.0]]
    >>> model = LogisticRegression(eta=0.5).partial_fit([[2.0], [-2.0]], ["spam", "ham"], classes=["ham", "spam"])
    >>> model.coef_.round(3).tolist(), model.intercept_.round(3).tolist()
    ([[0.821]], [0.09])
    """

    C: float = 1.0
    _: KW_ONLY
    tol: float = 1e-4
    max_iter: int = 1000
    eta: float = 0.1
    shuffle: bool = True
    random_state: int = 0
    fit_intercept: bool = True
    loss: Any = None

    def _get_class_counts(self) -> np.ndarray:
        return self.class_count_

    def fit(self, X: Any, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None) -> Self:
        from scipy.optimize import minimize

        X, y, weight = self._check_training(X, y, sample_weight, first=True)
        classes, codes = np.unique(y, return_inverse=True)
        for name in ("C", "tol", "max_iter"):
            check_number(self, name, infinite=name == "C")
        _check_two_classes(classes)
        if X.dtype.kind != "f":
            X = X.astype(float)
        share = np.full(len(codes), 1 / len(codes)) if weight is None else weight / weight.sum()
        penalty = 1 / (self.C * (len(codes) if weight is None else weight.sum()))
        error = CrossEntropy(X, codes, share, penalty, len(classes), self.fit_intercept)
        solution = minimize(
            error,
            np.zeros(error.n_activations * (X.shape[1] + 1)),
            method="trust-ncg",
            jac=True,
            hessp=error.curvature,
            options={"gtol": self.tol, "maxiter": self.max_iter},
        )
        # The search also stops if rounding hides a further decrease of E.
        if solution.status == 1 or not np.abs(solution.jac).max() <= max(self.tol, ZERO_GRADIENT):
            remedy = "raise max_iter, or " if solution.status == 1 else ""
            warnings.warn(
                f"LogisticRegression did not converge in {solution.nit} iterations: {remedy}scale the columns of X to "
                "mean 0 and variance 1",
                RuntimeWarning,
                stacklevel=2,
            )
        weights = solution.x.reshape(error.n_activations, -1)
        self.coef_: np.ndarray = weights[:, :-1].copy()
        self.intercept_: np.ndarray = weights[:, -1].copy()
        self.n_iter_ = np.array([solution.nit], dtype=np.int32)
        self.classes_, self.class_count_ = classes, np.bincount(codes, weight, len(classes)).astype(float)
        if not penalty and np.array_equal(self._scores(X).argmax(axis=1), codes):
            warnings.warn(
                "LogisticRegression: the classes are linearly separable, so without a penalty the likelihood has no "
                "maximum, and the weights depend on tol: give a finite C",
                RuntimeWarning,
                stacklevel=2,
            )
        return self

    def partial_fit(
        self, X: Any, y: ArrayLike, classes: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> Self:
        check_number(self, "eta")
        first_classes = self._first_classes(classes)
        X, y, weight = self._check_training(X, y, sample_weight, first=first_classes is not None)
        if first_classes is not None:
            _check_two_classes(first_classes)
            class_codes(y, first_classes)  # raises ValueError for a label of another class
            self.classes_, self.class_count_ = first_classes, np.zeros(len(first_classes))
            n_rows = 1 if len(first_classes) == 2 else len(first_classes)
            self.coef_, self.intercept_ = np.zeros((n_rows, X.shape[1])), np.zeros(n_rows)
        codes, is_sparse = class_codes(y, self.classes_), hasattr(X, "indptr")
        self.class_count_ = self.class_count_ + np.bincount(codes, weight, len(self.classes_))
        order = np.arange(len(codes))
        if self.shuffle:
            np.random.default_rng(self.random_state).shuffle(order)
        for n, code in zip(order.tolist(), codes[order].tolist()):
            row = slice(X.indptr[n], X.indptr[n + 1]) if is_sparse else n
            columns, x = (X.indices[row], X.data[row]) if is_sparse else (slice(None), X[row])
            residual = softmax(all_activations((self.coef_[:, columns] @ x + self.intercept_)[None]))[0]
            residual[code] -= 1
            step = self.eta * (1 if weight is None else weight[n]) * residual[-len(self.coef_) :]
            self.coef_[:, columns] -= np.outer(step, x)
            self.intercept_ -= step * self.fit_intercept
        return self

    @classmethod
    def of_weights(cls, coef: ArrayLike, intercept: ArrayLike, classes: ArrayLike, **params: Any) -> Self:
        """Return a model with given weights.

        Parameters
        ----------
        coef : array of shape (n_features,) or (n_classes, n_features)
            Weights; for two classes those of ``classes[1]``.
        intercept : float or array of shape (n_classes,)
            Constants.
        classes : array of shape (n_classes,)
            Classes, ascending.
        **params : dict
            Parameters of the constructor.

        Returns
        -------
        LogisticRegression
            The model, as after ``fit``.

        Raises
        ------
        ValueError
            If the weights are not those of as many classes.

        Examples
        --------
        >>> model = LogisticRegression.of_weights([1.0], -1.0, [0, 1])  # P(1|x) = σ(x − 1)
        >>> model.predict_proba([[1.0], [3.0]])[:, 1].round(3).tolist()
        [0.5, 0.881]
        """
        model = cls(**params)
        model.coef_, model.intercept_ = np.atleast_2d(np.array(coef, float)), np.atleast_1d(np.array(intercept, float))
        model.classes_ = check_labels(classes, cls.__name__)
        n = len(model.classes_)
        rows = 1 if n == 2 else n
        if n < 2 or model.coef_.shape[0] != rows or model.intercept_.shape != (rows,):
            raise ValueError(f"coef has {len(model.coef_)} rows for {n} classes: give {rows}, and {rows} intercepts")
        if not np.array_equal(model.classes_, np.unique(model.classes_)):
            raise ValueError(f"classes is {classes!r:.60}: give them sorted")
        model.n_features_in_, model.class_count_ = model.coef_.shape[1], np.zeros(n)
        return model

    def error(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> tuple[float, np.ndarray]:
        """Return the error E(w) of rows, which ``fit`` minimises, and its gradient.

        Parameters
        ----------
        X : array or sparse array of shape (n_samples, n_features)
            Rows.
        y : array of shape (n_samples,)
            Their classes.
        sample_weight : array of shape (n_samples,), default=None
            Weight of each row.

        Returns
        -------
        error : float
            Σ_n E_n + |w|²/(2C), in nats.
        gradient : array of shape (1, n_features + 1) or (n_classes, n_features + 1)
            ∇E by ``coef_`` and, in the last column, by ``intercept_``.

        Examples
        --------
        >>> model = LogisticRegression.of_weights([1.0], -1.0, [0, 1], C=np.inf)
        >>> error, gradient = model.error([[0.0], [2.0]], [0, 1])
        >>> round(error, 3), gradient.round(3).tolist()  # −2 ln σ(1), and Σ (y_n − t_n) x_n
        (0.627, [[-0.538, 0.0]])
        """
        check_fitted(self)
        X, y, weight = self._check_training(X, y, sample_weight, first=False)
        weight = np.ones(len(y)) if weight is None else weight
        codes, n = class_codes(y, self.classes_), len(self.classes_)
        error = CrossEntropy(X, codes, weight, 1 / self.C, n, self.fit_intercept)
        value, gradient = error(np.column_stack([self.coef_, self.intercept_]).ravel())
        return value, gradient.reshape(len(self.coef_), -1)

    def _scores(self, X: Any) -> np.ndarray:
        return all_activations(X @ self.coef_.T + self.intercept_)


def _check_two_classes(classes: np.ndarray) -> None:
    if len(classes) < 2:
        raise ValueError(
            "LogisticRegression needs samples of at least 2 classes in the data, but there is only one class: "
            f"{classes.tolist()[0]!r}"
        )
