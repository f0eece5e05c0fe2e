"""A model as one SQLite file: the sums, what was learned, and nothing derived.

    meta         settings and single figures, as JSON
    classes      per class: messages, Σ_j N_jc, Σ_j T_jc
    tokens       one row a token: per class the messages that hold it and its occurrences
    frequencies  per class: how many tokens occur in exactly n messages (Bernoulli's Σ_j log(1−θ_jc) needs no more)
    messages     digests of what was learned, and as what
    calibration  histogram of the scores that messages had in the model without themselves
    arrays       parameters of models that are not counts
    vectors      one vector a token, float32, for models of such

The file opens in the ``sqlite3`` shell; ``exchange.py`` reads and writes it whole.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from spamnb.database import APPLICATION_ID, FORMAT, Database
from spamnb.errors import SpamnbError
from spamnb.rows import Rows

# Rows kept in memory between messages: about 200 bytes each with two classes, so at most some 80 MB, however many new
# words hostile mail brings.
CACHED_ROWS = 400_000
VECTOR = np.dtype("<f4")
MOST_CLASSES = 900  # two columns a class in one row of ``tokens``; SQLite allows 2,000

SCHEMA = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE classes (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, documents INTEGER NOT NULL DEFAULT 0,
    document_counts INTEGER NOT NULL DEFAULT 0, occurrences INTEGER NOT NULL DEFAULT 0);
CREATE TABLE tokens (token TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE frequencies (class INTEGER NOT NULL, documents INTEGER NOT NULL, tokens INTEGER NOT NULL,
    PRIMARY KEY (class, documents)) WITHOUT ROWID;
CREATE TABLE messages (digest BLOB PRIMARY KEY, class INTEGER NOT NULL, taught INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE calibration (class INTEGER NOT NULL, own INTEGER NOT NULL, bin INTEGER NOT NULL,
    messages INTEGER NOT NULL, PRIMARY KEY (class, own, bin)) WITHOUT ROWID;
CREATE TABLE arrays (name TEXT PRIMARY KEY, dtype TEXT NOT NULL, shape TEXT NOT NULL,
    content BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE vectors (token TEXT PRIMARY KEY, vector BLOB NOT NULL) WITHOUT ROWID;
"""


class Totals(NamedTuple):
    """The sums over all tokens: what a score needs besides the rows of a message's own tokens."""

    classes: tuple[str, ...]  # sorted names of the classes that hold a message
    documents: np.ndarray  # (C,) N_c
    document_counts: np.ndarray  # (C,) Σ_j N_jc
    occurrences: np.ndarray  # (C,) Σ_j T_jc
    vocabulary_size: int


class Found(NamedTuple):
    """The rows of those tokens that the model knows."""

    positions: np.ndarray  # (k,) places in the list of tokens that was asked for
    document_counts: np.ndarray  # (C, k) N_jc
    occurrences: np.ndarray  # (C, k) T_jc


