"""The log of a correction's changes: what lessons added to the weights of tokens, and how that gets into the pages.

A lesson changes the weights of a few hundred tokens, which lie in as many pages: written there at once they gave the
disk .74 MB a lesson. Here they are one row: the tokens' keys, and what was added to each of them. When the rows hold
MAX_LOG keys, the pages are written anew, MERGED_PAGES at a time and some with each lesson. Rows up to number ``summed``
are in the pages where their keys are less than ``merged``; once all of them are, these rows leave.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from spamnb.errors import Damaged, SpamnbError
from spamnb.store.changes import FIRST_KEY, LAST_KEY
from spamnb.store.correction_sums import (
    INSERT_PAGE,
    KEY,
    MAX_UNITS,
    UNITS,
    TokenUnits,
    from_pages,
    pages_of,
    units_of_rows,
)
from spamnb.store.database import MAX_SUM, checked_rows, int_between, is_blob
from spamnb.store.tables import ModelTables

# Keys, after some 230 lessons. Whoever opens the file reads them, 1 MB, and each round writes all pages: half as many
# keys would be half of the reading and twice as much writing.
MAX_LOG = 131_072
MAX_FOLLOWED = 4 * MAX_LOG  # keys in memory of whoever follows others: where there are more all is read anew
MERGED_PAGES = 8
PAGES_WITHIN = "SELECT keys, kinds, bytes, shorts, longs FROM corrections WHERE first BETWEEN ? AND ? ORDER BY first"
PAGE_AFTER = "SELECT first FROM corrections WHERE first > ? ORDER BY first LIMIT 1 OFFSET ?"
_KEY = int_between(LAST_KEY, FIRST_KEY)


class _Cells(NamedTuple):
    """The log's keys ascending, with the rows where they stand."""

    keys: np.ndarray  # (m,) int64
    rows: np.ndarray  # (m,) places in ``units``
    old: np.ndarray  # (m,) bool: of rows up to number ``summed``
    units: np.ndarray  # (r, C) of each row


