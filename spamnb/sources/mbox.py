"""Files that hold mail: an mbox (plain, gzipped or Thunderbird's), or a single message.

An mbox is messages one after the other, each under a separator line ``From sender date`` that follows a blank
line; body lines that look like one are quoted as ``>From ``. https://www.rfc-editor.org/rfc/rfc4155
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import BinaryIO

from spamnb.naming import escape
from spamnb.sources.entries import MAX_MESSAGE, Entry, Report, open_mail, too_long, unquoted
from spamnb.sources.formats import COMPRESSED, COMPRESSIONS, HEAD, NotMail

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
            if head.startswith(COMPRESSIONS):
                raise NotMail(COMPRESSED, path)
            if _is_mbox(head):
                stream.seek(0)
                may_be_deleted = os.path.exists(path + INDEX_SUFFIX)
                for entry, top in mbox_entries(path, stream, on_unreadable):
                    if not (may_be_deleted and _is_deleted(top)):
                        yield entry._replace(label=label)
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


def mbox_entries(path: str, stream: BinaryIO, on_unreadable: Report) -> Iterator[tuple[Entry, bytes]]:
    """Each message of an mbox, without a class, and its first TOP bytes.

    A message that has the file for itself is taken as it stands, with its ``>From `` lines: so it is the same message
    to ``spamnb learn FILE`` as to ``spamc < FILE``.
    """
    import gzip

    # What is compressed has no cheap random access, so its entries carry their bytes.
    keep = isinstance(stream, gzip.GzipFile)
    for number, (start, stop, content, only) in enumerate(split_mbox(stream, keep), 1):
        name = escape(path) if only else f"{escape(path)}#{number}"
        only = only and not start
        if not keep:
            top = os.pread(stream.fileno(), min(TOP, stop - start), start)
            yield Entry(None, name, path) if only else Entry(None, name, path, start, stop), top
        elif content is None:
            on_unreadable(name, too_long(path))
        else:
            yield Entry(None, name, path, content=content if only else unquoted(content)), content[:TOP]


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
