"""Log loss, Brier score and calibration against scikit-learn and by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.calibration import calibration_curve
from sklearn.metrics import brier_score_loss
from sklearn.metrics import log_loss as sk_log_loss

from spamnb.evaluation import probability as prob


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


def test_certainty_in_the_wrong_class_costs_the_clip_not_infinity():
    assert prob.log_loss([0], [[0.0, 1.0]]) == pytest.approx(-math.log(np.finfo(float).eps))


def test_no_messages_no_figures():
    none = np.zeros((0, 2))
    assert math.isnan(prob.log_loss([], none)) and math.isnan(prob.brier_score([], none))
    assert math.isnan(prob.expected_calibration_error(prob.reliability([], none)))
    with pytest.raises(ValueError, match="row for each"):
        prob.log_loss([0, 1], [[0.5, 0.5]])
