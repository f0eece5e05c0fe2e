"""Verdicts on many messages, with all of this machine's cores: each thread opens the model, the verdicts come in the
messages' order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from functools import partial
from typing import Any, NamedTuple, TypeVar

from spamnb.classifier import Classifier
from spamnb.counts.counting import MAX_READ
from spamnb.engines.executor import cores, map_parts
from spamnb.errors import reason
from spamnb.judgement import Judgement
from spamnb.sources.entries import Entry, messages

T = TypeVar("T")


class _Unread(NamedTuple):
    """A message that could not be read, and why."""

    name: str
    reason: str


def classify_parallel(
    entries: Iterable[Entry],
    classifier: Classifier,
    tell: Callable[[Any, Judgement], T],
    on_unreadable: Callable[[str, Exception], None],
    tokens: int | None = 0,
    posterior: bool = True,
    workers: int | None = None,
    about: Callable[[Entry, bytes], Any] = lambda entry, raw: entry.name,
) -> Iterator[T]:
    """``tell(name, judgement)`` of each message, in their order and as they come; ``about(entry, raw)`` stands in place
    of the name where more is wanted of the message, and should be small.

    ``tell`` is called in the thread that judged the message, with ``tokens`` of its evidence (None: all) and with its
    ``posterior`` or without: few messages are judged by ``classifier`` here, many by ``workers`` threads (default: one
    a core), each of which opens its file. What they find is the same.
    """

    def judge(own: Classifier, part: list[Entry]) -> list[T | _Unread]:
        """What ``tell`` says of each message, or why it could not be read."""
        told: list[T | _Unread] = []
        waiting: list[tuple[int, Any]] = []  # place of each message that is to be judged, and what is known of it
        raws: list[bytes] = []
        size = 0

        def judge_read() -> None:
            for (place, known), judgement in zip(waiting, own.classify_all(raws, tokens, posterior=posterior)):
                told[place] = tell(known, judgement)
            waiting.clear()
            raws.clear()

        for entry, raw in messages(part, lambda name, error: told.append(_Unread(name, reason(error)))):
            waiting.append((len(told), about(entry, raw)))
            told.append(_Unread(entry.name, ""))  # until it is judged
            raws.append(raw)
            size += len(raw)
            if size > MAX_READ:  # 256 letters with 10 MB of photographs are 2.6 GB
                judge_read()
                size = 0
        judge_read()
        return told

    def opened() -> Callable[[list[Entry]], list[T | _Unread]]:
        own = files.enter_context(Classifier.open(classifier.store.path))
        own.store.table = classifier.store.table
        return partial(judge, own)

    with ExitStack() as files:
        for told in map_parts(entries, partial(judge, classifier), opened, workers or cores()):
            for one in told:
                if isinstance(one, _Unread):
                    on_unreadable(one.name, OSError(one.reason))
                else:
                    yield one
