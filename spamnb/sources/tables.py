"""Lists with a message in each row: CSV, TSV and JSON lines, plain or gzipped, lines of ``label TAB text``, and TREC
indexes, which name a file in each line.

Which column holds the text and which the class is told by their names where there is no doubt:

    v1,v2,,,                       Kaggle's spam.csv, which is latin-1
    Category,Message
    text,spam                      where 1 is spam and 0 is ham

Each kind of table has a generator of its rows. Columns are known by their names, which the first row has.
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
from spamnb.sources.entries import Entry, ReadOptions, Report, message_of_text, open_mail
from spamnb.sources.formats import MAX_MESSAGE, TABLES, NotMail, foreign_format

MAX_ROW = 4 << 20  # bytes; what is longer is a quote that was never closed
_TOO_LONG = f"a row of more than {MAX_ROW >> 20} MiB, as where a quote is never closed"
MAX_FIELD = 1 << 20  # characters of a text
# What columns are called that hold the class, the text, and whole messages with their headers.
LABEL_NAMES = frozenset({"label", "labels", "class", "category", "target", "v1", "spam/ham", "ham/spam", "label_text"})
TEXT_NAMES = frozenset({"text", "message", "messages", "sms", "email", "mail", "body", "content", "v2", "email text"})
RAW_NAMES = frozenset({"raw", "raw_message", "raw_mail", "rfc822", "eml"})
# Columns that say whether a message is spam: no class is called 1.
_FLAGS = frozenset({"spam", "is_spam", "isspam"})
_FLAG_CLASSES = {"1": "spam", "0": "ham", "true": "spam", "false": "ham", "yes": "spam", "no": "ham"}
_MAX_NAMES = 8  # columns that a complaint lists

Cells = dict[str, Any]  # by the names of their columns
# The number of a row's first line, and its cells, or what is wrong with it.
Row = tuple[int, Cells | ValueError]


def table(path: str, options: ReadOptions, labelled: bool, on_unreadable: Report) -> Iterator[Entry]:
    """The message of each row; where ``labelled``, with its class. Rows that have none are reported. A file that is not
    called as a table holds lines ``label TAB text``.

    Raises SpamnbError at once where the columns are not those that were asked for, or not clear.
    """
    kind = path.lower().removesuffix(".gz").rpartition(".")[2]
    is_plain = f".{kind}" not in TABLES
    if is_plain:
        rows = _pairs(path, "\t", "text", ValueError("no label TAB text in this line"))
    else:
        rows = _objects(path) if kind == "jsonl" else _cells(path)
    try:
        first = next(rows, None)
        if first is None:
            return iter(())
        columns = first[1]
        if isinstance(columns, ValueError):
            raise columns
        asked = ReadOptions() if is_plain else options
        text = _place([*columns], asked.text_column, TEXT_NAMES | RAW_NAMES, "text")
        label = _place([*columns], asked.label_column, LABEL_NAMES | _FLAGS, "label") if labelled else None
    except OSError as error:
        raise SpamnbError(f"{escape(path)}: cannot be read: {reason(error)}") from error
    except (ValueError, csv.Error) as error:
        hint = f"; for a mailbox or a message write CLASS={escape(path)}" if is_plain else ""
        raise SpamnbError(f"{escape(path)}: {error}{hint}") from error

    if kind == "jsonl" or (is_plain and columns["text"].strip().lower() not in TEXT_NAMES):  # it holds a message, too
        rows = chain([first], rows)

    def message(name: str, cells: Cells) -> Entry:
        own_class = None if label is None else _class_in(cells.get(label), label)
        return Entry(own_class, name, "", content=_message_in(cells.get(text), text))

    return _entries(path, rows, message, on_unreadable)


def trec_index(path: str, on_unreadable: Report) -> Iterator[Entry]:
    """The files that the lines of a TREC index name, relative to its folder; other lines are reported."""

    def message(name: str, cells: Cells) -> Entry:
        label, target = check_class_name(cells["label"]), os.path.join(os.path.dirname(path), cells["path"])
        if not os.path.isfile(target) or not os.path.getsize(target):
            raise ValueError(f"{escape(target)}: no such file, or an empty one")
        return Entry(label, escape(target), target)

    rows = _pairs(path, None, "path", ValueError("not a class and a path"))
    return _entries(path, rows, message, on_unreadable)


def _entries(
    path: str, rows: Iterator[Row], message_of: Callable[[str, Cells], Entry], on_unreadable: Report
) -> Iterator[Entry]:
    """The message of each row; ``message_of(name, cells)`` raises ValueError where there is none."""
    number = 0
    try:
        for number, cells in rows:
            name = f"{escape(path)}:{number}"
            try:
                if isinstance(cells, ValueError):
                    raise cells
                yield message_of(name, cells)
            except ValueError as error:
                on_unreadable(name, error)
    except OSError as error:
        on_unreadable(escape(path), error)
    except (ValueError, csv.Error) as error:
        on_unreadable(f"{escape(path)}:{number + 1}", ValueError(f"{error}; the rest of the table"))


# What a row holds


def _place(names: list[str], asked: str | None, known: frozenset[str], what: str) -> str:
    """The name of a column. ValueError where there is none, or more than one."""
    shown = ", ".join(escape(name[:40]) for name in names[:_MAX_NAMES]) + (", …" if len(names) > _MAX_NAMES else "")
    if asked is not None:
        if asked not in names:
            raise ValueError(f"no column {escape(asked)!r} beside {shown}")
        return asked
    found = [name for name in names if name.lower() in known]
    if len(found) != 1:
        doubt = "several columns could hold" if found else "no column's name says that it holds"
        advice = f"name the columns in the first line, as label and text, or give --{what}-column NAME"
        raise ValueError(f"{doubt} the {what} (columns: {shown}); {advice}")
    return found[0]


def _message_in(text: Any, column: str) -> bytes:
    """The raw message of a text. ValueError where it is none."""
    if not isinstance(text, str):
        raise ValueError(f"no text under {escape(column)!r}")
    holds_mail = column.lower() in RAW_NAMES  # whole messages with their headers
    if len(text) > (MAX_MESSAGE if holds_mail else MAX_FIELD):
        raise ValueError("a text that is too long")
    if not text.strip():
        raise ValueError("no text in this row")
    return text.encode("utf-8", "replace") if holds_mail else message_of_text(text)


def _class_in(value: Any, column: str) -> str:
    """The class that a row has in a column. ValueError where that is none."""
    if not isinstance(value, (str, int)):  # true and false are numbers
        raise ValueError(f"no class under {escape(column)!r}")
    label = str(value).strip()
    return check_class_name(_FLAG_CLASSES.get(label.lower(), label) if column.lower() in _FLAGS else label)


# Rows: the keys of the first that each of these gives are the names of the columns


def _lines(path: str) -> Iterator[tuple[int, str]]:
    """The lines of a table with their numbers, as text: UTF-8, and where a line is none, Windows' letters.

    NotMail where the file is something else. ValueError for a line over MAX_ROW.
    """
    with open_mail(path) as stream:
        for number in count(1):
            line = stream.readline(MAX_ROW + 1)
            if number == 1 and (what := foreign_format(line)):
                raise NotMail(what, path)
            if len(line) > MAX_ROW:
                raise ValueError(_TOO_LONG)
            if not line:
                return
            try:
                yield number, line.decode("utf-8-sig")
            except UnicodeDecodeError:
                yield number, line.decode("cp1252", "replace")


def _cells(path: str) -> Iterator[Row]:
    """Rows as RFC 4180 has them, with commas, tabs, or semicolons as spreadsheets write them in much of Europe. Cells
    at a row's end may lack. In a .tsv a line is a row: a quote in a text does not swallow the rows behind it.
    """
    csv.field_size_limit(max(csv.field_size_limit(), MAX_ROW))  # of the whole process
    lines = _lines(path)
    first = next(((number, line) for number, line in lines if line.strip()), (0, ""))
    number = last = first[0]  # of the lines of a row
    size = 0  # of that row

    def texts() -> Iterator[str]:
        nonlocal last, size
        for position, line in chain([first], lines):
            last, size = position, size + len(line)
            if size > MAX_ROW:
                raise ValueError(_TOO_LONG)
            yield line

    rows: Iterator[list[str]] = csv.reader(texts(), delimiter=max(",;\t", key=first[1].count))
    if path.lower().removesuffix(".gz").endswith(".tsv"):
        plain = (line.rstrip("\r\n").replace("\r", " ") for line in texts())
        rows = (cells for line in plain for cells in csv.reader([line], delimiter="\t"))
    names: list[str] = []
    for cells in rows:
        names = names or [name.strip() for name in cells]
        if len(cells) > len(names):
            yield number, ValueError(f"{len(cells)} columns where the first row has {len(names)}")
        elif cells:
            yield number, dict(zip_longest(names, cells, fillvalue=""))
        number, size = last + 1, 0


def _pairs(path: str, separator: str | None, second: str, none: ValueError) -> Iterator[Row]:
    """Lines of a label and something behind a separator; ``none`` is what is wrong with other lines."""
    for number, line in _lines(path):
        parts = line.strip("\r\n").split(separator, maxsplit=1)
        if line.strip():
            yield number, dict(zip(("label", second), parts)) if len(parts) == 2 else none


def _objects(path: str) -> Iterator[Row]:
    """An object of JSON in each line."""
    for number, line in _lines(path):
        if not line.strip():
            continue
        try:
            found = json.loads(line)
        except (ValueError, RecursionError):
            found = None
        yield number, found if isinstance(found, dict) else ValueError("no object of JSON in this line")
