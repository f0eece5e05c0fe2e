"""What a model file holds beside its sums, checked as it is read: learned messages, arrays and vectors."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from spamnb.errors import Damaged
from spamnb.formulas.calibration import BINS
from spamnb.store.database import (
    checked_rows,
    int_between,
    is_blob,
    is_class_name,
    is_digest,
    is_text,
    parse_json,
    token_counts,
)
from spamnb.store.rows import MAX_COUNT

VECTOR = np.dtype("<f4")
MESSAGES = "SELECT digest, name, taught, bins FROM messages LEFT JOIN classes ON classes.id = class"
AUTOLEARNED = "SELECT identity, digest, tokens FROM autolearned"


class LearnedMessage(NamedTuple):
    """How a message was learned."""

    label: str
    taught: bool  # by a person, not by the filter itself
    bins: dict[str, int] | None  # where in the calibration it was added, by class; None where training saw it


def read_messages(rows: Iterable[tuple]) -> list[tuple[bytes, LearnedMessage]]:
    """Rows of MESSAGES, checked. Damaged where they hold something else."""
    found = checked_rows("messages", rows, digest=is_digest, **{"class": is_class_name}, taught=int_between(1))
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


def read_autolearned(rows: Iterable[tuple]) -> list[tuple[bytes, bytes, dict[str, int]]]:
    """Rows of AUTOLEARNED, checked: identity, digest, tokens. Damaged where they hold something else."""
    found = checked_rows("autolearned", rows, identity=is_digest, digest=is_digest)
    return [(identity, digest, token_counts("autolearned", "tokens", tokens)) for identity, digest, tokens in found]


def array_of(name: str, dtype: str, shape: str, content: bytes) -> np.ndarray:
    """The array that is kept so; ``shape`` is JSON. Damaged where that is none of finite numbers."""
    try:
        sides = json.loads(shape)
        if not all(map(int_between(MAX_COUNT), sides)):
            raise ValueError("no shape")
        array = np.frombuffer(content, np.dtype(dtype)).reshape(sides)
        if array.dtype.kind not in "iuf" or not np.isfinite(array).all():
            raise ValueError("no finite numbers")
    except (ValueError, TypeError, SyntaxError, RecursionError):  # SyntaxError: numpy, of some types
        raise Damaged(f"array {name} does not hold what it should") from None
    return array


def array_of_row(name: str, described: Any, content: Any) -> np.ndarray:
    """The array of a row of table ``meta``: ``described`` is the JSON of its dtype and shape."""
    found = parse_json("meta", "value", described)
    if type(found) is not list or len(found) != 2 or type(found[0]) is not str or not is_blob(content):
        raise Damaged(f"array {name} does not hold what it should")
    return array_of(name, found[0], json.dumps(found[1]), content)


def vectors_of(rows: Iterable[tuple[str, bytes]]) -> dict[str, np.ndarray]:
    """Tokens and their vectors."""
    found = checked_rows("tokens", rows, token=is_text, vector=is_blob)
    if any(len(vector) % VECTOR.itemsize for _, vector in found):
        raise Damaged("vectors that were cut short")
    if not np.isfinite(np.frombuffer(b"".join(vector for _, vector in found), VECTOR)).all():
        raise Damaged("vectors that hold no numbers")
    return {token: np.frombuffer(vector, VECTOR) for token, vector in found}


def dense_vectors(found: Mapping[str, np.ndarray], tokens: Iterable[str]) -> np.ndarray | None:
    """The vectors of ``tokens`` as the rows of one array (V, d), 0 where one has none; None where no token has any."""
    if not found:
        return None
    every = list(tokens)
    vectors = np.zeros((len(every), max(map(len, found.values()))), VECTOR)
    for j, token in enumerate(every):
        if token in found:
            vectors[j, : len(found[token])] = found[token]
    return vectors
