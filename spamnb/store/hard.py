"""The messages that a corrected model found hard, with their tokens, so that they can be solved again.

These are the hardest of training and the last ones that were learned since. Each learned message solves one of them
again. All are solved again when a hard message of training is forgotten: they were fitted to make way for it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from spamnb.errors import Damaged
from spamnb.store.database import MAX_SUM, checked_rows, int_between, is_digest, is_text, parse_json
from spamnb.store.rows import described
from spamnb.store.store import Store

# docs/experiments.md#correction: 100 do nearly as well, and 1,000 no better.
MAX_HARD = 300
MAX_TOKENS = 4_000  # of a hard message; one that has more is not kept


class HardMessage(NamedTuple):
    """A message that was hard to tell, kept so that its coefficients can be solved again."""

    digest: bytes
    label: str
    offsets: Mapping[str, float]  # by class, in nats: naive Bayes' part of its scores when it was learned
    tokens: Sequence[str]
    number: int = 0  # of its row, once it has one


class HardMessages:
    """Those of an open model file; ``Store.hard`` is one.

    A row's number is larger than that of any row before it, and the newest row always stays, empty where its message
    was forgotten: what a lesson changed in a hard message can be taken back as long as the row of that number is there.
    """

    def __init__(self, store: Store) -> None:
        self._store = store

    def _numbers(self) -> list[int]:
        rows = self._store.execute("SELECT sequence FROM hard WHERE digest NOT NULL ORDER BY sequence")
        return [number for (number,) in checked_rows("hard", rows, sequence=int_between(MAX_SUM))]

    def __iter__(self) -> Iterator[HardMessage]:
        with self._store.reading():
            yield from filter(None, map(self.get, self._numbers()))

    def pick(self, chance: bytes) -> HardMessage | None:
        """One of them, the same for the same 16 bytes ``chance``; None where there is none."""
        with self._store.reading():
            (messages,) = self._store.execute("SELECT count(digest) FROM hard").fetchone()
            if not messages:
                return None
            nth = "SELECT sequence FROM hard WHERE digest NOT NULL ORDER BY sequence LIMIT 1 OFFSET ?"
            found = self._store.execute(nth, (int.from_bytes(chance[:8], "little") % messages,))
            return self.get(checked_rows("hard", found, sequence=int_between(MAX_SUM))[0][0])

    def get(self, number: int) -> HardMessage | None:
        """The one of this number; None where it is there no longer."""
        with self._store.reading():
            rows = self._store.execute(
                "SELECT digest, class, offsets, tokens FROM hard WHERE sequence = ? AND digest NOT NULL", (number,)
            )
            names, vocabulary = list(self._store.view.class_ids), self._store.vocabulary
            kinds = {"class": int_between(len(names) - 1), "offsets": is_text, "tokens": is_text}
            for digest, label, offsets, tokens in checked_rows("hard", rows, digest=is_digest, **kinds):
                found, words = parse_json("hard", "offsets", offsets), parse_json("hard", "tokens", tokens)
                scores = {names[c]: score for c, score in enumerate(_scores(found, len(names))) if score is not None}
                if names[label] not in scores or not _are_words(words):
                    raise Damaged("a message in table hard without a score of its class, or without words")
                tokens = self._store.in_vocabulary(vocabulary.named(vocabulary.ids(words)))
                return HardMessage(digest, names[label], scores, tokens, number)
            return None

    def put(self, message: HardMessage) -> None:
        """Keep one more, and let go of the oldest of many."""
        if len(message.tokens) > MAX_TOKENS:
            return
        store = self._store
        with store.writing():
            ids = store.view.class_ids
            scores = json.dumps([message.offsets.get(name) for name in ids])
            words = json.dumps(list(message.tokens), ensure_ascii=False)
            self.drop(message.digest)
            newest = store.execute("SELECT coalesce(max(sequence), 0) + 1 FROM hard").fetchone()[0]
            row = newest, message.digest, ids[message.label], scores, words
            store.execute("INSERT INTO hard VALUES (?, ?, ?, ?, ?)", row)
            store.execute("DELETE FROM hard WHERE sequence <= ?", (newest - MAX_HARD,))

    def drop(self, digest: bytes) -> None:
        """Keep a message no longer."""
        with self._store.writing():
            gone = "UPDATE hard SET digest = NULL, offsets = '', tokens = '' WHERE digest = ?"
            self._store.execute(gone, (digest,))

    def drop_holding(self, hashes: np.ndarray) -> None:
        """Keep those no longer that hold one of the tokens with these hashes."""
        with self._store.writing():
            for hard in list(self) if len(hashes) else []:
                if np.isin(described(hard.tokens).hashes, hashes).any():
                    self.drop(hard.digest)


def _scores(found: object, classes: int) -> list[float | None]:
    if not isinstance(found, list) or len(found) > classes:
        raise Damaged("scores in table hard of more classes than there are")
    if not all(score is None or (type(score) is float and abs(score) < 1e9) for score in found):
        raise Damaged("scores in table hard that are no numbers")
    return found


def _are_words(words: object) -> bool:
    return isinstance(words, list) and set(map(type, words)) <= {str}
