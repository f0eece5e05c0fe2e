"""Evidence: what each token of a message says, pooled into one score per class.

A token contributes log p(token | class) in nats. The textbook posterior sums the contributions, as if tokens were
independent given the class. They are not, so a sum of thousands of small ratios drowns the few that know:
"mean" takes the mean of the tokens with something to say.
"""

from __future__ import annotations

import numpy as np

POOLINGS = ("mean", "sum")
FLOOR = 2.0  # nats between the classes a token tells most apart, below which "mean" leaves the token out


def _row_sums(values: np.ndarray, indptr: np.ndarray) -> np.ndarray:
    """Sums of the ragged rows of ``values`` (…, nnz) → (…, n); an empty row sums to 0."""
    out = np.zeros((*values.shape[:-1], len(indptr) - 1))
    full = np.flatnonzero(np.diff(indptr))
    if len(full):
        out[..., full] = np.add.reduceat(values, indptr[full], axis=-1)
    return out


def pool(
    contributions: np.ndarray,
    occurrences: np.ndarray,
    indptr: np.ndarray,
    log_prior: np.ndarray,
    pooling: str = "mean",
) -> tuple[np.ndarray, np.ndarray]:
    """Scores of n messages, and what each of their tokens gave to it.

    ``contributions`` (C, nnz) are log-probabilities of the messages' tokens, row after row, ``occurrences`` (nnz,) how often
    each occurs in its message, ``indptr`` (n+1,) where the rows begin, ``log_prior`` (C,).
    Returns scores (n, C) and weights (C, nnz), both in nats; a message's score is the sum of its weights and its prior.

    >>> scores, weights = pool(np.log([[.5, .1], [.1, .5]]), np.array([2, 1]), np.array([0, 2]), np.log([.5, .5]), "sum")
    >>> scores.round(3)
    array([[-4.382, -5.991]])
    """
    if pooling not in POOLINGS:
        raise ValueError(f"pooling {pooling!r} is not one of {', '.join(POOLINGS)}")
    if pooling == "sum":
        weights = contributions * occurrences
        return _row_sums(weights, indptr).T + log_prior, weights
    told = contributions.max(axis=0, initial=-np.inf) - contributions.min(axis=0, initial=np.inf) >= FLOOR
    used = _row_sums(told.astype(float), indptr)
    centred = np.where(told, contributions - contributions.mean(axis=0), 0.0)
    weights = centred / np.repeat(np.maximum(used, 1.0), np.diff(indptr))
    return _row_sums(weights, indptr).T + 0 * log_prior, weights
