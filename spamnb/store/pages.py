"""Counts of tokens: the sums that training wrote, in pages of the file, and those that were looked up, in memory.

In the pages tokens are in the order of their hashes, as many to a page as fill one of SQLite's: writing and reading a
row for each token takes ten times as long (docs/experiments.md#pages-of-tokens). One message's few hundred tokens lie
in as many pages at most, and most of them are in memory: the last few hundred messages held them too.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from spamnb.errors import Damaged
from spamnb.reader.rows import TokenIds
from spamnb.reader.token_array import TokenArray
from spamnb.reader.vocabulary import Vocabulary
from spamnb.store.database import int_array

if TYPE_CHECKING:  # looking tokens up does not need it
    from spamnb.counts.class_counts import ClassCounts
    from spamnb.store.tables import ModelTables

# What fits into a page of SQLite's own, 4,096 bytes, beside its header and the row's. With 88 tokens to a page, as in
# spamnb 0.1.0, a quarter of a model of two classes was empty.
PAGE_BYTES = 4040
_TOKEN_BYTES = 8 + 2 + 2  # hash, number of cells, length: beside the cells and the text
CELL = np.dtype([("class", "<u2"), ("documents", "<u4"), ("occurrences", "<u4")])
MAX_COUNT = (1 << 32) - 1  # of a count
MAX_TOKEN_BYTES = (1 << 16) - 1  # bytes of a token

ALL_PAGES = "SELECT first, keys, held, cells FROM trained ORDER BY first"
PAGES_OF = """SELECT first, keys, held, cells FROM trained WHERE first IN
(SELECT (SELECT max(first) FROM trained WHERE first <= value) FROM json_each(?)) ORDER BY first"""

Page = tuple[int, bytes, bytes, bytes, bytes, bytes]  # first hash, hashes, held, cells, lengths, text


class Pages(NamedTuple):
    """The sums of k tokens, ascending by hash: token j has ``cells[starts[j]:starts[j + 1]]``, one a class."""

    hashes: np.ndarray  # (k,) int64
    starts: np.ndarray  # (k+1,)
    cells: np.ndarray  # (nnz,) of CELL

    @classmethod
    def of(cls, pages: Iterable[tuple[int, bytes, bytes, bytes]], classes: int) -> Pages:
        """From the first hash, hashes, held and cells of pages in their order. Damaged where they do not belong
        together."""
        firsts, *columns = list(zip(*pages)) or [()] * 4
        hashes, held, cells = _arrays(columns, "<i8", "<u2", CELL)
        offsets = np.cumsum([0, *map(len, columns[0])]) // hashes.itemsize
        if offsets[:-1].max(initial=-1) >= len(hashes) or hashes[offsets[:-1]].tolist() != list(firsts):
            raise Damaged("pages of tokens that are not where they should be")
        starts = np.concatenate([[0], np.cumsum(held, dtype=np.int64)])
        fit = len(hashes) == len(held) and starts[-1] == len(cells) and (cells["class"] < classes).all()
        if not fit or (hashes[1:] <= hashes[:-1]).any():
            raise Damaged("pages of tokens that do not fit together")
        return cls(hashes, starts, cells)

    def look_up(self, hashes: np.ndarray, width: int) -> tuple[np.ndarray, np.ndarray]:
        """Which of ``hashes`` are here (f,), and their rows (width, f): N_jc and T_jc of each class in turn."""
        if not len(self.hashes):
            return np.zeros(0, np.intp), np.zeros((width, 0), np.int64)
        order = np.argsort(hashes)  # a million hashes are searched from left to right, not to and fro: 4 times as fast
        place = np.searchsorted(self.hashes, hashes[order])
        place[place == len(self.hashes)] = 0
        here = self.hashes[place] == hashes[order]
        found, place = order[here], place[here]
        return found, self._rows(self.starts[place], self.starts[place + 1], width)

    @property
    def columns(self) -> np.ndarray:
        """(nnz,) the place of the token that each cell is of."""
        return np.repeat(np.arange(len(self.hashes)), np.diff(self.starts))

    def _rows(self, offsets: np.ndarray, ends: np.ndarray, width: int) -> np.ndarray:
        held = ends - offsets
        cells = self.cells[np.repeat(ends - np.cumsum(held), held) + np.arange(held.sum())]
        table = np.zeros((width, len(offsets)), np.int64)
        token = np.repeat(np.arange(len(offsets)), held)
        table[2 * cells["class"].astype(np.intp), token] = cells["documents"]
        table[2 * cells["class"].astype(np.intp) + 1, token] = cells["occurrences"]
        return table


def to_pages(tokens: TokenArray, counts: ClassCounts) -> Iterator[Page]:
    """Pages of tokens that ascend by hash, and their sums; the class numbers are those of ``counts``.

    OverflowError where a sum is above MAX_COUNT, or a token is too long.
    """
    if tokens.lengths.max(initial=0) > MAX_TOKEN_BYTES:
        raise OverflowError(f"a token has more than {MAX_TOKEN_BYTES:,} bytes")
    held = np.zeros(counts.vocabulary_size, np.intp)
    for row in counts.rows:
        held[row.columns] += 1
        if max(values.max(initial=0) for values in row[1:]) > MAX_COUNT:
            raise OverflowError(f"a token was counted more than {MAX_COUNT:,} times")
    ends = np.cumsum(held)
    cells, free = np.zeros(held.sum(), CELL), ends - held
    for c, row in enumerate(counts.rows):
        place = free[row.columns]
        cells["class"][place], cells["documents"][place], cells["occurrences"][place] = c, *row[1:]
        free[row.columns] += 1
    bounds = _page_bounds(np.cumsum(_TOKEN_BYTES + held * CELL.itemsize + tokens.lengths))
    columns = [
        _cut(tokens.hashes.astype("<i8"), bounds),
        _cut(held.astype("<u2"), bounds),
        _cut(cells, np.append(0, ends)[bounds]),
        _cut(tokens.lengths.astype("<u2"), bounds),
        _cut(tokens.packed(), np.append(0, np.cumsum(tokens.lengths, dtype=np.int64))[bounds]),
    ]
    return zip(tokens.hashes[bounds[:-1]].tolist(), *columns)


def _page_bounds(ends: np.ndarray) -> np.ndarray:
    """Where pages begin, and the last one's end: each takes the tokens that fit, at least one. ``ends`` (k,) is where
    each token would end if they were written one behind the other."""
    bounds, begin = [0], 0
    while bounds[-1] < len(ends):
        bounds.append(max(int(np.searchsorted(ends, begin + PAGE_BYTES, "right")), bounds[-1] + 1))
        begin = int(ends[bounds[-1] - 1])
    return np.array(bounds, np.intp)


def _cut(values: np.ndarray, bounds: np.ndarray) -> Iterator[bytes]:
    ends = (values.itemsize * bounds).tolist()
    octets = np.ascontiguousarray(values).view(np.uint8).data
    return map(bytes, map(octets.__getitem__, map(slice, ends, ends[1:])))


def tokens_of(pages: Iterable[tuple[bytes, bytes]], hashes: np.ndarray) -> TokenArray:
    """The tokens of pages, from their lengths and text. Damaged where they do not belong together."""
    lengths, text = _arrays(list(zip(*pages)) or [(), ()], "<u2", "u1")
    lengths = lengths.astype(np.int32)
    ends = np.cumsum(lengths, dtype=np.int64)
    if len(lengths) != len(hashes) or lengths.sum(dtype=np.int64) != len(text):
        raise Damaged("pages of tokens that do not fit together")
    offsets = ends - lengths
    try:
        text.tobytes().decode()
    except UnicodeDecodeError:
        raise Damaged("tokens that are not UTF-8") from None
    if (text[offsets[offsets < len(text)]] & 0xC0 == 0x80).any():
        raise Damaged("tokens that begin inside a character")
    return TokenArray(text, offsets, lengths, hashes)


def _arrays(columns: Iterable[Iterable[bytes]], *dtypes: Any) -> list[np.ndarray]:
    """One array of each of the pages' columns."""
    try:
        joined = [b"".join(column) for column in columns]
    except TypeError:
        raise Damaged("pages of tokens that are no bytes") from None
    if any(len(data) % np.dtype(dtype).itemsize for data, dtype in zip(joined, dtypes)):
        raise Damaged("pages of tokens that do not fit together")
    return [np.frombuffer(data, dtype) for data, dtype in zip(joined, dtypes)]


