"""The figures of tokens in classes, as a table of the cells that are not zero."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from spamnb.model.class_counts import ClassCounts, SparseRow

DOCUMENTS, OCCURRENCES, WEIGHT = range(3)  # indices of ``Cells.figures``
MAX_FIGURES = 1 << 16  # token × class of a table with zeros: 1.5 MB, which fit the processor's cache


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
    figures: np.ndarray  # (3, nnz) int64: documents, occurrences, weight

    @classmethod
    def sum(cls, token: np.ndarray, label: np.ndarray, figures: np.ndarray) -> Cells:
        """Make cells from figures in any order; figures of the same token and class are added up."""
        # A stable sort takes little time for parts that are sorted already.
        order = np.argsort(token.astype(np.int64) << 16 | label, kind="stable")
        token, label, figures = token[order], label[order], figures[:, order]
        is_first = np.append(True, (np.diff(token) > 0) | (np.diff(label) > 0))[: len(token)]
        first = np.flatnonzero(is_first)
        sums = np.add.reduceat(figures, first, axis=1) if len(first) else figures
        nonzero = sums.any(axis=0)
        return cls(token[first][nonzero], label[first][nonzero], sums[:, nonzero])

    @classmethod
    def empty(cls) -> Cells:
        """Return no cells."""
        return cls(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros((3, 0), np.int64))

    @classmethod
    def of_counts(cls, counts: ClassCounts, weights: np.ndarray | None = None) -> Cells:
        """Make cells from the sums of classes, and from the weights (V, C) of the tokens."""
        size, classes = counts.n_columns, len(counts.rows)
        step, parts = max(1, MAX_FIGURES // max(classes, 1)), [cls.empty()]
        for first in range(0, size, step):
            table = np.zeros((min(step, size - first), classes, 3), np.int64)
            for c, row in enumerate(counts.between(first, first + step).rows):
                table[row.columns, c, :WEIGHT] = np.stack([row.document_counts, row.occurrences], axis=1)
            if weights is not None:
                table[:, :, WEIGHT] = weights[first : first + step]
            cells = cls.of_table(table)
            parts.append(cells._replace(token=cells.token + first))
        token, label, figures = zip(*parts)
        return cls(np.concatenate(token), np.concatenate(label), np.concatenate(figures, axis=1))

    def counts(self, classes: Sequence[str], documents: np.ndarray, n_columns: int) -> ClassCounts:
        """Return the sums of classes, whose names may be in any order."""
        order = sorted(range(len(classes)), key=classes.__getitem__)
        nonzero = np.flatnonzero(self.figures[DOCUMENTS])
        by_class = nonzero[np.argsort(self.label[nonzero], kind="stable")]
        bounds = np.searchsorted(self.label[by_class], np.arange(len(classes) + 1))
        parts = [by_class[bounds[c] : bounds[c + 1]] for c in order]
        rows = tuple(SparseRow(self.token[part], *self.figures[:WEIGHT, part]) for part in parts)
        return ClassCounts(tuple(classes[c] for c in order), documents[order], n_columns, rows)

    def only(self, mask: np.ndarray) -> Cells:
        """Return the cells where ``mask`` (nnz,) is true."""
        return Cells(self.token[mask], self.label[mask], self.figures[:, mask])

    def table(self, n_tokens: int, classes: int) -> np.ndarray:
        """Return the figures of all tokens and classes, (n_tokens, classes, 3)."""
        table = np.zeros((n_tokens, classes, 3), np.int64)
        table[self.token, self.label] = self.figures.T
        return table

    @classmethod
    def of_table(cls, table: np.ndarray) -> Cells:
        """Make cells from the figures of all tokens and classes, (n, C, 3)."""
        documents, occurrences, weight = np.moveaxis(table, 2, 0)
        token, label = np.nonzero(documents | occurrences | weight)  # ten times as fast as any(axis=2)
        return cls(token, label, np.ascontiguousarray(table[token, label].T))

    def sums(self, figure: int, by: np.ndarray, size: int) -> np.ndarray:
        """Return the sums (size,) of one figure ``by`` token or by label."""
        sums = np.zeros(size, np.int64)
        np.add.at(sums, by, self.figures[figure])
        return sums
