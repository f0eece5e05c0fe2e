"""Counting by threads or on a cluster. Both make the training set that one thread makes, to the last count."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING

from spamnb.engines.executor import cores, map_parts
from spamnb.model.counting import MessageCounter, TrainingSetBuilder, Unread
from spamnb.model.training_set import TrainingSet
from spamnb.reader.rows import Rows
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
    builder, done = TrainingSetBuilder(), 0

    def make_counter() -> Callable[[list[Entry]], tuple[Rows, list[Unread]]]:
        return MessageCounter(settings, builder.vocabulary).count

    if cluster is None:
        counted_parts = map_parts(entries, make_counter(), make_counter, workers or cores())
    else:
        counted_parts = cluster.count(entries, settings, builder.vocabulary)
    with closing(counted_parts):
        for rows, unread in counted_parts:
            for message in unread:
                on_unreadable(message.name, OSError(message.why))
            builder.add(replace(rows, positions=rows.positions + done))
            done += len(rows) + len(unread)
            on_progress(done)
    return builder.training_set()
