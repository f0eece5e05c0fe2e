# cython: language_level=3, annotation_typing=False, boundscheck=False, wraparound=False, initializedcheck=False
# cython: cdivision=True
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
all that counts. Compiled or not, this file is the same (``correction.pxd`` has its C types).
"""

from __future__ import annotations

import math  # where this is compiled, C's: correction.pxd
from collections.abc import Sequence
from contextlib import nullcontext as nogil
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:  # never run: it tells Cython that Python's lock is let go of, where there is something to let go of
    from cython import nogil  # type: ignore[no-redef]

# How these were chosen: docs/experiments.md#correction.
PENALTY = 500.0  # C where all messages are fitted together
LEARNING_PENALTY = 50.0  # C of a message learned by itself: those before it stay as they are and cannot make way
LEAST = 0.05  # a message learned by itself whose coefficient is smaller brings nothing: most do
HARD = 0.5  # a message whose own coefficient is as large when it is learned is solved again later
UNIT = 2.0**-16  # nats
MAX_STEPS = 100  # of Newton's method; it takes some seven
FURTHEST = 1e300  # from 0, of a score and of what lies between two of them
NEGLIGIBLE = 0.1  # of many classes: what a class is less wrong by is 0. Of 20 classes that are two thirds of them
TOLERANCE = 0.01  # a pass that moves no coefficient by more is the last


class Problem(NamedTuple):
    """n messages, of whose tokens those are columns that two of them or more hold: nobody else sees the others."""

    indptr: np.ndarray  # (n+1,) int64, where the messages' columns begin and end
    columns: np.ndarray  # (nnz,) int32
    values: np.ndarray  # (n,) what stands in a message's row at each of its tokens
    offsets: np.ndarray  # (n, C) nats, naive Bayes' part of the scores
    labels: np.ndarray  # (n,) int64, class numbers

    def scores(self, messages: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Scores (m, C) of these messages by ``weights`` (V, C), in nats."""
        sums = sum_columns(self.indptr, self.columns, messages, weights)
        return self.offsets[messages] + sums * (self.values[messages] * UNIT)[:, None]


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
    found = np.zeros(len(scores))
    solve(np.array(scores, float), y, penalty, found)
    return found.tolist()


def units_of(found: Sequence[float], y: int, value: float) -> np.ndarray:
    """Coefficients (C,) of a message of class ``y`` as whole multiples of UNIT at each of its tokens; they sum to 0."""
    units = np.floor(np.array(found) * (value / UNIT) + 0.5).astype(np.int64)
    units[y] -= units.sum()
    return units


def solve(scores: np.ndarray, y: int, penalty: float, found: np.ndarray) -> None:
    """The ``coefficients`` of a message with these scores (C,), written into the array ``found`` (C,)."""
    # In one unknown, u = log((1 − p_y)/p_y): then c_y = C σ(u), log Z = scores_y + c_y + log(1 + e^u), and each other
    # c_k = −a follows from a = C exp(scores_k − a − log Z), which is Wright's omega function. The sum of these a falls
    # as u rises, and c_y rises.
    classes = scores.shape[0]
    top = low = -FURTHEST
    high = FURTHEST
    for k in range(classes):
        if k != y and scores[k] > top:
            top = scores[k]
    log_penalty = math.log(penalty)
    gap = scores[y] - top
    u = -gap
    if gap < log_penalty:
        s = min((log_penalty - gap) / 2, penalty / 2)
        u = max(math.log(s / (penalty - s)), -gap - 2 * penalty)
    total = 0.0
    for _ in range(MAX_STEPS):
        p = 1 / (1 + math.exp(-u)) if u > -700 else 0.0  # that it is not y
        s = penalty * p
        log_z = scores[y] + s + (u + math.log1p(math.exp(-u)) if u > 0 else math.log1p(math.exp(u)))
        total = slope = 1e-300
        for k in range(classes):
            if k != y:
                a = omega(log_penalty + scores[k] - log_z)
                found[k] = -a
                total += a
                slope += a / (1 + a)
        if s < 1e-30:  # nothing that UNIT could tell from 0
            break
        error = math.log(total / s)
        if error > 0:
            low = u
        else:
            high = u
        step = min(max(error / (slope / total * (s * (1 - p) + p) + 1 - p), -8.0), 8.0)
        u += step
        if abs(step) < 1e-10:
            break
        if not low < u < high:
            u = (low + high) / 2
    found[y] = total


def trust(scores: np.ndarray, y: int, noise: float) -> float:
    """P(the label ``y`` is right) by these scores (C,) in nats, where a share ``noise`` of labels is wrong.

    >>> round(trust(np.array([2.0, 0.0]), 1, 0.05), 3), trust(np.array([2.0, 0.0]), 1, 0.0)
    (0.72, 1.0)
    """
    classes = scores.shape[0]
    if noise <= 0 or classes < 2:
        return 1.0
    odds = 0.0
    for k in range(classes):
        if k != y:
            odds += math.exp(min(scores[k] - scores[y], 500.0))
    return (1 - noise) / (1 - noise + noise * odds)


