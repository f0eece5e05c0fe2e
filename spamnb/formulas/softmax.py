"""Scores of classes → probabilities: scores are logarithms, in nats, but for a term that all classes of a row share."""

from __future__ import annotations

import numpy as np


@np.errstate(invalid="ignore")
def softmax(scores: np.ndarray) -> np.ndarray:
    """exp(score) of each class divided by their sum, (…, C); NaN where all scores are −∞.

    >>> softmax(np.log([1.0, 3.0]))
    array([0.25, 0.75])
    """
    odds = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return odds / odds.sum(axis=-1, keepdims=True)


@np.errstate(invalid="ignore")
def log_softmax(scores: np.ndarray) -> np.ndarray:
    """The logarithm of ``softmax``, (…, C) in nats; exact where a probability is too small for a number.

    >>> log_softmax(np.array([0.0, 1000.0])).tolist()
    [-1000.0, 0.0]
    """
    shifted = scores - scores.max(axis=-1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))
