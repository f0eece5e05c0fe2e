"""A model on a PostgreSQL server: a schema with one row a token, behind the same methods as a model file.

What a message's tokens need is one question, for those that are not in memory. A lesson is one row of table
``changes``: others who have the model open add that to what they have in memory, and many rows are added to those of
the tokens together (server_changes.py). The last row's number is the model's version.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Self

import numpy as np

from spamnb.counts.class_counts import ClassCounts
from spamnb.errors import SpamnbError
from spamnb.store.changes import FIRST_KEY, LAST_KEY, Change, first_sequence, join
from spamnb.store.compaction import sum_changes, this_month
from spamnb.store.correction_sums import TokenUnits
from spamnb.store.database import checked_rows, int_between
from spamnb.store.following import WholeCounts
from spamnb.store.frequencies import read_frequencies, write_moved
from spamnb.store.learned import LearnedMessage, messages_rows
from spamnb.store.pages import Pages
from spamnb.store.server import ServerDatabase, check_format
from spamnb.store.server_changes import (
    KEPT_CHANGES,
    ServerChange,
    ServerLog,
    frequency_rows,
    moved_cells,
    no_change,
    read_rows,
    sum_moved,
)
from spamnb.store.server_name import refusal
from spamnb.store.server_tokens import (
    TokenRows,
    add_log,
    all_weights,
    copy_tokens,
    index_tokens,
    keep_tokens,
    last_of_part,
    look_up,
    sums_between,
)
from spamnb.store.store import Store
from spamnb.store.token_months import remember_rare
from spamnb.tokens.token_array import TokenArray

if TYPE_CHECKING:
    from spamnb.store.corrections import CorrectionTables
    from spamnb.store.server_corrections import ServerCorrections
    from spamnb.store.server_link import ServerLink

Sums = tuple[TokenArray, ClassCounts]


class PostgresStore(ServerDatabase, Store):
    """A model on a server, open: ``with PostgresStore.open("postgresql://db/spam") as store: ...``."""

    _log: ServerLog | None
    _corrections: ServerCorrections | None
    _bare = False  # a new model whose tokens were copied and have no index yet

    @classmethod
    def open(cls, path: str | Path, *, writable: bool = False, link: ServerLink | None = None) -> Self:
        """The model at this URL; one clear line when there is none, or the server cannot be reached."""
        store = cls.connect(path, writable=writable, link=link)
        try:
            with store.reading():
                rows = checked_rows("spamnb", store.execute("SELECT format FROM spamnb"), format=int_between(1 << 31))
                check_format(rows[0][0] if rows else 0, store.path)
                store.meta()
        except BaseException:
            store.close()
            raise
        return store

    # -- what is in memory -----------------------------------------------------------------------------------

    def _drop_sums(self) -> None:
        super()._drop_sums()
        self._rows: TokenRows | None = None  # those that were read last
        self._asked: np.ndarray | None = None  # and of which keys; None: all

    def _drop_outdated(self) -> None:
        kept = self._corrections
        super()._drop_outdated()
        self._corrections = kept
        if kept is not None:
            kept.others_taught()

    @property
    def corrections(self) -> CorrectionTables:
        from spamnb.store.server_corrections import ServerCorrections

        if self._corrections is None:
            self._corrections = ServerCorrections(self, lambda: self.vocabulary)
        return self._corrections

    def _as_trained(self) -> bool:
        return True  # what was learned since is in the log, or in the sums

    def _changes(self) -> ServerLog:
        if self._log is None:
            self._log = ServerLog.read(self, self._summed)
        return self._log

    def _catch_up(self) -> None:
        if self._behind:
            self._behind, self._whole = False, None
            if not self._follow():
                self._cache = self._log = None
                if self._corrections is not None:  # the learner may have it in hand already
                    self._corrections.read_anew()

    def _follow(self) -> bool:
        """Add to what is in memory what changed since; False where that cannot be known."""
        log, cache, last = self._log, self._cache, self._data_version
        if log is None or cache is None or last is None or log.sequence is None:
            return False
        if not 0 <= last - log.sequence <= KEPT_CHANGES or len(cache.table) != self._width():
            return False
        found = read_rows(self, log.sequence + 1, last) if last > log.sequence else []
        if len(found) != last - log.sequence:
            return False
        for row in found:
            log.add(row)
            cache.add(cache.columns(list(row.change.tokens)), row.change.cells)
            if self._corrections is not None:
                self._corrections.follow(row.weights)
        log.drop(self._summed)
        return True

    # -- tokens ----------------------------------------------------------------------------------------------

    def _read_pages(self, keys: np.ndarray | None = None) -> Pages:
        self.settle()
        self._rows = look_up(self, keys, self._width() // 2)
        self._asked = None if keys is None else np.sort(keys)
        return self._rows.pages

    def weights_of(self, keys: np.ndarray) -> np.ndarray:
        """The weights of the tokens with these ``keys`` (k,), (k, C)."""
        classes, rows = self._width() // 2, self._rows
        if rows is None or not (self._asked is None or np.isin(keys, self._asked).all()):
            self.settle()
            rows = look_up(self, keys, classes)
        return rows.weights(keys, classes) + self._changes().weights.look_up(keys, classes)

    def all_weights(self) -> TokenUnits:
        """The weights of all tokens."""
        return all_weights(self, self._unsummed(), self._width() // 2)

    def _unsummed(self) -> list[ServerChange]:
        """The rows of the log that are not in the sums, with those that are held back."""
        self._before_commit()
        self.settle()
        return read_rows(self, self._summed + 1)

    def log_sums(self) -> Sums | None:
        rows = self._unsummed()
        return sum_changes([row.change for row in rows], list(self.class_ids())) if rows else None

    def sums_between(self, log: Sums | None, low: int = FIRST_KEY, high: int = LAST_KEY) -> Sums:
        return sums_between(self, list(self.class_ids()), log, self._keeps_all(), low, high)

    def part_start(self, low: int) -> int:
        return low

    def part_end(self, low: int) -> int:
        return last_of_part(self, low)

    def put_part(self, low: int, high: int, tokens: TokenArray, counts: ClassCounts) -> None:
        keep_tokens(self, low, high, tokens.hashes)

    def _keeps_all(self) -> bool:
        """Do tokens stay that no message holds?"""
        return self.meta().get("top_words") is not None

    def frequencies(self) -> list[dict[int, int]]:
        with self.reading():
            self.totals()
            self._before_commit()
            if self._frequencies is None:
                rows = frequency_rows(self, self._summed)
                every = read_frequencies(rows, self._of_classes, self.meta()["vocabulary_size"])
                self._frequencies = [every[int(number)] for number in self._ids]
            return self._frequencies

    def _read_whole(self) -> WholeCounts:
        nothing = np.zeros(0, np.int64), np.zeros((self._width(), 0), np.int64)
        return WholeCounts(self._read_pages(), nothing, self._changes())

    def _width(self) -> int:
        return 2 * len(self.class_ids())

    def _has_columns(self, classes: int) -> bool:
        return True

    def _add_columns(self, number: int) -> None:
        """A row has as many cells as its token has classes."""

    def _before_commit(self) -> None:
        """Write what ``add`` changed as one row of the log, and that something did."""
        weights = self._corrections.take_changes() if self._corrections is not None else []
        sequence = (self._data_version or 0) + 1
        change: Change | None = None
        if self._pending and self._cache is not None:
            change = join(self._pending, self._cache, sequence, this_month())
        elif weights or self._wrote:
            change = no_change(sequence, this_month())
        if change is None:
            return
        row = ServerChange(change, moved_cells(self._moved), weights)
        log = None if self._behind else self._changes()  # as it was before this row
        self.execute("INSERT INTO changes VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", row.row())
        self._pending, self._moved, self._wrote = [], {}, False
        self._data_version = sequence
        if log is not None:  # else what others changed before is still to be added to what is in memory
            log.add(row)
            if log.is_full():
                self.sum_up()

    def sum_up(self) -> None:
        rows = read_rows(self, self._summed + 1)
        if not rows:
            return
        self.settle()
        add_log(self, rows, list(self.class_ids()), self._keeps_all())
        remember_rare(self, [row.change for row in rows])
        write_moved(self, sum_moved(rows))
        self.execute("DELETE FROM frequencies WHERE tokens = 0")  # of some thousand rows at most
        self._summed = rows[-1].change.sequence
        self.execute("UPDATE summed SET sequence = ?", (self._summed,))
        self.execute("DELETE FROM changes WHERE sequence <= ?", (self._summed - KEPT_CHANGES,))
        self._wrote = False  # all of it was told before
        self._rows = self._whole = None
        if self._log is not None:
            self._log.drop(self._summed)

    def restart_log(self) -> None:
        self.execute("DELETE FROM changes")
        self._begin_log()
        self.execute("UPDATE summed SET sequence = ?", (self._summed,))

    def _begin_log(self) -> None:
        self._data_version = self._summed = first_sequence()
        self._log = self._rows = self._whole = None
        row = ServerChange(no_change(self._summed, 0), moved_cells({}), []).row()
        self.execute(f"INSERT INTO changes VALUES ({', '.join('?' * len(row))})", row)  # noqa: S608

    def settle(self, with_weights: bool = False) -> None:
        """Tokens of a new model were copied: make a table of it in which they are looked up."""
        if self._bare or with_weights:
            self._bare = False
            index_tokens(self, with_weights)

    def finish(self) -> None:
        """Write what was held back, inside a change that goes on."""
        self._before_commit()
        self.settle()

    def begin(self) -> None:
        """Begin the log of a new model, which has no index yet."""
        self._begin_log()
        self.execute("INSERT INTO summed VALUES (?)", (self._summed,))
        self._bare = True

    # -- the model whole -------------------------------------------------------------------------------------

    def put_sums(self, tokens: TokenArray, counts: ClassCounts) -> None:
        copy_tokens(self, tokens, counts)

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
