"""Categorical naive Bayes: categories side by side, growing with the batches."""

from __future__ import annotations

import numpy as np
import pytest

from spamnb.estimators.categorical import CategoricalNB


def test_by_hand() -> None:
    X, y = [[0, 2], [1, 2], [1, 0]], ["a", "a", "b"]
    model = CategoricalNB(alpha=0.5).fit(X, y)
    assert model.n_categories_.tolist() == [2, 3]
    assert np.exp(model.feature_log_prob_[1]) == pytest.approx(
        np.array([[0.5 / 3.5, 0.5 / 3.5, 2.5 / 3.5], [1.5 / 2.5, 0.5 / 2.5, 0.5 / 2.5]])
    )
    joint = np.exp(model.predict_joint_log_proba([[1, 2]]))[0]
    assert joint == pytest.approx([2 / 3 * 1.5 / 3 * 2.5 / 3.5, 1 / 3 * 1.5 / 2 * 0.5 / 2.5])


def test_categories_that_come_later_widen_the_sums() -> None:
    rng = np.random.default_rng(3)
    X, y = rng.integers(0, [2, 7, 4], size=(40, 3)), np.arange(40) % 2
    X[0] = [1, 6, 3]
    whole = CategoricalNB().fit(X[::-1], y[::-1])
    grown = CategoricalNB().partial_fit([[0, 0, 0]], [0], classes=[0, 1])
    grown.partial_fit(X[1:], y[1:]).partial_fit(X[:1], y[:1]).forget([[0, 0, 0]], [0])
    assert np.array_equal(grown.n_categories_, whole.n_categories_)
    assert all(np.array_equal(a, b) for a, b in zip(grown.category_count_, whole.category_count_, strict=True))
    assert np.array_equal(grown.predict_joint_log_proba(X), whole.predict_joint_log_proba(X))


@pytest.mark.parametrize("number", [2**31, 2**63 - 1, 1e200, np.uint64(2**63 + 5)])
def test_numbers_that_no_category_has_are_refused(number: float) -> None:
    with pytest.raises(ValueError, match="number the categories of each column from 0 on"):
        CategoricalNB().fit(np.array([[0], [number]]), [0, 1])
    with pytest.raises(ValueError, match="number the categories of each column from 0 on"):
        CategoricalNB().fit([[0], [1]], [0, 1]).predict(np.array([[number]]))


def test_room_for_forgotten_categories_stays() -> None:
    model = CategoricalNB().fit([[0], [1]], [0, 1])
    model.partial_fit([[4]], [1]).forget([[4]], [1])
    assert model.n_categories_.tolist() == [5]
    assert model.category_count_[0].tolist() == [[1, 0, 0, 0, 0], [0, 1, 0, 0, 0]]


def test_errors_say_what_to_do() -> None:
    model = CategoricalNB().fit([[0, 1], [1, 0]], [0, 1])
    with pytest.raises(ValueError, match="column 1 holds category 2, but training saw none above 1: give min_cat"):
        model.predict([[0, 2]])
    with pytest.raises(TypeError, match=r"needs dense data: use X.toarray\(\)"):
        from scipy.sparse import csr_array

        model.predict(csr_array([[0, 1]]))
    for least, message in [(0, "at least 1"), (1.5, "integral type"), ([1, 2, 3], "should have shape")]:
        with pytest.raises(ValueError, match=message):
            CategoricalNB(min_categories=least).fit([[0, 1], [1, 0]], [0, 1])
