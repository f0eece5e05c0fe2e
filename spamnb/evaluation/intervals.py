"""95 % intervals. hm%, sm% and accuracy are counts of independent trials, so theirs are exact; of what is no count,
messages are resampled, and the spread is taken on the logit scale, as the TREC spam track did.

Of counts the bootstrap was tried, and is at its worst where a filter is: with one good message of 1,000 lost it said
.030 to .329 %, less than the bound of .368 % for none lost, where Clopper and Pearson say .0025 to .556 %; where .02 %
are lost it held the truth in 82 of 100 corpora.

For the ROC ham and spam are resampled apart, so that no replicate is without one of them. Resampling n messages with
replacement is one multinomial draw over the distinct outcomes, so nothing is ever sorted twice: 1000 replicates of
75,000 messages take a fraction of a second.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from spamnb.evaluation.metrics import RocCounts, misordered, spam_missed_at

REPLICATES = 1000
Z = 1.959963984540054  # 97.5 % of a standard normal lies below
HM_LIMIT = 0.1  # percent of good mail lost at which spam let through is told
_CHUNK = 4_000_000  # cells drawn at once: 64 MB of counts for both classes


class Estimate(NamedTuple):
    """A figure in percent with its 95 % interval; NaN bounds where there is none."""

    value: float
    low: float = math.nan
    high: float = math.nan


def share(events: int, trials: int) -> Estimate:
    """events/trials in percent, with the exact binomial interval of Clopper and Pearson (1934): whatever the true
    rate, at least 95 of 100 such intervals hold it. NaN without trials.

    >>> [round(figure, 4) for figure in share(1, 1000)]
    [0.1, 0.0025, 0.5559]
    """
    if not trials:
        return Estimate(math.nan)
    from scipy.special import betaincinv

    low = betaincinv(events, trials - events + 1, 0.025) if events else 0.0
    high = betaincinv(events + 1, trials - events, 0.975) if events < trials else 1.0
    return Estimate(100 * events / trials, 100 * float(low), 100 * float(high))


class ErrorRates(NamedTuple):
    """hm% and sm%; NaN where there is no such mail."""

    hm: Estimate  # of the ham what is called spam: good mail lost
    sm: Estimate  # of the spam what is not called spam, unsure included: spam let through


def error_rates(is_spam: ArrayLike, called_spam: ArrayLike) -> ErrorRates:
    """The verdicts' error rates, from two boolean vectors.

    >>> [rate.value for rate in error_rates([False, False, True], [True, False, False])]
    [50.0, 100.0]
    """
    label, called = np.asarray(is_spam, dtype=bool), np.asarray(called_spam, dtype=bool)
    spam = int(label.sum())
    return ErrorRates(
        share(int((~label & called).sum()), label.size - spam),
        share(int((label & ~called).sum()), spam),
    )


def bootstrap_interval(value: float, replicates: ArrayLike, trials: float, exact_trials: int) -> Estimate:
    """logit⁻¹(logit value ± 1.96 × standard deviation of the replicates' logits): rates in, percent out.

    Of ``trials`` no event counts as half of one, and nothing but events as half of one short: else a logit is infinite.
    Where every replicate equals the value the bootstrap is blind. At 0 and 1 the bound is then the exact binomial one
    for ``exact_trials`` independent trials without an event, 1 − .025^(1/n); between them, as of a filter whose scores
    are all the same, there is none.
    """
    from scipy.special import expit, logit

    if value in (0.0, 1.0):
        return share(round(value) * exact_trials, exact_trials)
    drawn = np.asarray(replicates)
    if (drawn == drawn[0]).all():
        return Estimate(100 * value)
    half = 0.5 / trials
    spread = float(np.std(logit(np.clip(drawn, half, 1 - half)), ddof=1))
    low, high = expit(logit(np.clip(value, half, 1 - half)) + np.array([-Z, Z]) * spread)
    return Estimate(100 * value, 100 * float(low), 100 * float(high))


class RocEstimates(NamedTuple):
    """1-ROCA%, and the least sm% at which no more than HM_LIMIT percent of the good mail are lost."""

    one_minus_roca: Estimate
    sm_at_hm: Estimate


def roc_estimates(step: RocCounts, replicates: int = REPLICATES, seed: int = 0) -> RocEstimates:
    """1-ROCA% and sm% at HM_LIMIT with intervals, from one resampling.

    Where so little good mail may well be none of it, in 1 of 40 corpora or more, the threshold lies beyond all that was
    seen, and no resampling of it knows where: there is no interval then. Of 500 and 1,000 good messages those of sm% at
    hm% ≤ .1 held the truth 65 and 81 times in 100; it takes 3,688.
    """
    ham, spam = int(step.ham.sum()), int(step.spam.sum())
    if not ham or not spam:
        return RocEstimates(Estimate(math.nan), Estimate(math.nan))
    rng = np.random.default_rng(seed)
    areas: list[NDArray] = []
    missed: list[NDArray] = []
    rows = max(1, _CHUNK // len(step.ham))
    for start in range(0, replicates, rows):
        size = min(rows, replicates - start)
        drawn = RocCounts(
            rng.multinomial(ham, step.ham / ham, size=size),
            rng.multinomial(spam, step.spam / spam, size=size),
        )
        areas.append(misordered(drawn))
        missed.append(spam_missed_at(drawn, HM_LIMIT / 100))
    # Without a misordered pair, min(ham, spam) disjoint pairs are independent trials of exactly 1 − ROCA.
    area = bootstrap_interval(float(misordered(step)), np.concatenate(areas), float(ham) * spam, min(ham, spam))
    value = float(spam_missed_at(step, HM_LIMIT / 100))
    at = share(round(value * spam), spam)
    if (1 - HM_LIMIT / 100) ** ham > 0.025:
        return RocEstimates(area, Estimate(at.value))
    about = bootstrap_interval(value, np.concatenate(missed), spam, spam)
    # Of few events the bootstrap says too little (see above).
    return RocEstimates(area, Estimate(at.value, min(at.low, about.low), max(at.high, about.high)))
