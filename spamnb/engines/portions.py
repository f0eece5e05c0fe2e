"""Entries a portion at a time: so many of them, or so much mail where they carry their bytes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from spamnb.sources import Entry


def portion(entries: Iterator[Entry], most: int, most_bytes: int) -> tuple[list[Entry], bool]:
    """The next ones, until there are so many or they carry more mail than that; and whether there may be more.

    >>> portion(iter([Entry("ham", "1", "", content=b"tea"), Entry("ham", "2", "", content=b"at four")]), 10, 2)
    ([Entry(label='ham', name='1', path='', start=0, stop=None, content=b'tea')], True)
    """
    found: list[Entry] = []
    size = 0
    for entry in entries:
        found.append(entry)
        size += carried([entry])
        if len(found) == most or size > most_bytes:
            return found, True
    return found, False


def carried(entries: Iterable[Entry]) -> int:
    """How many bytes of mail these entries hold themselves."""
    return sum(len(entry.content or b"") for entry in entries)
