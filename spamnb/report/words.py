"""The words report as a terminal table, JSON or CSV."""

from __future__ import annotations

import csv
import io

from spamnb.counts.top_words import TopWords, Word
from spamnb.naming import escape, escape_json


def words_text(report: TopWords, width: int | None = None) -> str:
    """A table: a pair of columns per class, and one for mutual information. Pairs that do not fit into ``width`` (by
    default the terminal's, 80 where there is none) go below the others."""
    from rich.cells import cell_len
    from rich.console import Console

    width = width or Console().width
    bands: list[list[_Column]] = []
    filled = 0
    likeliest: list[_Column] = [(name, "p", words) for name, words in report.likeliest.items()]
    for column in [*likeliest, ("highest MI", "bits", report.informative)]:
        name, _, words = column
        needed = max(cell_len(escape(text)) for text in [name, *(word.token for word in words)]) + len("  0.000  ")
        if not bands or filled + needed > width + 2:
            bands.append([])
            filled = 0
        bands[-1].append(column)
        filled += needed
    return "\n".join(map(_band, bands))


_Column = tuple[str, str, list[Word]]  # heading, heading of the values, words


def _band(columns: list[_Column]) -> str:
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for name, unit, _ in columns:
        table.add_column(name)
        table.add_column(unit, justify="right")
    for words in zip(*(words for _, _, words in columns)):
        table.add_row(*(cell for word in words for cell in (escape(word.token), f"{word.value:.3f}")))
    text = io.StringIO()
    # As wide as the columns need: one class with a very long token may be wider than the terminal.
    Console(file=text, width=10_000, markup=False, highlight=False, emoji=False).print(table)
    return "".join(line.rstrip() + "\n" for line in text.getvalue().splitlines())


def words_json(report: TopWords) -> str:
    """One object: likeliest {class: [{token, probability}]}, informative [{token, bits}]."""
    record = {
        "likeliest": {
            name: [{"token": word.token, "probability": word.value} for word in column]
            for name, column in report.likeliest.items()
        },
        "informative": [{"token": word.token, "bits": word.value} for word in report.informative],
    }
    return escape_json(record) + "\n"


def words_csv(report: TopWords) -> str:
    """Lines of list, rank, token and value; the list is a class or "mutual information"."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["list", "rank", "token", "value"])
    for name, column in [*report.likeliest.items(), ("mutual information", report.informative)]:
        writer.writerows([name, rank, escape(word.token), f"{word.value:.6g}"] for rank, word in enumerate(column, 1))
    return text.getvalue()
