"""Softmax: probabilities of classes from scores in nats. A constant added to all scores of a row has no effect."""

from __future__ import annotations

import numpy as np


@np.errstate(invalid="ignore")
def softmax(scores: np.ndarray) -> np.ndarray:
    """Return exp(score) of each class divided by their sum, (…, C); NaN if all scores are −∞.

    >>> softmax(np.log([1.0, 3.0]))
    array([0.25, 0.75])
    """
    odds = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return odds / odds.sum(axis=-1, keepdims=True)


@np.errstate(invalid="ignore")
def log_softmax(scores: np.ndarray) -> np.ndarray:
    """Return the logarithm of ``softmax``, (…, C) in nats, exact even if the probability underflows.

    >>> log_softmax(np.array([0.0, 1000.0])).tolist()
    [-1000.0, 0.0]
    """
    shifted = scores - scores.max(axis=-1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))
