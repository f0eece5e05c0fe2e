"""Naive Bayes: sums of classes, priors, likelihoods, decisions and mutual information against formulas written out."""

from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.stats import dirichlet

from spamnb.estimators.discrete import MultinomialNB
from spamnb.model.decision import Loss
from spamnb.model.mutual_information import mutual_information_from_counts, top_columns
from spamnb.model.naive_bayes import (
    all_absent_log_probability,
    token_absence_log_probability,
    token_log_odds,
    token_log_probability,
)
from spamnb.model.priors import class_log_prior
from spamnb.model.sums import subtract

COUNTS = np.array([[3, 0, 5], [1, 2, 0]])
DOCUMENTS = np.array([6, 4])
ALPHA = 0.3
THETA = (COUNTS + ALPHA) / (DOCUMENTS[:, None] + 2 * ALPHA)


def test_the_logarithms_are_those_of_the_definitions() -> None:
    totals = COUNTS.sum(axis=1)
    phi = (COUNTS + ALPHA) / (totals[:, None] + 3 * ALPHA)
    np.testing.assert_allclose(np.exp(token_log_probability(COUNTS, totals, 3 * ALPHA, ALPHA)), phi, rtol=1e-14)
    np.testing.assert_allclose(phi.sum(axis=1), 1)
    np.testing.assert_allclose(np.exp(token_log_odds(COUNTS, DOCUMENTS, ALPHA)), THETA / (1 - THETA), rtol=1e-13)
    absence = token_absence_log_probability(COUNTS, DOCUMENTS, ALPHA)
    np.testing.assert_allclose(np.exp(absence), 1 - THETA, rtol=1e-13)
    histograms = [Counter(row.tolist()) for row in COUNTS]
    none = all_absent_log_probability(histograms, DOCUMENTS, ALPHA)
    np.testing.assert_allclose(none, absence.sum(axis=1), rtol=1e-14)


def test_rounding_is_checked_cell_by_cell() -> None:
    found = subtract(np.array([[0.1 + 0.2 + 0.3, 1e9, 3e-7]]), np.array([[0.6, 1e9 - 1, 0.0]]))
    assert found.tolist() == [[0.0, 1.0, 3e-7]]
    with pytest.raises(ValueError, match="these rows were not learned"):
        subtract(np.array([[1, 0, 0]]), np.array([[0, 1, 0]]))


COSTS = {"cautious": 99, "normal": 9, "strict": 1}  # λ of Androutsopoulos is 1, 9 and 999


@given(p=st.floats(0, 1), strictness=st.sampled_from(list(COSTS)), unsure=st.none() | st.floats(0.01, 10))
def test_verdict_has_least_expected_loss(p: float, strictness: str, unsure: float | None) -> None:
    loss, cost = Loss(strictness, unsure), COSTS[strictness]
    expected = {"ham": p, "spam": cost * (1 - p)} | ({} if unsure is None else {"unsure": unsure})
    verdict = loss.verdicts(["ham", "spam"], np.array([[1 - p, p]]), "spam")[0]
    assert expected[verdict] <= min(expected.values()) + 1e-9
    if abs(p - loss.threshold) > 1e-6:
        assert (verdict == "spam") == (p > loss.threshold)


@given(st.lists(st.floats(0.001, 1), min_size=2, max_size=6))
def test_without_a_class_of_spam_the_most_probable_class_wins(weights: list[float]) -> None:
    p = np.array(weights) / sum(weights)
    names = [f"group{i}" for i in range(len(p))]
    (verdict,) = Loss("cautious", None).verdicts(names, p[None, :], "spam")
    assert p[names.index(verdict)] >= p.max() - 1e-11  # closer ones are ties


def test_costs_decide() -> None:
    assert [round(Loss(name, None).threshold, 3) for name in COSTS] == [0.99, 0.9, 0.5]
    many = np.array([[0.05, 0.15, 0.8]])
    assert Loss("strict", None).verdicts(["ham", "lists", "spam"], many, "spam") == ["spam"]
    assert Loss("normal", None).verdicts(["ham", "lists", "spam"], many, "spam") == ["lists"]
    even = np.array([[0.5, 0.5]])  # a tie is not spam
    assert Loss("strict", None).verdicts(["ham", "spam"], even, "spam") == ["ham"]
    assert Loss("strict", None).verdicts(["spam", "work"], even, "spam") == ["work"]


