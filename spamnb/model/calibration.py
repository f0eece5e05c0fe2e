"""Calibration: from scores to probabilities.

The margin of a class is its score less the log-sum-exp of the other classes' scores. The scores of a message are by a
model without this message. Each class has two histograms of margins: of its own n messages, and of all m others. The
calibration is fitted to these histograms. Their counts can be added and subtracted, so messages can be learned and
forgotten, and models merged.

The probability of a class is a logistic curve of two parameters over the compressed margin:

    log-odds = slope · k asinh(margin / k) + intercept        k = 1 + 1000 / (1 + min(n, m)), in nats

Compression limits the influence of a message that is far from the curve. The curve is fitted to the targets
(n+d)/(n+2d) for messages of the class, and d/(m+2d) for others, instead of 1 and 0 (Platt 1999), so that few messages
never give probabilities near 0 or 1. d falls from 1 (Laplace's rule of succession) to ½ (Jeffreys' prior) as the number
of messages grows.

Some labels are wrong. The trust in a label (model/trust.py) is the weight of the message for its class, and one
minus the trust is its weight for the other classes. Trust, noise and curve are computed in turn, by a few rounds of
expectation maximisation. The loop is in C, ``core/curve.c``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from spamnb.core.curve import BINS, fit_curve
from spamnb.model.trust import PRIOR_MESSAGES, PRIOR_MESSAGES_OF_TRAINING, PRIOR_NOISE, trust

# BINS bins cover margins from −5,000 to 5,000 nats. A bin is .01 nats wide near 0, and 4 % of the margin far from 0.
_BINS_PER_UNIT = 24.0  # bins per unit of asinh(margin / _SCALE)
_SCALE = 0.25  # nats: below this margin all bins have nearly the same width
_KNEE, _KNEE_MESSAGES = 1.0, 1000.0  # nats, and nats times messages: docs/experiments.md#calibration
# Nats. The prior is two imagined messages: one of the class with this margin, one of another class with its negative.
_PRIOR_MARGIN = 2.0
# Left-out scores of a few messages say nothing, because a message without which its class has few words left seems to
# be of another class. So m imagined messages of each side have this margin, m = 4 / (1 + messages of the smaller side);
# 0 if it has none (docs/experiments.md#calibration).
_FEW_MARGIN, _FEW_MESSAGES = 4.0, 4.0
_ROUNDS = 12  # of trust and curve in turn: after more rounds a flatter curve explains the wrong labels
_MAX_LOG_ODDS = 16.0  # nats, so that no probability is 0 or 1


def margins(scores: np.ndarray) -> np.ndarray:
    """Return each class's score less the log-sum-exp of the other scores, (n, C) in nats; 0 for a single class.

    >>> margins(np.array([[1.0, 3.0]]))
    array([[-2.,  2.]])
    """
    scores = np.clip(scores, -1e100, 1e100)  # a class whose only message is left out has the score -inf
    out = np.zeros(scores.shape)
    for c in range(scores.shape[1] if scores.shape[1] > 1 else 0):
        out[:, c] = scores[:, c] - np.logaddexp.reduce(np.delete(scores, c, axis=1), axis=1)
    return out


def _bins(margin: np.ndarray) -> np.ndarray:
    position = np.rint(np.arcsinh(margin / _SCALE) * _BINS_PER_UNIT)
    return np.clip(position, -BINS // 2, BINS // 2 - 1).astype(np.intp) + BINS // 2


def bins_of(scores: np.ndarray) -> np.ndarray:
    """Return the bins (n, C) of the margins of ``scores`` (n, C)."""
    return _bins(margins(np.atleast_2d(scores)))


def bins_by_class(scores: Sequence[Mapping[str, float]]) -> list[dict[str, int]]:
    """Return the bins of the margins of messages by class; {} without scores. All scores are of the same classes."""
    scored = [list(each.values()) for each in scores if each]
    bins = iter(bins_of(np.array(scored)).tolist() if scored else [])
    return [dict(zip(each, next(bins))) if each else {} for each in scores]


_BIN_MARGINS = np.sinh((np.arange(BINS) - BINS // 2) / _BINS_PER_UNIT) * _SCALE  # (BINS,) nats
_PRIOR_BINS = _bins(np.array([_PRIOR_MARGIN, -_PRIOR_MARGIN]))
_FEW_BINS = _bins(np.array([_FEW_MARGIN, -_FEW_MARGIN]))


def histogram(scores: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Return the histograms (C, 2, BINS) of left-out ``scores`` (n, C); ``labels`` (n,) are class numbers."""
    classes = np.arange(scores.shape[1])
    out = np.zeros((len(classes), 2, BINS), np.int64)
    is_other = (np.asarray(labels)[:, None] != classes).astype(np.intp)
    np.add.at(out, (classes, is_other, bins_of(scores)), 1)
    return out


def _sigmoid(log_odds: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-np.clip(log_odds, -_MAX_LOG_ODDS, _MAX_LOG_ODDS)))


