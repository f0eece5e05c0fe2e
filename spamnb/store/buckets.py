"""Table ``tokens``: a row is a bucket, which has the tokens of a range of hashes, and their figures, as arrays.

The key of a bucket is the lowest hash of its range: a hash belongs to the bucket with the largest key that is not above
it. Training writes buckets of 32 tokens. Learning rewrites the buckets of the message's tokens, divides those that
become too large, and deletes those that become empty. So the number of buckets follows the number of tokens.

    hashes   of the tokens, ascending, 8 bytes each
    cells    a record of ``width`` bytes for each token and class with a figure that is not 0 (``RECORDS``)
    texts    of the tokens, each with the byte ff after it, which no text in UTF-8 has
    vectors  of the tokens, in a model of vectors
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import compress, pairwise
from typing import Any, NamedTuple

import numpy as np

from spamnb.core.score import MAX_COUNT
from spamnb.errors import Damaged, SpamnbError
from spamnb.model.class_counts import Cells, find_sorted
from spamnb.model.delta import MAX_UNITS
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
LOWEST = -(1 << 63)  # hash
VECTOR = np.dtype("<f4")
_HASH = np.dtype("<i8")
_END = 0xFF  # after each text
_CELLS = "bucket, hashes, width, cells"  # the columns of what ``_parse_cells`` reads
# A cell's token, as its place in the bucket, and its class; the messages of the class with the token, the occurrences
# of the token less these messages, and the weight of the correction.
_FIELDS = "place", "label", "documents", "further", "weight"
# The types of a record, each wider than the one before. All records of a bucket have one type. The first lacks the
# weight, which is 0.
RECORDS = tuple(
    np.dtype([*zip(_FIELDS, types.split())])
    for types in ("u1 u1 u1 u1", "u1 u1 u1 u1 <i2", "u1 u1 u1 u1 <i4", "u1 u1 <u2 <u2 <i4", "u1 <u2 <u4 <u4 <i4")
)
_BY_WIDTH = {record.itemsize: record for record in RECORDS}
# The buckets of the hashes in a JSON list; max() of a key is one step in the tree of the keys.
_OF_HASHES = "WHERE bucket IN (SELECT (SELECT max(bucket) FROM tokens WHERE bucket <= value) FROM json_each(?))"


class Block(NamedTuple):
    """The content of some buckets, or of all: n tokens, ascending by hash, with their cells and vectors."""

    tokens: TokenArray
    cells: Cells
    vectors: np.ndarray  # (n, d); d is 0 in a model without vectors, and a token that training did not see has zeros


# -- reading -----------------------------------------------------------------------------------------------------


def read_cells(
    database: Database, classes: int, hashes: np.ndarray | None = None
) -> Iterator[tuple[np.ndarray, Cells]]:
    """Yield the hashes of the tokens in the buckets of these ``hashes``, or in all buckets, and their cells.

    They come in parts of some buckets, so that little memory is needed.
    """
    cursor = _select(database, _CELLS, hashes)
    while rows := cursor.fetchmany(_count_buckets(classes)):
        yield _parse_cells(rows, classes)


def _count_buckets(classes: int) -> int:
    """Return how many buckets are in memory at once."""
    return max(1, MAX_CELLS // (MAX_BUCKET_TOKENS * max(classes, 1)))


def read_texts(database: Database, hashes: np.ndarray | None = None) -> tuple[TokenArray, np.ndarray]:
    """Return the tokens in the buckets of these ``hashes``, or in all buckets, and their vectors (n, d)."""
    rows = _select(database, "bucket, hashes, texts, vectors", hashes).fetchall()
    stored, sizes = _parse_hashes(rows)
    octets = np.frombuffer(_bytes_of("texts", [row[2] for row in rows]), np.uint8)
    is_end = octets == _END
    ends = np.flatnonzero(is_end)
    if len(ends) != len(stored) or len(octets) != (ends[-1] + 1 if len(ends) else 0):
        raise Damaged("truncated texts in table tokens")
    packed = TokenArray.of_packed(octets[~is_end], (np.diff(ends, prepend=-1) - 1).astype(np.int32))
    vectors = _parse_vectors([row[3] for row in rows], sizes)
    return TokenArray(packed.text, packed.offsets, packed.lengths, stored), vectors


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


def read_vectors(database: Database, hashes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the hashes (n,), ascending, of the tokens in the buckets of these ``hashes``, and their vectors (n, d)."""
    rows = _select(database, "bucket, hashes, vectors", hashes).fetchall()
    known, sizes = _parse_hashes(rows)
    return known, _parse_vectors([row[2] for row in rows], sizes)


