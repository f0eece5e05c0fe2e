"""The last lessons that a corrected model found hard, with their tokens: lessons after them solve them again.

A row's number is larger than that of any row before it, and the newest row always stays, empty where its message was
forgotten: what a lesson changed in a hard message can be taken back as long as the row of that number is there.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

import numpy as np

from spamnb.errors import Damaged
from spamnb.learners.learner import HardMessage
from spamnb.reader.rows import TokenIds
from spamnb.reader.vocabulary import Vocabulary
from spamnb.store.brought import keys_of
from spamnb.store.database import MAX_SUM, checked_rows, int_between, is_digest, is_text, parse_json
from spamnb.store.tables import ModelTables

# docs/experiments.md#correction: 100 do nearly as well, and 1,000 no better.
MAX_HARD = 300
MAX_TOKENS = 4_000  # of a message; one that has more is not kept


class HardMessages:
    """Table ``hard`` of an open model file."""

    def __init__(self, tables: ModelTables, vocabulary: Callable[[], Vocabulary]) -> None:
        """``vocabulary`` tells under which numbers tokens are kept in memory."""
        self._tables, self._vocabulary = tables, vocabulary
        self._known: dict[int, HardMessage] = {}
        self._numbers: list[int] | None = None  # of those with tokens

    def _all(self) -> list[int]:
        if self._numbers is None:
            rows = self._tables.execute("SELECT sequence FROM hard WHERE digest IS NOT NULL ORDER BY sequence")
            self._numbers = [number for (number,) in checked_rows("hard", rows, sequence=int_between(MAX_SUM))]
        return self._numbers

    def pick(self, chance: bytes) -> HardMessage | None:
        """One of them, the same for the same 16 bytes ``chance``; None where there is none."""
        with self._tables.reading():
            numbers = self._all()
            return self.get(numbers[int.from_bytes(chance[:8], "little") % len(numbers)]) if numbers else None

    def get(self, number: int) -> HardMessage | None:
        """The one of this number; None where it is there no longer."""
        with self._tables.reading():
            vocabulary, known = self._vocabulary(), self._known.get(number)
            if known and isinstance(known.tokens, TokenIds) and known.tokens.vocabulary is vocabulary:
                return known
            rows = self._tables.execute(
                "SELECT digest, class, offsets, tokens FROM hard WHERE sequence = ? AND digest IS NOT NULL", (number,)
            )
            names = list(self._tables.class_ids())
            kinds = {"class": int_between(len(names) - 1), "offsets": is_text, "tokens": is_text}
            for digest, label, offsets, tokens in checked_rows("hard", rows, digest=is_digest, **kinds):
                found, words = parse_json("hard", "offsets", offsets), parse_json("hard", "tokens", tokens)
                scores = {names[c]: score for c, score in enumerate(_scores(found, len(names))) if score is not None}
                if names[label] not in scores or not _are_words(words):
                    raise Damaged("a message in table hard without a score of its class, or without words")
                words = TokenIds(vocabulary, np.unique(vocabulary.ids(words)))
                self._known[number] = HardMessage(number, digest, names[label], scores, words)
                return self._known[number]
            return None

    def put(self, digest: bytes, label: str, offsets: dict[str, float], tokens: Sequence[str]) -> None:
        """Keep one more, and let go of the oldest of many."""
        if len(tokens) > MAX_TOKENS:
            return
        tables = self._tables
        with tables.writing():
            ids = tables.class_ids()
            scores = json.dumps([offsets.get(name) for name in ids])
            words = json.dumps(list(tokens), ensure_ascii=False)
            self.drop(digest)
            newest = tables.execute("SELECT coalesce(max(sequence), 0) + 1 FROM hard").fetchone()[0]
            tables.execute("INSERT INTO hard VALUES (?, ?, ?, ?, ?)", (newest, digest, ids[label], scores, words))
            tables.execute("DELETE FROM hard WHERE sequence <= ?", (newest - MAX_HARD,))
            if self._numbers is not None:
                self._numbers = [number for number in [*self._numbers, newest] if number > newest - MAX_HARD]
            self._known.pop(newest - MAX_HARD, None)

    def drop(self, digest: bytes) -> None:
        """Keep a message no longer."""
        with self._tables.writing():
            gone = "UPDATE hard SET digest = NULL, offsets = '', tokens = '' WHERE digest = ?"
            if self._tables.execute(gone, (digest,)).rowcount:
                self._numbers, self._known = None, {}

    def drop_holding(self, tokens: Sequence[str]) -> None:
        """Keep those no longer that hold one of these tokens."""
        keys = keys_of(tokens)
        with self._tables.writing():
            for hard in [self.get(number) for number in self._all()]:
                if hard and isinstance(hard.tokens, TokenIds) and np.isin(hard.tokens.hashes, keys).any():
                    self.drop(hard.digest)


def _scores(found: object, classes: int) -> list[float | None]:
    if not isinstance(found, list) or len(found) > classes:
        raise Damaged("scores in table hard of more classes than there are")
    if not all(score is None or (type(score) is float and abs(score) < 1e9) for score in found):
        raise Damaged("scores in table hard that are no numbers")
    return found


def _are_words(words: object) -> bool:
    return isinstance(words, list) and set(map(type, words)) <= {str}
