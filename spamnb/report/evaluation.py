"""An evaluation as terminal tables. rich is imported when a table is made, not before."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spamnb.evaluation.figures import Figures
from spamnb.evaluation.rates import Estimate
from spamnb.report.numbers import count, interval, percent, ratio

if TYPE_CHECKING:
    from rich.table import Table

MATRIX_CLASSES = 8  # a wider confusion matrix does not fit a terminal: --report draws it


def tables(found: Figures, verbose: bool = False) -> list[Table]:
    """Headline figures, classes, and the confusion matrix where it fits, for ``rich.console.Console.print``.

    Of spam and one class of good mail the other figures say all that those of classes do: these are for ``verbose``.
    """
    made = [_headline(found, verbose)]
    if verbose or found.spam is None or len(found.classes) > 2:
        made.append(_classes(found))
    return [*made, *([_confusion(found)] if len(found.classes) <= MATRIX_CLASSES else [])]


def headline(found: Figures, verbose: bool = False) -> list[tuple[str, str, str]]:
    """(figure, value, 95 % interval) as text, in order of importance to whoever runs a filter; with ``verbose`` those
    too that serve to compare filters.
    """
    rows: list[tuple[str, str, str]] = []

    def add(name: str, estimate: Estimate) -> None:
        rows.append((name, percent(estimate.value), interval(estimate)))

    if found.spam is not None:
        spam = found.spam
        add("hm%  good mail called spam", spam.hm)
        add("sm%  spam let through" + (", unsure included" if spam.unsure_spam > 0 else ""), spam.sm)
        if verbose:
            add("lam%", spam.lam)
        add("1-ROCA%", spam.one_minus_roca)
        for level, estimate in spam.sm_at_hm.items():
            if verbose or level == min(spam.sm_at_hm):
                add(f"sm% at hm% ≤ {level:g}", estimate)
        if spam.unsure_ham > 0 or spam.unsure_spam > 0:  # not where there is no such mail: nan
            rows.append(
                ("unsure, % of good mail / of spam", f"{percent(spam.unsure_ham)} / {percent(spam.unsure_spam)}", "")
            )
        if verbose:
            for cost, value in spam.total_cost_ratio.items():
                rows.append((f"total cost ratio, λ = {cost}", ratio(value), ""))
    add("accuracy %", found.accuracy)
    if verbose or found.spam is None:
        add("macro F1 %", found.macro_f1)
    if found.calibration is not None:
        if verbose:
            rows.append(("log loss, nats", f"{found.calibration.log_loss:.4f}", ""))
            rows.append(("Brier score", f"{found.calibration.brier:.4f}", ""))
        rows.append(("expected calibration error %", percent(found.calibration.expected_calibration_error), ""))
    return rows


def _headline(found: Figures, verbose: bool) -> Table:
    from rich.table import Table
    from rich.text import Text

    table = Table(title=Text(f"{found.protocol}: {count(found.messages, 'message')}"), title_justify="left")
    table.add_column("")
    table.add_column("value", justify="right")
    table.add_column("95 % interval", justify="right")
    for row in headline(found, verbose):
        table.add_row(*map(Text, row))
    return table


def _classes(found: Figures) -> Table:
    from rich.table import Table
    from rich.text import Text

    table = Table()
    for name in ("class", "messages", "precision %", "recall %", "F1 %", "1-ROCA %"):
        table.add_column(name, justify="left" if name == "class" else "right", overflow="fold")
    for row in found.by_class:
        table.add_row(Text(row.name), count(row.messages), *(Text(percent(value)) for value in row[2:]))
    return table


def _confusion(found: Figures) -> Table:
    from rich.table import Table
    from rich.text import Text

    unsure = any(row[-1] for row in found.confusion)
    table = Table()
    table.add_column("true \\ verdict", overflow="fold")
    for name in [*found.classes, *(["unsure"] if unsure else [])]:
        table.add_column(Text(name), justify="right", overflow="fold")
    for name, row in zip(found.classes, found.confusion):
        table.add_row(Text(name), *(count(n) for n in (row if unsure else row[:-1])))
    return table
