"""Training: fit a model to a training set, estimate its errors, and write its file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from spamnb.core.score import Scores
from spamnb.errors import ArgumentError, SpamnbError
from spamnb.model.class_counts import WEIGHT, Cells
from spamnb.model.correction import add_first_class
from spamnb.model.decision import decide
from spamnb.model.delta import MessageRecord
from spamnb.model.learner import Fit, Learner, NewestScores, learner_for
from spamnb.model.model import SIZE, Model
from spamnb.model.new_senders import NO_NEW_SENDERS, NewSenders, assign_senders
from spamnb.model.newest import NoNewest, select_newest
from spamnb.model.training_set import TrainingSet
from spamnb.reader.message import has_unread_parts
from spamnb.reader.tokens import CHUNK_TOKENS
from spamnb.settings import Settings
from spamnb.store.buckets import Block
from spamnb.store.examples import add_examples
from spamnb.store.snapshot import write_messages, write_sums
from spamnb.store.store import Store

CHUNK_MESSAGES = 1 << 15  # bounds the memory of the records that are made at once


class NewestResult(NamedTuple):
    """Verdicts on the newest n messages: their scores are by a model of the older ones, the calibration is of all."""

    since: int = 0  # time of arrival of the first of these messages, in seconds since 1970
    labels: np.ndarray = np.zeros(0, np.int64)  # (n,) true class numbers
    verdicts: Sequence[str] = ()
    missing_because: str = ""  # if there are none, as the end of a sentence


class LeaveOneOutResult(NamedTuple):
    """The classification of each training message by a model without it.

    The messages that the model learned come first. The other messages, whose number is ``doubtful``, have labels that
    are not trusted. Both parts are in the order of the sources.
    """

    classes: tuple[str, ...]
    documents: np.ndarray  # (C,) messages per class
    tokens: int  # distinct tokens in the model
    n_folds: int  # folds that were left out in turn: as many as messages if each was left out by itself
    positions: np.ndarray  # (n,) positions of the messages in the sources
    labels: np.ndarray  # (n,) class numbers as labelled
    scores: np.ndarray  # (n, C) nats
    probabilities: np.ndarray  # (n, C) calibrated
    verdicts: list[str]
    doubtful: int = 0
    newest: NewestResult = NewestResult()
    new_senders: NewSenders = NO_NEW_SENDERS

    @property
    def is_in_parts(self) -> bool:
        """Whether several messages were left out at once."""
        return self.n_folds < self.documents.sum()

    def verdict_numbers(self) -> np.ndarray:
        """Return the verdicts as class numbers (n,), −1 for unsure."""
        number = {name: c for c, name in enumerate(self.classes)}
        return np.array([number.get(verdict, -1) for verdict in self.verdicts], np.int64)


def prepare(training_set: TrainingSet) -> TrainingSet:
    """Return the training set without duplicates and without classes that have no message."""
    return training_set.deduplicate().nonempty_classes()


def check_classes(classes: tuple[str, ...], settings: Settings, one_class: bool) -> None:
    """Raise SpamnbError if classes are too few or differ only in case, or if ``spam`` was set to a name of no class."""
    if not classes:
        raise SpamnbError("no messages in the sources: nothing to train on")
    folded = [name.casefold() for name in classes]
    if similar := [repr(name) for name in classes if folded.count(name.casefold()) > 1]:
        raise SpamnbError(f"classes {' and '.join(similar)} differ in case alone; give them one name")
    if len(classes) == 1 and not one_class:
        raise ArgumentError(
            "only class {name!r} in the sources: telling classes apart takes two; {option.one_class} trains on one",
            name=classes[0],
        )
    if len(classes) > 1 and settings.spam not in (*classes, Settings().spam):
        raise SpamnbError(f"spam is {settings.spam!r}: no class has this name; the classes are {', '.join(classes)}")


def fit(training_set: TrainingSet, settings: Settings) -> Fit:
    """Fit a model to a prepared training set, and score the newest messages by a model of the older ones."""
    learner = learner_for(settings)
    fitted = learner.fit(training_set)
    try:
        newest = _score_newest(fitted.training_set, learner)
    except NoNewest as why:
        newest = NewestScores.none(fitted.left_out.scores.shape[1], str(why))
    return fitted._replace(newest=newest)


def _score_newest(training_set: TrainingSet, learner: Learner) -> NewestScores:
    """Score the newest fifth of the messages by a model of the older ones.

    Raise NoNewest if the newest messages are too few (``select_newest``), or if this would need a second training.
    """
    is_newest = select_newest(training_set, learner.settings.spam)
    older, newest = training_set.split(is_newest)
    if (result := learner.scores_by_others(older, newest)) is None:
        raise NoNewest(f"a model of type {learner.settings.model_type} would have to be trained once more")
    since = newest.dates.min()
    return NewestScores(int(since), np.flatnonzero(is_newest), result)


def estimate(fitted: Fit, settings: Settings) -> LeaveOneOutResult:
    """Calibrate the left-out scores, and classify each message as ``Classifier`` does."""
    training_set, labels, left_out = fitted.training_set, fitted.labels, fitted.left_out
    n_folds = min(fitted.n_folds, len(labels))
    facts_of_model = training_set.classes, training_set.documents, training_set.totals().vocabulary_size, n_folds
    positions, truncations, doubtful = training_set.rows.positions, training_set.rows.truncations, fitted.doubtful
    if not len(labels):
        return LeaveOneOutResult(*facts_of_model, positions[:0], labels, left_out.scores, left_out.scores, [])
    model, order = _make_model(fitted, settings), np.argsort(positions)
    order = np.append(order, len(order) + np.argsort(doubtful.positions))
    positions = np.concatenate([positions, doubtful.positions])[order]
    truncations = np.concatenate([truncations, doubtful.truncations])[order]
    left_out = Scores.concat([left_out, fitted.doubtful_scores]).take(order)
    decisions = decide(settings, model, left_out, ~has_unread_parts(truncations))
    return LeaveOneOutResult(
        *facts_of_model,
        positions,
        np.concatenate([labels, doubtful.labels])[order],
        left_out.scores,
        decisions.probabilities,
        decisions.verdicts,
        len(doubtful),
        _decide_newest(fitted, settings, model),
        _decide_new_senders(fitted, settings, model),
    )


def _decide_newest(fitted: Fit, settings: Settings, model: Model) -> NewestResult:
    newest, rows = fitted.newest, fitted.training_set.rows
    order = np.argsort(rows.positions[newest.rows])
    numbers = newest.rows[order]
    decisions = decide(settings, model, newest.left_out.take(order), ~has_unread_parts(rows.truncations[numbers]))
    return NewestResult(newest.since, rows.labels[numbers], decisions.verdicts, newest.missing_because)


def _decide_new_senders(fitted: Fit, settings: Settings, model: Model) -> NewSenders:
    """Classify the good mail of each sender by a model of the mail of others."""
    training_set, spam = fitted.training_set, settings.spam_column(fitted.training_set.classes)
    if spam is None:
        return NO_NEW_SENDERS
    rows, fold = training_set.rows, assign_senders(training_set)
    is_tested = (fold >= 0) & (rows.labels != spam)
    by_others = learner_for(settings).score_folds(fitted, fold, is_tested) if is_tested.any() else None
    if by_others is None:
        return NO_NEW_SENDERS
    decisions = decide(settings, model, by_others.take(is_tested), ~has_unread_parts(rows.truncations[is_tested]))
    return NewSenders.of(rows.senders[is_tested], decisions.verdicts, settings.spam)


def model_of(training_set: TrainingSet, settings: Settings) -> Store:
    """Fit a model to a training set, and return it as a store in memory."""
    store = Store.create(":memory:", settings.as_meta())
    write_model(store, fit(prepare(training_set), settings), settings)
    return store


def _make_model(fitted: Fit, settings: Settings) -> Model:
    totals = fitted.training_set.totals()
    meta = {**settings.as_meta(), **fitted.meta, SIZE: totals.vocabulary_size}
    class_ids = {name: number for number, name in enumerate(totals.classes)}
    sums = np.stack([totals.documents, totals.document_counts, totals.occurrences], axis=1)
    histogram = fitted.histogram()
    unscored = totals.documents - histogram[:, 0].sum(axis=1)
    return Model(meta, class_ids, sums, histogram, unscored, fitted.known_typicality(), None, arrays=fitted.arrays)


def write_model(store: Store, fitted: Fit, settings: Settings) -> None:
    """Write the model into a new, empty store."""
    write_sums(store, _make_model(fitted, settings), _make_blocks(fitted))
    with store.writing():
        write_messages(store, _make_records(fitted))
        add_examples(store, fitted.correction.examples)


def _make_blocks(fitted: Fit) -> Iterator[Block]:
    """Yield the tokens that occur, ascending by hash."""
    training_set = fitted.training_set
    columns = training_set.columns_by_hash()
    for first in range(0, len(columns), CHUNK_TOKENS):
        chunk = columns[first : first + CHUNK_TOKENS]
        table = training_set.cells.take(chunk).table(len(chunk), len(training_set.classes))
        # A token also has a weight in the classes that have no message with it.
        table[:, :, WEIGHT] = add_first_class(fitted.correction.weights[chunk])
        yield Block(training_set.tokens.take(chunk), Cells.of_table(table), fitted.vectors[chunk])


def _make_records(fitted: Fit) -> Iterator[tuple[bytes, MessageRecord]]:
    """Yield the digests of the messages, ascending, and their records."""
    rows, classes = fitted.training_set.rows, fitted.training_set.classes
    for first in range(0, len(rows), CHUNK_MESSAGES):
        chunk = slice(first, first + CHUNK_MESSAGES)
        contributions = add_first_class(fitted.correction.contributions[chunk]).tolist()
        for digest, label, contribution in zip(rows.digests[chunk], rows.labels[chunk].tolist(), contributions):
            yield digest.tobytes(), MessageRecord(classes[label], False, contribution=dict(zip(classes, contribution)))
