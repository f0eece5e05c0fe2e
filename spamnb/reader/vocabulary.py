"""Tokens and their ids, both ways."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any, overload

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
        return TokenArray.packed_in(*self.texts(np.ascontiguousarray(ids, np.uint32)))

    def named(self, ids: np.ndarray) -> TokenIds:
        """The same as a list whose text is read only when it is asked for."""
        return TokenIds(self, np.ascontiguousarray(ids, np.uint32))

    def tokens(self) -> TokenArray:
        """All tokens, in the order of their ids."""
        return self.take(np.arange(len(self)))


class TokenIds(Sequence[str]):
    """The k tokens of a vocabulary with these ids."""

    def __init__(self, vocabulary: Vocabulary, ids: np.ndarray) -> None:
        self.vocabulary = vocabulary
        self.ids = ids  # (k,) uint32

    @cached_property
    def _described(self) -> tuple[np.ndarray, np.ndarray]:
        return self.vocabulary.describe(np.ascontiguousarray(self.ids, np.uint32))

    @property
    def hashes(self) -> np.ndarray:
        """The hash of each token, (k,) int64."""
        return self._described[0]

    @property
    def groups(self) -> np.ndarray:
        """The group of each token, (k,) int8."""
        return self._described[1]

    def __len__(self) -> int:
        return len(self.ids)

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> TokenIds: ...
    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return TokenIds(self.vocabulary, self.ids[index])
        return self.vocabulary.take(self.ids[[index]])[0]

    def __iter__(self) -> Iterator[str]:
        return iter(self.vocabulary.take(self.ids))

    def take(self, indices: np.ndarray) -> TokenIds:
        """Those at these indices of the list, (m,)."""
        return TokenIds(self.vocabulary, self.ids[indices])
