"""A model on a PostgreSQL server: a schema with one row a token, behind the same methods as a model file.

What a message's tokens need is one question, for those that are not in memory. A lesson writes the new sums of its
tokens, and one row of table ``changes`` that says what it changed: others who have the model open add that to what they
have in memory. The last KEPT_CHANGES rows stay; whoever is further behind reads anew. The last row's number is the
model's version.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Self

import numpy as np

from spamnb.counts.class_counts import ClassCounts, SparseRow
from spamnb.errors import Damaged, SpamnbError
from spamnb.settings import COUNT_MODELS
from spamnb.store.changes import CHANGE, Change, changes_between, join
from spamnb.store.compaction import this_month
from spamnb.store.database import checked_rows, int_between, is_blob
from spamnb.store.frequencies import write_moved
from spamnb.store.learned import LearnedMessage, messages_rows
from spamnb.store.pages import CELL, MAX_COUNT, Pages, tokens_of
from spamnb.store.server import ServerDatabase, check_format
from spamnb.store.store import Store
from spamnb.tokens.token_array import TokenArray

if TYPE_CHECKING:
    from spamnb.store.corrections import CorrectionTables

KEPT_CHANGES = 500
_PUT = """INSERT INTO tokens SELECT * FROM unnest(%s::bigint[], %b::bytea[], %b::bytea[])
ON CONFLICT (key) DO UPDATE SET cells = excluded.cells"""


class PostgresStore(ServerDatabase, Store):
    """A model on a server, open: ``with PostgresStore.open("postgresql://db/spam") as store: ...``."""

    @classmethod
    def open(cls, path: str | Path, *, writable: bool = False) -> Self:
        """The model at this URL; one clear line when there is none, or the server cannot be reached."""
        store = cls.connect(path, writable=writable)
        try:
            with store.reading():
                rows = checked_rows("spamnb", store.execute("SELECT format FROM spamnb"), format=int_between(1 << 31))
                check_format(rows[0][0] if rows else 0, store.path)
                store.meta()
        except BaseException:
            store.close()
            raise
        return store

    # -- tokens ----------------------------------------------------------------------------------------------

    @property
    def corrections(self) -> CorrectionTables:
        raise SpamnbError(f"{self.path}: {refusal('corrected')}")

    def _as_trained(self) -> bool:
        return True  # the sums of training and of what was learned since are one

    def _read_pages(self, keys: np.ndarray | None = None) -> Pages:
        if keys is None:
            found = self.execute("SELECT key, cells FROM tokens ORDER BY key")
        else:
            asked = "SELECT key, cells FROM tokens WHERE key = ANY(?::bigint[]) ORDER BY key"
            found = self.execute(asked, (keys.tolist(),))
        return _pages_of(found.fetchall(), self._width() // 2)

    def _width(self) -> int:
        return 2 * len(self.class_ids())

    def _has_columns(self, classes: int) -> bool:
        return True

    def _add_columns(self, number: int) -> None:
        """A row has as many cells as its token has classes."""

    def _catch_up(self) -> None:
        if self._behind:
            self._behind = False
            if self._cache is not None and not self._follow(self._seen):
                self._cache = None
        self._seen = self._data_version

    _seen: int | None = None  # the last change that is in the rows in memory

    def _follow(self, seen: int | None) -> bool:
        """Add to the rows in memory what changed after number ``seen``; False where that cannot be known."""
        cache, last = self._cache, self._data_version
        if seen is None or cache is None or last is None or not 0 <= last - seen <= KEPT_CHANGES:
            return False
        if len(cache.table) != self._width():
            return False
        found = changes_between(self, seen + 1, last)
        if len(found) != last - seen:
            return False
        for change in found:
            cache.add(cache.columns(list(change.tokens)), change.cells)
        return True

    def _before_commit(self) -> None:
        """Write what ``add`` changed, and that something did."""
        if self._pending and self._cache is not None:
            change = join(self._pending, self._cache, (self._data_version or 0) + 1, this_month())
            self._pending = []
            self._put_tokens(change.tokens)
            write_moved(self, self._moved)
            self.execute("DELETE FROM frequencies WHERE tokens = 0")  # of some thousand rows at most
            self._moved = {}
        elif self._wrote:
            nothing = np.zeros(0, bool), np.zeros(0, CHANGE)
            change = Change((self._data_version or 0) + 1, this_month(), TokenArray.of([]), *nothing)
        else:
            return
        self.execute("INSERT INTO changes VALUES (?, ?, ?, ?, ?, ?, ?)", change.row())
        self.execute("DELETE FROM changes WHERE sequence <= ?", (change.sequence - KEPT_CHANGES,))
        self._wrote = False
        self._data_version = change.sequence
        if not self._behind:  # else what others changed before is still to be added to the rows in memory
            self._seen = change.sequence

    def _put_tokens(self, tokens: TokenArray) -> None:
        """Write the sums that the rows in memory hold of these tokens."""
        assert self._cache is not None and self._server is not None
        columns = self._cache.columns(list(tokens))
        table = self._cache.table[:, columns]
        if table.max(initial=0) > MAX_COUNT:
            raise SpamnbError(f"{self.path}: a token was counted more than {MAX_COUNT:,} times")
        here = self._cache.in_vocabulary[columns]
        keys = tokens.hashes
        kept = np.flatnonzero(here)
        cells = _cells_of(table[:, kept])
        self._wrote = True
        if len(kept):
            text = [token.encode() for token in tokens.take(kept)]
            self._server.execute(_PUT, (keys[kept].tolist(), text, cells))
        if len(gone := keys[~here].tolist()):
            self.execute("DELETE FROM tokens WHERE key = ANY(?::bigint[])", (gone,))

    def finish(self) -> None:
        """Write what was held back, inside a change that goes on."""
        self._before_commit()

    def begin_at(self, sequence: int) -> None:
        """The log of a new model begins with a row of this number."""
        self._data_version = self._seen = sequence

    # -- the model whole -------------------------------------------------------------------------------------

    def all_sums(self) -> tuple[TokenArray, ClassCounts]:
        rows = self.execute("SELECT key, cells, token FROM tokens ORDER BY key").fetchall()
        checked_rows("tokens", ((token,) for *_, token in rows), token=is_blob)
        pages = _pages_of([row[:2] for row in rows], self._width() // 2)
        text = [token for *_, token in rows]
        tokens = tokens_of([(np.array(list(map(len, text)), "<u2").tobytes(), b"".join(text))], pages.hashes)
        cells = SparseRow(pages.columns, pages.cells["documents"], pages.cells["occurrences"])
        classes, label = list(self.class_ids()), pages.cells["class"].astype(np.intp)
        return tokens, ClassCounts.from_cells(classes, np.zeros(len(classes), np.int64), len(tokens), label, cells)

    def put_sums(self, tokens: TokenArray, counts: ClassCounts) -> None:
        if any(values.max(initial=0) > MAX_COUNT for row in counts.rows for values in row[1:]):
            raise OverflowError(f"a token was counted more than {MAX_COUNT:,} times")
        column = np.concatenate([np.zeros(0, np.intp), *(row.columns for row in counts.rows)])
        order = np.argsort(column, kind="stable")
        cells = np.zeros(len(column), CELL)
        cells["class"] = np.repeat(np.arange(len(counts.rows)), [len(row.columns) for row in counts.rows])
        for i, name in enumerate(("documents", "occurrences"), 1):
            cells[name] = np.concatenate([np.zeros(0, np.int64), *(row[i] for row in counts.rows)])
        cells = cells[order]
        held = np.bincount(column, minlength=len(tokens))
        rows = zip(tokens.hashes.tolist(), (token.encode() for token in tokens), _cut(cells, held))
        self.copy_rows("COPY tokens FROM STDIN (FORMAT BINARY)", rows, ("int8", "bytea", "bytea"))

    def put_messages(self, messages: Iterable[tuple[bytes, LearnedMessage]]) -> None:
        rows = messages_rows(messages, self.class_ids())
        self.copy_rows("COPY messages FROM STDIN (FORMAT BINARY)", rows, ("bytea", "int4", "int4", "text"))

    # -- what a model on a server does not hold ----------------------------------------------------------------

    def look_up_vectors(self, tokens: Sequence[str]) -> dict[str, np.ndarray]:
        return {}

    def vectors(self) -> dict[str, np.ndarray]:
        return {}

    def put_vectors(self, tokens: Iterable[str], vectors: np.ndarray) -> None:
        raise SpamnbError(f"{self.path}: {refusal('one with vectors')}")


def refusal(kind: str) -> str:
    """Why a model of this kind is not kept on a server."""
    types = ", ".join(COUNT_MODELS)
    return f"a server holds sums, models of type {types} without an embedding; {kind} needs a file"


def _cells_of(table: np.ndarray) -> list[bytes]:
    """The cells of k tokens, whose counts are ``table`` (2 C, k)."""
    held = (table[0::2] > 0) | (table[1::2] > 0)
    token, label = np.nonzero(held.T)
    cells = np.zeros(len(token), CELL)
    cells["class"] = label
    cells["documents"], cells["occurrences"] = table[2 * label, token], table[2 * label + 1, token]
    return list(_cut(cells, held.sum(axis=0)))


def _cut(cells: np.ndarray, held: np.ndarray) -> Iterator[bytes]:
    """The bytes of each token's cells; ``held`` (k,) says how many it has."""
    ends = (CELL.itemsize * np.cumsum([0, *held.tolist()])).tolist()
    return map(cells.tobytes().__getitem__, map(slice, ends, ends[1:]))


def _pages_of(rows: Sequence[tuple[int, bytes]], classes: int) -> Pages:
    """Rows of key and cells, ascending by key. Damaged where they are no such thing."""
    if not rows:
        return Pages.of([], classes)
    checked_rows("tokens", rows, key=int_between((1 << 63) - 1, -(1 << 63)), cells=is_blob)
    keys, cells = zip(*rows)
    held = np.fromiter(map(len, cells), np.int64, len(cells)) // CELL.itemsize
    if held.max() > np.iinfo("<u2").max:
        raise Damaged("tokens with more cells than there are classes")
    page = keys[0], np.array(keys, "<i8").tobytes(), held.astype("<u2").tobytes(), b"".join(cells)
    return Pages.of([page], classes)
