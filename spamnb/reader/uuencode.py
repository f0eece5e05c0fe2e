"""Uuencode: files in a text, and bodies that are such a file."""

from __future__ import annotations

import binascii
import re
from typing import NamedTuple

BEGIN = re.compile(r"^begin [0-7]{3,4} ([^\n]{1,200})\n", re.MULTILINE)
LINES = re.compile(r"(?:[ -`]{0,200}+\n)*+")
END = re.compile(r"end[ \t]{0,9}(?=\n|\Z)")
MIN_LINES = 5  # of a file without end: the first post of several that share a file


class UuFile(NamedTuple):
    """A file that stood in a text, where it took ``size`` bytes."""

    name: str
    content: bytes
    size: int


def uudecode(body: bytes) -> bytes:
    """The first file in a body; a body without one stays as it is.

    >>> uudecode(b"begin 644 a.txt\\n#86)C\\n`\\nend\\n")
    b'abc'
    """
    begin = body.find(b"begin ")
    return _decoded(body[body.find(b"\n", begin) + 1 :]) if begin >= 0 else body


def take_files(text: str, most: int) -> tuple[str, list[UuFile]]:
    """``text`` without the first ``most`` files in it, and these.

    Only lines that belong to a file are taken: what else stands there is text that a person reads.

    >>> take_files("see:\\nbegin 644 a.txt\\n#86)C\\n`\\nend\\nbye", 9)
    ('see:\\n\\nbye', [UuFile(name='a.txt', content=b'abc', size=7)])
    >>> take_files("see:\\nbegin 644 a.txt\\n#86)C\\nBuy now\\nend\\n", 9)[1]
    []
    """
    files: list[UuFile] = []
    kept: list[str] = []
    position = 0
    begin = BEGIN.search(text)
    while begin and len(files) < most:
        first = begin.end()
        stop, after = _find_lines(text, first)
        if after > first:
            lines = text[first : stop - 1]
            kept.append(text[position : begin.start()])
            files.append(UuFile(begin.group(1).strip(), _decoded(lines.encode("ascii", "replace")), len(lines)))
            position = after
        begin = BEGIN.search(text, after)
    kept.append(text[position:])
    return "".join(kept), files


def _decoded(lines: bytes) -> bytes:
    """Decoded lines, up to ``end`` or the first line that cannot be one."""
    out = []
    for line in lines.split(b"\n"):
        if not line or not 33 <= line[0] <= 95:  # a space or a grave accent says: no more bytes
            break
        try:
            out.append(binascii.a2b_uu(line))
        except binascii.Error:
            # Some encoders pad the line; its first character says how many of the others count.
            try:
                out.append(binascii.a2b_uu(line[: 1 + _length(line[0])]))
            except binascii.Error:
                break
    return b"".join(out)


def _length(first: int) -> int:
    """How many characters follow the first one of a line."""
    return ((first - 32 & 63) * 4 + 2) // 3


def _find_lines(text: str, start: int) -> tuple[int, int]:
    """Where the lines of a file at ``start`` end, and where text goes on; twice ``start`` where there is no file.

    Of a file that ends with ``end`` nine lines of ten are as long as their first character says: capitals alone make no
    file. Of one without it those lines are taken that are, and no others.
    """
    found = LINES.match(text, start)
    stop = found.end() if found else start
    lines = text[start:stop].split("\n")
    exact = [bool(line) and 0 <= len(line) - 1 - _length(ord(line[0])) <= 3 for line in lines]
    end = END.match(text, stop)
    if end and 0 < 10 * sum(map(bool, lines)) <= 11 * sum(exact):
        return stop, end.end()
    whole = [*exact, False].index(False)
    if whole < MIN_LINES:
        return start, start
    stop = start + sum(len(line) + 1 for line in lines[:whole])
    return stop, stop
