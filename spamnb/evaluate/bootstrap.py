"""95 % intervals: resample the messages, look at the spread on the logit scale (as the TREC spam track did).

Each class is resampled on its own, so that no replicate is without ham or spam. Resampling n messages with
replacement is one multinomial draw over the distinct outcomes, so nothing is ever sorted twice: 1000
replicates of 75,000 messages take a fraction of a second.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from spamnb.evaluate.metrics import SpamErrors, accuracy, expit, logit_rate, macro_f1
from spamnb.evaluate.roc import Steps, misordered, spam_missed_at

REPLICATES = 1000
Z = 1.959963984540054  # 97.5 % of a standard normal lies below
_CHUNK = 4_000_000  # cells drawn at once: 64 MB of counts for both classes


class Estimate(NamedTuple):
    """A figure in percent with its 95 % interval; NaN bounds where there is none."""

    value: float
    low: float = math.nan
    high: float = math.nan


def interval(value: float, replicates: ArrayLike, trials: float, exact_trials: int) -> Estimate:
    """logit⁻¹(logit value ± 1.96 × standard deviation of the replicates' logits): rates in, percent out.

    A rate of 0 enters a logit as half an event in ``trials`` (see ``logit_rate``). Where the value itself
    is 0 or 1 every replicate equals it and the bootstrap is blind: the bound is then the exact binomial one
    for ``exact_trials`` independent trials without an event, 1 − .025^(1/n).
    """
    if math.isnan(value) or trials <= 0:
        return Estimate(math.nan)
    if value in (0.0, 1.0):
        beyond = 100 * (1 - 0.025 ** (1 / exact_trials))
        return Estimate(0.0, 0.0, beyond) if value == 0 else Estimate(100.0, 100 - beyond, 100.0)
    spread = float(np.std(logit_rate(np.asarray(replicates) * trials, trials), ddof=1))
    centre = float(logit_rate(value * trials, trials))
    low, high = expit(np.array([centre - Z * spread, centre + Z * spread]))
    return Estimate(100 * value, 100 * float(low), 100 * float(high))


class RocEstimates(NamedTuple):
    """1-ROCA% and, per hm% level, the least sm% within it."""

    one_minus_roca: Estimate
    sm_at_hm: dict[float, Estimate]


def roc_estimates(
    step: Steps, hm_levels: tuple[float, ...] = (), replicates: int = REPLICATES, seed: int = 0
) -> RocEstimates:
    """1-ROCA% and sm% at each of ``hm_levels`` (percent) with intervals, from one resampling."""
    ham, spam = int(step.ham.sum()), int(step.spam.sum())
    if not ham or not spam:
        return RocEstimates(Estimate(math.nan), {level: Estimate(math.nan) for level in hm_levels})
    rng = np.random.default_rng(seed)
    areas: list[NDArray] = []
    missed: dict[float, list[NDArray]] = {level: [] for level in hm_levels}
    rows = max(1, _CHUNK // len(step.ham))
    for start in range(0, replicates, rows):
        size = min(rows, replicates - start)
        drawn = Steps(
            rng.multinomial(ham, step.ham / ham, size=size),
            rng.multinomial(spam, step.spam / spam, size=size),
        )
        areas.append(misordered(drawn))
        for level in hm_levels:
            missed[level].append(spam_missed_at(drawn, level / 100))
    # Without a misordered pair, min(ham, spam) disjoint pairs are independent trials of exactly 1 − ROCA.
    area = interval(float(misordered(step)), np.concatenate(areas), float(ham) * spam, min(ham, spam))
    at = {
        level: interval(float(spam_missed_at(step, level / 100)), np.concatenate(draws), spam, spam)
        for level, draws in missed.items()
    }
    return RocEstimates(area, at)


class ErrorEstimates(NamedTuple):
    """hm%, sm% and lam% with their intervals."""

    hm: Estimate
    sm: Estimate
    lam: Estimate


def error_estimates(errors: SpamErrors, replicates: int = REPLICATES, seed: int = 0) -> ErrorEstimates:
    """Intervals of the verdicts' error rates; a resampled count of errors is binomial. A rate of nothing is NaN, and so
    is lam% where either of its two is."""
    rng = np.random.default_rng(seed)

    def rate(wrong: int, messages: int) -> Estimate:
        if not messages:
            return Estimate(math.nan)
        drawn = rng.binomial(messages, wrong / messages, size=replicates)
        return interval(wrong / messages, drawn / messages, messages, messages)

    hm, sm = rate(errors.ham_errors, errors.ham), rate(errors.spam_errors, errors.spam)
    return ErrorEstimates(hm, sm, _combined(errors, hm, sm) if errors.ham and errors.spam else Estimate(math.nan))


def _combined(errors: SpamErrors, hm: Estimate, sm: Estimate) -> Estimate:
    """lam% from the two rates it is made of, whose half-widths on the logit scale add in quadrature.

    The two are resampled apart, hence independent. That keeps the exact bound of an error that never
    occurred, which replicates of lam% itself would lose.
    """
    middle = logit_rate([errors.ham_errors, errors.spam_errors], [errors.ham, errors.spam])
    with np.errstate(divide="ignore"):
        bounds = np.array([hm[1:], sm[1:]]).T / 100
        below, above = (np.hypot(*(np.log(b / (1 - b)) - middle)) / 2 for b in bounds)
    centre = middle.mean()
    return Estimate(errors.lam, 100 * float(expit(centre - below)), 100 * float(expit(centre + above)))


class ConfusionEstimates(NamedTuple):
    """Accuracy and macro F1, in percent, with their intervals."""

    accuracy: Estimate
    macro_f1: Estimate


def confusion_estimates(confusion: ArrayLike, replicates: int = REPLICATES, seed: int = 0) -> ConfusionEstimates:
    """Intervals of what a confusion matrix (C, C+1) says, each true class resampled on its own."""
    cells = np.asarray(confusion)
    total = int(cells.sum())
    if not total:
        return ConfusionEstimates(Estimate(math.nan), Estimate(math.nan))
    rng = np.random.default_rng(seed)
    rows = [
        rng.multinomial(int(row.sum()), row / row.sum(), size=replicates)
        if row.sum()
        else np.zeros((replicates, len(row)), dtype=np.int64)
        for row in cells
    ]
    drawn = np.stack(rows, axis=1)
    return ConfusionEstimates(
        interval(float(accuracy(cells)), accuracy(drawn), total, total),
        interval(float(macro_f1(cells)), macro_f1(drawn), total, total),
    )
