"""The error that logistic regression minimises, with its first and second derivative.

    E(w) = Σ_n s_n E_n + λ |w|²/2        E_n = −ln P(y_n|x_n), nats        Σ_n s_n = 1

P is the softmax of the classes' activations w_cᵀx + b_c. With two classes the activation of the first is 0, so that
P(1|x) is σ of the activation of the second. The constants b_c are not penalised. The probabilities at the last w are
stored, because a step of Newton's method computes dozens of curvatures at the same w.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from spamnb.model.softmax import log_softmax


def all_activations(activation: np.ndarray) -> np.ndarray:
    """Return the activations (n, C) of all classes. For two classes ``activation`` lacks the first."""
    return activation if activation.shape[1] > 1 else np.column_stack([np.zeros(len(activation)), activation])


class CrossEntropy:
    """E for rows X (n, d) with the class numbers ``codes`` (n,). ``share`` (n,) is s, and ``penalty`` is λ.

    w is flat: d weights and a constant for each activation. Without ``has_constants`` the derivative by a
    constant is 0, so that it stays as it is. Two classes have one activation, C > 2 classes have C.

    >>> error = CrossEntropy(np.array([[1.0], [-1.0]]), np.array([1, 0]), np.array([0.5, 0.5]), 0.0, classes=2)
    >>> value, gradient = error(np.array([0.0, 0.0]))
    >>> round(value, 6) == round(float(np.log(2)), 6), gradient.tolist()
    (True, [-0.5, 0.0])
    """

    def __init__(
        self, X: Any, codes: np.ndarray, share: np.ndarray, penalty: float, classes: int, has_constants: bool = True
    ) -> None:
        self.has_constants = has_constants
        self.X, self.codes, self.share, self.penalty = X, codes, share, penalty
        self.n_activations = 1 if classes == 2 else classes
        self._last_w = np.full(self.n_activations * (X.shape[1] + 1), np.nan)

    def _activation(self, w: np.ndarray) -> np.ndarray:
        """Return wᵀx + b of every row, (n, n_activations)."""
        w = w.reshape(self.n_activations, -1)
        return self.X @ w[:, :-1].T + w[:, -1]

    def _gradient(self, residual: np.ndarray, w: np.ndarray) -> np.ndarray:
        """Return Σ_n residual_n x_n + λ w, flat, from residuals (n, n_activations)."""
        w = w.reshape(self.n_activations, -1)
        product = np.empty_like(w)
        product[:, :-1] = (self.X.T @ residual).T + self.penalty * w[:, :-1]
        product[:, -1] = residual.sum(axis=0) * self.has_constants
        return product.ravel()

    def _move_to(self, w: np.ndarray) -> None:
        """If w has changed, compute the error without penalty, its residuals and the probabilities at w."""
        if np.array_equal(w, self._last_w):
            return
        log_p = log_softmax(all_activations(self._activation(w)))
        rows = np.arange(len(self.codes))
        self._error = -float(self.share @ log_p[rows, self.codes])
        p = np.exp(log_p)
        residual = p * self.share[:, None]
        residual[rows, self.codes] -= self.share
        self._probability, self._residual = p[:, -self.n_activations :], residual[:, -self.n_activations :]
        self._last_w = w.copy()

    def __call__(self, w: np.ndarray) -> tuple[float, np.ndarray]:
        """Return E(w) and its gradient."""
        self._move_to(w)
        weights = w.reshape(self.n_activations, -1)[:, :-1]
        value = self._error + 0.5 * self.penalty * float(np.square(weights).sum())
        return value, self._gradient(self._residual, w)

    def curvature(self, w: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Return the second derivative at w, times v."""
        self._move_to(w)
        change = self._activation(v)
        change -= np.einsum("ij,ij->i", self._probability, change)[:, None]
        change *= self._probability
        change *= self.share[:, None]  # the change of the residuals
        return self._gradient(change, v)  # the gradient is linear in the residuals and w, so this is its change
