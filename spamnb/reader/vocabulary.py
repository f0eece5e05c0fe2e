"""Tokens and their ids, both ways."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from spamnb.reader.binding import VocabularyCore
from spamnb.reader.token_array import TokenArray


class Vocabulary(VocabularyCore):
    """Tokens and their ids, both ways; a token that has no id gets the next one. For one thread at a time.

    >>> vocabulary = Vocabulary()
    >>> vocabulary.ids(["a", "b", "a"]), vocabulary.ids(["c"]), list(vocabulary.take(np.array([2, 0])))
    (array([0, 1, 0], dtype=int32), array([2], dtype=int32), ['c', 'a'])
    """

    def ids(self, tokens: Iterable[str]) -> np.ndarray:
        """The id of each of the k ``tokens``, (k,) int32."""
        array = tokens if isinstance(tokens, TokenArray) else TokenArray.of(tokens)
        lengths = np.ascontiguousarray(array.lengths, np.int32)
        return self.ids_of(array.packed(), lengths).view(np.int32)

    def take(self, ids: np.ndarray) -> TokenArray:
        """The tokens with these ids."""
        ids = np.ascontiguousarray(ids, np.uint32)
        text, lengths = self.texts(ids)
        return TokenArray(text, np.cumsum(lengths, dtype=np.int64) - lengths, lengths, *self.describe(ids))

    def tokens(self) -> TokenArray:
        """All tokens, in the order of their ids."""
        return self.take(np.arange(len(self)))

