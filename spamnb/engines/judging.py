"""Verdicts on many messages, with all of this machine's cores: each process opens the model, the verdicts come in the
messages' order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from spamnb.classifier import Classifier
from spamnb.engines.chunks import take_chunk
from spamnb.errors import reason
from spamnb.judgement import Judgement
from spamnb.sources.entries import Entry, messages

# Messages judged at once; more gain less than their memory is worth: docs/experiments.md#one-process-or-several.
MAX_CHUNK = 256
MAX_ALONE = 300  # messages below which processes cost more than they gain
MAX_CHUNK_BYTES = 1 << 22  # … both bounded by this much mail, where entries carry their bytes
MAX_AHEAD = 16  # chunks that may be judged before an earlier one is

Charges = tuple[float, float | None]  # what Classifier.charge takes
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
    about: Callable[[Entry, bytes], Any] | None = None,
) -> Iterator[T]:
    """``tell(name, judgement)`` of each message, in their order and as they come; ``about(entry, raw)`` stands in place
    of the name where more is wanted of the message, and should be small.

    ``tell`` is called in the process that judged the message, with ``tokens`` of its evidence (None: all) and with its
    ``posterior`` or without: few messages are judged by ``classifier`` here, many by ``workers`` processes (default:
    one a core). What they find is the same. ``classifier`` is closed before processes start, which open its file for
    themselves: SQLite allows no connection to cross a fork.
    """
    source = iter(entries)
    first = take_chunk(source, MAX_ALONE, MAX_CHUNK_BYTES)
    every = chain(first.entries, source)
    chunks = iter(lambda: take_chunk(every, MAX_CHUNK, MAX_CHUNK_BYTES).entries, [])
    judge = partial(_judge, tell=tell, tokens=tokens, posterior=posterior, about=about)
    if not first.more:
        for chunk in chunks:
            yield from _told(judge(classifier, chunk), on_unreadable)
        return
    from spamnb.engines.workers import cores, parallel_map  # imported here: a few messages need no multiprocessing

    loss = classifier.settings.loss
    work = partial(_work, classifier.store.path, (loss.false_positive_cost, loss.unsure_cost), judge)
    classifier.close()
    waiting: dict[int, Any] = {}
    due = 0
    for number, told in parallel_map(work, chunks, workers or cores(), ahead=MAX_AHEAD):
        assert number is not None
        waiting[number] = told
        while due in waiting:
            yield from _told(waiting.pop(due), on_unreadable)
            due += 1


def _told(told: list[T | _Unread], on_unreadable: Callable[[str, Exception], None]) -> Iterator[T]:
    for one in told:
        if isinstance(one, _Unread):
            on_unreadable(one.name, OSError(one.reason))
        else:
            yield one


def _work(
    path: str | Path,
    charges: Charges,
    judge: Callable[[Classifier, list[Entry]], list[Any]],
    chunks: Iterator[list[Entry]],
    reply: Callable[[Any], None],
) -> None:
    """A worker's part."""
    with Classifier.open(path) as classifier:
        classifier.charge(*charges)
        classifier.store.preload()
        for chunk in chunks:
            reply(judge(classifier, chunk))


def _judge(
    classifier: Classifier,
    chunk: list[Entry],
    tell: Callable[[Any, Judgement], T],
    tokens: int | None,
    posterior: bool,
    about: Callable[[Entry, bytes], Any] | None,
) -> list[T | _Unread]:
    """What ``tell`` says of each message, or why it could not be read."""
    unread: dict[int, _Unread] = {}  # by place
    known: list[Any] = []

    def on_unreadable(name: str, error: Exception) -> None:
        unread[len(known) + len(unread)] = _Unread(name, reason(error))

    def raws() -> Iterator[bytes]:  # one at a time: 256 letters with 10 MB of photographs are 2.6 GB
        for entry, raw in messages(chunk, on_unreadable):
            known.append(about(entry, raw) if about else entry.name)
            yield raw

    judgements = classifier.classify_all(raws(), tokens, posterior=posterior)
    told = map(tell, known, judgements)
    return [unread[place] if place in unread else next(told) for place in range(len(known) + len(unread))]
