"""Training: fit a model to a training set, and write its file."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from spamnb.errors import ArgumentError, SpamnbError
from spamnb.model.class_counts import WEIGHT, Cells
from spamnb.model.correction import add_first_class
from spamnb.model.delta import MessageRecord
from spamnb.model.learner import Fit, Learner, NewestScores, learner_for
from spamnb.model.model import SIZE, Model
from spamnb.model.newest import NoNewest, select_newest
from spamnb.model.training_set import TrainingSet
from spamnb.reader.tokens import CHUNK_TOKENS
from spamnb.settings import Settings
from spamnb.store.buckets import Block
from spamnb.store.examples import add_examples
from spamnb.store.snapshot import write_messages, write_sums
from spamnb.store.store import Store

CHUNK_MESSAGES = 1 << 15  # bounds the memory of the records that are made at once


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


def model_of(training_set: TrainingSet, settings: Settings) -> Store:
    """Fit a model to a training set, and return it as a store in memory."""
    store = Store.create(":memory:", settings.as_meta())
    write_model(store, fit(prepare(training_set), settings), settings)
    return store


def make_model(fitted: Fit, settings: Settings) -> Model:
    """Return what the fitted model knows besides its tokens."""
    totals = fitted.training_set.totals()
    meta = {**settings.as_meta(), **fitted.meta, SIZE: totals.vocabulary_size}
    class_ids = {name: number for number, name in enumerate(totals.classes)}
    histogram = fitted.histogram()
    unscored = totals.documents - histogram[:, 0].sum(axis=1)
    return Model(
        meta, class_ids, totals.sums, histogram, unscored, fitted.known_typicality(), None, arrays=fitted.arrays
    )


def write_model(store: Store, fitted: Fit, settings: Settings) -> None:
    """Write the model into a new, empty store."""
    write_sums(store, make_model(fitted, settings), _make_blocks(fitted))
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
