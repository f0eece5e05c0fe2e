"""Table ``tokens`` of an open model: the rows that were read, and changes that are not written yet.

A row has the figures of its token in all classes, side by side in one array. When a program looks up an eighth of all
rows or more, for many messages, the whole table is read, because this takes less time. Threads share this table.
"""

from __future__ import annotations

import json
import time
from itertools import repeat
from threading import Lock

import numpy as np

from spamnb.errors import Damaged
from spamnb.reader.tokens import TokenArray
from spamnb.store.database import Database
from spamnb.store.rows import DOCUMENTS, Cells
from spamnb.store.state import SIZE, State

MAX_ROWS = 200_000  # rows in memory, apart from a table that is read as a whole: hostile mail always has new words
MAX_CELLS = 2_000_000  # row × class of these rows: 48 MB
MAX_TABLE_CELLS = 8_000_000  # row × class of a table that is read as a whole: 192 MB
MAX_REVISIONS = 64  # of a file, whose changes are in memory; a thread that is further behind reads its rows again
MAX_CHANGED_FIGURES = 100_000  # of a change in memory; learning a message of two classes changes some 3,000
MANY_TOKENS = 4_000  # a look-up of more is of several messages: 1,500 messages of SpamAssassin had up to 1,155

ChangedRows = tuple[np.ndarray, np.ndarray]  # hashes (k,) of tokens, and their figures (k, C, 3)


def this_month() -> int:
    """Return the number of this month, in UTC, counted from January of year 0."""
    now = time.gmtime()
    return 12 * now.tm_year + now.tm_mon - 1


def read_table(database: Database, classes: int) -> tuple[np.ndarray, Cells]:
    """Return the hashes of all tokens, ascending, and their cells."""
    rows = database.execute("SELECT hash, cells FROM tokens ORDER BY hash").fetchall()
    hashes, blobs = zip(*rows) if rows else ((), ())
    return np.array(hashes, np.int64), Cells.unpack(blobs, classes)


class SharedTable:
    """The whole table and the last changes of a file, which all connections of one process share."""

    def __init__(self) -> None:
        # By the revision after a change: the revision before the change, and the changed rows. Only one thread writes.
        self._changes: dict[bytes, tuple[bytes, list[ChangedRows]]] = {}
        self._lock = Lock()
        self._sums: np.ndarray | None = None  # of the classes when the table was read; equal sums have equal rows
        self._table: tuple[np.ndarray, Cells]

    def add_change(self, old_revision: bytes, revision: bytes, rows: list[ChangedRows]) -> None:
        """Remember the rows that changed between two revisions of the file."""
        if sum(figures.size for _, figures in rows) > MAX_CHANGED_FIGURES:
            return
        with self._lock:
            self._changes[revision] = old_revision, rows
            while len(self._changes) > MAX_REVISIONS:
                del self._changes[next(iter(self._changes))]

    def list_changes(self, first: bytes | None, last: bytes | None) -> list[ChangedRows] | None:
        """Return the rows that changed between two revisions, the latest last; None if a change is not in memory."""
        changes: list[ChangedRows] = []
        with self._lock:
            while last is not None and last in self._changes:
                last, rows = self._changes[last]
                changes = rows + changes
                if last == first:
                    return changes
        return None

    def read(self, database: Database, sums: np.ndarray) -> tuple[np.ndarray, Cells]:
        """Return the hashes of all tokens, ascending, and their cells, of a file whose classes have these sums."""
        with self._lock:
            if self._sums is None or not np.array_equal(self._sums, sums):
                self._table, self._sums = read_table(database, len(sums)), sums.copy()
            return self._table


