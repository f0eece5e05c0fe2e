"""All counted messages as one table: rows of (token, occurrences), and what is known of each message.

A cell takes 6 bytes, and a message of mail as it is some 1.5 kB. Up to MAX_IN_MEMORY all rows lie in memory, since
training goes through them half a dozen times; those of more mail lie in files of which some are read at a time, so that
memory grows with the vocabulary alone.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from tempfile import TemporaryFile
from typing import Any, NamedTuple
from weakref import finalize

import numpy as np

from spamnb.counts.class_counts import ClassCounts, SparseRow
from spamnb.reader.rows import CsrRows

UNDATED = -1
MAX_IN_MEMORY = 1 << 28  # bytes of cells: those of some 150,000 messages
MESSAGES_AT_ONCE = 1 << 10  # read at a time: their cells fit the processor's cache


class FileNumbers:
    """Numbers in a temporary file, which is gone with this object; slices of them are read and written."""

    def __init__(self, dtype: Any) -> None:
        self.dtype = np.dtype(dtype)
        file = TemporaryFile()  # noqa: SIM115 (closed with this object)
        finalize(self, file.close)
        self._descriptor = file.fileno()

    def __getitem__(self, part: slice) -> np.ndarray:
        size = self.dtype.itemsize
        return np.frombuffer(os.pread(self._descriptor, (part.stop - part.start) * size, part.start * size), self.dtype)

    def __setitem__(self, part: slice, values: np.ndarray) -> None:
        content, at = np.ascontiguousarray(values, self.dtype).view(np.uint8).data, part.start * self.dtype.itemsize
        while content:
            written = os.pwrite(self._descriptor, content, at)
            content, at = content[written:], at + written


Numbers = np.ndarray | FileNumbers


def taken(numbers: Numbers, begins: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """``numbers[begin:end]`` of each of one or more pairs, one behind the other; neighbours are read in one go.

    >>> taken(np.arange(10), np.array([7, 1, 3]), np.array([9, 3, 4]))
    array([7, 8, 1, 2, 3])
    """
    apart = np.flatnonzero(begins[1:] != ends[:-1])
    bounds = zip(begins[np.append(0, apart + 1)].tolist(), ends[np.append(apart, -1)].tolist())
    parts = [numbers[begin:end] for begin, end in bounds]
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


class Messages(NamedTuple):
    """n messages ascending by digest, copies in the order of the mail: in an order by chance, and the same whoever
    counted which message."""

    indptr: np.ndarray  # (n + 1,) where the rows begin and end
    ids: Numbers  # (nnz,) int32, what numbers tokens in the rows
    counts: Numbers  # (nnz,) occurrences of the token in the message
    columns: np.ndarray | None  # int32, the training set's column of each id, −1 for those left out; None: the id
    positions: np.ndarray  # (n,) place of the message in the whole of the mail
    labels: np.ndarray  # (n,) index into the training set's classes
    digests: np.ndarray  # (n, 16) bytes
    dates: np.ndarray  # (n,) when it was received, in seconds since 1970; UNDATED where it does not say
    included: np.ndarray  # (n,) False for a message that is not part of the sums: a second copy, say

    @property
    def in_memory(self) -> bool:
        """Whether the rows lie in memory."""
        return isinstance(self.ids, np.ndarray)

    @property
    def lengths(self) -> np.ndarray:
        """The number of distinct tokens of each message, (n,), those left out among them."""
        return np.diff(self.indptr)

    def rows(self, numbers: np.ndarray) -> CsrRows:
        """The rows of these messages (ascending, one or more), over the training set's columns."""
        begins, ends = self.indptr[numbers], self.indptr[numbers + 1]
        indptr = np.append(0, np.cumsum(ends - begins))
        ids, counts = taken(self.ids, begins, ends), taken(self.counts, begins, ends).astype(np.int64)
        if self.columns is None:
            return CsrRows(indptr, ids, counts)
        columns = self.columns[ids]
        return CsrRows(indptr, columns, counts).only(columns >= 0)

    def blocks(self, numbers: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """The columns of these messages (ascending), from columns[begins[i]] to columns[ends[i]] of the i-th, as
        (begins, ends, columns): all that lie in memory as they are, else some messages at a time."""
        if self.columns is None and isinstance(self.ids, np.ndarray):
            yield self.indptr[numbers], self.indptr[numbers + 1], self.ids
            return
        for first in range(0, len(numbers), MESSAGES_AT_ONCE):
            rows = self.rows(numbers[first : first + MESSAGES_AT_ONCE])
            yield rows.indptr[:-1], rows.indptr[1:], rows.ids

    def class_counts(self, classes: tuple[str, ...], vocabulary_size: int) -> ClassCounts:
        """The sums over the included messages."""

        def parts(numbers: np.ndarray) -> Iterator[SparseRow]:
            for first in range(0, len(numbers), MESSAGES_AT_ONCE):
                rows = self.rows(numbers[first : first + MESSAGES_AT_ONCE])
                yield SparseRow(rows.ids, np.ones((), np.int32), rows.counts)

        of_class = [np.flatnonzero(self.included & (self.labels == label)) for label in range(len(classes))]
        sums = tuple(SparseRow.sum(parts(numbers), vocabulary_size) for numbers in of_class)
        return ClassCounts(classes, np.array([*map(len, of_class)], np.int64), vocabulary_size, sums)

    def first_copies(self) -> np.ndarray:
        """Where each message begins whose copies stand together, (k,)."""
        new = (self.digests[1:] != self.digests[:-1]).any(axis=1)
        return np.flatnonzero(np.append(np.ones(min(len(self.digests), 1), bool), new))

    def last_copies(self) -> np.ndarray:
        """Which messages, (n,), have no copy further on in the mail."""
        last = np.zeros(len(self.positions), bool)
        last[self.first_copies() - 1] = True  # −1 is the last of all
        return last
