"""Tokens and their ids, both ways."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable

import numpy as np

from spamnb.reader.binding import checked, core, held, owned
from spamnb.reader.token_array import TokenArray


class Vocabulary:
    """Tokens and their ids, both ways; a token that has no id gets the next one. For one thread at a time.

    >>> vocabulary = Vocabulary()
    >>> vocabulary.ids(["a", "b", "a"]), vocabulary.ids(["c"]), list(vocabulary.take(np.array([2, 0])))
    (array([0, 1, 0], dtype=int32), array([2], dtype=int32), ['c', 'a'])
    """

    def __init__(self) -> None:
        self.lock = threading.Lock()  # held by a call without Python's lock
        self.pointer = owned(self, core.vocabulary_new(), core.vocabulary_delete)

    def __len__(self) -> int:
        return int(core.vocabulary_size(self.pointer))

    def ids(self, tokens: Iterable[str]) -> np.ndarray:
        """The id of each of the k ``tokens``, (k,) int32."""
        array = tokens if isinstance(tokens, TokenArray) else TokenArray.of(tokens)
        text, lengths = checked(array.packed(), np.uint8), np.ascontiguousarray(array.lengths, np.int32)
        if lengths.min(initial=0) < 0 or lengths.sum(dtype=np.int64) > len(text):
            raise ValueError("tokens lie outside of their text")
        ids = np.empty(len(lengths), np.int32)
        with held(self):
            if not core.vocabulary_ids(self.pointer, text.ctypes.data, lengths.ctypes.data, len(ids), ids.ctypes.data):
                raise MemoryError
        return ids

    def take(self, ids: np.ndarray) -> TokenArray:
        """The tokens with these ids (k,)."""
        ids = np.ascontiguousarray(ids, np.uint32)
        text, lengths = self.texts(ids)
        return TokenArray(text, np.cumsum(lengths, dtype=np.int64) - lengths, lengths, *self.describe(ids))

    def texts(self, ids: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The text of the tokens with these ids (k,) uint32, one after the other, and their lengths (k,)."""
        lengths = np.empty(len(ids), np.int32)
        self._ask(core.vocabulary_lengths, ids, lengths)
        text = np.empty(int(lengths.sum(dtype=np.int64)), np.uint8)
        self._ask(core.vocabulary_texts, ids, text)
        return text, lengths

    def describe(self, ids: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The hashes, int64, and the groups, int8, of the tokens with these ids (k,) uint32."""
        hashes, groups = np.empty(len(ids), np.int64), np.empty(len(ids), np.int8)
        self._ask(core.vocabulary_describe, ids, hashes, groups)
        return hashes, groups

    def _ask(self, function: Callable[..., None], ids: np.ndarray, *answers: np.ndarray) -> None:
        if len(checked(ids, np.uint32)) and ids.max() >= len(self):
            raise ValueError("there is no token with such an id")
        with held(self):
            function(self.pointer, ids.ctypes.data, len(ids), *(answer.ctypes.data for answer in answers))

    def tokens(self) -> TokenArray:
        """All tokens, in the order of their ids."""
        return self.take(np.arange(len(self)))

