"""new_rows.py: rows whose pages the core lays out are those that were given, in a database that SQLite finds sound."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spamnb.errors import SpamnbError
from spamnb.reader.tokens import TokenArray
from spamnb.store.new_rows import PAGE_BYTES, insert_tokens
from spamnb.store.rows import PackedCells
from spamnb.store.store import Store

EDGES = [0, *(n for power in (7, 14, 21, 28, 35, 42, 49, 56, 63) for n in ((1 << power) - 1, -(1 << power)))]
HASHES = st.one_of(st.sampled_from(EDGES), st.integers(-(1 << 63), (1 << 63) - 1))
SIZES = st.one_of(st.integers(0, 200), st.integers(0, 20_000))
ROWS = st.lists(st.tuples(HASHES, SIZES, SIZES), min_size=1, max_size=40, unique_by=lambda row: row[0])


def inserted(rows: list[tuple[int, int, int]]) -> None:
    """Insert rows of (hash, bytes of the text, bytes of the cells), and check that the store has these rows."""
    rows = sorted(rows)
    hashes, lengths, sizes = (np.array(column) for column in zip(*rows))
    text = np.full(lengths.sum(), ord("x"), np.uint8)
    tokens = TokenArray(text, np.cumsum(lengths) - lengths, lengths.astype(np.int32), hashes, hashes.astype(np.int8))
    octets = np.arange(sizes.sum()).astype(np.uint8)
    cells = PackedCells(octets, np.append(0, np.cumsum(sizes)))
    with Store.create(":memory:", {}) as store:
        insert_tokens(store, [(tokens, cells)])
        with store.reading():
            stored = store.execute("SELECT * FROM tokens ORDER BY hash").fetchall()
            assert store.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    expected = zip(hashes.tolist(), tokens, [None] * len(rows), cells.blobs(), [None] * len(rows))
    assert stored == list(expected)


@given(ROWS)
def test_rows_are_those_that_were_given(rows: list[tuple[int, int, int]]) -> None:
    inserted(rows)


@pytest.mark.parametrize("longest", [1, 30_000, PAGE_BYTES - 60])
def test_there_may_be_many_rows_and_long_ones(longest: int) -> None:
    inserted([(n * n, 1 + n % longest, n % 5) for n in range(4_000)])


def test_a_row_that_no_page_holds_is_refused() -> None:
    with pytest.raises(SpamnbError, match="longer than a model file holds"):
        inserted([(1, 3, 4), (2, PAGE_BYTES, 3)])
