"""A model as one SQLite file: the sums and what was learned; no probabilities, which are derived from them.

ARCHITECTURE.md says what its tables hold. The file opens in the ``sqlite3`` shell, where all but the pages can be read;
``snapshot.py`` reads and writes it whole.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from spamnb.counts.class_counts import ClassTotals, TokenCounts
from spamnb.errors import Damaged, SpamnbError
from spamnb.reader.rows import TokenIds
from spamnb.reader.vocabulary import Vocabulary
from spamnb.store.changes import ChangeLog, Pending, join, left_of
from spamnb.store.compaction import (
    MAX_LOG,
    compact,
    file_sums,
    logged_sums,
    make_log,
    read_log,
    this_month,
)
from spamnb.store.database import MAX_SUM, checked_rows, int_between
from spamnb.store.following import WholeCounts, all_learned, follow
from spamnb.store.frequencies import note_moved, read_frequencies, write_moved
from spamnb.store.pages import MAX_COUNT, CountCache, learned_of, read_pages
from spamnb.store.tables import ModelTables

if TYPE_CHECKING:  # looking tokens up does not need them
    from spamnb.counts.class_counts import ClassCounts
    from spamnb.reader.token_array import TokenArray
    from spamnb.store.corrections import CorrectionTables

    Sums = tuple[TokenArray, ClassCounts]

# Tokens whose counts are kept in memory between messages: about 170 bytes each with two classes, so at most some 17 MB,
# however many new words hostile mail brings; four times as many beside a model that is whole in memory.
MAX_CACHED_TOKENS = 100_000
MAX_CACHED_COUNTS = 8_000_000  # of 16 bytes: with 20 classes 200,000 rows, with 900 4,444

# A class's sums and their bounds: Σ_j N_jc and Σ_j T_jc of as many messages as there can be, without overflow.
_OF_CLASSES = {"documents": MAX_COUNT, "document_counts": MAX_SUM, "occurrences": MAX_SUM}


class Store(ModelTables):
    """A model file, open: ``with Store.open(path) as store: store.look_up(["offer"])``."""

    _vocabulary: Vocabulary | None = None  # outlives the rows: a token keeps its number
    _most_whole = 0  # tokens of a model whose counts are all kept in memory

    def _drop_cache(self) -> None:
        super()._drop_cache()
        self._drop_rows()
        self._drop_sums()

    def _drop_rows(self) -> None:
        self._cache: CountCache | None = None
        self._log: ChangeLog | None = None
        self._whole: WholeCounts | None = None
        self._corrections: CorrectionTables | None = None

    def _drop_outdated(self) -> None:
        super()._drop_cache()
        self._drop_sums()
        self._behind = True  # the rows in memory are right once the log's new changes are added to them

    def _drop_sums(self) -> None:
        self._behind = False
        self._pending: list[Pending] = []
        self._untaught: bool | None = None
        self._moved: dict[int, dict[int, int]] = {}  # class number → {n: change of the tokens that n messages hold}
        self._totals: ClassTotals | None = None
        self._ids: np.ndarray = np.zeros(0, np.intp)
        self._of_classes: np.ndarray = np.zeros((0, 3), np.int64)
        self._frequencies: list[dict[int, int]] | None = None

    def put_meta(self, changes: Mapping[str, Any]) -> None:
        super().put_meta(changes)
        self._totals = None  # the vocabulary's size is part of both

    def totals(self) -> ClassTotals:
        with self.reading():
            if self._totals is None:
                classes = self.class_ids()
                kinds = {name: int_between(most) for name, most in _OF_CLASSES.items()}
                rows = self.execute(f"SELECT {', '.join(kinds)} FROM classes ORDER BY id")  # noqa: S608
                self._of_classes = np.array(checked_rows("classes", rows, **kinds), np.int64).reshape(-1, 3)
                size = self.meta().get("vocabulary_size", -1)
                if not int_between(MAX_COUNT)(size):
                    raise Damaged(f"vocabulary_size in table meta: {size!r}")
                documents, held, occurring = self._of_classes.T
                if (held > documents * float(size)).any() or (held > occurring).any():
                    raise Damaged("figures in table classes that do not fit together")
                present = sorted(name for name, number in classes.items() if documents[number])
                ids = self._ids = np.array([classes[name] for name in present], np.intp)
                self._totals = ClassTotals(tuple(present), documents[ids], held[ids], occurring[ids], size)
            return self._totals

    def frequencies(self) -> list[dict[int, int]]:
        """Per class {n: number of tokens that exactly n of its messages hold}."""
        with self.reading():
            self.totals()
            self._before_commit()
            if self._frequencies is None:
                rows = self.execute("SELECT class, documents, tokens FROM frequencies")
                every = read_frequencies(rows, self._of_classes, self.meta()["vocabulary_size"])
                self._frequencies = [every[int(number)] for number in self._ids]
            return self._frequencies

    # -- tokens ----------------------------------------------------------------------------------------------

    @property
    def vocabulary(self) -> Vocabulary:
        """The numbers of tokens under which their rows are kept in memory."""
        return self.roomy_vocabulary() if self._vocabulary is None else self._vocabulary

    def roomy_vocabulary(self) -> Vocabulary:
        """The same for messages that are about to be read: others, where there are too many."""
        most = MAX_CACHED_COUNTS if self._cache is None else MAX_CACHED_COUNTS // max(len(self._cache.table), 1)
        bound = MAX_CACHED_TOKENS * (4 if self._is_whole() else 1)
        if self._vocabulary is None or len(self._vocabulary) > min(most, bound):
            self._before_commit()
            self._vocabulary, self._cache = Vocabulary(), None
        return self._vocabulary

    @property
    def corrections(self) -> CorrectionTables:
        """What corrects naive Bayes, in a corrected model."""
        from spamnb.store.corrections import CorrectionTables

        with self.reading():
            self._catch_up()
            if self._corrections is None:
                self._corrections = CorrectionTables(self, lambda: self.vocabulary, self._is_whole())
            return self._corrections

    def class_sums(self) -> np.ndarray:
        """(C, 3) N_c, Σ_j N_jc and Σ_j T_jc of every class, in the order of their numbers."""
        with self.reading():
            self.totals()
            return self._of_classes

    def preload(self, most: int = MAX_COUNT) -> None:
        """From now on keep the counts of all tokens in memory, where these are at most ``most``, to look up those of
        thousands of messages; what others change is added."""
        self._most_whole = most

    def _is_whole(self) -> bool:
        return self._most_whole > 0 and 0 < self.totals().vocabulary_size <= self._most_whole

    def _as_trained(self) -> bool:
        """Has nothing been learned since training?"""
        if self._untaught is None:
            self._untaught = self.execute("SELECT 1 FROM learned LIMIT 1").fetchone() is None
        return self._untaught

    def _width(self) -> int:
        return 2 * self.execute("SELECT count(*) FROM classes").fetchone()[0]

    def look_up(self, tokens: Sequence[str]) -> TokenCounts:
        """The counts of those of ``tokens`` (distinct) that the model knows; costs the message, not the model."""
        with self.reading():
            self.totals()
            cache, columns = self._load_counts(tokens)
            positions = np.flatnonzero(cache.in_vocabulary[columns])
            known = columns[positions]
            found = np.take(cache.table, known, axis=1)
            return TokenCounts(positions, found[2 * self._ids], found[2 * self._ids + 1], cache.groups[known])

    def _load_counts(self, tokens: Sequence[str]) -> tuple[CountCache, np.ndarray]:
        """The counts in memory, those of ``tokens`` (k,) among them, and the columns where these are."""
        self._catch_up()
        is_read = isinstance(tokens, TokenIds) and tokens.vocabulary is self._vocabulary
        vocabulary = self.vocabulary if is_read else self.roomy_vocabulary()
        if self._cache is None:
            self._cache = CountCache(self._width(), vocabulary, self.meta().get("top_words") is not None)
        columns = self._cache.columns(tokens)
        if missing := self._cache.missing(columns):
            self._cache.load(missing, *self._read_counts(missing.hashes))
            held, occurring = self._cache.table[0::2, missing.ids], self._cache.table[1::2, missing.ids]
            if (held < 0).any() or (held > self.class_sums()[:, :1]).any() or (held > occurring).any():
                raise Damaged("sums of tokens that cannot be")
        return self._cache, columns

    def _read_counts(self, hashes: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """What ``CountCache.load`` takes of the tokens with these hashes."""
        if self._is_whole():
            self._whole = self._whole or self._read_whole()
            return self._whole.look_up(hashes)
        self._whole = None  # it grew
        width = self._width()
        pages = read_pages(self, width // 2, hashes)
        since = np.zeros((width, len(hashes)), np.int64)
        if self._log is not None or self.has_table("changes"):
            since += self._changes().look_up(hashes, width)
        if not self._as_trained():
            learned = learned_of(self, hashes)
            since[:, learned[:, 0]] += learned[:, 1:].T
        return (*pages.look_up(hashes, width), since)

    def _read_whole(self) -> WholeCounts:
        return WholeCounts(read_pages(self, self._width() // 2, None), all_learned(self), read_log(self))

    def _changes(self) -> ChangeLog:
        """The log of changes."""
        if self._log is None:
            self._log = read_log(self)
        return self._log

    def _catch_up(self) -> None:
        """Bring the rows in memory up to what others wrote, or drop them."""
        if not self._behind:
            return
        self._behind = False
        if self._whole is not None:
            followed, self._log = self._whole.follow(self, self._cache), None
        else:
            followed = self._cache is not None and self._log is not None and follow(self, self._log, self._cache)
        if not followed or (self._corrections is not None and not self._corrections.follow_others()):
            self._drop_rows()

    def all_sums(self) -> Sums:
        """All tokens, ascending by hash, and their counts by class number."""
        return file_sums(self, log=logged_sums(self))

    def in_vocabulary(self, tokens: Sequence[str]) -> TokenIds:
        """Those of ``tokens`` to which learning adds, each once: in a model of chosen words these, else all."""
        with self.reading():
            cache, columns = self._load_counts(tokens)
            columns = np.unique(columns)
            if cache.fixed_vocabulary:
                columns = columns[cache.in_vocabulary[columns]]
            return TokenIds(cache.vocabulary, columns)

    def add(self, label: str, occurrences: Mapping[str, int], sign: int = 1) -> None:
        """Add one message's tokens to the sums of a class, or take them away with ``sign=-1``.

        Raises SpamnbError, and changes nothing, where taking away would leave a negative count.
        """
        with self.writing():
            number = self.class_id(label)
            cache, columns = self._load_counts(list(occurrences))
            columns, place = np.unique(columns, return_inverse=True)  # two tokens of one hash are one
            counts = np.bincount(place, list(occurrences.values()), len(columns)).astype(np.int64)
            if cache.fixed_vocabulary:  # a model of chosen words keeps to them
                known = cache.in_vocabulary[columns]
                columns, counts = columns[known], counts[known]
            if sign < 0 and "pruned" in self.meta():
                columns, counts = left_of(cache.table[2 * number : 2 * number + 2, columns], columns, counts)
            self._add(number, cache, columns, sign, sign * counts)

    def _add(self, number: int, cache: CountCache, columns: np.ndarray, sign: int, occurrences: np.ndarray) -> None:
        """Change the sums of a class, by number, in memory, and note what is to be written: a message that has the
        tokens of these distinct ``columns`` comes (``sign`` 1) or goes (-1)."""
        held, occurring = cache.table[2 * number, columns], cache.table[2 * number + 1, columns] + occurrences
        if len(columns) and ((held + sign).min() < 0 or occurring.min() < 0):
            label = list(self.class_ids())[number]
            raise SpamnbError(f"{self.path}: this message is not part of class {label!r}; nothing was forgotten")
        known = int(cache.in_vocabulary[columns].sum())
        cache.table[2 * number, columns] = held + sign
        cache.table[2 * number + 1, columns] = occurring
        cache.in_vocabulary[columns] = cache.fixed_vocabulary | cache.table[:, columns].any(axis=0)
        note_moved(self._moved.setdefault(number, {}), held, sign)
        self.execute(
            "UPDATE classes SET documents = documents + ?, document_counts = document_counts + ?,"
            " occurrences = occurrences + ? WHERE id = ?",
            (sign, sign * len(columns), int(occurrences.sum()), number),
        )
        if change := int(cache.in_vocabulary[columns].sum()) - known:
            self.put_meta({"vocabulary_size": self.meta()["vocabulary_size"] + change})
        self._pending.append((columns, number, np.full(len(columns), sign), occurrences))
        self._totals = self._frequencies = None

    def _before_commit(self) -> None:
        """Write what ``add`` changed: one row of the log a transaction, and what corrects naive Bayes."""
        if self._corrections is not None:
            self._corrections.write_changes()
        if self._pending and self._cache is not None:
            log, cache = self._changes(), self._cache
            if log.sequence is None:
                log.sequence = make_log(self)
            change = join(self._pending, cache, log.sequence + 1, this_month())
            self._pending = []
            self.execute("INSERT INTO changes VALUES (?, ?, ?, ?, ?, ?, ?)", change.row())
            log.append(change)
            if self._whole is not None:
                self._whole.append(change)
            if compact(self, log, len(change.cells), MAX_LOG):
                self._untaught = None
        if self._moved:
            write_moved(self, self._moved)
            self._moved = {}
