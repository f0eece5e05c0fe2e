"""Messages that stand in the wrong folder, as the model sees it: it was not told of them, and is sure of another class.

A person can look at them first: what a folder holds by mistake is learned, and makes others of its kind go wrong.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from spamnb.evaluation.result import Result
from spamnb.reader.message import header_of
from spamnb.sources.entries import Entry

SURE = 0.9  # probability of another class: above it the default costs call mail spam


class Doubtful(NamedTuple):
    """A message labelled as one class that looks like another."""

    name: str
    label: str
    likeliest: str
    probability: float  # of the likeliest
    evidence: Sequence[tuple[str, float]]  # (token, nats), heaviest first; above 0 speaks for the likeliest


class Head(NamedTuple):
    """What a person knows a message by."""

    sender: str
    subject: str


def doubtful(result: Result, limit: int) -> list[Doubtful]:
    """The messages whose verdict is another class, with probability SURE or more, the surest first, at most ``limit``.

    Evidence is there for those that ``result.details`` explains.
    """
    out = []
    for row in surest(result.scores, result.probabilities, result.truth, result.verdicts)[:limit].tolist():
        detail = result.details.get(row)
        said = result.verdicts[row]
        label, likeliest, p = result.classes[result.truth[row]], result.classes[said], result.probabilities[row, said]
        out.append(Doubtful(result.names[row], label, likeliest, float(p), detail.evidence if detail else ()))
    return out


def surest(scores: np.ndarray, probabilities: np.ndarray, labels: np.ndarray, verdicts: np.ndarray) -> np.ndarray:
    """Rows of the messages that look mislabelled, the surest first: of n messages with ``scores`` and ``probabilities``
    (n, C), and class numbers (n,) as labels and as verdicts, −1 for unsure.

    >>> p = np.array([[0.02, 0.98], [0.3, 0.7], [0.05, 0.95], [0.01, 0.99]])
    >>> surest(np.log(p), p, np.array([0, 0, 1, 0]), np.array([1, 1, 1, 1]))
    array([3, 0])
    """
    wrong = np.flatnonzero((verdicts >= 0) & (verdicts != labels))
    p = probabilities[wrong, verdicts[wrong]]
    with np.errstate(invalid="ignore"):  # −∞ less −∞, where neither class was known
        margin = scores[wrong, verdicts[wrong]] - scores[wrong, labels[wrong]]
    order = np.lexsort((-margin, -p))
    return wrong[order[p[order] >= SURE]]


def heads(entries: Iterable[Entry], wanted: Iterable[tuple[str, str]]) -> dict[tuple[str, str], Head]:
    """Sender and subject of the messages with these names and labels; the sources are gone through once more, and only
    these messages read. What has gone since has none."""
    missing = set(wanted)
    found: dict[tuple[str, str], Head] = {}
    for entry in _until(entries, missing):
        key = entry.name, entry.label or ""
        if key in missing:
            missing.discard(key)
            try:
                raw = entry.read()
            except OSError:
                continue
            found[key] = Head(header_of(raw, "from"), header_of(raw, "subject"))
    return found


def _until(entries: Iterable[Entry], missing: set[tuple[str, str]]) -> Iterator[Entry]:
    """Entries as long as something is missing."""
    for entry in entries:
        if not missing:
            return
        yield entry


def named(entries: Iterable[Entry], groups: Sequence[Sequence[tuple[int, str]]]) -> list[list[tuple[str, str]]]:
    """(class, name) of every message in groups of (place, class); those whose place holds another class now are left
    out, for the sources have changed since."""
    wanted = {place: label for group in groups for place, label in group}
    last = max(wanted, default=-1)
    names: dict[int, str] = {}
    for place, entry in enumerate(entries):
        if wanted.get(place) == entry.label and place in wanted:
            names[place] = entry.name
        if place >= last:
            break
    return [[(label, names[place]) for place, label in group if place in names] for group in groups]
