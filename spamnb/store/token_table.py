"""The figures of an open model's tokens in memory: those that were looked up, and changes that are not written yet.

A row has the figures of its token in all classes, side by side in one array. When a program looks up an eighth of all
tokens or more, for many messages, the whole table is read, because this takes less time.
"""

from __future__ import annotations

import numpy as np

from spamnb.errors import Damaged
from spamnb.model.class_counts import DOCUMENTS, OCCURRENCES, WEIGHT, sort_distinct
from spamnb.model.model import SIZE, Model
from spamnb.reader.tokens import TokenArray, Vocabulary
from spamnb.store.buckets import read_all_figures, read_figures, rewrite
from spamnb.store.database import Database

MAX_ROWS = 200_000  # rows in memory, apart from a table that is read as a whole: hostile mail always has new words
MAX_CELLS = 2_000_000  # row × class of these rows: 48 MB
MAX_TABLE_CELLS = 8_000_000  # row × class of a table that is read as a whole: 192 MB
MANY_TOKENS = 4_000  # a look-up of more is of several messages: 1,500 messages of SpamAssassin had up to 1,155


class TokenTable:
    """The rows in memory. A token gets a place, an index into ``figures``, when its row is read first."""

    def __init__(self, database: Database, classes: int) -> None:
        self._database, self.classes = database, classes
        self._index = Vocabulary()  # of the bytes of hashes: the id of a hash is its place
        self._n_read = 0  # rows that look-ups of many tokens read
        self._n_whole = 0  # rows of the whole table, once it was read
        self.figures = np.zeros((0, classes, 3), np.int64)  # with room for more rows
        self._changed: list[np.ndarray] = []  # places of rows that may differ from those in the file
        self._texts: list[TokenArray] = []  # of tokens that the file may lack

    def __len__(self) -> int:
        return len(self._index)

    @property
    def is_full(self) -> bool:
        """Whether more rows are in memory than allowed; False while changes wait to be written."""
        rows = len(self) - self._n_whole
        return (rows > MAX_ROWS or rows * self.classes > MAX_CELLS) and not self._changed

    def find_places(self, hashes: np.ndarray, model: Model) -> np.ndarray:
        """Return the places (k,) of the tokens with these hashes; rows that are not in memory are read."""
        begin, places = len(self), self._add_places(hashes)
        if len(self) > begin and not self._n_whole:
            size, n = model.meta[SIZE], len(self) - begin
            self._n_read += n if len(hashes) > MANY_TOKENS else 0
            is_small = size < 8 * self._n_read and size * self.classes <= MAX_TABLE_CELLS
            if is_small and not self._changed:  # changed rows count in ``size``, and are not in the table yet
                self._read_table(model, begin)
            else:
                is_new, new = places >= begin, np.empty(n, np.int64)
                new[places[is_new] - begin] = hashes[is_new]
                order = np.argsort(new)
                figures = read_figures(self._database, self.classes, new[order], size)
                self._check(figures, model)
                self.figures[begin + order] = figures
        return places

    def _add_places(self, hashes: np.ndarray) -> np.ndarray:
        """Return the places (k,) of tokens; new rows are 0."""
        octets, lengths = np.ascontiguousarray(hashes).view(np.uint8), np.full(len(hashes), hashes.itemsize, np.int32)
        places, n_old = self._index.ids_of_packed(octets, lengths), len(self.figures)
        if len(self) > n_old:
            room = max(len(self), n_old * 5 // 4, MANY_TOKENS) - n_old
            self.figures = np.concatenate([self.figures, np.zeros((room, self.classes, 3), np.int64)])
        return places

    def _read_table(self, model: Model, begin: int) -> None:
        """Read the whole table. Rows before place ``begin`` are in memory."""
        n = 0
        for hashes, figures in read_all_figures(self._database, self.classes):
            self._check(figures, model)
            n += len(hashes)
            if n <= model.meta[SIZE]:
                places = self._add_places(hashes)
                self.figures[places[places >= begin]] = figures[places >= begin]
        if n != model.meta[SIZE]:
            raise Damaged(f"{SIZE} in table meta is not the number of tokens")
        self._n_whole = n

    @staticmethod
    def _check(figures: np.ndarray, model: Model) -> None:
        """Raise Damaged if more messages of a class have a token than the class has messages."""
        if (figures[:, :, DOCUMENTS] > model.sums[:, 0]).any():
            raise Damaged("a token that more messages of a class have than the class has messages")

    def is_used(self, places: np.ndarray) -> np.ndarray:
        """Return whether any message has the tokens at these places, (m,) bool."""
        return np.any(self.figures[places, :, DOCUMENTS], axis=1)

    def add(
        self, tokens: TokenArray, labels: np.ndarray, counts: np.ndarray, units: np.ndarray, sign: int, model: Model
    ) -> tuple[np.ndarray, np.ndarray]:
        """Add the tokens (n,) of messages, or subtract them with ``sign`` −1.

        Each token has the class ``labels`` (n,) and the contribution ``units`` (n, C) of its message, and its
        occurrences ``counts`` (n,) there. Return the figures (k, C, 3) of the changed rows before and after.
        """
        places = self.find_places(tokens.hashes, model)
        is_known = self.is_used(places)
        if sign < 0:
            places, labels, counts, units = (each[is_known] for each in (places, labels, counts, units))
        else:
            self._texts.append(tokens.take(np.flatnonzero(~is_known)))
        changed = sort_distinct(places)
        old = self.figures[changed]
        self._changed.append(changed)
        for c in np.flatnonzero(units.any(axis=0)).tolist():
            np.add.at(self.figures[:, c, WEIGHT], places, sign * units[:, c])
        if sign < 0:
            present, counts = clip_counts(self.figures[places, labels], counts)
            places, labels = places[present], labels[present]
        cells = (places * self.classes + labels) * 3
        np.add.at(self.figures.reshape(-1), cells + DOCUMENTS, np.int64(sign))
        np.add.at(self.figures.reshape(-1), cells + OCCURRENCES, sign * counts)
        self.figures[changed[~self.is_used(changed)]] = 0
        return old, self.figures[changed]

    def add_weights(self, hashes: np.ndarray, units: np.ndarray, model: Model) -> None:
        """Add ``units`` (C,) to the weights of the tokens with these distinct hashes that a message has."""
        places = self.find_places(hashes, model)
        places = places[self.is_used(places)]
        self._changed.append(places)
        self.figures[places, :, WEIGHT] += units

    def write_changes(self, model: Model) -> None:
        """Write the changed rows into the table."""
        if not self._changed:
            return
        places = sort_distinct(np.concatenate(self._changed))
        hashes = self._index.texts(places.astype(np.uint32))[0].view(np.int64)
        order = np.argsort(hashes)
        figures, texts = self.figures.take(places[order], axis=0), TokenArray.concat(self._texts)
        rewrite(self._database, hashes[order], figures, texts, model.meta[SIZE], model.dimensions)
        self._changed, self._texts = [], []


def clip_counts(figures: np.ndarray, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the positions of a message's tokens that are in the model, and the occurrences to subtract of each.

    The counts may differ from those that were learned, if another version of spamnb read the message. One occurrence is
    left for each other message. ``figures`` (k, 2 or more) are the figures of the tokens in the class, and ``counts``
    (k,) their occurrences in the message.

    >>> clip_counts(np.array([[0, 0], [1, 2], [3, 4]]), np.array([1, 1, 9]))
    (array([1, 2]), array([2, 2]))
    """
    present = np.flatnonzero(figures[:, DOCUMENTS] > 0)
    documents, occurrences = figures[present, :2].T
    most = np.where(documents == 1, occurrences, occurrences - documents + 1)
    return present, np.where(documents == 1, most, np.minimum(counts[present], most))
