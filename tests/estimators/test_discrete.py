"""The discrete event models where scikit-learn's are no oracle; their docstrings have the textbook's example."""

import warnings
from typing import Any

import numpy as np
import pytest
from models import fresh
from scipy.sparse import csr_array
from scipy.stats import multinomial
from sklearn import naive_bayes as sklearns
from sklearn.feature_selection import SelectKBest, mutual_info_classif

from spamnb.estimators.discrete import BernoulliNB, CategoricalNB, ComplementNB, MultinomialNB, mutual_information


@pytest.mark.parametrize("container", [np.asarray, csr_array])
def test_threshold(container: Any) -> None:
    X, y = np.array([[0.2, 3.0], [1.5, -4.0]]), [0, 1]
    assert BernoulliNB(binarize=1.0).fit(container(X), y).feature_count_.tolist() == [[0, 1], [1, 0]]
    assert BernoulliNB().fit(container(X), y).feature_count_.tolist() == [[1, 1], [1, 0]]
    for threshold in (-1, float("nan"), None):
        with pytest.raises(ValueError, match=r"binarize is .* it must be a finite number, at least 0"):
            BernoulliNB(binarize=threshold).fit(container(X), y)


def test_weights_that_exceed_their_total_by_rounding() -> None:
    # 0.1 + 0.2 > 0.3: what is left over must not be below zero.
    model = BernoulliNB(alpha=1e-20).fit([[1], [1]], [0, 0], sample_weight=[0.1, 0.2])
    object.__setattr__(model.sums_, "documents", np.array([0.3]))
    scores = model.fit_sums(model.sums_, model.classes_).predict_joint_log_proba([[1], [0]])[:, 0]
    assert scores[0] - scores[1] == pytest.approx(np.log(0.3) - np.log(1e-20))


def test_errors_of_categories_say_what_to_do() -> None:
    model = CategoricalNB().fit([[0, 1], [1, 0]], [0, 1])
    for number in (2**31, 2**63 - 1, 1e200, np.uint64(2**63 + 5)):
        for ask in (model.predict, lambda X: CategoricalNB().fit(X, [0])):
            with pytest.raises(ValueError, match=r"at most .* number the categories of each column from 0 on"):
                ask(np.array([[0, number]]))
    with pytest.raises(ValueError, match="at most 2147483647, but X has 2147483648: "):
        model.predict([[0, 2**31]])
    for ask in (model.predict, lambda X: model.partial_fit(X, [0])):
        with pytest.raises(ValueError, match="column 1 holds category 2, but the first rows had none above 1"):
            ask([[0, 2]])
    with pytest.raises(ValueError, match="different categories"):
        model.sums_ + CategoricalNB().fit([[0, 2]], [0]).sums_
    with pytest.raises(ValueError, match="Negative values"):
        model.predict(csr_array([[0, -1]]))
    for least in (0, 1.5, [1, 2, 3]):
        with pytest.raises(ValueError, match=r"min_categories is .*: give a whole number above 0, or 2 of them"):
            CategoricalNB(min_categories=least).fit([[0, 1], [1, 0]], [0, 1])


@pytest.mark.parametrize("labels", [[0, 1], [3, 7], ["ham", "spam"]])
def test_mutual_information_of_rows_is_that_of_scikit_learn(labels: list[Any]) -> None:
    rng = np.random.default_rng(0)
    y = np.array(labels)[rng.integers(0, 2, 200)]
    X = rng.poisson(np.where((y == labels[0])[:, None], [0.2, 1.0, 0.7], [1.5, 1.0, 0.5]))
    expected = mutual_info_classif(X > 0, y, discrete_features=True) / np.log(2)
    for rows in (X, csr_array(X)):
        np.testing.assert_allclose(mutual_information(rows, y, alpha=0), expected, atol=1e-14)
    assert SelectKBest(mutual_information, k=1).fit(X, y).get_support().tolist() == [True, False, False]
    with pytest.raises(ValueError, match="alpha must be a finite number, at least 0"):
        mutual_information(X, y, alpha=-1)


def likelihoods(name: str, rows: np.ndarray, x: np.ndarray) -> float:
    """P(x|c) by the shares of a class's rows, column by column."""
    if name == "MultinomialNB":
        return float(np.prod((rows.sum(axis=0) / rows.sum()) ** x))
    held = (rows > 0) == (x > 0) if name == "BernoulliNB" else rows == x
    return float(np.prod(held.mean(axis=0)))


