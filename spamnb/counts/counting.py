"""Messages read and counted, some at a time by whoever has time; and the training set that they make together."""

from __future__ import annotations

import ctypes
import errno
from collections.abc import Iterable
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from spamnb.counts.class_counts import inverse_index
from spamnb.counts.messages import (
    MAX_IN_MEMORY,
    MESSAGES_AT_ONCE,
    UNDATED,
    FileNumbers,
    Messages,
    Numbers,
    taken,
)
from spamnb.counts.training_set import TrainingSet
from spamnb.errors import reason
from spamnb.reader.message import Reader, seconds
from spamnb.reader.options import TokenOptions
from spamnb.reader.token_array import TokenArray
from spamnb.reader.vocabulary import Vocabulary
from spamnb.sources.entries import Entry

MAX_READ = 1 << 22  # bytes of mail that are in memory at a time
MAX_TOKENS = 1 << 20  # of a vocabulary: so many threads have one each, and what is in several counts once in the end
_libc = ctypes.CDLL(None)
_MISSING = (errno.ENOENT, errno.ENOTDIR, errno.ESTALE)


class Unread(NamedTuple):
    """A message that could not be read."""

    name: str
    path: str
    why: str
    missing: bool  # there was no such file


class Counted(NamedTuple):
    """Some messages, in the order of the mail."""

    lengths: np.ndarray  # (n,) number of distinct tokens
    ids: np.ndarray  # (nnz,) int32, of a vocabulary
    counts: np.ndarray  # (nnz,) occurrences of the token in the message, uint16 where that holds them
    positions: np.ndarray  # (n,) places in the whole of the mail
    labels: tuple[str, ...]
    digests: bytes  # 16 of each message
    dates: np.ndarray  # (n,) when it was received; UNDATED where it does not say
    unread: tuple[Unread, ...]


class Counter:
    """Counts messages into a vocabulary of its own, for one thread at a time.

    Python reads the files: the core is no faster at it, and what a file is in which a mailbox keeps a message (gzip,
    part of an mbox, Outlook's) is known here.
    """

    def __init__(self, options: TokenOptions) -> None:
        self.vocabulary = Vocabulary()
        self._reader = Reader(options)

    def count(self, entries: Iterable[tuple[int, Entry]]) -> Counted:
        """Read and count labelled messages, each with its place in the mail."""
        if len(self.vocabulary) > MAX_TOKENS:
            self.vocabulary.is_complete = True
            self.vocabulary = Vocabulary()
        positions, labels, unread = [], [], []
        found, raws, size = [], [], 0
        for position, entry in entries:
            try:
                raw = entry.read()
            except OSError as error:
                unread.append(Unread(entry.name, entry.path, reason(error), error.errno in _MISSING))
                continue
            assert entry.label is not None
            positions.append(position)
            labels.append(entry.label)
            raws.append(raw)
            size += len(raw)
            if size > MAX_READ:
                found.append(self._reader.read(raws, self.vocabulary))
                raws, size = [], 0
        found.append(self._reader.read(raws, self.vocabulary))
        dates = [seconds(date.decode()) for read in found for date in read.dates.tolist()]
        return Counted(
            np.concatenate([np.diff(read.rows.indptr) for read in found]),
            np.concatenate([read.rows.ids for read in found]),
            np.concatenate([_narrow(read.rows.counts) for read in found]),
            np.array(positions, np.int64),
            tuple(labels),
            b"".join([read.digests for read in found]),
            np.array([UNDATED if date is None else date for date in dates], np.int64),
            tuple(unread),
        )


def _narrow(counts: np.ndarray) -> np.ndarray:
    return counts.astype(np.uint16 if counts.max(initial=0) < 1 << 16 else np.uint32)


def give_memory_back() -> None:
    """Give the system what other objects left of the pages that threads share: that of full vocabularies is as much as
    that of those in use. Only glibc keeps it."""
    if hasattr(_libc, "malloc_trim"):
        _libc.malloc_trim(0)


