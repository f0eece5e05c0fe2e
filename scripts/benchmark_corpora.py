"""The two collections of benchmark.py: mail, and newsgroup posts.

"mail" has SpamAssassin's mail four times and modern phishing ten times: 28,098 messages, 258 MB. A third of the
messages, and 70 % of the bytes, are HTML or multipart. "posts" has the 18,846 posts of 20 Newsgroups, nearly all of
them plain text.

Each repetition changes 40 % of the rarer words, also in the host names of links, so that the vocabulary grows like the
vocabulary of real mail. Base64 and the syntax of MIME do not change. A size above a collection's size repeats it.
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
    """Folders of messages of one class, and the number of times that the collection has them."""

    label: str
    pattern: str  # below the corpora's folder
    times: int


CORPORA = {
    "mail": [
        *(Part("ham", f"spamassassin/{folder}", 4) for folder in ("easy_ham", "easy_ham_2", "hard_ham")),
        *(Part("spam", f"spamassassin/{folder}", 4) for folder in ("spam", "spam_2")),
        Part("spam", "modern/phishing", 10),
    ],
    # Two classes, because bogofilter has no more: computers, and all other groups.
    "posts": [Part("spam", "20news-bydate/*/comp.*", 1)]
    + [Part("ham", f"20news-bydate/*/{group}.*", 1) for group in ("alt", "misc", "rec", "sci", "soc", "talk")],
}


def messages(corpora: Path, of: str) -> list[tuple[str, Path, int]]:
    """Return (label, path, repetition) of a collection's messages, in a random order."""
    out = []
    for label, pattern, times in CORPORA[of]:
        paths = [
            path
            for folder in sorted(corpora.glob(pattern))
            for path in sorted(folder.rglob("*"))
            if path.is_file() and path.name not in ("cmds", "README", "README.md")
        ]
        if not paths:
            sys.exit(f"{corpora / pattern}: no messages")
        out += [(label, path, repetition) for repetition in range(times) for path in paths]
    return sorted(out, key=lambda message: zlib.crc32(f"{message[1]} {message[2]}".encode()))


def change_words(raw: bytes, repetition: int, common: set[bytes]) -> bytes:
    """Return the message with 40 % of its words changed, except ``common`` ones; each repetition changes others."""
    letters = b"%c%c" % (97 + repetition // 26 % 26, 97 + repetition % 26)

    def change(match: re.Match[bytes]) -> bytes:
        word = match[0]
        return word + letters if word not in common and zlib.crc32(word + letters) % 10 < 4 else word

    head, blank, body = raw.partition(b"\n\n")
    lines = [line if SYNTAX.match(line) else WORD.sub(change, line) for line in body.split(b"\n")]
    # Only the Subject changes in the header section, because Content-Type must stay valid.
    head = re.sub(rb"(?mi)^Subject:.*$", lambda match: b"Subject:" + WORD.sub(change, match[0][8:]), head, count=1)
    return head.replace(b"\n", b"\nX-Repetition: %d\n" % repetition, 1) + blank + b"\n".join(lines)


def build(corpora: Path, of: str, folder: Path, size: int) -> Path:
    """Write ``size`` messages to the folders ham and spam, and their paths to ham.list and spam.list."""
    source = messages(corpora, of)
    word_counts: Counter[bytes] = Counter()
    for _, path, _ in source[:2000]:
        word_counts.update(set(WORD.findall(path.read_bytes())))
    common = {word for word, _ in word_counts.most_common(3000)}
    for number in range(size):
        label, path, repetition = source[number % len(source)]
        part = folder / label / f"{number // 1000:03}"
        part.mkdir(parents=True, exist_ok=True)
        raw = path.read_bytes()
        repetition += 10 * (number // len(source))
        (part / f"{number % 1000:03}").write_bytes(change_words(raw, repetition, common) if repetition else raw)
    for label in ("spam", "ham"):
        paths = sorted(str(path) for path in (folder / label).rglob("*") if path.is_file())
        (folder / f"{label}.list").write_text("".join(path + "\n" for path in paths))
    return folder
