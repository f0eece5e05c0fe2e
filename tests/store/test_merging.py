"""merging.py: a model of all mail is the sum of the models of its parts."""

from __future__ import annotations

import pytest
from mail import mail, message, same_counts

from spamnb.classifier import Classifier
from spamnb.errors import SpamnbError
from spamnb.settings import Settings
from spamnb.store.merging import merge_models
from spamnb.store.snapshot import read_snapshot
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


