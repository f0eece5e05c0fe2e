"""Entries a chunk at a time, bounded in number, and in bytes of mail where entries carry theirs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from spamnb.sources.entries import Entry


class Chunk(NamedTuple):
    """Some entries in their order."""

    entries: list[Entry]
    size: int  # bytes of mail that they carry
    more: bool  # whether others may follow


def take_chunk(entries: Iterator[Entry], most: int, most_bytes: int) -> Chunk:
    """The next entries, until there are ``most`` or they carry more than ``most_bytes`` of mail.

    >>> take_chunk(iter([Entry("ham", "1", "", content=b"tea"), Entry("ham", "2", "", content=b"at four")]), 10, 2)[1:]
    (3, True)
    """
    found: list[Entry] = []
    size = 0
    for entry in entries:
        found.append(entry)
        size += len(entry.content or b"")
        if len(found) == most or size > most_bytes:
            return Chunk(found, size, True)
    return Chunk(found, size, False)
