"""Counting: read messages and count their tokens in parts, by threads or machines, and join the parts."""

from __future__ import annotations

import ctypes
import errno
from collections.abc import Iterable
from threading import Lock
from typing import NamedTuple

import numpy as np

from spamnb.counts.class_counts import inverse_index
from spamnb.counts.messages import MAX_ITEMS_IN_MEMORY, UNDATED, Messages, allocate_array, join_slices
from spamnb.counts.training_set import TrainingSet
from spamnb.errors import reason
from spamnb.reader.message import Reader, parse_date
from spamnb.reader.rows import ReadRows
from spamnb.reader.tokens import TokenArray, Vocabulary
from spamnb.settings import Settings
from spamnb.sources.entries import Entry, NumberedMessage, work_in_batches

MAX_READ = 1 << 22  # bytes of mail that each thread holds in memory
SORTED_AT_ONCE = 1 << 12  # messages whose cells are sorted at a time: some 20 MB
COUNTED_AT_ONCE = 1 << 18  # cells that are counted at a time: 2 MB, which fit the processor's cache
MAX_TOKENS = 1 << 18  # tokens in the vocabulary of a thread: some 30 MB
_libc = ctypes.CDLL(None)
_MISSING = (errno.ENOENT, errno.ENOTDIR, errno.ESTALE)


class Unread(NamedTuple):
    """A message that could not be read."""

    name: str
    path: str
    why: str
    is_missing: bool  # whether the file does not exist


class CountedMessages(NamedTuple):
    """The rows of n messages, and their labels, digests and dates."""

    lengths: np.ndarray  # (n,) number of distinct tokens
    ids: np.ndarray  # (nnz,) int32, of the shared vocabulary
    counts: np.ndarray  # (nnz,) occurrences of the token in the message, uint16 if they fit
    positions: np.ndarray  # (n,) among all messages of the part, also the unreadable ones
    labels: np.ndarray  # (n,) names of classes
    digests: np.ndarray  # (n, 16) bytes
    dates: np.ndarray  # (n,) time of arrival in seconds since 1970, or UNDATED
    unread: tuple[Unread, ...] = ()

    @staticmethod
    def join(parts: list[CountedMessages]) -> CountedMessages:
        """Join the messages of all parts, without the unread ones."""
        numbers, names, digests = np.zeros(0, np.int64), np.zeros(0, np.str_), np.zeros((0, 16), np.uint8)
        ids, counts = numbers.astype(np.int32), numbers.astype(np.uint16)
        empty = CountedMessages(numbers, ids, counts, numbers, names, digests, numbers)
        columns = zip(*(part[:-1] for part in (empty, *parts)))
        return CountedMessages._make([*map(_concatenate, columns), ()])


class SharedVocabulary:
    """The tokens of all messages and their ids, for several threads."""

    def __init__(self) -> None:
        self._vocabulary, self._lock = Vocabulary(), Lock()

    def ids(self, tokens: TokenArray) -> np.ndarray:
        """Return the ids (k,) int32 of ``tokens``; a new token gets the next id."""
        with self._lock:
            n_old, ids = len(self._vocabulary), self._vocabulary.ids(tokens)
            # This computes and stores the hashes of new tokens now, while other threads read messages.
            self._vocabulary.describe(np.arange(n_old, len(self._vocabulary), dtype=np.uint32))
            return ids

    def take_all(self) -> Vocabulary:
        """Return all tokens, and free them here; no thread may add tokens afterwards."""
        vocabulary, self._vocabulary = self._vocabulary, Vocabulary()
        return vocabulary


class Counter:
    """Counts messages for one thread, with the ids of tokens in the shared ``vocabulary``.

    The core looks up tokens in a vocabulary of the thread, so that threads do not wait for each other. Python reads the
    files, because the core would not be faster, and messages can be in gzip files or mboxes.
    """

    def __init__(self, settings: Settings, vocabulary: SharedVocabulary) -> None:
        self._reader, self._shared = Reader(settings), vocabulary
        self._local, self._shared_ids = Vocabulary(), np.zeros(0, np.int32)

    def count(self, entries: Iterable[Entry]) -> CountedMessages:
        """Read and count labelled messages."""
        if len(self._local) > MAX_TOKENS:
            self._local, self._shared_ids = Vocabulary(), self._shared_ids[:0]
        numbers: list[int] = []
        labels: list[str] = []
        unread: list[Unread] = []
        dates: list[int] = []
        parts = [self._reader.read([], self._local)]

        def leave_out(name: str, error: Exception) -> None:
            is_missing = isinstance(error, OSError) and error.errno in _MISSING
            unread.append(Unread(name, str(getattr(error, "filename", "")), reason(error), is_missing))

        def read_batch(batch: list[NumberedMessage]) -> tuple[ReadRows, list[int]]:
            rows = self._reader.read([each.raw for each in batch], self._local)
            batch_dates = [parse_date(date.decode()) for date in rows.dates.tolist()]
            return rows, [UNDATED if date is None else date for date in batch_dates]

        for batch, (rows, batch_dates) in work_in_batches(entries, read_batch, leave_out, MAX_READ, MAX_READ):
            parts.append(rows)
            dates += batch_dates
            numbers += [each.number for each in batch]
            labels += [str(each.entry.label) for each in batch]
        new_ids = np.arange(len(self._shared_ids), len(self._local), dtype=np.uint32)
        new = TokenArray.of_packed(*self._local.texts(new_ids))
        self._shared_ids = np.append(self._shared_ids, self._shared.ids(new))
        return CountedMessages(
            np.concatenate([np.diff(part.rows.indptr) for part in parts]),
            self._shared_ids[np.concatenate([part.rows.ids for part in parts])],
            np.concatenate([_narrow(part.rows.counts) for part in parts]),
            np.array(numbers, np.int64),
            np.array(labels, np.str_),
            np.frombuffer(b"".join([part.digests for part in parts]), np.uint8).reshape(-1, 16),
            np.array(dates, np.int64),
            tuple(unread),
        )


