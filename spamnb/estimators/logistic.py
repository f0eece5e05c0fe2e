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
    """P(c|x) = σ(wᵀx + b) for two classes, softmax of w_cᵀx + b_c for more.

    ``fit`` minimises Σ_n E_n + |w|²/(2C), E_n = −ln P(y_n|x_n) in nats, by Newton's method; b is not penalised. As the
    penalty bounds w, linearly separable rows do no harm: without one their likelihood has no maximum, and w grows for
    ever while the boundary hardens into a step. ``C=inf`` leaves the penalty out, and warns where that happens.
    ``partial_fit`` goes down the gradient row by row, without a penalty: w ← w − ``eta`` ∇E_n.

    X (n, d) dense or sparse. ``coef_`` (1, d) and ``intercept_`` (1,) for two classes, else (C, d) and (C,);
    ``n_iter_`` (1,) iterations. ``fit`` stops where the length of the gradient, per row, is at most ``tol``,
    or where rounding lets the sum fall no further. A RuntimeWarning says where the gradient is still large then, or
    ``max_iter`` iterations were not enough, and what helps. Raises
    ValueError for fewer than two classes and parameters that are not positive.
    Source: Bishop, Pattern Recognition and Machine Learning, section 4.3.

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
        """Learn from X (n, d) and its labels alone, forgetting what was learned before."""
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
        found = minimize(
            error,
            np.zeros(error.rows * (X.shape[1] + 1)),
            method="trust-ncg",
            jac=True,
            hessp=error.curvature,
            options={"gtol": self.tol, "maxiter": self.max_iter},
        )
        # It also stops where rounding lets E fall no further. With columns of like sizes the gradient is then below
        # ZERO_GRADIENT; with columns of unlike sizes it may be anything.
        if found.status == 1 or not np.abs(found.jac).max() <= max(self.tol, ZERO_GRADIENT):
            remedy = "raise max_iter, or " if found.status == 1 else ""
            warnings.warn(
                f"LogisticRegression did not converge in {found.nit} iterations: {remedy}scale the columns of X to "
                "like sizes, around 0",
                RuntimeWarning,
                stacklevel=2,
            )
        solution = found.x.reshape(error.rows, -1)
        self.coef_, self.intercept_ = solution[:, :-1].copy(), solution[:, -1].copy()
        self.n_iter_ = np.array([found.nit], dtype=np.int32)
        self._remember(classes, X.shape[1], names)
        if not penalty and np.array_equal(self.class_scores(X).argmax(axis=1), codes):
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
        """Take a step w ← w − ``eta`` s_n ∇E_n, ∇E_n = (P(·|x_n) − t_n) x_nᵀ, for each row in its order, with s_n its
        weight or 1. The first call must name all ``classes``, and begins at w = 0; after ``fit`` it goes on from there.

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

    def class_scores(self, X: Any) -> np.ndarray:
        return with_first_of_two(X @ self.coef_.T + self.intercept_)


def _check_several(classes: np.ndarray) -> None:
    if len(classes) < 2:
        raise ValueError(
            "LogisticRegression needs samples of at least 2 classes in the data, but there is only one class: "
            f"{classes[0]!r}"
        )
