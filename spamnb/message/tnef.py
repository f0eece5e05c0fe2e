"""TNEF, Outlook's ``winmail.dat``: the body and the attachments within.

https://learn.microsoft.com/en-us/openspecs/exchange_server_protocols/ms-oxtnef/
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import NamedTuple

from .mime import OPENED, Part, read_as

MAX_DOCUMENTS = 2  # in one message
SIGNATURE = 0x223E9F78
MAX_ATTRIBUTES = 2000
MAX_PROPERTIES = 2000
MAX_ATTACHMENTS = 50
# Attributes, by number.
BODY, PROPERTIES, NEW_ATTACHMENT, ATTACHMENT_NAME, ATTACHMENT_DATA = 0x800C, 0x9003, 0x9002, 0x8010, 0x800F
# Properties among PROPERTIES, and types of their values.
TEXT, RTF, HTML, CODE_PAGE = 0x1000, 0x1009, 0x1013, 0x3FDE
WIDTHS = {2: 4, 3: 4, 4: 4, 5: 8, 6: 8, 7: 8, 0xA: 4, 0xB: 4, 0x14: 8, 0x40: 8, 0x48: 16}
UNICODE = 0x1F
OF_ANY_SIZE = (0xD, 0x1E, UNICODE, 0x102)


class TnefText(NamedTuple):
    """The body, or an attachment, whose ``kind`` is empty where it is no text."""

    kind: str
    octets: bytes
    charset: str
    parts: tuple[Part, ...]  # what is said of an attachment


def read_tnef(octets: bytes, truncations: list[str]) -> list[TnefText]:
    """The body as HTML or text, whichever there is first, and the attachments. A body in RTF is not read."""
    if octets[:4] != struct.pack("<I", SIGNATURE):
        return []
    text = b""
    properties: dict[int, bytes] = {}
    names: list[str] = []
    contents: list[bytes] = []
    for number, value in _attributes(octets, truncations):
        if number == BODY:
            text = value.rstrip(b"\0")
        elif number == PROPERTIES:
            properties = _properties(value)
        elif number == NEW_ATTACHMENT:
            if len(names) == MAX_ATTACHMENTS:
                truncations.append(f"TNEF attachments after the first {MAX_ATTACHMENTS}")
                break
            names.append("")
            contents.append(b"")
        elif number == ATTACHMENT_NAME and names:
            names[-1] = value.rstrip(b"\0").decode("latin-1")[:255]
        elif number == ATTACHMENT_DATA and names:
            contents[-1] = value
    found = _body(text, properties, truncations)
    for name, content in zip(names, contents):
        kind = read_as("application/octet-stream", name)
        read = "" if kind in OPENED or kind.startswith("message/") else kind
        part = Part(read or "application/octet-stream", "", "tnef", "attachment", name, len(content))
        found.append(TnefText(read, content if read else b"", "", (part,)))
    return found


def _body(text: bytes, properties: dict[int, bytes], truncations: list[str]) -> list[TnefText]:
    code_page = int.from_bytes(properties.get(CODE_PAGE, b"")[:4], "little")
    charset = {0: "", 65001: "utf-8", 20127: "us-ascii"}.get(code_page, f"cp{code_page}")
    if html := properties.get(HTML):
        return [TnefText("text/html", html, charset, ())]
    if TEXT in properties:
        return [TnefText("text/plain", properties[TEXT], "utf-8", ())]
    if not text and RTF in properties:
        truncations.append("TNEF: a body that is RTF alone")
    return [TnefText("text/plain", text, charset, ())] if text else []


def _attributes(octets: bytes, truncations: list[str]) -> Iterator[tuple[int, bytes]]:
    """(number, value) of all attributes that are there whole."""
    position = 6  # behind the signature and a key
    for _ in range(MAX_ATTRIBUTES):
        if position + 9 > len(octets):
            return
        number, size = struct.unpack_from("<H2xI", octets, position + 1)
        position += 9
        yield number, octets[position : position + size]
        position += size + 2  # a checksum
    truncations.append(f"TNEF attributes after the first {MAX_ATTRIBUTES}")


def _properties(octets: bytes) -> dict[int, bytes]:
    """The values of those properties that are the body; texts as UTF-8 or as they are. Ends where it is broken."""
    found: dict[int, bytes] = {}
    position = 4
    try:
        for _ in range(min(struct.unpack_from("<I", octets)[0], MAX_PROPERTIES)):
            kind, number = struct.unpack_from("<HH", octets, position)
            position += 4
            if number >= 0x8000:  # has a name
                named_by_text, size = struct.unpack_from("<II", octets, position + 16)
                position += 24 + (_padded(size) if named_by_text else 0)
            n_values, value = 1, b""
            single = kind & ~0x1000
            if kind != single or single in OF_ANY_SIZE:
                n_values = struct.unpack_from("<I", octets, position)[0]
                position += 4
            for _ in range(min(n_values, MAX_PROPERTIES)):
                size = WIDTHS.get(single, 0)
                if single in OF_ANY_SIZE:
                    size = struct.unpack_from("<I", octets, position)[0]
                    position += 4
                elif not size:
                    return found  # nobody knows where the next one begins
                value = octets[position : position + size]
                position += _padded(size)
            if single == UNICODE:
                value = value.decode("utf-16-le", "replace").rstrip("\0").encode("utf-8", "replace")
            if number in (TEXT, RTF, HTML, CODE_PAGE):
                found[number] = value.rstrip(b"\0") if number in (TEXT, HTML) else value
    except struct.error:
        pass  # what was found until then is there
    return found


def _padded(size: int) -> int:
    return (size + 3) // 4 * 4
