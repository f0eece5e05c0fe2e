"""The multinomial event model, by hand: Introduction to Information Retrieval, example 13.1."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

from spamnb.estimators.multinomial import MultinomialNB
from spamnb.formulas.naive_bayes import token_log_probability
from spamnb.tokens.vectorizer import document_term_matrix
from spamnb.tokens.vocabulary import Vocabulary

CHINA = [
    ("yes", "Chinese Beijing Chinese"),
    ("yes", "Chinese Chinese Shanghai"),
    ("yes", "Chinese Macao"),
    ("no", "Tokyo Japan Chinese"),
]
QUESTION = "Chinese Chinese Chinese Tokyo Japan"


def test_china_and_japan_by_hand() -> None:
    vocabulary = Vocabulary()
    X = document_term_matrix((text.split() for _, text in CHINA), vocabulary)
    model = MultinomialNB().fit(X, [label for label, _ in CHINA])
    phi = dict(zip(list(vocabulary.tokens()), np.exp(model.feature_log_prob_).T))
    assert phi["Chinese"] == pytest.approx([2 / 9, 6 / 14])
    for token in ("Tokyo", "Japan"):
        assert phi[token] == pytest.approx([2 / 9, 1 / 14])
    x = document_term_matrix([QUESTION.split()], vocabulary)
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
