"""facts.py: what a file says of itself, against counting the messages that made it."""

from __future__ import annotations

import time
from collections import Counter
from pathlib import Path

import pytest
from mail import mail, message

from spamnb.classifier import Classifier
from spamnb.errors import SpamnbError
from spamnb.message.parse import parse
from spamnb.store import facts
from spamnb.store.store import Store
from spamnb.tokens.tokenizer import Tokenizer

KEPT = """CREATE TABLE kept_lessons (position INTEGER PRIMARY KEY, digest BLOB NOT NULL UNIQUE,
    class INTEGER NOT NULL, taught_at INTEGER NOT NULL, message BLOB NOT NULL)"""


def learned(messages: list[tuple[str, bytes]], taught: bool = True) -> Classifier:
    classifier = Classifier.create(":memory:")
    for label, raw in messages:
        classifier.learn(label, raw, taught=taught)
    return classifier


def test_tokens_of_one_message_are_those_that_one_alone_holds() -> None:
    messages = mail(12)
    held = Counter(token for _, raw in messages for token in set(Tokenizer()(parse(raw))))
    once = sum(n == 1 for n in held.values())
    classifier = learned(messages)
    assert 0 < once < len(held) == classifier.store.totals().vocabulary_size
    assert facts.tokens_of_one_message(classifier.store) == once
    classifier.forget(*messages[0])
    held -= Counter(set(Tokenizer()(parse(messages[0][1]))))
    assert facts.tokens_of_one_message(classifier.store) == sum(n == 1 for n in held.values())


def test_lessons_are_counted_by_class_and_teacher() -> None:
    classifier = learned(mail(4))
    for number in range(50, 53):
        classifier.learn("spam", message("spam", number), taught=False)
    assert facts.lessons(classifier.store) == {"ham": (4, 0), "spam": (4, 3)}
    assert facts.lessons(Classifier.create(":memory:").store) == {}


def test_what_training_saw_is_no_lesson() -> None:
    classifier = learned(mail(3))
    with classifier.store.writing():
        classifier.store.execute("UPDATE messages SET bins = NULL WHERE class = 0")
    assert len(facts.lessons(classifier.store)) == 1


def test_the_months_are_those_of_the_local_clock() -> None:
    store = learned(mail(1)).store
    assert facts.lessons_by_month(store) == {}
    times = [(0, "2026-10-31 23:59"), (0, "2026-11-01 00:01"), (1, "2026-11-30 12:00"), (1, "2026-11-02 12:00")]
    with store.writing():
        store.execute(KEPT)
        for number, (label, at) in enumerate(times):
            seconds = int(time.mktime(time.strptime(at, "%Y-%m-%d %H:%M")))
            values = (number, bytes([number]) * 16, label, seconds, b"")
            store.execute("INSERT INTO kept_lessons VALUES (?, ?, ?, ?, ?)", values)
    first, second = store.class_ids()
    assert facts.lessons_by_month(store) == {"2026-10": {first: 1}, "2026-11": {first: 1, second: 2}}
    with store.writing():
        store.execute("UPDATE kept_lessons SET taught_at = 1 << 60")
    with pytest.raises(SpamnbError, match="taught_at in table kept_lessons"):
        facts.lessons_by_month(store)


def test_of_its_origin_a_model_says_what_it_knows_and_no_more() -> None:
    store = Store.create(":memory:", {"alpha": 1})
    assert facts.origin(store) == {}
    store.put_meta({"trained_at": "2026-11-22T05:48:07+00:00", "trained_from": ["ham=/mail"]})
    assert facts.origin(store) == {"trained_at": "2026-11-22T05:48:07+00:00", "trained_from": ["ham=/mail"]}


def test_the_size_counts_what_is_still_in_the_log(tmp_path: Path) -> None:
    with Classifier.create(tmp_path / "m") as classifier:
        before = classifier.store.size()
        classifier.learn("ham", message("ham", 1))
        log = (tmp_path / "m-wal").stat().st_size
        assert log and classifier.store.size() == (tmp_path / "m").stat().st_size + log > before - log
    with Classifier.open(tmp_path / "m") as classifier:
        assert classifier.store.size() >= (tmp_path / "m").stat().st_size
