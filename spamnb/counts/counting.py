"""Messages read and counted, some at a time by whoever has time; and the training set that they make together."""

from __future__ import annotations

import errno
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from tempfile import TemporaryFile
from typing import BinaryIO, NamedTuple
from weakref import finalize

import numpy as np

from spamnb.counts.class_counts import inverse_index
from spamnb.counts.messages import MAX_IN_MEMORY, UNDATED, Messages, room
from spamnb.counts.training_set import TrainingSet
from spamnb.errors import reason
from spamnb.reader.message import Reader, seconds
from spamnb.reader.options import TokenOptions
from spamnb.reader.token_array import TokenArray
from spamnb.reader.vocabulary import Vocabulary
from spamnb.sources.entries import Entry

MAX_READ = 1 << 22  # bytes of mail that are in memory at a time
CELLS_AT_ONCE = 1 << 20  # renumbered at a time
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


class Collection:
    """Counted messages, as they come; with all of them a training set is made. Many lie in temporary files."""

    def __init__(self) -> None:
        self._parts: list[tuple[Counted, Vocabulary]] = []
        self._bytes = 0
        self._cells: BinaryIO | None = None  # of parts whose own are empty, one behind the other

    def add(self, counted: Counted, vocabulary: Vocabulary) -> None:
        """Some more messages, behind those that are there, with ids of the ``vocabulary``."""
        self._bytes += counted.ids.nbytes + counted.counts.nbytes
        if self._bytes > MAX_IN_MEMORY:
            if self._cells is None:
                self._cells = TemporaryFile()  # noqa: SIM115
                finalize(self, self._cells.close)
            for values in (counted.ids, counted.counts):
                self._cells.write(np.ascontiguousarray(values).data)
            counted = counted._replace(ids=counted.ids[:0], counts=counted.counts[:0])
        self._parts.append((counted, vocabulary))

    def _cells_of(self, part: Counted) -> tuple[np.ndarray, np.ndarray]:
        """The ids and counts of the next part, in the order in which they were added."""
        n = int(part.lengths.sum())
        if len(part.ids) == n or self._cells is None:
            return part.ids, part.counts
        return (
            np.frombuffer(self._cells.read(n * part.ids.itemsize), part.ids.dtype),
            np.frombuffer(self._cells.read(n * part.counts.itemsize), part.counts.dtype),
        )

    def training_set(self) -> TrainingSet:
        """The training set of all messages; the collection is empty afterwards."""
        merged, ids_of = self._merged()
        parts, own_ids = [counted for counted, _ in self._parts], [ids_of[id(own)] for _, own in self._parts]
        self._parts.clear()  # and with it the vocabularies, whose memory is wanted
        classes = tuple(sorted({label for part in parts for label in part.labels}))
        number = {name: c for c, name in enumerate(classes)}
        lengths = np.concatenate([np.zeros(1, np.int64), *(part.lengths for part in parts)])
        indptr = np.cumsum(lengths)
        counts_type = np.result_type(np.uint16, *(part.counts.dtype for part in parts))
        in_file = self._bytes > MAX_IN_MEMORY
        ids = room(int(indptr[-1]), np.int32, in_file=in_file)
        counts = room(int(indptr[-1]), counts_type, in_file=in_file)
        end = 0
        if self._cells is not None:
            self._cells.seek(0)
        with ThreadPoolExecutor(1) as executor:
            every = executor.submit(merged.tokens)  # most of it is hashes, without Python's lock
            for part, new_ids in zip(parts, own_ids):
                part_ids, part_counts = self._cells_of(part)
                begin, end = end, end + len(part_ids)
                ids[begin:end] = new_ids[part_ids]
                counts[begin:end] = part_counts
            tokens, columns = _renumber(every.result(), ids)
        messages = Messages(
            indptr,
            ids,
            counts,
            columns,
            np.concatenate([np.zeros(0, np.int64), *(part.positions for part in parts)]),
            np.array([number[label] for part in parts for label in part.labels], np.intp),
            np.frombuffer(b"".join([part.digests for part in parts]), np.uint8).reshape(-1, 16),
            np.concatenate([np.zeros(0, np.int64), *(part.dates for part in parts)]),
            np.ones(len(indptr) - 1, bool),
        )
        return TrainingSet(tokens, messages.class_counts(classes, len(tokens)), messages)

    def _merged(self) -> tuple[Vocabulary, dict[int, np.ndarray]]:
        """All vocabularies as one, and the ids there of each one's tokens."""
        every = {id(own): own for _, own in self._parts} or {0: Vocabulary()}
        first, *others = every.values()
        ids_of = {id(first): np.arange(len(first), dtype=np.int32)}
        for own in others:
            ids_of[id(own)] = first.add(own)
        return first, ids_of


def _renumber(every: TokenArray, ids: np.ndarray) -> tuple[TokenArray, np.ndarray]:
    """The tokens ascending by hash, and the columns of the new numbers that ``ids`` get in place: the commonest first.

    In this order columns are the same whoever counted what, and it is the order that the model file wants."""
    by_hash = np.argsort(every.hashes)
    held = np.zeros(len(every), np.int64)
    for first in range(0, len(ids), CELLS_AT_ONCE):
        np.add.at(held, ids[first : first + CELLS_AT_ONCE].astype(np.intp), 1)
    commonest = np.argsort(-held[by_hash], kind="stable")
    number = np.empty(len(every), np.int32)
    number[by_hash[commonest]] = np.arange(len(every), dtype=np.int32)
    for first in range(0, len(ids), CELLS_AT_ONCE):
        ids[first : first + CELLS_AT_ONCE] = number[ids[first : first + CELLS_AT_ONCE]]
    tokens = every.take(by_hash)
    new = np.append(np.ones(min(len(tokens), 1), bool), tokens.hashes[1:] != tokens.hashes[:-1])
    if not new.all():  # of two tokens with one hash a model knows one
        kept = np.flatnonzero(new)
        return tokens.take(kept), inverse_index(kept, len(tokens))[commonest]
    return tokens, commonest
