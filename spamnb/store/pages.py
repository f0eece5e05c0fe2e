"""The sums that training wrote: tokens in the order of their keys, PAGE of them to a page.

A million tokens are 11,364 pages, written in 0.1 s and read in 0.05, where a row for each took 1.1 and 0.7. One
message's few hundred tokens are looked up in at most as many pages and nothing else.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from spamnb.errors import Damaged
from spamnb.tokens.token_array import Tokens

if TYPE_CHECKING:
    from spamnb.counts.class_counts import Sums

# Tokens: as many as fill a page of SQLite's own, 4,096 bytes, in a model of two classes. The model of 24,893 messages
# takes 56 MB, with 64 tokens a page 77.
PAGE = 88
CELL = np.dtype([("class", "<u2"), ("documents", "<u4"), ("occurrences", "<u4")])
MOST = (1 << 32) - 1  # of a count
LONGEST = (1 << 16) - 1  # bytes of a token

Page = tuple[int, bytes, bytes, bytes, bytes, bytes]  # first key, keys, held, cells, lengths, text


class Pages(NamedTuple):
    """The sums of k tokens, ascending by key: token j has ``cells[starts[j]:starts[j + 1]]``, one a class."""

    keys: np.ndarray  # (k,) int64
    starts: np.ndarray  # (k+1,)
    cells: np.ndarray  # (nnz,) of CELL

    @classmethod
    def of(cls, pages: Iterable[tuple[int, bytes, bytes, bytes]], classes: int) -> Pages:
        """From the first key, keys, held and cells of pages in their order. Damaged where they do not belong
        together."""
        firsts, *columns = list(zip(*pages)) or [()] * 4
        keys, held, cells = _arrays(columns, "<i8", "<u2", CELL)
        begins = np.cumsum([0, *map(len, columns[0])]) // keys.itemsize
        if begins[:-1].max(initial=-1) >= len(keys) or keys[begins[:-1]].tolist() != list(firsts):
            raise Damaged("pages of tokens that are not where they should be")
        starts = np.concatenate([[0], np.cumsum(held, dtype=np.int64)])
        fit = len(keys) == len(held) and starts[-1] == len(cells) and (cells["class"] < classes).all()
        if not fit or (keys[1:] <= keys[:-1]).any():
            raise Damaged("pages of tokens that do not fit together")
        return cls(keys, starts, cells)

    def look_up(self, keys: np.ndarray, width: int) -> tuple[np.ndarray, np.ndarray]:
        """Which of ``keys`` are here (f,), and their rows (width, f): N_jc and T_jc of each class in turn."""
        if not len(self.keys):
            return np.zeros(0, np.intp), np.zeros((width, 0), np.int64)
        order = np.argsort(keys)  # a million keys are searched from left to right, not to and fro: 4 times as fast
        place = np.searchsorted(self.keys, keys[order])
        place[place == len(self.keys)] = 0
        here = self.keys[place] == keys[order]
        found, place = order[here], place[here]
        return found, self._rows(self.starts[place], self.starts[place + 1], width)

    @property
    def columns(self) -> np.ndarray:
        """(nnz,) the place of the token that each cell is of."""
        return np.repeat(np.arange(len(self.keys)), np.diff(self.starts))

    def _rows(self, begins: np.ndarray, ends: np.ndarray, width: int) -> np.ndarray:
        held = ends - begins
        cells = self.cells[np.repeat(ends - np.cumsum(held), held) + np.arange(held.sum())]
        table = np.zeros((width, len(begins)), np.int64)
        token = np.repeat(np.arange(len(begins)), held)
        table[2 * cells["class"].astype(np.intp), token] = cells["documents"]
        table[2 * cells["class"].astype(np.intp) + 1, token] = cells["occurrences"]
        return table


def pack(tokens: Tokens, sums: Sums) -> Iterator[Page]:
    """Pages of tokens that ascend by key, and their sums; the class numbers are those of ``sums``.

    OverflowError where a sum is above MOST, or a token is too long.
    """
    if tokens.lengths.max(initial=0) > LONGEST:
        raise OverflowError(f"a token has more than {LONGEST:,} bytes")
    held = np.zeros(sums.size, np.intp)
    for of_class in sums.cells:
        held[of_class.columns] += 1
        if max(values.max(initial=0) for values in of_class[1:]) > MOST:
            raise OverflowError(f"a token was counted more than {MOST:,} times")
    ends = np.cumsum(held)
    cells, free = np.zeros(held.sum(), CELL), ends - held
    for c, of_class in enumerate(sums.cells):
        at = free[of_class.columns]
        cells["class"][at], cells["documents"][at], cells["occurrences"][at] = c, *of_class[1:]
        free[of_class.columns] += 1
    bounds = np.append(np.arange(0, sums.size, PAGE), sums.size)
    columns = [
        _cut(tokens.keys.astype("<i8"), bounds),
        _cut(held.astype("<u2"), bounds),
        _cut(cells, np.append(0, ends)[bounds]),
        _cut(tokens.lengths.astype("<u2"), bounds),
        _cut(tokens.gathered(), np.append(0, np.cumsum(tokens.lengths, dtype=np.int64))[bounds]),
    ]
    return zip(tokens.keys[::PAGE].tolist(), *columns)


def _cut(values: np.ndarray, bounds: np.ndarray) -> Iterator[bytes]:
    ends = (values.itemsize * bounds).tolist()
    return map(values.tobytes().__getitem__, map(slice, ends, ends[1:]))


def names(pages: Iterable[tuple[bytes, bytes]], keys: np.ndarray) -> Tokens:
    """The tokens of pages, from their lengths and text. Damaged where they do not belong together."""
    lengths, text = _arrays(list(zip(*pages)) or [(), ()], "<u2", "u1")
    lengths = lengths.astype(np.int32)
    ends = np.cumsum(lengths, dtype=np.int64)
    if len(lengths) != len(keys) or lengths.sum(dtype=np.int64) != len(text):
        raise Damaged("pages of tokens that do not fit together")
    begins = ends - lengths
    try:
        text.tobytes().decode()
    except UnicodeDecodeError:
        raise Damaged("tokens that are not UTF-8") from None
    if (text[begins[begins < len(text)]] & 0xC0 == 0x80).any():
        raise Damaged("tokens that begin inside a character")
    return Tokens(text, begins, lengths, keys)


def _arrays(columns: Iterable[Iterable[bytes]], *dtypes: Any) -> list[np.ndarray]:
    """One array of each of the pages' columns."""
    try:
        joined = [b"".join(column) for column in columns]
    except TypeError:
        raise Damaged("pages of tokens that are no bytes") from None
    if any(len(data) % np.dtype(dtype).itemsize for data, dtype in zip(joined, dtypes)):
        raise Damaged("pages of tokens that do not fit together")
    return [np.frombuffer(data, dtype) for data, dtype in zip(joined, dtypes)]
