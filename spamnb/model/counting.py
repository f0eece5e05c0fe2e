"""Counting: read messages and count their tokens in parts, by threads or machines, and join the parts."""

from __future__ import annotations

import errno
from collections.abc import Iterable
from dataclasses import replace
from threading import Lock
from typing import NamedTuple

import numpy as np

from spamnb.core.library import lib
from spamnb.errors import reason
from spamnb.model.class_counts import inverse_index
from spamnb.model.training_set import TrainingSet, add_up
from spamnb.reader.message import Reader
from spamnb.reader.rows import MAX_ITEMS_IN_MEMORY, Rows, allocate_array, join_slices
from spamnb.reader.tokens import TokenArray, Vocabulary
from spamnb.settings import Settings
from spamnb.sources.entries import Entry, work_in_batches

MAX_READ = 1 << 22  # bytes of mail that each thread holds in memory
SORTED_AT_ONCE = 1 << 12  # messages whose cells are sorted at a time: some 20 MB
COUNTED_AT_ONCE = 1 << 18  # cells that are counted at a time: 2 MB, which fit the processor's cache
MAX_THREAD_TOKENS = 1 << 18  # tokens in the vocabulary of a thread: some 30 MB
_MISSING = (errno.ENOENT, errno.ENOTDIR, errno.ESTALE)


class Unread(NamedTuple):
    """A message that could not be read."""

    name: str
    path: str
    why: str
    is_missing: bool  # whether the file does not exist


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

    def take(self, ids: np.ndarray) -> TokenArray:
        """Return the tokens with these ids (k,)."""
        with self._lock:
            return self._vocabulary.take(ids)

    def take_all(self) -> Vocabulary:
        """Return all tokens, and free them here; no thread may add tokens afterwards."""
        vocabulary, self._vocabulary = self._vocabulary, Vocabulary()
        return vocabulary


class MessageCounter:
    """Reads and counts messages for one thread, with the ids of tokens in the shared ``vocabulary``.

    The core looks up tokens in a vocabulary of the thread, so that threads do not wait for each other. Python reads the
    files, because the core would not be faster, and messages can be in gzip files or mboxes.
    """

    def __init__(self, settings: Settings, vocabulary: SharedVocabulary) -> None:
        self._reader, self._shared = Reader(settings), vocabulary
        self._local, self._shared_ids = Vocabulary(), np.zeros(0, np.int32)

    def count(self, entries: Iterable[Entry]) -> tuple[Rows, list[Unread]]:
        """Return the rows of labelled messages, whose positions are those in ``entries``, and the unreadable ones."""
        if len(self._local) > MAX_THREAD_TOKENS:
            self._local, self._shared_ids = Vocabulary(), self._shared_ids[:0]
        unread: list[Unread] = []

        def leave_out(name: str, error: Exception) -> None:
            is_missing = isinstance(error, OSError) and error.errno in _MISSING
            unread.append(Unread(name, str(getattr(error, "filename", "")), reason(error), is_missing))

        def read_batch(batch: list[Entry]) -> Rows:
            classes, labels = np.unique([str(entry.label) for entry in batch], return_inverse=True)
            rows = self._reader.read([entry.read() for entry in batch], self._local, with_origin=True)
            return replace(rows, counts=_narrow(rows.counts), labels=labels, classes=tuple(classes.tolist()))

        parts = [self._reader.read([], self._local)]
        for numbers, rows in work_in_batches(entries, read_batch, leave_out, MAX_READ, MAX_READ):
            parts.append(replace(rows, positions=np.array(numbers, np.int64)))
        new_ids = np.arange(len(self._shared_ids), len(self._local), dtype=np.uint32)
        new = TokenArray.of_packed(*self._local.texts(new_ids))
        self._shared_ids = np.append(self._shared_ids, self._shared.ids(new))
        rows = Rows.join(parts)
        return replace(rows, tokens=self._shared, ids=self._shared_ids[rows.ids]), unread


def _narrow(counts: np.ndarray) -> np.ndarray:
    return counts.astype(np.uint16 if counts.max(initial=0) < 1 << 16 else np.uint32)


def give_memory_back() -> None:
    """Return free memory to the system, and from now on each large array as soon as it is freed."""
    lib.give_memory_back()


class TrainingSetBuilder:
    """Collects the rows of messages, and makes a training set of them."""

    def __init__(self) -> None:
        give_memory_back()
        self.vocabulary = SharedVocabulary()
        self._parts: list[Rows] = []  # messages whose cells are in memory
        self._runs: list[Rows] = []  # messages whose cells are in files
        self._n_cells = 0  # in memory

    def add(self, rows: Rows) -> None:
        """Append messages over the builder's vocabulary."""
        self._parts.append(rows)
        self._n_cells += len(rows.ids)
        if self._n_cells > MAX_ITEMS_IN_MEMORY:
            self._runs.append(Rows.join(self._parts))
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
        offsets = np.cumsum(lengths, dtype=np.int64) - lengths
        return TokenArray(text, offsets, lengths, hashes[order], groups[order]), inverse_index(order, n_tokens)

    def training_set(self) -> TrainingSet:
        """Return the training set of all messages; the builder is empty afterwards.

        The messages ascend by digest, so their order does not depend on the thread or machine that counted a message.
        Copies, which have the same digest, are in the order of the sources.
        """
        no_cells = np.zeros(0, np.int64), np.zeros(0, np.int32), np.zeros(0, np.uint16)
        joined = Rows.join([Rows.of_cells(TokenArray.of([]), *no_cells), *self._runs, *self._parts])
        self._runs, self._parts = [], []
        give_memory_back()
        tokens, new_ids = self._renumber(joined.ids)
        columns = joined.take(np.lexsort((joined.positions, *joined.digests.view(">u8").T[::-1])))
        ends = np.cumsum(columns.lengths)
        ids, counts = allocate_array(len(joined.ids), np.int32), allocate_array(len(joined.ids), joined.counts.dtype)
        for first in range(0, len(columns), SORTED_AT_ONCE):
            chunk = slice(first, first + SORTED_AT_ONCE)
            bounds = columns.begins[chunk], columns.ends[chunk]
            cells = slice(ends[first] - columns.lengths[first], ends[chunk][-1])
            ids[cells] = new_ids[join_slices(joined.ids, *bounds)]
            counts[cells] = join_slices(joined.counts, *bounds)
        begins = ends - columns.lengths
        rows = replace(columns, tokens=tokens, begins=begins, ends=ends, plain_ends=ends, ids=ids, counts=counts)
        del joined, columns, new_ids
        training_set = TrainingSet(rows, add_up(rows))
        by_hash = training_set.columns_by_hash()
        # A model has only one of two tokens with equal hashes.
        repeats = np.flatnonzero(np.diff(tokens.hashes[by_hash]) == 0)
        return training_set.select_columns(np.delete(by_hash, repeats + 1)) if len(repeats) else training_set
