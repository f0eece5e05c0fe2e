"""The one function that changes a model's sums: it adds a delta (model/delta.py), or subtracts it."""

from __future__ import annotations

from spamnb.model.delta import Delta
from spamnb.store.examples import add_examples, change_examples, delete_example
from spamnb.store.moments import add_vector
from spamnb.store.records import delete_learned, put_learned, read_learned
from spamnb.store.store import Store


def apply(store: Store, delta: Delta) -> None:
    """Add a delta to the model, or subtract it, in one transaction."""
    with store.writing():
        if store.own.has_vectors:
            for addend in delta.addends:
                add_vector(store, addend.record.label, addend.vector, delta.sign)
        if delta.sign > 0:
            store.add(delta.addends)
            put_learned(store, [(addend.rows.digest, addend.record) for addend in delta.addends])
        else:
            for addend in delta.addends:
                delete_example(store, addend.rows.digest)
                store.add([addend], -1)
                delete_learned(store, addend.rows.digest)
        if delta.changes:
            change_examples(store, delta.changes, delta.sign)
        if delta.cause and (record := read_learned(store, delta.cause)):
            put_learned(store, [(delta.cause, record._replace(changes=delta.changes))])
        store.count_scores(delta.scored, delta.sign)
        if delta.examples:
            add_examples(store, delta.examples)
