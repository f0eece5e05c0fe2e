"""Tokens ↔ columns, and many documents → one sparse matrix of occurrences.

A column is the order in which its token was first seen, so a vocabulary only ever grows at its end and
matrices made earlier stay valid as the left part of later ones.
"""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from scipy.sparse import csr_array


class Vocabulary:
    """A two-way table of tokens and column numbers.

    >>> vocabulary = Vocabulary()
    >>> X = vocabulary.matrix([["cheap", "pills", "cheap"], ["lunch", "pills"]])
    >>> vocabulary.tokens
    ['cheap', 'pills', 'lunch']
    >>> X.toarray()
    array([[2, 1, 0],
           [0, 1, 1]], dtype=int32)
    >>> vocabulary.matrix([["lunch", "tomorrow"]], grow=False).toarray()
    array([[0, 0, 1]], dtype=int32)
    """

    def __init__(self) -> None:
        self.columns: defaultdict[str, int] = defaultdict(None)  # token → column

    def __len__(self) -> int:
        return len(self.columns)

    @property
    def tokens(self) -> list[str]:
        """The token of every column, in column order."""
        return list(self.columns)

    def matrix(self, documents: Iterable[Iterable[str]], grow: bool = True) -> csr_array:
        """Occurrences as a CSR array, documents × columns, int32, rows sorted and without duplicates.

        Repeats in a document are summed. ``grow``: unseen tokens get new columns at the end; without it they
        are left out. Memory is 4 bytes per token occurrence while reading and 8 per stored cell after.
        """
        from scipy.sparse import csr_array

        indices = array("i")
        ends = array("q", [0])
        columns = self.columns
        try:
            # A defaultdict that numbers what it misses, read through map: no Python bytecode per token
            # (the 3.7 million of 20news: 0.42 s, 0.58 s with setdefault in a loop). Only in here: elsewhere
            # asking for an unknown token is a KeyError.
            columns.default_factory = columns.__len__ if grow else None
            for document in documents:
                if grow:
                    indices.extend(map(columns.__getitem__, document))
                else:
                    indices.extend(columns[token] for token in document if token in columns)
                ends.append(len(indices))
        finally:
            columns.default_factory = None
        X = csr_array(
            (np.ones(len(indices), dtype=np.int32), np.array(indices), np.array(ends)),
            shape=(len(ends) - 1, len(columns)),
        )
        X.sum_duplicates()
        return X
