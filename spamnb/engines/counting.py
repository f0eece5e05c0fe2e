"""Counting on all of this machine's cores, or on a cluster: the training set is the same to the last count."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from contextlib import closing
from functools import partial
from typing import TYPE_CHECKING

from spamnb.counts.counting import Collection, Counted, Counter, SharedVocabulary
from spamnb.counts.training_set import TrainingSet
from spamnb.engines.executor import AHEAD, MAX_PART_BYTES, PerThread, cores, ordered_map, parts_of, threads
from spamnb.reader.options import TokenOptions
from spamnb.sources.entries import Entry

if TYPE_CHECKING:
    from spamnb.engines.cluster import Cluster

MAX_PART = 128  # messages handed to a thread: small enough that no thread is left with much at the end

Progress = Callable[[int], None]  # is told how many messages are done


def count_parallel(
    entries: Iterable[Entry],
    options: TokenOptions,
    on_unreadable: Callable[[str, Exception], None],
    on_progress: Progress = lambda done: None,
    workers: int | None = None,
    cluster: Cluster | None = None,
) -> TrainingSet:
    """The training set of all messages, counted by ``workers`` threads (default: one a core), or by the ``cluster``
    where there is one."""
    collection, done = Collection(), 0
    if cluster is None:
        parts = _by_threads(entries, options, collection.vocabulary, workers or cores())
    else:
        parts = cluster.count(entries, options, collection.vocabulary)
    with closing(parts):
        for counted in parts:
            for message in counted.unread:
                on_unreadable(message.name, OSError(message.why))
            collection.add(counted._replace(positions=counted.positions + done))
            done += len(counted.positions) + len(counted.unread)
            on_progress(done)
    return collection.training_set()


def _by_threads(
    entries: Iterable[Entry], options: TokenOptions, vocabulary: SharedVocabulary, workers: int
) -> Generator[Counted]:
    own = PerThread(partial(Counter, options, vocabulary))

    def count(part: list[Entry]) -> Counted:
        return own.value.count(part)

    with threads(workers) as executor:
        parts = parts_of(entries, MAX_PART, MAX_PART_BYTES)
        yield from ordered_map(lambda part: executor.submit(count, part), parts, AHEAD * workers)
