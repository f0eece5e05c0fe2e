"""The multivariate Bernoulli event model, by hand and against direct evaluation of its formula."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from scipy.sparse import csr_array

from spamnb.estimators.bernoulli import BernoulliNB
from spamnb.estimators.discrete import ColumnSums
from spamnb.formulas.naive_bayes import all_absent_log_probability, token_log_odds
from spamnb.tokens.vectorizer import document_term_matrix
from spamnb.tokens.vocabulary import Vocabulary

CHINA = [
    ("yes", "Chinese Beijing Chinese"),
    ("yes", "Chinese Chinese Shanghai"),
    ("yes", "Chinese Macao"),
    ("no", "Tokyo Japan Chinese"),
]


def test_china_and_japan_by_hand() -> None:
    vocabulary = Vocabulary()
    model = BernoulliNB().fit(
        document_term_matrix((text.split() for _, text in CHINA), vocabulary), [y for y, _ in CHINA]
    )
    theta = dict(zip(list(vocabulary.tokens()), np.exp(model.feature_log_prob_).T))
    assert theta["Chinese"] == pytest.approx([2 / 3, 4 / 5])
    for token in ("Japan", "Tokyo"):
        assert theta[token] == pytest.approx([2 / 3, 1 / 5])
    for token in ("Beijing", "Macao", "Shanghai"):
        assert theta[token] == pytest.approx([1 / 3, 2 / 5])
    x = document_term_matrix([["Chinese", "Chinese", "Chinese", "Tokyo", "Japan"]], vocabulary)
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


def test_weights_stay_as_sparse_as_the_counts() -> None:
    model = BernoulliNB().fit(csr_array(np.eye(200, dtype=int)), np.arange(200) % 4)
    assert model._weights_.difference.nnz == 200


def test_weights_that_exceed_their_total_by_rounding() -> None:
    # 0.1 + 0.2 > 0.3: what is left over must not be below zero.
    model = BernoulliNB(alpha=1e-20)
    model._derive(ColumnSums(np.array([0.3]), np.array([[0.1 + 0.2]])))
    assert model._weights_.toarray() == pytest.approx(np.array([[np.log(0.3) - np.log(1e-20)]]))
