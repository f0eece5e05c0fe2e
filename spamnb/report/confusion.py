"""The confusion matrix as a table of shaded cells, and the mistakes that were made most often."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from spamnb.evaluation.result import Result
from spamnb.formulas.decision import UNSURE
from spamnb.report.numbers import count, percent

MATRIX_CLASSES = 8  # a matrix of more fits neither a terminal nor a telephone: the most frequent mistakes stand for it
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


def matrix(result: Result) -> Matrix | None:
    """The matrix; None of more than ``MATRIX_CLASSES`` classes. Shares are of all messages of a class."""
    if len(result.classes) > MATRIX_CLASSES:
        return None
    names = [*result.classes, UNSURE]
    columns = names if result.confusion[:, -1].any() else names[:-1]
    rows = result.confusion.tolist()
    return Matrix(
        columns, [(name, [_cell(name, said, row, names) for said in columns]) for name, row in zip(names, rows)]
    )


def _cell(true: str, said: str, row: list[int], names: list[str]) -> Cell:
    messages, of = row[names.index(said)], sum(row)
    share = messages / of if of else 0.0
    kind = "right" if true == said else "unsure" if said == UNSURE else "wrong"
    shade = min(10, int(np.ceil(10 * (share if kind == "right" else 4 * share))))
    title = f"{true} called {said}: {count(messages)} of {count(of)}"
    return Cell(count(messages), f"{percent(100 * share)} %", f"{kind} s{shade}" if shade else kind, title)


def mistakes(result: Result) -> list[tuple[str, str, str]]:
    """(class and verdict, messages, percent of the class), most messages first."""
    cells = result.confusion.copy()
    of = cells.sum(axis=1)
    np.fill_diagonal(cells, 0)
    names = [*result.classes, UNSURE]
    found = []
    for place in np.argsort(-cells, axis=None, kind="stable")[:MISTAKES].tolist():
        true, said = divmod(place, cells.shape[1])
        if n := int(cells[true, said]):
            found.append((f"{names[true]} → {names[said]}", count(n), percent(100 * n / int(of[true]))))
    return found