def _narrow(counts: np.ndarray) -> np.ndarray:
    return counts.astype(np.uint16 if counts.max(initial=0) < 1 << 16 else np.uint32)


def give_memory_back() -> None:
    """Return free memory of the allocator to the system, because glibc would keep this memory."""
    if hasattr(_libc, "malloc_trim"):
        _libc.malloc_trim(0)


def _concatenate(arrays: tuple[np.ndarray, ...]) -> np.ndarray:
    out = allocate_array((sum(map(len, arrays)), *arrays[0].shape[1:]), np.result_type(*arrays))
    return np.concatenate(arrays, out=out)


class Collection:
    """Collects counted messages, and makes a training set of them."""

    def __init__(self) -> None:
        self.vocabulary = SharedVocabulary()
        self._parts: list[CountedMessages] = []  # messages whose cells are in memory
        self._runs: list[CountedMessages] = []  # messages whose cells are in files
        self._n_cells = 0  # in memory

    def add(self, messages: CountedMessages) -> None:
        """Append messages."""
        self._parts.append(messages)
        self._n_cells += len(messages.ids)
        if self._n_cells > MAX_ITEMS_IN_MEMORY:
            self._runs.append(CountedMessages.join(self._parts))
            self._parts, self._n_cells = [], 0

    def _renumber(self, ids: np.ndarray) -> tuple[TokenArray, np.ndarray]:
        """Return all tokens, the commonest first and then ascending by hash, and the new ids by old id.

        In this order the columns do not depend on the threads that counted the messages.
        """
        vocabulary = self.vocabulary.take_all()
        frequency = np.zeros(len(vocabulary), np.int32)
        for first in range(0, len(ids), COUNTED_AT_ONCE):
            np.add.at(frequency, ids[first : first + COUNTED_AT_ONCE].astype(np.intp), np.int32(1))
        hashes, groups = vocabulary.describe(np.arange(len(frequency), dtype=np.uint32))
        order = np.argsort(hashes)
        order = order[np.argsort(-frequency[order], kind="stable")]
        order = order[: np.count_nonzero(frequency)]  # without tokens of unreadable messages
        text, lengths = vocabulary.texts(order.astype(np.uint32))
        n_tokens = len(vocabulary)
        del vocabulary  # frees memory before the tokens are copied
        give_memory_back()
        offsets = np.cumsum(lengths, dtype=np.int64) - lengths
        return TokenArray(text, offsets, lengths, hashes[order], groups[order]), inverse_index(order, n_tokens)

    def training_set(self) -> TrainingSet:
        """Return the training set of all messages; the collection is empty afterwards."""
        joined = CountedMessages.join([*self._runs, *self._parts])
        self._runs, self._parts = [], []
        tokens, new_ids = self._renumber(joined.ids)
        order = np.lexsort((joined.positions, *joined.digests.view(">u8").T[::-1]))
        ends, indptr = np.cumsum(joined.lengths), np.append(0, np.cumsum(joined.lengths[order]))
        ids, counts = allocate_array(len(joined.ids), np.int32), allocate_array(len(joined.ids), joined.counts.dtype)
        for first in range(0, len(order), SORTED_AT_ONCE):
            chunk = order[first : first + SORTED_AT_ONCE]
            bounds = (ends - joined.lengths)[chunk], ends[chunk]
            cells = slice(indptr[first], indptr[first + len(chunk)])
            ids[cells] = new_ids[join_slices(joined.ids, *bounds)]
            counts[cells] = join_slices(joined.counts, *bounds)
        classes, labels = np.unique(joined.labels, return_inverse=True)
        messages = Messages(
            indptr,
            ids,
            counts,
            joined.positions[order],
            labels[order],
            joined.digests[order],
            joined.dates[order],
            np.ones(len(order), bool),
        )
        del joined, new_ids
        training_set = TrainingSet(tokens, messages.class_counts(tuple(classes.tolist()), len(tokens)), messages)
        columns = training_set.columns_by_hash()
        # A model has only one of two tokens with equal hashes.
        repeats = np.flatnonzero(np.diff(tokens.hashes[columns]) == 0)
        return training_set.select_columns(np.delete(columns, repeats + 1)) if len(repeats) else training_set
