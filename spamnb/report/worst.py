"""The errors that a person should look at first: the wrong verdicts that gave the true class least, and why."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spamnb.evaluation.result import Result
from spamnb.formulas.decision import UNSURE as UNSURE_NAME
from spamnb.report.numbers import count

WORST = 12  # errors shown of each kind
TOKENS = 12  # of each error's evidence


class Error(NamedTuple):
    """A wrong verdict: what is known of the message, and the evidence for the class that was likeliest."""

    tags: list[str]
    subject: str
    name: str
    likeliest: str
    evidence: list[tuple[str, str]]  # tokens and their weights in nats


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
    tokens = detail.evidence[:TOKENS] if detail else ()
    evidence = [(token if len(token) <= 60 else token[:59] + "…", f"{weight:+.2f}") for token, weight in tokens]
    return Error(tags, subject[:300], result.names[row][-300:], best, evidence)
