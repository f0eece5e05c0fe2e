"""rows.py: cells that are packed are found again, and rows that cannot be are told."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spamnb.errors import Damaged, SpamnbError
from spamnb.store.rows import MAX_COUNT, MAX_UNITS, Cells, tokens_of

COUNTS = st.integers(0, MAX_COUNT // 4)
CELLS = st.lists(
    st.tuples(st.integers(0, 9), st.integers(0, 3), COUNTS, COUNTS, st.integers(-MAX_UNITS // 4, MAX_UNITS // 4))
)


def table(cells: list[tuple[int, int, int, int, int]]) -> np.ndarray:
    """(10, 4, 3) what the first four of the cells are together: more would be too large."""
    out = np.zeros((10, 4, 3), np.int64)
    for token, label, documents, more, weight in cells[:4]:
        out[token, label] += [documents, documents and documents + more // 2, weight]
    return out


def cells_of(figures: np.ndarray) -> Cells:
    token, label = np.nonzero(figures.any(axis=2))
    return Cells.sum(token[::-1], label[::-1], figures[token, label][::-1].T)


@given(CELLS)
def test_what_is_packed_is_unpacked_again(cells: list) -> None:
    before = cells_of(table(cells))
    assert all(map(np.array_equal, Cells.unpack(before.pack(10, "m").blobs(), 4), before))


GOOD = bytes([0, 1, 0, 0, 1, 1, 1, 5])  # of two classes


@pytest.mark.parametrize(
    ("cells", "says"),
    [
        (GOOD[:-1], "truncated cells"),
        (GOOD[:-1] + b"\x85", "truncated cells"),
        (b"\xff" * 5 + GOOD, "truncated cells"),
        ("x", "not bytes"),
        (None, "not bytes|NoneType"),
        (bytes([2, 1, 1, 0]), "unknown or repeated classes"),
        (bytes([1, 1, 1, 0, 0, 1, 1, 0]), "unknown or repeated classes"),
        (bytes([1, 1, 1, 0, 1, 1, 1, 0]), "unknown or repeated classes"),
        (bytes([0, 0, 1, 0]), "impossible counts"),
        (bytes([0, 255, 255, 255, 255, 127, 1, 0]), "impossible counts"),
    ],
)
def test_cells_that_cannot_be_are_told(cells: bytes, says: str) -> None:
    assert Cells.unpack([GOOD], 2).figures.tolist() == [[1, 1], [1, 2], [0, -3]]
    for blobs in ([GOOD, cells], [cells, GOOD], [cells]):
        with pytest.raises(Damaged, match=says):
            Cells.unpack(blobs, 2)


@pytest.mark.parametrize("texts", [[b"\xff", b"a"], ["a", b"b"], [None, b"b"], [b"\xc3", b"\xa9"]])
def test_tokens_that_are_no_text_are_told(texts: list) -> None:
    assert list(tokens_of([b"a", "é".encode()])) == ["a", "é"]
    with pytest.raises(Damaged, match=r"not UTF-8|inside a character"):
        tokens_of(texts)


@pytest.mark.parametrize(
    ("figures", "says"),
    [
        ([1, MAX_COUNT + 1, 0], "counted more than 4,294,967,295 times"),
        ([1, 1, -MAX_UNITS - 1], "weight is larger than a model file holds"),
    ],
)
def test_what_a_row_does_not_hold_is_refused(figures: list[int], says: str) -> None:
    with pytest.raises(SpamnbError, match=says):
        Cells.sum(np.array([0]), np.array([0]), np.array([figures]).T).pack(1, "m")
