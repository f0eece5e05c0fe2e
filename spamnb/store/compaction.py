"""How the log of changes gets into the sums: the log into table ``learned``, that into the pages of ``trained``.

A row of the log is written with each transaction. When they hold MAX_LOG cells, after some 130 lessons, they are added
to ``learned`` at once, and from there a part of it, the keys of MERGED_PAGES pages in turn, to the pages. So no lesson
waits for more than a small part of the file to be written, and ``learned``, whose rows are half as large again as a
token in a page, stays small: docs/experiments.md#lessons.
"""

from __future__ import annotations

import time
from collections.abc import Iterable

import numpy as np

from spamnb.counts.class_counts import ClassCounts, SparseRow, inverse_index
from spamnb.errors import Damaged
from spamnb.store.changes import (
    CHANGES_AFTER,
    FIRST_KEY,
    LAST_KEY,
    MAX_MONTH,
    Change,
    ChangeLog,
    first_sequence,
    read_changes,
)
from spamnb.store.database import FORMAT, checked_rows, int_array, int_between, is_blob, is_text
from spamnb.store.pages import CountCache, Pages, to_pages, tokens_of
from spamnb.store.schema import CHANGES
from spamnb.store.tables import ModelTables
from spamnb.tokens.token_array import TokenArray, merge_vocabularies

MAX_LOG = 8_192  # cells: whoever opens the file reads them, in 1 ms
MERGED_PAGES = 250  # 1 MB
_KEY = int_between(LAST_KEY, FIRST_KEY)


def this_month() -> int:
    """Months since year 0, in UTC."""
    now = time.gmtime()
    return 12 * now.tm_year + now.tm_mon - 1


def make_log(store: ModelTables) -> int:
    """Give the file a log, inside ``writing``; the number of its first row."""
    for statement in CHANGES:
        store.execute(statement)
    store.execute("INSERT INTO compaction VALUES (1, ?)", (FIRST_KEY,))
    store.execute(f"PRAGMA user_version = {FORMAT}")
    return _begin_log(store, first_sequence())


def restart_log(store: ModelTables) -> None:
    """Begin the log, which must be empty, with another number, so that nobody goes on with what was looked up."""
    store.execute("DELETE FROM changes")
    store.execute("UPDATE compaction SET merged = ?", (FIRST_KEY,))
    _begin_log(store, first_sequence())


def _begin_log(store: ModelTables, sequence: int) -> int:
    empty = Change(sequence, 0, TokenArray.of([]), np.zeros(0, bool), np.zeros(0, "u1"))
    store.execute("INSERT INTO changes VALUES (?, ?, ?, ?, ?, ?, ?)", empty.row())
    return sequence


def classes_of(store: ModelTables) -> list[str]:
    """The names of all classes, by their numbers."""
    return list(store.class_ids())


def logged(store: ModelTables) -> list[Change]:
    """All changes of the log."""
    return read_changes(store.execute(CHANGES_AFTER, (-1,)), len(store.class_ids())) if store.has_log() else []


def follow(store: ModelTables, log: ChangeLog, cache: CountCache) -> bool:
    """Add to ``log`` and ``cache`` what others changed since the log was read; False where that cannot be known, so
    that both must be read anew: the file was replaced or pruned, or the log's rows are in the sums already."""
    classes = len(store.class_ids())
    if log.sequence is None or len(cache.table) != 2 * classes or not store.has_log():
        return False
    first, last = store.execute("SELECT min(sequence), max(sequence) FROM changes").fetchone()
    if type(first) is not int or not first - 1 <= log.sequence <= last:
        return False
    for change in read_changes(store.execute(CHANGES_AFTER, (log.sequence,)), classes):
        log.append(change)
        cache.add(cache.columns(list(change.tokens)), change.cells)
    log.drop_before(first)
    return True


def _summed(tokens: TokenArray, label: np.ndarray, cells: SparseRow, classes: list[str]) -> ClassCounts:
    return ClassCounts.from_cells(classes, np.zeros(len(classes), np.int64), len(tokens), label, cells)


def _of_changes(changes: list[Change], classes: list[str]) -> tuple[TokenArray, ClassCounts]:
    """The sum of changes; tokens ascending by hash."""
    tokens, places = merge_vocabularies([change.tokens for change in changes])
    cells = [change.cells for change in changes]
    column = np.concatenate([at[cell["token"]] for at, cell in zip(places, cells)])
    joined = np.concatenate(cells)
    row = SparseRow(column, joined["documents"].astype(np.int64), joined["occurrences"])
    return tokens, _summed(tokens, joined["class"].astype(np.intp), row, classes)


