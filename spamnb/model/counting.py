"""Counting: read messages and count their tokens in parts, by threads or machines, and join the parts."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable, Sequence
from dataclasses import replace
from tempfile import TemporaryFile
from threading import Lock
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from spamnb.core.library import lib
from spamnb.errors import reason
from spamnb.model.class_counts import inverse_index
from spamnb.model.training_set import TrainingSet, add_up
from spamnb.reader.message import Reader
from spamnb.reader.rows import COLUMNS, Rows, allocate_array
from spamnb.reader.tokens import TokenArray, Vocabulary
from spamnb.settings import Settings
from spamnb.sources.entries import Entry, work_in_batches

MAX_READ = 1 << 22  # bytes of mail that each thread holds in memory
SORTED_AT_ONCE = 1 << 12  # messages whose cells are sorted at a time: some 20 MB
MAX_COUNTED_CELLS = 1 << 24  # in memory while messages are counted, before they are moved to a file: 100 MB
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


class _FileArray:
    """An array in a file. Slices of it are read, not mapped, because mapped pages count as memory of the process."""

    def __init__(self, file: BinaryIO, values: np.ndarray) -> None:
        self._file, self._begin, self.dtype = file, file.tell(), values.dtype
        file.write(values.data)

    def __getitem__(self, items: slice) -> np.ndarray:
        size = self.dtype.itemsize
        octets = os.pread(self._file.fileno(), size * (items.stop - items.start), self._begin + size * items.start)
        return np.frombuffer(octets, self.dtype)


class TrainingSetBuilder:
    """Collects the rows of messages, and makes a training set of them."""

    def __init__(self) -> None:
        give_memory_back()
        self.vocabulary = SharedVocabulary()
        self._stored: list[Rows] = []  # messages whose ids and counts are in the file, as _FileArray
        self._parts: list[Rows] = []  # messages whose cells are in memory
        self._n_cells = 0  # in memory
        self._file: BinaryIO | None = None

    def add(self, rows: Rows) -> None:
        """Append messages over the builder's vocabulary."""
        self._parts.append(rows)
        self._n_cells += len(rows.ids)
        if self._n_cells > MAX_COUNTED_CELLS:
            self._store_cells()

    def _store_cells(self) -> None:
        """Move the cells in memory to the file."""
        file = self._file = self._file or TemporaryFile()  # noqa: SIM115 (``training_set`` closes it)
        for part in self._parts:
            cells: dict[str, Any] = {name: _FileArray(file, getattr(part, name)) for name in ("ids", "counts")}
            self._stored.append(replace(part, **cells))
        file.flush()
        self._parts, self._n_cells = [], 0
        give_memory_back()

    def _renumber(self, parts: Sequence[Rows]) -> tuple[TokenArray, np.ndarray]:
        """Return all tokens, the commonest first and then ascending by hash, and the new ids by old id.

        In this order the columns do not depend on the threads that counted the messages.
        """
        vocabulary = self.vocabulary.take_all()
        frequency = np.zeros(len(vocabulary), np.int32)
        for part in parts:
            np.add.at(frequency, part.ids[0 : int(part.lengths.sum())].astype(np.intp), np.int32(1))
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
        parts, self._stored, self._parts = [*self._stored, *self._parts], [], []
        give_memory_back()
        tokens, new_ids = self._renumber(parts)
        rows = _sort(parts, tokens, new_ids)
        if self._file is not None:
            self._file.close()
        del parts, new_ids
        give_memory_back()
        training_set = TrainingSet(rows, add_up(rows))
        by_hash = training_set.columns_by_hash()
        # A model has only one of two tokens with equal hashes.
        repeats = np.flatnonzero(np.diff(tokens.hashes[by_hash]) == 0)
        return training_set.select_columns(np.delete(by_hash, repeats + 1)) if len(repeats) else training_set


def _sort(parts: Sequence[Rows], tokens: TokenArray, new_ids: np.ndarray) -> Rows:
    """Join parts to packed rows that ascend by digest and then by position; ``new_ids`` are those of ``tokens``."""
    no_cells = np.zeros(0, np.int64), np.zeros(0, np.int32), np.zeros(0, np.uint16)
    classes = tuple(sorted({name for part in parts for name in part.classes}))
    parts = [Rows.of_cells(tokens, *no_cells), *(part.with_classes(classes) for part in parts)]
    columns = {name: np.concatenate([getattr(part, name) for part in parts]) for name in COLUMNS}
    order = np.lexsort((columns["positions"], *columns["digests"].view(">u8").T[::-1]))
    ranges = np.concatenate([[np.full(len(part), n), part.begins, part.ends] for n, part in enumerate(parts)], axis=1)
    ranges = ranges[:, order]
    lengths, n_filled = ranges[2] - ranges[1], 0
    n_cells, count_type = int(lengths.sum()), np.result_type(*(part.counts.dtype for part in parts))
    ids, counts = allocate_array(n_cells, np.int32), allocate_array(n_cells, count_type)
    for first in range(0, len(order), SORTED_AT_ONCE):
        chunk = ranges[:, first : first + SORTED_AT_ONCE].T.tolist()
        messages = [(parts[number], slice(begin, end)) for number, begin, end in chunk]
        old_ids = np.concatenate([part.ids[cells] for part, cells in messages])
        sorted_cells = slice(n_filled, n_filled := n_filled + len(old_ids))
        ids[sorted_cells] = new_ids[old_ids]
        counts[sorted_cells] = np.concatenate([part.counts[cells] for part, cells in messages])
    columns = {name: values[order] for name, values in columns.items()}
    return Rows.of_cells(tokens, lengths, ids, counts, **columns, classes=classes)
