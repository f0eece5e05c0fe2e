"""The counted messages as one table: a row of (token, occurrences) cells for each message, and its label and date.

A cell takes 6 bytes, and a message about 1.5 kB. A large array is in a temporary file that is mapped into memory, so
that the system can take its pages back.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from tempfile import TemporaryFile
from typing import Any, NamedTuple

import numpy as np

from spamnb.counts.class_counts import ClassCounts, SparseRow
from spamnb.reader.rows import CsrRows

UNDATED = -1  # the date of a message without one
MAX_ITEMS_IN_MEMORY = 1 << 25  # a larger array is in a file: the cells of some 150,000 messages
MESSAGES_AT_ONCE = 1 << 10  # in a block of rows: their cells fit the processor's cache


def allocate_array(shape: int | tuple[int, ...], dtype: Any) -> np.ndarray:
    """Return an array that is not initialised: in memory, or in a temporary file if it is large."""
    size = int(np.prod(shape))
    if size <= MAX_ITEMS_IN_MEMORY:
        return np.empty(shape, dtype)
    with TemporaryFile() as file:
        # On a full disk this raises OSError, while writing to the map would end the process.
        if hasattr(os, "posix_fallocate"):
            os.posix_fallocate(file.fileno(), 0, size * np.dtype(dtype).itemsize)
        return np.asarray(np.memmap(file, dtype, shape=shape))


def join_slices(values: np.ndarray, begins: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """Concatenate ``values[begin:end]`` of one or more pairs; adjacent slices are copied together.

    >>> join_slices(np.arange(10), np.array([7, 1, 3]), np.array([9, 3, 4]))
    array([7, 8, 1, 2, 3])
    """
    gaps = np.flatnonzero(begins[1:] != ends[:-1])
    bounds = zip(begins[np.append(0, gaps + 1)].tolist(), ends[np.append(gaps, -1)].tolist())
    parts = [values[begin:end] for begin, end in bounds]
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


class Messages(NamedTuple):
    """n messages, ascending by digest: the order does not depend on the thread or machine that counted a message.

    Copies, which have the same digest, are in the order of the sources.
    """

    indptr: np.ndarray  # (n + 1,) where the rows begin and end
    ids: np.ndarray  # (nnz,) int32, the column of each token
    counts: np.ndarray  # (nnz,) occurrences of the token in the message
    positions: np.ndarray  # (n,) in the sources
    labels: np.ndarray  # (n,) class numbers
    digests: np.ndarray  # (n, 16) bytes
    dates: np.ndarray  # (n,) time of arrival in seconds since 1970, or UNDATED
    included: np.ndarray  # (n,) False for a message that the counts do not include, such as a copy

    def rows(self, numbers: np.ndarray) -> CsrRows:
        """Return the rows of the messages with these ``numbers``, which must ascend and not be empty."""
        begins, ends = self.indptr[numbers], self.indptr[numbers + 1]
        counts = join_slices(self.counts, begins, ends).astype(np.int64)
        return CsrRows(np.append(0, np.cumsum(ends - begins)), join_slices(self.ids, begins, ends), counts)

    def blocks(self, numbers: np.ndarray) -> Iterator[CsrRows]:
        """Yield blocks of rows of the messages with these ``numbers``, which must ascend."""
        for first in range(0, len(numbers), MESSAGES_AT_ONCE):
            yield self.rows(numbers[first : first + MESSAGES_AT_ONCE])

    def reindex(self, columns: np.ndarray) -> Messages:
        """Rename each column j to ``columns[j]``; −1 drops the column."""

        def parts() -> Iterator[CsrRows]:
            for rows in self.blocks(np.arange(len(self.positions))):
                moved = rows._replace(ids=columns[rows.ids])
                yield moved.only(moved.ids >= 0)

        lengths = np.concatenate([np.zeros(0, np.int64), *(np.diff(part.indptr) for part in parts())])
        indptr = np.append(0, np.cumsum(lengths))
        ids, counts = allocate_array(indptr[-1], np.int32), allocate_array(indptr[-1], self.counts.dtype)
        end = 0
        for part in parts():
            cells = slice(end, end := end + len(part.ids))
            ids[cells], counts[cells] = part.ids, part.counts
        return self._replace(indptr=indptr, ids=ids, counts=counts)

    def class_counts(self, classes: tuple[str, ...], n_columns: int) -> ClassCounts:
        """Add up the included messages by class."""
        members = [np.flatnonzero(self.included & (self.labels == label)) for label in range(len(classes))]
        one_document = np.ones((), np.int32)
        sums = tuple(
            SparseRow.sum((SparseRow(rows.ids, one_document, rows.counts) for rows in self.blocks(numbers)), n_columns)
            for numbers in members
        )
        return ClassCounts(classes, np.array([*map(len, members)], np.int64), n_columns, sums)

    def last_copies(self) -> np.ndarray:
        """Return a mask (n,) of the messages without a later copy."""
        is_last = np.ones(len(self.positions), bool)
        is_last[:-1] = (self.digests[1:] != self.digests[:-1]).any(axis=1)
        return is_last
