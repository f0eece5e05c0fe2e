"""Trust: the probability that the label of a message is right.

A share ε of all labels, the noise, is wrong. The label of a message has the probability p by a model without this
message. By Bayes' rule

    trust = (1 − ε) p / ((1 − ε) p + ε (1 − p))

One formula serves training, learning, calibration, and the lists of doubtful labels (docs/experiments.md#wrong-labels).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from spamnb.core.library import lib, pointer

MIN_TRUST = 0.5  # a label with less trust is more likely wrong than right
SWAP_TEST_MESSAGES = 10  # first messages whose mean trust is tested; a few wrong labels do not bring it below MIN_TRUST
# The prior of ε: PRIOR_NOISE of PRIOR_MESSAGES imagined labels are wrong (docs/experiments.md#wrong-labels). People
# teach one message at a time, and a few wrong labels must not change ε much. A training set has enough labels to fit ε.
PRIOR_NOISE = 0.05
PRIOR_MESSAGES, PRIOR_MESSAGES_OF_TRAINING = 200.0, 1.0


def trust(probability: np.ndarray, noise: float) -> np.ndarray:
    """Return the probability that each label is right; the formula is in C, ``core/trust.h``.

    >>> trust(np.array([0.5, 0.05, 0.001]), 0.05).round(3)
    array([0.95 , 0.5  , 0.019])
    """
    p = np.maximum(np.ravel(probability), 1e-300)
    trusts = np.empty_like(p)
    lib.compute_trust(pointer("double", (1 - p) / p), len(p), noise, pointer("double", trusts))
    return trusts.reshape(np.shape(probability))


def looks_swapped(trusts: Sequence[float]) -> bool:
    """Return whether the names of two classes were probably swapped: the first labels are doubtful on average.

    >>> looks_swapped([0.1] * 8 + [1.0] * 92), looks_swapped([0.1] * 9)
    (True, False)
    """
    first = trusts[:SWAP_TEST_MESSAGES]
    return len(first) == SWAP_TEST_MESSAGES and float(np.mean(first)) < MIN_TRUST