class CountCache:
    """``table[:, cache.columns(tokens)]`` are the tokens' counts, what training wrote and what was learned since in one
    sum; 0 where there is none.

    ``groups`` are the tokens' groups. ``in_vocabulary`` tells which tokens the model has: with a ``fixed_vocabulary``
    those that training wrote, otherwise those that any message holds.

    >>> cache = CountCache(2, Vocabulary())
    >>> at = cache.columns(["a", "b", "c"])
    >>> cache.load(cache.missing(at), np.array([1]), np.array([[3], [4]]), np.array([[0, 0, 1], [0, 0, 2]]))
    >>> cache.table[:, at], cache.in_vocabulary[at]
    (array([[0, 3, 1],
           [0, 4, 2]]), array([False,  True,  True]))
    """

    def __init__(self, width: int, vocabulary: Vocabulary, fixed_vocabulary: bool = False) -> None:
        self.vocabulary = vocabulary
        self.fixed_vocabulary = fixed_vocabulary
        self.table = np.zeros((width, 1024), np.int64)
        self.in_vocabulary = np.zeros(1024, bool)
        self.groups = np.zeros(1024, np.int8)
        self._loaded = np.zeros(1024, bool)

    def columns(self, tokens: Sequence[str]) -> np.ndarray:
        """The columns of ``table`` that belong to the tokens, (k,); nothing is in them before ``load``."""
        if isinstance(tokens, TokenIds) and tokens.vocabulary is self.vocabulary:
            ids = tokens.ids
        else:
            ids = self.vocabulary.ids(tokens)
        if len(self.vocabulary) > len(self.in_vocabulary):
            size = max(len(self.vocabulary), len(self.in_vocabulary) * 3 // 2)
            more = size - len(self.in_vocabulary)
            self.table = np.pad(self.table, ((0, 0), (0, more)))
            self.in_vocabulary, self.groups, self._loaded = (
                np.pad(of, (0, more)) for of in (self.in_vocabulary, self.groups, self._loaded)
            )
        return ids

    def missing(self, columns: np.ndarray) -> TokenIds:
        """Those tokens of these columns that are not loaded yet."""
        return TokenIds(self.vocabulary, columns[~self._loaded[columns]])

    def load(self, missing: TokenIds, found: np.ndarray, trained: np.ndarray, since: np.ndarray) -> None:
        """Fill in m ``missing`` tokens: ``trained`` (width, f) is what training wrote of those at the places ``found``
        (f,), ``since`` (width, m) what was learned of all since."""
        self.table[:, missing.ids] = since
        self.table[:, missing.ids[found]] += trained
        self.in_vocabulary[missing.ids] = False if self.fixed_vocabulary else self.table[:, missing.ids].any(axis=0)
        if self.fixed_vocabulary:
            self.in_vocabulary[missing.ids[found]] = True
        self.groups[missing.ids] = missing.groups
        self._loaded[missing.ids] = True

    def add(self, columns: np.ndarray, cells: np.ndarray) -> None:
        """Follow another process: add its changes, cells of changes.CHANGE whose tokens are places among ``columns``,
        to what is loaded."""
        at = columns[cells["token"]]
        loaded = self._loaded[at]
        at, cells = at[loaded], cells[loaded]
        row = 2 * cells["class"].astype(np.intp)
        np.add.at(self.table, (row, at), cells["documents"].astype(np.int64))
        np.add.at(self.table, (row + 1, at), cells["occurrences"])
        if not self.fixed_vocabulary:
            self.in_vocabulary[at] = self.table[:, at].any(axis=0)


def read_pages(store: ModelTables, classes: int, keys: np.ndarray | None) -> Pages:
    """All pages, or those that can hold ``keys``."""
    asked = (ALL_PAGES,) if keys is None else (PAGES_OF, (json.dumps(keys.tolist()),))
    return Pages.of(store.execute(*asked), classes)


def learned_of(store: ModelTables, keys: np.ndarray) -> np.ndarray:
    """(place in ``keys``, figure, ...) of those that have a row in table ``learned``, (k, 1 + 2 C)."""
    # One statement for the whole message, not one a token.
    classes = len(store.class_ids())
    columns = "".join(f", documents_{c}, occurrences_{c}" for c in range(classes))
    found = store.execute(
        f"SELECT wanted.key{columns} FROM json_each(?) AS wanted"  # noqa: S608 (our own names)
        " JOIN learned ON learned.key = wanted.value",
        (json.dumps(keys.tolist()),),
    )
    return int_array("learned", found.fetchall()).reshape(-1, 1 + 2 * classes)


# -- of a correction (corrections.py) ------------------------------------------------------------------------


NUMBERS = ("<i1", "<i2", "<i4")  # how a weight that is not 0 is written, by its kind, 1 to 3
_KINDS = (np.arange(256)[:, None] >> (0, 2, 4, 6) & 3).astype(np.uint8)  # the four kinds in a byte
_OF_KIND = (np.array([1, 2, 3])[:, None, None] == _KINDS).sum(axis=2, dtype=np.int32)  # how many are of kind 1, 2, 3


def weights_of(
    pages: Iterable[tuple[bytes, ...]], classes: int, wanted: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """The keys (k,), ascending, and the units (k, C) of tokens in pages of table corrections, in their order; of all of
    them, or of those that are ``wanted``: their keys, ascending."""
    found, rest = list(pages), max(classes - 1, 0)
    try:
        held = np.frombuffer(b"".join(page[0] for page in found), "<i8")
        if (held[1:] <= held[:-1]).any():
            raise ValueError("not in their order")
        ends = np.cumsum([len(page[0]) // 8 for page in found], dtype=np.intp)
        packed = _packed(found, len(held), -(-rest // 4))
        rows = slice(None) if wanted is None else _rows_of(held, wanted)
        kinds = _KINDS[packed[rows]]
        kinds = kinds.reshape(len(kinds), 4 * packed.shape[1])
        if kinds[:, rest:].any():
            raise ValueError("too many classes")
        units, columns = np.zeros((len(kinds), classes), np.int64), np.ascontiguousarray(packed.T)
        for kind, dtype in enumerate(NUMBERS, 1):
            numbers, here = np.frombuffer(b"".join(page[1 + kind] for page in found), dtype), kinds[:, :rest] == kind
            before = np.append(0, np.cumsum(_OF_KIND[kind - 1].take(columns).sum(axis=0), dtype=np.intp))
            if (before[ends] * numbers.itemsize != np.cumsum([len(page[1 + kind]) for page in found])).any():
                raise ValueError("too many numbers, or too few")
            if wanted is not None:
                numbers = numbers[(before[rows][:, None] + np.cumsum(here, axis=1) - 1)[here]]
            units[:, 1:][here] = numbers
    except (TypeError, ValueError, IndexError):
        raise Damaged("pages in table corrections that do not fit together") from None
    units[:, :1] = -units.sum(axis=1, keepdims=True)
    return held[rows], units


def _packed(pages: list[tuple[bytes, ...]], n: int, across: int) -> np.ndarray:
    """The kinds (n, across) of the tokens of these pages, four a byte; a page has as many as there were classes when it
    was written."""
    if all(8 * len(page[1]) == across * len(page[0]) for page in pages):
        return np.frombuffer(b"".join(page[1] for page in pages), np.uint8).reshape(n, across)
    parts = [np.frombuffer(page[1], np.uint8).reshape(len(page[0]) // 8, -1) for page in pages]
    return np.concatenate([np.pad(part, ((0, 0), (0, across - part.shape[1]))) for part in parts])


def _rows_of(keys: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Where in ``keys`` those are that are ``wanted``; both ascend."""
    rows = np.searchsorted(keys, wanted)
    here = rows < len(keys)
    return rows[here][keys[rows[here]] == wanted[here]]
