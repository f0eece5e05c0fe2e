"""The page Words: counts of a word are the model's, its weight that of an explanation, its weeks the journal's."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pytest
from mail import learned_model

from spamnb.classifier import Classifier
from spamnb.journal.entries import Verdict, pack_tokens
from spamnb.journal.journal import Journal
from spamnb.review.words import PER_WEEK, WEEK, WordLists, beginning_with, weeks_of_word, words_of_model
from spamnb.tokens.token_array import TokenArray


@pytest.fixture
def model(tmp_path: Path) -> Path:
    return learned_model(tmp_path / "model.spamnb")


def test_beginnings_are_those_that_python_finds(model):
    with Classifier.open(model) as classifier:
        tokens, counts = classifier.store.all_sums()
    held = dict(zip(tokens, counts.document_frequency().tolist()))
    lists = WordLists()
    with Classifier.open(model) as classifier:
        for begin in ("p", "pr", "prize", "subject:", "é", "nothing", "\x00"):
            expected = {token for token in held if token.startswith(begin)}
            found = lists.beginning(classifier, begin)
            assert set(found) <= expected and len(found) == min(50, len(expected))
            assert [held[token] for token in found] == sorted((held[token] for token in expected), reverse=True)[:50]
    assert beginning_with(TokenArray.of([]), b"x").tolist() == []


def test_counts_and_weights_are_the_models(model):
    with Classifier.open(model, writable=True) as classifier:
        before = words_of_model(classifier, ["prize", "meeting", "no such word"])
        assert [word.token for word in before] == ["prize", "meeting"]
        assert before[0].weight > 0 > before[1].weight
        classifier.learn("spam", b"Subject: x\n\nprize")
        after = words_of_model(classifier, ["prize"])[0]
        assert after.held == {**before[0].held, "spam": before[0].held["spam"] + 1}
        totals = classifier.store.totals()
        held = [(after.held[name] + 1) / (n + 2) for name, n in zip(totals.classes, totals.documents.tolist())]
        assert after.weight == pytest.approx(np.log(held[1] / held[0]))
    with Classifier.create(":memory:") as empty:
        assert words_of_model(empty, ["prize"]) == [] and WordLists().beginning(empty, "p") == []


def test_the_weeks_are_those_of_the_journals_messages():
    now = 1_800_000_000
    entries = []
    for number in range(400):
        verdict = ("spam", "ham", "unsure")[number % 3]
        words = ["tea", *(["offer"] if number % 4 == 0 else [])]
        digest = number.to_bytes(16, "little")
        at = now - (number % 5) * WEEK
        packed = pack_tokens(words, np.ones(len(words), int))
        user = "ann" if number % 2 else ""
        entries.append(Verdict(at, user, digest, digest, "", "", "", "", verdict, 5.0, 1.0, "[]", "", packed))
    with Journal.at(":memory:") as journal:
        journal.add(entries)
        weeks = weeks_of_word(journal, "offer", None, now=now)
        of_ann = weeks_of_word(journal, "offer", "ann", now=now)
    assert len(weeks) == 9 and sum(sum(week.holding.values()) for week in of_ann) == 0
    assert sum(sum(week.seen.values()) for week in of_ann) == 200
    for number, week in enumerate(reversed(weeks)):
        for verdict in ("spam", "ham", "unsure"):
            of_week = [k for k in range(400) if k % 5 == number and ("spam", "ham", "unsure")[k % 3] == verdict]
            assert week.seen[verdict] == len(of_week)
            assert week.holding[verdict] == sum(k % 4 == 0 for k in of_week)


def test_of_a_week_the_newest_are_looked_at():
    now = int(time.time())
    packed = {True: pack_tokens(["offer"], np.ones(1, int)), False: pack_tokens(["tea"], np.ones(1, int))}
    entries = [
        Verdict(
            now - k * 60, "", k.to_bytes(16, "little"), bytes(16), "", "", "", "", "spam", 6.0, 1.0, "[]", "",
            packed[k < 30],
        )
        for k in range(PER_WEEK + 50)
    ]  # fmt: skip
    with Journal.at(":memory:") as journal:
        journal.add(entries)
        last = weeks_of_word(journal, "offer", None)[-1]
    assert (last.seen["spam"], last.holding["spam"]) == (PER_WEEK, 30)
