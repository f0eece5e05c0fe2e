"""Several connections to one file see one another's lessons."""

import random
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mail import add, mail, message

from spamnb.filter import Classifier
from spamnb.settings import Settings
from spamnb.store.jsonl import export
from spamnb.store.store import Store


@pytest.mark.parametrize("kind", ["boolean", "corrected", "bernoulli"])
def test_answers_are_those_of_a_model_opened_anew(tmp_path: Path, kind: str) -> None:
    rng, path = random.Random(kind), tmp_path / "m"
    with Classifier.create(path, Settings(model_type=kind)) as classifier, classifier.store.writing():
        for label, raw in mail(8):
            classifier.learn(label, raw)
    with Classifier.open(path) as classifier, Classifier.open(path, writable=True) as teacher:
        for number in range(12):
            which, what = rng.randrange(16), rng.choice(["learn", "learn", "forget", "nothing"])
            label = ("ham", "spam")[which % 2]
            if what == "learn":  # half of them are hard, so that they move weights
                teacher.learn(rng.choice(["ham", "spam", "list"]), message(label, 100 + number))
            elif what == "forget":
                teacher.forget(label, message(label, which // 2))
            asked = [message("spam", 200 + number), message("ham", which // 2), message(label, 100 + number)]
            with Classifier.open(path) as anew:
                for raw in asked:
                    one, other = classifier.classify(raw), anew.classify(raw)
                    assert np.array_equal(one.log_odds, other.log_odds)
                    assert (one.probabilities, one.evidence) == (other.probabilities, other.evidence)


WORDS = list("abcdefgh")
LESSON = st.tuples(st.sampled_from(["ham", "spam", "list"]), st.dictionaries(st.sampled_from(WORDS), st.integers(1, 3)))
STEPS = st.lists(st.tuples(st.integers(0, 2), LESSON, st.booleans()), max_size=12)


def counts(store: Store) -> list:
    found = store.look_up(WORDS)
    return [found.document_counts.tolist(), found.occurrences.tolist()]


@given(STEPS)
def test_connections_that_write_in_turn_agree_with_one_that_reads_anew(steps: list) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "m")
        oracle = Store.create(":memory:", Settings().as_meta())
        Store.create(path, Settings().as_meta()).close()
        open_ones = [Store.open(path, writable=True) for _ in range(3)]
        for who, (label, tokens), asks in steps:
            add(open_ones[who], label, tokens)
            add(oracle, label, tokens)
            if asks:
                assert counts(open_ones[who - 1]) == counts(oracle)
                assert open_ones[who - 1].frequencies() == oracle.frequencies()
        for store in open_ones:
            assert counts(store) == counts(oracle)
            assert list(export(store)) == list(export(oracle))
            store.close()
