"""Learning adds, forgetting subtracts; bad input is refused as scikit-learn refuses it."""

from datetime import date
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from spamnb.estimators.concept import number_game
from spamnb.estimators.discrete import BernoulliNB, CategoricalNB, MultinomialNB
from spamnb.estimators.gaussian import GaussianNB, LinearDiscriminantAnalysis
from spamnb.estimators.logistic import LogisticRegression

categorical = partial(CategoricalNB, min_categories=3)
MODELS: list[Any] = [MultinomialNB, BernoulliNB, categorical]


def rows(seed: int, n: int, columns: int = 5) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng.integers(0, 3, size=(n, columns)), rng.choice(["a", "b", "c"], size=n)


def numbers(model: Any) -> list[np.ndarray]:
    return [model.sums_.documents, model.sums_.columns]


def assert_same(a: Any, b: Any) -> None:
    assert all(np.array_equal(x, y) for x, y in zip(numbers(a), numbers(b), strict=True))
    X = rows(99, 20)[0]
    assert np.array_equal(a.predict_joint_log_proba(X), b.predict_joint_log_proba(X))


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("container", [np.asarray, csr_array])
@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6), n=st.integers(4, 30), cut=st.integers(1, 3))
def test_sums(model: Any, container: Any, seed: int, n: int, cut: int) -> None:
    if model is categorical:
        container = np.asarray
    X, y = rows(seed, n)
    classes = ["a", "b", "c"]
    head, tail = (container(X[:cut]), y[:cut]), (container(X[cut:]), y[cut:])
    whole = model().partial_fit(container(X), y, classes)
    in_parts = model().partial_fit(*head, classes).partial_fit(*tail)
    assert_same(whole, in_parts)
    parts = [model().partial_fit(*part, classes).sums_ for part in (head, tail)]
    assert_same(whole, model().fit_sums(parts[0] + parts[1], classes))
    before = model().partial_fit(*head, classes)
    after = model().partial_fit(*head, classes).partial_fit(*tail).forget(*tail)
    assert_same(before, after)
    weight = np.random.default_rng(seed).integers(1, 4, size=n)
    repeated = model().partial_fit(container(np.repeat(X, weight, axis=0)), np.repeat(y, weight), classes)
    weighted = model().partial_fit(container(X), y, classes, weight)
    np.testing.assert_allclose(numbers(repeated)[1], numbers(weighted)[1])


@pytest.mark.parametrize("model", MODELS)
def test_refusals_leave_the_model_as_it_was(model: Any) -> None:
    X, y = rows(6, 20)
    fitted, untouched = model().fit(X, y), model().fit(X, y)
    with pytest.raises(ValueError, match="these rows were not learned"):
        fitted.forget(np.vstack([X, X]), np.concatenate([y, y]))
    with pytest.raises(ValueError, match=r"label\(s\) \['z'\] in y do not exist"):
        fitted.partial_fit(X[:1], ["z"])
    fitted.alpha = -1
    for call in (lambda: fitted.partial_fit(X, y), lambda: fitted.fit(X[:3], y[:3])):
        with pytest.raises(ValueError, match="NB: alpha is -1: it must be a finite number, at least 0"):
            call()
    fitted.alpha = 1.0
    assert_same(fitted, untouched)


@pytest.mark.parametrize(
    ("labels", "said"),
    [
        (["ham", None], r"y\[1\] is None: leave out rows"),
        ([1.0, float("nan")], r"y\[1\] is nan: leave out rows"),
        (["a", 1], "must all be strings or all be numbers"),
        ([b"a", b"b"], "texts, whole numbers or truth values"),
        ([date(2026, 1, 1), date(2026, 1, 2)], "texts, whole numbers or truth values"),
    ],
)
def test_labels_that_name_no_class_are_refused(labels: list[Any], said: str) -> None:
    for y in (labels, np.array(labels, object)):
        with pytest.raises(ValueError, match=said):
            MultinomialNB().fit([[1], [2]], y)


