"""Uuencode: files in a text, and bodies that are such a file."""

from __future__ import annotations

import binascii
import re

BEGIN = re.compile(rb"^begin [0-7]{3,4} ([^\n]{1,200})\n", re.MULTILINE)
LINE = re.compile(rb"[ -`]{1,99}")
END = re.compile(rb"end[ \t]{0,9}(?=\n|\Z)")
MIN_LINES = 5  # of a file without end: the first post of several that share a file
MAX_FILES = 250  # in one text; more are left in it


def uudecode(body: bytes) -> bytes:
    """The first file in a body; a body without one stays as it is.

    >>> uudecode(b"begin 644 a.txt\\n#86)C\\n`\\nend\\n")
    b'abc'
    """
    begin = BEGIN.search(body)
    if not begin:
        return body
    out = []
    for line in body[begin.end() :].split(b"\n"):
        try:
            octets = binascii.a2b_uu(line[: 1 + _length(line)]) if line else b""
        except binascii.Error:
            break
        if not octets:
            break
        out.append(octets)
    return b"".join(out)


def take_files(text: bytes) -> tuple[bytes, list[tuple[str, bytes]]]:
    """``text`` without the files in it, and (name, lines) of these. What else stands there a person reads.

    >>> take_files(b"see:\\nbegin 644 a.txt\\n#86)C\\n`\\nend\\nbye")
    (b'see:\\n\\nbye', [('a.txt', b'begin 644 a.txt\\n#86)C\\n`\\nend')])
    """
    files: list[tuple[str, bytes]] = []
    kept: list[bytes] = []
    position = 0
    for begin in BEGIN.finditer(text):
        end = _end_of_file(text, begin.end())
        if end and len(files) < MAX_FILES:
            kept.append(text[position : begin.start()])
            files.append((begin.group(1).strip().decode("utf-8", "replace"), text[begin.start() : end]))
            position = end
    return b"".join([*kept, text[position:]]), files


def _end_of_file(text: bytes, start: int) -> int:
    """Where the file ends whose lines begin at ``start``; 0 where there is none."""
    n_lines, position = 0, start
    while (stop := text.find(b"\n", position)) >= 0 and _is_line(text[position:stop]):
        n_lines, position = n_lines + 1, stop + 1
    end = END.match(text, position)
    if end and n_lines:
        return end.end()
    return position if n_lines >= MIN_LINES else 0


def _is_line(line: bytes) -> bool:
    """Whether a line is as long as its first character says; some programs add up to three characters."""
    return LINE.fullmatch(line) is not None and 0 <= len(line) - 1 - _length(line) <= 3


def _length(line: bytes) -> int:
    """How many characters follow the first one of a line."""
    return ((line[0] - 32 & 63) * 4 + 2) // 3
