"""A row of a table: its class, its text and its cells, out of values as JSON and Parquet have them."""

from __future__ import annotations

import json
from collections.abc import Generator, Iterator, Sequence
from typing import Any, NamedTuple

from spamnb.naming import escape
from spamnb.sources.columns import class_in

MAX_FIELD = 1 << 20  # characters of a text
MAX_COLUMNS = 1000


class TableRow(NamedTuple):
    """What a row says, and all its cells as text where they are kept."""

    label: str | None
    text: str | bytes  # bytes: a whole message with its headers
    cells: list[str]


Numbered = Iterator[tuple[int, "TableRow | ValueError"]]
# The columns' names, and after them each row with its number.
Rows = Generator["list[str] | tuple[int, TableRow | ValueError]"]


def row_of_values(
    text: object, label: object, columns: tuple[str, str | None], cells: Sequence[object] = ()
) -> TableRow | ValueError:
    """The row with this text and class, out of the ``columns`` of these names."""
    if not isinstance(text, (str, bytes)):
        return ValueError(f"no text under {escape(columns[0])!r}")
    kept = list(map(cell_text, cells))
    if columns[1] is None:
        return TableRow(None, text, kept)
    if not isinstance(label, (str, int)):  # true and false are numbers
        return ValueError(f"no class under {escape(columns[1])!r}")
    return TableRow(class_in(str(label), columns[1]), text, kept)


def cell_text(value: Any) -> str:
    """A value as a cell of CSV: text as it is, nothing for null, what JSON knows as JSON, all else as it is shown.

    >>> cell_text("a"), cell_text(None), cell_text(True), cell_text([1, "é"])
    ('a', '', 'true', '[1, "é"]')
    """
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, (bool, int, float, list, dict)):
        return json.dumps(value, ensure_ascii=False, default=str)
    return str(value)
