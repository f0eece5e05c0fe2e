"""model/correction.py: it solves what the docstring says, and refuses arrays that do not fit."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spamnb.model import correction
from spamnb.model.correction import LEARNING_PENALTY, NEGLIGIBLE, PENALTY, UNIT, Problem, add_first_class
from spamnb.model.softmax import softmax
from spamnb.model.trust import trust


def ascend(
    problem: Problem, visits: np.ndarray, noise: float, passes: int, contributions: np.ndarray, weights: np.ndarray,
    penalty: float = PENALTY,
) -> int:  # fmt: skip
    """Solve as the learner does: small coefficients are 0 but for those of two classes that are fitted together."""
    least = correction.NEGLIGIBLE if problem.offsets.shape[1] > 2 or penalty < PENALTY else 0.0
    return problem.ascend(visits, noise, passes, contributions, weights, penalty=penalty, least=least)


finite = st.floats(-300, 300)


def coefficients(scores: list[float], y: int, penalty: float, noise: float = 0.0) -> np.ndarray:
    """Return the coefficients in nats of a message of one token that no other message has."""
    alone = Problem(
        np.array([0]), np.array([1]), np.array([0], np.int32), 1, np.array([scores], float), np.array([y])
    )  # fmt: skip
    contributions, weights = np.zeros((2, 1, len(scores) - 1), np.int64)
    ascend(alone, np.array([0]), noise, 1, contributions, weights, penalty)
    assert np.array_equal(contributions, weights)
    return add_first_class(contributions)[0] * UNIT


@given(st.lists(finite, min_size=2, max_size=20), st.data(), st.sampled_from([5.0, LEARNING_PENALTY, PENALTY]))
def test_coefficients_are_the_gradient_at_the_scores_that_they_make(
    scores: list[float], data: st.DataObject, penalty: float
) -> None:
    y = data.draw(st.integers(0, len(scores) - 1))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(correction, "NEGLIGIBLE", 0.0)
        found = coefficients(scores, y, penalty)
    expected = penalty * (np.eye(len(scores))[y] - softmax(np.array(scores) + found))
    np.testing.assert_allclose(found, expected, atol=20 * penalty * UNIT)  # of up to 20 roundings to whole units
    assert found.sum() == 0
    assert found[y] >= 0 and all(c <= 0 for k, c in enumerate(found) if k != y)


@pytest.mark.parametrize(
    ("classes", "penalty", "has_small"), [(2, PENALTY, True), (2, LEARNING_PENALTY, False), (3, PENALTY, False)]
)
def test_small_coefficients_are_those_of_two_classes_fitted_together(
    classes: int, penalty: float, has_small: bool
) -> None:
    gap = np.log(2 * penalty / NEGLIGIBLE)  # so that a coefficient is half of what is negligible
    assert coefficients([gap] + [0.0] * (classes - 1), 0, penalty).any() == has_small
    assert coefficients([gap - np.log(4)] + [0.0] * (classes - 1), 0, penalty).any()


def problem(rng: np.random.Generator, n: int, tokens: int, classes: int) -> tuple[Problem, np.ndarray]:
    """Draw n messages, and return them with their numbers of columns."""
    rows = [np.sort(rng.choice(tokens, rng.integers(0, 12), replace=False)) for _ in range(n)]
    lengths = np.array([len(row) for row in rows])
    ends, columns = np.cumsum(lengths), np.concatenate(rows).astype(np.int32)
    offsets, labels = rng.normal(0, 2, (n, classes)), rng.integers(0, classes, n)
    return Problem(ends - lengths, ends, columns, tokens, offsets, labels), lengths


@pytest.mark.parametrize("classes", [2, 3, 7])
def test_ascent_ends_where_the_gradient_is_zero(classes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(correction, "NEGLIGIBLE", 0.0)
    given, lengths = problem(np.random.default_rng(classes), 60, 40, classes)
    contributions, weights = np.zeros((60, classes - 1), np.int64), np.zeros((40, classes - 1), np.int64)
    passes = ascend(given, np.arange(60), 0.0, 1000, contributions, weights, 20.0)
    assert passes < 1000
    own, every = add_first_class(contributions) * UNIT, np.arange(60)
    found = own / given.values[:, None]
    # A message without tokens has no weights, so its contribution is not in its score.
    scores = given.scores(every, weights) + np.where(lengths[:, None] == 0, found, 0)
    expected = 20.0 * (np.eye(classes)[given.labels] - softmax(scores))
    np.testing.assert_allclose(found, expected, rtol=0.02, atol=0.05)
    total = np.zeros_like(weights)
    given.take_out(every, -contributions, total)
    assert np.array_equal(total, weights), "weights are the sum of the contributions"


@pytest.mark.parametrize("classes", [2, 3, 7])
def test_a_pass_changes_no_coefficient_by_more_than_the_bound(classes: int) -> None:
    given, _ = problem(np.random.default_rng(classes), 60, 40, classes)
    contributions, weights = np.zeros((60, classes - 1), np.int64), np.zeros((40, classes - 1), np.int64)
    for number in range(1, 4):
        before = contributions.copy()
        given.ascend(np.arange(60), 0.0, 1, contributions, weights, penalty=PENALTY, least=0.0, most_change=0.5)
        changes = given.largest_coefficients(contributions - before)
        assert changes.max() <= 0.5 + classes * UNIT / given.values.min()
        assert (np.abs(changes - 0.5) < 0.01).any(), f"pass {number} needs a larger change"
    total = np.zeros_like(weights)
    given.take_out(np.arange(60), -contributions, total)
    assert np.array_equal(total, weights), "weights are the sum of the contributions"


@pytest.mark.parametrize("classes", [2, 3, 20])
def test_of_many_classes_small_coefficients_are_zero(classes: int) -> None:
    given, _ = problem(np.random.default_rng(classes), 60, 40, classes)
    contributions, weights = np.zeros((60, classes - 1), np.int64), np.zeros((40, classes - 1), np.int64)
    ascend(given, np.arange(60), 0.0, 4, contributions, weights)
    others = -add_first_class(contributions)[np.arange(classes) != given.labels[:, None]].reshape(60, -1)
    small = (others > 0) & (others * UNIT / given.values[:, None] < NEGLIGIBLE - UNIT)
    assert small.any() == (classes == 2) and others.any() and (others >= 0).all()


@given(st.lists(st.floats(-20, 20), min_size=2, max_size=20), st.data(), st.floats(1e-6, 0.5))
def test_the_penalty_is_that_of_the_label_times_the_trust_in_it(
    scores: list[float], data: st.DataObject, noise: float
) -> None:
    y = data.draw(st.integers(0, len(scores) - 1))
    trusted = float(trust(softmax(np.array(scores))[y], noise))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(correction, "NEGLIGIBLE", 0.0)
        found, expected = coefficients(scores, y, PENALTY, noise), coefficients(scores, y, PENALTY * trusted)
    np.testing.assert_allclose(found, expected, atol=4 * UNIT)


@pytest.mark.parametrize(("score", "largest"), [(-800.0, 0.0), (800.0, 1e-3)])
def test_scores_without_end_are_fitted_all_the_same(score: float, largest: float) -> None:
    """Of a label that nobody doubts there is nothing left to fit, and one that all contradict is not believed."""
    assert abs(coefficients([score, 0.0], 1, PENALTY, 0.05)).max() <= largest


ARRAYS = {
    "begins": np.array([0, 0, 2]),
    "ends": np.array([0, 2, 3]),
    "columns": np.array([0, 1, 0], np.int32),
    "offsets": np.zeros((3, 3)),
    "labels": np.array([0, 1, 2]),
    "visits": np.arange(3),
    "contributions": np.zeros((3, 2), np.int64),
    "weights": np.zeros((2, 2), np.int64),
}


def fitted(**spoilt: np.ndarray) -> None:
    """Three messages of three classes and two columns, fitted with one array put in another's place."""
    arrays = {name: array.copy() for name, array in ARRAYS.items()} | spoilt
    begins, ends, columns, offsets, labels, visits, contributions, weights = arrays.values()
    spoilt_problem = Problem(begins, ends, columns, 2, offsets, labels)
    spoilt_problem.ascend(visits, 0.0, 1, contributions, weights, penalty=20.0, least=0.0)


