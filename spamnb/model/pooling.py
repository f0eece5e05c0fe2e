"""Pooling: the log-likelihoods of a message's tokens → one score per class.

The textbook posterior ("sum") adds up log p(token | class), in nats, as if tokens were independent given the class.
They are not: hundreds of small log-likelihoods outweigh the few that matter, and each long message has an extreme
probability. "mean" is a weighted mean. The weight of a token is its information about the class, and groups of tokens
have weights, too:

    score_c = Σ_g K_g^b m_gc / (w₀ + Σ_g K_g^b),    m_gc = Σ_{t in g} w_t (l_tc − mean_c' l_tc') / K_g,
    w_t = I_t^a,    K_g = Σ_{t in g} w_t

with l_tc = log p(t | c), a = INFORMATION_EXPONENT, b = GROUP_EXPONENT and w₀ = PRIOR_WEIGHT.

I_t, between 0 and 1, is the information about the class that the token alone gives: 1 − H(q_t)/log C, where q_t is the
posterior of C equally likely classes, if the message has only this token. A group has less weight than the sum of its
tokens (b < 1), because its tokens repeat one another, such as the words of a novel below an offer, or the ten headers
of a mailing list.

V = Σ_g K_g^b, the votes, measures the evidence that the model has on a message. ``towards_prior`` moves the calibrated
log-odds of a message with few votes to the log-odds of the class prior. The share that the calibrated log-odds keep is
s = V⁴ / (V⁴ + v⁴), with v = SUFFICIENT_VOTES.
"""

from __future__ import annotations

import numpy as np

from spamnb.core.score import Pooling
from spamnb.model.priors import class_log_prior

# docs/experiments.md#pooling has the errors with other values of the next three constants.
INFORMATION_EXPONENT = 1.5  # a whole number of halves; 2 makes as few errors on mail, and more on SMS
GROUP_EXPONENT = 2 / 3  # 1 makes more errors because a long body outweighs the header, 0 because all groups are equal
PRIOR_WEIGHT = 2.5  # added to the votes, so that a short message gets a less extreme score than a long one
# Votes. 1 % of mail has fewer than 12, and 1 % of SMS has fewer than 2: docs/experiments.md#next-to-nothing
SUFFICIENT_VOTES = 1.5


def pooling_parameters(pooling: str) -> Pooling:
    """Return the parameters of the loops, which are in C, ``core/score.c``, and run without the GIL."""
    return Pooling(pooling == "sum", INFORMATION_EXPONENT, GROUP_EXPONENT, PRIOR_WEIGHT)


def sufficient(has_evidence: np.ndarray) -> np.ndarray:
    """Return the votes (n,) of models that keep all log-odds of a message with any evidence."""
    return np.where(has_evidence, np.inf, 0.0)


def evidence_shares(votes: np.ndarray) -> np.ndarray:
    """Return s (n,) from V: from 0 (the model has no evidence) to 1."""
    with np.errstate(divide="ignore"):
        return 1 / (1 + (SUFFICIENT_VOTES / votes) ** 4)


def towards_prior(probabilities: np.ndarray, documents: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """Return p^s π^(1 − s), normalised. Its log-odds are s × the log-odds of p + (1 − s) × the log-odds of π.

    ``probabilities`` are p (n, C), and ``shares`` are s (n,). ``documents`` (C,), the messages per class, give π (C,).

    >>> towards_prior(np.array([[0.01, 0.99]] * 3), np.array([79, 19]), np.array([0, 0.5, 1])).round(2)
    array([[0.8 , 0.2 ],
           [0.17, 0.83],
           [0.01, 0.99]])
    """
    prior = class_log_prior(documents, "dirichlet")
    p = np.exp(prior + shares[:, None] * (np.log(probabilities) - prior))
    return p / p.sum(axis=1, keepdims=True)
