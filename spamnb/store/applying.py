"""The one function that changes a model's sums: it adds a delta (model/delta.py), or subtracts it."""

from __future__ import annotations

from spamnb.model.delta import Addend, Delta
from spamnb.store.examples import add_examples, change_examples, delete_example
from spamnb.store.moments import add_vector
from spamnb.store.records import delete_learned, put_learned, read_learned
from spamnb.store.store import Store


def apply(store: Store, delta: Delta) -> None:
    """Add a delta to the model, or subtract it, in one transaction."""
    with store.writing():
        for addend in delta.addends:
            _apply_addend(store, addend, delta.sign)
        if delta.changes:
            change_examples(store, delta.changes, delta.sign)
        if delta.cause and (record := read_learned(store, delta.cause)):
            put_learned(store, [(delta.cause, record._replace(changes=delta.changes))])
        for scored in delta.scored:
            store.count_scores(scored.label, scored.bins, scored.typicality, delta.sign, scored.is_lesson)
        if delta.examples:
            add_examples(store, delta.examples)


def _apply_addend(store: Store, addend: Addend, sign: int) -> None:
    record, hashes = addend.record, addend.rows.tokens.hashes
    if store.own.has_vectors:
        add_vector(store, record.label, addend.vector, sign)
    if sign > 0:
        store.add(record.label, addend.rows)
        store.add_weights(hashes, record.contribution)
        put_learned(store, [(addend.digest, record)])
    else:
        delete_example(store, addend.digest)
        store.add_weights(hashes, {name: -n for name, n in record.contribution.items()})
        store.add(record.label, addend.rows, -1)
        delete_learned(store, addend.digest)
