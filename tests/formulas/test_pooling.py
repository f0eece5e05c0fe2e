from itertools import pairwise
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import entropy

from spamnb.formulas.pooling import GROUP_EXPONENT, INFORMATION_EXPONENT, POOLINGS, PRIOR_WEIGHT, SUFFICIENT_VOTES, pool
from spamnb.reader.evidence import GROUPS


class Ragged(NamedTuple):
    contributions: np.ndarray
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
            told = rows.contributions[:, t]
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
