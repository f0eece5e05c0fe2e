"""Files that hold mail: an mbox (plain, gzipped or Thunderbird's), or a single message.

An mbox is a sequence of messages. Before each message are a blank line and a separator line ``From sender date``. A
line of a body that begins with ``From `` is quoted as ``>From ``. https://www.rfc-editor.org/rfc/rfc4155

Some programs write no blank line, no date, or quote nothing. So a separator needs two of three signs: a blank line
before it, a date in it, a header field below it.
"""

from __future__ import annotations

import os
import re
from codecs import BOM_UTF8
from collections import Counter
from collections.abc import Iterator
from itertools import chain, islice
from typing import BinaryIO

from spamnb.shown_text import escape
from spamnb.sources.entries import Entry, OnError, message_from_file, open_mail, too_long_error
from spamnb.sources.formats import HEAD, MAX_MESSAGE

TOP_BYTES = 8 << 10  # Thunderbird and Google write their own fields into the first bytes of a message
INDEX_SUFFIX = ".msf"  # Thunderbird's index of a mailbox, a file beside it
_CHUNK_BYTES = 1 << 20  # bytes that are read at once
_LOOKAHEAD = 2048  # bytes that are examined after a possible separator: its line, and the name of the first field
_EXPUNGED = 0x0008  # nsMsgMessageFlags::Expunged
_DATE_BYTES = 200  # bytes at the end of a separator's line in which its date is
# The words of a date at the end of a line: days, months, numbers, times and zones, in any order as in mutt.
_DAYS, _MONTHS = rb"mon|tue|wed|thu|fri|sat|sun", rb"jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec"
_DATE_WORD = re.compile(
    rb"(?i:(?:%s|%s)[a-z]*[.,]?|\d{1,4}[.,]?|\d\d?-(?:%s)[a-z]*-\d{2,4}|\d?\d:\d\d[:.\d]*(?:[ap]m)?)"
    rb"|\d{4}[-/]\d\d[-/]\d\d(?:T[:.\d]+)?(?:Z|[+-][:\d]+)?|[A-Z]{1,5}(?:[+-][\d:]+)?|[+-]\d\d:?\d\d|\([A-Z]+\)|\([+-]\d{4}\)"
    % (_DAYS, _MONTHS, _MONTHS)
)
_DATE = re.compile(rb"(?i)(?=.*[ /-](?:%s|\d\d[-/]))(?=.*[ -](?:19|20)\d\d\b|.*:\d\d.* \d\d\b).*:\d\d" % _MONTHS)
_REMOTE = re.compile(rb" remote from \S+$")  # UUCP wrote this below a date
_FIELD = re.compile(rb">From |[A-Za-z][!-9;-~]*[ \t]*:(?!/)")  # as in RFC 5322, but no URL
# Thunderbird writes its fields above the message's own. Later fields of these names may be forgeries, and are not read.
_STATUS = re.compile(
    rb"From [^\n]*+\n(?:X-(?:Account-Key|UIDL):[^\n]*+\n)*+X-Mozilla-Status:[ \t]*([0-9A-Fa-f]{1,8})\s"
)


def file_entries(label: str | None, path: str, on_unreadable: OnError) -> Iterator[Entry]:
    """Yield the messages of an mbox, or the file as one message. An empty file contains none.

    Messages that Thunderbird marked as deleted are skipped. They remain in the file until a person compacts the folder.
    """
    try:
        with open_mail(path) as stream:
            is_thunderbird = os.path.exists(path + INDEX_SUFFIX)
            for entry in _entries(label, path, stream, on_unreadable):
                if not (is_thunderbird and _is_deleted(entry.read()[:TOP_BYTES])):
                    yield entry
    except OSError as error:
        on_unreadable(escape(path), error)


def starts_as_mbox(path: str) -> bool:
    """Return whether the file begins with a separator line, and can be read."""
    try:
        with open_mail(path) as stream:
            return _is_mbox(stream.read(HEAD))
    except OSError:  # reported when the file is read
        return False


def _is_mbox(head: bytes) -> bool:
    return head.removeprefix(BOM_UTF8).lstrip(b"\r\n").startswith(b"From ")


def _is_deleted(top: bytes) -> bool:
    match = _STATUS.match(top.replace(b"\r\n", b"\n"))
    return bool(match and int(match[1], 16) & _EXPUNGED)


