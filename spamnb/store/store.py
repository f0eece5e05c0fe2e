"""A model as one SQLite file: the sums and what was learned; no probabilities, which are derived from them.

    meta          settings and single figures, as JSON; under "array:NAME" an array
    classes       a class's messages N_c, Σ_j N_jc, Σ_j T_jc, its histogram of the calibration, and its fitted curve
    tokens        a token's cells (rows.py), the last month in which a learned message held it, and its vector
    messages      how each message was learned, and its contribution to a correction (records.py)
    kept_lessons  messages that a person taught, whole (lessons.py)
    hard          messages that a corrected model found hard (hard_examples.py)

In memory are the classes and their sums (``State``), and the rows that were asked for (``TokenTable``). Both are read
again when another connection changed the file. A change is made in memory and written before its transaction ends.
"""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

import numpy as np

from spamnb.class_names import check_class_name
from spamnb.counts.class_counts import ClassTotals, CountedTokens, TokenCounts
from spamnb.errors import ArgumentError, Damaged, Outdated, SpamnbError
from spamnb.formulas.calibration import BINS, Calibration
from spamnb.formulas.trust import PRIOR_NOISE
from spamnb.reader.tokens import TokenArray, Vocabulary
from spamnb.store.database import APPLICATION_ID, Database
from spamnb.store.rows import DOCUMENTS, MAX_UNITS, OCCURRENCES, WEIGHT, Cells
from spamnb.store.state import HISTOGRAM, MAX_CLASSES, NO_CURVE, NOISE, SIZE, State
from spamnb.store.token_table import SharedTable, TokenTable, read_table

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

AMONG = "hash IN (SELECT value FROM json_each(?))"  # one of the hashes in a list of JSON


