"""The figures of an open model's tokens in memory: those that were looked up, and changes that are not written yet.

A row has the figures of its token in all classes, side by side in one array. When a program looks up an eighth of all
tokens or more, for many messages, the whole table is read, because this takes less time.
"""

from __future__ import annotations

from itertools import repeat

import numpy as np

from spamnb.errors import Damaged
from spamnb.model.class_counts import DOCUMENTS, find_sorted
from spamnb.model.model import SIZE, Model
from spamnb.reader.tokens import TokenArray
from spamnb.store.buckets import read_cells, rewrite
from spamnb.store.database import Database

MAX_ROWS = 200_000  # rows in memory, apart from a table that is read as a whole: hostile mail always has new words
MAX_CELLS = 2_000_000  # row × class of these rows: 48 MB
MAX_TABLE_CELLS = 8_000_000  # row × class of a table that is read as a whole: 192 MB
MANY_TOKENS = 4_000  # a look-up of more is of several messages: 1,500 messages of SpamAssassin had up to 1,155


class TokenTable:
    """The rows in memory. A token gets a place, an index into ``figures``, when its row is read first."""

    def __init__(self, database: Database, classes: int) -> None:
        self._database, self.classes = database, classes
        self._rows_read = 0  # by look-ups of many tokens
        self._start(np.zeros(0, np.int64), np.zeros((1, self.classes, 3), np.int64))

    def _start(self, hashes: np.ndarray, figures: np.ndarray) -> None:
        """Begin with the ``figures`` (n + 1, C, 3) of these tokens, ascending by hash: none, or the whole table."""
        self._table_hashes = hashes
        self._place_of_hash: dict[int, int] = {}  # of rows beside the whole table
        # The arrays have room for more rows, and their last row is always 0.
        self.hashes, self.figures = np.append(hashes, 0), figures
        self._is_changed = np.zeros(len(figures), bool)  # whether the row differs from the row in the file
        self._texts: list[TokenArray] = []  # of tokens that the file may lack

    def __len__(self) -> int:
        return len(self._table_hashes) + len(self._place_of_hash)

    @property
    def is_full(self) -> bool:
        """Whether more rows are in memory than allowed; False while changes wait to be written."""
        rows = len(self._place_of_hash)
        return (rows > MAX_ROWS or rows * self.classes > MAX_CELLS) and not self._is_changed.any()

    def find_places(self, hashes: np.ndarray, model: Model, *, add: bool = False) -> np.ndarray:
        """Return the places (k,) of the tokens with these hashes; rows that are not in memory are read.

        If the whole table is in memory, tokens outside of it have the place −1, a row of zeros; with ``add`` they get
        rows that can be changed.
        """
        places = np.full(len(hashes), -1)
        if len(self._table_hashes):
            order = np.argsort(hashes)  # sorting and finding 20,000 hashes takes 1.2 ms, finding them unsorted 3.4 ms
            places[order] = find_sorted(self._table_hashes, hashes[order])
        others = np.flatnonzero(places < 0)
        rows = map(self._place_of_hash.get, hashes[others].tolist(), repeat(-1))
        places[others] = np.fromiter(rows, np.intp, len(others))
        missing = np.flatnonzero(places < 0)
        if not len(missing):
            return places
        size, can_start = model.meta[SIZE], not len(self._table_hashes) and not self._is_changed.any()
        if len(hashes) > MANY_TOKENS and size and can_start:
            self._rows_read += len(missing)
            if size < 8 * self._rows_read and size * self.classes <= MAX_TABLE_CELLS:
                self._read_table(model)
                return self.find_places(hashes, model, add=add)
        if add or not len(self._table_hashes):
            distinct, place = np.unique(hashes[missing], return_inverse=True)
            places[missing] = self._read_rows(distinct, model)[place]
        return places

    def _read_table(self, model: Model) -> None:
        """Read the whole table."""
        size, n = model.meta[SIZE], 0
        hashes, figures = np.zeros(size, np.int64), np.zeros((size + 1, self.classes, 3), np.int64)
        for part, cells in read_cells(self._database, self.classes):
            if n + len(part) <= size:
                hashes[n : n + len(part)] = part
                figures[n + cells.token, cells.label] = cells.figures.T
            n += len(part)
        if n != size:
            raise Damaged(f"{SIZE} in table meta is not the number of tokens")
        if (hashes[1:] <= hashes[:-1]).any():
            raise Damaged("hashes in table tokens that are not in order")
        _check(figures, model)
        self._start(hashes, figures)

    def _read_rows(self, hashes: np.ndarray, model: Model) -> np.ndarray:
        """Read the rows of these tokens, which are not in memory yet, and return their places."""
        begin, end = len(self), len(self) + len(hashes)
        if end >= len(self.hashes):
            room = max(end + 1, len(self.hashes) * 5 // 4, MANY_TOKENS) - len(self.hashes)
            self.figures = np.concatenate([self.figures, np.zeros((room, *self.figures.shape[1:]), np.int64)])
            self.hashes = np.concatenate([self.hashes, np.zeros(room, np.int64)])
            self._is_changed = np.concatenate([self._is_changed, np.zeros(room, bool)])
        self._place_of_hash.update(zip(hashes.tolist(), range(begin, end)))
        self.hashes[begin:end] = hashes
        if not len(self._table_hashes):
            for stored, cells in read_cells(self._database, self.classes, hashes):
                row = find_sorted(hashes, stored)[cells.token]
                cells, row = cells.only(row >= 0), row[row >= 0]
                self.figures[begin + row, cells.label] = cells.figures.T
            _check(self.figures[begin:end], model)
        return np.arange(begin, end)

    def is_used(self, places: np.ndarray) -> np.ndarray:
        """Return whether any message has the tokens at these places, (m,) bool."""
        return np.any(self.figures[places, :, DOCUMENTS], axis=1)

    def mark_changed(self, places: np.ndarray, tokens: TokenArray | None = None) -> None:
        """Mark the rows at these places to be written; ``tokens`` are the tokens of a message that is learned."""
        self._is_changed[places] = True
        if tokens is not None:
            self._texts.append(tokens)

    def write_changes(self) -> None:
        """Write the changed rows."""
        places = np.flatnonzero(self._is_changed)
        if not len(places):
            return
        places = places[np.argsort(self.hashes[places])]
        rewrite(self._database, self.hashes[places], self.figures[places], TokenArray.concat(self._texts))
        self._is_changed[places] = False
        self._texts = []


def _check(figures: np.ndarray, model: Model) -> None:
    """Raise Damaged if more messages of a class have a token than the class has messages."""
    if (figures[:, :, DOCUMENTS] > model.sums[:, 0]).any():
        raise Damaged("a token that more messages of a class have than the class has messages")
