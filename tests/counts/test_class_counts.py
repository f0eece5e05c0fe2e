"""class_counts.py: sums of labelled messages against counting by hand, and their algebra."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from spamnb.counts.class_counts import ClassCounts, SparseRow

CLASSES = ("ham", "list", "spam")
WIDTH = 6


class Drawn(NamedTuple):
    """Messages, their sums, and the same counted by hand."""

    X: np.ndarray
    labels: list[str]
    counts: ClassCounts
    document_counts: np.ndarray
    occurrences: np.ndarray


@st.composite
def drawn(draw: st.DrawFn) -> Drawn:
    n, rng = draw(st.integers(0, 10)), np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    X = rng.integers(0, 4, size=(n, WIDTH)) * (rng.random((n, WIDTH)) < draw(st.sampled_from([0.0, 0.3, 1.0])))
    labels = rng.integers(0, 3, size=n)
    message, column = np.nonzero(X)
    cells = SparseRow(column, np.ones(len(column), np.int64), X[message, column])
    counts = ClassCounts.from_cells(CLASSES, np.bincount(labels, minlength=3), WIDTH, labels[message], cells)
    by_hand = np.zeros((2, 3, WIDTH), np.int64)
    for label, row in zip(labels, X):
        by_hand[:, label] += (row > 0), row
    return Drawn(X, [CLASSES[label] for label in labels], counts, *by_hand)


def check(counts: ClassCounts, document_counts: np.ndarray, occurrences: np.ndarray) -> None:
    """The sums are these, without a stored zero, in ascending columns, of int64."""
    assert np.array_equal(counts.document_counts.toarray(), document_counts)
    assert np.array_equal(counts.occurrences.toarray(), occurrences)
    assert counts.documents.dtype == counts.occurrences.dtype == counts.document_counts.dtype == np.int64
    for row in counts.rows:
        assert (row.document_counts > 0).all() and (np.diff(row.columns) > 0).all()


@given(drawn())
def test_sums_are_what_counting_by_hand_gives(a: Drawn) -> None:
    check(a.counts, a.document_counts, a.occurrences)
    totals = a.counts.totals()
    assert totals.document_counts.tolist() == a.document_counts.sum(axis=1).tolist()
    assert totals.occurrences.tolist() == a.occurrences.sum(axis=1).tolist()
    assert (totals.classes, totals.vocabulary_size) == (CLASSES, WIDTH)
    assert a.counts.document_frequency().tolist() == a.document_counts.sum(axis=0).tolist()


@given(drawn())
def test_sums_of_a_matrix_are_those_of_its_rows(a: Drawn) -> None:
    found = ClassCounts.from_matrix(csr_array(a.X), a.labels).reindex(np.arange(WIDTH), WIDTH, CLASSES)
    check(found, a.document_counts, a.occurrences)
    assert found.documents.tolist() == a.counts.documents.tolist()


def test_a_matrix_with_a_label_too_many_is_refused() -> None:
    with pytest.raises(ValueError, match="1 rows but 2 labels"):
        ClassCounts.from_matrix(csr_array((1, 6)), ["ham", "ham"])


def test_stored_zeros_of_a_matrix_are_not_kept() -> None:
    X = csr_array((np.array([2, 0]), np.array([0, 1]), np.array([0, 2])), shape=(1, 6))
    counts = ClassCounts.from_matrix(X, ["spam"])
    assert counts.document_counts.nnz == counts.occurrences.nnz == 1


@given(drawn(), drawn(), drawn())
def test_adding_is_associative_and_subtracting_undoes_it(a: Drawn, b: Drawn, c: Drawn) -> None:
    both = a.counts + b.counts
    check(both, a.document_counts + b.document_counts, a.occurrences + b.occurrences)
    check(both - b.counts, a.document_counts, a.occurrences)
    assert (both - b.counts).documents.tolist() == a.counts.documents.tolist()
    of_three = a.document_counts + b.document_counts + c.document_counts, a.occurrences + b.occurrences + c.occurrences
    check(both + c.counts, *of_three)
    check(ClassCounts.sum([c.counts, b.counts, a.counts]), *of_three)


@given(drawn(), st.permutations(range(8)), st.sets(st.integers(0, WIDTH - 1)))
def test_reindexing_renames_columns_and_leaves_some_out(a: Drawn, order: list[int], left_out: set[int]) -> None:
    columns = np.array(order[:WIDTH])
    columns[list(left_out)] = -1
    moved = a.counts.reindex(columns, 8, ("alerts", *CLASSES))
    assert moved.documents.tolist() == [0, *a.counts.documents]
    kept = columns >= 0
    for name in ("document_counts", "occurrences"):
        expected = np.zeros((4, 8), np.int64)
        expected[1:, columns[kept]] = getattr(a, name)[:, kept]
        assert np.array_equal(getattr(moved, name).toarray(), expected)


@given(drawn())
def test_classes_without_messages_go(a: Drawn) -> None:
    documents = a.counts.documents
    present = a.counts.nonempty_classes()
    assert present.classes == tuple(name for name, n in zip(CLASSES, documents) if n)
    assert present.documents.tolist() == [n for n in documents if n]
    check(present.reindex(np.arange(WIDTH), WIDTH, CLASSES), a.document_counts, a.occurrences)


def test_no_classes_have_no_sums() -> None:
    nothing = ClassCounts((), np.zeros(0, np.int64), 0, ())
    assert nothing.occurrences.shape == (0, 0)
    assert ClassCounts.sum([nothing, nothing]).totals().documents.shape == (0,)
