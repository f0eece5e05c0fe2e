"""Table ``tokens``: a row is a bucket, which has the tokens of a range of hashes, and their figures, as arrays.

The key of a bucket is the lowest hash of its range: a hash belongs to the bucket with the largest key that is not above
it. Training writes buckets of 32 tokens. Learning changes the buckets of the message's tokens, divides those that
become too large, and deletes those that become empty. So the number of buckets follows the number of tokens.

    hashes   of the tokens, ascending, 8 bytes each
    cells    a record of ``width`` bytes for each token and class with a figure that is not 0
    texts    of the tokens, each with the byte ff after it, which no text in UTF-8 has
    vectors  of the tokens, in a model of vectors

The core keeps the buckets that were read, and changes them (``core/buckets.c``). Those that changed are written before
the transaction ends.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import compress
from typing import Any, NamedTuple

import numpy as np

from spamnb.core.buckets import (
    END_OF_TEXT,
    MIN_RECORD,
    VECTOR,
    Buckets,
    ChangedTokens,
)
from spamnb.errors import Damaged, SpamnbError
from spamnb.model.class_counts import DOCUMENTS, OCCURRENCES, WEIGHT, Cells
from spamnb.reader.tokens import CHUNK_TOKENS, TokenArray
from spamnb.store.database import Database

TABLE = (
    "CREATE TABLE tokens (bucket INTEGER PRIMARY KEY, hashes BLOB NOT NULL, width INTEGER NOT NULL,"
    " cells BLOB NOT NULL, texts BLOB NOT NULL, vectors BLOB NOT NULL)"
)
BUCKET_TOKENS = 32  # of a new bucket: with 16 a lesson takes 8 % less time, with 64 40 % more, and the file is larger
MAX_BUCKET_TOKENS = 64  # a larger bucket is divided; places in a bucket have one byte
MAX_TOKEN_BYTES = (1 << 16) - 1
MAX_CELLS = 1 << 20  # token × class whose figures are in memory at once: 24 MB
ROWS_AT_ONCE = 1000  # buckets that are read at once: 1 MB
MAX_TOKENS = 4_000_000  # in memory: 150 MB
FEW_TOKENS = 1 / 16  # of the table: the buckets of more tokens are read in one range, because most buckets are needed
LOWEST, HIGHEST = -(1 << 63), (1 << 63) - 1  # hash
# Rows of ``Buckets``; min() and max() of a key are one step in the tree of the keys.
_LAST = f"coalesce((SELECT min(next.bucket) FROM tokens AS next WHERE next.bucket > tokens.bucket) - 1, {HIGHEST})"  # noqa: S608
_SELECT = f"SELECT bucket, {_LAST}, width, hashes, cells, texts, vectors FROM tokens"  # noqa: S608
_OF_HASHES = "WHERE bucket IN (SELECT (SELECT max(bucket) FROM tokens WHERE bucket <= value) FROM json_each(?))"
_OF_RANGE = "WHERE bucket BETWEEN coalesce((SELECT max(bucket) FROM tokens WHERE bucket <= ?1), ?1) AND ?2"
# REPLACE deletes the old row first, so that twice as many pages change.
_WRITE = (
    "INSERT INTO tokens VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT (bucket)"
    " DO UPDATE SET hashes = ?2, width = ?3, cells = ?4, texts = ?5, vectors = ?6"
)
_BELOW_ALL = f"SELECT {LOWEST}, coalesce(min(bucket) - 1, {HIGHEST}), {MIN_RECORD}, x'', x'', x'', x'' FROM tokens"  # noqa: S608


class Block(NamedTuple):
    """The content of some buckets, or of all: n tokens, ascending by hash, with their cells and vectors."""

    tokens: TokenArray
    cells: Cells
    vectors: np.ndarray  # (n, d); d is 0 in a model without vectors, and a token that training did not see has zeros


class TokenTable:
    """The buckets of table ``tokens`` that were read, and their changes that are not written yet.

    ``size`` is the number of tokens in the table, in all methods.
    """

    def __init__(self, database: Database, classes: int, dimensions: int) -> None:
        self._database, self.classes, self._buckets = database, classes, Buckets(classes, dimensions)
        self._is_changed = False

    def __len__(self) -> int:
        return len(self._buckets)

    @property
    def is_full(self) -> bool:
        """Whether more is in memory than allowed; False while changes wait to be written."""
        return not self._is_changed and len(self) > MAX_TOKENS

    def _load(self, hashes: np.ndarray, size: int) -> None:
        """Read the buckets of these ``hashes``, ascending, that are not in memory."""
        missing = self._buckets.find_missing(hashes)
        if len(missing) > FEW_TOKENS * size:
            self._add(f"{_SELECT} {_OF_RANGE} ORDER BY bucket", missing[[0, -1]].tolist())
        elif len(missing):
            self._add(f"{_SELECT} {_OF_HASHES} ORDER BY bucket", [json.dumps(missing.tolist())])
        if len(missing) and len(self._buckets.find_missing(missing[:1])):
            self._add(_BELOW_ALL)

    def _add(self, select: str, values: Sequence[Any] = ()) -> None:
        cursor = self._database.execute(select, values)
        while rows := cursor.fetchmany(ROWS_AT_ONCE):
            missing = {*self._buckets.find_missing(np.array([row[0] for row in rows])).tolist()}
            if rows := [row for row in rows if row[0] in missing]:
                self._buckets.load(rows)

    def read(self, hashes: np.ndarray, size: int) -> np.ndarray:
        """Return the figures (k, C, 3) of the tokens with these ``hashes``; zeros of unknown tokens."""
        order = np.argsort(hashes)
        self._load(ascending := hashes[order], size)
        figures = np.empty((len(hashes), self.classes, 3), np.int64)
        figures[order] = self._buckets.read(ascending)
        return figures

    def read_vectors(self, hashes: np.ndarray, size: int) -> np.ndarray:
        """Return the vectors (k, d) of the tokens with these ``hashes``; zeros of unknown tokens."""
        order = np.argsort(hashes)
        self._load(ascending := hashes[order], size)
        vectors = self._buckets.read_vectors(ascending)
        vectors[order] = vectors.copy()
        return vectors

    def add(
        self, tokens: TokenArray, labels: np.ndarray, counts: np.ndarray, units: np.ndarray, sign: int, size: int
    ) -> tuple[np.ndarray, np.ndarray]:
        """Add the tokens (n,) of messages, or subtract them with ``sign`` −1.

        Each token has the class ``labels`` (n,) and the contribution ``units`` (n, C) of its message, and its
        occurrences ``counts`` (n,) there. Return the figures (k, C, 3) of the changed tokens before and after.
        """
        hashes, first, rows = np.unique(tokens.hashes, return_index=True, return_inverse=True)
        old = self.read(hashes, size)
        new = old.copy()
        if sign < 0:
            is_known = is_used(old)[rows]
            rows, labels, counts, units = (each[is_known] for each in (rows, labels, counts, units))
        for c in np.flatnonzero(units.any(axis=0)).tolist():
            np.add.at(new[:, c, WEIGHT], rows, sign * units[:, c])
        if sign < 0:
            present, counts = clip_counts(new[rows, labels], counts)
            rows, labels = rows[present], labels[present]
        cells = (rows * self.classes + labels) * 3
        np.add.at(new.reshape(-1), cells + DOCUMENTS, np.int64(sign))
        np.add.at(new.reshape(-1), cells + OCCURRENCES, sign * counts)
        new[~is_used(new)] = 0
        self.put(tokens.take(first), new, size)
        return old, new

    def add_weights(self, hashes: np.ndarray, units: np.ndarray, size: int) -> None:
        """Add ``units`` (C,) to the weights of the tokens with these distinct ``hashes`` that a message has."""
        hashes = np.sort(hashes)
        figures = self.read(hashes, size)
        known = is_used(figures)
        figures[:, :, WEIGHT] += units
        places = np.zeros(np.count_nonzero(known), np.int64)
        self._change(ChangedTokens(hashes[known], figures[known], np.zeros(0, np.uint8), places, places - 1))

    def put(self, tokens: TokenArray, figures: np.ndarray, size: int, vectors: np.ndarray | None = None) -> None:
        """Replace the ``figures`` (k, C, 3) of distinct ``tokens``, ascending by hash. A token of zeros is deleted.

        New tokens get the ``vectors`` (k, d), or zeros.
        """
        if tokens.lengths.max(initial=0) > MAX_TOKEN_BYTES:
            raise SpamnbError(f"{self._database.path}: a token is longer than a model file holds")
        self._load(tokens.hashes, size)
        lengths = tokens.lengths.astype(np.int64)
        self._change(ChangedTokens(tokens.hashes, figures, tokens.text, tokens.offsets, lengths, vectors))

    def _change(self, tokens: ChangedTokens) -> None:
        self._is_changed = True
        try:
            self._buckets.change(tokens, MAX_BUCKET_TOKENS, BUCKET_TOKENS)
        except OverflowError as error:
            raise SpamnbError(f"{self._database.path}: {error}") from None

    def write(self) -> None:
        """Write the buckets that changed."""
        if not self._is_changed:
            return
        keys, widths, hashes, *others = self._buckets.take_changes()
        rows = zip(keys, hashes, widths, *others)
        self._database.executemany(_WRITE, compress(rows, hashes))
        empty = [(key,) for key, blob in zip(keys, hashes) if not blob]
        self._database.executemany("DELETE FROM tokens WHERE bucket = ?", empty)
        self._is_changed = False


def is_used(figures: np.ndarray) -> np.ndarray:
    """Return whether any message has the tokens with these ``figures`` (k, C, 3), (k,) bool."""
    return np.any(figures[:, :, DOCUMENTS], axis=1)


def clip_counts(figures: np.ndarray, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the positions of a message's tokens that are in the model, and the occurrences to subtract of each.

    The counts may differ from those that were learned, if another version of spamnb read the message. One occurrence is
    left for each other message. ``figures`` (k, 2 or more) are the figures of the tokens in the class, and ``counts``
    (k,) their occurrences in the message.

    >>> clip_counts(np.array([[0, 0], [1, 2], [3, 4]]), np.array([1, 1, 9]))
    (array([1, 2]), array([2, 2]))
    """
    present = np.flatnonzero(figures[:, DOCUMENTS] > 0)
    documents, occurrences = figures[present, :2].T
    most = np.where(documents == 1, occurrences, occurrences - documents + 1)
    return present, np.where(documents == 1, most, np.minimum(counts[present], most))


