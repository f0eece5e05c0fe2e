"""Tokens and their ids, both ways."""

from __future__ import annotations

import threading
from collections.abc import Iterable

import numpy as np

from spamnb.reader.binding import checked, core, held, owned
from spamnb.reader.token_array import TokenArray


class Vocabulary:
    """Tokens and their ids, both ways; a token that has no id gets the next one. For one thread at a time.

    >>> vocabulary = Vocabulary()
    >>> vocabulary.ids(["a", "b", "a"]), vocabulary.ids(["c"]), list(vocabulary.take(np.array([2, 0])))
    (array([0, 1, 0], dtype=int32), array([2], dtype=int32), ['c', 'a'])
    """

    is_complete = False  # whether no reader adds tokens any more

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
        n, ids = len(ids), np.ascontiguousarray(ids, np.uint32)
        if n and ids.max() >= len(self):
            raise ValueError("there is no token with such an id")
        lengths, hashes, groups = np.empty(n, np.int32), np.empty(n, np.int64), np.empty(n, np.int8)
        with held(self):
            described = lengths.ctypes.data, hashes.ctypes.data, groups.ctypes.data
            core.vocabulary_describe(self.pointer, ids.ctypes.data, n, *described)
            ends = np.cumsum(lengths, dtype=np.int64)
            text = np.empty(ends[-1] if n else 0, np.uint8)
            core.vocabulary_texts(self.pointer, ids.ctypes.data, n, text.ctypes.data)
        return TokenArray(text, ends - lengths, lengths, hashes, groups)

    def tokens(self) -> TokenArray:
        """All tokens, in the order of their ids."""
        return self.take(np.arange(len(self)))

    def add(self, other: Vocabulary) -> np.ndarray:
        """Adds the tokens of another vocabulary, as each thread has one; the id here of each of them, (k,) int32."""
        return self.ids(other.tokens())
