"""Logistic regression, the discriminative counterpart: P(c|x) without a model of x.

It is the one model here that is no sum: rows are added by steps, and none can be forgotten or merged.
"""

from __future__ import annotations

import warnings
from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from spamnb.estimators.base import DecisionFunction, class_codes
from spamnb.estimators.validation import check_number, feature_names
from spamnb.formulas.cross_entropy import CrossEntropy, with_first_of_two
from spamnb.formulas.softmax import softmax

ZERO_GRADIENT = 1e-6  # a gradient component that is as good as none


@dataclass(eq=False, repr=False)
class LogisticRegression(DecisionFunction):
    """Logistic regression with a quadratic penalty.

    X is dense or sparse.

    Parameters
    ----------
    C : float, default=1.0
        Inverse of the penalty. inf leaves the penalty out, and warns if the classes are linearly separable.
    tol : float, default=1e-4
        ``fit`` stops if the gradient, divided by the number of rows, is at most this long.
    max_iter : int, default=1000
        The most iterations of ``fit``.
    eta : float, default=0.1
        Size of the steps of ``partial_fit``.

    Attributes
    ----------
    coef_ : array of shape (1, n_features) or (n_classes, n_features)
        Weights, of two classes those of ``classes_[1]``.
    intercept_ : array of shape (1,) or (n_classes,)
        Constants.
    n_iter_ : array of shape (1,)
        Iterations of ``fit``.
    classes_ : array of shape (n_classes,)
        Classes, ascending.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : array of shape (n_features,)
        Names of the columns, if X was a data frame.

    See Also
    --------
    LinearDiscriminantAnalysis : The same posterior from Gaussian classes.

    Notes
    -----
    P(c|x) = σ(wᵀx + b) for two classes, softmax of w_cᵀx + b_c for more. ``fit`` minimises Σ_n E_n + |w|²/(2C) with
    E_n = −ln P(y_n|x_n) in nats, by Newton's method; b is not penalised. Without a penalty the likelihood of linearly
    separable rows has no maximum: w grows for ever while the boundary hardens into a step. ``partial_fit`` descends the
    gradient row by row, without a penalty: w ← w − ``eta`` ∇E_n.

    Source: Bishop, Pattern Recognition and Machine Learning, section 4.3.

    Examples
    --------
    >>> X, y = [[-2.0], [-1.0], [1.0], [2.0]], ["ham", "ham", "spam", "spam"]
    >>> model = LogisticRegression().fit(X, y)
    >>> model.predict([[-3.0], [0.5]]).tolist(), model.coef_.round(3).tolist()
    (['ham', 'spam'], [[1.007]])
    >>> LogisticRegression(C=1e6, tol=1e-9).fit(X, y).coef_.round(0).tolist()
    [[12.0]]
    """

    C: float = 1.0
    _: KW_ONLY
    tol: float = 1e-4
    max_iter: int = 1000
    eta: float = 0.1

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn from these rows alone, forgetting all rows that were learned before.

        A RuntimeWarning says what helps if the gradient is still large at the end.

        Parameters
        ----------
        X : array or sparse array of shape (n_samples, n_features)
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
            If there are fewer than two classes, or a parameter is not positive.
        """
        from scipy.optimize import minimize

        names = feature_names(X)
        X, y, weight = self._check_training(X, y, sample_weight, first=True)
        classes, codes = np.unique(y, return_inverse=True)
        for name in ("C", "tol", "max_iter"):
            check_number(self, name, infinite=name == "C")
        _check_several(classes)
        if X.dtype.kind != "f":
            X = X.astype(float)
        share = np.full(len(codes), 1 / len(codes)) if weight is None else weight / weight.sum()
        penalty = 1 / (self.C * (len(codes) if weight is None else weight.sum()))
        error = CrossEntropy(X, codes, share, penalty, len(classes))
        solution = minimize(
            error,
            np.zeros(error.rows * (X.shape[1] + 1)),
            method="trust-ncg",
            jac=True,
            hessp=error.curvature,
            options={"gtol": self.tol, "maxiter": self.max_iter},
        )
        # It also stops where rounding lets E fall no further. With columns of like sizes the gradient is then below
        # ZERO_GRADIENT; with columns of unlike sizes it may be anything.
        if solution.status == 1 or not np.abs(solution.jac).max() <= max(self.tol, ZERO_GRADIENT):
            remedy = "raise max_iter, or " if solution.status == 1 else ""
            warnings.warn(
                f"LogisticRegression did not converge in {solution.nit} iterations: {remedy}scale the columns of X to "
                "like sizes, around 0",
                RuntimeWarning,
                stacklevel=2,
            )
        weights = solution.x.reshape(error.rows, -1)
        self.coef_, self.intercept_ = weights[:, :-1].copy(), weights[:, -1].copy()
        self.n_iter_ = np.array([solution.nit], dtype=np.int32)
        self._remember(classes, X.shape[1], names)
        if not penalty and np.array_equal(self._scores(X).argmax(axis=1), codes):
            warnings.warn(
                "LogisticRegression: the classes are linearly separable, so without a penalty their likelihood has "
                "no maximum and the weights stand where tol ended the search: give a finite C",
                RuntimeWarning,
                stacklevel=2,
            )
        return self

    def partial_fit(
        self, X: Any, y: ArrayLike, classes: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Take a step w ← w − ``eta`` s_n ∇E_n for each row in its order, with ∇E_n = (P(·|x_n) − t_n) x_nᵀ.

        The first call begins at w = 0; after ``fit`` it goes on from there.

        Parameters
        ----------
        X : array or sparse array of shape (n_samples, n_features)
            More training rows.
        y : array of shape (n_samples,)
            Their classes.
        classes : array of shape (n_classes,), default=None
            All classes that will ever come; the first call needs them.
        sample_weight : array of shape (n_samples,), default=None
            Factor s_n of each step; None is 1.

        Returns
        -------
        Self
            The updated model.

        Raises
        ------
        ValueError
            If the classes are missing or are not those of the first call, or ``eta`` is not positive.

        Examples
        --------
        >>> model = LogisticRegression(eta=0.5).partial_fit([[2.0], [-2.0]], ["spam", "ham"], classes=["ham", "spam"])
        >>> model.coef_.round(3).tolist(), model.intercept_.round(3).tolist()
        ([[0.821]], [0.09])
        """
        check_number(self, "eta")
        first, names = self._first_classes(classes), feature_names(X)
        X, y, weight = self._check_training(X, y, sample_weight, first=first is not None)
        if first is not None:
            _check_several(first)
            class_codes(y, first)
            self._remember(first, X.shape[1], names)
            rows = 1 if len(first) == 2 else len(first)
            self.coef_, self.intercept_ = np.zeros((rows, X.shape[1])), np.zeros(rows)
        codes, is_sparse = class_codes(y, self.classes_), hasattr(X, "indptr")
        for n, code in enumerate(codes.tolist()):
            row = slice(X.indptr[n], X.indptr[n + 1]) if is_sparse else n
            columns, x = (X.indices[row], X.data[row]) if is_sparse else (slice(None), X[row])
            residual = softmax(with_first_of_two((self.coef_[:, columns] @ x + self.intercept_)[None]))[0]
            residual[code] -= 1
            step = self.eta * (1 if weight is None else weight[n]) * residual[-len(self.coef_) :]
            self.coef_[:, columns] -= np.outer(step, x)
            self.intercept_ -= step
        return self

    def _scores(self, X: Any) -> np.ndarray:
        return with_first_of_two(X @ self.coef_.T + self.intercept_)


def _check_several(classes: np.ndarray) -> None:
    if len(classes) < 2:
        raise ValueError(
            "LogisticRegression needs samples of at least 2 classes in the data, but there is only one class: "
            f"{classes[0]!r}"
        )
