"""store.py: sums in a file, whole changes only, and clear words for what is no model."""

import gc
import sqlite3
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mail import add, make_store, rewrite_as_trained

from spamnb.errors import SpamnbError
from spamnb.store.database import APPLICATION_ID
from spamnb.store.jsonl import export
from spamnb.store.snapshot import read_snapshot
from spamnb.store.store import FORMAT, Store

documents = st.dictionaries(st.sampled_from(["a", "b", "c", "ü", "日本", 'x"y', "z'"]), st.integers(1, 5), max_size=6)
labelled = st.lists(st.tuples(st.sampled_from(["ham", "spam", "list"]), documents), max_size=8)


@given(labelled)
def test_sums_are_the_sums(messages: list[tuple[str, dict[str, int]]]) -> None:
    store = make_store(messages)
    totals = store.model.totals
    assert totals.classes == tuple(sorted({label for label, _ in messages}))
    words = sorted({token for _, tokens in messages for token in tokens})
    assert totals.vocabulary_size == len(words)
    found = store.look_up([*words, "never seen"])
    for c, name in enumerate(totals.classes):
        own = [tokens for label, tokens in messages if label == name]
        assert totals.documents[c] == len(own)
        assert totals.occurrences[c] == sum(sum(tokens.values()) for tokens in own)
        assert totals.document_counts[c] == sum(map(len, own))
        holders = [sum(word in tokens for tokens in own) for word in words]
        assert found.document_counts[:, c].tolist() == [*holders, 0]
        assert found.occurrences[:, c].tolist() == [*(sum(tokens.get(word, 0) for tokens in own) for word in words), 0]
        assert +Counter(store.frequencies()[c]) == Counter(holders)


@given(labelled, st.integers(0, 8), st.sets(st.integers(0, 7)), st.sampled_from([0, 5, 20_000]))
def test_trained_and_learned_sums_add_up(
    messages: list[tuple[str, dict[str, int]]], first: int, forgotten: set[int], most: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("spamnb.store.token_table.MAX_CELLS", most)
        both, learned = rewrite_as_trained(make_store(messages[:first])), make_store(messages)
        for label, tokens in messages[first:]:
            add(both, label, tokens)
        for store in (both, learned):
            for n in sorted(forgotten & set(range(len(messages)))):
                add(store, messages[n][0], messages[n][1], -1)
        assert list(export(both)) == list(export(learned))
        words = sorted({token for _, tokens in messages for token in tokens})
        assert both.look_up(words).figures.tolist() == learned.look_up(words).figures.tolist()
        assert both.frequencies() == learned.frequencies()
        assert both.model.totals.vocabulary_size == learned.model.totals.vocabulary_size


def test_a_class_without_messages_cannot_lose_one() -> None:
    store = make_store([("ham", {"a": 1}), ("spam", {"b": 1})])
    add(store, "ham", {"a": 1}, -1)
    before = list(export(store))
    for tokens in ({"a": 1}, {"b": 1}, {}):
        with pytest.raises(SpamnbError, match="has no message"):
            add(store, "ham", tokens, -1)
        assert list(export(store)) == before


def test_no_token_loses_more_than_it_has() -> None:
    """Another version may read other tokens, and what the model has of them is subtracted."""
    store = make_store([("ham", {"a": 2}), ("ham", {"a": 1, "c": 1}), ("spam", {"b": 1})])
    add(store, "ham", {"a": 9, "b": 1, "d": 4}, -1)
    content = read_snapshot(store)  # Damaged where the sums do not add up, or are below 0
    assert sorted(content.block.tokens) == ["a", "b", "c"] and content.model.sums[:, 0].tolist() == [1, 1]
    found = store.look_up(["a", "b", "c"])
    assert found.document_counts.tolist() == found.occurrences.tolist() == [[1, 0], [0, 1], [1, 0]]


def test_classes_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("spamnb.store.store.MAX_CLASSES", 2)
    store = make_store([("ham", {"a": 1}), ("spam", {"b": 1})])
    before = list(export(store))
    with pytest.raises(SpamnbError, match="more than 2 classes; was a folder of folders given"):
        add(store, "list", {"a": 1})
    assert list(export(store)) == before
    add(store, "ham", {"b": 1})


def test_what_was_opened_to_be_read_is_not_written(tmp_path: Path) -> None:
    Store.create(tmp_path / "m", {}).close()
    with Store.open(tmp_path / "m") as store, pytest.raises(SpamnbError, match="cannot be written"):
        store.put_meta({"note": 1})


@pytest.mark.parametrize("kind", ["reading", "writing"])
def test_a_transaction_that_is_cut_off_says_nothing_after_the_file_is_closed(
    monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    gc.collect()  # Python 3.13 tells of every model in memory that earlier tests left
    said: list[object] = []
    monkeypatch.setattr("sys.unraisablehook", said.append)
    store = Store.create(":memory:", {})
    cut_off = getattr(store, kind)()
    cut_off.__enter__()  # Ctrl-C came before its block began
    store.close()
    del cut_off
    gc.collect()
    assert not said


def newer(path: Path) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {FORMAT + 1}")
    connection.close()


def foreign(path: Path) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE recipes (name TEXT)")
    connection.close()


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda path: None, "m: no model there"),
        (lambda path: path.mkdir(), "m: a folder, and no model there"),
        (lambda path: path.write_bytes(b""), "an empty file and no model"),
        (lambda path: path.write_text("From me to you, not a database at all\n" * 50), "not a spamnb model"),
        (foreign, "not a spamnb model"),
        (newer, "newer spamnb"),
    ],
)
def test_what_is_no_model_is_told_in_one_line(tmp_path: Path, make, says: str) -> None:  # type: ignore[no-untyped-def]
    path = tmp_path / "m"
    make(path)
    with pytest.raises(SpamnbError, match=says) as error:
        Store.open(path)
    assert "\n" not in str(error.value)
    assert str(path) in str(error.value)


