"""Logistic regression, the discriminative counterpart: P(c|x) without a model of x.

It is the one model here that is no sum: nothing can be forgotten or merged, but it learns in a batch and in
steps.
"""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from spamnb.estimators.base import BaseClassifier
from spamnb.estimators.cross_entropy import CrossEntropy, ManyClassCrossEntropy
from spamnb.estimators.discriminant import QuadraticForm
from spamnb.estimators.validation import not_fitted

ZERO_GRADIENT = 1e-6  # a gradient component that is as good as none


class LogisticRegression(BaseClassifier):
    """P(c|x) = σ(wᵀx + b) for two classes, softmax of w_cᵀx + b_c for more.

    ``fit`` minimises Σ_n E_n + |w|²/(2C), E_n = −ln P(y_n|x_n) in nats, by L-BFGS on dense rows and Newton's method on
    sparse ones; b is not penalised. As the penalty bounds w, linearly separable rows do no harm: without one their
    likelihood has no maximum, and w grows for ever while the boundary hardens into a step.

    ``partial_fit`` makes one step w ← w − η_n (∇E_n + w/(C n)) per row, ∇E_n = (P(c|x_n) − [y_n = c]) x_n, n counting
    all rows so far; it starts from where ``fit`` or the last call ended. η_n = min(1, learning_rate/√n)/L, where
    L = (1 + |x|²)/4 for two classes and /2 for more bounds E_n's curvature along x: no step, however long its row,
    makes the error on that row larger, so nothing diverges. A row of weight s makes s times the step, as long as that
    is not beyond 1/L either.

    X (n, d) dense or sparse. ``coef_`` (1, d) and ``intercept_`` (1,) for two classes, else (C, d) and (C,);
    ``n_iter_`` (1,) iterations of ``fit``, ``n_seen_`` rows so far. ``tol`` is the largest gradient component, per
    row, at which ``fit`` stops; a RuntimeWarning says when ``max_iter`` or the end of what doubles can tell came
    first. Raises ValueError for fewer than two classes and parameters that are not positive.
    Source: Bishop, Pattern Recognition and Machine Learning, section 4.3.

    >>> X, y = [[-2.0], [-1.0], [1.0], [2.0]], ["ham", "ham", "spam", "spam"]
    >>> model = LogisticRegression().fit(X, y)
    >>> model.predict([[-3.0], [0.5]]).tolist(), model.coef_.round(3).tolist()
    (['ham', 'spam'], [[1.007]])
    >>> LogisticRegression(C=1e6, tol=1e-9).fit(X, y).coef_.round(0).tolist()
    [[12.0]]
    """

    n_iter_: np.ndarray
    coef_: np.ndarray
    intercept_: np.ndarray

    # learning_rate: smaller ones end nearer the minimum, larger ones get there in fewer passes; see
    # docs/experiments.md#logistic-regression.
    def __init__(self, C: float = 1.0, *, learning_rate: float = 10.0, tol: float = 1e-4, max_iter: int = 1000) -> None:
        self.C = C
        self.learning_rate = learning_rate
        self.tol = tol
        self.max_iter = max_iter

    def _check_parameters(self, classes: np.ndarray) -> None:
        for name in ("C", "learning_rate", "tol", "max_iter"):
            value = getattr(self, name)
            if not (np.isfinite(value) and value > 0):
                raise ValueError(f"{name}={value!r}: must be positive and finite")
        if len(classes) < 2:
            raise ValueError(
                f"LogisticRegression needs samples of at least 2 classes in the data, but there is only one "
                f"class: {classes[0]!r}"
            )

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn from X (n, d) and its labels alone, forgetting what was learned before.

        >>> import spamnb
        >>> X, y = [[1.0], [2.0], [7.0], [9.0]], ["low", "low", "high", "high"]
        >>> model = spamnb.LogisticRegression().fit(X, y)
        >>> model.predict([[1.5], [8.0]]).tolist()
        ['low', 'high']
        """
        from scipy.optimize import minimize

        X, y, weight, names = self._check_training(X, y, sample_weight, first=True)
        classes, codes = np.unique(y, return_inverse=True)
        self._check_parameters(classes)
        if X.dtype.kind != "f":
            X = X.astype(float)
        share = np.full(len(codes), 1 / len(codes)) if weight is None else weight / weight.sum()
        penalty = 1 / (self.C * (len(codes) if weight is None else weight.sum()))
        error = (
            CrossEntropy(X, codes, share, penalty)
            if len(classes) == 2
            else ManyClassCrossEntropy(X, codes, share, penalty, len(classes))
        )
        # L-BFGS is faster on dense rows; on sparse rows of many columns it stops too early
        # (docs/experiments.md#logistic-regression).
        dense = isinstance(X, np.ndarray)
        options: dict[str, Any] = {"gtol": self.tol, "maxiter": self.max_iter}
        found = minimize(
            error,
            np.zeros(error.rows * (X.shape[1] + 1)),
            method="L-BFGS-B" if dense else "trust-ncg",
            jac=True,
            hessp=None if dense else error.curvature,
            options=options | ({"ftol": 64 * np.finfo(float).eps, "maxls": 50} if dense else {}),
        )
        # L-BFGS also stops where rounding lets E fall no further. With columns of like sizes the gradient is then below
        # ZERO_GRADIENT; with columns of unlike sizes it may be anything.
        if found.status == 1 or not np.abs(found.jac).max() <= max(self.tol, ZERO_GRADIENT):
            warnings.warn(
                f"LogisticRegression did not converge in {found.nit} iterations: scale the columns of X to "
                "like sizes, or raise max_iter",
                RuntimeWarning,
                stacklevel=2,
            )
        solution = found.x.reshape(error.rows, -1)
        self.coef_, self.intercept_ = solution[:, :-1].copy(), solution[:, -1].copy()
        self.n_iter_ = np.array([found.nit], dtype=np.int32)
        self.n_seen_ = len(codes)
        self._remember(classes, X.shape[1], names)
        return self

    def set_weights(self, classes: ArrayLike, coef: np.ndarray, intercept: np.ndarray, n_seen: int) -> Self:
        """Take over weights that were fitted before: ``classes_`` (C,), ``coef_``, ``intercept_`` and ``n_seen_``.

        >>> import numpy as np, spamnb
        >>> model = spamnb.LogisticRegression()
        >>> model = model.set_weights(["ham", "spam"], np.array([[1.0, -1.0]]), np.array([0.0]), 10)
        >>> model.predict([[2, 0], [0, 2]]).tolist()
        ['spam', 'ham']
        """
        self._remember(np.asarray(classes), coef.shape[1], None)
        self.coef_, self.intercept_, self.n_seen_ = coef, intercept, n_seen
        return self

    def partial_fit(
        self, X: Any, y: ArrayLike, classes: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> Self:
        """One step per row, in the order given. The first call must name all ``classes`` that will ever come.

        >>> import spamnb
        >>> X, y = [[1.0], [2.0], [7.0], [9.0]], ["low", "low", "high", "high"]
        >>> model = spamnb.LogisticRegression().fit(X, y)
        >>> model.partial_fit([[6.0]], ["high"]).n_seen_
        5
        """
        first = not hasattr(self, "classes_")
        if first and classes is None:
            raise ValueError("classes must be passed on the first call to partial_fit.")
        known = np.unique(np.asarray(classes)) if first else self.classes_
        if not first and classes is not None and not np.array_equal(np.sort(np.asarray(classes)), known):
            raise ValueError(f"`classes={classes!r}` is not the same as on last call to partial_fit, was: {known!r}")
        X, y, weight, names = self._check_training(X, y, sample_weight, first=first)
        self._check_parameters(known)
        codes = self._codes(y, known)
        if first:
            self._remember(known, X.shape[1], names)
            rows = 1 if len(known) == 2 else len(known)
            self.coef_, self.intercept_, self.n_seen_ = np.zeros((rows, X.shape[1])), np.zeros(rows), 0
        self._step(X, codes, np.ones(len(codes)) if weight is None else weight)
        return self

    def _step(self, X: Any, codes: np.ndarray, weight: np.ndarray) -> None:
        two = len(self.classes_) == 2
        target = codes[:, None] == (np.array([1]) if two else np.arange(len(self.classes_)))
        # w = scale · v, so that the penalty of a step does not touch the columns that a sparse row lacks.
        v, b, scale, n = self.coef_.T.copy(), self.intercept_.copy(), 1.0, self.n_seen_
        dense = isinstance(X, np.ndarray)
        for i in range(X.shape[0]):
            if dense:
                columns, values = slice(None), X[i]
            else:
                columns = X.indices[X.indptr[i] : X.indptr[i + 1]]
                values = X.data[X.indptr[i] : X.indptr[i + 1]]
            values = values.astype(float)
            n += 1
            activation = scale * (values @ v[columns]) + b
            residual = weight[i] * (_probability(activation) - target[i])
            curvature = (1 + values @ values) * (0.25 if two else 0.5)
            rate = min(1 / weight[i], self.learning_rate / np.sqrt(n)) / curvature if weight[i] else 0.0
            scale /= 1 + rate / (self.C * n)  # the implicit form of − η w/(C n): it cannot overshoot
            v[columns] -= np.multiply.outer(values, residual * (rate / scale))
            b -= rate * residual
        self.coef_, self.intercept_, self.n_seen_ = scale * v.T, b, n

    def class_scores(self, X: Any) -> np.ndarray:
        score = X @ self.coef_.T + self.intercept_
        return score if score.shape[1] > 1 else np.column_stack([np.zeros(len(score)), score])

    def decision_function(self, X: Any) -> np.ndarray:
        """Log-odds of ``classes_[1]``, (n,), nats; with more than two classes every class's score, (n, C).

        >>> import spamnb
        >>> X, y = [[1.0], [2.0], [7.0], [9.0]], ["low", "low", "high", "high"]
        >>> model = spamnb.LogisticRegression().fit(X, y)
        >>> (model.decision_function(X) > 0).tolist()
        [True, True, False, False]
        """
        joint = self.class_scores(self._check_X(X))
        return joint[:, 1] if joint.shape[1] == 2 else joint

    def quadratic_form(self) -> QuadraticForm:
        """The scores as polynomials of x, for explanations: linear.

        >>> import spamnb
        >>> X, y = [[1.0], [2.0], [7.0], [9.0]], ["low", "low", "high", "high"]
        >>> model = spamnb.LogisticRegression().fit(X, y)
        >>> model.quadratic_form().linear.shape
        (2, 1)
        """
        if not hasattr(self, "coef_"):
            raise not_fitted(self)
        if len(self.coef_) > 1:
            return QuadraticForm(None, self.coef_, self.intercept_)
        linear = np.vstack([np.zeros_like(self.coef_), self.coef_])
        return QuadraticForm(None, linear, np.array([0.0, self.intercept_[0]]))


def _probability(activation: np.ndarray) -> np.ndarray:
    """P(c|x) of one row: of the second class (1,), or of every class (C,)."""
    if len(activation) == 1:
        return np.exp(-np.logaddexp(0.0, -activation))
    weights = np.exp(activation - activation.max())
    return weights / weights.sum()
