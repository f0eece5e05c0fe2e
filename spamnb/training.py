"""A training set → a model file: feature selection, fitting, the leave-one-out estimate, and the file in one piece.

Selection reads labels, so it is repeated per fold, and every message is scored by a model whose words were selected
without it. Selected once, random labels score 104/120 where chance is 60 (docs/experiments.md#feature-selection).
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from spamnb.counts.newest import split_newest
from spamnb.counts.training_set import TrainingSet
from spamnb.errors import ArgumentError, SpamnbError
from spamnb.formulas.calibration import Calibration
from spamnb.learners.learner import FitResult, NewestScores, Screened, learner_for
from spamnb.naming import check_cases
from spamnb.settings import Settings
from spamnb.store.pruning import noted_as_pruned
from spamnb.store.records import LearnedMessage
from spamnb.store.rows import Cells
from spamnb.store.snapshot import Snapshot, atomic_replace, write_snapshot
from spamnb.store.store import Store

if TYPE_CHECKING:
    from concurrent.futures import Executor

N_FOLDS = 10  # where features are selected


class NewestResult(NamedTuple):
    """How the newest n messages are judged by a model of the older ones, calibrated as the model of all is."""

    since: int  # when the first of them was received, in seconds since 1970
    labels: np.ndarray  # (n,) true class numbers
    verdicts: list[str]


class LeaveOneOutResult(NamedTuple):
    """What a model was trained on, and how each message of the training set is judged by the model without it.

    The last of the n messages are those that were ``doubted``: their labels seem wrong, and the model did not learn
    them. ``n_folds`` is None where each message was left out by itself, else the number of folds that were left out.
    """

    classes: tuple[str, ...]
    documents: np.ndarray  # (C,) messages per class
    tokens: int  # distinct tokens in the model
    n_folds: int | None
    positions: np.ndarray  # (n,) places of the messages in the mail
    labels: np.ndarray  # (n,) class numbers as labelled
    scores: np.ndarray  # (n, C) nats
    probabilities: np.ndarray  # (n, C) calibrated
    verdicts: list[str]
    doubted: int = 0  # messages that were not learned
    newest: NewestResult | None = None  # where there is enough to tell

    def verdict_numbers(self) -> np.ndarray:
        """The verdicts as class numbers (n,), −1 for unsure."""
        number = {name: c for c, name in enumerate(self.classes)}
        return np.array([number.get(verdict, -1) for verdict in self.verdicts], np.int64)


def prepare(training_set: TrainingSet) -> TrainingSet:
    """The training set that a model is made of: without duplicates, and without classes that hold no message."""
    return training_set.deduplicate().nonempty_classes()


def check_classes(classes: tuple[str, ...], settings: Settings, one_class: bool) -> None:
    """SpamnbError where a person hardly wants a model of these classes, those that hold messages."""
    try:
        check_cases(classes)
    except ValueError as error:
        raise SpamnbError(str(error)) from None
    if len(classes) == 1 and not one_class:
        raise ArgumentError(
            "only class {name!r} in the sources: to tell classes apart it takes two; {option.one_class} trains on one",
            name=classes[0],
        )
    if len(classes) > 1 and settings.spam not in (*classes, Settings().spam):
        raise SpamnbError(f"spam is {settings.spam!r}: no class has this name; the classes are {', '.join(classes)}")


def select_features(training_set: TrainingSet, settings: Settings) -> TrainingSet:
    """The training set with only the ``settings.top_words`` tokens of highest mutual information with the class, or
    with those that ``settings.min_messages`` hold."""
    training_set = training_set.without_rare(settings.min_messages)
    if settings.top_words is not None and settings.top_words < len(training_set.tokens):
        from spamnb.formulas.mutual_information import mutual_information, top_columns

        counts = training_set.counts
        bits = mutual_information(counts.document_counts, counts.documents)
        selected = top_columns(bits, settings.top_words, training_set.tokens)
        training_set = training_set.select_columns(np.sort(selected))
    return training_set


def screened(training_set: TrainingSet, settings: Settings) -> Screened:
    """The prepared training set with the selected features, without the messages whose labels seem wrong."""
    return learner_for(settings).screen(select_features(training_set, settings))


def _fit(
    training_set: TrainingSet, learned: Screened, settings: Settings, executor: Executor | None = None
) -> FitResult:
    """The learner fitted to ``learned``, what to learn of the training set, with left-out scores.

    The ``executor``, where there is one, finds the scores of the newest messages meanwhile."""
    newest = executor.submit(newest_scores, learned.training_set, settings) if executor else None
    result = _fit_all(training_set, learned, settings)
    return result._replace(newest=newest.result() if newest else newest_scores(learned.training_set, settings))


def _fit_all(training_set: TrainingSet, learned: Screened, settings: Settings) -> FitResult:
    """``_fit`` without the newest.

    Where words were chosen, the scores are those of folds, each with a choice of its own. Which tokens are rare sums
    tell for each message anew. A message of a fold without which some class has no message scores 0: nothing tells the
    classes apart.
    """
    result = learner_for(settings).train(learned)
    selected = learned.training_set
    chosen = settings.top_words is not None and len(selected.tokens) < len(training_set.tokens)
    if not chosen or not len(result.labels):
        return result
    positions = selected.included_positions()
    if learned.doubted is not None:
        training_set, _ = training_set.split(learned.doubted.included_positions())
    fold_of = training_set.stratified_folds(N_FOLDS)
    row = np.zeros(len(fold_of), np.intp)  # of each position
    row[positions] = np.arange(len(positions))
    scores = np.zeros_like(result.scores)
    for fold in range(N_FOLDS):
        in_fold = fold_of == fold
        others = select_features(training_set.minus(in_fold).select_columns(), settings)
        if not others.counts.documents.all():
            continue
        learner = learner_for(settings)
        with _in_memory(others, learner.train(Screened(others, learned.noise)), settings) as store:
            for batch in training_set.select(in_fold).batches():
                columns, rows = batch.rows.renumbered()
                tokens = training_set.tokens.take(columns)
                scores[row[batch.positions]] = learner.score(store, tokens, rows).scores
    return result._replace(scores=scores, n_folds=N_FOLDS)


def _in_memory(selected: TrainingSet, result: FitResult, settings: Settings) -> Store:
    store = Store.create(":memory:", settings.as_meta())
    write_snapshot(store, with_fit_result(snapshot_of(selected, settings), result))
    return store


def model_of(training_set: TrainingSet, settings: Settings) -> Store:
    """A model in memory, made of the training set's messages as ``train_file`` would make its file."""
    training_set = prepare(training_set.select_columns())
    learned = screened(training_set, settings)
    return _in_memory(learned.training_set, _fit(training_set, learned, settings), settings)


