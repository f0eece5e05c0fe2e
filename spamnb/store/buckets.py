"""Table ``tokens``: a row is a bucket, which has the tokens of a range of hashes, and their figures, as arrays.

The key of a bucket is the lowest hash of its range: a hash belongs to the bucket with the largest key that is not above
it. Training writes buckets of 32 tokens. Learning rewrites the buckets of the message's tokens, divides those that
become too large, and deletes those that become empty. So the number of buckets follows the number of tokens. The core
reads and changes buckets (``core/buckets.c``).

    hashes   of the tokens, ascending, 8 bytes each
    cells    a record of ``width`` bytes for each token and class with a figure that is not 0
    texts    of the tokens, each with the byte ff after it, which no text in UTF-8 has
    vectors  of the tokens, in a model of vectors
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from itertools import compress
from typing import Any, NamedTuple

import numpy as np

from spamnb.core.buckets import (
    BUCKET_DELETED,
    BUCKET_WRITTEN,
    NO_BUCKET,
    RECORDS_CHANGED,
    VECTOR,
    Buckets,
    ChangedTokens,
)
from spamnb.errors import Damaged, SpamnbError
from spamnb.model.class_counts import Cells, find_sorted
from spamnb.reader.tokens import CHUNK_TOKENS, TokenArray
from spamnb.store.database import Database

TABLE = (
    "CREATE TABLE tokens (bucket INTEGER PRIMARY KEY, hashes BLOB NOT NULL, width INTEGER NOT NULL,"
    " cells BLOB NOT NULL, texts BLOB NOT NULL, vectors BLOB NOT NULL)"
)
BUCKET_TOKENS = 32  # of a new bucket: with 16 a lesson takes 8 % less time, with 64 40 % more, and the file is larger
MAX_BUCKET_TOKENS = 64  # a larger bucket is divided; places in a bucket have one byte
MAX_TOKEN_BYTES = (1 << 16) - 1
MAX_CELLS = 1 << 20  # token × class that are in memory at once: 24 MB
FEW_TOKENS = 1 / 16  # of the table: the buckets of more tokens are read in one range, because most buckets are needed
LOWEST = -(1 << 63)  # hash
_CELLS = "bucket, hashes, width, cells"
_TOKENS = f"{_CELLS}, texts, vectors"
# The buckets of the hashes in a JSON list; max() of a key is one step in the tree of the keys.
_OF_HASHES = "WHERE bucket IN (SELECT (SELECT max(bucket) FROM tokens WHERE bucket <= value) FROM json_each(?))"
_OF_RANGE = "WHERE bucket BETWEEN coalesce((SELECT max(bucket) FROM tokens WHERE bucket <= ?1), ?1) AND ?2"


class Block(NamedTuple):
    """The content of some buckets, or of all: n tokens, ascending by hash, with their cells and vectors."""

    tokens: TokenArray
    cells: Cells
    vectors: np.ndarray  # (n, d); d is 0 in a model without vectors, and a token that training did not see has zeros


# -- reading -----------------------------------------------------------------------------------------------------


def read_figures(database: Database, classes: int, hashes: np.ndarray, size: int) -> np.ndarray:
    """Return the figures (k, C, 3) of the tokens with these ``hashes``, ascending; zeros for unknown tokens.

    ``size`` is the number of tokens in the table.
    """
    figures = np.zeros((len(hashes), classes, 3), np.int64)
    for buckets in _read(_select(database, _CELLS, hashes, size), classes):
        buckets.read(hashes, figures)
    return figures


def read_all_figures(database: Database, classes: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield the hashes (n,) of all tokens, ascending, and their figures (n, C, 3), in parts of some buckets."""
    for buckets in _read(_select(database, _CELLS), classes):
        yield buckets.hashes, _figures_of(buckets, classes)


def read_tokens(
    database: Database, classes: int, dimensions: int
) -> Iterator[tuple[TokenArray, np.ndarray, np.ndarray]]:
    """Yield all tokens, ascending by hash, their figures (n, C, 3) and vectors (n, d), in parts of some buckets."""
    for buckets in _read(_select(database, _TOKENS), classes, dimensions):
        text, begins, lengths, vectors = buckets.texts()
        yield TokenArray(text, begins, lengths, buckets.hashes), _figures_of(buckets, classes), vectors