def _entries(label: str | None, path: str, stream: BinaryIO, on_unreadable: OnError) -> Iterator[Entry]:
    """Yield the messages of an mbox, or the file as one message.

    A single message is returned unchanged, with its ``>From `` lines, so that ``spamnb learn FILE`` and
    ``spamc -L spam < FILE`` learn the same bytes.
    """
    is_mbox = _is_mbox(stream.read(HEAD))
    stream.seek(0)
    messages = split_mbox(stream) if is_mbox else iter(())
    first_two = list(islice(messages, 2))
    if len(first_two) < 2:
        stream.seek(0)
        content = stream.read(MAX_MESSAGE + 1)
        if len(content) > MAX_MESSAGE:
            raise too_long_error(path)
        if content:
            yield Entry(label, escape(path), path, content=message_from_file(content, path))
        return
    for number, raw in enumerate(chain(first_two, messages), 1):
        name = f"{escape(path)}#{number}"
        if raw is None:
            on_unreadable(name, too_long_error(path))
        else:
            yield Entry(label, name, path, content=_unquote(raw))


def note_separators(path: str) -> Iterator[str]:
    """Yield a line if other programs may find other messages in an mbox."""
    lines: Counter[str] = Counter()
    try:
        with open_mail(path) as stream:
            is_mbox = _is_mbox(stream.read(HEAD))
            stream.seek(0)
            n_messages = sum(1 for _ in split_mbox(stream, lines)) if is_mbox else 0
    except OSError:  # reported when the file is read
        return
    if n_messages > 1 and lines:
        readings = ", ".join(f"{number} {what}" for what, number in sorted(lines.items()))
        yield f"other programs may not find the same {n_messages} messages: of the lines with 'From ', {readings}"


def split_mbox(stream: BinaryIO, lines: Counter[str] | None = None) -> Iterator[bytes | None]:
    """Yield the messages of an mbox with their separator lines, without the blank line after each message.

    Yield None for a message of more than MAX_MESSAGE bytes. ``lines`` counts the lines about which programs differ.
    The file is read in chunks and not mapped into memory, because SIGBUS would end this program if another program
    shortened the mailbox.
    """
    beginning = stream.read(len(BOM_UTF8)).removeprefix(BOM_UTF8)
    buffer = bytearray(b"\n\n" + beginning)  # as if a blank line came before the first separator
    start = 1  # where the search for a separator begins
    is_inside = False  # whether the buffer begins with a message
    is_long = False  # whether the first bytes of this message were dropped

    def message(stop: int) -> bytes | None:
        return None if is_long or stop > MAX_MESSAGE else bytes(buffer[:stop])

    has_more = True
    while has_more:
        chunk = stream.read(_CHUNK_BYTES)
        buffer += chunk
        has_more = bool(chunk)
        end = max(len(buffer) - _LOOKAHEAD, 0) if has_more else len(buffer)  # the search's end
        while (position := buffer.find(b"\nFrom ", start, end + 5)) >= 0:
            follows_blank, is_separator = _examine(buffer, position)
            if is_inside and lines is not None and follows_blank != is_separator:
                lines["begin a message without a blank line above" if is_separator else "are read as text"] += 1
            if is_inside and not is_separator:
                start = position + 1
                continue
            if is_inside:
                yield message(position - (buffer[position - 1 : position] == b"\r") if follows_blank else position + 1)
            del buffer[: position + 1]
            end -= position + 1
            start, is_inside, is_long = 0, True, False
        start = max(start, end)
        if start > MAX_MESSAGE + 2 or not is_inside:
            is_long = is_inside
            n_dropped = max(start - 2, 0)
            del buffer[:n_dropped]
            start -= n_dropped
    if is_inside:  # the blank line that ends an mbox is not part of its last message
        yield message(len(buffer) - (1 if buffer.endswith(b"\n\n") else 2 if buffer.endswith(b"\n\r\n") else 0))


def _examine(buffer: bytearray, position: int) -> tuple[bool, bool]:
    r"""Return whether a blank line precedes the ``\nFrom `` at a position, and whether it begins a message.

    A line such as "From now on ..." in a body, which some programs do not quote, has no date. A separator without one
    has an address alone, a blank line above it and a header field below it.
    """
    follows_blank = buffer[position - 1 : position] == b"\n" or buffer[position - 2 : position] == b"\n\r"
    line, _, next_line = bytes(buffer[position + 1 : position + _LOOKAHEAD]).partition(b"\n")
    line, has_field = line[-_DATE_BYTES:], bool(_FIELD.match(next_line))
    words, date = _REMOTE.sub(b"", line.strip()).split(), b""
    while words and _DATE_WORD.fullmatch(words[-1]):
        date = b" " + words.pop() + date
    # Some programs write nothing at all after "From ".
    if _DATE.match(date) or line.split() == [b"From"]:
        return follows_blank, follows_blank or has_field
    return follows_blank, follows_blank and has_field and len(words) <= 2


def _unquote(raw: bytes) -> bytes:
    """Return the message without the ``>`` that mboxo and mboxrd put before ``From `` in lines of the body."""
    body = re.search(rb"\n\r?\n", raw)
    if body is None or b"\n>" not in raw:
        return raw
    return raw[: body.start()] + re.sub(rb"\n>(>*From )", rb"\n\1", raw[body.start() :])