def test_nothing_is_called_anything_by_one_class() -> None:
    assert Loss("normal", None).verdicts(["spam"], np.ones((2, 1)), "spam") == ["unsure", "unsure"]


counts = st.lists(st.integers(0, 50), min_size=2, max_size=5).filter(any)


@given(counts, st.floats(0.5, 5))
def test_dirichlet_is_the_posterior_mean(documents: list[int], a: float) -> None:
    expected = dirichlet(np.array(documents) + a).mean()
    np.testing.assert_allclose(np.exp(class_log_prior(documents, "dirichlet", a)), expected, rtol=1e-12)


@pytest.mark.parametrize(
    ("documents", "prior", "concentration", "message"),
    [
        ([1, 2], "flat", 1.0, "'flat' is unknown: use one of mle, dirichlet, map, uniform or an array"),
        ([1, 2], [1.0], 1.0, "the class prior must be 2 probabilities that sum to 1"),
        ([1, 2], [0.5, 0.4], 1.0, r"that sum to 1, not \[0.5, 0.4\]"),
        ([1, 2], [0.5, float("nan")], 1.0, "the class prior must be 2 probabilities"),
        ([1, 2], "dirichlet", [1.0, 2.0, 3.0], "must be a finite number above 0, or 2 of them"),
        ([0, 2], "map", 0.5, "the MAP class prior does not exist.*prior_concentration >= 1"),
        ([0, 0], "mle", 1.0, "no class has any weight"),
        ([3, 1], "dirichlet", np.inf, "prior_concentration must be a finite number above 0"),
    ],
)
def test_errors_say_what_to_do(documents: Any, prior: Any, concentration: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        class_log_prior(documents, prior, concentration)


def test_a_prior_is_chosen_by_its_name_or_given() -> None:
    X, y = np.array([[0, 1], [1, 0], [1, 1], [1, 0]]), ["a", "b", "b", "b"]
    for parameters, expected in (
        ({"class_prior": "mle", "fit_prior": False}, [1 / 4, 3 / 4]),  # the explicit one counts
        ({"fit_prior": False}, [1 / 2, 1 / 2]),
        ({"class_prior": "dirichlet", "prior_concentration": [1, 3]}, [2 / 8, 6 / 8]),
        ({"class_prior": "map", "prior_concentration": 2}, [2 / 6, 4 / 6]),
        ({"class_prior": [0.9, 0.1]}, [0.9, 0.1]),
    ):
        model = MultinomialNB(**parameters).fit(X, y)
        assert np.exp(model.class_log_prior_) == pytest.approx(expected)


def by_definition(N: np.ndarray, n: np.ndarray, alpha: float) -> list[float]:
    """Compute the formula column by column and class by class."""
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
    found = mutual_information_from_counts(csr_array(N) if sparse else N, n, alpha)
    np.testing.assert_allclose(found, by_definition(N, n, alpha), rtol=0, atol=5e-15)
    assert (found >= 0).all()


def test_refusals() -> None:
    for alpha in (-1, np.inf, None, np.ones(2)):
        with pytest.raises(ValueError, match="alpha must be a finite number, at least 0"):
            mutual_information_from_counts(csr_array((2, 3)), np.array([1, 1]), alpha)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="at least one document"):
        mutual_information_from_counts(csr_array((2, 3)), np.array([0, 0]))
    for counts in ([[-1, 0]], [[4, 0]]):
        with pytest.raises(ValueError, match="larger than the number of the class's documents"):
            mutual_information_from_counts(np.array(counts), np.array([3]))


@given(st.lists(st.tuples(st.sampled_from([0.0, 0.5, 1.0]), st.text("xyz", min_size=1, max_size=3)), max_size=12))
def test_top_columns_is_the_head_of_a_full_sort(pairs: list[tuple[float, str]]) -> None:
    pairs = list({token: (value, token) for value, token in pairs}.values())
    values, tokens = np.array([v for v, _ in pairs]), [t for _, t in pairs]
    order = sorted(range(len(pairs)), key=lambda j: (-values[j], tokens[j]))
    for k in range(len(pairs) + 2):
        assert top_columns(values, k, tokens).tolist() == order[:k]
