"""Scores → probabilities that mean what they say, from sums.

A calibration is one integer histogram per class of the scores that messages of the class and of the rest got when they
were left out of training. Histograms add and subtract, so learning, forgetting and merging do too. The probability of a
class is a logistic curve through its histogram (Platt 1999, with his targets).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

BINS = 512
ENOUGH = 10  # messages of each class below which probabilities lean on the prior alone
_SPREAD = 24.0  # bins per unit of asinh(score / SCALE)
_SCALE = 0.25  # nats


def margins(scores: np.ndarray) -> np.ndarray:
    """Each class's score less the log-sum-exp of the others', (n, C); 0 for a single class."""
    n, c = scores.shape
    out = np.zeros((n, c))
    for i in range(c if c > 1 else 0):
        rest = np.delete(scores, i, axis=1)
        top = rest.max(axis=1)
        out[:, i] = scores[:, i] - top - np.log(np.exp(rest - top[:, None]).sum(axis=1))
    return out


def _bins(margin: np.ndarray) -> np.ndarray:
    return np.clip(np.rint(np.arcsinh(margin / _SCALE) * _SPREAD), -BINS // 2, BINS // 2 - 1).astype(np.intp) + BINS // 2


def _logistic(x: np.ndarray, own: np.ndarray, rest: np.ndarray) -> tuple[float, float]:
    """Slope ≥ 0 and intercept of P(own | x) = σ(slope·x + intercept) by Newton's method on binned counts."""
    target_own, target_rest = (own.sum() + 1) / (own.sum() + 2), 1 / (rest.sum() + 2)
    total = own + rest
    wanted = own * target_own + rest * target_rest
    a, b = 0.0, float(np.log((own.sum() + 1) / (rest.sum() + 1)))
    scale = np.sqrt((total * x * x).sum() / max(total.sum(), 1)) or 1.0
    z = x / scale
    for _ in range(50):
        p = 1 / (1 + np.exp(-np.clip(a * z + b, -35, 35)))
        g = wanted - total * p
        w = total * p * (1 - p)
        h = np.array([[(w * z * z).sum() + 1e-3, (w * z).sum()], [(w * z).sum(), w.sum() + 1e-3]])
        step = np.linalg.solve(h, [(g * z).sum() - 1e-3 * a, g.sum()])
        size = np.abs(step).max()
        step *= min(1.0, 5.0 / size) if size else 1.0
        a, b = a + step[0], b + step[1]
        if size < 1e-9:
            break
    return max(a, 0.0) / scale, b


class Calibration:
    """The sum that probabilities are derived from; ``histogram`` (C, 2, BINS) holds own and rest of each class."""

    def __init__(self, classes: int, histogram: np.ndarray | None = None) -> None:
        self.histogram = np.zeros((classes, 2, BINS), np.int64) if histogram is None else np.asarray(histogram)
        if self.histogram.shape != (classes, 2, BINS):
            raise ValueError(f"histogram has shape {self.histogram.shape}, not {(classes, 2, BINS)}")

    def add(self, scores: np.ndarray, y: np.ndarray, sign: int = 1) -> None:
        """Add (or with ``sign`` −1 take out) messages with left-out ``scores`` (n, C) and class indices ``y`` (n,)."""
        scores = np.atleast_2d(scores)
        bins = _bins(margins(scores))
        for c in range(scores.shape[1]):
            np.add.at(self.histogram, (c, (np.asarray(y) != c).astype(np.intp), bins[:, c]), sign)

    def __add__(self, other: Calibration) -> Calibration:
        return Calibration(len(self.histogram), self.histogram + other.histogram)

    def __sub__(self, other: Calibration) -> Calibration:
        return Calibration(len(self.histogram), self.histogram - other.histogram)

    @classmethod
    def from_cells(cls, classes: Sequence[str], cells: Iterable[tuple[str, int, int, int]]) -> Calibration:
        """From (class, 1 for its own messages or 0 for the rest, bin, messages); classes not named are left out."""
        out = cls(len(classes))
        for name, own, bin_, messages in cells:
            if name in classes and 0 <= bin_ < BINS:
                out.histogram[classes.index(name), 1 - own, bin_] = messages
        return out

    def cells(self, classes: Sequence[str]) -> list[tuple[str, int, int, int]]:
        """The non-zero cells, as ``from_cells`` takes them."""
        where = zip(*(index.tolist() for index in np.nonzero(self.histogram)))
        return [(classes[c], 1 - rest, bin_, int(self.histogram[c, rest, bin_])) for c, rest, bin_ in where]

    @property
    def enough(self) -> bool:
        """Are there at least two classes, with ENOUGH messages in each?"""
        return len(self.histogram) > 1 and bool((self.histogram[:, 0].sum(axis=1) >= ENOUGH).all())

    def probabilities(self, scores: np.ndarray) -> np.ndarray:
        """P(class | score) of each message, (n, C): rows sum to 1, no entry is 0 or 1 where there are two classes."""
        scores = np.atleast_2d(scores)
        if scores.shape[1] == 1:
            return np.ones((len(scores), 1))
        margin = margins(scores)
        x = np.sinh((np.arange(BINS) - BINS // 2) / _SPREAD) * _SCALE
        log_odds = np.empty(scores.shape)
        for c, (own, rest) in enumerate(np.maximum(self.histogram, 0)):
            slope, intercept = _logistic(x, own, rest)
            log_odds[:, c] = np.clip(slope * margin[:, c] + intercept, -25, 25)
        p = 1 / (1 + np.exp(-log_odds))
        return p / p.sum(axis=1, keepdims=True)
