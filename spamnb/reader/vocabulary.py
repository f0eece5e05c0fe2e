"""Tokens and their ids, both ways."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from spamnb.reader import _core
from spamnb.reader.token_array import TokenArray


class Vocabulary:
    """Tokens and their ids, both ways; a token that has no id gets the next one. For one thread at a time.

    >>> vocabulary = Vocabulary()
    >>> vocabulary.ids(["a", "b", "a"]), vocabulary.ids(["c"]), list(vocabulary.take(np.array([2, 0])))
    (array([0, 1, 0], dtype=int32), array([2], dtype=int32), ['c', 'a'])
    """

    def __init__(self) -> None:
        self.core = _core.Vocabulary()

    def __len__(self) -> int:
        return len(self.core)

    def ids(self, tokens: Iterable[str]) -> np.ndarray:
        """The id of each of the k ``tokens``, (k,) int32."""
        array = tokens if isinstance(tokens, TokenArray) else TokenArray.of(tokens)
        return np.frombuffer(self.core.ids(array.text, *array.places()), np.int32)

    def take(self, ids: np.ndarray) -> TokenArray:
        """The tokens with these ids."""
        text, lengths, hashes, groups = self.core.take(np.ascontiguousarray(ids, np.uint32))
        tokens = TokenArray.packed_in(np.frombuffer(text, np.uint8), np.frombuffer(lengths, np.int32))
        return tokens.described(np.frombuffer(hashes, np.int64), np.frombuffer(groups, np.int8))

    def tokens(self) -> TokenArray:
        """All tokens, in the order of their ids."""
        return self.take(np.arange(len(self)))

    def add(self, other: Vocabulary) -> np.ndarray:
        """Adds the tokens of another vocabulary, as each thread has one; the id here of each of them, (k,) int32."""
        return self.ids(other.tokens())