class _Numbering:
    """The ids of one vocabulary among those of a collection, once all of its tokens are there."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self.vocabulary: Vocabulary | None = vocabulary
        self.ids = np.zeros(0, np.int32)  # (k,) of each of its tokens


class Collection:
    """Counted messages, as they come; with all of them a training set is made. Many lie in temporary files."""

    def __init__(self) -> None:
        self._parts: list[tuple[Counted, _Numbering]] = []
        self._numberings = WeakKeyDictionary[Vocabulary, _Numbering]()
        self._vocabulary: Vocabulary | None = None  # of all
        self._bytes = 0
        self._spilt: tuple[FileNumbers, FileNumbers] | None = None  # ids and counts, of parts whose own are empty
        self._spilt_cells = 0

    def add(self, counted: Counted, vocabulary: Vocabulary) -> None:
        """Some more messages, behind those that are there, with ids of the ``vocabulary``."""
        numbering = self._numberings.get(vocabulary) or self._numberings.setdefault(vocabulary, _Numbering(vocabulary))
        self._parts.append((counted, numbering))
        self._bytes += counted.ids.nbytes + counted.counts.nbytes
        if self._spilt is not None:
            self._spill(len(self._parts) - 1)
        elif self._bytes > MAX_IN_MEMORY:
            self._spilt = FileNumbers(np.int32), FileNumbers(np.uint32)
            for number in range(len(self._parts)):
                self._spill(number)
        for each in list(self._numberings.values()):
            if each.vocabulary is not None and each.vocabulary.is_complete:
                self._number(each)

    def _spill(self, number: int) -> None:
        """Write the cells of a part into files."""
        part, numbering = self._parts[number]
        assert self._spilt is not None
        place = slice(self._spilt_cells, self._spilt_cells + len(part.ids))
        self._spilt[0][place], self._spilt[1][place] = part.ids, part.counts
        self._spilt_cells = place.stop
        self._parts[number] = part._replace(ids=part.ids[:0].copy(), counts=part.counts[:0].copy()), numbering

    def _number(self, numbering: _Numbering) -> None:
        """Add the tokens of a vocabulary, whose memory is wanted, to those of all."""
        own, numbering.vocabulary = numbering.vocabulary, None
        assert own is not None
        if self._vocabulary is None:
            self._vocabulary, numbering.ids = own, np.arange(len(own), dtype=np.int32)
        else:
            numbering.ids = self._vocabulary.add(own)
            del own
            give_memory_back()

    def _room(self, size: int, dtype: Any) -> Numbers:
        return np.empty(size, dtype) if self._spilt is None else FileNumbers(dtype)

    def _counted(self, size: int, counts_type: Any) -> tuple[Numbers, Numbers, np.ndarray]:
        """All ids, those of the vocabulary of all, all counts, and how many messages hold each token."""
        for _, numbering in self._parts:
            if numbering.vocabulary is not None:
                self._number(numbering)
        held = np.zeros(len(self._vocabulary or ()), np.int32)
        ids, counts = self._spilt or (np.empty(size, np.int32), np.empty(size, counts_type))
        end = 0
        for part, numbering in self._parts:
            place = slice(end, end := end + int(part.lengths.sum()))
            if self._spilt is None:
                counts[place] = part.counts
            own = numbering.ids[part.ids if self._spilt is None else ids[place]]
            ids[place] = own
            np.add.at(held, own.astype(np.intp), np.int32(1))
        self._parts.clear()
        return ids, counts, held

    def _renumbered(self, held: np.ndarray) -> tuple[TokenArray, np.ndarray]:
        """The tokens of all, the commonest first and else ascending by hash; and the new number of each old one.

        In this order columns are the same whoever counted what."""
        vocabulary, self._vocabulary = self._vocabulary or Vocabulary(), None
        hashes, groups = vocabulary.describe(np.arange(len(held), dtype=np.uint32))
        order = np.argsort(hashes)
        order = order[np.argsort(-held[order], kind="stable")]
        text, lengths = vocabulary.texts(order.astype(np.uint32))
        del vocabulary  # with the many copies of a training's end there is no room for both
        give_memory_back()
        offsets = np.cumsum(lengths, dtype=np.int64) - lengths
        return TokenArray(text, offsets, lengths, hashes[order], groups[order]), inverse_index(order, len(order))

    def training_set(self) -> TrainingSet:
        """The training set of all messages; the collection is empty afterwards."""
        parts = [part for part, _ in self._parts]
        lengths = np.concatenate([np.zeros(0, np.int64), *(part.lengths for part in parts)])
        digests = np.frombuffer(b"".join([part.digests for part in parts]), np.uint8).reshape(-1, 16)
        order = np.lexsort(digests.view(">u8").T[::-1])
        indptr = np.append(0, np.cumsum(lengths[order]))
        begins = np.cumsum(lengths) - lengths
        counts_type = np.result_type(np.uint16, *(part.counts.dtype for part in parts))
        counted_ids, counted, held = self._counted(int(indptr[-1]), counts_type)
        tokens, number = self._renumbered(held)
        ids, counts = self._room(int(indptr[-1]), np.int32), self._room(int(indptr[-1]), counts_type)
        for first in range(0, len(order), MESSAGES_AT_ONCE):
            some = order[first : first + MESSAGES_AT_ONCE]
            cells = begins[some], begins[some] + lengths[some]
            place = slice(int(indptr[first]), int(indptr[first + len(some)]))
            ids[place], counts[place] = number[taken(counted_ids, *cells)], taken(counted, *cells)
        classes = tuple(sorted({label for part in parts for label in part.labels}))
        class_number = {name: c for c, name in enumerate(classes)}
        messages = Messages(
            indptr,
            ids,
            counts,
            None,
            np.concatenate([np.zeros(0, np.int64), *(part.positions for part in parts)])[order],
            np.array([class_number[label] for part in parts for label in part.labels], np.int64)[order],
            digests[order],
            np.concatenate([np.zeros(0, np.int64), *(part.dates for part in parts)])[order],
            np.ones(len(order), bool),
        )
        made = TrainingSet(tokens, messages.class_counts(classes, len(tokens)), messages)
        columns = made.by_hash()
        same = np.diff(tokens.hashes[columns]) == 0
        return made.select_columns(np.delete(columns, np.flatnonzero(same) + 1)) if same.any() else made