def leave_one_out_estimate(training_set: TrainingSet, settings: Settings) -> LeaveOneOutResult:
    """Every message of a prepared training set judged by the model without it, calibrated as ``train`` does it."""
    learned = screened(training_set, settings)
    return _judged(_fit(training_set, learned, settings), learned, settings)


def _judged(result: FitResult, learned: Screened, settings: Settings) -> LeaveOneOutResult:
    """Probabilities and verdicts of the left-out scores."""
    training_set, doubted = learned.training_set, learned.doubted
    classes, documents = training_set.counts.classes, training_set.counts.documents
    labels, scores, positions = result.labels, result.scores, training_set.included_positions()
    trained_on = classes, documents, len(training_set.tokens), result.n_folds
    if not len(labels):
        return LeaveOneOutResult(*trained_on, positions[:0], labels, scores, scores, [])
    if doubted is not None and result.doubted_scores is not None:
        labels = np.concatenate([labels, doubted.included_labels()])
        scores = np.concatenate([scores, result.doubted_scores])
        positions = np.concatenate([positions, doubted.included_positions()])
    calibration = _calibration(result, classes)
    enough = calibration.enough(settings.spam_column(classes))

    def judged(scores: np.ndarray) -> tuple[np.ndarray, list[str]]:
        p = calibration.probabilities(scores)
        return p, settings.loss.verdicts(classes, p, settings.spam, enough)

    newest = None
    if result.newest is not None:
        newest = NewestResult(result.newest.since, labels[result.newest.rows], judged(result.newest.scores)[1])
    n_doubted = len(labels) - len(result.labels)
    return LeaveOneOutResult(*trained_on, positions, labels, scores, *judged(scores), n_doubted, newest)