READ_ONLY = np.zeros((2, 2), np.int64)
READ_ONLY.setflags(write=False)


@pytest.mark.parametrize("name", sorted(ARRAYS.keys() - {"visits"}))
@pytest.mark.parametrize("how", ["short", "long", "type", "dimensions", "strides"])
def test_arrays_that_do_not_fit_are_refused(name: str, how: str) -> None:
    fitted()
    array = ARRAYS[name]
    other = {
        "short": array[:1],
        "long": np.concatenate([array, array]),
        "type": array.astype(np.float32),
        "dimensions": array[None],
        "strides": np.repeat(array, 2, axis=0)[::2],
    }[how]
    if (name, how) in (("columns", "long"), ("offsets", "strides")):
        return  # columns that no message has, and an array that is copied
    with pytest.raises(ValueError):
        fitted(**{name: other})


@pytest.mark.parametrize(
    ("name", "spoilt"),
    [
        ("begins", np.array([-1, 0, 2])),
        ("begins", np.array([1, 0, 2])),
        ("ends", np.array([0, 2, 4])),
        *(("columns", np.array([0, 1, column], np.int32)) for column in (2, -1)),
        *(("labels", np.array([0, 1, label])) for label in (3, -1)),
        *(("visits", np.array([number])) for number in (3, -1, 2**62)),
        ("weights", READ_ONLY),
    ],
)
def test_numbers_that_are_not_there_are_refused(name: str, spoilt: np.ndarray) -> None:
    with pytest.raises(ValueError):
        fitted(**{name: spoilt})
