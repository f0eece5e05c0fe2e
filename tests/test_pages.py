"""pages.py: what is packed is found again, whatever the bounds of pages, and nothing else is."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spamnb import pages as module
from spamnb.numbers import Tokens
from spamnb.pages import MOST, Pages, names, pack
from spamnb.sums import Cells, Sums

WORDS = st.lists(st.text(st.characters(codec="utf-8"), max_size=5), unique=True, max_size=40)


@settings(max_examples=100, deadline=None)
@given(WORDS, WORDS, st.integers(1, 3), st.sampled_from([1, 3, 64]), st.data())
def test_what_is_packed_is_found_again(
    words: list[str], others: list[str], classes: int, page: int, data: st.DataObject
) -> None:
    named = Tokens.of(words)
    tokens = named.some(np.argsort(named.keys))
    counts = np.array(
        data.draw(
            st.lists(
                st.sampled_from([0, 1, 7, MOST]), min_size=2 * classes * len(words), max_size=2 * classes * len(words)
            )
        ),
        np.int64,
    ).reshape(2, classes, len(words))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "PAGE", page)
        label, column = np.nonzero(counts.any(axis=0))
        cells = Cells(column, *counts[:, label, column])
        sums = Sums.of_cells("abc"[:classes], np.ones(classes), len(words), label, cells)
        packed = list(pack(tokens, sums))
    assert [first for first, *_ in packed] == tokens.keys[::page].tolist()
    pages = Pages.of([page[:4] for page in packed], classes)
    assert list(names([(lengths, text) for *_, lengths, text in packed], pages.keys)) == list(tokens)
    table = counts.swapaxes(0, 1).reshape(2 * classes, -1)
    asked = Tokens.of([*others, *words])
    found, rows = pages.look_up(asked.keys, 2 * classes)
    assert sorted(asked[int(i)] for i in found) == sorted(word for word in asked if word in words)
    place = {token: j for j, token in enumerate(tokens)}
    assert np.array_equal(rows, table[:, [place[asked[int(i)]] for i in found]])
