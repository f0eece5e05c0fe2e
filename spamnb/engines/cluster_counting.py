"""Mail counted on a cluster: handed out in parts, of which each message's digest, class and date come back.

These some 40 bytes a message tell copies and the newest mail. Rows, vocabularies and sums stay on the workers until
``count_on_cluster`` fetches them: for models that are more than sums, and for evaluations.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from spamnb.counts.class_counts import ClassCounts, SparseRow
from spamnb.counts.shard import Shard
from spamnb.counts.training_set import TrainingSet
from spamnb.engines import parts
from spamnb.engines.chunks import take_chunk
from spamnb.engines.cluster import Cluster
from spamnb.engines.cluster_graph import CountedParts, gathering
from spamnb.engines.counting import Progress
from spamnb.engines.range_sums import Piece
from spamnb.errors import SpamnbError
from spamnb.sources.entries import Entry, is_remote
from spamnb.tokens.token_array import TokenArray
from spamnb.tokens.tokenizer import TokenOptions

FIRST_PART = 1000  # messages: enough that a task costs little beside them, few enough that all workers soon have one
LARGEST_PART = 8000  # messages: some 60 MB of a worker
EQUAL_PARTS = 2  # a worker, of one size, before they double: tasks grow with the square of the number of parts
MAX_PART_BYTES = 1 << 24  # of mail, where entries carry their bytes


def part_sizes(parts_of: int | None = None, workers: int = 2, room: int = 1) -> Iterator[int]:
    """Messages of each part in turn, for so many workers with so much room; ``parts_of`` makes all of one size.

    >>> from itertools import islice
    >>> list(islice(part_sizes(workers=2), 2, 6)), list(islice(part_sizes(workers=2), 99, 100))
    ([1000, 1000, 2000, 2000], [8000])
    """
    number = 0
    while True:
        doubled = FIRST_PART << min(number // (EQUAL_PARTS * workers), 5)
        yield parts_of or min(doubled, LARGEST_PART * room)
        number += 1


NO_TOKENS = TokenArray.of([])

def count_on_cluster(
    cluster: Cluster,
    mail: Iterable[Entry],
    options: TokenOptions,
    folder: Path,
    on_unreadable: Callable[[str, Exception], None],
    on_progress: Progress,
    part_messages: int | None = None,
) -> TrainingSet:
    """As ``count_parallel``: the training set of all messages, as one process makes it. Its rows lie in ``folder``, and
    its vocabulary is in memory here."""
    messages, counted = hand_out(cluster, mail, options, on_unreadable, on_progress, part_messages)
    if not counted.counted:
        return messages
    made = gathering(cluster, counted, messages.counts.classes)
    del counted
    tokens, counts = _joined(list(cluster.results(_in_turn(made.merged))))
    # A number for each token, those that most messages hold first: what is read most lies together in memory.
    common = np.argsort(-counts.document_frequency(), kind="stable")
    number = np.empty(len(common), np.int32)
    number[common] = np.arange(len(common), dtype=np.int32)
    path = folder / "rows"
    lengths = [np.zeros(0, np.int32)]
    with path.open("wb") as file:
        for rows in cluster.results(_in_turn(made.rows)):
            own = number[np.searchsorted(tokens.hashes, rows.hashes)]
            np.stack([own[rows.cells[:, 0]], rows.cells[:, 1]], axis=1).tofile(file)
            lengths.append(rows.lengths)
    shard = Shard(
        path,
        np.concatenate([own.positions for own in messages.shards]),
        np.concatenate(lengths),
        np.concatenate([own.labels for own in messages.shards]).astype(np.intp),
        np.concatenate([own.digests for own in messages.shards]),
        common,
        np.concatenate([own.included for own in messages.shards]),
        np.concatenate([own.dates for own in messages.shards]),
    )
    return TrainingSet(tokens, counts._replace(documents=messages.counts.documents), (shard,))


def _in_turn(futures: list[Any]) -> Iterator[Any]:
    """One after the other; what was had the cluster lets go."""
    futures.reverse()
    while futures:
        yield futures.pop()


def _joined(ranges: list[Piece]) -> tuple[TokenArray, ClassCounts]:
    """The sums of all ranges, which follow each other."""
    tokens = TokenArray.concat([piece.tokens for piece in ranges])
    first = np.cumsum([0, *(len(piece.tokens) for piece in ranges)])
    rows = [
        SparseRow(
            np.concatenate([row.columns + begin for row, begin in zip(of_class, first)]),
            np.concatenate([row.document_counts for row in of_class]),
            np.concatenate([row.occurrences for row in of_class]),
        )
        for of_class in zip(*(piece.counts.rows for piece in ranges))
    ]
    counts = ranges[0].counts
    return tokens, counts._replace(vocabulary_size=len(tokens), rows=tuple(rows))


def hand_out(
    cluster: Cluster,
    mail: Iterable[Entry],
    options: TokenOptions,
    on_unreadable: Callable[[str, Exception], None],
    on_progress: Progress,
    part_messages: int | None,
) -> tuple[TrainingSet, CountedParts]:
    """Hand out all mail, and gather what is known of it without its tokens."""
    source, expected = iter(mail), parts.rules()
    counted: list[Any] = []
    asked, places = [], [slice(0, 0)]
    for size in part_sizes(part_messages, cluster.workers, cluster.room):
        entries = [_absolute(entry) for entry in take_chunk(source, size, MAX_PART_BYTES).entries]
        if not entries:
            break
        begin, p = places[-1].stop, len(counted)
        places.append(slice(begin, begin + len(entries)))
        told = f"the part of the mail from {entries[0].name} to {entries[-1].name}"
        mail_of = parts.MailPart(entries)
        counted.append(cluster.submit(f"count-{p}", parts.count_part, mail_of, options, expected, told=told))
        asked.append(cluster.submit(f"head-{p}", parts.part_head, counted[-1]))
    del places[0]
    heads: list[parts.PartHead] = []
    for head in cluster.results(asked):
        for message in head.unreadable:
            _check_seen(cluster, message)
            on_unreadable(message.name, OSError(message.why))
        on_progress(places[len(heads)].stop, places[-1].stop)
        heads.append(head)
    messages = _messages(heads, places)
    return messages, CountedParts(counted, places, [head.seal for head in heads], sum(head.tokens for head in heads))


def _absolute(entry: Entry) -> Entry:
    here = entry.content is None and not is_remote(entry.path)
    return entry._replace(path=os.path.abspath(entry.path)) if here else entry


def _check_seen(cluster: Cluster, message: parts.UnreadMessage) -> None:
    """SpamnbError where a worker lacks a file that is here."""
    if message.missing and os.path.exists(message.path):
        raise SpamnbError(
            f"{message.name}: here it is, and on a worker of {cluster.address} it is not; all workers must see the"
            " mail's files under the same names"
        )


def _messages(heads: Sequence[parts.PartHead], places: Sequence[slice]) -> TrainingSet:
    """All messages as a training set that knows no tokens."""
    classes = tuple(sorted({name for head in heads for name in head.classes}))
    shards = []
    for head, of_part in zip(heads, places):
        number = np.array([classes.index(name) for name in head.classes], np.intp)
        n = len(head.labels)
        shard = Shard(
            np.zeros((0, 2), np.int32),
            head.positions + of_part.start,
            np.zeros(n, np.int32),
            number[head.labels].astype(np.int32),
            head.digests,
            np.zeros(0, np.intp),
            np.ones(n, bool),
            head.dates,
        )
        shards.append(shard)
    return with_documents(TrainingSet(NO_TOKENS, _no_counts(classes), tuple(shards)))


def _no_counts(classes: tuple[str, ...]) -> ClassCounts:
    none = SparseRow(*np.zeros((3, 0), np.int64))
    return ClassCounts(classes, np.zeros(len(classes), np.int64), 0, (none,) * len(classes))


def with_documents(messages: TrainingSet) -> TrainingSet:
    """With the messages per class, of those that are included."""
    labels = [np.zeros(0, np.int64), *(own.labels[own.included] for own in messages.shards)]
    documents = np.bincount(np.concatenate(labels), minlength=len(messages.counts.classes))
    return messages._replace(counts=messages.counts._replace(documents=documents))
