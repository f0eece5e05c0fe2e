"""Scores → probabilities that mean what they say, from sums.

A calibration is two integer histograms per class, over the margin: the class's score less the log-sum-exp of the other
classes' scores. One counts the class's own messages, the other all others, each scored by a model without it.
Histograms add and subtract, so learning, forgetting and merging do too. The probability of a class is a logistic curve
fitted to its histograms by Platt's method (1999): maximum likelihood towards (n+d)/(n+2d) and d/(n+2d) instead of 1
and 0, so that a few messages never make certainty. d falls from 1, Laplace's rule of succession, to Jeffreys' ½ as
messages become many. The curve keeps margins in their order. Of the curves compared it has the least log loss
(docs/experiments.md#calibration).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import NamedTuple

import numpy as np

from spamnb.formulas.softmax import softmax

BINS = 512
MIN_MESSAGES = 10  # per class: with fewer, its curve is more prior than evidence, and no probability is above .93
_BINS_PER_UNIT = 24.0  # bins per unit of asinh(margin / _SCALE): 1 % of a nat near 0, 4 % of the margin far from it
_SCALE = 0.25  # nats
_PRIOR_MARGIN = 2.0  # nats: the prior is one imagined message of the class and one of the rest, this far on their sides
_CAREFUL = 50  # messages of the smaller side with which d is ¾: docs/experiments.md#calibration
_MAX_LOG_ODDS = 16.0  # nats of log-odds: nothing is 0 or 1
MIN_DOUBTING = 50  # messages of the class, and of all others: of fewer no label is doubted
MIN_GAIN = 3.5  # nats by which wrong labels must make the labels likelier, to be believed in
_STEEPER = 1.5, 4.0, 12.0  # times the slope that wrong labels have made flat
_NOISES = 0.001, 0.02, 0.15  # shares of wrong labels
_SLACK = 8.0  # nats that the best of these curves may lack
_MAX_STEPS = 50  # of the search
_NO_GAIN = 1e-7  # nats: a step that brings no more is the last
_LEAST_DAMPING = 1e-8  # of a step: where a curve is flat, information has no inverse


def margins(scores: np.ndarray) -> np.ndarray:
    """Each class's score less the log-sum-exp of the others', (n, C) in nats; 0 for a single class.

    >>> margins(np.array([[1.0, 3.0]]))
    array([[-2.,  2.]])
    """
    scores = np.clip(scores, -1e100, 1e100)  # a class whose only message is left out has the prior 0: -inf
    out = np.zeros(scores.shape)
    for c in range(scores.shape[1] if scores.shape[1] > 1 else 0):
        out[:, c] = scores[:, c] - np.logaddexp.reduce(np.delete(scores, c, axis=1), axis=1)
    return out


def _bins(margin: np.ndarray) -> np.ndarray:
    place = np.rint(np.arcsinh(margin / _SCALE) * _BINS_PER_UNIT)
    return np.clip(place, -BINS // 2, BINS // 2 - 1).astype(np.intp) + BINS // 2


def bins_of(scores: np.ndarray) -> np.ndarray:
    """(n, C) the bin of each class's margin, of ``scores`` (n, C) in nats."""
    return _bins(margins(np.atleast_2d(scores)))


def bins_by_class(scores: Mapping[str, float]) -> dict[str, int]:
    """The same of one message, by class; none where there are no scores."""
    return dict(zip(scores, bins_of(np.array([list(scores.values())]))[0].tolist())) if scores else {}


