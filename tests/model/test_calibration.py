"""model/calibration.py: honest probabilities by the likeliest curve, though some labels are wrong."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import expit

from spamnb.core.curve import BINS
from spamnb.evaluation.metrics import expected_calibration_error, log_loss, reliability_table
from spamnb.model import calibration
from spamnb.model.calibration import (
    _BIN_MARGINS,
    _PRIOR_MARGIN,
    Calibration,
    _bins,
    fit_curves,
    histogram,
    label_trust,
)

BOUNDLESS = 1e15  # messages behind a prior that nothing moves


def binary(margin: np.ndarray) -> np.ndarray:
    return np.stack([-margin / 2, margin / 2], axis=1)


def drawn(n: int, seed: int, slope: float = 1.5, shift: float = -1.0) -> tuple[np.ndarray, np.ndarray]:
    """Margins, and classes that follow a logistic curve of them."""
    rng = np.random.default_rng(seed)
    margin = rng.normal(0, 3, n)
    return margin, (rng.random(n) < expit(slope * margin + shift)).astype(int)


def flipped(y: np.ndarray, share: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the classes with a share of them wrong, and which are wrong."""
    is_wrong = np.random.default_rng(seed).random(len(y)) < share
    return np.where(is_wrong, 1 - y, y), is_wrong


def fitted(margin: np.ndarray, y: np.ndarray) -> Calibration:
    return fit_curves(histogram(binary(margin), y))


def likeliest(own: np.ndarray, rest: np.ndarray, knee: float, noise: float) -> np.ndarray:
    """Return slope and intercept by expectation maximisation until it converges.

    Each round computes the trust in every label by the last curve, and scipy minimises the cross-entropy towards the
    two sides, which are slightly below certain.
    """
    x = knee * np.arcsinh(_BIN_MARGINS / knee)
    curve, p = np.array([1.0, 0.0]), expit(_BIN_MARGINS)
    for _ in range(500):
        right = (1 - noise) * p / ((1 - noise) * p + noise * (1 - p))  # of what is labelled as the class
        wrong = noise * p / (noise * p + (1 - noise) * (1 - p))  # of what is not
        sides = np.stack([own * right + rest * wrong, own * (1 - right) + rest * (1 - wrong)])
        sides[[0, 1], [_bins(np.array(margin)) for margin in (_PRIOR_MARGIN, -_PRIOR_MARGIN)]] += 1
        sides[[0, 1], [_bins(np.array(margin)) for margin in (4, -4)]] += 4 / (1 + min(own.sum(), rest.sum()))
        n = sides.sum(axis=1)
        doubt = (100 + n.min()) / 2 / (50 + n.min())  # 1 of few messages, ½ of many
        expected = sides[0] * (n[0] + doubt) / (n[0] + 2 * doubt) + sides[1] * doubt / (n[1] + 2 * doubt)

        every = sides.sum(axis=0)

        def error(
            curve: np.ndarray, every: np.ndarray = every, expected: np.ndarray = expected
        ) -> tuple[float, np.ndarray]:
            activation = curve[0] * x + curve[1]
            gradient = every * expit(activation) - expected
            value = (every * np.logaddexp(0, activation) - expected * activation).sum()
            return value, np.array([(gradient * x).sum(), gradient.sum()])

        before, curve = curve, minimize(error, curve, jac=True, method="BFGS", options={"gtol": 1e-8}).x
        if np.abs(curve - before).max() < 1e-6:
            break
        p = expit(curve[0] * x + curve[1])
    return curve


