"""Tokens by the million: numbers for them, keys of 64 bits, and their text in one piece of memory.

A list of a million Python strings takes 70 MB and a second to sort or to merge; a key of 64 bits does for everything
but reading. Two tokens of one key are one token: by chance one pair in 37 million models of a million tokens. A sender
can make two such words, and gains no more than that they count as one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, overload

import numpy as np

from spamnb.tokens.groups import views

FNV_OFFSET, FNV_PRIME = 0xCBF29CE484222325, 0x100000001B3  # Fowler, Noll and Vo's hash, 1a
AT_ONCE = 1 << 15  # tokens whose places stay in the processor's cache: a million gathered in 0.08 s, all at once 0.57
MIX = 0x9E3779B97F4A7C15  # spreads the hash over all bits: short tokens differ in few


class Tokens(Sequence[str]):
    """A list of tokens as UTF-8 in one array.

    >>> tokens = Tokens.of(["buy", "café", "now"])
    >>> len(tokens), tokens[1], list(tokens[1:]), list(tokens.some(np.array([2, 0])))
    (3, 'café', ['café', 'now'], ['now', 'buy'])
    """

    def __init__(
        self, text: np.ndarray, begins: np.ndarray, lengths: np.ndarray, keys: np.ndarray | None = None
    ) -> None:
        self.text = text  # (bytes,) uint8
        self.begins = begins  # (k,) int64
        self.lengths = lengths  # (k,) int32, in bytes
        self._keys = keys

    @classmethod
    def of(cls, tokens: Iterable[str]) -> Tokens:
        """From strings."""
        encoded = [token.encode() for token in tokens]
        lengths = np.fromiter(map(len, encoded), np.int32, len(encoded))
        return cls(np.frombuffer(b"".join(encoded), np.uint8), np.cumsum(lengths, dtype=np.int64) - lengths, lengths)

    @property
    def keys(self) -> np.ndarray:
        """(k,) int64, a hash of each token's text."""
        if self._keys is None:
            self._keys = _keys(self.text, self.begins, self.lengths)
        return self._keys

    @property
    def views(self) -> np.ndarray:
        """(k,) int8, the view of each."""
        return views(self)

    def __len__(self) -> int:
        return len(self.lengths)

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> Tokens: ...
    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, slice):
            return self.some(np.arange(len(self))[place])
        begin = self.begins[place]
        return self.text[begin : begin + self.lengths[place]].tobytes().decode()

    def __iter__(self) -> Iterator[str]:
        text = self.text.tobytes()
        for begin, length in zip(self.begins.tolist(), self.lengths.tolist()):
            yield text[begin : begin + length].decode()

    def some(self, places: np.ndarray) -> Tokens:
        """Those at ``places``; the text is shared."""
        keys = None if self._keys is None else self._keys[places]
        return Tokens(self.text, self.begins[places], self.lengths[places], keys)

    def gathered(self) -> np.ndarray:
        """Their text, one after the other (uint8)."""
        out = np.empty(int(self.lengths.sum(dtype=np.int64)), np.uint8)
        filled = 0
        for first in range(0, len(self), AT_ONCE):
            lengths = self.lengths[first : first + AT_ONCE].astype(np.intp)
            at = np.repeat(self.begins[first : first + AT_ONCE] - np.cumsum(lengths) + lengths, lengths)
            at += np.arange(len(at))
            out[filled : filled + len(at)] = self.text[at]
            filled += len(at)
        return out

    @staticmethod
    def joined(parts: Sequence[Tokens]) -> Tokens:
        """Several lists as one."""
        starts = np.cumsum([0, *(len(part.text) for part in parts)])
        return Tokens(
            np.concatenate([np.zeros(0, np.uint8), *(part.text for part in parts)]),
            np.concatenate([np.zeros(0, np.int64), *(part.begins + start for part, start in zip(parts, starts))]),
            np.concatenate([np.zeros(0, np.int32), *(part.lengths for part in parts)]),
            np.concatenate([np.zeros(0, np.int64), *(part.keys for part in parts)]),
        )


