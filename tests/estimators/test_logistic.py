"""Logistic regression against scikit-learn's, finite differences, and the texts' example of overfitting."""

import warnings
from typing import Any

import numpy as np
import pytest
from scipy.optimize import approx_fprime
from scipy.sparse import csr_array
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression as SklearnLogisticRegression
from sklearn.linear_model import SGDClassifier

from spamnb.estimators.logistic import LogisticRegression
from spamnb.model.cross_entropy import CrossEntropy

by_form = pytest.mark.parametrize("form", [np.asarray, csr_array])


def data(seed: int, classes: int, n: int = 400, d: int = 6) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) * rng.uniform(0.5, 2, d)
    return X, (X @ rng.standard_normal((d, classes)) + 2 * rng.gumbel(size=(n, classes))).argmax(axis=1)


@by_form
@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("weighted", [False, True])
def test_equals_the_twin(form: Any, classes: int, C: float, weighted: bool) -> None:
    X, y = data(classes, classes)
    labels = np.array(["a", "b", "c", "d"])[y]
    weight = np.random.default_rng(0).uniform(0, 3, len(y)) if weighted else None
    ours = LogisticRegression(C, tol=1e-9).fit(form(X), labels, sample_weight=weight)
    twin = SklearnLogisticRegression(C=C, tol=1e-12, solver="newton-cholesky").fit(X, labels, sample_weight=weight)
    np.testing.assert_allclose(ours.coef_, twin.coef_, atol=1e-6)
    np.testing.assert_allclose(ours.intercept_, twin.intercept_, atol=1e-6)
    np.testing.assert_allclose(ours.predict_log_proba(form(X)), twin.predict_log_proba(X), atol=1e-6)
    np.testing.assert_allclose(ours.decision_function(form(X)), twin.decision_function(X), atol=1e-6)
    np.testing.assert_array_equal(ours.predict(X), twin.predict(X))


@by_form
@pytest.mark.parametrize("classes", [2, 3])
def test_derivatives_are_those_of_the_error(classes: int, form: Any) -> None:
    rng = np.random.default_rng(0)
    X, share, codes = form(rng.standard_normal((20, 3))), rng.dirichlet(np.ones(20)), rng.integers(0, classes, 20)
    error = CrossEntropy(X, codes, share, 0.1, classes)
    w, v = rng.standard_normal((2, 4 * error.n_activations))
    numeric = approx_fprime(w, lambda at: error(at)[0], 1e-7)
    np.testing.assert_allclose(error(w)[1], numeric, atol=1e-6)
    difference = error(w + 1e-5 * v)[1] - error(w - 1e-5 * v)[1]
    np.testing.assert_allclose(error.curvature(w, v), difference / 2e-5, atol=1e-8)
    away = error.curvature(w + v, v)  # what is kept of w does not stay when w moves
    assert np.abs(away - error.curvature(w, v)).max() > 1e-4


def test_separable_data_do_not_diverge() -> None:
    """The texts' example of overfitting: one feature, two classes apart. The likelihood alone has no maximum."""
    X = np.array([-3.0, -2.0, -1.5, 1.5, 2.0, 3.0])[:, None]
    slopes = []
    for C in (1.0, 1e2, 1e4, 1e6, 1e8):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            model = LogisticRegression(C, tol=1e-12).fit(X, X[:, 0] > 0)
        slopes.append(model.coef_[0, 0])
        assert abs(model.intercept_[0]) < 1e-6 * slopes[-1]
    # A hundredfold C adds about ln(100)/1.5 to the slope, as the nearest rows' ln(C): no divergence.
    assert np.all(np.diff(slopes) > 0) and np.diff(slopes).max() < 4


def test_refusals() -> None:
    X, y = data(9, 2)
    for parameter in ("C", "tol", "max_iter"):
        for value in (0, -1, np.nan, *([] if parameter == "C" else [np.inf])):
            with pytest.raises(ValueError, match=f"^LogisticRegression: {parameter} is"):
                LogisticRegression(**{parameter: value}).fit(X, y)
    with pytest.raises(ValueError, match="only one class"):
        LogisticRegression().fit(X, np.zeros(len(y)))
    with pytest.warns(RuntimeWarning, match="did not converge in 2 iterations: raise max_iter, or scale"):
        LogisticRegression(max_iter=2).fit(X * [1, 10, 100, 1000, 1, 1], y)
    with pytest.warns(RuntimeWarning, match=r"in \d+ iterations: scale the columns of X to mean 0 and variance 1$"):
        LogisticRegression().fit(X * [1e-6, 10, 1e8, 1000, 1, 1], y)  # more iterations change nothing


def test_without_a_penalty_it_is_scikit_learns_and_warns_where_rows_are_separable() -> None:
    X, y = data(3, 2)
    y = np.where(np.random.default_rng(0).random(len(y)) < 0.2, y[0], y)  # no plane separates these
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ours = LogisticRegression(np.inf, tol=1e-9).fit(X, y)
    theirs = SklearnLogisticRegression(C=np.inf, tol=1e-9, solver="newton-cholesky").fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-5)
    with pytest.warns(RuntimeWarning, match="the classes are linearly separable, so without a penalty"):
        LogisticRegression(np.inf).fit([[-1.0], [1.0], [2.0]], [0, 1, 1])
    with pytest.warns(RuntimeWarning, match="linearly separable"):
        LogisticRegression(np.inf).fit(np.eye(3), [0, 1, 2])


