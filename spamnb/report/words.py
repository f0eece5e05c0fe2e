"""The words report as a terminal table, JSON or CSV."""

from __future__ import annotations

import csv
import io
import json

from spamnb.ranking import Words


def words_text(report: Words) -> str:
    """A table: a pair of columns per class, and one for mutual information."""
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for name in report.likeliest:
        table.add_column(name, overflow="fold")
        table.add_column("p", justify="right")
    table.add_column("highest MI", overflow="fold")
    table.add_column("bits", justify="right")
    for row in _rows(report):
        table.add_row(*(value if isinstance(value, str) else f"{value:.3f}" for value in row))
    text = io.StringIO()
    # As wide as the columns need: a pipe has no width, and a terminal wraps what is wider.
    Console(file=text, width=10_000, markup=False, highlight=False, emoji=False).print(table)
    return "\n".join(line.rstrip() for line in text.getvalue().splitlines()) + "\n"


def _rows(report: Words) -> list[list[str | float]]:
    columns = [*report.likeliest.values(), report.informative]
    return [[cell for column in columns for cell in column[i]] for i in range(len(report.informative))]


def words_json(report: Words) -> str:
    """One object: likeliest {class: [{token, probability}]}, informative [{token, bits}]."""
    record = {
        "likeliest": {
            name: [{"token": word.token, "probability": word.value} for word in column]
            for name, column in report.likeliest.items()
        },
        "informative": [{"token": word.token, "bits": word.value} for word in report.informative],
    }
    return json.dumps(record, ensure_ascii=False) + "\n"


def words_csv(report: Words) -> str:
    """Lines of rank, list, token and value; the list is a class or "mutual information"."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["list", "rank", "token", "value"])
    for name, column in [*report.likeliest.items(), ("mutual information", report.informative)]:
        writer.writerows([name, rank, word.token, f"{word.value:.6g}"] for rank, word in enumerate(column, 1))
    return text.getvalue()
