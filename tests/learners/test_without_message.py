"""A model without one message, against the same model after it forgot that message."""

from __future__ import annotations

import numpy as np
import pytest
from mail import mail

from spamnb.classifier import Classifier
from spamnb.learners.without_message import WithoutMessage
from spamnb.message.parse import digest
from spamnb.settings import Settings
from spamnb.tokens.csr_rows import CsrRows
from spamnb.tokens.tokenizer import Tokenizer
from spamnb.tokens.vectorizer import MessageReader
from spamnb.tokens.vocabulary import Vocabulary

MAIL = mail(12)


def counts(raw: bytes) -> dict[str, int]:
    return MessageReader(Tokenizer()).read(raw, Vocabulary()).counts


@pytest.mark.parametrize("model_type", ["boolean", "multinomial", "bernoulli", "corrected"])
@pytest.mark.parametrize("number", [0, 1, 9])
def test_what_is_asked_is_as_if_the_message_was_forgotten(model_type: str, number: int) -> None:
    label, raw = MAIL[number]
    counted = counts(raw)
    tokens, row = CsrRows.of([counted])
    others = [*(counts(MAIL[2][1]) | counts(MAIL[3][1]))]
    with Classifier.create(":memory:", Settings(model_type=model_type)) as classifier:
        for each in MAIL:
            classifier.learn(*each)
        store, learner = classifier.store, classifier.learner
        before = store.totals()
        without = WithoutMessage(store, before.classes.index(label), counted, digest(raw))
        totals, found = without.totals(before), without.look_up([*tokens, "never seen"])
        elsewhere = without.look_up(others)
        scored = learner.score(without, totals, tokens, row)
        assert store.totals() == before, "the file stays as it is"
        assert classifier.forget(label, raw)
        for ours, theirs in zip(totals, store.totals()):
            assert np.array_equal(ours, theirs)
        for ours, theirs in [(found, store.look_up([*tokens, "never seen"])), (elsewhere, store.look_up(others))]:
            assert all(np.array_equal(one, other) for one, other in zip(ours, theirs))
        forgotten = learner.score(store, store.totals(), tokens, row)
        assert np.array_equal(scored.scores, forgotten.scores) and np.array_equal(scored.weights, forgotten.weights)


def test_nothing_can_be_written() -> None:
    with Classifier.create(":memory:") as classifier:
        for each in MAIL:
            classifier.learn(*each)
        without = WithoutMessage(classifier.store, 0, {}, b"")
        assert without.meta() == classifier.store.meta() and without.frequencies() == classifier.store.frequencies()
        assert not without.arrays() and not without.look_up_vectors(["lunch"])
        for write, arguments in (
            (without.put_meta, [{}]),
            (without.put_arrays, [{}]),
            (without.put_vectors, [[], np.zeros(0)]),
            (without.corrections.add, [[], {}]),
            (without.corrections.put_brought, [b"", {}]),
        ):
            with pytest.raises(TypeError, match="for asking"):
                write(*arguments)
