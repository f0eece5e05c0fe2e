"""How many tokens occur in exactly n messages of a class: what a change moves, and writing that."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from spamnb.store.tables import ModelTables


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
    """Add to table ``frequencies`` what ``note_moved`` noted of classes, by number."""
    cells = _cells(of_classes)
    if not cells:
        return
    store.executemany(
        "INSERT INTO frequencies VALUES (?, ?, ?)"
        " ON CONFLICT (class, documents) DO UPDATE SET tokens = frequencies.tokens + excluded.tokens",
        cells,
    )


def drop_empty(store: ModelTables, of_classes: Mapping[int, Mapping[int, int]]) -> None:
    """Take the rows away that are nothing now, of those that ``write_moved`` wrote."""
    store.executemany(
        "DELETE FROM frequencies WHERE class = ? AND documents = ? AND tokens = 0",
        [(number, n) for number, n, change in _cells(of_classes) if change < 0],
    )


def _cells(of_classes: Mapping[int, Mapping[int, int]]) -> list[tuple[int, int, int]]:
    cells = [(number, n, change) for number, moved in of_classes.items() for n, change in moved.items()]
    return [cell for cell in cells if cell[1] and cell[2]]
