"""What benchmark.py measures on: mail as it is, and newsgroup posts.

*mail* is SpamAssassin's mail four times and today's HTML mail ten times, 28,098 messages and 258 MB; a third of them,
seven of ten bytes, are HTML or in parts. *posts* are those of 20 Newsgroups, 18,846, nearly all of them plain text.

Each repetition respells words, so that the vocabulary grows as that of real mail does: four of ten of the rarer words
are new, in the host names of links too. Base64 and the syntax of MIME stay as they are. Sizes beyond the collection
repeat it.
"""

from __future__ import annotations

import re
import sys
import zlib
from collections import Counter
from pathlib import Path
from typing import NamedTuple

WORD = re.compile(rb"[A-Za-z]{5,}")
# Boundaries, fields of parts and base64.
SYNTAX = re.compile(rb"--|(?i:content-)|[A-Za-z0-9+/]{50,}={0,2}\r?\Z|[^\n]{0,200}(?i:boundary|charset)=")


class Part(NamedTuple):
    """Folders of messages of one class, and how often each of them is there."""

    label: str
    pattern: str  # below the corpora's folder
    times: int


CORPORA = {
    "mail": [
        *(Part("ham", f"spamassassin/{folder}", 4) for folder in ("easy_ham", "easy_ham_2", "hard_ham")),
        *(Part("spam", f"spamassassin/{folder}", 4) for folder in ("spam", "spam_2")),
        Part("spam", "modern/phishing", 10),
    ],
    # Two classes, since the programs beside spamnb know no more: computers and all else.
    "posts": [Part("spam", "20news-bydate/*/comp.*", 1)]
    + [Part("ham", f"20news-bydate/*/{group}.*", 1) for group in ("alt", "misc", "rec", "sci", "soc", "talk")],
}


def messages(corpora: Path, of: str) -> list[tuple[str, Path, int]]:
    """(label, path, repetition), spread so that every n-th is a fair sample."""
    found = []
    for label, pattern, times in CORPORA[of]:
        paths = [
            path
            for folder in sorted(corpora.glob(pattern))
            for path in sorted(folder.rglob("*"))
            if path.is_file() and path.name not in ("cmds", "README", "README.md")
        ]
        if not paths:
            sys.exit(f"{corpora / pattern}: no messages")
        found += [(label, path, repetition) for repetition in range(times) for path in paths]
    return sorted(found, key=lambda one: zlib.crc32(f"{one[1]} {one[2]}".encode()))


def respelt(raw: bytes, repetition: int, kept: set[bytes]) -> bytes:
    """Return the message with four of ten of its rarer words misspelt, other ones in each repetition."""
    letters = b"%c%c" % (97 + repetition // 26 % 26, 97 + repetition % 26)

    def new(found: re.Match[bytes]) -> bytes:
        word = found[0]
        return word + letters if word not in kept and zlib.crc32(word + letters) % 10 < 4 else word

    head, blank, body = raw.partition(b"\n\n")
    lines = [line if SYNTAX.match(line) else WORD.sub(new, line) for line in body.split(b"\n")]
    # Of the header section only the Subject changes: Content-Type must stay what it is.
    head = re.sub(rb"(?mi)^Subject:.*$", lambda found: b"Subject:" + WORD.sub(new, found[0][8:]), head, count=1)
    return head.replace(b"\n", b"\nX-Repetition: %d\n" % repetition, 1) + blank + b"\n".join(lines)


def build(corpora: Path, of: str, folder: Path, size: int) -> Path:
    """Make a folder ham and a folder spam of together ``size`` messages."""
    source = messages(corpora, of)
    common: Counter[bytes] = Counter()
    for _, path, _ in source[:2000]:
        common.update(set(WORD.findall(path.read_bytes())))
    kept = {word for word, _ in common.most_common(3000)}
    for number in range(size):
        label, path, repetition = source[number % len(source)]
        place = folder / label / f"{number // 1000:03}"
        place.mkdir(parents=True, exist_ok=True)
        raw = path.read_bytes()
        repetition += 10 * (number // len(source))
        (place / f"{number % 1000:03}").write_bytes(respelt(raw, repetition, kept) if repetition else raw)
    for label in ("spam", "ham"):
        paths = sorted(str(path) for path in (folder / label).rglob("*") if path.is_file())
        (folder / f"{label}.list").write_text("".join(path + "\n" for path in paths))
    return folder
