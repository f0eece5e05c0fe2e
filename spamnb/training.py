"""A training set → a model file: feature selection, fitting, the leave-one-out estimate, and the file in one piece.

Selection reads labels, so it is repeated per fold, and every message is scored by a model whose words were selected
without it. Selected once, random labels score 104/120 where chance is 60 (docs/experiments.md#feature-selection).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import repeat
from pathlib import Path
from typing import NamedTuple

import numpy as np

from spamnb.counts.class_counts import inverse_index
from spamnb.counts.newest import newest_of
from spamnb.counts.training_set import TrainingSet
from spamnb.errors import ArgumentError, SpamnbError
from spamnb.formulas.calibration import Calibration
from spamnb.formulas.correction import with_first
from spamnb.learners import learner_for
from spamnb.learners.learner import Correction, FitResult, NewestScores, Screened
from spamnb.reader.tokens import CHUNK_TOKENS, TokenArray
from spamnb.settings import Settings
from spamnb.store.records import LearnedMessage
from spamnb.store.rows import Cells
from spamnb.store.snapshot import Snapshot, atomic_replace, write_snapshot
from spamnb.store.store import Store

N_FOLDS = 10  # where features are selected


class NewestResult(NamedTuple):
    """How the newest n messages are judged by a model of the older ones, calibrated as the model of all is."""

    since: int  # when the first of them was received, in seconds since 1970
    labels: np.ndarray  # (n,) true class numbers
    verdicts: list[str]


class LeaveOneOutResult(NamedTuple):
    """What a model was trained on, and how each message of the training set is judged by the model without it, in the
    order of the mail.

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
    folded = [name.casefold() for name in classes]
    if alike := [repr(name) for name in classes if folded.count(name.casefold()) > 1]:
        raise SpamnbError(f"classes {' and '.join(alike)} differ in case alone; give them one name")
    if len(classes) == 1 and not one_class:
        raise ArgumentError(
            "only class {name!r} in the sources: to tell classes apart it takes two; {option.one_class} trains on one",
            name=classes[0],
        )
    if len(classes) > 1 and settings.spam not in (*classes, Settings().spam):
        raise SpamnbError(f"spam is {settings.spam!r}: no class has this name; the classes are {', '.join(classes)}")


def select_features(training_set: TrainingSet, settings: Settings) -> TrainingSet:
    """The training set with only the ``settings.top_words`` tokens of highest mutual information with the class."""
    if settings.top_words is None:
        return training_set
    training_set = training_set.select_columns(training_set.by_hash())
    if settings.top_words >= len(training_set.tokens):
        return training_set
    from spamnb.formulas.mutual_information import mutual_information_from_counts, top_columns

    counts = training_set.counts
    bits = mutual_information_from_counts(counts.document_counts, counts.documents)
    return training_set.select_columns(np.sort(top_columns(bits, settings.top_words, training_set.tokens)))


def screened(training_set: TrainingSet, settings: Settings) -> Screened:
    """The prepared training set with the selected features, without the messages whose labels seem wrong."""
    return learner_for(settings).screen(select_features(training_set, settings))


def _fit(training_set: TrainingSet, learned: Screened, settings: Settings) -> FitResult:
    """The learner fitted to ``learned``, what to learn of the training set, with left-out scores, and scores of the
    newest messages by the older ones.

    Where words were chosen, the scores are those of folds, each with a choice of its own. A message of a fold without
    which some class has no message scores 0: nothing tells the classes apart.
    """
    newest = newest_scores(learned.training_set, settings)
    result = learner_for(settings).train(learned)._replace(newest=newest)
    selected = learned.training_set
    chosen = settings.top_words is not None and len(selected.tokens) < len(training_set.by_hash())
    if not chosen or not len(result.labels):
        return result
    if learned.doubted is not None:
        training_set, _ = training_set.split(learned.doubted.messages.included[training_set.messages.included])
    fold_of = training_set.stratified_folds(N_FOLDS)
    scores = np.zeros_like(result.scores)
    for fold in range(N_FOLDS):
        others, asked = training_set.split(fold_of == fold)
        others = select_features(others, settings)
        if not others.counts.documents.all():
            continue
        learner, found = learner_for(settings), [scores[:0]]
        with _in_memory(others, learner.train(Screened(others, learned.noise)), settings) as store:
            for batch in asked.batches():
                columns, rows = batch.rows.renumbered()
                found.append(learner.score(store, asked.tokens.take(columns), rows).scores)
        scores[fold_of == fold] = np.concatenate(found)
    return result._replace(scores=scores, n_folds=N_FOLDS)


def _in_memory(selected: TrainingSet, result: FitResult, settings: Settings) -> Store:
    store = Store.create(":memory:", settings.as_meta())
    write_model(store, selected, settings, result)
    return store


