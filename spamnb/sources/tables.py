"""Tables of text, a message in each row: CSV, TSV, JSON lines (plain or gzipped) and Parquet.

Which column holds the text and which the class is guessed by the header line where there is no doubt:

    v1,v2,,,                       Kaggle's spam.csv, which is latin-1
    Category,Message
    text,spam                      where 1 is spam and 0 is ham

Each kind of table has a generator. It yields the table's head, and then its rows.
"""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Generator, Iterable, Iterator, Sequence
from typing import Any, BinaryIO, NamedTuple

from spamnb.errors import SpamnbError, reason
from spamnb.naming import check_class_name, escape
from spamnb.sources.entries import MAX_MESSAGE, Entry, Report, message_of_text, open_mail
from spamnb.sources.labelled_lines import LABEL_NAMES, TEXT_NAMES

MAX_ROW = 4 << 20  # bytes; what is longer is a quote that was never closed
MAX_FIELD = 1 << 20  # characters of a text
# Columns of Parquet tables that hold whole messages with their headers, as bytes.
RAW_NAMES = frozenset({"raw", "raw_message", "raw_mail", "rfc822", "eml"})
# Columns that say whether a message is spam: no class is called 1.
_FLAGS = frozenset({"spam", "is_spam", "isspam"})
_FLAG_CLASSES = {"1": "spam", "0": "ham", "true": "spam", "false": "ham", "yes": "spam", "no": "ham"}
_HOPELESS = 20  # lines without an object of JSON before a file is taken for something else
_MAX_NAMES = 8  # columns that a complaint lists


class Columns(NamedTuple):
    """Which columns hold the text and the class, by name, or by number from 1; None where it is to be guessed."""

    text: str | None = None
    label: str | None = None


class Head(NamedTuple):
    """The columns' names, and which of them hold the text (``is_raw``: whole messages) and the class, if it is asked
    for."""

    names: list[str]
    text: int
    label: int | None
    is_raw: bool = False


class Row(NamedTuple):
    """A row's number, and its values in the order of the columns, or what is wrong with it."""

    number: int
    values: Sequence[Any] | ValueError


Rows = Generator[Head | Row]


def table(path: str, columns: Columns, labelled: bool, on_unreadable: Report) -> Iterator[Entry]:
    """The message of each row; where ``labelled``, with its class. Rows that have none are reported.

    Raises SpamnbError at once where the columns are not those that were asked for, or not clear.
    """
    return (entry for entry, _ in _entries(path, *_opened(path, columns, labelled), on_unreadable))


def table_with_cells(
    path: str, columns: Columns, on_unreadable: Report
) -> tuple[list[str], Iterator[tuple[Entry, list[str]]]]:
    """The columns' names, and the message of each row with all cells of it, as text.

    Where a table has no header its columns are called ``column_1`` and so on.
    """
    head, rows = _opened(path, columns, False)
    width = len(head.names)
    found = _entries(path, head, rows, on_unreadable)
    return head.names, ((entry, [*map(cell_text, cells), *[""] * (width - len(cells))]) for entry, cells in found)


def cell_text(value: Any) -> str:
    """A value as a cell of CSV: text as it is, nothing for null, what JSON knows as JSON, all else as it is shown.

    >>> cell_text("a"), cell_text(None), cell_text(True), cell_text([1, "é"])
    ('a', '', 'true', '[1, "é"]')
    """
    if value is None:
        return ""
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, (bool, int, float, list, dict)):
        return json.dumps(value, ensure_ascii=False, default=str)
    return str(value)


def head_of(names: list[str], columns: Columns, labelled: bool, with_raw: bool = False) -> Head:
    """The head of a table with these columns. ValueError where it is not clear what they hold."""
    text = _place(names, columns.text, TEXT_NAMES | RAW_NAMES if with_raw else TEXT_NAMES, "text")
    label = _place(names, columns.label, LABEL_NAMES | _FLAGS, "label") if labelled else None
    return Head(names, text, label, with_raw and names[text].lower() in RAW_NAMES)


def _place(names: list[str], asked: str | None, known: frozenset[str], what: str) -> int:
    """The number of a column. ValueError where there is none, or more than one."""
    if asked is not None and asked in names:
        return names.index(asked)
    shown = ", ".join(escape(name[:40]) for name in names[:_MAX_NAMES]) + (", …" if len(names) > _MAX_NAMES else "")
    if asked is not None:
        if asked.isascii() and asked.isdigit() and 1 <= int(asked[:9]) <= len(names):
            return int(asked) - 1
        raise ValueError(f"no column {escape(asked)!r} beside {shown}")
    found = [place for place, name in enumerate(names) if name.lower() in known]
    if len(found) != 1:
        doubt = "several columns could hold" if found else "no column's name says that it holds"
        raise ValueError(f"{doubt} the {what} (columns: {shown}); --{what}-column NAME or NUMBER tells")
    return found[0]


def _opened(path: str, columns: Columns, labelled: bool) -> tuple[Head, Rows]:
    """The head of a table, which is read before any message, and the generator of its rows."""
    kind = os.path.splitext(path.lower().removesuffix(".gz"))[1]
    if kind == ".parquet":
        from spamnb.sources.parquet import parquet_rows

        rows = parquet_rows(path, columns, labelled)
    elif kind == ".jsonl":
        rows = _objects(path, columns, labelled)
    else:
        rows = _cells(path, kind == ".tsv", columns, labelled)
    try:
        head = next(rows, None)
    except OSError as error:
        raise SpamnbError(f"{escape(path)}: cannot be read: {reason(error)}") from error
    except (ValueError, csv.Error) as error:
        raise SpamnbError(f"{escape(path)}: {error}") from error
    return head if isinstance(head, Head) else Head([], 0, None), rows


