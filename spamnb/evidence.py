"""Evidence: what each token of a message says, pooled into one score per class.

A token contributes log p(token | class) in nats. The textbook posterior sums the contributions, as if tokens were
independent given the class. They are not: a sum of hundreds of small ratios drowns the few that know, and a long
message is always sure. "mean" is a mean in which each token weighs as much as it knows:

    score_c = Σ_t w_t (l_tc − mean_c' l_tc') / (DOUBT + Σ_t w_t),    w_t = I_t²

I_t, between 0 and 1, is the information about the class that the token gives on its own: 1 − H(q_t)/log C, where q_t
is its posterior over C equally likely classes. It asks for no threshold, serves any number of classes, and is made of
a message's own tokens alone.
"""

from __future__ import annotations

import numpy as np

POOLINGS = ("mean", "sum")

# 1-ROCA% (20news: accuracy %), boolean multinomial, α = 0.1, printed by scripts/experiment_evidence.py:
#                            SpamAssassin  enron1  enron2  enron3  Ling-Spam    SMS  20news
#   sum                          .073       .260    .085    .054      .053     .786   85.33
#   mean of tokens ≥ 2 nats      .035       .168    .073    .015      .028     .289   86.07
#   weights 1                    .055       .110    .033    .008      .036     .170   85.33
#   weights I                    .037       .086    .031    .005      .022     .228   88.33
#   weights I²                   .031       .089    .034    .006      .022     .295   88.41
#   weights I³                   .029       .103    .037    .008      .024     .339   87.59
POWER = 2
# Full knowledge of DOUBT tokens is withheld: a short message is less sure than a long one. Without any doubt enron1
# .127, enron2 .049, Ling-Spam .026, SMS .247; with a doubt of 10 enron1 .132, SMS .396, others as with 2.
DOUBT = 2.0


def _row_sums(values: np.ndarray, indptr: np.ndarray) -> np.ndarray:
    """Sums of the ragged rows of ``values`` (…, nnz) → (…, n); an empty row sums to 0."""
    out = np.zeros((*values.shape[:-1], len(indptr) - 1))
    full = np.flatnonzero(np.diff(indptr))
    if len(full):
        out[..., full] = np.add.reduceat(values, indptr[full], axis=-1)
    return out


def information(contributions: np.ndarray) -> np.ndarray:
    """I_t = 1 − H(q_t)/log C of each token (nnz,), q_t ∝ exp ``contributions`` (C, nnz); 0 where there is one class.

    >>> information(np.log([[.5, .9, 1e-9], [.5, .1, 1]])).round(3)
    array([0.   , 0.531, 1.   ])
    """
    classes = len(contributions)
    if classes < 2:
        return np.zeros(contributions.shape[1])
    shifted = contributions - contributions.max(axis=0)
    q = np.exp(shifted)
    total = q.sum(axis=0)
    entropy = np.log(total) - (q * shifted).sum(axis=0) / total
    return np.clip(1 - entropy / np.log(classes), 0.0, 1.0)


def pool(
    contributions: np.ndarray,
    occurrences: np.ndarray,
    indptr: np.ndarray,
    log_prior: np.ndarray,
    pooling: str = "mean",
) -> tuple[np.ndarray, np.ndarray]:
    """Scores of n messages, and what each of their tokens gave to it.

    ``contributions`` (C, nnz) are log-probabilities of the messages' tokens, row after row, ``occurrences`` (nnz,) how
    often each counts in its message, ``indptr`` (n+1,) where the rows begin, ``log_prior`` (C,) or (n, C) what "sum"
    starts from; the mean is of the tokens alone, and how common the classes are is left to the calibration.
    Returns scores (n, C) and weights (C, nnz), both in nats; a score is the sum of its weights, plus the prior for
    "sum". ValueError for a pooling that does not exist.

    >>> log_p, repeats, indptr = np.log([[.5, .1], [.1, .5]]), np.array([2, 1]), np.array([0, 2])
    >>> pool(log_p, repeats, indptr, np.log([.5, .5]), "sum")[0].round(3)
    array([[-4.382, -5.991]])
    """
    if pooling == "sum":
        weights = contributions * occurrences
        return _row_sums(weights, indptr).T + log_prior, weights
    if pooling != "mean":
        raise ValueError(f"pooling {pooling!r} is not one of {', '.join(POOLINGS)}")
    knows = information(contributions) ** POWER * occurrences
    share = knows / np.repeat(DOUBT + _row_sums(knows, indptr), np.diff(indptr))
    weights = (contributions - contributions.mean(axis=0)) * share
    return _row_sums(weights, indptr).T, weights
