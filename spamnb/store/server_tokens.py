"""Table ``tokens`` of a model on a server, one row a token: its key, its text, its counts as cells, ten bytes a class,
and in a corrected model its weights, four bytes a class but for class number 0.

Text is bytes, since tokens of real mail hold NUL, which PostgreSQL's text does not.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from spamnb.counts.class_counts import ClassCounts, SparseRow, inverse_index
from spamnb.errors import Damaged
from spamnb.store.changes import FIRST_KEY, LAST_KEY
from spamnb.store.compaction import add_up, sum_changes
from spamnb.store.correction_sums import MAX_UNITS, UNITS, TokenUnits, units_of_rows
from spamnb.store.database import checked_rows, int_between, is_blob
from spamnb.store.pages import CELL, MAX_COUNT, Pages, tokens_of
from spamnb.store.schema import SERVER_INDEX, SERVER_TABLES
from spamnb.store.server import ServerDatabase
from spamnb.store.server_changes import ServerChange, sum_weights
from spamnb.tokens.token_array import TokenArray

PART_ROWS = 20_000  # that pruning holds in memory, and locks against other lessons for some .2 s
_KEY = int_between(LAST_KEY, FIRST_KEY)
_BETWEEN = "FROM tokens WHERE key BETWEEN ? AND ? ORDER BY key"
_UPDATE = """UPDATE tokens SET cells = new.cells, units = new.units
FROM unnest(%s::bigint[], %b::bytea[], %b::bytea[]) AS new (key, cells, units) WHERE tokens.key = new.key"""
_INSERT = "INSERT INTO tokens SELECT * FROM unnest(%s::bigint[], %b::bytea[], %b::bytea[], %b::bytea[])"


class TokenRows(NamedTuple):
    """The rows of k tokens, ascending by key."""

    pages: Pages
    units: list[bytes | None]  # of each token its weights, where it has some

    def weights(self, keys: np.ndarray, classes: int) -> np.ndarray:
        """The weights of the tokens with these ``keys`` (k,), (k, C); 0 where there is none."""
        out = np.zeros((len(keys), classes), np.int64)
        place = np.searchsorted(self.pages.hashes, keys)
        place[place == len(self.pages.hashes)] = 0
        here = np.flatnonzero(self.pages.hashes[place] == keys) if len(self.pages.hashes) else place[:0]
        found = [(i, units) for i, at in zip(here.tolist(), place[here].tolist()) if (units := self.units[at])]
        if found:
            out[[i for i, _ in found]] = units_of_rows("tokens", [units for _, units in found], classes)
        return out


def look_up(store: ServerDatabase, keys: np.ndarray | None, classes: int) -> TokenRows:
    """The rows of the tokens with these ``keys``, or all."""
    if keys is None:
        found = store.execute("SELECT key, cells, units FROM tokens ORDER BY key")
    else:
        found = store.execute(
            "SELECT key, cells, units FROM tokens WHERE key = ANY(?::bigint[]) ORDER BY key", (keys.tolist(),)
        )
    rows = found.fetchall()
    return TokenRows(_pages_of([row[:2] for row in rows], classes), [row[2] for row in rows])


def sums_between(
    store: ServerDatabase,
    classes: list[str],
    log: tuple[TokenArray, ClassCounts] | None,
    keep_all: bool,
    low: int = FIRST_KEY,
    high: int = LAST_KEY,
) -> tuple[TokenArray, ClassCounts]:
    """The tokens with keys from ``low`` to ``high``, ascending by key, and their counts by class number: the table's
    rows and what ``log`` adds; but for ``keep_all`` without tokens that no message holds."""
    rows = store.execute(f"SELECT key, cells, token {_BETWEEN}", (low, high)).fetchall()
    checked_rows("tokens", ((token,) for *_, token in rows), token=is_blob)
    pages = _pages_of([row[:2] for row in rows], len(classes))
    text = [token for *_, token in rows]
    tokens = tokens_of([(np.array(list(map(len, text)), "<u2").tobytes(), b"".join(text))], pages.hashes)
    cells = SparseRow(pages.columns, pages.cells["documents"], pages.cells["occurrences"])
    documents, label = np.zeros(len(classes), np.int64), pages.cells["class"].astype(np.intp)
    parts = [(tokens, ClassCounts.from_cells(classes, documents, len(tokens), label, cells))]
    if log:
        added, counts = log
        here = np.flatnonzero((added.hashes >= low) & (added.hashes <= high))
        parts.append((added.take(here), counts.reindex(inverse_index(here, len(added)), len(here))))
    return add_up(parts, keep_all)


def all_weights(store: ServerDatabase, log: Sequence[ServerChange], classes: int) -> TokenUnits:
    """The weights of all tokens: the table's, and what the rows of ``log`` add."""
    rows = store.execute("SELECT key, units FROM tokens WHERE units IS NOT NULL ORDER BY key").fetchall()
    keys = [key for (key,) in checked_rows("tokens", ((row[0],) for row in rows), key=_KEY)]
    units = units_of_rows("tokens", [row[1] for row in rows], classes)
    return TokenUnits.sum([TokenUnits(np.array(keys, np.int64), units), sum_weights(log, classes)])


