"""The correction of a corrected model (formulas/correction.py) as tables of its own: weights of tokens, in pages as
training wrote them and row by row as they were learned since, and what each message brought to them.

    corrections  first key, keys, weights: int32 a token and class, but for class number 0
    corrected    key, weights: int64 a class but for number 0, to be added to what is in the pages
    brought      digest, units: int32 a class but for number 0, that the message added to each of its tokens

A message's units sum to 0 over the classes, and so do a token's weights: those of class number 0 follow from the rest.
Only a corrected model has these tables.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from spamnb.errors import SpamnbError
from spamnb.store.correction_sums import (
    MAX_UNITS,
    MAX_WEIGHT,
    SUM,
    UNITS,
    CorrectionSums,
    MessageUnits,
    TokenUnits,
    from_brought,
    from_pages,
    from_rows,
    pages_of,
)
from spamnb.store.tables import ModelTables
from spamnb.tokens.csr_rows import TokenIds
from spamnb.tokens.vocabulary import Vocabulary

PAGES = "SELECT keys, weights FROM corrections ORDER BY first"
PAGES_OF = """SELECT keys, weights FROM corrections WHERE first IN
(SELECT (SELECT max(first) FROM corrections WHERE first <= value) FROM json_each(?)) ORDER BY first"""

CHANGES_OF = """SELECT corrected.key, weights FROM json_each(?) AS wanted
JOIN corrected ON corrected.key = wanted.value"""


class _Cache:
    """TokenUnits of tokens that were looked up, by their numbers in a vocabulary, and whether they changed since."""

    def __init__(self, vocabulary: Vocabulary, classes: int) -> None:
        self.vocabulary = vocabulary
        self.table = np.zeros((classes, 1024), np.int64)
        self.trained = np.zeros((classes, 1024), np.int64)
        self.loaded = np.zeros(1024, bool)
        self.dirty = np.zeros(1024, bool)

    def columns(self, tokens: Sequence[str]) -> np.ndarray:
        here = isinstance(tokens, TokenIds) and tokens.vocabulary is self.vocabulary
        ids = tokens.ids if here else self.vocabulary.ids(tokens)  # type: ignore[attr-defined]
        if len(self.vocabulary) > len(self.loaded):
            more = max(len(self.vocabulary), 2 * len(self.loaded)) - len(self.loaded)
            self.table, self.trained = (np.pad(table, ((0, 0), (0, more))) for table in (self.table, self.trained))
            self.loaded, self.dirty = (np.pad(of, (0, more)) for of in (self.loaded, self.dirty))
        return ids


class CorrectionTables:
    """The correction of an open model file; ``store.Store.corrections`` is one."""

    def __init__(self, tables: ModelTables, vocabulary: Callable[[], Vocabulary], preload: bool) -> None:
        """``vocabulary`` tells under which numbers tokens are kept in memory; ``preload`` reads all pages at once."""
        self._tables, self._vocabulary, self._preload = tables, vocabulary, preload
        self._cache: _Cache | None = None
        self._pages: TokenUnits | None = None
        self._as_trained: bool | None = None  # whether nothing was learned since training

    def _cached(self) -> _Cache:
        vocabulary = self._vocabulary()
        if self._cache is None or self._cache.vocabulary is not vocabulary:
            self._cache = _Cache(vocabulary, len(self._tables.class_ids()))
        return self._cache

    def _load(self, tokens: Sequence[str]) -> tuple[_Cache, np.ndarray]:
        """The weights in memory, those of ``tokens`` (k,) among them, and the columns where these are."""
        cache = self._cached()
        ids = cache.columns(tokens)
        missing = ids[~cache.loaded[ids]]
        if len(missing):
            missing = np.unique(missing)
            keys = TokenIds(cache.vocabulary, missing).hashes
            classes = len(cache.table)
            if self._preload and self._pages is None:
                self._pages = from_pages(self._tables.execute(PAGES), classes)
            asked = json.dumps(keys.tolist())
            pages = self._pages or from_pages(self._tables.execute(PAGES_OF, (asked,)), classes)
            if len(pages.keys):
                at = np.minimum(np.searchsorted(pages.keys, keys), len(pages.keys) - 1)
                here = pages.keys[at] == keys
                cache.trained[:, missing[here]] = pages.units[at[here]].T
            cache.table[:, missing] = cache.trained[:, missing]
            if self._as_trained is None:
                self._as_trained = not self._tables.execute("SELECT 1 FROM corrected LIMIT 1").fetchone()
            since = () if self._as_trained else self._tables.execute(CHANGES_OF, (asked,))
            changes = from_rows(since, classes)
            if len(changes.keys):
                order = np.argsort(keys)
                at = order[np.searchsorted(keys[order], changes.keys)]
                cache.table[:, missing[at]] += changes.units.T
            cache.loaded[missing] = True
        return cache, ids

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
                cache.dirty[ids] = True
                if np.abs(cache.table[:, ids]).max(initial=0) > MAX_WEIGHT:
                    raise SpamnbError(f"{self._tables.path}: a token's weight is larger than a model file holds")

    def write_changes(self) -> None:
        """Write what ``add`` changed; once a transaction is enough."""
        cache = self._cache
        if cache is not None and cache.dirty.any():
            self._as_trained = None
            ids = np.flatnonzero(cache.dirty)
            cache.dirty[ids] = False
            keys = TokenIds(cache.vocabulary, ids).hashes
            since = cache.table[1:, ids] - cache.trained[1:, ids]
            some = np.any(since, axis=0)
            rows = np.ascontiguousarray(since.T[some], SUM)
            self._tables.executemany(
                "INSERT OR REPLACE INTO corrected VALUES (?, ?)",
                zip(keys[some].tolist(), (row.tobytes() for row in rows)),
            )
            self._tables.executemany("DELETE FROM corrected WHERE key = ?", zip(keys[~some].tolist()))

    # -- what messages brought -------------------------------------------------------------------------------

    def brought(self, digest: bytes) -> dict[str, int]:
        """What a message brought to each of its tokens, by class; nothing for one that is not there."""
        with self._tables.reading():
            found = self._tables.execute("SELECT digest, units FROM brought WHERE digest = ?", (digest,)).fetchall()
            if not found:
                return {}
            names = list(self._tables.class_ids())
            (units,) = from_brought(found, len(names)).units
            return {name: n for name, n in zip(names, units.tolist()) if n}

    def put_brought(self, digest: bytes, units: Mapping[str, int]) -> None:
        """Keep what a message brought, by class; nothing where it brought nothing."""
        with self._tables.writing():
            if not any(units.values()):
                self._tables.execute("DELETE FROM brought WHERE digest = ?", (digest,))
                return
            row = np.array([units.get(name, 0) for name in self._tables.class_ids()], np.int64)
            self.put_all_brought(MessageUnits([digest], row[None, :]))

    def put_all_brought(self, brought: MessageUnits) -> None:
        """Keep what messages brought, the columns in the order of the classes' numbers."""
        with self._tables.writing():
            if np.abs(brought.units).max(initial=0) > MAX_UNITS:
                raise SpamnbError(f"{self._tables.path}: a message brought more than a model file holds")
            some = np.flatnonzero(brought.units.any(axis=1))
            rows = np.ascontiguousarray(brought.units[some, 1:], UNITS)
            blobs = [row.tobytes() for row in rows]
            digests = [brought.digests[i] for i in some.tolist()]
            self._tables.executemany("INSERT OR REPLACE INTO brought VALUES (?, ?)", zip(digests, blobs))

    def all_brought(self) -> MessageUnits:
        """What all messages brought, the columns in the order of the classes' numbers."""
        with self._tables.reading():
            rows = self._tables.execute("SELECT digest, units FROM brought ORDER BY digest").fetchall()
            return from_brought(rows, len(self._tables.class_ids()))

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
            self._tables.executemany("INSERT INTO corrections VALUES (?, ?, ?)", pages_of(kept.weights))
            self.put_all_brought(kept.brought)

    def whole(self) -> CorrectionSums:
        """The whole correction, what training wrote and what was learned since."""
        with self._tables.reading():
            self.write_changes()
            classes = len(self._tables.class_ids())
            parts = [
                from_pages(self._tables.execute(PAGES), classes),
                from_rows(self._tables.execute("SELECT key, weights FROM corrected ORDER BY key"), classes),
            ]
            keys, place = np.unique(np.concatenate([part.keys for part in parts]), return_inverse=True)
            units = np.zeros((len(keys), classes), np.int64)
            np.add.at(units, place, np.concatenate([part.units for part in parts]))
            some = units.any(axis=1)
            weights = TokenUnits(keys[some], units[some])
            return CorrectionSums(tuple(self._tables.class_ids()), weights, self.all_brought())