class TokenTable:
    """The rows in memory. A token gets a place, an index into ``figures``, when its row is read first."""

    def __init__(self, database: Database, classes: int, shared: SharedTable, revision: bytes | None) -> None:
        self._database, self.classes, self._shared = database, classes, shared
        self.revision = revision  # of the file that these rows were read from
        self._rows_read = 0  # by look-ups of many tokens
        self._start(np.zeros(0, np.int64), Cells.unpack((), classes))

    def _start(self, hashes: np.ndarray, cells: Cells) -> None:
        """Begin with the rows of these tokens, ascending by hash: no rows, or the whole table."""
        self._table_hashes = hashes
        self._place_of_hash: dict[int, int] = {}  # of rows beside the whole table
        # The arrays have room for more rows, and their last row is always 0.
        size = len(hashes) + 1
        self.hashes = np.append(hashes, 0)
        self.figures = np.zeros((size, self.classes, 3), np.int64)
        self.figures[cells.token, cells.label] = cells.figures.T
        self._is_stored = np.arange(size) < len(hashes)  # whether the file has the row
        self._is_changed = np.zeros(size, bool)  # whether the row differs from the row in the file
        self._is_learned = np.zeros(size, bool)  # whether a learned message that is not written yet has the token
        self._new_tokens: list[tuple[np.ndarray, TokenArray]] = []  # places and texts of tokens that the file lacks

    def __len__(self) -> int:
        return len(self._table_hashes) + len(self._place_of_hash)

    @property
    def is_full(self) -> bool:
        """Whether more rows are in memory than allowed; False while changes wait to be written."""
        rows = len(self._place_of_hash)
        return (rows > MAX_ROWS or rows * self.classes > MAX_CELLS) and not self._is_changed.any()

    def find_places(self, hashes: np.ndarray, state: State, *, add: bool = False) -> np.ndarray:
        """Return the places (k,) of the tokens with these hashes; rows that are not in memory are read.

        If the whole table is in memory, tokens outside of it have the place −1, a row of zeros; with ``add`` they get
        rows that can be changed.
        """
        places = np.full(len(hashes), -1)
        if len(self._table_hashes):
            order = np.argsort(hashes)  # sorting and finding 20,000 hashes takes 1.2 ms, finding them unsorted 3.4 ms
            indices = np.searchsorted(self._table_hashes, hashes[order])
            indices = np.minimum(indices, len(self._table_hashes) - 1)
            places[order] = np.where(self._table_hashes[indices] == hashes[order], indices, -1)
        others = np.flatnonzero(places < 0)
        rows = map(self._place_of_hash.get, hashes[others].tolist(), repeat(-1))
        places[others] = np.fromiter(rows, np.intp, len(others))
        missing = np.flatnonzero(places < 0)
        if not len(missing):
            return places
        size, can_start = state.meta[SIZE], not len(self._table_hashes) and not self._is_changed.any()
        if len(hashes) > MANY_TOKENS and size and can_start:
            self._rows_read += len(missing)
            if size < 8 * self._rows_read and size * self.classes <= MAX_TABLE_CELLS:
                self._start(*self._shared.read(self._database, state.sums))
                _check(self.figures, state)
                if not len(self._table_hashes):
                    raise Damaged(f"{SIZE} in table meta is not the number of tokens")
                return self.find_places(hashes, state, add=add)
        if add or not len(self._table_hashes):
            distinct, place = np.unique(hashes[missing], return_inverse=True)
            places[missing] = self._read_rows(distinct, state)[place]
        return places

    def _read_rows(self, hashes: np.ndarray, state: State) -> np.ndarray:
        """Read the rows of these tokens, which are not in memory yet, and return their places."""
        begin, end = len(self), len(self) + len(hashes)
        if end >= len(self.hashes):
            room = max(end + 1, len(self.hashes) * 5 // 4, MANY_TOKENS) - len(self.hashes)
            self.figures = np.concatenate([self.figures, np.zeros((room, *self.figures.shape[1:]), np.int64)])
            self.hashes = np.concatenate([self.hashes, np.zeros(room, np.int64)])
            flags = self._is_stored, self._is_changed, self._is_learned
            unset = np.zeros(room, bool)
            self._is_stored, self._is_changed, self._is_learned = (np.concatenate([flag, unset]) for flag in flags)
        self._place_of_hash.update(zip(hashes.tolist(), range(begin, end)))
        self.hashes[begin:end] = hashes
        if not len(self._table_hashes):
            select = "SELECT key, cells FROM json_each(?) CROSS JOIN tokens ON hash = value"
            rows = self._database.execute(select, (json.dumps(hashes.tolist()),)).fetchall()
            indices, blobs = zip(*rows) if rows else ((), ())
            cells = Cells.unpack(blobs, self.classes)
            stored = begin + np.array(indices, np.intp)
            self._is_stored[stored] = True
            self.figures[stored[cells.token], cells.label] = cells.figures.T
            _check(self.figures[stored], state)
        return np.arange(begin, end)

    def apply_changes(self, changes: list[ChangedRows], state: State) -> None:
        """Replace the rows that another connection changed."""
        for hashes, figures in changes:
            if len(self._table_hashes):  # the whole table lacks the rows of new tokens
                places = self.find_places(hashes, state, add=True)
            else:  # a row that is not in memory is read when it is needed
                places = np.fromiter(map(self._place_of_hash.get, hashes.tolist(), repeat(-1)), np.intp, len(hashes))
                places, figures = places[places >= 0], figures[places >= 0]
            self.figures[places] = figures
            self._is_stored[places] = self.is_used(places)

    def is_used(self, places: np.ndarray) -> np.ndarray:
        """Return whether any message has the tokens at these places, (m,) bool."""
        return np.any(self.figures[places, :, DOCUMENTS], axis=1)

    def mark_changed(self, places: np.ndarray) -> None:
        """Mark the rows at these places, whose figures change, to be written."""
        self._is_changed[places] = True

    def mark_learned(self, places: np.ndarray, tokens: TokenArray) -> None:
        """Mark the rows at these places to be written, because a message with these ``tokens`` is learned."""
        new = np.flatnonzero(~(self._is_stored[places] | self._is_changed[places]))
        self._is_changed[places] = self._is_learned[places] = True
        if len(new):
            self._new_tokens.append((places[new], tokens.take(new)))

    def write_changes(self) -> list[ChangedRows]:
        """Write the changed rows, and return them."""
        places = np.flatnonzero(self._is_changed)
        if not len(places):
            return []
        places = places[np.argsort(self.hashes[places])]
        figures = self.figures[places]
        token, label = np.nonzero(figures.any(axis=2))
        cells = Cells(token, label, np.ascontiguousarray(figures[token, label].T))
        stored, hashes = self._is_stored[places], self.hashes[places].tolist()
        is_used = np.bincount(token, minlength=len(places)) > 0
        month = this_month()
        months = [month if learned else None for learned in self._is_learned[places].tolist()]
        rows = list(zip(cells.pack(len(places), self._database.path).blobs(), months, hashes))
        self._database.executemany(
            "UPDATE tokens SET cells = ?, month = coalesce(?, month) WHERE hash = ?",
            [rows[j] for j in np.flatnonzero(stored & is_used).tolist()],
        )
        texts = {place: token for new, tokens in self._new_tokens for place, token in zip(new.tolist(), tokens)}
        new = np.flatnonzero(~stored & is_used)
        self._database.executemany(
            "INSERT INTO tokens (cells, month, hash, token) VALUES (?, ?, ?, ?)",
            [(*rows[j], texts[place]) for j, place in zip(new.tolist(), places[new].tolist())],
        )
        unused = np.flatnonzero(stored & ~is_used)
        self._database.executemany("DELETE FROM tokens WHERE hash = ?", [(hashes[j],) for j in unused])
        self._is_stored[places], self._is_changed[places], self._is_learned[places] = is_used, False, False
        self._new_tokens = []
        return [(self.hashes[places], figures)]


def _check(figures: np.ndarray, state: State) -> None:
    """Raise Damaged if more messages of a class have a token than the class has messages."""
    if (figures[:, :, DOCUMENTS] > state.sums[:, 0]).any():
        raise Damaged("a token that more messages of a class have than the class has messages")
