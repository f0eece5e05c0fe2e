"""following.py: who keeps a model in memory while others change it answers as who opens it anew."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest
from mail import mail, message

from spamnb.classifier import Classifier
from spamnb.settings import Settings
from spamnb.store import following
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
