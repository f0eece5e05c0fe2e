"""What was learned: each message's class, and what the filter taught itself lately, as rows of a model file."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from spamnb import sound
from spamnb.calibration import BINS
from spamnb.errors import Damaged

MESSAGES = "SELECT digest, name, taught, bins FROM messages LEFT JOIN classes ON classes.id = class"
LESSONS = "SELECT identity, digest, tokens FROM lessons"


class Learned(NamedTuple):
    """How a message was learned."""

    label: str
    taught: bool  # by a person, not by the filter itself
    bins: dict[str, int] | None  # where in the calibration it was added, by class; None where training saw it


def read_messages(rows: Iterable[tuple]) -> list[tuple[bytes, Learned]]:
    """Rows of MESSAGES. Damaged where they hold something else."""
    found = sound.rows("messages", rows, digest=sound.digest, **{"class": sound.name}, taught=sound.whole(1))
    return [(digest, Learned(name, bool(taught), _bins(bins))) for digest, name, taught, bins in found]


def _bins(value: Any) -> dict[str, int] | None:
    if value is None:
        return None
    found = sound.parsed("messages", "bins", value)
    if not are_bins(found):
        raise Damaged(f"bins in table messages: {value!a:.40}")
    return found


def are_bins(value: Any) -> bool:
    """Is that what ``Learned.bins`` may be, of a message that was scored?"""
    return type(value) is dict and all(map(sound.name, value)) and all(map(sound.whole(BINS - 1), value.values()))


def read_lessons(rows: Iterable[tuple]) -> list[tuple[bytes, bytes, dict[str, int]]]:
    """Rows of LESSONS: identity, digest, tokens. Damaged where they hold something else."""
    found = sound.rows("lessons", rows, identity=sound.digest, digest=sound.digest)
    return [(identity, digest, sound.counted("lessons", "tokens", tokens)) for identity, digest, tokens in found]
