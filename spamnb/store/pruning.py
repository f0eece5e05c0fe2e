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

from spamnb.counts.class_counts import ClassCounts, ClassTotals, inverse_index
from spamnb.errors import Damaged, SpamnbError
from spamnb.settings import COUNT_MODELS
from spamnb.store.changes import FIRST_KEY, LAST_KEY, MAX_RARE
from spamnb.store.compaction import this_month
from spamnb.store.database import MAX_SUM, int_between
from spamnb.store.pages import CELL
from spamnb.store.parts import fold, log_sums, part_end, part_start, restart_log, sums, write_part
from spamnb.store.store import Store
from spamnb.store.token_months import months_taught, taught_since
from spamnb.tokens.token_array import TokenArray

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
    candidates: np.ndarray  # (m,) hashes, ascending, of what the rule takes out, and would with one message fewer
    document_counts: np.ndarray  # (C,) of the pruned tokens, by class number
    occurrences: np.ndarray  # (C,)
    frequencies: list[dict[int, int]]  # of each class number {n: pruned tokens that n messages hold}

    def totals(self, totals: ClassTotals, class_ids: dict[str, int]) -> ClassTotals:
        """The sums over all tokens of the model without what is pruned."""
        numbers = np.array([class_ids[name] for name in totals.classes], np.intp)
        return totals._replace(
            document_counts=totals.document_counts - self.document_counts[numbers],
            occurrences=totals.occurrences - self.occurrences[numbers],
            vocabulary_size=totals.vocabulary_size - self.pruned,
        )


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
        found = Survey(rule, *_nothing(store))
        candidates = [found.candidates]
        recent, log = _recent(store, rule), log_sums(store)
        low = FIRST_KEY
        while True:
            high = part_end(store, low)
            tokens, counts = sums(store, low, high, log)
            gone = _taken_out(tokens, counts, rule.messages, recent)
            near = _taken_out(tokens, counts, rule.messages + 1, recent)
            candidates.append(tokens.hashes[near])
            found = _counted(found, tokens, counts, gone)
            if corrected:
                weights = store.corrections.written_bytes(low, high, tokens.hashes[gone])
                found = found._replace(bytes=found.bytes + weights)
            if high == LAST_KEY:
                return found._replace(candidates=np.concatenate(candidates))
            low = high + 1


def _nothing(store: Store) -> tuple:
    classes = len(store.class_ids())
    zeros = np.zeros(classes, np.int64)
    size = store.totals().vocabulary_size
    return size, 0, 0, np.zeros(0, np.int64), zeros, zeros, [{} for _ in range(classes)]


def _recent(store: Store, rule: Rule) -> np.ndarray:
    """The tokens, by short hashes, that lessons of the rule's months held, those in the log among them."""
    months = months_taught(store) if rule.months else []
    return np.unique(np.concatenate([keys for month, keys in months if month >= rule.first_month] or [_NONE]))


def _taken_out(tokens: TokenArray, counts: ClassCounts, messages: int, recent: np.ndarray) -> np.ndarray:
    """The places of the tokens to take out."""
    rare = np.flatnonzero(counts.document_frequency() <= messages)
    return rare[~taught_since(tokens.hashes[rare], recent)]


def _counted(found: Survey, tokens: TokenArray, counts: ClassCounts, gone: np.ndarray) -> Survey:
    """``found``, with the tokens at the places ``gone`` counted too."""
    pruned = counts.reindex(inverse_index(gone, len(tokens)), len(gone))
    frequencies = [dict(held) for held in found.frequencies]
    for held, row in zip(frequencies, pruned.rows):
        for n, of in zip(*(values.tolist() for values in np.unique(row.document_counts, return_counts=True))):
            held[n] = held.get(n, 0) + of
    cells = sum(len(row.columns) for row in pruned.rows)
    size = len(gone) * _TOKEN_BYTES + cells * CELL.itemsize + int(tokens.lengths[gone].sum())
    return found._replace(
        pruned=found.pruned + len(gone),
        bytes=found.bytes + size,
        document_counts=found.document_counts + [row.document_counts.sum() for row in pruned.rows],
        occurrences=found.occurrences + [row.occurrences.sum() for row in pruned.rows],
        frequencies=frequencies,
    )


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
    fold(store)
    low = part_start(store, low)  # another process may have packed the pages anew
    high = part_end(store, low)
    tokens, counts = sums(store, low, high)
    gone = _taken_out(tokens, counts, rule.messages, _recent(store, rule))
    found = _counted(Survey(rule, *_nothing(store)), tokens, counts, gone)
    stays = np.ones(len(tokens), bool)
    stays[gone] = False
    kept = np.flatnonzero(stays)
    write_part(store, low, high, tokens.take(kept), counts.reindex(inverse_index(kept, len(tokens)), len(kept)))
    if store.meta()["model_type"] == "corrected":
        store.corrections.take_out(low, high, tokens.take(gone))
    store.executemany(
        "UPDATE classes SET document_counts = document_counts - ?, occurrences = occurrences - ? WHERE id = ?",
        zip(found.document_counts.tolist(), found.occurrences.tolist(), range(len(found.frequencies))),
    )
    cells = [(of, number, n) for number, held in enumerate(found.frequencies) for n, of in held.items()]
    store.executemany("UPDATE frequencies SET tokens = tokens - ? WHERE class = ? AND documents = ?", cells)
    store.execute("DELETE FROM frequencies WHERE tokens = 0")
    store.execute("DELETE FROM rare_tokens WHERE month < ?", (rule.first_month,))
    restart_log(store)
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
    long or the disk has no room for the copy, and on a server, which keeps the room for new tokens."""
    if store.file is None:
        return False
    with contextlib.suppress(sqlite3.OperationalError):
        store.execute("VACUUM")
        return not store.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
    return False