class CorrectionLog:
    """The log in memory, as it was when it was read: what was appended since is only counted."""

    def __init__(self, tables: ModelTables) -> None:
        self._tables = tables
        self._read: _Cells | None = None
        self._known = False  # up to row number ``_last``
        self._pages = 0  # as many as there were when the log was read
        self._size = 0  # keys
        self._summed = self._last = 0
        self._merged = FIRST_KEY

    def read_anew(self) -> None:
        """Forget what was read."""
        self._read = None

    def _cells(self) -> _Cells:
        if self._read is None:
            self._read = self._read_cells()
        return self._read

    def _read_cells(self) -> _Cells:
        execute, number = self._tables.execute, int_between(MAX_SUM)
        state = checked_rows("correcting", execute("SELECT summed, merged FROM correcting"), summed=number, merged=_KEY)
        if len(state) != 1:
            raise Damaged("table correcting holds no state, or several")
        ((self._summed, self._merged),) = state
        rows = execute("SELECT sequence, keys, units FROM corrected ORDER BY sequence")
        sequences, keys, place, units = _rows_of(rows, len(self._tables.class_ids()))
        old = (sequences <= self._summed)[place]
        kept = np.flatnonzero(~old | (keys >= self._merged))
        order = kept[np.argsort(keys[kept], kind="stable")]
        self._size, self._known = len(keys), True
        self._last = max(self._summed, int(sequences.max(initial=0)))
        self._pages = execute("SELECT count(*) FROM corrections").fetchone()[0]
        return _Cells(keys[order], place[order], old[order], units)

    def news(self) -> TokenUnits | None:
        """What others added since the log was read; None where it was never read, or rows that were not seen
        are in the pages already."""
        if not self._known:
            return None
        state = checked_rows(
            "correcting", self._tables.execute("SELECT summed FROM correcting"), summed=int_between(MAX_SUM)
        )
        if len(state) != 1 or state[0][0] > self._last:
            return None
        rows = self._tables.execute(
            "SELECT sequence, keys, units FROM corrected WHERE sequence > ? ORDER BY sequence", (self._last,)
        )
        sequences, keys, place, units = _rows_of(rows, len(self._tables.class_ids()))
        self._last = max(self._last, int(sequences.max(initial=0)))
        return TokenUnits.sum([TokenUnits(keys, units[place])])

    def add(self, found: TokenUnits) -> bool:
        """Add what ``news`` found to the log in memory, whatever of it is in the pages by now; False where it is too
        much."""
        cells = self._cells()
        keys = np.concatenate([cells.keys, found.keys])
        order = np.argsort(keys, kind="stable")
        rows = np.concatenate([cells.rows, len(cells.units) + np.arange(len(found.keys))])
        old = np.concatenate([cells.old, np.zeros(len(found.keys), bool)])
        self._read = _Cells(keys[order], rows[order], old[order], np.concatenate([cells.units, found.units]))
        return len(keys) <= MAX_FOLLOWED

    def look_up(self, keys: np.ndarray) -> np.ndarray:
        """What the weights of the tokens with these ``keys`` (k,) change by, (k, C)."""
        cells = self._cells()
        out = np.zeros((len(keys), cells.units.shape[1]), np.int64)
        start, end = np.searchsorted(cells.keys, keys), np.searchsorted(cells.keys, keys, "right")
        held = end - start
        place = np.repeat(end - np.cumsum(held), held) + np.arange(held.sum())
        np.add.at(out, np.repeat(np.arange(len(keys)), held), cells.units[cells.rows[place]])
        return out

    def total(self) -> TokenUnits:
        """All that the log adds, where it adds anything."""
        return _summed(self._cells())

    def append(self, keys: np.ndarray, units: np.ndarray) -> None:
        """One more row: ``units`` (C,) are added to each of the tokens with these keys. Inside ``writing``."""
        self._cells()
        self._last += 1
        blobs = np.ascontiguousarray(keys, KEY).tobytes(), np.ascontiguousarray(units[1:], UNITS).tobytes()
        self._tables.execute("INSERT INTO corrected VALUES (?, ?, ?)", (self._last, *blobs))
        self._size += len(keys)
        self._merge(len(keys))

    def _merge(self, appended: int) -> None:
        """A lesson's share of what is to be written to the pages."""
        oldest = self._tables.execute("SELECT min(sequence) FROM corrected").fetchone()[0]
        if oldest > self._summed:
            if self._size <= MAX_LOG:
                return
            self._begin_round()
        steps = 2 * (self._pages // MERGED_PAGES + 1) * appended // max(MAX_LOG, 1) + 1
        for _ in range(steps):
            if self._merge_part():
                return

    def fold(self) -> None:
        """Write all of the log to the pages. Inside ``writing``."""
        self._cells()
        while self._size:
            if self._tables.execute("SELECT min(sequence) FROM corrected").fetchone()[0] > self._summed:
                self._begin_round()
            while not self._merge_part():
                pass

    def _begin_round(self) -> None:
        self._summed, self._merged = self._last, FIRST_KEY
        self._keep_state()
        self._read = self._read_cells()

    def _merge_part(self) -> bool:
        """Write the next few pages; whether they were the last."""
        tables, cells = self._tables, self._cells()
        low = self._merged
        found = checked_rows("corrections", tables.execute(PAGE_AFTER, (low, MERGED_PAGES - 1)), first=_KEY)
        end = found[0][0] if found else None
        high = LAST_KEY if end is None else end - 1
        pages = tables.execute(PAGES_WITHIN, (low, high))
        here = cells.old & (cells.keys <= high)
        some = _Cells(cells.keys[here], cells.rows[here], cells.old[here], cells.units)
        merged = TokenUnits.sum([from_pages(pages, cells.units.shape[1]), _summed(some)])
        if np.abs(merged.units).max(initial=0) > MAX_UNITS:
            raise SpamnbError(f"{tables.path}: a token's weight is larger than a model file holds")
        tables.execute("DELETE FROM corrections WHERE first BETWEEN ? AND ?", (low, high))
        tables.executemany(INSERT_PAGE, pages_of(merged))
        self._merged = FIRST_KEY if end is None else end
        if end is None:
            tables.execute("DELETE FROM corrected WHERE sequence <= ?", (self._summed,))
        self._keep_state()
        self._read = _Cells(cells.keys[~here], cells.rows[~here], cells.old[~here], cells.units)
        if end is None:
            self._read = self._read_cells()
        return end is None

    def _keep_state(self) -> None:
        self._tables.execute("UPDATE correcting SET summed = ?, merged = ?", (self._summed, self._merged))


def _rows_of(rows: Iterable[tuple], classes: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Rows of table corrected: their numbers (r,), all their keys (m,), the row of each (m,), units (r, C)."""
    found = checked_rows("corrected", rows, sequence=int_between(MAX_SUM), keys=is_blob, units=is_blob)
    if any(len(keys) % KEY.itemsize for _, keys, _ in found):
        raise Damaged("rows of table corrected that were cut short")
    sequences = np.array([row[0] for row in found], np.int64)
    keys = np.frombuffer(b"".join(row[1] for row in found), KEY)
    place = np.repeat(np.arange(len(found)), [len(row[1]) // KEY.itemsize for row in found])
    return sequences, keys, place, units_of_rows("corrected", [row[2] for row in found], classes)


def _summed(cells: _Cells) -> TokenUnits:
    return TokenUnits.sum([TokenUnits(cells.keys, cells.units[cells.rows])])
