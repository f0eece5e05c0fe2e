"""Lists with a message in each row: CSV, TSV, JSON lines (plain or gzipped), Parquet, lines of ``label TAB text``, and
TREC indexes, which name a file in each line.

Which column holds the text and which the class is guessed by the header line where there is no doubt:

    v1,v2,,,                       Kaggle's spam.csv, which is latin-1
    Category,Message
    text,spam                      where 1 is spam and 0 is ham

Each kind of table has a generator. It yields the names of the columns (of text without a header its first row), and
then the rows.
"""

from __future__ import annotations

import csv
import errno
import gzip
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
# Of a Parquet table: rows and bytes of a column in memory at a time, and bytes of a column that are read at a time;
# otherwise pyarrow takes all of a row group, often the whole file.
_BATCH, _MAX_BATCH, _BUFFER = 256, 1 << 28, 1 << 20


class Head(NamedTuple):
    """The columns' names, and which of them hold the text (``is_raw``: whole messages) and the class, if it is asked
    for."""

    names: list[str]
    text: int = 0
    label: int | None = None
    is_raw: bool = False

    def entry(self, name: str, values: Sequence[Any]) -> Entry:
        """The message of a row. ValueError where there is none."""
        if len(values) != len(self.names):
            raise ValueError(f"{len(values)} columns where the first row has {len(self.names)}")
        text, label = values[self.text], None
        if not isinstance(text, (str, bytes)):
            raise ValueError(f"no text under {escape(self.names[self.text])!r}")
        if len(text) > (MAX_MESSAGE if self.is_raw else MAX_FIELD):
            raise ValueError("a text that is too long")
        if self.label is not None:
            column, value = self.names[self.label], values[self.label]
            if not isinstance(value, (str, int)):  # true and false are numbers
                raise ValueError(f"no class under {escape(column)!r}")
            label = str(value).strip()
            label = check_class_name(_FLAG_CLASSES.get(label.lower(), label) if column.lower() in _FLAGS else label)
        if not text.strip():
            raise ValueError("no text in this row")
        raw = text if isinstance(text, bytes) else text.encode("utf-8", "replace")
        return Entry(label, name, "", content=raw if self.is_raw else message_of_text(raw))


class Row(NamedTuple):
    """A row's number, and its values in the order of the columns, or what is wrong with it."""

    number: int
    values: Sequence[Any] | ValueError


def table(path: str, options: ReadOptions, labelled: bool, on_unreadable: Report) -> Iterator[Entry]:
    """The message of each row; where ``labelled``, with its class. Rows that have none are reported. A file that is not
    called as a table holds lines ``label TAB text``.

    Raises SpamnbError at once where the columns are not those that were asked for, or not clear.
    """
    head, rows = _opened(path, options, labelled)
    return _entries(path, rows, head.entry, on_unreadable)


def trec_index(path: str, on_unreadable: Report) -> Iterator[Entry]:
    """The files that the lines of a TREC index name, relative to its folder; other lines are reported."""

    def named(name: str, values: Sequence[Any]) -> Entry:
        label, target = check_class_name(values[0]), os.path.join(os.path.dirname(path), values[1])
        if not os.path.isfile(target) or not os.path.getsize(target):
            raise ValueError(f"{escape(target)}: no such file, or an empty one")
        return Entry(label, escape(target), target)

    return _entries(path, _split_lines(path, None), named, on_unreadable)


# The head of a table, and its messages


def _opened(path: str, options: ReadOptions, labelled: bool) -> tuple[Head, Iterator[Row]]:
    """The head of a table, which is read before any message, and its rows."""
    kind = os.path.splitext(path.lower().removesuffix(".gz"))[1]
    generators = {".parquet": _parquet_rows, ".jsonl": _objects, ".tsv": _cells, ".csv": _cells}
    if kind in generators:
        rows = generators[kind](path)
    else:
        rows, options = _split_lines(path, "\t"), ReadOptions()
    try:
        first = next(rows, None)
        if first is None:
            return Head([]), iter(())
        if isinstance(first.values, ValueError):
            raise first.values
        head = _head_of([name.strip() for name in first.values], options, labelled, kind)
    except OSError as error:
        raise SpamnbError(f"{escape(path)}: cannot be read: {reason(error)}") from error
    except (ValueError, csv.Error) as error:
        hint = "" if kind in generators else f"; for a mailbox or a message write CLASS={escape(path)}"
        raise SpamnbError(f"{escape(path)}: {error}{hint}") from error
    text = head.names[head.text]
    has_header = kind in (".parquet", ".jsonl") or text.lower() in TEXT_NAMES | RAW_NAMES or text == options.text_column
    return head, rows if has_header else chain([first], rows)


