"""A training set: the rows of labelled messages, and their sums per class."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from spamnb.model.class_counts import ClassCounts, SparseRow, inverse_index
from spamnb.reader.rows import MESSAGES_AT_ONCE, Rows
from spamnb.reader.tokens import TokenArray


def add_up(rows: Rows) -> ClassCounts:
    """Add up labelled messages by class."""
    one_message = np.ones((), np.int32)
    members = [rows.take(rows.labels == label) for label in range(len(rows.classes))]
    sums = [
        SparseRow.sum(
            (SparseRow(batch.ids, one_message, batch.counts) for batch in each.batches(MESSAGES_AT_ONCE)),
            len(rows.tokens),
        )
        for each in members
    ]
    return ClassCounts(rows.classes, np.array([*map(len, members)], np.int64), len(rows.tokens), tuple(sums))


class TrainingSet(NamedTuple):
    """Labelled messages as rows over columns, and their counts per class.

    The commonest tokens have the first columns, so that the counts that are read most often are together in memory. A
    subset of the messages keeps all columns; its vocabulary size counts the columns that occur.
    """

    rows: Rows
    counts: ClassCounts

    @property
    def tokens(self) -> TokenArray:
        """The token of each column."""
        tokens: TokenArray = self.rows.tokens
        return tokens

    def minus(self, mask: np.ndarray) -> TrainingSet:
        """Subtract the messages in a mask over positions in the sources."""
        return self.split(mask[self.rows.positions])[0]

    def split(self, mask: np.ndarray) -> tuple[TrainingSet, Rows]:
        """Return the training set without the messages of a mask (n,), and these messages."""
        selected = self.rows.take(mask)
        return TrainingSet(self.rows.take(~mask), self.counts - add_up(selected)), selected

    def _has_later_copy(self) -> np.ndarray:
        """Return a mask (n,) of the messages that have a later copy."""
        digests, has_later_copy = self.rows.digests, np.zeros(len(self.rows), bool)
        has_later_copy[:-1] = (digests[1:] == digests[:-1]).all(axis=1)
        return has_later_copy

    def deduplicate(self) -> TrainingSet:
        """Count each message once, as the last of its copies, because the last class is probably the right one."""
        copies = self._has_later_copy()
        return self.split(copies)[0] if copies.any() else self

    def count_in_several_classes(self) -> int:
        """Return the number of messages whose copies have more than one class."""
        is_last = ~self._has_later_copy()
        pairs = np.stack([np.cumsum(is_last) - is_last, self.rows.labels])  # message and class of each copy
        return int((np.bincount(np.unique(pairs, axis=1)[0]) > 1).sum())

    def columns_by_hash(self) -> np.ndarray:
        """Return the columns of the tokens that occur, ascending by hash as in a model file."""
        columns = np.flatnonzero(self.counts.document_frequency())
        return columns[np.argsort(self.tokens.hashes[columns])]

    def select_columns(self, columns: np.ndarray) -> TrainingSet:
        """Select these columns, in this order."""
        counts = self.counts.reindex(inverse_index(columns, len(self.tokens)), len(columns))
        return TrainingSet(self.rows.select(columns), counts)

    def nonempty_classes(self) -> TrainingSet:
        """Drop the classes that have no message, or only copies of messages that are counted in other classes."""
        counts = self.counts.nonempty_classes()
        return TrainingSet(self.rows.with_classes(counts.classes), counts)

    def stratified_folds(self, n_folds: int) -> np.ndarray:
        """Return the fold of each message, (n,).

        The messages of each class are assigned to the folds in turn. If the class were ignored, a class that has every
        n-th message would be in one fold only.
        """
        fold = np.empty(len(self.rows), np.int64)
        fold[np.lexsort((self.rows.positions, self.rows.labels))] = np.arange(len(fold)) % n_folds
        return fold
