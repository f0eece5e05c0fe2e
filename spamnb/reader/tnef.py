"""TNEF, Outlook's ``winmail.dat`` → body and attachments (Microsoft's specification is MS-OXTNEF)."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator

SIGNATURE = 0x223E9F78
MAX_ATTRIBUTES = 2000  # of a document; documents in the public corpora have at most 11
MAX_ATTACHMENTS = 50  # each becomes a part of the message; documents in the public corpora have none
BODY, PROPERTIES, NEW_ATTACHMENT, ATTACHMENT_NAME, ATTACHMENT_DATA = 0x800C, 0x9003, 0x9002, 0x8010, 0x800F
# Numbers of the properties in PROPERTIES that are a body. BODY_PROPERTY matches the type, number, count of values (one)
# and size of such a property, and CODE_PAGE_PROPERTY the code page, so that other properties need not be parsed.
TEXT, RTF, HTML = 0x1000, 0x1009, 0x1013
UNICODE = 0x1F  # the type of a text in UTF-16
BODY_PROPERTY = re.compile(rb"(?s)(?:[\x1e\x1f]\0|\x02\x01)[\x00\x09\x13]\x10\x01\0\0\0....")
CODE_PAGE_PROPERTY = re.compile(rb"(?s)\x03\0\xde\x3f(....)")

Body = tuple[str, bytes]  # content type and bytes


def read_tnef(octets: bytes) -> tuple[Body | None, list[tuple[str, bytes]], bool]:
    """Return the body as HTML, or else text; name and content of each attachment; and whether all was read.

    A body in RTF is not read.
    """
    if octets[:4] != struct.pack("<I", SIGNATURE):
        return None, [], True
    text, charset = b"", ""
    bodies: dict[int, Body] = {}
    files: list[tuple[str, bytes]] = []
    attributes = list(_attributes(octets))
    for number, value in attributes[:MAX_ATTRIBUTES]:
        if number == BODY:
            text = value.rstrip(b"\0")
        elif number == PROPERTIES:
            charset, bodies = _properties(value)
        elif number == NEW_ATTACHMENT:
            files.append(("", b""))
        elif number == ATTACHMENT_NAME and files:
            files[-1] = value.rstrip(b"\0").decode("latin-1")[:255], files[-1][1]
        elif number == ATTACHMENT_DATA and files:
            files[-1] = files[-1][0], value
    if text:
        bodies.setdefault(TEXT, (f"text/plain; charset={charset}", text))
    body = next((bodies[number] for number in (HTML, TEXT) if number in bodies and bodies[number][1]), None)
    is_whole = len(attributes) <= MAX_ATTRIBUTES and len(files) <= MAX_ATTACHMENTS
    return body, files[:MAX_ATTACHMENTS], is_whole and (body is not None or RTF not in bodies)


def _attributes(octets: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield (number, value) of each attribute, and stop after MAX_ATTRIBUTES + 1 of them."""
    position = 6  # after the signature and a key
    for _ in range(MAX_ATTRIBUTES + 1):
        if position + 9 > len(octets):
            return
        number, size = struct.unpack_from("<H2xI", octets, position + 1)
        position += 9
        yield number, octets[position : position + size]
        position += size + 2  # a checksum follows the value


def _properties(octets: bytes) -> tuple[str, dict[int, Body]]:
    """Return the charset of the code page, and the first property of each kind of body; UTF-16 as UTF-8."""
    match = CODE_PAGE_PROPERTY.search(octets)
    code_page = int.from_bytes(match[1], "little") if match else 0
    charset = {0: "", 65001: "utf-8", 20127: "us-ascii"}.get(code_page, f"cp{code_page}")
    bodies: dict[int, Body] = {}
    for start in BODY_PROPERTY.finditer(octets):
        kind, number, size = struct.unpack("<HH4xI", start[0])
        if number not in bodies:
            value = octets[start.end() : start.end() + size]
            if kind == UNICODE:
                value = value.decode("utf-16-le", "replace").encode("utf-8", "replace")
            media_type = "text/html" if number == HTML else "text/plain"
            content_type = f"{media_type}; charset={'utf-8' if kind == UNICODE else charset}"
            bodies[number] = content_type, value.rstrip(b"\0")
    return charset, bodies
