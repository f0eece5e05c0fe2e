"""What naive Bayes gets wrong, corrected: a penalised softmax on top of its scores, kept as a sum over messages.

    minimise over W:  |W|²/2 + C Σ_i −log softmax(o_i + W x_i)[y_i]

o_i are naive Bayes' scores of message i in the model without it, in nats of log-odds; x_i has 1/√n at each of
the message's n tokens. Where the gradient is zero

    W = Σ_i c_i x_iᵀ,    c_ik = C ([k = y_i] − p_ik)

so a message brings one coefficient a class, which sum to 0, and W is the sum of what the messages bring: learning adds,
forgetting subtracts, models merge. Naive Bayes being mostly right, most coefficients are nearly 0. The dual problem is
solved one message at a time (Yu, Huang and Lin, "Dual coordinate descent methods for logistic regression and maximum
entropy models", Machine Learning 85, 2011): the coefficients that fit a message while all others stay.

Where a share ε of labels is wrong, C is multiplied by the probability that the message's label is right, by what all
other messages say of it: a wrong label has a large gradient, and would be what W is fitted to (Bootkrajang and Kabán,
"Label-noise robust logistic regression and its applications", ECML 2012).

What is kept are whole multiples of UNIT, the step by which a message moves each of its tokens' weights: whole numbers
add up to the same in every order.

All messages together are solved by coordinate ascent: each visit of a message solves for its own coefficients while all
others stay, and moves its tokens' weights. A model is the same whoever counted which message: the order of visits is
all that counts. The loops are C, ``core/fit.c`` of the reader's compiled module, and run without Python's lock.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from spamnb.reader import binding

# How these were chosen: docs/experiments.md#correction.
PENALTY = 500.0  # C where all messages are fitted together
LEARNING_PENALTY = 50.0  # C of a message learned by itself: those before it stay as they are and cannot make way
LEAST = 0.05  # a message learned by itself whose coefficient is smaller brings nothing: most do
HARD = 0.5  # a message whose own coefficient is as large when it is learned is solved again later
UNIT = 2.0**-16  # nats
NEGLIGIBLE = 0.1  # of many classes: what a class is less wrong by is 0. Of 20 classes that are two thirds of them
TOLERANCE = 0.01  # a pass that moves no coefficient by more is the last


class Problem(NamedTuple):
    """n messages to correct the scores of."""

    rows: binding.FitRows  # the columns that their tokens are
    values: np.ndarray  # (n,) what stands in a message's row at each of its tokens
    offsets: np.ndarray  # (n, C) in nats: naive Bayes' part of the scores
    labels: np.ndarray  # (n,) class numbers

    def ascend(
        self, visits: np.ndarray, penalty: float, noise: float, passes: int, brought: np.ndarray, weights: np.ndarray
    ) -> int:
        """Visit these messages (m,), ascending, at most ``passes`` times; returns how many passes there were.

        A share ``noise`` of labels is wrong. ``brought`` (n, C - 1), what each message brings to the weight of each of
        its tokens, and ``weights`` (V, C - 1), the sums of that, are int64 multiples of UNIT of all classes but the
        first; both are changed in place.
        """
        least = NEGLIGIBLE if self.offsets.shape[1] > 2 else 0.0
        how = {"penalty": penalty, "noise": noise, "unit": UNIT, "least": least}
        for done in range(1, passes + 1):
            if self.rows.sweep(*self[1:], visits, brought, weights, **how) < TOLERANCE:
                return done
        return passes

    def take_out(self, messages: np.ndarray, brought: np.ndarray, weights: np.ndarray) -> None:
        """Take what these messages (m,), ascending, brought out of ``weights``, in place."""
        self.rows.take_out(*self[1:], messages, brought, weights)

    def scores(self, messages: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Scores (m, C) of these messages (m,), ascending, by ``weights`` (V, C - 1) to which they brought nothing."""
        return self.rows.scores(*self[1:], messages, weights, unit=UNIT)


def with_first(units: np.ndarray) -> np.ndarray:
    """(k, C) units of all classes, which sum to 0, of those (k, C - 1) of all but the first.

    >>> with_first(np.array([[2, -5]]))
    array([[ 3,  2, -5]])
    """
    return np.concatenate([-units.sum(axis=1, keepdims=True), units], axis=1)


def value_of(n_tokens: int) -> float:
    """What stands in a message's row at each of its tokens: 1/√n, so that rows have length 1.

    >>> value_of(25)
    0.2
    """
    return 1 / math.sqrt(max(n_tokens, 1))


def coefficients(scores: Sequence[float], y: int, penalty: float) -> list[float]:
    """c (C,) of a message of class number ``y``, whose ``scores`` (C,) in nats come from all other messages.

    Solves c_k = penalty ([k = y] − softmax(scores + c)_k): a row has length 1, so its own coefficients are what it adds
    to its scores.

    >>> [round(c, 3) for c in coefficients([0.0, 0.0], 1, 50.0)]
    [-1.68, 1.68]
    >>> [round(c, 3) for c in coefficients([-5.0, 5.0], 1, 50.0)]
    [-0.002, 0.002]
    """
    return binding.solve(np.array(scores, float), y, penalty)


def units_of(found: Sequence[float], y: int, value: float) -> np.ndarray:
    """Coefficients (C,) of a message of class ``y`` as whole multiples of UNIT at each of its tokens; they sum to 0."""
    units = np.floor(np.array(found) * (value / UNIT) + 0.5).astype(np.int64)
    units[y] -= units.sum()
    return units
