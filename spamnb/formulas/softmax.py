"""Scores of classes → probabilities: scores are logarithms, in nats, but for a term that all classes of a row share."""

from __future__ import annotations

import numpy as np


def over_classes(operation: np.ufunc, scores: np.ndarray) -> np.ndarray:
    """``operation`` reduced over the classes of ``scores`` (…, C): (…, 1).

    It goes class by class, because numpy is slow to reduce along so short an axis: 1.1 ms for 20,000 rows of 2
    classes, where this takes 0.4 ms. At 50 classes both take the same."""
    result = np.array(scores[..., 0])
    for c in range(1, scores.shape[-1]):
        operation(result, scores[..., c], out=result)
    return result[..., None]


def softmax(scores: np.ndarray) -> np.ndarray:
    """exp(score) of each class divided by their sum, (…, C).

    >>> softmax(np.log([1.0, 3.0]))
    array([0.25, 0.75])
    """
    odds = np.exp(scores - over_classes(np.maximum, scores))
    odds /= over_classes(np.add, odds)
    return odds


def log_softmax(scores: np.ndarray) -> np.ndarray:
    """The logarithm of ``softmax``, (…, C) in nats; exact where a probability is too small for a number.

    >>> log_softmax(np.array([0.0, 1000.0])).tolist()
    [-1000.0, 0.0]
    """
    shifted = scores - over_classes(np.maximum, scores)
    shifted -= np.log(over_classes(np.add, np.exp(shifted)))
    return shifted
