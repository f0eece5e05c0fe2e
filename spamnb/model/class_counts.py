"""The figures of tokens in classes, as a table of the cells that are not zero: of a training set, and of a model file.

The figures are whole numbers, so that subtracting messages restores the figures before they were added.
Log-probabilities are computed from them, and not stored. The arrays are numpy's alone, because importing scipy takes
0.1 s.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

DOCUMENTS, OCCURRENCES, WEIGHT = range(3)  # indices of ``Cells.figures``


def inverse_index(numbers: np.ndarray, size: int) -> np.ndarray:
    """Return the position in ``numbers`` (k,) of each number below ``size``, or −1: (size,) int32."""
    positions = np.full(size, -1, np.int32)
    positions[numbers] = np.arange(len(numbers), dtype=np.int32)
    return positions


def sort_distinct(values: np.ndarray) -> np.ndarray:
    """Return the distinct values, ascending. np.unique takes longer, and imports numpy.ma, which takes 14 ms.

    >>> sort_distinct(np.array([3, 1, 3]))
    array([1, 3])
    """
    ordered = np.sort(values)
    return ordered[np.append(True, ordered[1:] != ordered[:-1])[: len(ordered)]]


def find_sorted(values: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Return the position of each wanted value in ``values``, which ascend; −1 if it is not there."""
    if not len(values):
        return np.full(len(wanted), -1)
    positions = np.minimum(np.searchsorted(values, wanted), len(values) - 1)
    return np.where(values[positions] == wanted, positions, -1)


class ClassTotals(NamedTuple):
    """Sums over all tokens. A score needs these sums, and the counts of the message's tokens."""

    classes: tuple[str, ...]  # sorted names of the C classes that have a message
    sums: np.ndarray  # (C, 3) N_c, Σ_j N_jc and Σ_j T_jc
    vocabulary_size: int

    @property
    def messages(self) -> dict[str, int]:
        """The number of messages of each class, by its name."""
        return dict(zip(self.classes, self.documents.tolist()))

    @property
    def documents(self) -> np.ndarray:
        """N_c, (C,)."""
        return self.sums[:, 0]

    @property
    def document_counts(self) -> np.ndarray:
        """Σ_j N_jc, (C,)."""
        return self.sums[:, 1]

    @property
    def occurrences(self) -> np.ndarray:
        """Σ_j T_jc, (C,)."""
        return self.sums[:, 2]


