"""merging.py: a model of all mail is the sum of the models of its parts."""

from __future__ import annotations

import pytest
from mail import mail, message, same_counts

from spamnb.classifier import Classifier
from spamnb.errors import SpamnbError
from spamnb.settings import Settings
from spamnb.store.jsonl import export
from spamnb.store.merging import merge_models, merge_since
from spamnb.store.snapshot import Snapshot, read_snapshot, write_snapshot
from spamnb.store.store import Store


def learned(messages: list[tuple[str, bytes]], **chosen: object) -> Store:
    classifier = Classifier.create(":memory:", Settings(**chosen))  # type: ignore[arg-type]
    for label, raw in messages:
        classifier.learn(label, raw)
    return classifier.store


def test_merging_is_learning_both() -> None:
    first, second = mail(4), [*[("spam", message("spam", n)) for n in range(20, 24)], ("list", message("ham", 30))]
    merged, repeated = merge_models([read_snapshot(learned(first)), read_snapshot(learned(second))], ["a", "b"])
    whole = read_snapshot(learned([*first, *second]))
    assert repeated == 0
    assert list(merged.tokens) == list(whole.tokens)
    assert same_counts(merged.counts, whole.counts)
    assert sorted(digest for digest, _ in merged.messages) == [digest for digest, _ in whole.messages]


def test_merging_tells_what_was_learned_twice_and_refuses_other_kinds() -> None:
    model = read_snapshot(learned(mail(2)))
    assert merge_models([model, model], ["a", "b"])[1] == 4
    with pytest.raises(SpamnbError, match="b: its alpha differs from that of a"):
        merge_models([model, read_snapshot(learned(mail(2), alpha=1.0))], ["a", "b"])


@pytest.mark.parametrize("model_type", ["multinomial", "corrected"])
def test_what_copies_of_a_model_learned_and_forgot_is_added_to_it_once(model_type: str) -> None:
    common, first, second = mail(6), [("spam", message("ham", n)) for n in (40, 41)], [("ham", message("ham", 50))]
    base = learned(common, model_type=model_type)
    one, other = (Classifier(learned(common, model_type=model_type)) for _ in range(2))
    for classifier, lessons in ((one, first), (other, second)):
        for label, raw in lessons:
            assert classifier.learn(label, raw)
    moved, forgotten = common[0], common[1]
    assert one.learn("list", moved[1]) and other.forget(*forgotten)
    states = [read_snapshot(classifier.store) for classifier in (one, other)]
    merged, repeated = merge_since(read_snapshot(base), states, ["base", "one", "other"])
    whole = read_snapshot(learned([("list", moved[1]), *common[2:], *first, *second]))
    assert repeated == 0
    assert list(merged.tokens) == list(whole.tokens)
    assert same_counts(merged.counts, whole.counts)
    assert {digest: known.label for digest, known in merged.messages} == {
        digest: known.label for digest, known in whole.messages
    }
    again, _ = merge_since(read_snapshot(base), [states[0], read_snapshot(base)], ["base", "one", "base"])
    assert lines_of(again) == lines_of(states[0])  # who learned nothing adds nothing, to the last bit


def test_copies_that_cannot_be_told_from_their_base_are_refused() -> None:
    base, common = read_snapshot(learned(mail(3))), mail(3)
    other = read_snapshot(learned([("ham", message("ham", 90)), ("spam", message("spam", 91))]))
    with pytest.raises(SpamnbError, match="6 messages of base that several models forgot"):
        merge_since(base, [other, other], ["base", "one", "other"])
    with pytest.raises(SpamnbError, match="base: not what one, other were learned from"):  # whatever their lists say
        merge_since(base, [other._replace(messages=base.messages)] * 2, ["base", "one", "other"])
    one = Classifier(learned(common))
    assert one.forget(*common[0])
    less = read_snapshot(one.store)
    with pytest.raises(SpamnbError, match="1 message of base that several models forgot"):
        merge_since(base, [less, less], ["base", "one", "other"])
    assert merge_since(base, [less], ["base", "one"])[0].counts.documents.sum() == 5
    more = read_snapshot(learned([*common, ("spam", message("spam", 60))]))
    assert merge_since(base, [more, more], ["base", "one", "other"])[1] == 1
    with pytest.raises(SpamnbError, match="one: pruned since base"):
        merge_since(base, [less._replace(meta={**less.meta, "pruned": {}})], ["base", "one"])


def lines_of(snapshot: Snapshot) -> list[str]:
    store = Store.create(":memory:", snapshot.meta)
    write_snapshot(store, snapshot)
    return list(export(store))