@pytest.mark.parametrize("form", [np.asarray, csr_array])
def test_single_steps_are_those_of_scikit_learns_stochastic_gradient(form: Any) -> None:
    X, y = data(4, 2)
    twin = SGDClassifier(loss="log_loss", alpha=0, learning_rate="constant", eta0=0.05, shuffle=False)
    ours = LogisticRegression(eta=0.05, shuffle=False)
    for part in (slice(0, 20), slice(20, None)):
        weight = np.random.default_rng(5).random(len(y[part]))
        twin.partial_fit(X[part], y[part], classes=np.unique(y), sample_weight=weight)
        ours.partial_fit(form(X[part]), y[part], classes=np.unique(y), sample_weight=weight)
    # scikit-learn's step of an intercept is 1 for dense rows and .01 for sparse ones; ours is 1.
    np.testing.assert_allclose(ours.coef_, twin.coef_, rtol=1e-10)
    np.testing.assert_allclose(ours.intercept_, twin.intercept_, rtol=1e-10)


def test_rows_sorted_by_class_are_learned_in_a_random_order() -> None:
    X, y = load_digits(return_X_y=True)
    X, order = X / 16, np.argsort(y, kind="stable")
    model = LogisticRegression().partial_fit(X[order], y[order], classes=np.arange(10))
    assert model.score(X, y) > 0.9
    sorted_rows = LogisticRegression(shuffle=False).partial_fit(X[order], y[order], classes=np.arange(10))
    assert sorted_rows.score(X, y) < 0.8
    again = LogisticRegression().partial_fit(X[order], y[order], classes=np.arange(10))
    np.testing.assert_array_equal(again.coef_, model.coef_)


def test_a_step_goes_down_the_gradient_of_its_row() -> None:
    X, y = data(6, 3)
    model = LogisticRegression(eta=0.25, shuffle=False).partial_fit(X[:30], y[:30], classes=np.unique(y))
    before = np.column_stack([model.coef_, model.intercept_])
    error = CrossEntropy(X[30:31], np.searchsorted(model.classes_, y[30:31]), np.ones(1), 0.0, 3)
    model.partial_fit(X[30:31], y[30:31])
    after = np.column_stack([model.coef_, model.intercept_])
    np.testing.assert_allclose(after, before - 0.25 * error(before.ravel())[1].reshape(before.shape), atol=1e-14)
    with pytest.raises(ValueError, match="is not the same as on last call to partial_fit"):
        model.partial_fit(X, y, classes=[0, 1])
    with pytest.raises(ValueError, match="classes must be passed on the first call"):
        LogisticRegression().partial_fit(X, y)


def test_a_model_with_given_weights_has_the_error_of_its_formula() -> None:
    X, y = data(5, 3)
    rng = np.random.default_rng(1)
    coef, intercept, weight = rng.standard_normal((3, 6)), rng.standard_normal(3), rng.random(len(y))
    model = LogisticRegression.of_weights(coef, intercept, [0, 1, 2], C=2.0)
    activation = X @ coef.T + intercept
    log_p = activation - np.logaddexp.reduce(activation, axis=1, keepdims=True)
    error, gradient = model.error(X, y, weight)
    assert error == pytest.approx(-weight @ log_p[np.arange(len(y)), y] + (coef**2).sum() / 4)
    assert gradient.shape == (3, 7)
    best = LogisticRegression(C=2.0, tol=1e-10).fit(X, y)
    assert np.abs(best.error(X, y)[1]).max() < 1e-6
    assert best.error(X, y)[0] < model.error(X, y)[0]
    for wrong in (
        lambda: LogisticRegression.of_weights([[1.0]], [0.0], [0, 1, 2]),
        lambda: best.of_weights([1.0], 0.0, [0]),
    ):
        with pytest.raises(ValueError, match="coef has 1 rows for"):
            wrong()


@by_form
def test_without_an_intercept_it_is_scikit_learns(form: Any) -> None:
    X, y = data(7, 2)
    ours = LogisticRegression(fit_intercept=False, tol=1e-9).fit(form(X), y)
    theirs = SklearnLogisticRegression(fit_intercept=False, tol=1e-12, solver="newton-cholesky").fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-6)
    assert ours.intercept_.tolist() == [0.0]
    assert ours.partial_fit(form(X), y).intercept_.tolist() == [0.0]


def test_a_balanced_loss_finds_the_rare_class() -> None:
    X, y = data(8, 2)
    X, y = X[np.argsort(y)], np.sort(y)
    keep = np.r_[0 : (y == 0).sum(), (y == 0).sum() : (y == 0).sum() + 12]
    model = LogisticRegression(loss="balanced").fit(X[keep], y[keep])
    recall, plain = (model.predict(X[y == 1]) == 1).mean(), LogisticRegression().fit(X[keep], y[keep])
    assert recall > (plain.predict(X[y == 1]) == 1).mean() + 0.2
    p = model.predict_proba(X)
    np.testing.assert_array_equal(model.predict(X), (p[:, 1] / model.class_count_[1] > p[:, 0] / model.class_count_[0]))
