"""Rows of tokens in memory: one array, and where in it each token is.

Most tokens of a message were in the last few hundred too, so nearly every row that a score or a change needs is here.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from spamnb.tokens.token_array import Numbered, Numbers


class Rows:
    """``table[:, rows.at(tokens)]`` are the tokens' rows, what training wrote and what was learned since in one sum;
    all 0 where there is none. ``views`` are theirs. ``present`` are, in a ``closed`` vocabulary, the tokens that
    training wrote, otherwise those that any message holds.

    >>> from spamnb.tokens.token_array import Numbers
    >>> rows = Rows(2, Numbers())
    >>> at = rows.at(["a", "b", "c"])
    >>> rows.fill(rows.missing(at), np.array([1]), np.array([[3], [4]]), np.array([[1, 1, 2]]))
    >>> rows.table[:, at], rows.present[at]
    (array([[0, 4, 0],
           [0, 6, 0]]), array([False,  True, False]))
    """

    def __init__(self, width: int, numbers: Numbers, closed: bool = False) -> None:
        self.numbers = numbers
        self.closed = closed
        self.table = np.zeros((width, 1024), np.int64)
        self.present = np.zeros(1024, bool)
        self.views = np.zeros(1024, np.int8)
        self.changed = np.zeros(1024, bool)  # by whoever changes table and present, since the last take_changes
        self._trained = np.zeros((width, 1024), np.int64)
        self._filled = np.zeros(1024, bool)

    def at(self, tokens: Sequence[str]) -> np.ndarray:
        """(k,) the columns of ``table``; nothing is in them before ``fill``."""
        if isinstance(tokens, Numbered) and tokens.numbers is self.numbers:
            at = tokens.at
        else:
            at = self.numbers.at(tokens)
        if len(self.numbers) > len(self.present):
            more = max(len(self.numbers), 2 * len(self.present)) - len(self.present)
            self.table, self._trained = (np.pad(table, ((0, 0), (0, more))) for table in (self.table, self._trained))
            self.present, self.views, self.changed, self._filled = (
                np.pad(of, (0, more)) for of in (self.present, self.views, self.changed, self._filled)
            )
        return at

    def missing(self, at: np.ndarray) -> Numbered:
        """Those tokens among ``at`` that are not filled yet."""
        return Numbered(self.numbers, at[~self._filled[at]])

    def fill(self, missing: Numbered, found: np.ndarray, trained: np.ndarray, learned: np.ndarray | None) -> None:
        """Fill in ``missing`` tokens: ``trained`` (width, f) is what training wrote of those at the places ``found``
        (f,); ``learned`` (l, 1 + width) are the place and figures of those that were learned since."""
        at = missing.at[found]
        self._trained[:, at] = self.table[:, at] = trained
        self.present[at] = True
        if learned is not None and len(learned):
            at = missing.at[learned[:, 0]]
            self.table[:, at] += learned[:, 1:].T
            if not self.closed:
                self.present[at] = self.table[:, at].any(axis=0)
        self.views[missing.at] = missing.views
        self._filled[missing.at] = True

    def take_changes(self) -> tuple[Numbered, np.ndarray]:
        """The k tokens whose rows were changed, and what was learned of them since training (width, k)."""
        at = np.flatnonzero(self.changed)
        self.changed[at] = False
        return Numbered(self.numbers, at), self.table[:, at] - self._trained[:, at]