def model_of(training_set: TrainingSet, settings: Settings) -> Store:
    """A model in memory, made of the training set's messages as ``train_file`` would make its file."""
    training_set = prepare(training_set)
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
    n_folds = min(result.n_folds, len(labels)) if result.n_folds else None
    trained_on = classes, documents, training_set.counts.totals().vocabulary_size, n_folds
    if not len(labels):
        return LeaveOneOutResult(*trained_on, positions[:0], labels, scores, scores, [])
    calibration = _calibration(result, classes)
    enough = calibration.enough(settings.spam_column(classes))

    def judged(scores: np.ndarray) -> tuple[np.ndarray, list[str]]:
        p = calibration.probabilities(scores)
        return p, settings.loss.verdicts(classes, p, settings.spam, enough)

    newest = None
    if result.newest is not None:
        rows = result.newest.rows
        order = np.argsort(positions[rows])
        newest = NewestResult(result.newest.since, labels[rows[order]], judged(result.newest.scores[order])[1])
    order, n_doubted = np.argsort(positions), 0
    if doubted is not None and result.doubted_scores is not None:
        positions = np.concatenate([positions, doubted.included_positions()])
        labels = np.concatenate([labels, doubted.included_labels()])
        scores = np.concatenate([scores, result.doubted_scores])
        n_doubted = len(labels) - len(order)
        order = np.append(order, len(order) + np.argsort(positions[len(order) :]))
    scores = scores[order]
    return LeaveOneOutResult(*trained_on, positions[order], labels[order], scores, *judged(scores), n_doubted, newest)


def newest_scores(training_set: TrainingSet, settings: Settings) -> NewestScores | None:
    """The newest fifth of a prepared training set scored by a model of the older messages.

    None where it would tell little (``newest_of``), and where words are chosen or the model is no sum: a whole
    training would be the price.
    """
    if settings.top_words is not None or (chosen := newest_of(training_set, settings.spam)) is None:
        return None
    older, newest = training_set.split(chosen)
    if (scores := learner_for(settings).scores_by_others(older, newest)) is None:
        return None
    since = newest.messages.dates[newest.messages.included].min()
    return NewestScores(int(since), np.flatnonzero(chosen), scores)


def _calibration(result: FitResult, classes: tuple[str, ...]) -> Calibration:
    """The calibration that the left-out scores give, and those that the newest messages have by the older ones."""
    calibration = Calibration(len(classes))
    if len(result.labels):
        calibration.add(result.calibrating, result.labels)
    return calibration


def write_model(store: Store, training_set: TrainingSet, settings: Settings, result: FitResult) -> None:
    """Write the model of a training set, fitted, into a new, empty store."""
    counts, columns = training_set.counts, training_set.by_hash()
    of_file = counts.reindex(inverse_index(columns, len(training_set.tokens)), len(columns))
    correction = result.correction

    def chunks() -> Iterator[tuple[TokenArray, Cells]]:  # copies of all at once would fill the memory
        for first in range(0, len(columns), CHUNK_TOKENS):
            these = columns[first : first + CHUNK_TOKENS]
            weights = None if correction is None else with_first(correction.weights[these])
            yield training_set.tokens.take(these), Cells.of_counts(of_file.between(first, first + len(these)), weights)

    snapshot = Snapshot(
        {**settings.as_meta(), **result.meta},
        counts.classes,
        counts.documents,
        training_set.tokens.take(columns if result.vectors is not None else columns[:0]),
        Cells.unpack((), 0),
        _learned(training_set, correction),
        _calibration(result, counts.classes).histogram,
        result.arrays,
        result.vectors,
        hard=correction.hard if correction is not None else (),
    )
    write_snapshot(store, snapshot, chunks())


def _learned(training_set: TrainingSet, correction: Correction | None) -> Iterator[tuple[bytes, LearnedMessage]]:
    """The digests of the messages, ascending, and how they were learned."""
    classes, digests = training_set.counts.classes, training_set.messages.digests[training_set.messages.included]
    labels = training_set.included_labels()
    for first in range(0, len(labels), CHUNK_TOKENS):
        some = slice(first, first + CHUNK_TOKENS)
        units = repeat([]) if correction is None else with_first(correction.brought[some]).tolist()
        for digest, label, of_message in zip(digests[some], labels[some].tolist(), units):
            brought = {name: n for name, n in zip(classes, of_message) if n}
            yield digest.tobytes(), LearnedMessage(classes[label], None, brought)


def train_file(
    path: str | Path,
    training_set: TrainingSet,
    settings: Settings,
    *,
    force: bool = False,
    one_class: bool = True,
    finish: Callable[[Store, np.ndarray], None] = lambda store, doubted: None,
    catch_up: Callable[[Store], None] = lambda store: None,
) -> LeaveOneOutResult:
    """Make the model file at ``path`` from counted messages; returns its leave-one-out estimate, and how the newest
    messages are judged by a model of the older ones.

    ``finish`` writes what else the file shall hold, before it takes its place, and is told the places of the messages
    that were not learned since their labels seem wrong; ``catch_up`` is as in ``atomic_replace``. Raises SpamnbError
    where there are no messages, or only those of one class and ``one_class`` is not given, or a file is in the way and
    ``force`` is not given.
    """
    if not len(training_set.counts.documents):
        raise SpamnbError("no messages in the sources: nothing to train on")
    with atomic_replace(path, settings.as_meta(), force=force, catch_up=catch_up) as store:
        training_set = prepare(training_set)
        check_classes(training_set.counts.classes, settings, one_class)
        learned = screened(training_set, settings)
        result = _fit(training_set, learned, settings)
        with store.writing():
            write_model(store, learned.training_set, settings, result)
            finish(store, learned.doubted.included_positions() if learned.doubted else np.zeros(0, np.int64))
    return _judged(result, learned, settings)
