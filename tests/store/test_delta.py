"""delta.py and delta_lines.py: the difference of two models is a sum of messages, in lines too, and on a server."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mail import learned_model, message

from spamnb.api.exchange import TakenIn, learned_since, take_in
from spamnb.classifier import Classifier
from spamnb.errors import SpamnbError
from spamnb.store.delta import ChangedMessage, MessageState, TokenSum, settled, without_messages
from spamnb.store.delta_lines import delta_lines, parse_delta
from spamnb.store.jsonl import export, parse_export
from spamnb.store.learned import LearnedMessage
from spamnb.store.snapshot import atomic_replace, write_snapshot
from spamnb.store.store import open_store

BINS = st.one_of(st.none(), st.dictionaries(st.sampled_from(["ham", "spam"]), st.integers(0, 3)))
UNITS = st.dictionaries(st.sampled_from(["ham", "spam"]), st.integers(-2, 2).filter(bool))
LEARNED = st.builds(LearnedMessage, st.sampled_from(["ham", "list", "spam"]), st.booleans(), BINS)
STATES = st.one_of(st.none(), st.builds(MessageState, LEARNED, UNITS))


@given(STATES, st.lists(STATES, min_size=1, max_size=4), st.randoms())
def test_what_a_message_is_depends_on_no_order_and_no_repetition(before, told, chance) -> None:
    def after(states: list[MessageState | None]) -> MessageState | None:
        mine = before
        for state in states:
            mine = settled(mine, ChangedMessage(bytes(16), before, state), "spam")
        return mine

    again = [*told, chance.choice(told)]
    chance.shuffle(again)
    assert after(again) == after(told)
    assert after([before]) == before and after([told[0]]) == told[0]


CHANGES = st.lists(
    st.builds(
        ChangedMessage,
        st.binary(min_size=16, max_size=16),
        STATES,
        STATES,
        st.dictionaries(st.sampled_from("abc"), st.integers(1, 3)),
    ),
    max_size=4,
)


@given(CHANGES, CHANGES)
def test_taking_messages_out_one_by_one_is_taking_out_their_sum(first, second) -> None:
    whole = {"a": TokenSum({"ham": (9, 9)}, {}), "z": TokenSum({"ham": (1, 1)}, {"ham": 5})}
    assert without_messages(without_messages(whole, first), second) == without_messages(whole, [*second, *first])
    back = [change._replace(before=change.after, after=change.before) for change in first]
    assert without_messages(without_messages(whole, first), back) == whole


@pytest.fixture
def base(tmp_path: Path) -> Path:
    return learned_model(tmp_path / "base.spamnb")


def taught(base: Path, to: Path | str, *lessons: tuple[str, bytes]) -> Path | str:
    """A copy of a model at ``to``, which learned these."""
    with open_store(base) as store:
        snapshot = parse_export(list(export(store, lessons=True)), "base")
    with atomic_replace(to, snapshot.meta) as store:
        write_snapshot(store, snapshot)
    with Classifier.open(to, writable=True) as classifier:
        for label, raw in lessons:
            classifier.learn(label, raw)
    return to


def lines_since(model: Path | str, base: Path) -> list[str]:
    return list(delta_lines(learned_since(model, base)))


NEW = [("spam", message("spam", 70)), ("ham", message("ham", 71)), ("list", message("ham", 1))]


def test_lines_are_read_as_they_were_written_and_damage_is_named(base: Path, tmp_path: Path) -> None:
    delta = learned_since(taught(base, tmp_path / "m", *NEW), base)
    written = list(delta_lines(delta))
    assert parse_delta(written, "d") == delta and list(delta_lines(parse_delta(written, "d"))) == written
    with pytest.raises(SpamnbError, match="d: cut short"):
        parse_delta(written[:-1], "d")
    with pytest.raises(SpamnbError, match=r"d: line 3 is not of 'spamnb export --since'.*not in order"):
        parse_delta([written[0], written[1], written[1]], "d")
    with pytest.raises(SpamnbError, match="d: made by another spamnb"):
        parse_delta([json.dumps({**json.loads(written[0]), "spamnb": 5})], "d")
    record = json.loads(written[1])
    for spoilt in (
        {"message": "5f"},
        {"tokens": {"a": 0}},
        {"tokens": {"a" * 100_000: 1}},
        {"after": {"class": "unsure", "taught": True}},
        {"after": {"class": "ham", "taught": True, "bins": {"ham": 10**9}}},
        {"after": {"class": "ham", "taught": True, "brought": {"ham": 1}}},
        {"before": []},
    ):
        with pytest.raises(SpamnbError, match="d: line 2 is not of"):
            parse_delta([written[0], json.dumps({**record, **spoilt})], "d")
    for spoilt in ({"token": "a", "counts": {"ham": [1]}}, {"token": 3, "counts": {}}, {"other": 1}, [], 7):
        with pytest.raises(SpamnbError, match="d: line 2 is not of"):
            parse_delta([written[0], json.dumps(spoilt)], "d")


def test_a_file_and_a_server_tell_each_other(base: Path, tmp_path: Path, url: str) -> None:
    file, there = taught(base, tmp_path / "m", *NEW[:2]), taught(base, url, *NEW[1:])
    told = [lines_since(file, base), lines_since(there, base)]
    for model, given_ in ((file, told[1]), (there, told[0])):
        with Classifier.open(model, writable=True) as classifier:
            done = take_in(classifier, parse_delta(given_, "d"), "d")
            assert done == (TakenIn(moved=1, known=1) if model is file else TakenIn(learned=1, known=1))
    with open_store(file) as one, open_store(there) as other:
        assert list(export(one)) == list(export(other))
    newer = taught(there, tmp_path / "newer")  # a base may lie anywhere
    with Classifier.open(there, writable=True) as classifier:
        assert classifier.forget("spam", NEW[0][1])
    with Classifier.open(file, writable=True) as classifier:
        delta = parse_delta(lines_since(there, newer), "d")
        assert take_in(classifier, delta, "d") == TakenIn(forgotten=1)
    with open_store(file) as one, open_store(there) as other:
        assert list(export(one)) == list(export(other))
