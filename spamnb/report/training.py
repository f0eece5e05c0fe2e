"""What training says when it is done: how much it learned, and how well it judges each message left out of it."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from unicodedata import combining, east_asian_width

import numpy as np

from spamnb.evaluation.mislabelled import surest
from spamnb.formulas.decision import UNSURE
from spamnb.naming import pluralize
from spamnb.report.numbers import percent
from spamnb.training import LeaveOneOutResult

FEW = 50  # messages of a class below which its error estimate is worth little


def training_report(
    path: Path, left_out: LeaveOneOutResult, spam: str, read: int, unreadable: int, named: bool = False
) -> str:
    """Lines of text; ``read`` messages were counted for the model at ``path``. How many look mislabelled is said where
    these are not ``named`` beside it."""
    documents = left_out.documents
    lines = [f"{path}: {pluralize(documents.sum(), 'message')}, {pluralize(left_out.tokens, 'different token')}"]
    if copies := read - int(documents.sum()) - left_out.doubted:
        lines.append(f"copies of these, not learned again: {copies:,}")
    if unreadable:
        lines.append(f"left out, as told above: {unreadable:,}")
    if len(left_out.classes) < 2:
        return "\n".join(
            [*lines, f"Only class {left_out.classes[0]!r}: nothing to tell it from. Learn another class."]
        )
    truth = np.array(left_out.classes)[left_out.labels]
    verdicts = np.array(left_out.verdicts)
    actions = [*left_out.classes, *([UNSURE] if UNSURE in left_out.verdicts else [])]
    parts = left_out.n_folds
    lines.append(
        f"The messages in {parts} parts, each judged by a model of the others:"
        if parts
        else "Each message judged by the model without it:"
    )
    width = max(_cells(name) for name in actions)
    if len(actions) <= 8:
        gap = {name: " " * (width - _cells(name)) for name in actions}
        lines.append(" " * (width + 12) + " ".join(f" {gap[name]}→ {name}" for name in actions))
        for name in left_out.classes:
            n = int((truth == name).sum())
            row = [int((verdicts[truth == name] == action).sum()) for action in actions]
            lines.append(f"  {name}{gap[name]} {n:>8,} " + " ".join(f"{count:>{width + 3},}" for count in row))
    lines += _errors(truth, verdicts, spam)
    if spam not in left_out.classes:
        lines.append(f"  there is no class {spam!r}, so all errors cost the same; --set spam=CLASS names another")
    number = {name: c for c, name in enumerate(left_out.classes)}
    said = np.array([number.get(verdict, -1) for verdict in left_out.verdicts])
    if suspects := 0 if named else len(surest(left_out.scores, left_out.probabilities, left_out.labels, said)):
        told = f"{pluralize(suspects, 'message')} {'looks' if suspects == 1 else 'look'} mislabelled"
        lines.append(f"  {told}: --doubtful {suspects} says which and why")
    if n := left_out.doubted:
        them = "it was" if n == 1 else "they were"
        lines.append(f"  The labels of {pluralize(n, 'message')} contradict all the others: {them} not learned.")
    few = [f"{name!r} ({n})" for name, n in zip(left_out.classes, documents) if n < FEW]
    if few:
        lines.append(f"  few messages of class {', '.join(few)}: these figures and all probabilities are rough")
    if newest := left_out.newest:
        since = datetime.fromtimestamp(newest.since, UTC).date()
        number_of = pluralize(len(newest.labels), "message")
        lines.append(f"The newest fifth, {number_of} since {since}, judged by a model of the older ones:")
        lines += _errors(np.array(left_out.classes)[newest.labels], np.array(newest.verdicts), spam)
        lines.append("  For mail to come believe these: above, messages were judged by a model that knew newer mail.")
    return "\n".join(lines)


def _errors(truth: np.ndarray, verdicts: np.ndarray, spam: str) -> list[str]:
    """How many verdicts are wrong, and what that means for good mail and spam."""
    wrong = (verdicts != truth) & (verdicts != UNSURE)
    unsure = verdicts == UNSURE
    also = f", unsure: {unsure.sum():,} ({percent(100 * unsure.mean())} %)" if unsure.any() else ""
    lines = [f"  wrong: {wrong.sum():,} of {len(truth):,} ({percent(100 * wrong.mean())} %){also}"]
    good = truth != spam
    if not good.all():
        lost, through = (verdicts[good] == spam).mean(), (verdicts[~good] != spam).mean()
        doubted = unsure[~good].mean()  # delivered, so let through, and yet not wrong
        of_it = f" ({percent(100 * (through - doubted))} % called good, {percent(100 * doubted)} % unsure)"
        said = f"  good mail lost {percent(100 * lost)} %, spam let through {percent(100 * through)} %"
        lines.append(said + (of_it if doubted else ""))
    return lines


def _cells(name: str) -> int:
    """Columns that a name takes in a terminal: rich would count them too, but training does without it."""
    return sum(2 if east_asian_width(letter) in "WF" else 0 if combining(letter) else 1 for letter in name)
