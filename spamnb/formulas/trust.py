"""Trust: the probability that a label is right, given everything else that is known.

Of all labels a share ε, the noise, is wrong, whatever the message. A model without the message gives its label the
probability p. By Bayes' rule

    trust = (1 − ε) p / ((1 − ε) p + ε (1 − p))

One formula serves training, learning, calibration, and the lists of doubtful labels (docs/experiments.md#wrong-labels).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

DOUBTFUL = 0.5  # a label with less trust is more likely wrong than right
FIRST = 10  # messages that say whether names were swapped
# The prior of ε: this share of so many imagined messages is wrong (docs/experiments.md#wrong-labels). People teach one
# message at a time, and a few wrong ones must not bend a model; a training set says itself how many are wrong.
PRIOR_NOISE = 0.05
PRIOR_MESSAGES, PRIOR_MESSAGES_OF_TRAINING = 200.0, 1.0


def trust(probability: np.ndarray, noise: float | np.ndarray) -> np.ndarray:
    """Return the probability that each label is right; arrays of one shape, or that broadcast to one.

    >>> trust(np.array([0.5, 0.05, 0.001]), 0.05).round(3)
    array([0.95 , 0.5  , 0.019])
    """
    right = (1 - noise) * probability
    return right / np.maximum(right + noise * (1 - probability), 1e-300)


def looks_swapped(trusts: Sequence[float]) -> bool:
    """Return whether names of classes were swapped, rather: the first labels are doubtful on average.

    >>> looks_swapped([0.1] * 8 + [1.0] * 92), looks_swapped([0.1] * 9)
    (True, False)
    """
    first = trusts[:FIRST]
    return len(first) == FIRST and float(np.mean(first)) < DOUBTFUL
