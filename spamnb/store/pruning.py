"""Delete the tokens of a model that at most one message has and that no recently learned message has.

Two thirds of a model's tokens occur in one message (docs/experiments.md#rare-tokens, docs/experiments.md#old-mail).
Column ``month`` is the last month in which a learned message had the token. Tokens of training have no date and count
as old.
"""

from __future__ import annotations

import contextlib
import json
import sqlite3

import numpy as np

from spamnb.errors import Damaged, SpamnbError
from spamnb.settings import BAYES_MODELS
from spamnb.store import hard_examples
from spamnb.store.rows import DOCUMENTS, WEIGHT
from spamnb.store.state import SIZE
from spamnb.store.store import HASH_IN_LIST, Store
from spamnb.store.token_table import this_month


def check_prunable(store: Store) -> None:
    """Raise SpamnbError if the parameters of the model are more than sums of tokens."""
    model_type = store.meta().get("model_type")
    if model_type not in BAYES_MODELS:
        raise SpamnbError(f"{store.path}: a {model_type} model cannot be pruned: its parameters are not sums of tokens")


def count_prunable(store: Store, months: int) -> int:
    """Return how many tokens ``prune`` would delete."""
    check_prunable(store)
    with store.reading():
        return len(_find_prunable(store, months)[0])


def _find_prunable(store: Store, months: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the hashes of the tokens to delete, and their sums by class, (C, 2): Σ_j N_jc and Σ_j T_jc."""
    hashes, cells = store.cells()
    month_of_hash = read_months(store) if months else {}
    recent = [hash_ for hash_, month in month_of_hash.items() if month > this_month() - months]
    is_prunable = cells.sums(DOCUMENTS, cells.token, len(hashes)) <= 1
    is_prunable &= ~np.isin(hashes, np.array(recent, np.int64))
    selected, sums = is_prunable[cells.token], np.zeros((len(store.class_ids()), 2), np.int64)
    np.add.at(sums, cells.label[selected], cells.figures[:WEIGHT, selected].T)
    return hashes[is_prunable], sums


def read_months(store: Store) -> dict[int, int]:
    """Return by hash the last month in which a learned message had the token, for tokens with a month."""
    with store.reading():
        rows = store.execute("SELECT hash, month FROM tokens WHERE month NOT NULL").fetchall()
        if not all(type(month) is int for _, month in rows):
            raise Damaged("month in table tokens")
        return dict(rows)


def prune(store: Store, months: int) -> int:
    """Delete tokens that at most one message has, and no message of the last ``months``; return their number.

    This month counts as one of the months.
    """
    check_prunable(store)
    with store.writing():
        hashes, sums = _find_prunable(store, months)
        if len(hashes):
            hard_examples.delete_examples_with(store, hashes)
            store.execute(f"DELETE FROM tokens WHERE {HASH_IN_LIST}", (json.dumps(hashes.tolist()),))  # noqa: S608
            store.executemany(
                "UPDATE classes SET document_counts = document_counts - ?, occurrences = occurrences - ? WHERE id = ?",
                [(*class_sums, number) for number, class_sums in enumerate(sums.tolist())],
            )
            store.put_meta({SIZE: store.state.meta[SIZE] - len(hashes)})
            store.drop_cache()
        return len(hashes)


def shrink_file(store: Store) -> bool:
    """Give free pages of the file back to the disk, and return whether that was possible.

    It is impossible while another process reads the file, or if the disk has no room for a copy.
    """
    with contextlib.suppress(sqlite3.OperationalError):
        store.execute("VACUUM")
        return not store.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
    return False
