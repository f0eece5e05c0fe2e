from itertools import pairwise
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import entropy

from spamnb.core.pool import LeftOut
from spamnb.formulas.pooling import (
    GROUP_EXPONENT,
    INFORMATION_EXPONENT,
    POOLINGS,
    PRIOR_WEIGHT,
    SUFFICIENT_VOTES,
    pool,
    pooling_parameters,
)
from spamnb.reader.evidence import GROUPS


class Ragged(NamedTuple):
    log_likelihoods: np.ndarray
    occurrences: np.ndarray
    indptr: np.ndarray
    prior: np.ndarray
    groups: np.ndarray


def ragged(seed: int, classes: int, lengths: list[int]) -> Ragged:
    rng = np.random.default_rng(seed)
    indptr = np.concatenate([[0], np.cumsum(lengths)])
    nnz = indptr[-1]
    prior, groups = np.log(rng.dirichlet(np.ones(classes))), rng.integers(0, len(GROUPS), nnz)
    return Ragged(rng.normal(-8, 3, (classes, nnz)), rng.integers(1, 5, nnz), indptr, prior, groups)


RAGGED = st.builds(
    ragged, st.integers(0, 10**6), st.integers(1, 5), st.lists(st.integers(0, 6), min_size=1, max_size=8)
)


@pytest.mark.parametrize("pooling", POOLINGS)
@given(rows=RAGGED)
def test_a_score_is_the_sum_of_what_its_tokens_gave(pooling: str, rows: Ragged) -> None:
    scores, weights, _ = pool(*rows, pooling)
    start = rows.prior if pooling == "sum" else 0
    for i, (a, b) in enumerate(pairwise(rows.indptr)):
        np.testing.assert_allclose(weights[:, a:b].sum(axis=1) + start, scores[i], atol=1e-9)


def test_mean_is_its_formula() -> None:
    rows = ragged(3, 4, [5, 0, 9])
    scores, _, shares = pool(*rows)
    for i, (a, b) in enumerate(pairwise(rows.indptr)):
        above, known = np.zeros((len(GROUPS), 4)), np.zeros(len(GROUPS))
        for t in range(a, b):
            told = rows.log_likelihoods[:, t]
            w = (
                rows.occurrences[t]
                * (1 - entropy(np.exp(told) / np.exp(told).sum()) / np.log(4)) ** INFORMATION_EXPONENT
            )
            above[rows.groups[t]] += w * (told - told.mean())
            known[rows.groups[t]] += w
        means = above / np.where(known, known, 1)[:, None]
        expected = known**GROUP_EXPONENT @ means / (PRIOR_WEIGHT + (known**GROUP_EXPONENT).sum())
        np.testing.assert_allclose(scores[i], expected, atol=1e-12)
        votes = (known**GROUP_EXPONENT).sum()
        assert shares[i] == pytest.approx(1 - SUFFICIENT_VOTES**4 / (votes**4 + SUFFICIENT_VOTES**4))


LEFT_OUT = {
    "counts": np.array([[2, 3], [1, 0], [0, 4]], np.uint32),
    "token_groups": np.array([0, -1, 0], np.int8),
    "documents": np.array([2, 4]),
    "totals": np.array([3, 7]),
    "log_priors": np.zeros((2, 2)),
}
MESSAGES = {
    "bounds": np.array([0, 2, 2]),
    "ids": np.array([0, 1], np.int32),
    "occurrences": np.array([1, 1]),
    "labels": np.array([0, 1]),
}


def left_out_scores(**changes: np.ndarray) -> np.ndarray:
    model = {name: changes.get(name, value) for name, value in LEFT_OUT.items()}
    left_out = LeftOut(pooling_parameters("mean", 2, 1), "boolean", 1.0, 3, **model)
    return left_out.score(**{name: changes.get(name, value) for name, value in MESSAGES.items()})


def test_a_message_is_scored_by_the_counts_without_it() -> None:
    log_likelihoods = np.log([[(1 + 1) / (1 + 2)], [(3 + 1) / (7 + 2)]])  # the token that it has alone is not counted
    expected = pool(log_likelihoods, None, np.array([0, 1, 1]), np.zeros(2), np.zeros(1, np.int8)).scores
    assert expected[0].any()
    np.testing.assert_allclose(left_out_scores()[0], expected[0], atol=1e-15)


@pytest.mark.parametrize(
    "changes",
    [
        {"ids": np.array([0, 3], np.int32)},
        {"ids": np.array([0, -1], np.int32)},
        {"ids": np.array([0, 1])},
        {"bounds": np.array([0, 3, 2])},
        {"bounds": np.array([0, 2, 3])},
        {"bounds": np.array([1, 2, 2])},
        {"bounds": np.array([0, 2])},
        {"labels": np.array([0, 2])},
        {"labels": np.array([-1, 0])},
        {"occurrences": np.array([1])},
        {"token_groups": np.array([0, 1, 0], np.int8)},
        {"token_groups": np.array([0, -2, 0], np.int8)},
        {"counts": np.zeros((3, 3), np.uint32)},
        {"counts": np.zeros((1, 2), np.uint32)},
        {"documents": np.array([2])},
        {"totals": np.array([3, 1, 1])},
        {"log_priors": np.zeros((2, 3))},
    ],
)
def test_arrays_that_do_not_fit_are_refused(changes: dict[str, np.ndarray]) -> None:
    with pytest.raises(ValueError, match=r"library expects|out of bounds|outside of the array"):
        left_out_scores(**changes)


@pytest.mark.parametrize("group", [-1, 128])
def test_groups_that_cannot_be_are_refused(group: int) -> None:
    with pytest.raises(ValueError, match="out of bounds"):
        pool(np.zeros((2, 1)), None, np.array([0, 1]), np.zeros(2), np.array([group]))
