"""formulas/correction.py: the coefficients solve what the docstring says, whatever the scores."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spamnb.formulas.correction import (
    LEARNING_PENALTY,
    PENALTY,
    coefficients,
    omega,
    value_of,
)
from spamnb.learners.corrected import fitted_offset_of, offset_of

finite = st.floats(-300, 300)


def softmax(scores: np.ndarray) -> np.ndarray:
    odds = np.exp(scores - scores.max())
    return odds / odds.sum()


@given(st.lists(finite, min_size=2, max_size=20), st.data(), st.sampled_from([5.0, LEARNING_PENALTY, PENALTY]))
def test_coefficients_are_the_gradient_at_the_scores_that_they_make(
    scores: list[float], data: st.DataObject, penalty: float
) -> None:
    y = data.draw(st.integers(0, len(scores) - 1))
    found = np.array(coefficients(scores, y, penalty))
    wanted = penalty * (np.eye(len(scores))[y] - softmax(np.array(scores) + found))
    np.testing.assert_allclose(found, wanted, atol=1e-3)  # UNIT is 1.5e-5, and ten tokens make it 5e-5 of a coefficient
    assert abs(found.sum()) < 1e-9 * penalty
    assert found[y] >= 0 and all(c <= 0 for k, c in enumerate(found) if k != y)


def test_a_message_that_is_judged_right_and_surely_needs_next_to_nothing() -> None:
    wrong, unsure, right = (coefficients([0.0, margin], 1, PENALTY)[1] for margin in (-10.0, 0.0, 10.0))
    assert wrong > unsure > 1 > 0.05 > right > 0


@pytest.mark.parametrize("x", [-700.0, -30.0, -29.9, -1.0, 0.0, 0.99, 1.0, 2.5, 700.0])
def test_omega_solves_its_equation(x: float) -> None:
    w = omega(x)
    assert w + np.log(w) == pytest.approx(x, abs=1e-9) if w else x < -690


def test_two_classes_state_the_same_evidence_twice() -> None:
    assert (offset_of(2), offset_of(3), value_of(4), value_of(0)) == (3.0, 4.0, 0.5, 1.0)


def test_only_of_many_classes_a_part_of_the_offset_is_left_to_the_correction() -> None:
    assert [fitted_offset_of(classes) / offset_of(classes) for classes in (2, 3, 20)] == pytest.approx([1, 0.7, 0.7])
