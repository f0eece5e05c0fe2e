"""Logistic regression against scikit-learn's, finite differences, and the texts' example of overfitting."""

import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.optimize import approx_fprime
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression as SklearnLogisticRegression

from spamnb.estimators.cross_entropy import CrossEntropy, ManyClassCrossEntropy
from spamnb.estimators.logistic import LogisticRegression


def data(seed: int, classes: int, n: int = 400, d: int = 6) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) * rng.uniform(0.5, 2, d)
    return X, (X @ rng.standard_normal((d, classes)) + 2 * rng.gumbel(size=(n, classes))).argmax(axis=1)


@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("weighted", [False, True])
def test_equals_the_twin(classes: int, C: float, weighted: bool) -> None:
    X, y = data(classes, classes)
    labels = np.array(["a", "b", "c", "d"])[y]
    weight = np.random.default_rng(0).uniform(0, 3, len(y)) if weighted else None
    ours = LogisticRegression(C, tol=1e-9).fit(X, labels, sample_weight=weight)
    twin = SklearnLogisticRegression(C=C, tol=1e-12, solver="newton-cholesky").fit(X, labels, sample_weight=weight)
    np.testing.assert_allclose(ours.coef_, twin.coef_, atol=1e-6)
    np.testing.assert_allclose(ours.intercept_, twin.intercept_, atol=1e-6)
    np.testing.assert_allclose(ours.predict_log_proba(X), twin.predict_log_proba(X), atol=1e-6)
    np.testing.assert_allclose(ours.decision_function(X), twin.decision_function(X), atol=1e-6)
    np.testing.assert_array_equal(ours.predict(X), twin.predict(X))


def cross_entropy(X: Any, y: np.ndarray, share: np.ndarray, penalty: float, classes: int) -> CrossEntropy:
    if classes == 2:
        return CrossEntropy(X, y, share, penalty)
    return ManyClassCrossEntropy(X, y, share, penalty, classes)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("form", [np.asarray, csr_array])
def test_default_tolerance_comes_as_near_the_minimum_as_the_twins(classes: int, form: Any) -> None:
    X, y = data(5, classes)
    ours, twin = LogisticRegression().fit(form(X), y), SklearnLogisticRegression().fit(X, y)
    error = cross_entropy(X, y, np.full(len(y), 1 / len(y)), 1 / len(y), classes)
    ours_error, twin_error = (
        error(np.column_stack([model.coef_, model.intercept_]).ravel())[0] for model in (ours, twin)
    )
    assert ours_error <= twin_error + 1e-8


@pytest.mark.parametrize("classes", [2, 3])
def test_sparse_rows_equal_dense_rows(classes: int) -> None:
    rng = np.random.default_rng(0)
    X = csr_array(rng.random((300, 50)) * (rng.random((300, 50)) < 0.1))
    y = np.random.default_rng(1).integers(0, classes, 300)
    sparse, dense = (LogisticRegression(tol=1e-10).fit(rows, y) for rows in (X, X.toarray()))
    np.testing.assert_allclose(sparse.coef_, dense.coef_, atol=1e-6)
    np.testing.assert_allclose(sparse.predict_proba(X), dense.predict_proba(X.toarray()), atol=1e-7)
    stepped = clone(sparse).partial_fit(X, y, classes=range(classes))
    np.testing.assert_allclose(
        stepped.coef_, clone(sparse).partial_fit(X.toarray(), y, classes=range(classes)).coef_, atol=1e-12
    )


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("form", [np.asarray, csr_array])
def test_derivatives_are_those_of_the_error(classes: int, form: Any) -> None:
    rng = np.random.default_rng(0)
    X, share, codes = form(rng.standard_normal((20, 3))), rng.dirichlet(np.ones(20)), rng.integers(0, classes, 20)
    error = cross_entropy(X, codes, share, 0.1, classes)
    w, v = rng.standard_normal((2, 4 * error.rows))
    numeric = approx_fprime(w, lambda at: error(at)[0], 1e-7)
    np.testing.assert_allclose(error(w)[1], numeric, atol=1e-6)
    difference = error(w + 1e-5 * v)[1] - error(w - 1e-5 * v)[1]
    np.testing.assert_allclose(error.curvature(w, v), difference / 2e-5, atol=1e-8)
    away = error.curvature(w + v, v)  # what is kept of w does not stay when w moves
    assert np.abs(away - error.curvature(w, v)).max() > 1e-4


