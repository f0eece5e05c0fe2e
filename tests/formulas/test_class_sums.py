"""class_sums.py: sums of rows by class against sums by hand, and subtraction without rounding errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from spamnb.formulas.class_sums import class_sums, presence, subtract


@settings(max_examples=50)
@given(st.integers(0, 10**6), st.booleans())
def test_class_sums_dense_and_sparse_with_weights(seed: int, whole: bool) -> None:
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 3, size=(9, 4))
    codes = rng.integers(0, 5, size=9)
    weight = None if whole else rng.random(9)
    expected = np.array([((np.ones(9) if whole else weight)[:, None] * X)[codes == c].sum(axis=0) for c in range(5)])
    np.testing.assert_allclose(class_sums(X, codes, 5, weight), expected, rtol=1e-12)
    np.testing.assert_allclose(class_sums(csr_array(X), codes, 5, weight).toarray(), expected, rtol=1e-12)


@pytest.mark.parametrize("container", [np.asarray, csr_array])
def test_rounding_is_judged_cell_by_cell(container: Any) -> None:
    a, b = container(np.array([[0.1 + 0.2 + 0.3, 1e9, 3e-7]])), container(np.array([[0.6, 1e9 - 1, 0.0]]))
    found = subtract(a, b)
    assert (found if container is np.asarray else found.toarray()).tolist() == [[0.0, 1.0, 3e-7]]


def test_presence_leaves_the_matrix_alone() -> None:
    X = csr_array((np.array([2, 0, 3]), np.array([0, 1, 1]), np.array([0, 2, 3])), shape=(2, 2))
    assert presence(X).toarray().tolist() == [[1, 0], [0, 1]]
    assert X.data.tolist() == [2, 0, 3]


def test_taking_out_what_was_not_there_is_refused() -> None:
    one, other = csr_array(np.array([[1, 0, 0]])), csr_array(np.array([[0, 1, 0]]))
    with pytest.raises(ValueError, match="more would be taken out than was learned"):
        subtract(one, other)
    with pytest.raises(ValueError, match="more would be taken out"):
        subtract(one.toarray(), (one + one).toarray())
