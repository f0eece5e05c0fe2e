"""A message as a line of a terminal: date, sender and subject in columns.

Characters that are not printable become escapes, because a hostile message could move the cursor, change the direction
of writing, or imitate another line.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import NamedTuple

from spamnb.model.classification import Classification
from spamnb.model.decision import UNSURE
from spamnb.reader.message import first_fields, parse
from spamnb.shown_text import to_printable

WIDE = 100  # columns of a line that has room for the name of the message
MAX_COLUMN = 24  # columns; class names such as comp.os.ms-windows.misc fit
GAP = "  "


class Heading(NamedTuple):
    """Sender, subject and date of a message, printable and of bounded length.

    ``day`` is the date by the clock of the sender. A Date field that is not a date is copied.
    """

    sender: str
    subject: str
    day: str


def read_heading(raw: bytes) -> Heading:
    r"""Return sender, subject and date. A message without sender and subject has its first words as subject.

    >>> read_heading(b"From: =?utf-8?q?J=C3=BCrg?= <j@x.org>\nDate: Thu, 22 Aug 2002 14:26:25 +0200\nSubject: Hi\n\n")
    Heading(sender='Jürg <j@x.org>', subject='Hi', day='2002-08-22')
    >>> read_heading(b"\nSorry, I'll call later")
    Heading(sender='', subject="Sorry, I'll call later", day='')
    """
    from email.utils import parsedate_to_datetime  # imported here because most commands do not need it

    fields = first_fields(raw)
    sender, subject, date = (to_printable(fields.get(name, "")) for name in ("from", "subject", "date"))
    if not sender and not subject:
        subject = next(filter(None, map(to_printable, parse(raw).texts)), "")
    with suppress(ValueError, TypeError, IndexError, OverflowError):
        date = parsedate_to_datetime(date[:100]).date().isoformat()
    return Heading(sender.replace('"', ""), subject, date)


def terminal_width() -> int:
    """Return the columns of the terminal."""
    return shutil.get_terminal_size().columns


def column_width(texts: Iterable[str]) -> int:
    """Return the width of the widest text in columns, at most MAX_COLUMN.

    >>> column_width(["ham", "spam", "unsure"])
    6
    """
    from rich.cells import cell_len

    return min(MAX_COLUMN, max(map(cell_len, texts)))


def probability_column(names: Sequence[str], line_width: int) -> Callable[[Classification], str]:
    """Return a function that returns the probability of one of these classes as a column.

    A narrow line has no room for the name of the class if there is only one.
    """
    is_short = line_width < WIDE and len(names) == 1
    width = len("under 0.1 %") + (0 if is_short else len("P() ") + column_width([*names, ""]))

    def format_probability(classification: Classification) -> str:
        text = classification.describe_probability()
        return fit_columns(text.removeprefix(f"P({names[0]}) ") if is_short else text, width)

    return format_probability


def line_formatter(classes: Sequence[str], spam: str, actions: Sequence[str] = ()) -> Callable[..., str]:
    """Return a function that describes a message in a line of the terminal's width.

    Its parameters are the verdict, the classification, the message, its name, and one of ``actions`` if there are any.
    """
    widths, line_width = (column_width([*classes, UNSURE]), column_width([*actions, ""])), terminal_width()
    format_probability = probability_column([spam] if spam in classes else classes, line_width)

    def format_line(verdict: str, classification: Classification, raw: bytes, name: str, action: str = "") -> str:
        columns = [fit_columns(verdict, widths[0]), format_probability(classification)]
        columns += [fit_columns(action, widths[1])] if action else []
        return format_message_line(GAP.join(columns), read_heading(raw), name, line_width)

    return format_line


def format_message_line(prefix: str, heading: Heading, name: str, width: int) -> str:
    """Return a line of at most ``width`` columns with prefix, date, sender and subject.

    A wide line ends with the name of the message. If a message has no sender, as in a table, its name replaces the
    sender. Wide characters take two columns.

    >>> heading = Heading("Ann <ann@x.example>", "Cheap pills for you all", "2002-08-22")
    >>> line = format_message_line("spam", heading, "m/1", 50)
    >>> line, len(line)
    ('spam  2002-08-22  Ann <ann@…  Cheap pills for you…', 50)
    """
    from rich.cells import cell_len

    name = to_printable(name.rpartition("/")[2])
    suffix = GAP + fit_columns(name, min(max(cell_len(name), width // 6), width // 4)).rstrip() if width >= WIDE else ""
    prefix = f"{prefix}{GAP}{fit_columns(heading.day, 10)}{GAP}"
    room = max(0, width - cell_len(prefix) - cell_len(suffix) - len(GAP))
    subject = fit_columns(heading.subject, room - room // 3)
    line = f"{prefix}{fit_columns(heading.sender or name, room // 3)}{GAP}{subject}{suffix}".rstrip()
    return line if cell_len(line) <= width else fit_columns(line, width)


def fit_columns(text: str, columns: int) -> str:
    r"""Return a text truncated or padded to exactly this number of columns of a terminal.

    >>> fit_columns("offer", 7), fit_columns("offer", 4), fit_columns("\u4e2d\u6587\u4fe1", 5)
    ('offer  ', 'off…', '中文…')
    """
    from rich.cells import cell_len, set_cell_size

    if cell_len(text) <= columns:
        return set_cell_size(text, columns)
    return set_cell_size(text, columns - 1) + "…" if columns > 0 else ""
