"""engines/rebuilding.py: a model made of sources and lessons is that of the same messages as sources."""

import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from mail import folders, mail, message, never, sums

from spamnb.classifier import Classifier
from spamnb.engines.rebuilding import Lessons, Rebuilt, rebuild
from spamnb.settings import MODELS, Settings
from spamnb.sources.entries import Entry
from spamnb.sources.spec import entries
from spamnb.store.jsonl import export
from spamnb.store.lessons import kept_lessons, unpack
from spamnb.store.pruning import months_taught, survey
from spamnb.store.store import Store

TAUGHT = [("spam", message("spam", 100)), ("ham", message("ham", 101)), ("spam", message("ham", 3))]


def made(
    path: Path, source: Path, old: Path | None, workers: int = 1, **chosen: Any
) -> tuple[Rebuilt, list[dict[str, Any]]]:
    lessons = Lessons(old, never)
    found = entries([str(source)], never)
    done = rebuild(path, found, Settings(**chosen), lessons, {}, never, lambda *_: None, workers, force=True)
    with Store.open(path) as store:
        return done, sums(export(store))


def held(path: Path) -> list[tuple[str, bytes]]:
    with Store.open(path) as store:
        return [(lesson.label, unpack(lesson.message)) for _, lesson in kept_lessons(store)]


@pytest.fixture
def taught(tmp_path: Path) -> Path:
    """A model of 12 messages that was taught three, one of them among the 12 in the other class."""
    folders(tmp_path / "mail", mail(6))
    made(tmp_path / "m", tmp_path / "mail", None)
    with Classifier.open(tmp_path / "m", writable=True) as classifier:
        for label, raw in TAUGHT:
            classifier.learn(label, raw)
    return tmp_path / "m"


@pytest.mark.parametrize("model_type", MODELS)
def test_lessons_count_as_if_they_were_in_the_sources(taught: Path, tmp_path: Path, model_type: str) -> None:
    chosen = {"model_type": model_type, **({"embedding": "lsa:2"} if model_type in ("gaussian", "lda", "qda") else {})}
    done, found = made(taught, tmp_path / "mail", taught, **chosen)
    assert done.lessons == 3
    right = [*(pair for pair in mail(6) if pair[1] != message("ham", 3)), *TAUGHT]
    folders(tmp_path / "right", right)
    _, expected = made(tmp_path / "n", tmp_path / "right", None, **chosen)
    # Rows of floating point are added up in the order of the mail, which differs.
    keep = [record for record in found if "array" not in record and "vector" not in record]
    assert keep == [record for record in expected if "array" not in record and "vector" not in record]
    assert held(taught) == TAUGHT
    made(taught, tmp_path / "mail", taught)
    assert held(taught) == TAUGHT, "after a second time"


class Taught(Lessons):
    """At each of two moments another process teaches the old model one message and forgets two: before the new model is
    written, and when it is about to take the old one's place, where what others do has to wait until it has."""

    late = (("spam", message("spam", 200)), ("spam", message("spam", 201)))

    def __init__(self, old: Path) -> None:
        super().__init__(old, never)
        self.old, self.waiting = str(old), []  # type: ignore[var-annotated]

    def start(self, *arguments: str, raw: bytes) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "spamnb", arguments[0], "-m", self.old, *arguments[1:]]
        process = subprocess.Popen(command, stdin=subprocess.PIPE)
        assert process.stdin is not None
        process.stdin.write(raw)
        process.stdin.close()
        return process

    def entries(self) -> Iterator[Entry]:
        yield from super().entries()
        assert self.start("learn", "spam", raw=self.late[0][1]).wait() == 0
        assert self.start("forget", "spam", raw=TAUGHT[0][1]).wait() == 0

    def write(self, store: Store) -> None:
        super().write(store)
        assert self.start("forget", "ham", raw=TAUGHT[1][1]).wait() == 0

    def catch_up(self, store: Store) -> None:
        self.waiting.append(self.start("learn", self.late[1][0], raw=self.late[1][1]))
        time.sleep(1)  # so long it could have been taught
        assert self.waiting[0].poll() is None
        super().catch_up(store)


@pytest.mark.parametrize("workers", [1, 2])
def test_nothing_that_other_processes_teach_or_forget_meanwhile_is_lost(
    taught: Path, tmp_path: Path, workers: int
) -> None:
    lessons = Taught(taught)
    found = entries([str(tmp_path / "mail")], never)
    settings = Settings("boolean")  # of which what is learned later makes the same sums
    rebuild(taught, found, settings, lessons, {}, never, lambda *_: None, workers, force=True)
    assert lessons.waiting[0].wait(120) == 0
    right = [*(pair for pair in mail(6) if pair[1] != message("ham", 3)), TAUGHT[2], *Taught.late]
    source = folders(tmp_path / "right", right)
    _, expected = made(tmp_path / "n", source, None, model_type="boolean")
    with Store.open(taught) as store:
        assert sums(export(store)) == expected
    assert held(taught) == [TAUGHT[2], *Taught.late]
    assert not list(tmp_path.glob(".*.new*"))


def test_the_months_in_which_tokens_were_taught_outlive_the_model(taught: Path, tmp_path: Path) -> None:
    with Store.open(taught) as store:
        before = months_taught(store)
        assert len(set(before.values())) == 1
        kept = survey(store, 2)
    for _ in range(2):
        made(taught, tmp_path / "mail", taught)
        with Store.open(taught) as store:
            assert months_taught(store) == before
            assert survey(store, 2) == kept


def test_a_damaged_lesson_is_told_and_left_out(taught: Path, tmp_path: Path) -> None:
    with Store.open(taught, writable=True) as store, store.writing():
        store.execute("UPDATE kept_lessons SET message = x'ffff' WHERE position = 0")
    told: list[str] = []
    lessons = Lessons(taught, lambda name, error: told.append(f"{name}: {error}"))
    mail_of = entries([str(tmp_path / "mail")], never)
    done = rebuild(
        taught, mail_of, Settings(), lessons, {}, never, lambda *_: None, 1, force=True
    )
    assert done.lessons == 2 and held(taught) == TAUGHT[1:]
    assert len(told) == 1 and told[0].endswith("a kept message that is damaged")
