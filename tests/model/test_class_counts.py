"""Sums over classes: of counts and of the moments of rows, and the words that tell most."""

from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from spamnb.model.class_counts import ClassCounts, SparseRow
from spamnb.model.moments import UNIT, Moments
from spamnb.model.sums import Scatter
from spamnb.model.top_words import top_words

CLASSES = ("ham", "list", "spam")
WIDTH = 6


class Drawn(NamedTuple):
    """Messages, their sums, and the same counted by hand."""

    X: np.ndarray
    labels: list[str]
    counts: ClassCounts
    document_counts: np.ndarray
    occurrences: np.ndarray


def sums_of(X: csr_array, labels: list[str]) -> ClassCounts:
    classes = sorted({*labels})
    parts = [X[np.array(labels) == name] for name in classes]
    rows = tuple(SparseRow.sum([SparseRow(part.indices, part.data > 0, part.data)], X.shape[1]) for part in parts)
    return ClassCounts(tuple(classes), np.array([part.shape[0] for part in parts]), X.shape[1], rows)


@st.composite
def drawn(draw: st.DrawFn) -> Drawn:
    n, rng = draw(st.integers(3, 10)), np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    X = rng.integers(0, 4, size=(n, WIDTH)) * (rng.random((n, WIDTH)) < draw(st.sampled_from([0.0, 0.3, 1.0])))
    labels = np.append([0, 1, 2], rng.integers(0, 3, size=n - 3))
    by_hand = np.zeros((2, 3, WIDTH), np.int64)
    for label, row in zip(labels, X):
        by_hand[:, label] += (row > 0), row
    names = [CLASSES[label] for label in labels]
    return Drawn(X, names, sums_of(csr_array(X), names), *by_hand)


def check(counts: ClassCounts, document_counts: np.ndarray, occurrences: np.ndarray) -> None:
    """Check that the sums are these, without a stored zero, in ascending columns."""
    assert np.array_equal(counts.document_counts.toarray(), document_counts)
    assert np.array_equal(counts.occurrences.toarray(), occurrences)
    for row in counts.rows:
        assert (row.document_counts > 0).all() and (np.diff(row.columns) > 0).all()


@given(drawn())
def test_sums_are_what_counting_by_hand_gives(a: Drawn) -> None:
    check(a.counts, a.document_counts, a.occurrences)
    totals = a.counts.totals()
    assert totals.document_counts.tolist() == a.document_counts.sum(axis=1).tolist()
    assert totals.occurrences.tolist() == a.occurrences.sum(axis=1).tolist()
    assert (totals.classes, totals.vocabulary_size) == (CLASSES, np.count_nonzero(a.occurrences.sum(axis=0)))
    assert a.counts.document_frequency().tolist() == a.document_counts.sum(axis=0).tolist()


@given(drawn(), drawn())
def test_without_a_part_the_rest_is_left(a: Drawn, b: Drawn) -> None:
    both = sums_of(csr_array(np.concatenate([a.X, b.X])), a.labels + b.labels)
    rest = both - b.counts
    check(rest, a.document_counts, a.occurrences)
    assert rest.documents.tolist() == a.counts.documents.tolist()


@given(drawn(), st.permutations(range(8)), st.sets(st.integers(0, WIDTH - 1)))
def test_reindexing_renames_columns_and_leaves_some_out(a: Drawn, order: list[int], left_out: set[int]) -> None:
    columns = np.array(order[:WIDTH])
    columns[list(left_out)] = -1
    moved = a.counts.reindex(columns, 8)
    kept = columns >= 0
    for name in ("document_counts", "occurrences"):
        expected = np.zeros((3, 8), np.int64)
        expected[:, columns[kept]] = getattr(a, name)[:, kept]
        assert np.array_equal(getattr(moved, name).toarray(), expected)


@given(drawn(), st.integers(0, WIDTH), st.integers(0, WIDTH))
def test_some_columns_alone(a: Drawn, one: int, other: int) -> None:
    first, end = sorted((one, other))
    check(a.counts.between(first, end), a.document_counts[:, first:end], a.occurrences[:, first:end])


def test_sums_that_32_bits_do_not_hold() -> None:
    many = SparseRow(np.array([1]), np.array([1]), np.array([1 << 31]))
    assert SparseRow.sum([many, many], 2).occurrences.tolist() == [1 << 32]


def counts(rows: list[list[int]], labels: list[str]) -> ClassCounts:
    return sums_of(csr_array(np.array(rows)), labels)


@given(
    st.lists(st.tuples(st.sampled_from(["ham", "list", "spam"]), st.integers(0, 7)), min_size=1, max_size=25),
    st.sampled_from([0.1, 1.0]),
)
def test_the_class_is_that_about_which_a_word_says_most_by_brute_force(
    mail: list[tuple[str, int]], alpha: float
) -> None:
    tokens = ["a", "b", "c"]
    rows = [[held >> j & 1 for j in range(3)] for _, held in mail]
    likeliest, informative = top_words(counts(rows, [label for label, _ in mail]), tokens, 3, alpha)
    assert len(informative) == (3 if len(likeliest) > 1 else 0)
    for word in informative:
        share = {}
        for name in likeliest:
            own = [held >> tokens.index(word.token) & 1 for label, held in mail if label == name]
            share[name] = (sum(own) + alpha) / (len(own) + 2 * alpha)
        prior = {name: sum(label == name for label, _ in mail) / len(mail) for name in likeliest}
        mean = sum(prior[name] * share[name] for name in likeliest)
        divergence = {
            name: prior[name] * (p * np.log(p / mean) + (1 - p) * np.log((1 - p) / (1 - mean)))
            for name, p in share.items()
        }
        name = word.label.removeprefix("not ")
        assert (share[name] >= mean - 1e-12) or word.label != name
        if len(likeliest) == 2:
            assert word.label == name and share[name] == pytest.approx(max(share.values()))
        else:
            assert divergence[name] == pytest.approx(max(divergence.values()), abs=1e-12)


def rows(n: int, d: int = 4) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(n)
    return rng.standard_normal((n, d)) @ rng.standard_normal((d, d)) + 2, rng.integers(0, 3, n)


@pytest.mark.parametrize("diagonal", [True, False])
def test_parts_add_up_to_the_whole_and_come_off_it_again(diagonal: bool) -> None:
    x, y = rows(60)
    whole, first, rest = (Moments.of(x[part], y[part], 3, diagonal) for part in (slice(None), slice(9), slice(9, None)))
    for made, expected in ((first.plus(rest), whole), (whole.plus(first, -1), rest)):
        assert all(map(np.array_equal, made, expected))


@pytest.mark.parametrize("diagonal", [True, False])
def test_the_scatter_is_that_of_the_rows(diagonal: bool) -> None:
    x, y = rows(200)
    x = np.rint(x / UNIT) * UNIT
    y[y == 1] = 2  # a class without rows is a class at zero
    made, expected = Moments.of(x, y, 3, diagonal).scatter(), Scatter.from_rows(x, y, 3, diagonal=diagonal)
    assert made.documents.tolist() == expected.documents.tolist()
    np.testing.assert_allclose(made.mean, expected.mean, rtol=1e-12)
    np.testing.assert_allclose(made.scatter, expected.scatter, rtol=1e-10)