@pytest.mark.parametrize("noise", [1e-12, 0.02, 0.05, 0.1])
@pytest.mark.parametrize(
    ("n", "slope", "shift"), [(40, 1.5, -1.0), (200, 3.0, 0.5), (1000, 0.5, 0.0), (1000, 8.0, 0.0)]
)
def test_the_curve_is_the_likeliest(
    n: int, slope: float, shift: float, noise: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    margin, y = drawn(n, n, slope, shift)
    told, _ = flipped(y, noise, 1)
    monkeypatch.setattr(calibration, "PRIOR_NOISE", noise)
    monkeypatch.setattr(calibration, "_ROUNDS", 2000)  # to its end
    counts = histogram(binary(margin), told)
    found = fit_curves(counts, prior=BOUNDLESS)
    assert found.noise == pytest.approx(noise)
    expected = likeliest(*counts[1], found.knee[1], noise)
    np.testing.assert_allclose([found.slope[1], found.intercept[1]], expected, rtol=0.002, atol=0.002)
    np.testing.assert_allclose([found.slope[0], found.intercept[0]], expected * [1, -1], rtol=0.002, atol=0.002)


def test_probabilities_come_true() -> None:
    margin, y = drawn(4000, 2)
    p = fitted(*drawn(4000, 1)).probabilities(binary(margin))
    assert (
        expected_calibration_error(reliability_table(y, p, positive=1)) < 2.5
    )  # 1.3 by chance alone at 4,000 messages
    np.testing.assert_allclose(p[:, 1], expit(1.5 * margin - 1), atol=0.06)


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
    assert 0 < calibration.noise < 0.5


def test_few_scores_that_say_the_contrary_do_not_flatten_the_curve() -> None:
    y = np.repeat([0, 1], [4, 3])
    few, many = fitted(1.0 - 2 * y, y), fitted(1.0 - 2 * np.repeat(y, 20), np.repeat(y, 20))
    assert few.slope.min() > 0.1 and not many.slope.any()


@pytest.mark.parametrize(("each", "surest"), [(0, 0.8), (5, 0.93), (50, 0.995)])
def test_few_messages_make_no_certainty(each: int, surest: float) -> None:
    y = np.repeat([0, 1], each)
    p = fitted((2.0 * y - 1) * 4, y).probabilities(binary(np.array([4.0])))[0, 1]
    assert 0.5 < p < surest


def test_one_class_only() -> None:
    p = fitted(np.full(40, -3.0), np.zeros(40, int)).probabilities(binary(np.array([-3.0, 0.0])))
    assert p[0, 1] < 0.05
    assert p[1, 1] < 0.3  # halfway to the one imagined message of the other class
    alone = fit_curves(histogram(np.zeros((5, 1)), np.zeros(5, int)))
    assert alone.probabilities(np.zeros((2, 1))).tolist() == [[1.0], [1.0]]


def test_of_no_class_there_is_no_curve() -> None:
    """A model that forgot its last message."""
    found = fit_curves(np.zeros((0, 2, BINS), np.int64))
    assert len(found.slope) == len(found.intercept) == len(found.knee) == 0 and found.noise == 0.05


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
    told = np.where(rng.random(3000) < 0.05, (y[:3000] + 1) % 6, y[:3000])
    p = fit_curves(histogram(scores[:3000], told)).probabilities(scores[3000:])
    np.testing.assert_allclose(p.sum(axis=1), 1)
    assert (p.argmax(axis=1) == scores[3000:].argmax(axis=1)).mean() > 0.97
    assert expected_calibration_error(reliability_table(y[3000:], p)) < 4


def test_each_score_of_a_class_that_was_mostly_learned_without_scores_moves_the_border_a_little() -> None:
    """A thousand good messages were learned before the first spam; later ones have margins near those of spam."""
    wide, before = np.linspace(-0.5, 0.5, 30), 1.0
    for scored in range(31):
        margin, y = np.concatenate([2 + wide[:scored], 6 + wide]), np.repeat([0, 1], [scored, 30])
        curves = fit_curves(histogram(binary(margin), y), np.array([1000, 0]))
        p = curves.probabilities(binary(np.array([-2.0, 2.0, 6.0])))[:, 1]
        assert p[0] < 0.01 and p[1] < 0.3 and p[2] > p[1] + 0.2, (scored, p)
        assert before - 0.02 < p[1] <= before or scored == 0, (scored, p)
        before = p[1]


@pytest.mark.parametrize(("few", "many"), [(5, 50), (2, 200), (50, 1000)])
def test_few_that_are_told_from_many_are_told(few: int, many: int) -> None:
    rng = np.random.default_rng(0)
    margin = np.concatenate([rng.normal(-2, 0.1, many), rng.normal(2, 0.1, few)])
    p = fitted(margin, np.repeat([0, 1], [many, few])).probabilities(binary(np.array([-2.0, 2.0])))[:, 1]
    assert p[0] < 0.05 and p[1] > 0.7


@pytest.mark.parametrize("seed", range(20))
def test_labels_that_follow_the_curve_are_believed(seed: int) -> None:
    margin, y = drawn(1000, seed)
    trusts, noise = label_trust(binary(margin), y)
    assert noise < 0.005 and (trusts < 0.5).sum() <= 2


@pytest.mark.parametrize("share", [0.02, 0.05, 0.1, 0.2])
def test_the_share_of_wrong_labels_is_estimated_and_they_are_found(share: float) -> None:
    margin, y = drawn(5000, 4, slope=3.0, shift=0.5)
    told, is_wrong = flipped(y, share, 5)
    trusts, noise = label_trust(binary(margin), told)
    assert noise == pytest.approx(is_wrong.mean(), abs=0.03)
    clear = np.abs(margin) > 2
    assert np.array_equal(trusts[clear] < 0.5, is_wrong[clear])
    assert (trusts[~is_wrong] < 0.5).mean() < 0.01


@pytest.mark.parametrize("share", [0.02, 0.05, 0.1])
def test_probabilities_come_true_though_labels_are_wrong(share: float) -> None:
    margin, y = drawn(5000, 4, slope=3.0, shift=0.5)
    p = fitted(margin, flipped(y, share, 5)[0]).probabilities(binary(margin))
    assert expected_calibration_error(reliability_table(y, p, positive=1)) < 2.5
    assert log_loss(y, p) < 0.005 + log_loss(y, fitted(margin, y).probabilities(binary(margin)))
    x = np.linspace(-2, 2, 41)
    p = fitted(margin, flipped(y, share, 5)[0]).probabilities(binary(x))
    np.testing.assert_allclose(p[:, 1], expit(3.0 * x + 0.5), atol=0.1)


def test_one_message_far_from_the_curve_does_not_bend_it() -> None:
    margin, y = drawn(200, 6, slope=3.0)
    p = fitted(margin, y).probabilities(binary(margin))
    bent = fitted(np.append(margin, -300.0), np.append(y, 1)).probabilities(binary(margin))
    np.testing.assert_allclose(bent, p, atol=0.1)
