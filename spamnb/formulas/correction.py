"""The correction of naive Bayes: a penalised softmax regression with its scores as offsets, as a sum over messages.

    minimise over W:  |W|²/2 + C Σ_i −log softmax(o_i + W x_i)[y_i]

o_i are naive Bayes' scores of message i in the model without it, in nats of log-odds; x_i has 1/√n at each of
the message's n tokens. Where the gradient is zero

    W = Σ_i c_i x_iᵀ,    c_ik = C ([k = y_i] − p_ik)

so the contribution of a message is a coefficient for each class, and these sum to 0. W is the sum of all
contributions: learning adds one, forgetting subtracts it, and merging adds two sums. Most coefficients are nearly 0,
because naive Bayes is mostly right. The dual problem is solved one message at a time (Yu, Huang and Lin, "Dual
coordinate descent methods for logistic regression and maximum entropy models", Machine Learning 85, 2011): each step
finds the coefficients of one message, while those of all others stay.

C is multiplied by the trust in the label of the message (formulas/trust.py). Without it, W would be fitted to the wrong
labels, because they have the largest gradients (Bootkrajang and Kabán, "Label-noise robust logistic regression and its
applications", ECML 2012).

Contributions are whole multiples of UNIT for each token of the message, because the sum of whole numbers does not
depend on their order. Messages are visited in order, in a training and when one message is learned. The loops are in C,
``core/fit.c``, and run without Python's lock.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from spamnb.core.fit import FitRows

# docs/experiments.md#correction has the figures that decided.
PENALTY = 500.0  # C of messages that are fitted together
LEARNING_PENALTY = 50.0  # C of a message that is learned: the others cannot be adjusted to it, so it may change less
NEGLIGIBLE = 0.1  # nats: a smaller coefficient becomes 0 if there are many classes, or one message is learned
HARD = 0.5  # nats: a message with a coefficient of this size is a hard example
UNIT = 2.0**-16  # nats: contributions are whole multiples of it, so that sums are exact
TOLERANCE = 0.01  # nats: a pass that changes no coefficient by more is the last


class Problem(NamedTuple):
    """n messages whose scores are to be corrected."""

    rows: FitRows  # the columns of their tokens
    values: np.ndarray  # (n,) 1/√(tokens of the message), so that rows have length 1
    offsets: np.ndarray  # (n, C) nats: the scores of naive Bayes
    labels: np.ndarray  # (n,) class numbers

    @classmethod
    def of(
        cls, begins: np.ndarray, ends: np.ndarray, columns: np.ndarray, n_columns: int, offsets: np.ndarray,
        labels: np.ndarray,
    ) -> Problem:  # fmt: skip
        """Make the problem of messages i, whose tokens have the columns ``columns[begins[i] : ends[i]]``."""
        rows = FitRows(begins, ends, columns, n_columns)
        return cls(rows, 1 / np.sqrt(np.maximum(ends - begins, 1)), np.ascontiguousarray(offsets), labels)

    def ascend(
        self,
        visits: np.ndarray,
        noise: float,
        passes: int,
        contributions: np.ndarray,
        weights: np.ndarray,
        *,
        penalty: float,
        least: float,
    ) -> int:
        """Fit these messages (m,), ascending, in at most ``passes`` passes; return the number of passes.

        ``contributions`` (n, C - 1), what each message adds to the weight of each of its tokens, and ``weights``
        (V, C - 1), their sums, are int64 multiples of UNIT for all classes but the first, and are changed in place. A
        coefficient below ``least`` nats becomes 0.
        """
        parameters = {"penalty": penalty, "noise": noise, "unit": UNIT, "least": least}
        for number in range(1, passes + 1):
            if self.rows.sweep(*self[1:], visits, contributions, weights, **parameters) < TOLERANCE:
                return number
        return passes

    def take_out(self, messages: np.ndarray, contributions: np.ndarray, weights: np.ndarray) -> None:
        """Subtract the contributions of these messages (m,), ascending, from ``weights``, in place."""
        self.rows.take_out(*self[1:], messages, contributions, weights)

    def scores(self, messages: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Return the scores (m, C) of these messages (m,), ascending, by ``weights`` (V, C - 1) without them."""
        return self.rows.scores(*self[1:], messages, weights, unit=UNIT)

    def sizes(self, contributions: np.ndarray) -> np.ndarray:
        """Return the largest coefficient (n,) of each message, in nats."""
        return np.abs(with_first(contributions)).max(axis=1) * UNIT / self.values


def with_first(units: np.ndarray) -> np.ndarray:
    """Return the units (k, C) of all classes, which sum to 0, from ``units`` (k, C - 1) of all but the first.

    >>> with_first(np.array([[2, -5]]))
    array([[ 3,  2, -5]])
    """
    return np.concatenate([-units.sum(axis=1, keepdims=True), units], axis=1)
