"""An evaluation as tables: rows of text, which the terminal and the page show."""

from __future__ import annotations

import math
from collections.abc import Sequence

from spamnb.evaluation.figures import Figures
from spamnb.evaluation.intervals import HM_LIMIT, Estimate
from spamnb.formulas.decision import UNSURE
from spamnb.report.table import Table, drawn
from spamnb.shown_text import pluralize

MATRIX_CLASSES = 8  # a matrix of more fits neither a terminal nor a telephone: the most frequent mistakes stand for it


def text(found: Figures, verbose: bool = False) -> str:
    """The tables for a terminal."""
    return drawn(tables(found, verbose))


def tables(found: Figures, verbose: bool = False) -> list[Table]:
    """Headline, classes and verdicts. Of spam and one class of good mail the headline says all that the table of
    classes does: it is for ``verbose``."""
    title = f"{found.protocol}: {pluralize(found.messages, 'message')}"
    shown = [Table(title, ("", "value", "95 % interval"), headline(found))]
    if verbose or found.spam is None or len(found.classes) > 2:
        shown.append(class_table(found))
    if len(found.classes) <= MATRIX_CLASSES:
        shown.append(confusion_table(found.classes, found.confusion))
    return shown


def headline(found: Figures) -> list[tuple[str, ...]]:
    """(figure, value, 95 % interval) as text, in order of importance to whoever runs a filter. Two blanks stand between
    a figure's name and what it means."""
    rows: list[tuple[str, ...]] = []

    def add(name: str, estimate: Estimate) -> None:
        rows.append((name, percent(estimate.value), why_none if math.isnan(estimate.value) else interval(estimate)))

    why_none = ""
    if found.spam is not None:
        spam = found.spam
        why_none = "no good mail was judged" if math.isnan(spam.hm.value) else "no spam was judged"
        add("hm%  good mail called spam", spam.hm)
        add("sm%  spam let through" + (", unsure included" if spam.unsure_spam > 0 else ""), spam.sm)
        add("1-ROCA%  chance that good mail scores above spam", spam.one_minus_roca)
        add(f"sm% at hm% ≤ {HM_LIMIT:g}", spam.sm_at_hm)
        if spam.unsure_ham > 0 or spam.unsure_spam > 0:  # not where there is no such mail: nan
            both = f"{percent(spam.unsure_ham)} / {percent(spam.unsure_spam)}"
            rows.append(("unsure, % of good mail / of spam", both, ""))
    add("accuracy %", found.accuracy)
    rows.append(("log loss, nats", f"{found.calibration.log_loss:.4f}", ""))
    rows.append(("expected calibration error %", percent(found.calibration.expected_calibration_error), ""))
    return rows


def class_table(found: Figures) -> Table:
    """A row for each class."""
    head = ("class", "messages", "precision %", "recall %", "F1 %", "1-ROCA %")
    return Table("Classes", head, [(c.name, f"{c.messages:,}", *map(percent, c[2:])) for c in found.by_class])


def confusion_table(classes: Sequence[str], confusion: Sequence[Sequence[int]]) -> Table:
    """Messages by true class and verdict; the last column of ``confusion`` is unsure."""
    rows = [(name, *(f"{n:,}" for n in (sum(row), *row))) for name, row in zip(classes, confusion)]
    return Table("Verdicts", ("true \\ verdict", "messages", *classes, UNSURE), rows)


def percent(value: float) -> str:
    """A percentage to the digits that tell filters apart: three that count below 10, two decimals above, and more
    where what is not 100 would look like it.

    >>> percent(0.03854), percent(3.661), percent(99.971), percent(99.9964), percent(0.0), percent(float("nan"))
    ('0.0385', '3.66', '99.97', '99.996', '0', '–')
    """
    if math.isnan(value):
        return "–"
    if value == 0:
        return "0"
    if round(value, 2) == 100 > value:
        return f"{value:.{-math.floor(math.log10(100 - value))}f}"
    return f"{value:.2f}" if value >= 10 else f"{value:#.3g}" if value >= 0.001 else f"{value:.1e}"


def interval(estimate: Estimate) -> str:
    """The 95 % interval, or nothing where there is none.

    >>> interval(Estimate(0.0385, 0.0212, 0.0699))
    '0.0212 – 0.0699'
    """
    if math.isnan(estimate.low) or math.isnan(estimate.high):
        return ""
    return f"{percent(estimate.low)} – {percent(estimate.high)}"
