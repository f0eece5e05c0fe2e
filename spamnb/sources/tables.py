"""Tables of text, a message in each row: CSV, TSV and JSON lines, plain or gzipped.

Which column holds the text and which the class is guessed by the header line where there is no doubt:

    v1,v2,,,                       Kaggle's spam.csv, which is latin-1
    Category,Message
    text,spam                      where 1 is spam and 0 is ham
"""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from typing import BinaryIO, NamedTuple

from spamnb.errors import SpamnbError, reason
from spamnb.naming import check_class_name, escape
from spamnb.sources.entries import Entry, Report, open_mail
from spamnb.sources.labelled_lines import LABEL_NAMES, TEXT_NAMES

MAX_ROW = 4 << 20  # bytes; what is longer is a quote that was never closed
MAX_FIELD = 1 << 20  # characters
_MAX_NAMES = 8  # columns that a complaint lists

# Columns that say whether a message is spam: no class is called 1.
_FLAGS = frozenset({"spam", "is_spam", "isspam"})
_FLAG_CLASSES = {"1": "spam", "0": "ham", "true": "spam", "false": "ham", "yes": "spam", "no": "ham"}

Record = tuple[str | None, str]  # class and text
Rows = Generator[tuple[int, "Record | ValueError"]]


class Columns(NamedTuple):
    """Which columns hold the text and the class, by name, or by number from 1; None where it is to be guessed."""

    text: str | None = None
    label: str | None = None


def table(path: str, columns: Columns, labelled: bool, on_unreadable: Report) -> Iterator[Entry]:
    """The message of each row; where ``labelled``, with its class. Rows that have none are reported.

    Raises SpamnbError at once where the columns are not those that were asked for, or not clear.
    """
    kind = os.path.splitext(path.lower().removesuffix(".gz"))[1]
    if kind == ".parquet":
        raise SpamnbError(f"{escape(path)}: Parquet is not read; pandas.read_parquet(…).to_csv(…) makes CSV of it")
    try:
        with closing(_records(path, kind, columns, labelled)) as records:
            next(records, None)  # the columns are looked for before any message is read
    except OSError as error:
        raise SpamnbError(f"{escape(path)}: cannot be read: {reason(error)}") from error
    except (ValueError, csv.Error) as error:
        raise SpamnbError(f"{escape(path)}: {error}") from error
    return _entries(path, kind, columns, labelled, on_unreadable)


def _entries(path: str, kind: str, columns: Columns, labelled: bool, on_unreadable: Report) -> Iterator[Entry]:
    number = 0
    try:
        for number, record in _records(path, kind, columns, labelled):
            name = f"{escape(path)}:{number}"
            if isinstance(record, ValueError):
                on_unreadable(name, record)
                continue
            label, text = record
            try:
                if label is not None:
                    check_class_name(label)
                if not text.strip():
                    raise ValueError("no text in this row")
            except ValueError as error:
                on_unreadable(name, error)
            else:
                # The blank line says that the message has no headers, whatever its text looks like.
                yield Entry(label, name, path, content=b"\n" + text.encode("utf-8", "replace") + b"\n")
    except OSError as error:
        on_unreadable(escape(path), error)
    except (ValueError, csv.Error) as error:
        on_unreadable(f"{escape(path)}:{number + 1}", ValueError(f"{error}; the rest of the table"))


def _records(path: str, kind: str, columns: Columns, labelled: bool) -> Rows:
    with open_mail(path) as stream:
        lines = _Lines(stream)
        rows = _objects if kind == ".jsonl" else _tabs if kind == ".tsv" else _commas
        yield from rows(lines, columns, labelled)


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
    if not is_header:
        yield 1, pick(header)
    lines.row_ends()
    for row in csv.reader(lines, delimiter=delimiter):
        if row:
            yield lines.row, _checked(pick, row, len(header) if is_header else 0)
        lines.row_ends()


def _tabs(lines: _Lines, columns: Columns, labelled: bool) -> Rows:
    """Rows between tabs. A quote opens nothing, so that one in a text does not swallow the rows behind it; what is
    wholly within quotes, as spreadsheets write it, loses them."""
    pick: Callable[[list[str]], Record] | None = None
    width = 0
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
                pick, is_header = (lambda row: (row[0].strip(), row[1])), False  # label TAB text
            width = len(row) if is_header else 0
            if is_header:
                continue
        yield number, _checked(pick, row, width)


def _unquoted(cell: str) -> str:
    quoted = len(cell) > 1 and cell[0] == cell[-1] == '"'
    return cell[1:-1].replace('""', '"') if quoted else cell


def _checked(pick: Callable[[list[str]], Record], row: list[str], width: int) -> Record | ValueError:
    if width and len(row) > width:
        return ValueError(f"{len(row)} columns where the header has {width}")
    try:
        return pick(row)
    except IndexError:
        return ValueError(f"only {len(row)} columns")


def _picker(header: list[str], columns: Columns, labelled: bool) -> tuple[Callable[[list[str]], Record], bool]:
    """What takes (class, text) out of a row, and whether the first row names the columns."""
    names = [name.strip() for name in header]
    text = _place(names, columns.text, TEXT_NAMES, "text")
    label = _place(names, columns.label, LABEL_NAMES | _FLAGS, "label") if labelled else None
    is_header = names[text].lower() in TEXT_NAMES or names[text] == columns.text
    flag = label is not None and names[label].lower() in _FLAGS

    def pick(row: list[str]) -> Record:
        return (None if label is None else class_in(row[label], flag)), row[text]

    return pick, is_header


def class_in(cell: str, flag: bool) -> str:
    """The class that a cell names; in a column that says whether it is spam, 1 is spam and 0 is ham."""
    name = cell.strip()
    return _FLAG_CLASSES.get(name.lower(), name) if flag else name


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


def _objects(lines: _Lines, columns: Columns, labelled: bool) -> Rows:
    """An object of JSON in each line."""
    names: tuple[str, str | None] | None = None
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
            yield number, ValueError("no object of JSON in this line")
            continue
        if names is None:
            keys = list(found)
            text = keys[_place(keys, columns.text, TEXT_NAMES, "text")]
            names = text, keys[_place(keys, columns.label, LABEL_NAMES | _FLAGS, "label")] if labelled else None
        yield number, _of_object(found, *names)


def _of_object(found: dict[str, object], text: str, label: str | None) -> Record | ValueError:
    value = found.get(text)
    if not isinstance(value, str):
        return ValueError(f"no text under {escape(text)!r}")
    if label is None:
        return None, value
    name = found.get(label)
    if not isinstance(name, (str, int)):  # true and false are numbers
        return ValueError(f"no class under {escape(label)!r}")
    return class_in(str(name), label.lower() in _FLAGS), value
