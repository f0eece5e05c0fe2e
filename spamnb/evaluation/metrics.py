"""Metrics of verdicts, of scores and of probabilities: arrays in, numbers out.

Verdicts: confusion matrix, precision and recall, and McNemar's exact test. Classes are numbers 0..C−1, and the verdict
−1 is "unsure". An unsure verdict is never right, and is not the verdict spam, because the mail is delivered.

Scores: the receiver operating characteristic (ROC), which is the errors at every threshold. Labels are booleans, True
for spam. Only the order of the scores counts, and spam should have higher scores. Counts are integers, so areas have no
rounding error.

Probabilities: log loss and expected calibration error.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from spamnb.model.calibration import label_trust
from spamnb.model.trust import MIN_TRUST

UNSURE_NUMBER = -1
BINS = 15  # of equal width, as in Guo, Pleiss, Sun & Weinberger (2017)


def confusion_matrix(truth: ArrayLike, verdicts: ArrayLike, n_classes: int) -> NDArray[np.int64]:
    """Return the messages by true class (rows) and verdict (columns), (C, C+1). The last column is "unsure".

    >>> confusion_matrix([0, 0, 1, 1], [0, 1, 1, -1], 2)
    array([[1, 1, 0],
           [0, 1, 1]])
    """
    true = np.asarray(truth, dtype=np.int64)
    verdict = np.asarray(verdicts, dtype=np.int64)
    column = np.where(verdict == UNSURE_NUMBER, n_classes, verdict)
    cells = np.bincount(true * (n_classes + 1) + column, minlength=n_classes * (n_classes + 1))
    return cells.reshape(n_classes, n_classes + 1)


class PrecisionRecall(NamedTuple):
    """Per class, (C,): precision, recall, F1 and the number of messages."""

    precision: NDArray[np.float64]
    recall: NDArray[np.float64]
    f1: NDArray[np.float64]
    support: NDArray[np.int64]


def precision_recall(confusion: ArrayLike) -> PrecisionRecall:
    """Return precision, recall and F1 = 2·TP / (2·TP + FP + FN) of every class. A ratio 0/0 is 0."""
    cells = np.asarray(confusion)
    right, predicted, support = np.diagonal(cells), cells.sum(axis=0)[: len(cells)], cells.sum(axis=1)

    def ratio(part: NDArray, whole: NDArray) -> NDArray[np.float64]:
        return np.divide(part, whole, out=np.zeros(len(cells)), where=whole > 0)

    return PrecisionRecall(
        ratio(right, predicted), ratio(right, support), ratio(2 * right, predicted + support), support
    )


class McNemar(NamedTuple):
    """Number of messages that only the first or only the second run classified correctly, and the p-value."""

    only_first_right: int
    only_second_right: int
    p_value: float

    def __str__(self) -> str:
        counts = f"{self.only_first_right} right only in this run, {self.only_second_right} only in the other"
        return f"{counts}, p = {self.p_value:.3g}"


def mcnemar(first_right: ArrayLike, second_right: ArrayLike) -> McNemar:
    """Return McNemar's exact two-sided test of the hypothesis that two filters are equally good.

    Both arguments are boolean vectors over the same messages. Under the hypothesis the first filter is right with the
    probability 1/2 for each message that only one filter classified correctly. If there is no such message, p is 1.

    >>> mcnemar([True, True, True, True, True, True], [False, False, False, False, False, True])
    McNemar(only_first_right=5, only_second_right=0, p_value=0.0625)
    """
    from scipy.stats import binomtest

    first, second = np.asarray(first_right, dtype=bool), np.asarray(second_right, dtype=bool)
    a, b = int((first & ~second).sum()), int((second & ~first).sum())
    return McNemar(a, b, float(binomtest(a, a + b).pvalue) if a + b else 1.0)


def mislabelled_rows(scores: NDArray, labels: NDArray) -> NDArray[np.intp]:
    """Return the rows of the messages whose labels are more likely wrong than right, the least trusted first.

    ``scores`` (n, C) are computed by models that have not learned the message. ``labels`` (n,) are class numbers.

    >>> scores = np.stack([np.zeros(100), np.linspace(-20, 20, 100)], axis=1)
    >>> labels = np.repeat([0, 1], 50)
    >>> labels[[5, 99]] = 1, 0
    >>> mislabelled_rows(scores, labels)
    array([99,  5])
    """
    trusts, _ = label_trust(scores, labels)
    order: NDArray[np.intp] = np.argsort(trusts, kind="stable")
    return order[trusts[order] < MIN_TRUST]


class RocCounts(NamedTuple):
    """Number of ham and spam, (r,) each, at the steps of a falling threshold."""

    ham: NDArray[np.int64]
    spam: NDArray[np.int64]


def roc_counts(is_spam: ArrayLike, scores: ArrayLike) -> RocCounts:
    """Return the steps of a threshold that falls from the highest to the lowest score.

    Messages with equal scores are one step. Neighbouring steps that have only ham, or only spam, are merged, which
    changes no figure. A good filter has some hundred steps for 75,000 messages, so 1000 bootstraps take little time.

    >>> roc_counts([False, False, True, False, True, True], [0.1, 0.2, 0.3, 0.6, 0.6, 0.9])
    RocCounts(ham=array([0, 1, 0, 2]), spam=array([1, 1, 1, 0]))
    """
    label = np.asarray(is_spam, dtype=bool)
    score = np.asarray(scores, dtype=np.float64)
    if not len(score):
        return RocCounts(*np.zeros((2, 0), np.int64))
    order = np.argsort(-score, kind="stable")
    label, score = label[order], score[order]
    score_starts = np.flatnonzero(np.r_[True, score[1:] != score[:-1]])
    spam = np.add.reduceat(label.astype(np.int64), score_starts)
    ham = np.diff(np.r_[score_starts, len(score)]) - spam
    only_class = np.where(ham == 0, 1, np.where(spam == 0, 0, -1))  # −1: the step has ham and spam
    starts = np.flatnonzero(np.r_[True, (only_class[1:] != only_class[:-1]) | (only_class[1:] == -1)])
    return RocCounts(np.add.reduceat(ham, starts), np.add.reduceat(spam, starts))


def misordered_share(steps: RocCounts) -> NDArray[np.float64]:
    """Return 1 − area under the ROC: the share of (ham, spam) pairs whose ham scores higher. A tie counts half.

    The counts have the shape (r,), or (b, r) for b sets of steps. The share is NaN if a class is empty.

    >>> float(misordered_share(roc_counts([False, False, True, True], [0.1, 0.4, 0.35, 0.8])))
    0.25
    """
    ham, spam = np.asarray(steps.ham), np.asarray(steps.spam)
    above = np.cumsum(ham, axis=-1)
    twice_misordered = ((2 * above - ham) * spam).sum(axis=-1)
    twice_pairs = 2 * ham.sum(axis=-1) * spam.sum(axis=-1)
    out = np.full(np.shape(twice_pairs), np.nan)
    return np.divide(twice_misordered, twice_pairs, out=out, where=twice_pairs > 0)


def one_minus_roca(is_spam: ArrayLike, scores: ArrayLike) -> float:
    """Return 1-ROCA% = 100 × (1 − area under the ROC), exactly; NaN if a class is empty."""
    return 100.0 * float(misordered_share(roc_counts(is_spam, scores)))


def least_missed_spam(steps: RocCounts, ham_limit: float) -> NDArray[np.float64]:
    """Return the least rate of missed spam of all thresholds that misclassify at most the rate ``ham_limit`` of ham.

    The shapes are as in ``misordered_share``. A threshold is one of the scores, or above all scores. There is no
    interpolation between thresholds.

    >>> float(least_missed_spam(roc_counts([False, False, True, True], [0.1, 0.4, 0.35, 0.8]), 0.0))
    0.5
    """
    ham, spam = np.asarray(steps.ham), np.asarray(steps.spam)
    hams, spams = ham.sum(axis=-1), spam.sum(axis=-1)
    # The tolerance makes up for the rounding of the product: 0.29 * 100 is 28.999999999999996.
    max_ham = np.floor(ham_limit * hams + 1e-9)
    is_allowed = np.cumsum(ham, axis=-1) <= np.expand_dims(max_ham, -1)
    missed = spams - (spam * is_allowed).sum(axis=-1)
    return np.divide(missed, spams, out=np.full(np.shape(missed), np.nan), where=spams > 0)


def roc_curve(steps: RocCounts) -> NDArray[np.float64]:
    """Return the corners of the ROC's steps, (r+1, 2): rates of misclassified ham and spam, from no spam verdict on."""
    hams, spams = (np.r_[0, np.cumsum(counts)] / max(int(counts.sum()), 1) for counts in steps)
    return np.column_stack([hams, 1 - spams])


