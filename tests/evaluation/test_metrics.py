"""Verdict metrics against scikit-learn and against examples worked by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score, f1_score, precision_recall_fscore_support
from sklearn.metrics import confusion_matrix as sk_confusion

from spamnb.evaluation import metrics

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
    assert metrics.accuracy(cells) == pytest.approx(accuracy_score(truth, as_label))
    labels = list(range(n_classes))
    expected = precision_recall_fscore_support(truth, as_label, labels=labels, zero_division=0)
    for ours, theirs in zip(metrics.precision_recall(cells), expected):
        assert ours == pytest.approx(theirs)
    occurring = sorted(set(truth) | set(said) - {metrics.UNSURE})
    assert metrics.macro_f1(cells) == pytest.approx(
        f1_score(truth, as_label, labels=occurring, average="macro", zero_division=0)
    )


def test_unsure_is_never_right_and_never_spam():
    cells = metrics.confusion_matrix([0, 1], [-1, -1], 2)
    assert cells.tolist() == [[0, 0, 1], [0, 0, 1]]
    assert metrics.accuracy(cells) == 0
    errors = metrics.spam_errors([False, True], [False, False])
    assert (errors.hm, errors.sm) == (0, 100)


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
    assert np.isnan(metrics.accuracy(np.zeros((2, 2, 3), int))).all()
    assert math.isnan(metrics.SpamErrors(0, 5, 0, 1).lam)
    assert math.isnan(metrics.SpamErrors(0, 5, 0, 1).hm)


def test_lam_of_the_same_rate_twice_is_that_rate():
    assert metrics.SpamErrors(1000, 200, 10, 2).lam == pytest.approx(1.0)


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


def test_total_cost_ratio_at_the_ends():
    assert metrics.total_cost_ratio([True, False], [1.0, 0.0], 9) == math.inf
    assert math.isnan(metrics.total_cost_ratio([False], [0.0], 9))
    with pytest.raises(ValueError, match="greater than 0"):
        metrics.total_cost_ratio([True], [1.0], 0)


def test_indices_and_lengths_are_checked():
    with pytest.raises(ValueError, match="outside"):
        metrics.confusion_matrix([0, 2], [0, 0], 2)
    with pytest.raises(ValueError, match="outside"):
        metrics.confusion_matrix([0, 1], [0, -2], 2)
    with pytest.raises(ValueError, match="one length"):
        metrics.confusion_matrix([0, 1], [0], 2)
    with pytest.raises(ValueError, match="one length"):
        metrics.spam_errors([True], [True, False])


@given(st.floats(-700, 700))
def test_expit_is_the_inverse_of_the_logit(x):
    p = float(metrics.expit(x))
    assert 0 <= p <= 1
    if abs(x) < 30:
        assert math.log(p / (1 - p)) == pytest.approx(x, abs=1e-2 if x > 20 else 1e-6)