def _head_of(names: list[str], options: ReadOptions, labelled: bool, kind: str) -> Head:
    """The head of a table with these columns. ValueError where it is not clear what they hold."""
    try:
        text = _place(names, options.text_column, TEXT_NAMES | RAW_NAMES, "text")
        label = _place(names, options.label_column, LABEL_NAMES | _FLAGS, "label") if labelled else None
    except ValueError:
        if kind in (".csv", ".jsonl", ".parquet") or not labelled or options[1:] != (None, None) or len(names) != 2:
            raise
        check_class_name(names[0])
        return Head(names, text=1, label=0)  # label TAB text
    return Head(names, text, label, names[text].lower() in RAW_NAMES)


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
    except (ValueError, OverflowError, csv.Error) as error:
        on_unreadable(f"{escape(path)}:{number + 1}", ValueError(f"{error}; the rest of the table"))


# Kinds of tables


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
    """Rows as RFC 4180 has them, with commas, or semicolons as spreadsheets write them in much of Europe.

    Between tabs a quote opens nothing, so that one in a text does not swallow the rows behind it; a cell that is wholly
    within quotes, as spreadsheets write it, loses them.
    """
    csv.field_size_limit(MAX_FIELD)
    by_tabs = path.lower().removesuffix(".gz").endswith(".tsv")
    with open_mail(path) as stream:
        lines = _Lines(path, stream)
        first = next((line for line in lines if line.strip()), "")
        delimiter = "\t" if by_tabs else max(",;\t", key=first.count)
        text = chain([first], lines)
        found = csv.reader(text, delimiter=delimiter, quoting=csv.QUOTE_NONE if by_tabs else csv.QUOTE_MINIMAL)
        number, width = lines.number, 0
        for row in found:
            if row:
                width = width or len(row)
                row = [*map(_unquoted, row)] if by_tabs else row
                yield Row(number, row + [""] * (width - len(row)))
            lines.size, number = 0, lines.number + 1


def _unquoted(cell: str) -> str:
    quoted = len(cell) > 1 and cell[0] == cell[-1] == '"'
    return cell[1:-1].replace('""', '"') if quoted else cell


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


def _parquet_rows(path: str) -> Iterator[Row]:
    """The columns' names and the rows of a Parquet file, read by pyarrow (the extra ``parquet``) some at a time."""
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise SpamnbError(
            f"{escape(path)}: reading Parquet needs pyarrow: pip install pyarrow;"
            " or pandas.read_parquet(…).to_csv(…) makes CSV of it"
        ) from None
    with open_mail(path) as stream:
        if isinstance(stream, gzip.GzipFile):
            raise OSError(errno.EINVAL, "Parquet within gzip; gunzip it first", path)
        try:
            with parquet.ParquetFile(stream, buffer_size=_BUFFER, pre_buffer=False) as opened:
                names = opened.schema_arrow.names
                if len({*names}) < len(names):
                    raise ValueError("two columns of one name")
                yield Row(0, names)
                number = 0
                for batch in opened.iter_batches(_batch_size(opened.metadata), use_threads=False):
                    for values in zip(*(column.to_pylist() for column in batch.columns)):
                        number += 1
                        yield Row(number, values)
        except (pyarrow.ArrowException, OSError, UnicodeDecodeError) as error:
            lines = str(error).splitlines() or [type(error).__name__]
            raise ValueError(f"no Parquet that can be read: {escape(lines[0][:200])}") from error


def _batch_size(metadata: Any) -> int:
    """How many rows to take at a time: a value that the file holds once may stand in every row, and no value is longer
    than all of its column."""
    groups = map(metadata.row_group, range(metadata.num_row_groups))
    sizes = (group.column(n).total_uncompressed_size for group in groups for n in range(metadata.num_columns))
    return max(1, min(_BATCH, _MAX_BATCH // max(1, *sizes, 1)))
