"""A model as one SQLite file: the sums and what was learned; no probabilities, which are derived from them.

    meta          settings and single figures, as JSON; under "array:NAME" an array
    classes       a class's messages N_c, Σ_j N_jc, Σ_j T_jc, its histogram of the calibration, and its fitted curve
    tokens        a token's cells (rows.py), the last month in which a lesson held it, and its vector
    messages      how each message was learned, and its contribution to a correction (records.py)
    kept_lessons  messages that a person taught, whole (lessons.py)
    hard          messages that a corrected model found hard (hard_examples.py)

In memory stay the rows that were asked for and a ``View``: settings, classes and sums. Both are read anew when
another connection changed the file. A lesson changes the rows in memory; they are written before its transaction ends.
"""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import Any, Self

import numpy as np

from spamnb.counts.class_counts import ClassTotals, CountedTokens, TokenCounts
from spamnb.errors import ArgumentError, Damaged, Outdated, SpamnbError
from spamnb.formulas import calibration
from spamnb.formulas.calibration import BINS, Calibration
from spamnb.naming import check_class_name
from spamnb.reader.tokens import TokenArray, Vocabulary
from spamnb.store.database import (
    APPLICATION_ID,
    MAX_SUM,
    Database,
    checked_rows,
    int_between,
    is_class_name,
    is_digest,
    parse_json,
)
from spamnb.store.records import VECTOR, LearnedMessage, array_of, vectors_of
from spamnb.store.rows import DOCUMENTS, MAX_COUNT, MAX_UNITS, OCCURRENCES, WEIGHT, Cells, RowsAtHand

FORMAT = 9  # it rises with the tables, and whenever the same sums give other scores
PAGE_BYTES = 1024  # a lesson writes some 350 pages, whatever their size: in 4096 bytes each takes half as long again
SCHEMA = (
    "CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL, content BLOB) WITHOUT ROWID",
    "CREATE TABLE classes (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, documents INTEGER NOT NULL,"
    " document_counts INTEGER NOT NULL, occurrences INTEGER NOT NULL, calibration BLOB NOT NULL, slope REAL NOT NULL,"
    " intercept REAL NOT NULL, knee REAL NOT NULL)",
    "CREATE TABLE tokens (hash INTEGER PRIMARY KEY, token TEXT NOT NULL, month INTEGER, cells BLOB NOT NULL,"
    " vector BLOB)",
    "CREATE TABLE messages (digest BLOB PRIMARY KEY, class INTEGER NOT NULL, facts TEXT) WITHOUT ROWID",
    "CREATE TABLE kept_lessons (position INTEGER PRIMARY KEY, digest BLOB NOT NULL UNIQUE, class INTEGER NOT NULL,"
    " taught_at INTEGER NOT NULL, message BLOB NOT NULL)",
    "CREATE TABLE hard (sequence INTEGER PRIMARY KEY, digest BLOB UNIQUE, class INTEGER NOT NULL,"
    " offsets TEXT NOT NULL, hashes BLOB NOT NULL)",
)
SIZE = "vocabulary_size"  # in table meta, the number of tokens
NOISE = "label_noise"  # in table meta, the share of wrong labels
ARRAY = "array:"  # before the name of an array in table meta
AMONG = "hash IN (SELECT value FROM json_each(?))"  # one of the hashes in a list of JSON

MAX_CLASSES = 900
MAX_VOCABULARY = 200_000  # tokens whose numbers and rows are kept, however many new words hostile mail brings
MAX_AT_HAND = 2_000_000  # cells of rows that are held back until the end of a change
MAX_TABLE = 8_000_000  # cells of a table that is read as a whole
MANY = 4_000  # tokens that are asked for at once; of one message they are seldom more
HISTOGRAM = np.dtype("<i8")
_NO_CURVE = 0.0, 0.0, 1.0  # slope, intercept and knee of a class without messages
_MAX_FITTED = 1e9  # of a slope, an intercept or a knee


def this_month() -> int:
    """Months since year 0, in UTC."""
    now = time.gmtime()
    return 12 * now.tm_year + now.tm_mon - 1


