"""As many messages as are wanted: those of the corpora again and again, each time with other words respelt.

Entries say which message is to be respelt and how, so whoever reads one makes it: a worker of a cluster that sees the
corpora needs nothing else. Vocabularies grow with such mail as with real mail of many people: a seventh of the words
have letters exchanged, by 650 tables, and each message has a word of its own, so that no two are copies.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import combinations, islice
from pathlib import Path

from spamnb.sources.entries import Entry
from spamnb.sources.spec import entries

EVERY = 7  # of so many words one is respelt
_LETTERS = bytes(range(ord("a"), ord("z") + 1))


def _tables() -> list[bytes]:
    """Two letters exchanged, any two of them; the same again with the vowels in turn."""
    swaps = [bytes.maketrans(bytes(pair), bytes(pair[::-1])) for pair in combinations(_LETTERS, 2)]
    turned = bytes.maketrans(b"aeiou", b"eioua")
    return [*swaps, *(table.translate(turned) for table in swaps)]


_TABLES = _tables()


class Respelt(Entry):
    """A message of a corpus, respelt as its ``start`` says; 0 leaves it as it is."""

    def read(self) -> bytes:
        """The message; OSError as for any other."""
        raw = Path(self.path).read_bytes()
        if not self.start:
            return raw
        end = max(raw.find(b"\n\n"), 0)
        words = raw[end:].split(b" ")
        table = _TABLES[self.start * 2_654_435_761 % len(_TABLES)]
        for place in range(self.start % EVERY, len(words), EVERY):
            words[place] = words[place].translate(table)
        return raw[:end] + b" ".join(words) + b"\nmessage%x\n" % self.start


def respelt(specs: list[str], messages: int, seed: int = 0) -> Iterator[Entry]:
    """So many messages of these SOURCEs, files of one message each; another ``seed`` spells them otherwise."""
    found = list(entries(specs, _tell))
    if not found:
        raise SystemExit(f"{' '.join(specs)}: no messages")

    def without_end() -> Iterator[Entry]:
        number = seed << 40
        while True:
            for entry in found:
                yield Respelt(entry.label, f"{entry.name}~{number}", entry.path, number)
                number += 1

    return islice(without_end(), messages)


def _tell(name: str, error: Exception) -> None:
    print(f"{name}: {error}", file=sys.stderr)
