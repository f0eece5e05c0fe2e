"""Rows of table ``tokens``: what each token has in every class, as arrays.

A row's cells are packed in one blob, one cell a class that has the token: the class's number, how many of its messages
hold the token, how often it occurs beyond that, and its weight in a corrected model, whose sign is the lowest bit.
Numbers have 7 bits a byte, the lowest first; a byte above 127 has another behind it. So most cells take 4 bytes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from spamnb.counts.class_counts import ClassCounts, SparseRow
from spamnb.errors import Damaged, SpamnbError
from spamnb.reader.tokens import CHUNK_TOKENS, TokenArray

DOCUMENTS, OCCURRENCES, WEIGHT = range(3)  # of figures
MAX_COUNT = (1 << 32) - 1  # of a count
MAX_UNITS = (1 << 31) - 1  # of a weight
_NUMBERS = 4  # of a packed cell
_LEAST = 1 << 7 * np.arange(1, 9)  # numbers of two bytes, of three …
MAX_BYTES = 5  # of a number that is read


class Cells(NamedTuple):
    """Figures of tokens in classes, those that are not 0, ascending by token and then by class.

    >>> cells = Cells.sum(np.array([0, 2, 0]), np.array([1, 0, 1]), np.array([[1, 1, 2], [3, 1, 4], [0, -5, 0]]))
    >>> cells.figures
    array([[ 3,  1],
           [ 7,  1],
           [ 0, -5]])
    >>> [blob.hex() for blob in cells.pack(3, "m")]
    ['01030400', '', '00010009']
    >>> all(map(np.array_equal, cells, Cells.unpack(cells.pack(3, "m"), 2)))
    True
    """

    token: np.ndarray  # (nnz,) places in a list of tokens
    label: np.ndarray  # (nnz,) class numbers
    figures: np.ndarray  # (3, nnz) int64: documents, occurrences, weight

    @classmethod
    def sum(cls, token: np.ndarray, label: np.ndarray, figures: np.ndarray) -> Cells:
        """From cells in any order, those of one token and class added up."""
        key = token.astype(np.int64) << 16 | label
        order = np.argsort(key, kind="stable")  # parts that are sorted already are merged
        key, token, label, figures = key[order], token[order], label[order], figures[:, order]
        first = np.flatnonzero(np.append(True, np.diff(key) > 0)[: len(key)])
        sums = np.add.reduceat(figures, first, axis=1) if len(first) else figures
        some = sums.any(axis=0)
        return cls(token[first][some], label[first][some], sums[:, some])

    @classmethod
    def of_counts(cls, counts: ClassCounts, weights: np.ndarray | None = None) -> Cells:
        """From the sums of classes, and the weights (V, C) of the tokens."""
        token = np.concatenate([np.zeros(0, np.intp), *(row.columns for row in counts.rows)])
        label = np.repeat(np.arange(len(counts.rows)), [len(row.columns) for row in counts.rows])
        figures = np.zeros((3, len(token)), np.int64)
        figures[DOCUMENTS] = np.concatenate([token[:0], *(row.document_counts for row in counts.rows)])
        figures[OCCURRENCES] = np.concatenate([token[:0], *(row.occurrences for row in counts.rows)])
        if weights is not None:
            of_token, of_label = np.nonzero(weights)
            added = np.zeros((3, len(of_token)), np.int64)
            added[WEIGHT] = weights[of_token, of_label]
            token, label = np.append(token, of_token), np.append(label, of_label)
            figures = np.append(figures, added, axis=1)
        return cls.sum(token, label, figures)

    def counts(self, classes: Sequence[str], documents: np.ndarray, vocabulary_size: int) -> ClassCounts:
        """As sums of classes; the names of these may come in any order."""
        order = sorted(range(len(classes)), key=classes.__getitem__)
        held = np.flatnonzero(self.figures[DOCUMENTS])
        by_class = held[np.argsort(self.label[held], kind="stable")]
        bounds = np.searchsorted(self.label[by_class], np.arange(len(classes) + 1))
        parts = [by_class[bounds[c] : bounds[c + 1]] for c in order]
        rows = tuple(SparseRow(self.token[at], *self.figures[:WEIGHT, at]) for at in parts)
        return ClassCounts(tuple(classes[c] for c in order), documents[order], vocabulary_size, rows)

    def sums(self, figure: int, by: np.ndarray, size: int) -> np.ndarray:
        """One figure added up, by token or by label, (size,)."""
        out = np.zeros(size, np.int64)
        np.add.at(out, by, self.figures[figure])
        return out

    @classmethod
    def unpack(cls, blobs: Sequence[bytes], classes: int) -> Cells:
        """The cells of rows. Damaged where they are none of a model of so many classes."""
        parts = [(first, cls._unpack(blobs[first : first + CHUNK_TOKENS], classes)) for first in _chunks(len(blobs))]
        token, label = np.zeros((2, 0), np.int64)
        return cls(
            np.concatenate([token, *(part.token + first for first, part in parts)]),
            np.concatenate([label, *(part.label for _, part in parts)]),
            np.concatenate([np.zeros((3, 0), np.int64), *(part.figures for _, part in parts)], axis=1),
        )

    @classmethod
    def _unpack(cls, blobs: Sequence[bytes], classes: int) -> Cells:
        try:
            found = unpack_numbers(b"".join(blobs))
            ends = np.cumsum(np.fromiter(map(len, blobs), np.intp, len(blobs)))
        except TypeError:
            raise Damaged("cells in table tokens that are no cells") from None
        numbers, last = found or (np.zeros(0, np.int64), np.zeros(0, np.int64))
        of_rows = np.searchsorted(last, ends, side="right")  # numbers up to the end of each row
        if not found or len(numbers) % _NUMBERS or (of_rows % _NUMBERS).any():
            raise Damaged("cells in table tokens that were cut short")
        if not np.array_equal(np.append(0, last)[of_rows], ends):
            raise Damaged("cells in table tokens that were cut short")
        label, documents, more, weight = numbers.reshape(-1, _NUMBERS).T
        token = np.repeat(np.arange(len(blobs)), np.diff(of_rows // _NUMBERS, prepend=0))
        if label.max(initial=-1) >= classes or ((np.diff(token) == 0) & (np.diff(label) <= 0)).any():
            raise Damaged("cells in table tokens of classes that cannot be")
        if ((documents == 0) & (more > 0)).any() or max(documents.max(initial=0), more.max(initial=0)) > MAX_COUNT:
            raise Damaged("sums of tokens that cannot be")
        return cls(token, label, np.stack([documents, documents + more, (weight >> 1) ^ -(weight & 1)]))

    def pack(self, tokens: int, path: str) -> list[bytes]:
        """The cells of each of so many tokens as its row holds them. SpamnbError, which names the file, where a figure
        is too large for one."""
        if self.figures[OCCURRENCES].max(initial=0) > MAX_COUNT:
            raise SpamnbError(f"{path}: a token was counted more than {MAX_COUNT:,} times, which no model file holds")
        if np.abs(self.figures[WEIGHT]).max(initial=0) > MAX_UNITS:
            raise SpamnbError(f"{path}: a token's weight is larger than a model file holds")
        starts, blobs = np.searchsorted(self.token, np.arange(tokens + 1)), list[bytes]()
        for first in _chunks(tokens):
            own = starts[first : first + CHUNK_TOKENS + 1]
            at = slice(own[0], own[-1])
            documents, occurrences, weight = self.figures[:, at]
            signed = (weight << 1) ^ (weight >> 63)
            numbers = np.stack([self.label[at], documents, occurrences - documents, signed], axis=1).ravel()
            packed, ends = pack_numbers(numbers)
            bounds = np.append(0, ends)[_NUMBERS * (own - own[0])].tolist()
            blobs += map(packed.__getitem__, map(slice, bounds, bounds[1:]))
        return blobs


def _chunks(tokens: int) -> range:
    """Where each few thousand of so many tokens begin: what is made of them fits the processor's cache."""
    return range(0, tokens, CHUNK_TOKENS)


