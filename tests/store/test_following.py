"""Several connections to one file see one another's lessons, whenever it is compacted."""

import random
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mail import mail, message

from spamnb.classifier import Classifier
from spamnb.settings import Settings
from spamnb.store import following
from spamnb.store.database import FORMAT, FORMAT_OF_TRAINING
from spamnb.store.jsonl import export
from spamnb.store.snapshot import atomic_replace, read_snapshot, write_snapshot
from spamnb.store.store import Store


@pytest.fixture(scope="module", params=["boolean", "corrected", "bernoulli"])
def trained(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("model") / "m"
    with Classifier.create(path, Settings(model_type=request.param)) as classifier, classifier.store.writing():
        for label, raw in mail(8):
            classifier.learn(label, raw)
    return path


@pytest.mark.parametrize(
    ("log", "followed", "cached", "most"),
    [
        (100_000, 100_000, 100_000, 1 << 30),
        (60, 100_000, 100_000, 1 << 30),
        (0, 100_000, 30, 1 << 30),
        (60, 40, 100_000, 1 << 30),
        (60, 100_000, 30, 350),
        (60, 100_000, 100_000, 0),
    ],
)
def test_answers_are_those_of_a_model_opened_anew(
    trained: Path, tmp_path: Path, log: int, followed: int, cached: int, most: int
) -> None:
    rng = random.Random(log + followed + cached + most)
    path = tmp_path / "m"
    path.write_bytes(trained.read_bytes())
    with pytest.MonkeyPatch.context() as patch:
        for place in ("store.MAX_LOG", "correction_log.MAX_LOG"):
            patch.setattr(f"spamnb.store.{place}", log)
        for place in ("following", "correction_log"):
            patch.setattr(f"spamnb.store.{place}.MAX_FOLLOWED", followed)
        for name in ("compaction.MERGED_PAGES", "correction_log.MERGED_PAGES"):
            patch.setattr(f"spamnb.store.{name}", 1)
        patch.setattr("spamnb.store.pages.PAGE_BYTES", 400)
        patch.setattr("spamnb.store.correction_sums.PAGE_BYTES", 60)
        patch.setattr("spamnb.store.store.MAX_CACHED_TOKENS", cached)
        with Classifier.open(path) as judge, Classifier.open(path, writable=True) as teacher:
            judge.store.preload(most)
            for number in range(12):
                which, what = rng.randrange(16), rng.choice(["learn", "learn", "forget", "nothing"])
                label = ("ham", "spam")[which % 2]
                if what == "learn":  # half of them are hard, so that they move weights
                    teacher.learn(rng.choice(["ham", "spam"]), message(label, 100 + number))
                elif what == "forget":
                    teacher.forget(label, message(label, which // 2))
                asked = [message("spam", 200 + number), message("ham", which // 2), message(label, 100 + number)]
                with Classifier.open(path) as anew:
                    for raw in asked:
                        one, other = judge.classify(raw), anew.classify(raw)
                        assert np.array_equal(one.score, other.score)
                        assert (one.probabilities, one.evidence) == (other.probabilities, other.evidence)


@pytest.mark.parametrize("kind", ["boolean", "corrected"])
def test_a_lesson_of_another_process_leaves_in_memory_what_was_read(
    tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "m"
    with Classifier.create(path, Settings(model_type=kind)) as classifier:
        for label, raw in mail(6):
            classifier.learn(label, raw)
    whole: list[None] = []
    read = Store._read_whole
    monkeypatch.setattr(Store, "_read_whole", lambda store: (whole.append(None), read(store))[1])
    with Classifier.open(path) as judge, Classifier.open(path, writable=True) as teacher:
        judge.store.preload()
        rng = random.Random(1)
        before: object = None
        for number in range(10):
            teacher.learn("spam", message("spam", 50 + number))
            judge.classify(message(rng.choice(["ham", "spam"]), 90 + number))
            if kind == "corrected":
                corrections = judge.store.corrections
                assert number == 0 or corrections is before
                before = corrections
        assert len(whole) == 1
        # A new class, or another model in its place, is read anew.
        teacher.learn("list", message("ham", 500))
        assert "list" in judge.classify(message("ham", 501)).probabilities
        assert len(whole) == 2


def test_a_model_that_outgrows_the_memory_is_looked_up_in_its_file(tmp_path: Path) -> None:
    path = tmp_path / "m"
    with Classifier.create(path) as classifier:
        for label, raw in mail(4):
            classifier.learn(label, raw)
        size = classifier.store.meta()["vocabulary_size"]
    with Classifier.open(path) as judge, Classifier.open(path, writable=True) as teacher:
        judge.store.preload(size)
        judge.classify(message("spam", 60))
        assert judge.store._whole is not None
        for number in range(3):
            teacher.learn("spam", message("spam", 70 + number))
            with Classifier.open(path) as anew:
                raw = message("spam", 71 + number)
                assert np.array_equal(judge.classify(raw).score, anew.classify(raw).score)
        assert judge.store._whole is None


def test_what_is_followed_is_bounded() -> None:
    assert following.MAX_FOLLOWED >= following.MAX_LOG  # or each lesson would read all anew


WORDS = list("abcdefgh")
LESSON = st.tuples(st.sampled_from(["ham", "spam", "list"]), st.dictionaries(st.sampled_from(WORDS), st.integers(1, 3)))
STEPS = st.lists(st.tuples(st.integers(0, 2), LESSON, st.booleans()), max_size=12)


def counts(store: Store) -> list:
    found = store.look_up(WORDS)
    return [found.positions.tolist(), found.document_counts.tolist(), found.occurrences.tolist()]


@settings(max_examples=30, deadline=None)
@given(STEPS, st.sampled_from([0, 5, 20, 1000]), st.sampled_from([0, 4, 128]))
def test_connections_that_write_in_turn_agree_with_one_that_reads_anew(steps: list, log: int, share: int) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr("spamnb.store.store.MAX_LOG", log)
        patch.setattr("spamnb.store.compaction._STEPS", share)  # with 0 a lesson adds one part at most
        patch.setattr("spamnb.store.compaction.MERGED_PAGES", 1)
        patch.setattr("spamnb.store.pages.PAGE_BYTES", 60)
        path = Path(folder, "m")
        oracle = Store.create(":memory:", Settings().as_meta())
        Store.create(path, Settings().as_meta()).close()
        open_ones = [Store.open(path, writable=True) for _ in range(3)]
        for who, (label, tokens), asks in steps:
            open_ones[who].add(label, tokens)
            oracle.add(label, tokens)
            if asks:
                assert counts(open_ones[who - 1]) == counts(oracle)
        for store in open_ones:
            assert counts(store) == counts(oracle)
            assert list(export(store)) == list(export(oracle))
            store.close()


def test_a_model_that_took_the_place_of_another_is_read_anew(tmp_path: Path) -> None:
    path = tmp_path / "m"
    with Store.create(path, Settings().as_meta()) as writer, Store.open(path) as reader:
        writer.add("ham", {"a": 1})
        writer.add("spam", {"a": 2})
        assert counts(reader) == [[0], [[1], [1]], [[1], [2]]]
        content = read_snapshot(writer)
        writer.add("spam", {"a": 2, "b": 1})
        assert counts(reader)[0] == [0, 1]
        with atomic_replace(path, content.meta, force=True) as fresh:
            write_snapshot(fresh, content)
        assert counts(reader) == counts(writer) == [[0], [[1], [1]], [[1], [2]]]
        writer.add("ham", {"h": 4})
        assert counts(reader) == [[0, 7], [[1, 1], [1, 0]], [[1, 4], [2, 0]]]


def test_a_file_gets_its_log_with_its_first_lesson(tmp_path: Path) -> None:
    path = tmp_path / "m"
    with Store.create(path, Settings("boolean").as_meta()) as store:
        assert store.execute("PRAGMA user_version").fetchone() == (FORMAT_OF_TRAINING,)
        store.add("ham", {"a": 1})
        assert store.execute("PRAGMA user_version").fetchone() == (FORMAT,)
    with Store.open(path) as store:
        assert counts(store)[0] == [0]
