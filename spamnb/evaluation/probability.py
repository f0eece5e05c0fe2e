"""Do the probabilities mean what they say: log loss, Brier score, expected calibration error."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

BINS = 15  # equal-width bins, as in Guo, Pleiss, Sun & Weinberger (2017)


class Bin(NamedTuple):
    """One row of a reliability table: predicted probability against what happened."""

    low: float
    high: float
    messages: int
    predicted: float  # mean probability in the bin; NaN when empty
    observed: float  # share of messages in the bin for which it came true; NaN when empty


def log_loss(truth: ArrayLike, probabilities: ArrayLike) -> float:
    """Mean −log p(true class), in nats. Probabilities are clipped at the machine epsilon, as in scikit-learn.

    >>> round(log_loss([0, 1], [[0.8, 0.2], [0.5, 0.5]]), 4)
    0.4581
    """
    true, p = _checked(truth, probabilities)
    if not len(true):
        return float("nan")
    eps = np.finfo(np.float64).eps
    return float(-np.log(np.clip(p[np.arange(len(true)), true], eps, 1 - eps)).mean())


def brier_score(truth: ArrayLike, probabilities: ArrayLike) -> float:
    """Mean Σ_c (p_c − [y=c])², halved for two classes so that it is the usual (p−y)².

    >>> brier_score([0, 1], [[1.0, 0.0], [0.5, 0.5]])
    0.125
    """
    true, p = _checked(truth, probabilities)
    if not len(true):
        return float("nan")
    total = ((p - np.eye(p.shape[1])[true]) ** 2).sum(axis=1).mean()
    return float(total / 2 if p.shape[1] == 2 else total)


def reliability(truth: ArrayLike, probabilities: ArrayLike, positive: int | None = None) -> list[Bin]:
    """Reliability table over equal-width bins of one probability.

    With ``positive``, of p(that class) against its share, which is what a spam threshold acts on; without,
    of the largest probability of each message against how often that class was right, which is defined for
    any number of classes.
    """
    true, p = _checked(truth, probabilities)
    if positive is None:
        said, came_true = p.max(axis=1, initial=0.0), p.argmax(axis=1) == true if len(true) else true == true
    else:
        said, came_true = p[:, positive], true == positive
    which = np.clip((said * BINS).astype(np.int64), 0, BINS - 1)
    count = np.bincount(which, minlength=BINS)
    mean = np.full(BINS, np.nan)
    share = np.full(BINS, np.nan)
    np.divide(np.bincount(which, said, BINS), count, out=mean, where=count > 0)
    np.divide(np.bincount(which, came_true, BINS), count, out=share, where=count > 0)
    return [Bin(b / BINS, (b + 1) / BINS, int(count[b]), float(mean[b]), float(share[b])) for b in range(BINS)]


def expected_calibration_error(table: list[Bin]) -> float:
    """Mean |predicted − observed| over the bins, each weighted by its messages, in percent.

    >>> expected_calibration_error([Bin(0, 0.5, 3, 0.1, 0.0), Bin(0.5, 1, 1, 0.9, 1.0)])
    10.0
    """
    messages = sum(row.messages for row in table)
    if not messages:
        return float("nan")
    gap = sum(row.messages * abs(row.predicted - row.observed) for row in table if row.messages)
    return 100 * gap / messages


def _checked(truth: ArrayLike, probabilities: ArrayLike) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    true, p = np.asarray(truth, dtype=np.int64), np.asarray(probabilities, dtype=np.float64)
    if p.ndim != 2 or true.shape != p.shape[:1]:
        raise ValueError(f"probabilities {p.shape} need a row for each of {true.shape} labels")
    return true, p
