"""sums.py: the same algebra as that of Counts, which is checked against counting by hand."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from spamnb.counts.class_counts import Cells, Sums
from spamnb.counts.counts import Counts

CLASSES = ("ham", "list", "spam")
WIDTH = 6


@st.composite
def both(draw: st.DrawFn) -> tuple[Sums, Counts]:
    """The sums of the same messages in both ways."""
    n, rng = draw(st.integers(0, 10)), np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    X = rng.integers(0, 4, size=(n, WIDTH)) * (rng.random((n, WIDTH)) < draw(st.sampled_from([0.0, 0.3, 1.0])))
    labels = rng.integers(0, 3, size=n)
    message, column = np.nonzero(X)
    cells = Cells(column, np.ones(len(column), np.int64), X[message, column])
    documents = np.bincount(labels, minlength=3)
    sums = Sums.of_cells(CLASSES, documents, WIDTH, labels[message], cells)
    return sums, Counts.from_matrix(csr_array(X), [CLASSES[label] for label in labels], CLASSES)


@given(both(), both())
def test_sums_are_counts(a: tuple[Sums, Counts], b: tuple[Sums, Counts]) -> None:
    total = Sums.total([a[0], b[0]])
    assert a[0].counts == a[1]
    assert total.counts == a[1] + b[1]
    assert (total - b[0]).counts == a[1]
    assert all((cells.document_counts > 0).all() for cells in (total - b[0]).cells)  # no zeros stay behind
    assert all((np.diff(cells.columns) > 0).all() for cells in total.cells)
    assert total.totals().tolist() == [
        table.sum(axis=1).tolist() for table in (total.counts.document_counts, total.counts.occurrences)
    ]
    assert total.holders().tolist() == total.counts.document_counts.sum(axis=0).tolist()


@given(both(), st.permutations(range(8)), st.sets(st.integers(0, WIDTH - 1)))
def test_moving_renames_columns_and_leaves_some_out(
    a: tuple[Sums, Counts], order: list[int], left_out: set[int]
) -> None:
    sums, counts = a
    columns = np.array(order[:WIDTH])
    columns[list(left_out)] = -1
    moved = sums.moved(columns, 8, ("alerts", *CLASSES))
    assert moved.documents.tolist() == [0, *counts.documents]
    kept = columns >= 0
    for name in ("document_counts", "occurrences"):
        expected = np.zeros((4, 8), np.int64)
        expected[1:, columns[kept]] = getattr(counts, name).toarray()[:, kept]
        assert np.array_equal(getattr(moved.counts, name).toarray(), expected)


@given(both())
def test_classes_without_messages_go(a: tuple[Sums, Counts]) -> None:
    sums, counts = a
    present = sums.present()
    assert present.classes == tuple(name for name, n in zip(CLASSES, counts.documents) if n)
    assert present.documents.tolist() == [n for n in counts.documents if n]
    assert present.moved(np.arange(WIDTH), WIDTH, CLASSES).counts == counts


def test_no_classes() -> None:
    nothing = Sums((), np.zeros(0, np.int64), 0, ())
    assert nothing.counts == Counts.empty(())
    assert Sums.total([nothing, nothing]).totals().shape == (2, 0)
