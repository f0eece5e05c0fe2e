"""Messages that may stand in the wrong folder: which, why, and how a person knows them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from spamnb.naming import escape, pluralize
from spamnb.reader.meaning import meaning

if TYPE_CHECKING:
    from spamnb.evaluation.result import Result

LONGEST = 70  # characters of a sender or a subject
REASONS = 6  # tokens of each message


class Doubtful(NamedTuple):
    """A message labelled as one class that looks like another."""

    name: str
    label: str
    likeliest: str
    probability: float  # of the likeliest
    evidence: Sequence[tuple[str, float]]  # (token, nats), heaviest first; above 0 speaks for the likeliest
    sender: str = ""
    subject: str = ""


def lines_of(doubtful: list[Doubtful]) -> list[str]:
    """Three lines a message: why it looks mislabelled; who sent it, and what about; and what says so."""
    from spamnb.report.numbers import percent

    if not doubtful:
        return ["No message looks mislabelled."]
    lines = [f"{pluralize(len(doubtful), 'message')} may stand in the wrong folder, the surest first:"]
    for each in doubtful:
        sure = percent(100 * each.probability)
        lines.append(f"  {escape(each.name)}: labelled {each.label}, looks like {each.likeliest} ({sure} %)")
        sender, subject = (shortened(text) or "(none)" for text in (each.sender, each.subject))
        lines.append(f"    From: {sender}   Subject: {subject}")
        reasons = [shortened(meaning(token) or token) for token, weight in each.evidence if weight > 0][:REASONS]
        if reasons:
            lines.append(f"    because of {'; '.join(reasons)}")
    return lines


def shortened(text: str) -> str:
    """One line of text for a terminal, of at most LONGEST characters.

    >>> shortened("caf\\x1b[2J  \\n au lait"), len(shortened("x" * 99))
    ('caf\\\\x1b[2J au lait', 70)
    """
    text = escape(" ".join(text[: 4 * LONGEST].split())[: LONGEST + 1])
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def mislabelled(result: Result, limit: int) -> list[Doubtful]:
    """At most ``limit`` messages of a result that look mislabelled, the surest first, with what is known of
    them."""
    from spamnb.evaluation.metrics import surest

    found = []
    for row in surest(result.scores, result.probabilities, result.truth, result.verdicts)[:limit].tolist():
        told = result.errors[row]
        p = told.probabilities[told.verdict]
        found.append(Doubtful(told.name, told.truth, told.verdict, p, told.evidence, told.sender, told.subject))
    return found
