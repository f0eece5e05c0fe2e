"""Gaussian naive Bayes, LDA and QDA against scikit-learn, scipy's densities, and their own samples."""

import warnings
from typing import Any

import numpy as np
import pytest
from models import fresh, needs_scikit_learn
from scipy.stats import multivariate_normal, norm
from sklearn import datasets
from sklearn.covariance import OAS
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis as SklearnLDA
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis as SklearnQDA
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.naive_bayes import GaussianNB as SklearnGaussianNB

from spamnb.estimators.gaussian import GaussianNB, LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis


def data(seed: int, n: int = 300, d: int = 5, classes: int = 3, centre: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = np.concatenate([np.arange(classes).repeat(d + 3), rng.integers(0, classes, n - classes * (d + 3))])
    means = rng.standard_normal((classes, d))
    shapes = rng.standard_normal((classes, d, d))
    X = np.einsum("nij,nj->ni", shapes[y], rng.standard_normal((n, d))) + means[y] + centre
    return X, y


TWINS = [
    pytest.param(GaussianNB(), SklearnGaussianNB(), id="gaussian"),
    pytest.param(GaussianNB(1e-2), SklearnGaussianNB(var_smoothing=1e-2), id="gaussian-smoothed"),
    pytest.param(LinearDiscriminantAnalysis(None), SklearnLDA(), id="lda"),
    pytest.param(LinearDiscriminantAnalysis(0.3), SklearnLDA(solver="lsqr", shrinkage=0.3), id="lda-shrunk"),
    pytest.param(QuadraticDiscriminantAnalysis(None), SklearnQDA(), id="qda"),
    pytest.param(QuadraticDiscriminantAnalysis(0.3), SklearnQDA(solver="eigen", shrinkage=0.3), id="qda-shrunk"),
]
MODELS = [GaussianNB(), LinearDiscriminantAnalysis(), QuadraticDiscriminantAnalysis()]
by_name = pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)


@pytest.mark.parametrize(("ours", "twin"), TWINS)
@pytest.mark.parametrize("prior", [[0.3, 0.7], [0.2, 0.5, 0.3], None], ids=["two", "three", "learned"])
def test_equals_the_twin(ours: Any, twin: Any, prior: list[float] | None) -> None:
    classes = len(prior or "abc")
    ours, twin = fresh(ours), fresh(twin)
    if getattr(twin, "shrinkage", None) is None:  # beside one, scikit-learn's Σ depends on the priors
        ours.priors = twin.priors = prior
    X, y = data(classes, classes=classes)
    unseen = data(9, classes=classes)[0]
    names = np.array(["ham", "spam", "unsure"])[y]
    ours, twin = ours.fit(X, names), twin.fit(X, names)
    np.testing.assert_allclose(ours.predict_log_proba(unseen), twin.predict_log_proba(unseen), atol=1e-8, rtol=1e-8)
    np.testing.assert_array_equal(ours.predict(unseen), twin.predict(unseen))
    assert ours.score(unseen, names) == twin.score(unseen, names)
    if hasattr(twin, "predict_joint_log_proba"):
        expected = twin.predict_joint_log_proba(unseen)
        np.testing.assert_allclose(ours.predict_joint_log_proba(unseen), expected, atol=1e-8)
    if classes == 2 and hasattr(twin, "decision_function"):
        own, theirs = ours.decision_function(unseen), twin.decision_function(unseen)
        np.testing.assert_allclose(own, theirs, atol=1e-8, rtol=1e-8)
    if classes == 2 and isinstance(twin, SklearnLDA):
        np.testing.assert_allclose(ours.coef_, twin.coef_, atol=1e-8)
        np.testing.assert_allclose(ours.intercept_, twin.intercept_, atol=1e-8)


@by_name
def test_priors_and_class_prior_are_one_parameter(model: Any) -> None:
    X, y = data(2, classes=2)
    by_either = [fresh(model, **{name: [0.1, 0.9]}).fit(X, y) for name in ("priors", "class_prior")]
    assert (by_either[0].predict_proba(X) == by_either[1].predict_proba(X)).all()
    with pytest.raises(ValueError, match=r"^[A-Za-z]+: give priors or class_prior, which mean the same"):
        fresh(model, priors=[0.1, 0.9], class_prior="uniform").fit(X, y)
    with pytest.raises(ValueError, match="the class prior must be 2 probabilities"):
        fresh(model, priors=[1.0]).fit(X, y)


