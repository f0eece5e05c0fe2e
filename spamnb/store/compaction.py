"""How the log of changes gets into the sums: the log into table ``learned``, that into the pages of ``trained``.

A row of the log is written with each transaction. When they hold MAX_LOG cells, after some 130 lessons, their sum takes
their place in PARTS rows, each of a range of keys. Each lesson from then on does one step: it adds one part to
``learned``, and when there is none left, the keys of MERGED_PAGES pages of ``learned`` to the pages. So no lesson waits
for long, and ``learned``, whose rows are half as large again as a token in a page, stays small: docs/experiments.md.
"""

from __future__ import annotations

import time
from collections.abc import Iterable

import numpy as np

from spamnb.counts.class_counts import ClassCounts, SparseRow, inverse_index
from spamnb.errors import Damaged
from spamnb.reader.token_array import TokenArray, merge_vocabularies
from spamnb.store.changes import (
    CHANGE,
    FIRST_KEY,
    LAST_KEY,
    Change,
    ChangeLog,
    first_sequence,
    logged,
)
from spamnb.store.database import FORMAT, MAX_SUM, checked_rows, int_array, int_between, is_text
from spamnb.store.pages import Pages, to_pages, tokens_of
from spamnb.store.schema import CHANGES
from spamnb.store.tables import ModelTables
from spamnb.store.token_months import remember_rare

MAX_LOG = 32_768  # cells: whoever opens the file reads them, in 3 ms
PARTS = 32
MERGES, MERGED_PAGES = 32, 32  # so many steps follow the last part, each of so many pages
_STEPS = 2 * (PARTS + MERGES)  # while MAX_LOG cells are written: twice what there is to do
_KEY = int_between(LAST_KEY, FIRST_KEY)


def this_month() -> int:
    """Months since year 0, in UTC."""
    now = time.gmtime()
    return 12 * now.tm_year + now.tm_mon - 1


def make_log(store: ModelTables) -> int:
    """Give the file a log, inside ``writing``; the number of its first row."""
    for statement in CHANGES:
        store.execute(statement)
    store.execute("INSERT INTO compaction VALUES (1, 0, ?, 0)", (FIRST_KEY,))
    store.execute(f"PRAGMA user_version = {FORMAT}")
    return _begin_log(store, first_sequence())


def restart_changes(store: ModelTables) -> None:
    """Begin the log, which must be empty, with another number: nobody goes on with what was looked up."""
    store.execute("DELETE FROM changes")
    store.execute("UPDATE compaction SET merged = ?", (FIRST_KEY,))
    _begin_log(store, first_sequence())


def _begin_log(store: ModelTables, sequence: int) -> int:
    empty = Change(sequence, 0, TokenArray.of([]), np.zeros(0, bool), np.zeros(0, "u1"))
    store.execute("INSERT INTO changes VALUES (?, ?, ?, ?, ?, ?, ?)", empty.row())
    store.execute("UPDATE compaction SET summed = ?", (sequence - 1,))
    return sequence


def log_state(store: ModelTables) -> tuple[int, int, int]:
    """``summed``, ``merged`` and ``merges`` of table ``compaction``."""
    rows = store.execute("SELECT summed, merged, merges FROM compaction")
    found = checked_rows("compaction", rows, summed=int_between(MAX_SUM, -1), merged=_KEY, merges=int_between(MERGES))
    if found:
        return found[0]
    raise Damaged("table compaction is empty")


def read_log(store: ModelTables) -> ChangeLog:
    """The log in memory."""
    log = ChangeLog()
    if store.has_table("changes"):
        changes, summed = logged(store), log_state(store)[0]
        log.set_parts([change for change in changes if change.sequence <= summed], summed)
        for lesson in (change for change in changes if change.sequence > summed):
            log.append(lesson)
    return log


def _summed(tokens: TokenArray, label: np.ndarray, cells: SparseRow, classes: list[str]) -> ClassCounts:
    return ClassCounts.from_cells(classes, np.zeros(len(classes), np.int64), len(tokens), label, cells)


def sum_changes(changes: list[Change], classes: list[str]) -> tuple[TokenArray, ClassCounts]:
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


def logged_sums(store: ModelTables) -> tuple[TokenArray, ClassCounts] | None:
    """What the log adds, tokens ascending by key; None where there is no log."""
    changes = logged(store)
    return sum_changes(changes, list(store.class_ids())) if changes else None


def file_sums(
    store: ModelTables,
    low: int = FIRST_KEY,
    high: int = LAST_KEY,
    log: tuple[TokenArray, ClassCounts] | None = None,
) -> tuple[TokenArray, ClassCounts]:
    """The tokens with keys from ``low`` to ``high``, ascending by key, and their counts by class number: what training
    wrote, what was learned since, and ``log``, of ``logged_sums``."""
    classes = list(store.class_ids())
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
    return add_up(parts, keep_all=store.meta().get("top_words") is not None)


def add_up(parts: list[tuple[TokenArray, ClassCounts]], keep_all: bool) -> tuple[TokenArray, ClassCounts]:
    """The sum of parts, each ascending by key; but for ``keep_all`` without tokens that no message holds."""
    if len(parts) == 1:
        return parts[0]
    tokens, places = merge_vocabularies([part for part, _ in parts])
    counts = ClassCounts.sum([part.reindex(at, len(tokens)) for (_, part), at in zip(parts, places)])
    if not keep_all:
        held = np.flatnonzero(counts.document_frequency())
        tokens, counts = tokens.take(held), counts.reindex(inverse_index(held, len(tokens)), len(held))
    return tokens, counts


