"""A model of sums made on a cluster: the same, to the last count and bit, as one machine makes of the same mail.

Rows, vocabularies and sums stay on the workers. The sums of all mail come back range by range and go into the file, so
that no machine holds the vocabulary.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np

from spamnb.counts.training_set import TrainingSet, last_copies
from spamnb.engines.cluster import Cluster
from spamnb.engines.cluster_counting import NO_TOKENS, hand_out, with_documents
from spamnb.engines.cluster_graph import Plan, plan
from spamnb.engines.counting import Progress
from spamnb.errors import SpamnbError
from spamnb.learners.learner import FitResult, NewestScores
from spamnb.settings import COUNT_MODELS, Settings
from spamnb.sources.entries import Entry
from spamnb.store.learned import LearnedMessage
from spamnb.store.snapshot import Snapshot, atomic_replace, sync, write_rest, write_sums
from spamnb.store.store import Store
from spamnb.training import LeaveOneOutResult, check_classes, judge_left_out, rare_note, with_fit_result


def is_made_in_parts(settings: Settings) -> bool:
    """Whether a model of these settings is sums alone, of all words: no machine needs more of it than its part.

    >>> is_made_in_parts(Settings(model_type="boolean")), is_made_in_parts(Settings(model_type="corrected"))
    (True, False)
    """
    return settings.model_type in COUNT_MODELS and settings.top_words is None


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
    messages, counted = hand_out(cluster, mail, settings.tokens, on_unreadable, on_progress, part_messages)
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
            snapshot = Snapshot(settings.as_meta(), NO_TOKENS, kept.counts, [], [], {})
            write_rest(store, with_fit_result(snapshot, result))
            store.put_meta({"vocabulary_size": tokens, **rare_note(sum(cluster.results(made.rare)))})
            finish(store)
    return messages, judge_left_out(result, classes, documents, tokens, settings)


def _settled(messages: TrainingSet) -> TrainingSet:
    """As ``training.prepare``: without copies and empty classes."""
    last = last_copies(messages.shards)
    kept = tuple(own._replace(included=own.included & keep) for own, keep in zip(messages.shards, last))
    return with_documents(messages._replace(shards=kept)).nonempty_classes()


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