@pytest.mark.parametrize("model", [MultinomialNB, GaussianNB, LogisticRegression])
def test_rows_without_classes_are_refused(model: Any) -> None:
    with pytest.raises(ValueError, match=f"{model.__name__} requires y to be passed"):
        model().fit([[1], [2]])


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (["cheap pills", "tea"], r"X has texts, .* MailVectorizer\(\)"),
        ([["1"], ["2"]], "X has texts, "),
        (np.array(["a", "b"]), "X has texts, "),
        ([[1.0], [float("nan")]], "Input X contains NaN: .* needs every value, except in predictions with allow_nan"),
    ],
)
def test_errors_say_what_helps(X: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        GaussianNB().fit(X, [0, 1])
    with pytest.raises(ValueError, match="OrdinalEncoder"):
        CategoricalNB().fit([["red"], ["blue"]], [0, 1])


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("alpha", [-1.0, float("nan"), float("inf"), "much", [[1.0]], [1.0], None])
def test_alpha_must_be_numbers_that_are_not_negative(model: Any, alpha: Any) -> None:
    with pytest.raises(ValueError, match="alpha"):
        model(alpha=alpha).fit(*rows(7, 10))


def test_the_callers_sparse_matrix_is_left_alone() -> None:
    # Two entries for the same cell, unsorted, and a stored zero: made canonical in a copy.
    data, indices, indptr = np.array([1, 2, 3, 0]), np.array([1, 1, 0, 1]), np.array([0, 2, 4])
    X = csr_array((data, indices, indptr), shape=(2, 2))
    for model in (MultinomialNB(), MultinomialNB(binary=True), BernoulliNB()):
        found = model.fit(X, [0, 1]).predict_joint_log_proba(X)
        dense = model.fit(X.toarray(), [0, 1]).predict_joint_log_proba(X.toarray())
        np.testing.assert_allclose(found, dense, rtol=1e-13)
        assert (X.data.tolist(), X.indices.tolist()) == ([1, 2, 3, 0], [1, 1, 0, 1])


@settings(max_examples=50, deadline=None)
@given(seed=st.integers(0, 10**6), actions=st.integers(0, 1))
def test_decisions_are_those_of_least_expected_loss(seed: int, actions: int) -> None:
    X, y = rows(seed, 40)
    model = MultinomialNB().fit(X, y)
    n = len(model.classes_)
    loss = np.random.default_rng(seed).random((n + actions, n))
    names = [*model.classes_, "unsure"]
    expected = []
    for p in model.predict_proba(X):
        risks = [sum(p[c] * loss[a, c] for c in range(n)) for a in range(n + actions)]
        expected.append(names[risks.index(min(risks))])
    assert model.decide(X, loss, names[: n + actions]).tolist() == expected
    assert model.decide(X, 1 - np.eye(n)).tolist() == model.predict(X).tolist()


def test_actions_may_have_other_names_and_impossible_tables_are_refused() -> None:
    model = MultinomialNB().fit([[1, 0], [0, 1]], [7, 9])
    assert model.decide([[5, 0]], [[0, 1], [1, 0]]).tolist() == [7]
    assert model.decide([[5, 0]], [[3, 1], [1, 3]], ["brake", "drive"]).tolist() == ["drive"]
    with pytest.raises(ValueError, match=r"give 2 or 3 rows of 2 columns; a row is an action.* the transpose\?"):
        model.decide([[5, 0]], [[0, 1, 2], [1, 0, 2]])
    for loss, actions in (([0, 1], None), (np.ones((1, 2)), None), (np.ones((4, 2)), None), (np.eye(2), ["stop"])):
        with pytest.raises(ValueError, match=r"loss has the shape \(.*\): give "):
            model.decide([[1, 0]], loss, actions)
    with pytest.raises(ValueError, match="loss must hold finite numbers"):
        model.decide([[1, 0]], [[0, np.inf], [1, 0]])


@pytest.mark.parametrize("n", [-1, 1.5, "2"])
def test_a_number_of_rows_to_draw_is_whole(n: object) -> None:
    model = GaussianNB().fit([[1.0], [2.0], [3.0], [4.0]], [0, 0, 1, 1])
    with pytest.raises(ValueError, match=f"n is {n!r}: it must be a whole number, at least 0"):
        model.sample(n)
    with pytest.raises(ValueError, match="n is"):
        number_game().sample(n)


@pytest.mark.parametrize("n_components", [0, -1, "a"])
def test_a_number_of_directions_is_whole(n_components: object) -> None:
    model = LinearDiscriminantAnalysis(n_components=n_components).fit([[1.0], [2.0], [3.0], [4.0]], [0, 0, 1, 1])
    with pytest.raises(ValueError, match=r"n_components is .*: it must be a whole number, at least 1"):
        model.transform([[1.0]])


def test_a_loss_by_names_cannot_be_transposed() -> None:
    X, y = rows(11, 40)
    model = MultinomialNB().fit(X, y)
    table = np.array([[0, 2, 3], [4, 0, 5], [6, 7, 0], [1, 1, 1]])
    names = {"c": {"a": 6, "b": 7}, "a": {"b": 2, "c": 3}, "unsure": dict.fromkeys("abc", 1), "b": {"a": 4, "c": 5}}
    assert model.decide(X, names).tolist() == model.decide(X, table).tolist()
    assert model.loss_table(names) == model.loss_table(table)
    for wrong, message in (
        ({"a": {"b": 1}}, r"loss\['a'\] has no cost for the class 'c'"),
        ({"a": {"b": 1, "z": 1}}, "give a cost for each class"),
        ("fair", "loss is 'fair': give 'balanced'"),
    ):
        with pytest.raises(ValueError, match=message):
            model.decide(X, wrong)


@pytest.mark.parametrize("model", [MultinomialNB, BernoulliNB, GaussianNB, LinearDiscriminantAnalysis])
def test_predict_minimises_the_loss(model: Any) -> None:
    X, y = rows(12, 60)
    table = np.random.default_rng(1).random((3, 3))
    fitted = model(loss={a: dict(zip("abc", row)) for a, row in zip("abc", table.tolist())}).fit(X, y)
    assert fitted.predict(X).tolist() == fitted.decide(X, table, actions=["a", "b", "c"]).tolist()
    assert fitted.loss_table(table) == fitted.loss_table(table, actions=["a", "b", "c"])
    with pytest.raises(ValueError, match=r"of the action 'a' for 'b', or the other way round\? Name the actions"):
        model(loss=table).fit(X, y).predict(X)
    counts = fitted.class_count_
    balanced = model(loss="balanced").fit(X, y)
    expected = fitted.classes_[(fitted.predict_proba(X) / counts).argmax(axis=1)]
    assert balanced.predict(X).tolist() == expected.tolist()
    with pytest.raises(ValueError, match="predict needs the classes"):
        model(loss=np.ones((4, 3))).fit(X, y).predict(X)
