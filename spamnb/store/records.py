"""Table ``messages``: how each message was learned.

To remember one more thing of a learned message, add the field to ``LearnedMessage``, to ``facts`` and to ``of_facts``.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from spamnb.errors import Damaged
from spamnb.formulas.calibration import BINS
from spamnb.store.database import checked_rows, int_between, is_digest, parse_json
from spamnb.store.rows import MAX_UNITS
from spamnb.store.store import Store

_is_units = int_between(MAX_UNITS, -MAX_UNITS)
_to_json = json.JSONEncoder(ensure_ascii=False).encode  # json.dumps makes an encoder for each message


class LearnedMessage(NamedTuple):
    """How a message was learned."""

    label: str
    bins: dict[str, int] | None  # where in the calibration it was added, by class; None where training saw it
    contribution: Mapping[str, int] = MappingProxyType({})  # units that it adds to the weight of its tokens, by class
    # Units by which learning it changed hard examples, by the example's number and by class.
    changes: Mapping[int, Mapping[str, int]] = MappingProxyType({})

    def facts(self) -> dict[str, Any]:
        """Return what is known of it beside its class: its part of a row, and of a line of an export."""
        contribution = {name: n for name, n in self.contribution.items() if n}
        facts = {"bins": self.bins, "contribution": contribution or None, "changes": dict(self.changes) or None}
        return {name: fact for name, fact in facts.items() if fact is not None}

    @classmethod
    def of_facts(cls, label: str, facts: Any, classes: Collection[str]) -> LearnedMessage:
        """From what ``facts`` gave, in a model of these classes. ValueError where it says something else."""
        if type(facts) is not dict:
            raise ValueError("facts that are no object")
        bins, contribution, changes = facts.get("bins"), facts.get("contribution", {}), facts.get("changes", {})
        if bins is not None and (type(bins) is not dict or not all(map(int_between(BINS - 1), bins.values()))):
            raise ValueError("bins that are none of the calibration's")
        if type(changes) is not dict or not all(number.isdecimal() and len(number) < 19 for number in changes):
            raise ValueError("changes that are none of hard examples")
        for units in (contribution, *changes.values()):
            check_correction(units, classes)
        return cls(label, bins, contribution, {int(number): units for number, units in changes.items()})


def check_correction(value: Any, classes: Collection[str]) -> None:
    """ValueError where that is not what a correction adds to the weight of a token, in units by class."""
    known = type(value) is dict and {*value} <= {*classes} and all(map(_is_units, value.values()))
    if not known or sum(value.values()):
        raise ValueError("units of a correction that are no whole numbers, or too large, or do not sum to 0")


def learned_message(store: Store, digest: bytes) -> LearnedMessage | None:
    """Return how a message was learned, by its digest; None if it was not."""
    found = _read(store, "WHERE digest = ?", digest)
    return found[0][1] if found else None


def learned_messages(store: Store) -> list[tuple[bytes, LearnedMessage]]:
    """Return (digest, how it was learned) of all messages, ascending by digest."""
    return _read(store, "ORDER BY digest")


def _read(store: Store, which: str, *values: Any) -> list[tuple[bytes, LearnedMessage]]:
    with store.reading():
        columns = "SELECT digest, class, coalesce(facts, '{}') FROM messages"
        classes, messages = list(store.class_ids()), []
        rows = checked_rows(
            "messages", store.execute(f"{columns} {which}", values), digest=is_digest,
            **{"class": int_between(len(classes) - 1)}, facts=str,
        )  # fmt: skip
        for digest, label, written in rows:
            facts = parse_json("messages", "facts", written)
            try:
                messages.append((digest, LearnedMessage.of_facts(classes[label], facts, classes)))
            except ValueError as error:
                raise Damaged(f"facts in table messages: {error}") from None
        return messages


def put_learned(store: Store, messages: Iterable[tuple[bytes, LearnedMessage]]) -> None:
    """Note that these messages were learned, by digest, in place of what is there of them."""
    with store.writing():
        ids, rows = store.class_ids(), []
        for digest, learned in messages:
            facts = learned.facts()
            rows.append((digest, ids[learned.label], _to_json(facts) if facts else None))
        store.executemany("REPLACE INTO messages VALUES (?, ?, ?)", rows)


def delete_learned(store: Store, digest: bytes) -> None:
    """Note that a message is learned no longer."""
    with store.writing():
        store.execute("DELETE FROM messages WHERE digest = ?", (digest,))
