"""Classification of many messages by threads: each thread opens the model, and the results stay in order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from functools import partial
from typing import TypeVar

from spamnb.engines.executor import MAX_PART_BYTES, cores, map_parts
from spamnb.errors import reason
from spamnb.filter import Classifier
from spamnb.model.classification import Classification
from spamnb.sources.entries import Entry, work_in_batches

T = TypeVar("T")


def classify_parallel(
    entries: Iterable[Entry],
    classifier: Classifier,
    describe: Callable[[Entry, bytes, Classification], T],
    on_unreadable: Callable[[str, Exception], None],
    n_evidence: int | None = 0,
    uncalibrated: bool = True,
    workers: int | None = None,
) -> Iterator[T]:
    """Yield ``describe(entry, raw message, classification)`` for each entry, in the order of the entries.

    The first messages (with one worker, all) are classified by ``classifier`` in this thread, the others by ``workers``
    threads (default: one per processor), each of which opens the same file. ``describe`` runs in the same thread.
    ``n_evidence`` limits the evidence of each message (None: all). ``uncalibrated`` adds probabilities before
    calibration.
    """

    def classify_part(model: Classifier, part: list[Entry]) -> list[T | OSError]:
        """Return the description of each message, or an OSError for a message that failed."""
        results: list[T | OSError] = []

        def classify_batch(batch: list[Entry]) -> list[T]:
            classifications = model.classify_all(
                [entry.read() for entry in batch], n_evidence, uncalibrated=uncalibrated
            )
            return [describe(entry, entry.read(), result) for entry, result in zip(batch, classifications)]

        def add_error(name: str, error: Exception) -> None:
            results.append(OSError(0, reason(error), name))

        # 256 messages with photographs may have 2.6 GB, so a part is read in batches.
        for _, descriptions in work_in_batches(part, classify_batch, add_error, len(part), MAX_PART_BYTES):
            results += descriptions
        return results

    def make_classify_part() -> Callable[[list[Entry]], list[T | OSError]]:
        return partial(classify_part, models.enter_context(Classifier.open(classifier.store.path)))

    with ExitStack() as models:
        for results in map_parts(entries, partial(classify_part, classifier), make_classify_part, workers or cores()):
            for result in results:
                if isinstance(result, OSError):
                    on_unreadable(result.filename, OSError(result.strerror))
                else:
                    yield result
