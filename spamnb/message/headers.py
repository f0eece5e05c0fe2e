"""The header section: fields, parameters (RFC 2045 and 2231), which fields mailboxes add; as tolerant as mail needs.

``scan_section`` takes a section apart; ``section_length`` and ``section_lines`` are for a message that must stay as it
was received, whatever its line ends.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from typing import NamedTuple

from .charsets import decode, shown
from .encodings import decode_words
from .field_scanner import VOLATILE, VOLATILE_PREFIXES, FieldScanner

MAX_HEADER_BYTES = 1 << 18
MAX_FIELDS = 1000
MAX_STRAY_LINES = 20
MAX_VALUE = 10_000  # characters of a value whose parameters are read
MAX_CACHED_VALUE = 1000  # characters of a value whose parameters are remembered
MAX_PARAMETERS = 200  # of one field, the first and the last half; 200 parts of 2,000 took half a second

# Possessive quantifiers (++, *+) keep every pattern linear on hostile input.
FOLDED = r"[^\n]*+(?:\n[ \t][^\n]*+)*+"  # the rest of a line, and the lines that continue it
LONE_CR = re.compile(rb"\r(?!\n)")
EMPTY_LINE = re.compile(rb"^\r*+\n", re.MULTILINE)
LOOSE_FIELD = re.compile(rb"([!-9;-~]++)[ \t]++(:[^\n]*+\n)")
KNOWN_FIELD = re.compile(
    rb"(?:subject|from|to|b?cc|date|sender|reply-to|received|return-path|message-id|in-reply-to|references"
    rb"|mime-version|content-[!-9;-~]{1,60}|lines|organi[sz]ation|newsgroups|path|xref|delivered-to|errors-to"
    rb"|precedence|importance|priority|status|user-agent|list-[!-9;-~]{1,60}|dkim-signature"
    rb"|authentication-results|envelope-to|keywords|approved|x-[!-9;-~]{1,60}):",
    re.IGNORECASE,
)
ENVELOPE = re.compile(rb">?From [^\n]{0,500}[0-9]:[0-9][0-9]")
PARAMETER = re.compile(r';\s*+([^\s=;"]++)\s*+=\s*+(?:"((?:[^"\\]++|\\.)*+)"?|([^;]*+))', re.DOTALL)
CONTINUED = re.compile(r"([^*]++)(?:\*([0-9]{1,3}))?(\*)?\Z")


def skip_envelope(data: bytes, start: int, end: int) -> int:
    """Where the header section starts: behind a byte order mark and the ``From `` line of an mbox.

    >>> skip_envelope(b"From a@example.org Mon Jan  1 00:00:00 2001\\nTo: b", 0, 49)
    44
    >>> skip_envelope(b"From now on all is free\\n", 0, 24)
    0
    """
    if data.startswith(b"\xef\xbb\xbf", start, end):
        start += 3
    if data.startswith((b"From ", b">From "), start, end):
        line_end = data.find(b"\n", start, end)
        if line_end >= 0 and (
            ENVELOPE.match(data, start, line_end) or KNOWN_FIELD.match(data, line_end + 1, end)
        ):
            return line_end + 1
    return start


class HeaderSection(NamedTuple):
    """A header section found in ``data``, the bytes of a message with LF line ends.

    start, stop: the section is ``data[start:stop]``
    body: the body is ``data[body:]``
    text: the section without the lines that are no fields
    found: what the scanner found in it
    """

    data: bytes
    start: int
    stop: int
    body: int
    text: bytes
    found: FieldScanner

    def fields(self, truncations: list[str]) -> list[tuple[str, str]]:
        """(name, unfolded value) of every field, encoded words left as they are; what is left out for being too much
        is added to ``truncations``."""
        fields = self.found.values(MAX_FIELDS)
        if len(self.found.names) > MAX_FIELDS:
            truncations.append(f"header fields after the first {MAX_FIELDS}")
        if not self.text.isascii():
            fields = [(name, value if value.isascii() else decode(value.encode("latin-1"))) for name, value in fields]
        return fields

    def value(self, name: str) -> str:
        """The decoded value of the first field called ``name`` (lower case); empty when there is none."""
        return as_read(next((value for key, value in self.fields([]) if key.lower() == name), ""))

    def lasting(self) -> bytes:
        """The section without the fields that mailboxes add, and without line ends around it."""
        if len(self.text) == self.stop - self.start:
            return self.found.lasting()
        return VOLATILE_FIELD.sub(b"", b"\n" + self.data[self.start : self.stop]).strip(b"\n")


def as_read(value: str) -> str:
    """The value of a field as its reader sees it."""
    return shown(decode_words(value) if "=?" in value else value)


def read_section(raw: bytes, truncations: list[str]) -> HeaderSection:
    """The header section of a message of any line ends, behind its envelope line."""
    data = normalise(raw)
    return scan_section(data, skip_envelope(data, 0, len(data)), len(data), truncations)


def scan_section(data: bytes, start: int, end: int, truncations: list[str]) -> HeaderSection:
    """The header section at ``start`` of a message, or part of one, that ends at ``end``; LF line ends.

    A line that is no field ends the section, as in the standard library, unless a well-known field follows it.

    >>> section = scan_section(b"Subject: a\\n b\\nTo: c\\n\\nbody", 0, 25, [])
    >>> section.fields([]), section.stop, section.body
    ([('Subject', 'a b'), ('To', 'c')], 20, 21)
    """
    limit = min(end, start + MAX_HEADER_BYTES)
    found = FieldScanner()
    stop = found.scan(data, start, limit)
    if stop < limit and data[stop] == 10:
        return HeaderSection(data, start, stop, stop + 1, data[start:stop], found)
    return _scan_irregular(data, start, stop, end, truncations)


def _scan_irregular(data: bytes, start: int, stop: int, end: int, truncations: list[str]) -> HeaderSection:
    """The header section where some line is no field, or no empty line follows; fields end at ``stop`` at first."""
    limit = min(end, start + MAX_HEADER_BYTES)
    found = FieldScanner()
    kept = [data[start:stop]]
    for _ in range(MAX_STRAY_LINES):
        if stop >= limit or data[stop] == 10 or data.startswith(b"--", stop, limit):  # a boundary line separates
            break
        line_end = data.find(b"\n", stop, limit)
        if line_end < 0:
            break
        loose = LOOSE_FIELD.match(data, stop, line_end + 1)
        field = loose.group(1) + loose.group(2) if loose else b""
        described = field.lower().startswith((b"content-", b"mime-version:"))
        if not (described or data[stop] == 58 or KNOWN_FIELD.match(data, line_end + 1, limit)):
            break
        kept.append(field)
        following = found.scan(data, line_end + 1, limit)
        kept.append(data[line_end + 1 : following])
        stop = following
    text = b"".join(kept)
    found.scan(text, 0, len(text))
    if stop == limit < end:
        truncations.append(f"header section after {MAX_HEADER_BYTES} bytes")
        blank = data.find(b"\n\n", limit - 2, end)
        return HeaderSection(data, start, stop, blank + 2 if blank >= 0 else end, text, found)
    if stop < end and data[stop] == 10:
        return HeaderSection(data, start, stop, stop + 1, text, found)
    # Plain text handed over as if it were a message: "URGENT: call now" has no header.
    if text and not any(KNOWN_FIELD.match(line) for line in text.split(b"\n", MAX_FIELDS)):
        return HeaderSection(data, start, start, start, b"", FieldScanner())
    return HeaderSection(data, start, stop, stop, text, found)


def field_pattern(names: str) -> re.Pattern[bytes]:
    """A pattern for whole fields, the line feed before each included, whose names match the pattern ``names``.

    It starts with a plain line feed, which the search finds by memchr: 2 µs a section where "^" takes 7.
    """
    return re.compile(f"\n(?:{names}):{FOLDED}".encode())


_X_NAMES = "|".join(sorted(name[2:] for name in VOLATILE if name.startswith("x-")))
_X_PREFIXES = "|".join(prefix[2:] for prefix in VOLATILE_PREFIXES)
_OTHER_NAMES = "|".join(sorted(name for name in VOLATILE if not name.startswith("x-")))
VOLATILE_FIELD = field_pattern(f"[Xx]-(?i:(?:{_X_NAMES})|(?:{_X_PREFIXES})[!-9;-~]*+)|(?i:{_OTHER_NAMES})")


def section_length(raw: bytes) -> int:
    """Length of the header section of a message as received, the empty line that ends it included; the length of the
    message where none does.

    >>> section_length(b"A: b\\r\\n\\r\\nbody")
    8
    """
    # One search: line by line a section of 8 MB, two bytes a line, took 3.6 s of a worker that nothing interrupts.
    found = EMPTY_LINE.search(raw)
    return found.end() if found else len(raw)


def section_lines(raw: bytes, start: int, end: int) -> Iterator[bytes]:
    """The lines of ``raw[start:end]`` with their line ends; a CR alone ends none."""
    while start < end:
        stop = raw.find(b"\n", start, end) + 1 or end
        yield raw[start:stop]
        start = stop


def is_continuation(line: bytes) -> bool:
    """Whether a line of a header section continues the field before it."""
    return line[:1] in (b" ", b"\t")


def normalise(data: bytes) -> bytes:
    """CRLF and CR line ends made LF."""
    if b"\r" not in data:
        return data
    if LONE_CR.search(data):
        return data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    return data.replace(b"\r", b"")  # both in two thirds of the time that replacing CRLF takes


def parameters(value: str) -> tuple[str, dict[str, str]]:
    """What stands before the first semicolon, in lower case, and the parameters, RFC 2231 pieces put together.

    >>> parameters('Attachment; filename*0*=iso-8859-1\\'\\'caf%E9; filename*1=".txt"')
    ('attachment', {'filename': 'café.txt'})
    """
    value = value[:MAX_VALUE]
    return _parameters(value) if len(value) <= MAX_CACHED_VALUE else _parameters.__wrapped__(value)


@functools.lru_cache(maxsize=1024)
def _parameters(value: str) -> tuple[str, dict[str, str]]:
    main = value.partition(";")[0].strip().lower()
    if "=" in main:  # a semicolon is missing: attachment filename="a.txt"
        main, blank, _ = main.partition(" ")
        value = f"{main};{value.lstrip()[len(main) :]}" if blank else value
    if value.count(";") > MAX_PARAMETERS:
        words = value.split(";")
        value = ";".join(words[: MAX_PARAMETERS // 2] + words[-MAX_PARAMETERS // 2 :])
    found: dict[str, str] = {}
    pieces: dict[str, list[tuple[int, bool, str]]] = {}
    for name, quoted, bare in PARAMETER.findall(value):
        text = quoted.replace('\\"', '"').replace("\\\\", "\\") if quoted else bare.strip()
        name = name.lower()
        if "*" in name and (continued := CONTINUED.match(name)):
            key, index, extended = continued.groups()
            pieces.setdefault(key, []).append((int(index or 0), bool(extended), text))
        else:
            found.setdefault(name, decode_words(text) if "=?" in text else text)
    for name, parts in pieces.items():
        found[name] = _extended(sorted(parts))
    return main, found


def _extended(pieces: list[tuple[int, bool, str]]) -> str:
    """The value of a parameter in pieces (number, whether percent-encoded, text)."""
    from urllib.parse import unquote_to_bytes  # few messages need it

    charset = ""
    octets = []
    for number, (_, extended, text) in enumerate(pieces):
        if extended and number == 0 and text.count("'") >= 2:
            charset, _, text = text.split("'", 2)
        encoded = text.encode("utf-8", "replace")
        octets.append(unquote_to_bytes(encoded) if extended else encoded)
    return decode(b"".join(octets), charset or None)
