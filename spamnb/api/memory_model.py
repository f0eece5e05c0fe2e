"""A model file in memory: it can be copied into other processes, pickled, written and read, and asked by any thread."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from threading import RLock
from typing import NamedTuple
from weakref import finalize

import numpy as np
from numpy.typing import NDArray

from spamnb.api.evaluation import Evaluation
from spamnb.api.given import tell_unreadable
from spamnb.classifier import Classifier
from spamnb.engines.executor import MAX_ALONE, of_chunks
from spamnb.sources.entries import Entry
from spamnb.store.snapshot import atomic_replace
from spamnb.store.store import Store


class ModelAnswers(NamedTuple):
    """What a model says of n messages; its C classes sorted by name."""

    classes: tuple[str, ...]
    scores: NDArray[np.float64]  # (n, C) before calibration
    probabilities: NDArray[np.float64]  # (n, C)
    enough: bool  # had the model seen enough of every class for the probabilities to mean much?


class MemoryModel:
    """A ``Classifier`` on a model in memory; whoever uses it holds ``lock``."""

    def __init__(self, store: Store) -> None:
        self.classifier = Classifier(store)
        self.lock = RLock()
        finalize(self, store.close)

    def __getstate__(self) -> bytes:
        with self.lock:
            return self.classifier.store.as_bytes()

    def __setstate__(self, content: bytes) -> None:
        self.__init__(Store.of_bytes(content))  # type: ignore[misc]

    @classmethod
    def read(cls, path: str | Path) -> MemoryModel:
        """The model of a file; SpamnbError where there is none, or something else."""
        with Store.open(path) as file, file.reading():
            memory = Store.connect(":memory:", writable=True)
            file.copy_to(memory)
        return cls(memory)

    def write(self, path: str | Path, *, force: bool) -> None:
        """Write it as a model file, in one piece; SpamnbError where something is in the way."""
        own = self.classifier.store
        with self.lock, atomic_replace(path, own.meta(), force=force) as store, own.reading():
            own.copy_to(store)
            store.read_anew()

    def answers(self, entries: list[Entry], workers: int) -> ModelAnswers:
        """What it says of the messages, in their order."""
        with self.lock:
            store = self.classifier.store
            classes = store.totals().classes
            judge: Callable[[], _Judge] = partial(_Judge, self.classifier)
            if workers > 1 and len(entries) > MAX_ALONE:
                judge = partial(_judge_of_copy, store.as_bytes())
            parts = list(of_chunks(iter(entries), judge, workers))
        none = np.zeros((0, len(classes)))
        scores = np.concatenate([none, *(part.scores for part in parts)])
        probabilities = np.concatenate([none, *(part.probabilities for part in parts)])
        return ModelAnswers(classes, scores, probabilities, all(part.enough for part in parts))

    def evaluation(self, entries: Iterator[Entry]) -> Evaluation:
        """How good it is on labelled messages."""
        from spamnb.evaluation.figures import figures
        from spamnb.evaluation.online import judged

        with self.lock:
            result = judged(entries, self.classifier, tell_unreadable)
            command, path = "SpamClassifier.evaluate in Python", Path(self.classifier.store.path)
            return Evaluation(figures(result), result, self.classifier.settings, path, command=command)


class _Judge:
    """Judges messages by the chunk."""

    def __init__(self, classifier: Classifier) -> None:
        self._classifier = classifier

    def __call__(self, chunk: list[Entry]) -> ModelAnswers:
        found = self._classifier.classify_all((entry.read() for entry in chunk), tokens=0, posterior=False)
        probabilities = np.array([list(judgement.probabilities.values()) for judgement in found])
        scores = np.array([judgement.scores for judgement in found])
        return ModelAnswers(tuple(found[0].probabilities), scores, probabilities, all(one.enough for one in found))


def _judge_of_copy(content: bytes) -> _Judge:
    """A judge for another thread: it has a copy of the model."""
    store = Store.of_bytes(content)
    judge = _Judge(Classifier(store))
    finalize(judge, store.close)
    return judge
