"""Which columns of a table hold the text and the class: by name, by number, or guessed by the header."""

from __future__ import annotations

from typing import NamedTuple

from spamnb.naming import escape
from spamnb.sources.labelled_lines import LABEL_NAMES, TEXT_NAMES

# Columns of Parquet tables that hold whole messages with their headers, as bytes.
RAW_NAMES = frozenset({"raw", "raw_message", "raw_mail", "rfc822", "eml"})
_MAX_NAMES = 8  # columns that a complaint lists

# Columns that say whether a message is spam: no class is called 1.
_FLAGS = frozenset({"spam", "is_spam", "isspam"})
_FLAG_CLASSES = {"1": "spam", "0": "ham", "true": "spam", "false": "ham", "yes": "spam", "no": "ham"}


class Columns(NamedTuple):
    """Which columns hold the text and the class, by name, or by number from 1; None where it is to be guessed."""

    text: str | None = None
    label: str | None = None

    def text_place(self, names: list[str], with_raw: bool = False) -> int:
        """The number of the column of text, or ``with_raw`` of whole messages, from 0. ValueError where there is none,
        or more than one."""
        return _place(names, self.text, TEXT_NAMES | RAW_NAMES if with_raw else TEXT_NAMES, "text")

    def label_place(self, names: list[str]) -> int:
        """The number of the column of classes, from 0. ValueError where there is none, or more than one."""
        return _place(names, self.label, LABEL_NAMES | _FLAGS, "label")


def class_in(cell: str, column: str) -> str:
    """The class that a cell of this column names; in one that says whether it is spam, 1 is spam and 0 is ham.

    >>> class_in("1", "is_spam"), class_in("1", "label")
    ('spam', '1')
    """
    name = cell.strip()
    return _FLAG_CLASSES.get(name.lower(), name) if column.lower() in _FLAGS else name


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
