"""Files that name a message in each line: ``label TAB text``, or the label and the file's path (a TREC index)."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Iterator
from typing import BinaryIO

from spamnb.errors import SpamnbError
from spamnb.naming import check_class_name, escape
from spamnb.sources.entries import Report, open_mail

_LONGEST_LINE = 1 << 20
_HOPELESS = 20  # lines of an index that name no file before it is taken for something else

# What columns are called in tables of text; a first line of two such names is a header, not a message.
LABEL_NAMES = frozenset({"label", "labels", "class", "category", "target", "v1", "spam/ham", "ham/spam", "label_text"})
TEXT_NAMES = frozenset({"text", "message", "messages", "sms", "email", "mail", "body", "content", "v2", "email text"})


def label_and_text(line: bytes) -> tuple[str, bytes]:
    """(label, text) of one line. ValueError where it has no tab, or a label that cannot name a class.

    >>> label_and_text(b"ham\\tSee you at four?\\n")
    ('ham', b'See you at four?')
    """
    label, tab, text = line.removeprefix(b"\xef\xbb\xbf").rstrip(b"\r\n").partition(b"\t")
    if not tab:
        raise ValueError("no label TAB text in this line")
    return check_class_name(label.decode("utf-8", "replace").strip()), text


def is_header(line: bytes) -> bool:
    """Does a line ``label TAB text`` name the columns?

    >>> is_header(b"label\\ttext\\n"), is_header(b"ham\\ttext\\n")
    (True, False)
    """
    label, _, text = line.removeprefix(b"\xef\xbb\xbf").decode("latin-1").strip().lower().partition("\t")
    return label in LABEL_NAMES and text in TEXT_NAMES


def first_line(path: str) -> bytes:
    """The first line that is not blank; empty where there is none. OSError where the file cannot be read."""
    with open_mail(path) as stream:
        return next((line for line in iter(lambda: stream.readline(_LONGEST_LINE), b"") if line.strip()), b"")


def labelled_texts(path: str, on_unreadable: Report) -> Iterator[tuple[str, str, bytes]]:
    """(label, ``path:number``, text) of each line that is no header; other lines are reported."""
    for place, (number, line) in enumerate(_lines(path, on_unreadable)):
        if not place and is_header(line):
            continue
        name = f"{escape(path)}:{number}"
        try:
            label, text = label_and_text(line)
        except ValueError as error:
            on_unreadable(name, error)
        else:
            yield label, name, text


def index(path: str, on_unreadable: Report) -> Iterator[tuple[str, str]]:
    """(label, path) of each line that names a file, relative to the index's folder; the others are reported.

    Raises SpamnbError where its beginning names none.
    """
    folder = os.path.dirname(path)
    found = False
    for number, line in _lines(path, on_unreadable):
        if not found and number > _HOPELESS:
            what = f"none of its first {_HOPELESS} lines is a class and a file"
            raise SpamnbError(f"{escape(path)}: {what}; no index")
        try:
            label, name = os.fsdecode(line).split(maxsplit=1)
            check_class_name(label)
        except ValueError:
            on_unreadable(f"{escape(path)}:{number}", ValueError("not a class and a path"))
            continue
        target = os.path.join(folder, name.rstrip())
        try:
            status = os.stat(target)
            if not stat.S_ISREG(status.st_mode):
                raise OSError(errno.EINVAL, "not a file", target)
        except (OSError, ValueError) as error:
            on_unreadable(escape(target), error)
        else:
            found = True
            if status.st_size:
                yield label, target


def _lines(path: str, on_unreadable: Report) -> Iterator[tuple[int, bytes]]:
    """(number, line) of those that are not blank; one over a mebibyte is reported and passed over."""
    try:
        with open_mail(path) as stream:
            yield from _numbered(stream, lambda number, error: on_unreadable(f"{escape(path)}:{number}", error))
    except OSError as error:
        on_unreadable(escape(path), error)


def _numbered(stream: BinaryIO, too_long: Callable[[int, Exception], None]) -> Iterator[tuple[int, bytes]]:
    number, inside = 0, False
    for line in iter(lambda: stream.readline(_LONGEST_LINE), b""):
        whole = line.endswith(b"\n") or len(line) < _LONGEST_LINE
        if not inside:
            number += 1
            if not whole:
                too_long(number, ValueError("a line longer than 1 MiB"))
            elif line.strip():
                yield number, line
        inside = not whole