class Store(Database):
    """A model file, open: ``with Store.open(path) as store: store.look_up(["offer"])``."""

    @classmethod
    def create(cls, path: str | Path, meta: Mapping[str, Any]) -> Store:
        """A new, empty model at ``path`` (``":memory:"`` for none), which must not exist yet."""
        if str(path) != ":memory:" and Path(path).exists():
            raise SpamnbError(f"{path}: exists already; choose another name or remove it")
        store = cls.connect(path, writable=True)
        with store._told():
            store._connection.execute("PRAGMA journal_mode = WAL")
            with store.writing():
                for statement in SCHEMA.split(";\n"):
                    store._connection.execute(statement)
                store._connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
                store._connection.execute(f"PRAGMA user_version = {FORMAT}")
                store.put_meta({**meta, "vocabulary_size": 0})
        return store

    @classmethod
    def open(cls, path: str | Path, *, writable: bool = False) -> Store:
        """The model at ``path``; one clear line when there is none, or when it is something else."""
        if not Path(path).is_file():
            raise SpamnbError(f"{path}: no model there; 'spamnb train' makes one, --model names another")
        store = cls.connect(path, writable=writable)
        try:
            store._check_format()
            store.totals()
        except BaseException:
            store.close()
            raise
        return store

    def _drop_cache(self) -> None:
        self._rows: Rows | None = None
        self._moved: dict[int, dict[int, int]] = {}  # class number → {n: change of the tokens that n messages hold}
        self._totals: Totals | None = None
        self._ids: np.ndarray = np.zeros(0, np.intp)
        self._meta: dict[str, Any] | None = None
        self._frequencies: list[dict[int, int]] | None = None
        self._arrays: dict[str, np.ndarray] | None = None

    # -- single figures --------------------------------------------------------------------------------------

    def meta(self) -> dict[str, Any]:
        """Settings and single figures."""
        with self.reading():
            if self._meta is None:
                rows = self._connection.execute("SELECT key, value FROM meta")
                self._meta = {key: json.loads(value) for key, value in rows}
            return self._meta

    def put_meta(self, changes: Mapping[str, Any]) -> None:
        with self.writing():
            self._connection.executemany(
                "INSERT OR REPLACE INTO meta VALUES (?, ?)",
                [
                    (key, json.dumps(value, ensure_ascii=False, sort_keys=True))
                    for key, value in changes.items()
                ],
            )
            if self._meta is not None:
                self._meta = {**self._meta, **json.loads(json.dumps(changes))}
            self._totals = None

    def totals(self) -> Totals:
        with self.reading():
            if self._totals is None:
                rows = self._connection.execute(
                    "SELECT id, name, documents, document_counts, occurrences FROM classes"
                    " WHERE documents > 0 ORDER BY name"
                ).fetchall()
                self._ids = np.array([row[0] for row in rows], dtype=np.intp)
                sums = np.array([row[2:] for row in rows], dtype=np.int64).reshape(-1, 3)
                size = self.meta()["vocabulary_size"]
                self._totals = Totals(tuple(row[1] for row in rows), sums[:, 0], sums[:, 1], sums[:, 2], size)
            return self._totals

    def frequencies(self) -> list[dict[int, int]]:
        """Per class {n: number of tokens that exactly n of its messages hold}."""
        with self.reading():
            self.totals()
            self._before_commit()
            if self._frequencies is None:
                size = self.meta()["vocabulary_size"]
                by_id: dict[int, dict[int, int]] = {int(number): {0: size} for number in self._ids}
                for number, documents, tokens in self._connection.execute("SELECT * FROM frequencies"):
                    if number in by_id:
                        by_id[number][documents] = tokens
                        by_id[number][0] -= tokens
                self._frequencies = [by_id[int(number)] for number in self._ids]
            return self._frequencies

    # -- tokens ----------------------------------------------------------------------------------------------

    def look_up(self, tokens: list[str]) -> Found:
        """The counts of those of ``tokens`` (distinct) that the model knows; costs the message, not the model."""
        with self.reading():
            self.totals()
            rows, numbers = self._read_rows(tokens)
            positions = np.flatnonzero(rows.present[numbers])
            found = np.take(rows.table, numbers[positions], axis=1)
            return Found(positions, found[2 * self._ids], found[2 * self._ids + 1])

    def _read_rows(self, tokens: Sequence[str]) -> tuple[Rows, np.ndarray]:
        """The rows in memory, those of ``tokens`` among them, and where these are."""
        if self._rows is None or len(self._rows) + len(tokens) > CACHED_ROWS:
            self._before_commit()
            self._rows = Rows(2 * self._connection.execute("SELECT count(*) FROM classes").fetchone()[0])
        numbers = self._rows.numbers(tokens)
        if missing := self._rows.missing():
            # One statement for the whole message, not one a token.
            found = self._connection.execute(
                "SELECT tokens.* FROM json_each(?) AS wanted JOIN tokens ON tokens.token = wanted.value",
                (json.dumps(missing, ensure_ascii=False),),
            )
            self._rows.fill(missing, found.fetchall())
        return self._rows, numbers

    def add(self, label: str, occurrences: Mapping[str, int], sign: int = 1) -> None:
        """Add one message's tokens to the sums of a class, or take them away with ``sign=-1``.

        Raises SpamnbError, and changes nothing, where taking away would leave a negative count.
        """
        with self.writing():
            number = self.class_id(label)
            meta = self.meta()
            rows, at = self._read_rows(list(occurrences))
            repeats = np.fromiter(occurrences.values(), np.int64, len(occurrences))
            tokens = np.array(list(occurrences), object)
            closed = meta.get("top_words") is not None  # a model of chosen words keeps to them
            if closed:
                known = rows.present[at]
                at, repeats, tokens = at[known], repeats[known], tokens[known]
            documents = rows.table[2 * number, at]
            occurring = rows.table[2 * number + 1, at] + sign * repeats
            if len(at) and (documents.min() + sign < 0 or occurring.min() < 0):
                raise SpamnbError(f"{self.path}: this message is not part of class {label!r}; nothing was forgotten")
            new = ~rows.present[at]
            rows.table[2 * number, at] = documents + sign
            rows.table[2 * number + 1, at] = occurring
            rows.present[at] = closed | rows.table[:, at].any(axis=0)
            rows.changed[at] = True
            self._move_frequencies(number, documents, sign)
            self._connection.execute(
                "UPDATE classes SET documents = documents + ?, document_counts = document_counts + ?,"
                " occurrences = occurrences + ? WHERE id = ?",
                (sign, sign * len(at), sign * int(repeats.sum()), number),
            )
            if change := int(rows.present[at].sum()) - int((~new).sum()):
                self.put_meta({"vocabulary_size": meta["vocabulary_size"] + change})
            self._totals = self._frequencies = None

    def _move_frequencies(self, number: int, documents: np.ndarray, sign: int) -> None:
        """Tokens that ``documents`` messages (k,) held are now held by ``sign`` more."""
        moved = self._moved.setdefault(number, {})
        if len(documents):
            for n, tokens in zip(*(values.tolist() for values in np.unique_counts(documents))):
                moved[n] = moved.get(n, 0) - tokens
                moved[n + sign] = moved.get(n + sign, 0) + tokens

    def _before_commit(self) -> None:
        """Write what ``add`` changed. Once a transaction, not once a message: most tokens come back in the next one."""
        execute = self._connection.executemany
        if self._rows is not None and self._rows.changed.any():
            tokens, table, inserted, updated, deleted = self._rows.take_changes()
            marks = ", ?" * len(table)
            figures = table.T.tolist()
            execute(
                f"INSERT INTO tokens VALUES (?{marks})",  # noqa: S608 (question marks only)
                ((tokens[i], *figures[i]) for i in inserted),
            )
            columns = ", ".join(f"documents_{i // 2} = ?, occurrences_{i // 2} = ?" for i in range(0, len(table), 2))
            # The statement is built from column numbers of our own making, never from anything read.
            execute(
                f"UPDATE tokens SET {columns} WHERE token = ?",  # noqa: S608
                ((*figures[i], tokens[i]) for i in updated),
            )
            execute("DELETE FROM tokens WHERE token = ?", ((tokens[i],) for i in deleted))
        if not self._moved:
            return
        cells = [(number, n, change) for number, moved in self._moved.items() for n, change in moved.items()]
        cells = [cell for cell in cells if cell[1] and cell[2]]
        execute(
            "INSERT INTO frequencies VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET tokens = tokens + excluded.tokens",
            cells,
        )
        execute(
            "DELETE FROM frequencies WHERE class = ? AND documents = ? AND tokens = 0",
            [(number, n) for number, n, change in cells if change < 0],
        )
        self._moved = {}

    def class_id(self, name: str) -> int:
        """The number of a class in the tables, a new one where there was none."""
        row = self._connection.execute("SELECT id FROM classes WHERE name = ?", (name,)).fetchone()
        if row:
            return row[0]
        number = self._connection.execute("SELECT count(*) FROM classes").fetchone()[0]
        if number >= MOST_CLASSES:
            raise SpamnbError(
                f"{self.path}: more than {MOST_CLASSES} classes; was a folder of folders given one level too high?"
            )
        self._before_commit()
        self._connection.execute("INSERT INTO classes (id, name) VALUES (?, ?)", (number, name))
        for column in ("documents", "occurrences"):
            self._connection.execute(
                f"ALTER TABLE tokens ADD COLUMN {column}_{number} INTEGER NOT NULL DEFAULT 0"
            )
        self._drop_cache()
        return number

    # -- what was learned ------------------------------------------------------------------------------------

    def learned(self, digest: bytes) -> tuple[str, bool] | None:
        """As what a message was learned, and whether a person taught it (or the filter itself); None if it was not."""
        with self.reading():
            row = self._connection.execute(
                "SELECT name, taught FROM messages JOIN classes ON classes.id = class WHERE digest = ?",
                (digest,),
            ).fetchone()
            return (row[0], bool(row[1])) if row else None

    def remember(self, digest: bytes, label: str, taught: bool = True) -> None:
        with self.writing():
            self._connection.execute(
                "INSERT OR REPLACE INTO messages VALUES (?, ?, ?)", (digest, self.class_id(label), taught)
            )

    def unremember(self, digest: bytes) -> None:
        with self.writing():
            self._connection.execute("DELETE FROM messages WHERE digest = ?", (digest,))

    # -- histograms and arrays -------------------------------------------------------------------------------

    def calibration(self) -> list[tuple[str, int, int, int]]:
        """The histogram's cells: (class, 1 for its own messages or 0 for others', bin, messages)."""
        with self.reading():
            return self._connection.execute(
                "SELECT name, own, bin, messages FROM calibration JOIN classes ON classes.id = calibration.class"
                " ORDER BY name, own, bin"
            ).fetchall()

    def add_calibration(self, cells: Iterable[tuple[str, int, int, int]]) -> None:
        with self.writing():
            self._connection.executemany(
                "INSERT INTO calibration VALUES (?, ?, ?, ?)"
                " ON CONFLICT DO UPDATE SET messages = messages + excluded.messages",
                [(self.class_id(name), own, bin_, messages) for name, own, bin_, messages in cells],
            )
            self._connection.execute("DELETE FROM calibration WHERE messages = 0")

    def arrays(self) -> dict[str, np.ndarray]:
        """All of them, read-only; the same object until one of them changes."""
        with self.reading():
            if self._arrays is None:
                rows = self._connection.execute("SELECT name, dtype, shape, content FROM arrays ORDER BY name")
                self._arrays = {
                    name: np.frombuffer(content, np.dtype(dtype)).reshape(json.loads(shape))
                    for name, dtype, shape, content in rows
                }
            return self._arrays

    def put_arrays(self, arrays: Mapping[str, np.ndarray]) -> None:
        """Keep arrays of numbers (never of objects) under their names."""
        with self.writing():
            self._connection.executemany(
                "INSERT OR REPLACE INTO arrays VALUES (?, ?, ?, ?)",
                [
                    (name, a.dtype.str, json.dumps(a.shape), np.ascontiguousarray(a).tobytes())
                    for name, a in arrays.items()
                ],
            )
            self._arrays = None

    def look_up_vectors(self, tokens: list[str]) -> dict[str, np.ndarray]:
        """The vectors (d,) of those tokens that have one."""
        with self.reading():
            rows = self._connection.execute(
                "SELECT vectors.* FROM json_each(?) AS wanted JOIN vectors ON vectors.token = wanted.value",
                (json.dumps(tokens, ensure_ascii=False),),
            )
            return {token: np.frombuffer(vector, VECTOR) for token, vector in rows}

    def put_vectors(self, tokens: Iterable[str], vectors: np.ndarray) -> None:
        """Keep one vector a token, the rows of ``vectors`` (k, d)."""
        with self.writing():
            self._connection.executemany(
                "INSERT OR REPLACE INTO vectors VALUES (?, ?)",
                zip(tokens, (row.tobytes() for row in np.ascontiguousarray(vectors, VECTOR))),
            )
