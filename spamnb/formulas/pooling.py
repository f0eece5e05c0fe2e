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


def information(contributions: np.ndarray) -> np.ndarray:
    """Return I_t = 1 − H(q_t)/log C of each token, (nnz,), with q_t ∝ exp ``contributions`` (C, nnz); 0 for one class.

    >>> information(np.log([[.5, .9, 1e-9], [.5, .1, 1]])).round(3)
    array([0.   , 0.531, 1.   ])
    """
    classes = len(contributions)
    if classes < 2:
        return np.zeros(contributions.shape[1])
    if classes == 2:  # the larger contribution's exponent is 0: the same bits as below in two thirds of the time
        shifted = -abs(contributions[:1] - contributions[1:])
        q = np.exp(shifted)
        total = 1 + q[0]
    else:
        shifted = contributions - contributions.max(axis=0)
        q = np.exp(shifted)
        total = q.sum(axis=0)
    q *= shifted
    entropy = np.log(total) - q.sum(axis=0) / total
    return np.clip(1 - entropy / np.log(classes), 0.0, 1.0)


def pool(
    contributions: np.ndarray,
    occurrences: np.ndarray,
    indptr: np.ndarray,
    log_prior: np.ndarray,
    groups: np.ndarray,
    pooling: str = "mean",
) -> Pooled:
    """Pool the evidence of n messages.

    ``contributions`` (C, nnz) are log p(token | class) of the messages' tokens, message after message. ``occurrences``
    (nnz,), or one number for all, are the tokens' counts in their messages. ``indptr`` (n + 1,) are the messages'
    bounds. ``log_prior`` (C,), or (n, C) with a row per message, is added by "sum"; "mean" ignores it, because the
    calibration has the classes' shares. ``groups`` (nnz,) are the numbers of the tokens' groups, from 0. A score is the
    sum of its weights, and for "sum" of the prior.

    >>> log_p, repeats, indptr = np.log([[.5, .1], [.1, .5]]), np.array([2, 1]), np.array([0, 2])
    >>> pool(log_p, repeats, indptr, np.log([.5, .5]), np.array([0, 0]), pooling="sum").scores.round(3)
    array([[-4.382, -5.991]])
    """
    if pooling == "sum":
        weights = contributions * occurrences
        return Pooled(row_sums(weights, indptr).T + log_prior, weights, np.sign(np.diff(indptr)).astype(float))
    n = len(indptr) - 1
    token_weights = information(contributions) ** INFORMATION_EXPONENT * occurrences
    n_groups = int(groups.max(initial=0)) + 1
    cell = np.repeat(np.arange(n) * n_groups, np.diff(indptr)) + groups
    group_weights = np.bincount(cell, token_weights, n * n_groups).reshape(n, n_groups).astype(float)
    votes = group_weights**GROUP_EXPONENT
    shares = np.divide(votes, group_weights, out=np.zeros(group_weights.shape), where=group_weights > 0)
    total = votes.sum(axis=1)
    shares /= PRIOR_WEIGHT + total[:, None]
    weights = (contributions - contributions.mean(axis=0)) * (token_weights * shares.ravel()[cell])
    return Pooled(row_sums(weights, indptr).T, weights, total**4 / (total**4 + SUFFICIENT_VOTES**4))


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
