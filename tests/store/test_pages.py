"""Pages of tokens and of corrections: what is packed is found again, and damage is told."""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spamnb.counts.class_counts import ClassCounts, SparseRow
from spamnb.errors import Damaged, SpamnbError
from spamnb.reader.token_array import TokenArray
from spamnb.settings import Settings
from spamnb.store import pages as module
from spamnb.store import store as stores
from spamnb.store.correction_sums import CorrectionSums, MessageUnits, TokenUnits, kinds_of, pages_of, written_sizes
from spamnb.store.pages import MAX_COUNT, MAX_TOKEN_BYTES, Page, Pages, to_pages, tokens_of, weights_of
from spamnb.store.store import Store

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


META = Settings(model_type="corrected").as_meta()
NAMES = ("ham", "list", "spam")
TOKENS = [f"t{i}" for i in range(2_000)]


def filled(path: Path, rng: np.random.Generator) -> tuple[Store, dict[str, np.ndarray]]:
    units = rng.integers(-1_000_000, 1_000_000, (len(TOKENS), 3))
    units[:, 0] = -units[:, 1:].sum(axis=1)
    found = TokenArray.of(TOKENS)
    order = np.argsort(found.hashes)
    store = Store.create(path, META)
    with store.writing():
        for name in NAMES:
            store.class_id(name)
        digests = [bytes([i]) * 16 for i in range(5)]
        weights = TokenUnits(found.hashes[order], units[order])
        store.corrections.put_whole(CorrectionSums(NAMES, weights, MessageUnits(digests, units[:5])))
    return store, dict(zip(TOKENS, units))


@pytest.mark.parametrize("cached", [None, 50])
def test_weights_are_sums_whatever_is_kept_in_memory(
    tmp_path: Path, cached: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    if cached:
        monkeypatch.setattr(stores, "MAX_CACHED_TOKENS", cached)
    rng = np.random.default_rng(0)
    store, expected = filled(tmp_path / "m", rng)
    with store:
        for step in range(60):
            some = [TOKENS[i] for i in rng.choice(len(TOKENS), 20, replace=False)] + ["unheard"]
            found = store.corrections.look_up(some, NAMES)
            assert np.array_equal(found.T, [expected.get(token, np.zeros(3)) for token in some])
            change = {"ham": step - 30, "spam": 30 - step} if step % 2 else {"list": 5, "spam": -5}
            store.corrections.add(some, change)
            for token in some:
                expected[token] = expected.get(token, 0) + np.array([change.get(name, 0) for name in NAMES])
    with Store.open(tmp_path / "m") as store:
        store.preload()
        some = [*TOKENS, "unheard"]
        assert np.array_equal(store.corrections.look_up(some, NAMES).T, [expected[token] for token in some])
        assert np.array_equal(store.corrections.look_up(some, ("spam",))[0], [expected[token][2] for token in some])


def test_a_class_that_comes_later_has_no_weight_yet(tmp_path: Path) -> None:
    store, expected = filled(tmp_path / "m", np.random.default_rng(1))
    with store:
        store.corrections.add(TOKENS[:3], {"ham": 7, "spam": -7})
        store.class_id("new")
        found = store.corrections.look_up(TOKENS[:4], (*NAMES, "new"))
        assert not found[3].any() and found[0, 3] == expected["t3"][0] and found[0, 0] == expected["t0"][0] + 7
        store.corrections.add(TOKENS[:3], {"ham": -7, "spam": 7})
        keys, units = store.corrections.whole().weights
        found = TokenArray.of(TOKENS)
        order = np.argsort(found.hashes)
        assert np.array_equal(keys, found.hashes[order]), "what was taken back leaves nothing"
        assert np.array_equal(units[:, :3], [expected[TOKENS[i]] for i in order]) and not units[:, 3].any()


def test_what_a_message_brought_is_kept_by_its_digest(tmp_path: Path) -> None:
    store, expected = filled(tmp_path / "m", np.random.default_rng(2))
    with store:
        assert store.corrections.brought(bytes([3]) * 16) == dict(zip(NAMES, expected["t3"].tolist()))
        store.corrections.put_brought(b"x" * 16, {"ham": -2, "spam": 2})
        assert store.corrections.brought(b"x" * 16) == {"ham": -2, "spam": 2}
        store.corrections.put_brought(b"x" * 16, {})
        assert store.corrections.brought(b"x" * 16) == {}
        with pytest.raises(SpamnbError, match="brought more than a model file holds"):
            store.corrections.put_brought(b"x" * 16, {"ham": -(1 << 40), "spam": 1 << 40})


def test_the_sum_of_corrections_goes_by_the_names_of_classes() -> None:
    parts = [
        CorrectionSums(names, TokenUnits(np.array([1, key]), units), MessageUnits([digest], units[:1]))
        for names, key, units, digest in (
            (("ham", "spam"), 2, np.array([[1, -1], [2, -2]]), b"a" * 16),
            (("ham", "list"), 3, np.array([[10, -10], [20, -20]]), b"b" * 16),
        )
    ]
    names, weights, brought = CorrectionSums.sum(parts)
    assert names == ("ham", "list", "spam")
    of_keys = dict(zip(weights.keys.tolist(), weights.units.tolist()))
    assert of_keys == {1: [11, -10, -1], 2: [2, 0, -2], 3: [20, -20, 0]}
    assert dict(zip(brought.digests, brought.units.tolist())) == {b"a" * 16: [1, 0, -1], b"b" * 16: [10, -10, 0]}
    assert CorrectionSums.sum(parts).of_classes(names).used().classes == names


@pytest.mark.parametrize("classes", [2, 3, 5, 6, 20])
def test_weights_of_any_width_are_read_as_they_were_written(classes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("spamnb.store.correction_sums.PAGE_BYTES", 300)
    rng = np.random.default_rng(classes)
    largest = np.array([0, 1, 127, 128, 129, 32_767, 32_768, 32_769, (1 << 31) - 1])
    units = rng.choice(np.append(largest, -largest), (200, classes))
    units[:, 0] = -units[:, 1:].sum(axis=1)
    units = units[units.any(axis=1)]
    keys = np.sort(rng.choice(1 << 60, len(units), replace=False)) - (1 << 59)
    pages = list(pages_of(TokenUnits(keys, units)))
    assert len(pages) > 3 and [int(np.frombuffer(page[1], "<i8")[0]) for page in pages] == [page[0] for page in pages]
    assert sum(len(blob) for page in pages for blob in page[1:]) == written_sizes(kinds_of(units)).sum()
    assert all(sum(map(len, page[1:])) <= 300 for page in pages)
    rows = [page[1:] for page in pages]
    for more in (0, 1, 4):  # classes that came later
        found = weights_of(rows, classes + more)
        assert np.array_equal(found[0], keys) and np.array_equal(found[1], np.pad(units, ((0, 0), (0, more))))
        asked = np.sort(np.append(keys[::7], [-(1 << 60), 5, 1 << 61]))
        some = weights_of(rows, classes + more, asked)
        assert np.array_equal(some[0], keys[::7]) and np.array_equal(some[1], found[1][::7])
    assert [len(part) for part in weights_of([], classes)] == [0, 0]