@pytest.mark.parametrize("model", [MultinomialNB, BernoulliNB, CategoricalNB])
def test_without_smoothing_estimates_are_shares_of_the_rows(model: Any) -> None:
    X, y = np.array([[1, 0, 2], [1, 0, 0], [0, 3, 1], [1, 1, 0], [1, 2, 0]]), np.array([0, 0, 1, 1, 1])
    asked = np.array([[1, 0, 0], [1, 1, 0], [0, 1, 1], [0, 0, 1], [0, 3, 0], [1, 0, 2]])
    with pytest.warns(UserWarning, match="alpha=0 gives some rows the probability 0"):
        fitted = model(alpha=0).fit(X, y)
    expected = np.array([[likelihoods(model.__name__, X[y == c], x) * (y == c).mean() for c in (0, 1)] for x in asked])
    np.testing.assert_allclose(np.exp(fitted.predict_joint_log_proba(asked)), expected, rtol=1e-12)
    with np.errstate(invalid="ignore"):
        np.testing.assert_allclose(fitted.predict_proba(asked), expected / expected.sum(axis=1, keepdims=True))
    if model is not CategoricalNB:
        scores = fitted.predict_joint_log_proba(csr_array(asked))
        np.testing.assert_array_equal(scores, fitted.predict_joint_log_proba(asked))
    with pytest.warns(UserWarning, match="alpha=0"):
        fitted.partial_fit(X[:, ::-1] % 2, y).forget(X[:, ::-1] % 2, y)
    np.testing.assert_allclose(np.exp(fitted.predict_joint_log_proba(asked)), expected, rtol=1e-12)


def test_a_class_without_rows_is_impossible_without_smoothing() -> None:
    model = BernoulliNB(alpha=0, class_prior="uniform")
    with pytest.warns(UserWarning, match="alpha=0"):
        fitted = model.partial_fit([[1], [0]], ["a", "a"], classes=["a", "b"])
    assert fitted.predict_proba([[1], [0]]).tolist() == [[1.0, 0.0], [1.0, 0.0]]


def test_a_pseudo_count_for_each_column() -> None:
    rng = np.random.default_rng(1)
    X, y, alpha = rng.integers(0, 3, (40, 3)), rng.integers(0, 3, 40), [0.1, 2, 5]
    ours, theirs = MultinomialNB(alpha=alpha).fit(X, y), sklearns.MultinomialNB(alpha=alpha).fit(X, y)
    np.testing.assert_allclose(ours.predict_log_proba(X), theirs.predict_log_proba(X), atol=1e-12)
    for model in (BernoulliNB, CategoricalNB):  # whose columns are independent
        both = model(alpha=alpha).fit(X, y)
        for j, one in enumerate(model(alpha=each).fit(X, y) for each in alpha):
            column = (slice(None), j) if model is BernoulliNB else j
            np.testing.assert_allclose(both.feature_log_prob_[column], one.feature_log_prob_[column])


@pytest.mark.parametrize("model", [MultinomialNB(), BernoulliNB(), CategoricalNB(), MultinomialNB(binary=True)])
def test_rows_drawn_from_a_model_have_its_probabilities(model: Any) -> None:
    rng = np.random.default_rng(2)
    y = np.array(["a", "b"])[rng.integers(0, 2, 60)]
    X = rng.integers(0, 3, (60, 4)) * ((y == "a")[:, None] | [1, 0, 1, 0])
    fitted = model.fit(X, y)
    drawn, labels = fitted.sample(20_000, random_state=0)
    np.testing.assert_array_equal(drawn, fitted.sample(20_000, random_state=0)[0])
    assert (labels == "a").mean() == pytest.approx((y == "a").mean(), abs=0.015)
    again = fresh(model).fit(drawn, labels)
    for theirs, ours in zip(again.feature_log_prob_, fitted.feature_log_prob_):
        if not getattr(model, "binary", False):  # a word drawn twice counts once, so shares are others
            np.testing.assert_allclose(np.exp(theirs), np.exp(ours), atol=0.02)
    assert again.score(X, y) == pytest.approx(fitted.score(X, y), abs=0.06)