def pack_numbers(numbers: np.ndarray) -> tuple[bytes, np.ndarray]:
    """Numbers (k,) that are not negative, and where each ends, (k,).

    >>> packed, ends = pack_numbers(np.array([5, 300]))
    >>> packed.hex(), ends, unpack_numbers(packed)
    ('05ac02', array([1, 3]), (array([  5, 300]), array([1, 3])))
    """
    lengths = np.searchsorted(_LEAST, numbers, side="right") + 1
    ends = np.cumsum(lengths)
    left = np.repeat(ends, lengths) - np.arange(lengths.sum()) - 1  # bytes behind this one
    place = np.repeat(lengths, lengths) - 1 - left
    octets = np.repeat(numbers, lengths) >> 7 * place & 127 | (left > 0) << 7
    return octets.astype(np.uint8).tobytes(), ends


def unpack_numbers(packed: bytes) -> tuple[np.ndarray, np.ndarray] | None:
    """The numbers that were packed so, and where each ends; None where they are no such numbers."""
    octets = np.frombuffer(packed, np.uint8)
    ends = np.flatnonzero(octets < 128) + 1
    lengths = np.diff(ends, prepend=0)
    if lengths.max(initial=0) > MAX_BYTES or ends.max(initial=0) != len(octets):
        return None
    place = np.arange(len(octets)) - np.repeat(ends - lengths, lengths)
    return np.add.reduceat((octets & 127).astype(np.int64) << 7 * place, ends - lengths) if len(ends) else ends, ends


def tokens_of(texts: Iterable[bytes]) -> TokenArray:
    """The tokens of rows, from their text. Damaged where that is none."""
    try:
        read = list(texts)
        joined = b"".join(read)
        joined.decode()
    except (TypeError, UnicodeDecodeError):
        raise Damaged("tokens in table tokens that are no text") from None
    lengths = np.fromiter(map(len, read), np.int32, len(read))
    text, offsets = np.frombuffer(joined, np.uint8), np.cumsum(lengths, dtype=np.int64) - lengths
    if (text[offsets[offsets < len(text)]] & 0xC0 == 0x80).any():
        raise Damaged("tokens in table tokens that begin inside a character")
    return TokenArray(text, offsets, lengths)
