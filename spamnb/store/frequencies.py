"""How many tokens occur in exactly n messages of a class: reading them, what a change moves, writing that."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from spamnb.errors import Damaged
from spamnb.store.database import checked_rows, int_between
from spamnb.store.pages import MAX_COUNT
from spamnb.store.tables import ModelTables


def read_frequencies(rows: Iterable[tuple], of_classes: np.ndarray, size: int) -> list[dict[int, int]]:
    """Rows of table frequencies (class number, n, tokens), checked: for each class {n: number of the model's ``size``
    tokens that exactly n of its messages hold}. ``of_classes`` (C, 3) are N_c, Σ_j N_jc and Σ_j T_jc."""
    every: list[dict[int, int]] = [{0: size} for _ in of_classes]
    kinds = {"class": int_between(len(every) - 1), "documents": int_between(MAX_COUNT, 1)}
    for number, documents, tokens in checked_rows("frequencies", rows, **kinds, tokens=int_between(MAX_COUNT)):
        every[number][documents] = tokens
        every[number][0] -= tokens
    for held, (most, sums, _) in zip(every, of_classes.tolist()):
        if held[0] < 0 or max(held) > most or sum(n * tokens for n, tokens in held.items()) != sums:
            raise Damaged("figures in table frequencies that do not fit those of classes")
    return every


def note_moved(moved: dict[int, int], documents: np.ndarray, by: int) -> None:
    """Tokens that ``documents`` messages (k,) held are now held by ``by`` more.

    >>> moved: dict[int, int] = {}
    >>> note_moved(moved, np.array([0, 0, 3]), 1)
    >>> moved
    {0: -2, 1: 2, 3: -1, 4: 1}
    """
    if len(documents):
        for n, tokens in zip(*(values.tolist() for values in np.unique(documents, return_counts=True))):
            moved[n] = moved.get(n, 0) - tokens
            moved[n + by] = moved.get(n + by, 0) + tokens


def write_moved(store: ModelTables, of_classes: Mapping[int, Mapping[int, int]]) -> None:
    """Add to table ``frequencies`` what ``note_moved`` noted of classes, by number; rows of 0 tokens leave."""
    cells = [(number, n, change) for number, moved in of_classes.items() for n, change in moved.items()]
    cells = [cell for cell in cells if cell[1] and cell[2]]
    if not cells:
        return
    store.executemany(
        "INSERT INTO frequencies VALUES (?, ?, ?)"
        " ON CONFLICT (class, documents) DO UPDATE SET tokens = frequencies.tokens + excluded.tokens",
        cells,
    )
    store.executemany(
        "DELETE FROM frequencies WHERE class = ? AND documents = ? AND tokens = 0",
        [(number, n) for number, n, change in cells if change < 0],
    )
