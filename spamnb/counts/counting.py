"""Messages read and counted, some at a time by whoever has time; and the training set that they make together."""

from __future__ import annotations

import ctypes
import errno
from collections.abc import Iterable
from typing import NamedTuple
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
MAX_RUN = 1 << 26  # bytes of cells that are sorted and written at a time
SORTED_AT_ONCE = 1 << 12  # messages: some 20 MB, in which each run has its share
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


class _Part(NamedTuple):
    """n messages of a collection. Where their cells lie in files, ids and counts are empty."""

    lengths: np.ndarray  # (n,) number of distinct tokens
    ids: np.ndarray  # (nnz,) int32, of the message's vocabulary
    counts: np.ndarray  # (nnz,)
    vocabulary: np.ndarray  # (n,) its number in the collection
    positions: np.ndarray  # (n,) places in the whole of the mail
    labels: np.ndarray  # (n,) numbers of the collection's classes
    digests: np.ndarray  # (n, 16)
    dates: np.ndarray  # (n,)

    @staticmethod
    def joined(parts: Iterable[_Part]) -> _Part:
        """The messages of all parts."""
        number, digest = np.zeros(0, np.int64), np.zeros((0, 16), np.uint8)
        cells = number.astype(np.int32), number.astype(np.uint16)
        none = _Part(number, *cells, number, number, number, digest, number)
        return _Part(*map(np.concatenate, zip(none, *parts)))

    def by_digest(self) -> np.ndarray:
        """The messages ascending by digest, copies in the order of the mail, (n,)."""
        return np.lexsort((self.positions, *self.digests.view(">u8").T[::-1]))


