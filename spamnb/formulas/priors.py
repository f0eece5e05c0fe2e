"""Class priors: from messages per class to log P(c), the same choice for every model.

"mle"         N_c / N
"dirichlet"   (N_c + a_c) / (N + Σa)            posterior mean under a Dirichlet(a) prior
"map"         (N_c + a_c - 1) / (N - C + Σa)    posterior mode; with a = 1 it is the MLE
"uniform"     1 / C
an array      given: taken as it is
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

KINDS = ("mle", "dirichlet", "map", "uniform")


def class_log_prior(
    documents: ArrayLike, prior: str | ArrayLike = "mle", concentration: float | ArrayLike = 1.0
) -> np.ndarray:
    """Log prior of every class, in nats.

    ``documents`` (C,) holds the training messages per class (or their weights); ``concentration`` is the
    Dirichlet's a, one for all classes or (C,), read by "dirichlet" and "map" alone. A class that no message
    supports has log prior -inf under "mle". Raises ValueError for an unknown kind, a given prior that is no
    distribution over the C classes, and a concentration under which the estimate does not exist.

    Four heads, no tail: the MLE rules tails out, the posterior mean does not.

    >>> np.exp(class_log_prior([4, 0], "mle"))
    array([1., 0.])
    >>> np.exp(class_log_prior([4, 0], "dirichlet", 1)).round(4)
    array([0.8333, 0.1667])
    >>> np.exp(class_log_prior([4, 0], "map", 2)).round(4)
    array([0.8333, 0.1667])
    """
    documents = np.asarray(documents, dtype=float)
    if not isinstance(prior, str):
        return _log(_given(prior, len(documents)))
    if prior not in KINDS:
        raise ValueError(f"class_prior={prior!r} is unknown: use one of {', '.join(KINDS)} or an array")
    if prior == "uniform":
        return np.full(len(documents), -np.log(len(documents)))
    if prior == "mle":
        weight = documents
    else:
        weight = documents + _concentration(concentration, len(documents)) - (prior == "map")
        if weight.min() < 0:
            raise ValueError(
                "the MAP class prior does not exist: a class has N_c + prior_concentration < 1; "
                "use prior_concentration >= 1 or class_prior='dirichlet'"
            )
    total = weight.sum()
    if not total > 0:
        raise ValueError("no class has any weight: nothing to estimate the class prior from")
    return _log(weight / total)


def _log(probability: np.ndarray) -> np.ndarray:
    with np.errstate(divide="ignore"):  # log 0 = -inf is the answer, not an accident
        return np.log(probability)


def _given(prior: ArrayLike, n_classes: int) -> np.ndarray:
    given = np.asarray(prior, dtype=float)
    if given.shape != (n_classes,):
        raise ValueError(f"Number of priors must match number of classes: {given.size} priors, {n_classes} classes.")
    if not (given >= 0).all():
        raise ValueError("Priors must be non-negative.")
    if not np.isclose(given.sum(), 1.0):
        raise ValueError(f"The sum of the priors should be 1, not {given.sum():g}.")
    return given


def _concentration(concentration: float | ArrayLike, n_classes: int) -> np.ndarray:
    a = np.asarray(concentration, dtype=float)
    if a.shape not in ((), (n_classes,)):
        raise ValueError(f"prior_concentration must be a number or hold {n_classes} numbers, one per class")
    if not ((a > 0) & (a < np.inf)).all():
        raise ValueError(f"prior_concentration must be greater than 0 and finite, got {concentration!r}")
    return a