def write_blocks(database: Database, blocks: Iterable[Block], classes: int) -> None:
    """Write tokens into a new, empty table; the blocks follow one another, ascending by hash."""
    step = min(CHUNK_TOKENS, max(1, MAX_CELLS // (BUCKET_TOKENS * max(classes, 1))) * BUCKET_TOKENS)
    for block in blocks:
        for first in range(0, len(block.tokens), step):
            chunk = np.arange(first, min(first + step, len(block.tokens)))
            table = TokenTable(database, classes, block.vectors.shape[1])
            figures = block.cells.take(chunk).table(len(chunk), classes)
            table.put(block.tokens.take(chunk), figures, 0, block.vectors[chunk])
            table.write()


def read_all(database: Database, classes: int, dimensions: int) -> Iterator[tuple[TokenArray, np.ndarray, np.ndarray]]:
    """Yield all tokens, ascending by hash, their figures (n, C, 3) and vectors (n, d), in parts of some buckets."""
    last = LOWEST - 1
    cursor = database.execute(f"{_SELECT} ORDER BY bucket")
    while rows := cursor.fetchmany(max(1, MAX_CELLS // (MAX_BUCKET_TOKENS * max(classes, 1)))):
        if rows[0][0] <= last:
            raise Damaged("buckets in table tokens that are not in order")
        buckets, last = Buckets(classes, dimensions), rows[-1][1]
        buckets.load(rows)
        hashes, texts, vectors = (np.frombuffer(b"".join([row[i] for row in rows]), np.uint8) for i in (3, 5, 6))
        ends = np.flatnonzero(texts == END_OF_TEXT)
        begins = np.append(0, ends + 1)[:-1]
        tokens = TokenArray(texts, begins, (ends - begins).astype(np.int32), hashes.view("<i8").astype(np.int64))
        yield tokens, buckets.read(tokens.hashes), vectors.view(VECTOR).reshape(len(tokens), dimensions)


def check_texts(block: Block) -> None:
    """Raise Damaged if a token of the block is not UTF-8, or has another hash than in the file."""
    texts, offsets, lengths = block.tokens.text, block.tokens.offsets, block.tokens.lengths
    try:
        texts.tobytes().decode()
    except UnicodeDecodeError:
        raise Damaged("tokens in table tokens that are not UTF-8") from None
    if (texts[offsets[lengths > 0]] & 0xC0 == 0x80).any():
        raise Damaged("tokens in table tokens that begin inside a character")
    if not np.array_equal(TokenArray(texts, offsets, lengths).hashes, block.tokens.hashes):
        raise Damaged("tokens in table tokens that have another hash")
