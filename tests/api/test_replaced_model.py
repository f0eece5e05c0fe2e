"""api/replaced_model.py: a new model of the sources learns what the one that it replaces was taught, in order."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from mail import export_lines, fail, kept_lessons, mail, message, without_calibration, write_folders

from spamnb.api.arguments import make_settings
from spamnb.api.replaced_model import ReplacedModel
from spamnb.api.train import Training
from spamnb.filter import Classifier
from spamnb.settings import MODELS, VECTOR_MODELS
from spamnb.sources.entries import ReadOptions, SkippedMessages
from spamnb.store.lessons import read_lessons, write_lessons_bound
from spamnb.store.messages import read_all_learned
from spamnb.store.store import Store

TAUGHT = [("spam", message("spam", 100)), ("ham", message("ham", 101)), ("spam", message("ham", 3))]


def made(path: Path, source: Path, **chosen: Any) -> list[str]:
    """Make the model anew; return what is told."""
    told: list[str] = []
    settings = make_settings({"starter": False} | chosen)
    with ReplacedModel.open(path, SkippedMessages(told.append)) as replaced:
        Training(path, [str(source)], settings, ReadOptions(), told.append, "x", force=True).run(replaced)
    return told


def held(path: Path) -> list[tuple[str, bytes]]:
    with Store.open(path) as store:
        return kept_lessons(store)


@pytest.fixture
def taught(tmp_path: Path) -> Path:
    """Train a model of 24 messages, and teach it three, one of them among the 24 in the other class."""
    write_folders(tmp_path / "mail", mail(12))
    made(tmp_path / "m", tmp_path / "mail")
    with Classifier.open(tmp_path / "m", writable=True) as classifier:
        for label, raw in TAUGHT:
            classifier.learn(label, raw)
    return tmp_path / "m"


@pytest.mark.parametrize("model_type", MODELS)
def test_a_model_made_anew_is_one_of_the_sources_that_was_taught_the_same(
    taught: Path, tmp_path: Path, model_type: str
) -> None:
    chosen = {"model_type": model_type, **({"embedding": "lsa:2"} if model_type in VECTOR_MODELS else {})}
    made(tmp_path / "n", tmp_path / "mail", **chosen)
    with Classifier.open(tmp_path / "n", writable=True) as classifier:
        for label, raw in TAUGHT:
            classifier.learn(label, raw)
    for _ in range(2):
        line = "learned again: 3 lessons of the replaced model"
        assert made(taught, tmp_path / "mail", **chosen) == [line]
        assert export_lines(taught) == export_lines(tmp_path / "n")
        assert held(taught) == TAUGHT


def test_times_bound_and_what_is_not_kept_outlive_the_model(taught: Path, tmp_path: Path) -> None:
    with Classifier.open(taught, writable=True) as classifier:
        write_lessons_bound(classifier.store, 1)
        classifier.learn("spam", message("spam", 300), taught_at=1_000_000_000)
        classifier.learn("spam", message("spam", 301) + b"x" * 100_000)  # too large a part of the bound
    made(taught, tmp_path / "mail")
    with Store.open(taught) as store:
        assert store.model.meta["keep_lessons"] == 1
        assert [lesson.taught_at for lesson in read_lessons(store)][-1] == 1_000_000_000
        assert store.model.totals.documents.tolist() == [12, 15]


def test_without_a_replaced_model_nothing_is_learned_again(tmp_path: Path) -> None:
    replaced = ReplacedModel(tmp_path / "none", fail)
    with Store.create(":memory:", {}) as store:
        replaced.catch_up(store)
        assert not [*replaced.notes()] and not replaced.has_lessons
        assert not read_all_learned(store)


def test_each_call_learns_what_was_taught_since_and_forgets_what_was_forgotten(taught: Path, tmp_path: Path) -> None:
    replaced, late = ReplacedModel(taught, fail), [("spam", message("spam", n)) for n in (200, 201)]
    with Classifier.create(tmp_path / "new") as classifier:
        for step in range(3):
            replaced.catch_up(classifier.store)
            known = [classifier.learned(raw) for _, raw in (*TAUGHT, *late)]
            assert (
                known
                == [
                    ["spam", "ham", "spam", None, None],
                    [None, "ham", "spam", "spam", None],
                    [None, "ham", "ham", None, "spam"],
                ][step]
            )
            with Classifier.open(taught, writable=True) as old:
                if step == 0:
                    assert old.forget(*TAUGHT[0]) and old.learn(*late[0])
                if step == 1:
                    assert old.forget(*late[0]) and old.learn("ham", TAUGHT[2][1]) and old.learn(*late[1])


def teach(model: Path, verb: str, label: str, raw: bytes) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "spamnb", verb, "-m", str(model), label]
    process = subprocess.Popen(command, stdin=subprocess.PIPE)
    assert process.stdin is not None
    process.stdin.write(raw)
    process.stdin.close()
    return process


def test_nothing_that_other_processes_teach_or_forget_meanwhile_is_lost(
    taught: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Interrupt at two moments: while training runs, and just before the new model replaces the old one.

    At the second moment, changes by others have to wait until the new model is in place.
    """
    late, calls = [("spam", message("spam", 200)), ("spam", message("spam", 201))], []
    waiting: list[subprocess.Popen[bytes]] = []

    catch_up = ReplacedModel.catch_up

    def interrupted(replaced: ReplacedModel, store: Store) -> None:
        calls.append(store)
        if len(calls) == 2:
            waiting.append(teach(taught, "learn", *late[1]))
            time.sleep(1)  # so long it could have been taught
            assert waiting[0].poll() is None
        catch_up(replaced, store)
        if len(calls) == 1:
            assert teach(taught, "learn", *late[0]).wait() == 0
            assert teach(taught, "forget", *TAUGHT[0]).wait() == 0

    monkeypatch.setattr(ReplacedModel, "catch_up", interrupted)
    made(taught, tmp_path / "mail", model_type="boolean")  # of which the order of learning changes no sum
    assert waiting[0].wait(120) == 0 and len(calls) == 2
    right = [*(pair for pair in mail(12) if pair[1] != message("ham", 3)), *TAUGHT[1:], *late]
    monkeypatch.undo()
    made(tmp_path / "n", write_folders(tmp_path / "right", right), model_type="boolean")
    assert without_calibration(export_lines(taught)) == without_calibration(export_lines(tmp_path / "n"))
    assert held(taught) == [*TAUGHT[1:], *late]
    assert not list(tmp_path.glob(".*.new*"))


def test_a_damaged_lesson_is_told_and_left_out(taught: Path, tmp_path: Path) -> None:
    with Store.open(taught, writable=True) as store, store.writing():
        store.execute("UPDATE kept_lessons SET message = x'ffff' WHERE position = 0")
    told = made(taught, tmp_path / "mail")
    assert held(taught) == TAUGHT[1:]
    damaged, again = told
    assert "a kept lesson that is damaged" in damaged and again.startswith("learned again: 2 lessons")
