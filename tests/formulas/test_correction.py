"""formulas/correction.py: it solves what the docstring says, and refuses arrays that do not fit."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spamnb.formulas import correction
from spamnb.formulas.correction import (
    LEARNING_PENALTY,
    NEGLIGIBLE,
    PENALTY,
    UNIT,
    Problem,
    coefficients,
    with_first,
)
from spamnb.formulas.softmax import softmax

finite = st.floats(-300, 300)


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
    brought, weights = np.zeros((60, classes - 1), np.int64), np.zeros((40, classes - 1), np.int64)
    passes = given.ascend(np.arange(60), 20.0, 0.0, 1000, brought, weights)
    assert passes < 1000
    own, every = with_first(brought) * UNIT, np.arange(60)
    lengths = np.diff(given.indptr)[:, None] * given.values[:, None] ** 2
    found = own / given.values[:, None]
    # With all of its tokens a row has length 1, whatever columns it has; the rest are its own alone.
    scores = given.scores(every, weights) + (1 - lengths) * found
    wanted = 20.0 * (np.eye(classes)[given.labels] - softmax(scores))
    np.testing.assert_allclose(found, wanted, rtol=0.02, atol=0.05)
    total = np.zeros_like(weights)
    given.take_out(every, -brought, total)
    assert np.array_equal(total, weights), "weights are the sum of what the messages brought"


@pytest.mark.parametrize("classes", [2, 3, 20])
def test_of_many_classes_small_coefficients_are_zero(classes: int) -> None:
    given = problem(np.random.default_rng(classes), 60, 40, classes)
    brought, weights = np.zeros((60, classes - 1), np.int64), np.zeros((40, classes - 1), np.int64)
    given.ascend(np.arange(60), PENALTY, 0.0, 4, brought, weights)
    others = -with_first(brought)[np.arange(classes) != given.labels[:, None]].reshape(60, -1)
    small = (others > 0) & (others * UNIT / given.values[:, None] < NEGLIGIBLE - UNIT)
    assert small.any() == (classes == 2) and others.any() and (others >= 0).all()


@pytest.mark.parametrize(("score", "trust"), [(-800.0, 1.0), (0.0, 0.95), (2.0, 0.72), (800.0, 0.0)])
def test_what_others_say_tells_how_far_a_label_is_trusted(score: float, trust: float) -> None:
    brought, offsets = np.zeros((1, 1), np.int64), np.array([[score, 0.0]])
    alone = Problem(np.zeros(2, np.int64), np.zeros(0, np.int32), np.ones(1), offsets, np.ones(1, np.int64))
    alone.ascend(np.zeros(1, np.int64), PENALTY, 0.05, 1, brought, np.zeros((0, 1), np.int64))
    wanted = coefficients(offsets[0].tolist(), 1, PENALTY * trust)[1] if trust else 0.0
    assert brought[0, 0] * UNIT == pytest.approx(wanted, rel=0.01, abs=1e-3)


@pytest.mark.parametrize("spoilt", ["indptr", "columns", "values", "offsets", "labels"])
@pytest.mark.parametrize("how", ["short", "long", "high", "negative", "type", "dimensions", "strides"])
def test_arrays_that_do_not_fit_are_refused(spoilt: str, how: str) -> None:
    given, order = problem(np.random.default_rng(1), 30, 20, 3), np.arange(30)
    array = getattr(given, spoilt)
    other = {
        "short": array[: len(array) // 2],
        "long": np.concatenate([array, array]) * 2,
        "high": array + 1000,
        "negative": -array - 1,
        "type": array.astype(np.float32),
        "dimensions": array[None],
        "strides": np.repeat(array, 2, axis=0)[::2],
    }[how]
    if how in ("high", "negative") and spoilt in ("values", "offsets"):
        return  # all numbers will do
    if how == "long" and spoilt == "columns":
        other = array * 2  # columns that no message has would do
    brought, weights = np.zeros((30, 2), np.int64), np.zeros((20, 2), np.int64)
    with pytest.raises(ValueError):
        given._replace(**{spoilt: other}).ascend(order, 20.0, 0.0, 5, brought, weights)
    assert not brought.any() and not weights.any()


MESSAGES, BROUGHT, WEIGHTS = np.arange(30), np.zeros((30, 2), np.int64), np.zeros((20, 2), np.int64)
READ_ONLY = WEIGHTS.copy()
READ_ONLY.setflags(write=False)


@pytest.mark.parametrize(
    ("messages", "brought", "weights"),
    [
        *((np.array([number]), BROUGHT, WEIGHTS) for number in (30, -1, 2**62)),
        (MESSAGES, BROUGHT[:29], WEIGHTS),
        (MESSAGES, BROUGHT[:, :1].copy(), WEIGHTS),
        (MESSAGES, BROUGHT, WEIGHTS[:1]),
        (MESSAGES, BROUGHT, READ_ONLY),
    ],
)
def test_messages_and_matrices_that_do_not_fit_are_refused(
    messages: np.ndarray, brought: np.ndarray, weights: np.ndarray
) -> None:
    given = problem(np.random.default_rng(1), 30, 20, 3)
    with pytest.raises(ValueError):
        given.ascend(messages, 20.0, 0.0, 5, brought, weights)
    for y in (-1, 2):
        with pytest.raises(ValueError):
            coefficients([0.0, 0.0], y, 5.0)
