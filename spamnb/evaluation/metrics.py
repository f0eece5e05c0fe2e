"""What verdicts did: confusion, precision and recall, the error rates of the TREC spam track, and McNemar's exact test.

Class indices are 0..C−1; a verdict of −1 is "unsure". Unsure is not spam (the mail is delivered), and in a
confusion matrix it has a column of its own, so it is never right.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

UNSURE = -1
SURE = 0.9  # probability of another class: above it the default costs call mail spam


def confusion_matrix(truth: ArrayLike, verdicts: ArrayLike, n_classes: int) -> NDArray[np.int64]:
    """Messages by true class (rows) and verdict (columns); the last column is "unsure". Shape (C, C+1).

    >>> confusion_matrix([0, 0, 1, 1], [0, 1, 1, -1], 2)
    array([[1, 1, 0],
           [0, 1, 1]])
    """
    true = np.asarray(truth, dtype=np.int64)
    said = np.asarray(verdicts, dtype=np.int64)
    if true.shape != said.shape:
        raise ValueError(f"{true.shape} true labels and {said.shape} verdicts must be of one length")
    if len(true) and (true.min() < 0 or max(true.max(), said.max()) >= n_classes or said.min() < UNSURE):
        raise ValueError(f"a class index lies outside 0..{n_classes - 1}")
    column = np.where(said == UNSURE, n_classes, said)
    cells = np.bincount(true * (n_classes + 1) + column, minlength=n_classes * (n_classes + 1))
    return cells.reshape(n_classes, n_classes + 1)


class PrecisionRecall(NamedTuple):
    """Per class, shape (C,) or (b, C): precision, recall, F1 and the number of messages that are of it."""

    precision: NDArray[np.float64]
    recall: NDArray[np.float64]
    f1: NDArray[np.float64]
    support: NDArray[np.int64]


def precision_recall(confusion: ArrayLike) -> PrecisionRecall:
    """Precision, recall and F1 of every class. A ratio 0/0 is 0, as in scikit-learn.

    F1 = 2·TP / (2·TP + FP + FN): the harmonic mean without its own 0/0.
    """
    cells = np.asarray(confusion)
    n_classes = cells.shape[-2]
    right = np.diagonal(cells, axis1=-2, axis2=-1)
    said = cells.sum(axis=-2)[..., :n_classes]
    support = cells.sum(axis=-1)

    def ratio(part: NDArray, whole: NDArray) -> NDArray[np.float64]:
        return np.divide(part, whole, out=np.zeros(np.shape(part)), where=whole > 0)

    return PrecisionRecall(ratio(right, said), ratio(right, support), ratio(2 * right, said + support), support)


def macro_f1(confusion: ArrayLike) -> NDArray[np.float64]:
    """Mean F1 over the classes that occur as truth or as a verdict: the others are no evidence."""
    cells = np.asarray(confusion)
    f1 = precision_recall(cells).f1
    occurs = (cells.sum(axis=-1) + cells.sum(axis=-2)[..., : cells.shape[-2]]) > 0
    count = occurs.sum(axis=-1)
    return np.divide((f1 * occurs).sum(axis=-1), count, out=np.full(np.shape(count), np.nan), where=count > 0)


class SpamErrors(NamedTuple):
    """The four counts behind hm%, sm% and lam%.

    >>> errors = SpamErrors(ham=1000, spam=500, ham_errors=1, spam_errors=10)
    >>> round(errors.hm, 4), round(errors.sm, 4), round(errors.lam, 4)
    (0.1, 2.0, 0.4499)
    """

    ham: int
    spam: int
    ham_errors: int  # ham called spam: good mail lost
    spam_errors: int  # spam not called spam, unsure included: spam let through

    @property
    def hm(self) -> float:
        """hm%: ham called spam, per hundred ham."""
        return 100 * self.ham_errors / self.ham if self.ham else math.nan

    @property
    def sm(self) -> float:
        """sm%: spam not called spam, per hundred spam."""
        return 100 * self.spam_errors / self.spam if self.spam else math.nan

    @property
    def lam(self) -> float:
        """lam%: logit⁻¹ of the mean of logit(hm) and logit(sm), in percent; zero counts as in :func:`logit_rate`."""
        logits = logit_rate([self.ham_errors, self.spam_errors], [self.ham, self.spam])
        return float(100 * expit(logits.mean()))


def spam_errors(is_spam: ArrayLike, called_spam: ArrayLike) -> SpamErrors:
    """Count ham called spam and spam not called spam from two boolean vectors."""
    label, called = np.asarray(is_spam, dtype=bool), np.asarray(called_spam, dtype=bool)
    if label.shape != called.shape:
        raise ValueError(f"{label.shape} true labels and {called.shape} verdicts must be of one length")
    spam = int(label.sum())
    return SpamErrors(label.size - spam, spam, int((~label & called).sum()), int((label & ~called).sum()))


def logit_rate(errors: ArrayLike, total: ArrayLike) -> NDArray[np.float64]:
    """logit(errors/total), with no errors counted as half of one and nothing but errors as half of one short.

    A logit of 0 would be −∞ and would make lam% 0 for a filter that loses no ham whatever it does to spam.
    Every other count enters as it is, so published figures are met to the last digit. NaN where total is 0.
    """
    count, whole = np.asarray(errors, dtype=np.float64), np.asarray(total, dtype=np.float64)
    shape = np.broadcast(count, whole).shape
    safe = np.where(whole > 0, whole, 1.0)
    kept = np.clip(count, 0.5, np.maximum(safe - 0.5, 0.5))
    rate = np.where(whole > 0, kept / safe, np.nan)
    return np.broadcast_to(np.log(rate / (1 - rate)), shape)


def expit(x: ArrayLike) -> NDArray[np.float64]:
    """The logistic function 1/(1+e⁻ˣ), inverse of the logit, without overflow."""
    with np.errstate(invalid="ignore"):  # NaN, a rate of nothing, stays NaN
        return np.exp(-np.logaddexp(0, -np.asarray(x, dtype=np.float64)))


def total_cost_ratio(is_spam: ArrayLike, spam_probabilities: ArrayLike, cost: float) -> float:
    """TCR = N_spam / (λ·FP + FN) with λ = ``cost``, a message being blocked where p(spam|x) > λ/(1+λ).

    How many times cheaper the filter is than no filter (Androutsopoulos et al. 2000): below 1 it does harm,
    infinite without an error. NaN without spam.

    >>> total_cost_ratio([True, True, False], [0.99, 0.4, 0.6], 1)
    1.0
    >>> total_cost_ratio([True, True, False], [0.99, 0.4, 0.6], 9)
    2.0
    """
    if not cost > 0:
        raise ValueError(f"cost={cost} must be greater than 0")
    errors = spam_errors(is_spam, np.asarray(spam_probabilities) > cost / (1 + cost))
    if not errors.spam:
        return math.nan
    price = cost * errors.ham_errors + errors.spam_errors
    return errors.spam / price if price else math.inf


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
    first, second = np.asarray(first_right, dtype=bool), np.asarray(second_right, dtype=bool)
    if first.shape != second.shape:
        raise ValueError(f"{first.shape} against {second.shape} verdicts: they must be of the same messages")
    a, b = int((first & ~second).sum()), int((second & ~first).sum())
    if a + b == 0:
        return McNemar(a, b, 1.0)
    from scipy.stats import binom

    return McNemar(a, b, min(1.0, float(2 * binom.cdf(min(a, b), a + b, 0.5))))


def surest(scores: NDArray, probabilities: NDArray, labels: NDArray, verdicts: NDArray) -> NDArray[np.intp]:
    """Rows of the messages that look mislabelled, the surest first: of n messages with ``scores`` and ``probabilities``
    (n, C), and class numbers (n,) as labels and as verdicts, −1 for unsure.

    The model was not told of them, and is sure of another class. A person can look at them first: what a folder holds
    by mistake is learned, and makes others of its kind go wrong.

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
