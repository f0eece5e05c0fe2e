"""The page Words: counts of a word are the model's, its weight that of an explanation."""

import numpy as np
import pytest

from spamnb.classifier import Classifier
from spamnb.review.words import words_beginning
from spamnb.store.snapshot import read_counts


def test_beginnings_are_those_that_python_finds(model):
    with Classifier.open(model) as classifier:
        tokens, counts = read_counts(classifier.store)
        held = dict(zip(tokens, counts.document_frequency().tolist()))
        for begin in ("p", "pr", "prize", "subject:", "é", "nothing", "\x00"):
            expected = {token for token in held if token.startswith(begin)}
            found = [word.token for word in words_beginning(classifier, begin)]
            assert set(found) <= expected and len(found) == min(50, len(expected))
            assert begin not in expected or found.pop(0) == begin
            most = sorted((held[token] for token in expected - {begin}), reverse=True)
            assert [held[token] for token in found] == most[: len(found)]
        assert words_beginning(classifier, "") == []


def test_counts_and_weights_are_the_models(model):
    with Classifier.open(model, writable=True) as classifier:
        before = words_beginning(classifier, "prize")[0]
        assert before.token == "prize" and before.weight > 0 > words_beginning(classifier, "meeting")[0].weight
        classifier.learn("spam", b"Subject: x\n\nprize")
        after = words_beginning(classifier, "prize")[0]
        assert after.held == {**before.held, "spam": before.held["spam"] + 1}
        totals = classifier.store.totals()
        held = [(after.held[name] + 1) / (n + 2) for name, n in zip(totals.classes, totals.documents.tolist())]
        assert after.weight == pytest.approx(np.log(held[1] / held[0]))
    with Classifier.create(":memory:") as empty:
        assert words_beginning(empty, "prize") == []
