"""Tables of text, a message in each row: CSV, TSV, JSON lines (plain or gzipped) and Parquet.

Which column holds the text and which the class is guessed by the header line where there is no doubt:

    v1,v2,,,                       Kaggle's spam.csv, which is latin-1
    Category,Message
    text,spam                      where 1 is spam and 0 is ham

A reader of rows yields the columns' names, and then the number of each row with its class, its text and, where they are
to be kept, its cells.
"""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Callable, Iterator
from typing import BinaryIO, cast

from spamnb.errors import SpamnbError, reason
from spamnb.naming import check_class_name, escape
from spamnb.sources.columns import Columns, class_in
from spamnb.sources.entries import Entry, Report, message_of_text, open_mail
from spamnb.sources.labelled_lines import TEXT_NAMES
from spamnb.sources.table_rows import MAX_COLUMNS, MAX_FIELD, Numbered, Rows, TableRow, row_of_values

MAX_ROW = 4 << 20  # bytes; what is longer is a quote that was never closed
_HOPELESS = 20  # lines without an object of JSON before a file is taken for something else


def table(path: str, columns: Columns, labelled: bool, on_unreadable: Report) -> Iterator[Entry]:
    """The message of each row; where ``labelled``, with its class. Rows that have none are reported.

    Raises SpamnbError at once where the columns are not those that were asked for, or not clear.
    """
    _, rows = _opened(path, columns, labelled, False)
    return (entry for entry, _ in _entries(path, rows, on_unreadable))


def table_with_cells(
    path: str, columns: Columns, on_unreadable: Report
) -> tuple[list[str], Iterator[tuple[Entry, list[str]]]]:
    """The columns' names, and the message of each row with all cells of it, as text.

    Where a table has no header its columns are called ``column_1`` and so on.
    """
    names, rows = _opened(path, columns, False, True)
    return names, _of_width(len(names), _entries(path, rows, on_unreadable), on_unreadable)


def _of_width(
    width: int, found: Iterator[tuple[Entry, list[str]]], on_unreadable: Report
) -> Iterator[tuple[Entry, list[str]]]:
    """Rows with as many cells as the table has columns."""
    for entry, cells in found:
        if len(cells) > width:
            on_unreadable(entry.name, ValueError(f"{len(cells)} columns where the first row has {width}"))
        else:
            yield entry, cells + [""] * (width - len(cells))


def _opened(path: str, columns: Columns, labelled: bool, keep: bool) -> tuple[list[str], Numbered]:
    kind = os.path.splitext(path.lower().removesuffix(".gz"))[1]
    rows = _rows(path, kind, columns, labelled, keep)
    try:
        # The columns are looked for before any message is read.
        return cast("list[str]", next(rows, [])), cast(Numbered, rows)
    except OSError as error:
        raise SpamnbError(f"{escape(path)}: cannot be read: {reason(error)}") from error
    except (ValueError, csv.Error) as error:
        raise SpamnbError(f"{escape(path)}: {error}") from error


def _entries(path: str, rows: Numbered, on_unreadable: Report) -> Iterator[tuple[Entry, list[str]]]:
    number = 0
    try:
        for number, row in rows:
            name = f"{escape(path)}:{number}"
            if isinstance(row, ValueError):
                on_unreadable(name, row)
                continue
            try:
                if row.label is not None:
                    check_class_name(row.label)
                if not row.text.strip():
                    raise ValueError("no text in this row")
            except ValueError as error:
                on_unreadable(name, error)
            else:
                raw = row.text if isinstance(row.text, bytes) else message_of_text(row.text)
                yield Entry(row.label, name, path, content=raw), row.cells
    except OSError as error:
        on_unreadable(escape(path), error)
    except (ValueError, csv.Error) as error:
        on_unreadable(f"{escape(path)}:{number + 1}", ValueError(f"{error}; the rest of the table"))


def _rows(path: str, kind: str, columns: Columns, labelled: bool, keep: bool) -> Rows:
    if kind == ".parquet":
        from spamnb.sources.parquet import parquet_rows

        yield from parquet_rows(path, columns, labelled, keep)
        return
    keys = _keys(path) if keep and kind == ".jsonl" else None
    with open_mail(path) as stream:
        lines = _Lines(stream)
        if kind == ".jsonl":
            yield from _objects(lines, columns, labelled, keys)
        else:
            yield from (_tabs if kind == ".tsv" else _commas)(lines, columns, labelled)


class _Lines:
    """The lines of a table as text: UTF-8, and where a line is none, Windows' and Latin-1's letters.

    ValueError for a line, or lines since ``row`` was last set to the next one, over MAX_ROW.
    """

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._size = self.number = 0
        self.row = 1  # number of the line in which the row begins

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        line = self._stream.readline(MAX_ROW + 1)
        if not line:
            raise StopIteration
        if line.startswith((b"\xff\xfe", b"\xfe\xff")) and not self.number:
            raise ValueError("UTF-16; 'iconv -f UTF-16 -t UTF-8' makes a table of it that can be read")
        self.number += 1
        self._size += len(line)
        if self._size > MAX_ROW:
            raise ValueError(f"a row of more than {MAX_ROW >> 20} MiB, as where a quote is never closed")
        for charset in ("utf-8-sig" if self.number == 1 else "utf-8", "cp1252"):
            try:
                return line.decode(charset)
            except UnicodeDecodeError:
                pass
        return line.decode("latin-1")

    def row_ends(self) -> None:
        self._size = 0
        self.row = self.number + 1


