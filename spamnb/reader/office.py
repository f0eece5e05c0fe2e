"""Word documents → their text: .docx, a zip file with a page of XML, and .rtf, text with commands."""

from __future__ import annotations

import re
import zlib
from html import escape

MAX_XML = 1 << 20  # bytes of a page, which may be packed a thousandfold
MAX_RTF = 1 << 18  # bytes that are read: Python takes 20 ms
MAX_ENTRIES = 4
# The header of a file in a zip file: how it is packed, the length of what follows its name, and the name.
ENTRY = re.compile(rb"(?s)PK\x03\x04.{4}([\x00\x08])\x00.{16}..(..)word/document\d*\.xml")
# A group that shows nothing; a character by its number, in hexadecimal digits or in Unicode; an end of line; any other
# command; a character that stands for itself; what shows nothing.
RTF = re.compile(
    r"\{\\\*[^{}]*\}|\\'([0-9a-fA-F]{2})|\\u(-?\d{1,6}) ?\??|\\(par|line|tab|cell|row)\b ?"
    r"|\\[A-Za-z]+-?\d* ?|\\(.)|[{}\r\n]"
)


def read_office(document: bytes) -> tuple[bytes, bool]:
    """A page of HTML in UTF-8, empty where there is no text, and whether that is all of it.

    >>> read_office(rb"{\\rtf1 Dear {\\b customer},\\par caf\\'e9 \\u8364?5}")
    (b'<pre>Dear customer,\\ncaf\\xc3\\xa9 \\xe2\\x82\\xac5</pre>', True)
    """
    if document.lstrip().startswith(b"{\\rtf"):
        text = RTF.sub(_shown, document[:MAX_RTF].decode("cp1252", "replace"))
        return f"<pre>{escape(text)}</pre>".encode("utf-8", "replace"), len(document) <= MAX_RTF
    pages, is_whole = b"", True
    for entry in list(ENTRY.finditer(document))[:MAX_ENTRIES]:
        begin, unpack = entry.end() + int.from_bytes(entry[2], "little"), zlib.decompressobj(-zlib.MAX_WBITS)
        try:
            page = unpack.decompress(document[begin:], MAX_XML) if entry[1] == b"\x08" else document[begin:][:MAX_XML]
        except zlib.error:
            continue
        is_whole = is_whole and len(page) < MAX_XML
        pages += page.replace(b"</w:p>", b"<br>").replace(b"<w:tab/>", b" ").replace(b"<w:br/>", b"<br>")
    return pages, is_whole


def _shown(command: re.Match[str]) -> str:
    """What a command of RTF shows."""
    code, point, _, escaped = command.groups()
    if code:
        return bytes.fromhex(code).decode("cp1252", "replace")
    if point:
        return chr(int(point) % 0x10000)
    return "\n" if command[3] else escaped if escaped in ("\\", "{", "}") else ""
