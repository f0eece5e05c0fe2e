"""What was learned: each message's class, and what the filter taught itself lately, as rows of a model file."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from spamnb.errors import Damaged
from spamnb.formulas.calibration import BINS
from spamnb.store import checks

MESSAGES = "SELECT digest, name, taught, bins FROM messages LEFT JOIN classes ON classes.id = class"
LESSONS = "SELECT identity, digest, tokens FROM lessons"


class LearnedMessage(NamedTuple):
    """How a message was learned."""

    label: str
    taught: bool  # by a person, not by the filter itself
    bins: dict[str, int] | None  # where in the calibration it was added, by class; None where training saw it


def read_messages(rows: Iterable[tuple]) -> list[tuple[bytes, LearnedMessage]]:
    """CountCache of MESSAGES. Damaged where they hold something else."""
    found = checks.checked_rows(
        "messages", rows, digest=checks.is_digest, **{"class": checks.is_class_name}, taught=checks.int_between(1)
    )
    return [(digest, LearnedMessage(name, bool(taught), _bins(bins))) for digest, name, taught, bins in found]


def _bins(value: Any) -> dict[str, int] | None:
    if value is None:
        return None
    found = checks.parsed("messages", "bins", value)
    if not are_bins(found):
        raise Damaged(f"bins in table messages: {value!a:.40}")
    return found


def are_bins(value: Any) -> bool:
    """Is that what ``LearnedMessage.bins`` may be, of a message that was scored?"""
    return (
        type(value) is dict
        and all(map(checks.is_class_name, value))
        and all(map(checks.int_between(BINS - 1), value.values()))
    )


def read_lessons(rows: Iterable[tuple]) -> list[tuple[bytes, bytes, dict[str, int]]]:
    """CountCache of LESSONS: identity, digest, tokens. Damaged where they hold something else."""
    found = checks.checked_rows("lessons", rows, identity=checks.is_digest, digest=checks.is_digest)
    return [(identity, digest, checks.token_counts("lessons", "tokens", tokens)) for identity, digest, tokens in found]
