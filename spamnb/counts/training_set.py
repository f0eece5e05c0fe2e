"""A training set: the counts of its messages, and a row of counts for each message."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from spamnb.counts.class_counts import ClassCounts, inverse_index
from spamnb.counts.messages import Messages
from spamnb.reader.rows import CsrRows
from spamnb.reader.tokens import TokenArray


class LabelledRows(NamedTuple):
    """A batch of messages of a training set."""

    rows: CsrRows  # over the columns of the training set
    labels: np.ndarray  # (n,) class numbers
    positions: np.ndarray  # (n,) in the sources


class TrainingSet(NamedTuple):
    """Messages as rows over columns, the token of each column, and the counts per class.

    The counts are of the included messages, except after ``select`` and in the second result of ``split``.

    The commonest tokens have the first columns, so that the counts that are read most often are together in memory. A
    subset of the messages keeps all columns; its vocabulary size counts the columns that occur.
    """

    tokens: TokenArray
    counts: ClassCounts
    messages: Messages

    def batches(self, messages: int = 256) -> Iterator[LabelledRows]:
        """Yield the included messages in batches; the counts of 256 messages fit the processor's cache."""
        included = np.flatnonzero(self.messages.included)
        return (self.rows(included[first : first + messages]) for first in range(0, len(included), messages))

    def rows(self, numbers: np.ndarray) -> LabelledRows:
        """Return a batch of the messages with these numbers: one or more, ascending."""
        messages = self.messages
        return LabelledRows(messages.rows(numbers), messages.labels[numbers], messages.positions[numbers])

    def matrix(self) -> Any:
        """Return the included messages as a scipy CSR array (n, V) of occurrences, in the order of the batches."""
        from scipy.sparse import csr_array, vstack

        empty = csr_array((0, len(self.tokens)), dtype=np.int64)
        parts = [batch.rows.matrix(len(self.tokens)) for batch in self.batches(1 << 14)]
        return vstack([empty, *parts], format="csr")

    def included_positions(self) -> np.ndarray:
        """Return the positions (n,) of the included messages in the sources, in the order of the batches."""
        return self.messages.positions[self.messages.included]

    def included_labels(self) -> np.ndarray:
        """Return the class numbers of the included messages (n,), in the order of the batches."""
        return self.messages.labels[self.messages.included]

    def select(self, mask: np.ndarray) -> TrainingSet:
        """Include only the messages in a mask over positions in the sources; the counts do not change."""
        return self._including(self.messages.included & mask[self.messages.positions])

    def _including(self, included: np.ndarray) -> TrainingSet:
        return self._replace(messages=self.messages._replace(included=included))

    def minus(self, mask: np.ndarray) -> TrainingSet:
        """Subtract the messages in a mask over positions in the sources."""
        return self.split(mask[self.included_positions()])[0]

    def split(self, mask: np.ndarray) -> tuple[TrainingSet, TrainingSet]:
        """Return two training sets: one without the messages of the mask, and one of these messages.

        The mask (n,) is over the included messages. Both training sets have the counts of the first one.
        """
        included = self.messages.included
        is_selected = included.copy()
        is_selected[included] = mask
        selected_counts = self._including(is_selected).messages.class_counts(self.counts.classes, len(self.tokens))
        others = self._including(included & ~is_selected)._replace(counts=self.counts - selected_counts)
        return others, others._including(is_selected)

    def deduplicate(self) -> TrainingSet:
        """Count each message once, as the last of its copies, because the last class is probably the right one."""
        copies = ~self.messages.last_copies()[self.messages.included]
        return self.split(copies)[0] if copies.any() else self

    def count_in_several_classes(self) -> int:
        """Return the number of messages whose copies have more than one class."""
        is_last = self.messages.last_copies()
        pairs = np.stack([np.cumsum(is_last) - is_last, self.messages.labels])  # message and class of each copy
        return int((np.bincount(np.unique(pairs, axis=1)[0]) > 1).sum())

    def columns_by_hash(self) -> np.ndarray:
        """Return the columns of the tokens that occur, ascending by hash as in a model file."""
        columns = np.flatnonzero(self.counts.document_frequency())
        return columns[np.argsort(self.tokens.hashes[columns])]

    def select_columns(self, columns: np.ndarray) -> TrainingSet:
        """Select these columns, in this order."""
        new_columns = inverse_index(columns, len(self.tokens))
        counts = self.counts.reindex(new_columns, len(columns))
        return TrainingSet(self.tokens.take(columns), counts, self.messages.reindex(new_columns))

    def nonempty_classes(self) -> TrainingSet:
        """Drop the classes that have no message, or only copies of messages that are counted in other classes."""
        nonempty = np.flatnonzero(self.counts.documents)
        if len(nonempty) == len(self.counts.classes):
            return self
        new_labels = inverse_index(nonempty, len(self.counts.classes))
        messages = self.messages._replace(labels=new_labels[self.messages.labels].astype(np.int64))
        return self._replace(counts=self.counts.nonempty_classes(), messages=messages)

    def stratified_folds(self, n_folds: int) -> np.ndarray:
        """Return the fold of each included message, (n,), in the order of the batches.

        The messages of each class are assigned to the folds in turn. If the class were ignored, a class that has every
        n-th message would be in one fold only.
        """
        fold = np.empty(int(self.messages.included.sum()), np.int64)
        fold[np.lexsort((self.included_positions(), self.included_labels()))] = np.arange(len(fold)) % n_folds
        return fold
