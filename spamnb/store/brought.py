"""What each message brought to the weights of its tokens in a corrected model: table ``brought``, to take it back by.

A row is a digest, the units of each class but the first, and what learning the message added to a hard one; or, under
number 0, what it added to some of its own tokens alone, and the keys of these.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from spamnb.errors import Damaged, SpamnbError
from spamnb.reader.rows import TokenIds, take_tokens
from spamnb.reader.token_array import TokenArray
from spamnb.store.correction_sums import KEY, MAX_UNITS, UNITS, MessageUnits, from_brought, units_of_rows
from spamnb.store.tables import ModelTables

OWN_TOKENS = 0  # in the place of a hard message's number, which is 1 at least


def keys_of(tokens: Sequence[str]) -> np.ndarray:
    """The keys (k,) of tokens."""
    return (tokens if isinstance(tokens, TokenArray | TokenIds) else TokenArray.of(tokens)).hashes


class BroughtTable:
    """What messages brought; a part of ``corrections.CorrectionTables``."""

    _tables: ModelTables

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
        """Keep what a message brought, by class."""
        with self._tables.writing():
            self._tables.execute(
                "INSERT INTO brought VALUES (?, ?, NULL) ON CONFLICT (digest) DO UPDATE SET units = excluded.units",
                (digest, self._blob(units)),
            )

    def _added_elsewhere(self, digest: bytes) -> tuple[int, bytes]:
        """Column ``changed`` of a message: a number, and what stands behind it; (OWN_TOKENS, b"") where it is empty."""
        rows = self._tables.execute("SELECT changed FROM brought WHERE digest = ?", (digest,)).fetchall()
        if not rows or rows[0][0] is None:
            return OWN_TOKENS, b""
        blob = rows[0][0]
        if type(blob) is not bytes or len(blob) < KEY.itemsize:
            raise Damaged("changes in table brought that were cut short")
        return int(np.frombuffer(blob, KEY, 1)[0]), blob[KEY.itemsize :]

    def _units(self, blob: bytes) -> dict[str, int]:
        names = list(self._tables.class_ids())
        (units,) = units_of_rows("brought", [blob], len(names))
        return {name: n for name, n in zip(names, units.tolist()) if n}

    def changed(self, digest: bytes) -> tuple[int, dict[str, int]] | None:
        """The number of the hard message that learning this one solved again, and what it added to it, by class."""
        with self._tables.reading():
            number, units = self._added_elsewhere(digest)
            return None if number == OWN_TOKENS else (number, self._units(units))

    def put_changed(self, digest: bytes, number: int, units: Mapping[str, int]) -> None:
        """Keep what learning a message added to what a hard message brings."""
        with self._tables.writing():
            self._tables.execute(
                "INSERT INTO brought VALUES (?, ?, ?) ON CONFLICT (digest) DO UPDATE SET changed = excluded.changed",
                (digest, self._blob({}), np.array([number], KEY).tobytes() + self._blob(units)),
            )

    def moved_apart(self, digest: bytes, tokens: Sequence[str]) -> tuple[Sequence[str], dict[str, int]] | None:
        """Those of a message's ``tokens`` that learning it moved alone, and by how much, by class."""
        with self._tables.reading():
            number, rest = self._added_elsewhere(digest)
            if number != OWN_TOKENS or not rest:
                return None
            end = 2 + int.from_bytes(rest[:2], "little")  # of the units
            if (len(rest) - end) % KEY.itemsize:
                raise Damaged("keys in table brought that were cut short")
            moved = np.isin(keys_of(tokens), np.frombuffer(rest[end:], KEY))
            return take_tokens(tokens, np.flatnonzero(moved)), self._units(rest[2:end])

    def put_moved_apart(self, digest: bytes, tokens: Sequence[str], units: Mapping[str, int]) -> None:
        """Keep what learning a message added to some of its tokens."""
        with self._tables.writing():
            added = self._blob(units)
            keys = np.ascontiguousarray(keys_of(tokens), KEY).tobytes()
            changed = np.array([OWN_TOKENS], KEY).tobytes() + len(added).to_bytes(2, "little") + added + keys
            self._tables.execute("INSERT INTO brought VALUES (?, ?, ?)", (digest, self._blob({}), changed))

    def drop_brought(self, digest: bytes) -> None:
        """Keep nothing of what a message brought and changed."""
        with self._tables.writing():
            self._tables.execute("DELETE FROM brought WHERE digest = ?", (digest,))

    def _blob(self, units: Mapping[str, int]) -> bytes:
        row = np.array([units.get(name, 0) for name in self._tables.class_ids()], np.int64)
        if np.abs(row).max(initial=0) > MAX_UNITS:
            raise SpamnbError(f"{self._tables.path}: a message brought more than a model file holds")
        return np.ascontiguousarray(row[1:], UNITS).tobytes()

    def put_all_brought(self, brought: MessageUnits) -> None:
        """Keep what messages brought, the columns in the order of the classes' numbers."""
        with self._tables.writing():
            self._tables.executemany("INSERT OR REPLACE INTO brought VALUES (?, ?, NULL)", self._rows_brought(brought))

    def _rows_brought(self, brought: MessageUnits) -> Iterator[tuple[bytes, bytes]]:
        """What messages brought as rows, without those that brought nothing."""
        if np.abs(brought.units).max(initial=0) > MAX_UNITS:
            raise SpamnbError(f"{self._tables.path}: a message brought more than a model file holds")
        some = np.flatnonzero(brought.units.any(axis=1))
        blobs = [row.tobytes() for row in np.ascontiguousarray(brought.units[some, 1:], UNITS)]
        return zip([brought.digests[i] for i in some.tolist()], blobs)

    def all_brought(self) -> MessageUnits:
        """What all messages brought, the columns in the order of the classes' numbers."""
        with self._tables.reading():
            rows = self._tables.execute("SELECT digest, units FROM brought ORDER BY digest").fetchall()
            found = from_brought(rows, len(self._tables.class_ids()))
            some = np.flatnonzero(found.units.any(axis=1))
            return MessageUnits([found.digests[i] for i in some.tolist()], found.units[some])