def test_joint_log_likelihood_is_the_density_scipy_computes() -> None:
    X, y = data(5)
    log_prior = np.log(np.bincount(y) / len(y))
    lda = LinearDiscriminantAnalysis(None).fit(X, y)
    residual = X - lda.means_[y]
    shared = residual.T @ residual / len(y)
    np.testing.assert_allclose(lda.covariance_, shared, rtol=1e-10)
    qda = QuadraticDiscriminantAnalysis(None).fit(X, y)
    naive = GaussianNB().fit(X, y)
    for c in range(3):
        own = np.cov(X[y == c].T, bias=True)
        np.testing.assert_allclose(qda.covariance_[c], own, rtol=1e-10)
        mean = X[y == c].mean(axis=0)
        for model, expected in (
            (lda, multivariate_normal(mean, shared).logpdf(X)),
            (qda, multivariate_normal(mean, own).logpdf(X)),
            (naive, norm(mean, np.sqrt(np.diag(own) + naive.epsilon_)).logpdf(X).sum(axis=1)),
        ):
            np.testing.assert_allclose(model.predict_joint_log_proba(X)[:, c], log_prior[c] + expected, rtol=1e-9)


@by_name
def test_batches_and_forgetting_are_sums(model: Any) -> None:
    X, y = data(7)
    expected = fresh(model).fit(X, y).predict_joint_log_proba(X)
    batches, singly = fresh(model), fresh(model)
    for i in range(0, 300, 100):
        batches.partial_fit(X[i : i + 100], y[i : i + 100], classes=[0, 1, 2])
    for i in range(300):
        singly.partial_fit(X[i : i + 1], y[i : i + 1], classes=[0, 1, 2])
    part = np.isin(y, [0, 2])
    halves = [fresh(model).partial_fit(X[half], y[half], classes=[0, 1, 2]).sums_ for half in (part, ~part)]
    joined = fresh(model).fit_sums(halves[0] + halves[1], [0, 1, 2])
    more, more_y = data(8)
    back = fresh(model).fit(X, y).partial_fit(more, more_y).forget(more, more_y)
    for other in (batches, singly, joined, back):
        np.testing.assert_allclose(other.predict_joint_log_proba(X), expected, rtol=1e-9, atol=1e-9)


@by_name
def test_a_mean_of_1e8_changes_no_posterior(model: Any) -> None:
    X, y = data(10)
    X = np.round(X * 1024) / 1024  # so that the shifted numbers are exact
    near, far, singly = fresh(model).fit(X, y), fresh(model).fit(X + 1e8, y), fresh(model)
    for i in range(len(X)):
        singly.partial_fit(X[i : i + 1] + 1e8, y[i : i + 1], classes=[0, 1, 2])
    for shifted in (far, singly):
        np.testing.assert_allclose(shifted.predict_log_proba(X + 1e8), near.predict_log_proba(X), atol=1e-4)


@by_name
def test_a_class_without_rows_is_never_predicted(model: Any) -> None:
    X, y = data(13)
    seen = y != 1
    for prior in (None, "uniform", "dirichlet"):
        fitted = fresh(model, class_prior=prior).partial_fit(X[seen], y[seen], classes=[0, 1, 2])
        assert np.all(fitted.predict_proba(X)[:, 1] == 0)
        assert not np.isnan(fitted.predict_log_proba(X)).any()


def test_oas_is_scikit_learns() -> None:
    X, y = data(15, n=60, d=10)
    lda = LinearDiscriminantAnalysis("oas").fit(X, y)
    residual = X - lda.means_[y]
    unit = residual.std(axis=0)
    twin = OAS(assume_centered=True).fit(residual / unit)
    np.testing.assert_allclose(lda.covariance_, twin.covariance_ * np.outer(unit, unit), rtol=1e-10)
    qda = QuadraticDiscriminantAnalysis("oas").fit(X, y)
    for c in range(3):
        twin = OAS().fit(X[y == c] / unit)
        np.testing.assert_allclose(qda.covariance_[c], twin.covariance_ * np.outer(unit, unit), rtol=1e-10)


