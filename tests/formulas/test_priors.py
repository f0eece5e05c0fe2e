"""Class priors against their formulas, scipy's Dirichlet, and the coin of the texts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar
from scipy.stats import beta, dirichlet

from spamnb.estimators.bernoulli import BernoulliNB
from spamnb.estimators.categorical import CategoricalNB
from spamnb.estimators.complement import ComplementNB
from spamnb.estimators.multinomial import MultinomialNB
from spamnb.formulas.priors import class_log_prior

counts = st.lists(st.integers(0, 50), min_size=2, max_size=5).filter(any)


@given(counts, st.floats(0.5, 5))
def test_dirichlet_is_the_posterior_mean(documents: list[int], a: float) -> None:
    expected = dirichlet(np.array(documents) + a).mean()
    np.testing.assert_allclose(np.exp(class_log_prior(documents, "dirichlet", a)), expected, rtol=1e-12)


@given(st.integers(0, 40), st.integers(0, 40), st.floats(1.1, 5))
def test_map_is_the_posterior_mode(heads: int, tails: int, a: float) -> None:
    posterior = beta(heads + a, tails + a)
    mode = minimize_scalar(lambda p: -posterior.logpdf(p), bounds=(0, 1), method="bounded").x
    np.testing.assert_allclose(np.exp(class_log_prior([heads, tails], "map", a))[0], mode, atol=1e-4)


@given(counts)
def test_mle_uniform_and_map_with_a_flat_prior(documents: list[int]) -> None:
    mle = np.exp(class_log_prior(documents))
    np.testing.assert_allclose(mle, np.array(documents) / sum(documents), rtol=1e-12)
    np.testing.assert_array_equal(class_log_prior(documents, "map", 1.0), class_log_prior(documents))
    np.testing.assert_allclose(np.exp(class_log_prior(documents, "uniform")), 1 / len(documents))


def test_the_coin_that_fell_on_heads_four_times() -> None:
    assert np.exp(class_log_prior([4, 0], "mle")).tolist() == [1.0, 0.0]
    assert np.exp(class_log_prior([4, 0], "dirichlet", [2, 2])) == pytest.approx([6 / 8, 2 / 8])
    assert np.exp(class_log_prior([4, 0], "map", [2, 2])) == pytest.approx([5 / 6, 1 / 6])


@pytest.mark.parametrize(
    ("documents", "prior", "concentration", "message"),
    [
        ([1, 2], "flat", 1.0, "'flat' is unknown: use one of mle, dirichlet, map, uniform or an array"),
        ([1, 2], [1.0], 1.0, "Number of priors must match number of classes: 1 priors, 2 classes"),
        ([1, 2], [1.5, -0.5], 1.0, "Priors must be non-negative"),
        ([1, 2], [0.5, 0.4], 1.0, "The sum of the priors should be 1, not 0.9"),
        ([1, 2], [0.5, float("nan")], 1.0, "non-negative"),
        ([1, 2], "dirichlet", 0.0, "prior_concentration must be greater than 0"),
        ([1, 2], "dirichlet", [1.0, 2.0, 3.0], "must be a number or hold 2 numbers"),
        ([0, 2], "map", 0.5, "the MAP class prior does not exist.*prior_concentration >= 1"),
        ([0, 0], "mle", 1.0, "no class has any weight"),
        ([3, 1], "dirichlet", np.inf, "prior_concentration must be greater than 0 and finite"),
    ],
)
def test_errors_say_what_to_do(documents: Any, prior: Any, concentration: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        class_log_prior(documents, prior, concentration)


@pytest.mark.parametrize("model", [MultinomialNB, BernoulliNB, ComplementNB, CategoricalNB])
def test_the_same_choice_on_every_model(model: Any) -> None:
    X, y = np.array([[0, 1], [1, 0], [1, 1], [1, 0]]), ["a", "b", "b", "b"]

    def prior(**parameters: Any) -> np.ndarray:
        return np.exp(model(**parameters).fit(X, y).class_log_prior_)

    assert prior() == pytest.approx([1 / 4, 3 / 4])
    assert prior(class_prior="mle", fit_prior=False) == pytest.approx([1 / 4, 3 / 4])  # the explicit one counts
    assert prior(fit_prior=False) == pytest.approx([1 / 2, 1 / 2])
    assert prior(class_prior="uniform") == pytest.approx([1 / 2, 1 / 2])
    assert prior(class_prior="dirichlet", prior_concentration=[1, 3]) == pytest.approx([2 / 8, 6 / 8])
    assert prior(class_prior="map", prior_concentration=2) == pytest.approx([2 / 6, 4 / 6])
    assert prior(class_prior=[0.9, 0.1]) == pytest.approx([0.9, 0.1])
