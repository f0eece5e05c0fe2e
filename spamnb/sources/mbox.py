"""Files that hold mail: an mbox (plain, gzipped or Thunderbird's), or a single message.

An mbox is messages one after the other, each under a separator line ``From sender date`` that follows a blank
line; body lines that look like one are quoted as ``>From ``. https://www.rfc-editor.org/rfc/rfc4155
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from itertools import chain, islice
from typing import BinaryIO

from spamnb.shown_text import escape
from spamnb.sources.entries import Entry, Report, open_mail, too_long
from spamnb.sources.formats import HEAD, MAX_MESSAGE

TOP = 8 << 10  # bytes of a message in which Thunderbird's and Google's own fields stand
INDEX_SUFFIX = ".msf"  # beside each mailbox of Thunderbird lies its index
_CHUNK = 1 << 20
_AHEAD = 2048  # bytes that must follow a candidate before it is judged: its line and the next header's name
_EXPUNGED = 0x0008  # nsMsgMessageFlags::Expunged
# Thunderbird's own lines stand before the message's: what its sender writes further down does not count.
_STATUS = re.compile(
    rb"From [^\n]*+\n(?:X-(?:Account-Key|UIDL):[^\n]*+\n)*+X-Mozilla-Status:[ \t]*([0-9A-Fa-f]{1,8})\s"
)


def mail_file(label: str | None, path: str, on_unreadable: Report) -> Iterator[Entry]:
    """The messages of an mbox when it starts as one, else the file as a message; nothing when it is empty.

    What Thunderbird has deleted stays in its mailbox until that is compacted, and is left out.
    """
    try:
        with open_mail(path) as stream:
            head = stream.read(HEAD)
            if _is_mbox(head):
                stream.seek(0)
                may_be_deleted = os.path.exists(path + INDEX_SUFFIX)
                for entry in _entries(label, path, stream, on_unreadable):
                    if not (may_be_deleted and _is_deleted(entry.read()[:TOP])):
                        yield entry
            elif head:
                yield Entry(label, escape(path), path)
    except OSError as error:
        on_unreadable(escape(path), error)


def starts_as_mbox(path: str) -> bool:
    """Does the file begin with a separator line? False also where it cannot be read."""
    try:
        with open_mail(path) as stream:
            return _is_mbox(stream.read(HEAD))
    except OSError:  # whoever reads it will tell
        return False


def _is_mbox(head: bytes) -> bool:
    return head.lstrip(b"\r\n").startswith(b"From ")


def _is_deleted(top: bytes) -> bool:
    status = _STATUS.match(top.replace(b"\r\n", b"\n"))
    return bool(status and int(status[1], 16) & _EXPUNGED)


def _entries(label: str | None, path: str, stream: BinaryIO, on_unreadable: Report) -> Iterator[Entry]:
    """Each message of an mbox.

    A message that has the file for itself is taken as it stands, with its ``>From `` lines: so it is the same message
    to ``spamnb learn FILE`` as to ``spamc < FILE``.
    """
    messages = split_mbox(stream)
    first = list(islice(messages, 2))
    if len(first) == 1:
        yield Entry(label, escape(path), path)
        return
    for number, raw in enumerate(chain(first, messages), 1):
        name = f"{escape(path)}#{number}"
        if raw is None:
            on_unreadable(name, too_long(path))
        else:
            yield Entry(label, name, path, content=_unquoted(raw))


def split_mbox(stream: BinaryIO) -> Iterator[bytes | None]:
    """The messages of an mbox with their separator lines, each without the blank line behind it; None for one of more
    than MAX_MESSAGE bytes.

    Reads a mebibyte at a time. Not a memory map: another program that shortens the mailbox meanwhile would end this one
    with SIGBUS.
    """
    buffer = bytearray(b"\n\n")  # as if a blank line stood before the first separator
    search = 1  # no separator begins before it
    is_inside = is_long = False  # whether the buffer begins with a message; whether the beginning of that is dropped

    def message(stop: int) -> bytes | None:
        return None if is_long or stop > MAX_MESSAGE else bytes(buffer[:stop])

    more = True
    while more:
        chunk = stream.read(_CHUNK)
        buffer += chunk
        more = bool(chunk)
        limit = max(len(buffer) - _AHEAD, 0) if more else len(buffer)
        while (at := buffer.find(b"\nFrom ", search, limit + 5)) >= 0:
            if is_inside and not _separates(buffer, at):
                search = at + 1
                continue
            if is_inside:
                yield message(at - (buffer[at - 1 : at] == b"\r"))
            del buffer[: at + 1]
            limit -= at + 1
            search, is_inside, is_long = 0, True, False
        search = max(search, limit)
        if search > MAX_MESSAGE + 2 or not is_inside:
            is_long = is_inside
            dropped = max(search - 2, 0)
            del buffer[:dropped]
            search -= dropped
    if is_inside:  # the blank line that ends an mbox is no part of its last message
        yield message(len(buffer) - (1 if buffer.endswith(b"\n\n") else 2 if buffer.endswith(b"\n\r\n") else 0))


def _separates(buffer: bytearray, at: int) -> bool:
    """Whether the ``\\nFrom `` at ``at`` begins a message: after a blank line, with a time or a header next.

    The second condition is for programs that forget to quote: prose such as "From now on ..." has neither.
    """
    if buffer[at - 1 : at] != b"\n" and buffer[at - 2 : at] != b"\n\r":
        return False
    line, _, rest = buffer[at + 1 : at + _AHEAD].partition(b"\n")
    return bool(re.search(rb"\d:\d\d", line) or re.match(rb">From |[!-9;-~]{1,99}:", rest))


def _unquoted(raw: bytes) -> bytes:
    """The message with one ``>`` less on lines of its body that begin ``>From `` or ``>>From `` (mboxo and mboxrd)."""
    body = re.search(rb"\n\r?\n", raw)
    if body is None or b"\n>" not in raw:
        return raw
    return raw[: body.start()] + re.sub(rb"\n>(>*From )", rb"\n\1", raw[body.start() :])
