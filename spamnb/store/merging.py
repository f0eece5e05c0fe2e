"""The sum of several models. A model is a sum of messages, so models can be added up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import reduce
from operator import attrgetter

import numpy as np

from spamnb.core.buckets import VECTOR
from spamnb.errors import SpamnbError
from spamnb.model.class_counts import WEIGHT, Cells
from spamnb.model.delta import MessageRecord
from spamnb.model.model import SHARED, SIZE, Model
from spamnb.reader.tokens import merge_vocabularies
from spamnb.settings import ORIGIN, Settings
from spamnb.store.buckets import Block
from spamnb.store.snapshot import Snapshot, read_sums
from spamnb.store.store import Store

# Keys of table meta that must be equal: the settings, or the shared model of users' files.
_DEFAULTS = {SHARED: None, **Settings().as_meta()}
_NO_SUM = "a model of vectors cannot be merged; train on both sources"


def merge_models(models: list[Snapshot], names: list[str]) -> tuple[Snapshot, int]:
    """Return the sum of models with the same settings, and how many messages more than one of them learned.

    Such messages count once for each model, because their tokens cannot be subtracted without the mail. Raise
    SpamnbError if the settings differ, and for models of vectors, which do not add up.
    """
    _check_alike(models, names)
    messages: dict[bytes, MessageRecord] = {}
    repeated = 0
    for digest, learned in (message for snapshot in models for message in snapshot.messages):
        repeated += digest in messages
        earlier = messages[digest].contribution if digest in messages else {}
        classes = {**earlier, **learned.contribution}
        contribution = {name: earlier.get(name, 0) + learned.contribution.get(name, 0) for name in classes}
        # The sum has no examples, so it has no changes of examples.
        messages[digest] = learned._replace(contribution=contribution, changes={})
    return _sum(models, messages), repeated


def _check_alike(models: Sequence[Snapshot], names: Sequence[str]) -> None:
    """Raise SpamnbError if a model has other settings than the first, or is not a sum."""
    first = models[0].model.meta
    for snapshot, name in zip(models, names):
        for key, default in _DEFAULTS.items():
            if snapshot.model.meta.get(key, default) != first.get(key, default):
                raise SpamnbError(f"{name}: its {key} differs from the {key} of {names[0]}; only equal settings add up")
        if snapshot.model.arrays:
            raise SpamnbError(f"{name}: {_NO_SUM}")


def _sum(models: list[Snapshot], messages: Mapping[bytes, MessageRecord]) -> Snapshot:
    """Return the sum of models, with these records of messages."""
    total = reduce(Model.add, (snapshot.model for snapshot in models))
    block = _sum_blocks(models, total)
    meta = {key: value for key, value in total.meta.items() if key not in ORIGIN} | {SIZE: len(block.tokens)}
    lessons = {each.digest: each for snapshot in models for each in snapshot.lessons if each.digest in messages}
    return Snapshot(
        replace(total, meta=meta),
        block,
        sorted(messages.items()),
        sorted(lessons.values(), key=attrgetter("taught_at")),
    )


def _sum_blocks(models: Sequence[Snapshot], total: Model) -> Block:
    """Return the tokens of all models, with the sums of their figures in the classes of ``total``."""
    tokens, indices = merge_vocabularies([snapshot.block.tokens for snapshot in models])
    numbers = [np.array([total.class_ids[name] for name in each.model.class_ids], np.intp) for each in models]
    cells = Cells.sum(
        np.concatenate([index[snapshot.block.cells.token] for snapshot, index in zip(models, indices)]),
        np.concatenate([number[snapshot.block.cells.label] for snapshot, number in zip(models, numbers)]),
        np.concatenate([snapshot.block.cells.figures for snapshot in models], axis=1),
    )
    return Block(tokens, cells, np.zeros((len(tokens), 0), VECTOR))


def read_block(store: Store) -> Block:
    """Return all tokens of a model, and of its shared model if there is one, with the figures of ``Store.sums``."""
    with store.reading():
        own = read_sums(store)
        if store.shared is None:
            return own.block
        own.block.cells.figures[:WEIGHT] *= store.model.lesson_weight
        return _sum_blocks([own, read_sums(store.shared)], store.model)
