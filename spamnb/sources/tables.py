"""Lists with a message in each row: CSV, TSV and JSON lines, plain or gzipped, lines of ``label TAB text``, and TREC
indexes, which name a file in each line.

Which column holds the text and which the class is guessed by the header line where there is no doubt:

    v1,v2,,,                       Kaggle's spam.csv, which is latin-1
    Category,Message
    text,spam                      where 1 is spam and 0 is ham

Each kind of table has a generator of its rows. The first row has the names of the columns; of a table without a header
it is a message too.
"""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from typing import Any, BinaryIO, NamedTuple

from spamnb.errors import SpamnbError, reason
from spamnb.naming import check_class_name, escape
from spamnb.sources.entries import MAX_MESSAGE, Entry, Report, message_of_text, open_mail
from spamnb.sources.formats import NotMail, foreign_format
from spamnb.sources.spec import ReadOptions

MAX_ROW = 4 << 20  # bytes; what is longer is a quote that was never closed
MAX_FIELD = 1 << 20  # characters of a text
# What columns are called that hold the class, the text, and whole messages with their headers.
LABEL_NAMES = frozenset({"label", "labels", "class", "category", "target", "v1", "spam/ham", "ham/spam", "label_text"})
TEXT_NAMES = frozenset({"text", "message", "messages", "sms", "email", "mail", "body", "content", "v2", "email text"})
RAW_NAMES = frozenset({"raw", "raw_message", "raw_mail", "rfc822", "eml"})
# Columns that say whether a message is spam: no class is called 1.
_FLAGS = frozenset({"spam", "is_spam", "isspam"})
_FLAG_CLASSES = {"1": "spam", "0": "ham", "true": "spam", "false": "ham", "yes": "spam", "no": "ham"}
_MAX_NAMES = 8  # columns that a complaint lists


class Row(NamedTuple):
    """The number of a row's first line, and its values in the order of the columns, or what is wrong with it."""

    number: int
    values: Sequence[Any] | ValueError


class Columns(NamedTuple):
    """The columns' names, and which of them hold the text and the class, if it is asked for."""

    names: list[str]
    text: int
    label: int | None

    @property
    def holds_mail(self) -> bool:
        """Whether the texts are whole messages with their headers."""
        return self.names[self.text].lower() in RAW_NAMES

    def entry(self, name: str, values: Sequence[Any]) -> Entry:
        """The message of a row, in which cells at its end may lack. ValueError where there is none."""
        if len(values) > len(self.names):
            raise ValueError(f"{len(values)} columns where the first row has {len(self.names)}")
        values = [*values, *[""] * (len(self.names) - len(values))]
        text = values[self.text]
        if not isinstance(text, str):
            raise ValueError(f"no text under {escape(self.names[self.text])!r}")
        if len(text) > (MAX_MESSAGE if self.holds_mail else MAX_FIELD):
            raise ValueError("a text that is too long")
        label = None if self.label is None else _class_in(values[self.label], self.names[self.label])
        if not text.strip():
            raise ValueError("no text in this row")
        raw = text.encode("utf-8", "replace") if self.holds_mail else message_of_text(text)
        return Entry(label, name, "", content=raw)


def table(path: str, options: ReadOptions, labelled: bool, on_unreadable: Report) -> Iterator[Entry]:
    """The message of each row; where ``labelled``, with its class. Rows that have none are reported. A file that is not
    called as a table holds lines ``label TAB text``.

    Raises SpamnbError at once where the columns are not those that were asked for, or not clear.
    """
    kind = os.path.splitext(path.lower().removesuffix(".gz"))[1]
    generators = {".jsonl": _objects, ".tsv": _cells_by_tabs, ".csv": _cells}
    is_plain = kind not in generators
    rows = _split_lines(path, "\t") if is_plain else generators[kind](path)
    try:
        first = next(rows, None)
        if first is None:
            return iter(())
        if isinstance(first.values, ValueError):
            raise first.values
        names = [name.strip() for name in first.values]
        columns = _columns(names, ReadOptions() if is_plain else options, labelled, by_tabs=is_plain or kind == ".tsv")
    except OSError as error:
        raise SpamnbError(f"{escape(path)}: cannot be read: {reason(error)}") from error
    except (ValueError, csv.Error) as error:
        hint = f"; for a mailbox or a message write CLASS={escape(path)}" if is_plain else ""
        raise SpamnbError(f"{escape(path)}: {error}{hint}") from error
    text = names[columns.text]
    has_header = kind == ".jsonl" or text.lower() in TEXT_NAMES | RAW_NAMES or text == options.text_column
    return _entries(path, rows if has_header else chain([first], rows), columns.entry, on_unreadable)


def trec_index(path: str, on_unreadable: Report) -> Iterator[Entry]:
    """The files that the lines of a TREC index name, relative to its folder; other lines are reported."""

    def named(name: str, values: Sequence[Any]) -> Entry:
        label, target = check_class_name(values[0]), os.path.join(os.path.dirname(path), values[1])
        if not os.path.isfile(target) or not os.path.getsize(target):
            raise ValueError(f"{escape(target)}: no such file, or an empty one")
        return Entry(label, escape(target), target)

    return _entries(path, _split_lines(path, None), named, on_unreadable)


