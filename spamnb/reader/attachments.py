"""What the core asks for while it reads: other charsets, documents, files in texts, words by nltk. Rare, and slow."""

from __future__ import annotations

import re
from base64 import encodebytes
from collections.abc import Callable

from spamnb.reader.charsets import decode
from spamnb.reader.uuencode import take_files, uudecode

# enum shown_as of core/mime.h.
AS_NOTHING, AS_TEXT, AS_HTML, AS_MULTIPART, AS_MESSAGE, AS_REPORT, AS_PDF, AS_SMIME, AS_TNEF = range(9)

Opened = tuple[bytes, bytes, bool]  # the rest of a text, a MIME entity or nothing, and whether nothing was left out


def _file(name: str, body: bytes, encoding: str) -> bytes:
    """A file as a part of a message; the core reads it as the end of its name says."""
    escaped = "".join([f"%{byte:02x}" for byte in name.encode("utf-8", "replace")])
    fields = f"Content-Type: application/octet-stream\nContent-Transfer-Encoding: {encoding}\n"
    return f"{fields}Content-Disposition: attachment; filename*=utf-8''{escaped}\n\n".encode() + body


def _multipart(parts: list[bytes]) -> bytes:
    """Parts as one entity. No line of base64 or of a uuencoded file is the boundary.

    >>> _multipart([])
    b''
    """
    lines = b"".join([b"--inner\n%b\n" % part for part in parts])
    return b"Content-Type: multipart/mixed; boundary=inner\n\n%b--inner--\n" % lines if parts else b""


def _open_pdf(document: bytes) -> Opened:
    from html import escape

    from spamnb.reader.pdf import read_pdf  # few messages need it

    found = read_pdf(document)
    links = "".join([f'<a href="{escape(link)}"></a>' for link in found.links])
    page = f"<pre>{escape(found.text)}</pre>{links}".encode("utf-8", "replace")
    fields = b"Content-Type: text/html; charset=utf-8\nContent-Disposition: attachment\n\n"
    return b"", fields + page if found.text or found.links else b"", found.is_whole


def _open_tnef(document: bytes) -> Opened:
    from spamnb.reader.tnef import read_tnef

    body, attached, is_whole = read_tnef(document)
    files = [_file(name, encodebytes(content), "base64") for name, content in attached]
    if body:
        kind, octets = body
        fields = f"Content-Type: {kind}\nContent-Transfer-Encoding: base64\n\n"
        files.insert(0, fields.encode() + encodebytes(octets))
    return b"", _multipart(files), is_whole


def _open_smime(document: bytes) -> Opened:
    from spamnb.reader.smime import signed_content

    return b"", signed_content(document), True


def _open_text(text: bytes) -> Opened:
    """A text that may have uuencoded files in it."""
    rest, files = take_files(text)
    return rest, _multipart([_file(name, lines, "x-uuencode") for name, lines in files]), True


_OPENERS = {AS_PDF: _open_pdf, AS_SMIME: _open_smime, AS_TNEF: _open_tnef, AS_TEXT: _open_text}


class Program:
    """Answers the core. ``split`` finds the words of a text and ``stem`` stems one; without them neither is asked for.

    >>> Program().decode("день".encode("utf-16"), b"utf-16").decode()
    'день'
    """

    def __init__(
        self, split: Callable[[str], list[str]] | None = None, stem: Callable[[str], str] | None = None
    ) -> None:
        self._split, self._stem = split, stem

    def decode(self, octets: bytes, charset: bytes) -> bytes | None:
        """Text in a charset that the core does not read; None where it does."""
        text = decode(octets, charset.decode("utf-8", "replace"))
        return None if text is None else text.encode()

    def compose(self, text: bytes) -> bytes:
        """Letters and the accents behind them as one character, where there is one."""
        import unicodedata

        # Putting n marks of one letter in order takes n² steps, and two letters of katakana become marks.
        shown = text.decode().replace("\uff9e", "\u3099").replace("\uff9f", "\u309a")
        shown = re.sub(r"[^\w\x00-\x7f]{33,}", lambda run: run.group()[:32], shown)
        return unicodedata.normalize("NFC", shown).encode()

    def stem(self, word: bytes) -> bytes:
        """The stem of a word that is letters alone."""
        text = word.decode()
        return self._stem(text).encode() if self._stem and text.isalpha() else word

    def uudecode(self, body: bytes) -> bytes:
        """A body that is uuencoded as a whole."""
        return uudecode(body)

    def letters(self, host: bytes) -> bytes:
        """A host whose labels of punycode are the letters that they stand for.

        >>> Program().letters(b"www.xn--bcher-kva.example").decode()
        'www.bücher.example'
        """
        try:
            return re.sub(rb"\bxn--([^.]+)", lambda label: label[1].decode("punycode").encode(), host)
        except UnicodeError:  # it is spoilt
            return host

    def open(self, shown_as: int, octets: bytes) -> Opened:
        """What stands in a document, or in a text with files in it."""
        return _OPENERS[shown_as](octets)

    def split(self, text: bytes) -> bytes:
        """The words of a text, a line each."""
        return "".join([f"{word}\n" for word in self._split(text.decode())]).encode() if self._split else text