def compact(store: ModelTables, log: ChangeLog, cells: int, most: int) -> bool:
    """Do this lesson's share, inside ``writing``; whether the sums of training changed, or what was learned since.
    ``log`` is whole, ``cells`` of it are the lesson's, and of ``most`` it is summed up."""
    changed, steps = False, _STEPS * cells // max(most, 1)
    if log.size > most:
        _sum_up(store, log)
    else:
        steps += 1
    for _ in range(steps):
        if log.parts:
            part = log.parts[0]
            _add_to_learned(store, part.tokens, sum_changes([part], list(store.class_ids()))[1])
            store.execute("DELETE FROM changes WHERE sequence = ?", (part.sequence,))
            log.drop_parts(part.sequence + 1)
        elif merges := log_state(store)[2]:
            _merge(store)
            store.execute("UPDATE compaction SET merges = ?", (merges - 1,))
        else:
            break
        changed = True
    if not log.parts and not log.lessons:  # one lesson was as large as the log may be
        log.begin(_begin_log(store, (log.sequence or 0) + 1))
    return changed


def _sum_up(store: ModelTables, log: ChangeLog) -> None:
    """Put parts in the place of all rows; they have the last of their numbers."""
    changes = [*log.parts, *log.lessons]
    tokens, counts = sum_changes(changes, list(store.class_ids()))
    token = np.concatenate([row.columns for row in counts.rows])
    order = np.argsort(token, kind="stable")
    cells, token = np.zeros(len(token), CHANGE), token[order]
    cells["token"] = token
    cells["class"] = np.repeat(np.arange(len(counts.rows)), [len(row.columns) for row in counts.rows])[order]
    for of, name in (("documents", "document_counts"), ("occurrences", "occurrences")):
        cells[of] = np.concatenate([getattr(row, name) for row in counts.rows])[order]
    remember_rare(store, log.lessons)
    last, n = changes[-1].sequence, min(PARTS, len(changes))
    bounds = np.linspace(0, len(tokens), n + 1).astype(np.intp)
    of_cells = np.searchsorted(token, bounds)
    parts = []
    for i in range(n):
        own, here = cells[of_cells[i] : of_cells[i + 1]], tokens.take(np.arange(bounds[i], bounds[i + 1]))
        own["token"] -= np.uint32(bounds[i])
        parts.append(Change(last - n + 1 + i, changes[-1].month, here, np.zeros(len(here), bool), own))
    store.execute("DELETE FROM changes")
    store.executemany("INSERT INTO changes VALUES (?, ?, ?, ?, ?, ?, ?)", (part.row() for part in parts))
    store.execute("UPDATE compaction SET summed = ?, merges = ?", (last, MERGES))
    log.set_parts(parts, last)


def fold_log(store: ModelTables) -> None:
    """Add the whole log to table ``learned``, inside ``writing``."""
    changes = logged(store)
    _add_to_learned(store, *sum_changes(changes, list(store.class_ids())))
    remember_rare(store, changes)
    store.execute("DELETE FROM changes")
    _begin_log(store, changes[-1].sequence + 1)


def _add_to_learned(store: ModelTables, tokens: TokenArray, counts: ClassCounts) -> None:
    table = np.zeros((2 * len(counts.rows), len(tokens)), np.int64)
    for c, row in enumerate(counts.rows):
        table[2 * c, row.columns], table[2 * c + 1, row.columns] = row.document_counts, row.occurrences
    touched = np.flatnonzero(table.any(axis=0))
    names = [f"{of}_{c}" for c in range(len(counts.rows)) for of in ("documents", "occurrences")]
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


def _merge(store: ModelTables) -> None:
    """Add the next keys of ``learned`` to the pages of ``trained``."""
    low = page_start(store, log_state(store)[1])
    high = pages_end(store, low)
    tokens, counts = file_sums(store, low, high)
    write_pages(store, low, high, tokens, counts)
    store.execute("UPDATE compaction SET merged = ?", (FIRST_KEY if high == LAST_KEY else high + 1,))


def page_start(store: ModelTables, low: int) -> int:
    """Where the page begins in which key ``low`` is."""
    rows = store.execute("SELECT first FROM trained WHERE first <= ? ORDER BY first DESC LIMIT 1", (low,))
    page = checked_rows("trained", rows, first=_KEY)
    return page[0][0] if page else FIRST_KEY


def pages_end(store: ModelTables, low: int) -> int:
    """The last key of the part of MERGED_PAGES pages that begins with key ``low``."""
    statement = "SELECT first FROM trained WHERE first > ? ORDER BY first LIMIT 1 OFFSET ?"
    rows = store.execute(statement, (low, MERGED_PAGES))
    following = checked_rows("trained", rows, first=_KEY)
    return following[0][0] - 1 if following else LAST_KEY


def write_pages(store: ModelTables, low: int, high: int, tokens: TokenArray, counts: ClassCounts) -> None:
    """Make ``tokens``, ascending by key, and their counts all that the pages and ``learned`` hold of these keys."""
    try:
        pages: Iterable[tuple] = to_pages(tokens, counts)
    except OverflowError as error:
        raise Damaged(str(error)) from None
    store.execute("DELETE FROM trained WHERE first BETWEEN ? AND ?", (low, high))
    store.executemany("INSERT INTO trained VALUES (?, ?, ?, ?, ?, ?)", pages)
    store.execute("DELETE FROM learned WHERE key BETWEEN ? AND ?", (low, high))


def remember_months(store: ModelTables, months: Iterable[tuple[int, np.ndarray]]) -> None:
    """Note in a new model when the one before it was taught which tokens: pruning asks for it."""
    with store.writing():
        if not store.has_table("changes"):
            make_log(store)
        store.executemany(
            "INSERT INTO rare_tokens VALUES (?, ?)", [(month, keys.astype("<u4").tobytes()) for month, keys in months]
        )
