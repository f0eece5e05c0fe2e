"""The correction of a corrected model (formulas/correction.py): weights of tokens, what each message brought to them,
and the last lessons that were hard to tell.

A token's weights are part of its cells (rows.py). In table ``messages`` column ``brought`` holds what a message brought
to each of its tokens, a whole number of units a class. Column ``changed`` holds, as JSON, what learning it moved
elsewhere: in a hard message, by its number, or in some of its own tokens alone, by their hashes. Forgetting a message
takes exactly that back.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from spamnb.errors import Damaged, SpamnbError
from spamnb.learners.learner import HardMessage
from spamnb.reader.rows import take_tokens
from spamnb.store.database import MAX_SUM, checked_rows, int_between, is_blob, is_digest, is_text, parse_json
from spamnb.store.rows import MAX_UNITS, WEIGHT, described
from spamnb.store.snapshot import CorrectionSums, MessageUnits, TokenUnits
from spamnb.store.store import Store

UNITS = np.dtype("<i4")
# docs/experiments.md#correction: 100 do nearly as well, and 1,000 no better.
MAX_HARD = 300
MAX_TOKENS = 4_000  # of a hard message; one that has more is not kept


class CorrectionTables:
    """The correction of an open model file; ``store.Store.corrections`` is one."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.hard = HardMessages(store)

    # -- weights ---------------------------------------------------------------------------------------------

    def look_up(self, tokens: Sequence[str], classes: Sequence[str]) -> np.ndarray:
        """The weights of ``tokens`` (k,) in these classes, (C, k) in units."""
        store = self._store
        with store.reading():
            ids = store.view.class_ids
            rows, place = store.rows_of(described(tokens).hashes)
            return rows.dense(WEIGHT, len(ids), place)[[ids[name] for name in classes]]

    def add(self, tokens: Sequence[str], units: Mapping[str, int]) -> None:
        """Add so many units a class to the weight of each of ``tokens``, which are distinct."""
        store = self._store
        with store.writing():
            changes = {store.view.class_ids[name]: n for name, n in units.items() if n}
            named = described(tokens)
            rows, place = store.rows_of(named.hashes)
            if not changes or not len(place):
                return
            label, change = np.array(list(changes)), np.array(list(changes.values()), np.int64)
            weights = rows.dense(WEIGHT, len(store.view.class_ids), place)[label] + change[:, None]
            if np.abs(weights).max() > MAX_UNITS:
                raise SpamnbError(f"{store.path}: a token's weight is larger than a model file holds")
            store.change_weights(named, place, label, np.repeat(change[:, None], len(place), axis=1))

    def clear(self, tokens: Sequence[str]) -> None:
        """Leave ``tokens``, which no message holds any more, no weight, whatever it was."""
        store = self._store
        with store.writing():
            named = described(tokens)
            self.hard.drop_holding(named.hashes)
            rows, place = store.rows_of(named.hashes)
            if len(place):
                weights = rows.dense(WEIGHT, len(store.view.class_ids), place)
                store.change_weights(named, place, np.arange(len(weights)), -weights)

    # -- what messages brought -------------------------------------------------------------------------------

    def brought(self, digest: bytes) -> dict[str, int]:
        """What a message brought to each of its tokens, by class; nothing for one that is not there."""
        with self._store.reading():
            found = self._store.execute("SELECT brought FROM messages WHERE digest = ?", (digest,)).fetchone()
            return self._by_class(found[0]) if found and found[0] is not None else {}

    def put_brought(self, digest: bytes, units: Mapping[str, int]) -> None:
        """Keep what a learned message brought, by class."""
        with self._store.writing():
            blob = self._blobs(np.array([[units.get(name, 0) for name in self._store.view.class_ids]], np.int64))[0]
            self._store.execute("UPDATE messages SET brought = ? WHERE digest = ?", (blob, digest))

    def changed(self, digest: bytes) -> tuple[int, dict[str, int]] | None:
        """The number of the hard message that learning this one solved again, and what it added to it, by class."""
        found = self._changed(digest)
        if "hard" not in found:
            return None
        if not int_between(MAX_SUM)(found["hard"]):
            raise Damaged("changed in table messages")
        return found["hard"], found["units"]

    def put_changed(self, digest: bytes, number: int, units: Mapping[str, int]) -> None:
        """Keep what learning a message added to what a hard message brings."""
        self._put_changed(digest, {"hard": number, "units": units})

    def moved_apart(self, digest: bytes, tokens: Sequence[str]) -> tuple[Sequence[str], dict[str, int]] | None:
        """Those of a message's ``tokens`` that learning it moved alone, and by how much, by class."""
        found = self._changed(digest)
        if "tokens" not in found:
            return None
        if type(found["tokens"]) is not list or not all(map(int_between(1 << 63, -(1 << 63)), found["tokens"])):
            raise Damaged("changed in table messages")
        named = described(tokens)
        moved = np.isin(named.hashes, np.array(found["tokens"], np.int64))
        return take_tokens(named, np.flatnonzero(moved)), found["units"]

    def put_moved_apart(self, digest: bytes, tokens: Sequence[str], units: Mapping[str, int]) -> None:
        """Keep what learning a message added to some of its tokens."""
        self._put_changed(digest, {"tokens": described(tokens).hashes.tolist(), "units": units})

    def drop_brought(self, digest: bytes) -> None:
        """Keep nothing of what a message brought and changed."""
        with self._store.writing():
            self._store.execute("UPDATE messages SET brought = NULL, changed = NULL WHERE digest = ?", (digest,))

    def _changed(self, digest: bytes) -> dict[str, Any]:
        with self._store.reading():
            rows = self._store.execute("SELECT changed FROM messages WHERE digest = ?", (digest,)).fetchall()
            if not rows or rows[0][0] is None:
                return {}
            found = parse_json("messages", "changed", rows[0][0])
            units = found.get("units") if type(found) is dict else None
            if type(units) is not dict or not units.keys() <= self._store.view.class_ids.keys():
                raise Damaged("changed in table messages")
            if not all(map(int_between(MAX_UNITS, -MAX_UNITS), units.values())):
                raise Damaged("changed in table messages")
            return found

    def _put_changed(self, digest: bytes, changed: Mapping[str, Any]) -> None:
        with self._store.writing():
            changed = {**changed, "units": {name: n for name, n in changed["units"].items() if n}}
            put = "UPDATE messages SET changed = ? WHERE digest = ?"
            self._store.execute(put, (json.dumps(changed, ensure_ascii=False), digest))

    def _by_class(self, blob: Any) -> dict[str, int]:
        names = list(self._store.view.class_ids)
        return {name: n for name, n in zip(names, _units([blob], len(names))[0].tolist()) if n}

    def _blobs(self, units: np.ndarray) -> list[bytes]:
        if np.abs(units).max(initial=0) > MAX_UNITS:
            raise SpamnbError(f"{self._store.path}: a message brought more than a model file holds")
        return [row.tobytes() for row in np.ascontiguousarray(units, UNITS)]

    # -- the whole -------------------------------------------------------------------------------------------

    def put_all_brought(self, brought: MessageUnits) -> None:
        """Keep what messages brought, the columns in the order of the classes' numbers."""
        with self._store.writing():
            some = np.flatnonzero(brought.units.any(axis=1))
            blobs = self._blobs(brought.units[some])
            put = "UPDATE messages SET brought = ? WHERE digest = ?"
            self._store.executemany(put, sorted(zip(blobs, [brought.digests[i] for i in some.tolist()])))

    def all_brought(self) -> MessageUnits:
        """What all messages brought, the columns in the order of the classes' numbers."""
        with self._store.reading():
            statement = "SELECT digest, brought FROM messages WHERE brought NOT NULL ORDER BY digest"
            rows = checked_rows("messages", self._store.execute(statement), digest=is_digest, brought=is_blob)
            units = _units([blob for _, blob in rows], len(self._store.view.class_ids))
            some = np.flatnonzero(units.any(axis=1))
            return MessageUnits([rows[i][0] for i in some.tolist()], units[some])

    def whole(self) -> CorrectionSums:
        """The whole correction."""
        with self._store.reading():
            rows = self._store.all_rows()
            units = rows.dense(WEIGHT, len(self._store.view.class_ids), np.arange(len(rows))).T
            some = units.any(axis=1)
            weights = TokenUnits(rows.hashes[some], units[some])
            return CorrectionSums(tuple(self._store.view.class_ids), weights, self.all_brought())


