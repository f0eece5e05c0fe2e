"""What naive Bayes gets wrong, corrected: a penalised softmax on top of its scores, kept as a sum over messages.

    minimise over W:  |W|²/2 + C Σ_i −log softmax(o_i + W x_i)[y_i]

o_i are naive Bayes' scores of message i in the model without it, in nats of log-odds; x_i has 1/√n at each of
the message's n tokens. Where the gradient is zero

    W = Σ_i c_i x_iᵀ,    c_ik = C ([k = y_i] − p_ik)

so the contribution of a message is one coefficient a class, which sum to 0, and W is the sum of the contributions:
learning adds, forgetting subtracts, models merge. Naive Bayes being mostly right, most coefficients are nearly 0. The
dual problem is solved one message at a time (Yu, Huang and Lin, "Dual coordinate descent methods for logistic
regression and maximum entropy models", Machine Learning 85, 2011): the coefficients that fit a message while all others
stay.

C is multiplied by the trust in the message's label (formulas/trust.py), by what all other messages say of it: a wrong
label has a large gradient, and would be what W is fitted to (Bootkrajang and Kabán, "Label-noise robust logistic
regression and its applications", ECML 2012).

What is kept are whole multiples of UNIT, the step by which a message moves each of its tokens' weights: whole numbers
add up to the same in every order. Messages are visited in order, whether there are all messages of a training or one
that is learned by itself. The loops are C, ``core/fit.c``, and run without Python's lock.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from spamnb.core.fit import FitRows

# docs/experiments.md#correction has the figures that decided.
PENALTY = 500.0  # C where messages are fitted together
LEARNING_PENALTY = 50.0  # C of a message learned by itself: those before it stay as they are and cannot make way
NEGLIGIBLE = 0.1  # nats: a smaller coefficient is 0 where there are many classes, or the message is learned by itself
HARD = 0.5  # nats: a message with a coefficient as large is a hard example
UNIT = 2.0**-16  # nats
TOLERANCE = 0.01  # nats: a pass that moves no coefficient by more is the last


class Problem(NamedTuple):
    """n messages to correct the scores of."""

    rows: FitRows  # the columns of their tokens
    values: np.ndarray  # (n,) 1/√ of a message's number of tokens: rows have length 1
    offsets: np.ndarray  # (n, C) in nats: naive Bayes' part of the scores
    labels: np.ndarray  # (n,) class numbers

    @classmethod
    def of(
        cls, begins: np.ndarray, ends: np.ndarray, columns: np.ndarray, n_columns: int, offsets: np.ndarray,
        labels: np.ndarray,
    ) -> Problem:  # fmt: skip
        """Make the problem of messages with the columns ``columns[begins[i]]`` to ``columns[ends[i]]``."""
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
        """Visit these messages (m,), ascending, at most ``passes`` times; return the number of passes.

        ``contributions`` (n, C - 1), what each message adds to the weight of each of its tokens, and ``weights``
        (V, C - 1), their sums, are int64 multiples of UNIT of all classes but the first; both are changed in place. A
        coefficient below ``least`` nats becomes 0.
        """
        how = {"penalty": penalty, "noise": noise, "unit": UNIT, "least": least}
        for done in range(1, passes + 1):
            if self.rows.sweep(*self[1:], visits, contributions, weights, **how) < TOLERANCE:
                return done
        return passes

    def take_out(self, messages: np.ndarray, contributions: np.ndarray, weights: np.ndarray) -> None:
        """Subtract the contributions of these messages (m,), ascending, from ``weights``, in place."""
        self.rows.take_out(*self[1:], messages, contributions, weights)

    def scores(self, messages: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Return the scores (m, C) of these messages (m,), ascending, by ``weights`` (V, C - 1).

        The contributions of the messages themselves are not in the weights.
        """
        return self.rows.scores(*self[1:], messages, weights, unit=UNIT)

    def sizes(self, contributions: np.ndarray) -> np.ndarray:
        """Return the largest coefficient (n,) of each message, in nats."""
        return np.abs(with_first(contributions)).max(axis=1) * UNIT / self.values


def with_first(units: np.ndarray) -> np.ndarray:
    """Return the units (k, C) of all classes, which sum to 0, from those (k, C - 1) of all classes but the first.

    >>> with_first(np.array([[2, -5]]))
    array([[ 3,  2, -5]])
    """
    return np.concatenate([-units.sum(axis=1, keepdims=True), units], axis=1)
