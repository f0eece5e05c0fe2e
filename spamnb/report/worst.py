"""The errors that a person should look at first: the wrong verdicts that gave the true class least, and why."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spamnb.evaluation.result import Result
from spamnb.formulas.decision import UNSURE as UNSURE_NAME
from spamnb.report import svg
from spamnb.report.numbers import count

WORST = 12  # errors shown of each kind
TOKENS = 12  # of each error's evidence
BAR = 90  # what the longest bar of evidence has to either side


class Token(NamedTuple):
    """A piece of evidence: its bar is SVG, ``nats`` its weight as text."""

    text: str
    bar: str
    nats: str


class Error(NamedTuple):
    """A wrong verdict: what is known of the message, and the evidence for the class that was likeliest."""

    tags: list[str]
    subject: str
    name: str
    likeliest: str
    evidence: list[Token]


class Group(NamedTuple):
    """Errors of one kind, the worst first; ``shown`` says how many of how many."""

    title: str
    shown: str
    errors: list[Error]


def worst(result: Result) -> list[Group]:
    """Errors by kind; good mail lost before all others. Nothing where every verdict is right."""
    wrong = np.flatnonzero(~result.right)
    if not len(wrong):
        return []
    true = result.truth[wrong]
    if result.calibrated:
        weight = -result.probabilities[wrong, true]
    else:
        with np.errstate(invalid="ignore"):  # both may be −∞: no number, and last
            weight = result.scores[wrong].max(axis=1) - result.scores[wrong, true]
    wrong = wrong[np.argsort(-weight, kind="stable")]
    spam = result.spam_index
    if spam is None:
        return [_group(result, "Worst errors", wrong)]
    lost = (result.verdicts[wrong] == spam) & (result.truth[wrong] != spam)
    missed = result.truth[wrong] == spam
    groups = [_group(result, "Good mail called spam", wrong[lost]), _group(result, "Spam let through", wrong[missed])]
    others = wrong[~lost & ~missed]
    return [*groups, _group(result, "Other errors", others)] if len(others) else groups


def _group(result: Result, title: str, rows: NDArray[np.int64]) -> Group:
    shown = count(len(rows)) if len(rows) else "none"
    if len(rows) > WORST:
        shown = f"the worst {WORST} of {shown}"
    return Group(title, shown, [_error(result, row) for row in rows[:WORST].tolist()])


def _error(result: Result, row: int) -> Error:
    names = [*result.classes, UNSURE_NAME]  # index −1 is the last
    true = result.classes[result.truth[row]]
    tags = [f"{true} → {names[result.verdicts[row]]}"]
    if result.calibrated:
        tags.append(f"p({true}) = {result.probabilities[row, result.truth[row]]:.4f}")
    detail = result.details.get(row)
    subject = detail.subject if detail and detail.subject else "(no subject)"
    # By probability, as the evidence is: it may be another class than that of the highest score.
    best = result.classes[int((result.probabilities if result.calibrated else result.scores)[row].argmax())]
    evidence = _tokens(detail.evidence[:TOKENS], best == result.spam) if detail else []
    return Error(tags, subject[:300], result.names[row][-300:], best, evidence)


def _tokens(evidence: Sequence[tuple[str, float]], for_spam: bool) -> list[Token]:
    """A bar per token; orange speaks for spam, where the likeliest class is spam, else against the likeliest."""
    largest = max((abs(weight) for _, weight in evidence), default=1.0) or 1.0
    tokens = []
    for text, weight in evidence:
        wide = (BAR - 4) * abs(weight) / largest
        left = BAR if weight > 0 else BAR - wide
        bar = svg.rect(left, 1, wide, 10, "bar spam" if (weight > 0) == for_spam else "bar ham")
        middle = svg.line([(BAR, 0), (BAR, 12)], "axis")
        picture = svg.picture(2 * BAR, 12, f"{weight:+.2f} nats", [bar, middle])
        tokens.append(Token(text if len(text) <= 60 else text[:59] + "…", picture, f"{weight:+.2f}"))
    return tokens
