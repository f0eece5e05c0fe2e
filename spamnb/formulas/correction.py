"""What naive Bayes gets wrong, corrected: a penalised softmax on top of its scores, kept as a sum over messages.

    minimise over W:  |W|²/2 + C Σ_i −log softmax(o_i + W x_i)[y_i]

o_i are naive Bayes' scores of message i in the model without it, in nats of log-odds; x_i has 1/√n at each of
the message's n tokens. Where the gradient is zero

    W = Σ_i c_i x_iᵀ,    c_ik = C ([k = y_i] − p_ik)

so a message brings one coefficient a class, which sum to 0, and W is the sum of what the messages bring: learning adds,
forgetting subtracts, models merge. Naive Bayes being mostly right, most coefficients are nearly 0. The dual problem is
solved one message at a time (Yu, Huang and Lin, "Dual coordinate descent methods for logistic regression and maximum
entropy models", Machine Learning 85, 2011): the coefficients that fit a message while all others stay.

What is kept are whole multiples of UNIT, the step by which a message moves each of its tokens' weights: whole numbers
add up to the same in every order.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, inf, log, log1p, sqrt

# How these were chosen: docs/experiments.md#correction.
PENALTY = 500.0  # C where all messages are fitted together
LEARNING_PENALTY = 50.0  # C of a message learned by itself: those before it stay as they are and cannot make way
LEAST = 0.05  # a message learned by itself whose coefficient is smaller brings nothing: most do
HARD = 0.5  # a message whose own coefficient is as large when it is learned is solved again later
UNIT = 2.0**-16  # nats
MAX_STEPS = 100  # of Newton's method; it takes some seven


def value_of(n_tokens: int) -> float:
    """What stands in a message's row at each of its tokens: 1/√n, so that rows have length 1.

    >>> value_of(25)
    0.2
    """
    return 1 / sqrt(max(n_tokens, 1))


def coefficients(scores: Sequence[float], y: int, penalty: float) -> list[float]:
    """c (C,) of a message of class number ``y``, whose ``scores`` (C,) in nats come from all other messages.

    Solves c_k = penalty ([k = y] − softmax(scores + c)_k): a row has length 1, so its own coefficients are what it adds
    to its scores.

    >>> [round(c, 3) for c in coefficients([0.0, 0.0], 1, 50.0)]
    [-1.68, 1.68]
    >>> [round(c, 3) for c in coefficients([-5.0, 5.0], 1, 50.0)]
    [-0.002, 0.002]
    """
    # In one unknown, u = log((1 − p_y)/p_y): then c_y = C σ(u), log Z = scores_y + c_y + log(1 + e^u), and each other
    # c_k = −a follows from a = C exp(scores_k − a − log Z), which is Wright's omega function. The sum of these a falls
    # as u rises, and c_y rises.
    gap = scores[y] - max([score for k, score in enumerate(scores) if k != y], default=-inf)
    u = -gap
    if gap < log(penalty):
        s = min((log(penalty) - gap) / 2, penalty / 2)
        u = max(log(s / (penalty - s)), -gap - 2 * penalty)
    low, high = -inf, inf
    parts = [0.0] * len(scores)
    total = 0.0
    for _ in range(MAX_STEPS):
        p = 1 / (1 + exp(-u)) if u > -700 else 0.0  # that it is not y
        s = penalty * p
        log_z = scores[y] + s + (u + log1p(exp(-u)) if u > 0 else log1p(exp(u)))
        total = slope = 1e-300
        for k, score in enumerate(scores):
            if k != y:
                parts[k] = a = omega(log(penalty) + score - log_z)
                total += a
                slope += a / (1 + a)
        if s < 1e-30:  # nothing that UNIT could tell from 0
            break
        error = log(total / s)
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
    return [total if k == y else -a for k, a in enumerate(parts)]


def omega(x: float) -> float:
    """Wright's omega function: the w > 0 with w + log w = x.

    >>> omega(1.0)
    1.0
    """
    if x < -30.0:
        return exp(x)
    w = exp(x) / (1 + exp(x)) if x < 1.0 else x - log(x) * x / (1 + x)
    for _ in range(4):  # Newton's method on log w; convex, so that it does not overshoot twice
        w *= exp((x - w - log(w)) / (1 + w))
    return w
