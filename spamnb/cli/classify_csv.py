"""``spamnb classify --format csv``: a line per message, or a table again, each row with its verdict."""

from __future__ import annotations

import csv
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, TextIO

from spamnb.cli.classify import told_of_each
from spamnb.cli.each_message import no_message
from spamnb.cli.options import Unreadable, messages_of, read_options, standard_output

if TYPE_CHECKING:
    from spamnb.classifier import Classifier
    from spamnb.judgement import Judgement
    from spamnb.sources.entries import Entry

# What begins a formula in Excel, LibreOffice Calc and Google Sheets, also behind white space.
_FORMULA = ("=", "+", "-", "@")


def classify_to_csv(
    sources: tuple[str, ...], classifier: Classifier, no_formulas: bool, workers: int | None
) -> tuple[set[str], int]:
    """Print; return the verdicts that there were, and the number of messages that could not be read.

    A table by itself keeps its columns; of other sources there is the name of each message.
    """
    from spamnb.sources.formats import is_table

    unreadable = Unreadable()
    verdicts: set[str] = set()
    write = _writer(standard_output(), no_formulas)
    figures = ["verdict", "score", *classifier.store.totals().classes]
    if len(sources) == 1 and is_table(sources[0]):
        rows = _with_rows(sources[0], figures, classifier, unreadable, workers, write)
    else:
        write(["source", *figures])
        found = told_of_each(messages_of(sources, unreadable), classifier, _figures, unreadable, workers=workers)
        rows = ((verdict, [name, *cells]) for verdict, (name, cells) in found)
    for verdict, row in rows:
        verdicts.add(verdict)
        write(row)
    if not verdicts and not unreadable.count:
        raise no_message(sources)
    return verdicts, unreadable.count


def _with_rows(
    path: str,
    figures: list[str],
    classifier: Classifier,
    unreadable: Unreadable,
    workers: int | None,
    write: Callable[[list[str]], None],
) -> Iterator[tuple[str, list[str]]]:
    """Verdicts, and the rows of a table, each with its figures behind; the names of the columns are written first."""
    from spamnb.sources.tables import table_with_cells

    names, rows = table_with_cells(path, read_options(), unreadable)
    write([*names, *new_names(figures, names)])
    waiting: deque[tuple[str, list[str]]] = deque()  # rows that are judged now, in other processes perhaps

    def entries() -> Iterator[Entry]:
        for entry, cells in rows:
            waiting.append((entry.name, cells))
            yield entry

    for verdict, (name, added) in told_of_each(entries(), classifier, _figures, unreadable, workers=workers):
        its_name, cells = waiting.popleft()
        assert name == its_name  # a row's message is in memory, so none of them can be unreadable
        yield verdict, [*cells, *added]


def new_names(wanted: Iterable[str], taken: Iterable[str]) -> list[str]:
    """Names for columns beside those that are there: ``spamnb_score`` where a column is called ``Score``.

    >>> new_names(["verdict", "score"], ["text", "Score"]), new_names(["score"], ["score", "spamnb_score"])
    (['verdict', 'spamnb_score'], ['spamnb_score_2'])
    """
    used = {name.strip().lower() for name in taken}
    found: list[str] = []
    for name in wanted:
        new, number = name, 1
        while new.lower() in used:
            new = f"spamnb_{name}" + (f"_{number}" if number > 1 else "")
            number += 1
        used.add(new.lower())
        found.append(new)
    return found


def _figures(name: str, judgement: Judgement) -> tuple[str, list[str]]:
    """A message's name, and what the columns behind it hold."""
    numbers = [f"{p:.6g}" for p in (judgement.score, *judgement.probabilities.values())]
    return name, [judgement.verdict, *numbers]


def _writer(out: TextIO, no_formulas: bool) -> Callable[[list[str]], None]:
    plain = csv.writer(out, lineterminator="\n")
    quoted = csv.writer(out, lineterminator="\n", quoting=csv.QUOTE_ALL)

    def write(cells: list[str]) -> None:
        # Before Python 3.13 a bare CR is written without quotes, and readers take it for the end of the row.
        rows = quoted if any("\r" in cell for cell in cells) else plain
        rows.writerow(map(as_text, cells) if no_formulas else cells)

    return write


def as_text(cell: str) -> str:
    """A cell that a spreadsheet takes for text or a number: ``'`` goes before what would begin a formula.

    >>> as_text("=HYPERLINK(A1)"), as_text("-4.5e-05"), as_text("tea")
    ("'=HYPERLINK(A1)", '-4.5e-05', 'tea')
    """
    if not cell.lstrip().startswith(_FORMULA):
        return cell
    try:
        float(cell)
    except ValueError:
        return "'" + cell
    return cell
