"""All counted messages as one table: rows of (token, occurrences), and the facts of each message.

A cell takes 6 bytes, and a message of mail as it is some 1.5 kB. The cells of much mail lie in temporary files that are
mapped into memory, so that the system may take their pages back.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from tempfile import TemporaryFile
from typing import Any, NamedTuple

import numpy as np

from spamnb.counts.class_counts import ClassCounts, SparseRow
from spamnb.reader.rows import CsrRows

UNDATED = -1  # the date of a message that has none
MAX_IN_MEMORY = 1 << 25  # numbers of an array: the cells of some 150,000 messages
MESSAGES_AT_ONCE = 1 << 10  # read at a time: their cells fit the processor's cache


def room_for(shape: int | tuple[int, ...], dtype: Any) -> np.ndarray:
    """Return an array to fill: in memory, or if it is large in a temporary file, which is deleted with it."""
    numbers = int(np.prod(shape))
    if numbers <= MAX_IN_MEMORY:
        return np.empty(shape, dtype)
    with TemporaryFile() as file:
        if hasattr(os, "posix_fallocate"):  # an error now; writing into a mapped file on a full disk ends the process
            os.posix_fallocate(file.fileno(), 0, numbers * np.dtype(dtype).itemsize)
        return np.asarray(np.memmap(file, dtype, shape=shape))


def taken(numbers: np.ndarray, begins: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """Return ``numbers[begin:end]`` of one or more pairs, one behind the other; neighbours are read in one go.

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
    ids: np.ndarray  # (nnz,) int32, the training set's column of each token
    counts: np.ndarray  # (nnz,) occurrences of the token in the message
    positions: np.ndarray  # (n,) place of the message in the whole of the mail
    labels: np.ndarray  # (n,) index into the training set's classes
    digests: np.ndarray  # (n, 16) bytes
    dates: np.ndarray  # (n,) when it was received, in seconds since 1970; UNDATED where it does not say
    included: np.ndarray  # (n,) False for a message that is not part of the sums: a second copy, say

    def rows(self, numbers: np.ndarray) -> CsrRows:
        """Return the rows of these messages (ascending, one or more)."""
        begins, ends = self.indptr[numbers], self.indptr[numbers + 1]
        counts = taken(self.counts, begins, ends).astype(np.int64)
        return CsrRows(np.append(0, np.cumsum(ends - begins)), taken(self.ids, begins, ends), counts)

    def blocks(self, numbers: np.ndarray) -> Iterator[CsrRows]:
        """Yield the rows of these messages (ascending), some messages at a time."""
        for first in range(0, len(numbers), MESSAGES_AT_ONCE):
            yield self.rows(numbers[first : first + MESSAGES_AT_ONCE])

    def reindex(self, columns: np.ndarray) -> Messages:
        """Go over to other columns: column j becomes ``columns[j]``, and is dropped where that is −1."""

        def parts() -> Iterator[CsrRows]:
            for rows in self.blocks(np.arange(len(self.positions))):
                moved = rows._replace(ids=columns[rows.ids])
                yield moved.only(moved.ids >= 0)

        lengths = np.concatenate([np.zeros(0, np.int64), *(np.diff(part.indptr) for part in parts())])
        indptr = np.append(0, np.cumsum(lengths))
        ids, counts = room_for(indptr[-1], np.int32), room_for(indptr[-1], self.counts.dtype)
        filled = 0
        for part in parts():
            place = slice(filled, filled := filled + len(part.ids))
            ids[place], counts[place] = part.ids, part.counts
        return self._replace(indptr=indptr, ids=ids, counts=counts)

    def class_counts(self, classes: tuple[str, ...], vocabulary_size: int) -> ClassCounts:
        """Add up the included messages by class."""
        of_class = [np.flatnonzero(self.included & (self.labels == label)) for label in range(len(classes))]
        once = np.ones((), np.int32)
        sums = tuple(
            SparseRow.sum((SparseRow(rows.ids, once, rows.counts) for rows in self.blocks(numbers)), vocabulary_size)
            for numbers in of_class
        )
        return ClassCounts(classes, np.array([*map(len, of_class)], np.int64), vocabulary_size, sums)

    def last_copies(self) -> np.ndarray:
        """Return which messages, (n,), have no copy further on in the mail."""
        last = np.ones(len(self.positions), bool)
        last[:-1] = (self.digests[1:] != self.digests[:-1]).any(axis=1)
        return last