@pytest.mark.parametrize("shrinkage", ["if_singular", "oas", None])
@pytest.mark.parametrize("kind", [LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis])
def test_the_units_of_the_columns_do_not_matter(kind: Any, shrinkage: Any) -> None:
    X, y = data(17, n=60, d=6)
    if shrinkage == "if_singular":
        X[:, 5] = X[:, 0] - X[:, 1]
    units = np.array([1e-6, 1, 1e5, 3, 1e-2, 40])
    expected = kind(shrinkage).fit(X, y).predict_log_proba(X)
    np.testing.assert_allclose(kind(shrinkage).fit(X * units, y).predict_log_proba(X * units), expected, atol=1e-6)


@needs_scikit_learn  # cross_val_score clones the models
@pytest.mark.parametrize("name", ["wine", "breast_cancer", "iris", "digits"])
def test_the_default_is_no_worse_than_scikit_learns(name: str) -> None:
    X, y = getattr(datasets, f"load_{name}")(return_X_y=True)
    folds = StratifiedKFold(10, shuffle=True, random_state=0)
    pairs: list[Any] = [(LinearDiscriminantAnalysis(), SklearnLDA()), (GaussianNB(), SklearnGaussianNB())]
    if name in ("wine", "iris"):  # in the others a covariance is singular, and scikit-learn raises an error
        pairs.append((QuadraticDiscriminantAnalysis(), SklearnQDA()))
    for ours, theirs in pairs:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # collinear columns
            least = cross_val_score(theirs, X, y, cv=folds).mean()
        assert cross_val_score(ours, X, y, cv=folds).mean() >= least - 1e-12
    assert cross_val_score(QuadraticDiscriminantAnalysis(), X, y, cv=folds).mean() > 0.95


def test_the_default_is_maximum_likelihood_unless_a_covariance_is_singular() -> None:
    X, y = data(19)
    for kind in (LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis):
        np.testing.assert_array_equal(kind().fit(X, y).covariance_, kind(None).fit(X, y).covariance_)
        few, labels = X[:6], np.arange(6) % 3
        np.testing.assert_array_equal(kind().fit(few, labels).covariance_, kind("oas").fit(few, labels).covariance_)


@by_name
def test_what_has_forgotten_everything_does_not_answer(model: Any) -> None:
    X, y = data(4)
    model = fresh(model, class_prior="dirichlet")
    expected = model.fit(X, y).predict_proba(X)
    with pytest.raises(ValueError, match="has forgotten all rows"):
        model.forget(X, y).predict(X)
    np.testing.assert_allclose(model.partial_fit(X, y).predict_proba(X), expected, atol=1e-12)


def test_singular_covariances_name_the_remedy() -> None:
    X, y = data(16)
    copied = np.column_stack([X, X[:, 0] + X[:, 1]])
    constant = np.column_stack([X, np.ones(len(X))])
    shared, own = LinearDiscriminantAnalysis(None), QuadraticDiscriminantAnalysis(None)
    for model, rows, labels, message in (
        (shared, copied, y, r"shared covariance .* 6 features is singular.*shrinkage="),
        (shared, constant, y, r"shared covariance .* singular"),
        (own, copied, y, r"covariance of class 0 .*shrinkage="),
        (own, X[:100], ["ham"] * 3 + ["spam"] * 97, "class ham from 3 samples in 5 features"),
        (GaussianNB(0), constant, np.arange(300) >= 104, r"False from 104 samples has 1 features of .*var_smoothing"),
        (GaussianNB(var_smoothing=float("nan")), X, y, "var_smoothing is nan"),
        (LinearDiscriminantAnalysis(1.5), X, y, "shrinkage=1.5: give .* a number from 0 to 1"),
        (QuadraticDiscriminantAnalysis("auto"), X, y, "shrinkage='auto': give 'if_singular'"),
        (GaussianNB(), np.ones((4, 3)), [0, 1, 0, 1], r"variance 0: give rows that differ$"),
        (LinearDiscriminantAnalysis(), np.ones((4, 3)), [0, 1, 0, 1], r"singular: give rows that differ$"),
    ):
        with pytest.raises(ValueError, match=message):
            model.fit(rows, labels)
    waiting = QuadraticDiscriminantAnalysis(None).partial_fit(X[:1], y[:1], classes=[0, 1, 2])
    with pytest.raises(ValueError, match="singular"):
        waiting.predict(X)
    np.testing.assert_allclose(
        waiting.partial_fit(X[1:], y[1:]).predict_log_proba(X),
        QuadraticDiscriminantAnalysis(None).fit(X, y).predict_log_proba(X),
        atol=1e-9,
    )
    for model in (LinearDiscriminantAnalysis(), QuadraticDiscriminantAnalysis(), fresh(shared, shrinkage=0.1)):
        assert np.isfinite(model.fit(copied, y).predict_log_proba(copied)).all()


