"""formulas/correction.py: it solves what the docstring says, whatever the scores, and the same compiled or not."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from uncompiled import uncompiled

from spamnb.formulas import correction
from spamnb.formulas.correction import (
    LEARNING_PENALTY,
    NEGLIGIBLE,
    PENALTY,
    UNIT,
    Problem,
    ascend,
    coefficients,
    omega,
    sum_columns,
    take_out,
    units_of,
    value_of,
)
from spamnb.learners.corrected import fitted_offset_of, offset_of

with uncompiled("spamnb.formulas.correction") as (source,):
    pass
needs_compiler = pytest.mark.skipif(
    correction.__file__.endswith(".py"), reason="not compiled: needs a C compiler when spamnb is installed"
)
finite = st.floats(-300, 300)


def softmax(scores: np.ndarray) -> np.ndarray:
    odds = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return odds / odds.sum(axis=-1, keepdims=True)


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


def problem(rng: np.random.Generator, n: int, tokens: int, classes: int) -> Problem:
    rows = [np.sort(rng.choice(tokens, rng.integers(0, 12), replace=False)) for _ in range(n)]
    lengths = np.array([len(row) for row in rows])
    return Problem(
        np.append(0, np.cumsum(lengths)).astype(np.int64),
        np.concatenate(rows).astype(np.int32),
        1 / np.sqrt(np.maximum(lengths + rng.integers(0, 3, n), 1)),
        rng.normal(0, 2, (n, classes)),
        rng.integers(0, classes, n).astype(np.int64),
    )


@pytest.mark.parametrize("classes", [2, 3, 7])
def test_ascent_ends_where_the_gradient_is_zero(classes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(correction, "NEGLIGIBLE", 0.0)
    given = problem(np.random.default_rng(classes), 60, 40, classes)
    brought, weights = np.zeros((60, classes), np.int64), np.zeros((40, classes), np.int64)
    passes = ascend(*given, np.arange(60), 20.0, 0.0, 1000, brought, weights)
    assert passes < 1000
    scores = given.offsets.copy()  # with all of its tokens a row has length 1, whatever columns it has
    for i in range(60):
        cells = given.columns[given.indptr[i] : given.indptr[i + 1]]
        alone = 1 - len(cells) * given.values[i] ** 2
        own = brought[i] * UNIT / given.values[i]
        scores[i] += weights[cells].sum(axis=0) * UNIT * given.values[i] + alone * own
    found = brought * UNIT / given.values[:, None]
    wanted = 20.0 * (np.eye(classes)[given.labels] - softmax(scores))
    np.testing.assert_allclose(found, wanted, rtol=0.02, atol=0.05)
    assert not brought.sum(axis=1).any()
    total = np.zeros_like(weights)
    take_out(given.indptr, given.columns, np.arange(60), -brought, total)
    assert np.array_equal(total, weights), "weights are the sum of what the messages brought"


@pytest.mark.parametrize("classes", [2, 3, 20])
def test_of_many_classes_small_coefficients_are_zero(classes: int) -> None:
    given = problem(np.random.default_rng(classes), 60, 40, classes)
    brought, weights = np.zeros((60, classes), np.int64), np.zeros((40, classes), np.int64)
    ascend(*given, np.arange(60), PENALTY, 0.0, 4, brought, weights)
    others = -brought[np.arange(classes) != given.labels[:, None]].reshape(60, -1)
    small = (others > 0) & (others * UNIT / given.values[:, None] < NEGLIGIBLE - UNIT)
    assert small.any() == (classes == 2) and others.any() and (others >= 0).all()
    assert not brought.sum(axis=1).any()


@needs_compiler
@pytest.mark.parametrize("classes", [1, 2, 3, 20])
def test_compiled_brings_the_same_to_the_last_unit(classes: int) -> None:
    rng = np.random.default_rng(classes)
    given, order = problem(rng, 80, 50, classes), rng.permutation(80)[:70]
    results = []
    for solve in (source.ascend, ascend):
        brought, weights = np.zeros((80, classes), np.int64), np.zeros((50, classes), np.int64)
        results.append((solve(*given, order, PENALTY, 0.05, 4, brought, weights), brought, weights))
    (passes, brought, weights), (same_passes, same, same_weights) = results
    assert passes == same_passes and np.array_equal(brought, same) and np.array_equal(weights, same_weights)
    some, rest, same_rest = order[:9], weights.copy(), weights.copy()
    source.take_out(given.indptr, given.columns, some, brought, rest)
    take_out(given.indptr, given.columns, some, brought, same_rest)
    assert np.array_equal(rest, same_rest)
    summed = (given.indptr, given.columns, some, weights)
    assert np.array_equal(source.sum_columns(*summed), sum_columns(*summed))


@needs_compiler
@given(st.lists(finite, min_size=1, max_size=5), st.data())
def test_compiled_coefficients_are_the_same_to_the_last_bit(scores: list[float], data: st.DataObject) -> None:
    y = data.draw(st.integers(0, len(scores) - 1))
    found = coefficients(scores, y, PENALTY)
    assert found == source.coefficients(scores, y, PENALTY)
    units = units_of(found, y, 0.1)
    assert np.array_equal(units, source.units_of(found, y, 0.1)) and units.sum() == 0