def _units(blobs: Sequence[Any], classes: int) -> np.ndarray:
    """What each of m messages brought, (m, classes); classes that came later than it have 0."""
    out = np.zeros((len(blobs), classes), np.int64)
    try:
        for row, blob in zip(out, blobs):
            units = np.frombuffer(blob, UNITS)
            row[: len(units)] = units
    except (TypeError, ValueError):
        raise Damaged("brought in table messages that is no numbers, or of more classes than there are") from None
    return out


class HardMessages:
    """The last lessons that a corrected model found hard, with their tokens: lessons after them solve them again.

    A row's number is larger than that of any row before it, and the newest row always stays, empty where its message
    was forgotten: what a lesson changed in a hard message can be taken back as long as the row of that number is there.
    """

    def __init__(self, store: Store) -> None:
        self._store = store

    def _numbers(self) -> list[int]:
        rows = self._store.execute("SELECT sequence FROM hard WHERE digest NOT NULL ORDER BY sequence")
        return [number for (number,) in checked_rows("hard", rows, sequence=int_between(MAX_SUM))]

    def pick(self, chance: bytes) -> HardMessage | None:
        """One of them, the same for the same 16 bytes ``chance``; None where there is none."""
        with self._store.reading():
            numbers = self._numbers()
            return self.get(numbers[int.from_bytes(chance[:8], "little") % len(numbers)]) if numbers else None

    def get(self, number: int) -> HardMessage | None:
        """The one of this number; None where it is there no longer."""
        with self._store.reading():
            rows = self._store.execute(
                "SELECT digest, class, offsets, tokens FROM hard WHERE sequence = ? AND digest NOT NULL", (number,)
            )
            names, vocabulary = list(self._store.view.class_ids), self._store.vocabulary
            kinds = {"class": int_between(len(names) - 1), "offsets": is_text, "tokens": is_text}
            for digest, label, offsets, tokens in checked_rows("hard", rows, digest=is_digest, **kinds):
                found, words = parse_json("hard", "offsets", offsets), parse_json("hard", "tokens", tokens)
                scores = {names[c]: score for c, score in enumerate(_scores(found, len(names))) if score is not None}
                if names[label] not in scores or not _are_words(words):
                    raise Damaged("a message in table hard without a score of its class, or without words")
                ids = np.unique(vocabulary.ids(words))
                return HardMessage(number, digest, names[label], scores, vocabulary.take(ids))
            return None

    def put(self, digest: bytes, label: str, offsets: dict[str, float], tokens: Sequence[str]) -> None:
        """Keep one more, and let go of the oldest of many."""
        if len(tokens) > MAX_TOKENS:
            return
        store = self._store
        with store.writing():
            ids = store.view.class_ids
            scores = json.dumps([offsets.get(name) for name in ids])
            words = json.dumps(list(tokens), ensure_ascii=False)
            self.drop(digest)
            newest = store.execute("SELECT coalesce(max(sequence), 0) + 1 FROM hard").fetchone()[0]
            store.execute("INSERT INTO hard VALUES (?, ?, ?, ?, ?)", (newest, digest, ids[label], scores, words))
            store.execute("DELETE FROM hard WHERE sequence <= ?", (newest - MAX_HARD,))

    def drop(self, digest: bytes) -> None:
        """Keep a message no longer."""
        with self._store.writing():
            gone = "UPDATE hard SET digest = NULL, offsets = '', tokens = '' WHERE digest = ?"
            self._store.execute(gone, (digest,))

    def drop_holding(self, hashes: np.ndarray) -> None:
        """Keep those no longer that hold one of the tokens with these hashes."""
        with self._store.writing():
            for hard in [self.get(number) for number in self._numbers()] if len(hashes) else []:
                if hard and np.isin(described(hard.tokens).hashes, hashes).any():
                    self.drop(hard.digest)


def _scores(found: object, classes: int) -> list[float | None]:
    if not isinstance(found, list) or len(found) > classes:
        raise Damaged("scores in table hard of more classes than there are")
    if not all(score is None or (type(score) is float and abs(score) < 1e9) for score in found):
        raise Damaged("scores in table hard that are no numbers")
    return found


def _are_words(words: object) -> bool:
    return isinstance(words, list) and set(map(type, words)) <= {str}