def _read(cursor: Any, classes: int, dimensions: int = 0) -> Iterator[Buckets]:
    last: Any = None  # hash of the buckets before
    while rows := cursor.fetchmany(max(1, MAX_CELLS // (MAX_BUCKET_TOKENS * max(classes, 1)))):
        buckets = Buckets(rows, classes, dimensions)
        if len(hashes := buckets.hashes):
            if last is not None and hashes[0] <= last:
                raise Damaged("hashes in table tokens that are not in order")
            last = hashes[-1]
        yield buckets


def _figures_of(buckets: Buckets, classes: int) -> np.ndarray:
    """Return the figures (n, C, 3) of all tokens of some buckets."""
    figures = np.zeros((len(buckets.hashes), classes, 3), np.int64)
    buckets.read(buckets.hashes, figures)
    return figures


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


def read_vectors(database: Database, classes: int, dimensions: int, hashes: np.ndarray, size: int) -> np.ndarray:
    """Return the vectors (k, d) of the tokens with these ``hashes``, ascending; zeros for unknown tokens."""
    vectors = np.zeros((len(hashes), dimensions), VECTOR)
    for buckets in _read(_select(database, _TOKENS, hashes, size), classes, dimensions):
        places = find_sorted(hashes, buckets.hashes)
        vectors[places[places >= 0]] = buckets.texts()[-1][places >= 0]
    return vectors


def _select(database: Database, columns: str, hashes: np.ndarray | None = None, size: int = 0) -> Any:
    """Return a cursor of these columns, ascending, of all buckets, or of those of ``hashes``, ascending.

    Of many hashes among the ``size`` tokens of the table, all buckets in their range are read.
    """
    condition, values = "", []
    if hashes is not None and len(hashes) > FEW_TOKENS * size:
        condition, values = _OF_RANGE, hashes[[0, -1]].tolist()
    elif hashes is not None:
        condition, values = _OF_HASHES, [json.dumps(hashes.tolist())]
    return database.execute(f"SELECT {columns} FROM tokens {condition} ORDER BY bucket", values)  # noqa: S608


# -- writing -----------------------------------------------------------------------------------------------------


def write_blocks(database: Database, blocks: Iterable[Block], classes: int) -> None:
    """Write tokens into a new, empty table; the blocks follow one another, ascending by hash."""
    step = min(CHUNK_TOKENS, max(1, MAX_CELLS // (BUCKET_TOKENS * max(classes, 1))) * BUCKET_TOKENS)
    for block in blocks:
        for first in range(0, len(block.tokens), step):
            chunk = np.arange(first, min(first + step, len(block.tokens)))
            tokens, figures = block.tokens.take(chunk), block.cells.take(chunk).table(len(chunk), classes)
            rewrite(database, tokens.hashes, figures, tokens, 0, block.vectors.shape[1], block.vectors[chunk])


def rewrite(
    database: Database, hashes: np.ndarray, figures: np.ndarray, texts: TokenArray, size: int,
    dimensions: int = 0, vectors: np.ndarray | None = None,
) -> None:  # fmt: skip
    """Replace the ``figures`` (k, C, 3) of the tokens with these ``hashes``, ascending. A token of zeros is deleted.

    ``texts`` are tokens in any order, among them all that the file lacks. New tokens get the ``vectors`` (k, d), or
    zeros; d is ``dimensions``. ``size`` is the number of tokens in the table. Of buckets that keep their tokens, nine
    in ten of a lesson, only the cells are read and written.
    """
    if not len(hashes):
        return
    if texts.lengths.max(initial=0) > MAX_TOKEN_BYTES:
        raise SpamnbError(f"{database.path}: a token is longer than a model file holds")
    order = np.argsort(texts.hashes, kind="stable")
    place = find_sorted(texts.hashes[order], hashes)
    columns = (texts.offsets, 0), (texts.lengths.astype(np.int64), -1)  # −1: it has no text here
    begins, lengths = (np.append(values[order], none)[place] for values, none in columns)
    by_key = {row[0]: (*row, b"", b"") for row in _select(database, _CELLS, hashes, size)}
    comes_or_goes = (lengths >= 0) | ~figures.any(axis=(1, 2))
    if comes_or_goes.any():
        whole = _select(database, _TOKENS, hashes[comes_or_goes], size)
        by_key |= {row[0]: row for row in whole}
    rows = [*by_key.values()]
    if not rows or hashes[0] < rows[0][0]:
        rows = [(LOWEST, *NO_BUCKET), *rows]
    tokens = ChangedTokens(hashes, figures, texts.text, begins, lengths, vectors)
    try:
        buckets = Buckets(rows, figures.shape[1], dimensions)
        actions, written = buckets.change(tokens, MAX_BUCKET_TOKENS, BUCKET_TOKENS)
    except OverflowError as error:
        raise SpamnbError(f"{database.path}: {error}") from None
    keys, _, widths, cells, _, _ = written

    def select(action: int, values: Iterable[tuple]) -> Iterator[tuple]:
        return compress(values, [each == action for each in actions])

    update = "UPDATE tokens SET width = ?, cells = ? WHERE bucket = ?"
    database.executemany(update, select(RECORDS_CHANGED, zip(widths, cells, keys)))
    database.executemany("REPLACE INTO tokens VALUES (?, ?, ?, ?, ?, ?)", select(BUCKET_WRITTEN, zip(*written)))
    database.executemany("DELETE FROM tokens WHERE bucket = ?", select(BUCKET_DELETED, zip(keys)))
