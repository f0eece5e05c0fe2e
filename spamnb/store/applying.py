"""The one function that changes a model's sums: it adds a delta (model/delta.py), or subtracts it."""

from __future__ import annotations

import numpy as np

from spamnb.errors import Damaged, SpamnbError
from spamnb.model.delta import Delta
from spamnb.model.model import DENSE_CLASSES
from spamnb.model.moments import Moments, name_arrays, read_moments
from spamnb.store.examples import add_examples, change_examples, delete_example
from spamnb.store.messages import delete_learned, put_fact, put_learned
from spamnb.store.store import Store


def apply(store: Store, delta: Delta) -> None:
    """Add a delta to the model, or subtract it, in one transaction."""
    with store.writing():
        for record, vector in zip(delta.records, delta.vectors):
            _add_vector(store, record.label, vector, delta.sign)
        digests = [each.digest for each in delta.messages]
        if delta.sign > 0:
            store.add(delta.messages, delta.records)
            put_learned(store, zip(digests, delta.records))
        else:
            for digest in digests:  # which adds the example's pending units to the buckets
                delete_example(store, digest)
                delete_learned(store, digest)
            store.add(delta.messages, delta.records, -1)
        if delta.changes:
            change_examples(store, delta.changes, delta.sign)
            if delta.cause:
                put_fact(store, "changes", [(delta.cause, delta.changes)])
        store.count_scores(delta.scored, delta.sign)
        if delta.examples:
            add_examples(store, delta.examples)


def _add_vector(store: Store, label: str, vector: np.ndarray, sign: int) -> None:
    """Add the vector of a message to the moments of its class, or subtract it.

    A new class is added, and goes again when its last message goes.
    """
    if DENSE_CLASSES not in store.own.meta and not store.own.arrays:
        raise SpamnbError(f"{store.path}: a {store.own.meta.get('model_type')} model must be trained first")
    names, sums = read_moments(store.own.meta, store.own.arrays)
    if label not in names:
        if sign < 0:
            raise Damaged(f"{DENSE_CLASSES} in table meta lack {label!r}")
        names = [*names, label]
        sums = Moments(*(np.concatenate([part, np.zeros((1, *part.shape[1:]), np.int64)]) for part in sums))
    number, is_diagonal = np.array([names.index(label)]), sums.second.ndim == 2
    sums = sums.plus(Moments.of(vector[None], number, len(names), is_diagonal), sign)
    if label == names[-1] and not sums.documents[-1]:
        names, sums = names[:-1], Moments(*(part[:-1] for part in sums))
    store.put_arrays(name_arrays(sums))
    store.put_meta({DENSE_CLASSES: list(names)})
