"""CountCache, of pages.py: what is held back until the end of a change is written as if it had been written at once."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spamnb.errors import SpamnbError
from spamnb.settings import Settings
from spamnb.store.jsonl import export
from spamnb.store.pages import CountCache
from spamnb.store.store import Store
from spamnb.tokens.vocabulary import Vocabulary

MESSAGES = st.lists(
    st.tuples(
        st.sampled_from(["ham", "spam", "list"]), st.dictionaries(st.sampled_from("abcdefgh"), st.integers(1, 3))
    ),
    max_size=12,
)


def empty() -> Store:
    return Store.create(":memory:", Settings().as_meta())


@settings(max_examples=30, deadline=None)
@given(MESSAGES, st.data())
def test_one_change_of_many_messages_is_many_changes_of_one(
    messages: list[tuple[str, dict[str, int]]], data: st.DataObject
) -> None:
    together, apart = empty(), empty()
    forgotten = data.draw(st.lists(st.sampled_from(range(len(messages))), unique=True)) if messages else []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("spamnb.store.store.MAX_CACHED_TOKENS", data.draw(st.sampled_from([1, 6, 1000])))
        with together.writing():
            for label, tokens in messages:
                together.add(label, tokens)
                found = together.look_up(list("abcdefgh"))
                apart.add(label, tokens)
                same = apart.look_up(list("abcdefgh"))
                assert found.document_counts.tolist() == same.document_counts.tolist()
                assert found.occurrences.tolist() == same.occurrences.tolist()
                assert together.frequencies() == apart.frequencies()
            for n in forgotten:
                together.add(messages[n][0], messages[n][1], -1)
                apart.add(messages[n][0], messages[n][1], -1)
        assert list(export(together)) == list(export(apart))
    figures = [store.execute("SELECT * FROM frequencies").fetchall() for store in (together, apart)]
    assert figures[0] == figures[1]


def test_a_change_that_fails_leaves_nothing_behind() -> None:
    store = empty()
    store.add("spam", {"a": 1, "b": 2})
    before = list(export(store))
    with pytest.raises(SpamnbError, match="not part of"), store.writing():
        store.add("spam", {"b": 1, "c": 1})
        store.add("spam", {"never": 1}, -1)
    assert list(export(store)) == before
    assert store.look_up(["a", "b", "c"]).occurrences.tolist() == [[1, 2]]


def test_the_table_grows_with_what_is_asked_for() -> None:
    cache = CountCache(4, Vocabulary())
    at = cache.columns([f"t{i}" for i in range(5000)])
    known = np.arange(0, 5000, 7)
    trained = np.stack([known, known * 0 + 1, known * 0 + 2, known * 0 + 3])
    cache.load(cache.missing(at), known, trained, np.zeros((4, 5000), int))
    assert list(cache.missing(at)) == []
    assert cache.table[0, at[::7]].tolist() == list(range(0, 5000, 7))
    assert cache.in_vocabulary[at].sum() == len(range(0, 5000, 7))
    assert cache.columns(["t4999", "t7"]).tolist() == [4999, 7]
    assert list(cache.missing(cache.columns(["t4999", "new"]))) == ["new"]


def test_what_was_trained_and_is_forgotten_is_no_longer_there() -> None:
    for closed in (False, True):  # a model of chosen words keeps them
        cache = CountCache(2, Vocabulary(), closed)
        at = cache.columns(["a", "b", "c"])
        since = np.array([[-1, 0, 1], [-1, 0, 3]])  # of "a" all is taken away, "c" was not trained
        cache.load(cache.missing(at), np.array([0, 1]), np.ones((2, 2), np.int64), since)
        assert cache.table[:, at].tolist() == [[0, 1, 1], [0, 1, 3]]
        assert cache.in_vocabulary[at].tolist() == [closed, True, not closed]
