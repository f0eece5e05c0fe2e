"""The one function that changes a model's sums: it adds a delta (model/delta.py), or subtracts it."""

from __future__ import annotations

from collections.abc import Mapping

from spamnb.model.delta import Addend, Delta, Units
from spamnb.store.examples import add_example, change_example, delete_example, read_example
from spamnb.store.moments import add_vector
from spamnb.store.records import delete_learned, put_learned, read_learned
from spamnb.store.store import Store


def apply(store: Store, delta: Delta) -> None:
    """Add a delta to the model, or subtract it, in one transaction.

    If an example was forgotten since, its whole contribution was subtracted, and the change of it is none any more.
    """
    with store.writing():
        for addend in delta.addends:
            _apply_addend(store, addend, delta.sign)
        for number, units in delta.changes.items():
            _change_example(store, number, _times(units, delta.sign))
        if delta.cause and (record := read_learned(store, delta.cause)):
            put_learned(store, [(delta.cause, record._replace(changes=delta.changes))])
        for record in delta.scored:
            store.count_scores(record.label, record.bins, record.typicality, delta.sign, record.is_lesson)
        for example in delta.examples:
            add_example(store, example)


def _apply_addend(store: Store, addend: Addend, sign: int) -> None:
    record, hashes = addend.record, addend.rows.tokens.hashes
    if store.own.has_vectors:
        add_vector(store, record.label, addend.vector, sign)
    if sign > 0:
        store.add(record.label, addend.rows)
        store.add_weights(hashes, record.contribution)
        put_learned(store, [(addend.digest, record)])
    else:
        store.add_weights(hashes, _times(record.contribution, -1))
        store.add(record.label, addend.rows, -1)
        delete_example(store, addend.digest)
        delete_learned(store, addend.digest)


def _change_example(store: Store, number: int, units: Units) -> None:
    """Add units, by class, to the contribution of the example with this number."""
    if (example := read_example(store, number)) is None:
        return
    store.add_weights(example.hashes, units)
    if record := read_learned(store, example.digest):
        contribution = {**record.contribution, **_plus(record.contribution, units)}
        put_learned(store, [(example.digest, record._replace(contribution=contribution))])
        change_example(store, number, contribution)


def _plus(a: Units, b: Units) -> dict[str, int]:
    return {name: a.get(name, 0) + n for name, n in b.items()}


def _times(units: Mapping[str, int], sign: int) -> dict[str, int]:
    return {name: sign * n for name, n in units.items()}
