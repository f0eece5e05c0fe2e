"""The addresses in address books: vCards (RFC 6350), Thunderbird's abook.sqlite and history.sqlite, and lists (.txt).

A list has an address a line. An address book is mostly the file of another program, so nothing in it is trusted.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from io import BytesIO
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from spamnb.errors import Damaged, SpamnbError, reason
from spamnb.shown_text import escape
from spamnb.store.database import Database, checked_rows

MAX_BYTES = 16 << 20  # of a file: 300 contacts with photographs, which are read in .5 s
MAX_ADDRESSES = 20_000  # of a file
_MAX_STEPS = 5_000_000  # of SQLite in a file: short rows in 16 MiB need four million, half a second
_ADDRESS = re.compile(r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~.-]+@[A-Za-z0-9.-]+")
# A line of an unfolded vCard, perhaps of a group and with parameters. Each byte is read once.
_EMAIL = re.compile(rb'(?i)(?:[\w-]++\.)?email(?:;(?:[^":\r\n]|"[^"\r\n]*+")*+)?:([^\r\n]*+)')
_FOLDS = (b"\r\n ", b"\r\n\t", b"\n ", b"\n\t")
_SQLITE = b"SQLite format 3\0"
_TABLE = "CREATE TABLE properties (card TEXT, name TEXT, value TEXT)"


class Book(NamedTuple):
    """An address book; the time and the size of its file change when it is written."""

    path: Path
    time: int
    size: int


class _ThunderbirdBook(Database):
    KIND = "Thunderbird address book"


def find_book(path: str) -> Book:
    """Return the address book at a path. Raise SpamnbError if there is none."""
    try:
        status = Path(path).stat()
    except OSError as error:
        raise SpamnbError(f"{escape(path)}: the address book cannot be read: {reason(error)}") from None
    return Book(Path(path), status.st_ctime_ns, status.st_size)


@lru_cache(32)
def read_addresses(book: Book) -> frozenset[str]:
    """Return the addresses in an address book, in lower case. Raise SpamnbError if the file is none, or too large."""
    name = escape(str(book.path))
    try:
        with book.path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise SpamnbError(f"{name}: the address book cannot be read: {reason(error)}") from None
    if len(content) > MAX_BYTES:
        problem = f"the address book has more than {MAX_BYTES >> 20} MiB"
        raise SpamnbError(f"{name}: {problem}; export it without photographs")
    if book.path.suffix == ".txt":
        texts: Iterable[str] = content.decode("latin-1").splitlines()
    else:
        texts = _thunderbird_texts(name, content) if content.startswith(_SQLITE) else _vcard_texts(name, content)
    values = list(islice(texts, MAX_ADDRESSES + 1))
    if len(values) > MAX_ADDRESSES:
        raise SpamnbError(f"{name}: the address book has more than {MAX_ADDRESSES:,} addresses")
    return frozenset(value.strip().lower() for value in values if _ADDRESS.fullmatch(value.strip()))


def _vcard_texts(name: str, content: bytes) -> Iterator[str]:
    """Yield the values of the fields EMAIL."""
    if b"BEGIN:VCARD" not in content.upper():
        raise SpamnbError(f"{name}: neither a file of vCards nor Thunderbird's abook.sqlite")
    for fold in _FOLDS:
        content = content.replace(fold, b"")
    for line in BytesIO(content):
        if match := _EMAIL.match(line):
            yield match[1].decode("latin-1")


def _thunderbird_texts(name: str, content: bytes) -> Iterator[str]:
    """Yield the values of addresses, and those in vCards, which have further addresses of a person."""
    book = _ThunderbirdBook.of_bytes(content)
    book.path = name
    with book, book.reading():
        book.limit_steps(_MAX_STEPS)
        schemas = book.execute("SELECT sql FROM sqlite_schema WHERE name = 'properties' LIMIT 1").fetchall()
        # A view, a virtual table or a generated column of a hostile file could compute without end.
        if schemas != [(_TABLE,)]:
            raise Damaged("no table of properties as Thunderbird makes it")
        select = "SELECT name, value FROM properties WHERE name IN ('PrimaryEmail', 'SecondEmail', '_vCard') LIMIT ?"
        rows = book.execute(select, (3 * MAX_ADDRESSES,)).fetchall()
        rows = checked_rows("properties", rows, name=str, value=str)
    for kind, value in rows:
        yield from _vcard_texts(name, value.encode("utf-8", "replace")) if kind == "_vCard" else [value]
