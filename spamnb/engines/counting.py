"""Counting on all of this machine's cores, or on a cluster: the training set is the same to the last count."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing
from functools import partial
from typing import TYPE_CHECKING

from spamnb.counts.counting import Collection, Counted, Counter
from spamnb.counts.training_set import TrainingSet
from spamnb.engines.executor import AHEAD, MAX_PART_BYTES, PerThread, cores, ordered_map, parts_of, threads
from spamnb.reader.options import TokenOptions
from spamnb.reader.vocabulary import Vocabulary
from spamnb.sources.entries import Entry

if TYPE_CHECKING:
    from spamnb.engines.cluster import Cluster

MAX_PART = 128  # messages handed to a thread: small enough that no thread is left with much at the end

Progress = Callable[[int], None]  # is told how many messages are done
CountedParts = Generator[tuple[Counted, Vocabulary]]  # in the order of the mail, with the vocabulary of their ids


def count_parallel(
    entries: Iterable[Entry],
    options: TokenOptions,
    on_unreadable: Callable[[str, Exception], None],
    on_progress: Progress = lambda done: None,
    workers: int | None = None,
    cluster: Cluster | None = None,
) -> TrainingSet:
    """The training set of all messages, counted by ``workers`` threads (default: one a core), or by the ``cluster``
    where there is one. Rows that memory should not hold lie in temporary files."""
    if cluster is None:
        counted = _by_threads(entries, options, workers or cores())
    else:
        counted = cluster.count(entries, options)
    collection, done = Collection(), 0
    with closing(counted):
        for found, vocabulary in counted:
            for message in found.unread:
                on_unreadable(message.name, OSError(message.why))
            done += len(found.positions) + len(found.unread)
            on_progress(done)
            collection.add(found, vocabulary)
    return collection.training_set()


def numbered(parts: Iterable[list[Entry]]) -> Iterator[tuple[int, list[Entry]]]:
    """Parts of the mail, with the place of the first message of each."""
    first = 0
    for entries in parts:
        yield first, entries
        first += len(entries)


def _by_threads(entries: Iterable[Entry], options: TokenOptions, workers: int) -> CountedParts:
    own = PerThread(partial(Counter, options))

    def count(first: int, part: list[Entry]) -> tuple[Counted, Vocabulary]:
        return own.value.count(enumerate(part, first)), own.value.vocabulary

    parts = numbered(parts_of(entries, MAX_PART, MAX_PART_BYTES))
    with threads(workers) as executor:
        yield from ordered_map(lambda part: executor.submit(count, *part), parts, AHEAD * workers)