@pytest.mark.parametrize("model", [BernoulliNB(allow_nan=True), CategoricalNB(allow_nan=True)])
@pytest.mark.parametrize("alpha", [0, 0.5])
def test_a_column_that_is_not_known_is_summed_over(model: Any, alpha: float) -> None:
    rng = np.random.default_rng(3)
    X, y = rng.integers(0, 2, (30, 3)), rng.integers(0, 3, 30)
    X[y == 0, 2] = 1
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of alpha=0
        fitted = fresh(model, alpha=alpha).fit(X, y)
    for row in ([1, np.nan, 0], [np.nan, np.nan, 1], [np.nan, 0, np.nan], [np.nan] * 3, [0, 1, 1]):
        known = ~np.isnan(row)
        full = np.array(np.meshgrid([0, 1], [0, 1], [0, 1])).reshape(3, -1).T
        full = full[(full == row)[:, known].all(axis=1)]
        expected = np.exp(fitted.predict_joint_log_proba(full)).sum(axis=0)
        for form in (np.array([row]), csr_array(np.array([row]))):
            np.testing.assert_allclose(
                np.exp(fitted.predict_joint_log_proba(form))[0], expected, rtol=1e-12, atol=1e-300
            )
    with pytest.raises(ValueError, match="Input X contains NaN"):
        fresh(model, allow_nan=False).fit(X, y).predict([[np.nan, 0, 0]])


def test_the_probability_of_counts_has_the_multinomial_coefficient() -> None:
    X, y = np.array([[2, 0, 1], [1, 1, 0], [0, 3, 1], [0, 2, 2]]), np.array([0, 0, 1, 1])
    model = MultinomialNB().fit(X, y)
    expected = [multinomial.logpmf(X, X.sum(axis=1), np.exp(row)) + np.log(0.5) for row in model.feature_log_prob_]
    for rows in (X, csr_array(X)):
        np.testing.assert_allclose(model.score_samples(rows), np.logaddexp(*expected), rtol=1e-12)
        assert model.log_likelihood(rows, y) == pytest.approx(sum(np.array(expected)[y, np.arange(4)]))


@pytest.mark.parametrize("norm", [False, True])
def test_complement_naive_bayes_is_scikit_learns(norm: bool) -> None:
    rng = np.random.default_rng(4)
    X, y = rng.integers(0, 4, (40, 6)), rng.choice(["a", "b", "c"], 40, p=[0.7, 0.2, 0.1])
    ours, theirs = ComplementNB(alpha=0.3, norm=norm).fit(X, y), sklearns.ComplementNB(alpha=0.3, norm=norm).fit(X, y)
    np.testing.assert_allclose(ours.predict_log_proba(csr_array(X)), theirs.predict_log_proba(X), rtol=1e-10)
    np.testing.assert_allclose(ours.feature_log_prob_, theirs.feature_log_prob_, rtol=1e-10)
    more = ours.partial_fit(X[:5], y[:5]).forget(X[:5], y[:5])
    np.testing.assert_allclose(more.feature_log_prob_, theirs.feature_log_prob_, rtol=1e-10)


def test_categories_that_are_numbered_from_one_on_get_a_hint() -> None:
    X = np.array([[1, 2], [2, 1], [3, 1]])
    with pytest.warns(UserWarning, match=r"no row has the category 0.* give X - 1"):
        CategoricalNB().fit(X, [0, 0, 1])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        CategoricalNB(min_categories=4).fit(X, [0, 0, 1])
        CategoricalNB().fit(X - 1, [0, 0, 1])


def test_a_column_that_never_occurs_has_no_information() -> None:
    X, y = np.array([[0, 1], [0, 1], [0, 0], [0, 1]]), [0, 0, 1, 1]
    assert mutual_information(X, y)[0] == 0 < mutual_information(X, y)[1]


@pytest.mark.parametrize(
    ("act", "message"),
    [
        (lambda: MultinomialNB().fit(["lunch", "pills"], ["ham", "spam"]), r"X has texts.* MailVectorizer\(\)"),
        (lambda: MultinomialNB(fit_prior="no").fit([[1]], [0]), "fit_prior is 'no': give True or False"),
    ],
)
def test_errors_say_what_to_do(act: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        act()
    assert MultinomialNB().fit([[1], [2]], (label for label in "ab")).classes_.tolist() == ["a", "b"]
