"""Sums over classes: of counts and of the moments of rows, and the words that tell most."""

from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from spamnb.model.class_counts import DOCUMENTS, OCCURRENCES, Cells
from spamnb.model.moments import UNIT, Moments
from spamnb.model.sums import Scatter
from spamnb.model.top_words import top_words
from spamnb.model.training_set import TrainingSet, add_up
from spamnb.reader.rows import Rows
from spamnb.reader.tokens import TokenArray

CLASSES = ("ham", "list", "spam")
WIDTH = 6


class Drawn(NamedTuple):
    """Messages, their sums, and the same counted by hand."""

    rows: Rows
    cells: Cells
    figures: np.ndarray  # (WIDTH, 3, 3)


def rows_of(X: np.ndarray, labels: np.ndarray) -> Rows:
    """Return messages, of which token j of message i occurs ``X[i, j]`` times."""
    tokens = TokenArray.of([f"t{j}" for j in range(X.shape[1])])
    i, ids = np.nonzero(X)
    lengths = np.bincount(i, minlength=len(X))
    return Rows.of_cells(tokens, lengths, ids.astype(np.int32), X[i, ids], labels=labels, classes=CLASSES)


@st.composite
def drawn(draw: st.DrawFn) -> Drawn:
    n, rng = draw(st.integers(3, 10)), np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    X = rng.integers(0, 4, size=(n, WIDTH)) * (rng.random((n, WIDTH)) < draw(st.sampled_from([0.0, 0.3, 1.0])))
    labels = np.append([0, 1, 2], rng.integers(0, 3, size=n - 3))
    by_hand = np.zeros((WIDTH, 3, 3), np.int64)
    for label, row in zip(labels, X):
        by_hand[:, label, DOCUMENTS] += row > 0
        by_hand[:, label, OCCURRENCES] += row
    rows = rows_of(X, labels)
    return Drawn(rows, add_up(rows), by_hand)


def check(cells: Cells, figures: np.ndarray) -> None:
    """Check that the sums are these, without a stored zero, ascending."""
    assert np.array_equal(cells.table(len(figures), 3), figures)
    assert cells.figures.any(axis=0).all() and (np.diff(3 * cells.token.astype(int) + cells.label) > 0).all()
    for figure in (DOCUMENTS, OCCURRENCES):
        assert np.array_equal(cells.matrix(figure, len(figures), 3).toarray(), figures[:, :, figure].T)
    assert [sum(n * k for n, k in each.items()) for each in cells.frequencies(3)] == figures.sum(axis=0)[:, 0].tolist()


@given(drawn())
def test_sums_are_what_counting_by_hand_gives(a: Drawn) -> None:
    check(a.cells, a.figures)
    training_set = TrainingSet(a.rows, a.cells)
    totals = training_set.totals()
    assert np.array_equal([totals.document_counts, totals.occurrences], a.figures.sum(axis=0)[:, :2].T)
    assert (totals.classes, totals.vocabulary_size) == (CLASSES, np.count_nonzero(a.figures.any(axis=(1, 2))))
    assert totals.documents.tolist() == [(a.rows.labels == c).sum() for c in range(3)]
    assert training_set.document_frequency().tolist() == a.figures[:, :, DOCUMENTS].sum(axis=1).tolist()


@given(drawn(), st.data())
def test_without_a_part_the_rest_is_left(a: Drawn, data: st.DataObject) -> None:
    n = len(a.rows)
    mask = np.array(data.draw(st.lists(st.booleans(), min_size=n, max_size=n)))
    rest, part = TrainingSet(a.rows, a.cells).split(mask)
    expected = add_up(a.rows.take(~mask)).table(WIDTH, 3)
    check(rest.cells, expected)
    assert np.array_equal(expected + add_up(part).table(WIDTH, 3), a.figures)


@given(drawn(), st.permutations(range(WIDTH)), st.integers(0, WIDTH))
def test_some_tokens_in_another_order(a: Drawn, order: list[int], n: int) -> None:
    tokens = np.array(order[:n], np.int64)
    check(a.cells.take(tokens), a.figures[tokens])


def test_sums_that_32_bits_do_not_hold() -> None:
    many = rows_of(np.full((2, 1), 1 << 31), np.array([1, 1]))
    assert add_up(many).figures.tolist() == [[2], [1 << 32], [0]]


@given(
    st.lists(st.tuples(st.sampled_from(["ham", "list", "spam"]), st.integers(0, 7)), min_size=1, max_size=25),
    st.sampled_from([0.1, 1.0]),
)
def test_the_class_is_that_about_which_a_word_says_most_by_brute_force(
    mail: list[tuple[str, int]], alpha: float
) -> None:
    tokens = ["a", "b", "c"]
    rows = [[held >> j & 1 for j in range(3)] for _, held in mail]
    classes = sorted({label for label, _ in mail})
    of_class = [[row for row, (label, _) in zip(rows, mail) if label == name] for name in classes]
    documents, document_counts = np.array([*map(len, of_class)]), csr_array([np.sum(each, axis=0) for each in of_class])
    likeliest, informative = top_words(classes, documents, document_counts, tokens, 3, alpha)
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
