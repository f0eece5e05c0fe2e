"""Rows of the token table in memory: one array, and where in it each token is.

Most tokens of a message were in the last few hundred too, so nearly every row that a score or a change needs is here.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import chain, islice

import numpy as np


class Rows:
    """``table[:, rows.numbers(tokens)]`` are the tokens' rows; all 0 and not ``present`` where there is none.

    >>> rows = Rows(2)
    >>> numbers = rows.numbers(["a", "b", "a"])
    >>> rows.fill(rows.missing(), [(1, 3, 4)])
    >>> rows.table[:, numbers], rows.present[numbers]
    (array([[0, 3, 0],
           [0, 4, 0]]), array([False,  True, False]))
    """

    def __init__(self, width: int) -> None:
        # A dictionary that numbers what it misses, read through map: no bytecode per token.
        self._number: defaultdict[str, int] = defaultdict()
        self._number.default_factory = self._number.__len__
        self._tokens: list[str] = []  # those that are filled
        self.table = np.zeros((width, 1024), np.int64)
        self.present = np.zeros(1024, bool)
        self.changed = np.zeros(1024, bool)  # by whoever changes table and present, since the last take_changes
        self._stored = np.zeros(1024, bool)

    def __len__(self) -> int:
        return len(self._number)

    def numbers(self, tokens: Sequence[str]) -> np.ndarray:
        """(k,) the columns of ``table``; those that are new have nothing in them before ``fill``."""
        return np.fromiter(map(self._number.__getitem__, tokens), np.intp, len(tokens))

    def missing(self) -> list[str]:
        """Tokens that were asked for and not filled yet."""
        return list(islice(reversed(self._number), len(self._number) - len(self._tokens)))[::-1]

    def fill(self, tokens: Sequence[str], found: Sequence[tuple]) -> None:
        """``tokens`` are the ``missing`` ones, ``found`` the (place in ``tokens``, figure, ...) of those with a row."""
        if len(self._number) > len(self.present):
            more = max(len(self._number), 2 * len(self.present)) - len(self.present)
            self.table = np.pad(self.table, ((0, 0), (0, more)))
            self.present, self.changed, self._stored = (
                np.pad(mask, (0, more)) for mask in (self.present, self.changed, self._stored)
            )
        if found:
            width = len(self.table) + 1
            figures = np.fromiter(chain.from_iterable(found), np.int64, width * len(found)).reshape(-1, width)
            numbers = len(self._tokens) + figures[:, 0]
            self.table[:, numbers] = figures[:, 1:].T
            self.present[numbers] = self._stored[numbers] = True
        self._tokens += tokens

    def take_changes(self) -> tuple[list[str], np.ndarray, list[int], list[int], list[int]]:
        """The k rows that were changed: tokens, figures (width, k), and which are new, which to update, which gone."""
        at = np.flatnonzero(self.changed)
        if not len(at):
            return [], self.table[:, :0], [], [], []
        self.changed[at] = False
        stored, present = self._stored[at], self.present[at]
        self._stored[at] = present
        kinds = present & ~stored, present & stored, ~present & stored
        return [self._tokens[i] for i in at], self.table[:, at], *(np.flatnonzero(kind).tolist() for kind in kinds)  # type: ignore[return-value]
