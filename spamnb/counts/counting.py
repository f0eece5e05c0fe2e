"""Messages are read and counted in parts, by several threads or machines; the parts make one training set."""

from __future__ import annotations

import ctypes
import errno
from collections.abc import Iterable
from threading import Lock
from typing import NamedTuple

import numpy as np

from spamnb.counts.class_counts import inverse_index
from spamnb.counts.messages import MAX_IN_MEMORY, UNDATED, Messages, room_for, taken
from spamnb.counts.training_set import TrainingSet
from spamnb.errors import reason
from spamnb.reader.message import Reader, parse_date
from spamnb.reader.options import TokenOptions
from spamnb.reader.rows import ReadRows
from spamnb.reader.tokens import TokenArray, Vocabulary
from spamnb.sources.entries import Entry, NumberedMessage, work_in_batches

MAX_READ = 1 << 22  # bytes of mail in memory at a time, in each thread
SORTED_AT_ONCE = 1 << 12  # messages whose cells are sorted at a time: some 20 MB
COUNTED_AT_ONCE = 1 << 18  # cells that are counted at a time: 2 MB, which fit the processor's cache
MAX_TOKENS = 1 << 18  # of a thread's own vocabulary: some 30 MB
_libc = ctypes.CDLL(None)
_MISSING = (errno.ENOENT, errno.ENOTDIR, errno.ESTALE)


class Unread(NamedTuple):
    """A message that could not be read."""

    name: str
    path: str
    why: str
    missing: bool  # there was no such file


class Counted(NamedTuple):
    """The rows of some messages, and what a training set remembers of each."""

    lengths: np.ndarray  # (n,) number of distinct tokens
    ids: np.ndarray  # (nnz,) int32, of the shared vocabulary
    counts: np.ndarray  # (nnz,) occurrences of the token in the message, uint16 where that holds them
    positions: np.ndarray  # (n,) places among the messages that were to be counted
    labels: np.ndarray  # (n,) names of their classes
    digests: np.ndarray  # (n, 16) bytes
    dates: np.ndarray  # (n,) when it was received; UNDATED where it does not say
    unread: tuple[Unread, ...] = ()

    @staticmethod
    def joined(parts: list[Counted]) -> Counted:
        """Join the messages of all parts."""
        number, name, digest = np.zeros(0, np.int64), np.zeros(0, np.str_), np.zeros((0, 16), np.uint8)
        none = Counted(number, number.astype(np.int32), number.astype(np.uint16), number, name, digest, number)
        columns = zip(*(part[:-1] for part in (none, *parts)))
        return Counted._make([*map(_concatenated, columns), ()])


class SharedVocabulary:
    """The tokens of all messages and their ids, for several threads."""

    def __init__(self) -> None:
        self._vocabulary, self._lock = Vocabulary(), Lock()

    def ids(self, tokens: TokenArray) -> np.ndarray:
        """Return the id of each of the k ``tokens``, (k,) int32; a token without one gets the next."""
        with self._lock:
            return self._vocabulary.ids(tokens)

    def take_all(self) -> Vocabulary:
        """Return all tokens when no thread adds any more; none are left."""
        vocabulary, self._vocabulary = self._vocabulary, Vocabulary()
        return vocabulary


class Counter:
    """Counts messages into the shared ``vocabulary``, for one thread at a time.

    The core looks tokens up in a vocabulary of the thread's own, so that threads do not wait for one another. Python
    reads the files: the core is no faster at it, and what a file is in which a mailbox keeps a message (gzip, part of
    an mbox, Outlook's) is known here.
    """

    def __init__(self, options: TokenOptions, vocabulary: SharedVocabulary) -> None:
        self._reader, self._shared = Reader(options), vocabulary
        self._own, self._shared_ids = Vocabulary(), np.zeros(0, np.int32)

    def count(self, entries: Iterable[Entry]) -> Counted:
        """Read and count labelled messages."""
        if len(self._own) > MAX_TOKENS:
            self._own, self._shared_ids = Vocabulary(), self._shared_ids[:0]
        read: list[NumberedMessage] = []
        unread: list[Unread] = []
        dates: list[int] = []
        parts = [self._reader.read([], self._own)]

        def leave_out(name: str, error: Exception) -> None:
            missing = isinstance(error, OSError) and error.errno in _MISSING
            unread.append(Unread(name, str(getattr(error, "filename", "")), reason(error), missing))

        def read_batch(batch: list[NumberedMessage]) -> tuple[ReadRows, list[int]]:
            rows = self._reader.read([each.raw for each in batch], self._own)
            received = [parse_date(date.decode()) for date in rows.dates.tolist()]
            return rows, [UNDATED if each is None else each for each in received]

        for batch, (rows, received) in work_in_batches(entries, read_batch, leave_out, MAX_READ, MAX_READ):
            parts.append(rows)
            dates += received
            read += [each._replace(raw=b"") for each in batch]
        new = TokenArray.of_packed(*self._own.texts(np.arange(len(self._shared_ids), len(self._own), dtype=np.uint32)))
        self._shared_ids = np.append(self._shared_ids, self._shared.ids(new))
        return Counted(
            np.concatenate([np.diff(read.rows.indptr) for read in parts]),
            self._shared_ids[np.concatenate([read.rows.ids for read in parts])],
            np.concatenate([_narrow(read.rows.counts) for read in parts]),
            np.array([each.number for each in read], np.int64),
            np.array([str(each.entry.label) for each in read], np.str_),
            np.frombuffer(b"".join([read.digests for read in parts]), np.uint8).reshape(-1, 16),
            np.array(dates, np.int64),
            tuple(unread),
        )


