"""Metrics and their intervals, against scikit-learn, scipy and counts by hand."""

import math
import time
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.integrate import trapezoid
from scipy.stats import beta
from sklearn.calibration import calibration_curve
from sklearn.metrics import confusion_matrix as sk_confusion
from sklearn.metrics import log_loss as sk_log_loss
from sklearn.metrics import precision_recall_fscore_support, roc_auc_score

from spamnb.evaluation import metrics
from spamnb.evaluation.intervals import binomial_interval, error_rates
from spamnb.evaluation.metrics import mcnemar

rows = st.integers(1, 6).flatmap(
    lambda c: st.tuples(
        st.just(c),
        st.lists(st.tuples(st.integers(0, c - 1), st.integers(-1, c - 1)), min_size=1, max_size=50),
    )
)


@given(rows)
def test_confusion_precision_recall_f1_are_scikit_learns(case):
    n_classes, pairs = case
    truth, said = (np.array(column) for column in zip(*pairs))
    cells = metrics.confusion_matrix(truth, said, n_classes)
    as_label = np.where(said == metrics.UNSURE_NUMBER, n_classes, said)
    assert (cells == sk_confusion(truth, as_label, labels=range(n_classes + 1))[:n_classes]).all()
    labels = list(range(n_classes))
    expected = precision_recall_fscore_support(truth, as_label, labels=labels, zero_division=0)
    for ours, theirs in zip(metrics.precision_recall(cells), expected):
        assert ours == pytest.approx(theirs)


numbers_of_trials = st.integers(1, 5_000) | st.integers(1, 1_000_000)


@given(numbers_of_trials.flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
@example((500_000, 1_000_000))
@example((1, 1_000_000))
@example((999_999, 1_000_000))
def test_the_interval_is_scipys_exact_one(counted):
    events, trials = counted
    low = beta.ppf(0.025, events, trials - events + 1) if events else 0.0
    high = beta.ppf(0.975, events + 1, trials - events) if events < trials else 1.0
    assert binomial_interval(events, trials) == pytest.approx(
        (100 * events / trials, 100 * low, 100 * high), rel=1e-9, abs=1e-9
    )


def test_an_interval_of_a_million_takes_no_second():
    before = time.process_time()
    binomial_interval(500_000, 1_000_000)
    assert time.process_time() - before < 1, "some 20 milliseconds"


def test_no_error_gets_a_bound_and_a_rate_of_nothing_no_interval():
    hm, sm = error_rates([False] * 1000 + [True], np.zeros(1001))
    assert hm == (0, 0, pytest.approx(100 * (1 - 0.025 ** (1 / 1000)))) and sm == binomial_interval(1, 1)
    hm, sm = error_rates([True] * 10, [False] + [True] * 9)
    assert math.isnan(hm.value) and sm == binomial_interval(1, 10), "its own class is there"


def random_case(seed: int, n: int, classes: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    p = rng.dirichlet(np.ones(classes), size=n)
    return np.r_[np.arange(classes), rng.integers(0, classes, n - classes)], p


@given(st.integers(0, 10_000), st.integers(6, 40), st.integers(2, 6))
@settings(max_examples=50)
def test_log_loss_is_scikit_learns(seed, n, classes):
    truth, p = random_case(seed, n, classes)
    assert metrics.log_loss(truth, p) == pytest.approx(sk_log_loss(truth, p), rel=1e-9)


@given(st.integers(0, 10_000), st.integers(2, 200))
@settings(max_examples=50)
def test_reliability_of_one_class_is_scikit_learns_calibration_curve(seed, n):
    truth, p = random_case(seed, n, 2)
    table = metrics.reliability_table(truth, p, positive=1)
    observed, predicted = calibration_curve(truth == 1, p[:, 1], n_bins=metrics.BINS)
    filled = [row for row in table if row.messages]
    assert [row.observed for row in filled] == pytest.approx(observed.tolist())
    assert [row.predicted for row in filled] == pytest.approx(predicted.tolist())
    assert sum(row.messages for row in table) == n


def test_calibration_error_by_hand_for_many_classes():
    # Two messages said .8, one right: gap .3; two said .5, both right: gap .5.
    p = np.array([[0.8, 0.1, 0.1], [0.8, 0.1, 0.1], [0.5, 0.3, 0.2], [0.2, 0.5, 0.3]])
    table = metrics.reliability_table([0, 1, 0, 1], p)
    assert metrics.expected_calibration_error(table) == pytest.approx(40.0)
    assert np.isnan(metrics.expected_calibration_error(metrics.reliability_table([], np.empty((0, 3)))))


@given(st.lists(st.tuples(st.booleans(), st.booleans()), max_size=60))
def test_p_is_twice_the_smaller_tail_exactly(pairs):
    first, second = [a for a, _ in pairs], [b for _, b in pairs]
    found = mcnemar(first, second)
    n, least = found.only_first_right + found.only_second_right, min(found[:2])
    tail = 2 * sum(Fraction(math.comb(n, k), 2**n) for k in range(least + 1))
    assert found.p_value == pytest.approx(float(min(Fraction(1), tail)))


# Few distinct scores, so that ties are the rule.
messages = st.lists(st.tuples(st.booleans(), st.integers(-3, 3)), min_size=2, max_size=40).filter(
    lambda rows: {label for label, _ in rows} == {True, False}
)


@given(messages)
def test_area_is_scikit_learns_and_that_of_the_curve(rows):
    label, score = (np.array(column) for column in zip(*rows))
    area = metrics.one_minus_roca(label, score)
    assert area == pytest.approx(100 * (1 - roc_auc_score(label, score)), abs=1e-9)
    step = metrics.roc_counts(label, score)
    assert step.ham.sum() == (~label).sum() and step.spam.sum() == label.sum()
    hm, sm = metrics.roc_curve(step).T
    assert (hm[0], sm[0], hm[-1], sm[-1]) == (0, 1, 1, 0)
    assert 100 * (1 - trapezoid(1 - sm, hm)) == pytest.approx(area)


@given(messages, st.sampled_from([0.0, 0.1, 0.25, 1 / 3, 0.5, 1.0]))
def test_spam_missed_at_a_ham_limit_is_the_best_of_all_thresholds(rows, limit):
    label, score = (np.array(column) for column in zip(*rows))
    tried = []
    for threshold in [math.inf, *score]:
        called = score >= threshold
        if (called & ~label).sum() <= limit * (~label).sum() + 1e-9:
            tried.append((label & ~called).sum() / label.sum())
    assert metrics.least_missed_spam(metrics.roc_counts(label, score), limit) == pytest.approx(min(tried))


def test_without_one_of_the_classes_there_is_no_area():
    assert math.isnan(metrics.one_minus_roca([True, True], [0.1, 0.2])) and math.isnan(metrics.one_minus_roca([], []))