def _compress(margin: np.ndarray, knee: np.ndarray) -> np.ndarray:
    return knee * np.arcsinh(margin / knee)


class Calibration(NamedTuple):
    """The curves of C classes, and the share of wrong labels that was fitted with them.

    >>> scores = np.array([[4.0, 0.0]] * 60 + [[0.0, 4.0]] * 40)
    >>> calibration = fit_curves(histogram(scores, np.array([0] * 60 + [1] * 40)))
    >>> calibration.probabilities(np.array([[4.0, 0.0], [0.0, 4.0], [0.0, 0.0]])).round(2)
    array([[0.99, 0.01],
           [0.02, 0.98],
           [0.54, 0.46]])
    """

    slope: np.ndarray  # (C,)
    intercept: np.ndarray  # (C,) nats
    knee: np.ndarray  # (C,) nats
    noise: float

    def probabilities(self, scores: np.ndarray) -> np.ndarray:
        """Return P(class | score) of each message, (n, C); with two or more classes, no probability is 0."""
        margin = margins(np.atleast_2d(scores))
        if margin.shape[1] == 1:
            return np.ones_like(margin)
        # Each class has a curve against the others, so the rows of three or more classes do not sum to 1.
        p = _sigmoid(self.slope * _compress(margin, self.knee) + self.intercept)
        return p / p.sum(axis=1, keepdims=True)


def fit_curves(histogram: np.ndarray, unscored: np.ndarray | None = None, prior: float = PRIOR_MESSAGES) -> Calibration:
    """Fit the curves of C classes to their ``histogram`` (C, 2, BINS).

    ``unscored`` (C,) are the messages per class without a score, which were learned while there was only one class.
    They are added to the imagined messages of the prior. Otherwise the share of the class that was learned second would
    be too large. ``prior`` is the number of imagined messages in the prior of the noise.
    """
    counts = np.maximum(histogram, 0)
    unscored = np.zeros(len(counts), np.int64) if unscored is None else np.maximum(unscored, 0)
    unscored = np.stack([unscored, unscored.sum() - unscored], axis=1)  # (C, 2) of the class, and of all others
    if len(counts) == 2:  # two classes share one curve
        curve = _fit_curve(counts[1], unscored[1], prior)
        slope, signs = np.full(2, curve.slope), np.array([-1.0, 1.0])
        noise = _estimate_noise(curve.wrong_own + curve.wrong_others, int(counts[1].sum()), prior)
        return Calibration(slope, signs * curve.intercept, np.full(2, curve.knee), noise)
    curves = [_fit_curve(*each, prior) for each in zip(counts, unscored)]
    slope, intercept, knee = np.array([(each.slope, each.intercept, each.knee) for each in curves]).reshape(-1, 3).T
    # Each curve is fitted to all messages. Only wrong labels of the curve's class are added, so each label counts once.
    noise = _estimate_noise(sum(each.wrong_own for each in curves), int(counts[:, 0].sum()), prior)
    return Calibration(slope, intercept, knee, noise)


def _fit_curve(counts: np.ndarray, unscored: np.ndarray, prior: float) -> Any:
    """Fit one curve to ``counts`` (2, BINS) of messages with a score, and numbers ``unscored`` (2,) without one."""
    imagined = np.zeros(counts.shape)
    imagined[[0, 1], _PRIOR_BINS] = 1 + unscored
    smaller = int((counts.sum(axis=1) + unscored).min())
    imagined[[0, 1], _FEW_BINS] = _FEW_MESSAGES / (smaller + 1) if smaller else 0
    knee = _KNEE + _KNEE_MESSAGES / (smaller + 1)
    return fit_curve(counts, imagined, _BIN_MARGINS, knee, _MAX_LOG_ODDS, PRIOR_NOISE, prior, _ROUNDS)


def _estimate_noise(wrong: float, messages: int, prior: float) -> float:
    """Return the share of wrong labels, with ``prior`` imagined messages. PRIOR_NOISE of these are wrong."""
    return (wrong + PRIOR_NOISE * prior) / (messages + prior)


def label_trust(scores: np.ndarray, labels: np.ndarray) -> tuple[np.ndarray, float]:
    """Return the trust (n,) in the ``labels`` (n,) of messages, and the share of wrong labels.

    Each of the ``scores`` (n, C), in nats, is by a model without the message. A calibration is fitted to the scores.

    >>> margins = np.linspace(-20, 20, 100)
    >>> labels = (margins > 0).astype(int)
    >>> labels[[0, 99]] = 1, 0
    >>> label_trust(np.stack([0 * margins, margins], axis=1), labels)[0][[0, 1, 50, 99]].round(2)
    array([0.  , 1.  , 0.98, 0.  ])
    """
    counts = histogram(scores, labels)
    calibration = fit_curves(counts, prior=PRIOR_MESSAGES_OF_TRAINING)
    p = calibration.probabilities(scores)[np.arange(len(labels)), labels]
    return trust(p, calibration.noise), calibration.noise
