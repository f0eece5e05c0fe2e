"""Class priors: from messages per class to log P(c).

"mle"         N_c / N
"dirichlet"   (N_c + a_c) / (N + Σa)            posterior mean under a Dirichlet(a) prior
"map"         (N_c + a_c - 1) / (N - C + Σa)    posterior mode; with a = 1 it is the MLE
"uniform"     1 / C
an array      the prior itself
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

KINDS = ("mle", "dirichlet", "map", "uniform")


def class_log_prior(
    documents: ArrayLike, prior: str | ArrayLike = "mle", concentration: float | ArrayLike = 1.0
) -> np.ndarray:
    """Return the log prior of every class, (C,), in nats.

    ``documents`` (C,) contains the training messages per class or their weights. ``concentration`` is the Dirichlet's
    a, one for all classes or (C,), and is used by "dirichlet" and "map". The log prior of a class without messages is
    -inf under "mle". Raise ValueError for an unknown kind, an array that is no distribution over the C classes, and a
    concentration for which the estimate does not exist.

    >>> np.exp(class_log_prior([4, 0], "mle"))
    array([1., 0.])
    >>> np.exp(class_log_prior([4, 0], "dirichlet", 1)).round(4)
    array([0.8333, 0.1667])
    >>> np.exp(class_log_prior([4, 0], "map", 2)).round(4)
    array([0.8333, 0.1667])
    """
    documents = np.asarray(documents, dtype=float)
    n = len(documents)
    if not isinstance(prior, str):
        probability = np.asarray(prior, dtype=float)
        if probability.shape != (n,) or not (probability >= 0).all() or not np.isclose(probability.sum(), 1.0):
            raise ValueError(f"the class prior must be {n} probabilities that sum to 1, not {prior!r:.60}")
    elif prior == "uniform":
        probability = np.full(n, 1 / n)
    elif prior in KINDS:
        weight = documents
        if prior != "mle":
            weight = documents + _concentration(concentration, n) - (prior == "map")
        if weight.min() < 0:
            raise ValueError(
                "the MAP class prior does not exist: a class has N_c + prior_concentration < 1; "
                "use prior_concentration >= 1 or class_prior='dirichlet'"
            )
        if not weight.sum() > 0:
            raise ValueError("no class has any weight, so the class prior cannot be estimated")
        probability = weight / weight.sum()
    else:
        raise ValueError(f"class_prior={prior!r} is unknown: use one of {', '.join(KINDS)} or an array")
    with np.errstate(divide="ignore"):  # log 0 is -inf here
        return np.log(probability)


def _concentration(concentration: float | ArrayLike, n: int) -> np.ndarray:
    a = np.asarray(concentration, dtype=float)
    if a.shape not in ((), (n,)) or not ((a > 0) & (a < np.inf)).all():
        raise ValueError(f"prior_concentration must be a finite number above 0, or {n} of them, not {a.tolist()}")
    return a
