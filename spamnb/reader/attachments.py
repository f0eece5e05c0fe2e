"""What the core asks for while it reads: other charsets, documents, files in texts, words by nltk. Rare, and slow."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from spamnb.reader.charsets import decode
from spamnb.reader.tables import find_codec
from spamnb.reader.tnef import TnefFile, read_tnef
from spamnb.reader.uuencode import UuFile, take_files, uudecode

# enum shown_as of core/mime.h, and enum opened_role of core/reader.h.
AS_NOTHING, AS_TEXT, AS_HTML, AS_MULTIPART, AS_MESSAGE, AS_REPORT, AS_PDF, AS_SMIME, AS_TNEF = range(9)
TEXT, SAME_TEXT, PART, LINK, CUT = range(5)
NO_PART = (b"", b"", b"", b"", b"", 0)
MAX_LABEL = 63  # bytes of a part of a host name

# What a file that is no part of its own is opened as, by the end of its name.
FILE_TYPES = {
    **dict.fromkeys(("html", "htm", "xhtml", "xht", "shtml", "svg"), "text/html"),
    **dict.fromkeys(("txt", "text", "ics"), "text/plain"),
}

Opened = tuple[int, int, bytes, bytes, tuple[bytes, bytes, bytes, bytes, bytes, int]]


def _text(octets: bytes, kind: str, charset: str) -> Opened:
    return TEXT, AS_HTML if kind == "text/html" else AS_TEXT, octets, charset.encode(), NO_PART


def _cut(shown_as: int) -> Opened:
    return CUT, shown_as, b"", b"", NO_PART


def _type_of(name: str) -> str:
    """What a file is opened as; empty where it is not.

    >>> _type_of("Invoice.HTML"), _type_of("a.zip")
    ('text/html', '')
    """
    return FILE_TYPES.get(name.rpartition(".")[2].lower(), "")


def _read_pdf(document: bytes) -> list[Opened]:
    from spamnb.reader.pdf import read_pdf  # few messages need it

    found = read_pdf(document)
    opened: list[Opened] = [(LINK, AS_PDF, link.encode("utf-8", "replace"), b"", NO_PART) for link in found.links]
    if found.text:
        opened.append(_text(found.text.encode("utf-8", "replace"), "text/plain", "utf-8"))
    return opened if found.is_whole else [*opened, _cut(AS_PDF)]


def _read_files(files: Iterable[UuFile | TnefFile], encoding: bytes) -> list[Opened]:
    """Files that are no parts of their own: what a part would say of each, and the text in it."""
    opened: list[Opened] = []
    for file in files:
        kind = _type_of(file.name)
        content_type = (kind or "application/octet-stream").encode()
        said = (content_type, b"", encoding, b"attachment", file.name.encode("utf-8", "replace"), file.size)
        opened.append((PART, AS_NOTHING, b"", b"", said))
        if kind:
            opened.append(_text(file.content, kind, ""))
    return opened


def _read_tnef(document: bytes) -> list[Opened]:
    found = read_tnef(document)
    body = [_text(found.body.octets, found.body.kind, found.body.charset)] if found.body else []
    return [*body, *_read_files(found.files, b"tnef"), *([] if found.is_whole else [_cut(AS_TNEF)])]


def _read_text(text: bytes, most: int) -> list[Opened]:
    """A text that may have uuencoded files in it: what a person reads of it, and the files."""
    rest, files = take_files(text.decode(), most)
    return [(SAME_TEXT, AS_TEXT, rest.encode(), b"", NO_PART), *_read_files(files, b"x-uuencode")]


def _letters(label: bytes) -> bytes:
    """What a label of punycode stands for; another label, or one that is spoilt, as it is."""
    if not label.startswith(b"xn--") or len(label) > MAX_LABEL:
        return label
    try:
        return label[4:].decode("punycode").encode() or label
    except UnicodeError:
        return label


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

    def decode(self, octets: bytes, charset: bytes | None) -> bytes:
        """Text in a charset that the core does not read; None where none is claimed."""
        return decode(octets, charset.decode("utf-8", "replace") if charset else None).encode()

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
        from spamnb.reader.smime import signed_content

        return signed_content(octets)

    def uudecode(self, body: bytes) -> bytes:
        """A body that is uuencoded as a whole."""
        return uudecode(body)

    def letters(self, host: bytes) -> bytes:
        """A host whose labels of punycode are the letters that they stand for.

        >>> Program().letters(b"www.xn--bcher-kva.example").decode()
        'www.bücher.example'
        """
        return b".".join(map(_letters, host.split(b".")))

    def open(self, shown_as: int, octets: bytes, most_parts: int) -> list[Opened]:
        """What stands in a document, or in a text with files in it."""
        if shown_as == AS_PDF:
            return _read_pdf(octets)
        return _read_tnef(octets) if shown_as == AS_TNEF else _read_text(octets, most_parts)

    def split(self, text: bytes) -> list[bytes]:
        """The words of a text."""
        return [word.encode() for word in self._split(text.decode())] if self._split else []
