"""Rows of table ``tokens``: the figures of each token in every class, as arrays.

A row has one blob with a cell for each class that has the token. A cell is four numbers: the class, the messages of the
class that have the token, the occurrences of the token less these messages, and the weight of the correction, whose
lowest bit is the sign. A number has 7 bits per byte, the lowest first, and its last byte is below 128. So most cells
take 4 bytes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from spamnb.core.library import lib, pointer
from spamnb.counts.class_counts import ClassCounts, SparseRow
from spamnb.errors import Damaged, SpamnbError
from spamnb.reader.tokens import CHUNK_TOKENS, TokenArray

DOCUMENTS, OCCURRENCES, WEIGHT = range(3)  # indices of ``Cells.figures``
MAX_COUNT = (1 << 32) - 1  # of a count
MAX_UNITS = (1 << 31) - 1  # of a weight
MAX_FIGURES = 1 << 16  # token × class of a table with zeros: 1.5 MB, which fit the processor's cache
_NUMBERS = 4  # in a packed cell
MAX_BYTES = 5  # of a packed number: enough for 32 bits and a sign


class Cells(NamedTuple):
    """Figures of tokens in classes, ascending by token and then by class. Cells with three zeros are left out.

    >>> cells = Cells.sum(np.array([0, 2, 0]), np.array([1, 0, 1]), np.array([[1, 1, 2], [3, 1, 4], [0, -5, 0]]))
    >>> cells.figures
    array([[ 3,  1],
           [ 7,  1],
           [ 0, -5]])
    >>> [blob.hex() for blob in cells.pack(3, "m").blobs()]
    ['01030400', '', '00010009']
    >>> all(map(np.array_equal, cells, Cells.unpack(cells.pack(3, "m").blobs(), 2)))
    True
    """

    token: np.ndarray  # (nnz,) indices in a list of tokens
    label: np.ndarray  # (nnz,) class numbers
    figures: np.ndarray  # (3, nnz) int64: documents, occurrences, weight

    @classmethod
    def sum(cls, token: np.ndarray, label: np.ndarray, figures: np.ndarray) -> Cells:
        """Make cells from figures in any order; figures of the same token and class are added up."""
        key = token.astype(np.int64) << 16 | label
        order = np.argsort(key, kind="stable")  # a stable sort merges parts that are sorted already
        key, token, label, figures = key[order], token[order], label[order], figures[:, order]
        first = np.flatnonzero(np.append(True, np.diff(key) > 0)[: len(key)])
        sums = np.add.reduceat(figures, first, axis=1) if len(first) else figures
        nonzero = sums.any(axis=0)
        return cls(token[first][nonzero], label[first][nonzero], sums[:, nonzero])

    @classmethod
    def of_counts(cls, counts: ClassCounts, weights: np.ndarray | None = None) -> Cells:
        """Make cells from the sums of classes, and from the weights (V, C) of the tokens."""
        size, classes = counts.n_columns, len(counts.rows)
        step, parts = max(1, MAX_FIGURES // max(classes, 1)), [cls._unpack((), classes)]
        for first in range(0, size, step):
            table = np.zeros((3, min(step, size - first), classes), np.int64)
            for c, row in enumerate(counts.between(first, first + step).rows):
                table[:WEIGHT, row.columns, c] = row.document_counts, row.occurrences
            if weights is not None:
                table[WEIGHT] = weights[first : first + step]
            token, label = np.nonzero(table.any(axis=0))
            parts.append(cls(token + first, label, table[:, token, label]))
        return cls.join(parts)

    @classmethod
    def join(cls, parts: Sequence[Cells]) -> Cells:
        """Concatenate the cells of tokens that follow one another."""
        token, label, figures = zip(*parts)
        return cls(np.concatenate(token), np.concatenate(label), np.concatenate(figures, axis=1))

    def counts(self, classes: Sequence[str], documents: np.ndarray, n_columns: int) -> ClassCounts:
        """Return the sums of classes, whose names may be in any order."""
        order = sorted(range(len(classes)), key=classes.__getitem__)
        nonzero = np.flatnonzero(self.figures[DOCUMENTS])
        by_class = nonzero[np.argsort(self.label[nonzero], kind="stable")]
        bounds = np.searchsorted(self.label[by_class], np.arange(len(classes) + 1))
        parts = [by_class[bounds[c] : bounds[c + 1]] for c in order]
        rows = tuple(SparseRow(self.token[part], *self.figures[:WEIGHT, part]) for part in parts)
        return ClassCounts(tuple(classes[c] for c in order), documents[order], n_columns, rows)

    def sums(self, figure: int, by: np.ndarray, size: int) -> np.ndarray:
        """Return the sums (size,) of one figure ``by`` token or by label."""
        sums = np.zeros(size, np.int64)
        np.add.at(sums, by, self.figures[figure])
        return sums

    @classmethod
    def unpack(cls, blobs: Sequence[bytes], classes: int) -> Cells:
        """Return the cells of rows; raise Damaged if they are not of a model with this number of classes."""
        parts = []
        for first in _chunks(max(len(blobs), 1)):
            part = cls._unpack(blobs[first : first + CHUNK_TOKENS], classes)
            parts.append(part._replace(token=part.token + first))
        return cls.join(parts)

    @classmethod
    def _unpack(cls, blobs: Sequence[bytes], classes: int) -> Cells:
        try:
            unpacked = unpack_numbers(b"".join(blobs))
            ends = np.cumsum(np.fromiter(map(len, blobs), np.intp, len(blobs)))
        except TypeError:
            raise Damaged("cells in table tokens that are not bytes") from None
        numbers, last = unpacked or (np.zeros(0, np.int64), np.zeros(0, np.int64))
        n_numbers = np.searchsorted(last, ends, side="right")  # numbers that end at or before the end of each row
        if not unpacked or len(numbers) % _NUMBERS or (n_numbers % _NUMBERS).any():
            raise Damaged("truncated cells in table tokens")
        if not np.array_equal(np.append(0, last)[n_numbers], ends):
            raise Damaged("truncated cells in table tokens")
        label, documents, further, weight = numbers.reshape(-1, _NUMBERS).T
        token = np.repeat(np.arange(len(blobs)), np.diff(n_numbers // _NUMBERS, prepend=0))
        if label.max(initial=-1) >= classes or ((np.diff(token) == 0) & (np.diff(label) <= 0)).any():
            raise Damaged("cells in table tokens of unknown or repeated classes")
        if ((documents == 0) & (further > 0)).any() or max(
            documents.max(initial=0), further.max(initial=0)
        ) > MAX_COUNT:
            raise Damaged("impossible counts in the cells of table tokens")
        return cls(token, label, np.stack([documents, documents + further, (weight >> 1) ^ -(weight & 1)]))

    def pack(self, tokens: int, path: str) -> PackedCells:
        """Return the bytes of each token's cells; raise SpamnbError with the ``path`` if a figure is too large."""
        if self.figures[OCCURRENCES].max(initial=0) > MAX_COUNT:
            raise SpamnbError(f"{path}: a token was counted more than {MAX_COUNT:,} times, which no model file holds")
        if np.abs(self.figures[WEIGHT]).max(initial=0) > MAX_UNITS:
            raise SpamnbError(f"{path}: a token's weight is larger than a model file holds")
        starts, parts, bounds = np.searchsorted(self.token, np.arange(tokens + 1)), [], [np.zeros(1, np.int64)]
        for first in _chunks(tokens):
            cells = starts[first : first + CHUNK_TOKENS + 1]
            chunk = slice(cells[0], cells[-1])
            documents, occurrences, weight = self.figures[:, chunk]
            signed = (weight << 1) ^ (weight >> 63)
            numbers = np.stack([self.label[chunk], documents, occurrences - documents, signed], axis=1).ravel()
            packed, ends = pack_numbers(numbers)
            bounds.append(bounds[-1][-1] + np.append(0, ends)[_NUMBERS * (cells[1:] - cells[0])])
            parts.append(packed)
        return PackedCells(np.concatenate([np.zeros(0, np.uint8), *parts]), np.concatenate(bounds))