@dataclass
class View:
    """Settings, classes and their sums, as one state of the file has them."""

    meta: dict[str, Any]
    class_ids: dict[str, int]
    sums: np.ndarray  # (C, 3) N_c, Σ_j N_jc and Σ_j T_jc, in the order of the classes' numbers
    histogram: np.ndarray  # (C, 2, BINS) of the calibration: the messages of each class, and those of others
    changed: set[int] = field(default_factory=set)  # classes that are not written yet
    totals: ClassTotals | None = None
    present: np.ndarray = field(default_factory=lambda: np.zeros(0, np.intp))  # with totals: numbers of their classes
    calibration: Calibration | None = None  # of these classes
    arrays: dict[str, np.ndarray] | None = None
    frequencies: list[dict[int, int]] | None = None  # by class number {n: tokens that n messages hold}, n > 0


class SharedTable:
    """The whole table of tokens, read once by the first of several threads that need it and have the file open."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._sums: np.ndarray | None = None  # of the classes; equal ones have equal rows
        self._read: tuple[np.ndarray, Cells]

    def of(self, store: Store) -> tuple[np.ndarray, Cells]:
        """The hashes of all tokens, ascending, and their cells, as this store sees them."""
        with self._lock:
            sums = store.class_sums()
            if self._sums is None or not np.array_equal(self._sums, sums):
                self._read, self._sums = store.cells(), sums.copy()
            return self._read


class Store(Database):
    """A model file, open: ``with Store.open(path) as store: store.look_up(["offer"])``."""

    _identity: tuple[int, int] | None = None  # of the open file

    def __init__(self, path: str, connection: sqlite3.Connection) -> None:
        super().__init__(path, connection)
        self._vocabulary = Vocabulary()

    # -- the file --------------------------------------------------------------------------------------------

    @classmethod
    def create(cls, path: str | Path, meta: Mapping[str, Any]) -> Self:
        """A new, empty model at ``path`` (``":memory:"`` for none), which must not exist yet."""
        if str(path) != ":memory:" and Path(path).exists():
            raise SpamnbError(f"{path}: exists already; choose another name or remove it")
        store = cls.connect(path, writable=True)
        with store._told():
            store.execute(f"PRAGMA page_size = {PAGE_BYTES}")
            store.execute("PRAGMA journal_mode = WAL")
            with store.writing():
                for statement in SCHEMA:
                    store.execute(statement)
                store.execute(f"PRAGMA application_id = {APPLICATION_ID}")
                store.execute(f"PRAGMA user_version = {FORMAT}")
                store.put_meta({**meta, SIZE: 0, NOISE: 0.0})
        return store

    @classmethod
    def open(cls, path: str | Path, *, writable: bool = False) -> Self:
        """The model at ``path``; one clear line when there is none, or when it is something else."""
        if not Path(path).is_file():
            what = "a folder, and no model there" if Path(path).is_dir() else "no model there"
            raise ArgumentError(
                "{at}: {what}; 'spamnb train' makes one, {option.model} names another", at=path, what=what
            )
        if not Path(path).stat().st_size:
            raise SpamnbError(f"{path}: an empty file and no model; remove it, 'spamnb train' makes one")
        store = cls.connect(path, writable=writable)
        try:
            store._check()
        except BaseException:
            store.close()
            raise
        return store

    def _check(self) -> None:
        with self._told():
            application = self.execute("PRAGMA application_id").fetchone()[0]
            version = self.execute("PRAGMA user_version").fetchone()[0]
            if application != APPLICATION_ID:
                raise SpamnbError(f"{self.path}: not a spamnb model (another program's database)")
            if version > FORMAT:
                raise SpamnbError(
                    f"{self.path}: made by a newer spamnb (format {version}, this one reads {FORMAT}); upgrade spamnb"
                )
            if version < FORMAT:
                raise Outdated(
                    f"{self.path}: made by an older spamnb (format {version}), and cannot be read; train again"
                )
            # What a view, a trigger, an index, a generated column or a constraint of somebody else's computes may never
            # end.
            found = self.execute("SELECT sql FROM sqlite_schema WHERE sql NOT NULL").fetchall()
            if {statement for (statement,) in found} != {*SCHEMA}:
                raise Damaged("other tables, views, triggers or indexes than a model's")
        self.meta()

    @contextlib.contextmanager
    def _transaction(self, begin: str) -> Iterator[None]:
        with self._told():
            self._follow_file(begin != "BEGIN")
        with super()._transaction(begin):
            yield
            self.write_changes()
        if begin != "BEGIN" and _identity(self.file) != self._identity:
            raise SpamnbError(f"{self.path}: another file took its place while it was being changed; try again")

    def _follow_file(self, writing: bool) -> None:
        """Go over to the file that is at the path now. Whoever removes a model and trains another there would otherwise
        have lessons acknowledged that nobody ever reads.

        The open file keeps its number on the disk, so another file has another one."""
        identity = _identity(self.file)
        if self._identity is None:  # the first transaction
            self._identity = identity
        if identity == self._identity:
            return
        try:
            fresh = type(self).open(self.file, writable=not self.execute("PRAGMA query_only").fetchone()[0])
        except SpamnbError:
            if writing:
                raise
            return  # what only reads goes on with the model that is open: mail is waiting
        self._connection.close()
        self._connection, self._identity, self._data_version = fresh._connection, identity, None
        self.drop_cache()

    # -- settings and classes --------------------------------------------------------------------------------

    @cached_property
    def table(self) -> SharedTable:
        """Who reads the whole table; threads that judge by the same file share one."""
        return SharedTable()

    def drop_cache(self) -> None:
        self._view: View | None = None
        self._forget_rows()

    def _forget_rows(self) -> None:
        self._rows: RowsAtHand | None = None
        self._asked = 0  # tokens whose rows were sought since then, many at a time
        self._place_of_id = np.zeros(0, np.int32)  # among the rows at hand, of each token of the vocabulary

    @property
    def view(self) -> View:
        """Settings, classes and sums as they are now; inside a transaction."""
        if self._view is None:
            found = checked_rows("meta", self.execute("SELECT key, value FROM meta WHERE content IS NULL"), key=str)
            meta = {key: parse_json("meta", key, value) for key, value in found}
            columns = "SELECT name, id, calibration, documents, document_counts, occurrences, slope, intercept, knee"
            rows = checked_rows(
                "classes", self.execute(f"{columns} FROM classes ORDER BY id"), name=is_class_name,
                id=int_between(MAX_CLASSES - 1), calibration=bytes, documents=int_between(MAX_COUNT),
                document_counts=int_between(MAX_SUM), occurrences=int_between(MAX_SUM), slope=_is_fitted,
                intercept=_is_fitted, knee=_is_fitted,
            )  # fmt: skip
            if [row[1] for row in rows] != list(range(len(rows))):
                raise Damaged("numbers in table classes that are not in order")
            self._view = view = View(
                meta,
                {row[0]: row[1] for row in rows},
                np.array([row[3:6] for row in rows], np.int64).reshape(-1, 3),
                _histogram([row[2] for row in rows]),
            )
            self.totals()
            if not (type(noise := meta.get(NOISE)) is float and 0 <= noise < 1):
                raise Damaged(f"{NOISE} in table meta: {noise!a:.40}")
            curves = np.array([row[6:] for row in rows]).reshape(-1, 3)[view.present]
            slope, intercept, knee = curves.T
            view.calibration = Calibration(slope, intercept, knee, noise)
        return self._view

    def meta(self) -> dict[str, Any]:
        """Settings and single figures; the same object until they change."""
        with self.reading():
            return self.view.meta

    def put_meta(self, changes: Mapping[str, Any]) -> None:
        """Keep settings and single figures."""
        with self.writing():
            self.executemany(
                "INSERT INTO meta VALUES (?, ?, NULL) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
                [(key, json.dumps(value, ensure_ascii=False, sort_keys=True)) for key, value in changes.items()],
            )
            self.view.meta = {**self.view.meta, **json.loads(json.dumps(changes))}
            self.view.totals = None  # the vocabulary's size is part of both

    def class_ids(self) -> dict[str, int]:
        """The number of each class in the tables, in their order."""
        with self.reading():
            return self.view.class_ids

    def class_id(self, name: str) -> int:
        """The number of a class in the tables, a new one where there was none."""
        view = self.view
        if name in view.class_ids:
            return view.class_ids[name]
        number = len(view.class_ids)
        if number >= MAX_CLASSES:
            raise SpamnbError(
                f"{self.path}: more than {MAX_CLASSES} classes; was a folder of folders given one level too high?"
            )
        try:
            check_class_name(name)
        except ValueError as error:
            raise SpamnbError(f"{self.path}: {error}") from None
        self.write_changes()
        self._forget_rows()  # they have no cells for it
        none = np.zeros((1, 2, BINS), HISTOGRAM)
        self.execute("INSERT INTO classes VALUES (?, ?, 0, 0, 0, ?, ?, ?, ?)", (number, name, none.tobytes(), *_NO_CURVE))
        view.class_ids = {**view.class_ids, name: number}
        view.sums = np.concatenate([view.sums, np.zeros((1, 3), np.int64)])
        view.histogram = np.concatenate([view.histogram, none])
        view.totals = view.calibration = view.frequencies = None
        return number

    def totals(self) -> ClassTotals:
        """The sums over all tokens of the classes that hold a message; the same object until they change."""
        with self.reading():
            view = self.view
            if view.totals is None:
                size = view.meta.get(SIZE, -1)
                if not int_between(MAX_COUNT)(size):
                    raise Damaged(f"{SIZE} in table meta: {size!r}")
                documents, held, occurring = view.sums.T
                if (held > documents * float(size)).any() or (held > occurring).any():
                    raise Damaged("figures in table classes that do not fit together")
                names = tuple(sorted(name for name, number in view.class_ids.items() if documents[number]))
                view.present = present = np.array([view.class_ids[name] for name in names], np.intp)
                view.totals = ClassTotals(names, documents[present], held[present], occurring[present], size)
            return view.totals

    def present(self) -> np.ndarray:
        """The numbers of the classes that hold a message, in the order of their names."""
        self.totals()
        return self.view.present

    def class_sums(self) -> np.ndarray:
        """(C, 3) N_c, Σ_j N_jc and Σ_j T_jc of every class, in the order of their numbers."""
        with self.reading():
            self.totals()
            return self.view.sums

    def calibration(self) -> Calibration:
        """Return the calibration of the classes that hold a message, in the order of their names.

        It was fitted by whoever wrote the file last; inside a change it is fitted when it is needed."""
        with self.reading():
            view, present = self.view, self.present()
            if view.calibration is None:
                view.calibration = calibration.fit(view.histogram[present], view.sums[present, 0])
            return view.calibration

    def count_scores(self, label: str, bins: Mapping[str, int], sign: int) -> None:
        """Add a scored message of a class to the calibration, or subtract it, in its bin of each class. A message of
        training may be subtracted with another score than it was added with: a bin can count less than 0."""
        with self.writing():
            for name, bin_ in bins.items():
                number = self.class_id(name)
                self.view.histogram[number, int(name != label), bin_] += sign
                self.view.changed.add(number)
                self.view.calibration = None

    # -- tokens ----------------------------------------------------------------------------------------------

    @property
    def vocabulary(self) -> Vocabulary:
        """The numbers under which messages are read; others when there are too many."""
        most = MAX_VOCABULARY * (2 if self._rows is not None and self._rows.is_whole else 1)
        if len(self._vocabulary) > most:
            self._vocabulary = Vocabulary()
            if self._rows is None or not (self._rows.is_whole or self._rows.changed.any()):
                self._forget_rows()
            self._place_of_id = np.zeros(0, np.int32)
        return self._vocabulary

    def cells(self) -> tuple[np.ndarray, Cells]:
        """The hashes of all tokens, ascending, and their cells."""
        with self.reading():
            self.write_changes()
            rows = self.execute("SELECT hash, cells FROM tokens ORDER BY hash").fetchall()
            hashes, blobs = zip(*rows) if rows else ((), ())
            return np.array(hashes, np.int64), Cells.unpack(blobs, len(self.view.class_ids))

    def rows_of(self, tokens: Sequence[str] | np.ndarray) -> tuple[RowsAtHand, np.ndarray]:
        """The rows at hand, those of ``tokens`` (k,), or of tokens with these hashes, among them, and their places (k,).

        Whoever seeks rows of many messages, an eighth of all rows or more, reads the whole table: that is cheaper."""
        classes = len(self.view.class_ids)
        if self._rows is None or len(self._rows) * classes > MAX_AT_HAND:
            self.write_changes()
            self._forget_rows()
            self._rows = RowsAtHand(classes)
        if isinstance(tokens, np.ndarray):
            return self._rows, self._places(self._rows, tokens)
        ids = self._vocabulary.ids(tokens)
        if ids.max(initial=0) >= len(self._place_of_id):
            more = max(len(self._vocabulary), 2 * len(self._place_of_id)) - len(self._place_of_id)
            self._place_of_id = np.concatenate([self._place_of_id, np.full(more, -1, np.int32)])
        places = self._place_of_id[ids]
        if (asked := np.flatnonzero(places < 0)).size:
            if len(tokens) > MANY and not self._rows.is_whole:
                self._asked += len(asked)
                rows = self.totals().vocabulary_size
                if rows < 8 * self._asked and rows * classes <= MAX_TABLE:
                    self._rows = RowsAtHand(classes, self.table.of(self))
                    self._check_figures(self._rows.figures)
                    self._place_of_id[:] = -1
                    places, asked = self._place_of_id[ids], np.arange(len(ids))
            places[asked] = self._places(self._rows, TokenArray.of(tokens).hashes[asked])
            self._place_of_id[ids[asked]] = places[asked]
        return self._rows, places

    def _places(self, rows: RowsAtHand, hashes: np.ndarray) -> np.ndarray:
        """The places (k,) of the tokens with these hashes; rows that are not at hand yet are read."""
        places = rows.places(hashes)
        if (absent := np.flatnonzero(places < 0)).size:
            missing, place = np.unique(hashes[absent], return_inverse=True)
            added = rows.add(missing, *self._read_rows(rows, missing))
            self._check_figures(rows.figures[added])
            places[absent] = added[place]
        return places

    def _check_figures(self, figures: np.ndarray) -> None:
        if (figures[:, :, DOCUMENTS] > self.view.sums[:, 0]).any():
            raise Damaged("sums of tokens that cannot be")

    def _read_rows(self, rows: RowsAtHand, hashes: np.ndarray) -> tuple[np.ndarray, Cells]:
        """Which of these tokens the table has, and their cells."""
        found = []
        if not rows.is_whole and self.execute("SELECT 1 FROM tokens LIMIT 1").fetchone():
            which = "SELECT key, cells FROM json_each(?) CROSS JOIN tokens ON hash = value"
            found = self.execute(which, (json.dumps(hashes.tolist()),)).fetchall()
        known, blobs = zip(*found) if found else ((), ())
        return np.array(known, np.intp), Cells.unpack(blobs, len(self.view.class_ids))

    def look_up(self, tokens: Sequence[str]) -> TokenCounts:
        """The counts of those of ``tokens`` (distinct) that the model knows; costs the message, not the model."""
        with self.reading():
            named = TokenArray.of(tokens)
            rows, places = self.rows_of(named)
            positions = np.flatnonzero(rows.held(places))
            figures = rows.figures[places[positions]].transpose(2, 1, 0)[:, self.present()]
            documents, occurrences, weights = np.ascontiguousarray(figures)
            return TokenCounts(positions, documents, occurrences, named.groups[positions], weights)

    def frequencies(self) -> list[dict[int, int]]:
        """Per class {n: number of tokens that exactly n of its messages hold}. The first time reads all rows."""
        with self.reading():
            totals, view = self.totals(), self.view
            if view.frequencies is None:
                counts = self.cells()[1].counts(list(view.class_ids), view.sums[:, 0], totals.vocabulary_size)
                if not np.array_equal(counts.totals().document_counts, view.sums[np.argsort([*view.class_ids]), 1]):
                    raise Damaged("sums of tokens that are not those of classes")
                of_name = dict(zip(counts.classes, counts.rows))
                view.frequencies = [of_name[name].frequencies() for name in view.class_ids]
            found = [{n: k for n, k in view.frequencies[c].items() if n and k} for c in self.present().tolist()]
            return [{0: totals.vocabulary_size - sum(of.values()), **of} for of in found]

    def add(self, label: str, message: CountedTokens, sign: int = 1) -> None:
        """Add one message's tokens (distinct) to the sums of a class, or subtract them with ``sign=-1``.

        Of a token that was pruned since, what is left is subtracted. A token that no message holds has no weight.
        """
        with self.writing():
            number, (tokens, counts) = self.class_id(label), message
            rows, places = self.rows_of(tokens)
            at = np.arange(len(places))
            before = rows.figures[places, number]
            if sign < 0:
                at, counts = left_of(before, counts)
                places, before = places[at], before[at]
            held = np.count_nonzero(rows.held(places))
            after = before.copy()
            after[:, DOCUMENTS] += sign
            after[:, OCCURRENCES] += sign * counts
            rows.change(places, tokens, at)
            rows.taught[places] |= sign > 0
            rows.figures[places, number] = after
            is_held = rows.held(places)
            rows.figures[places[~is_held]] = 0
            self._add_to_sums(number, before[:, DOCUMENTS], sign, sign * int(counts.sum()))
            if new := int(np.count_nonzero(is_held) - held):
                self.view.meta = {**self.view.meta, SIZE: self.view.meta[SIZE] + new}

    def _add_to_sums(self, number: int, documents: np.ndarray, sign: int, occurrences: int) -> None:
        """A message comes to a class or goes; ``documents`` (k,) of the class held its tokens before."""
        view = self.view
        view.sums[number] += np.array([sign, sign * len(documents), occurrences])
        view.changed.add(number)
        if view.sums[number, 0] < 0:
            raise SpamnbError(f"{self.path}: this message is not part of the class; nothing was forgotten")
        view.totals = view.calibration = None
        if view.frequencies is not None:
            moved = view.frequencies[number]
            for n, tokens in zip(*(values.tolist() for values in np.unique(documents, return_counts=True))):
                moved[n] = moved.get(n, 0) - tokens
                moved[n + sign] = moved.get(n + sign, 0) + tokens

    def weights(self, tokens: Sequence[str] | np.ndarray, classes: Sequence[str]) -> np.ndarray:
        """What the correction of a corrected model adds for ``tokens`` (k,), or for those with these hashes, in these
        classes, (C, k) in units."""
        with self.reading():
            rows, places = self.rows_of(tokens)
            ids = [self.view.class_ids[name] for name in classes]
            return np.ascontiguousarray(rows.figures[places[:, None], ids, WEIGHT].T)

    def add_weights(self, tokens: Sequence[str] | np.ndarray, units: Mapping[str, int]) -> None:
        """Add so many units, by class, to the weight of each of ``tokens``, which are distinct, or of those with these
        hashes. Tokens that no message holds stay without a weight."""
        changes = {self.class_ids()[name]: n for name, n in units.items() if n}
        if not changes or not len(tokens):
            return
        with self.writing():
            rows, places = self.rows_of(tokens)
            places = places[rows.held(places)]
            weights = rows.figures[places[:, None], [*changes], WEIGHT] + [*changes.values()]
            if np.abs(weights).max(initial=0) > MAX_UNITS:
                raise SpamnbError(f"{self.path}: a token's weight is larger than a model file holds")
            rows.changed[places] = True
            rows.figures[places[:, None], [*changes], WEIGHT] = weights

    def write_changes(self) -> None:
        """Write the rows and sums that were changed in memory; inside a transaction."""
        view, rows = self._view, self._rows
        if view is not None and view.changed:
            numbers, view.changed = sorted(view.changed), set()
            sums = [(*view.sums[c].tolist(), view.histogram[c].tobytes(), c) for c in numbers]
            put = "UPDATE classes SET documents = ?, document_counts = ?, occurrences = ?, calibration = ? WHERE id = ?"
            self.executemany(put, sums)
            self.execute("UPDATE meta SET value = ? WHERE key = ?", (view.meta[SIZE], SIZE))
            self.write_calibration()
        if rows is None or not rows.changed.any():
            return
        places, cells = rows.written()
        month, known, hashes = this_month(), rows.known[places], rows.hashes[places].tolist()
        some = np.bincount(cells.token, minlength=len(places)) > 0
        stays = known & some
        months = [month if taught else None for taught in rows.taught[places].tolist()]
        every = list(zip(cells.pack(len(places), self.path), months, hashes))
        self.executemany(
            "UPDATE tokens SET cells = ?, month = coalesce(?, month) WHERE hash = ?",
            [every[j] for j in np.flatnonzero(stays).tolist()],
        )
        new, text = np.flatnonzero(~known & some), rows.new_texts()
        self.executemany(
            "INSERT INTO tokens (cells, month, hash, token) VALUES (?, ?, ?, ?)",
            [(*every[j], text[place]) for j, place in zip(new.tolist(), places[new].tolist())],
        )
        self.executemany("DELETE FROM tokens WHERE hash = ?", [(hashes[j],) for j in np.flatnonzero(known & ~stays)])
        rows.note_written(places, some)

    def write_calibration(self) -> None:
        """Fit the calibration to the sums, and write its curves."""
        with self.writing():
            self.view.calibration = None
            slope, intercept, knee, noise = self.calibration()
            put = "UPDATE classes SET slope = ?, intercept = ?, knee = ? WHERE id = ?"
            self.executemany(put, zip(*(each.tolist() for each in (slope, intercept, knee, self.present()))))
            self.put_meta({NOISE: noise})

    def check_calibration(self) -> None:
        """Damaged where the curves are not those of the sums."""
        view, present = self.view, self.present()
        fitted = np.hstack(calibration.fit(view.histogram[present], view.sums[present, 0]))
        if len(present) and not np.allclose(np.hstack(self.calibration()), fitted, rtol=1e-3, atol=1e-3):
            raise Damaged("curves in table classes that are not those of its calibration")

    # -- what was learned ------------------------------------------------------------------------------------

    def learned(self, digest: bytes) -> LearnedMessage | None:
        """How a message was learned, by its digest; None if it was not."""
        found = self._messages("WHERE digest = ?", digest)
        return found[0][1] if found else None

    def messages(self) -> list[tuple[bytes, LearnedMessage]]:
        """(digest, how it was learned) of all messages, ascending by digest."""
        return self._messages("ORDER BY digest")

    def _messages(self, which: str, *values: Any) -> list[tuple[bytes, LearnedMessage]]:
        with self.reading():
            columns = "SELECT digest, class, coalesce(facts, '{}') FROM messages"
            classes, found = list(self.view.class_ids), []
            rows = checked_rows(
                "messages", self.execute(f"{columns} {which}", values), digest=is_digest,
                **{"class": int_between(len(classes) - 1)}, facts=str,
            )  # fmt: skip
            for digest, label, written in rows:
                facts = parse_json("messages", "facts", written)
                try:
                    found.append((digest, LearnedMessage.of_facts(classes[label], facts, classes)))
                except ValueError as error:
                    raise Damaged(f"facts in table messages: {error}") from None
            return found

    def put_messages(self, messages: Iterable[tuple[bytes, LearnedMessage]]) -> None:
        """These were learned, by digest, in place of what is there of them."""
        with self.writing():
            ids, rows = self.view.class_ids, []
            for digest, learned in messages:
                facts = learned.facts()
                written = json.dumps(facts, ensure_ascii=False) if facts else None
                rows.append((digest, ids[learned.label], written))
            self.executemany("REPLACE INTO messages VALUES (?, ?, ?)", rows)

    def delete_message(self, digest: bytes) -> None:
        """A message is learned no longer."""
        with self.writing():
            self.execute("DELETE FROM messages WHERE digest = ?", (digest,))

    # -- arrays and vectors ----------------------------------------------------------------------------------

    def arrays(self) -> dict[str, np.ndarray]:
        """All arrays by name, read-only; the same object until one of them changes."""
        with self.reading():
            if self.view.arrays is None:
                rows = self.execute("SELECT key, value, content FROM meta WHERE content NOT NULL ORDER BY key")
                arrays = {}
                for key, value, content in checked_rows("meta", rows, key=str, value=str, content=bytes):
                    found = parse_json("meta", "value", value)
                    dtype, shape = found if type(found) is list and len(found) == 2 else (None, None)
                    name = key.removeprefix(ARRAY)
                    arrays[name] = array_of(name, dtype, shape, content)
                self.view.arrays = arrays
            return self.view.arrays

    def put_arrays(self, arrays: Mapping[str, np.ndarray]) -> None:
        """Keep arrays of numbers (never of objects) under their names."""
        with self.writing():
            rows = ((ARRAY + name, json.dumps([a.dtype.str, a.shape]), a.tobytes()) for name, a in arrays.items())
            self.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?, ?)", rows)
            self.view.arrays = None

    def look_up_vectors(self, tokens: Sequence[str]) -> dict[str, np.ndarray]:
        """The vectors (d,) of those tokens that have one."""
        with self.reading():
            asked = json.dumps(TokenArray.of(tokens).hashes.tolist())
            which = f"SELECT token, vector FROM tokens WHERE {AMONG} AND vector NOT NULL"  # noqa: S608
            rows = checked_rows("tokens", self.execute(which, (asked,)), token=str)
            return dict(zip([token for token, _ in rows], vectors_of([(vector,) for _, vector in rows])))

    def vectors(self) -> np.ndarray | None:
        """The vectors of all tokens, ascending by hash, (V, d), 0 where one has none; None where no token has any."""
        with self.reading():
            found = self.execute("SELECT coalesce(vector, x'') FROM tokens ORDER BY hash").fetchall()
            vectors = vectors_of(found)
            dense = np.zeros((len(vectors), max(map(len, vectors), default=0)), VECTOR)
            for row, vector in zip(dense, vectors):
                row[: len(vector)] = vector
            return dense if dense.size else None

    def put_vectors(self, tokens: Sequence[str], vectors: np.ndarray) -> None:
        """Keep one vector for each of ``tokens`` that the model has, the rows of ``vectors`` (k, d)."""
        with self.writing():
            self.write_changes()
            blobs = (row.tobytes() for row in np.ascontiguousarray(vectors, VECTOR))
            hashes = TokenArray.of(tokens).hashes.tolist()
            self.executemany("UPDATE tokens SET vector = ? WHERE hash = ?", zip(blobs, hashes))


def _histogram(blobs: list[bytes]) -> np.ndarray:
    """The classes' histograms of the calibration, (C, 2, BINS)."""
    if any(len(blob) != 2 * BINS * HISTOGRAM.itemsize for blob in blobs):
        raise Damaged("calibration in table classes that was cut short")
    found = np.frombuffer(b"".join(blobs), HISTOGRAM).reshape(-1, 2, BINS).copy()
    # Below 0: a message of training was taken away with another score than it was added with.
    if (np.abs(found) > MAX_COUNT).any():
        raise Damaged("calibration in table classes that cannot be")
    return found


def _is_fitted(value: Any) -> bool:
    """A number of a curve."""
    return type(value) is float and abs(value) < _MAX_FITTED


def left_of(before: np.ndarray, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return what of a message can be subtracted: the places of those of its tokens (k,) that are still there, since
    others may have been pruned, and of their occurrences ``counts`` (k,) at most what leaves one for each other message.

    ``before`` (k, 2 or more) are the messages of the class that hold each token, and its occurrences.

    >>> left_of(np.array([[0, 0], [1, 2], [3, 4]]), np.array([1, 1, 9]))
    (array([1, 2]), array([2, 2]))
    """
    here = np.flatnonzero(before[:, DOCUMENTS] > 0)
    documents, occurrences = before[here, :2].T
    most = np.where(documents == 1, occurrences, occurrences - documents + 1)
    return here, np.where(documents == 1, most, np.minimum(counts[here], most))


def _identity(name: str) -> tuple[int, int] | None:
    """What tells a file from another one at the same path; None in memory, and where there is none."""
    try:
        found = os.stat(name)
    except (OSError, ValueError):
        return None
    return found.st_dev, found.st_ino
