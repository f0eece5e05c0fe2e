"""Table ``messages``: how each message was learned.

``MessageRecord.facts`` (model/delta.py) makes the JSON of a row, and ``MessageRecord.of_facts`` reads it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from spamnb.errors import Damaged
from spamnb.model.delta import NOT_LEARNED, MessageRecord
from spamnb.store.database import checked_rows, int_up_to, is_digest, parse_json
from spamnb.store.store import Store

_to_json = json.JSONEncoder(ensure_ascii=False).encode  # json.dumps makes an encoder for each message


def read_learned(store: Store, digest: bytes) -> MessageRecord:
    """Return how the message with this digest was learned; NOT_LEARNED if it was not."""
    return read_records(store, [digest]).get(digest, NOT_LEARNED)


def read_records(store: Store, digests: Sequence[bytes]) -> dict[bytes, MessageRecord]:
    """Return how the messages with these digests were learned, by digest; others are left out."""
    return dict(_read(store, f"WHERE digest IN ({', '.join('?' * len(digests))})", *digests))


def read_all_learned(store: Store) -> list[tuple[bytes, MessageRecord]]:
    """Return (digest, how it was learned) of all messages, ascending by digest."""
    return _read(store, "ORDER BY digest")


def _read(store: Store, condition: str, *parameters: Any) -> list[tuple[bytes, MessageRecord]]:
    with store.reading():
        columns = "SELECT digest, class, coalesce(facts, '{}') FROM messages"
        classes, messages = list(store.own.class_ids), []
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
        ids, rows = store.own.class_ids, []
        for digest, learned in messages:
            facts = learned.facts()
            rows.append((digest, ids[learned.label], _to_json(facts) if facts else None))
        store.executemany("REPLACE INTO messages VALUES (?, ?, ?)", rows)


def put_fact(store: Store, name: str, values: Iterable[tuple[bytes, Any]]) -> None:
    """Write one fact of messages that were learned, by digest, without reading their other facts."""
    with store.writing():
        rows = ((f"$.{name}", _to_json(value), digest) for digest, value in values)
        store.executemany(
            "UPDATE messages SET facts = json_set(coalesce(facts, '{}'), ?, json(?)) WHERE digest = ?", rows
        )


def delete_learned(store: Store, digest: bytes) -> None:
    """Delete the row of a message."""
    with store.writing():
        store.execute("DELETE FROM messages WHERE digest = ?", (digest,))