def _learned(store: ModelTables, low: int, high: int, classes: list[str]) -> tuple[TokenArray, ClassCounts] | None:
    """What table ``learned`` holds of the keys from ``low`` to ``high``; None where that is nothing."""
    rows = store.execute("SELECT * FROM learned WHERE key BETWEEN ? AND ? ORDER BY key", (low, high)).fetchall()
    if not rows:
        return None
    hashes, text, *changes = zip(*rows)
    checked_rows("learned", zip(text), token=is_text)
    tokens = TokenArray.of(text)
    if tokens.hashes.tolist() != list(hashes):
        raise Damaged("tokens in table learned that are not those of their keys")
    table = int_array("learned", changes).reshape(-1, 2, len(text))
    label, column = np.nonzero(table.any(axis=1))
    return tokens, _summed(tokens, label, SparseRow(column, table[label, 0, column], table[label, 1, column]), classes)


def log_sums(store: ModelTables) -> tuple[TokenArray, ClassCounts] | None:
    """What the log adds, tokens ascending by key; None where there is no log."""
    changes = logged(store)
    return _of_changes(changes, classes_of(store)) if changes else None


def sums(
    store: ModelTables,
    low: int = FIRST_KEY,
    high: int = LAST_KEY,
    log: tuple[TokenArray, ClassCounts] | None = None,
) -> tuple[TokenArray, ClassCounts]:
    """The tokens with keys from ``low`` to ``high``, ascending by key, and their counts by class number: what training
    wrote, what was learned since, and ``log``, of ``log_sums``."""
    classes = classes_of(store)
    statement = "SELECT {} FROM trained WHERE first BETWEEN ? AND ? ORDER BY first"
    pages = Pages.of(store.execute(statement.format("first, keys, held, cells"), (low, high)), len(classes))
    tokens = tokens_of(store.execute(statement.format("lengths, text"), (low, high)), pages.hashes)
    cells = SparseRow(pages.columns, pages.cells["documents"], pages.cells["occurrences"])
    parts = [(tokens, _summed(tokens, pages.cells["class"].astype(np.intp), cells, classes))]
    if learned := _learned(store, low, high, classes):
        parts.append(learned)
    if log:
        here = np.flatnonzero((log[0].hashes >= low) & (log[0].hashes <= high))
        parts.append((log[0].take(here), log[1].reindex(inverse_index(here, len(log[0])), len(here))))
    if len(parts) == 1:
        return parts[0]
    tokens, places = merge_vocabularies([part for part, _ in parts])
    counts = ClassCounts.sum([part.reindex(at, len(tokens)) for (_, part), at in zip(parts, places)])
    if store.meta().get("top_words") is None:
        held = np.flatnonzero(counts.document_frequency())
        tokens, counts = tokens.take(held), counts.reindex(inverse_index(held, len(tokens)), len(held))
    return tokens, counts


def fold(store: ModelTables) -> int:
    """Add the log to table ``learned``, inside ``writing``; the number of the log's first row afterwards."""
    changes = logged(store)
    classes = classes_of(store)
    tokens, counts = _of_changes(changes, classes)
    table = np.zeros((2 * len(classes), len(tokens)), np.int64)
    for c, row in enumerate(counts.rows):
        table[2 * c, row.columns], table[2 * c + 1, row.columns] = row.document_counts, row.occurrences
    touched = np.flatnonzero(table.any(axis=0))
    names = [f"{of}_{c}" for c in range(len(classes)) for of in ("documents", "occurrences")]
    added = ", ".join(f"{name} = {name} + excluded.{name}" for name in names)
    marks = ", ?" * len(names)
    hashes, text = tokens.hashes[touched].tolist(), list(tokens.take(touched))
    store.executemany(
        f"INSERT INTO learned VALUES (?, ?{marks}) ON CONFLICT DO UPDATE SET {added}",  # noqa: S608 (our own names)
        zip(hashes, text, *table[:, touched].tolist()),
    )
    nothing = " AND ".join(f"{name} = 0" for name in names)
    taken = tokens.hashes[(table < 0).any(axis=0)].tolist()  # what was only added to is hardly ever nothing then
    store.executemany(f"DELETE FROM learned WHERE key = ? AND {nothing}", zip(taken))  # noqa: S608
    _remember_rare(store, changes)
    last = changes[-1].sequence
    store.execute("DELETE FROM changes")
    return _begin_log(store, last + 1)