def _entries(
    path: str, rows: Iterator[Row], entry_of: Callable[[str, Sequence[Any]], Entry], on_unreadable: Report
) -> Iterator[Entry]:
    """The message of each row; ``entry_of(name, values)`` raises ValueError where there is none."""
    number = 0
    try:
        for number, values in rows:
            name = f"{escape(path)}:{number}"
            try:
                if isinstance(values, ValueError):
                    raise values
                yield entry_of(name, values)
            except ValueError as error:
                on_unreadable(name, error)
    except OSError as error:
        on_unreadable(escape(path), error)
    except (ValueError, csv.Error) as error:
        on_unreadable(f"{escape(path)}:{number + 1}", ValueError(f"{error}; the rest of the table"))


# Columns


def _columns(names: list[str], options: ReadOptions, labelled: bool, by_tabs: bool) -> Columns:
    """What the columns of these names hold. ValueError where that is not clear."""
    try:
        text = _place(names, options.text_column, TEXT_NAMES | RAW_NAMES, "text")
        label = _place(names, options.label_column, LABEL_NAMES | _FLAGS, "label") if labelled else None
    except ValueError:
        is_asked = (options.text_column, options.label_column) != (None, None)
        if not by_tabs or not labelled or is_asked or len(names) != 2:
            raise
        check_class_name(names[0])
        text, label = 1, 0  # label TAB text
    return Columns(names, text, label)


def _place(names: list[str], asked: str | None, known: frozenset[str], what: str) -> int:
    """The number of a column. ValueError where there is none, or more than one."""
    shown = ", ".join(escape(name[:40]) for name in names[:_MAX_NAMES]) + (", …" if len(names) > _MAX_NAMES else "")
    if asked is not None:
        if asked in names:
            return names.index(asked)
        if asked.isascii() and asked.isdigit() and 1 <= int(asked[:9]) <= len(names):
            return int(asked) - 1
        raise ValueError(f"no column {escape(asked)!r} beside {shown}")
    found = [place for place, name in enumerate(names) if name.lower() in known]
    if len(found) != 1:
        doubt = "several columns could hold" if found else "no column's name says that it holds"
        raise ValueError(f"{doubt} the {what} (columns: {shown}); --{what}-column NAME or NUMBER tells")
    return found[0]


def _class_in(value: Any, column: str) -> str:
    """The class that a row has in a column. ValueError where that is none."""
    if not isinstance(value, (str, int)):  # true and false are numbers
        raise ValueError(f"no class under {escape(column)!r}")
    label = str(value).strip()
    return check_class_name(_FLAG_CLASSES.get(label.lower(), label) if column.lower() in _FLAGS else label)


# Rows


class _Lines:
    """The lines of a table as text: UTF-8, and where a line is none, Windows' letters.

    NotMail where the file is something else. ValueError for a line, or lines since ``size`` was last set to 0, over
    MAX_ROW.
    """

    def __init__(self, path: str, stream: BinaryIO) -> None:
        self._path, self._stream = path, stream
        self.size = self.number = 0

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        line = self._stream.readline(MAX_ROW + 1)
        if not line:
            raise StopIteration
        if not self.number and (what := foreign_format(line)):
            raise NotMail(what, self._path)
        self.number += 1
        self.size += len(line)
        if self.size > MAX_ROW:
            raise ValueError(f"a row of more than {MAX_ROW >> 20} MiB, as where a quote is never closed")
        try:
            return line.decode("utf-8-sig")
        except UnicodeDecodeError:
            return line.decode("cp1252", "replace")


def _cells(path: str) -> Iterator[Row]:
    """Rows as RFC 4180 has them, with commas, tabs, or semicolons as spreadsheets write them in much of Europe."""
    csv.field_size_limit(MAX_FIELD)
    with open_mail(path) as stream:
        lines = _Lines(path, stream)
        first = next((line for line in lines if line.strip()), "")
        number = lines.number
        for row in csv.reader(chain([first], lines), delimiter=max(",;\t", key=first.count)):
            if row:
                yield Row(number, row)
            lines.size, number = 0, lines.number + 1


def _cells_by_tabs(path: str) -> Iterator[Row]:
    """Rows in which a quote opens nothing, so that one in a text does not swallow the rows behind it; a cell that is
    wholly within quotes, as spreadsheets write it, loses them."""

    def unquoted(cell: str) -> str:
        is_quoted = len(cell) > 1 and cell[0] == cell[-1] == '"'
        return cell[1:-1].replace('""', '"') if is_quoted else cell

    for number, line in _numbered(path):
        yield Row(number, [*map(unquoted, line.strip("\r\n").split("\t"))])


def _numbered(path: str) -> Iterator[tuple[int, str]]:
    """The lines that are not blank, each with its number."""
    with open_mail(path) as stream:
        lines = _Lines(path, stream)
        for line in lines:
            lines.size = 0
            if line.strip():
                yield lines.number, line


def _split_lines(path: str, separator: str | None) -> Iterator[Row]:
    """Lines of a class and something behind a separator."""
    none = ValueError("no label TAB text in this line" if separator else "not a class and a path")
    for number, line in _numbered(path):
        parts = line.strip("\r\n").split(separator, maxsplit=1)
        yield Row(number, parts if len(parts) == 2 else none)


def _objects(path: str) -> Iterator[Row]:
    """An object of JSON in each line; the first line's names the columns."""
    names: list[str] = []
    for number, line in _numbered(path):
        try:
            found = json.loads(line)
        except (ValueError, RecursionError):
            found = None
        if not isinstance(found, dict):
            yield Row(number, ValueError("no object of JSON in this line"))
            continue
        if not names:
            names = list(found)
            yield Row(0, names)
        yield Row(number, [found.get(name) for name in names])
