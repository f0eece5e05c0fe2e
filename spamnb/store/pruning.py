"""Taking out of a model the tokens that hardly any message holds and that nobody taught lately.

Two thirds of a model's tokens occur in one message. A token counts as taught lately where a lesson of the last months
held it (token_months.py); what training wrote has no date and counts as old.

The model is changed a part at a time, each in a transaction of its own: others read and teach meanwhile, and whoever is
killed leaves a whole model that is pruned in part.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from spamnb.counts.class_counts import ClassCounts, inverse_index
from spamnb.errors import Damaged, SpamnbError
from spamnb.reader.token_array import TokenArray
from spamnb.settings import COUNT_MODELS
from spamnb.store.changes import FIRST_KEY, LAST_KEY, MAX_RARE
from spamnb.store.compaction import (
    file_sums,
    fold_log,
    logged_sums,
    make_log,
    page_start,
    pages_end,
    restart_changes,
    this_month,
    write_pages,
)
from spamnb.store.database import MAX_SUM, int_between
from spamnb.store.pages import CELL
from spamnb.store.store import Store
from spamnb.store.token_months import months_taught, taught_since

_NONE = np.zeros(0, np.uint32)
_TOKEN_BYTES = 8 + 2 + 2  # in a page, beside its text and its cells: hash, number of cells, length


class Rule(NamedTuple):
    """Which tokens are taken out: those that at most ``messages`` hold, and no lesson of the last ``months``."""

    messages: int
    months: int

    @property
    def first_month(self) -> int:
        """The first month whose lessons keep a token."""
        return this_month() - self.months + 1


class Survey(NamedTuple):
    """What a rule takes out of a model."""

    rule: Rule
    tokens: int  # that the model has
    pruned: int  # that are taken out
    bytes: int  # that these take


def check_prunable(store: Store) -> None:
    """SpamnbError where the model has tokens that belong to more than sums."""
    meta = store.meta()
    kind = meta.get("model_type")
    if kind not in (*COUNT_MODELS, "corrected") or meta.get("embedding") is not None:
        what = f"a {kind} model" if meta.get("embedding") is None else "a model of embedded messages"
        raise SpamnbError(f"{store.path}: {what} cannot be pruned: what its tokens weigh is no sum")
    if meta.get("top_words") is not None:
        raise SpamnbError(f"{store.path}: a model with top_words is not pruned; 'train --set top_words=N' keeps fewer")


def survey(store: Store, rule: Rule) -> Survey:
    """What ``rule`` takes out; the model stays as it is."""
    check_prunable(store)
    corrected = store.meta()["model_type"] == "corrected"
    with store.reading():
        pruned = taken = 0
        recent, log = _recent(store, rule), logged_sums(store)
        low = FIRST_KEY
        while True:
            high = pages_end(store, low)
            tokens, counts = file_sums(store, low, high, log)
            gone = _taken_out(tokens, counts, rule.messages, recent)
            pruned += len(gone)
            cells = sum(len(row.columns) for row in _counts_of(counts, gone).rows)
            taken += len(gone) * _TOKEN_BYTES + cells * CELL.itemsize + int(tokens.lengths[gone].sum())
            if corrected:
                taken += store.corrections.written_bytes(low, high, tokens.hashes[gone])
            if high == LAST_KEY:
                return Survey(rule, store.totals().vocabulary_size, pruned, taken)
            low = high + 1


def _recent(store: Store, rule: Rule) -> np.ndarray:
    """The tokens, by short hashes, that lessons of the rule's months held, those in the log among them."""
    months = months_taught(store) if rule.months else []
    return np.unique(np.concatenate([keys for month, keys in months if month >= rule.first_month] or [_NONE]))


def _taken_out(tokens: TokenArray, counts: ClassCounts, messages: int, recent: np.ndarray) -> np.ndarray:
    """The places of the tokens to take out."""
    rare = np.flatnonzero(counts.document_frequency() <= messages)
    return rare[~taught_since(tokens.hashes[rare], recent)]


def _counts_of(counts: ClassCounts, places: np.ndarray) -> ClassCounts:
    """The counts of the tokens at these places alone."""
    return counts.reindex(inverse_index(places, counts.vocabulary_size), len(places))


def prune(store: Store, rule: Rule, progress: Callable[[int], None] = lambda pruned: None) -> int:
    """Take out what ``rule`` says; the number of tokens that left. ``progress`` is told it after each part."""
    if rule.messages > MAX_RARE:
        raise ValueError(f"the months of tokens are known of those that at most {MAX_RARE} messages hold")
    check_prunable(store)
    pruned, low = 0, FIRST_KEY
    while True:
        with store.writing():
            low, high, gone = _prune_part(store, low, rule)
        pruned += gone
        progress(pruned)
        if high == LAST_KEY:
            return pruned
        low = high + 1


def _prune_part(store: Store, low: int, rule: Rule) -> tuple[int, int, int]:
    """Prune the keys from ``low`` to the end of a part; the keys of the part, and how many tokens left."""
    fold_log(store) if store.has_table("changes") else make_log(store)
    low = page_start(store, low)  # another process may have packed the pages anew
    high = pages_end(store, low)
    tokens, counts = file_sums(store, low, high)
    gone = _taken_out(tokens, counts, rule.messages, _recent(store, rule))
    pruned = _counts_of(counts, gone).rows  # by class number
    stays = np.ones(len(tokens), bool)
    stays[gone] = False
    kept = np.flatnonzero(stays)
    write_pages(store, low, high, tokens.take(kept), _counts_of(counts, kept))
    if store.meta()["model_type"] == "corrected":
        store.corrections.take_out(low, high, tokens.take(gone))
    store.executemany(
        "UPDATE classes SET document_counts = document_counts - ?, occurrences = occurrences - ? WHERE id = ?",
        [(int(row.document_counts.sum()), int(row.occurrences.sum()), number) for number, row in enumerate(pruned)],
    )
    store.executemany(
        "UPDATE frequencies SET tokens = tokens - ? WHERE class = ? AND documents = ?",
        [(tokens, number, n) for number, row in enumerate(pruned) for n, tokens in row.frequencies().items()],
    )
    store.execute("DELETE FROM frequencies WHERE tokens = 0")
    store.execute("DELETE FROM rare_tokens WHERE month < ?", (rule.first_month,))
    restart_changes(store)
    meta = store.meta()
    before = _pruned_before(meta.get("pruned"))
    changes = {"vocabulary_size": meta["vocabulary_size"] - len(gone)}
    if len(gone):
        changes["pruned"] = noted_as_pruned(before + len(gone))
    store.put_meta(changes)
    store.read_anew()
    return low, high, len(gone)


def noted_as_pruned(tokens: int) -> dict[str, Any]:
    """What a model keeps of so many tokens that were taken out, the last of them this month."""
    year, month = divmod(this_month(), 12)
    return {"tokens": tokens, "month": f"{year}-{month + 1:02}"}


def _pruned_before(noted: object) -> int:
    """How many tokens were taken out before, as the model's ``pruned`` says."""
    tokens = noted.get("tokens") if isinstance(noted, dict) else 0
    if type(tokens) is not int or not int_between(MAX_SUM)(tokens):
        raise Damaged("pruned in table meta")
    return tokens


def give_room_back(store: Store) -> bool:
    """Give the room that became free back to the disk; False where that has to wait, as while another process reads for
    long or the disk has no room for the copy."""
    with contextlib.suppress(sqlite3.OperationalError):
        store.execute("VACUUM")
        return not store.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
    return False
