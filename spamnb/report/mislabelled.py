"""Messages that may stand in the wrong folder, as lines for a person who cleans it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from spamnb.evaluation.mislabelled import Doubtful, Head
from spamnb.naming import escape, pluralize
from spamnb.report.numbers import percent

LONGEST = 70  # characters of a sender or a subject
REASONS = 6  # tokens of each message
LISTED = 10  # messages that stand in several classes


def shortened(text: str) -> str:
    """One line of text for a terminal, of at most LONGEST characters.

    >>> shortened("caf\\x1b[2J  \\n au lait"), len(shortened("x" * 99))
    ('caf\\\\x1b[2J au lait', 70)
    """
    text = " ".join(text[: 4 * LONGEST].split())
    text = escape(text if len(text) <= LONGEST else text[: LONGEST - 1] + "…")
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def doubtful_lines(found: Sequence[Doubtful], heads: Mapping[tuple[str, str], Head]) -> list[str]:
    """Three lines a message: why it looks mislabelled; who sent it, and what about; and where it is."""
    if not found:
        return ["No message looks mislabelled."]
    lines = [f"{pluralize(len(found), 'message')} may stand in the wrong folder, the surest first:"]
    for message in found:
        sure = percent(100 * message.probability)
        lines.append(f"  {escape(message.name)}: labelled {message.label}, looks like {message.likeliest} ({sure} %)")
        if head := heads.get((message.name, message.label)):
            sender, subject = (shortened(text) or "(none)" for text in head)
            lines.append(f"    From: {sender}   Subject: {subject}")
        reasons = [shortened(token) for token, weight in message.evidence if weight > 0][:REASONS]
        if reasons:
            lines.append(f"    because of {', '.join(reasons)}")
    return lines


def conflict_lines(groups: Sequence[Sequence[tuple[str, str]]], count: int) -> list[str]:
    """The first of ``count`` messages that stand in several classes, given as (class, name) of each copy."""
    if not count:
        return []
    verb = "stands" if count == 1 else "stand"
    lines = [f"{pluralize(count, 'message')} {verb} in several classes; the last that is named counts:"]
    lines += ["  " + ", ".join(f"{label} {escape(name)}" for label, name in group) for group in groups if group]
    if count > len(groups):
        lines.append(f"  … and {count - len(groups):,} more")
    return lines
