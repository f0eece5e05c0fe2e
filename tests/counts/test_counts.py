"""Counts: an algebra of sums, checked against counting by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from spamnb.counts.counts import Counts, class_sums, presence, subtract

CLASSES = ("ham", "list", "spam")


@st.composite
def labelled(draw: st.DrawFn) -> tuple[csr_array, list[str]]:
    n, seed = draw(st.integers(0, 10)), draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 4, size=(n, 6)) * (rng.random((n, 6)) < draw(st.sampled_from([0.0, 0.3, 1.0])))
    return csr_array(X.astype(np.int32)), rng.choice(CLASSES, size=n).tolist()


def counted(data: tuple[csr_array, list[str]]) -> Counts:
    return Counts.from_matrix(*data, CLASSES)


@given(labelled())
def test_counts_are_what_counting_by_hand_gives(data: tuple[csr_array, list[str]]) -> None:
    X, y = data
    counts = counted(data)
    for c, name in enumerate(CLASSES):
        rows = [row for row, label in zip(X.toarray(), y) if label == name]
        assert counts.documents[c] == len(rows)
        for j in range(6):
            assert counts.document_counts[c, j] == sum(row[j] > 0 for row in rows)
            assert counts.occurrences[c, j] == sum(row[j] for row in rows)
    assert counts.documents.dtype == counts.occurrences.dtype == counts.document_counts.dtype == np.int64


@given(labelled(), labelled(), labelled())
def test_algebra(a: Any, b: Any, c: Any) -> None:
    A, B, C = counted(a), counted(b), counted(c)
    assert A + B == B + A
    assert (A + B) + C == A + (B + C)
    assert A + Counts.empty(CLASSES, 6) == A
    assert (A + B) - B == A
    assert (A + B - B).occurrences.nnz == A.occurrences.nnz  # no stored zeros stay behind
    assert A * 3 == A + A + A == 3 * A
    assert (A * 3).documents.dtype == np.int64
    assert (A + B) * 0.5 == A * 0.5 + B * 0.5
    assert A.columns(np.array([4, 1])) + B.columns(np.array([4, 1])) == (A + B).columns(np.array([4, 1]))
    both = csr_array(np.vstack([a[0].toarray(), b[0].toarray()]))
    assert counted((both, a[1] + b[1])) == A + B


def test_scaling_by_nothing_leaves_nothing_and_by_less_is_refused() -> None:
    counts = counted((csr_array(np.array([[1, 0, 2, 0, 0, 3]])), ["spam"]))
    assert counts * 0 == Counts.empty(CLASSES, 6)
    for factor in (-1, float("inf"), float("nan")):
        with pytest.raises(ValueError, match="finite number of at least 0"):
            counts * factor
    assert counts != "counts"


def test_stored_zeros_are_not_kept() -> None:
    X = csr_array((np.array([2, 0]), np.array([0, 1]), np.array([0, 2])), shape=(1, 6))
    counts = Counts.from_matrix(X, ["spam"])
    assert counts.document_counts.nnz == counts.occurrences.nnz == 1


def test_columns_by_mask_and_number() -> None:
    counts = counted((csr_array(np.array([[1, 0, 2, 0, 0, 3]])), ["spam"]))
    assert counts.columns(np.array([5, 2])).occurrences.toarray()[2].tolist() == [3, 2]
    assert counts.columns([]).occurrences.shape == (3, 0)
    mask = np.array([True, False, False, False, False, True])
    assert counts.columns(mask).occurrences.toarray()[2].tolist() == [1, 3]


def test_taking_out_what_was_not_there() -> None:
    one = counted((csr_array(np.array([[1, 0, 0, 0, 0, 0]])), ["spam"]))
    other = counted((csr_array(np.array([[0, 1, 0, 0, 0, 0]])), ["spam"]))
    with pytest.raises(ValueError, match="more would be taken out than was learned"):
        one - other
    with pytest.raises(ValueError, match="more would be taken out"):
        one - (one + one)


def test_errors_name_what_differs() -> None:
    counts = Counts.empty(CLASSES, 6)
    with pytest.raises(ValueError, match="the classes differ: ham, list, spam and ham, spam"):
        counts + Counts.empty(["spam", "ham"], 6)
    with pytest.raises(ValueError, match="the numbers of columns differ: 6 and 5"):
        counts + Counts.empty(CLASSES, 5)
    with pytest.raises(ValueError, match="label 'x' is not one of the classes ham, list, spam"):
        Counts.from_matrix(csr_array((1, 6)), ["x"], CLASSES)
    with pytest.raises(ValueError, match="1 rows but 2 labels"):
        Counts.from_matrix(csr_array((1, 6)), ["ham", "ham"], CLASSES)


@settings(max_examples=50)
@given(st.integers(0, 10**6), st.booleans())
def test_class_sums_dense_and_sparse_with_weights(seed: int, whole: bool) -> None:
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 3, size=(9, 4))
    codes = rng.integers(0, 5, size=9)
    weight = None if whole else rng.random(9)
    expected = np.array(
        [((np.ones(9) if whole else weight)[:, None] * X)[codes == c].sum(axis=0) for c in range(5)]
    )
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
