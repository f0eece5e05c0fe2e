"""All training messages, counted in one pass: their sums, and the messages themselves as short rows on disk.

A training set is what a process that counts hands back. Training sets add, so any number of processes may share the
mail.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import numpy as np

from spamnb.counts.class_counts import ClassCounts, SparseRow, inverse_index
from spamnb.counts.shard import UNDATED, Shard, ShardReader, count_shards, write_cells
from spamnb.reader.dates import arrival
from spamnb.reader.message import Reader
from spamnb.reader.rows import CsrRows
from spamnb.reader.token_array import TokenArray, merge_vocabularies
from spamnb.reader.vocabulary import Vocabulary
from spamnb.sources.entries import Entry

MAX_BUFFERED = 1 << 18  # token ids kept in memory before they go to the file


class LabelledRows(NamedTuple):
    """Some messages of a training set."""

    rows: CsrRows  # over the training set's columns
    labels: np.ndarray  # (n,) class numbers
    positions: np.ndarray  # (n,) places in the whole of the mail


class TrainingSet(NamedTuple):
    """Sums over messages, the tokens of their columns (ascending by hash), and the messages in shards."""

    tokens: TokenArray
    counts: ClassCounts
    shards: tuple[Shard, ...]

    def __add__(self, other: TrainingSet) -> TrainingSet:  # type: ignore[override]
        return TrainingSet.sum([self, other])

    @classmethod
    def sum(cls, parts: Sequence[TrainingSet]) -> TrainingSet:
        """The sum of training sets with different vocabularies and classes.

        A message that several of them counted is in the sum once for each; ``deduplicate`` takes the surplus out.
        """
        tokens, columns_of = merge_vocabularies([part.tokens for part in parts])
        classes = tuple(sorted({name for part in parts for name in part.counts.classes}))
        shards: list[Shard] = []
        for part, columns in zip(parts, columns_of):
            relabel = np.array([classes.index(name) for name in part.counts.classes], dtype=np.intp)
            columns = np.append(columns, columns.dtype.type(-1))  # so that −1 stays −1
            shards += [own._replace(columns=columns[own.columns], labels=relabel[own.labels]) for own in part.shards]
        counts = [part.counts.reindex(columns, len(tokens), classes) for part, columns in zip(parts, columns_of)]
        return cls(tokens, ClassCounts.sum(counts), tuple(shards))

    def batches(self, messages: int = 256) -> Iterator[LabelledRows]:
        """The included messages, so many at a time: few enough that their figures fit the processor's cache."""
        for shard in self.shards:
            reader = ShardReader(shard)
            included = np.flatnonzero(shard.included)
            for first in range(0, len(included), messages):
                part = included[first : first + messages]
                yield LabelledRows(reader.read(part), shard.labels[part], shard.positions[part])

    def included_positions(self) -> np.ndarray:
        """The places in the mail of the included messages (n,), in the order of the batches."""
        return np.concatenate([np.zeros(0, np.int64), *(own.positions[own.included] for own in self.shards)])

    def included_labels(self) -> np.ndarray:
        """The class numbers of the included messages (n,), in the order of the batches."""
        return np.concatenate([np.zeros(0, np.intp), *(own.labels[own.included] for own in self.shards)])

    def select(self, places: np.ndarray) -> TrainingSet:
        """The messages at these places (a mask over all places in the mail), beside the sums of all."""
        return self._replace(
            shards=tuple(own._replace(included=own.included & places[own.positions]) for own in self.shards)
        )

    def subset(self, places: np.ndarray) -> TrainingSet:
        """The training set of the messages at these places, with the same columns."""
        shards = self.select(places).shards
        return self._replace(counts=count_shards(shards, self.counts.classes, len(self.tokens)), shards=shards)

    def minus(self, places: np.ndarray) -> TrainingSet:
        """The training set without the messages at these places: all sums minus theirs."""
        return self.select(~places)._replace(counts=self.counts - self.subset(places).counts)

    def split(self, positions: np.ndarray) -> tuple[TrainingSet, TrainingSet]:
        """The training set without the messages at ``positions``, and these: over the same columns, beside its sums."""
        places = np.zeros(1 + max(int(own.positions.max(initial=-1)) for own in self.shards), bool)
        places[positions] = True
        rest = self.minus(places).select_columns()
        shards = tuple(
            own._replace(included=every.included & places[own.positions])
            for every, own in zip(self.shards, rest.shards)
        )
        return rest, rest._replace(shards=shards)

    def deduplicate(self) -> TrainingSet:
        """With every message counted once: the last of its copies, whose class is taken to be right."""
        last = last_copies(self.shards)
        if all(own.all() for own in last):
            return self
        kept, copies = [], []
        for shard, own in zip(self.shards, last):
            kept.append(shard._replace(included=shard.included & own))
            copies.append(shard._replace(included=shard.included & ~own))
        surplus = count_shards(copies, self.counts.classes, len(self.tokens))
        return TrainingSet(self.tokens, self.counts - surplus, tuple(kept)).select_columns()

    def select_columns(self, columns: np.ndarray | None = None) -> TrainingSet:
        """With only these columns (ascending); by default those that still occur."""
        if columns is None:
            columns = np.flatnonzero(self.counts.document_frequency())
        if len(columns) == len(self.tokens):
            return self
        mapping = inverse_index(columns, len(self.tokens) + 1)  # the last for −1, so that it stays −1
        shards = tuple(own._replace(columns=mapping[own.columns]) for own in self.shards)
        return TrainingSet(self.tokens.take(columns), self.counts.reindex(mapping, len(columns)), shards)

    def without_rare(self, min_messages: int) -> TrainingSet:
        """Without the tokens that fewer messages hold."""
        if min_messages == 1:
            return self
        return self.select_columns(np.flatnonzero(self.counts.document_frequency() >= min_messages))

    def nonempty_classes(self) -> TrainingSet:
        """Without classes that hold no message, or copies of others' alone: to a model they do not exist."""
        held = np.flatnonzero(self.counts.documents)
        if len(held) == len(self.counts.classes):
            return self
        number = inverse_index(held, len(self.counts.classes))
        shards = tuple(own._replace(labels=number[own.labels]) for own in self.shards)
        return self._replace(counts=self.counts.nonempty_classes(), shards=shards)

    def stratified_folds(self, n_folds: int) -> np.ndarray:
        """The fold of each place in the mail, −1 where no message is included.

        Every class is dealt out in turn: one that comes in step with the folds would be all in one of them.
        """
        positions, labels = self.included_positions(), self.included_labels()
        fold = np.full(1 + max((own.positions.max(initial=-1) for own in self.shards), default=-1), -1)
        fold[positions[np.lexsort((positions, labels))]] = np.arange(len(positions)) % n_folds
        return fold

    # -- from one process to another -------------------------------------------------------------------------

    def save(self, path: Path) -> tuple[Path, list[tuple[str, tuple[int, ...]]], tuple[str, ...], list[Path]]:
        """Write its arrays; returns what ``load`` takes. Through a file 20 MB of them reach another process in a third
        of the time that a pipe, which copies them five times, takes."""
        tokens = self.tokens.packed(), self.tokens.lengths, self.tokens.hashes
        of_shards = chain.from_iterable(own[1:] for own in self.shards)
        shapes = []
        with path.open("wb") as file:
            for values in map(_small, chain(tokens, [self.counts.documents], *self.counts.rows, of_shards)):
                shapes.append((values.dtype.str, values.shape))
                file.write(np.ascontiguousarray(values).data)
                file.write(bytes(-values.nbytes % 8))  # so that the next one is aligned
        return path, shapes, self.counts.classes, [_file(own) for own in self.shards]

    @classmethod
    def load(
        cls, path: Path, shapes: Sequence[tuple[str, tuple[int, ...]]], classes: tuple[str, ...], files: Sequence[Path]
    ) -> TrainingSet:
        """The training set that ``save`` wrote."""
        data = np.fromfile(path, np.uint8)

        def arrays() -> Iterator[np.ndarray]:
            begin = 0
            for dtype, shape in shapes:
                values = np.ndarray(shape, dtype, data, begin)
                begin += values.nbytes + -values.nbytes % 8
                yield values

        read = arrays().__next__
        text, lengths, hashes, documents = read(), read(), read(), read()
        tokens = TokenArray(text, np.cumsum(lengths, dtype=np.int64) - lengths, lengths, hashes)
        rows = tuple(SparseRow(read(), read(), read()) for _ in classes)
        # Of all that was read these alone stay beside the sum of several; as views they would keep the whole of it.
        shards = tuple(Shard(own, *(read().copy() for _ in Shard._fields[1:])) for own in files)
        return cls(tokens, ClassCounts(classes, documents, len(tokens), rows), shards)