def _narrow(counts: np.ndarray) -> np.ndarray:
    return counts.astype(np.uint16 if counts.max(initial=0) < 1 << 16 else np.uint32)


def give_memory_back() -> None:
    """Give the system what other objects left of the pages that threads share. Only glibc keeps it."""
    if hasattr(_libc, "malloc_trim"):
        _libc.malloc_trim(0)


def _concatenated(arrays: tuple[np.ndarray, ...]) -> np.ndarray:
    out = room_for((sum(map(len, arrays)), *arrays[0].shape[1:]), np.result_type(*arrays))
    return np.concatenate(arrays, out=out)


class Collection:
    """Collects counted messages, and makes a training set of all."""

    def __init__(self) -> None:
        self.vocabulary = SharedVocabulary()
        self._parts: list[Counted] = []  # in memory
        self._runs: list[Counted] = []  # whose cells are in files
        self._n_cells = 0  # in memory

    def add(self, counted: Counted) -> None:
        """Add messages behind the others."""
        self._parts.append(counted)
        self._n_cells += len(counted.ids)
        if self._n_cells > MAX_IN_MEMORY:
            self._runs.append(Counted.joined(self._parts))
            self._parts, self._n_cells = [], 0

    def _renumbered(self, ids: np.ndarray) -> tuple[TokenArray, np.ndarray]:
        """Return all tokens, the commonest first and else ascending by hash, and the new number of each old one.

        In this order columns are the same whichever thread counted a message."""
        vocabulary = self.vocabulary.take_all()
        frequency = np.zeros(len(vocabulary), np.int32)
        for first in range(0, len(ids), COUNTED_AT_ONCE):
            np.add.at(frequency, ids[first : first + COUNTED_AT_ONCE].astype(np.intp), np.int32(1))
        hashes, groups = vocabulary.describe(np.arange(len(frequency), dtype=np.uint32))
        order = np.argsort(hashes)
        order = order[np.argsort(-frequency[order], kind="stable")]
        order = order[: np.count_nonzero(frequency)]  # without what only messages hold that could not be read
        text, lengths = vocabulary.texts(order.astype(np.uint32))
        n_tokens = len(vocabulary)
        del vocabulary  # with the many copies of a training's end there is no room for both
        give_memory_back()
        offsets = np.cumsum(lengths, dtype=np.int64) - lengths
        return TokenArray(text, offsets, lengths, hashes[order], groups[order]), inverse_index(order, n_tokens)

    def training_set(self) -> TrainingSet:
        """Return the training set of all messages; the collection is empty afterwards."""
        every = Counted.joined([*self._runs, *self._parts])
        self._runs, self._parts = [], []
        tokens, number = self._renumbered(every.ids)
        order = np.lexsort((every.positions, *every.digests.view(">u8").T[::-1]))
        ends, indptr = np.cumsum(every.lengths), np.append(0, np.cumsum(every.lengths[order]))
        ids, counts = room_for(len(every.ids), np.int32), room_for(len(every.ids), every.counts.dtype)
        for first in range(0, len(order), SORTED_AT_ONCE):
            some = order[first : first + SORTED_AT_ONCE]
            bounds = (ends - every.lengths)[some], ends[some]
            place = slice(indptr[first], indptr[first + len(some)])
            ids[place] = number[taken(every.ids, *bounds)]
            counts[place] = taken(every.counts, *bounds)
        classes, labels = np.unique(every.labels, return_inverse=True)
        messages = Messages(
            indptr,
            ids,
            counts,
            every.positions[order],
            labels[order],
            every.digests[order],
            every.dates[order],
            np.ones(len(order), bool),
        )
        del every, number
        training_set = TrainingSet(tokens, messages.class_counts(tuple(classes.tolist()), len(tokens)), messages)
        columns = training_set.by_hash()
        same = np.diff(tokens.hashes[columns]) == 0  # a model keeps one of two tokens with the same hash
        return training_set.select_columns(np.delete(columns, np.flatnonzero(same) + 1)) if same.any() else training_set
