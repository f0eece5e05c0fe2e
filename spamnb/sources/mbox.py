"""Messages that share a file: where each stands in an mbox.

An mbox is messages one after the other, each under a separator line ``From sender date`` that follows a blank
line; body lines that look like one are quoted as ``>From ``. https://www.rfc-editor.org/rfc/rfc4155
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import BinaryIO

from spamnb.sources.entries import MAX_MESSAGE

_CHUNK = 1 << 20
_AHEAD = 2048  # bytes that must follow a candidate before it is judged: its line and the next header's name


def split_mbox(stream: BinaryIO, keep: bool) -> Iterator[tuple[int, int, bytes | None, bool]]:
    """(start, stop, bytes if ``keep``, whether it is the only one) of each message of an mbox.

    The bytes are None where they are more than MAX_MESSAGE. Reads a mebibyte at a time. Not a memory map:
    another program that shortens the mailbox meanwhile would end this one with SIGBUS.
    """
    buffer, base, search = b"\n\n", -2, 1  # as if a blank line stood before the first separator
    kept, start, several = bytearray(), -1, False

    def message(stop: int) -> bytes | None:
        if not keep:
            return None
        content = kept + buffer[max(start - base, 0) : stop]
        return bytes(content) if len(content) <= MAX_MESSAGE else None

    while True:
        chunk = stream.read(_CHUNK)
        buffer += chunk
        limit = max(len(buffer) - _AHEAD, search) if chunk else len(buffer)
        at = buffer.find(b"\nFrom ", search, limit + 5)
        while at >= 0:
            if start < 0 or _separates(buffer, at):
                if start >= 0:
                    stop = at - (buffer[at - 1 : at] == b"\r")
                    several = True
                    yield start, base + stop, message(stop), False
                    kept.clear()
                start = base + at + 1
            at = buffer.find(b"\nFrom ", at + 1, limit + 5)
        if not chunk:
            break
        cut = limit - 2 if limit > 2 else 0
        if keep and start >= 0 and len(kept) <= MAX_MESSAGE:
            kept += buffer[max(start - base, 0) : cut]
        buffer, base, search = buffer[cut:], base + cut, limit - cut
    if start >= 0:  # the blank line that ends an mbox is no part of its last message
        stop = len(buffer) - (1 if buffer.endswith(b"\n\n") else 2 if buffer.endswith(b"\n\r\n") else 0)
        yield start, base + stop, message(stop), not several


def _separates(buffer: bytes, at: int) -> bool:
    """Whether the ``\\nFrom `` at ``at`` begins a message: after a blank line, with a time or a header next.

    The second condition is for programs that forget to quote: prose such as "From now on ..." has neither.
    """
    if buffer[at - 1 : at] != b"\n" and buffer[at - 2 : at] != b"\n\r":
        return False
    line, _, rest = buffer[at + 1 : at + _AHEAD].partition(b"\n")
    return bool(re.search(rb"\d:\d\d", line) or re.match(rb">From |[!-9;-~]{1,99}:", rest))
