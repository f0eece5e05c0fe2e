"""Table ``examples``: the examples of a corrected model, with their tokens, so that lessons can fit them again.

An example is scored anew each time, by naive Bayes without it, because a score of an earlier model may be wrong by now.
Examples have large coefficients (model/correction.py): training writes the messages with the largest, and a message
that is learned is added if its coefficient is large. A lesson fits the newest examples again.

Rows have ascending numbers. The record of a lesson has the changes of the contributions of examples, by the
numbers of these examples. Rows that are not fitted again any more stay, so that the changes can be subtracted when the
message is forgotten. When an example is forgotten, its row becomes empty, and no other example gets its number.
Changes of an example that is fitted again are not in the buckets of its tokens (pending.py).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from spamnb.errors import Damaged
from spamnb.model.correction import MAX_EXAMPLES
from spamnb.model.delta import Example, Examples, Units
from spamnb.reader.evidence import GROUPS
from spamnb.store.database import MAX_SUM, checked_rows, int_up_to, is_digest
from spamnb.store.messages import put_fact, read_records
from spamnb.store.pending import HASH, parse_hashes, parse_units
from spamnb.store.store import Store

MAX_EXAMPLE_TOKENS = 4_000  # of an example; a message with more tokens is not stored
GROUP = np.dtype("i1")


def read_examples(store: Store) -> Examples:
    """Return the examples that are fitted again."""
    with store.reading():
        if store.examples is None:
            store.examples = Examples.of(_read(store, "ORDER BY number DESC LIMIT ?", MAX_EXAMPLES)[::-1])
        return store.examples


def _read(store: Store, condition: str, *parameters: int | bytes) -> list[Example]:
    with store.reading():
        columns = "SELECT number, digest, class, coalesce(pending, '{}'), groups, hashes FROM examples"
        class_ids, examples = store.own.class_ids, []
        names = list(class_ids)
        rows = checked_rows(
            "examples", store.execute(f"{columns} WHERE digest NOT NULL {condition}", parameters),
            number=int_up_to(MAX_SUM), digest=is_digest, **{"class": int_up_to(len(names) - 1)}, pending=str,
            groups=bytes, hashes=bytes,
        )  # fmt: skip
        records = read_records(store, [row[1] for row in rows])
        for number, digest, label, pending, groups, blob in rows:
            hashes = parse_hashes(blob)
            if len(hashes) != len(groups) or max(groups, default=0) >= len(GROUPS):
                raise Damaged("a row of table examples whose groups do not exist, or do not fit its hashes")
            contribution = records[digest].contribution if digest in records else {}
            arrays = hashes, np.frombuffer(groups, GROUP)
            units = contribution, parse_units(pending, class_ids)
            examples.append(Example(digest, names[label], *arrays, *units, number))
        return examples


def add_examples(store: Store, examples: Sequence[Example]) -> None:
    """Store examples, and add the pending units of those that are no longer fitted again to the buckets."""
    with store.writing():
        ids, both = store.own.class_ids, [*read_examples(store).messages]
        (number,) = store.execute("SELECT coalesce(max(number), 0) FROM examples").fetchone()
        for example in examples:
            if len(example.hashes) <= MAX_EXAMPLE_TOKENS:
                both.append(example._replace(number=(number := number + 1)))
                arrays = example.groups.astype(GROUP).tobytes(), example.hashes.astype(HASH).tobytes()
                row = number, example.digest, ids[example.label], None, *arrays
                store.execute("INSERT INTO examples VALUES (?, ?, ?, ?, ?, ?)", row)
        store.examples = Examples.of(both[-MAX_EXAMPLES:])
        _empty_pending(store, both[:-MAX_EXAMPLES])


def change_examples(store: Store, changes: Mapping[int, Units], sign: int) -> None:
    """Add units, by class, to the contributions of examples, by their numbers, or subtract them with ``sign`` −1.

    If an example was forgotten since, its whole contribution was subtracted, and the change of it is none any more.
    """
    with store.writing():
        examples, changed = read_examples(store), {}
        fitted = {each.number: each for each in examples.messages}
        for number, units in changes.items():
            for each in [fitted[number]] if number in fitted else _read(store, "AND number = ?", number):
                contribution, pending = (_plus(old, units, sign) for old in (each.contribution, each.pending))
                changed[each.digest] = each._replace(contribution=contribution, pending=pending)
        put_fact(store, "contribution", [(key, each.contribution) for key, each in changed.items()])
        store.examples = examples._replace(messages=[changed.get(each.digest, each) for each in examples.messages])
        _write_pending(store, changed.values())
        _empty_pending(store, [each for each in changed.values() if each.number not in fitted])


def delete_example(store: Store, digest: bytes) -> None:
    """Empty the row of a message, after its pending units were added to the buckets."""
    with store.writing():
        _empty_pending(store, _read(store, "AND digest = ?", digest))
        store.execute("UPDATE examples SET digest = NULL, groups = x'', hashes = x'' WHERE digest = ?", (digest,))
        store.examples = None


def _empty_pending(store: Store, examples: Iterable[Example]) -> None:
    """Add the pending units of examples to the buckets of their tokens."""
    examples = [each for each in examples if any(each.pending.values())]
    for each in examples:
        store.add_weights(each.hashes, each.pending)
    _write_pending(store, [each._replace(pending={}) for each in examples])


def _write_pending(store: Store, examples: Iterable[Example]) -> None:
    rows = [(json.dumps(each.pending) if any(each.pending.values()) else None, each.number) for each in examples]
    if rows:
        store.executemany("UPDATE examples SET pending = ? WHERE number = ?", rows)
        store.drop_pending()


def _plus(units: Units, others: Units, sign: int) -> Units:
    return {name: units.get(name, 0) + sign * others.get(name, 0) for name in {**units, **others}}