@by_name
def test_refusals_leave_the_model_as_it_was(model: Any) -> None:
    X, y = data(3)
    fitted = fresh(model).fit(X, y)
    with pytest.raises(ValueError, match="were not learned"):
        fitted.forget(X[:1] + 1000, y[:1])
    with pytest.raises(ValueError, match="overflow: scale the columns of X"):
        fitted.partial_fit(X * 1e160, y)
    np.testing.assert_array_equal(fitted.predict_proba(X), fresh(model).fit(X, y).predict_proba(X))


@by_name
def test_quadratic_form_is_the_score(model: Any) -> None:
    X, y = data(18)
    fitted = fresh(model).fit(X, y)
    quadratic, linear, constant = fitted.quadratic_form()
    score = X @ linear.T + constant + np.einsum("ni,cij,nj->nc", X, quadratic, X)
    np.testing.assert_allclose(score, fitted.predict_joint_log_proba(X), rtol=1e-9, atol=1e-9)


@by_name
def test_rows_drawn_from_a_model_have_its_means_and_covariances(model: Any) -> None:
    X, y = data(4, n=200, d=3)
    fitted = fresh(model).fit(X, y)
    drawn, labels = fitted.sample(60_000, random_state=1)
    for c in range(3):
        rows, shares = drawn[labels == c], (np.mean(labels == c), np.mean(y == c))
        assert shares[0] == pytest.approx(shares[1], abs=0.01)
        np.testing.assert_allclose(rows.mean(axis=0), fitted.means_[c], atol=0.06)
        covariance = fitted._get_gaussians().covariance[0 if isinstance(model, LinearDiscriminantAnalysis) else c]
        expected = np.diag(covariance) if covariance.ndim == 1 else covariance
        np.testing.assert_allclose(np.cov(rows.T, bias=True), expected, atol=0.04 * np.abs(expected).max())


@needs_scikit_learn
def test_projections_are_the_data_frames_of_scikit_learn() -> None:
    pandas = pytest.importorskip("pandas")
    X, y = data(1)
    table = pandas.DataFrame(X, index=[f"row {n}" for n in range(len(X))], columns=list("abcde"))
    ours, theirs = (
        fresh(model.set_output(transform="pandas")).fit(table, y).transform(table)
        for model in (LinearDiscriminantAnalysis(None), SklearnLDA())
    )
    assert ours.columns.equals(theirs.columns) and ours.index.equals(theirs.index)
    np.testing.assert_allclose(abs(ours / ours.std()), abs(theirs / theirs.std()), rtol=1e-6)


def test_directions_are_numbered() -> None:
    X, y = data(1)
    one = LinearDiscriminantAnalysis(n_components=1)
    assert one.fit_transform(X, y).shape == (300, 1)
    assert one.get_feature_names_out().tolist() == ["lineardiscriminantanalysis0"]


def test_the_discriminants_are_scikit_learns_up_to_sign_and_scale() -> None:
    X, y = data(6, classes=4)
    ours, theirs = LinearDiscriminantAnalysis(None, n_components=2).fit_transform(X, y), SklearnLDA(n_components=2)
    expected = theirs.fit(X, y).transform(X)
    scale = np.sum(ours * expected, axis=0) / np.sum(expected * expected, axis=0)
    np.testing.assert_allclose(ours, expected * scale, atol=1e-9)
    assert LinearDiscriminantAnalysis().fit(X, y).transform(X).shape == (len(X), 3)
    residual = ours - np.stack([ours[y == c].mean(axis=0) for c in range(4)])[y]
    np.testing.assert_allclose(residual.T @ residual / len(X), np.eye(2), atol=1e-9)


