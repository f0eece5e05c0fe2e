"""Logistic regression, the discriminative counterpart: P(c|x) without a model of x.

It is the one model here that is no sum: nothing can be added, forgotten or merged.
"""

from __future__ import annotations

import warnings
from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from spamnb.estimators.base import DecisionFunction
from spamnb.estimators.validation import check_number, feature_names
from spamnb.formulas.cross_entropy import CrossEntropy, with_first_of_two

ZERO_GRADIENT = 1e-6  # a gradient component that is as good as none


@dataclass(eq=False, repr=False)
class LogisticRegression(DecisionFunction):
    """P(c|x) = σ(wᵀx + b) for two classes, softmax of w_cᵀx + b_c for more.

    ``fit`` minimises Σ_n E_n + |w|²/(2C), E_n = −ln P(y_n|x_n) in nats, by Newton's method; b is not penalised. As the
    penalty bounds w, linearly separable rows do no harm: without one their likelihood has no maximum, and w grows for
    ever while the boundary hardens into a step.

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

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn from X (n, d) and its labels alone, forgetting what was learned before."""
        from scipy.optimize import minimize

        names = feature_names(X)
        X, y, weight = self._check_training(X, y, sample_weight, first=True)
        classes, codes = np.unique(y, return_inverse=True)
        for name in ("C", "tol", "max_iter"):
            check_number(name, getattr(self, name))
        if len(classes) < 2:
            raise ValueError(
                "LogisticRegression needs samples of at least 2 classes in the data, but there is only one class: "
                f"{classes[0]!r}"
            )
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
        return self

    def class_scores(self, X: Any) -> np.ndarray:
        return with_first_of_two(X @ self.coef_.T + self.intercept_)
