"""The training messages, counted in one pass: their sums, and the messages themselves as short rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from spamnb.counts.class_counts import ClassCounts, inverse_index
from spamnb.counts.messages import Messages
from spamnb.reader.rows import CsrRows
from spamnb.reader.tokens import TokenArray


class LabelledRows(NamedTuple):
    """Some messages of a training set."""

    rows: CsrRows  # over the training set's columns
    labels: np.ndarray  # (n,) class numbers
    positions: np.ndarray  # (n,) places in the whole of the mail


class TrainingSet(NamedTuple):
    """Sums over messages, the tokens of their columns, and the messages.

    Columns are those of all messages that were counted, the commonest first: what is read most lies together. A part of
    the messages has the same columns; those that do not occur in it are no part of its vocabulary.
    """

    tokens: TokenArray
    counts: ClassCounts
    messages: Messages

    def batches(self, messages: int = 256) -> Iterator[LabelledRows]:
        """Yield the included messages in batches, whose figures fit the processor's cache."""
        included = np.flatnonzero(self.messages.included)
        return (self.rows(included[first : first + messages]) for first in range(0, len(included), messages))

    def rows(self, numbers: np.ndarray) -> LabelledRows:
        """Return the messages with these numbers, ascending, one or more."""
        every = self.messages
        return LabelledRows(every.rows(numbers), every.labels[numbers], every.positions[numbers])

    def matrix(self) -> Any:
        """Return the included messages as a scipy CSR array (n, V) of occurrences, in the order of the batches."""
        from scipy.sparse import csr_array, vstack

        none = csr_array((0, len(self.tokens)), dtype=np.int64)
        parts = [batch.rows.matrix(len(self.tokens)) for batch in self.batches(1 << 14)]
        return vstack([none, *parts], format="csr")

    def included_positions(self) -> np.ndarray:
        """Return the positions in the mail of the included messages (n,), in the order of the batches."""
        return self.messages.positions[self.messages.included]

    def included_labels(self) -> np.ndarray:
        """Return the class numbers of the included messages (n,), in the order of the batches."""
        return self.messages.labels[self.messages.included]

    def select(self, places: np.ndarray) -> TrainingSet:
        """Include only the messages at these places, a mask over all positions in the mail; the sums stay."""
        return self._including(self.messages.included & places[self.messages.positions])

    def _including(self, included: np.ndarray) -> TrainingSet:
        return self._replace(messages=self.messages._replace(included=included))

    def minus(self, places: np.ndarray) -> TrainingSet:
        """Subtract the messages at these places, a mask over all positions in the mail."""
        return self.split(places[self.included_positions()])[0]

    def split(self, chosen: np.ndarray) -> tuple[TrainingSet, TrainingSet]:
        """Return the training set without the ``chosen`` messages, a mask (n,), and these messages beside its sums."""
        included = self.messages.included
        selected = included.copy()
        selected[included] = chosen
        surplus = self._including(selected).messages.class_counts(self.counts.classes, len(self.tokens))
        others = self._including(included & ~selected)._replace(counts=self.counts - surplus)
        return others, others._including(selected)

    def deduplicate(self) -> TrainingSet:
        """Count every message once: the last of its copies, whose class is supposed to be right."""
        copies = ~self.messages.last_copies()[self.messages.included]
        return self.split(copies)[0] if copies.any() else self

    def in_several_classes(self) -> int:
        """Return how many of the messages have copies of more than one class."""
        last = self.messages.last_copies()
        of_copy = np.stack([np.cumsum(last) - last, self.messages.labels])
        return int((np.bincount(np.unique(of_copy, axis=1)[0]) > 1).sum())

    def by_hash(self) -> np.ndarray:
        """Return the columns that messages hold, ascending by their tokens' hash as in a model file."""
        columns = np.flatnonzero(self.counts.document_frequency())
        return columns[np.argsort(self.tokens.hashes[columns])]

    def select_columns(self, columns: np.ndarray) -> TrainingSet:
        """Select these columns, in this order."""
        number = inverse_index(columns, len(self.tokens))
        counts = self.counts.reindex(number, len(columns))
        return TrainingSet(self.tokens.take(columns), counts, self.messages.reindex(number))

    def nonempty_classes(self) -> TrainingSet:
        """Drop classes that hold no message, or only copies of others' messages."""
        nonempty = np.flatnonzero(self.counts.documents)
        if len(nonempty) == len(self.counts.classes):
            return self
        number = inverse_index(nonempty, len(self.counts.classes))
        messages = self.messages._replace(labels=number[self.messages.labels].astype(np.int64))
        return self._replace(counts=self.counts.nonempty_classes(), messages=messages)

    def stratified_folds(self, n_folds: int) -> np.ndarray:
        """Return the fold of each included message, (n,), in the order of the batches.

        The messages of each class go to the folds in turn, because a class whose messages come in step with the folds
        would otherwise be in one fold.
        """
        fold = np.empty(int(self.messages.included.sum()), np.int64)
        fold[np.lexsort((self.included_positions(), self.included_labels()))] = np.arange(len(fold)) % n_folds
        return fold
