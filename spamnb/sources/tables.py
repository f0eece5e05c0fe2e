"""Tables with a message in each row: CSV, TSV, JSON lines, lines of ``label TAB text``, and TREC indexes.

A file may be gzipped. Each line of a TREC index names a file. The columns of the text and of the class are recognised
by their names, if only one column has such a name:

    v1,v2,,,                       Kaggle's spam.csv, which is latin-1
    Category,Message
    text,spam                      1 is spam and 0 is ham
"""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Callable, Iterator
from itertools import chain, count, zip_longest
from typing import Any

from spamnb.class_names import check_class_name
from spamnb.errors import SpamnbError, reason
from spamnb.shown_text import escape
from spamnb.sources.entries import Entry, OnError, ReadOptions, message_from_text, open_mail
from spamnb.sources.formats import MAX_MESSAGE, TABLES, NotMail, foreign_format

MAX_ROW = 4 << 20  # bytes, because without a bound a quote that is never closed makes one row of the whole table
_LONG_ROW = f"a row of more than {MAX_ROW >> 20} MiB; perhaps a quote is not closed"
MAX_TEXT = 1 << 20  # characters; the longest message of Enron-Spam has 228,377
# Names of columns with the class, with the text, and with whole messages including their headers.
LABEL_NAMES = frozenset({"label", "labels", "class", "category", "target", "v1", "spam/ham", "ham/spam", "label_text"})
TEXT_NAMES = frozenset({"text", "message", "messages", "sms", "email", "mail", "body", "content", "v2", "email text"})
RAW_NAMES = frozenset({"raw", "raw_message", "raw_mail", "rfc822", "eml"})
# Columns that say whether a message is spam. Their values are not names of classes.
_FLAGS = frozenset({"spam", "is_spam", "isspam"})
_FLAG_CLASSES = {"1": "spam", "0": "ham", "true": "spam", "false": "ham", "yes": "spam", "no": "ham"}
_MAX_NAMES = 8  # columns that an error lists

NamedCells = dict[str, Any]  # the cells of a row, by the names of their columns
Row = tuple[int, NamedCells | ValueError]  # the number of the row's first line, and its cells or its error


def table_entries(path: str, options: ReadOptions, labelled: bool, on_unreadable: OnError) -> Iterator[Entry]:
    """Return the message of each row, with its class if ``labelled``. Rows without a message are reported.

    If the name of the file does not end with one of TABLES, its lines are ``label TAB text``. Raise SpamnbError at once
    if no column or several columns may be the text or the class.
    """
    kind = path.lower().removesuffix(".gz").rpartition(".")[2]
    has_pairs = f".{kind}" not in TABLES
    if has_pairs:
        rows = _pair_rows(path, "\t", "text", ValueError("no label TAB text in this line"))
    else:
        rows = _json_rows(path) if kind == "jsonl" else _csv_rows(path)
    try:
        first_row = next(rows, None)
        if first_row is None:
            return iter(())
        columns = first_row[1]
        if isinstance(columns, ValueError):
            raise columns
        if has_pairs:
            options = ReadOptions()
        names = list(columns)
        text_column = _find_column(names, options.text_column, TEXT_NAMES | RAW_NAMES, "text")
        label_names = LABEL_NAMES | _FLAGS
        label_column = _find_column(names, options.label_column, label_names, "label") if labelled else None
    except OSError as error:
        raise SpamnbError(f"{escape(path)}: cannot be read: {reason(error)}") from error
    except (ValueError, csv.Error) as error:
        hint = f"; for a mailbox or a message write CLASS={escape(path)}" if has_pairs else ""
        raise SpamnbError(f"{escape(path)}: {error}{hint}") from error

    # If the first row does not name the columns, it is a message.
    if kind == "jsonl" or (has_pairs and columns["text"].strip().lower() not in TEXT_NAMES):
        rows = chain([first_row], rows)

    def make_entry(name: str, cells: NamedCells) -> Entry:
        label = None if label_column is None else _parse_class(cells.get(label_column), label_column)
        return Entry(label, name, "", content=_parse_message(cells.get(text_column), text_column))

    return _entries(path, rows, make_entry, on_unreadable)


def trec_index_entries(path: str, on_unreadable: OnError) -> Iterator[Entry]:
    """Return the files that the lines of a TREC index name, relative to its folder. Other lines are reported."""

    def make_entry(name: str, cells: NamedCells) -> Entry:
        label, target = check_class_name(cells["label"]), os.path.join(os.path.dirname(path), cells["path"])
        if not os.path.isfile(target) or not os.path.getsize(target):
            raise ValueError(f"{escape(target)}: no such file, or an empty one")
        return Entry(label, escape(target), target)

    rows = _pair_rows(path, None, "path", ValueError("not a class and a path"))
    return _entries(path, rows, make_entry, on_unreadable)


def _entries(
    path: str, rows: Iterator[Row], make_entry: Callable[[str, NamedCells], Entry], on_unreadable: OnError
) -> Iterator[Entry]:
    """Yield the message of each row. Report a row for which ``make_entry(name, cells)`` raises ValueError."""
    number = 0
    try:
        for number, cells in rows:
            name = f"{escape(path)}:{number}"
            try:
                if isinstance(cells, ValueError):
                    raise cells
                yield make_entry(name, cells)
            except ValueError as error:
                on_unreadable(name, error)
    except OSError as error:
        on_unreadable(escape(path), error)
    except (ValueError, csv.Error) as error:
        on_unreadable(f"{escape(path)}:{number + 1}", ValueError(f"{error}; no later row is read"))