# -- writing -----------------------------------------------------------------------------------------------------


def copy_tokens(store: ServerDatabase, tokens: TokenArray, counts: ClassCounts) -> None:
    """Write rows of a new model, which has no index yet; those of tokens in many messages first. So a message's tokens
    lie in fewer of the table's pages: looking 366 of them up took the server 1.1 ms and not 1.4."""
    if any(values.max(initial=0) > MAX_COUNT for row in counts.rows for values in row[1:]):
        raise OverflowError(f"a token was counted more than {MAX_COUNT:,} times")
    order = np.argsort(-counts.document_frequency(), kind="stable")
    cells = list(_cells_of(counts))
    text = (token.encode() for token in tokens.take(order))
    rows = zip(tokens.hashes[order].tolist(), text, map(cells.__getitem__, order.tolist()))
    store.copy_rows("COPY tokens (key, token, cells) FROM STDIN (FORMAT BINARY)", rows, ("int8", "bytea", "bytea"))


def copy_weights(store: ServerDatabase, weights: TokenUnits) -> None:
    """Write the weights of a new model beside its tokens: ``index_tokens`` puts them together."""
    if np.abs(weights.units).max(initial=0) > MAX_UNITS:
        raise Damaged("a token's weight is larger than a model holds")
    store.execute("CREATE TABLE weights (key bigint NOT NULL, units bytea NOT NULL)")
    some = weights.units.any(axis=1)
    rows = zip(weights.keys[some].tolist(), _blobs(weights.units[some]))
    store.copy_rows("COPY weights FROM STDIN (FORMAT BINARY)", rows, ("int8", "bytea"))


def index_tokens(store: ServerDatabase, with_weights: bool) -> None:
    """Make of what was copied a table in which tokens are looked up."""
    if with_weights:
        store.execute("ALTER TABLE tokens RENAME TO plain")
        store.execute(SERVER_TABLES["tokens"])
        store.execute(
            "INSERT INTO tokens SELECT plain.key, token, cells, weights.units FROM plain LEFT JOIN weights"
            " ON weights.key = plain.key"
        )
        store.execute("DROP TABLE plain, weights")
    store.execute(SERVER_INDEX)


def add_log(store: ServerDatabase, log: Sequence[ServerChange], classes: list[str], keep_all: bool) -> None:
    """Add rows of the log to those of their tokens."""
    added, counts = sum_changes([row.change for row in log], classes)
    weights = sum_weights(log, len(classes))
    keys = np.union1d(added.hashes, weights.keys)
    asked = "SELECT key, cells, units FROM tokens WHERE key = ANY(?::bigint[]) ORDER BY key"
    rows = store.execute(asked, (keys.tolist(),)).fetchall()
    found = TokenRows(_pages_of([row[:2] for row in rows], len(classes)), [row[2] for row in rows])
    table = np.zeros((2 * len(classes), len(keys)), np.int64)
    here, trained = found.pages.look_up(keys, len(table))
    table[:, here] = trained
    place = np.searchsorted(keys, added.hashes)
    for c, row in enumerate(counts.rows):
        table[2 * c, place[row.columns]] += row.document_counts
        table[2 * c + 1, place[row.columns]] += row.occurrences
    units = found.weights(keys, len(classes))
    units[np.searchsorted(keys, weights.keys)] += weights.units
    if table.min(initial=0) < 0 or table.max(initial=0) > MAX_COUNT or np.abs(units).max(initial=0) > MAX_UNITS:
        raise Damaged("sums of tokens that cannot be")
    is_row = np.zeros(len(keys), bool)
    is_row[here] = True
    stays = table.any(axis=0)
    if keep_all:
        stays |= is_row
    _write_rows(store, keys, table, units, np.flatnonzero(stays & is_row), None)
    new = np.flatnonzero(stays & ~is_row)
    at = np.searchsorted(added.hashes, keys[new])
    _write_rows(store, keys, table, units, new, added.take(at))
    gone = keys[is_row & ~stays].tolist()
    if gone:
        store.execute("DELETE FROM tokens WHERE key = ANY(?::bigint[])", (gone,))


