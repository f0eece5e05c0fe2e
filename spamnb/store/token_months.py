"""When rare tokens were taught, month by month, in table ``rare_tokens``: pruning keeps those of the last months.

A token is noted by the upper half of its hash.
"""

from __future__ import annotations

import numpy as np

from spamnb.errors import Damaged
from spamnb.store.changes import MAX_MONTH, Change, logged
from spamnb.store.database import checked_rows, int_between, is_blob
from spamnb.store.tables import ModelTables


def remember_rare(store: ModelTables, changes: list[Change]) -> None:
    """Note the tokens of lessons that few messages held in the months in which they were taught."""
    for month in sorted({change.month for change in changes if len(change.cells)}):
        taught = [change.tokens.hashes[change.rare] for change in changes if change.month == month]
        keys = np.union1d(_short(np.concatenate(taught)), rare_tokens(store, month, month))
        put = "INSERT INTO rare_tokens VALUES (?, ?) ON CONFLICT (month) DO UPDATE SET keys = excluded.keys"
        store.execute(put, (month, keys.astype("<u4").tobytes()))


def months_taught(store: ModelTables) -> list[tuple[int, np.ndarray]]:
    """(month, short hashes, ascending) of the tokens that were rare when they were taught, the log's among them."""
    with store.reading():
        if not store.has_table("changes"):
            return []
        rows = store.execute("SELECT month FROM rare_tokens ORDER BY month")
        months = {month for (month,) in checked_rows("rare_tokens", rows, month=int_between(MAX_MONTH))}
        changes = [change for change in logged(store) if len(change.cells)]
        found = []
        for month in sorted(months.union(change.month for change in changes)):
            taught = [_short(change.tokens.hashes[change.rare]) for change in changes if change.month == month]
            keys = np.unique(np.concatenate([rare_tokens(store, month, month), *taught]))
            if len(keys):
                found.append((month, keys))
        return found


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
