"""Table ``hard``: the hard examples of a corrected model, with their tokens, so that they can be fitted again.

A message is hard if it has a large coefficient (model/correction.py). Training writes the hardest messages, and a hard
message that is learned is added. The last ``MAX_HARD`` rows are fitted again: one when a message is learned, and all
when a hard message of training is forgotten, because training fitted them together.

Rows have ascending numbers. The record of a learned message has the number of the example that was fitted again and its
change. Older rows stay, so that the change can be subtracted when the message is forgotten. When a hard example is
forgotten, its row becomes empty, and no other example gets its number.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

import numpy as np

from spamnb.errors import Damaged
from spamnb.model.delta import HardExample
from spamnb.store.database import MAX_SUM, checked_rows, int_up_to, is_digest, parse_json
from spamnb.store.records import read_learned
from spamnb.store.store import Store

MAX_HARD = 300  # rows that are fitted again: 100 are nearly as good, 1,000 no better (docs/experiments.md#correction)
MAX_TOKENS = 4_000  # of a hard example; a message with more tokens is not stored
_HASH = np.dtype("<i8")


def read_examples(store: Store) -> list[HardExample]:
    """Return the hard examples that are fitted again, the oldest first."""
    with store.reading():
        return _read(store, "AND sequence > ? ORDER BY sequence", _newest(store) - MAX_HARD)


def pick_examples(store: Store, seeds: Sequence[bytes]) -> list[HardExample]:
    """Return a hard example for each seed of 16 bytes, the same for the same seed; [] if there is none."""
    with store.reading():
        oldest = _newest(store) - MAX_HARD
        select = "SELECT sequence FROM hard WHERE digest NOT NULL AND sequence > ? ORDER BY sequence"
        numbers = [number for (number,) in store.execute(select, (oldest,))]
        picks = [numbers[int.from_bytes(seed[:8], "little") % len(numbers)] for seed in seeds] if numbers else []
        example_of = {number: read_example(store, number) for number in {*picks}}
        return [example for number in picks if (example := example_of[number]) is not None]


def read_example(store: Store, number: int) -> HardExample | None:
    """Return the hard example with this number; None if it was forgotten."""
    return next(iter(_read(store, "AND sequence = ?", number)), None)


def _newest(store: Store) -> int:
    """Return the largest number of an example; 0 if there is none."""
    return store.execute("SELECT coalesce(max(sequence), 0) FROM hard").fetchone()[0]


def _read(store: Store, condition: str, *parameters: int) -> list[HardExample]:
    with store.reading():
        columns = "SELECT sequence, digest, class, offsets, hashes FROM hard WHERE digest NOT NULL"
        names, examples = list(store.class_ids()), []
        rows = checked_rows(
            "hard", store.execute(f"{columns} {condition}", parameters), sequence=int_up_to(MAX_SUM),
            digest=is_digest, **{"class": int_up_to(len(names) - 1)}, offsets=str, hashes=bytes,
        )  # fmt: skip
        for number, digest, label, offsets, hashes in rows:
            scores = _check_scores(parse_json("hard", "offsets", offsets), len(names))
            by_class = {name: score for name, score in zip(names, scores) if score is not None}
            if names[label] not in by_class or len(hashes) % _HASH.itemsize:
                raise Damaged("a row of table hard without a score of its class, or with truncated hashes")
            record = read_learned(store, digest)
            contribution = record.contribution if record else {}
            example = HardExample(digest, names[label], by_class, np.frombuffer(hashes, _HASH), contribution, number)
            examples.append(example)
        return examples


def add_example(store: Store, example: HardExample) -> None:
    """Store a hard example."""
    if len(example.hashes) > MAX_TOKENS:
        return
    with store.writing():
        ids = store.class_ids()
        scores = json.dumps([example.offsets.get(name) for name in ids])
        newest = _newest(store) + 1
        row = newest, example.digest, ids[example.label], scores, example.hashes.astype(_HASH).tobytes()
        store.execute("INSERT INTO hard VALUES (?, ?, ?, ?, ?)", row)
        store.execute("DELETE FROM hard WHERE sequence = ? AND digest IS NULL", (newest - MAX_HARD,))


def delete_example(store: Store, digest: bytes) -> None:
    """Empty the row of a message."""
    with store.writing():
        store.execute("UPDATE hard SET digest = NULL, offsets = '', hashes = x'' WHERE digest = ?", (digest,))


def _check_scores(scores: object, classes: int) -> list[float | None]:
    if not isinstance(scores, list) or len(scores) > classes:
        raise Damaged("scores in table hard of classes that the model does not have")
    if not all(score is None or (type(score) is float and abs(score) < 1e9) for score in scores):
        raise Damaged("scores in table hard that are not numbers")
    return scores
