"""validation.py: what is refused and what is read otherwise, as scikit-learn does it."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import coo_array, csc_array
from sklearn.naive_bayes import MultinomialNB as Twin

from spamnb.estimators.multinomial import MultinomialNB
from spamnb.estimators.validation import MAX_CATEGORIES, check_matrix

X = np.array([[2, 0, 1], [0, 3, 1], [1, 1, 0], [4, 0, 0]])
Y = np.array(["a", "b", "b", "a"])
FRAME = pd.DataFrame(X, columns=["one", "two", "three"])


def outcome(model: Any, x: Any, y: Any, weight: Any = None) -> Any:
    """What a fit came to: the kind of its error, or what the model makes of X."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return model.fit(x, y, sample_weight=weight).predict_proba(X[:, : model.n_features_in_])
    except (TypeError, ValueError) as error:
        return type(error)


def assert_same(ours: Any, theirs: Any) -> None:
    if isinstance(theirs, type):
        assert ours is theirs
    else:
        np.testing.assert_allclose(ours, theirs, rtol=1e-12)


@pytest.mark.parametrize(
    "x",
    [
        X > 0, X.astype(np.float32), X.astype(object), X.tolist(), FRAME, csc_array(X), X.astype(np.uint8),
        coo_array((np.ones(8), ([0, 0, 1, 1, 2, 2, 3, 3], [0, 0, 1, 2, 0, 1, 0, 0])), shape=(4, 3)), X[:, :1],
        X * 1j, X[None], X[0], np.array(3), np.full((4, 3), "x"), X[:0], X[:, :0], -X,
        np.where(X, X, np.nan), np.where(X, X, np.inf), coo_array(X[:, 0]), X[:3], csc_array(-X), csc_array(X * 1j),
    ],
    ids=lambda x: f"{type(x).__name__} {getattr(x, 'dtype', '')} {getattr(x, 'shape', '')}",
)  # fmt: skip
def test_matrices(x: Any) -> None:
    assert_same(outcome(MultinomialNB(), x, Y), outcome(Twin(), x, Y))


@pytest.mark.parametrize(
    "y",
    [
        [1, 2, 2, 1], [1.0, 2.0, 2.0, 1.0], [True, False, False, True], Y[:, None], Y.astype(object), None,
        [1j, 2, 2, 1], Y[[[0, 1], [1, 0], [1, 0], [0, 1]]], [0.5, 1, 1, 0.5], [1, np.nan, 1, 2], [1, np.inf, 1, 2],
        Y[:3], "a",
    ],
    ids=str,
)  # fmt: skip
def test_labels(y: Any) -> None:
    assert_same(outcome(MultinomialNB(), X, y), outcome(Twin(), X, y))


@pytest.mark.parametrize(
    "weight",
    [
        2.0, 1, [1, 2, 0, 1], [0.5, 0.1, 2, 1], np.ones((4, 1)), np.ones(3), [1, 1, 1, np.nan], [1, 1, 1, np.inf],
        ["x"] * 4,
    ],
    ids=str,
)  # fmt: skip
def test_weights(weight: Any) -> None:
    assert_same(outcome(MultinomialNB(), X, Y, weight), outcome(Twin(), X, Y, weight))


def test_what_is_neither_number_nor_label_is_told() -> None:
    with pytest.raises(ValueError, match="must hold numbers, not datetime64"):
        MultinomialNB().fit(X.astype("datetime64[s]"), Y)
    with pytest.raises(ValueError, match="all be strings or all be numbers"):
        MultinomialNB().fit(X, np.array(["a", 1, 1, "a"], object))


@pytest.mark.parametrize(("weight", "says"), [([1, 1, -1, 1], "Negative"), ([0] * 4, "at least one non-zero")])
def test_weights_that_leave_no_sum(weight: list[int], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        MultinomialNB().fit(X, Y, sample_weight=weight)


@pytest.mark.parametrize("kind", [MultinomialNB, Twin])
def test_names_of_columns(kind: Any) -> None:
    named, plain = kind().fit(FRAME, Y), kind().fit(X, Y)
    with pytest.warns(UserWarning, match="does not have valid feature names, but MultinomialNB was fitted with"):
        named.predict(X)
    with pytest.warns(UserWarning, match="has feature names, but MultinomialNB was fitted without"):
        plain.predict(FRAME)
    with pytest.raises(ValueError, match=r"(?s)match those.*same order"):
        named.predict(FRAME[["two", "one", "three"]])
    many = {name: f"other{i}" for i, name in enumerate(FRAME.columns)}
    with pytest.raises(ValueError, match=r"(?s)unseen at fit time.*- other0\n.*now missing.*- one\n"):
        named.predict(FRAME.rename(columns=many))
    with pytest.raises(TypeError, match="string names"):
        kind().fit(FRAME.rename(columns={"one": 1}), Y)
    assert not hasattr(kind().fit(FRAME.rename(columns={"one": 1, "two": 2, "three": 3}), Y), "feature_names_in_")
    assert hasattr(named, "feature_names_in_") and not hasattr(named.fit(X, Y), "feature_names_in_")


def test_categories_are_bounded() -> None:
    most = np.array([[MAX_CATEGORIES]])
    assert check_matrix(most, "m", sparse=False, nonnegative=True, integer=True).dtype == np.int64
    with pytest.raises(ValueError, match="at most"):
        check_matrix(most + 1, "m", sparse=False, nonnegative=True, integer=True)
    with pytest.raises(TypeError, match="needs dense data"):
        check_matrix(csc_array(most), "m", sparse=False, nonnegative=True)