def _entries(path: str, head: Head, rows: Rows, on_unreadable: Report) -> Iterator[tuple[Entry, Sequence[Any]]]:
    number = 0
    try:
        for row in rows:
            assert isinstance(row, Row)
            number, values = row
            name = f"{escape(path)}:{number}"
            try:
                if isinstance(values, ValueError):
                    raise values
                yield _entry(name, path, head, values), values
            except ValueError as error:
                on_unreadable(name, error)
    except OSError as error:
        on_unreadable(escape(path), error)
    except (ValueError, OverflowError, csv.Error) as error:
        on_unreadable(f"{escape(path)}:{number + 1}", ValueError(f"{error}; the rest of the table"))


def _entry(name: str, path: str, head: Head, values: Sequence[Any]) -> Entry:
    """The message of a row. ValueError where there is none."""
    text, label = values[head.text], None
    if not isinstance(text, (str, bytes)):
        raise ValueError(f"no text under {escape(head.names[head.text])!r}")
    if len(text) > (MAX_MESSAGE if head.is_raw else MAX_FIELD):
        raise ValueError("a text that is too long")
    if head.label is not None:
        column, value = head.names[head.label], values[head.label]
        if not isinstance(value, (str, int)):  # true and false are numbers
            raise ValueError(f"no class under {escape(column)!r}")
        label = str(value).strip()
        label = check_class_name(_FLAG_CLASSES.get(label.lower(), label) if column.lower() in _FLAGS else label)
    if not text.strip():
        raise ValueError("no text in this row")
    if head.is_raw:
        return Entry(label, name, path, content=text if isinstance(text, bytes) else text.encode("utf-8", "replace"))
    text = text.decode("utf-8", "replace") if isinstance(text, bytes) else text
    return Entry(label, name, path, content=message_of_text(text))


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


def _cells(path: str, by_tabs: bool, columns: Columns, labelled: bool) -> Rows:
    """Rows as RFC 4180 has them, with commas, or semicolons as spreadsheets write them in much of Europe.

    Between tabs a quote opens nothing, so that one in a text does not swallow the rows behind it; a cell that is wholly
    within quotes, as spreadsheets write it, loses them.
    """
    csv.field_size_limit(MAX_FIELD)
    plain = _unquoted if by_tabs else str
    with open_mail(path) as stream:
        lines = _Lines(stream)
        first = next((line for line in lines if line.strip()), None)
        if first is None:
            return
        error: ValueError | None = None
        for delimiter in "\t" if by_tabs else ",;\t":
            row = list(map(plain, next(_reader([first], delimiter, by_tabs), [])))
            names = [name.strip() for name in row]
            try:
                head = head_of(names, columns, labelled)
                break
            except ValueError as why:
                error = error or why
        else:
            assert error is not None
            if not (by_tabs and labelled and columns == Columns() and len(row) == 2):
                raise error
            head = Head(names, text=1, label=0)  # label TAB text
        is_header = names[head.text].lower() in TEXT_NAMES or names[head.text] == columns.text
        width, needed = len(row), max(head.text, head.label or 0)
        yield head if is_header else head._replace(names=[f"column_{number}" for number in range(1, width + 1)])
        if not is_header:
            yield Row(1, row)
        lines.row_ends()
        for row in _reader(lines, delimiter, by_tabs):
            if len(row) > width:
                yield Row(lines.row, ValueError(f"{len(row)} columns where the first row has {width}"))
            elif row:
                cells = [*map(plain, row)]
                yield Row(lines.row, cells if len(row) > needed else ValueError(f"only {len(row)} columns"))
            lines.row_ends()


def _reader(lines: Iterable[str], delimiter: str, by_tabs: bool) -> Iterator[list[str]]:
    return csv.reader(lines, delimiter=delimiter, quoting=csv.QUOTE_NONE if by_tabs else csv.QUOTE_MINIMAL)


def _unquoted(cell: str) -> str:
    quoted = len(cell) > 1 and cell[0] == cell[-1] == '"'
    return cell[1:-1].replace('""', '"') if quoted else cell


def _objects(path: str, columns: Columns, labelled: bool) -> Rows:
    """An object of JSON in each line; the first one names the columns."""
    names: list[str] | None = None
    none = ValueError("no object of JSON in this line")
    before: list[Row] = []  # lines without one, before the first that names the columns
    with open_mail(path) as stream:
        lines = _Lines(stream)
        for line in lines:
            number = lines.row
            lines.row_ends()
            if not line.strip():
                continue
            try:
                found = json.loads(line)
            except (ValueError, RecursionError):
                found = None
            if not isinstance(found, dict):
                if names is not None:
                    yield Row(number, none)
                    continue
                before.append(Row(number, none))
                if len(before) > _HOPELESS:
                    raise ValueError(f"no object of JSON in its first {_HOPELESS} lines")
            else:
                if names is None:
                    names = list(found)
                    yield head_of(names, columns, labelled)
                    yield from before
                yield Row(number, [found.get(name) for name in names])
    if names is None and before:
        raise none
