"""A model made anew: of labelled sources, and of the lessons that the model before it keeps.

Lessons are counted behind the sources, so each is part of all that training does, whatever the type of the model. A
message that is in the sources too counts once, as the last of its copies: in the lesson's class. A person said that of
this very message, mostly against what the model or the folder said.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, nullcontext
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, TYPE_CHECKING, Any, NamedTuple

import numpy as np

from spamnb.classifier import Classifier
from spamnb.counts.training_set import TrainingSet
from spamnb.engines.counting import Progress, count_parallel
from spamnb.engines.executor import cores, threads
from spamnb.reader.message import digest
from spamnb.settings import Settings
from spamnb.sources.entries import Entry
from spamnb.store.lessons import KeptLesson, add_lessons, kept_lessons, positions, set_bound, unpack
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
    in_sources: int  # of them, messages that are in the sources too
    other_class: int  # and of these, in another class there


class Lessons:
    """The kept lessons of the model ``old`` that is to be replaced, or of none.

    ``bound`` is the most megabytes that the new model keeps (None: as the old one says); with 0 nothing is taught
    again. ``on_unreadable(name, error)`` is told of each that is damaged.
    """

    def __init__(self, old: Path | None, bound: float | None, on_unreadable: Callable[[str, Exception], None]) -> None:
        self._old = Store.open(old) if old is not None and bound != 0 else None
        self._bound = self._old.meta().get("keep_lessons") if self._old and bound is None else bound
        self._on_unreadable = on_unreadable
        self._last = -1
        self._digests: dict[int, bytes] = {}  # of each position, by the present rule of what is part of a digest
        self._taught: dict[int, tuple[bytes, str, int, int]] = {}  # digest in the old model, class, place in the spool
        self._spool: IO[bytes] | None = None
        self.labels: dict[bytes, str] = {}

    def close(self) -> None:
        """Let go of the old model, and of what the lessons took on the disk."""
        for each in (self._old, self._spool):
            if each is not None:
                each.close()

    def _read(self, after: int = -1) -> Iterator[tuple[int, KeptLesson]]:
        return iter(()) if self._old is None else kept_lessons(self._old, after)

    def _unpacked(self, position: int, lesson: KeptLesson) -> bytes | None:
        """The message of a lesson, which the new model is taught; None where it is damaged."""
        self._last = position
        try:
            raw = unpack(lesson.message)
        except ValueError as error:
            self._on_unreadable(f"lesson {lesson.digest.hex()}", error)
            return None
        # The old model forgets a message with its bytes, which the new one needs to forget it.
        self._spool = self._spool or TemporaryFile()  # noqa: SIM115 (``close`` closes it)
        start = self._spool.seek(0, os.SEEK_END)
        self._spool.write(lesson.message)
        self._taught[position] = lesson.digest, lesson.label, start, len(lesson.message)
        return raw

    def entries(self) -> Iterator[Entry]:
        """An entry for each lesson, the oldest first."""
        for position, lesson in self._read():
            if (raw := self._unpacked(position, lesson)) is not None:
                found = digest(raw)
                self._digests[position] = found
                self.labels[found] = lesson.label
                yield Entry(lesson.label, f"lesson {found.hex()}", "", content=raw)

    def write(self, store: Store) -> None:
        """Keep in the new model what ``entries`` gave, and when it was taught."""
        if self._bound is not None:
            set_bound(store, self._bound)
        if self._old is None:
            return
        if months := months_taught(self._old):
            remember_months(store, months)
        counted = ((p, lesson) for p, lesson in self._read() if p in self._digests)
        add_lessons(store, (lesson._replace(digest=self._digests[p]) for p, lesson in counted))

    def teach(self, store: Store, numbers: Iterable[int]) -> None:
        """Teach these of ``entries`` one by one: training doubted their labels, and a person gave them."""
        taught, classifier = list(self._taught.values()), Classifier(store)
        for number in numbers:
            _, label, start, length = taught[number]
            classifier.learn(label, self._spooled(start, length))

    def _spooled(self, start: int, length: int) -> bytes:
        assert self._spool is not None
        self._spool.seek(start)
        return unpack(self._spool.read(length))

    def catch_up(self, store: Store) -> None:
        """Teach the new model what the old one was taught meanwhile, and forget what that forgot."""
        if self._old is None:
            return
        gone = self._forgotten()
        late = [(lesson.label, self._unpacked(position, lesson)) for position, lesson in self._read(self._last)]
        if not gone and not late:
            return
        classifier = Classifier(store)
        for label, raw in gone:
            if classifier.learned(raw) == label:
                classifier.forget(label, raw)
        for label, taught in late:
            if taught is not None:
                classifier.learn(label, taught)

    def _forgotten(self) -> list[tuple[str, bytes]]:
        """Class and message of those of the lessons that the old model forgot since they were read here."""
        assert self._old is not None
        found = []
        for position in self._taught.keys() - positions(self._old):
            known, label, start, length = self._taught.pop(position)
            if self._old.learned(known) is None:  # those that made room are learned still
                found.append((label, self._spooled(start, length)))
        return found


def rebuild(
    path: Path,
    mail: Iterable[Entry],
    settings: Settings,
    lessons: Lessons,
    origin: Mapping[str, Any],
    folder: Path,
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

    ``origin`` is kept in the file's meta; ``check`` may raise SpamnbError for what was counted; scratch files lie in
    ``folder``. Where there is a ``cluster`` it counts.
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
        training_set = count_parallel(entries(), settings.tokens, folder, on_unreadable, on_progress, workers, cluster)
        check(training_set)
        with threads(2) if (workers or cores()) > 1 else nullcontext() as executor:
            left_out = train_file(path, training_set, settings, executor=executor, **how)
    overlap = _overlap(training_set, lessons.labels, sources)
    return Rebuilt(training_set, left_out, sources, len(lessons.labels), *overlap)


def _overlap(training_set: TrainingSet, lessons: Mapping[bytes, str], sources: int) -> tuple[int, int]:
    """How many lessons are among the first ``sources`` messages too, and how many of them have another class there."""
    met: set[bytes] = set()
    other: set[bytes] = set()
    messages = training_set.messages
    every = zip(messages.positions, messages.labels, messages.digests) if lessons else ()
    for place, label, found in every:
        own = lessons.get(key := found.tobytes()) if place < sources else None
        if own is not None:
            met.add(key)
            if own != training_set.counts.classes[label]:
                other.add(key)
    return len(met), len(other)