def _find_column(names: list[str], choice: str | None, usual_names: frozenset[str], content: str) -> str:
    """Return ``choice``; if that is None, return the only column with a usual name."""
    shown_names = ", ".join(escape(name[:40]) for name in names[:_MAX_NAMES]) + ", …" * (len(names) > _MAX_NAMES)
    if choice is not None:
        if choice not in names:
            raise ValueError(f"no column {escape(choice)!r}; the columns are {shown_names}")
        return choice
    candidates = [name for name in names if name.lower() in usual_names]
    if len(candidates) != 1:
        problem = "several columns may be" if candidates else "no column has a usual name of"
        advice = f"name the columns label and text in the first line, or choose one with --{content}-column NAME"
        raise ValueError(f"{problem} the {content} (columns: {shown_names}); {advice}")
    return candidates[0]


def _parse_message(text: Any, column: str) -> bytes:
    """Return the raw message of a cell. Raise ValueError if the cell contains none."""
    if not isinstance(text, str):
        raise ValueError(f"no text under {escape(column)!r}")
    has_headers = column.lower() in RAW_NAMES
    if len(text) > (MAX_MESSAGE if has_headers else MAX_TEXT):
        raise ValueError("the text is too long")
    if not text.strip():
        raise ValueError("no text in this row")
    return text.encode("utf-8", "replace") if has_headers else message_from_text(text)


def _parse_class(value: Any, column: str) -> str:
    """Return the class of a cell. Raise ValueError if the cell contains none."""
    if not isinstance(value, (str, int)):  # a bool is an int, too
        raise ValueError(f"no class under {escape(column)!r}")
    label = str(value).strip()
    return check_class_name(_FLAG_CLASSES.get(label.lower(), label) if column.lower() in _FLAGS else label)


# Generators of rows. The keys of the first row's cells are the names of the columns.


def _lines(path: str) -> Iterator[tuple[int, str]]:
    """Yield the lines of a table with their numbers, decoded from UTF-8, or from Windows-1252 if they are not UTF-8.

    Raise NotMail for another format, and ValueError for a line of more than MAX_ROW bytes.
    """
    with open_mail(path) as stream:
        for number in count(1):
            line = stream.readline(MAX_ROW + 1)
            if number == 1 and (format_name := foreign_format(line)):
                raise NotMail(format_name, path)
            if len(line) > MAX_ROW:
                raise ValueError(_LONG_ROW)
            if not line:
                return
            try:
                yield number, line.decode("utf-8-sig")
            except UnicodeDecodeError:
                yield number, line.decode("cp1252", "replace")


def _csv_rows(path: str) -> Iterator[Row]:
    """Yield rows of RFC 4180, separated by commas, tabs, or semicolons as in Europe's spreadsheets.

    Cells at the end of a row may be missing. In a .tsv file each line is a row, because a quote there is mostly an
    ordinary character, and does not begin a cell of several lines.
    """
    csv.field_size_limit(max(csv.field_size_limit(), MAX_ROW))  # never lowered: the whole process has this limit
    lines = _lines(path)
    first_line = next(((number, line) for number, line in lines if line.strip()), (0, ""))
    number = last_number = first_line[0]  # the numbers of a row's first and last line
    row_size = 0  # characters

    def bounded_lines() -> Iterator[str]:
        nonlocal last_number, row_size
        for line_number, line in chain([first_line], lines):
            last_number, row_size = line_number, row_size + len(line)
            if row_size > MAX_ROW:
                raise ValueError(_LONG_ROW)
            yield line

    rows: Iterator[list[str]] = csv.reader(bounded_lines(), delimiter=max(",;\t", key=first_line[1].count))
    if path.lower().removesuffix(".gz").endswith(".tsv"):
        stripped = (line.rstrip("\r\n").replace("\r", " ") for line in bounded_lines())
        rows = (cells for line in stripped for cells in csv.reader([line], delimiter="\t"))
    names: list[str] = []
    for cells in rows:
        names = names or [name.strip() for name in cells]
        if len(cells) > len(names):
            yield number, ValueError(f"{len(cells)} columns where the first row has {len(names)}")
        elif cells:
            yield number, dict(zip_longest(names, cells, fillvalue=""))
        number, row_size = last_number + 1, 0


def _pair_rows(path: str, separator: str | None, second: str, error: ValueError) -> Iterator[Row]:
    """Yield the cells of lines that are a label, a separator and a second cell, and ``error`` for other lines."""
    for number, line in _lines(path):
        parts = line.strip("\r\n").split(separator, maxsplit=1)
        if line.strip():
            yield number, dict(zip(("label", second), parts)) if len(parts) == 2 else error


def _json_rows(path: str) -> Iterator[Row]:
    """Yield the JSON object of each line."""
    for number, line in _lines(path):
        if not line.strip():
            continue
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            value = None
        yield number, value if isinstance(value, dict) else ValueError("no JSON object in this line")
