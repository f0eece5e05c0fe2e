"""The discrete event models where scikit-learn's are no oracle; their docstrings have the textbook's example."""

from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.feature_selection import SelectKBest, mutual_info_classif

from spamnb.estimators.discrete import BernoulliNB, CategoricalNB, mutual_information


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
    for ask in (model.predict, lambda X: model.partial_fit(X, [0])):
        with pytest.raises(ValueError, match="column 1 holds category 2, but the first rows had none above 1"):
            ask([[0, 2]])
    with pytest.raises(ValueError, match="different categories"):
        model.sums_ + CategoricalNB().fit([[0, 2]], [0]).sums_
    with pytest.raises(TypeError, match=r"needs dense data: use X.toarray\(\)"):
        model.predict(csr_array([[0, 1]]))
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
