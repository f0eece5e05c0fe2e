"""Lists of millions of tokens, with the texts in one array and a hash of 64 bits each; and a vocabulary of tokens.

A list of a million Python strings takes 70 MB, and a second to sort or to merge. So all code works with the hashes,
except to show tokens. Two tokens with the same hash count as one. By chance one of 37 million models of a million
tokens has such a pair. A sender can make such pairs, but they have no other effect.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from spamnb.core.library import lib, locked, numbers, owned, pointer, texts
from spamnb.reader.evidence import GROUPS, KINDS

_PREFIXES = [prefix.encode() for prefix in KINDS]  # the core keeps pointers to these texts
_GROUP_NUMBERS = bytes(map(GROUPS.index, KINDS.values()))
_OTHER_GROUPS = bytes(map(GROUPS.index, ("text", "pairs", "headers")))
if not lib.kinds_begin(texts(_PREFIXES), _GROUP_NUMBERS, len(KINDS), _OTHER_GROUPS):
    raise MemoryError

CHUNK_TOKENS = 1 << 15  # fits the processor's cache: a million tokens are packed in 0.08 s, in one chunk in 0.57 s


class TokenArray(Sequence[str]):
    """A list of tokens as UTF-8 in one array.

    >>> tokens = TokenArray.of(["buy", "café", "now"])
    >>> len(tokens), tokens[1], list(tokens[1:]), list(tokens.take(np.array([2, 0])))
    (3, 'café', ['café', 'now'], ['now', 'buy'])
    """

    def __init__(
        self,
        text: np.ndarray,
        offsets: np.ndarray,
        lengths: np.ndarray,
        hashes: np.ndarray | None = None,
        groups: np.ndarray | None = None,
    ) -> None:
        self.text = text  # (bytes,) uint8
        self.offsets = offsets  # (k,) int64
        self.lengths = lengths  # (k,) int32, in bytes
        self._hashes = hashes
        self._groups = groups

    @classmethod
    def of(cls, tokens: Iterable[str]) -> TokenArray:
        """Return the array of some strings. A TokenArray is returned unchanged."""
        if isinstance(tokens, TokenArray):
            return tokens
        encoded = [token.encode() for token in tokens]
        lengths = np.fromiter(map(len, encoded), np.int32, len(encoded))
        return cls.of_packed(np.frombuffer(b"".join(encoded), np.uint8), lengths)

    @classmethod
    def of_packed(
        cls, text: np.ndarray, lengths: np.ndarray, hashes: np.ndarray | None = None, groups: np.ndarray | None = None
    ) -> TokenArray:
        """Return the array of the tokens that follow one another in ``text``, with these lengths in bytes."""
        return cls(text, np.cumsum(lengths, dtype=np.int64) - lengths, lengths, hashes, groups)

    @property
    def hashes(self) -> np.ndarray:
        """The hash of each token, (k,) int64."""
        if self._hashes is None:
            self._hashes, self._groups = self._describe_all()
        return self._hashes

    @property
    def groups(self) -> np.ndarray:
        """The group of each token, (k,) int8."""
        if self._groups is None:
            self._hashes, self._groups = self._describe_all()
        return self._groups

    def _describe_all(self) -> tuple[np.ndarray, np.ndarray]:
        vocabulary = Vocabulary()
        return vocabulary.describe(vocabulary.ids(self).view(np.uint32))

    def __sizeof__(self) -> int:
        """Return the bytes in memory, including the arrays: Dask measures a worker's memory by this."""
        arrays = (self.text, self.offsets, self.lengths, self._hashes, self._groups)
        return object.__sizeof__(self) + sum(values.nbytes for values in arrays if values is not None)

    def __len__(self) -> int:
        return len(self.lengths)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return self.take(index)
        begin = self.offsets[index]
        return self.text[begin : begin + self.lengths[index]].tobytes().decode()

    def __iter__(self) -> Iterator[str]:
        text, ends = self.packed().tobytes(), np.append(0, np.cumsum(self.lengths, dtype=np.int64)).tolist()
        return map(bytes.decode, map(text.__getitem__, map(slice, ends, ends[1:])))

    def take(self, indices: np.ndarray | slice) -> TokenArray:
        """Return the tokens at ``indices`` (m,); the text is shared."""
        hashes = None if self._hashes is None else self._hashes[indices]
        groups = None if self._groups is None else self._groups[indices]
        return TokenArray(self.text, self.offsets[indices], self.lengths[indices], hashes, groups)

    def ending_in(self, word: bytes) -> TokenArray:
        """Return the tokens that are the word, or end in a colon and the word; none if the word is empty.

        >>> list(TokenArray.of(["tea", "subject:tea", "teatea", ""]).ending_in(b"tea"))
        ['tea', 'subject:tea']
        """
        found = np.flatnonzero(self.lengths >= len(word)) if word else np.zeros(0, np.intp)
        ends = self.offsets + self.lengths
        for distance, octet in enumerate(reversed(word), 1):
            found = found[self.text[ends[found] - distance] == octet]
        is_whole = self.lengths[found] == len(word)
        return self.take(found[is_whole | (self.text[ends[found] - len(word) - 1] == ord(":"))])

    def packed(self) -> np.ndarray:
        """Return the texts of all tokens, one after the other, (bytes,) uint8."""
        if not len(self):
            return self.text[:0]
        begin, ends = self.offsets[0], np.cumsum(self.lengths, dtype=np.int64)
        if np.array_equal(self.offsets + self.lengths, begin + ends):
            return self.text[begin : begin + ends[-1]]
        out = np.empty(int(ends[-1]), np.uint8)
        filled = 0
        for first in range(0, len(self), CHUNK_TOKENS):
            lengths = self.lengths[first : first + CHUNK_TOKENS].astype(np.intp)
            source = np.repeat(self.offsets[first : first + CHUNK_TOKENS] - np.cumsum(lengths) + lengths, lengths)
            source += np.arange(len(source))
            out[filled : filled + len(source)] = self.text[source]
            filled += len(source)
        return out

    @staticmethod
    def concat(parts: Sequence[TokenArray]) -> TokenArray:
        lengths = np.concatenate([np.zeros(0, np.int32), *(part.lengths for part in parts)])
        text = np.concatenate([np.zeros(0, np.uint8), *(part.packed() for part in parts)])
        hashes = np.concatenate([np.zeros(0, np.int64), *(part.hashes for part in parts)])
        return TokenArray.of_packed(text, lengths, hashes)


