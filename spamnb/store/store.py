"""A model as one SQLite file: sums and lessons. Probabilities are not stored but computed from the sums.

    meta          settings and single figures, as JSON; under "array:NAME" an array
    classes       a class's messages N_c, Σ_j N_jc, Σ_j T_jc, its histogram of the calibration, and its fitted curve
    tokens        buckets of tokens with their figures (buckets.py)
    messages      how each message was learned, and its contribution to a correction (messages.py)
    kept_lessons  lessons, whole (lessons.py)
    examples      messages that lessons fit again (examples.py), with weights that the buckets lack (pending.py)

The classes and their sums (``Model``) and the rows that were looked up (``TokenTable``) stay in memory. Both are read
again when another connection changes the file. A change is made in memory and written before its transaction ends.

A user's file may name a shared model, to which it adds. Then ``model``, ``look_up`` and ``sums`` return the sum
of both. All lessons are written into the user's file; the shared model is only read.
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
from spamnb.core.buckets import VECTOR
from spamnb.core.curve import BINS
from spamnb.errors import Damaged, Outdated, SpamnbError
from spamnb.model.class_counts import DOCUMENTS, WEIGHT, Cells
from spamnb.model.delta import Examples, MessageRecord, Sums, units_by_class
from spamnb.model.model import HISTOGRAM, NO_CURVE, NO_TYPICALITY, NOISE, SHARED, SIZE, Model
from spamnb.model.trust import PRIOR_NOISE
from spamnb.reader.evidence import N_WORD_GROUPS
from spamnb.reader.rows import Rows
from spamnb.reader.tokens import TokenArray, Vocabulary
from spamnb.settings import TOKEN_SETTINGS, UPGRADE
from spamnb.shown_text import escape
from spamnb.store.arrays import ARRAY
from spamnb.store.buckets import TABLE, Block, read_all_figures, read_tokens, read_vectors
from spamnb.store.classes import MAX_CLASSES, check_model, read_model, update_model
from spamnb.store.database import APPLICATION_ID, Database, identify_file
from spamnb.store.pending import Pending, read_pending
from spamnb.store.token_table import TokenTable

FORMAT = 14  # raised when the tables change, and when the same sums give other scores
OLD_FORMATS = 9, 13  # which ``upgrade`` trains again (old_models.py)
PAGE_BYTES = 1024  # learning a message writes some 350 pages of any size; with 4,096 bytes it takes 1.5 times as long
CLASSES = (
    "CREATE TABLE classes (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, documents INTEGER NOT NULL,"
    " document_counts INTEGER NOT NULL, occurrences INTEGER NOT NULL, calibration BLOB NOT NULL,"
    " typicality BLOB NOT NULL, unscored INTEGER NOT NULL, slope REAL NOT NULL, intercept REAL NOT NULL,"
    " knee REAL NOT NULL)"
)
EXAMPLES = (
    "CREATE TABLE examples (number INTEGER PRIMARY KEY, digest BLOB UNIQUE, class INTEGER NOT NULL,"
    " pending TEXT, groups BLOB NOT NULL, hashes BLOB NOT NULL)"
)
SCHEMA = (
    "CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL, content BLOB) WITHOUT ROWID",
    CLASSES,
    TABLE,
    "CREATE TABLE messages (digest BLOB PRIMARY KEY, class INTEGER NOT NULL, facts TEXT) WITHOUT ROWID",
    "CREATE TABLE kept_lessons (position INTEGER PRIMARY KEY, digest BLOB NOT NULL UNIQUE, class INTEGER NOT NULL,"
    " taught_at INTEGER NOT NULL, message BLOB NOT NULL)",
    EXAMPLES,
)

# Keys of meta whose values a user's file and the shared model have in common.
EQUAL_KEYS = "model_type", *TOKEN_SETTINGS, "tokens_version"
# Models that can be shared. A bernoulli model cannot, because the numbers of tokens in n messages do not add up.
SHARED_MODELS = "corrected", "boolean", "multinomial"
MAX_VOCABULARY = 200_000  # tokens that are numbered before a new vocabulary begins, because hostile mail has new words


class Store(Database):
    """An open model file: ``with Store.open(path) as store: store.look_up(["offer"])``."""

    shared: Store | None = None  # the shared model that this file adds to
    _identity: tuple[int, int] | None = None  # of the open file
    _closes_shared = False
    _has_deleted = False  # whether this transaction forgot a message

    def __init__(self, path: str, connection: sqlite3.Connection) -> None:
        self._vocabulary = Vocabulary()
        super().__init__(path, connection)

    # -- the file --------------------------------------------------------------------------------------------

    @classmethod
    def create(cls, path: str | Path, meta: Mapping[str, Any]) -> Self:
        """Create an empty model at ``path``, which must not exist yet; ``":memory:"`` makes one without a file."""
        if str(path) != ":memory:" and Path(path).exists():
            raise SpamnbError(f"{path}: exists already; choose another name")
        store = cls.connect(path, writable=True)
        with store._translate_errors():
            store.execute(f"PRAGMA page_size = {PAGE_BYTES}")
            store.use_log()
            with store.writing():
                for statement in SCHEMA:
                    store.execute(statement)
                store.execute(f"PRAGMA application_id = {APPLICATION_ID}")
                store.execute(f"PRAGMA user_version = {FORMAT}")
                store.put_meta({**meta, SIZE: 0, NOISE: PRIOR_NOISE})
        store._attach()
        return store

    @classmethod
    def open(cls, path: str | Path, *, writable: bool = False, shared: Store | None = None) -> Self:
        """Open the model at ``path``, and add it to the open ``shared`` model, or to the one that the file names.

        Raise SpamnbError, one line, if there is no file or if it is not a model.
        """
        if not Path(path).is_file():
            problem = "a folder, and no model there" if Path(path).is_dir() else "no model there"
            raise SpamnbError(f"{path}: {problem}; name another file, or make one with 'spamnb train'")
        if not Path(path).stat().st_size:
            raise SpamnbError(f"{path}: an empty file and no model; name another")
        store = cls.connect(path, writable=writable)
        try:
            store._check_format()
            store._attach(shared)
        except BaseException:
            store.close()
            raise
        return store

    def _attach(self, shared: Store | None = None) -> None:
        """Add this file to the open ``shared`` model, or to the one that the file names."""
        with self.reading():
            path = self.own.meta.get(SHARED)
        if shared is None and path is not None:
            if type(path) is not str:
                raise SpamnbError(f"{self.path}: {SHARED} in table meta is no path; name another file")
            shared, self._closes_shared = Store.open(self._find_shared(path)), True
        self.shared = shared
        if shared is not None and shared.shared is not None:
            raise SpamnbError(f"{self.path}: adds to {shared.path}, which adds to another model itself")

    def _find_shared(self, name: str) -> Path:
        """Return the path of the shared model. A starter is named relative to this file, and made if it is missing."""
        path = Path(self.file).parent / name
        if not path.is_file():
            from spamnb.store.starter import NAME, write_starter

            if os.path.isabs(name) or path.name != NAME:
                raise SpamnbError(f"{self.path}: adds to {escape(name)}, where no model is; restore that model")
            write_starter(path)
        return path

    def addition(self, target: Path) -> dict[str, Any]:
        """Return the settings of a new file at ``target`` that adds to this shared model."""
        with self.reading():
            if self.shared is not None:
                raise SpamnbError(f"{self.path}: adds to {self.shared.path} itself, so nothing can be added to it")
            self._check_is_sum()
            path = os.path.abspath(self.file)
            if self.own.is_starter:  # so that both files can be moved
                path = os.path.relpath(path, os.path.abspath(target.parent))
            path = path.encode(errors="surrogateescape").decode(errors="backslashreplace")
            return {SHARED: path, **{key: self.own.meta.get(key) for key in EQUAL_KEYS}}

    def _check_is_sum(self) -> None:
        """Raise SpamnbError if this model cannot be a shared model."""
        model_type = self.own.meta.get("model_type")
        if model_type not in SHARED_MODELS:
            raise SpamnbError(f"{self.path}: nothing can be added to a {model_type} model")

    def close(self) -> None:
        """Close the file, and the shared model if the file named it. Nothing that was read stays in memory."""
        super().close()
        self.drop_cache()  # its rows refer to this store, and the collector of cycles may not run for a long time
        self._vocabulary = Vocabulary()
        if self._closes_shared and self.shared is not None:
            self.shared.close()

    def _check_format(self) -> None:
        """Raise SpamnbError if the file is not a model, Outdated if it is of an older format."""
        version = self.read_format()
        with self._translate_errors():
            if version > FORMAT:
                raise SpamnbError(
                    f"{self.path}: made by a newer spamnb (format {version}, this one reads {FORMAT}); upgrade spamnb"
                )
            if version < FORMAT:
                command = "upgrade' trains it again" if version in OLD_FORMATS else "train --force' replaces it"
                raise Outdated(
                    f"{self.path}: made by an older spamnb (format {version}), and cannot be read; 'spamnb {command}"
                )
            # A view, trigger, index, generated column or constraint of a hostile file could compute without end.
            statements = self.execute("SELECT sql FROM sqlite_schema WHERE sql NOT NULL").fetchall()
            if {statement for (statement,) in statements} != {*SCHEMA}:
                raise Damaged("other tables, views, triggers or indexes than a model's")

    def read_format(self) -> int:
        """Return the number of the file's format; raise SpamnbError if the file is not a model."""
        with self._translate_errors():
            if self.execute("PRAGMA application_id").fetchone()[0] != APPLICATION_ID:
                raise SpamnbError(f"{self.path}: not a spamnb model (another program's database)")
            return self.execute("PRAGMA user_version").fetchone()[0]

    @contextlib.contextmanager
    def _transaction(self, begin: str) -> Iterator[None]:
        self._reopen_if_replaced(begin != "BEGIN")
        shared = contextlib.nullcontext() if self.shared is None else self.shared.reading()
        self._has_deleted = False
        with shared, super()._transaction(begin):
            yield
            self.write_changes()
        if begin != "BEGIN" and identify_file(self.file) != self._identity:
            raise SpamnbError(f"{self.path}: another file took its place while it was being changed; try again")
        if self._has_deleted:
            self.empty_log()  # it has the words of a message that was forgotten

    def _reopen_if_replaced(self, is_writing: bool) -> None:
        """Open the file at the path again if another file has taken its place.

        Otherwise, after somebody removed the model and trained a new one at this path, messages would be learned in the
        removed file. Files are told apart by their numbers on the disk.
        """
        identity = identify_file(self.file)
        if self._identity is None:  # the first transaction
            self._identity = identity
        if identity == self._identity:
            return
        try:
            with self._translate_errors():
                writable = not self.execute("PRAGMA query_only").fetchone()[0]
            fresh = type(self).open(self.file, writable=writable, shared=self.shared)
        except SpamnbError:
            if is_writing:
                raise
            return  # a reader continues with the open model, because mail waits for its verdict
        self._connection.close()
        self._connection, self._identity, self._data_version = fresh._connection, identity, None
        self.drop_cache()

    # -- settings and classes --------------------------------------------------------------------------------

    def drop_cache(self) -> None:
        """Drop all that was read from the file."""
        self._own: Model | None = None
        self._sum: tuple[Model, Model, Model] | None = None  # of the file, of the shared model, and their sum
        self._is_written = True  # whether the file has all of ``own``
        self._rows: TokenTable | None = None
        self._frequencies: list[dict[int, int]] | None = None  # by class number: {n: tokens in exactly n messages}
        self.examples: Examples | None = None  # which lessons fit again (examples.py)
        self.drop_pending()

    def drop_pending(self) -> None:
        """Drop the sums of pending units, because some were changed."""
        self._pending: Pending | None = None

    @property
    def own(self) -> Model:
        """What this file knows without the shared model; the same object until it changes."""
        with self.reading():
            if self._own is None:
                self._own = read_model(self)
            return self._own

    @property
    def model(self) -> Model:
        """What this file and the shared model know together; the same object until one of them changes."""
        if self.shared is None:
            return self.own
        with self.reading():
            own, shared = self.own, self.shared.own
            if self._sum is None or self._sum[0] is not own or self._sum[1] is not shared:
                self.shared._check_is_sum()
                if not self.adds_up:
                    problem = f"its shared model, {self.shared.path}, has other tokens or another model type"
                    raise SpamnbError(f"{self.path}: {problem}; {UPGRADE}")
                self._sum = own, shared, own.plus(shared)
            return self._sum[2]

    def count_messages(self) -> dict[str, int]:
        """Return the messages of each class in this file and in the shared model. Each counts once."""
        both = self.own if self.shared is None else self.shared.own.add(self.own)
        return both.totals.messages

    @property
    def adds_up(self) -> bool:
        """Whether this file and the shared model have the same model type and kind of tokens; inside a transaction."""
        meta = self.own.meta
        shared_meta = self.shared.own.meta if self.shared is not None else meta
        return all(meta.get(key) == shared_meta.get(key) for key in EQUAL_KEYS)

    def _change(self, own: Model) -> None:
        self._own, self._is_written = own, False

    def put_model(self, model: Model) -> None:
        """Write a model without its tokens into this new, empty file. Check its figures, and fit its curves."""
        with self.writing():
            for name in model.class_ids:
                self.class_id(name)
            self.put_meta({**model.meta, NOISE: PRIOR_NOISE})
            self.put_arrays(model.arrays)
            self._change(replace(model, meta=self.own.meta, arrays=self.own.arrays, curves=None))
            check_model(self.own)

    def put_meta(self, changes: Mapping[str, Any]) -> None:
        """Write settings and single figures."""
        with self.writing():
            self.executemany(
                "INSERT INTO meta VALUES (?, ?, NULL) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
                [(key, json.dumps(value, ensure_ascii=False, sort_keys=True)) for key, value in changes.items()],
            )
            meta = {**self.own.meta, **json.loads(json.dumps(changes))}
            self._own = replace(self.own, meta=meta)

    def put_arrays(self, arrays: Mapping[str, np.ndarray]) -> None:
        """Write arrays of numbers (never of objects) by name."""
        with self.writing():
            rows = ((ARRAY + name, json.dumps([a.dtype.str, a.shape]), a.tobytes()) for name, a in arrays.items())
            self.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?, ?)", rows)
            self._own = replace(self.own, arrays={**self.own.arrays, **arrays})

    def class_id(self, name: str) -> int:
        """Return the number of a class in the tables; a new class gets the next number."""
        if name in self.own.class_ids:
            return self.own.class_ids[name]
        number = len(self.own.class_ids)
        if number >= MAX_CLASSES:
            raise SpamnbError(
                f"{self.path}: more than {MAX_CLASSES} classes; was a folder of folders given one level too high?"
            )
        try:
            check_class_name(name)
        except ValueError as error:
            raise SpamnbError(f"{self.path}: {error}") from None
        self.write_changes()
        row = number, name, np.zeros((2, BINS), HISTOGRAM).tobytes(), NO_TYPICALITY.tobytes(), *NO_CURVE
        self.execute("INSERT INTO classes VALUES (?, ?, 0, 0, 0, ?, ?, 0, ?, ?, ?)", row)
        self._change(self.own.with_class(name))
        self._rows = self._frequencies = self._pending = None  # they lack the new class
        return number

    @property
    def starter(self) -> Store | None:
        """The starter that this file adds to; None if it adds to none; inside a transaction."""
        return self.shared if self.shared is not None and self.shared.own.is_starter else None

    def count_beside_starter(self) -> int | None:
        """Return the number of messages of this file if it adds to a starter; None if it does not."""
        with self.reading():
            return self.own.n_messages if self.starter is not None else None

    def count_scores(self, scored: Sequence[MessageRecord], sign: int) -> None:
        """Add messages to the sums of scored messages, or subtract them."""
        if scored:
            with self.writing():
                for name in sorted({name for each in scored for name in (each.label, *each.bins)}):
                    self.class_id(name)
                self._change(self.own.with_scores(scored, sign))

    # -- tokens ----------------------------------------------------------------------------------------------

    @property
    def vocabulary(self) -> Vocabulary:
        """The vocabulary that numbers the tokens of the messages that are read."""
        if len(self._vocabulary) > MAX_VOCABULARY:
            self._vocabulary = Vocabulary()
        return self._vocabulary

    @property
    def n_cached_tokens(self) -> int:
        """Tokens in memory: those that messages had, and those whose rows were read. Each takes 100 to 300 bytes."""
        return len(self._vocabulary) + (len(self._rows) if self._rows is not None else 0)

    def _open_rows(self) -> TokenTable:
        """Return the rows of tokens that are in memory; inside a transaction."""
        if self._rows is None or self._rows.is_full:
            self._rows = TokenTable(self, len(self.own.class_ids))
        return self._rows

    def _read_pending(self) -> Pending:
        """Return the weights that buckets lack; inside a transaction."""
        if self._pending is None:
            examples = read_pending(self, self.own.class_ids) if self.examples is None else self.examples
            self._pending = Pending.of(examples, self.own.class_ids)
        return self._pending

    def block(self) -> Block:
        """Return all tokens, ascending by hash, with their cells and vectors."""
        with self.reading():
            self.write_changes()
            classes, dimensions = len(self.own.class_ids), self.own.dimensions
            tokens, cells, vectors = [], [], [np.zeros((0, dimensions), VECTOR)]
            for part, figures, part_vectors in read_tokens(self, classes, dimensions):
                self._read_pending().add_to(figures, part.hashes)
                tokens.append(part)
                cells.append((len(part), Cells.of_table(figures)))
                vectors.append(part_vectors)
            return Block(TokenArray.concat(tokens), Cells.concat(cells), np.concatenate(vectors))

    def look_up(self, tokens: Sequence[str]) -> Sums:
        """Return the sums by which a message with these ``tokens``, which are distinct, is scored.

        The shared model, if there is one, says how typical a message is. The few messages of one's own move the
        typicality of all mail from one lesson to the next, so that it could not be compared with that of known mail.
        """
        with self.reading():
            array = TokenArray.of(tokens)
            sums = self.sums(array.hashes)
            if sums.reference is not None and self.own.is_one_sided:
                is_own = ~sums.reference.document_counts.any(axis=1)
                sums.figures[is_own & (array.groups >= N_WORD_GROUPS)] = 0
            return sums

    def sums(self, hashes: np.ndarray) -> Sums:
        """Return the figures of the tokens with these hashes, which are distinct."""
        with self.reading():
            totals = self.model.totals
            figures = self._read_figures(totals.classes, hashes)
            if self.shared is None:
                vectors = self.vectors(hashes) if self.own.has_vectors else np.zeros((0, 0))
                frequencies = self.frequencies() if self.own.meta.get("model_type") == "bernoulli" else ()
                return Sums(totals, hashes, figures, vectors, frequencies)
            shared = Sums(
                self.shared.own.totals_of(totals.classes), hashes, self.shared._read_figures(totals.classes, hashes)
            )
            figures[:, :, :WEIGHT] *= self.model.lesson_weight
            return Sums(totals, hashes, figures + shared.figures, reference=shared)

    def vectors(self, hashes: np.ndarray) -> np.ndarray:
        """Return the vectors (k, d) of the tokens with these hashes; zeros for a token without one."""
        with self.reading():
            order, classes, dimensions = np.argsort(hashes), len(self.own.class_ids), self.own.dimensions
            vectors = np.empty((len(hashes), dimensions), VECTOR)
            vectors[order] = read_vectors(self, classes, dimensions, hashes[order], self.own.meta[SIZE])
            return vectors

    def _read_figures(self, classes: Sequence[str], hashes: np.ndarray) -> np.ndarray:
        """Return the figures (k, C, 3) of tokens in these classes, in this file alone."""
        rows, numbers = self._open_rows(), self.own.class_ids
        places = rows.find_places(hashes, self.own)
        table = rows.figures.take(places, axis=0)
        self._read_pending().add_to(table, hashes)
        figures, present = np.zeros((len(places), len(classes), 3), np.int64), [name in numbers for name in classes]
        figures[:, present] = table[:, [numbers[name] for name in classes if name in numbers]]
        return figures

    def add(self, messages: Sequence[Rows], records: Sequence[MessageRecord], sign: int = 1) -> None:
        """Add messages to the sums of their classes, with their contributions; or subtract them with ``sign=-1``.

        Of a token that the class has less often than the message, as much as the class has is subtracted. The weight of
        a token that no message has becomes 0.
        """
        with self.writing():
            for name in sorted({name for each in records for name in (each.label, *each.contribution)}):
                self.class_id(name)
            numbers, rows = self.own.class_ids, self._open_rows()
            labels = np.array([numbers[each.label] for each in records], np.intp)
            if sign < 0 and not self.own.sums[labels, 0].all():
                raise SpamnbError(f"{self.path}: class {records[0].label!r} has no message; nothing was forgotten")
            self._has_deleted |= sign < 0
            units = units_by_class([each.contribution for each in records], numbers)
            message = np.repeat(np.arange(len(messages)), [len(each.tokens) for each in messages])
            tokens = TokenArray.concat([each.tokens for each in messages])
            counts = np.concatenate([np.zeros(0, np.int64), *(each.counts for each in messages)])
            old, new = rows.add(tokens, labels[message], counts, units[message], sign, self.own)
            documents = sign * np.bincount(labels, minlength=len(numbers))
            by_class = (new - old)[:, :, :WEIGHT].sum(axis=0)
            n_old, n_new = (int(np.any(each[:, :, DOCUMENTS], axis=1).sum()) for each in (old, new))
            self._change(self.own.with_sums(np.column_stack([documents, by_class]), n_new - n_old))
            self._change_frequencies(old[:, :, DOCUMENTS], new[:, :, DOCUMENTS])

    def _change_frequencies(self, old: np.ndarray, new: np.ndarray) -> None:
        """Note that tokens, which ``old`` (k, C) messages of each class had, are in ``new`` messages."""
        if self._frequencies is not None:
            for frequencies, before, after in zip(self._frequencies, old.T, new.T):
                for values, step in ((before, -1), (after, 1)):
                    for n, k in zip(*(each.tolist() for each in np.unique(values, return_counts=True))):
                        frequencies[n] = frequencies.get(n, 0) + step * k

    def add_weights(self, hashes: np.ndarray, units: Mapping[str, int]) -> None:
        """Add ``units``, by class, to the weights of the tokens with these distinct hashes.

        The weight of a token that no message has remains 0.
        """
        if not any(units.values()) or not len(hashes):
            return
        with self.writing():
            for name in units:
                self.class_id(name)
            self._open_rows().add_weights(hashes, units_by_class([units], self.own.class_ids)[0], self.own)

    def frequencies(self) -> list[dict[int, int]]:
        """Return per class {n: number of tokens that exactly n of its messages have}. The first call reads all rows."""
        with self.reading():
            own = self.own
            if self._frequencies is None:
                self.write_changes()
                parts = read_all_figures(self, len(own.sums))
                cells = Cells.concat([(len(hashes), Cells.of_table(figures)) for hashes, figures in parts])
                if not np.array_equal(cells.sums(DOCUMENTS, cells.label, len(own.sums)), own.sums[:, 1]):
                    raise Damaged("sums of tokens that differ from the sums in table classes")
                self._frequencies = cells.frequencies(len(own.sums))
            by_class = [
                {n: k for n, k in self._frequencies[c].items() if n and k} for c in own.nonempty_classes.tolist()
            ]
            return [{0: own.meta[SIZE] - sum(numbers.values()), **numbers} for numbers in by_class]

    def write_changes(self) -> None:
        """Write the rows and sums that were changed in memory; inside a transaction."""
        if self._own is not None and not self._is_written:
            update_model(self, self._own)
            self._is_written = True
        if self._rows is not None:
            self._rows.write_changes(self.own)

    def recalibrate(self) -> None:
        """Let the curves be fitted again when the transaction ends."""
        with self.writing():
            self._change(replace(self.own, curves=None))
