"""What the core asks for while it reads: other charsets, documents, files in texts, words by nltk. Rare, and slow."""

from __future__ import annotations

from collections.abc import Callable

from spamnb.message.charsets import decode
from spamnb.message.encodings import take_uuencoded, transfer_decode
from spamnb.message.mime import OPENED, Part, read_as
from spamnb.reader.tables import find_codec

# enum shown_as of core/mime.h, and enum opened_role of core/reader.h.
AS_NOTHING, AS_TEXT, AS_HTML, AS_MULTIPART, AS_MESSAGE, AS_REPORT, AS_PDF, AS_SMIME, AS_TNEF = range(9)
TEXT, SAME_TEXT, PART, LINK, CUT = range(5)
NO_PART = (b"", b"", b"", b"", b"", 0)

Opened = tuple[int, int, bytes, bytes, tuple[bytes, bytes, bytes, bytes, bytes, int]]


def _text(octets: bytes, kind: str = "text/plain", charset: str = "utf-8") -> Opened:
    return TEXT, AS_HTML if kind == "text/html" else AS_TEXT, octets, charset.encode(), NO_PART


def _part(part: Part) -> Opened:
    said = (part.content_type, part.charset, part.encoding, part.disposition, part.filename)
    described = tuple([text.encode("utf-8", "replace") for text in said])
    return PART, AS_NOTHING, b"", b"", (*described, part.size)  # type: ignore[return-value]


def _read_pdf(document: bytes) -> list[Opened]:
    from spamnb.message.pdf import is_available, read_pdf

    if not is_available():
        return []
    truncations: list[str] = []
    text, links = read_pdf(document, truncations)
    found: list[Opened] = [(LINK, AS_PDF, link.encode("utf-8", "replace"), b"", NO_PART) for link in links]
    if text:
        found.append(_text(text.encode("utf-8", "replace")))
    if truncations:
        found.append((CUT, AS_PDF, b"", b"", NO_PART))
    return found


def _read_tnef(document: bytes) -> list[Opened]:
    from spamnb.message.tnef import read_tnef

    truncations: list[str] = []
    found: list[Opened] = []
    for text in read_tnef(document, truncations):
        found += map(_part, text.parts)
        if text.octets:
            found.append(_text(text.octets, text.kind, text.charset))
    if truncations:
        found.append((CUT, AS_TNEF, b"", b"", NO_PART))
    return found


def _read_files(text: bytes, most: int) -> list[Opened]:
    """A text that may have uuencoded files in it: what a person reads of it, and the files."""
    rest, files = take_uuencoded(text.decode(), most)
    found: list[Opened] = [(SAME_TEXT, AS_TEXT, rest.encode(), b"", NO_PART)]
    for name, content, size in files:
        kind = read_as("application/octet-stream", name)
        if kind.startswith("message/") or (kind in OPENED and kind != "application/pdf"):
            kind = ""
        found.append(_part(Part(kind or "application/octet-stream", "", "x-uuencode", "attachment", name, size)))
        if kind == "application/pdf":
            found += _read_pdf(content)
        elif kind:
            found.append(_text(content, kind, ""))
    return found


class Program:
    """Answers the core. ``split`` finds the words of a text and ``stem`` stems one; without them neither is asked for.

    >>> Program().decode("день".encode("utf-16"), b"utf-16").decode(), Program().find_codec(b"utf-8")
    ('день', (0, False, None))
    """

    def __init__(
        self, split: Callable[[str], list[str]] | None = None, stem: Callable[[str], str] | None = None
    ) -> None:
        self._split, self._stem = split, stem

    def find_codec(self, name: bytes) -> tuple[int, bool, bytes | None]:
        """How to read a charset: see ``tables.find_codec``."""
        return find_codec(name.decode("utf-8", "replace"))

    def decode(self, octets: bytes, charset: bytes) -> bytes:
        """Text in a charset that the core does not read."""
        return decode(octets, charset.decode("utf-8", "replace")).encode()

    def compose(self, text: bytes) -> bytes:
        """Letters and the accents behind them as one character, where there is one."""
        import re
        import unicodedata

        # Putting n marks of one letter in order takes n² steps, and two letters of katakana become marks.
        shown = text.decode().replace("\uff9e", "\u3099").replace("\uff9f", "\u309a")
        shown = re.sub(r"[^\w\x00-\x7f]{33,}", lambda run: run.group()[:32], shown)
        return unicodedata.normalize("NFC", shown).encode()

    def stem(self, word: bytes) -> bytes:
        """The stem of a word that is letters alone."""
        text = word.decode()
        return self._stem(text).encode() if self._stem and text.isalpha() else word

    def signed(self, octets: bytes) -> bytes:
        """The entity in an S/MIME signature."""
        from spamnb.message.smime import signed_content

        return signed_content(octets)

    def uudecode(self, body: bytes) -> bytes:
        """A body that is uuencoded as a whole."""
        return transfer_decode(body, "x-uuencode")

    def open(self, shown_as: int, octets: bytes, most_parts: int) -> list[Opened]:
        """What stands in a document, or in a text with files in it."""
        if shown_as == AS_PDF:
            return _read_pdf(octets)
        return _read_tnef(octets) if shown_as == AS_TNEF else _read_files(octets, most_parts)

    def split(self, text: bytes) -> list[bytes]:
        """The words of a text."""
        return [word.encode() for word in self._split(text.decode())] if self._split else []