@pytest.mark.parametrize("array", [[np.nan], [np.inf], ["x"], [1j], np.zeros(3, "M8[s]")])
def test_arrays_hold_finite_numbers(array: Any) -> None:
    store = make_store([])
    store.put_arrays({"w": np.array(array)})
    store.drop_cache()
    with pytest.raises(SpamnbError, match="array w in table meta is not an array of finite numbers"):
        store.own.arrays.keys()


@pytest.mark.parametrize("shape", ["3", "[-1]", "[4]", "[true, 3]", "[1.0, 3]", '["3"]', "[[3]]", "[3], 1", '[3]], ["'])
def test_arrays_have_the_shape_that_is_said(shape: str) -> None:
    store = make_store([])
    store.put_arrays({"w": np.arange(3)})
    store.execute("UPDATE meta SET value = ? WHERE content NOT NULL", (f'["<i8", {shape}]',))
    store.drop_cache()
    with pytest.raises(SpamnbError, match=r"w in table meta|value in table meta"):
        store.own.arrays.keys()


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        ("UPDATE classes SET documents = 0", "figures in table classes that do not fit"),
        ("UPDATE classes SET document_counts = occurrences + 1", "figures in table classes that do not fit"),
        ("UPDATE meta SET value = 1 WHERE key = 'vocabulary_size'", "figures in table classes that do not fit"),
        ("DELETE FROM meta WHERE key = 'vocabulary_size'", "vocabulary_size in table meta: -1"),
        ("UPDATE classes SET id = 3", "numbers in table classes that are not in order"),
        ("UPDATE tokens SET cells = 'x'", "cells in table tokens that are not bytes"),
        ("DELETE FROM tokens", "sums of tokens that differ from the sums in table classes"),
    ],
)
def test_figures_that_do_not_fit_together_are_told(spoil: str, says: str) -> None:
    store = make_store([("ham", {"a": 1, "b": 3})])
    assert store.frequencies() == [{0: 0, 1: 2}]
    store.execute(spoil)
    store.drop_cache()
    with pytest.raises(SpamnbError, match=says):
        store.frequencies()


@given(labelled, st.data())
def test_one_change_of_many_messages_is_many_changes_of_one(
    messages: list[tuple[str, dict[str, int]]], data: st.DataObject
) -> None:
    words, together, apart = ["a", "b", "c", "ü", "日本"], make_store([]), make_store([])
    forgotten = data.draw(st.lists(st.sampled_from(range(len(messages))), unique=True)) if messages else []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("spamnb.store.token_table.MAX_ROWS", data.draw(st.sampled_from([1, 6, 1000])))
        with together.writing():
            for label, tokens in messages:
                add(together, label, tokens)
                found = together.look_up(words)
                add(apart, label, tokens)
                same = apart.look_up(words)
                assert found.document_counts.tolist() == same.document_counts.tolist()
                assert found.occurrences.tolist() == same.occurrences.tolist()
                assert together.frequencies() == apart.frequencies()
            for n in forgotten:
                add(together, messages[n][0], messages[n][1], -1)
                add(apart, messages[n][0], messages[n][1], -1)
        assert list(export(together)) == list(export(apart))
