"""The confusion matrix as a table of shaded cells, and the mistakes that were made most often."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spamnb.evaluation.result import Result
from spamnb.formulas.decision import UNSURE as UNSURE_NAME
from spamnb.report.numbers import count, percent

FEW = 4  # columns up to which each cell also says its share
DENSE = 8  # columns beyond which a cell of a telephone, 390 px wide, has no room for four digits
SHOWN = 20  # classes of the matrix: on a telephone a column is then 11 px wide, and its name can still be read
MISTAKES = 12


class Cell(NamedTuple):
    """Messages of one class that got one verdict."""

    messages: str
    share: str
    css: str  # what colours it: right, wrong or unsure, and s1 to s10 by the share
    title: str


class Matrix(NamedTuple):
    """Rows are true classes with their cells, columns verdicts."""

    columns: list[str]
    rows: list[tuple[str, list[Cell]]]
    css: str
    caption: str


def matrix(result: Result) -> Matrix:
    """The matrix of all classes, or of the ``SHOWN`` in which most mistakes were made; shares are of all of a class."""
    cells = result.confusion
    classes = _most_mistaken(cells, SHOWN)
    columns = [*classes, len(cells)] if cells[:, -1].any() else classes
    names = [*result.classes, UNSURE_NAME]
    many = len(columns) > FEW
    rows = [(names[i], [_cell(names, i, j, cells[i].tolist(), many) for j in columns]) for i in classes]
    caption = "Rows are true classes, columns verdicts; shaded by share of the row, mistakes four times as strongly."
    if len(classes) < len(cells):
        caption = f"The {len(classes)} of {len(cells)} classes with most mistakes. {caption}"
    css = "matrix" + " many" * many + " dense" * (len(columns) > DENSE)
    return Matrix([names[j] for j in columns], rows, css, caption)


def _most_mistaken(cells: NDArray[np.int64], most: int) -> list[int]:
    """Classes, in their order, that have the most messages taken for another or of another taken for them."""
    right = np.diagonal(cells)
    mistakes = cells.sum(axis=1) + cells[:, :-1].sum(axis=0) - 2 * right
    return sorted(np.argsort(-mistakes, kind="stable")[:most].tolist())


def _cell(names: list[str], true: int, said: int, row: list[int], many: bool) -> Cell:
    messages, of = row[said], sum(row)
    share = messages / of if of else 0.0
    kind = "right" if true == said else "unsure" if said == len(names) - 1 else "wrong"
    shade = min(10, int(np.ceil(10 * (share if kind == "right" else 4 * share))))
    percents = f"{percent(100 * share)} %"
    title = f"{names[true]} called {names[said]}: {count(messages)} of {count(of)} ({percents})"
    css = f"{kind} s{shade}" if shade else kind
    return Cell(count(messages) if messages or not many else "", "" if many else percents, css, title)


def mistakes(result: Result) -> list[tuple[str, str, str]]:
    """(class and verdict, messages, percent of the class), most messages first."""
    cells = result.confusion.copy()
    of = cells.sum(axis=1)
    np.fill_diagonal(cells, 0)
    names = [*result.classes, UNSURE_NAME]
    found = []
    for place in np.argsort(-cells, axis=None, kind="stable")[:MISTAKES].tolist():
        true, said = divmod(place, cells.shape[1])
        if n := int(cells[true, said]):
            found.append((f"{names[true]} → {names[said]}", count(n), percent(100 * n / int(of[true]))))
    return found


def short(name: str) -> str:
    """A class's name, cut in its middle where it is longer than a picture has room for."""
    return name if len(name) <= 26 else name[:12] + "…" + name[-13:]