def _keys(text: np.ndarray, begins: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """The hash of each token, byte by byte of all of them at once: 0.2 s for a million."""
    order = np.argsort(-lengths, kind="stable")
    begins, longest_first = begins[order], -lengths[order]
    hashes = np.full(len(order), FNV_OFFSET, np.uint64)
    for i in range(-int(longest_first[0]) if len(order) else 0):
        longer = int(np.searchsorted(longest_first, -i))
        hashes[:longer] = (hashes[:longer] ^ text[begins[:longer] + i]) * np.uint64(FNV_PRIME)
    keys = np.empty_like(hashes)
    keys[order] = (hashes ^ (hashes >> np.uint64(32))) * np.uint64(MIX)
    return keys.view(np.int64)


def union(lists: Sequence[Tokens]) -> tuple[Tokens, list[np.ndarray]]:
    """All tokens of these lists, ascending by key, and where in them those of each list are.

    >>> tokens, places = union([Tokens.of(["c", "a"]), Tokens.of(["a", "b"])])
    >>> list(tokens), places
    (['a', 'c', 'b'], [array([1, 0]), array([0, 2])])
    """
    every = Tokens.joined(lists)
    order = np.argsort(every.keys, kind="stable")  # lists that are sorted already are merged, not sorted
    ordered = every.keys[order]
    new = np.ones(len(order), bool)
    new[1:] = ordered[1:] != ordered[:-1]
    place = np.empty(len(order), np.intp)
    place[order] = np.cumsum(new) - 1
    return every.some(order[new]), np.split(place, np.cumsum([len(part) for part in lists])[:-1])


class Numbers:
    """A two-way table that grows: a number for every token, a new one for a token that has none.

    >>> numbers = Numbers()
    >>> numbers.at(["a", "b", "a"]), numbers.at(["c"]), numbers.some(np.array([2, 0]))
    (array([0, 1, 0]), array([2]), ['c', 'a'])
    """

    def __init__(self) -> None:
        self._tokens: list[str] = []
        self._of: dict[str, int] = {}
        self._of_key: dict[int, int] = {}  # a sender can make two tokens of one key: they are one token

    def __len__(self) -> int:
        return len(self._tokens)

    def at(self, tokens: Iterable[str]) -> np.ndarray:
        """(k,) the numbers of these tokens."""
        tokens = list(tokens)
        if new := [token for token in dict.fromkeys(tokens) if token not in self._of]:
            for token, key in zip(new, Tokens.of(new).keys.tolist()):
                number = self._of[token] = self._of_key.setdefault(key, len(self._tokens))
                if number == len(self._tokens):
                    self._tokens.append(token)
        return np.fromiter(map(self._of.__getitem__, tokens), np.intp, len(tokens))

    def some(self, at: np.ndarray) -> list[str]:
        """The tokens of these numbers."""
        return list(map(self._tokens.__getitem__, at.tolist()))

    def keys(self, at: np.ndarray) -> np.ndarray:
        """(k,) int64 keys of the tokens of these numbers."""
        return Tokens.of(self.some(at)).keys

    def views(self, at: np.ndarray) -> np.ndarray:
        """(k,) int8 views of the tokens of these numbers."""
        return views(self.some(at))

    def tokens(self) -> Tokens:
        """The token of every number."""
        return Tokens.of(self._tokens)


class Numbered(Sequence[str]):
    """The tokens of the numbers ``at`` (k,)."""

    def __init__(self, numbers: Numbers, at: np.ndarray) -> None:
        self.numbers = numbers
        self.at = at

    def __len__(self) -> int:
        return len(self.at)

    @property
    def keys(self) -> np.ndarray:
        """(k,) int64."""
        return self.numbers.keys(self.at)

    @property
    def views(self) -> np.ndarray:
        """(k,) int8."""
        return self.numbers.views(self.at)

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> Numbered: ...
    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, slice):
            return Numbered(self.numbers, self.at[place])
        return self.numbers.some(self.at[[place]])[0]

    def __iter__(self) -> Iterator[str]:
        return iter(self.numbers.some(self.at))

    def some(self, places: np.ndarray) -> Numbered:
        """Those at ``places``."""
        return Numbered(self.numbers, self.at[places])
