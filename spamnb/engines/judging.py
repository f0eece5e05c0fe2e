"""Verdicts on many messages, with all of this machine's cores: each thread opens the model, the verdicts come in the
messages' order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from functools import partial
from typing import Any, TypeVar

from spamnb.classification import Classification
from spamnb.classifier import Classifier
from spamnb.counts.counting import MAX_READ
from spamnb.engines.executor import cores, map_parts
from spamnb.errors import reason
from spamnb.sources.entries import Entry, NumberedMessage, work_in_batches

T = TypeVar("T")


def classify_parallel(
    entries: Iterable[Entry],
    classifier: Classifier,
    tell: Callable[[Any, Classification], T],
    on_unreadable: Callable[[str, Exception], None],
    tokens: int | None = 0,
    posterior: bool = True,
    workers: int | None = None,
    about: Callable[[Entry, bytes], Any] = lambda entry, raw: entry.name,
) -> Iterator[T]:
    """``tell(name, classification)`` of each message, in their order and as they come; ``about(entry, raw)`` stands in
    place of the name where more is wanted of the message, and should be small.

    ``tell`` is called in the thread that judged the message, with ``tokens`` of its evidence (None: all) and with its
    ``posterior`` or without: few messages are judged by ``classifier`` here, many by ``workers`` threads (default: one
    a core), each of which opens its file. What they find is the same.
    """

    def judge_part(own: Classifier, part: list[Entry]) -> list[T | OSError]:
        """What ``tell`` says of each message, or why it could not be read."""
        told: list[T | OSError] = []

        def judge(batch: list[NumberedMessage]) -> list[T]:
            classifications = own.classify_all([each.raw for each in batch], tokens, posterior=posterior)
            return [tell(about(each.entry, each.raw), found) for each, found in zip(batch, classifications)]

        def leave_out(name: str, error: Exception) -> None:
            told.append(OSError(0, reason(error), name))

        # 256 letters with 10 MB of photographs are 2.6 GB.
        for _, texts in work_in_batches(part, judge, leave_out, len(part), MAX_READ):
            told += texts
        return told

    def opened() -> Callable[[list[Entry]], list[T | OSError]]:
        own = files.enter_context(Classifier.open(classifier.store.path))
        own.store.table = classifier.store.table
        return partial(judge_part, own)

    with ExitStack() as files:
        for told in map_parts(entries, partial(judge_part, classifier), opened, workers or cores()):
            for one in told:
                if isinstance(one, OSError):
                    on_unreadable(one.filename, OSError(one.strerror))
                else:
                    yield one
