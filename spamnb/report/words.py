"""The words report as a terminal table, JSON or CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from typing import Any, NamedTuple

from spamnb.counts.top_words import TopWords
from spamnb.naming import escape

COLUMNS = ("list", "rank", "token", "value", "class")  # of ``words_rows``


class _Columns(NamedTuple):
    """Columns of the table that stay together: their headings, and a tuple of cells for each word."""

    headings: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]

    def width(self) -> int:
        from rich.cells import cell_len

        return sum(max(map(cell_len, cells)) + len("  ") for cells in zip(self.headings, *self.rows))


def words_text(report: TopWords, width: int | None = None) -> str:
    """A table: a pair of columns per class, and three for mutual information, the last the class that the word speaks
    for. Columns that do not fit into ``width`` (by default the terminal's, 80 where there is none) go below the others.
    """
    from rich.console import Console

    width = width or Console().width
    every = [
        _Columns((escape(name), "p"), [(escape(word.token), f"{word.value:.3f}") for word in words])
        for name, words in report.likeliest.items()
    ]
    if report.informative:
        told = [(escape(word.token), f"{word.value:.3f}", escape(word.label)) for word in report.informative]
        every.append(_Columns(("highest MI", "bits", "speaks for"), told))
    bands: list[list[_Columns]] = []
    filled = 0
    for columns in every:
        needed = columns.width()
        if not bands or filled + needed > width + len("  "):
            bands.append([])
            filled = 0
        bands[-1].append(columns)
        filled += needed
    return "\n".join(map(_band, bands))


def _band(every: list[_Columns]) -> str:
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for columns in every:
        for place, heading in enumerate(columns.headings):
            table.add_column(heading, justify="right" if place == 1 else "left")
    for row in zip(*(columns.rows for columns in every)):
        table.add_row(*(cell for cells in row for cell in cells))
    text = io.StringIO()
    # As wide as the columns need: one class with a very long token may be wider than the terminal.
    Console(file=text, width=10_000, markup=False, highlight=False, emoji=False).print(table)
    return "".join(line.rstrip() + "\n" for line in text.getvalue().splitlines())


def words_record(report: TopWords) -> dict[str, Any]:
    """What json can hold: likeliest {class: [{token, probability}]}, informative [{token, bits, class}]."""
    return {
        "likeliest": {
            name: [{"token": word.token, "probability": word.value} for word in column]
            for name, column in report.likeliest.items()
        },
        "informative": [
            {"token": word.token, "bits": word.value, "class": word.label} for word in report.informative
        ],
    }


def words_rows(report: TopWords) -> list[tuple[str, int, str, float, str]]:
    """List, rank, token, value and class of each word: the list is a class or "mutual information", the class the one
    that the token speaks for, or that of the list."""
    rows = [(name, rank, *word, name) for name, words in report.likeliest.items() for rank, word in enumerate(words, 1)]
    return rows + [("mutual information", rank, *word) for rank, word in enumerate(report.informative, 1)]


def words_csv(report: TopWords) -> str:
    """A line for each of ``words_rows``."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for kind, rank, token, value, label in words_rows(report):
        writer.writerow([kind, rank, escape(token), f"{value:.6g}", label])
    return text.getvalue()
