from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.special import expit

from spamnb.evaluation.metrics import expected_calibration_error, reliability
from spamnb.formulas.calibration import _BIN_MARGINS, BINS, MIN_MESSAGES, Calibration, _bins, _fit_curve


def binary(margin: np.ndarray) -> np.ndarray:
    return np.stack([-margin / 2, margin / 2], axis=1)


def drawn(n: int, seed: int, slope: float = 1.5, shift: float = -1.0) -> tuple[np.ndarray, np.ndarray]:
    """Margins, and classes that follow a logistic curve of them."""
    rng = np.random.default_rng(seed)
    margin = rng.normal(0, 3, n)
    return margin, (rng.random(n) < expit(slope * margin + shift)).astype(int)


def fitted(margin: np.ndarray, y: np.ndarray) -> Calibration:
    calibration = Calibration(2)
    calibration.add(binary(margin), y)
    return calibration


def test_probabilities_come_true() -> None:
    calibration = fitted(*drawn(4000, 1))
    margin, y = drawn(4000, 2)
    p = calibration.probabilities(binary(margin))
    assert expected_calibration_error(reliability(y, p, positive=1)) < 2.5  # 1.3 by chance alone at 4,000 messages
    np.testing.assert_allclose(p[:, 1], expit(1.5 * margin - 1), atol=0.05)


@given(st.integers(0, 10**6), st.integers(0, 40), st.integers(0, 40), st.floats(0.01, 1000))
def test_always_defined_ordered_and_never_certain(seed: int, ham: int, spam: int, scale: float) -> None:
    rng = np.random.default_rng(seed)
    y = np.repeat([0, 1], [ham, spam])
    calibration = fitted(rng.normal(2 * y - 1, 1, len(y)) * scale, y)
    x = np.linspace(-5 * scale, 5 * scale, 101)
    p = calibration.probabilities(binary(x))
    assert np.isfinite(p).all()
    assert ((p > 0) & (p < 1)).all()
    np.testing.assert_allclose(p.sum(axis=1), 1)
    assert (np.diff(p[:, 1]) >= -1e-12).all()


@pytest.mark.parametrize(("each", "surest"), [(0, 0.8), (5, 0.9), (50, 0.995)])
def test_few_messages_make_no_certainty(each: int, surest: float) -> None:
    y = np.repeat([0, 1], each)
    calibration = fitted((2.0 * y - 1) * 4, y)
    p = calibration.probabilities(binary(np.array([4.0])))[0, 1]
    assert 0.5 < p < surest
    assert calibration.enough() == (each >= MIN_MESSAGES)


def test_one_class_only() -> None:
    calibration = fitted(np.full(40, -3.0), np.zeros(40, int))
    assert not calibration.enough()
    p = calibration.probabilities(binary(np.array([-3.0, 0.0])))
    assert p[0, 1] < 0.05
    assert p[1, 1] < 0.3  # halfway to the one imagined message of the other class
    single = Calibration(1)
    single.add(np.zeros((5, 1)), np.zeros(5, int))
    assert single.probabilities(np.zeros((2, 1))).tolist() == [[1.0], [1.0]]
    assert not single.enough()


@given(st.integers(0, 10**6), st.integers(1, 300), st.integers(1, 300), st.floats(0.2, 200), st.floats(0.01, 2))
def test_the_curve_is_the_likeliest(seed: int, ham: int, spam: int, distance: float, spread: float) -> None:
    rng = np.random.default_rng(seed)
    margin = np.concatenate([rng.normal(-1, spread, ham), rng.normal(1, spread, spam)]) * distance
    assume(margin[ham:].mean() > margin[:ham].mean())
    own, rest = (np.bincount(_bins(part), minlength=BINS) for part in (margin[ham:], margin[:ham]))
    slope, intercept, *_ = _fit_curve(own, rest, min_gain=float("inf"))
    own[_bins(np.array(2.0))] += 1
    rest[_bins(np.array(-2.0))] += 1
    doubt = (100 + min(ham, spam) + 1) / 2 / (50 + min(ham, spam) + 1)  # an imagined message on each side
    wanted = own * (spam + 1 + doubt) / (spam + 1 + 2 * doubt) + rest * doubt / (ham + 1 + 2 * doubt)

    def error(slope: float, intercept: float) -> float:
        activation = slope * _BIN_MARGINS + intercept
        return float(((own + rest) * np.logaddexp(0, activation) - wanted * activation).sum())

    # The error is convex, so what no small change betters is the least there is; below 0 no slope may be.
    unit = 1e-3 / np.sqrt(((own + rest) * _BIN_MARGINS**2).sum() / (own + rest).sum())
    found = error(slope, intercept)
    for a, b in itertools.product((-unit, 0, unit), (-1e-3, 0, 1e-3)):
        assert slope + a < 0 or error(slope + a, intercept + b) >= found - 1e-9 * (1 + found)