def newest_scores(training_set: TrainingSet, settings: Settings) -> NewestScores | None:
    """The newest fifth of a prepared training set scored by a model of the older messages.

    None where it would tell little (``split_newest``), and where words are chosen or the model is no sum: a whole
    training would be the price.
    """
    if settings.top_words is not None or (parts := split_newest(training_set, settings.spam)) is None:
        return None
    columns = np.flatnonzero(parts.older.counts.document_frequency() >= settings.min_messages)
    older, newest = (part.select_columns(columns) for part in (parts.older, parts.newest))
    if (scores := learner_for(settings).scores_by_others(older, newest)) is None:
        return None
    return NewestScores(parts.since, parts.rows, scores)


def _calibration(result: FitResult, classes: tuple[str, ...]) -> Calibration:
    """The calibration that the left-out scores give, and those that the newest messages have by the older ones."""
    calibration = Calibration(len(classes))
    if len(result.labels):
        calibration.add(result.calibrating, result.labels)
    return calibration


def snapshot_of(training_set: TrainingSet, settings: Settings) -> Snapshot:
    """The part of a model file that is sums of messages, with the list of these messages; ``with_fit_result`` adds the
    rest."""
    counts = training_set.counts
    record_of = [LearnedMessage(name, True, None) for name in counts.classes]
    digests = training_set.messages.digests[training_set.messages.included].view("V16").ravel().tolist()
    messages = list(zip(digests, map(record_of.__getitem__, training_set.included_labels().tolist())))
    cells = Cells.of_counts(counts)
    return Snapshot(settings.as_meta(), counts.classes, counts.documents, training_set.tokens, cells, messages)


def with_fit_result(snapshot: Snapshot, result: FitResult) -> Snapshot:
    """The snapshot with what fitting gave that is no sum: calibration, arrays and vectors."""
    if result.correction is not None:
        messages = [
            (digest, learned._replace(brought={name: n for name, n in zip(snapshot.classes, units) if n}))
            for (digest, learned), units in zip(snapshot.messages, result.correction.brought.tolist())
        ]
        cells = snapshot.cells.with_weights(result.correction.weights)
        snapshot = snapshot._replace(cells=cells, messages=messages)
    return snapshot._replace(
        meta={**snapshot.meta, **result.meta},
        histogram=_calibration(result, tuple(snapshot.classes)).histogram,
        arrays=dict(result.arrays),
        vectors=result.vectors,
    )


def train_file(
    path: str | Path,
    training_set: TrainingSet,
    settings: Settings,
    *,
    force: bool = False,
    one_class: bool = True,
    executor: Executor | None = None,
    finish: Callable[[Store, np.ndarray], None] = lambda store, doubted: None,
    catch_up: Callable[[Store], None] = lambda store: None,
) -> LeaveOneOutResult:
    """Make the model file at ``path`` from counted messages; returns its leave-one-out estimate, and how the newest
    messages are judged by a model of the older ones.

    Where there is an ``executor`` the learner works in it on all and on the older messages at the same time. ``finish``
    writes what else the file shall hold, before it takes its place, and is told the places of the messages that were
    not learned since their labels seem wrong; ``catch_up`` is as in ``atomic_replace``. Raises SpamnbError where
    there are no messages, or only those of one class and ``one_class`` is not given, or a file is in the way and
    ``force`` is not given.
    """
    if not len(training_set.counts.documents):
        raise SpamnbError("no messages in the sources: nothing to train on")
    with atomic_replace(path, settings.as_meta(), force=force, catch_up=catch_up) as store:
        training_set = prepare(training_set)
        check_classes(training_set.counts.classes, settings, one_class)
        learned = screened(training_set, settings)
        selected = learned.training_set
        result = _fit(training_set, learned, settings, executor)
        with store.writing():
            write_snapshot(store, with_fit_result(snapshot_of(selected, settings), result))
            rare = len(training_set.tokens) - len(selected.tokens)
            if settings.min_messages > 1 and rare:  # as ``prune`` says it: such a message is forgotten but for these
                store.put_meta({"pruned": noted_as_pruned(rare)})
            finish(store, learned.doubted.included_positions() if learned.doubted else np.zeros(0, np.int64))
    return _judged(result, learned, settings)
