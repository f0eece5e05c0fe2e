"""A training set: the rows of labelled messages, and their sums per class."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from spamnb.model.class_counts import DOCUMENTS, OCCURRENCES, Cells, ClassTotals, inverse_index
from spamnb.reader.rows import MESSAGES_AT_ONCE, Rows
from spamnb.reader.tokens import TokenArray


def add_up(rows: Rows) -> Cells:
    """Add up labelled messages by class."""
    by_class = [_count(rows.take(rows.labels == label)) for label in range(len(rows.classes))]
    token = np.concatenate([np.zeros(0, np.int32), *(token for token, _ in by_class)])
    label = np.repeat(np.arange(len(by_class), dtype=np.int16), [len(token) for token, _ in by_class])
    order = np.argsort(token, kind="stable")  # which takes little time for some parts that are sorted
    figures = np.zeros((3, len(token)), np.result_type(np.int32, *(figures for _, figures in by_class)))
    for figure in (DOCUMENTS, OCCURRENCES):  # one after the other needs less memory
        figures[figure] = np.concatenate([figures[figure, :0], *(figures[figure] for _, figures in by_class)])[order]
    return Cells(token[order], label[order], figures)


def _count(rows: Rows) -> tuple[np.ndarray, np.ndarray]:
    """Return the tokens (k,) of messages, ascending, and their documents and occurrences (2, k), in narrow types."""
    documents, occurrences = np.zeros((2, len(rows.tokens)), np.int64)
    for batch in rows.batches(MESSAGES_AT_ONCE):
        # np.add.at takes forty times as long, 43 ms for a million cells, if the types of its arguments differ.
        ids = batch.ids.astype(np.intp, copy=False)
        np.add.at(documents, ids, np.int64(1))
        np.add.at(occurrences, ids, batch.counts.astype(np.int64, copy=False))
    used = np.flatnonzero(documents).astype(np.int32)
    dtype = np.int32 if occurrences.max(initial=0) <= np.iinfo(np.int32).max else np.int64
    return used, np.stack([documents[used], occurrences[used]], dtype=dtype, casting="same_kind")


class TrainingSet(NamedTuple):
    """Labelled messages as rows over columns, and the sums per class, without weights.

    The commonest tokens have the first columns, so that the counts that are read most often are together in memory. A
    subset of the messages keeps all columns; its vocabulary size counts the columns that occur.
    """

    rows: Rows
    cells: Cells

    @property
    def tokens(self) -> TokenArray:
        """The token of each column."""
        tokens: TokenArray = self.rows.tokens
        return tokens

    @property
    def classes(self) -> tuple[str, ...]:
        """The sorted names of the C classes."""
        return self.rows.classes

    @property
    def documents(self) -> np.ndarray:
        """The number of messages of each class, (C,)."""
        return np.bincount(self.rows.labels, minlength=len(self.classes))

    def document_frequency(self) -> np.ndarray:
        """Return the number of messages with each token, (V,)."""
        return self.cells.sums(DOCUMENTS, self.cells.token, len(self.tokens))

    def totals(self) -> ClassTotals:
        """Return the sums over all tokens; the vocabulary size is the number of tokens that occur."""
        size = int(np.count_nonzero(np.diff(self.cells.token, prepend=-1)))
        return ClassTotals(self.classes, self.cells.sum_classes(self.documents), size)

    def minus(self, mask: np.ndarray) -> TrainingSet:
        """Subtract the messages in a mask over positions in the sources."""
        return self.split(mask[self.rows.positions])[0]

    def split(self, mask: np.ndarray) -> tuple[TrainingSet, Rows]:
        """Return the training set without the messages of a mask (n,), and these messages."""
        selected = self.rows.take(mask)
        return TrainingSet(self.rows.take(~mask), self.cells.subtract(add_up(selected))), selected

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
        columns = np.flatnonzero(self.document_frequency())
        return columns[np.argsort(self.tokens.hashes[columns])]

    def select_columns(self, columns: np.ndarray) -> TrainingSet:
        """Select these columns, in this order."""
        return TrainingSet(self.rows.select(columns), self.cells.take(columns))

    def nonempty_classes(self) -> TrainingSet:
        """Drop the classes that have no message, or only copies of messages that are counted in other classes."""
        nonempty = np.flatnonzero(self.documents)
        numbers = inverse_index(nonempty, len(self.classes)).astype(np.int16)
        rows = self.rows.with_classes(tuple(self.classes[c] for c in nonempty.tolist()))
        return TrainingSet(rows, self.cells._replace(label=numbers[self.cells.label]))

    def stratified_folds(self, n_folds: int) -> np.ndarray:
        """Return the fold of each message, (n,).

        The messages of each class are assigned to the folds in turn. If the class were ignored, a class that has every
        n-th message would be in one fold only.
        """
        fold = np.empty(len(self.rows), np.int64)
        fold[np.lexsort((self.rows.positions, self.rows.labels))] = np.arange(len(fold)) % n_folds
        return fold
