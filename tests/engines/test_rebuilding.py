"""engines/rebuilding.py: a model made of sources and lessons is that of the same messages as sources."""

from __future__ import annotations

import os
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
from spamnb.store.store import Store

TAUGHT = [("spam", message("spam", 100)), ("ham", message("ham", 101)), ("spam", message("ham", 3))]


def made(
    path: Path, source: Path, old: Path | None, scratch: Path, workers: int = 1, **chosen: Any
) -> tuple[Rebuilt, list[dict[str, Any]]]:
    """What ``rebuild`` says, and the sums of what it made."""
    scratch.mkdir(exist_ok=True)
    lessons = Lessons(old, None, never)
    found = entries([str(source)], never)
    done = rebuild(
        path, found, Settings(**chosen), lessons, {}, scratch, never, lambda *_: None, workers, force=True
    )
    with Store.open(path) as store:
        return done, sums(export(store))


def held(path: Path) -> list[tuple[str, bytes]]:
    with Store.open(path) as store:
        return [(lesson.label, unpack(lesson.message)) for _, lesson in kept_lessons(store)]


@pytest.fixture
def taught(tmp_path: Path) -> Path:
    """A model of 12 messages that was taught three, one of them among the 12 in the other class."""
    folders(tmp_path / "mail", mail(6))
    made(tmp_path / "m", tmp_path / "mail", None, tmp_path / "scratch")
    with Classifier.open(tmp_path / "m", writable=True) as classifier:
        for label, raw in TAUGHT:
            classifier.learn(label, raw)
    return tmp_path / "m"


@pytest.mark.parametrize("model_type", MODELS)
def test_lessons_count_as_if_they_were_in_the_sources(taught: Path, tmp_path: Path, model_type: str) -> None:
    chosen = {"model_type": model_type, **({"embedding": "lsa:2"} if model_type in ("gaussian", "lda", "qda") else {})}
    done, found = made(taught, tmp_path / "mail", taught, tmp_path / "scratch", **chosen)
    assert (done.lessons, done.in_sources, done.other_class) == (3, 1, 1)
    right = [*(pair for pair in mail(6) if pair[1] != message("ham", 3)), *TAUGHT]
    folders(tmp_path / "right", right)
    _, expected = made(tmp_path / "n", tmp_path / "right", None, tmp_path / "scratch", **chosen)
    # Rows of floating point are added up in the order of the mail, which differs.
    keep = [record for record in found if "array" not in record and "vector" not in record]
    assert keep == [record for record in expected if "array" not in record and "vector" not in record]
    assert held(taught) == TAUGHT
    made(taught, tmp_path / "mail", taught, tmp_path / "scratch")
    assert held(taught) == TAUGHT, "after a second time"


def test_lessons_are_counted_once_by_any_number_of_processes(taught: Path, tmp_path: Path) -> None:
    _, one = made(tmp_path / "one", tmp_path / "mail", taught, tmp_path / "scratch", 1)
    _, two = made(tmp_path / "two", tmp_path / "mail", taught, tmp_path / "scratch2", 2)
    assert one == two and held(tmp_path / "one") == held(tmp_path / "two") == TAUGHT


def test_what_is_taught_while_the_model_is_made_is_not_lost(taught: Path, tmp_path: Path) -> None:
    late = ("spam", message("spam", 200))

    class Watched(Lessons):
        def entries(self) -> Iterator[Entry]:
            yield from super().entries()
            with Classifier.open(taught, writable=True) as classifier:  # another process, say
                classifier.learn(*late)

    (tmp_path / "scratch").mkdir(exist_ok=True)
    lessons = Watched(taught, None, never)
    found = entries([str(tmp_path / "mail")], never)
    rebuild(taught, found, Settings(), lessons, {}, tmp_path / "scratch", never, lambda *_: None, 1, force=True)
    assert held(taught) == [*TAUGHT, late]
    with Classifier.open(taught) as classifier:
        assert classifier.learned(late[1]) == "spam"
        assert classifier.store.totals().documents.sum() == 15


def test_a_damaged_lesson_is_told_and_left_out(taught: Path, tmp_path: Path) -> None:
    with Store.open(taught, writable=True) as store, store.writing():
        store.execute("UPDATE kept_lessons SET message = x'ffff' WHERE position = 0")
    told: list[str] = []
    lessons = Lessons(taught, None, lambda name, error: told.append(f"{name}: {error}"))
    (tmp_path / "scratch").mkdir(exist_ok=True)
    mail_of = entries([str(tmp_path / "mail")], never)
    done = rebuild(
        taught, mail_of, Settings(), lessons, {}, tmp_path / "scratch", never, lambda *_: None, 1, force=True
    )
    assert done.lessons == 2 and held(taught) == TAUGHT[1:]
    assert len(told) == 1 and told[0].endswith("a kept message that is damaged")


def test_no_connection_to_the_old_model_is_open_while_processes_fork(taught: Path) -> None:
    found = Lessons(taught, None, never).entries()
    next(found)
    opened = {os.path.realpath(f"/proc/self/fd/{name}") for name in os.listdir("/proc/self/fd")}
    assert str(taught) not in opened
