"""The model that a new one replaces. The new model learns its lessons again, in their order."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Self

from spamnb.errors import Outdated, SpamnbError
from spamnb.filter import Classifier
from spamnb.reader.message import digest as digest_of
from spamnb.shown_text import pluralize
from spamnb.sources.entries import one_message
from spamnb.store.lessons import (
    count_lessons,
    count_outdated,
    count_unkept_lessons,
    decompress,
    read_lessons,
    write_lessons_bound,
)
from spamnb.store.messages import read_learned
from spamnb.store.old_models import readable_model
from spamnb.store.snapshot import atomic_replace
from spamnb.store.store import Store


class ReplacedModel:
    """The model at ``path``, which a new model replaces, and its lessons, which the new model learns again.

    ``path`` need not exist. ``on_unreadable(name, error)`` is called for each damaged message.
    """

    def __init__(self, path: Path, on_unreadable: Callable[[str, Exception], None]) -> None:
        self.path, self._on_unreadable = path, on_unreadable
        self._failed: set[bytes] = set()  # digests of messages that could not be learned
        self._learned: dict[bytes, tuple[str, bytes]] = {}  # by digest: class, and digest in the new model
        self.has_lessons = False  # whether it keeps lessons
        self.n_unkept = 0  # lessons that it does not keep
        self.n_outdated = 0  # lessons of a model of an older format
        self.classes: tuple[str, ...] = ()  # also those of its shared model
        self.n_trained: dict[str, int] = {}  # messages of each class that are no lessons
        self.is_empty = False  # whether it has no message of its own, as one that only began with the starter
        self._is_readable = False
        try:
            if path.exists():
                with Store.open(path) as old, old.reading():
                    self.has_lessons = next(read_lessons(old), None) is not None
                    self.n_unkept = count_unkept_lessons(old)
                    self._is_readable = True  # its lessons, even if its sums are damaged
                    self.classes, self.is_empty = old.model.totals.classes, not old.own.n_messages
                    totals, n_lessons = old.own.totals, count_lessons(old)
                    self.n_trained = {name: n - n_lessons.get(name, 0) for name, n in totals.messages.items()}
        except Outdated:
            self.n_outdated = count_outdated(path)
        except SpamnbError:  # not a readable model; check_replaceable raises an error if the file must stay
            pass

    @classmethod
    @contextmanager
    def open(cls, path: Path, on_unreadable: Callable[[str, Exception], None]) -> Iterator[Self]:
        """Yield the model at ``path``. If its file has an old format, read a copy instead (`readable_model`)."""
        with readable_model(path) as readable:
            yield cls(readable, on_unreadable)

    @property
    def count(self) -> int:
        """Number of messages that were learned again."""
        return len(self._learned)

    def notes(self) -> Iterator[str]:
        """Yield lines with the numbers of messages that were learned again and that were not."""
        if self._learned:
            yield f"learned again: {pluralize(self.count, 'lesson')} of the replaced model"
        if self.n_outdated:
            lost = pluralize(self.n_outdated, "lesson")
            yield (
                f"lost: {lost} of the replaced model, because this version cannot read its format; teach those that are"
                " not in the sources again"
            )
        if self.n_unkept:
            lost = pluralize(self.n_unkept, "lesson")
            yield (
                f"not learned again: {lost} that the replaced model does not keep; the new model has learned only those"
                " that are also in the sources"
            )

    def catch_up(self, store: Store) -> None:
        """Learn the messages that the replaced model learned since the last call, and forget those that it forgot."""
        if not self._is_readable:
            return
        classifier = Classifier(store)
        with Store.open(self.path) as old, old.reading(), store.writing():
            if (bound := old.own.meta.get("keep_lessons")) is not None:
                write_lessons_bound(store, bound)
            # All messages are read in each call, because a new message may have the position of a forgotten one.
            for lesson in read_lessons(old):
                label, _ = self._learned.get(lesson.digest, ("", b""))
                if label == lesson.label or lesson.digest in self._failed:
                    continue
                self._failed.add(lesson.digest)
                with one_message(f"lesson {lesson.digest.hex()}", self._on_unreadable):
                    raw = decompress(lesson.message)
                    classifier.learn(lesson.label, raw, taught_at=lesson.taught_at)
                    self._learned[lesson.digest] = lesson.label, digest_of(raw)
                    self._failed.remove(lesson.digest)
            forgotten_digests = [digest for digest in self._learned if not read_learned(old, digest).label]
            labels = {new_digest: label for label, new_digest in map(self._learned.pop, forgotten_digests)}
            for lesson in read_lessons(store) if labels else ():
                if labels.get(lesson.digest) == lesson.label:
                    classifier.forget(lesson.label, decompress(lesson.message))


def retrain_on_lessons(path: Path, incomplete: bool, on_unreadable: Callable[[str, Exception], None]) -> int:
    """Replace a model that adds to a shared model by a new model of its lessons, and return their number.

    Raise SpamnbError if there are lessons that the model does not keep, unless ``incomplete``.
    """
    with ReplacedModel.open(path, on_unreadable) as replaced:
        if replaced.n_unkept and not incomplete:
            lost = pluralize(replaced.n_unkept, "lesson")
            problem = f"not changed, because it does not keep {lost}; --incomplete continues without them"
            raise SpamnbError(f"{path}: {problem}")
        with Store.open(replaced.path) as old, old.reading():
            assert old.shared is not None
            meta = {**old.own.meta, **old.shared.addition(path)}
        with atomic_replace(path, meta, force=True, catch_up=replaced.catch_up) as store:
            replaced.catch_up(store)
    return replaced.count