def test_a_step_is_the_texts_step() -> None:
    """w ← w − η (y_n − t_n) φ_n from w = 0, where y_n = ½, without a penalty to speak of."""
    x = np.array([[0.3, -0.2]])
    model = LogisticRegression(C=1e12, learning_rate=0.1).partial_fit(x, [1], classes=[0, 1])
    eta = 0.1 * 4 / (1 + 0.3**2 + 0.2**2)
    np.testing.assert_allclose(model.coef_, -eta * (0.5 - 1) * x, rtol=1e-9)
    np.testing.assert_allclose(model.intercept_, [eta / 2], rtol=1e-9)


@settings(max_examples=60, deadline=None)
@given(
    x=arrays(float, 4, elements=st.floats(-1e4, 1e4)),
    start=arrays(float, (3, 5), elements=st.floats(-5, 5)),
    label=st.integers(0, 2),
    classes=st.sampled_from([2, 3]),
)
def test_no_step_makes_the_error_on_its_row_larger(x, start, label, classes) -> None:
    label = min(label, classes - 1)
    model = LogisticRegression(C=1e12, learning_rate=1e6)
    model.partial_fit(np.zeros((1, 4)), [0], classes=range(classes))
    rows = 1 if classes == 2 else 3
    model.coef_, model.intercept_ = start[:rows, :4].copy(), start[:rows, 4].copy()
    before = -model.predict_log_proba(x[None])[0, label]
    after = -model.partial_fit(x[None], [label]).predict_log_proba(x[None])[0, label]
    assert after <= before * (1 + 1e-9) + 1e-9


def test_separable_data_do_not_diverge() -> None:
    """The texts' example of overfitting: one feature, two classes apart. The likelihood alone has no maximum."""
    X = np.array([-3.0, -2.0, -1.5, 1.5, 2.0, 3.0])[:, None]
    y = (X[:, 0] > 0).astype(int)
    slopes = []
    for C in (1.0, 1e2, 1e4, 1e6, 1e8):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            model = LogisticRegression(C, tol=1e-12).fit(X, y)
        slopes.append(model.coef_[0, 0])
        assert abs(model.intercept_[0]) < 1e-6 * slopes[-1]
    # A hundredfold C adds about ln(100)/1.5 to the slope, as the nearest rows' ln(C): no divergence.
    assert np.all(np.diff(slopes) > 0) and np.diff(slopes).max() < 4
    model = LogisticRegression()
    for _ in range(2000):
        model.partial_fit(X, y, classes=[0, 1])
    assert 0 < model.coef_[0, 0] < 10
    assert model.score(X, y) == 1
    huge = X * 1e150  # one step of w ← w − η∇E_n with a constant η would be beyond 1e150
    model = LogisticRegression().partial_fit(huge, y, classes=[0, 1])
    assert np.isfinite(model.predict_log_proba(huge)).all()


def test_steps_come_near_the_batch_solution() -> None:
    X, y = data(7, 3, n=4000)
    batch = LogisticRegression().fit(X, y)
    stepped = LogisticRegression()
    for epoch in range(5):
        order = np.random.default_rng(epoch).permutation(len(y))
        stepped.partial_fit(X[order], y[order], classes=[0, 1, 2])
    loss, best = (-np.mean(model.predict_log_proba(X)[np.arange(len(y)), y]) for model in (stepped, batch))
    assert best <= loss < best + 0.05


def test_one_more_row_after_a_batch() -> None:
    X, y = data(8, 2)
    model = LogisticRegression().fit(X, y)
    before, coef = -model.predict_log_proba(X[:1])[0, y[0]], model.coef_.copy()
    model.partial_fit(X[:1], y[:1])
    assert -model.predict_log_proba(X[:1])[0, y[0]] < before
    assert np.abs(model.coef_ - coef).max() < 0.1  # a step among 400, not a new beginning
    assert model.n_seen_ == 401


