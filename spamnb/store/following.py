"""What others change in a model file, added to what is in memory; and all counts in memory, for whoever judges for days
while others learn."""

from __future__ import annotations

import numpy as np

from spamnb.store.changes import Change, ChangeLog, changes_between
from spamnb.store.compaction import MAX_LOG, log_state
from spamnb.store.database import int_array
from spamnb.store.pages import CountCache, Pages
from spamnb.store.tables import ModelTables

MAX_FOLLOWED = 8 * MAX_LOG  # cells of lessons: where there are more all is read anew, after some 1,000 of them


def news(store: ModelTables, log: ChangeLog, width: int) -> list[Change] | None:
    """What others changed since ``log`` was read, of a file with ``width`` counts a token; None where that cannot be
    known: the file was replaced or pruned, it has another class, or the log's rows are in the sums already."""
    if log.sequence is None or width != 2 * len(store.class_ids()) or not store.has_table("changes"):
        return None
    (last,) = store.execute("SELECT max(sequence) FROM changes").fetchone()
    if type(last) is not int or not log_state(store)[0] <= log.sequence <= last:
        return None
    return changes_between(store, log.sequence + 1)


def follow(store: ModelTables, log: ChangeLog, cache: CountCache) -> bool:
    """Add to ``log`` and ``cache`` what others changed since the log was read; False where both must be read anew."""
    found = news(store, log, len(cache.table))
    if found is None:
        return False
    for change in found:
        log.append(change)
        cache.add(cache.columns(list(change.tokens)), change.cells)
    summed = log_state(store)[0]
    if log.summed == summed:
        log.drop_parts(store.execute("SELECT min(sequence) FROM changes").fetchone()[0])
    else:
        log.set_parts(changes_between(store, 0, summed), summed)
    return True


def all_learned(store: ModelTables) -> tuple[np.ndarray, np.ndarray]:
    """All rows of table ``learned``: the keys (m,), ascending, and the counts (2 C, m)."""
    rows = store.execute("SELECT * FROM learned ORDER BY key").fetchall()
    counts = int_array("learned", [row[2:] for row in rows]).reshape(len(rows), 2 * len(store.class_ids()))
    return np.array([row[0] for row in rows], np.int64), counts.T.copy()


class WholeCounts:
    """The pages, the rows of table ``learned`` and the log as they were when they were read, and the lessons since.

    How the log gets into the sums meanwhile (compaction.py) only moves what is counted here already."""

    def __init__(self, pages: Pages, learned: tuple[np.ndarray, np.ndarray], log: ChangeLog) -> None:
        """``learned`` is what ``all_learned`` gives."""
        self._pages, self._log = pages, log
        self._keys, self._learned = learned

    def look_up(self, hashes: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Which of ``hashes`` (k,) training wrote (f,), their counts (width, f), and what was learned since of all
        (width, k): what ``CountCache.load`` takes."""
        width = len(self._learned)
        since = self._log.look_up(hashes, width)
        if len(self._keys):
            at = np.minimum(np.searchsorted(self._keys, hashes), len(self._keys) - 1)
            here = np.flatnonzero(self._keys[at] == hashes)
            since[:, here] += self._learned[:, at[here]]
        return (*self._pages.look_up(hashes, width), since)

    def append(self, change: Change) -> None:
        """Add what was just written."""
        self._log.append(change)

    def follow(self, store: ModelTables, cache: CountCache | None) -> bool:
        """Add to this and to the rows in ``cache`` what others changed; False where all is to be read anew."""
        found = news(store, self._log, len(self._learned))
        if found is None or (cache is not None and len(cache.table) != len(self._learned)):
            return False
        for change in found:
            self._log.append(change)
            if cache is not None:
                cache.add(cache.columns(list(change.tokens)), change.cells)
        return self._log.size <= MAX_FOLLOWED
