"""All that a model file holds beside its sums: the tables, settings, what was learned, histograms, arrays, vectors."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np

from spamnb.errors import Damaged, SpamnbError
from spamnb.formulas.calibration import BINS
from spamnb.naming import check_class_name
from spamnb.store.arrays import VECTOR, array_of, vectors_of
from spamnb.store.database import (
    APPLICATION_ID,
    FORMAT,
    FORMAT_OF_TRAINING,
    Database,
    checked_rows,
    int_between,
    is_class_name,
    is_text,
    parse_json,
)
from spamnb.store.learned import LESSONS, MESSAGES, LearnedMessage, messages_rows, read_lessons, read_messages
from spamnb.store.pages import MAX_COUNT
from spamnb.store.schema import CHANGES, CORRECTION, KEPT_LESSONS, NOTHING_MERGED, SCHEMA

MAX_LESSONS = 10_000  # some 4 kB each
MAX_CLASSES = 900  # two columns a class in one row of ``learned``; SQLite allows 2,000


def _identity(name: str) -> tuple[int, int] | None:
    """What tells a file from another one at the same path; None in memory, and where there is none."""
    try:
        found = os.stat(name)
    except (OSError, ValueError):
        return None
    return found.st_dev, found.st_ino


class ModelTables(Database):
    """A model file, open; ``store.Store`` adds the sums."""

    _identity: tuple[int, int] | None = None  # of the open file

    @classmethod
    def create(cls, path: str | Path, meta: Mapping[str, Any]) -> Self:
        """A new, empty model at ``path`` (``":memory:"`` for none), which must not exist yet."""
        if str(path) != ":memory:" and Path(path).exists():
            raise SpamnbError(f"{path}: exists already; choose another name or remove it")
        if str(path) != ":memory:":  # it will hold words of private mail; SQLite gives its log the same mode
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        store = cls.connect(path, writable=True)
        with store._told():
            store.execute("PRAGMA journal_mode = WAL")
            with store.writing():
                corrected = meta.get("model_type") == "corrected"
                for statement in (*SCHEMA.split(";\n"), *(CORRECTION if corrected else ())):
                    store.execute(statement)
                if corrected:
                    store.execute(NOTHING_MERGED)
                store.execute(f"PRAGMA application_id = {APPLICATION_ID}")
                store.execute(f"PRAGMA user_version = {FORMAT if corrected else FORMAT_OF_TRAINING}")
                store.put_meta({**meta, "vocabulary_size": 0})
        return store

    @classmethod
    def open(cls, path: str | Path, *, writable: bool = False) -> Self:
        """The model at ``path``; one clear line when there is none, or when it is something else."""
        refuse_server(path)
        if not Path(path).is_file():
            what = "a folder, and no model there" if Path(path).is_dir() else "no model there"
            raise SpamnbError(f"{path}: {what}; 'spamnb train' makes one, --model names another")
        if not Path(path).stat().st_size:
            raise SpamnbError(f"{path}: an empty file and no model; remove it, 'spamnb train' makes one")
        store = cls.connect(path, writable=writable)
        try:
            store._check()
        except BaseException:
            store.close()
            raise
        return store

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
            if identity is None:
                raise SpamnbError(f"{self.path}: the file is gone, so nothing can be learned; {self.REMEDY}")
            self._go_over(identity)
        except SpamnbError:
            if writing:  # what only reads goes on with the model that is open: mail is waiting
                raise

    def _check_written(self) -> None:
        if _identity(self.file) != self._identity:
            raise SpamnbError(f"{self.path}: another file took its place while it was being changed; try again")

    def _go_over(self, identity: tuple[int, int]) -> None:
        """Open the file at the path; SpamnbError where it is no model, and then all stays as it was."""
        writable = not self._connection.execute("PRAGMA query_only").fetchone()[0]
        connection = self._connect(self.file, writable)
        before = self._connection, self._identity, self._data_version
        self._connection, self._identity, self._data_version = connection, identity, None
        self._drop_cache()
        try:
            self._check()
        except BaseException:
            connection.close()
            self._connection, self._identity, self._data_version = before
            self._drop_cache()
            raise
        before[0].close()

    def _check(self) -> None:
        self._check_format()
        self._check_tables()
        self.meta()

    def _check_tables(self) -> None:
        """Our tables and nothing else: what a view, a trigger or an index of somebody else's computes may never end."""
        with self._told():
            found = [sql for (sql,) in self.execute("SELECT sql FROM sqlite_schema WHERE sql NOT NULL")]
            classes = sum(str(sql).count(" documents_") for sql in found)
            added = "".join(f", {column} INTEGER NOT NULL DEFAULT 0" for column in _columns_of_learned(classes)[2:])
            ours = SCHEMA.strip().replace("token TEXT NOT NULL)", f"token TEXT NOT NULL{added})").split(";\n")
            ours += [KEPT_LESSONS] if KEPT_LESSONS in found else []
            ours += CHANGES if CHANGES[0] in found else ()
            ours += CORRECTION if CORRECTION[0] in found else ()
            if sorted(map(str, found)) != sorted(statement.rstrip(";") for statement in ours):
                raise Damaged("other tables, views, triggers or indexes than a model's")

    def _drop_cache(self) -> None:
        self._meta: dict[str, Any] | None = None
        self._arrays: dict[str, np.ndarray] | None = None
        self._class_ids: dict[str, int] | None = None
        self._cells: dict[tuple[str, int, int], int] | None = None

    def meta(self) -> dict[str, Any]:
        """Settings and single figures."""
        with self.reading():
            if self._meta is None:
                rows = checked_rows("meta", self.execute("SELECT key, value FROM meta"), key=is_text)
                self._meta = {key: parse_json("meta", key, value) for key, value in rows}
            return self._meta

    def put_meta(self, changes: Mapping[str, Any]) -> None:
        with self.writing():
            self.executemany(
                "INSERT INTO meta VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
                [(key, json.dumps(value, ensure_ascii=False, sort_keys=True)) for key, value in changes.items()],
            )
            if self._meta is not None:
                self._meta = {**self._meta, **json.loads(json.dumps(changes))}

    def class_ids(self) -> dict[str, int]:
        """The number of each class in the tables, in their order."""
        with self.reading():
            if self._class_ids is None:
                rows = self.execute("SELECT name, id FROM classes ORDER BY id")
                found = checked_rows("classes", rows, name=is_class_name)
                columns = [row[0] for row in self.execute("SELECT name FROM pragma_table_info('learned')")]
                numbered = [number for _, number in found] == list(range(len(found)))
                if not numbered or columns != _columns_of_learned(len(found)):
                    raise Damaged("classes and the columns of table learned do not belong together")
                self._class_ids = dict(found)
            return self._class_ids

    def class_id(self, name: str) -> int:
        """The number of a class in the tables, a new one where there was none."""
        known = self.class_ids()
        if name in known:
            return known[name]
        number = len(known)
        if number >= MAX_CLASSES:
            raise SpamnbError(
                f"{self.path}: more than {MAX_CLASSES} classes; was a folder of folders given one level too high?"
            )
        try:
            check_class_name(name)
        except ValueError as error:
            raise SpamnbError(f"{self.path}: {error}") from None
        self._before_commit()
        self.execute("INSERT INTO classes (id, name) VALUES (?, ?)", (number, name))
        for column in _columns_of_learned(number + 1)[-2:]:
            self.execute(f"ALTER TABLE learned ADD COLUMN {column} INTEGER NOT NULL DEFAULT 0")
        self._drop_cache()
        return number

    # -- what was learned ------------------------------------------------------------------------------------

    def learned(self, digest: bytes) -> LearnedMessage | None:
        """How a message was learned, by its digest; None if it was not."""
        with self.reading():
            found = self.execute(f"{MESSAGES} WHERE digest = ?", (digest,))
            return next((known for _, known in read_messages(found)), None)

    def messages(self) -> list[tuple[bytes, LearnedMessage]]:
        """(digest, how it was learned) of all messages, ascending by digest."""
        with self.reading():
            return read_messages(self.execute(f"{MESSAGES} ORDER BY digest"))

    def add_messages(self, messages: Iterable[tuple[bytes, LearnedMessage]]) -> None:
        """These were learned, by digest."""
        with self.writing():
            ids = self.class_ids()
            self.executemany(
                "INSERT INTO messages VALUES (?, ?, ?, ?) ON CONFLICT (digest) DO UPDATE"
                " SET class = excluded.class, taught = excluded.taught, bins = excluded.bins",
                messages_rows(messages, ids),
            )

    def delete_message(self, digest: bytes) -> None:
        with self.writing():
            self.execute("DELETE FROM messages WHERE digest = ?", (digest,))
            self.execute("DELETE FROM lessons WHERE digest = ?", (digest,))

    def autolearned_message(self, identity: bytes) -> tuple[bytes, dict[str, int]] | None:
        """Digest and tokens of the copy of a message that the filter learned by itself; None where it did not."""
        with self.reading():
            found = self.execute(f"{LESSONS} WHERE identity = ?", (identity,))
            return next((lesson[1:] for lesson in read_lessons(found)), None)

    def autolearned_messages(self) -> list[tuple[bytes, bytes, dict[str, int]]]:
        """(identity, digest, tokens) of all of them, the oldest first."""
        with self.reading():
            return read_lessons(self.execute(f"{LESSONS} ORDER BY sequence"))

    def put_autolearned_message(self, identity: bytes, digest: bytes, counted: Mapping[str, int]) -> None:
        """Keep what the filter learns by itself, and let go of the oldest of many."""
        with self.writing():
            tokens = json.dumps(dict(sorted(counted.items())), ensure_ascii=False)
            self.execute("DELETE FROM lessons WHERE identity = ? OR digest = ?", (identity, digest))
            self.execute(
                "INSERT INTO lessons (identity, digest, tokens) VALUES (?, ?, ?)", (identity, digest, tokens)
            )
            oldest = "SELECT max(sequence) - ? FROM lessons"
            self.execute(f"DELETE FROM lessons WHERE sequence <= ({oldest})", (MAX_LESSONS,))  # noqa: S608

    # -- histograms and arrays -------------------------------------------------------------------------------

    def calibration(self) -> list[tuple[str, int, int, int]]:
        """The histogram's cells: (class, 1 for its own messages or 0 for others', bin, messages)."""
        with self.reading():
            if self._cells is None:
                names = list(self.class_ids())
                rows = self.execute("SELECT class, own, bin, messages FROM calibration")
                cell = {"class": int_between(len(names) - 1), "own": int_between(1), "bin": int_between(BINS - 1)}
                # Below 0: a message of training was taken away with another score than it was added with.
                found = checked_rows("calibration", rows, **cell, messages=int_between(MAX_COUNT, -MAX_COUNT))
                self._cells = {(names[number], own, bin_): messages for number, own, bin_, messages in found}
            return [(*cell, messages) for cell, messages in self._cells.items() if messages]

    def add_calibration(self, cells: Iterable[tuple[str, int, int, int]]) -> None:
        with self.writing():
            cells = list(cells)
            self.executemany(
                "INSERT INTO calibration VALUES (?, ?, ?, ?)"
                " ON CONFLICT (class, own, bin) DO UPDATE SET messages = calibration.messages + excluded.messages",
                [(self.class_id(name), own, bin_, messages) for name, own, bin_, messages in cells],
            )
            if any(messages < 0 for *_, messages in cells):
                self.execute("DELETE FROM calibration WHERE messages = 0")
            if self._cells is not None:
                for name, own, bin_, messages in cells:
                    self._cells[name, own, bin_] = self._cells.get((name, own, bin_), 0) + messages

    def arrays(self) -> dict[str, np.ndarray]:
        """All arrays by name, read-only; the same object until one of them changes."""
        with self.reading():
            if self._arrays is None:
                rows = self.execute("SELECT name, dtype, shape, content FROM arrays ORDER BY name")
                found = checked_rows("arrays", rows, name=is_text, dtype=is_text, shape=is_text)
                self._arrays = {name: array_of(name, *stored) for name, *stored in found}
            return self._arrays

    def put_arrays(self, arrays: Mapping[str, np.ndarray]) -> None:
        """Keep arrays of numbers (never of objects) under their names."""
        with self.writing():
            rows = ((name, a.dtype.str, json.dumps(a.shape), a.tobytes()) for name, a in arrays.items())
            self.executemany(
                "INSERT INTO arrays VALUES (?, ?, ?, ?) ON CONFLICT (name) DO UPDATE"
                " SET dtype = excluded.dtype, shape = excluded.shape, content = excluded.content",
                rows,
            )
            self._arrays = None

    def look_up_vectors(self, tokens: Sequence[str]) -> dict[str, np.ndarray]:
        """The vectors (d,) of those tokens that have one."""
        with self.reading():
            rows = self.execute(
                "SELECT vectors.* FROM json_each(?) AS wanted JOIN vectors ON vectors.token = wanted.value",
                (json.dumps(list(tokens), ensure_ascii=False),),
            )
            return vectors_of(rows)

    def vectors(self) -> dict[str, np.ndarray]:
        """The vectors (d,) of all tokens that have one."""
        with self.reading():
            return vectors_of(self.execute("SELECT token, vector FROM vectors"))

    def put_vectors(self, tokens: Iterable[str], vectors: np.ndarray) -> None:
        """Keep one vector a token, the rows of ``vectors`` (k, d)."""
        with self.writing():
            self.executemany(
                "INSERT OR REPLACE INTO vectors VALUES (?, ?)",
                zip(tokens, (row.tobytes() for row in np.ascontiguousarray(vectors, VECTOR))),
            )


def refuse_server(path: str | Path) -> None:
    """SpamnbError where ``path`` is the URL of a PostgreSQL server. The URL may hold a password and is not shown.

    >>> refuse_server("postgresql://db.example.org/mail")
    Traceback (most recent call last):
    ...
    spamnb.errors.SpamnbError: postgresql://...: a model is a file; let the other hosts ask one 'spamnb serve'
    """
    scheme = str(path).partition(":/")[0]  # a Path has one slash where the URL has two
    if scheme in ("postgresql", "postgres"):
        raise SpamnbError(f"{scheme}://...: a model is a file; let the other hosts ask one 'spamnb serve'")


def _columns_of_learned(classes: int) -> list[str]:
    """The columns of table ``learned``."""
    return ["key", "token", *(f"{of}_{c}" for c in range(classes) for of in ("documents", "occurrences"))]
