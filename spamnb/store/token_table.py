"""Table ``tokens`` of an open model: the rows that were asked for, and changes that are not written yet.

A row has the figures of its token in all classes, side by side in one array. Whoever looks up tokens of many messages,
an eighth of all rows or more, reads the whole table, which is cheaper; threads that judge by the same file share it.
"""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from itertools import repeat
from threading import Lock

import numpy as np

from spamnb.errors import Damaged
from spamnb.reader.tokens import TokenArray, Vocabulary
from spamnb.store.database import Database
from spamnb.store.rows import DOCUMENTS, Cells
from spamnb.store.state import SIZE, State

MAX_VOCABULARY = 200_000  # tokens whose numbers and rows are kept, however many new words hostile mail brings
MAX_CELLS = 2_000_000  # of rows that are kept
MAX_TABLE = 8_000_000  # cells of a table that is read as a whole
MAX_CHANGES = 64  # of a file that are remembered: a thread that has not judged for so many lessons reads all rows anew
MAX_CHANGED = 100_000  # figures of a change that is remembered; a lesson of two classes has some 3,000
MANY = 4_000  # tokens that are asked for at once; of one message they are seldom more

Rows = tuple[np.ndarray, np.ndarray]  # hashes (k,) of tokens, and their figures (k, C, 3)


def this_month() -> int:
    """Months since year 0, in UTC."""
    now = time.gmtime()
    return 12 * now.tm_year + now.tm_mon - 1


def read_table(database: Database, classes: int) -> tuple[np.ndarray, Cells]:
    """Return the hashes of all tokens, ascending, and their cells."""
    rows = database.execute("SELECT hash, cells FROM tokens ORDER BY hash").fetchall()
    hashes, blobs = zip(*rows) if rows else ((), ())
    return np.array(hashes, np.int64), Cells.unpack(blobs, classes)


class SharedTable:
    """What connections of one process share that have a file open: the whole table, and what they changed last."""

    def __init__(self) -> None:
        # By the revision after a change: the one before it, and the changed rows. One thread writes.
        self._changes: dict[bytes, tuple[bytes, list[Rows]]] = {}
        self._lock = Lock()
        self._sums: np.ndarray | None = None  # of the classes; equal ones have equal rows
        self._table: tuple[np.ndarray, Cells]

    def note(self, before: bytes, after: bytes, rows: list[Rows]) -> None:
        """Note the rows that changed between two revisions of the file."""
        if sum(figures.size for _, figures in rows) > MAX_CHANGED:
            return
        self._changes[after] = before, rows
        while len(self._changes) > MAX_CHANGES:
            del self._changes[next(iter(self._changes))]

    def changes(self, first: bytes | None, last: bytes | None) -> list[Rows] | None:
        """Return the rows that changed between two revisions, the last change last; None where that is not known."""
        changes: list[Rows] = []
        while last is not None and last in self._changes:
            last, rows = self._changes[last]
            changes = rows + changes
            if last == first:
                return changes
        return None

    def read(self, database: Database, sums: np.ndarray) -> tuple[np.ndarray, Cells]:
        """Return the hashes of all tokens, ascending, and their cells, where the classes have these ``sums``."""
        with self._lock:
            if self._sums is None or not np.array_equal(self._sums, sums):
                self._table, self._sums = read_table(database, len(sums)), sums.copy()
            return self._table


