"""Verdicts on many messages, with all of this machine's cores: one model opened by each process, verdicts in the
messages' order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from spamnb.classifier import Classifier, Judgement
from spamnb.engines.chunks import take_chunk
from spamnb.errors import reason
from spamnb.sources.entries import Entry, messages

CHUNK = 256  # messages judged at once: with 128 each takes 5 % more, with 512 3 % less, which is not worth the memory
FEW = 300  # messages below which processes cost more than they gain
MOST_BYTES = 1 << 22  # … both bounded by this much mail, where entries carry their bytes
AHEAD = 16  # chunks that may be judged before an earlier one is

Charges = tuple[float | None, float | None]  # what Classifier.charge takes


class Verdict(NamedTuple):
    """What is printed of one message, and which verdict it got."""

    verdict: str
    spam: bool
    text: str  # what ``tell`` made of it


def classify_parallel(
    entries: Iterable[Entry],
    path: str | Path,
    tell: Callable[[str, Judgement], str],
    on_unreadable: Callable[[str, Exception], None],
    charges: Charges = (None, None),
    tokens: int | None = 0,
    workers: int | None = None,
) -> Iterator[Verdict]:
    """The verdict of the model at ``path`` on each message, in their order and as they come.

    ``tell(name, judgement)`` makes a text of each, with ``tokens`` of its evidence (None: all), in the process that
    judged it: this one, or ``workers`` of them (default: one a core) where there are many messages. The verdicts are
    the same either way. Raises SpamnbError where the model cannot be opened.
    """
    source = iter(entries)
    first = take_chunk(source, FEW, MOST_BYTES)
    every = chain(first.entries, source)
    chunks = iter(lambda: take_chunk(every, CHUNK, MOST_BYTES).entries, [])
    judge = partial(_judge, tell=tell, tokens=tokens)
    with Classifier.open(path) as classifier:
        classifier.charge(*charges)
        if not first.more:
            for chunk in chunks:
                yield from _told(judge(classifier, chunk), on_unreadable)
            return
    from spamnb.engines.workers import cores, parallel_map  # imported here: one message needs no multiprocessing

    waiting: dict[int, Any] = {}
    due = 0
    for number, told in parallel_map(partial(_work, path, charges, judge), chunks, workers or cores(), ahead=AHEAD):
        assert number is not None
        waiting[number] = told
        while due in waiting:
            yield from _told(waiting.pop(due), on_unreadable)
            due += 1


def _told(told: list[Verdict | tuple[str, str]], on_unreadable: Callable[[str, Exception], None]) -> Iterator[Verdict]:
    for one in told:
        if isinstance(one, Verdict):
            yield one
        else:
            on_unreadable(one[0], OSError(one[1]))


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
    classifier: Classifier, chunk: list[Entry], tell: Callable[[str, Judgement], str], tokens: int | None
) -> list[Verdict | tuple[str, str]]:
    """For each message its verdict, or its name and why it could not be read."""
    out: list[Verdict | tuple[str, str] | None] = []
    names: list[str] = []

    def raws() -> Iterator[bytes]:  # one at a time: 256 letters with 10 MB of photographs are 2.6 GB
        for entry, raw in messages(chunk, lambda name, error: out.append((name, reason(error)))):
            names.append(entry.name)
            out.append(None)
            yield raw

    judgements = zip(classifier.classify_all(raws(), tokens), names)
    spam = classifier.settings.spam
    verdicts = (Verdict(j.verdict, j.verdict == spam, tell(name, j)) for j, name in judgements)
    return [next(verdicts) if one is None else one for one in out]
