"""The discrete event models by hand: Introduction to Information Retrieval, example 13.1, and formulas written out."""

from collections import Counter

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.feature_extraction.text import CountVectorizer

from spamnb.estimators.bernoulli import BernoulliNB
from spamnb.estimators.categorical import CategoricalNB
from spamnb.estimators.discrete import ColumnSums
from spamnb.estimators.multinomial import MultinomialNB
from spamnb.formulas.naive_bayes import all_absent_log_probability, token_log_odds, token_log_probability

CHINA = [
    ("yes", "Chinese Beijing Chinese"),
    ("yes", "Chinese Chinese Shanghai"),
    ("yes", "Chinese Macao"),
    ("no", "Tokyo Japan Chinese"),
]
QUESTION = "Chinese Chinese Chinese Tokyo Japan"


def test_china_and_japan_by_hand() -> None:
    vectorizer = CountVectorizer(analyzer=str.split)
    X = vectorizer.fit_transform([text for _, text in CHINA])
    model = MultinomialNB().fit(X, [label for label, _ in CHINA])
    phi = dict(zip(vectorizer.get_feature_names_out(), np.exp(model.feature_log_prob_).T))
    assert phi["Chinese"] == pytest.approx([2 / 9, 6 / 14])
    for token in ("Tokyo", "Japan"):
        assert phi[token] == pytest.approx([2 / 9, 1 / 14])
    x = vectorizer.transform([QUESTION])
    joint = np.exp(model.predict_joint_log_proba(x))[0]
    assert joint == pytest.approx([1 / 4 * (2 / 9) ** 5, 3 / 4 * (3 / 7) ** 3 * (1 / 14) ** 2])
    assert joint.round(4).tolist() == [0.0001, 0.0003]
    assert model.predict(x) == ["yes"]


def test_function_of_looked_up_columns_equals_the_estimator() -> None:
    rng = np.random.default_rng(1)
    X = csr_array(rng.poisson(0.6, size=(20, 9)))
    model = MultinomialNB(0.3).fit(X, rng.integers(0, 3, 20))
    T = model.feature_count_
    found = token_log_probability(T[:, [2, 5]], T.sum(axis=1), 9 * 0.3, 0.3)
    np.testing.assert_allclose(found, model.feature_log_prob_[:, [2, 5]], rtol=1e-12)


def test_alpha_per_column() -> None:
    X, y = [[1, 0], [1, 1]], [0, 1]
    model = MultinomialNB(alpha=[1, 2]).fit(X, y)
    assert np.exp(model.feature_log_prob_) == pytest.approx(np.array([[2 / 4, 2 / 4], [2 / 5, 3 / 5]]))
    with pytest.raises(ValueError, match="All values in alpha must be greater than 0"):
        MultinomialNB(alpha=[1, -0.1]).fit(X, y)
    with pytest.raises(ValueError, match="should contains `n_features`: 2 numbers"):
        MultinomialNB(alpha=[1, 2, 3]).fit(X, y)


def test_weights_stay_as_sparse_as_the_counts() -> None:
    X = csr_array(np.eye(200, dtype=int))
    model = MultinomialNB().fit(X, np.arange(200) % 4)
    assert model._weights_.difference.nnz == 200


def test_samples_have_the_mean_length_of_training_rows() -> None:
    X, y = np.array([[4, 1], [0, 2], [3, 3]]), [0, 0, 1]
    drawn, _ = MultinomialNB().fit(X, y).sample(20, random_state=0)
    assert drawn.sum(axis=1).tolist() == [4] * 20


def test_china_and_japan_of_messages_that_hold_a_word() -> None:
    vectorizer = CountVectorizer(analyzer=str.split)
    X = vectorizer.fit_transform([text for _, text in CHINA])
    model = BernoulliNB().fit(X, [label for label, _ in CHINA])
    theta = dict(zip(vectorizer.get_feature_names_out(), np.exp(model.feature_log_prob_).T))
    assert theta["Chinese"] == pytest.approx([2 / 3, 4 / 5])
    for token in ("Japan", "Tokyo"):
        assert theta[token] == pytest.approx([2 / 3, 1 / 5])
    for token in ("Beijing", "Macao", "Shanghai"):
        assert theta[token] == pytest.approx([1 / 3, 2 / 5])
    x = vectorizer.transform([QUESTION])
    joint = np.exp(model.predict_joint_log_proba(x))[0]
    no = 1 / 4 * (2 / 3) ** 3 * (1 - 1 / 3) ** 3
    yes = 3 / 4 * 4 / 5 * (1 / 5) ** 2 * (1 - 2 / 5) ** 3
    assert joint == pytest.approx([no, yes])
    assert joint.round(3).tolist() == [0.022, 0.005]
    assert model.predict(x) == ["no"]


def test_functions_of_looked_up_columns_equal_the_estimator() -> None:
    rng = np.random.default_rng(2)
    X = csr_array(rng.poisson(0.4, size=(30, 12)))
    model = BernoulliNB(0.7).fit(X, rng.integers(0, 3, 30))
    N, n = model.feature_count_.astype(int), model.class_count_
    histograms = [Counter(row.tolist()) for row in N]
    empty = all_absent_log_probability(histograms, n, 0.7) + model.class_log_prior_
    np.testing.assert_allclose(model.predict_joint_log_proba(csr_array((1, 12), dtype=int))[0], empty, rtol=1e-12)
    x = X[[4]]
    odds = token_log_odds(N[:, x.indices], n, 0.7)
    np.testing.assert_allclose(model.predict_joint_log_proba(x)[0], empty + odds.sum(axis=1), rtol=1e-12)


def test_threshold() -> None:
    X, y = np.array([[0.2, 3.0], [1.5, -4.0]]), [0, 1]
    for container in (np.asarray, csr_array):
        assert BernoulliNB(binarize=1.0).fit(container(X), y).feature_count_.tolist() == [[0, 1], [1, 0]]
        assert BernoulliNB().fit(container(X), y).feature_count_.tolist() == [[1, 1], [1, 0]]
        with pytest.raises(ValueError, match="binarize=None needs X of zeros and ones"):
            BernoulliNB(binarize=None).fit(container(X), y)
        assert BernoulliNB(binarize=None).fit(container(X > 0), y).feature_count_.tolist() == [[1, 1], [1, 0]]
    for threshold in (-1, float("nan")):
        with pytest.raises(ValueError, match="binarize must be None or a threshold of at least 0"):
            BernoulliNB(binarize=threshold).fit(X, y)


def test_no_digits_are_lost_where_every_message_has_the_token() -> None:
    # θ within 1e-15 of 1: log(1 − exp(log θ)) would be -inf or wrong in every digit.
    X, y = np.ones((1000, 1)), np.zeros(1000)
    model = BernoulliNB(alpha=1e-12).fit(X, y)
    absent = model.predict_joint_log_proba([[0.0]])[0, 0]
    assert absent == pytest.approx(np.log(1e-12) - np.log(1000), rel=1e-12)


def test_weights_of_presence_stay_as_sparse_as_the_counts() -> None:
    model = BernoulliNB().fit(csr_array(np.eye(200, dtype=int)), np.arange(200) % 4)
    assert model._weights_.difference.nnz == 200


def test_weights_that_exceed_their_total_by_rounding() -> None:
    # 0.1 + 0.2 > 0.3: what is left over must not be below zero.
    model = BernoulliNB(alpha=1e-20)
    model._derive(ColumnSums(np.array([0.3]), np.array([[0.1 + 0.2]])))
    assert model._weights_.toarray() == pytest.approx(np.array([[np.log(0.3) - np.log(1e-20)]]))


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