def _select(database: Database, columns: str, hashes: np.ndarray | None) -> Any:
    """Return a cursor of these columns of the buckets, ascending."""
    condition, values = ("", ()) if hashes is None else (_OF_HASHES, (json.dumps(hashes.tolist()),))
    return database.execute(f"SELECT {columns} FROM tokens {condition} ORDER BY bucket", values)  # noqa: S608


def _parse_hashes(rows: Sequence[tuple]) -> tuple[np.ndarray, np.ndarray]:
    """Return the hashes of all tokens, and the number of tokens of each bucket."""
    blobs = [row[1] for row in rows]
    octets = _bytes_of("hashes", blobs)
    lengths = np.fromiter(map(len, blobs), np.int64, len(blobs))
    if (lengths % _HASH.itemsize).any():
        raise Damaged("truncated hashes in table tokens")
    hashes, sizes = np.frombuffer(octets, _HASH).astype(np.int64, copy=False), lengths // _HASH.itemsize
    first = (np.cumsum(sizes) - sizes)[sizes > 0]
    keys = np.array([row[0] for row, size in zip(rows, sizes.tolist()) if size], np.int64)
    if (hashes[1:] <= hashes[:-1]).any() or (hashes[first] < keys).any():
        raise Damaged("hashes in table tokens that are not in order")
    return hashes, sizes


def _parse_cells(rows: Sequence[tuple], classes: int) -> tuple[np.ndarray, Cells]:
    """Return the hashes and the cells of buckets; raise Damaged if no model with these classes has such cells."""
    hashes, sizes = _parse_hashes(rows)
    widths, blobs = [row[2] for row in rows], [row[3] for row in rows]
    _bytes_of("cells", blobs)
    if not {*widths} <= _BY_WIDTH.keys():
        raise Damaged("width in table tokens of no record")
    lengths, width_of = np.fromiter(map(len, blobs), np.int64, len(blobs)), np.array(widths, np.int64)
    counts = lengths // width_of
    if (lengths != counts * width_of).any():
        raise Damaged("truncated cells in table tokens")
    values = np.zeros((len(_FIELDS), int(counts.sum())), np.int64)
    for width in {*widths}:
        has_width = width_of == width
        records = np.frombuffer(b"".join(compress(blobs, has_width.tolist())), _BY_WIDTH[width])
        cells = slice(None) if has_width.all() else np.flatnonzero(np.repeat(has_width, counts))
        for i, field in enumerate(records.dtype.names or ()):
            values[i, cells] = records[field]
    place, label, documents, occurrences, weight = values
    token = place + np.repeat(np.cumsum(sizes) - sizes, counts)
    steps = np.diff(token)
    if (place >= np.repeat(sizes, counts)).any() or (steps < 0).any():
        raise Damaged("places in table tokens that are not in order")
    if (label >= classes).any() or (np.diff(label)[steps == 0] <= 0).any():
        raise Damaged("labels in table tokens of unknown or repeated classes")
    if ((documents == 0) & (occurrences > 0)).any() or (weight < -MAX_UNITS).any():
        raise Damaged("impossible figures in table tokens")
    occurrences += documents
    return hashes, Cells(token, label, values[2:])