_BIN_MARGINS = np.sinh((np.arange(BINS) - BINS // 2) / _BINS_PER_UNIT) * _SCALE  # (BINS,) at the middle of each bin


class Curve(NamedTuple):
    """P(a message is of the class | margin x) = σ(slope·x + intercept), and the shares of labels that are wrong."""

    slope: float
    intercept: float
    missed: float = 0.0  # of the class's messages, those that are labelled as another class
    foreign: float = 0.0  # of all others, those that are labelled as the class

    def log_odds(self, margin: np.ndarray) -> np.ndarray:
        """That a message is of the class, in nats; nothing is certain."""
        return np.clip(self.slope * margin + self.intercept, -_MAX_LOG_ODDS, _MAX_LOG_ODDS)


def _fit_curve(
    own: np.ndarray, rest: np.ndarray, unscored: tuple[float, float] = (0, 0), min_gain: float = MIN_GAIN
) -> Curve:
    """The curve of a class, of binned counts.

    ``own`` and ``rest`` (BINS,) count the messages labelled as the class and as all other classes. ``unscored``
    messages, so many of the class and so many of the rest, are put where the imagined ones of the prior are.

    Of the class's messages a share ε is labelled as another class, and of the others a share δ as the class, whatever
    the message: P(label | x) = δ + (1 − ε − δ) σ(slope·x + intercept). Both are 0 unless that makes the labels
    ``min_gain`` nats likelier. The search starts from the best of a few steep curves. At its end a message counts for
    its label with the probability that the label is right, for the other side with the rest, and the curve is fitted
    to these counts.
    """
    own, rest = own.astype(float), rest.astype(float)
    own[_bins(np.array(_PRIOR_MARGIN))] += 1 + unscored[0]
    rest[_bins(np.array(-_PRIOR_MARGIN))] += 1 + unscored[1]
    used = np.flatnonzero(own + rest)
    counts = _Binned(_BIN_MARGINS[used], own[used], rest[used])
    flat = Curve(0.0, float(np.log(counts.own.sum() / counts.rest.sum())))
    clean = counts.smoothed().climb(flat)
    if clean.slope <= 0:
        return flat
    if min(counts.own.sum(), counts.rest.sum()) < MIN_DOUBTING:
        return clean
    least = counts.log_likelihood(clean) + min_gain
    starts = [
        Curve(steeper * clean.slope, intercept, *noises)
        for steeper in _STEEPER
        for intercept in (clean.intercept, steeper * clean.intercept)
        for noises in product(_NOISES, repeat=2)
    ]
    curve = starts[int(counts.log_likelihoods(np.array(starts)).argmax())]
    if counts.log_likelihood(curve) < least - _SLACK:
        return clean
    curve = counts.climb(curve)
    if curve.slope <= 0 or counts.log_likelihood(curve) < least:
        return clean
    steep = counts.relabelled(curve).smoothed().climb(Curve(curve.slope, curve.intercept))
    return steep._replace(missed=curve.missed, foreign=curve.foreign)


class _Binned:
    """Messages of a class and all others by their margins ``x`` (k,) in nats; they may count in part."""

    def __init__(self, x: np.ndarray, own: np.ndarray, rest: np.ndarray) -> None:
        self.x, self.own, self.rest, self.total = x, own, rest, own + rest
        self.scale = float(np.sqrt((self.total * x * x).sum() / self.total.sum()))  # of x, in nats

    def log_likelihood(self, curve: Curve, most: float = _MAX_LOG_ODDS) -> float:
        """Of the labels, in nats, where log-odds are ``most`` at the most."""
        return float(self.log_likelihoods(np.array([curve]), most)[0])

    def log_likelihoods(self, curves: np.ndarray, most: float = _MAX_LOG_ODDS) -> np.ndarray:
        """The same of each of m curves, (m, 4) as ``Curve`` has its fields."""
        slope, intercept, missed, foreign = curves.T[:, :, None]
        log_odds, sure = np.clip(slope * self.x + intercept, -most, most), 1 - missed - foreign
        p_own, p_rest = foreign + sure * _sigmoid(log_odds), missed + sure * _sigmoid(-log_odds)
        return np.log(p_own) @ self.own + np.log(p_rest) @ self.rest

    def relabelled(self, curve: Curve) -> _Binned:
        """The messages with the labels that they probably have, by the curve."""
        log_odds = curve.log_odds(self.x)
        own_wrong = self.own * _doubt(log_odds, curve.foreign, curve.missed)
        rest_wrong = self.rest * _doubt(-log_odds, curve.missed, curve.foreign)
        return _Binned(self.x, self.own - own_wrong + rest_wrong, self.rest - rest_wrong + own_wrong)

    def smoothed(self) -> _Binned:
        """With Platt's targets in the place of labels."""
        n_own, n_rest = self.own.sum(), self.rest.sum()
        doubt = 0.5 + 0.5 * _CAREFUL / (_CAREFUL + min(n_own, n_rest))
        own = self.own * (n_own + doubt) / (n_own + 2 * doubt) + self.rest * doubt / (n_rest + 2 * doubt)
        return _Binned(self.x, own, self.total - own)

    def climb(self, start: Curve) -> Curve:
        """The likeliest curve by Fisher's scoring from ``start`` on; shares of wrong labels that are 0 there stay 0.

        Where classes hardly overlap a full step overshoots, so a step is cut to 2, and damped until it helps. Without
        that, 5 messages at 2 ± .1 nats and 50 at −2 ± .1 ended at slope 0, as if scores told nothing.
        """
        z = self.x / self.scale
        best = np.array([start.slope * self.scale, start.intercept])
        shares = np.array([start.missed, start.foreign])
        if shares.all():  # a share is σ(a number) / 2
            best = np.append(best, np.log(2 * shares / (1 - 2 * shares)))

        def curve_of(at: np.ndarray) -> Curve:
            return Curve(float(at[0] / self.scale), float(at[1]), *(_sigmoid(at[2:]) / 2).tolist())

        highest, damping = self.log_likelihood(start, np.inf), 1e-3
        for _ in range(_MAX_STEPS):
            _, _, missed, foreign = curve_of(best)
            log_odds, sure = best[0] * z + best[1], 1 - missed - foreign
            q, other = _sigmoid(log_odds), _sigmoid(-log_odds)
            p_own, p_rest = foreign + sure * q, missed + sure * other
            by_log_odds = sure * q * other
            slopes = np.stack(
                [by_log_odds * z, by_log_odds, -missed * (1 - 2 * missed) * q, foreign * (1 - 2 * foreign) * other]
            )[: len(best)]
            information = (slopes * (self.total / (p_own * p_rest))) @ slopes.T
            information += damping * np.diag(np.diag(information) + 1e-9)
            step = np.clip(np.linalg.solve(information, slopes @ (self.own / p_own - self.rest / p_rest)), -2, 2)
            gain = self.log_likelihood(curve_of(best + step), np.inf) - highest
            if gain > 0:
                best, highest, damping = best + step, highest + gain, max(damping / 10, _LEAST_DAMPING)
            else:
                damping *= 10
            if abs(gain) < _NO_GAIN or damping > 1e6:
                break
        return curve_of(best)


def _sigmoid(log_odds: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-np.clip(log_odds, -35, 35)))


def _doubt(log_odds: np.ndarray, foreign: float, missed: float) -> np.ndarray:
    """P(a label is wrong) by the log-odds that a message is of the class that it names; ``foreign`` of the others carry
    this label, and ``missed`` of the class's own do not."""
    p = _sigmoid(log_odds)
    return foreign * (1 - p) / (foreign * (1 - p) + (1 - missed) * p)


class Calibration:
    """The sums that probabilities are derived from; ``histogram`` (C, 2, BINS) counts each class's own messages and the
    rest by the bins of their margins.

    >>> calibration = Calibration(2)
    >>> calibration.add(np.array([[4.0, 0.0]] * 60 + [[0.0, 4.0]] * 40), np.array([0] * 60 + [1] * 40))
    >>> calibration.probabilities(np.array([[4.0, 0.0], [0.0, 4.0], [0.0, 0.0]])).round(2)
    array([[0.99, 0.01],
           [0.02, 0.98],
           [0.54, 0.46]])
    """

    def __init__(
        self,
        classes: int,
        documents: np.ndarray | None = None,
        min_gain: float = MIN_GAIN,
        curves: Sequence[Curve] | None = None,
    ) -> None:
        """``documents`` (C,) are the messages per class that the model holds, scored or not. Labels are taken to be
        wrong only where that makes them ``min_gain`` nats likelier. ``curves`` were fitted before, to sums that were
        nearly these.

        Messages that were learned while there was only one class have no score. They count all the same: otherwise
        the class that was learned second would look like nearly all mail."""
        self.histogram = np.zeros((classes, 2, BINS), np.int64)
        self._documents = np.zeros(classes, np.int64) if documents is None else documents
        self._curves = curves
        self._min_gain = min_gain

    def add(self, scores: np.ndarray, y: np.ndarray, sign: int = 1) -> None:
        """Add (or with ``sign`` −1 take out) messages with left-out ``scores`` (n, C) and class indices ``y`` (n,)."""
        self._curves = None
        classes = np.arange(scores.shape[1])
        is_rest = (np.asarray(y)[:, None] != classes).astype(np.intp)
        np.add.at(self.histogram, (classes, is_rest, bins_of(scores)), sign)

    def enough(self, spam: int | None = None) -> bool:
        """Were MIN_MESSAGES seen on both sides, of class number ``spam`` and of all other classes together?

        Good mail counts as a whole: one message of a third class must not make every spam unsure. Without a class of
        spam each of two or more classes must have as many.
        """
        seen = np.maximum(self.histogram[:, 0].sum(axis=1), self._documents)
        if len(seen) < 2:
            return False
        sides = seen if spam is None else np.array([seen[spam], seen.sum() - seen[spam]])
        return bool((sides >= MIN_MESSAGES).all())

    def curves(self) -> Sequence[Curve]:
        """Each class's curve; of two classes only the second's is used."""
        if self._curves is not None:
            return self._curves
        counts = np.maximum(self.histogram, 0)
        scored = counts[:, 0].sum(axis=1)
        unscored = np.maximum(self._documents - scored, 0)
        # If most of a class has no score, the other class was scored by a model that hardly knew it. Such scores are
        # left out, and only the numbers of messages count: 28 errors for 61. Once ten messages of the class have one,
        # those tell more: 25 good messages lost for 39 where a class came late (docs/experiments.md#late-classes).
        if ((2 * unscored > self._documents) & (scored < MIN_MESSAGES)).any():
            counts, unscored = np.zeros_like(counts), self._documents
        mirrored = len(counts) == 2
        of_rest = unscored.sum() - unscored
        self._curves = [
            Curve(0.0, 0.0) if mirrored and c == 0 else _fit_curve(own, rest, (unscored[c], of_rest[c]), self._min_gain)
            for c, (own, rest) in enumerate(counts)
        ]
        return self._curves

    def doubts(self, scores: np.ndarray, labels: np.ndarray) -> np.ndarray:
        """P(label is wrong) of messages (n,), by ``scores`` (n, C) of models without them; 0 where labels are clean."""
        margin, out = margins(scores), np.zeros(len(labels))
        curves = list(self.curves())
        if len(curves) == 2:  # the first is the second seen from the other side
            slope, intercept, missed, foreign = curves[1]
            curves = [Curve(slope, -intercept, foreign, missed), curves[1]]
        for c, curve in enumerate(curves):
            own = np.flatnonzero(labels == c)
            if curve.foreign:
                out[own] = _doubt(curve.log_odds(margin[own, c]), curve.foreign, curve.missed)
        return out

    def probabilities(self, scores: np.ndarray) -> np.ndarray:
        """P(class | score) of each message, (n, C): rows sum to 1, no entry is 0 or 1 where there are two classes."""
        margin = margins(np.atleast_2d(scores))
        classes = margin.shape[1]
        if classes == 1:
            return np.ones_like(margin)
        log_odds = np.stack([curve.log_odds(margin[:, c]) for c, curve in enumerate(self.curves())], axis=1)
        if classes == 2:
            log_odds[:, 0] = -log_odds[:, 1]
        # p_c ∝ odds_c^(1−1/C). Two classes state the same evidence twice, so each counts half; of many classes each
        # states its own. Better calibrated than odds / (1 + odds), normalised: docs/experiments.md#calibration.
        return softmax(log_odds * (1 - 1 / classes))
