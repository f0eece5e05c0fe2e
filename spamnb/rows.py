"""Rows of the token table in memory: one array, and where in it each token is.

Most tokens of a message were in the last few hundred too, so nearly every row that a score or a change needs is here.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

import numpy as np

from spamnb.numbers import Numbered, Numbers


class Rows:
    """``table[:, rows.at(tokens)]`` are the tokens' rows; all 0 and not ``present`` where there is none.

    >>> rows = Rows(2, Numbers())
    >>> at = rows.at(["a", "b", "c"])
    >>> rows.fill(rows.missing(at), [(1, 3, 4)])
    >>> rows.table[:, at], rows.present[at]
    (array([[0, 3, 0],
           [0, 4, 0]]), array([False,  True, False]))
    """

    def __init__(self, width: int, numbers: Numbers) -> None:
        self.numbers = numbers
        self.table = np.zeros((width, 1024), np.int64)
        self.present = np.zeros(1024, bool)
        self.changed = np.zeros(1024, bool)  # by whoever changes table and present, since the last take_changes
        self._stored = np.zeros(1024, bool)
        self._filled = np.zeros(1024, bool)

    def at(self, tokens: Sequence[str]) -> np.ndarray:
        """(k,) the columns of ``table``; nothing is in them before ``fill``."""
        if isinstance(tokens, Numbered) and tokens.numbers is self.numbers:
            at = tokens.at
        else:
            at = np.fromiter(map(self.numbers.of.__getitem__, tokens), np.intp, len(tokens))
        if len(self.numbers) > len(self.present):
            more = max(len(self.numbers), 2 * len(self.present)) - len(self.present)
            self.table = np.pad(self.table, ((0, 0), (0, more)))
            self.present, self.changed, self._stored, self._filled = (
                np.pad(mask, (0, more)) for mask in (self.present, self.changed, self._stored, self._filled)
            )
        return at

    def missing(self, at: np.ndarray) -> Numbered:
        """Those tokens among ``at`` that are not filled yet."""
        return Numbered(self.numbers, at[~self._filled[at]])

    def fill(self, missing: Numbered, found: Sequence[tuple]) -> None:
        """``found`` are the (place in ``missing``, figure, ...) of those that have a row."""
        if found:
            width = len(self.table) + 1
            figures = np.fromiter(chain.from_iterable(found), np.int64, width * len(found)).reshape(-1, width)
            at = missing.at[figures[:, 0]]
            self.table[:, at] = figures[:, 1:].T
            self.present[at] = self._stored[at] = True
        self._filled[missing.at] = True

    def take_changes(self) -> tuple[list[str], np.ndarray, list[int], list[int], list[int]]:
        """The k rows that were changed: tokens, figures (width, k), and which are new, which to update, which gone."""
        at = np.flatnonzero(self.changed)
        self.changed[at] = False
        stored, present = self._stored[at], self.present[at]
        self._stored[at] = present
        kinds = [np.flatnonzero(kind).tolist() for kind in (present & ~stored, present & stored, ~present & stored)]
        return list(Numbered(self.numbers, at)), self.table[:, at], kinds[0], kinds[1], kinds[2]
