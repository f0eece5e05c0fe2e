"""One pass over messages: their sums, and the messages themselves as short rows of column numbers on disk.

A tally is what a process that counts hands back. Tallies add, so any number of processes may share the mail. The rows
(about 1.5 kB a message) serve the leave-one-out estimate; they lie in files, so memory grows with the vocabulary alone.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from spamnb.counts import Counts
from spamnb.message import parse
from spamnb.sources import Entry
from spamnb.tokens import Tokenizer

FLUSH = 1 << 20  # column numbers kept in memory before they go to the file


class Rows(NamedTuple):
    """The messages of one process: file of (columns, repeats), and per message its length, class and digest."""

    path: Path
    numbers: np.ndarray  # (n,) place of the message in the whole of the mail
    lengths: np.ndarray  # (n,) distinct tokens
    labels: np.ndarray  # (n,) index into the tally's classes
    digests: np.ndarray  # (n, 16) bytes
    columns: np.ndarray  # (V of the process,) its column numbers → the tally's, −1 for those left out
    kept: np.ndarray  # (n,) False for a message that is not part of the sums: a second copy


class Block(NamedTuple):
    """Some messages as ragged rows."""

    indptr: np.ndarray  # (n+1,)
    columns: np.ndarray  # (nnz,)
    repeats: np.ndarray  # (nnz,) occurrences of the token in the message
    labels: np.ndarray  # (n,)
    numbers: np.ndarray  # (n,)


class Tally(NamedTuple):
    """Sums over messages, with the names of the columns, and the messages as rows."""

    tokens: list[str]
    counts: Counts
    rows: tuple[Rows, ...]

    def __add__(self, other: Tally) -> Tally:  # type: ignore[override]
        return merge([self, other])

    def blocks(self, messages: int = 2048) -> Iterator[Block]:
        """The messages that are part of the sums, some at a time."""
        for rows in self.rows:
            stored = np.memmap(rows.path, np.int32, "r").reshape(-1, 2) if rows.path.stat().st_size else None
            ends = np.concatenate([[0], np.cumsum(rows.lengths, dtype=np.int64)])
            for first in range(0, len(rows.lengths), messages):
                part = slice(first, min(first + messages, len(rows.lengths)))
                if stored is None:
                    cells = np.zeros((0, 2), np.int32)
                else:
                    cells = stored[ends[part.start] : ends[part.stop]]
                row = np.repeat(np.arange(part.stop - part.start), rows.lengths[part])
                columns = rows.columns[cells[:, 0]]
                use = (columns >= 0) & rows.kept[part][row]
                lengths = np.bincount(row[use], minlength=part.stop - part.start)[rows.kept[part]]
                yield Block(
                    np.concatenate([[0], np.cumsum(lengths)]),
                    columns[use],
                    np.asarray(cells[:, 1][use], np.int64),
                    rows.labels[part][rows.kept[part]],
                    rows.numbers[part][rows.kept[part]],
                )


def tally(
    entries: Iterable[tuple[int, Entry]],
    tokenizer: Tokenizer,
    path: Path,
    on_unreadable: Callable[[str, Exception], None],
    on_message: Callable[[], None] = lambda: None,
) -> Tally:
    """Read, parse and count labelled messages, each with its place in the mail, in one pass; rows go to ``path``."""
    columns: dict[str, int] = {}
    number: dict[str, int] = {}
    numbers, lengths, labels, digests = array("q"), array("i"), array("i"), bytearray()
    cells = array("i")
    with path.open("wb") as file:
        for place, entry in entries:
            on_message()
            try:
                raw = entry.read()
            except OSError as error:
                on_unreadable(entry.name, error)
                continue
            message = parse(raw)
            counted = Counter(tokenizer(message))
            for token, count in counted.items():
                cells.append(columns.setdefault(token, len(columns)))
                cells.append(count)
            numbers.append(place)
            lengths.append(len(counted))
            assert entry.label is not None
            labels.append(number.setdefault(entry.label, len(number)))
            digests += message.digest
            if len(cells) > FLUSH:
                cells.tofile(file)
                cells = array("i")
        cells.tofile(file)
    classes = tuple(sorted(number))
    sorted_label = np.array([classes.index(name) for name in number], dtype=np.intp)
    rows = Rows(
        path,
        np.array(numbers, np.int64),
        np.array(lengths, np.int32),
        sorted_label[np.array(labels, np.intp)],
        np.frombuffer(bytes(digests), np.uint8).reshape(-1, 16),
        np.arange(len(columns)),
        np.ones(len(lengths), bool),
    )
    empty = Counts.empty(classes, len(columns))
    return _counted(Tally(list(columns), empty, (rows,)))


def _counted(tallied: Tally) -> Tally:
    """The tally with its sums made anew from its rows."""
    from scipy.sparse import csr_array

    total = tallied.counts
    for block in tallied.blocks(1 << 16):
        shape = (len(block.labels), len(tallied.tokens))
        X = csr_array((block.repeats, block.columns, block.indptr), shape=shape)
        total = total + Counts.from_matrix(X, [total.classes[label] for label in block.labels], total.classes)
    return tallied._replace(counts=total)


def merge(tallies: Iterable[Tally]) -> Tally:
    """The sum of tallies of different vocabularies and classes. A message that is in several counts once: where its
    copies disagree about the class, the last one is right."""
    tallies = list(tallies)
    columns: dict[str, int] = {}
    maps = [
        np.fromiter(
            (columns.setdefault(token, len(columns)) for token in part.tokens), np.intp, len(part.tokens)
        )
        for part in tallies
    ]
    classes = tuple(sorted({name for part in tallies for name in part.counts.classes}))
    total = Counts.empty(classes, len(columns))
    rows: list[Rows] = []
    for part, mapping in zip(tallies, maps):
        total = total + part.counts.reindex(mapping, len(columns), classes)
        relabel = np.array([classes.index(name) for name in part.counts.classes], dtype=np.intp)
        mapping = np.append(mapping, -1)  # so that −1 stays −1
        rows += [
            own._replace(
                columns=mapping[own.columns], labels=relabel[own.labels] if len(own.labels) else own.labels
            )
            for own in part.rows
        ]
    return Tally(list(columns), total, tuple(rows))


def without_copies(tallied: Tally) -> Tally:
    """The tally with every message counted once: the last of its copies, whose class is taken to be right."""
    if not tallied.rows:
        return tallied
    digests = np.concatenate([rows.digests for rows in tallied.rows])
    numbers = np.concatenate([rows.numbers for rows in tallied.rows])
    keys = np.ascontiguousarray(digests).view(">u8").reshape(-1, 2)
    order = np.lexsort((numbers, keys[:, 1], keys[:, 0]))
    last = np.ones(len(order), bool)
    last[:-1] = (keys[order][1:] != keys[order][:-1]).any(axis=1)
    keep = np.empty(len(order), bool)
    keep[order] = last
    if keep.all():
        return tallied
    ends = np.cumsum([len(rows.lengths) for rows in tallied.rows])[:-1]
    copies = tuple(rows._replace(kept=rows.kept & ~k) for rows, k in zip(tallied.rows, np.split(keep, ends)))
    kept = tuple(rows._replace(kept=rows.kept & k) for rows, k in zip(tallied.rows, np.split(keep, ends)))
    nothing = Counts.empty(tallied.counts.classes, len(tallied.tokens))
    surplus = _counted(Tally(tallied.tokens, nothing, copies)).counts
    return restrict(Tally(tallied.tokens, tallied.counts - surplus, kept))


def restrict(tallied: Tally, columns: np.ndarray | None = None) -> Tally:
    """The tally of only these columns; by default of those that still occur."""
    if columns is None:
        columns = np.flatnonzero(np.asarray(tallied.counts.document_counts.sum(axis=0)).ravel())
    if len(columns) == len(tallied.tokens):
        return tallied
    mapping = np.full(len(tallied.tokens) + 1, -1, np.intp)
    mapping[columns] = np.arange(len(columns))
    rows = tuple(own._replace(columns=mapping[own.columns]) for own in tallied.rows)
    tokens = [tallied.tokens[column] for column in columns]
    return Tally(tokens, tallied.counts.columns(columns), rows)