class Collection:
    """Counted messages, as they come; with all of them a training set is made.

    What memory should not hold is sorted by digest and written into temporary files, one run behind the other: in
    the end runs are merged, and no file is read in leaps.
    """

    def __init__(self) -> None:
        self._parts: list[_Part] = []  # whose cells memory holds
        self._runs: list[_Part] = []  # whose cells lie in files
        self._classes: dict[str, int] = {}
        self._number_of = WeakKeyDictionary[Vocabulary, int]()
        self._vocabularies: list[Vocabulary | None] = []  # None once its tokens are in that of all
        self._ids: list[np.ndarray] = []  # then the ids there of each one's tokens
        self._vocabulary: Vocabulary | None = None  # of all
        self._files: tuple[FileNumbers, FileNumbers] | None = None  # ids and counts
        self._held = self._end = 0  # bytes of cells in memory, and cells in files

    def add(self, counted: Counted, vocabulary: Vocabulary) -> None:
        """Some more messages, behind those that are there, with ids of the ``vocabulary``."""
        if vocabulary not in self._number_of:
            self._number_of[vocabulary] = len(self._vocabularies)
            self._vocabularies.append(vocabulary)
            self._ids.append(np.zeros(0, np.int32))
        part = _Part(
            counted.lengths,
            counted.ids,
            counted.counts,
            np.full(len(counted.lengths), self._number_of[vocabulary]),
            counted.positions,
            np.array([self._classes.setdefault(label, len(self._classes)) for label in counted.labels], np.int64),
            np.frombuffer(counted.digests, np.uint8).reshape(-1, 16),
            counted.dates,
        )
        self._parts.append(part)
        self._held += part.ids.nbytes + part.counts.nbytes
        if self._held > (MAX_IN_MEMORY if self._files is None else MAX_RUN):
            self._write_parts()
        for number, own in enumerate(self._vocabularies):
            if own is not None and own.is_complete:
                self._merge(number)

    def _write_parts(self) -> None:
        """Write what memory holds, in runs."""
        self._files = self._files or (FileNumbers(np.int32), FileNumbers(np.uint32))
        self._parts.reverse()
        while self._parts:
            run, size = [], 0
            while self._parts and size <= MAX_RUN:
                run.append(self._parts.pop())
                size += run[-1].ids.nbytes + run[-1].counts.nbytes
            self._runs.append(self._written(_Part.joined(run), self._files))
        self._held = 0

    def _written(self, part: _Part, files: tuple[FileNumbers, FileNumbers]) -> _Part:
        """The part without its cells, which are behind all others in the files, as its messages are: by digest."""
        order, ends = part.by_digest(), np.cumsum(part.lengths)
        for first in range(0, len(order), SORTED_AT_ONCE):
            some = order[first : first + SORTED_AT_ONCE]
            begin, self._end = self._end, self._end + int(part.lengths[some].sum())
            for file, values in zip(files, (part.ids, part.counts)):
                file[begin : self._end] = taken(values, (ends - part.lengths)[some], ends[some])
        cells = part.ids[:0].copy(), part.counts[:0].copy()
        return _Part(part.lengths[order], *cells, *(values[order] for values in part[3:]))

    def _merge(self, number: int) -> None:
        """Add the tokens of a vocabulary, whose memory is wanted, to those of all."""
        own, self._vocabularies[number] = self._vocabularies[number], None
        assert own is not None
        if self._vocabulary is None:
            self._vocabulary, self._ids[number] = own, np.arange(len(own), dtype=np.int32)
        else:
            self._ids[number] = self._vocabulary.add(own)
            del own
            give_memory_back()

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
        if self._files is not None:
            self._write_parts()
        every, self._parts, self._runs = _Part.joined([*self._runs, *self._parts]), [], []
        for n, own in enumerate(self._vocabularies):
            if own is not None:
                self._merge(n)
        ids_of_all = np.concatenate([np.zeros(0, np.int32), *self._ids])
        first_id = np.cumsum([0, *map(len, self._ids)])[every.vocabulary]
        self._ids = []
        ids, counts = self._files or (every.ids, every.counts)
        lengths, ends = every.lengths, np.cumsum(every.lengths)

        def ids_in_all(some: np.ndarray) -> np.ndarray:
            found = taken(ids, (ends - lengths)[some], ends[some])
            return found + np.repeat(first_id[some], lengths[some])

        held = np.zeros(len(self._vocabulary or ()), np.int32)
        for first in range(0, len(lengths), MESSAGES_AT_ONCE):
            some = np.arange(first, min(first + MESSAGES_AT_ONCE, len(lengths)))
            np.add.at(held, ids_of_all[ids_in_all(some)].astype(np.intp), np.int32(1))
        tokens, number = self._renumbered(held)
        number = number[ids_of_all]
        order = every.by_digest()
        indptr = np.append(0, np.cumsum(lengths[order]))
        of_file = self._files is not None
        own_ids: Numbers = FileNumbers(np.int32) if of_file else np.empty(indptr[-1], np.int32)
        own_counts: Numbers = FileNumbers(counts.dtype) if of_file else np.empty_like(every.counts)
        for first in range(0, len(order), SORTED_AT_ONCE):
            wanted = order[first : first + SORTED_AT_ONCE]
            some = np.sort(wanted)  # those of one run lie side by side
            at, some_ends = np.searchsorted(some, wanted), np.cumsum(lengths[some])
            bounds = (some_ends - lengths[some])[at], some_ends[at]
            place = slice(int(indptr[first]), int(indptr[first + len(some)]))
            own_ids[place] = taken(number[ids_in_all(some)], *bounds)
            own_counts[place] = taken(taken(counts, (ends - lengths)[some], ends[some]), *bounds)
        classes = sorted(self._classes)
        class_number = np.argsort([self._classes[name] for name in classes]).astype(np.int64)
        messages = Messages(
            indptr,
            own_ids,
            own_counts,
            None,
            every.positions[order],
            class_number[every.labels[order]],
            every.digests[order],
            every.dates[order],
            np.ones(len(order), bool),
        )
        made = TrainingSet(tokens, messages.class_counts(tuple(classes), len(tokens)), messages)
        columns = made.by_hash()
        same = np.diff(tokens.hashes[columns]) == 0  # of two tokens with one hash a model knows one
        return made.select_columns(np.delete(columns, np.flatnonzero(same) + 1)) if same.any() else made
