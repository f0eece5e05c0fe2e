"""chunks.py: nothing lost, nothing twice, and neither more entries nor much more mail than asked for."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from spamnb.engines.chunks import take_chunk
from spamnb.sources.entries import Entry

sizes = st.lists(st.none() | st.integers(0, 9), max_size=12)  # None: an entry that is a file


def entries(sizes: list[int | None]) -> list[Entry]:
    return [Entry(None, str(n), "", content=None if size is None else b"x" * size) for n, size in enumerate(sizes)]


@given(sizes, st.integers(1, 5), st.integers(0, 20))
def test_chunks_are_the_entries_in_order_each_as_large_as_may_be(
    sizes: list[int | None], most: int, most_bytes: int
) -> None:
    given = entries(sizes)
    source = iter(given)
    taken: list[Entry] = []
    more = True
    while more:
        found, size, more = take_chunk(source, most, most_bytes)
        carried = [len(entry.content or b"") for entry in found]
        assert size == sum(carried)
        full = len(found) == most or size > most_bytes
        assert len(found) <= most and sum(carried[:-1]) <= most_bytes
        assert more == full, "a chunk that is not full is the last"
        taken += found
    assert taken == given


def test_no_entry_is_read_ahead() -> None:
    source = iter(entries([None, 3, 2, 1]))
    assert [len(take_chunk(source, 10, most_bytes).entries) for most_bytes in (2, 1, 0)] == [2, 1, 1]
    assert take_chunk(source, 10, 0) == ([], 0, False)
