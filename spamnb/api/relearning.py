"""The messages that a replaced model learned one by one are learned again by the new model, in their order."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from spamnb.classifier import Classifier
from spamnb.errors import SpamnbError
from spamnb.reader.message import digest as digest_of
from spamnb.shown_text import pluralize
from spamnb.sources.entries import one_message
from spamnb.store.records import learned_message
from spamnb.store.snapshot import atomic_replace
from spamnb.store.store import Store
from spamnb.store.stored_messages import count_not_stored, decompress, read_stored_messages, write_bound


class Relearning:
    """The messages that the model at ``path`` learned one by one and keeps; none if there is no model.

    ``on_unreadable(name, error)`` is called for each damaged message.
    """

    def __init__(self, path: Path, on_unreadable: Callable[[str, Exception], None]) -> None:
        self._path, self._on_unreadable = path, on_unreadable
        self._failed: set[bytes] = set()  # digests of messages that could not be learned
        self._learned: dict[bytes, tuple[str, bytes]] = {}  # by digest: class and the new model's digest
        self.not_kept = 0  # messages that the replaced model learned one by one and does not keep
        self._has_model = path.exists()
        try:
            if self._has_model:
                with Store.open(path) as old:
                    self.not_kept = count_not_stored(old)
        except SpamnbError:  # atomic_replace says why this may not be replaced
            self._has_model = False

    @property
    def count(self) -> int:
        """The number of messages that were learned again."""
        return len(self._learned)

    def kept_digests(self) -> dict[str, np.ndarray]:
        """Return the digests (n, 16) of the kept messages, by class."""
        by_class: dict[str, list[bytes]] = {}
        if self._has_model:
            with Store.open(self._path) as old:
                for lesson in read_stored_messages(old):
                    by_class.setdefault(lesson.label, []).append(lesson.digest)
        return {name: np.frombuffer(b"".join(each), np.uint8).reshape(-1, 16) for name, each in by_class.items()}

    def notes(self) -> Iterator[str]:
        """Yield lines that say how many messages were learned again, and how many could not be."""
        if self._learned:
            yield f"taught again {pluralize(self.count, 'message')} that had been learned one by one"
        if self.not_kept:
            lost = pluralize(self.not_kept, "message")
            yield (
                f"not taught again: {lost} that the replaced model had learned one by one; in the new one they count"
                " only where the sources hold them"
            )

    def catch_up(self, store: Store) -> None:
        """Learn the messages that the replaced model learned since the last call, and forget those that it forgot."""
        if not self._has_model:
            return
        classifier = Classifier(store)
        with Store.open(self._path) as old, old.reading(), store.writing():
            if (bound := old.state.meta.get("keep_lessons")) is not None:
                write_bound(store, bound)
            # All lessons are read each time, because a new one may have the position of a forgotten one.
            for lesson in read_stored_messages(old):
                label, _ = self._learned.get(lesson.digest, ("", b""))
                if label == lesson.label or lesson.digest in self._failed:
                    continue
                self._failed.add(lesson.digest)
                with one_message(f"lesson {lesson.digest.hex()}", self._on_unreadable):
                    raw = decompress(lesson.message)
                    classifier.learn(lesson.label, raw, taught_at=lesson.taught_at)
                    self._learned[lesson.digest] = lesson.label, digest_of(raw)
                    self._failed.remove(lesson.digest)
            absent = [digest for digest in self._learned if learned_message(old, digest) is None]
            forgotten = {new: label for label, new in map(self._learned.pop, absent)}
            for lesson in read_stored_messages(store) if forgotten else ():
                if forgotten.get(lesson.digest) == lesson.label:
                    classifier.forget(lesson.label, decompress(lesson.message))


def relearn(path: Path, incomplete: bool, on_unreadable: Callable[[str, Exception], None]) -> int:
    """Make a model that adds to another again, of the messages that it keeps, and return their number.

    Raises SpamnbError if it learned other messages, too, unless ``incomplete``.
    """
    relearning = Relearning(path, on_unreadable)
    if relearning.not_kept and not incomplete:
        lost = pluralize(relearning.not_kept, "message")
        raise SpamnbError(f"{path}: nothing changed: it does not keep {lost} that it was taught; --incomplete goes on")
    with Store.open(path) as old, old.reading():
        assert old.base is not None
        meta = {**old.state.meta, **old.base.addition()}
    with atomic_replace(path, meta, force=True, catch_up=relearning.catch_up) as store:
        relearning.catch_up(store)
    return relearning.count
