"""A model made anew: of labelled sources, and of the lessons that the model before it keeps.

Lessons are counted behind the sources, so each is part of all that training does, whatever the type of the model. A
message that is in the sources too counts once, as the last of its copies: in the lesson's class. A person said that of
this very message, mostly against what the model or the folder said.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, closing
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from spamnb.classifier import Classifier
from spamnb.counts.training_set import TrainingSet
from spamnb.engines.counting import Progress, count_parallel
from spamnb.errors import SpamnbError
from spamnb.reader.message import digest
from spamnb.settings import Settings
from spamnb.sources.entries import Entry, one_message
from spamnb.store.lessons import KeptLesson, add_lessons, kept_lessons, learned_and_not_kept, set_bound, unpack
from spamnb.store.pruning import months_taught, remember_months
from spamnb.store.store import Store
from spamnb.training import LeaveOneOutResult, train_file

if TYPE_CHECKING:
    from spamnb.engines.cluster import Cluster


class Rebuilt(NamedTuple):
    """What was made: the training set's counts before copies were taken out, and the estimate of ``train``."""

    training_set: TrainingSet
    left_out: LeaveOneOutResult
    messages: int  # of the sources; lessons follow them
    lessons: int  # that were taught again


class Lessons:
    """The kept lessons of the model ``old`` that is to be replaced, or of none, as they were at the beginning;
    ``not_kept`` says how many others it was taught. A model that cannot be read has none: training says whether it may
    be replaced.

    ``on_unreadable(name, error)`` is told of each that is damaged.
    """

    def __init__(self, old: Path | None, on_unreadable: Callable[[str, Exception], None]) -> None:
        self._open = ExitStack()
        try:
            self._old = Store.open(old) if old is not None and old.exists() else None
        except SpamnbError:
            self._old = None
        self.not_kept = 0
        if self._old:  # one transaction, so what is forgotten meanwhile is still there to be forgotten here
            self._open.enter_context(self._old)
            self._open.enter_context(self._old.reading())
            self.not_kept = learned_and_not_kept(self._old)
        self._on_unreadable = on_unreadable
        self._digests: dict[int, bytes] = {}  # of each position, by the present rule of what is part of a digest

    def close(self) -> None:
        """Let go of the old model."""
        self._open.close()

    @property
    def count(self) -> int:
        """How many of them were taught again."""
        return len(self._digests)

    def _lessons(self, after: int = -1) -> Iterator[tuple[int, KeptLesson]]:
        return iter(()) if self._old is None else kept_lessons(self._old, after)

    def _message(self, lesson: KeptLesson) -> bytes | None:
        try:
            return unpack(lesson.message)
        except ValueError as error:
            self._on_unreadable(f"lesson {lesson.digest.hex()}", error)
            return None

    def entries(self) -> Iterator[Entry]:
        """An entry for each lesson, the oldest first."""
        for position, lesson in self._lessons():
            if (raw := self._message(lesson)) is not None:
                name = f"lesson {lesson.digest.hex()}"
                with one_message(name, self._on_unreadable):
                    self._digests[position] = digest(raw)
                    yield Entry(lesson.label, name, "", content=raw)

    def write(self, store: Store) -> None:
        """Keep in the new model what ``entries`` gave, and when it was taught."""
        if self._old is None:
            return
        if (bound := self._old.meta().get("keep_lessons")) is not None:
            set_bound(store, bound)
        remember_months(store, months_taught(self._old))
        counted = ((p, lesson) for p, lesson in self._lessons() if p in self._digests)
        add_lessons(store, (lesson._replace(digest=self._digests[p]) for p, lesson in counted))

    def teach(self, store: Store, numbers: Iterable[int]) -> None:
        """Teach these of ``entries`` one by one: training doubted their labels, and a person gave them."""
        positions, classifier = list(self._digests), Classifier(store)
        for number in numbers:
            _, lesson = next(self._lessons(positions[number] - 1))
            self._learn(classifier, lesson)

    def catch_up(self, store: Store) -> None:
        """Teach the new model what the old one was taught meanwhile, and forget what that forgot."""
        if self._old is None:
            return
        last = max((position for position, _ in self._lessons()), default=-1)
        with Store.open(self._old.path) as now, now.reading():
            kept = {position for position, _ in kept_lessons(now)}
            left = [lesson for p, lesson in self._lessons() if p in self._digests and p not in kept]
            gone = [lesson for lesson in left if now.learned(lesson.digest) is None]  # others made room
            late = [lesson for _, lesson in kept_lessons(now, last)]
        self.close()  # whoever takes the old model's place waits for its readers
        if not gone and not late:
            return
        classifier = Classifier(store)
        for lesson in gone:
            raw = unpack(lesson.message)
            if classifier.learned(raw) == lesson.label:
                classifier.forget(lesson.label, raw)
        for lesson in late:
            self._learn(classifier, lesson)

    def _learn(self, classifier: Classifier, lesson: KeptLesson) -> None:
        if (taught := self._message(lesson)) is not None:
            with one_message(f"lesson {lesson.digest.hex()}", self._on_unreadable):
                classifier.learn(lesson.label, taught)


def rebuild(
    path: Path,
    mail: Iterable[Entry],
    settings: Settings,
    lessons: Lessons,
    origin: Mapping[str, Any],
    on_unreadable: Callable[[str, Exception], None],
    on_progress: Progress,
    workers: int | None = None,
    *,
    force: bool = False,
    one_class: bool = False,
    check: Callable[[TrainingSet], None] = lambda training_set: None,
    cluster: Cluster | None = None,
) -> Rebuilt:
    """Make the model at ``path`` of labelled mail and lessons; the one that was there stays whole until then.

    ``origin`` is kept in the file's meta; ``check`` may raise SpamnbError for what was counted. Where there is a
    ``cluster`` it counts.
    """
    sources = 0

    def entries() -> Iterator[Entry]:
        nonlocal sources
        for entry in mail:
            sources += 1
            yield entry
        yield from lessons.entries()

    def finish(store: Store, doubted: np.ndarray) -> None:
        store.put_meta(origin)
        lessons.write(store)
        lessons.teach(store, (doubted[doubted >= sources] - sources).tolist())

    how: dict[str, Any] = {"force": force, "one_class": one_class, "finish": finish, "catch_up": lessons.catch_up}
    with closing(lessons):
        training_set = count_parallel(entries(), settings.tokens, on_unreadable, on_progress, workers, cluster)
        check(training_set)
        left_out = train_file(path, training_set, settings, **how)
    return Rebuilt(training_set, left_out, sources, lessons.count)
