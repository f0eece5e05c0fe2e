"""Table ``hard``: the hard examples of a corrected model, with their tokens, so that they can be fitted again.

A message is hard if it has a large coefficient (model/correction.py). The table has the hardest messages of
training, and the last hard messages that were learned. When a message is learned, one hard example is fitted again.
When a hard example of training is forgotten, all are fitted again, because training fitted them together.

Rows have ascending numbers. The record of a learned message has the number of the example that was fitted again and its
change, which forget subtracts if the example is still in the table. When a hard example is forgotten, its row becomes
empty but stays, so that no other example gets its number.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from spamnb.errors import Damaged
from spamnb.store.database import MAX_SUM, checked_rows, int_up_to, is_digest, parse_json
from spamnb.store.store import Store

MAX_HARD = 300  # rows: 100 are nearly as good, and 1,000 no better (docs/experiments.md#correction)
MAX_TOKENS = 4_000  # of a hard example; a message with more tokens is not stored, so the table is at most 10 MB
_HASH = np.dtype("<i8")


class HardExample(NamedTuple):
    """A message with a large coefficient."""

    digest: bytes
    label: str
    offsets: Mapping[str, float]  # of the correction, by class, in nats: scores by naive Bayes when it was learned
    hashes: np.ndarray  # (k,) hashes of the tokens, which are all in the model
    number: int = 0  # of its row; 0 before it is stored


def read_examples(store: Store) -> list[HardExample]:
    """Return all hard examples, the oldest first."""
    return _read(store, "ORDER BY sequence")


def pick_examples(store: Store, seeds: Sequence[bytes]) -> list[HardExample]:
    """Return a hard example for each seed of 16 bytes, the same for the same seed; [] if the table is empty."""
    with store.reading():
        (n,) = store.execute("SELECT count(digest) FROM hard").fetchone()
        positions = [int.from_bytes(seed[:8], "little") % n for seed in seeds] if n else []
        examples = {nth: _read(store, "ORDER BY sequence LIMIT 1 OFFSET ?", nth)[0] for nth in {*positions}}
        return [examples[nth] for nth in positions]


def read_example(store: Store, number: int) -> HardExample | None:
    """Return the hard example with this number; None if it was deleted."""
    return next(iter(_read(store, "AND sequence = ?", number)), None)


def _read(store: Store, condition: str, *parameters: int) -> list[HardExample]:
    with store.reading():
        columns = "SELECT sequence, digest, class, offsets, hashes FROM hard WHERE digest NOT NULL"
        names, messages = list(store.class_ids()), []
        rows = checked_rows(
            "hard", store.execute(f"{columns} {condition}", parameters), sequence=int_up_to(MAX_SUM),
            digest=is_digest, **{"class": int_up_to(len(names) - 1)}, offsets=str, hashes=bytes,
        )  # fmt: skip
        for number, digest, label, offsets, hashes in rows:
            scores = _check_scores(parse_json("hard", "offsets", offsets), len(names))
            by_class = {name: score for name, score in zip(names, scores) if score is not None}
            if names[label] not in by_class or len(hashes) % _HASH.itemsize:
                raise Damaged("a row of table hard without a score of its class, or with truncated hashes")
            messages.append(HardExample(digest, names[label], by_class, np.frombuffer(hashes, _HASH), number))
        return messages


def add_example(store: Store, message: HardExample) -> None:
    """Store a hard example, and delete the oldest if there are more than MAX_HARD."""
    if len(message.hashes) > MAX_TOKENS:
        return
    with store.writing():
        ids = store.class_ids()
        scores = json.dumps([message.offsets.get(name) for name in ids])
        delete_example(store, message.digest)
        newest = store.execute("SELECT coalesce(max(sequence), 0) + 1 FROM hard").fetchone()[0]
        row = newest, message.digest, ids[message.label], scores, message.hashes.astype(_HASH).tobytes()
        store.execute("INSERT INTO hard VALUES (?, ?, ?, ?, ?)", row)
        store.execute("DELETE FROM hard WHERE sequence <= ?", (newest - MAX_HARD,))


def delete_example(store: Store, digest: bytes) -> None:
    """Empty the row of a message."""
    with store.writing():
        store.execute("UPDATE hard SET digest = NULL, offsets = '', hashes = x'' WHERE digest = ?", (digest,))


def delete_examples_with(store: Store, hashes: np.ndarray) -> None:
    """Empty the rows of the messages that have one of the tokens with these hashes."""
    with store.writing():
        for message in read_examples(store) if len(hashes) else []:
            if np.isin(message.hashes, hashes).any():
                delete_example(store, message.digest)


def _check_scores(scores: object, classes: int) -> list[float | None]:
    if not isinstance(scores, list) or len(scores) > classes:
        raise Damaged("scores in table hard of classes that the model does not have")
    if not all(score is None or (type(score) is float and abs(score) < 1e9) for score in scores):
        raise Damaged("scores in table hard that are not numbers")
    return scores