class Store(Database):
    """A model file, open: ``with Store.open(path) as store: store.look_up(["offer"])``."""

    _identity: tuple[int, int] | None = None  # of the open file

    def __init__(self, path: str, connection: sqlite3.Connection) -> None:
        self.table = SharedTable()  # threads that judge by the same file share one
        super().__init__(path, connection)

    # -- the file --------------------------------------------------------------------------------------------

    @classmethod
    def create(cls, path: str | Path, meta: Mapping[str, Any]) -> Self:
        """A new, empty model at ``path`` (``":memory:"`` for none), which must not exist yet."""
        if str(path) != ":memory:" and Path(path).exists():
            raise SpamnbError(f"{path}: exists already; choose another name")
        store = cls.connect(path, writable=True)
        with store._told():
            store.execute(f"PRAGMA page_size = {PAGE_BYTES}")
            store.execute("PRAGMA journal_mode = WAL")
            with store.writing():
                for statement in SCHEMA:
                    store.execute(statement)
                store.execute(f"PRAGMA application_id = {APPLICATION_ID}")
                store.execute(f"PRAGMA user_version = {FORMAT}")
                store.put_meta({**meta, SIZE: 0, NOISE: PRIOR_NOISE})
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
            raise SpamnbError(f"{path}: an empty file and no model; name another")
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

    def drop_cache(self) -> None:
        self._state: State | None = None
        self._is_written = True  # is the state that of the file?
        self._rows: TokenTable | None = None
        self._vocabulary = Vocabulary()
        self._frequencies: list[dict[int, int]] | None = None  # by class number {n: tokens that n messages hold}

    @property
    def state(self) -> State:
        """Settings, classes and sums as they are now; inside a transaction."""
        if self._state is None:
            self._state = State.read(self)
        return self._state

    def _set_state(self, state: State) -> None:
        self._state, self._is_written = state, False

    def meta(self) -> dict[str, Any]:
        """Return settings and single figures; the same object until they change."""
        with self.reading():
            return self.state.meta

    def put_meta(self, changes: Mapping[str, Any]) -> None:
        """Keep settings and single figures."""
        with self.writing():
            self.executemany(
                "INSERT INTO meta VALUES (?, ?, NULL) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
                [(key, json.dumps(value, ensure_ascii=False, sort_keys=True)) for key, value in changes.items()],
            )
            self._state = self.state.with_meta(json.loads(json.dumps(changes)))

    def class_ids(self) -> dict[str, int]:
        """Return the number of each class in the tables, in their order."""
        with self.reading():
            return self.state.class_ids

    def class_id(self, name: str) -> int:
        """Return the number of a class in the tables, a new one where there was none."""
        if name in self.state.class_ids:
            return self.state.class_ids[name]
        number = len(self.state.class_ids)
        if number >= MAX_CLASSES:
            raise SpamnbError(
                f"{self.path}: more than {MAX_CLASSES} classes; was a folder of folders given one level too high?"
            )
        try:
            check_class_name(name)
        except ValueError as error:
            raise SpamnbError(f"{self.path}: {error}") from None
        self.write_changes()
        row = number, name, np.zeros((2, BINS), HISTOGRAM).tobytes(), *NO_CURVE
        self.execute("INSERT INTO classes VALUES (?, ?, 0, 0, 0, ?, ?, ?, ?)", row)
        self._set_state(self.state.with_class(name))
        self._rows = self._frequencies = None  # they have no figures of it
        return number

    def totals(self) -> ClassTotals:
        """Return the sums over all tokens of the classes that hold a message; the same object until they change."""
        with self.reading():
            return self.state.totals

    def calibration(self) -> Calibration:
        """Return the calibration of the classes that hold a message, in the order of their names."""
        with self.reading():
            return self.state.calibration

    def count_scores(self, label: str, bins: Mapping[str, int], sign: int) -> None:
        """Add a scored message of a class to the calibration, or subtract it, by its bin of each class."""
        if bins:
            with self.writing():
                for name in bins:
                    self.class_id(name)
                self._set_state(self.state.with_scores(label, bins, sign))

    # -- tokens ----------------------------------------------------------------------------------------------

    @property
    def rows(self) -> TokenTable:
        """The rows of tokens; inside a transaction."""
        if self._rows is not None and self._rows.is_full:
            self._rows, self._vocabulary = None, Vocabulary()
        if self._rows is None:
            self._rows = TokenTable(self, len(self.state.class_ids), self._vocabulary, self.table)
        return self._rows

    @property
    def vocabulary(self) -> Vocabulary:
        """The numbers under which messages are read."""
        return self.rows.vocabulary

    def cells(self) -> tuple[np.ndarray, Cells]:
        """Return the hashes of all tokens, ascending, and their cells."""
        with self.reading():
            self.write_changes()
            return read_table(self, len(self.state.class_ids))

    def look_up(self, tokens: Sequence[str]) -> TokenCounts:
        """Return the counts of those of ``tokens`` (distinct) that the model knows."""
        with self.reading():
            rows, named = self.rows, TokenArray.of(tokens)
            places = rows.places(named, self.state)
            positions = np.flatnonzero(rows.is_held(places))
            figures = rows.figures[places[positions]].transpose(2, 1, 0)[:, self.state.present]
            documents, occurrences, weights = np.ascontiguousarray(figures)
            return TokenCounts(positions, documents, occurrences, named.groups[positions], weights)

    def add(self, label: str, message: CountedTokens, sign: int = 1) -> None:
        """Add one message's tokens (distinct) to the sums of a class, or subtract them with ``sign=-1``.

        Of a token that was pruned since, what is left is subtracted. A token that no message holds has no weight.
        """
        with self.writing():
            number, rows = self.class_id(label), self.rows
            if sign < 0 and not self.state.sums[number, 0]:
                raise SpamnbError(f"{self.path}: class {label!r} holds no message; nothing was forgotten")
            tokens, counts = TokenArray.of(message.tokens), message.counts
            places = rows.places(tokens, self.state)
            before = rows.figures[places, number]
            if sign > 0:
                rows.teach(places, tokens)
            else:
                at, counts = left_of(before, counts)
                places, before = places[at], before[at]
                rows.change(places)
            held = np.count_nonzero(rows.is_held(places))
            after = before.copy()
            after[:, DOCUMENTS] += sign
            after[:, OCCURRENCES] += sign * counts
            rows.figures[places, number] = after
            is_held = rows.is_held(places)
            rows.figures[places[~is_held]] = 0
            change = sign, sign * len(places), sign * int(counts.sum())
            self._set_state(self.state.with_sums(number, change, int(np.count_nonzero(is_held) - held)))
            if self._frequencies is not None:
                moved = self._frequencies[number]
                for n, k in zip(*(values.tolist() for values in np.unique(before[:, DOCUMENTS], return_counts=True))):
                    moved[n] = moved.get(n, 0) - k
                    moved[n + sign] = moved.get(n + sign, 0) + k

    def weights(self, hashes: np.ndarray, classes: Sequence[str]) -> np.ndarray:
        """Return the correction's weights (C, k), in units, of the tokens with these hashes in these classes."""
        with self.reading():
            places, ids = self.rows.places_of_hashes(hashes, self.state), [self.state.class_ids[c] for c in classes]
            return np.ascontiguousarray(self.rows.figures[places[:, None], ids, WEIGHT].T)

    def add_weights(self, hashes: np.ndarray, units: Mapping[str, int]) -> None:
        """Add so many units, by class, to the weight of each token with one of these hashes, which are distinct.

        Tokens that no message holds stay without a weight."""
        changes = {self.class_ids()[name]: n for name, n in units.items() if n}
        if not changes or not len(hashes):
            return
        with self.writing():
            rows = self.rows
            places = rows.places_of_hashes(hashes, self.state)
            places = places[rows.is_held(places)]
            weights = rows.figures[places[:, None], [*changes], WEIGHT] + [*changes.values()]
            if np.abs(weights).max(initial=0) > MAX_UNITS:
                raise SpamnbError(f"{self.path}: a token's weight is larger than a model file holds")
            rows.change(places)
            rows.figures[places[:, None], [*changes], WEIGHT] = weights

    def frequencies(self) -> list[dict[int, int]]:
        """Return per class {n: number of tokens that exactly n of its messages hold}. The first time reads all rows."""
        with self.reading():
            state = self.state
            if self._frequencies is None:
                counts = self.cells()[1].counts(list(state.class_ids), state.sums[:, 0], state.meta[SIZE])
                if not np.array_equal(counts.totals().document_counts, state.sums[np.argsort([*state.class_ids]), 1]):
                    raise Damaged("sums of tokens that are not those of classes")
                of_name = dict(zip(counts.classes, counts.rows))
                self._frequencies = [of_name[name].frequencies() for name in state.class_ids]
            found = [{n: k for n, k in self._frequencies[c].items() if n and k} for c in state.present.tolist()]
            return [{0: state.meta[SIZE] - sum(of.values()), **of} for of in found]

    def write_changes(self) -> None:
        """Write the rows and sums that were changed in memory; inside a transaction."""
        if self._state is not None and not self._is_written:
            self._state.write(self)
            self._is_written = True
        if self._rows is not None:
            self._rows.write()

    def recalibrate(self) -> None:
        """Fit the calibration to the sums that the file has, and write it."""
        with self.writing():
            self.write_changes()
            self.drop_cache()
            self._set_state(replace(self.state, curves=None))
            self.write_changes()


def left_of(before: np.ndarray, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return what of a message can be subtracted: the places of those of its tokens (k,) that are still there, and of
    their occurrences ``counts`` (k,) at most what leaves one for each other message. Others may have been pruned.

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
