"""Table ``messages``: how each message was learned.

To store one more fact of a learned message, add the field to ``MessageRecord``, to ``facts`` and to ``of_facts``.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from spamnb.core.curve import BINS
from spamnb.errors import Damaged
from spamnb.store.cells import MAX_UNITS
from spamnb.store.database import checked_rows, int_up_to, is_digest, parse_json
from spamnb.store.state import MAX_TYPICALITY
from spamnb.store.store import Store

_is_units = int_up_to(MAX_UNITS, -MAX_UNITS)
_is_typicality = int_up_to(MAX_TYPICALITY, -MAX_TYPICALITY)
_to_json = json.JSONEncoder(ensure_ascii=False).encode  # json.dumps makes an encoder for each message


class MessageRecord(NamedTuple):
    """How a message was learned."""

    label: str
    bins: dict[str, int] | None  # by class, its bin in the calibration's histogram; None for a message of training
    typicality: Mapping[str, int] = MappingProxyType({})  # by class, in units (model/decision.py)
    contribution: Mapping[str, int] = MappingProxyType({})  # units by class, added to the weights of its tokens
    # Units by which hard examples changed when the message was learned, by the number of the example and by class.
    changes: Mapping[int, Mapping[str, int]] = MappingProxyType({})

    def facts(self) -> dict[str, Any]:
        """Return all fields but the class, for a row or a line of an export."""
        contribution = {name: n for name, n in self.contribution.items() if n}
        facts = {
            "bins": self.bins,
            "typicality": dict(self.typicality) or None,
            "contribution": contribution or None,
            "changes": dict(self.changes) or None,
        }
        return {name: fact for name, fact in facts.items() if fact is not None}

    @classmethod
    def of_facts(cls, label: str, facts: Any, classes: Collection[str]) -> MessageRecord:
        """Make a learned message from the result of ``facts``; raise ValueError if it does not fit these classes."""
        if type(facts) is not dict:
            raise ValueError("facts that are not an object")
        bins, contribution, changes = facts.get("bins"), facts.get("contribution", {}), facts.get("changes", {})
        if bins is not None and (type(bins) is not dict or not all(map(int_up_to(BINS - 1), bins.values()))):
            raise ValueError("bins that the calibration does not have")
        typicality = facts.get("typicality", {})
        if (
            type(typicality) is not dict
            or {*typicality} != {*(bins or {})}
            or not all(map(_is_typicality, typicality.values()))
        ):
            raise ValueError("a typicality that does not fit the bins")
        if type(changes) is not dict or not all(number.isdecimal() and len(number) < 19 for number in changes):
            raise ValueError("changes that do not name hard examples")
        for units in (contribution, *changes.values()):
            check_correction(units, classes)
        return cls(label, bins, typicality, contribution, {int(number): units for number, units in changes.items()})


def check_correction(value: Any, classes: Collection[str]) -> None:
    """Raise ValueError unless the value is {class: units} that a correction can add to the weight of a token."""
    is_valid = type(value) is dict and {*value} <= {*classes} and all(map(_is_units, value.values()))
    if not is_valid or sum(value.values()):
        raise ValueError("units of a correction that are not whole numbers, are too large or do not sum to 0")


def read_learned(store: Store, digest: bytes) -> MessageRecord | None:
    """Return how the message with this digest was learned; None if it was not learned."""
    rows = _read(store, "WHERE digest = ?", digest)
    return rows[0][1] if rows else None


def read_all_learned(store: Store) -> list[tuple[bytes, MessageRecord]]:
    """Return (digest, how it was learned) of all messages, ascending by digest."""
    return _read(store, "ORDER BY digest")


def _read(store: Store, condition: str, *parameters: Any) -> list[tuple[bytes, MessageRecord]]:
    with store.reading():
        columns = "SELECT digest, class, coalesce(facts, '{}') FROM messages"
        classes, messages = list(store.class_ids()), []
        rows = checked_rows(
            "messages", store.execute(f"{columns} {condition}", parameters), digest=is_digest,
            **{"class": int_up_to(len(classes) - 1)}, facts=str,
        )  # fmt: skip
        for digest, label, text in rows:
            facts = parse_json("messages", "facts", text)
            try:
                messages.append((digest, MessageRecord.of_facts(classes[label], facts, classes)))
            except ValueError as error:
                raise Damaged(f"facts in table messages: {error}") from None
        return messages


def put_learned(store: Store, messages: Iterable[tuple[bytes, MessageRecord]]) -> None:
    """Write how messages were learned, by digest; rows of the same digests are replaced."""
    with store.writing():
        ids, rows = store.class_ids(), []
        for digest, learned in messages:
            facts = learned.facts()
            rows.append((digest, ids[learned.label], _to_json(facts) if facts else None))
        store.executemany("REPLACE INTO messages VALUES (?, ?, ?)", rows)


def delete_learned(store: Store, digest: bytes) -> None:
    """Delete the row of a message."""
    with store.writing():
        store.execute("DELETE FROM messages WHERE digest = ?", (digest,))