def last_of_part(store: ServerDatabase, low: int) -> int:
    """The last key of the part of some PART_ROWS rows that begins with key ``low``."""
    rows = store.execute("SELECT key FROM tokens WHERE key > ? ORDER BY key LIMIT 1 OFFSET ?", (low, PART_ROWS))
    following = checked_rows("tokens", rows, key=_KEY)
    return following[0][0] - 1 if following else LAST_KEY


def keep_tokens(store: ServerDatabase, low: int, high: int, keys: np.ndarray) -> None:
    """Delete all rows with keys from ``low`` to ``high`` but those with these ``keys``."""
    store.execute(
        "DELETE FROM tokens USING (SELECT key FROM tokens WHERE key BETWEEN ? AND ? EXCEPT SELECT unnest(?::bigint[]))"
        " AS gone (key) WHERE tokens.key = gone.key",
        (low, high, keys.tolist()),
    )


def _write_rows(
    store: ServerDatabase,
    keys: np.ndarray,
    table: np.ndarray,
    units: np.ndarray,
    some: np.ndarray,
    text: TokenArray | None,
) -> None:
    """Write the rows at the places ``some``, new ones where there is their ``text``."""
    if len(some):
        values = keys[some].tolist(), _cells_of_table(table[:, some]), _blobs(units[some])
        if text is None:
            store.run_with(_UPDATE, values)
        else:
            store.run_with(_INSERT, (values[0], [token.encode() for token in text], *values[1:]))


def _blobs(units: np.ndarray) -> list[bytes | None]:
    """Weights (k, C) as their tokens' rows hold them."""
    size = UNITS.itemsize * (units.shape[1] - 1)
    packed = np.ascontiguousarray(units[:, 1:], UNITS).tobytes()
    some = np.flatnonzero(units.any(axis=1)).tolist()
    found: list[bytes | None] = [None] * len(units)
    for i in some:
        found[i] = packed[i * size : (i + 1) * size]
    return found


def _cells_of(counts: ClassCounts) -> Iterator[bytes]:
    """The cells of each token; the class numbers are those of ``counts``."""
    column = np.concatenate([np.zeros(0, np.intp), *(row.columns for row in counts.rows)])
    order = np.argsort(column, kind="stable")
    cells = np.zeros(len(column), CELL)
    cells["class"] = np.repeat(np.arange(len(counts.rows)), [len(row.columns) for row in counts.rows])
    for i, name in enumerate(("documents", "occurrences"), 1):
        cells[name] = np.concatenate([np.zeros(0, np.int64), *(row[i] for row in counts.rows)])
    return _cut(cells[order], np.bincount(column, minlength=counts.vocabulary_size))


def _cells_of_table(table: np.ndarray) -> list[bytes]:
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
    checked_rows("tokens", rows, key=_KEY, cells=is_blob)
    keys, cells = zip(*rows)
    held = np.fromiter(map(len, cells), np.int64, len(cells)) // CELL.itemsize
    if held.max() > np.iinfo("<u2").max:
        raise Damaged("tokens with more cells than there are classes")
    page = keys[0], np.array(keys, "<i8").tobytes(), held.astype("<u2").tobytes(), b"".join(cells)
    return Pages.of([page], classes)
