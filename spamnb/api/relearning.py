"""Learning again: a new model learns the lessons of the replaced model, in their order."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from spamnb.errors import Outdated, SpamnbError
from spamnb.filter import Classifier
from spamnb.reader.message import digest as digest_of
from spamnb.shown_text import pluralize
from spamnb.sources.entries import one_message
from spamnb.store.lessons import (
    count_outdated,
    count_unkept_lessons,
    decompress,
    read_lessons,
    write_lessons_bound,
)
from spamnb.store.old_models import readable_model
from spamnb.store.records import read_learned
from spamnb.store.snapshot import atomic_replace
from spamnb.store.store import Store


class Relearning:
    """The lessons that the model at ``path`` keeps.

    ``path`` need not exist. ``on_unreadable(name, error)`` is called for each damaged message.
    """

    def __init__(self, path: Path, on_unreadable: Callable[[str, Exception], None]) -> None:
        self._path, self._on_unreadable = path, on_unreadable
        self._failed: set[bytes] = set()  # digests of messages that could not be learned
        self._learned: dict[bytes, tuple[str, bytes]] = {}  # by digest: class, and digest in the new model
        self.n_unkept = 0  # lessons that the replaced model does not keep
        self.n_outdated = 0  # lessons of a model of an older format
        self._has_model = path.exists()
        try:
            if self._has_model:
                with Store.open(path) as old:
                    self.n_unkept = count_unkept_lessons(old)
        except Outdated:
            self._has_model, self.n_outdated = False, count_outdated(path)
        except SpamnbError:  # not a readable model; atomic_replace raises an error if the file must stay
            self._has_model = False

    @property
    def count(self) -> int:
        """Number of messages that were learned again."""
        return len(self._learned)

    def lesson_digests(self) -> dict[str, np.ndarray]:
        """Return the digests (n, 16) of the kept lessons, by class."""
        by_class: dict[str, list[bytes]] = {}
        if self._has_model:
            with Store.open(self._path) as old:
                for lesson in read_lessons(old):
                    by_class.setdefault(lesson.label, []).append(lesson.digest)
        return {label: np.frombuffer(b"".join(part), np.uint8).reshape(-1, 16) for label, part in by_class.items()}

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
        if not self._has_model:
            return
        classifier = Classifier(store)
        with Store.open(self._path) as old, old.reading(), store.writing():
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
            forgotten_digests = [digest for digest in self._learned if read_learned(old, digest) is None]
            labels = {new_digest: label for label, new_digest in map(self._learned.pop, forgotten_digests)}
            for lesson in read_lessons(store) if labels else ():
                if labels.get(lesson.digest) == lesson.label:
                    classifier.forget(lesson.label, decompress(lesson.message))


def retrain_on_lessons(path: Path, incomplete: bool, on_unreadable: Callable[[str, Exception], None]) -> int:
    """Replace a model that adds to a shared model by a new model of its lessons, and return their number.

    Raise SpamnbError if there are lessons that the model does not keep, unless ``incomplete``.
    """
    with readable_model(path) as readable:
        relearning = Relearning(readable, on_unreadable)
        if relearning.n_unkept and not incomplete:
            lost = pluralize(relearning.n_unkept, "lesson")
            problem = f"not changed, because it does not keep {lost}; --incomplete continues without them"
            raise SpamnbError(f"{path}: {problem}")
        with Store.open(readable) as old, old.reading():
            assert old.shared is not None
            meta = {**old.own.meta, **old.shared.addition(path)}
        with atomic_replace(path, meta, force=True, catch_up=relearning.catch_up) as store:
            relearning.catch_up(store)
    return relearning.count
