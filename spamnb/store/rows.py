"""Rows of table ``tokens``: what each token has in every class, as arrays.

A row's cells are packed in one blob, 14 bytes a class that has the token: its number, how many of its messages hold the
token, how often it occurs in them, and its weight in a corrected model. ``numpy.frombuffer`` reads them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from spamnb.errors import Damaged, SpamnbError
from spamnb.reader.token_array import TokenArray

CELL = np.dtype([("class", "<u2"), ("documents", "<u4"), ("occurrences", "<u4"), ("weight", "<i4")])
DOCUMENTS, OCCURRENCES, WEIGHT = range(3)  # rows of ``TokenRows.figures``
MAX_COUNT = (1 << 32) - 1  # of a count
MAX_UNITS = (1 << 31) - 1  # of a weight
_CLASSES = 1 << 16  # more than there can be


def described(tokens: Sequence[str]) -> TokenArray:
    """The same tokens with their hashes and groups."""
    return tokens if isinstance(tokens, TokenArray) else TokenArray.of(tokens)


class TokenRows:
    """The rows of k tokens, ascending by hash: token j has the cells from ``starts[j]`` to ``starts[j + 1]``.

    >>> rows = TokenRows.absent(np.array([7, 9])).plus(np.array([1]), 0, np.array([[1], [3], [0]]))
    >>> rows.dense(OCCURRENCES, 2, np.array([0, 1])), rows.held
    (array([[0, 3],
           [0, 0]]), array([False,  True]))
    """

    def __init__(
        self, hashes: np.ndarray, known: np.ndarray, starts: np.ndarray, label: np.ndarray, figures: np.ndarray
    ) -> None:
        self.hashes = hashes  # (k,) int64
        self.known = known  # (k,) bool: has the table a row?
        self.starts = starts  # (k+1,)
        self.label = label  # (nnz,) class numbers, ascending in each token
        self.figures = figures  # (3, nnz) int64: documents, occurrences, weight
        self.changed = np.zeros(len(hashes), bool)  # and not written yet
        self.taught = np.zeros(len(hashes), bool)  # by a lesson that is not written yet

    def __len__(self) -> int:
        return len(self.hashes)

    @classmethod
    def absent(cls, hashes: np.ndarray) -> TokenRows:
        """Of tokens that have no row."""
        none = np.zeros(len(hashes) + 1, np.intp)
        return cls(hashes, np.zeros(len(hashes), bool), none, none[:0], np.zeros((3, 0), np.int64))

    @classmethod
    def read(cls, found: Sequence[tuple[int, bytes]], asked: np.ndarray | None, classes: int) -> TokenRows:
        """From hash and cells of rows, ascending by hash, the rows of the tokens ``asked`` (k,), ascending; of all that
        were found where that is None."""
        keys, blobs = zip(*found) if found else ((), ())
        try:
            packed = b"".join(blobs)
        except TypeError:
            raise Damaged("cells in table tokens that are no cells") from None
        lengths = np.fromiter(map(len, blobs), np.intp, len(blobs))
        if (lengths % CELL.itemsize).any():
            raise Damaged("cells in table tokens that were cut short")
        cells = np.frombuffer(packed, CELL)
        hashes, held = np.array(keys, np.int64), lengths // CELL.itemsize
        if asked is None:
            asked = hashes
        known = np.zeros(len(asked), bool)
        place = np.searchsorted(asked, hashes)
        known[place] = True
        starts = np.zeros(len(asked) + 1, np.intp)
        starts[place + 1] = held
        np.cumsum(starts, out=starts)
        label = cells["class"].astype(np.intp)
        figures = np.array([cells["documents"], cells["occurrences"], cells["weight"]], np.int64)
        rows = cls(asked, known, starts, label, figures)
        rows._check(classes)
        return rows

    def _check(self, classes: int) -> None:
        documents, occurrences, _ = self.figures
        if self.label.max(initial=-1) >= classes or (np.diff(self.token * _CLASSES + self.label) <= 0).any():
            raise Damaged("cells in table tokens of classes that cannot be")
        if (documents > occurrences).any() or ((documents == 0) & (occurrences > 0)).any():
            raise Damaged("sums of tokens that cannot be")

    @property
    def token(self) -> np.ndarray:
        """(nnz,) the place of the token that each cell is of."""
        return np.repeat(np.arange(len(self)), np.diff(self.starts))

    @property
    def held(self) -> np.ndarray:
        """(k,) bool: does any message hold the token?"""
        return np.bincount(self.token[self.figures[DOCUMENTS] > 0], minlength=len(self)).astype(bool)

    def places(self, hashes: np.ndarray) -> np.ndarray:
        """The places (m,) of tokens; −1 for those that are not here."""
        if not len(self):
            return np.full(len(hashes), -1)
        place = np.searchsorted(self.hashes, hashes)
        place[place == len(self)] = 0
        place[self.hashes[place] != hashes] = -1
        return place

    def take(self, at: np.ndarray) -> TokenRows:
        """The rows at these places, ascending; what is not written yet stays so."""
        starts, cells = self._cells(at)
        rows = TokenRows(self.hashes[at], self.known[at], starts, self.label[cells], self.figures[:, cells])
        rows.changed, rows.taught = self.changed[at], self.taught[at]
        return rows

    def _cells(self, at: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Where the cells of the tokens at these places begin if they are taken out, and the places of these cells."""
        lengths = self.starts[at + 1] - self.starts[at]
        starts = np.append(0, np.cumsum(lengths))
        return starts, np.repeat(self.starts[at] - starts[:-1], lengths) + np.arange(starts[-1])

    def dense(self, figure: int, classes: int, at: np.ndarray) -> np.ndarray:
        """One figure of the tokens at these places, (classes, m)."""
        starts, cells = self._cells(at)
        out = np.zeros((classes, len(at)), np.int64)
        out[self.label[cells], np.repeat(np.arange(len(at)), np.diff(starts))] = self.figures[figure, cells]
        return out

    def of_class(self, number: int, at: np.ndarray) -> np.ndarray:
        """The figures (3, m) of one class for the tokens at these places."""
        out = np.zeros((3, len(self)), np.int64)
        own = np.flatnonzero(self.label == number)
        out[:, self.token[own]] = self.figures[:, own]
        return out[:, at]

    def plus(self, at: np.ndarray, label: np.ndarray | int, figures: np.ndarray) -> TokenRows:
        """The same with cells added: of the tokens at these places (m,), in the classes ``label``, (3, m) figures."""
        added = at * _CLASSES + label
        keys = np.concatenate([self.token * _CLASSES + self.label, added])
        order = np.argsort(keys, kind="stable")
        ordered = keys[order]
        first = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1])[: len(ordered)])
        sums = np.add.reduceat(np.concatenate([self.figures, figures], axis=1)[:, order], first, axis=1)
        some = sums.any(axis=0)
        cells, sums = ordered[first][some], np.ascontiguousarray(sums[:, some])
        starts = np.searchsorted(cells // _CLASSES, np.arange(len(self) + 1))
        rows = TokenRows(self.hashes, self.known, starts, cells % _CLASSES, sums)
        rows.changed, rows.taught = self.changed.copy(), self.taught
        rows.changed[at] = True
        return rows

    def merge(self, other: TokenRows) -> TokenRows:
        """These rows and those of other tokens."""
        order = np.argsort(np.concatenate([self.hashes, other.hashes]))
        joined = TokenRows(
            np.concatenate([self.hashes, other.hashes]),
            np.concatenate([self.known, other.known]),
            np.concatenate([self.starts, other.starts[1:] + self.starts[-1]]),
            np.concatenate([self.label, other.label]),
            np.concatenate([self.figures, other.figures], axis=1),
        )
        joined.changed = np.concatenate([self.changed, other.changed])
        joined.taught = np.concatenate([self.taught, other.taught])
        return joined.take(order)

    def blobs(self, path: str) -> list[bytes]:
        """The cells of each token as its row holds them. SpamnbError where a figure is too large for a file."""
        counts, weights = self.figures[:WEIGHT], self.figures[WEIGHT]
        if counts.max(initial=0) > MAX_COUNT:
            raise SpamnbError(
                f"{path}: a token was counted more than {MAX_COUNT:,} times, which a model file does not hold"
            )
        if np.abs(weights).max(initial=0) > MAX_UNITS:
            raise SpamnbError(f"{path}: a token's weight is larger than a model file holds")
        cells = np.empty(len(self.label), CELL)
        cells["class"] = self.label
        cells["documents"], cells["occurrences"], cells["weight"] = self.figures
        packed, ends = cells.tobytes(), (CELL.itemsize * self.starts).tolist()
        return list(map(packed.__getitem__, map(slice, ends, ends[1:])))


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


def texts(tokens: TokenArray) -> Iterator[str]:
    """The tokens as strings, as quickly as can be."""
    packed, ends = tokens.packed().tobytes(), np.append(0, np.cumsum(tokens.lengths, dtype=np.int64)).tolist()
    return map(bytes.decode, map(packed.__getitem__, map(slice, ends, ends[1:])))
