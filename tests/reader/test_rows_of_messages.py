"""``Rows`` against the same messages as dictionaries: parts of them, joined, over other lists of tokens."""

from __future__ import annotations

import pickle
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spamnb.reader import rows as module
from spamnb.reader.rows import UNDATED, Rows
from spamnb.reader.tokens import Vocabulary

MESSAGE = st.dictionaries(st.sampled_from("tea milk sugar café 無料 x:1".split()), st.integers(1, 9), max_size=6)
MESSAGES = st.lists(MESSAGE, max_size=7)
DICT = dict[str, int]


def contents(rows: Rows) -> list[DICT]:
    """Return the messages, each with its tokens ascending: the order of the cells is not compared."""
    return [
        dict(sorted(zip(rows.tokens.take(rows.ids[begin:end]), rows.counts[begin:end].tolist())))
        for begin, end in zip(rows.begins, rows.ends)
    ]


def ordered(messages: Sequence[DICT]) -> list[DICT]:
    return [dict(sorted(message.items())) for message in messages]


@given(MESSAGES, st.data())
def test_some_of_the_messages_are_those_messages_in_any_order(messages: list[DICT], data: st.DataObject) -> None:
    rows = Rows.of(messages, dates=np.arange(len(messages)))
    numbers = np.array(
        data.draw(st.lists(st.sampled_from(range(len(messages))), unique=True) if messages else st.just([])), int
    )
    some = rows.take(numbers)
    assert contents(some) == ordered([messages[n] for n in numbers]) and some.ids is rows.ids
    for same in (some.packed(), some.compact()):
        assert contents(same) == contents(some)
        assert same.dates.tolist() == same.positions.tolist() == numbers.tolist()
        assert same.indptr.tolist() == np.cumsum([0, *(len(messages[n]) for n in numbers)]).tolist()
    tokens = {token for n in numbers for token in messages[n]}
    assert set(some.compact().tokens) == tokens and len(some.compact().tokens) == len(tokens)
    assert [len(batch) for batch in some.batches(2)] == [2] * (len(some) // 2) + [1] * (len(some) % 2)
    assert [each for batch in some.batches(2) for each in contents(batch)] == contents(some)


@given(MESSAGES, st.sampled_from([0, 3, 1 << 25]), st.permutations(range(6)), st.integers(0, 6))
def test_selected_tokens_have_the_places_of_the_selection(
    messages: list[DICT], most: int, order: list[int], size: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "MAX_ITEMS_IN_MEMORY", most)
        patch.setattr(module, "MESSAGES_AT_ONCE", 2)
        rows = Rows.of(messages)
        selected = np.array([n for n in order if n < len(rows.tokens)][:size], int)
        names = [rows.tokens[n] for n in selected]
        chosen = rows.select(selected)
        assert list(chosen.tokens) == names
        assert contents(chosen) == ordered([{t: n for t, n in message.items() if t in names} for message in messages])
        dense = [[message.get(name, 0) for name in names] for message in messages]
        assert chosen.matrix().toarray().tolist() == dense


@given(MESSAGES, MESSAGES, st.booleans())
def test_joined_messages_keep_their_classes(ham: list[DICT], other: list[DICT], is_reversed: bool) -> None:
    vocabulary, parts = Vocabulary(), []
    for name, messages in (("ham", ham), ("more ham" if is_reversed else "a", other)):
        rows = Rows.of(messages, labels=np.zeros(len(messages), int), classes=(name,))
        ids = vocabulary.ids(rows.tokens)[rows.ids] if len(rows.ids) else rows.ids
        parts.append(module.replace(rows, tokens=vocabulary, ids=ids))
    joined = Rows.join(parts)
    assert contents(joined) == ordered([*ham, *other])
    names = [joined.classes[label] for label in joined.labels]
    assert names == ["ham"] * len(ham) + ["more ham" if is_reversed else "a"] * len(other)
    wider = joined.with_classes(("z", *joined.classes))
    assert [wider.classes[label] for label in wider.labels] == names


@given(st.lists(MESSAGE, min_size=1, max_size=5))
def test_messages_that_were_read_alone_are_merged_as_if_they_were_read_together(messages: list[DICT]) -> None:
    merged = Rows.merge([Rows.of([message]) for message in messages], Vocabulary())
    assert contents(merged) == ordered(messages)
    assert contents(merged.compact()) == contents(merged) and len(merged.tokens) == len({*map(str, merged.tokens)})


def test_what_was_not_read_is_empty_and_rows_travel_to_a_worker() -> None:
    rows = Rows.of([{"tea": 2}, {}])
    assert rows.digests.tolist() == [[0] * 16] * 2 and rows.dates.tolist() == [UNDATED] * 2
    assert rows.labels.tolist() == [-1, -1] and not rows.truncations.any()
    assert rows.__sizeof__() > rows.digests.nbytes + rows.tokens.text.nbytes
    assert contents(pickle.loads(pickle.dumps(rows))) == contents(rows)  # noqa: S301
