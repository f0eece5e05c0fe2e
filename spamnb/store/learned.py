"""What was learned: each message's class, and what the filter taught itself lately, as rows of a model file."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from spamnb.errors import Damaged
from spamnb.formulas.calibration import BINS
from spamnb.store.database import checked_rows, int_between, is_class_name, is_digest, parse_json, token_counts

MESSAGES = "SELECT digest, name, taught, bins FROM messages LEFT JOIN classes ON classes.id = class"
LESSONS = "SELECT identity, digest, tokens FROM lessons"


class LearnedMessage(NamedTuple):
    """How a message was learned."""

    label: str
    taught: bool  # by a person, not by the filter itself
    bins: dict[str, int] | None  # where in the calibration it was added, by class; None where training saw it


def read_messages(rows: Iterable[tuple]) -> list[tuple[bytes, LearnedMessage]]:
    """Rows of MESSAGES, checked. Damaged where they hold something else."""
    found = checked_rows(
        "messages", rows, digest=is_digest, **{"class": is_class_name}, taught=int_between(1)
    )
    return [(digest, LearnedMessage(name, bool(taught), _bins(bins))) for digest, name, taught, bins in found]


def _bins(value: Any) -> dict[str, int] | None:
    if value is None:
        return None
    found = parse_json("messages", "bins", value)
    if not are_bins(found):
        raise Damaged(f"bins in table messages: {value!a:.40}")
    return found


def are_bins(value: Any) -> bool:
    """Is that what ``LearnedMessage.bins`` may be, of a message that was scored?"""
    return (
        type(value) is dict
        and all(map(is_class_name, value))
        and all(map(int_between(BINS - 1), value.values()))
    )


def messages_rows(messages: Iterable[tuple[bytes, LearnedMessage]], ids: Mapping[str, int]) -> Iterator[tuple]:
    """Rows of table ``messages``; ``ids`` are the numbers of the classes."""
    return (
        (digest, ids[label], int(taught), None if bins is None else json.dumps(bins))
        for digest, (label, taught, bins) in messages
    )


def read_lessons(rows: Iterable[tuple]) -> list[tuple[bytes, bytes, dict[str, int]]]:
    """Rows of LESSONS, checked: identity, digest, tokens. Damaged where they hold something else."""
    found = checked_rows("lessons", rows, identity=is_digest, digest=is_digest)
    return [(identity, digest, token_counts("lessons", "tokens", tokens)) for identity, digest, tokens in found]
