"""The Dirichlet distribution against scipy's, and its posterior against Bayes' rule on a grid."""

import numpy as np
import pytest
from scipy import stats

from spamnb.estimators.dirichlet import Dirichlet
from spamnb.model.priors import class_log_prior


@pytest.mark.parametrize("alpha", [[0.5, 2.0], [3.0, 1.5, 7.0], [2.0, 2.0, 2.0, 2.0]])
def test_equals_scipy(alpha: list[float]) -> None:
    ours, theirs = Dirichlet(alpha), stats.dirichlet(alpha)
    np.testing.assert_allclose(ours.mean, theirs.mean())
    np.testing.assert_allclose(ours.variance, theirs.var())
    rows = ours.sample(50, random_state=1)
    np.testing.assert_allclose(ours.log_density(rows), [theirs.logpdf(row) for row in rows])
    for c in range(len(alpha)):
        marginal, beta = ours.marginal(c), stats.beta(alpha[c], sum(alpha) - alpha[c])
        x = np.array([0.1, 0.4, 0.8])
        np.testing.assert_allclose(np.exp(marginal.log_density(np.column_stack([x, 1 - x]))), beta.pdf(x))


def test_the_posterior_is_the_prior_times_the_likelihood() -> None:
    x = np.linspace(0.001, 0.999, 999)
    grid, prior, counts = np.column_stack([x, 1 - x]), Dirichlet([2, 3]), [4, 1]
    unscaled = np.exp(prior.log_density(grid)) * x ** counts[0] * (1 - x) ** counts[1]
    expected = unscaled / (unscaled.sum() * 0.001)
    np.testing.assert_allclose(np.exp(prior.posterior(counts).log_density(grid)), expected, rtol=1e-3)
    assert x[expected.argmax()] == pytest.approx(prior.posterior(counts).mode[0], abs=1e-3)


def test_mean_and_mode_are_the_class_priors_of_the_models() -> None:
    posterior = Dirichlet([2, 4, 1.5]).posterior([3, 0, 9])
    for kind, value in (("dirichlet", posterior.mean), ("map", posterior.mode)):
        np.testing.assert_allclose(np.exp(class_log_prior([3, 0, 9], kind, [2, 4, 1.5])), value)


def test_impossible_parameters_are_refused() -> None:
    for alpha in ([1.0], [1, 0], [1, -1], [1, np.nan], [[1, 2]]):
        with pytest.raises(ValueError, match="give two or more finite numbers above 0"):
            Dirichlet(alpha)
    for counts in ([1], [1, -1], [1, np.nan]):
        with pytest.raises(ValueError, match="give 2 numbers, at least 0"):
            Dirichlet([1, 1]).posterior(counts)
    for alpha in ([1, 1], [0.5, 2]):
        with pytest.raises(ValueError, match="has no single mode"):
            _ = Dirichlet(alpha).mode
