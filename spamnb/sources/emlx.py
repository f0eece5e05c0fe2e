"""Apple Mail's ``.emlx``: a line with the message's length in bytes, the message, and an XML property list."""

from __future__ import annotations

import errno

_MAX_LINE = 32  # bytes of the first line: Apple Mail pads the number to ten


def message_in(raw: bytes, path: str) -> bytes:
    """The message in an ``.emlx``. Raises OSError where its first line is no length, or less than that follows.

    >>> message_in(b"14        \\nSubject: tea\\n\\n<?xml version='1.0'?>", "1.emlx")
    b'Subject: tea\\n\\n'
    """
    line = raw[:_MAX_LINE].partition(b"\n")[0]
    length = line.strip()
    if not length.isdigit() or len(line) == _MAX_LINE:
        raise OSError(errno.EINVAL, "no length in its first line, as an .emlx has it", path)
    start = len(line) + 1
    message = raw[start : start + int(length)]
    if len(message) < int(length):
        raise OSError(errno.EINVAL, "shorter than its first line says", path)
    return message
