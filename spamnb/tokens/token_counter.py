"""Counts tokens, kept as strings; where token_counter.pyx is compiled, that is the module of this name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

import numpy as np

from spamnb.tokens.vocabulary import Vocabulary

MAX_KEPT = 240  # bytes of a word whose tokens are kept


class Prefix:
    """What tokens begin with."""

    def __init__(self, text: str) -> None:
        self.text = text.encode()


class TokenCounter:
    """Messages as rows of (token id, occurrences), tokens in the order in which each message first has them.

    ``max_words`` bounds the words kept whose tokens are known.
    """

    def __init__(self, vocabulary: Vocabulary, max_words: int = 1 << 20) -> None:
        self.vocabulary = vocabulary
        self._max_words = max_words
        self._words: dict[tuple[int, bytes], tuple[tuple[str, ...], bool]] = {}
        self._rows: list[np.ndarray] = []
        self.begin()

    def begin(self) -> None:
        """Begin a row; one that was not ended is given up."""
        if len(self._words) > self._max_words:
            self._words = {}
        self._tokens: list[str] = []
        self._once: set[str] = set()
        self._opening: list[str] = []

    def end(self) -> int:
        """Complete the row; returns how many different tokens it has."""
        counts = Counter(self.vocabulary.ids(self._tokens).tolist())
        self._rows.append(np.array(list(counts.items()), np.int32).reshape(-1, 2))
        return len(counts)

    def take_cells(self) -> np.ndarray:
        """(k, 2) int32, token ids and occurrences of all rows since the last call, row after row."""
        cells = np.concatenate([np.zeros((0, 2), np.int32), *self._rows])
        self._rows = []
        return cells

    def add(self, tokens: Iterable[str]) -> None:
        """Tokens as they are."""
        self._tokens += tokens

    def put(self, prefix: Prefix, data: bytes, start: int, stop: int, byte_map: bytes) -> None:
        """The token of the prefix and of these bytes as the map has them."""
        self._tokens.append((prefix.text + data[start:stop].translate(byte_map)).decode())

    def put_once(self, prefix: Prefix, data: bytes, start: int, stop: int) -> None:
        """The token of the prefix and of these bytes, unless the message has it already."""
        token = (prefix.text + data[start:stop]).decode()
        if token not in self._once:
            self._once.add(token)
            self._tokens.append(token)

    def flush(self) -> None:
        """Nothing waits here."""

    def put_word(self, normalization: Any, number: int, data: bytes, start: int, stop: int, opens: bool) -> bool:
        """The tokens of a word that ``normalization`` knows. Returns whether it is in capitals."""
        raw = data[start:stop]
        found = self._words.get((number, raw))
        if found is None:
            found = normalization.compute(raw.decode())
            if len(raw) <= MAX_KEPT:
                self._words[number, raw] = found
        tokens, capitals = found
        self._tokens += tokens
        if opens:
            self._opening += [token for token in tokens if token[:1] != "#"]  # the shape of a word
        return capitals

    def open(self, data: bytes, start: int, stop: int, byte_map: bytes) -> None:
        """A word of these bytes as the map has them is one of those that ``join`` joins."""
        self._opening.append(data[start:stop].translate(byte_map).decode())

    def join(self, prefix: Prefix, n: int) -> None:
        """Each n neighbours of the words that were opened as one token; then forget these."""
        for size in range(2, n + 1):
            self._tokens += map(" ".join, zip(*(self._opening[i:] for i in range(size))))
        self._opening = []