def merge_vocabularies(lists: Sequence[TokenArray]) -> tuple[TokenArray, list[np.ndarray]]:
    """Return the distinct tokens of all lists, ascending by hash, and for each list its tokens' indices among them.

    >>> tokens, indices = merge_vocabularies([TokenArray.of(["c", "a"]), TokenArray.of(["a", "b"])])
    >>> sorted(tokens), [list(tokens.take(index)) for index in indices]
    (['a', 'b', 'c'], [['c', 'a'], ['a', 'b']])
    """
    all_tokens = TokenArray.concat(lists)
    _, first, index = np.unique(all_tokens.hashes, return_index=True, return_inverse=True)
    return all_tokens.take(first), np.split(index, np.cumsum([len(part) for part in lists])[:-1])


class Vocabulary:
    """Maps tokens to ids and back. A new token gets the next id. Only one thread at a time may use a vocabulary.

    >>> vocabulary = Vocabulary()
    >>> vocabulary.ids(["a", "b", "a"]), vocabulary.ids(["c"]), list(vocabulary.take(np.array([2, 0])))
    (array([0, 1, 0], dtype=int32), array([2], dtype=int32), ['c', 'a'])
    """

    def __init__(self) -> None:
        self.lock = threading.Lock()  # the core's functions run without the GIL
        self.pointer = owned(lib.vocabulary_new(), lib.vocabulary_delete)

    def __len__(self) -> int:
        return int(lib.vocabulary_size(self.pointer))

    def ids(self, tokens: Iterable[str]) -> np.ndarray:
        """Return the ids (k,) int32 of k tokens."""
        array = TokenArray.of(tokens)
        return self.ids_of_packed(array.packed(), np.ascontiguousarray(array.lengths, np.int32))

    def ids_of_packed(self, text: np.ndarray, lengths: np.ndarray) -> np.ndarray:
        """Return the ids (k,) int32 of the tokens that follow one another in ``text``, with these lengths in bytes."""
        if lengths.min(initial=0) < 0 or lengths.sum(dtype=np.int64) > len(text):
            raise ValueError("tokens are outside of their text")
        ids = np.empty(len(lengths), np.int32)
        arguments = pointer("uint8_t", text), pointer("int32_t", lengths), len(ids), pointer("int32_t", ids)
        with locked(self):
            if not lib.vocabulary_ids(self.pointer, *arguments):
                raise MemoryError
        return ids

    def take(self, ids: np.ndarray) -> TokenArray:
        """Return the tokens with these ids (k,)."""
        ids = np.ascontiguousarray(ids, np.uint32)
        return TokenArray.of_packed(*self.texts(ids), *self.describe(ids))

    def texts(self, ids: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the texts of the tokens with these ids (k,) uint32, one after the other, and their lengths (k,)."""
        lengths = np.empty(len(ids), np.int32)
        self._look_up(lib.vocabulary_lengths, ids, pointer("int32_t", lengths))
        text = np.empty(int(lengths.sum(dtype=np.int64)), np.uint8)
        self._look_up(lib.vocabulary_texts, ids, pointer("uint8_t", text))
        return text, lengths

    def describe(self, ids: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the hashes (k,) int64 and groups (k,) int8 of the tokens with these ids (k,) uint32."""
        hashes, groups = np.empty(len(ids), np.int64), np.empty(len(ids), np.int8)
        self._look_up(lib.vocabulary_describe, ids, pointer("int64_t", hashes), pointer("int8_t", groups))
        return hashes, groups

    def _look_up(self, function: Callable[..., None], ids: np.ndarray, *results: Any) -> None:
        with locked(self):
            function(self.pointer, numbers("uint32_t", ids, len(self)), len(ids), *results)