def test_refusals() -> None:
    X, y = data(9, 2)
    for parameter in ("C", "tol", "learning_rate"):
        for value in (0, -1, np.inf, np.nan):
            with pytest.raises(ValueError, match=f"{parameter}="):
                LogisticRegression(**{parameter: value}).fit(X, y)
    with pytest.raises(ValueError, match="only one class"):
        LogisticRegression().fit(X, np.zeros(len(y)))
    with pytest.warns(RuntimeWarning, match="did not converge in 2 iterations"):
        LogisticRegression(max_iter=2).fit(X * [1, 10, 100, 1000, 1, 1], y)
    model = LogisticRegression().partial_fit(X, y, classes=[0, 1])
    with pytest.raises(ValueError, match="do not exist"):
        model.partial_fit(X[:1], [7])
    with pytest.raises(ValueError, match="classes must be passed"):
        LogisticRegression().partial_fit(X, y)
    with pytest.raises(ValueError, match="not fitted"):
        LogisticRegression().quadratic_form()


@pytest.mark.parametrize("classes", [2, 3])
def test_quadratic_form_is_the_score(classes: int) -> None:
    X, y = data(10, classes)
    model = LogisticRegression().fit(X, y)
    quadratic, linear, constant = model.quadratic_form()
    assert quadratic is None
    score = X @ linear.T + constant
    score -= np.log(np.exp(score).sum(axis=1, keepdims=True))
    np.testing.assert_allclose(score, model.predict_log_proba(X), atol=1e-12)


@pytest.mark.parametrize("container", [np.asarray, csr_array])
def test_columns_so_unlike_that_no_step_helps_are_told(container: Any) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 5))
    y = X[:, 1] + X[:, 3] > 0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        LogisticRegression(tol=1e-12).fit(container(X), y)
    with pytest.warns(RuntimeWarning, match="scale the columns of X to like sizes"):
        LogisticRegression().fit(container(X * [1e-6, 1, 1e3, 1e6, 1e9]), y)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("container", [np.asarray, csr_array])
def test_steps_weigh_as_their_rows_do(classes: int, container: Any) -> None:
    y = np.tile(np.arange(classes), 4000)
    weight = np.tile([1.0, 3.0, 0.5][:classes], 4000)
    X = container(np.ones((len(y), 1)))
    model = LogisticRegression(C=1e6, learning_rate=1).partial_fit(X, y, range(classes), weight)
    wanted = weight[:classes] / weight[:classes].sum()
    assert model.predict_proba(X[[0]])[0] == pytest.approx(wanted, abs=0.02)
    unheard = LogisticRegression().partial_fit(X, y, range(classes), np.where(y == 0, 1.0, 1e-6))
    assert unheard.predict_proba(X[[0]])[0, 0] > 0.95


def test_classes_are_named_once_and_for_all() -> None:
    X, y = data(1, 2)
    model = LogisticRegression()
    with pytest.raises(ValueError, match="classes must be passed on the first call"):
        model.partial_fit(X, y)
    model.partial_fit(X, y, classes=[1, 0]).partial_fit(X, y).partial_fit(X, y, classes=[0, 1])
    with pytest.raises(ValueError, match="is not the same as on last call to partial_fit"):
        model.partial_fit(X, y, classes=[0, 1, 2])


def test_weights_that_were_kept_make_the_same_model() -> None:
    X, y = np.random.default_rng(0).standard_normal((30, 3)), np.arange(30) % 3
    fitted = LogisticRegression().fit(X, y)
    again = LogisticRegression().set_weights(fitted.classes_, fitted.coef_, fitted.intercept_, fitted.n_seen_)
    np.testing.assert_array_equal(again.predict_proba(X), fitted.predict_proba(X))
    np.testing.assert_array_equal(again.partial_fit(X, y).coef_, fitted.partial_fit(X, y).coef_)
