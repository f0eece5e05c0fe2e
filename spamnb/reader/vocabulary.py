"""Tokens and their ids, both ways."""

from __future__ import annotations

import os
from collections.abc import Iterable

import numpy as np

from spamnb.reader import _core
from spamnb.reader.token_array import TokenArray

_KEY = os.urandom(16)  # of all vocabularies of this process: a sender cannot choose the slots of his tokens


class Vocabulary:
    """Tokens and their ids, both ways; a token that has no id gets the next one. For one thread at a time.

    >>> vocabulary = Vocabulary()
    >>> vocabulary.ids(["a", "b", "a"]), vocabulary.ids(["c"]), vocabulary.take(np.array([2, 0]))
    (array([0, 1, 0], dtype=int32), array([2], dtype=int32), ['c', 'a'])
    """

    def __init__(self) -> None:
        self.core = _core.Vocabulary(_KEY)

    def __len__(self) -> int:
        return len(self.core)

    def ids(self, tokens: Iterable[str]) -> np.ndarray:
        """The id of each of the k ``tokens``, (k,) int32."""
        return np.frombuffer(self.core.ids([token.encode() for token in tokens]), np.int32)

    def take(self, ids: np.ndarray) -> list[str]:
        """The tokens with these ids."""
        return list(self.core.texts(np.ascontiguousarray(ids, np.uint32)))

    def hashes(self, ids: np.ndarray) -> np.ndarray:
        """The hash of each token with these ids that a model file keeps, (k,) int64."""
        return np.frombuffer(self.core.hashes(np.ascontiguousarray(ids, np.uint32)), np.int64)

    def groups(self, ids: np.ndarray) -> np.ndarray:
        """The group of each token with these ids, (k,) int8: its place in ``evidence.GROUPS``."""
        return np.frombuffer(self.core.groups(np.ascontiguousarray(ids, np.uint32)), np.int8)

    def tokens(self) -> TokenArray:
        """All tokens, in the order of their ids."""
        text, ends = self.core.tokens()
        stops = np.frombuffer(ends, np.int64)
        starts = np.concatenate([[0], stops])[:-1]
        every, lengths = np.arange(len(stops)), (stops - starts).astype(np.int32)
        return TokenArray(np.frombuffer(text, np.uint8), starts, lengths, self.hashes(every), self.groups(every))

    def add(self, other: Vocabulary) -> np.ndarray:
        """Adds the tokens of another vocabulary, as each thread has one; the id here of each of them, (k,) int32."""
        return np.frombuffer(self.core.add(other.core), np.int32)
