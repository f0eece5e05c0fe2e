"""Metrics and their intervals: the confusion matrix, lam%, rates, probabilities, ROC curves, and McNemar's test."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import trapezoid
from scipy.stats import binom, binomtest
from sklearn.calibration import calibration_curve
from sklearn.metrics import brier_score_loss, f1_score, precision_recall_fscore_support, roc_auc_score
from sklearn.metrics import confusion_matrix as sk_confusion
from sklearn.metrics import log_loss as sk_log_loss

from spamnb.evaluation import metrics, roc
from spamnb.evaluation import probability as prob
from spamnb.evaluation.metrics import SpamErrors, mcnemar
from spamnb.evaluation.rates import error_estimates, share

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
    as_label = np.where(said == metrics.UNSURE, n_classes, said)
    assert (cells == sk_confusion(truth, as_label, labels=range(n_classes + 1))[:n_classes]).all()
    labels = list(range(n_classes))
    expected = precision_recall_fscore_support(truth, as_label, labels=labels, zero_division=0)
    for ours, theirs in zip(metrics.precision_recall(cells), expected):
        assert ours == pytest.approx(theirs)
    occurring = sorted(set(truth) | set(said) - {metrics.UNSURE})
    assert metrics.macro_f1(cells) == pytest.approx(
        f1_score(truth, as_label, labels=occurring, average="macro", zero_division=0)
    )


@given(st.integers(1, 5000), st.integers(1, 5000), st.data())
def test_lam_is_the_mean_on_the_logit_scale(ham, spam, data):
    wrong_ham = data.draw(st.integers(0, ham))
    wrong_spam = data.draw(st.integers(0, spam))
    lam = metrics.SpamErrors(ham, spam, wrong_ham, wrong_spam).lam
    assert 0 < lam < 100
    if 0 < wrong_ham < ham and 0 < wrong_spam < spam:
        odds = math.sqrt(wrong_ham / (ham - wrong_ham) * wrong_spam / (spam - wrong_spam))
        assert lam == pytest.approx(100 * odds / (1 + odds))


def test_lam_with_no_lost_ham_counts_half_a_message():
    zero = metrics.SpamErrors(1000, 500, 0, 50).lam
    one = metrics.SpamErrors(1000, 500, 1, 50).lam
    half = math.sqrt((0.5 / 999.5) * (50 / 450))
    assert zero == pytest.approx(100 * half / (1 + half))
    assert zero < one
    assert math.isnan(metrics.SpamErrors(0, 5, 0, 1).lam)
    assert math.isnan(metrics.SpamErrors(0, 5, 0, 1).hm)


@pytest.mark.parametrize(
    ("cost", "expected"),
    # thresholds .5, .9, .999: FP 2, 1, 0 and FN 1, 2, 4 of five spam
    [(1, 5 / 3), (9, 5 / 11), (999, 5 / 4)],
)
def test_total_cost_ratio_by_hand(cost, expected):
    spam = np.array([0.9999, 0.99, 0.95, 0.6, 0.2])
    ham = np.array([0.01, 0.7, 0.92, 0.3])
    label = np.repeat([True, False], [5, 4])
    assert metrics.total_cost_ratio(label, np.r_[spam, ham], cost) == pytest.approx(expected)


def test_indices_and_lengths_are_checked():
    with pytest.raises(ValueError, match="outside"):
        metrics.confusion_matrix([0, 2], [0, 0], 2)
    with pytest.raises(ValueError, match="outside"):
        metrics.confusion_matrix([0, 1], [0, -2], 2)
    with pytest.raises(ValueError, match="one length"):
        metrics.confusion_matrix([0, 1], [0], 2)
    with pytest.raises(ValueError, match="one length"):
        metrics.spam_errors([True], [True, False])


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


def random_case(seed: int, n: int, classes: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    p = rng.dirichlet(np.ones(classes), size=n)
    return np.r_[np.arange(classes), rng.integers(0, classes, n - classes)], p


@given(st.integers(0, 10_000), st.integers(6, 40), st.integers(2, 6))
@settings(max_examples=50)
def test_log_loss_and_brier_are_scikit_learns(seed, n, classes):
    truth, p = random_case(seed, n, classes)
    assert prob.log_loss(truth, p) == pytest.approx(sk_log_loss(truth, p), rel=1e-9)
    theirs = brier_score_loss(truth, p[:, 1] if classes == 2 else p)
    assert prob.brier_score(truth, p) == pytest.approx(theirs, rel=1e-9)


@given(st.integers(0, 10_000), st.integers(2, 200))
@settings(max_examples=50)
def test_reliability_of_one_class_is_scikit_learns_calibration_curve(seed, n):
    truth, p = random_case(seed, n, 2)
    table = prob.reliability(truth, p, positive=1)
    observed, predicted = calibration_curve(truth == 1, p[:, 1], n_bins=prob.BINS)
    filled = [row for row in table if row.messages]
    assert [row.observed for row in filled] == pytest.approx(observed.tolist())
    assert [row.predicted for row in filled] == pytest.approx(predicted.tolist())
    assert sum(row.messages for row in table) == n


def test_calibration_error_by_hand_for_many_classes():
    # Two messages said .8, one right: gap .3; two said .5, both right: gap .5.
    p = np.array([[0.8, 0.1, 0.1], [0.8, 0.1, 0.1], [0.5, 0.3, 0.2], [0.2, 0.5, 0.3]])
    table = prob.reliability([0, 1, 0, 1], p)
    assert prob.expected_calibration_error(table) == pytest.approx(40.0)


def test_probability_one_belongs_to_the_last_bin_and_nothing_is_lost():
    table = prob.reliability([0, 1], np.array([[1.0, 0.0], [0.0, 1.0]]), positive=1)
    assert (table[0].messages, table[-1].messages) == (1, 1)
    assert prob.expected_calibration_error(table) == 0


def test_no_messages_no_figures():
    none = np.zeros((0, 2))
    assert math.isnan(prob.log_loss([], none)) and math.isnan(prob.brier_score([], none))
    assert math.isnan(prob.expected_calibration_error(prob.reliability([], none)))
    with pytest.raises(ValueError, match="row for each"):
        prob.log_loss([0, 1], [[0.5, 0.5]])


@given(st.lists(st.tuples(st.booleans(), st.booleans()), max_size=60))
def test_p_is_twice_the_smaller_tail_exactly(pairs):
    first, second = [a for a, _ in pairs], [b for _, b in pairs]
    found = mcnemar(first, second)
    n, least = found.only_first_right + found.only_second_right, min(found[:2])
    tail = 2 * sum(Fraction(math.comb(n, k), 2**n) for k in range(least + 1))
    assert found.p_value == pytest.approx(float(min(Fraction(1), tail)))
    assert mcnemar(second, first).p_value == found.p_value


# Few distinct scores, so that ties are the rule.
messages = st.lists(st.tuples(st.booleans(), st.integers(-3, 3)), min_size=2, max_size=40).filter(
    lambda rows: {label for label, _ in rows} == {True, False}
)


def vectors(rows: list[tuple[bool, int]]) -> tuple[np.ndarray, np.ndarray]:
    return np.array([label for label, _ in rows]), np.array([score for _, score in rows], dtype=float)


@given(messages)
def test_area_is_scikit_learns_and_a_count_of_all_pairs(rows):
    label, score = vectors(rows)
    pairs = [(h, s) for h in score[~label] for s in score[label]]
    by_hand = sum(1.0 if h > s else 0.5 if h == s else 0.0 for h, s in pairs) / len(pairs)
    assert roc.one_minus_roca(label, score) == pytest.approx(100 * by_hand, abs=1e-12)
    assert roc.one_minus_roca(label, score) == pytest.approx(100 * (1 - roc_auc_score(label, score)), abs=1e-9)


@given(messages, st.sampled_from([0.0, 0.1, 0.25, 1 / 3, 0.5, 1.0]))
def test_spam_missed_at_a_ham_limit_is_the_best_of_all_thresholds(rows, limit):
    label, score = vectors(rows)
    tried = []
    for threshold in [math.inf, *score]:
        called = score >= threshold
        if (called & ~label).sum() <= limit * (~label).sum() + 1e-9:
            tried.append((label & ~called).sum() / label.sum())
    assert roc.spam_missed_at(roc.roc_counts(label, score), limit) == pytest.approx(min(tried))


@given(messages)
def test_merged_steps_keep_every_message_and_the_corners_of_the_curve(rows):
    label, score = vectors(rows)
    step = roc.roc_counts(label, score)
    assert step.ham.sum() == (~label).sum() and step.spam.sum() == label.sum()
    line = roc.curve(step)
    assert (line.ham_misclassified[0], line.spam_misclassified[0]) == (0, 1)
    assert (line.ham_misclassified[-1], line.spam_misclassified[-1]) == (1, 0)
    area = trapezoid(1 - line.spam_misclassified, line.ham_misclassified)
    assert 100 * (1 - area) == pytest.approx(roc.one_minus_roca(label, score))


def test_a_stack_of_resampled_steps_is_each_of_them():
    rng = np.random.default_rng(1)
    label, score = rng.random(200) < 0.5, rng.normal(size=200).round(1)
    step = roc.roc_counts(label, score)
    stack = roc.RocCounts(np.stack([step.ham, step.ham * 2]), np.stack([step.spam, step.spam * 3]))
    single = float(roc.misordered(step))
    assert roc.misordered(stack).tolist() == pytest.approx([single, single])
    assert roc.spam_missed_at(stack, 0.1).shape == (2,)


def test_what_cannot_be_ordered_or_compared_is_said():
    assert math.isnan(roc.one_minus_roca([True, True], [0.1, 0.2]))
    assert math.isnan(roc.one_minus_roca([], []))
    with pytest.raises(ValueError, match="NaN"):
        roc.roc_counts([True, False], [0.1, math.nan])
    with pytest.raises(ValueError, match="one length"):
        roc.roc_counts([True, False], [0.1])
    with pytest.raises(ValueError, match="between 0 and 1"):
        roc.spam_missed_at(roc.roc_counts([True, False], [1, 0]), 10)
