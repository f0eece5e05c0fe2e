"""The formulas of naive Bayes against their definitions, computed with plain probabilities."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from spamnb.formulas.naive_bayes import (
    all_absent_log_probability,
    for_each_count,
    loo_all_absent_log_joint,
    token_absence_log_probability,
    token_log_odds,
    token_log_probability,
)

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


@pytest.mark.parametrize("formula", [token_log_odds, token_absence_log_probability])
def test_sparse_rows_have_the_values_of_dense_ones(formula) -> None:
    rows, columns = np.nonzero(COUNTS)
    found = formula(COUNTS[rows, columns], DOCUMENTS, ALPHA, np.bincount(rows))
    assert found.tolist() == formula(COUNTS, DOCUMENTS, ALPHA)[rows, columns].tolist()


def test_each_message_may_see_totals_of_its_own() -> None:
    totals = np.array([[8, 7], [3, 2]])  # (classes, messages)
    lengths = np.array([2, 1])
    found = token_log_probability(COUNTS, totals, np.array([0.9, 0.6]), ALPHA, lengths)
    first = token_log_probability(COUNTS[:, :2], totals[:, 0], 0.9, ALPHA)
    second = token_log_probability(COUNTS[:, 2:], totals[:, 1], 0.6, ALPHA)
    assert found.tolist() == np.hstack([first, second]).tolist()
    assert for_each_count(totals, lengths).tolist() == [[8, 8, 7], [3, 3, 2]]


@pytest.mark.parametrize("seed", range(5))
def test_leaving_one_out_is_counting_without_it(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X = rng.random((7, 12)) < 0.3  # the documents of the class
    X[:, 0] = True  # a token that every document holds
    others = rng.random(12) < 0.5  # tokens that another class holds
    counts = X.sum(axis=0)
    X, others = X[:, counts + others > 0], others[counts + others > 0]
    counts = X.sum(axis=0)
    _, column = np.nonzero(X)
    found = loo_all_absent_log_joint(
        -0.7,
        Counter(counts.tolist()),
        len(X),
        ALPHA,
        counts[column],
        (counts + others)[column] == 1,
        np.append(0, np.cumsum(X.sum(axis=1))),
    )
    for i, value in enumerate(found):
        rest = np.delete(X, i, axis=0)
        rest = rest[:, rest.any(axis=0) | others]
        theta = (rest.sum(axis=0) + ALPHA) / (len(rest) + 2 * ALPHA)
        assert value == pytest.approx(-0.7 + np.log(1 - theta).sum(), rel=1e-12)
