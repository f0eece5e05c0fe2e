"""rows.py: cells that are packed are found again, and rows that cannot be are told."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spamnb.errors import Damaged, SpamnbError
from spamnb.reader.token_array import TokenArray
from spamnb.settings import Settings
from spamnb.store.records import LearnedMessage
from spamnb.store.rows import CELL, MAX_COUNT, MAX_UNITS, TokenRows, tokens_of
from spamnb.store.snapshot import CorrectionSums, MessageUnits, TokenUnits, read_snapshot, write_snapshot
from spamnb.store.store import Store

CELLS = st.lists(
    st.tuples(
        st.integers(0, 9), st.integers(0, 3), st.integers(0, 5), st.integers(0, 5), st.integers(-5, 5)
    )
)


def table(cells: list[tuple[int, int, int, int, int]]) -> np.ndarray:
    out = np.zeros((3, 4, 10), np.int64)
    for token, label, *figures in cells:
        out[:, label, token] += [min(figures[:2]), sum(figures[:2]), figures[2]]
    return out


def rows_of(cells: list[tuple[int, int, int, int, int]], hashes: np.ndarray) -> TokenRows:
    figures = table(cells)
    label, token = np.nonzero(figures.any(axis=0))
    return TokenRows.absent(hashes).plus(token, label, figures[:, label, token])


@given(CELLS, CELLS, st.sets(st.integers(0, 9)))
def test_what_is_added_and_packed_is_found_again(first: list, then: list, asked: set[int]) -> None:
    hashes = np.arange(-50, 50, 10)
    figures = table(then)
    label, token = np.nonzero(figures.any(axis=0))
    rows = rows_of(first, hashes).plus(token, label, figures[:, label, token])
    assert rows.changed.tolist() == (table(first).any(axis=(0, 1)) | figures.any(axis=(0, 1))).tolist()
    cells = np.frombuffer(b"".join(rows.blobs("m")), CELL)
    assert len(cells) == len(rows.label)
    legal = rows.figures[0] <= rows.figures[1]
    if legal.all() and not ((rows.figures[0] == 0) & (rows.figures[1] > 0)).any():
        every = np.arange(-51, 51)
        read = TokenRows.read(list(zip(hashes.tolist(), rows.blobs("m"))), every, 4)
        assert np.flatnonzero(read.known).tolist() == (hashes + 51).tolist()
        for figure in range(3):
            dense = read.dense(figure, 4, read.places(hashes))
            assert np.array_equal(dense, (table(first) + figures)[figure])
        places = np.array(sorted(asked), np.intp)
        some = rows.take(places).merge(rows.take(np.array([j for j in range(10) if j not in asked], np.intp)))
        assert some.blobs("m") == rows.blobs("m") and np.array_equal(some.hashes, hashes)
        of_class = rows.of_class(1, places)
        assert np.array_equal(of_class, (table(first) + figures)[:, 1, places])
    back = rows.plus(token, label, -figures[:, label, token])
    assert back.blobs("m") == rows_of(first, hashes).blobs("m")


def packed(*cells: tuple[int, int, int, int]) -> bytes:
    return np.array(list(cells), CELL).tobytes()


@pytest.mark.parametrize(
    ("cells", "says"),
    [
        (packed((0, 1, 1, 0))[:-1], "no cells|cut short"),
        (packed((0, 1, 1, 0))[:7], "no cells|cut short"),
        ("x", "no cells"),
        (None, "no cells"),
        (3, "no cells"),
        (packed((2, 1, 1, 0)), "classes that cannot be"),
        (packed((1, 1, 1, 0), (0, 1, 1, 0)), "classes that cannot be"),
        (packed((1, 1, 1, 0), (1, 1, 1, 0)), "classes that cannot be"),
        (packed((0, 2, 1, 0)), "sums of tokens that cannot be"),
        (packed((0, 0, 1, 0)), "sums of tokens that cannot be"),
    ],
)
def test_cells_that_cannot_be_are_told(cells: bytes, says: str) -> None:
    good = packed((0, 1, 1, 0), (1, 1, 2, -3))
    assert len(TokenRows.read([(1, good)], np.array([1, 2]), 2).label) == 2
    with pytest.raises(Damaged, match=says):
        TokenRows.read([(1, good), (2, cells)], np.array([1, 2]), 2)


@pytest.mark.parametrize("texts", [[b"\xff", b"a"], ["a", b"b"], [None, b"b"], [b"\xc3", b"\xa9"]])
def test_tokens_that_are_no_text_are_told(texts: list) -> None:
    assert list(tokens_of([b"a", "é".encode()])) == ["a", "é"]
    with pytest.raises(Damaged, match=r"no text|inside a character"):
        tokens_of(texts)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda rows: rows.figures.__setitem__((1, 0), MAX_COUNT + 1), "counted more than 4,294,967,295 times"),
        (lambda rows: rows.figures.__setitem__((2, 0), MAX_UNITS + 1), "weight is larger than a model file holds"),
    ],
)
def test_what_a_row_does_not_hold_is_refused(change: Callable[[TokenRows], None], says: str) -> None:
    rows = rows_of([(0, 0, 1, 1, 1)], np.arange(10))
    change(rows)
    with pytest.raises(SpamnbError, match=says):
        rows.blobs("m")


def test_a_correction_comes_back_whole(tmp_path: Path) -> None:
    meta = Settings(model_type="corrected").as_meta()
    names, rng = ("ham", "list", "spam"), np.random.default_rng(1)
    store = Store.create(":memory:", meta)
    words = [f"t{i}" for i in range(2_000)]
    for name in names:
        store.add(name, dict.fromkeys(words, 1))
    content = read_snapshot(store)
    units = rng.integers(-(1 << 20), 1 << 20, (2_000, 3))
    units[:, 0] = -units[:, 1:].sum(axis=1)
    tokens = TokenArray.of(words)
    digests = [bytes([n]) * 16 for n in range(5)]
    content = content._replace(
        messages=[(digest, LearnedMessage("spam", True, None)) for digest in digests],
        correction=CorrectionSums(names, TokenUnits(np.sort(tokens.hashes), units), MessageUnits(digests, units[:5])),
    )
    with Store.create(tmp_path / "m", meta) as out:
        write_snapshot(out, content)
    with Store.open(tmp_path / "m") as out:
        whole = out.corrections.whole()
        assert np.array_equal(whole.weights.units, units) and np.array_equal(whole.brought.units, units[:5])
        found = out.corrections.look_up(words, ("spam", "ham"))
        assert np.array_equal(found, units[np.argsort(np.argsort(tokens.hashes))][:, [2, 0]].T)
        assert out.corrections.brought(digests[1]) == dict(zip(names, units[1].tolist()))
