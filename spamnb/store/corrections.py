"""The correction of a corrected model (formulas/correction.py) as tables of its own: weights of tokens, in pages and
in the log of what was learned since, and what each message brought to them.

    corrections  first key, keys; kinds: two bits a token and class, but for class number 0, in whole bytes a token: is
                 the weight 0, or one of 1, 2 or 4 bytes; these weights: bytes, shorts, longs
    corrected    the log, a row for each message whose units changed: correction_log.py
    correcting   how far the log is in the pages
    brought      digest, units: int32 a class but for number 0, that the message added to each of its tokens; changed:
                 the number of the hard message that learning this one solved again, and by how much: brought.py
    hard         the last lessons that were hard to tell: hard_messages.py

A message's units sum to 0 over the classes, and so do a token's weights: those of class number 0 follow from the rest.
Only a corrected model has these tables.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from spamnb.errors import SpamnbError
from spamnb.reader.rows import TokenIds
from spamnb.reader.token_array import TokenArray
from spamnb.reader.vocabulary import Vocabulary
from spamnb.store.brought import BroughtTable
from spamnb.store.correction_sums import (
    INSERT_PAGE,
    MAX_UNITS,
    CorrectionSums,
    TokenUnits,
    from_pages,
    kinds_of,
    pages_of,
    written_sizes,
)
from spamnb.store.pages import weights_of
from spamnb.store.tables import ModelTables

if TYPE_CHECKING:  # classifying a message with a model that learned nothing since it was trained needs neither
    from spamnb.store.correction_log import CorrectionLog
    from spamnb.store.hard_messages import HardMessages

PAGES = "SELECT keys, kinds, bytes, shorts, longs FROM corrections ORDER BY first"
PAGES_OF = """SELECT keys, kinds, bytes, shorts, longs FROM corrections WHERE first IN
(SELECT (SELECT max(first) FROM corrections WHERE first <= value) FROM json_each(?)) ORDER BY first"""
PAGES_BETWEEN = """SELECT keys, kinds, bytes, shorts, longs FROM corrections
WHERE first BETWEEN coalesce((SELECT max(first) FROM corrections WHERE first <= ?1), ?1) AND ?2 ORDER BY first"""

MAX_PENDING = 65_536  # tokens whose changes wait for the end of a transaction


class _Cache:
    """TokenUnits of tokens that were looked up, by their numbers in a vocabulary."""

    def __init__(self, vocabulary: Vocabulary, classes: int) -> None:
        self.vocabulary = vocabulary
        self.table = np.zeros((classes, 1024), np.int64)
        self.loaded = np.zeros(1024, bool)

    def columns(self, tokens: Sequence[str]) -> np.ndarray:
        here = isinstance(tokens, TokenIds) and tokens.vocabulary is self.vocabulary
        ids = tokens.ids if here else self.vocabulary.ids(tokens)  # type: ignore[attr-defined]
        if len(self.vocabulary) > len(self.loaded):
            more = max(len(self.vocabulary), 2 * len(self.loaded)) - len(self.loaded)
            self.table, self.loaded = np.pad(self.table, ((0, 0), (0, more))), np.pad(self.loaded, (0, more))
        return ids


class CorrectionTables(BroughtTable):
    """The correction of an open model file; ``store.Store.corrections`` is one."""

    def __init__(self, tables: ModelTables, vocabulary: Callable[[], Vocabulary], preload: bool) -> None:
        """``vocabulary`` tells under which numbers tokens are kept in memory; ``preload`` reads all pages at once."""
        self._tables, self._vocabulary, self._preload = tables, vocabulary, preload
        self._cache: _Cache | None = None
        self._pages: TokenUnits | None = None
        self._pending: list[tuple[np.ndarray, np.ndarray]] = []  # keys (k,) and what is added to each, (C,)
        self._waiting = 0  # tokens of these
        self._taught: bool | None = None

    @cached_property
    def _log(self) -> CorrectionLog:
        from spamnb.store.correction_log import CorrectionLog

        return CorrectionLog(self._tables)

    @cached_property
    def hard(self) -> HardMessages:
        """The last lessons that were hard to tell."""
        from spamnb.store.hard_messages import HardMessages

        return HardMessages(self._tables, self._vocabulary)

    def _was_taught(self) -> bool:
        """Is anything in the log?"""
        if self._taught is None:
            self._taught = bool(self._tables.execute("SELECT EXISTS (SELECT 1 FROM corrected)").fetchone()[0])
        return self._taught

    def _cached(self) -> _Cache:
        vocabulary = self._vocabulary()
        if self._cache is None or self._cache.vocabulary is not vocabulary:
            self.write_changes()
            if self._pages is None and "_log" in self.__dict__:  # pages in memory go with the log of their time
                self._log.read_anew()
            self._cache = _Cache(vocabulary, len(self._tables.class_ids()))
        return self._cache

    def _load(self, tokens: Sequence[str]) -> tuple[_Cache, np.ndarray]:
        """The weights in memory, those of ``tokens`` (k,) among them, and the columns where these are."""
        cache = self._cached()
        ids = cache.columns(tokens)
        missing = ids[~cache.loaded[ids]]
        if len(missing):
            keys = TokenIds(cache.vocabulary, missing).hashes
            order = np.argsort(keys)  # looking up from left to right is quicker
            missing, keys = missing[order], keys[order]
            cache.table[:, missing] = self._read(missing, keys).T
            cache.loaded[missing] = True
        return cache, ids

    def _read(self, ids: np.ndarray, keys: np.ndarray) -> np.ndarray:
        """The weights (k, C) of the tokens with these numbers and ``keys``, ascending by key."""
        classes = len(self._tables.class_ids())
        if self._preload and self._pages is None:
            self._pages = from_pages(self._tables.execute(PAGES), classes)
        if self._pages is not None:
            held, units = self._pages
        else:
            held, units = weights_of(self._tables.execute(PAGES_OF, (json.dumps(keys.tolist()),)), classes, keys)
        weights = np.zeros((len(keys), classes), np.int64)
        if len(held):
            at = np.minimum(np.searchsorted(held, keys), len(held) - 1)
            here = held[at] == keys
            weights[here] = units[at[here]]
        if self._preload or self._was_taught():  # the log is read with the pages: what is in it moves into them
            weights += self._log.look_up(keys)
        return weights

    def others_taught(self) -> None:
        """Forget what another process may have changed beside the weights; it is read when it is asked for."""
        self.__dict__.pop("hard", None)

    def follow_others(self) -> bool:
        """Add to what is in memory what others changed; False where that cannot be known, or there is too much of it.

        All pages that are in memory stay as they were, and so does the log: the one moves into the other."""
        cache, found = self._cache, self._log.news()
        if found is None or cache is None or len(cache.table) != len(self._tables.class_ids()):
            return False
        self.others_taught()
        self._taught = True
        if self._pages is None:
            self._log.read_anew()
        elif not self._log.add(found):
            return False
        if len(found.keys):
            ids = np.flatnonzero(cache.loaded)
            keys = TokenIds(cache.vocabulary, ids).hashes
            at = np.minimum(np.searchsorted(found.keys, keys), len(found.keys) - 1)
            here = found.keys[at] == keys
            cache.table[:, ids[here]] += found.units[at[here]].T
        return True

    def look_up(self, tokens: Sequence[str], classes: Sequence[str]) -> np.ndarray:
        """The weights of ``tokens`` (k,) in these classes, (C, k) in units."""
        with self._tables.reading():
            numbers = [self._tables.class_ids()[name] for name in classes]
            cache, ids = self._load(tokens)
            return cache.table[np.ix_(np.array(numbers, np.intp), ids)]

    def add(self, tokens: Sequence[str], units: Mapping[str, int]) -> None:
        """Add so many units a class to the weight of each of ``tokens``, which are distinct."""
        with self._tables.writing():
            change = np.zeros(len(self._tables.class_ids()), np.int64)
            for name, n in units.items():
                change[self._tables.class_ids()[name]] = n
            if change.any():
                cache, ids = self._load(tokens)
                cache.table[:, ids] += change[:, None]
                if np.abs(cache.table[:, ids]).max(initial=0) > MAX_UNITS:
                    raise SpamnbError(f"{self._tables.path}: a token's weight is larger than a model file holds")
                self._pending.append((TokenIds(cache.vocabulary, ids).hashes, change))
                self._waiting += len(ids)
                if self._waiting > MAX_PENDING:
                    self.write_changes()

    def clear(self, tokens: Sequence[str]) -> None:
        """Leave ``tokens``, which no message holds any more, no weight, whatever it was."""
        with self._tables.writing():
            self.hard.drop_holding(tokens)
            cache, ids = self._load(tokens)
            for id_ in ids[cache.table[:, ids].any(axis=0)].tolist():
                key = TokenIds(cache.vocabulary, np.array([id_])).hashes
                self._pending.append((key, -cache.table[:, id_]))
                cache.table[:, id_] = 0

    def write_changes(self) -> None:
        """Write what ``add`` changed; once a transaction is enough."""
        pending, self._pending, self._waiting = self._pending, [], 0
        if pending and self._preload:  # the log as it is now moves into the pages, and is read anew with them
            self._pages = None
            self._log.read_anew()
        for keys, units in pending:
            self._taught = True
            self._log.append(keys, units)
        if pending and self._preload:
            self._log.read_anew()

    # -- pruning ---------------------------------------------------------------------------------------------

    def written_bytes(self, low: int, high: int, keys: np.ndarray) -> int:
        """How many bytes the pages hold of the tokens with these ``keys`` (k,), all from ``low`` to ``high``."""
        pages = self._between(low, high)
        here = np.isin(pages.keys, keys, assume_unique=True)
        return int(written_sizes(kinds_of(pages.units[here])).sum())

    def take_out(self, low: int, high: int, tokens: TokenArray) -> None:
        """Take out the weights of these tokens, all of them with keys from ``low`` to ``high``, and let go of the hard
        messages that held one: what was brought to a token that is gone is not there to be changed."""
        with self._tables.writing():
            self.write_changes()
            self._log.read_anew()
            self._log.fold()
            pages = self._between(low, high)
            stays = ~np.isin(pages.keys, tokens.hashes, assume_unique=True)
            if not stays.all():
                first, last = int(pages.keys[0]), int(pages.keys[-1])
                self._tables.execute("DELETE FROM corrections WHERE first BETWEEN ? AND ?", (first, last))
                kept = TokenUnits(pages.keys[stays], pages.units[stays])
                self._tables.executemany(INSERT_PAGE, pages_of(kept))
            self._cache = self._pages = None
            self._log.read_anew()
            self.hard.drop_holding(tokens)

    def _between(self, low: int, high: int) -> TokenUnits:
        """The pages that hold the keys from ``low`` to ``high``, and maybe others."""
        return from_pages(self._tables.execute(PAGES_BETWEEN, (low, high)), len(self._tables.class_ids()))

    # -- the whole -------------------------------------------------------------------------------------------

    def put_whole(self, correction: CorrectionSums) -> None:
        """Write a whole correction into a new file."""
        with self._tables.writing():
            kept = correction.used()
            for name in kept.classes:
                self._tables.class_id(name)
            kept = kept.of_classes(list(self._tables.class_ids()))
            if np.abs(kept.weights.units).max(initial=0) > MAX_UNITS:
                raise SpamnbError(f"{self._tables.path}: a token's weight is larger than a model file holds")
            self._tables.executemany(INSERT_PAGE, pages_of(kept.weights))
            self.put_all_brought(kept.brought)

    def whole(self) -> CorrectionSums:
        """The whole correction, what training wrote and what was learned since."""
        with self._tables.reading():
            self.write_changes()
            self._log.read_anew()
            pages = from_pages(self._tables.execute(PAGES), len(self._tables.class_ids()))
            weights = TokenUnits.sum([pages, self._log.total()])
            return CorrectionSums(tuple(self._tables.class_ids()), weights, self.all_brought())