class Cells(NamedTuple):
    """Figures of tokens in classes, ascending by token and then by class. Cells with three zeros are left out.

    >>> cells = Cells.sum(np.array([0, 2, 0]), np.array([1, 0, 1]), np.array([[1, 1, 2], [3, 1, 4], [0, -5, 0]]))
    >>> cells.figures
    array([[ 3,  1],
           [ 7,  1],
           [ 0, -5]])
    """

    token: np.ndarray  # (nnz,) indices in a list of tokens
    label: np.ndarray  # (nnz,) class numbers
    figures: np.ndarray  # (3, nnz) messages with the token, its occurrences, and its weight in units

    @classmethod
    def sum(cls, token: np.ndarray, label: np.ndarray, figures: np.ndarray) -> Cells:
        """Make cells from figures in any order; figures of the same token and class are added up."""
        # A stable sort takes little time for parts that are sorted already.
        order = np.argsort(_keys(token, label), kind="stable")
        token, label, figures = token[order], label[order], figures[:, order]
        is_first = np.append(True, (np.diff(token) > 0) | (np.diff(label) > 0))[: len(token)]
        first = np.flatnonzero(is_first)
        sums = np.add.reduceat(figures, first, axis=1) if len(first) else figures
        nonzero = sums.any(axis=0)
        return cls(token[first][nonzero], label[first][nonzero], sums[:, nonzero])

    @classmethod
    def of_table(cls, table: np.ndarray) -> Cells:
        """Make cells from the figures of all tokens and classes, (n, C, 3)."""
        documents, occurrences, weight = np.moveaxis(table, 2, 0)
        token, label = np.nonzero(documents | occurrences | weight)  # ten times as fast as any(axis=2)
        return cls(token, label, np.ascontiguousarray(table[token, label].T))

    @classmethod
    def concat(cls, parts: Sequence[tuple[int, Cells]]) -> Cells:
        """Join the cells of parts of a list of tokens; ``parts`` are numbers of tokens, and their cells."""
        begins = np.cumsum([0, *(n for n, _ in parts)])
        token = np.concatenate([np.zeros(0, np.int64), *(cells.token + n for n, (_, cells) in zip(begins, parts))])
        label = np.concatenate([np.zeros(0, np.int64), *(cells.label for _, cells in parts)])
        return cls(token, label, np.concatenate([np.zeros((3, 0), np.int64), *(each.figures for _, each in parts)], 1))

    def table(self, n_tokens: int, classes: int) -> np.ndarray:
        """Return the figures of all tokens and classes, (n_tokens, classes, 3)."""
        table = np.zeros((n_tokens, classes, 3), np.int64)
        table[self.token, self.label] = self.figures.T
        return table

    def matrix(self, figure: int, n_tokens: int, classes: int) -> Any:
        """Return one figure as a new scipy CSR array (classes, n_tokens)."""
        from scipy.sparse import csr_array

        values = self.figures[figure]
        used = np.flatnonzero(values)
        values, coordinates = values[used].astype(np.int64), (self.label[used], self.token[used])
        return csr_array((values, coordinates), shape=(classes, n_tokens))

    def subtract(self, other: Cells) -> Cells:
        """Subtract messages that were added before; cells that no message has are left out."""
        positions = np.searchsorted(_keys(*self[:2]), _keys(*other[:2]))
        rest = self.figures[:, positions] - other.figures
        is_empty = rest[DOCUMENTS] == 0
        emptied, kept = positions[is_empty], positions[~is_empty]
        cells = self.only(np.delete(np.arange(len(self.token), dtype=np.int32), emptied))
        cells.figures[:, kept - np.searchsorted(emptied, kept)] = rest[:, ~is_empty]
        return cells

    def only(self, positions: np.ndarray) -> Cells:
        """Return a copy of the cells at these positions, or where a mask (nnz,) is true."""
        return Cells(self.token[positions], self.label[positions], self.figures[:, positions])

    def take(self, tokens: np.ndarray) -> Cells:
        """Return the cells of these ``tokens``, which are distinct; token ``tokens[i]`` gets the number i."""
        tokens = tokens.astype(self.token.dtype, copy=False)  # or else searchsorted copies all of self.token
        begins, ends = (np.searchsorted(self.token, tokens, side) for side in ("left", "right"))
        sizes = ends - begins
        token = np.repeat(np.arange(len(tokens), dtype=np.int32), sizes)
        positions = np.arange(len(token)) + np.repeat(begins - np.cumsum(sizes) + sizes, sizes)
        return self.only(positions)._replace(token=token)

    def sums(self, figure: int, by: np.ndarray, size: int) -> np.ndarray:
        """Return the sums (size,) of one figure ``by`` token or by label."""
        sums = np.zeros(size, np.int64)
        # np.add.at takes forty times as long, 43 ms for a million cells, if the types of its arguments differ.
        np.add.at(sums, by.astype(np.intp, copy=False), self.figures[figure].astype(np.int64, copy=False))
        return sums

    def sum_classes(self, documents: np.ndarray) -> np.ndarray:
        """Return the sums of a model (C, 3): the ``documents`` (C,) of each class, and the sums of its cells."""
        by_class = [self.sums(figure, self.label, len(documents)) for figure in (DOCUMENTS, OCCURRENCES)]
        return np.stack([documents, *by_class], axis=1)

    def frequencies(self, classes: int) -> list[dict[int, int]]:
        """Return per class {n: number of tokens in exactly n of its messages}, without n = 0."""
        return [count_frequencies(self.figures[DOCUMENTS, self.label == c]) for c in range(classes)]


def count_frequencies(documents: np.ndarray) -> dict[int, int]:
    """Return {n: number of tokens that exactly n messages have}, without n = 0, from N_j of each token, (k,).

    >>> count_frequencies(np.array([1, 0, 3, 1]))
    {1: 2, 3: 1}
    """
    tokens = np.bincount(documents)
    return {n: int(tokens[n]) for n in np.flatnonzero(tokens).tolist() if n}


def _keys(token: np.ndarray, label: np.ndarray) -> np.ndarray:
    """Return a number for each cell that ascends by token and then by class."""
    keys = token.astype(np.int64)
    keys <<= 16  # in place, because a training set has a million cells
    keys |= label
    return keys
