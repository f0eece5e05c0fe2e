"""Tokens ↔ numbers, and lists of tokens that are made of numbers: text only where somebody wants to read it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, overload

import numpy as np


class Numbers:
    """A two-way table that grows: ``of[token]`` is a token's number, a new one for a token that has none.

    >>> numbers = Numbers(["a", "b"])
    >>> numbers.of["b"], numbers.of["c"], numbers.tokens
    (1, 2, ['a', 'b', 'c'])
    """

    def __init__(self, tokens: Iterable[str] = ()) -> None:
        self._tokens = list(tokens)
        # A dictionary that numbers what it misses, read through map: no bytecode per token.
        self.of: defaultdict[str, int] = defaultdict(None, zip(self._tokens, range(len(self._tokens))))
        self.of.default_factory = self.of.__len__

    def __len__(self) -> int:
        return len(self.of)

    @property
    def tokens(self) -> list[str]:
        """The token of every number."""
        new = len(self.of) - len(self._tokens)
        if new:
            self._tokens += list(islice(reversed(self.of), new))[::-1]
        return self._tokens


class Numbered(Sequence[str]):
    """The tokens of the numbers ``at`` (k,)."""

    def __init__(self, numbers: Numbers, at: np.ndarray) -> None:
        self.numbers = numbers
        self.at = at

    def __len__(self) -> int:
        return len(self.at)

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> Numbered: ...
    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, slice):
            return Numbered(self.numbers, self.at[place])
        return self.numbers.tokens[self.at[place]]

    def __iter__(self) -> Iterator[str]:
        return map(self.numbers.tokens.__getitem__, self.at.tolist())

    def some(self, places: np.ndarray) -> Numbered:
        """Those at ``places``."""
        return Numbered(self.numbers, self.at[places])