class PackedCells(NamedTuple):
    """The cells of k tokens as bytes."""

    octets: np.ndarray  # (bytes,) uint8
    bounds: np.ndarray  # (k + 1,) int64, where the cells of each token begin, and where the last ones end

    def blobs(self) -> list[bytes]:
        """Return the bytes of each token's cells."""
        octets, bounds = self.octets.tobytes(), self.bounds.tolist()
        return list(map(octets.__getitem__, map(slice, bounds, bounds[1:])))


def _chunks(tokens: int) -> range:
    """Return the first token of each chunk; the arrays of a chunk fit the processor's cache."""
    return range(0, tokens, CHUNK_TOKENS)


def pack_numbers(numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the bytes of numbers (k,) int64, which must not be negative, and where each ends, (k,).

    >>> packed, ends = pack_numbers(np.array([5, 300]))
    >>> packed.tobytes().hex(), ends, unpack_numbers(packed)
    ('05ac02', array([1, 3]), (array([  5, 300]), array([1, 3])))
    """
    packed, ends = np.empty(9 * len(numbers), np.uint8), np.empty(len(numbers), np.int64)
    results = pointer("uint8_t", packed), pointer("int64_t", ends)
    size = lib.pack_numbers(pointer("int64_t", numbers), len(numbers), *results)
    return packed[:size], ends


def unpack_numbers(packed: bytes | np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """Return the packed numbers, and where each ends; None if the bytes are not packed numbers."""
    octets = np.frombuffer(packed, np.uint8)
    ends = np.flatnonzero(octets < 128) + 1
    lengths = np.diff(ends, prepend=0)
    if lengths.max(initial=0) > MAX_BYTES or ends.max(initial=0) != len(octets):
        return None
    place = np.arange(len(octets)) - np.repeat(ends - lengths, lengths)
    return np.add.reduceat((octets & 127).astype(np.int64) << 7 * place, ends - lengths) if len(ends) else ends, ends


def tokens_of(texts: Iterable[bytes]) -> TokenArray:
    """Return the tokens of rows from their texts; raise Damaged if one is not UTF-8."""
    try:
        encoded = list(texts)
        joined = b"".join(encoded)
        joined.decode()
    except (TypeError, UnicodeDecodeError):
        raise Damaged("tokens in table tokens that are not UTF-8") from None
    lengths = np.fromiter(map(len, encoded), np.int32, len(encoded))
    text, offsets = np.frombuffer(joined, np.uint8), np.cumsum(lengths, dtype=np.int64) - lengths
    if (text[offsets[offsets < len(text)]] & 0xC0 == 0x80).any():
        raise Damaged("tokens in table tokens that begin inside a character")
    return TokenArray(text, offsets, lengths)
