"""Several models added up to one: a model is a sum, and so is a sum of models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import attrgetter

import numpy as np

from spamnb.errors import SpamnbError
from spamnb.formulas.calibration import BINS
from spamnb.reader.tokens import merge_vocabularies
from spamnb.settings import ORIGIN
from spamnb.store.records import LearnedMessage
from spamnb.store.rows import Cells
from spamnb.store.snapshot import Snapshot
from spamnb.store.state import BASE, NOISE, SIZE

_OF_ONE_FILE = {SIZE, NOISE, "keep_lessons", *ORIGIN}  # models may differ in them and still add up
_NO_SUM = "a model of vectors cannot be merged; train on both sources"


def merge_models(models: list[Snapshot], names: list[str]) -> tuple[Snapshot, int]:
    """The sum of models made with the same settings, and how many messages more than one of them learned.

    Such messages count as often as they were learned: a model does not hold the mail, so they cannot be told apart.
    Raises SpamnbError where settings differ, and for models of vectors, which do not add up.
    """
    _check_alike(models, names)
    messages: dict[bytes, LearnedMessage] = {}
    repeated = 0
    for digest, learned in (message for snapshot in models for message in snapshot.messages):
        repeated += digest in messages
        before = messages[digest].contribution if digest in messages else {}
        both = {**before, **learned.contribution}
        contribution = {name: before.get(name, 0) + learned.contribution.get(name, 0) for name in both}
        # Its changes are those of hard examples of one file.
        messages[digest] = LearnedMessage(learned.label, learned.bins, contribution)
    return _sum(models, messages), repeated


def _check_alike(models: Sequence[Snapshot], names: Sequence[str]) -> None:
    """SpamnbError where models were made with other settings than the first, or are no sums."""
    first = models[0].meta
    for snapshot, name in zip(models, names):
        meta = snapshot.meta
        # A model that adds to another has no settings, so what it adds to is compared first.
        for key in sorted((first.keys() | meta.keys()) - _OF_ONE_FILE, key=lambda key: (key != BASE, key)):
            if meta.get(key) != first.get(key):
                raise SpamnbError(f"{name}: its {key} differs from that of {names[0]}; only models of one kind add up")
        if snapshot.arrays:
            raise SpamnbError(f"{name}: {_NO_SUM}")


def _sum(models: list[Snapshot], messages: Mapping[bytes, LearnedMessage]) -> Snapshot:
    """The sum of ``models``; it holds ``messages``."""
    classes = sorted({name for snapshot in models for name in snapshot.classes})
    tokens, places = merge_vocabularies([snapshot.tokens for snapshot in models])
    numbers = [np.array([classes.index(name) for name in snapshot.classes], np.intp) for snapshot in models]
    documents = np.zeros(len(classes), np.int64)
    histogram = np.zeros((len(classes), 2, BINS), np.int64)
    for snapshot, number in zip(models, numbers):
        documents[number] += snapshot.documents
        histogram[number] += snapshot.histogram
    cells = Cells.sum(
        np.concatenate([place[snapshot.cells.token] for snapshot, place in zip(models, places)]),
        np.concatenate([number[snapshot.cells.label] for snapshot, number in zip(models, numbers)]),
        np.concatenate([snapshot.cells.figures for snapshot in models], axis=1),
    )
    meta = {key: value for key, value in models[0].meta.items() if key not in ORIGIN}
    months: dict[int, int] = {}
    for hash_, month in (of_token for snapshot in models for of_token in snapshot.months.items()):
        months[hash_] = max(month, months.get(hash_, month))
    kept = {lesson.digest: lesson for snapshot in models for lesson in snapshot.kept if lesson.digest in messages}
    return Snapshot(
        meta,
        classes,
        documents,
        tokens,
        cells,
        sorted(messages.items()),
        histogram,
        kept=sorted(kept.values(), key=attrgetter("taught_at")),
        months=months,
    )
