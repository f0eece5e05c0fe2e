"""Shares of messages: scipy's exact intervals, and how often they hold the truth."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, binomtest

from spamnb.evaluation.metrics import SpamErrors
from spamnb.evaluation.rates import error_estimates, share


@given(st.integers(1, 5000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_the_interval_is_scipys_exact_one(counted):
    events, trials = counted
    exact = binomtest(events, trials).proportion_ci(0.95, "exact")
    assert share(events, trials) == pytest.approx((100 * events / trials, 100 * exact.low, 100 * exact.high))


@pytest.mark.parametrize("rate", [0.0002, 0.0005, 0.001, 0.003, 0.01])
def test_it_holds_the_truth_at_least_19_times_in_20_where_errors_are_few(rate):
    trials = 1000
    found = [share(events, trials) for events in range(60)]
    held = [events for events in range(60) if found[events].low <= 100 * rate <= found[events].high]
    assert binom.pmf(held, trials, rate).sum() >= 0.95
    highs = [estimate.high for estimate in found]
    assert highs == sorted(highs), "one error more is never better news"


def test_lam_holds_the_truth_about_19_times_in_20():
    rng = np.random.default_rng(5)
    for hm, sm in [(0.16, 0.16), (0.02, 0.05), (0.001, 0.02)]:
        logit = (math.log(hm / (1 - hm)) + math.log(sm / (1 - sm))) / 2
        truth = 100 / (1 + math.exp(-logit))
        drawn = zip(rng.binomial(1000, hm, 500).tolist(), rng.binomial(500, sm, 500).tolist())
        lams = [error_estimates(SpamErrors(1000, 500, *errors)).lam for errors in drawn]
        assert np.mean([lam.low <= truth <= lam.high for lam in lams]) >= 0.93


def test_no_error_gets_a_bound_not_certainty():
    rates = error_estimates(SpamErrors(1000, 400, 0, 10))
    assert rates.hm == (0, 0, pytest.approx(100 * (1 - 0.025 ** (1 / 1000))))
    assert rates.lam.low == 0 and rates.lam.value < rates.lam.high < 5
    all_wrong = error_estimates(SpamErrors(10, 10, 10, 10))
    assert all_wrong.hm.high == 100 and 50 < all_wrong.hm.low < 100


def test_a_rate_of_nothing_has_no_interval():
    lonely = error_estimates(SpamErrors(0, 10, 0, 1))
    assert math.isnan(lonely.hm.value) and math.isnan(lonely.lam.value)
    assert lonely.sm == share(1, 10), "its own class is there"
    good = error_estimates(SpamErrors(150, 0, 0, 0))
    assert good.hm == error_estimates(SpamErrors(150, 20, 0, 3)).hm
    assert math.isnan(good.sm.value) and math.isnan(share(0, 0).value)
