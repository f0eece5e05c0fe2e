"""The page Words: counts of a word are the model's, its weight that of an explanation."""

from pathlib import Path

import numpy as np
import pytest
from mail import learned_model

from spamnb.classifier import Classifier
from spamnb.reader.token_array import TokenArray
from spamnb.review.words import WordLists, beginning_with, words_of_model
from spamnb.store.snapshot import read_counts


@pytest.fixture
def model(tmp_path: Path) -> Path:
    return learned_model(tmp_path / "model.spamnb")


def test_beginnings_are_those_that_python_finds(model):
    with Classifier.open(model) as classifier:
        tokens, counts = read_counts(classifier.store)
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
