"""Pooling: the contributions of a message's tokens → one score per class.

A token contributes log p(token | class) in nats. The textbook posterior ("sum") adds the contributions up, as if tokens
were independent given the class. They are not: hundreds of small contributions drown the few that matter, and each long
message has an extreme probability. "mean" is a weighted mean: a token's weight is its information about the class, and
groups of tokens have weights, too:

    score_c = Σ_g K_g^b m_gc / (w₀ + Σ_g K_g^b),    m_gc = Σ_{t in g} w_t (l_tc − mean_c' l_tc') / K_g,
    w_t = I_t^a,    K_g = Σ_{t in g} w_t

with a = INFORMATION_EXPONENT, b = GROUP_EXPONENT and w₀ = PRIOR_WEIGHT. The caller says which group a token is in.

I_t, between 0 and 1, is the information about the class that the token gives on its own: 1 − H(q_t)/log C, where q_t
is its posterior over C equally likely classes. A group has less weight than the sum of its tokens (b < 1), because its
tokens repeat one another, such as the words of a novel below an offer, or the ten headers of a mailing list. The mean
needs no threshold, works for any number of classes, and depends only on the message's own tokens.

V = Σ_g K_g^b is the number of votes, which measures the evidence that the model has on a message. With few votes the
calibrated log-odds are moved towards the class prior's: their share is s = V⁴ / (V⁴ + v⁴), with v = SUFFICIENT_VOTES
(``towards_prior``).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from spamnb.core.pool import Pooling, pool_rows
from spamnb.formulas.priors import class_log_prior

POOLINGS = ("mean", "sum")

# How these three were chosen: docs/experiments.md#pooling. An exponent of 2 is as good on mail, and worse on SMS. The
# groups have no fitted weights, because fitted weights made more errors on mail of another collection.
INFORMATION_EXPONENT = 1.5
# Between 1, where a long body outvotes the header, and 0, where every group counts the same: both err more.
GROUP_EXPONENT = 2 / 3
# The weight of the prior in every message, so that a short message gets a less extreme score than a long one.
PRIOR_WEIGHT = 2.5
# Of mail 1 % has fewer than 12 votes, of SMS 1 % fewer than 2: docs/experiments.md#next-to-nothing
SUFFICIENT_VOTES = 1.5


class Pooled(NamedTuple):
    """Scores of n messages for C classes, and the weights of the tokens, whose sums they are."""

    scores: np.ndarray  # (n, C) in nats
    weights: np.ndarray  # (C, nnz) the weight of each token, in nats
    shares: np.ndarray  # (n,) s, from 0 (none of the tokens is in the model) to 1


def row_sums(values: np.ndarray, indptr: np.ndarray) -> np.ndarray:
    """Return the sums (…, n) of the ragged rows of ``values`` (…, nnz). The sum of an empty row is 0."""
    out = np.zeros((*values.shape[:-1], len(indptr) - 1))
    full = np.flatnonzero(np.diff(indptr))
    if len(full):
        out[..., full] = np.add.reduceat(values, indptr[full], axis=-1)
    return out


def pooling_parameters(pooling: str, classes: int, n_groups: int) -> Pooling:
    """Return the parameters of the loops, which are in C, ``core/pool.c``, and run without Python's lock."""
    return Pooling(classes, n_groups, pooling == "sum", INFORMATION_EXPONENT, GROUP_EXPONENT, PRIOR_WEIGHT)


def pool(
    contributions: np.ndarray,
    occurrences: np.ndarray | None,
    indptr: np.ndarray,
    log_prior: np.ndarray,
    groups: np.ndarray,
    pooling: str = "mean",
) -> Pooled:
    """Pool the evidence of n messages.

    ``contributions`` (C, nnz) are log p(token | class) of the messages' tokens, message after message. ``occurrences``
    (nnz,) are the tokens' counts in their messages; None means 1. ``indptr`` (n + 1,) are the messages' bounds.
    ``log_prior`` (C,) is added by "sum"; "mean" ignores it, because the calibration has the classes' shares. ``groups``
    (nnz,) are the numbers of the tokens' groups, from 0. A score is the sum of its weights, and for "sum" of the prior.

    >>> log_p, repeats, indptr = np.log([[.5, .1], [.1, .5]]), np.array([2, 1]), np.array([0, 2])
    >>> pool(log_p, repeats, indptr, np.log([.5, .5]), np.array([0, 0]), pooling="sum").scores.round(3)
    array([[-4.382, -5.991]])
    """
    n, is_sum = len(indptr) - 1, pooling == "sum"
    scores = np.zeros((n, len(contributions))) + (log_prior if is_sum else 0)
    groups = groups.astype(np.int8, copy=False)
    parameters = pooling_parameters(pooling, len(contributions), int(groups.max(initial=0)) + 1)
    counts = None if occurrences is None else np.ascontiguousarray(occurrences, np.int64)
    weights, votes = pool_rows(
        parameters, np.ascontiguousarray(contributions, np.float64), counts, indptr, groups, scores
    )
    shares = np.sign(np.diff(indptr)) if is_sum else votes**4 / (votes**4 + SUFFICIENT_VOTES**4)
    return Pooled(scores, weights, shares.astype(float))


def towards_prior(probabilities: np.ndarray, documents: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """Return p^s π^(1 − s), normalised. Its log-odds are s × the log-odds of p + (1 − s) × the log-odds of π.

    ``probabilities`` are p (n, C), and ``shares`` are s (n,).

    The prior π follows from the messages of each class, ``documents`` (C,).

    >>> towards_prior(np.array([[0.01, 0.99]] * 3), np.array([79, 19]), np.array([0, 0.5, 1])).round(2)
    array([[0.8 , 0.2 ],
           [0.17, 0.83],
           [0.01, 0.99]])
    """
    prior = class_log_prior(documents, "dirichlet")
    p = np.exp(prior + shares[:, None] * (np.log(probabilities) - prior))
    return p / p.sum(axis=1, keepdims=True)