def omega(x: float) -> float:
    """Wright's omega function: the w > 0 with w + log w = x.

    >>> omega(1.0)
    1.0
    """
    if x < -30.0:
        return math.exp(x)
    w = math.exp(x) / (1 + math.exp(x)) if x < 1.0 else x - math.log(x) * x / (1 + x)
    for _ in range(4):  # Newton's method on log w; convex, so that it does not overshoot twice
        w *= math.exp((x - w - math.log(w)) / (1 + w))
    return w


def numbers_of(array: Any) -> Any:
    """The array as a memoryview, whose numbers are Python's own where this is not compiled: quicker than numpy's."""
    return memoryview(array)


def ascend(
    indptr: np.ndarray,
    columns: np.ndarray,
    values: np.ndarray,
    offsets: np.ndarray,
    labels: np.ndarray,
    order: np.ndarray,
    penalty: float,
    noise: float,
    passes: int,
    brought: np.ndarray,
    weights: np.ndarray,
) -> int:
    """Visit the messages in ``order`` (m,), at most ``passes`` times; returns how many passes there were.

    A share ``noise`` of labels is wrong. ``brought`` (n, C), what each message brings to the weight of each of its
    tokens, and ``weights`` (V, C), the sums of that, are int64 multiples of UNIT; both are changed in place. The other
    arrays are those of a ``Problem``.
    """
    classes = offsets.shape[1]
    columns = numbers_of(columns)
    brought = numbers_of(brought)
    weights = numbers_of(weights)
    scores = numbers_of(np.zeros(classes))
    found = numbers_of(np.zeros(classes))
    sums = numbers_of(np.zeros(classes, np.int64))
    change = numbers_of(np.zeros(classes, np.int64))
    unit = UNIT
    tolerance = TOLERANCE
    least = NEGLIGIBLE if classes > 2 else 0.0
    done = 0
    with nogil(True):
        while done < passes:
            done += 1
            worst = 0.0
            for n in range(order.shape[0]):
                i = order[n]
                y = labels[i]
                begin = indptr[i]
                end = indptr[i + 1]
                for k in range(classes):
                    sums[k] = (begin - end) * brought[i, k]
                if classes == 2:  # units of both sum to 0: half of the work, and no loop within the loop
                    first = 0
                    for j in range(begin, end):
                        first += weights[columns[j], 0]
                    sums[0] += first
                    sums[1] -= first
                else:
                    for j in range(begin, end):
                        for k in range(classes):
                            sums[k] += weights[columns[j], k]
                scale = values[i] * unit
                for k in range(classes):
                    scores[k] = offsets[i, k] + scale * sums[k]
                solve(scores, y, penalty * trust(scores, y, noise), found)
                scale = values[i] / unit
                rest = largest = 0
                for k in range(classes):
                    if k != y:
                        moved = 0
                        if found[k] <= -least:
                            moved = int(math.floor(found[k] * scale + 0.5))  # noqa: RUF046 (C's gives no whole number)
                        rest -= moved
                        change[k] = moved - brought[i, k]
                        brought[i, k] = moved
                        largest = max(largest, change[k], -change[k])
                change[y] = rest - brought[i, y]
                brought[i, y] = rest
                largest = max(largest, change[y], -change[y])
                if largest:
                    worst = max(worst, largest / scale)
                    if classes == 2:
                        first = change[0]
                        second = change[1]
                        for j in range(begin, end):  # a message holds a column once
                            weights[columns[j], 0] += first
                            weights[columns[j], 1] += second
                    else:
                        for j in range(begin, end):
                            for k in range(classes):
                                weights[columns[j], k] += change[k]
            if worst < tolerance:
                break
    return done


def take_out(
    indptr: np.ndarray, columns: np.ndarray, messages: np.ndarray, brought: np.ndarray, weights: np.ndarray
) -> None:
    """Take what these messages brought out of ``weights``, in place."""
    with nogil(True):
        for n in range(messages.shape[0]):
            i = messages[n]
            for j in range(indptr[i], indptr[i + 1]):
                for k in range(weights.shape[1]):
                    weights[columns[j], k] -= brought[i, k]


def sum_columns(indptr: np.ndarray, columns: np.ndarray, messages: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """The sums (m, C) of the weights of these messages' columns."""
    out = np.zeros((len(messages), weights.shape[1]), np.int64)
    sums = out
    with nogil(True):
        for n in range(messages.shape[0]):
            i = messages[n]
            for j in range(indptr[i], indptr[i + 1]):
                for k in range(weights.shape[1]):
                    sums[n, k] += weights[columns[j], k]
    return out