def test_scores_that_tell_the_wrong_way_tell_nothing() -> None:
    """Leave-one-out of a handful can be worse than chance; the curve never falls."""
    y = np.repeat([0, 1], [30, 10])
    p = fitted(np.where(y, -2.0, 2.0), y).probabilities(binary(np.array([-5.0, 5.0])))
    assert p[0, 1] == pytest.approx(p[1, 1])
    assert p[0, 1] == pytest.approx(0.25, abs=0.03)


def test_many_classes() -> None:
    rng = np.random.default_rng(5)
    y = rng.integers(0, 6, 6000)
    scores = rng.normal(0, 1, (6000, 6))
    scores[np.arange(6000), y] += 2.5
    calibration = Calibration(6)
    calibration.add(scores[:3000], y[:3000])
    p = calibration.probabilities(scores[3000:])
    np.testing.assert_allclose(p.sum(axis=1), 1)
    assert (p.argmax(axis=1) == scores[3000:].argmax(axis=1)).mean() > 0.97
    assert expected_calibration_error(reliability(y[3000:], p)) < 4


def test_good_mail_counts_as_a_whole_so_one_message_of_a_third_class_makes_no_spam_unsure() -> None:
    calibration = Calibration(3, np.array([400, 1, 30]))
    assert calibration.enough(spam=2)
    assert not calibration.enough()
    assert not calibration.enough(spam=1)
    assert not Calibration(3, np.array([5, 4, 30])).enough(spam=2)


def test_scores_count_once_ten_messages_of_a_class_that_was_learned_without_them_have_one() -> None:
    """A thousand good messages were learned before the first spam: their numbers put the border at nought."""
    wide = np.linspace(-0.5, 0.5, 30)
    for scored, border_is_known in ((9, False), (10, True), (30, True)):
        calibration = Calibration(2, np.array([1000 + scored, 30]))
        calibration.add(binary(2 + wide[:scored]), np.zeros(scored, int))
        calibration.add(binary(6 + wide), np.ones(30, int))
        p = calibration.probabilities(binary(np.array([2.0, 6.0])))[:, 1]
        assert p[1] > 0.9
        assert (p[0] < 0.3) == border_is_known, (scored, p)


@pytest.mark.parametrize(("few", "many"), [(5, 50), (2, 200), (50, 1000)])
def test_few_that_are_told_from_many_are_told(few: int, many: int) -> None:
    rng = np.random.default_rng(0)
    margin = np.concatenate([rng.normal(-2, 0.1, many), rng.normal(2, 0.1, few)])
    p = fitted(margin, np.repeat([0, 1], [many, few])).probabilities(binary(np.array([-2.0, 2.0])))[:, 1]
    assert p[0] < 0.05 and p[1] > 0.7


@pytest.mark.parametrize("seed", range(20))
def test_labels_that_follow_the_curve_are_believed(seed: int) -> None:
    margin, y = drawn(1000, seed)
    assert not fitted(margin, y).doubts(binary(margin), y).any()


@pytest.mark.parametrize(("missed", "foreign"), [(0.05, 0.05), (0.2, 0.2), (0.0, 0.1), (0.1, 0.0)])
def test_wrong_labels_neither_flatten_the_curve_nor_pass_for_right_ones(missed: float, foreign: float) -> None:
    margin, y = drawn(5000, 4, slope=3.0, shift=0.5)
    flips = np.random.default_rng(5).random(5000) < np.where(y == 1, missed, foreign)
    told = np.where(flips, 1 - y, y)
    calibration = fitted(margin, told)
    x = np.linspace(-2, 2, 41)
    p = calibration.probabilities(binary(x))[:, 1]
    np.testing.assert_allclose(p, expit(3.0 * x + 0.5), atol=0.1)
    doubts = calibration.doubts(binary(margin), told)
    assert doubts.mean() == pytest.approx(flips.mean(), abs=0.01)
    clear = np.abs(margin) > 2
    assert np.array_equal(doubts[clear] > 0.5, flips[clear])
