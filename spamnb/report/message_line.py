"""A message as a line of a terminal: who sent it, when and about what, in columns as wide as the terminal allows.

All of it was written by a stranger: what is no printable character is shown as an escape, so nothing of it moves the
cursor, turns the direction of writing or passes for another line.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from contextlib import suppress
from typing import NamedTuple

from spamnb.reader.message import parse, read_fields
from spamnb.shown_text import printable

WIDE = 100  # columns from which on there is room for the message's name
MAX_COLUMN = 24  # columns: of names like comp.os.ms-windows.misc
GAP = "  "


class Heading(NamedTuple):
    """What a person knows a message by, printable and bounded. ``day`` is by the sender's clock; a Date field that is
    none stands as it is."""

    sender: str
    subject: str
    day: str


def heading(raw: bytes) -> Heading:
    """From, Subject and Date of a message; what has neither of the first two has the beginning of its text as subject.

    >>> heading(b"From: =?utf-8?q?J=C3=BCrg?= <j@x.org>\\nDate: Thu, 22 Aug 2002 14:26:25 +0200\\nSubject: Hi\\n\\n")
    Heading(sender='Jürg <j@x.org>', subject='Hi', day='2002-08-22')
    >>> heading(b"\\nSorry, I'll call later")
    Heading(sender='', subject="Sorry, I'll call later", day='')
    """
    from email.utils import parsedate_to_datetime  # mail that nobody looks at does without

    fields = {name.lower(): value for name, value in reversed(read_fields(raw))}
    sender, subject, date = (printable(fields.get(name, "")) for name in ("from", "subject", "date"))
    if not sender and not subject:
        subject = next(filter(None, map(printable, parse(raw).texts)), "")
    with suppress(ValueError, TypeError, IndexError, OverflowError):
        date = parsedate_to_datetime(date[:100]).date().isoformat()
    return Heading(sender.replace('"', ""), subject, date)


def terminal_width() -> int:
    """The columns of the terminal."""
    return shutil.get_terminal_size().columns


def column_width(texts: Iterable[str]) -> int:
    """The columns that these texts need, at most MAX_COLUMN.

    >>> column_width(["ham", "spam", "unsure"])
    6
    """
    from rich.cells import cell_len

    return min(MAX_COLUMN, max(map(cell_len, texts)))


def message_line(head: str, of: Heading, name: str, width: int) -> str:
    """A line of at most ``width`` columns: ``head``, date, sender, subject, and the message's name where there is room.

    A message without a sender, such as a row of a table, has its name in that place. Wide characters count as two.

    >>> of = Heading("Ann <ann@x.example>", "Cheap pills for you all", "2002-08-22")
    >>> line = message_line("spam", of, "m/1", 50)
    >>> line, len(line)
    ('spam  2002-08-22  Ann <ann@…  Cheap pills for you…', 50)
    """
    from rich.cells import cell_len

    name = printable(name.rpartition("/")[2])
    last = GAP + fit(name, min(max(cell_len(name), width // 6), width // 4)).rstrip() if width >= WIDE else ""
    begin = f"{head}{GAP}{fit(of.day, 10)}{GAP}"
    room = max(0, width - cell_len(begin) - cell_len(last) - len(GAP))
    subject = fit(of.subject, room - room // 3)
    line = f"{begin}{fit(of.sender or name, room // 3)}{GAP}{subject}{last}".rstrip()
    return line if cell_len(line) <= width else fit(line, width)


def fit(text: str, columns: int) -> str:
    """A text in exactly so many columns of a terminal, cut at its end or filled up.

    >>> fit("offer", 7), fit("offer", 4), fit("\\u4e2d\\u6587\\u4fe1", 5)
    ('offer  ', 'off…', '中文…')
    """
    from rich.cells import cell_len, set_cell_size

    if cell_len(text) <= columns:
        return set_cell_size(text, columns)
    return set_cell_size(text, columns - 1) + "…" if columns > 0 else ""