def last_copies(shards: Sequence[Shard]) -> list[np.ndarray]:
    """Which messages of each shard, (n,) each, have no copy further on in the mail."""
    digests = np.concatenate([shard.digests for shard in shards])
    positions = np.concatenate([shard.positions for shard in shards])
    halves = np.ascontiguousarray(digests).view(">u8").reshape(-1, 2)
    order = np.lexsort((positions, halves[:, 1], halves[:, 0]))
    last = np.ones(len(order), bool)
    last[:-1] = (halves[order][1:] != halves[order][:-1]).any(axis=1)
    keep = np.empty(len(order), bool)
    keep[order] = last
    return np.split(keep, np.cumsum([len(shard.positions) for shard in shards])[:-1])


def _file(shard: Shard) -> Path:
    assert isinstance(shard.cells, Path), "only files are handed from one process to another"
    return shard.cells


def _small(values: np.ndarray) -> np.ndarray:
    """The array as int32, where that holds its values."""
    fits = values.dtype == np.int64 and (not values.size or -(1 << 31) <= values.min() <= values.max() < 1 << 31)
    return values.astype(np.int32) if fits else values


def count_messages(
    entries: Iterable[tuple[int, Entry]],
    reader: Reader,
    path: Path,
    on_unreadable: Callable[[str, Exception], None],
    on_message: Callable[[], None] = lambda: None,
) -> TrainingSet:
    """Read, parse and count labelled messages, each with its place in the mail, in one pass; rows go to ``path``."""
    vocabulary = Vocabulary()
    class_numbers: dict[str, int] = {}
    positions, labels, digests, dates = array("q"), array("i"), bytearray(), array("q")
    lengths = array("i")
    with path.open("wb") as file:
        for position, entry in entries:
            on_message()
            try:
                raw = entry.read()
            except OSError as error:
                on_unreadable(entry.name, error)
                continue
            found = reader.read([raw], vocabulary)
            lengths.append(len(found.rows.ids))
            write_cells(found.rows, file)
            positions.append(position)
            assert entry.label is not None
            labels.append(class_numbers.setdefault(entry.label, len(class_numbers)))
            digests += found.digests
            received = arrival(raw)
            dates.append(UNDATED if received is None else received)
    classes = tuple(sorted(class_numbers))
    sorted_label = np.array([classes.index(name) for name in class_numbers], dtype=np.intp)
    # In the order of their hashes: the same columns whoever counted what, and the order that the model file wants.
    tokens = vocabulary.tokens()
    order = np.argsort(tokens.hashes)  # no two are the same: half a million in 0.01 s, in a stable order 0.04
    column_of = np.empty(len(order), np.intp)
    column_of[order] = np.arange(len(order))
    tokens = tokens.take(order)
    shard = Shard(
        path,
        np.array(positions, np.int64),
        np.array(lengths, np.int32),
        sorted_label[np.array(labels, np.intp)],
        np.frombuffer(bytes(digests), np.uint8).reshape(-1, 16),
        column_of,
        np.ones(len(positions), bool),
        np.array(dates, np.int64),
    )
    return TrainingSet(tokens, count_shards([shard], classes, len(tokens)), (shard,))