def _commas(lines: _Lines, columns: Columns, labelled: bool) -> Rows:
    """Rows as RFC 4180 has them, with commas, or semicolons as spreadsheets write them in much of Europe."""
    csv.field_size_limit(MAX_FIELD)
    first = next((line for line in lines if line.strip()), None)
    if first is None:
        return
    error: ValueError | None = None
    for delimiter in ",;\t":
        header = next(csv.reader([first], delimiter=delimiter), [])
        try:
            pick, is_header = _picker(header, columns, labelled)
        except ValueError as why:
            error = error or why
            continue
        break
    else:
        assert error is not None
        raise error
    yield _names(header, is_header)
    if not is_header:
        yield 1, pick(header)
    lines.row_ends()
    for row in csv.reader(lines, delimiter=delimiter):
        if row:
            yield lines.row, _checked(pick, row, len(header), is_header)
        lines.row_ends()


def _tabs(lines: _Lines, columns: Columns, labelled: bool) -> Rows:
    """Rows between tabs. A quote opens nothing, so that one in a text does not swallow the rows behind it; what is
    wholly within quotes, as spreadsheets write it, loses them."""
    pick: Callable[[list[str]], TableRow] | None = None
    width, is_header = 0, False
    for line in lines:
        number = lines.row
        lines.row_ends()
        if not line.strip():
            continue
        row = [_unquoted(cell) for cell in line.rstrip("\r\n").split("\t")]
        if pick is None:
            try:
                pick, is_header = _picker(row, columns, labelled)
            except ValueError:
                if columns != Columns() or len(row) != 2 or not labelled:
                    raise
                pick, is_header = (lambda row: TableRow(row[0].strip(), row[1], row)), False  # label TAB text
            width = len(row)
            yield _names(row, is_header)
            if is_header:
                continue
        yield number, _checked(pick, row, width, is_header)


def _unquoted(cell: str) -> str:
    quoted = len(cell) > 1 and cell[0] == cell[-1] == '"'
    return cell[1:-1].replace('""', '"') if quoted else cell


def _names(first: list[str], is_header: bool) -> list[str]:
    return first if is_header else [f"column_{number}" for number in range(1, len(first) + 1)]


def _checked(pick: Callable[[list[str]], TableRow], row: list[str], width: int, header: bool) -> TableRow | ValueError:
    if header and len(row) > width:
        return ValueError(f"{len(row)} columns where the header has {width}")
    try:
        return pick(row)
    except IndexError:
        return ValueError(f"only {len(row)} columns")


def _picker(header: list[str], columns: Columns, labelled: bool) -> tuple[Callable[[list[str]], TableRow], bool]:
    """What takes class and text out of a row, and whether the first row names the columns."""
    names = [name.strip() for name in header]
    text = columns.text_place(names)
    label = columns.label_place(names) if labelled else None
    is_header = names[text].lower() in TEXT_NAMES or names[text] == columns.text

    def pick(row: list[str]) -> TableRow:
        return TableRow(None if label is None else class_in(row[label], names[label]), row[text], row)

    return pick, is_header


def _keys(path: str) -> list[str]:
    """The keys of all objects, in the order in which they come first: what lacks in the first line is kept too."""
    keys: dict[str, None] = {}
    with open_mail(path) as stream:
        lines = _Lines(stream)
        for line in lines:
            lines.row_ends()
            keys.update(dict.fromkeys(_object(line) or ()))
            if len(keys) > MAX_COLUMNS:
                raise ValueError(f"more than {MAX_COLUMNS:,} keys")
    return list(keys)


def _object(line: str) -> dict[str, object] | None:
    """The object of JSON in a line; None where there is none."""
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _objects(lines: _Lines, columns: Columns, labelled: bool, keys: list[str] | None) -> Rows:
    """An object of JSON in each line; ``keys`` are those to keep."""
    names: tuple[str, str | None] | None = None
    none = ValueError("no object of JSON in this line")
    before: list[int] = []  # numbers of lines without one, before the first that names the columns
    for line in lines:
        number = lines.row
        lines.row_ends()
        if not line.strip():
            continue
        found = _object(line)
        if names is None and found is None:
            before.append(number)
            if len(before) > _HOPELESS:
                raise ValueError(f"no object of JSON in its first {_HOPELESS} lines")
        elif found is None:
            yield number, none
        else:
            if names is None:
                first = list(found)
                names = first[columns.text_place(first)], first[columns.label_place(first)] if labelled else None
                yield keys or first
                yield from ((number, none) for number in before)
            label = None if names[1] is None else found.get(names[1])
            yield number, row_of_values(found.get(names[0]), label, names, [found.get(key) for key in keys or ()])
    if names is None and before:
        raise none
