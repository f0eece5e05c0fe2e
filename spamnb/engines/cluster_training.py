"""A model made on a cluster: the same, to the last count and bit, as one machine makes of the same mail.

The client lists the mail, hands it out in parts, and keeps of each message its digest, class and date, some 40 bytes:
these tell copies and the newest mail. All else stays on the workers: rows, vocabularies, sums. The sums of all mail
come back range by range and go into the file, so that no machine holds the vocabulary.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from spamnb.counts.class_counts import ClassCounts, SparseRow
from spamnb.counts.shard import Shard
from spamnb.counts.training_set import TrainingSet, last_copies
from spamnb.engines import parts
from spamnb.engines.chunks import take_chunk
from spamnb.engines.cluster import Cluster
from spamnb.engines.cluster_graph import CountedParts, Plan, plan
from spamnb.engines.counting import Progress
from spamnb.errors import SpamnbError
from spamnb.learners.learner import FitResult, NewestScores
from spamnb.settings import COUNT_MODELS, Settings
from spamnb.sources.entries import Entry
from spamnb.store.learned import LearnedMessage
from spamnb.store.snapshot import Snapshot, atomic_replace, sync, write_rest, write_sums
from spamnb.store.store import Store
from spamnb.tokens.token_array import TokenArray
from spamnb.training import LeaveOneOutResult, check_classes, judge_left_out, with_fit_result

FIRST_PART = 1000  # messages: enough that a task costs little beside them, few enough that all workers soon have one
LARGEST_PART = 8000  # messages: some 60 MB of a worker
EQUAL_PARTS = 32  # of one size, before they double: tasks grow with the square of the number of parts
MAX_PART_BYTES = 1 << 24  # of mail, where entries carry their bytes


def check_settings(settings: Settings) -> None:
    """SpamnbError where a model of these settings cannot be made in parts.

    >>> check_settings(Settings(model_type="hybrid"))
    Traceback (most recent call last):
    ...
    spamnb.errors.SpamnbError: --dask: a hybrid model is no sum over messages, so it is not made in parts; ...
    """
    kind = settings.model_type
    if kind not in COUNT_MODELS:
        raise SpamnbError(
            f"--dask: a {kind} model is no sum over messages, so it is not made in parts; train it on one machine, or"
            f" --model-type {', '.join(COUNT_MODELS)}"
        )
    if settings.top_words is not None:
        raise SpamnbError(
            "--dask: --top-words chooses words by all the mail, once for each fold, which is not done in parts; leave"
            " it out, or train on one machine"
        )


def part_sizes(parts_of: int | None = None) -> Iterator[int]:
    """Messages of each part in turn; ``parts_of`` makes all of one size.

    >>> from itertools import islice
    >>> list(islice(part_sizes(), 30, 34)), list(islice(part_sizes(), 128, 129))
    ([1000, 1000, 2000, 2000], [8000])
    """
    number = 0
    while True:
        doubled = FIRST_PART << min(number // EQUAL_PARTS, 3)
        yield parts_of or min(doubled, LARGEST_PART)
        number += 1


def train_on_cluster(
    cluster: Cluster,
    path: Path,
    mail: Iterable[Entry],
    settings: Settings,
    on_unreadable: Callable[[str, Exception], None],
    on_progress: Progress,
    *,
    force: bool,
    one_class: bool,
    finish: Callable[[Store], None],
    catch_up: Callable[[Store], None],
    part_messages: int | None = None,
) -> tuple[TrainingSet, LeaveOneOutResult]:
    """As ``count_parallel`` and then ``train_file``; of the training set it hands back labels, digests and documents
    alone. ``part_messages`` is the size of a part (None: as ``part_sizes`` says)."""
    check_settings(settings)
    messages, counted = _count(cluster, mail, settings, on_unreadable, on_progress, part_messages)
    if not len(messages.counts.documents):
        raise SpamnbError("no messages in the sources: nothing to train on")
    with atomic_replace(path, settings.as_meta(), force=force, catch_up=catch_up) as store:
        kept = _settled(messages)
        classes, documents = kept.counts.classes, kept.counts.documents
        check_classes(classes, settings, one_class)
        made = plan(cluster, counted, kept, settings)
        del counted  # what nobody needs any more the cluster lets go
        with store.writing():
            write_sums(store, classes, documents, cluster.results(made.merged))
            _write_messages(store, kept)
            sync(store.file)  # most of it is on its way to the disk while workers still score
            result = _fit_result(cluster, made, len(classes))
            tokens = cluster.result(made.figures).totals.vocabulary_size
            snapshot = Snapshot(settings.as_meta(), _NO_TOKENS, kept.counts, [], [], {})
            write_rest(store, with_fit_result(snapshot, result))
            store.put_meta({"vocabulary_size": tokens})
            finish(store)
    return messages, judge_left_out(result, classes, documents, tokens, settings)


_NO_TOKENS = TokenArray.of([])


def _count(
    cluster: Cluster,
    mail: Iterable[Entry],
    settings: Settings,
    on_unreadable: Callable[[str, Exception], None],
    on_progress: Progress,
    part_messages: int | None,
) -> tuple[TrainingSet, CountedParts]:
    """Hand out all mail, and gather what is known of it without its tokens."""
    source, expected = iter(mail), parts.rules()
    counted: list[Any] = []
    asked, places = [], [slice(0, 0)]
    for size in part_sizes(part_messages):
        entries = [_absolute(entry) for entry in take_chunk(source, size, MAX_PART_BYTES).entries]
        if not entries:
            break
        begin, p = places[-1].stop, len(counted)
        places.append(slice(begin, begin + len(entries)))
        told = f"the part of the mail from {entries[0].name} to {entries[-1].name}"
        mail_of = parts.MailPart(entries)
        counted.append(cluster.submit(f"count-{p}", parts.count_part, mail_of, settings.tokens, expected, told=told))
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
    return entry._replace(path=os.path.abspath(entry.path)) if entry.content is None else entry


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
    return _with_documents(TrainingSet(_NO_TOKENS, _no_counts(classes), tuple(shards)))


def _no_counts(classes: tuple[str, ...]) -> ClassCounts:
    none = SparseRow(*np.zeros((3, 0), np.int64))
    return ClassCounts(classes, np.zeros(len(classes), np.int64), 0, (none,) * len(classes))


def _with_documents(messages: TrainingSet) -> TrainingSet:
    """With the messages per class, of those that are included."""
    labels = [np.zeros(0, np.int64), *(own.labels[own.included] for own in messages.shards)]
    documents = np.bincount(np.concatenate(labels), minlength=len(messages.counts.classes))
    return messages._replace(counts=messages.counts._replace(documents=documents))


def _settled(messages: TrainingSet) -> TrainingSet:
    """As ``training.prepare``: without copies and empty classes."""
    last = last_copies(messages.shards)
    kept = tuple(own._replace(included=own.included & keep) for own, keep in zip(messages.shards, last))
    return _with_documents(messages._replace(shards=kept)).nonempty_classes()


def _write_messages(store: Store, kept: TrainingSet, at_a_time: int = 1 << 16) -> None:
    """The list of messages, in the order of their digests."""
    record_of = [LearnedMessage(name, True, None) for name in kept.counts.classes]
    digests = np.concatenate([own.digests[own.included] for own in kept.shards])
    labels = np.concatenate([own.labels[own.included] for own in kept.shards])
    order = np.argsort(np.ascontiguousarray(digests).view("V16").ravel())
    for first in range(0, len(order), at_a_time):
        some = order[first : first + at_a_time]
        names = np.ascontiguousarray(digests[some]).view("V16").ravel().tolist()
        store.add_messages(zip(names, map(record_of.__getitem__, labels[some].tolist())))


def _fit_result(cluster: Cluster, made: Plan, classes: int) -> FitResult:
    """The scores of all parts, in the order of the mail."""
    labels, scores = [np.zeros(0, np.intp)], [np.zeros((0, classes))]
    for of_part, values in cluster.results(made.scores):
        labels.append(of_part)
        scores.append(values)
    newest = None
    if made.newest is not None:
        by_older = np.concatenate(list(cluster.results(made.newest.scores)))
        newest = NewestScores(made.newest.since, made.newest.rows, by_older)
    return FitResult(np.concatenate(labels), np.concatenate(scores), newest=newest)
