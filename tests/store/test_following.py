"""Several connections to one file see one another's lessons."""

import random
import tempfile
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mail import mail, make_counts, message

from spamnb.classifier import Classifier
from spamnb.settings import Settings
from spamnb.store import token_table
from spamnb.store.jsonl import export
from spamnb.store.store import Store


@pytest.mark.parametrize("kind", ["boolean", "corrected", "bernoulli"])
@pytest.mark.parametrize("share", [False, True])
def test_answers_are_those_of_a_model_opened_anew(tmp_path: Path, kind: str, share: bool) -> None:
    rng, path = random.Random(kind), tmp_path / "m"
    with Classifier.create(path, Settings(model_type=kind)) as classifier, classifier.store.writing():
        for label, raw in mail(8):
            classifier.learn(label, raw)
    with Classifier.open(path) as judge, Classifier.open(path, writable=True) as teacher:
        if share:
            judge.store.table = teacher.store.table
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
                    one, other = judge.classify(raw), anew.classify(raw)
                    assert np.array_equal(one.log_odds, other.log_odds)
                    assert (one.probabilities, one.evidence) == (other.probabilities, other.evidence)


@pytest.mark.parametrize("many", [1, 10_000])
def test_a_thread_reads_only_the_rows_that_another_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, many: int
) -> None:
    with Classifier.create(tmp_path / "m") as classifier, classifier.store.writing():
        for label, raw in mail(8):
            classifier.learn(label, raw)
    monkeypatch.setattr(token_table, "MANY_TOKENS", many)  # with 1 the whole table is read at once
    raws, lesson = [message("spam", number) for number in range(20)], message("ham", 900) + b"never seen before"
    with Classifier.open(tmp_path / "m") as judge, Classifier.open(tmp_path / "m", writable=True) as teacher:
        judge.store.table = teacher.store.table
        teacher.learn("ham", message("ham", 899))
        judge.classify_all(raws)
        rows, read = judge.store._rows, []
        monkeypatch.setattr(token_table.Cells, "unpack", partial(count_rows, read, token_table.Cells.unpack))
        teacher.learn("ham", lesson)
        begin = len(read)
        judge.classify_all([*raws, lesson])
        assert judge.store._rows is rows and sum(read[begin:]) < len(rows) / 2
        with Classifier.open(tmp_path / "m") as anew:
            assert judge.classify(lesson).scores.tolist() == anew.classify(lesson).scores.tolist()
        with Classifier.open(tmp_path / "m", writable=True) as stranger:
            stranger.learn("spam", message("spam", 901))
        judge.classify_all(raws)
        assert judge.store._rows is not rows


def count_rows(sizes: list[int], unpack: Callable, blobs: list[bytes], classes: int) -> object:
    sizes.append(len(blobs))
    return unpack(blobs, classes)


WORDS = list("abcdefgh")
LESSON = st.tuples(st.sampled_from(["ham", "spam", "list"]), st.dictionaries(st.sampled_from(WORDS), st.integers(1, 3)))
STEPS = st.lists(st.tuples(st.integers(0, 2), LESSON, st.booleans()), max_size=12)


def counts(store: Store) -> list:
    found = store.look_up(WORDS)
    return [found.positions.tolist(), found.document_counts.tolist(), found.occurrences.tolist()]


@settings(max_examples=30, deadline=None)
@given(STEPS)
def test_connections_that_write_in_turn_agree_with_one_that_reads_anew(steps: list) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "m")
        oracle = Store.create(":memory:", Settings().as_meta())
        Store.create(path, Settings().as_meta()).close()
        open_ones = [Store.open(path, writable=True) for _ in range(3)]
        open_ones[1].table = open_ones[0].table  # as threads of one process; the third is another process
        for who, (label, tokens), asks in steps:
            open_ones[who].add(label, make_counts(tokens))
            oracle.add(label, make_counts(tokens))
            if asks:
                assert counts(open_ones[who - 1]) == counts(oracle)
                assert open_ones[who - 1].frequencies() == oracle.frequencies()
        for store in open_ones:
            assert counts(store) == counts(oracle)
            assert list(export(store)) == list(export(oracle))
            store.close()


def test_changes_are_not_evicted_while_they_are_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(token_table, "MAX_REVISIONS", 1)
    table, adding = token_table.SharedTable(), []

    class Changes(dict):  # type: ignore[type-arg]
        def __contains__(self, revision: object) -> bool:
            found = super().__contains__(revision)
            if found and not adding:  # another thread learns now
                adding.append(threading.Thread(target=table.add_change, args=(b"2", b"3", [])))
                adding[0].start()
                adding[0].join(0.2)
            return found

    table._changes = Changes()
    table.add_change(b"1", b"2", [])
    assert table.list_changes(b"1", b"2") == []
    adding[0].join()
    assert [*table._changes] == [b"3"]
