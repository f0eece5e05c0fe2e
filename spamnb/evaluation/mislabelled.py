"""Messages that stand in the wrong folder, as the model sees it: it was not told of them, and is sure of another class.

A person can look at them first: what a folder holds by mistake is learned, and makes others of its kind go wrong.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

SURE = 0.9  # probability of another class: above it the default costs call mail spam


def surest(
    scores: NDArray[Any], probabilities: NDArray[Any], labels: NDArray[Any], verdicts: NDArray[Any]
) -> NDArray[np.intp]:
    """Rows of the messages that look mislabelled, the surest first: of n messages with ``scores`` and ``probabilities``
    (n, C), and class numbers (n,) as labels and as verdicts, −1 for unsure.

    >>> p = np.array([[0.02, 0.98], [0.3, 0.7], [0.05, 0.95], [0.01, 0.99]])
    >>> surest(np.log(p), p, np.array([0, 0, 1, 0]), np.array([1, 1, 1, 1]))
    array([3, 0])
    """
    wrong = np.flatnonzero((verdicts >= 0) & (verdicts != labels))
    p = probabilities[wrong, verdicts[wrong]]
    with np.errstate(invalid="ignore"):  # −∞ less −∞, where neither class was known
        margin = scores[wrong, verdicts[wrong]] - scores[wrong, labels[wrong]]
    order = np.lexsort((-margin, -p))
    rows: NDArray[np.intp] = wrong[order[p[order] >= SURE]]
    return rows
