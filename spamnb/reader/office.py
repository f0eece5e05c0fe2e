"""Word documents → a page of HTML in UTF-8: .docx, a zip file with a page of XML, and .rtf, text with commands."""

from __future__ import annotations

import re
import zlib
from html import escape

MAX_BYTES = 1 << 18  # of commands, and of a page of XML, which may be packed a thousandfold
# The header of a file in a zip file: how it is packed, and the length of what follows its name.
ENTRY = re.compile(rb"(?s)PK\x03\x04.{4}([\x00\x08])\x00.{16}..(..)word/document\.xml")
# A character by its number, an end of line, what shows nothing.
COMMAND = re.compile(r"\\'([0-9a-fA-F]{2})|\\(par|line|tab|cell|row)\b ?|\\(?:\*|[A-Za-z]+-?\d* ?)?|[{}\r\n]")


def read_office(document: bytes) -> tuple[bytes, bool]:
    """The page, empty where there is none, and whether that is all of it.

    >>> read_office(rb"{\\rtf1 Dear {\\b customer},\\par caf\\'e9}")
    (b'<pre>Dear customer,\\ncaf\\xc3\\xa9</pre>', True)
    """
    if document.lstrip().startswith(b"{\\rtf"):
        text = document[:MAX_BYTES].decode("cp1252", "replace")
        text = COMMAND.sub(lambda found: chr(int(found[1], 16)) if found[1] else "\n" * bool(found[2]), text)
        return f"<pre>{escape(text)}</pre>".encode(), len(document) <= MAX_BYTES
    if not (entry := ENTRY.search(document)):
        return b"", True
    page, unpack = document[entry.end() + int.from_bytes(entry[2], "little") :], zlib.decompressobj(-zlib.MAX_WBITS)
    try:
        page = unpack.decompress(page, MAX_BYTES) if entry[1] == b"\x08" else page[:MAX_BYTES]
    except zlib.error:
        return b"", False
    return page.replace(b"</w:p>", b"<br>"), len(page) < MAX_BYTES
