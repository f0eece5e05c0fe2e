"""Table ``hard``: the examples of a corrected model, with their tokens, so that lessons can fit them again.

An example is scored anew each time, by naive Bayes without it, because a score of an earlier model may be wrong by now.
There are two kinds. Hard examples have a large coefficient (model/correction.py): training writes its hardest
messages, and a hard message that is learned is added. The others are a sample of all messages: those of each class
with the lowest digests, so most are typical. A lesson fits the newest examples again, and the sample.

Rows have ascending numbers. The record of a lesson has the changes of the contributions of examples, by the
numbers of these examples. Rows that are not fitted again any more stay, so that the changes can be subtracted when the
message is forgotten. When an example is forgotten, its row becomes empty, and no other example gets its number.
"""

from __future__ import annotations

import numpy as np

from spamnb.errors import Damaged
from spamnb.model.delta import Example, Units
from spamnb.model.examples import MAX_NEWEST, is_sampled, sample_size
from spamnb.reader.evidence import GROUPS
from spamnb.store.database import MAX_SUM, checked_rows, int_up_to, is_digest
from spamnb.store.records import read_records
from spamnb.store.store import Store

MAX_TOKENS = 4_000  # of an example; a message with more tokens is not stored
HASH, GROUP = np.dtype("<i8"), np.dtype("i1")


def read_examples(store: Store) -> list[Example]:
    """Return the examples that are fitted again, the oldest first."""
    with store.reading():
        if store.examples is None:
            rank = (
                "SELECT sequence, row_number() OVER (ORDER BY sequence DESC) AS age,"
                " row_number() OVER (PARTITION BY class ORDER BY digest) AS nth FROM hard WHERE digest NOT NULL"
            )
            chosen = f"SELECT sequence FROM ({rank}) WHERE age <= ? OR nth <= ?"  # noqa: S608
            sizes = MAX_NEWEST, sample_size(len(store.model.totals.classes))
            store.examples = _read(store, f"AND sequence IN ({chosen}) ORDER BY sequence", *sizes)
        return store.examples


def read_example(store: Store, number: int) -> Example | None:
    """Return the example with this number; None if it was forgotten."""
    in_memory = (each for each in store.examples or () if each.number == number)
    return next(in_memory, None) or next(iter(_read(store, "AND sequence = ?", number)), None)


def change_example(store: Store, number: int, contribution: Units) -> None:
    """Note the contribution of an example, which its record has already."""
    for i, example in enumerate(store.examples or ()):
        if example.number == number and store.examples is not None:
            store.examples[i] = example._replace(contribution=contribution)


def _read(store: Store, condition: str, *parameters: int) -> list[Example]:
    with store.reading():
        columns = "SELECT sequence, digest, class, groups, hashes FROM hard WHERE digest NOT NULL"
        names, examples = list(store.own.class_ids), []
        rows = checked_rows(
            "hard", store.execute(f"{columns} {condition}", parameters), sequence=int_up_to(MAX_SUM),
            digest=is_digest, **{"class": int_up_to(len(names) - 1)}, groups=bytes, hashes=bytes,
        )  # fmt: skip
        records = read_records(store, [row[1] for row in rows])
        for number, digest, label, groups, hashes in rows:
            if len(hashes) != len(groups) * HASH.itemsize or max(groups, default=0) >= len(GROUPS):
                raise Damaged("a row of table hard whose groups do not exist, or do not fit its hashes")
            contribution = records[digest].contribution if digest in records else {}
            arrays = np.frombuffer(hashes, HASH), np.frombuffer(groups, GROUP)
            examples.append(Example(digest, names[label], *arrays, contribution, number))
        return examples


def add_example(store: Store, example: Example) -> None:
    """Store an example."""
    if len(example.hashes) > MAX_TOKENS:
        return
    with store.writing():
        ids = store.own.class_ids
        (number,) = store.execute("SELECT coalesce(max(sequence), 0) + 1 FROM hard").fetchone()
        arrays = example.groups.astype(GROUP).tobytes(), example.hashes.astype(HASH).tobytes()
        row = number, example.digest, ids[example.label], *arrays
        store.execute("INSERT INTO hard VALUES (?, ?, ?, ?, ?)", row)
        if store.examples is not None:
            both, classes = [*store.examples, example._replace(number=number)], len(store.model.totals.classes)
            store.examples = [each for each in both[:-MAX_NEWEST] if is_sampled(each, both, classes)]
            store.examples += both[-MAX_NEWEST:]


def delete_example(store: Store, digest: bytes) -> None:
    """Empty the row of a message."""
    with store.writing():
        store.execute("UPDATE hard SET digest = NULL, groups = x'', hashes = x'' WHERE digest = ?", (digest,))
        store.examples = None
