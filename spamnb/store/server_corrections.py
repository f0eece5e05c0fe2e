"""The correction of a corrected model on a server: weights lie in the rows of their tokens, and what lessons added to
them in the log. What messages brought and the hard messages are tables as in a file."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from spamnb.store.correction_sums import CorrectionSums, MessageUnits
from spamnb.store.corrections import CorrectionTables
from spamnb.store.server_changes import Weights
from spamnb.store.server_tokens import copy_weights
from spamnb.tokens.token_array import TokenArray
from spamnb.tokens.vocabulary import Vocabulary

if TYPE_CHECKING:
    from spamnb.store.corrections import _Cache
    from spamnb.store.postgresql import PostgresStore

_BROUGHT = "COPY brought (digest, units) FROM STDIN (FORMAT BINARY)"
_WEIGHT_BYTES = 8  # of a token's row, in a model of two classes


class ServerCorrections(CorrectionTables):
    """The correction of a model on a server, open."""

    def __init__(self, store: PostgresStore, vocabulary: Callable[[], Vocabulary]) -> None:
        super().__init__(store, vocabulary, False)
        self._store = store
        self._id_of: dict[int, int] = {}  # of the tokens in memory, by their keys

    def _cached(self) -> _Cache:
        before, cache = self._cache, super()._cached()
        if cache is not before:
            self._id_of = {}
        return cache

    def _load(self, tokens: Sequence[str]) -> tuple[_Cache, np.ndarray]:
        self._store._catch_up()
        return super()._load(tokens)

    def _read(self, ids: np.ndarray, keys: np.ndarray) -> np.ndarray:
        self._id_of.update(zip(keys.tolist(), ids.tolist()))
        return self._store.weights_of(keys)

    def follow(self, weights: Sequence[Weights]) -> None:
        """Add what another process added to the weights in memory."""
        for keys, units in weights:
            found = [id_ for key in keys.tolist() if (id_ := self._id_of.get(key)) is not None]
            if self._cache is not None and found:
                self._cache.table[: len(units), found] += units[:, None]

    def read_anew(self) -> None:
        """Forget the weights in memory."""
        self._cache = None

    def write_changes(self) -> None:
        """They go into the row of the log that is written at the end of the change."""

    def take_changes(self) -> list[Weights]:
        """What was added to weights and is in no row of the log yet."""
        pending, self._pending, self._waiting = self._pending, [], 0
        return pending

    # -- pruning ---------------------------------------------------------------------------------------------

    def written_bytes(self, low: int, high: int, keys: np.ndarray) -> int:
        """How many bytes the weights of these tokens take; they lie in the rows of their tokens."""
        return len(keys) * _WEIGHT_BYTES

    def take_out(self, low: int, high: int, tokens: TokenArray) -> None:
        """The weights of these tokens leave with their rows; hard messages that held one are let go of, since what they
        brought to it is not there to be changed."""
        for hard in [self.hard.get(number) for number in self.hard._all()]:
            if hard and np.isin(TokenArray.of(hard.tokens).hashes, tokens.hashes).any():
                self.hard.drop(hard.digest)

    # -- the whole -------------------------------------------------------------------------------------------

    def put_whole(self, correction: CorrectionSums) -> None:
        with self._tables.writing():
            kept = correction.used()
            for name in kept.classes:
                self._tables.class_id(name)
            kept = kept.of_classes(list(self._tables.class_ids()))
            copy_weights(self._store, kept.weights)
            self._store.settle(with_weights=True)
            self.put_all_brought(kept.brought)

    def put_all_brought(self, brought: MessageUnits) -> None:
        rows = self._rows_brought(brought)
        self._store.copy_rows(_BROUGHT, rows, ("bytea", "bytea"))

    def whole(self) -> CorrectionSums:
        with self._tables.reading():
            return CorrectionSums(tuple(self._tables.class_ids()), self._store.all_weights(), self.all_brought())
