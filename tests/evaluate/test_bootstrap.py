"""Intervals: coverage by simulation, a resampling written the slow way, and the blind corners."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import beta

from spamnb.evaluate import bootstrap, metrics, roc


def sample(rng: np.random.Generator, ham: int = 150, spam: int = 100) -> tuple[np.ndarray, np.ndarray]:
    label = np.repeat([False, True], [ham, spam])
    return label, rng.normal(size=ham + spam) + 2.0 * label


def test_the_fast_resampling_is_the_slow_one():
    label, score = sample(np.random.default_rng(3))
    fast = bootstrap.roc_estimates(roc.steps(label, score), (1.0,), replicates=3000).one_minus_roca
    rng = np.random.default_rng(4)
    logits = []
    for _ in range(600):
        ham, spam = rng.choice(score[~label], 150), rng.choice(score[label], 100)
        rate = roc.one_minus_roca(label, np.r_[ham, spam]) / 100
        logits.append(math.log(rate / (1 - rate)))
    width = math.log(fast.high / (100 - fast.high)) - math.log(fast.low / (100 - fast.low))
    assert width == pytest.approx(2 * bootstrap.Z * np.std(logits, ddof=1), rel=0.12)


def test_intervals_hold_the_truth_about_19_times_in_20():
    # Two normals 2 apart: 1 − ROCA = Φ(−2/√2) = 7.865 %; cut at 1: hm = sm = lam = Φ(−1) = 15.866 %.
    rng = np.random.default_rng(5)
    trials, area, hm, lam = 200, 0, 0, 0
    for _ in range(trials):
        label, score = sample(rng)
        found = bootstrap.roc_estimates(roc.steps(label, score), replicates=150).one_minus_roca
        rates = bootstrap.error_estimates(metrics.spam_errors(label, score > 1), replicates=150)
        area += found.low <= 7.865 <= found.high
        hm += rates.hm.low <= 15.866 <= rates.hm.high
        lam += rates.lam.low <= 15.866 <= rates.lam.high
    assert all(0.90 <= covered / trials <= 0.99 for covered in (area, hm, lam)), (area, hm, lam)


def test_no_error_gets_the_exact_binomial_bound_not_certainty():
    rates = bootstrap.error_estimates(metrics.SpamErrors(1000, 400, 0, 10))
    assert rates.hm.value == rates.hm.low == 0
    assert rates.hm.high == pytest.approx(100 * beta.ppf(0.975, 1, 1000))
    assert rates.lam.low == 0 and rates.lam.value < rates.lam.high < 5
    perfect = bootstrap.roc_estimates(roc.steps([False, True], [0, 1])).one_minus_roca
    assert perfect == (0.0, 0.0, pytest.approx(97.5))
    all_wrong = bootstrap.error_estimates(metrics.SpamErrors(10, 10, 10, 10))
    assert all_wrong.hm.high == 100 and 50 < all_wrong.hm.low < 100


def test_the_same_seed_gives_the_same_interval_and_another_seed_another():
    step = roc.steps(*sample(np.random.default_rng(6)))
    assert bootstrap.roc_estimates(step, seed=1) == bootstrap.roc_estimates(step, seed=1)
    assert bootstrap.roc_estimates(step, seed=1) != bootstrap.roc_estimates(step, seed=2)


def test_chunks_are_one_bootstrap(monkeypatch):
    step = roc.steps(*sample(np.random.default_rng(7)))
    monkeypatch.setattr(bootstrap, "_CHUNK", 7 * len(step.ham))
    found = bootstrap.roc_estimates(step, (0.5, 1.0), replicates=100)
    assert found.one_minus_roca.low < found.one_minus_roca.value < found.one_minus_roca.high
    assert found.sm_at_hm[0.5].value >= found.sm_at_hm[1.0].value


def test_confusion_intervals_for_three_classes():
    cells = np.array([[90, 5, 5, 0], [10, 80, 5, 5], [0, 0, 50, 0]])
    found = bootstrap.confusion_estimates(cells)
    assert found.accuracy.value == pytest.approx(100 * 220 / 250)
    assert 80 < found.accuracy.low < 88 < found.accuracy.high < 94
    assert found.macro_f1.low < found.macro_f1.value < found.macro_f1.high


def test_a_missing_class_has_no_interval():
    assert math.isnan(bootstrap.roc_estimates(roc.steps([True], [1.0]), (1.0,)).one_minus_roca.value)
    lonely = bootstrap.error_estimates(metrics.SpamErrors(0, 10, 0, 1))
    assert math.isnan(lonely.hm.value) and math.isnan(lonely.lam.value)
    assert lonely.sm.value == 10 and 1 < lonely.sm.low < 10 < lonely.sm.high < 60, "its own class is there"
    good = bootstrap.error_estimates(metrics.SpamErrors(150, 0, 0, 0))
    assert good.hm == bootstrap.error_estimates(metrics.SpamErrors(150, 20, 0, 3)).hm
    assert 2 < good.hm.high < 3 and math.isnan(good.sm.value)
    assert math.isnan(bootstrap.confusion_estimates(np.zeros((2, 3), dtype=int)).accuracy.value)