class TokenTable:
    """Rows by place. A place is a row of ``figures``; new tokens get one when they are first asked for."""

    def __init__(
        self, database: Database, classes: int, vocabulary: Vocabulary, shared: SharedTable, revision: bytes | None
    ) -> None:
        self._database, self.classes, self._shared = database, classes, shared
        self.revision = revision  # of the file, whose rows these are
        self.vocabulary = vocabulary  # the numbers under which messages are read
        self._asked = 0  # tokens whose rows were read, many at a time
        self._start(np.zeros(0, np.int64), Cells.unpack((), classes))

    def _start(self, hashes: np.ndarray, cells: Cells) -> None:
        """Begin with the rows of these tokens, ascending by hash: none, or the whole table."""
        self._whole = hashes
        self._place_of_hash: dict[int, int] = {}  # of rows that are not of the whole table
        self._place_of_id = np.zeros(0, np.int32)  # of each token of the vocabulary; −1: not asked for yet
        # Beyond the last row there is room for others.
        self.hashes = hashes
        self.figures = np.zeros((len(hashes), self.classes, 3), np.int64)
        self.figures[cells.token, cells.label] = cells.figures.T
        self._is_stored = np.ones(len(hashes), bool)  # has the table the row?
        self._is_changed = np.zeros(len(hashes), bool)  # and is that not written yet?
        self._is_taught = np.zeros(len(hashes), bool)  # by a message that is not written yet
        self._new: list[tuple[np.ndarray, TokenArray]] = []  # places and text of tokens that the table lacks

    def __len__(self) -> int:
        return len(self._whole) + len(self._place_of_hash)

    @property
    def is_full(self) -> bool:
        """Whether more rows or tokens are kept than should be; never while changes wait."""
        most = MAX_VOCABULARY * (2 if len(self._whole) else 1)
        too_many = len(self.vocabulary) > most or (len(self) - len(self._whole)) * self.classes > MAX_CELLS
        return too_many and not self._is_changed.any()

    def places(self, tokens: Sequence[str], state: State) -> np.ndarray:
        """Return the places (k,) of tokens, whose rows are read if they were not."""
        ids = self.vocabulary.ids(TokenArray.of(tokens))
        if ids.max(initial=0) >= len(self._place_of_id):
            more = max(len(self.vocabulary), 2 * len(self._place_of_id)) - len(self._place_of_id)
            self._place_of_id = np.concatenate([self._place_of_id, np.full(more, -1, np.int32)])
        places = self._place_of_id[ids]
        if (unread := np.flatnonzero(places < 0)).size:
            if len(tokens) > MANY and state.meta[SIZE] and not len(self._whole) and not self._is_changed.any():
                self._asked += len(unread)
                if state.meta[SIZE] < 8 * self._asked and state.meta[SIZE] * self.classes <= MAX_TABLE:
                    self._start(*self._shared.read(self._database, state.sums))
                    _check(self.figures, state)
                    return self.places(tokens, state)
            places[unread] = self.places_of_hashes(TokenArray.of(tokens).hashes[unread], state)
            self._place_of_id[ids[unread]] = places[unread]
        return places

    def places_of_hashes(self, hashes: np.ndarray, state: State) -> np.ndarray:
        """Return the places (k,) of the tokens with these hashes, whose rows are read if they were not."""
        places = np.full(len(hashes), -1)
        if len(self._whole):
            at = np.minimum(np.searchsorted(self._whole, hashes), len(self._whole) - 1)
            places = np.where(self._whole[at] == hashes, at, -1)
        others = np.flatnonzero(places < 0)
        rows = map(self._place_of_hash.get, hashes[others].tolist(), repeat(-1))
        places[others] = np.fromiter(rows, np.intp, len(others))
        if (missing := np.flatnonzero(places < 0)).size:
            added, place = np.unique(hashes[missing], return_inverse=True)
            places[missing] = self._add(added, state)[place]
        return places

    def _add(self, hashes: np.ndarray, state: State) -> np.ndarray:
        """Read the rows of these tokens, which are not here yet; return their places."""
        begin, end = len(self), len(self) + len(hashes)
        if end > len(self.hashes):
            room = max(end, len(self.hashes) * 5 // 4, MANY) - len(self.hashes)
            self.figures = np.concatenate([self.figures, np.zeros((room, *self.figures.shape[1:]), np.int64)])
            self.hashes = np.concatenate([self.hashes, np.zeros(room, np.int64)])
            flags = self._is_stored, self._is_changed, self._is_taught
            more = np.zeros(room, bool)
            self._is_stored, self._is_changed, self._is_taught = (np.concatenate([each, more]) for each in flags)
        self._place_of_hash.update(zip(hashes.tolist(), range(begin, end)))
        self.hashes[begin:end] = hashes
        if not len(self._whole):
            select = "SELECT key, cells FROM json_each(?) CROSS JOIN tokens ON hash = value"
            rows = self._database.execute(select, (json.dumps(hashes.tolist()),)).fetchall()
            at, blobs = zip(*rows) if rows else ((), ())
            cells = Cells.unpack(blobs, self.classes)
            stored = begin + np.array(at, np.intp)
            self._is_stored[stored] = True
            self.figures[stored[cells.token], cells.label] = cells.figures.T
            _check(self.figures[stored], state)
        return np.arange(begin, end)

    def follow(self, changes: list[Rows], state: State) -> None:
        """Take over rows that another connection changed."""
        for hashes, figures in changes:
            if len(self._whole):  # which has no row of a token that is new
                places = self.places_of_hashes(hashes, state)
            else:  # other rows are read when they are asked for
                places = np.fromiter(map(self._place_of_hash.get, hashes.tolist(), repeat(-1)), np.intp, len(hashes))
                places, figures = places[places >= 0], figures[places >= 0]
            self.figures[places] = figures
            self._is_stored[places] = self.is_held(places)

    def is_held(self, places: np.ndarray) -> np.ndarray:
        """Return (m,) bool: does any message hold the tokens at these places?"""
        return np.any(self.figures[places, :, DOCUMENTS], axis=1)

    def change(self, places: np.ndarray) -> None:
        """Note that the figures of these rows were changed."""
        self._is_changed[places] = True

    def teach(self, places: np.ndarray, tokens: TokenArray) -> None:
        """Note that a message was added that holds these ``tokens``, the rows at these places."""
        new = np.flatnonzero(~(self._is_stored[places] | self._is_changed[places]))
        self._is_changed[places] = self._is_taught[places] = True
        if len(new):
            self._new.append((places[new], tokens.take(new)))

    def write(self) -> list[Rows]:
        """Write the changed rows, and return them."""
        places = np.flatnonzero(self._is_changed)
        if not len(places):
            return []
        places = places[np.argsort(self.hashes[places])]
        figures = self.figures[places]
        token, label = np.nonzero(figures.any(axis=2))
        cells = Cells(token, label, np.ascontiguousarray(figures[token, label].T))
        stored, hashes = self._is_stored[places], self.hashes[places].tolist()
        is_held = np.bincount(token, minlength=len(places)) > 0
        month = this_month()
        months = [month if taught else None for taught in self._is_taught[places].tolist()]
        rows = list(zip(cells.pack(len(places), self._database.path), months, hashes))
        self._database.executemany(
            "UPDATE tokens SET cells = ?, month = coalesce(?, month) WHERE hash = ?",
            [rows[j] for j in np.flatnonzero(stored & is_held).tolist()],
        )
        text = {place: token for at, tokens in self._new for place, token in zip(at.tolist(), tokens)}
        new = np.flatnonzero(~stored & is_held)
        self._database.executemany(
            "INSERT INTO tokens (cells, month, hash, token) VALUES (?, ?, ?, ?)",
            [(*rows[j], text[place]) for j, place in zip(new.tolist(), places[new].tolist())],
        )
        gone = np.flatnonzero(stored & ~is_held)
        self._database.executemany("DELETE FROM tokens WHERE hash = ?", [(hashes[j],) for j in gone])
        self._is_stored[places], self._is_changed[places], self._is_taught[places] = is_held, False, False
        self._new = []
        return [(self.hashes[places], figures)]


def _check(figures: np.ndarray, state: State) -> None:
    """Damaged where a token stands in more messages of a class than there are."""
    if (figures[:, :, DOCUMENTS] > state.sums[:, 0]).any():
        raise Damaged("sums of tokens that cannot be")
