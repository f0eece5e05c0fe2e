"""TNEF, Outlook's ``winmail.dat`` → body and attachments (Microsoft's specification is MS-OXTNEF)."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator

SIGNATURE = 0x223E9F78
MAX_ATTRIBUTES = 2000  # of a document; documents in the public corpora have at most 11
MAX_ATTACHMENTS = 50  # each becomes a part of the message; documents in the public corpora have none
BODY, PROPERTIES, NEW_ATTACHMENT, ATTACHMENT_NAME, ATTACHMENT_DATA = 0x800C, 0x9003, 0x9002, 0x8010, 0x800F
# Numbers of the properties in PROPERTIES that are the body or its code page. The pattern PROPERTY matches the type,
# number and count of values (one) of such a property, so that other properties need not be parsed.
TEXT, RTF, HTML, CODE_PAGE = 0x1000, 0x1009, 0x1013, 0x3FDE
UNICODE = 0x1F  # the type of a text in UTF-16
PROPERTY = re.compile(rb"(?s)(?:[\x1e\x1f]\0|\x02\x01)[\x00\x09\x13]\x10\x01\0\0\0....")
CODE_PAGE_PROPERTY = re.compile(rb"(?s)\x03\0\xde\x3f(....)")

Body = tuple[str, bytes]  # content type and bytes


def read_tnef(octets: bytes) -> tuple[Body | None, list[tuple[str, bytes]], bool]:
    """Return the body as HTML, or else text; name and content of each attachment; and whether all was read.

    A body in RTF is not read.
    """
    if octets[:4] != struct.pack("<I", SIGNATURE):
        return None, [], True
    text = b""
    properties: dict[int, bytes] = {}
    files: list[tuple[str, bytes]] = []
    attributes = list(_attributes(octets))
    for number, value in attributes[:MAX_ATTRIBUTES]:
        if number == BODY:
            text = value.rstrip(b"\0")
        elif number == PROPERTIES:
            properties = _properties(value)
        elif number == NEW_ATTACHMENT:
            files.append(("", b""))
        elif number == ATTACHMENT_NAME and files:
            files[-1] = value.rstrip(b"\0").decode("latin-1")[:255], files[-1][1]
        elif number == ATTACHMENT_DATA and files:
            files[-1] = files[-1][0], value
    body = _body(text, properties)
    is_whole = len(attributes) <= MAX_ATTRIBUTES and len(files) <= MAX_ATTACHMENTS
    return body, files[:MAX_ATTACHMENTS], is_whole and (body is not None or RTF not in properties)


def _body(text: bytes, properties: dict[int, bytes]) -> Body | None:
    code_page = int.from_bytes(properties.get(CODE_PAGE, b"")[:4], "little")
    charset = {0: "", 65001: "utf-8", 20127: "us-ascii"}.get(code_page, f"cp{code_page}")
    if html := properties.get(HTML):
        return f"text/html; charset={charset}", html
    if TEXT in properties:
        return "text/plain; charset=utf-8", properties[TEXT]
    return (f"text/plain; charset={charset}", text) if text else None


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


def _properties(octets: bytes) -> dict[int, bytes]:
    """Return the values of the properties that are the body or its code page; UTF-16 as UTF-8."""
    code_page = CODE_PAGE_PROPERTY.search(octets)
    values = {CODE_PAGE: code_page[1]} if code_page else {}
    for start in PROPERTY.finditer(octets):
        kind, number, size = struct.unpack("<HH4xI", start[0])
        if number not in values:
            value = octets[start.end() : start.end() + size]
            text = value.decode("utf-16-le", "replace").encode("utf-8", "replace") if kind == UNICODE else value
            values[number] = text.rstrip(b"\0")
    return values
