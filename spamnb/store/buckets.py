"""Table ``tokens``: a row is a bucket, which has the tokens of a range of hashes, and their figures, as arrays.

The key of a bucket is the lowest hash of its range: a hash belongs to the bucket with the largest key that is not above
it. Training writes buckets of 32 tokens. Learning rewrites the buckets of the message's tokens, divides those that
become too large, and deletes those that become empty. So the number of buckets follows the number of tokens.

A column of a bucket is an array with a number for each token (``hashes``, ``lengths``) or for each cell, which is a
token in a class. All numbers of a column have the same width: as many bytes as its largest number needs, and none if
all are 0.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import compress, pairwise
from typing import Any, NamedTuple

import numpy as np

from spamnb.core.score import MAX_COUNT
from spamnb.errors import Damaged, SpamnbError
from spamnb.model.class_counts import DOCUMENTS, OCCURRENCES, WEIGHT, Cells, find_sorted
from spamnb.model.delta import MAX_UNITS
from spamnb.reader.tokens import CHUNK_TOKENS, TokenArray
from spamnb.store.database import Database

# A column of cells: the token's place in the bucket, the class number, the messages of the class with the token, the
# occurrences of the token less these messages, and the weight of the correction.
CELLS = "places", "labels", "documents", "further", "weights"
TEXTS = "lengths", "texts", "vectors"  # columns that only change when a bucket gets or loses a token
COLUMNS = "hashes", *CELLS, *TEXTS
TABLE = f"CREATE TABLE tokens (bucket INTEGER PRIMARY KEY, {', '.join(f'{name} BLOB NOT NULL' for name in COLUMNS)})"
BUCKET_TOKENS = 32  # of a new bucket: with 16 a lesson takes 8 % less time, with 64 40 % more, and the file is larger
MAX_BUCKET_TOKENS = 64  # a larger bucket is divided; places in a bucket have one byte
MAX_TOKEN_BYTES = (1 << 16) - 1
MAX_CELLS = 1 << 20  # token × class that ``rewrite`` has in memory: 24 MB
PART_BUCKETS = 1000  # that ``iterate_cells`` reads at once
LOWEST = -(1 << 63)  # hash
VECTOR = np.dtype("<f4")
_HASH = np.dtype("<i8")
# The buckets of the hashes in a JSON list; max() of a key is one step in the tree of the keys.
_OF_HASHES = "WHERE bucket IN (SELECT (SELECT max(bucket) FROM tokens WHERE bucket <= value) FROM json_each(?))"


class Block(NamedTuple):
    """The content of some buckets, or of all: n tokens, ascending by hash, with their cells and vectors."""

    tokens: TokenArray
    cells: Cells
    vectors: np.ndarray  # (n, d); d is 0 in a model without vectors, and a token that training did not see has zeros


# -- reading -----------------------------------------------------------------------------------------------------


def select_cells(database: Database, hashes: np.ndarray | None = None) -> list[tuple]:
    """Return the buckets of these ``hashes``, or all buckets, ascending, without texts and vectors."""
    return _select(database, ("bucket", "hashes", *CELLS), hashes)


def iterate_cells(database: Database, classes: int) -> Iterator[tuple[np.ndarray, Cells]]:
    """Yield the hashes of all tokens, and their cells, in parts of some buckets, so that little memory is needed."""
    cursor = database.execute(f"SELECT {', '.join(('bucket', 'hashes', *CELLS))} FROM tokens ORDER BY bucket")  # noqa: S608
    while rows := cursor.fetchmany(PART_BUCKETS):
        yield parse_cells(rows, classes)


def read_block(database: Database, classes: int) -> Block:
    """Return the content of all buckets."""
    rows = _select(database, ("bucket", *COLUMNS), None)
    cells = parse_cells([row[: 2 + len(CELLS)] for row in rows], classes)[1]
    tokens, vectors = _parse_texts([(*row[:2], *row[-len(TEXTS) :]) for row in rows])
    return Block(tokens, cells, vectors)


def _parse_texts(rows: Sequence[tuple]) -> tuple[TokenArray, np.ndarray]:
    """Return the tokens and the vectors of buckets, of which each row has the key, the hashes, and ``TEXTS``."""
    hashes, sizes = _parse_hashes(rows)
    _, _, lengths_of_rows, texts_of_rows, vectors = zip(*rows) if rows else [()] * (2 + len(TEXTS))
    lengths, texts = _join("lengths", lengths_of_rows, sizes).astype(np.int32), _bytes_of("texts", texts_of_rows)
    if lengths.sum(dtype=np.int64) != len(texts):
        raise Damaged("truncated texts in table tokens")
    packed = TokenArray.of_packed(np.frombuffer(texts, np.uint8), lengths)
    return TokenArray(packed.text, packed.offsets, lengths, hashes), _parse_vectors(vectors, sizes)


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
    rows = _select(database, ("bucket", "hashes", "vectors"), hashes)
    known, sizes = _parse_hashes(rows)
    return known, _parse_vectors([row[2] for row in rows], sizes)


def _select(database: Database, columns: Sequence[str], hashes: np.ndarray | None) -> list[tuple]:
    """Return these columns of the buckets, ascending."""
    condition, values = ("", ()) if hashes is None else (_OF_HASHES, (json.dumps(hashes.tolist()),))
    return database.execute(f"SELECT {', '.join(columns)} FROM tokens {condition} ORDER BY bucket", values).fetchall()  # noqa: S608


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


def parse_cells(rows: Sequence[tuple], classes: int) -> tuple[np.ndarray, Cells]:
    """Return the hashes and the cells of buckets; raise Damaged if no model with these classes has such cells."""
    hashes, sizes = _parse_hashes(rows)
    _, _, places, *others = zip(*rows) if rows else [()] * (2 + len(CELLS))
    place = np.frombuffer(_bytes_of("places", places), np.uint8)
    counts = np.fromiter(map(len, places), np.int64, len(rows))
    label, documents, further = (_join(name, blobs, counts) for name, blobs in zip(CELLS[1:4], others))
    weight = _join("weights", others[3], counts, is_signed=True)
    token = place + np.repeat(np.cumsum(sizes) - sizes, counts)
    is_same = np.diff(token) == 0
    if (place >= np.repeat(sizes, counts)).any() or (np.diff(token) < 0).any():
        raise Damaged("places in table tokens that are not in order")
    if label.max(initial=0) >= max(classes, 1) or (np.diff(label)[is_same] <= 0).any() or (len(label) and not classes):
        raise Damaged("labels in table tokens of unknown or repeated classes")
    if ((documents == 0) & (further > 0)).any() or (weight < -MAX_UNITS).any():
        raise Damaged("impossible figures in table tokens")
    return hashes, Cells(token, label, np.stack([documents, documents + further, weight]))


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


def _join(column: str, blobs: Sequence[Any], counts: np.ndarray, is_signed: bool = False) -> np.ndarray:
    """Return the numbers of a column (n,) int64; bucket i has ``counts[i]`` of them."""
    _bytes_of(column, blobs)
    lengths = np.fromiter(map(len, blobs), np.int64, len(blobs))
    widths = lengths // np.maximum(counts, 1)
    used = {*widths.tolist()}
    if (lengths != widths * counts).any() or not used <= {0, 1, 2, 4}:
        raise Damaged(f"truncated {column} in table tokens")
    numbers = np.zeros(int(counts.sum()), np.int64)
    for width in used - {0}:
        has_width = widths == width
        octets = b"".join(compress(blobs, has_width.tolist()))
        numbers[np.repeat(has_width, counts)] = np.frombuffer(octets, _number_type(width, is_signed))
    return numbers


def _number_type(width: int, is_signed: bool) -> np.dtype:
    return np.dtype(f"<{'i' if is_signed else 'u'}{width}")


# -- writing -----------------------------------------------------------------------------------------------------


def write_blocks(database: Database, blocks: Iterable[Block]) -> None:
    """Write tokens into a new, empty table; the blocks follow one another, ascending by hash."""
    last_hash: Any = LOWEST
    for block in blocks:
        for first in range(0, len(block.tokens), CHUNK_TOKENS):
            end = min(first + CHUNK_TOKENS, len(block.tokens))
            begins = np.arange(first, end, BUCKET_TOKENS)
            keys = _separate(np.append(last_hash, block.tokens.hashes[first:end]), begins - first + 1)
            _write(database, block, keys, np.append(begins, end))
            last_hash = block.tokens.hashes[end - 1]


def rewrite(
    database: Database, rows: Sequence[tuple], hashes: np.ndarray, figures: np.ndarray, texts: TokenArray
) -> tuple[list[tuple], list[int]]:
    """Replace the ``figures`` (k, C, 3) of the tokens with these ``hashes``, ascending. A token of zeros is deleted.

    ``rows`` are the buckets of the hashes (``select_cells``), and ``texts`` tokens in any order, among them all that
    the file lacks. Return the buckets as they were written, and the keys of those that were deleted.
    """
    lowest = hashes[figures.any(axis=(1, 2))][:1]
    if len(lowest) and (not rows or lowest[0] < rows[0][0]):  # no bucket has such a low hash
        rows = [(LOWEST, *[b""] * (1 + len(CELLS))), *rows]
    step = max(1, MAX_CELLS // (MAX_BUCKET_TOKENS * figures.shape[1]))
    bounds = [*np.searchsorted(hashes, [row[0] for row in rows[::step]]).tolist(), len(hashes)]
    written: list[tuple] = []
    deleted: list[int] = []
    for i, (begin, end) in enumerate(pairwise(bounds)):
        chunk = rows[i * step : (i + 1) * step]
        buckets, keys = _rewrite_buckets(database, chunk, hashes[begin:end], figures[begin:end], texts)
        written, deleted = written + buckets, deleted + keys
    return written, deleted


def _rewrite_buckets(
    database: Database, rows: Sequence[tuple], hashes: np.ndarray, figures: np.ndarray, texts: TokenArray
) -> tuple[list[tuple], list[int]]:
    """Rewrite some buckets. Of those that keep their tokens, nine in ten of a lesson, only the cells are written."""
    (stored, old_cells), keys = parse_cells(rows, figures.shape[1]), np.array([row[0] for row in rows], np.int64)
    is_new = (find_sorted(stored, hashes) < 0) & figures.any(axis=(1, 2))
    both = np.append(stored, hashes[is_new])
    order = np.argsort(both, kind="stable")  # which takes little time for two parts that are sorted
    both, table = both[order], old_cells.table(len(order), figures.shape[1])[order]
    place = find_sorted(both, hashes)
    table[place[place >= 0]] = figures[place >= 0]  # the others were learned and forgotten in one transaction
    cells = Cells.of_table(table)
    has_cells = np.bincount(cells.token, minlength=len(both)) > 0
    has_moved = np.zeros(len(keys), bool)  # whether a bucket gets or loses a token
    has_moved[np.searchsorted(keys, both[(order >= len(stored)) | ~has_cells], side="right") - 1] = True
    both, cells = both[has_cells], cells._replace(token=(np.cumsum(has_cells) - 1)[cells.token])

    begins = np.searchsorted(both, keys)
    sizes = np.diff(begins, append=len(both))
    n_parts = np.where(sizes > MAX_BUCKET_TOKENS, -(-sizes // BUCKET_TOKENS), sizes > 0)
    has_moved |= n_parts != 1
    nth = np.arange(n_parts.sum()) - np.repeat(np.cumsum(n_parts) - n_parts, n_parts)
    begins = np.repeat(begins, n_parts) + BUCKET_TOKENS * nth
    new_keys = np.where(nth > 0, _separate(both, begins), np.repeat(keys, n_parts))
    bounds = np.append(begins, len(both))
    written = list(zip(new_keys.tolist(), _slice(both.astype(_HASH), bounds), *_pack_cells(database, cells, bounds)))

    is_moved = np.repeat(has_moved, n_parts)
    update = f"UPDATE tokens SET {', '.join(f'{name} = ?' for name in CELLS)} WHERE bucket = ?"  # noqa: S608
    database.executemany(update, [(*row[2:], row[0]) for row in compress(written, (~is_moved).tolist())])
    if is_moved.any():
        old_texts, old_vectors = _parse_texts(_select(database, ("bucket", "hashes", *TEXTS), keys[has_moved]))
        tokens = TokenArray.concat([old_texts, texts])
        distinct, first = np.unique(tokens.hashes, return_index=True)
        chosen = first[find_sorted(distinct, both[np.repeat(is_moved, np.diff(bounds))])]
        vectors = np.zeros((len(tokens), old_vectors.shape[1]), VECTOR)
        vectors[: len(old_vectors)] = old_vectors
        moved_bounds = np.append(0, np.cumsum(np.diff(bounds)[is_moved]))
        columns = zip(*_pack_texts(database, tokens.take(chosen), vectors[chosen], moved_bounds))
        _insert(database, [(*row, *blobs) for row, blobs in zip(compress(written, is_moved.tolist()), columns)])
    deleted = keys[sizes == 0].tolist()
    database.executemany("DELETE FROM tokens WHERE bucket = ?", [(key,) for key in deleted])
    return written, deleted


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


def _write(database: Database, block: Block, keys: np.ndarray, bounds: np.ndarray) -> None:
    """Write the tokens between each two ``bounds`` into the bucket with the key."""
    chunk, token_bounds = np.arange(bounds[0], bounds[-1]), bounds - bounds[0]
    tokens, cells = block.tokens.take(chunk), block.cells.take(chunk)
    columns = _slice(tokens.hashes.astype(_HASH), token_bounds), *_pack_cells(database, cells, token_bounds)
    _insert(database, zip(keys.tolist(), *columns, *_pack_texts(database, tokens, block.vectors[chunk], token_bounds)))


def _insert(database: Database, rows: Iterable[tuple]) -> None:
    database.executemany("REPLACE INTO tokens VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)


def _pack_texts(
    database: Database, tokens: TokenArray, vectors: np.ndarray, bounds: np.ndarray
) -> tuple[list[bytes], list[bytes], list[bytes]]:
    """Return the columns ``TEXTS`` of buckets, each with the tokens between two ``bounds``."""
    if tokens.lengths.max(initial=0) > MAX_TOKEN_BYTES:
        raise SpamnbError(f"{database.path}: a token is longer than a model file holds")
    ends = np.append(0, np.cumsum(tokens.lengths, dtype=np.int64))
    texts = _slice(tokens.packed(), ends[bounds])
    return _pack(tokens.lengths, bounds), texts, _slice(vectors.astype(VECTOR), bounds)


def _pack_cells(database: Database, cells: Cells, bounds: np.ndarray) -> list[list[bytes]]:
    """Return the columns ``CELLS`` of buckets, each with the tokens between two ``bounds``."""
    figures = cells.figures
    if figures[:WEIGHT].max(initial=0) > MAX_COUNT:
        raise SpamnbError(f"{database.path}: a token was counted more than {MAX_COUNT:,} times, which no model holds")
    if np.abs(figures[WEIGHT]).max(initial=0) > MAX_UNITS:
        raise SpamnbError(f"{database.path}: a token's weight is larger than a model file holds")
    cell_bounds = np.searchsorted(cells.token, bounds)
    place = cells.token - np.repeat(bounds[:-1], np.diff(cell_bounds))
    return [
        _slice(place.astype(np.uint8), cell_bounds),
        _pack(cells.label, cell_bounds),
        _pack(figures[DOCUMENTS], cell_bounds),
        _pack(figures[OCCURRENCES] - figures[DOCUMENTS], cell_bounds),
        _pack(figures[WEIGHT], cell_bounds, is_signed=True),
    ]


def _slice(values: np.ndarray, bounds: np.ndarray) -> list[bytes]:
    """Return the bytes of the rows between each two bounds."""
    octets, ends = values.tobytes(), (bounds * (values.nbytes // max(len(values), 1))).tolist()
    return list(map(octets.__getitem__, map(slice, ends, ends[1:])))


def _pack(numbers: np.ndarray, bounds: np.ndarray, is_signed: bool = False) -> list[bytes]:
    """Return the numbers between each two bounds as bytes, as narrow as they can be."""
    sizes, largest = np.diff(bounds), np.zeros(len(bounds) - 1, np.int64)
    # The largest number of each part that has one; a negative number −n needs the width of n − 1.
    magnitudes = np.maximum(numbers, -1 - numbers) << 1 | (numbers != 0) if is_signed else numbers
    if len(numbers):
        largest[sizes > 0] = np.maximum.reduceat(magnitudes, bounds[:-1][sizes > 0])
    widths = np.array([0, 1, 2, 4])[np.searchsorted([0, 0xFF, 0xFFFF], largest)]
    blobs = [b""] * len(sizes)
    for width in {*widths.tolist()} - {0}:
        parts = np.flatnonzero(widths == width)
        octets = numbers.astype(_number_type(width, is_signed)).tobytes()
        begins, ends = (width * bounds[parts]).tolist(), (width * bounds[parts + 1]).tolist()
        for part, begin, end in zip(parts.tolist(), begins, ends):
            blobs[part] = octets[begin:end]
    return blobs
