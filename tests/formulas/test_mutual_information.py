"""Mutual information against its definition in a double loop and against scikit-learn; the words report."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sklearn.feature_selection import mutual_info_classif

from spamnb.counts.class_counts import ClassCounts
from spamnb.counts.top_words import Word, top_words
from spamnb.formulas.mutual_information import mutual_information, top_columns


def by_definition(N: np.ndarray, n: np.ndarray, alpha: float) -> list[float]:
    """The formula, column by column and class by class."""
    information = []
    prior = n / n.sum()
    for j in range(N.shape[1]):
        total = 0.0
        for count in (N[:, j], n - N[:, j]):  # there, and not there
            theta = [(count[c] + alpha) / (n[c] + 2 * alpha) if n[c] else 0.0 for c in range(len(n))]
            marginal = sum(p * t for p, t in zip(prior, theta))
            total += sum(p * t * np.log2(t / marginal) for p, t in zip(prior, theta) if p * t > 0)
        information.append(total)
    return information


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 5), st.sampled_from([0.0, 0.01, 1.0, 3.5]), st.booleans())
def test_equals_its_definition(seed: int, classes: int, alpha: float, sparse: bool) -> None:
    rng = np.random.default_rng(seed)
    n = rng.integers(0, 40, size=classes)
    n[0] += 1
    N = rng.binomial(n[:, None], rng.random((classes, 7)) * (rng.random((classes, 7)) < 0.5))
    N[:, 0] = n  # in every document
    found = mutual_information(csr_array(N) if sparse else N, n, alpha)
    np.testing.assert_allclose(found, by_definition(N, n, alpha), rtol=0, atol=5e-15)
    assert (found >= 0).all()


def test_equals_scikit_learns_without_smoothing() -> None:
    rng = np.random.default_rng(4)
    X = csr_array((rng.random((300, 40)) < rng.random(40) * 0.4).astype(int))
    y = rng.choice(["a", "b", "c"], size=300)
    counts = ClassCounts.from_matrix(X, y.tolist())
    nats = mutual_info_classif(X, y, discrete_features=True)
    found = mutual_information(counts.document_counts, counts.documents, alpha=0) * np.log(2)
    np.testing.assert_allclose(found, nats, atol=3e-15)


def test_refusals() -> None:
    with pytest.raises(ValueError, match="alpha must be at least 0"):
        mutual_information(csr_array((2, 3)), np.array([1, 1]), -1)
    with pytest.raises(ValueError, match="no documents"):
        mutual_information(csr_array((2, 3)), np.array([0, 0]))


@given(st.lists(st.tuples(st.sampled_from([0.0, 0.5, 1.0]), st.text("xyz", min_size=1, max_size=3)), max_size=12))
def test_top_columns_is_the_head_of_a_full_sort(pairs: list[tuple[float, str]]) -> None:
    pairs = list({token: (value, token) for value, token in pairs}.values())
    values, tokens = np.array([v for v, _ in pairs]), [t for _, t in pairs]
    order = sorted(range(len(pairs)), key=lambda j: (-values[j], tokens[j]))
    for k in range(len(pairs) + 2):
        assert top_columns(values, k, tokens).tolist() == order[:k]


def test_words_report_does_not_depend_on_the_order_of_columns() -> None:
    X = csr_array(np.array([[1, 1, 0, 0], [2, 0, 1, 0], [1, 0, 0, 3], [1, 0, 0, 1]]))
    y, tokens = ["ham", "ham", "spam", "spam"], ["the", "noon", "lunch", "pills"]
    report = top_words(ClassCounts.from_matrix(X, y), tokens, n=3)
    assert report.likeliest["ham"] == [Word("the", 0.75), Word("lunch", 0.5), Word("noon", 0.5)]
    assert report.likeliest["spam"][:2] == [Word("pills", 0.75), Word("the", 0.75)]
    assert report.informative[0].token == "pills"
    turned = top_words(ClassCounts.from_matrix(X[:, [3, 1, 2, 0]], y), [tokens[j] for j in (3, 1, 2, 0)], n=3)
    assert turned == report
