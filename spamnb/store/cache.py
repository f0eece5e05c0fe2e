"""Counts of tokens in memory: one array, and where in it each token is.

Most tokens of a message were in the last few hundred too, so nearly every row that a score or a change needs is here.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from spamnb.tokens.vocabulary import TokenIds, Vocabulary


class CountCache:
    """``table[:, cache.columns(tokens)]`` are the tokens' counts, what training wrote and what was learned since in one
    sum; 0 where there is none.

    ``groups`` are the tokens' groups. ``in_vocabulary`` tells which tokens the model has: with a ``fixed_vocabulary``
    those that training wrote, otherwise those that any message holds.

    >>> cache = CountCache(2, Vocabulary())
    >>> at = cache.columns(["a", "b", "c"])
    >>> cache.load(cache.missing(at), np.array([1]), np.array([[3], [4]]), np.array([[1, 1, 2]]))
    >>> cache.table[:, at], cache.in_vocabulary[at]
    (array([[0, 4, 0],
           [0, 6, 0]]), array([False,  True, False]))
    """

    def __init__(self, width: int, vocabulary: Vocabulary, fixed_vocabulary: bool = False) -> None:
        self.vocabulary = vocabulary
        self.fixed_vocabulary = fixed_vocabulary
        self.table = np.zeros((width, 1024), np.int64)
        self.in_vocabulary = np.zeros(1024, bool)
        self.groups = np.zeros(1024, np.int8)
        self.dirty = np.zeros(1024, bool)  # set by whoever changes table, until the next take_changes
        self._trained = np.zeros((width, 1024), np.int64)
        self._loaded = np.zeros(1024, bool)

    def columns(self, tokens: Sequence[str]) -> np.ndarray:
        """The columns of ``table`` that belong to the tokens, (k,); nothing is in them before ``load``."""
        if isinstance(tokens, TokenIds) and tokens.vocabulary is self.vocabulary:
            ids = tokens.ids
        else:
            ids = self.vocabulary.ids(tokens)
        if len(self.vocabulary) > len(self.in_vocabulary):
            more = max(len(self.vocabulary), 2 * len(self.in_vocabulary)) - len(self.in_vocabulary)
            self.table, self._trained = (np.pad(table, ((0, 0), (0, more))) for table in (self.table, self._trained))
            self.in_vocabulary, self.groups, self.dirty, self._loaded = (
                np.pad(of, (0, more)) for of in (self.in_vocabulary, self.groups, self.dirty, self._loaded)
            )
        return ids

    def missing(self, columns: np.ndarray) -> TokenIds:
        """Those tokens of these columns that are not loaded yet."""
        return TokenIds(self.vocabulary, columns[~self._loaded[columns]])

    def load(self, missing: TokenIds, found: np.ndarray, trained: np.ndarray, learned: np.ndarray | None) -> None:
        """Fill in ``missing`` tokens: ``trained`` (width, f) is what training wrote of those at the places ``found``
        (f,); ``learned`` (l, 1 + width) are the place and counts of those that were learned since."""
        ids = missing.ids[found]
        self._trained[:, ids] = self.table[:, ids] = trained
        self.in_vocabulary[ids] = True
        if learned is not None and len(learned):
            ids = missing.ids[learned[:, 0]]
            self.table[:, ids] += learned[:, 1:].T
            if not self.fixed_vocabulary:
                self.in_vocabulary[ids] = self.table[:, ids].any(axis=0)
        self.groups[missing.ids] = missing.groups
        self._loaded[missing.ids] = True

    def take_changes(self) -> tuple[TokenIds, np.ndarray]:
        """The k tokens whose counts were changed, and what was learned of them since training (width, k)."""
        ids = np.flatnonzero(self.dirty)
        self.dirty[ids] = False
        return TokenIds(self.vocabulary, ids), self.table[:, ids] - self._trained[:, ids]