class Bin(NamedTuple):
    """A bin of a reliability table: the predicted probability and the observed share."""

    low: float
    high: float
    messages: int
    predicted: float  # mean probability in the bin; NaN for an empty bin
    observed: float  # share of the bin's messages that have the class whose probability this is; NaN for an empty bin


def log_loss(truth: ArrayLike, probabilities: ArrayLike) -> float:
    """Return the mean of −log p(true class) in nats. Probabilities are clipped at the machine epsilon.

    >>> round(log_loss([0, 1], [[0.8, 0.2], [0.5, 0.5]]), 4)
    0.4581
    """
    true, p = np.asarray(truth), np.asarray(probabilities)
    eps = np.finfo(np.float64).eps
    return float(-np.log(np.clip(p[np.arange(len(true)), true], eps, 1 - eps)).mean())


def reliability_table(truth: ArrayLike, probabilities: ArrayLike, positive: int | None = None) -> list[Bin]:
    """Return the reliability table over bins of equal width.

    The table compares the probability of the class ``positive`` with the share of its messages. If ``positive`` is
    None, the largest probability of each message is compared with the share of messages whose likeliest class is true.
    """
    true, p = np.asarray(truth), np.asarray(probabilities)
    if positive is None:
        predicted, is_true = p.max(axis=1), p.argmax(axis=1) == true
    else:
        predicted, is_true = p[:, positive], true == positive
    bins = np.clip((predicted * BINS).astype(np.int64), 0, BINS - 1)
    count = np.bincount(bins, minlength=BINS)
    mean = np.full(BINS, np.nan)
    share = np.full(BINS, np.nan)
    np.divide(np.bincount(bins, predicted, BINS), count, out=mean, where=count > 0)
    np.divide(np.bincount(bins, is_true, BINS), count, out=share, where=count > 0)
    return [Bin(b / BINS, (b + 1) / BINS, int(count[b]), float(mean[b]), float(share[b])) for b in range(BINS)]


def expected_calibration_error(table: list[Bin]) -> float:
    """Return the mean of |predicted − observed| over the bins, weighted by messages, in percent; NaN without messages.

    >>> expected_calibration_error([Bin(0, 0.5, 3, 0.1, 0.0), Bin(0.5, 1, 1, 0.9, 1.0)])
    10.0
    """
    messages = sum(row.messages for row in table)
    gap = sum(row.messages * abs(row.predicted - row.observed) for row in table if row.messages)
    return 100 * gap / messages if messages else float("nan")
