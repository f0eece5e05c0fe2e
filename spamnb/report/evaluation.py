"""The figures of an evaluation as tables, for the terminal and for the HTML page."""

from __future__ import annotations

import math
from collections.abc import Sequence

from spamnb.evaluation.figures import Figures
from spamnb.evaluation.intervals import HM_LIMIT, Estimate
from spamnb.model.decision import UNSURE
from spamnb.report.table import Table, format_tables
from spamnb.shown_text import pluralize

MATRIX_CLASSES = 8  # classes of the largest confusion matrix; a larger one is too wide for terminals and phones
MATRIX_NAMES = 24  # characters of their names in the head of a matrix that is at most 80 columns wide


def format_figures(figures: Figures, verbose: bool = False) -> str:
    """Return the tables for a terminal."""
    return format_tables(figure_tables(figures, verbose))


def figure_tables(figures: Figures, verbose: bool = False) -> list[Table]:
    """Return the tables of the main figures, of classes and of verdicts.

    For spam and one class of good mail the table of classes repeats the main figures, so only ``verbose`` shows it.
    """
    title = f"{figures.protocol}: {pluralize(figures.messages, 'message')}"
    tables = [Table(title, ("", "value", "95 % interval"), headline_rows(figures))]
    if verbose or figures.spam is None or len(figures.classes) > 2:
        tables.append(class_table(figures))
    if len(figures.classes) <= MATRIX_CLASSES:
        tables.append(confusion_table(figures.classes, figures.confusion))
    return tables


def headline_rows(figures: Figures) -> list[tuple[str, ...]]:
    """Return rows of (figure, value, 95 % interval). Two spaces separate the name of a figure and its meaning."""
    rows: list[tuple[str, ...]] = []

    def add(name: str, estimate: Estimate) -> None:
        interval = why_missing if math.isnan(estimate.value) else format_interval(estimate)
        rows.append((name, format_percent(estimate.value), interval))

    why_missing = ""
    if figures.spam is not None:
        spam = figures.spam
        why_missing = "there is no good mail" if math.isnan(spam.hm.value) else "there is no spam"
        add("hm%  good mail called spam", spam.hm)
        add("sm%  spam let through" + (", unsure included" if spam.unsure_spam > 0 else ""), spam.sm)
        add("1-ROCA%  good mail scores above spam", spam.one_minus_roca)
        add(f"sm% at hm% ≤ {HM_LIMIT:g}", spam.sm_at_hm)
        if spam.unsure_ham > 0 or spam.unsure_spam > 0:  # false for NaN, the share of a class without mail
            both = f"{format_percent(spam.unsure_ham)} / {format_percent(spam.unsure_spam)}"
            rows.append(("unsure, % of good mail / of spam", both, ""))
    if figures.new_senders.messages:
        both = f"{format_percent(figures.new_senders.lost)} / {format_percent(figures.new_senders.unsure)}"
        rows.append(("good mail of new senders: lost / unsure %", both, ""))
    add("accuracy %", figures.accuracy)
    rows.append(("log loss, nats", f"{figures.calibration.log_loss:.4f}", ""))
    rows.append(("expected calibration error %", format_percent(figures.calibration.expected_calibration_error), ""))
    return rows


def class_table(figures: Figures) -> Table:
    """Return a table with a row for each class."""
    head = ("class", "messages", "precision %", "recall %", "F1 %", "1-ROCA %")
    return Table("Classes", head, [(c.name, f"{c.messages:,}", *map(format_percent, c[2:])) for c in figures.by_class])


def confusion_table(classes: Sequence[str], confusion: Sequence[Sequence[int]]) -> Table:
    """Return a table of messages by true class and verdict. The last column of ``confusion`` is unsure.

    The columns have the numbers of the classes if their names would not fit into a terminal of 80 columns.
    """
    if sum(map(len, classes)) <= MATRIX_NAMES:
        rows = [(name, *(f"{n:,}" for n in (sum(row), *row))) for name, row in zip(classes, confusion)]
        return Table("Verdicts", ("true \\ verdict", "messages", *classes, UNSURE), rows)
    rows = [(f"{c} {classes[c - 1]}", *(f"{n:,}" for n in row)) for c, row in enumerate(confusion, 1)]
    return Table("Verdicts", ("true \\ verdict", *map(str, range(1, len(classes) + 1)), UNSURE), rows)


def format_percent(value: float) -> str:
    """Return a percentage with three significant digits below 10, and with two decimals or more above.

    >>> [format_percent(value) for value in (0.03854, 3.661, 99.971, 99.9964, 0.0, float("nan"))]
    ['0.0385', '3.66', '99.97', '99.996', '0', '–']
    """
    if math.isnan(value):
        return "–"
    if value == 0:
        return "0"
    if round(value, 2) == 100 > value:
        return f"{value:.{-math.floor(math.log10(100 - value))}f}"
    return f"{value:.2f}" if value >= 10 else f"{value:#.3g}" if value >= 0.001 else f"{value:.1e}"


def format_interval(estimate: Estimate) -> str:
    """Return the 95 % interval, or an empty text if there is none.

    >>> format_interval(Estimate(0.0385, 0.0212, 0.0699))
    '0.0212 – 0.0699'
    """
    if math.isnan(estimate.low) or math.isnan(estimate.high):
        return ""
    return f"{format_percent(estimate.low)} – {format_percent(estimate.high)}"
