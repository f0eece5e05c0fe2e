"""The error that logistic regression minimises, with its first and second derivative.

    E(w) = Σ_n s_n E_n + λ |w|²/2        E_n = −ln P(y_n|x_n), nats        Σ_n s_n = 1

w holds a row of d weights and a constant, which is not penalised, for each class, or one row for two classes. The
probabilities at the last w are kept: a step of Newton's method asks for the curvature there dozens of times, and
without them each would cost three products with X in place of two.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from spamnb.estimators.base import over_classes


class CrossEntropy:
    """E for two classes: P(1|x) = σ(wᵀx + b). ``codes`` (n,) are 0 or 1, ``share`` (n,) the s_n.

    >>> error = CrossEntropy(np.array([[1.0], [-1.0]]), np.array([1, 0]), np.array([0.5, 0.5]), 0.0)
    >>> value, gradient = error(np.array([0.0, 0.0]))
    >>> round(value, 6) == round(float(np.log(2)), 6), gradient.tolist()
    (True, [-0.5, 0.0])
    """

    rows = 1

    def __init__(self, X: Any, codes: np.ndarray, share: np.ndarray, penalty: float) -> None:
        self.X, self.codes, self.share, self.penalty = X, codes, share, penalty
        self._at = np.full(self.rows * (X.shape[1] + 1), np.nan)

    def _activation(self, w: np.ndarray) -> np.ndarray:
        """wᵀx + b of every row, (n, rows)."""
        w = w.reshape(self.rows, -1)
        return self.X @ w[:, :-1].T + w[:, -1]

    def _back(self, residual: np.ndarray, w: np.ndarray) -> np.ndarray:
        """Σ_n residual_n x_n + λ w, flat, from residuals (n, rows)."""
        w = w.reshape(self.rows, -1)
        product = np.empty_like(w)
        product[:, :-1] = (self.X.T @ residual).T + self.penalty * w[:, :-1]
        product[:, -1] = residual.sum(axis=0)
        return product.ravel()

    def _move(self, w: np.ndarray) -> None:
        """Sets what depends on w alone: the error without penalty, its residuals, and the curvature's factors."""
        activation = self._activation(w)[:, 0]
        shrunk = np.exp(-np.abs(activation))
        log_odds = np.maximum(activation, 0) - self.codes * activation
        self._error = float(self.share @ (np.log1p(shrunk) + log_odds))
        residual = np.where(activation >= 0, 1.0, shrunk) / (1 + shrunk) - self.codes
        self._residual = (self.share * residual)[:, None]
        self._factor = (self.share * shrunk / np.square(1 + shrunk))[:, None]

    def _bend(self, moved: np.ndarray) -> np.ndarray:
        """The change of the residuals when the activations change by ``moved`` (n, rows)."""
        return self._factor * moved

    def _go(self, w: np.ndarray) -> None:
        if not np.array_equal(w, self._at):
            self._move(w)
            self._at = w.copy()

    def __call__(self, w: np.ndarray) -> tuple[float, np.ndarray]:
        """E(w) and its gradient."""
        self._go(w)
        weights = w.reshape(self.rows, -1)[:, :-1]
        value = self._error + 0.5 * self.penalty * float(np.square(weights).sum())
        return value, self._back(self._residual, w)

    def curvature(self, w: np.ndarray, v: np.ndarray) -> np.ndarray:
        """The second derivative at w, times v."""
        self._go(w)
        return self._back(self._bend(self._activation(v)), v)


class ManyClassCrossEntropy(CrossEntropy):
    """E for the softmax of ``classes`` activations."""

    def __init__(self, X: Any, codes: np.ndarray, share: np.ndarray, penalty: float, classes: int) -> None:
        self.rows = classes
        super().__init__(X, codes, share, penalty)

    def _move(self, w: np.ndarray) -> None:
        joint = self._activation(w)
        joint -= over_classes(np.maximum, joint)
        probability = np.exp(joint)
        total = over_classes(np.add, probability)
        each = np.arange(len(self.codes))
        self._error = float(self.share @ (np.log(total[:, 0]) - joint[each, self.codes]))
        probability /= total
        self._residual = probability * self.share[:, None]
        self._residual[each, self.codes] -= self.share
        self._probability = probability

    def _bend(self, moved: np.ndarray) -> np.ndarray:
        moved = moved - np.einsum("ij,ij->i", self._probability, moved)[:, None]
        moved *= self._probability
        moved *= self.share[:, None]
        return moved