def test_linear_scores_are_those_of_the_densities() -> None:
    X, y = data(7, classes=4)
    model = LinearDiscriminantAnalysis().fit(X, y)
    joint = model.predict_joint_log_proba(X)
    expected = joint - np.logaddexp.reduce(joint, axis=1, keepdims=True)
    np.testing.assert_allclose(model.predict_log_proba(X), expected, atol=1e-9)


@by_name
def test_a_column_that_is_not_known_is_integrated_out(model: Any) -> None:
    X, y = data(21)
    fitted = fresh(model, allow_nan=True).fit(X, y)
    unseen = data(22)[0][:12]
    unseen[:4, 1], unseen[4:8, [0, 3]], unseen[8] = np.nan, np.nan, np.nan
    joint = fitted.predict_joint_log_proba(unseen)
    gaussians = fitted._get_gaussians()
    for row, scores in zip(unseen, joint):
        known = ~np.isnan(row)
        for c in range(3):
            covariance = gaussians.covariance[c]
            covariance = (np.diag(covariance) if covariance.ndim == 1 else covariance)[np.ix_(known, known)]
            density = (
                multivariate_normal(gaussians.mean[c][known], covariance).logpdf(row[known]) if known.any() else 0.0
            )
            np.testing.assert_allclose(scores[c], np.log(fitted.class_prior_[c]) + density, rtol=1e-9)
    p = fitted.predict_proba(unseen)
    np.testing.assert_allclose(p, np.exp(joint) / np.exp(joint).sum(axis=1, keepdims=True), rtol=1e-8)
    np.testing.assert_allclose(p[8], fitted.class_prior_)
    with pytest.raises(ValueError, match="Input X contains NaN"):
        fresh(model).fit(X, y).predict(unseen)
    with pytest.raises(ValueError, match="Input X contains NaN"):
        fresh(model, allow_nan=True).fit(unseen, np.arange(12) % 3)


@by_name
def test_values_that_are_not_known_are_restored_by_their_expectation(model: Any) -> None:
    X, y = data(23, d=3)
    fitted = fresh(model).fit(X, y)
    row = np.array([[0.3, np.nan, -0.5]])
    values = np.linspace(-60, 60, 200_001)
    rows = np.tile(row, (len(values), 1))
    rows[:, 1] = values
    density = np.exp(fitted.score_samples(rows))  # of the third value, up to a factor
    expected = (density * values).sum() / density.sum()
    restored = fitted.restore(np.vstack([row, X[:1]]))
    np.testing.assert_allclose(restored[0], [0.3, expected, -0.5], atol=1e-6)
    np.testing.assert_array_equal(restored[1], X[0])


@by_name
def test_the_likelihood_is_the_product_of_the_densities(model: Any) -> None:
    X, y = data(24, d=3)
    fitted = fresh(model).fit(X, y)
    joint = fitted.predict_joint_log_proba(X)
    assert fitted.log_likelihood(X, y) == pytest.approx(joint[np.arange(len(y)), y].sum())
    np.testing.assert_allclose(fitted.score_samples(X), np.log(np.exp(joint).sum(axis=1)), rtol=1e-9)
    assert fitted.log_likelihood(X, y) >= fitted.with_class_prior("uniform").log_likelihood(X, y)


@by_name
def test_another_prior_changes_the_posterior_by_bayes_rule(model: Any) -> None:
    X, y = data(25)
    fitted = fresh(model).fit(X, y)
    prior = np.array([0.7, 0.2, 0.1])
    other = fitted.with_class_prior(prior)
    weighted = fitted.predict_proba(X) * prior / fitted.class_prior_
    np.testing.assert_allclose(other.predict_proba(X), weighted / weighted.sum(axis=1, keepdims=True), rtol=1e-6)
    np.testing.assert_allclose(other.priors_, prior)
    assert fitted.class_prior is None
