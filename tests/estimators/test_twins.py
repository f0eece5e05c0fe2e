"""Bernoulli, multinomial and categorical naive Bayes equal scikit-learn's to 1e-10."""

from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.sparse import csc_array, csr_array, csr_matrix
from sklearn import naive_bayes as twin

from spamnb.estimators.discrete import BernoulliNB, CategoricalNB, MultinomialNB

CONTAINERS = [np.asarray, csr_array, csr_matrix, csc_array]


class Case(NamedTuple):
    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    weight: np.ndarray | None
    alpha: float
    fit_prior: bool


@st.composite
def cases(draw: st.DrawFn, whole: bool = False) -> Case:
    """Small counts with empty rows, columns that only the test rows hold, one class or several."""
    n, columns, classes = draw(st.integers(1, 12)), draw(st.integers(1, 8)), draw(st.integers(1, 4))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    density = draw(st.sampled_from([0.0, 0.1, 0.5, 1.0]))
    high = draw(st.sampled_from([2, 5, 1000]))

    def counts(rows: int, keep: float) -> np.ndarray:
        X = rng.integers(0, high, size=(rows, columns)) * (rng.random((rows, columns)) < keep)
        return X if whole or not fractions else X * 0.37

    fractions = draw(st.booleans())
    X = counts(n, density)
    X[:, rng.random(columns) < 0.2] = 0  # columns that training never sees
    weight = rng.integers(1, 4, size=n) * draw(st.sampled_from([0.3, 1.0])) if draw(st.booleans()) else None
    y = rng.integers(0, classes, size=n)
    alpha = draw(st.sampled_from([1e-9, 0.01, 1.0, 7.5]))
    return Case(X, y, counts(5, 0.5), weight, alpha, draw(st.booleans()))


def assert_twins(ours: Any, theirs: Any, case: Case, container: Any, tolerance: float = 1e-10) -> None:
    X, X_test = container(case.X), container(case.X_test)
    ours.fit(X, case.y, case.weight)
    theirs.fit(csr_matrix(X) if container is csc_array else X, case.y, case.weight)
    expected = theirs.predict_joint_log_proba(X_test)
    found = ours.predict_joint_log_proba(X_test)
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance)
    # Against the joint's size: where that is 1e6, a posterior's last digits are its rounding.
    scale = max(1.0, np.abs(expected[np.isfinite(expected)]).max(initial=0))
    np.testing.assert_allclose(
        ours.predict_log_proba(X_test), theirs.predict_log_proba(X_test), rtol=1e-10, atol=1e-10 * scale
    )
    np.testing.assert_allclose(ours.feature_log_prob_, theirs.feature_log_prob_, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(ours.feature_count_, theirs.feature_count_, rtol=1e-12)
    np.testing.assert_allclose(ours.class_log_prior_, theirs.class_log_prior_, rtol=1e-12, atol=1e-15)
    assert ours.class_count_.tolist() == pytest.approx(theirs.class_count_.tolist())
    assert (ours.classes_ == theirs.classes_).all()


def own_parameters(kind: Any, case: Case, flag: bool) -> dict[str, Any]:
    """Return the parameters besides the prior with which a model's twin is an oracle."""
    if kind is BernoulliNB:
        # scikit-learn computes log(1 − θ) as log(1 − exp(log θ)), which loses digits where θ is near 1: with
        # α = 1e-9 its own error exceeds the tolerance. Such cases are compared with exact arithmetic below.
        return {"alpha": max(case.alpha, 0.01), "binarize": float(flag)}
    return {"alpha": case.alpha}


@pytest.mark.parametrize("kind", [MultinomialNB, BernoulliNB])
@given(case=cases(), container=st.sampled_from(CONTAINERS), flag=st.booleans())
def test_equals_the_twin(kind: Any, case: Case, container: Any, flag: bool) -> None:
    arguments = {"fit_prior": case.fit_prior, **own_parameters(kind, case, flag)}
    assert_twins(kind(**arguments), getattr(twin, kind.__name__)(**arguments), case, container)


@given(cases(), st.sampled_from(CONTAINERS))
def test_boolean_multinomial_is_the_multinomial_of_presence(case: Case, container: Any) -> None:
    ours = MultinomialNB(alpha=case.alpha, binary=True).fit(container(case.X), case.y, case.weight)
    theirs = twin.MultinomialNB(alpha=case.alpha).fit(case.X != 0, case.y, case.weight)
    found = ours.predict_joint_log_proba(container(case.X_test))
    np.testing.assert_allclose(found, theirs.predict_joint_log_proba(case.X_test != 0), rtol=1e-10, atol=1e-10)


@given(cases(whole=True), st.sampled_from(CONTAINERS))
def test_bernoulli_equals_its_formula_where_the_twin_loses_digits(case: Case, container: Any) -> None:
    model = BernoulliNB(alpha=case.alpha).fit(container(case.X), case.y)
    x = case.X_test > 0
    for c, label in enumerate(model.classes_):
        rows = case.X[case.y == label] > 0
        n, N = len(rows), rows.sum(axis=0)
        terms = np.where(x, np.log(N + case.alpha), np.log(n - N + case.alpha)) - np.log(n + 2 * case.alpha)
        expected = np.log(n / len(case.y)) + terms.sum(axis=1)
        found = model.predict_joint_log_proba(container(case.X_test))[:, c]
        np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-10)


@given(cases(whole=True), st.booleans(), st.sampled_from(CONTAINERS))
def test_categorical(case: Case, with_minimum: bool, container: Any) -> None:
    least = np.maximum(case.X.max(axis=0), case.X_test.max(axis=0)) + 1
    assume(least.max() <= 100)
    arguments = {"alpha": case.alpha, "fit_prior": case.fit_prior, "min_categories": least + with_minimum}
    ours = CategoricalNB(**arguments).fit(container(case.X), case.y, case.weight)
    theirs = twin.CategoricalNB(**arguments).fit(case.X, case.y, case.weight)
    np.testing.assert_allclose(
        ours.predict_joint_log_proba(container(case.X_test)),
        theirs.predict_joint_log_proba(case.X_test),
        rtol=1e-10,
        atol=1e-10,
    )
    for mine, his in zip(ours.category_count_, theirs.category_count_, strict=True):
        np.testing.assert_allclose(mine, his)
