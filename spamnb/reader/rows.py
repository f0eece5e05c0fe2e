"""``Rows``: messages as sparse rows of token counts, with their digests, dates, senders, labels and truncations.

A cell takes 6 bytes, and a message about 1.5 kB. A large array is in a temporary file that is mapped into memory, so
that the system can take its pages back.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from tempfile import TemporaryFile
from typing import Any

import numpy as np

from spamnb.reader.evidence import GROUPS
from spamnb.reader.tokens import TokenArray, Vocabulary

UNDATED = -1  # the date of a message without one
NO_SENDER = 0
UNLABELLED = -1
HEADERS = GROUPS.index("headers")
MAX_ITEMS_IN_MEMORY = 1 << 25  # a larger array is in a file: the cells of some 70,000 messages
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
    """Concatenate ``values[begin:end]`` of each pair; adjacent slices are copied together.

    >>> join_slices(np.arange(10), np.array([7, 1, 3]), np.array([9, 3, 4]))
    array([7, 8, 1, 2, 3])
    """
    if not len(begins):
        return values[:0]
    gaps = np.flatnonzero(begins[1:] != ends[:-1])
    bounds = zip(begins[np.append(0, gaps + 1)].tolist(), ends[np.append(gaps, -1)].tolist())
    parts = [values[begin:end] for begin, end in bounds]
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


COLUMNS = "digests", "dates", "senders", "truncations", "labels", "positions"  # of ``Rows``: facts of each message


@dataclass(frozen=True, eq=False)
class Rows:
    """n messages over a list of tokens. Message i has the cells from ``begins[i]`` to before ``ends[i]``.

    Some of the messages (``take``) share the cells of all. In packed rows the cells follow one another from the first
    on. What was not read of the messages has the values of ``of_cells``.

    >>> rows = Rows.of([{"a": 2, "b": 1}, {"b": 3}])
    >>> list(rows.tokens), rows.indptr.tolist(), rows.ids.tolist(), rows.counts.tolist()
    (['a', 'b'], [0, 2, 3], [0, 1, 1], [2, 1, 3])
    >>> second = rows.take(slice(1, 2)).compact()
    >>> len(second), list(second.tokens), second.ids.tolist(), second.labels.tolist()
    (1, ['b'], [0], [-1])
    """

    tokens: Any  # the list that ``ids`` number: a TokenArray, or a vocabulary while messages are read
    begins: np.ndarray  # (n,)
    ends: np.ndarray  # (n,)
    plain_ends: np.ndarray  # (n,) from here on are the doubtful cells, of tokens that only text that may be hidden has
    ids: np.ndarray  # (nnz,) int32, the token of each cell; the tokens of a message are distinct
    counts: np.ndarray  # (nnz,) occurrences of the token in the message
    digests: np.ndarray  # (n, 16) bytes that identify a message, however it is stored
    dates: np.ndarray  # (n,) time of arrival in seconds since 1970, or UNDATED
    senders: np.ndarray  # (n,) hash of the mailing list, or else of the sender's domain; or NO_SENDER
    truncations: np.ndarray  # (n,) the parts that were not read, as bits in the order of ``evidence.TRUNCATIONS``
    labels: np.ndarray  # (n,) numbers of ``classes``, or UNLABELLED
    positions: np.ndarray  # (n,) in the sources
    classes: tuple[str, ...] = ()

    @classmethod
    def of_cells(cls, tokens: Any, lengths: np.ndarray, ids: np.ndarray, counts: np.ndarray, **columns: Any) -> Rows:
        """Return packed rows with ``lengths`` (n,). The other columns are those given, or else empty."""
        n, ends = len(lengths), np.cumsum(lengths, dtype=np.int64)
        defaults: dict[str, Any] = {
            "plain_ends": ends,
            "digests": np.zeros((n, 16), np.uint8),
            "dates": np.full(n, UNDATED),
            "senders": np.full(n, NO_SENDER, np.int64),
            "truncations": np.zeros(n, np.uint32),
            "labels": np.full(n, UNLABELLED),
            "positions": np.arange(n),
        }
        return cls(tokens, ends - lengths, ends, ids=ids, counts=counts, **(defaults | columns))

    @property
    def digest(self) -> bytes:
        """The 16 bytes that identify the only message, however it is stored."""
        return self.digests[0].tobytes()

    @property
    def are_mail(self) -> bool:
        """Whether most of the messages have a header field. Other messages are texts."""
        rows = self.packed()
        message = np.repeat(np.arange(len(rows)), np.diff(rows.indptr))
        has_field = np.bincount(message[rows.tokens.groups[rows.ids] == HEADERS], minlength=len(rows)) > 0
        return bool(2 * has_field.sum() > len(rows))

    @classmethod
    def of(cls, messages: Sequence[Mapping[str, int]], **columns: Any) -> Rows:
        """Return messages ({token: occurrences}) as rows over their distinct tokens."""
        id_of: dict[str, int] = {}
        ids = [id_of.setdefault(token, len(id_of)) for message in messages for token in message]
        counts = np.array([count for message in messages for count in message.values()], np.int64)
        lengths = np.array([len(message) for message in messages], np.int64)
        return cls.of_cells(TokenArray.of(id_of), lengths, np.array(ids, np.int32), counts, **columns)

    @staticmethod
    def join(parts: Sequence[Rows]) -> Rows:
        """Join one or more parts, which have the same list of tokens."""
        classes = tuple(sorted({name for part in parts for name in part.classes}))
        parts = [part.packed().with_classes(classes) for part in parts]
        lengths = np.concatenate([part.lengths for part in parts])
        n_doubtful = np.concatenate([part.ends - part.plain_ends for part in parts])
        plain_ends = np.cumsum(lengths, dtype=np.int64) - n_doubtful
        names = "ids", "counts", *COLUMNS
        columns = {name: np.concatenate([getattr(part, name) for part in parts]) for name in names}
        return Rows.of_cells(parts[0].tokens, lengths, plain_ends=plain_ends, **columns, classes=classes)

    @staticmethod
    def merge(parts: Sequence[Rows], vocabulary: Vocabulary) -> Rows:
        """Join one or more compact parts, which have their own lists of tokens, into compact rows."""
        if len(parts) == 1:
            return parts[0]
        return Rows.join(
            [replace(each, tokens=vocabulary, ids=vocabulary.ids(each.tokens)) for each in parts]
        ).compact()

    def __len__(self) -> int:
        return len(self.begins)

    def __sizeof__(self) -> int:
        """Return the bytes in memory, including the arrays: Dask measures a worker's memory by this."""
        arrays = (value for value in vars(self).values() if isinstance(value, np.ndarray))
        return object.__sizeof__(self) + sys.getsizeof(self.tokens) + sum(values.nbytes for values in arrays)

    @property
    def lengths(self) -> np.ndarray:
        """The number of distinct tokens of each message, (n,)."""
        return self.ends - self.begins

    @property
    def indptr(self) -> np.ndarray:
        """Where the cells of each message of packed rows begin, and where the last one ends, (n + 1,)."""
        indptr = np.zeros(len(self) + 1, np.int64)
        indptr[1:] = self.ends
        return indptr

    @property
    def cells(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray | None]:
        """``indptr``, ``ids``, ``counts`` and ``doubt`` of packed rows, in the types of the core."""
        ids, counts = self.ids.astype(np.int32, copy=False), self.counts.astype(np.int64, copy=False)
        return self.indptr, ids, counts, self.doubt if self.has_doubt else None

    @property
    def has_doubt(self) -> bool:
        """Whether a cell is doubtful."""
        return bool((self.plain_ends < self.ends).any())

    @property
    def doubt(self) -> np.ndarray:
        """Whether each cell (nnz,) of packed rows is doubtful."""
        return np.arange(len(self.ids)) >= np.repeat(self.plain_ends, self.lengths)

    def plain(self) -> Rows:
        """Return the messages without their doubtful cells."""
        return replace(self, ends=self.plain_ends)

    def take(self, selection: Any) -> Rows:
        """Return the messages of a mask (n,), a slice or an array of numbers. The cells are shared."""
        names = "begins", "ends", "plain_ends", *COLUMNS
        return replace(self, **{name: getattr(self, name)[selection] for name in names})

    def packed(self) -> Rows:
        """Return the same messages with cells that follow one another from the first on."""
        begins, ends = self.begins, self.ends
        is_whole = begins[:1].sum() == 0 and ends[-1:].sum() == len(self.ids)
        if is_whole and (begins[1:] == ends[:-1]).all():
            return self
        after = np.cumsum(ends - begins)
        ids, counts = (join_slices(values, begins, ends) for values in (self.ids, self.counts))
        plain_ends = after - (ends - self.plain_ends)
        return replace(self, begins=after - (ends - begins), ends=after, plain_ends=plain_ends, ids=ids, counts=counts)

    def batches(self, size: int = 256) -> Iterator[Rows]:
        """Yield packed rows of ``size`` messages each; the counts of 256 messages fit the processor's cache."""
        return (self.take(slice(first, first + size)).packed() for first in range(0, len(self), size))

    def compact(self) -> Rows:
        """Return packed rows over the tokens that occur, ascending by id."""
        rows = self.packed()
        size = int(rows.ids.max(initial=-1)) + 1
        if size > 16 * len(rows.ids):  # if few messages have ids of a large vocabulary, sorting the ids is faster
            distinct, ids = np.unique(rows.ids, return_inverse=True)
        else:
            occurs = np.zeros(size, bool)
            occurs[rows.ids] = True
            distinct, ids = np.flatnonzero(occurs), (np.cumsum(occurs) - 1)[rows.ids]
        return replace(rows, tokens=self.tokens.take(distinct), ids=ids.astype(np.int32, copy=False))

    def only(self, mask: np.ndarray) -> Rows:
        """Return the cells where ``mask`` (nnz,) is true."""
        if mask.all():
            return self
        positions = np.append(0, np.cumsum(mask))
        bounds = {name: positions[getattr(self, name)] for name in ("begins", "ends", "plain_ends")}
        return replace(self, **bounds, ids=self.ids[mask], counts=self.counts[mask])

    def select(self, selected: np.ndarray) -> Rows:
        """Return packed rows over the tokens with the ids ``selected`` (k,), in this order, without doubtful cells."""
        new_ids = np.full(len(self.tokens), -1, np.int32)
        new_ids[selected] = np.arange(len(selected), dtype=np.int32)

        def blocks() -> Iterator[Rows]:
            for block in self.plain().batches(MESSAGES_AT_ONCE):
                moved = replace(block, ids=new_ids[block.ids])
                yield moved.only(moved.ids >= 0)

        lengths = np.concatenate([np.zeros(0, np.int64), *(block.lengths for block in blocks())])
        ends = np.cumsum(lengths)
        n_cells = int(lengths.sum())
        ids, counts = allocate_array(n_cells, np.int32), allocate_array(n_cells, self.counts.dtype)
        first = 0
        for block in blocks():
            cells = slice(first, first := first + len(block.ids))
            ids[cells], counts[cells] = block.ids, block.counts
        bounds = {"begins": ends - lengths, "ends": ends, "plain_ends": ends}
        return replace(self, tokens=self.tokens.take(selected), **bounds, ids=ids, counts=counts)

    def matrix(self) -> Any:
        """Return a scipy CSR array (n, V) of occurrences."""
        from scipy.sparse import csr_array

        rows = self.packed()
        counts = rows.counts.astype(np.int64, copy=False)
        return csr_array((counts, rows.ids, rows.indptr), shape=(len(rows), len(self.tokens)))

    def with_classes(self, classes: tuple[str, ...]) -> Rows:
        """Return the messages with labels that number these ``classes``, which include those of all messages."""
        numbers = [classes.index(name) if name in classes else UNLABELLED for name in self.classes]
        return replace(self, labels=np.array([*numbers, UNLABELLED])[self.labels], classes=classes)