def _remember_rare(store: ModelTables, changes: list[Change]) -> None:
    """Note the tokens that few messages held in the months in which they were taught."""
    for month in sorted({change.month for change in changes if len(change.cells)}):
        taught = [change.tokens.hashes[change.rare] for change in changes if change.month == month]
        keys = np.union1d(_short(np.concatenate(taught)), rare_tokens(store, month, month))
        store.execute("INSERT OR REPLACE INTO rare_tokens VALUES (?, ?)", (month, keys.astype("<u4").tobytes()))


def months_taught(store: ModelTables) -> list[tuple[int, np.ndarray]]:
    """(month, short hashes, ascending) of the tokens that were rare when they were taught, for ``remember_months``."""
    with store.reading():
        if not store.has_log():
            return []
        rows = store.execute("SELECT month FROM rare_tokens ORDER BY month")
        months = {month for (month,) in checked_rows("rare_tokens", rows, month=int_between(MAX_MONTH))}
        changes = [change for change in logged(store) if len(change.cells)]
        found = []
        for month in sorted(months.union(change.month for change in changes)):
            taught = [_short(change.tokens.hashes[change.rare]) for change in changes if change.month == month]
            found.append((month, np.unique(np.concatenate([rare_tokens(store, month, month), *taught]))))
        return found


def remember_months(store: ModelTables, months: Iterable[tuple[int, np.ndarray]]) -> None:
    """Note in a new model when the model before it was taught which tokens, so that pruning knows; a token that is
    called otherwise since counts as old."""
    with store.writing():
        if not store.has_log():
            make_log(store)
        store.executemany(
            "INSERT INTO rare_tokens VALUES (?, ?)", [(month, keys.astype("<u4").tobytes()) for month, keys in months]
        )


def _short(hashes: np.ndarray) -> np.ndarray:
    """The upper halves of hashes, (k,) uint32: of a million tokens one in 4,000 passes for one of a million others."""
    return (hashes.astype(np.int64).view(np.uint64) >> np.uint64(32)).astype(np.uint32)


def rare_tokens(store: ModelTables, first: int, last: int = MAX_MONTH) -> np.ndarray:
    """The short hashes, ascending, of the tokens that were taught from month ``first`` to ``last`` and were rare."""
    rows = store.execute("SELECT keys FROM rare_tokens WHERE month BETWEEN ? AND ?", (first, last))
    blobs = [blob for (blob,) in checked_rows("rare_tokens", rows, keys=is_blob)]
    if any(len(blob) % 4 for blob in blobs):
        raise Damaged("rows of table rare_tokens that were cut short")
    return np.unique(np.frombuffer(b"".join(blobs), "<u4"))


def taught_since(hashes: np.ndarray, recent: np.ndarray) -> np.ndarray:
    """Which tokens (k,) are among ``recent`` ones, of ``rare_tokens``: (k,) bool."""
    return np.isin(_short(hashes), recent)


def merge(store: ModelTables) -> None:
    """Add the next part of ``learned`` to the pages of ``trained``, inside ``writing``, after ``fold``."""
    (low,) = checked_rows("compaction", store.execute("SELECT merged FROM compaction"), merged=_KEY)[0]
    low = part_start(store, low)
    high = part_end(store, low)
    tokens, counts = sums(store, low, high)
    write_part(store, low, high, tokens, counts)
    store.execute("UPDATE compaction SET merged = ?", (FIRST_KEY if high == LAST_KEY else high + 1,))


def part_start(store: ModelTables, low: int) -> int:
    """Where the page begins in which key ``low`` is."""
    rows = store.execute("SELECT first FROM trained WHERE first <= ? ORDER BY first DESC LIMIT 1", (low,))
    page = checked_rows("trained", rows, first=_KEY)
    return page[0][0] if page else FIRST_KEY


def part_end(store: ModelTables, low: int) -> int:
    """The last key of the part of MERGED_PAGES pages that begins with key ``low``."""
    statement = "SELECT first FROM trained WHERE first > ? ORDER BY first LIMIT 1 OFFSET ?"
    rows = store.execute(statement, (low, MERGED_PAGES))
    following = checked_rows("trained", rows, first=_KEY)
    return following[0][0] - 1 if following else LAST_KEY


def write_part(store: ModelTables, low: int, high: int, tokens: TokenArray, counts: ClassCounts) -> None:
    """Make ``tokens``, ascending by key, and their counts all that the pages and ``learned`` hold of these keys."""
    try:
        pages: Iterable[tuple] = to_pages(tokens, counts)
    except OverflowError as error:
        raise Damaged(str(error)) from None
    store.execute("DELETE FROM trained WHERE first BETWEEN ? AND ?", (low, high))
    store.executemany("INSERT INTO trained VALUES (?, ?, ?, ?, ?, ?)", pages)
    store.execute("DELETE FROM learned WHERE key BETWEEN ? AND ?", (low, high))
