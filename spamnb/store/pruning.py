"""Taking out of a model the tokens that hardly any message holds and that nobody taught lately.

Two thirds of a model's tokens occur in one message (docs/experiments.md#rare-tokens, docs/experiments.md#old-mail). A
token counts as taught lately where a lesson of the last months held it (column ``month``); what training wrote has no
date and counts as old.
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
from spamnb.store.store import AMONG, Store
from spamnb.store.token_table import this_month


def check_prunable(store: Store) -> None:
    """SpamnbError where the model has tokens that belong to more than sums."""
    kind = store.meta().get("model_type")
    if kind not in BAYES_MODELS:
        raise SpamnbError(f"{store.path}: a {kind} model cannot be pruned: what its tokens weigh is no sum")


def survey(store: Store, months: int) -> int:
    """How many tokens ``prune`` takes out; the model stays as it is."""
    check_prunable(store)
    with store.reading():
        return len(_taken_out(store, months)[0])


def _taken_out(store: Store, months: int) -> tuple[np.ndarray, np.ndarray]:
    """The hashes of the tokens to take out, and what each class has of them, (C, 2): Σ_j N_jc and Σ_j T_jc."""
    hashes, cells = store.cells()
    of_tokens = months_taught(store) if months else {}
    recent = [hash_ for hash_, month in of_tokens.items() if month > this_month() - months]
    goes = cells.sums(DOCUMENTS, cells.token, len(hashes)) <= 1
    goes &= ~np.isin(hashes, np.array(recent, np.int64))
    gone, sums = goes[cells.token], np.zeros((len(store.class_ids()), 2), np.int64)
    np.add.at(sums, cells.label[gone], cells.figures[:WEIGHT, gone].T)
    return hashes[goes], sums


def months_taught(store: Store) -> dict[int, int]:
    """The last month in which a lesson held a token, by hash, of those that one held."""
    with store.reading():
        found = store.execute("SELECT hash, month FROM tokens WHERE month NOT NULL").fetchall()
        if not all(type(month) is int for _, month in found):
            raise Damaged("month in table tokens")
        return dict(found)


def prune(store: Store, months: int) -> int:
    """Take out the tokens that one message holds and that none learned in the last ``months`` held, this month counted.
    One change; returns how many tokens left."""
    check_prunable(store)
    with store.writing():
        gone, sums = _taken_out(store, months)
        if len(gone):
            hard_examples.drop_holding(store, gone)
            store.execute(f"DELETE FROM tokens WHERE {AMONG}", (json.dumps(gone.tolist()),))  # noqa: S608
            store.executemany(
                "UPDATE classes SET document_counts = document_counts - ?, occurrences = occurrences - ? WHERE id = ?",
                [(*of_class, number) for number, of_class in enumerate(sums.tolist())],
            )
            store.put_meta({SIZE: store.state.meta[SIZE] - len(gone)})
            store.drop_cache()
        return len(gone)


def give_room_back(store: Store) -> bool:
    """Give the room that became free back to the disk; False where that has to wait, as while another process reads for
    long or the disk has no room for the copy."""
    with contextlib.suppress(sqlite3.OperationalError):
        store.execute("VACUUM")
        return not store.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
    return False
