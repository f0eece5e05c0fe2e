"""Metrics, arrays in and numbers out, in three parts.

Verdicts: confusion, precision and recall, and McNemar's exact test. Class indices are 0..C−1; a verdict of −1 is
"unsure". Unsure is not spam (the mail is delivered), and in a confusion matrix it has a column of its own, so it is
never right.

Scores: the receiver operating characteristic, what scores can do at any threshold. Labels are booleans (True is spam,
the class that a threshold cuts off), scores are floats of which higher means more like spam; only their order matters.
Counts are integers throughout, so that equal scores are exactly half an error each, and no area is lost to rounding.

Probabilities: do they mean what they say? Log loss, expected calibration error.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from spamnb.formulas.calibration import label_trust
from spamnb.formulas.trust import DOUBTFUL

UNSURE = -1
BINS = 15  # of probabilities, of equal width, as in Guo, Pleiss, Sun & Weinberger (2017)


def confusion_matrix(truth: ArrayLike, verdicts: ArrayLike, n_classes: int) -> NDArray[np.int64]:
    """Messages by true class (rows) and verdict (columns); the last column is "unsure". Shape (C, C+1).

    >>> confusion_matrix([0, 0, 1, 1], [0, 1, 1, -1], 2)
    array([[1, 1, 0],
           [0, 1, 1]])
    """
    true = np.asarray(truth, dtype=np.int64)
    said = np.asarray(verdicts, dtype=np.int64)
    column = np.where(said == UNSURE, n_classes, said)
    cells = np.bincount(true * (n_classes + 1) + column, minlength=n_classes * (n_classes + 1))
    return cells.reshape(n_classes, n_classes + 1)


class PrecisionRecall(NamedTuple):
    """Per class, (C,): precision, recall, F1 and the number of messages that are of it."""

    precision: NDArray[np.float64]
    recall: NDArray[np.float64]
    f1: NDArray[np.float64]
    support: NDArray[np.int64]


def precision_recall(confusion: ArrayLike) -> PrecisionRecall:
    """Precision, recall and F1 of every class. A ratio 0/0 is 0, as in scikit-learn.

    F1 = 2·TP / (2·TP + FP + FN): the harmonic mean without its own 0/0.
    """
    cells = np.asarray(confusion)
    right, said, support = np.diagonal(cells), cells.sum(axis=0)[: len(cells)], cells.sum(axis=1)

    def ratio(part: NDArray, whole: NDArray) -> NDArray[np.float64]:
        return np.divide(part, whole, out=np.zeros(len(cells)), where=whole > 0)

    return PrecisionRecall(ratio(right, said), ratio(right, support), ratio(2 * right, said + support), support)


class McNemar(NamedTuple):
    """Messages that only one of two runs got right; probability of so uneven a split by chance."""

    only_first_right: int
    only_second_right: int
    p_value: float

    def __str__(self) -> str:
        told = f"{self.only_first_right} right only here, {self.only_second_right} only there"
        return f"{told}, p = {self.p_value:.3g}"


def mcnemar(first_right: ArrayLike, second_right: ArrayLike) -> McNemar:
    """Exact two-sided test: the discordant messages are coin tosses if the two filters are equally good.

    Both arguments are boolean vectors over the same messages in the same order. p = 1 without a discordant
    message.

    >>> mcnemar([True, True, True, True, True, True], [False, False, False, False, False, True])
    McNemar(only_first_right=5, only_second_right=0, p_value=0.0625)
    """
    from scipy.stats import binomtest

    first, second = np.asarray(first_right, dtype=bool), np.asarray(second_right, dtype=bool)
    a, b = int((first & ~second).sum()), int((second & ~first).sum())
    return McNemar(a, b, float(binomtest(a, a + b).pvalue) if a + b else 1.0)


def doubtful_rows(scores: NDArray, labels: NDArray) -> NDArray[np.intp]:
    """Return the rows of the messages whose labels are more likely wrong than right, the least trusted first.

    ``scores`` (n, C) come from models without the message, ``labels`` (n,) are class numbers. A person can look at
    these messages first: what a folder holds by mistake is learned, and makes others of its kind go wrong.

    >>> scores = np.stack([np.zeros(100), np.linspace(-20, 20, 100)], axis=1)
    >>> labels = np.repeat([0, 1], 50)
    >>> labels[[5, 99]] = 1, 0
    >>> doubtful_rows(scores, labels)
    array([99,  5])
    """
    trusts, _ = label_trust(scores, labels)
    order: NDArray[np.intp] = np.argsort(trusts, kind="stable")
    return order[trusts[order] < DOUBTFUL]


class RocCounts(NamedTuple):
    """Ham and spam at each distinct step of a falling threshold; neighbours of one kind may be merged.

    ``ham`` and ``spam``: (r,) integers. The steps are the sufficient statistic of everything in this file.
    """

    ham: NDArray[np.int64]
    spam: NDArray[np.int64]


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
    ham, spam = np.asarray(step.ham), np.asarray(step.spam)
    hams, spams = ham.sum(axis=-1), spam.sum(axis=-1)
    # The allowance is rounded down as a count: comparing rates would reject 1/1000 under a limit of .001 on
    # some machines.
    allowed = np.floor(ham_limit * hams + 1e-9)
    within = np.cumsum(ham, axis=-1) <= np.expand_dims(allowed, -1)
    missed = spams - (spam * within).sum(axis=-1)
    return np.divide(missed, spams, out=np.full(np.shape(missed), np.nan), where=spams > 0)


def curve(step: RocCounts) -> NDArray[np.float64]:
    """The ROC as the corners of its steps, from "nothing is called spam" to "all is": rows (r+1, 2) of the rates of ham
    and of spam misclassified."""
    hams, spams = (np.r_[0, np.cumsum(counts)] / max(int(counts.sum()), 1) for counts in step)
    return np.column_stack([hams, 1 - spams])


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
    true, p = np.asarray(truth), np.asarray(probabilities)
    eps = np.finfo(np.float64).eps
    return float(-np.log(np.clip(p[np.arange(len(true)), true], eps, 1 - eps)).mean())


def reliability(truth: ArrayLike, probabilities: ArrayLike, positive: int | None = None) -> list[Bin]:
    """Reliability table over equal-width bins of one probability.

    With ``positive``, of p(that class) against its share, which is what a spam threshold acts on; without,
    of the largest probability of each message against how often that class was right, which is defined for
    any number of classes.
    """
    true, p = np.asarray(truth), np.asarray(probabilities)
    if positive is None:
        said, came_true = p.max(axis=1), p.argmax(axis=1) == true
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
    gap = sum(row.messages * abs(row.predicted - row.observed) for row in table if row.messages)
    return 100 * gap / messages
