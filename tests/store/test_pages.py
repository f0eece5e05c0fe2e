"""pages.py: what is packed is found again, whatever the bounds of pages, and nothing else is."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spamnb.counts.class_counts import ClassCounts, SparseRow
from spamnb.errors import Damaged
from spamnb.store import pages as module
from spamnb.store.pages import MAX_COUNT, MAX_TOKEN_BYTES, Page, Pages, to_pages, tokens_of
from spamnb.tokens.token_array import TokenArray

WORDS = st.lists(st.text(st.characters(codec="utf-8"), max_size=5), unique=True, max_size=40)


@settings(max_examples=100, deadline=None)
@given(WORDS, WORDS, st.integers(1, 3), st.sampled_from([1, 90, 4040]), st.data())
def test_what_is_packed_is_found_again(
    words: list[str], others: list[str], classes: int, page: int, data: st.DataObject
) -> None:
    named = TokenArray.of(words)
    tokens = named.take(np.argsort(named.hashes))
    counts = np.array(
        data.draw(
            st.lists(
                st.sampled_from([0, 1, 7, MAX_COUNT]),
                min_size=2 * classes * len(words),
                max_size=2 * classes * len(words),
            )
        ),
        np.int64,
    ).reshape(2, classes, len(words))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "PAGE_BYTES", page)
        label, column = np.nonzero(counts.any(axis=0))
        cells = SparseRow(column, *counts[:, label, column])
        sums = ClassCounts.from_cells("abc"[:classes], np.ones(classes), len(words), label, cells)
        packed = list(to_pages(tokens, sums))
    sizes = [sum(map(len, blobs)) for _, *blobs in packed]
    assert all(size <= page or len(keys) == 8 for size, (_, keys, *_) in zip(sizes, packed))
    pages = Pages.of([page[:4] for page in packed], classes)
    assert list(tokens_of([(lengths, text) for *_, lengths, text in packed], pages.hashes)) == list(tokens)
    table = counts.swapaxes(0, 1).reshape(2 * classes, -1)
    asked = TokenArray.of([*others, *words])
    found, rows = pages.look_up(asked.hashes, 2 * classes)
    assert sorted(asked[int(i)] for i in found) == sorted(word for word in asked if word in words)
    place = {token: j for j, token in enumerate(tokens)}
    assert np.array_equal(rows, table[:, [place[asked[int(i)]] for i in found]])


WORDS_OF_TWO_PAGES = TokenArray.of(sorted(f"é{n}" for n in range(114)))


def packed() -> list[Page]:
    tokens = WORDS_OF_TWO_PAGES.take(np.argsort(WORDS_OF_TWO_PAGES.hashes))
    every, ones = np.arange(len(tokens)), np.ones(len(tokens), np.int64)
    return list(
        to_pages(tokens, ClassCounts(("ham", "spam"), np.ones(2), len(tokens), (SparseRow(every, ones, ones),) * 2))
    )


def read(pages: list[Page], classes: int = 2) -> None:
    keys = Pages.of([page[:4] for page in pages], classes).hashes
    tokens_of([page[4:] for page in pages], keys)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda a, b: [b, a], "do not fit"),
        (lambda a, b: [a, a], "do not fit"),
        (lambda a, b: [(a[0] + 1, *a[1:]), b], "not where they should be"),
        (lambda a, b: [(a[0], b"", *a[2:]), b], "not where they should be"),
        (lambda a, b: [a, (b[0], b[1] + b[1], *b[2:])], "do not fit"),
        (lambda a, b: [a, (*b[:2], b[2] + b[2], *b[3:])], "do not fit"),
        (lambda a, b: [a, (*b[:3], b[3] + b[3], *b[4:])], "do not fit"),
        (lambda a, b: [a, (*b[:3], b[3][:-1], *b[4:])], "do not fit"),
        (lambda a, b: [a, (*b[:3], None, *b[4:])], "no bytes"),
        (lambda a, b: [a, (*b[:4], b[4] + b[4], b[5])], "do not fit"),
        (lambda a, b: [a, (*b[:5], b[5] + b"x")], "do not fit"),
        (lambda a, b: [a, (*b[:5], b"\xff" * len(b[5]))], "not UTF-8"),
        (lambda a, b: [a, (*b[:5], b"x" * (b[4][0] - 1) + "é".encode() + b"x" * (b[4][2] - 1))], "inside a character"),
    ],
)
def test_pages_that_do_not_belong_together_are_told(change: Callable[[Page, Page], list[Page]], says: str) -> None:
    read(packed())
    with pytest.raises(Damaged, match=says):
        read(change(*packed()))


def test_cells_of_more_classes_than_there_are_are_told() -> None:
    with pytest.raises(Damaged, match="do not fit"):
        read(packed(), classes=1)


def test_what_pages_do_not_hold_is_refused() -> None:
    def one(token: str, count: int) -> Sequence[Page]:
        cells = SparseRow(np.array([0]), np.array([1]), np.array([count]))
        return list(to_pages(TokenArray.of([token]), ClassCounts(("ham",), np.ones(1), 1, (cells,))))

    read(list(one("x" * MAX_TOKEN_BYTES, MAX_COUNT)), classes=1)
    with pytest.raises(OverflowError, match="more than 65,535 bytes"):
        one("x" * (MAX_TOKEN_BYTES + 1), 1)
    with pytest.raises(OverflowError, match="more than 4,294,967,295 times"):
        one("x", MAX_COUNT + 1)
