"""Counting by threads or on a cluster. Both make the training set that one thread makes, to the last count."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import closing
from typing import TYPE_CHECKING

from spamnb.counts.counting import Collection, CountedMessages, Counter
from spamnb.counts.training_set import TrainingSet
from spamnb.engines.executor import cores, map_parts
from spamnb.settings import Settings
from spamnb.sources.entries import Entry

if TYPE_CHECKING:
    from spamnb.engines.cluster import Cluster

Progress = Callable[[int], None]  # called with the number of messages that were counted or unreadable so far


def count_parallel(
    entries: Iterable[Entry],
    settings: Settings,
    on_unreadable: Callable[[str, Exception], None],
    on_progress: Progress = lambda done: None,
    workers: int | None = None,
    cluster: Cluster | None = None,
) -> TrainingSet:
    """Return the training set of all messages, counted by threads (default: one per processor) or by a cluster."""
    collection, done = Collection(), 0

    def make_counter() -> Callable[[list[Entry]], CountedMessages]:
        return Counter(settings, collection.vocabulary).count

    if cluster is None:
        counted_parts = map_parts(entries, make_counter(), make_counter, workers or cores())
    else:
        counted_parts = cluster.count(entries, settings, collection.vocabulary)
    with closing(counted_parts):
        for counted in counted_parts:
            for message in counted.unread:
                on_unreadable(message.name, OSError(message.why))
            collection.add(counted._replace(positions=counted.positions + done))
            done += len(counted.positions) + len(counted.unread)
            on_progress(done)
    return collection.training_set()
