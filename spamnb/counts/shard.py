"""The messages that one process counted: rows of (token id, occurrences), and what is known of each message.

The rows take about 2.5 kB a message. In a file they serve the leave-one-out estimate, and memory grows with the
vocabulary alone; a cluster's parts hold them in memory, since they are few messages and move between machines.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO, NamedTuple

import numpy as np

from spamnb.counts.class_counts import ClassCounts, SparseRow
from spamnb.reader.rows import CsrRows

UNDATED = -1
MESSAGES_AT_ONCE = 1 << 10  # summed at a time: 12,447 take 0.05 s so, and 0.18 with 16,384 at a time


class Shard(NamedTuple):
    """n messages of one process. Ids in the rows are that process's own; ``columns`` says what they are to all."""

    cells: Path | np.ndarray  # (token id, occurrences) of all rows, int32: a file, or (nnz, 2) in memory
    positions: np.ndarray  # (n,) place of the message in the whole of the mail
    lengths: np.ndarray  # (n,) number of distinct tokens
    labels: np.ndarray  # (n,) index into the training set's classes
    digests: np.ndarray  # (n, 16) bytes
    columns: np.ndarray  # (V of the process,) its ids → the training set's columns, −1 for those left out
    included: np.ndarray  # (n,) False for a message that is not part of the sums: a second copy, say
    dates: np.ndarray  # (n,) when it was received, in seconds since 1970; UNDATED where it does not say

    def with_local_ids(self) -> Shard:
        """The same messages with the process's own ids, without those left out."""
        return self._replace(columns=np.where(self.columns < 0, -1, np.arange(len(self.columns))))


def write_cells(rows: CsrRows, file: BinaryIO) -> None:
    """Append the cells of rows to a shard's file."""
    np.stack([rows.ids, rows.counts], axis=1).astype(np.int32, copy=False).tofile(file)


class ShardReader:
    """The rows of a shard; of a file no more is in memory than is asked for."""

    def __init__(self, shard: Shard) -> None:
        self.shard = shard
        self._ends = np.cumsum(shard.lengths, dtype=np.int64)
        stored = shard.cells
        if isinstance(stored, Path):  # one without a byte cannot be mapped
            stored = np.memmap(stored, np.int32, "r") if stored.stat().st_size else np.zeros(0, np.int32)
        self._cells = stored.reshape(-1, 2)

    def read(self, messages: np.ndarray) -> CsrRows:
        """The rows of these messages (ascending, one or more), over the training set's columns."""
        lengths = self.shard.lengths[messages]
        if messages[-1] - messages[0] + 1 == len(messages):
            cells = self._cells[self._ends[messages[0]] - lengths[0] : self._ends[messages[-1]]]
        else:
            shift = self._ends[messages] - np.cumsum(lengths, dtype=np.int64)
            cells = self._cells[np.repeat(shift, lengths) + np.arange(lengths.sum(dtype=np.int64))]
        columns, counts = np.take(self.shard.columns, cells[:, 0]).astype(np.int64), cells[:, 1].astype(np.int64)
        if len(columns) and columns.min() < 0:
            known = columns >= 0
            lengths = np.bincount(np.repeat(np.arange(len(messages)), lengths)[known], minlength=len(messages))
            columns, counts = columns[known], counts[known]
        return CsrRows(np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)]), columns, counts)


def count_shards(shards: Sequence[Shard], classes: tuple[str, ...], vocabulary_size: int) -> ClassCounts:
    """The sums over the included messages of the shards."""
    readers = [ShardReader(shard) for shard in shards]
    one = np.ones((), np.int64)
    label_of = [np.where(shard.included, shard.labels, len(classes)) for shard in shards]

    def parts(label: int) -> Iterator[SparseRow]:
        for reader, labels in zip(readers, label_of):
            messages = np.flatnonzero(labels == label)
            for first in range(0, len(messages), MESSAGES_AT_ONCE):
                rows = reader.read(messages[first : first + MESSAGES_AT_ONCE])
                yield SparseRow(rows.ids, one, rows.counts)

    documents = np.bincount(np.concatenate([np.zeros(0, np.intp), *label_of]), minlength=len(classes) + 1)[:-1]
    rows = tuple(SparseRow.sum(parts(label), vocabulary_size) for label in range(len(classes)))
    return ClassCounts(classes, documents, vocabulary_size, rows)
