"""A model as one SQLite file: the sums, what was learned, and nothing derived.

    meta         settings and single figures, as JSON
    classes      per class: messages, Σ_j N_jc, Σ_j T_jc
    trained      per token and class the messages that hold it and its occurrences: what training wrote, in pages
    learned      the same, of what was learned and forgotten since: one row a token, to be added to what is in the pages
    frequencies  per class: how many tokens occur in exactly n messages (Bernoulli's Σ_j log(1−θ_jc) needs no more)
    messages     digests of what was learned, and as what
    lessons      what the filter taught itself lately, with its tokens: another copy of the message takes it back
    calibration  histogram of the scores that messages had in the model without themselves
    arrays       parameters of models that are not counts
    vectors      one vector a token, float32, for models of such

The file opens in the ``sqlite3`` shell, where all but the pages can be read; ``exchange.py`` reads and writes it whole.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from spamnb.errors import SpamnbError
from spamnb.numbering import new_numbers
from spamnb.numbers import Numbers, Tokens, union
from spamnb.pages import Pages, names
from spamnb.records import Records
from spamnb.rows import Rows

if TYPE_CHECKING:
    from spamnb.counts import Counts

# Rows kept in memory between messages: about 200 bytes each with two classes, so at most some 80 MB, however many new
# words hostile mail brings.
CACHED_ROWS = 400_000
CACHED_FIGURES = 8_000_000  # of 16 bytes: with 20 classes 200,000 rows, with 900 4,444

ALL_PAGES = "SELECT keys, held, cells FROM trained ORDER BY first"
PAGES_OF = """SELECT keys, held, cells FROM trained WHERE first IN
(SELECT (SELECT max(first) FROM trained WHERE first <= value) FROM json_each(?)) ORDER BY first"""


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


class Store(Records):
    """A model file, open: ``with Store.open(path) as store: store.look_up(["offer"])``."""

    _numbers: Numbers | None = None  # outlives the rows: a token keeps its number
    _ahead = False

    def _drop_cache(self) -> None:
        super()._drop_cache()
        self._rows: Rows | None = None
        self._trained: Pages | None = None
        self._untaught: bool | None = None
        self._moved: dict[int, dict[int, int]] = {}  # class number → {n: change of the tokens that n messages hold}
        self._totals: Totals | None = None
        self._ids: np.ndarray = np.zeros(0, np.intp)
        self._frequencies: list[dict[int, int]] | None = None

    def put_meta(self, changes: Mapping[str, Any]) -> None:
        super().put_meta(changes)
        self._totals = None  # the vocabulary's size is part of both

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

    @property
    def numbers(self) -> Numbers:
        """The numbers of tokens under which their rows are kept in memory; others when there are too many."""
        most = CACHED_ROWS if self._rows is None else min(CACHED_ROWS, CACHED_FIGURES // max(len(self._rows.table), 1))
        if self._numbers is None or len(self._numbers) > most:
            self._before_commit()
            self._numbers, self._rows = new_numbers(), None
        return self._numbers

    def whole(self) -> tuple[Tokens, Counts]:
        """All tokens, ascending by key, and the sums: what training wrote, plus what was learned since."""
        from spamnb.counts import Counts

        with self.reading():
            self._before_commit()
            by_id = self._connection.execute("SELECT name, documents FROM classes ORDER BY id").fetchall()
            classes = sorted(name for name, _ in by_id)
            row = np.array([classes.index(name) for name, _ in by_id], np.intp)
            documents = np.zeros(len(classes), np.int64)
            documents[row] = [n for _, n in by_id]
            pages = self._trained or self._read_pages()
            tokens = names(self._connection.execute("SELECT lengths, text FROM trained ORDER BY first"), pages.keys)
            cells = row[pages.cells["class"]], pages.columns, pages.cells["documents"], pages.cells["occurrences"]
            counts = Counts.from_cells(classes, documents, len(tokens), cells)
            if learned := self._connection.execute("SELECT * FROM learned ORDER BY key").fetchall():
                _, since, *figures = zip(*learned)
                table = np.array(figures, np.int64).reshape(-1, 2, len(since))
                label, column = np.nonzero(table.any(axis=1))
                cells = row[label], column, table[label, 0, column], table[label, 1, column]
                more = Counts.from_cells(classes, 0 * documents, len(since), cells)
                tokens, places = union([tokens, Tokens.of(since)])
                counts, more = (part.reindex(at, len(tokens)) for part, at in zip((counts, more), places))
                counts = counts + more
                if self.meta().get("top_words") is None:
                    held = np.flatnonzero(counts.document_counts.sum(axis=0))
                    tokens, counts = tokens.some(held), counts.columns(held)
            return tokens, counts.present()

    def read_ahead(self) -> None:
        """From now on keep in memory what training wrote of all tokens: for whoever looks up those of thousands of
        messages."""
        self._ahead = True

    def _read_pages(self, keys: np.ndarray | None = None) -> Pages:
        """All pages, or those that can hold ``keys``."""
        asked = (ALL_PAGES,) if keys is None else (PAGES_OF, (json.dumps(keys.tolist()),))
        return Pages.of(self._connection.execute(*asked), self._width() // 2)

    def _read_learned(self, keys: np.ndarray) -> list[tuple]:
        """The (place in ``keys``, figure, ...) of those that have a row."""
        # One statement for the whole message, not one a token.
        columns = "".join(f", documents_{c}, occurrences_{c}" for c in range(self._width() // 2))
        return self._connection.execute(
            f"SELECT wanted.key{columns} FROM json_each(?) AS wanted"  # noqa: S608 (names of our own making)
            " JOIN learned ON learned.key = wanted.value",
            (json.dumps(keys.tolist()),),
        ).fetchall()

    def _as_trained(self) -> bool:
        """Has nothing been learned since training?"""
        if self._untaught is None:
            self._untaught = self._connection.execute("SELECT 1 FROM learned LIMIT 1").fetchone() is None
        return self._untaught

    def _width(self) -> int:
        return 2 * self._connection.execute("SELECT count(*) FROM classes").fetchone()[0]

    def look_up(self, tokens: Sequence[str]) -> Found:
        """The counts of those of ``tokens`` (distinct) that the model knows; costs the message, not the model."""
        with self.reading():
            self.totals()
            rows, at = self._read_rows(tokens)
            positions = np.flatnonzero(rows.present[at])
            found = np.take(rows.table, at[positions], axis=1)
            return Found(positions, found[2 * self._ids], found[2 * self._ids + 1])

    def _read_rows(self, tokens: Sequence[str]) -> tuple[Rows, np.ndarray]:
        """The rows in memory, those of ``tokens`` among them, and where these are."""
        numbers = self.numbers
        if self._rows is None:
            self._rows = Rows(self._width(), numbers, self.meta().get("top_words") is not None)
        at = self._rows.at(tokens)
        if missing := self._rows.missing(at):
            keys = missing.keys
            if self._ahead and self._trained is None:
                self._trained = self._read_pages()
            pages = self._trained or self._read_pages(keys)
            learned = [] if self._as_trained() else self._read_learned(keys)
            self._rows.fill(missing, *pages.look_up(keys, len(self._rows.table)), learned)
        return self._rows, at

    def add(self, label: str, occurrences: Mapping[str, int], sign: int = 1) -> None:
        """Add one message's tokens to the sums of a class, or take them away with ``sign=-1``.

        Raises SpamnbError, and changes nothing, where taking away would leave a negative count.
        """
        with self.writing():
            number = self.class_id(label)
            meta = self.meta()
            rows, at = self._read_rows(list(occurrences))
            at, place = np.unique(at, return_inverse=True)  # two tokens of one key are one
            repeats = np.bincount(place, list(occurrences.values()), len(at)).astype(np.int64)
            if rows.closed:  # a model of chosen words keeps to them
                known = rows.present[at]
                at, repeats = at[known], repeats[known]
            documents = rows.table[2 * number, at]
            occurring = rows.table[2 * number + 1, at] + sign * repeats
            if len(at) and (documents.min() + sign < 0 or occurring.min() < 0):
                raise SpamnbError(f"{self.path}: this message is not part of class {label!r}; nothing was forgotten")
            new = ~rows.present[at]
            rows.table[2 * number, at] = documents + sign
            rows.table[2 * number + 1, at] = occurring
            rows.present[at] = rows.closed | rows.table[:, at].any(axis=0)
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
            tokens, since = self._rows.take_changes()
            keys, some = tokens.keys, since.any(axis=0)
            marks = ", ?" * len(since)
            execute(
                f"INSERT OR REPLACE INTO learned VALUES (?, ?{marks})",  # noqa: S608 (question marks only)
                zip(keys[some].tolist(), tokens.some(np.flatnonzero(some)), *since[:, some].tolist()),
            )
            execute("DELETE FROM learned WHERE key = ?", zip(keys[~some].tolist()))
            self._untaught = None
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