def _parse_vectors(blobs: Sequence[Any], sizes: np.ndarray) -> np.ndarray:
    """Return the vectors (n, d) of the tokens of buckets; a bucket may have none."""
    octets = _bytes_of("vectors", blobs)
    lengths = np.fromiter(map(len, blobs), np.int64, len(blobs))
    row_bytes = np.unique(lengths // np.maximum(sizes, 1), return_index=True)[0]
    width = int(row_bytes.max(initial=0))
    has_vectors = lengths > 0
    if (lengths[has_vectors] != sizes[has_vectors] * width).any() or width % VECTOR.itemsize:
        raise Damaged("truncated vectors in table tokens")
    vectors = np.zeros((int(sizes.sum()), width // VECTOR.itemsize), VECTOR)
    vectors[np.repeat(has_vectors, sizes)] = np.frombuffer(octets, VECTOR).reshape(-1, vectors.shape[1] or 1)
    if not np.isfinite(vectors).all():
        raise Damaged("vectors in table tokens that are not finite")
    return vectors


def _bytes_of(column: str, blobs: Iterable[Any]) -> bytes:
    """Return all bytes of a column; raise Damaged if a value is not bytes."""
    try:
        return b"".join(blobs)
    except TypeError:
        raise Damaged(f"{column} in table tokens that are not bytes") from None


# -- writing -----------------------------------------------------------------------------------------------------


def write_blocks(database: Database, blocks: Iterable[Block]) -> None:
    """Write tokens into a new, empty table; the blocks follow one another, ascending by hash."""
    last_hash: Any = LOWEST
    for block in blocks:
        for first in range(0, len(block.tokens), CHUNK_TOKENS):
            chunk = np.arange(first, min(first + CHUNK_TOKENS, len(block.tokens)))
            tokens, begins = block.tokens.take(chunk), np.arange(0, len(chunk), BUCKET_TOKENS)
            keys = _separate(np.append(last_hash, tokens.hashes), begins + 1)
            bounds = np.append(begins, len(chunk))
            packed = _pack_cells(database, block.cells.take(chunk), bounds)
            _insert(database, keys.tolist(), packed, tokens, block.vectors[chunk], bounds)
            last_hash = tokens.hashes[-1]


def rewrite(database: Database, hashes: np.ndarray, figures: np.ndarray, texts: TokenArray) -> None:
    """Replace the ``figures`` (k, C, 3) of the tokens with these ``hashes``, ascending. A token of zeros is deleted.

    ``texts`` are tokens in any order, among them all that the file lacks.
    """
    rows = _select(database, _CELLS, hashes).fetchall()
    lowest = hashes[figures.any(axis=(1, 2))][:1]
    if len(lowest) and (not rows or lowest[0] < rows[0][0]):  # no bucket has such a low hash
        rows = [(LOWEST, b"", RECORDS[0].itemsize, b""), *rows]
    step = _count_buckets(figures.shape[1])
    bounds = [*np.searchsorted(hashes, [row[0] for row in rows[::step]]).tolist(), len(hashes)]
    for i, (begin, end) in enumerate(pairwise(bounds)):
        _rewrite_buckets(database, rows[i * step : (i + 1) * step], hashes[begin:end], figures[begin:end], texts)


def _rewrite_buckets(
    database: Database, rows: Sequence[tuple], hashes: np.ndarray, figures: np.ndarray, texts: TokenArray
) -> None:
    """Rewrite some buckets. Of those that keep their tokens, nine in ten of a lesson, only the cells are written."""
    (stored, old_cells), keys = _parse_cells(rows, figures.shape[1]), np.array([row[0] for row in rows], np.int64)
    is_used = figures.any(axis=(1, 2))
    new = hashes[(find_sorted(stored, hashes) < 0) & is_used]
    tokens = np.insert(stored, np.searchsorted(stored, new), new)
    token = find_sorted(tokens, hashes)  # −1 of those that were learned and forgotten in one transaction
    table = np.zeros((len(tokens), *figures.shape[1:]), np.int64)
    table[np.searchsorted(tokens, stored)[old_cells.token], old_cells.label] = old_cells.figures.T
    table[token[token >= 0]] = figures[token >= 0]
    lost = token[(token >= 0) & ~is_used]
    has_moved = np.zeros(len(keys), bool)  # whether a bucket gets or loses a token
    has_moved[np.searchsorted(keys, np.append(new, tokens[lost]), side="right") - 1] = True
    tokens, cells = np.delete(tokens, lost), Cells.of_table(np.delete(table, lost, axis=0))

    begins = np.searchsorted(tokens, keys)
    sizes = np.diff(begins, append=len(tokens))
    n_parts = np.where(sizes > MAX_BUCKET_TOKENS, -(-sizes // BUCKET_TOKENS), sizes > 0)
    has_moved |= n_parts != 1
    nth = np.arange(n_parts.sum()) - np.repeat(np.cumsum(n_parts) - n_parts, n_parts)
    begins = np.repeat(begins, n_parts) + BUCKET_TOKENS * nth
    new_keys = np.where(nth > 0, _separate(tokens, begins), np.repeat(keys, n_parts)).tolist()
    bounds, is_moved = np.append(begins, len(tokens)), np.repeat(has_moved, n_parts)
    widths, blobs = _pack_cells(database, cells, bounds)

    updated = compress(zip(widths, blobs, new_keys), (~is_moved).tolist())
    database.executemany("UPDATE tokens SET width = ?, cells = ? WHERE bucket = ?", updated)
    if is_moved.any():
        old_texts, old_vectors = read_texts(database, keys[has_moved])
        both = TokenArray.concat([old_texts, texts])
        distinct, first = np.unique(both.hashes, return_index=True)
        moved = tokens[np.repeat(is_moved, np.diff(bounds))]
        chosen = first[find_sorted(distinct, moved)]
        vectors = np.zeros((len(both), old_vectors.shape[1]), VECTOR)
        vectors[: len(old_vectors)] = old_vectors
        moved_bounds = np.append(0, np.cumsum(np.diff(bounds)[is_moved]))
        keys_of_moved, *packed = (list(compress(column, is_moved.tolist())) for column in (new_keys, widths, blobs))
        _insert(database, keys_of_moved, packed, both.take(chosen), vectors[chosen], moved_bounds)
    database.executemany("DELETE FROM tokens WHERE bucket = ?", [(key,) for key in keys[sizes == 0].tolist()])


def _separate(hashes: np.ndarray, begins: np.ndarray) -> np.ndarray:
    """Return for each place a key that is above the hash before it and not above its own hash.

    Of all such keys it is the one with the fewest bits, so that a deleted token's hash does not stay as a key.

    >>> _separate(np.array([0b1000, 0b1011, 0b1110]), np.array([1, 2]))
    array([10, 12])
    """
    after, before = hashes[begins], hashes[np.maximum(begins - 1, 0)]
    bits = after ^ before
    for shift in (1, 2, 4, 8, 16, 32):  # fill the bits below the highest one in which the two differ
        bits |= bits >> shift & (1 << 64 - shift) - 1
    return after & ~(bits >> 1)


def _insert(
    database: Database, keys: list[int], cells: Sequence[list[Any]], tokens: TokenArray, vectors: np.ndarray,
    bounds: np.ndarray,
) -> None:  # fmt: skip
    """Write buckets, each with the tokens between two ``bounds``, and with cells as ``_pack_cells`` returns them."""
    if tokens.lengths.max(initial=0) > MAX_TOKEN_BYTES:
        raise SpamnbError(f"{database.path}: a token is longer than a model file holds")
    ends = np.append(0, np.cumsum(tokens.lengths, dtype=np.int64))
    texts = np.insert(tokens.packed(), ends[1:], _END)
    columns = (
        _slice(tokens.hashes.astype(_HASH), bounds), *cells,
        _slice(texts, ends[bounds] + bounds), _slice(vectors.astype(VECTOR), bounds),
    )  # fmt: skip
    database.executemany("REPLACE INTO tokens VALUES (?, ?, ?, ?, ?, ?)", zip(keys, *columns))


def _pack_cells(database: Database, cells: Cells, bounds: np.ndarray) -> tuple[list[int], list[bytes]]:
    """Return the width of the records of each bucket, and the records; a bucket has the tokens between two bounds."""
    documents, occurrences, weight = cells.figures
    if occurrences.max(initial=0) > MAX_COUNT:
        raise SpamnbError(f"{database.path}: a token was counted more than {MAX_COUNT:,} times, which no model holds")
    if np.abs(weight).max(initial=0) > MAX_UNITS:
        raise SpamnbError(f"{database.path}: a token's weight is larger than a model file holds")
    cell_bounds, further = np.searchsorted(cells.token, bounds), occurrences - documents
    sizes, count = np.diff(cell_bounds), np.maximum(documents, further)
    number = (weight != 0).astype(np.intp)  # of the narrowest type that holds the cell
    number[np.maximum(weight, ~weight) > 0x7FFF] = 2
    number[count > 0xFF] = 3
    number[(count > 0xFFFF) | (cells.label > 0xFF)] = 4
    of_bucket = np.zeros(len(sizes), np.intp)
    if len(number):
        of_bucket[sizes > 0] = np.maximum.reduceat(number, cell_bounds[:-1][sizes > 0])
    place, blobs = cells.token - np.repeat(bounds[:-1], sizes), [b""] * len(sizes)
    for number_of_type in {*of_bucket.tolist()}:
        has_type = of_bucket == number_of_type
        chosen = np.repeat(has_type, sizes)
        records = np.empty(int(sizes[has_type].sum()), RECORDS[number_of_type])
        for field, values in zip(records.dtype.names or (), (place, cells.label, documents, further, weight)):
            records[field] = values[chosen]
        parts = _slice(records, np.append(0, np.cumsum(sizes[has_type])))
        for i, blob in zip(np.flatnonzero(has_type).tolist(), parts):
            blobs[i] = blob
    return [RECORDS[i].itemsize for i in of_bucket.tolist()], blobs


def _slice(values: np.ndarray, bounds: np.ndarray) -> list[bytes]:
    """Return the bytes of the rows between each two bounds."""
    octets, ends = values.tobytes(), (bounds * (values.nbytes // max(len(values), 1))).tolist()
    return list(map(octets.__getitem__, map(slice, ends, ends[1:])))
