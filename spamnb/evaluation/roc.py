"""The receiver operating characteristic: what a filter's scores can do at any threshold.

Labels are booleans (True is spam, the class that a threshold cuts off), scores are floats of which higher
means more like spam; only their order matters. Counts are integers throughout, so that equal scores are
exactly half an error each, and no area is lost to rounding.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray


class RocCounts(NamedTuple):
    """Ham and spam at each distinct step of a falling threshold; neighbours of one kind may be merged.

    ``ham`` and ``spam``: (r,) integers. The steps are the sufficient statistic of everything in this file.
    """

    ham: NDArray[np.int64]
    spam: NDArray[np.int64]


class Curve(NamedTuple):
    """Points of the ROC from "nothing is called spam" to "all is": rates in [0, 1], both (r+1,)."""

    ham_misclassified: NDArray[np.float64]
    spam_misclassified: NDArray[np.float64]


def roc_counts(is_spam: ArrayLike, scores: ArrayLike) -> RocCounts:
    """Sort by falling score and merge: equal scores into one step, then runs that hold only one class.

    The merging is exact for areas and for the best point under a limit on either error. A filter that
    separates well has few runs (some hundreds in 75,000 messages), which is what makes a bootstrap of a
    thousand replicates cheap.

    >>> roc_counts([False, False, True, False, True, True], [0.1, 0.2, 0.3, 0.6, 0.6, 0.9])
    RocCounts(ham=array([0, 1, 0, 2]), spam=array([1, 1, 1, 0]))
    """
    label = np.asarray(is_spam, dtype=bool)
    score = np.asarray(scores, dtype=np.float64)
    if label.ndim != 1 or label.shape != score.shape:
        raise ValueError(f"labels {label.shape} and scores {score.shape} must be two vectors of one length")
    if np.isnan(score).any():
        raise ValueError("a score is NaN: every message needs a score that can be ordered")
    if not len(score):
        return RocCounts(*np.zeros((2, 0), np.int64))
    order = np.argsort(-score, kind="stable")
    label, score = label[order], score[order]
    first = np.flatnonzero(np.r_[True, score[1:] != score[:-1]])
    spam = np.add.reduceat(label.astype(np.int64), first)
    ham = np.diff(np.r_[first, len(score)]) - spam
    kind = np.where(ham == 0, 1, np.where(spam == 0, 0, 2))
    starts = np.flatnonzero(np.r_[True, (kind[1:] != kind[:-1]) | (kind[1:] == 2)])
    return RocCounts(np.add.reduceat(ham, starts), np.add.reduceat(spam, starts))


def misordered(step: RocCounts) -> NDArray[np.float64]:
    """1 − area under the ROC: share of (ham, spam) pairs whose ham scores higher, ties counting half.

    Works on one set of steps, shapes (r,), or on many at once, shapes (b, r). NaN where a class is empty.

    >>> float(misordered(roc_counts([False, False, True, True], [0.1, 0.4, 0.35, 0.8])))
    0.25
    """
    ham, spam = np.asarray(step.ham), np.asarray(step.spam)
    above = np.cumsum(ham, axis=-1)
    twice = ((2 * above - ham) * spam).sum(axis=-1)
    pairs = 2 * ham.sum(axis=-1) * spam.sum(axis=-1)
    return np.divide(twice, pairs, out=np.full(np.shape(twice), np.nan), where=pairs > 0)


def one_minus_roca(is_spam: ArrayLike, scores: ArrayLike) -> float:
    """1-ROCA% = 100 × (1 − area under the ROC), exact. NaN where a class is empty."""
    return 100.0 * float(misordered(roc_counts(is_spam, scores)))


def spam_missed_at(step: RocCounts, ham_limit: float) -> NDArray[np.float64]:
    """Least rate of spam missed by a threshold that misclassifies at most the rate ``ham_limit`` of the ham.

    Shapes as in :func:`misordered`. A threshold is one of the scores, or above them all; no interpolation,
    since half a message cannot be lost.

    >>> float(spam_missed_at(roc_counts([False, False, True, True], [0.1, 0.4, 0.35, 0.8]), 0.0))
    0.5
    """
    if not 0 <= ham_limit <= 1:
        raise ValueError(f"ham_limit={ham_limit} must be a rate between 0 and 1")
    ham, spam = np.asarray(step.ham), np.asarray(step.spam)
    hams, spams = ham.sum(axis=-1), spam.sum(axis=-1)
    # The allowance is rounded down as a count: comparing rates would reject 1/1000 under a limit of .001 on
    # some machines.
    allowed = np.floor(ham_limit * hams + 1e-9)
    within = np.cumsum(ham, axis=-1) <= np.expand_dims(allowed, -1)
    missed = spams - (spam * within).sum(axis=-1)
    return np.divide(missed, spams, out=np.full(np.shape(missed), np.nan), where=spams > 0)


def curve(step: RocCounts) -> Curve:
    """The ROC as the corners of its steps, from (0, 1) to (1, 0) in misclassification rates."""
    hams, spams = max(int(step.ham.sum()), 1), max(int(step.spam.sum()), 1)
    return Curve(
        np.r_[0, np.cumsum(step.ham)] / hams,
        1 - np.r_[0, np.cumsum(step.spam)] / spams,
    )
