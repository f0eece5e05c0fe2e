"""Hard examples: messages that a corrected model found hard, with their tokens, so that they can be fitted again.

These are the hardest of training and the last ones that were learned since. Each learned message has one of them fitted
again. All are fitted again when a hard message of training is forgotten: they were fitted to make way for it.

A row's number is larger than that of any row before it, and the newest row always stays, empty where its message was
forgotten: what learning a message changed in a hard example can be subtracted as long as the row of that number exists.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from spamnb.errors import Damaged
from spamnb.store.database import MAX_SUM, checked_rows, int_between, is_digest, parse_json
from spamnb.store.store import Store

# docs/experiments.md#correction: 100 do nearly as well, and 1,000 no better.
MAX_HARD = 300
MAX_TOKENS = 4_000  # of a hard example; a message that has more is not kept
_HASH = np.dtype("<i8")


class HardExample(NamedTuple):
    """A message with a large coefficient."""

    digest: bytes
    label: str
    offsets: Mapping[str, float]  # by class, in nats: naive Bayes' part of its scores when it was learned
    hashes: np.ndarray  # (k,) of its tokens, each of which the model has
    number: int = 0  # of its row, once it has one


def every(store: Store) -> list[HardExample]:
    """Return all of them, the oldest first."""
    return _read(store, "ORDER BY sequence")


def pick(store: Store, chance: bytes) -> list[HardExample]:
    """Return one of them, the same for the same 16 bytes ``chance``; none where there is none."""
    with store.reading():
        (messages,) = store.execute("SELECT count(digest) FROM hard").fetchone()
        nth = int.from_bytes(chance[:8], "little") % max(messages, 1)
        return _read(store, "ORDER BY sequence LIMIT 1 OFFSET ?", nth)


def get(store: Store, number: int) -> HardExample | None:
    """Return the one of this number; None where it is there no longer."""
    return next(iter(_read(store, "AND sequence = ?", number)), None)


def _read(store: Store, which: str, *values: int) -> list[HardExample]:
    with store.reading():
        columns = "SELECT sequence, digest, class, offsets, hashes FROM hard WHERE digest NOT NULL"
        names, messages = list(store.class_ids()), []
        rows = checked_rows(
            "hard", store.execute(f"{columns} {which}", values), sequence=int_between(MAX_SUM), digest=is_digest,
            **{"class": int_between(len(names) - 1)}, offsets=str, hashes=bytes,
        )  # fmt: skip
        for number, digest, label, offsets, hashes in rows:
            found = _scores(parse_json("hard", "offsets", offsets), len(names))
            scores = {name: score for name, score in zip(names, found) if score is not None}
            if names[label] not in scores or len(hashes) % _HASH.itemsize:
                raise Damaged("a message in table hard without a score of its class, or whose hashes were cut short")
            messages.append(HardExample(digest, names[label], scores, np.frombuffer(hashes, _HASH), number))
        return messages


def put(store: Store, message: HardExample) -> None:
    """Keep one more, and let go of the oldest of many."""
    if len(message.hashes) > MAX_TOKENS:
        return
    with store.writing():
        ids = store.class_ids()
        scores = json.dumps([message.offsets.get(name) for name in ids])
        drop(store, message.digest)
        newest = store.execute("SELECT coalesce(max(sequence), 0) + 1 FROM hard").fetchone()[0]
        row = newest, message.digest, ids[message.label], scores, message.hashes.astype(_HASH).tobytes()
        store.execute("INSERT INTO hard VALUES (?, ?, ?, ?, ?)", row)
        store.execute("DELETE FROM hard WHERE sequence <= ?", (newest - MAX_HARD,))


def drop(store: Store, digest: bytes) -> None:
    """Keep a message no longer."""
    with store.writing():
        store.execute("UPDATE hard SET digest = NULL, offsets = '', hashes = x'' WHERE digest = ?", (digest,))


def drop_holding(store: Store, hashes: np.ndarray) -> None:
    """Keep those no longer that hold one of the tokens with these hashes."""
    with store.writing():
        for message in every(store) if len(hashes) else []:
            if np.isin(message.hashes, hashes).any():
                drop(store, message.digest)


def _scores(found: object, classes: int) -> list[float | None]:
    if not isinstance(found, list) or len(found) > classes:
        raise Damaged("scores in table hard of more classes than there are")
    if not all(score is None or (type(score) is float and abs(score) < 1e9) for score in found):
        raise Damaged("scores in table hard that are no numbers")
    return found
