"""The body: its multipart structure, and what is said of each part."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from .encodings import UU_NAMES, transfer_decode
from .headers import normalise, parameters, scan_section, skip_envelope

MAX_DEPTH = 16
MAX_PARTS = 250
MAX_TEXT = 1 << 20  # bytes of decoded text in one message
MIN_TEXT = MAX_TEXT // MAX_PARTS  # of each text, however long those before it are
MAX_FALSE_BOUNDARIES = 2000

# Of the message/* types these are reports to be read as text; the others hold a header section and a body.
REPORTS = frozenset(["message/delivery-status", "message/disposition-notification", "message/feedback-report"])
CONTENT_TYPE = re.compile(r"[^\s/()\"',;\0]++/[^\s/()\"',;\0]++\Z")
MISSPELT = re.compile(r"[\"',\0]|[ \t]{1,9}(?=/)|(?<=/)[ \t]{1,9}")
# What programs really call the encodings: base-64, quoted printable.
ENCODINGS = {name.replace("-", ""): name for name in ("base64", "quoted-printable", *sorted(UU_NAMES))}
HTML_TYPES = frozenset([
    "text/html", "text/htm", "text/xhtml", "html/text", "application/html", "application/xhtml+xml", "image/svg+xml",
])  # fmt: skip
# What a reader opens a file as whose type says nothing: by the end of its name.
READ_BY_NAME = {
    "html": "text/html", "htm": "text/html", "xhtml": "text/html", "xht": "text/html", "shtml": "text/html",
    "svg": "text/html", "eml": "message/rfc822", "txt": "text/plain", "text": "text/plain",
    "ics": "text/plain", "pdf": "application/pdf", "p7m": "application/pkcs7-mime",
}  # fmt: skip
# Types of files that are opened for the text in them, by all names that they have.
OPENED = {
    "application/pdf": "application/pdf", "application/x-pdf": "application/pdf",
    "application/pkcs7-mime": "application/pkcs7-mime", "application/x-pkcs7-mime": "application/pkcs7-mime",
    "application/ms-tnef": "application/ms-tnef", "application/vnd.ms-tnef": "application/ms-tnef",
}  # fmt: skip
GUESSED_BOUNDARY = re.compile(rb"^(--[!-~]{3,70})[ \t]{0,9}\n(?i:content-[!-9;-~]{1,40}:)", re.MULTILINE)


class Part(NamedTuple):
    """One leaf of the MIME tree. ``size`` is the number of bytes it takes in the message, still encoded."""

    content_type: str
    charset: str
    encoding: str
    disposition: str
    filename: str
    size: int


class Leaf(NamedTuple):
    """A part and where its still encoded body stands: ``data[start:end]``; of a message inside the message, where its
    header section stands."""

    part: Part
    data: bytes
    start: int
    end: int


def read_as(content_type: str, filename: str) -> str:
    """What a reader shows a part as: ``text/html``, ``text/plain``, a type of ``message/`` or ``multipart/``, one of
    ``OPENED``'s, or nothing.

    >>> read_as("application/octet-stream", "invoice.HTML"), read_as("plain/text", ""), read_as("image/png", "a.txt")
    ('text/html', 'text/plain', '')
    """
    if content_type in HTML_TYPES:
        return "text/html"
    if content_type.startswith(("multipart/", "message/")):
        return content_type
    if content_type.startswith("text") or content_type in ("plain/text", "application/ics"):
        return "text/plain"
    if content_type.startswith("application/"):
        if content_type in OPENED:
            return OPENED[content_type]
        if filename.lower() == "winmail.dat":
            return "application/ms-tnef"
        return READ_BY_NAME.get(filename.rpartition(".")[2].lower(), "")
    return ""


def leaves(data: bytes, fields: list[tuple[str, str]], start: int, truncations: list[str]) -> Iterator[Leaf]:
    """Leaf parts of the message with these header fields whose body starts at ``start``, in the order in which a reader
    shows them: of alternatives the text comes last. A message inside it comes before its own parts."""
    part, boundary = describe(fields, "text/plain", len(data) - start)
    stack = [(part, boundary, data, start, len(data), 0)]
    count = 0
    left = 4 * MAX_TEXT  # bytes of entities that are encoded as a whole
    while stack:
        part, boundary, data, start, end, depth = stack.pop()
        kind = read_as(part.content_type, part.filename)
        inner: list[tuple[int, int]] = []
        opened = data  # where the entities stand
        message = kind.startswith("message/") and kind not in REPORTS
        if kind.startswith("multipart/"):
            inner = children(data, start, end, boundary, MAX_PARTS - count)
            if not inner or depth == MAX_DEPTH:
                part = part._replace(content_type="text/plain")  # nothing separates parts: a reader sees text
        elif message:
            if part.encoding in ENCODINGS.values():
                size = min(end - start, 2 * MAX_TEXT, left)
                left -= size
                data = opened = normalise(transfer_decode(data[start : start + size], part.encoding))
                start, end = 0, len(data)
            start = skip_envelope(data, start, end)
            inner = [(start, end)]
        elif kind == "application/pkcs7-mime":
            from .smime import signed_content

            size = min(end - start, 2 * MAX_TEXT, left)
            left -= size
            if size < end - start:
                truncations.append(f"S/MIME after {size} bytes")
            content = signed_content(transfer_decode(data[start : start + size], part.encoding))
            if content:
                opened = normalise(content)
                inner = [(0, len(opened))]
        nested = bool(inner) and depth < MAX_DEPTH
        if inner and not nested:
            truncations.append(f"parts nested deeper than {MAX_DEPTH}")
        if not nested or kind in OPENED or message:
            count += 1
            if count > MAX_PARTS:
                truncations.append(f"parts after the first {MAX_PARTS}")
                return
        if not nested or kind in OPENED:
            yield Leaf(part, data, start, end)
        if not nested:
            continue
        default = "message/rfc822" if part.content_type == "multipart/digest" else "text/plain"
        entities: list[tuple[Part, str, bytes, int, int, int]] = []
        for a, b in inner:
            section = scan_section(opened, a, b, truncations)
            if message:
                yield Leaf(part._replace(content_type="message/rfc822"), opened, section.start, section.stop)
            child, boundary = describe(section.fields(truncations), default, b - section.body)
            entities.append((child, boundary, opened, section.body, b, depth + 1))
        if part.content_type == "multipart/alternative":  # of which a reader shows the text only where nothing else is
            entities.sort(key=lambda entity: read_as(entity[0].content_type, entity[0].filename) == "text/plain")
        stack += reversed(entities)


def describe(fields: list[tuple[str, str]], default: str, size: int) -> tuple[Part, str]:
    """What the Content-* fields of a part say of it, and its boundary."""
    values = {name.lower(): value for name, value in reversed(fields) if name[0] in "cC"}
    kind, found = parameters(values.get("content-type") or default)
    if not CONTENT_TYPE.match(kind):
        first = CONTENT_TYPE.match(MISSPELT.sub("", kind[:200]).replace("(", " ").strip().partition(" ")[0])
        kind = first.group() if first else "text/plain"
    charset = found.get("charset", "")
    if not charset and "charset" in values.get("content-type", ""):  # a semicolon is missing
        charset = values["content-type"].partition("charset")[2].lstrip(" =")
    if charset:
        charset = charset.strip("\"' ").partition(" ")[0][:60].lower()
    encoding = values.get("content-transfer-encoding", "")
    if encoding:
        encoding = encoding.partition(";")[0].partition("(")[0].strip("\"' \t").lower()[:40]
        encoding = ENCODINGS.get(encoding.replace("-", "").replace(" ", ""), encoding)
    disposition, filename = "", found.get("name", "")
    if "content-disposition" in values:
        disposition, more = parameters(values["content-disposition"])
        filename = more.get("filename", filename)
    part = Part(kind[:100], charset, encoding, disposition[:40], filename[:255], size)
    return part, found.get("boundary", "")


def children(data: bytes, start: int, end: int, boundary: str, max_parts: int) -> list[tuple[int, int]]:
    """Ranges between the boundary lines of a multipart body; empty when no boundary line is found.

    >>> body = b"pre\\n--b\\nC: 1\\n\\none\\n--b\\n\\ntwo\\n--b--\\nepilogue"
    >>> [body[a:b] for a, b in children(body, 0, len(body), "b", 9)]
    [b'C: 1\\n\\none', b'\\ntwo']
    """
    if boundary:
        spans = _between(data, start, end, b"--" + boundary.encode("utf-8", "replace"), max_parts)
        if spans:
            return spans
    # The parameter is missing or wrong: the first line that looks like a boundary is taken for it.
    guess = GUESSED_BOUNDARY.search(data, start, min(end, start + 65536))
    return _between(data, start, end, guess.group(1), max_parts) if guess else []


def _between(data: bytes, start: int, end: int, delimiter: bytes, max_parts: int) -> list[tuple[int, int]]:
    spans: list[tuple[int, int]] = []
    opened = -1
    newline_delimiter = b"\n" + delimiter
    at = start - 1 if data.startswith(delimiter, start, end) else data.find(newline_delimiter, start, end)
    empty = false_ones = 0
    while at >= start - 1 and len(spans) <= max_parts and max(empty, false_ones) < MAX_FALSE_BOUNDARIES:
        after = at + 1 + len(delimiter)
        line_end = data.find(b"\n", after, end)
        if line_end < 0:
            line_end = end
        rest = data[after : min(line_end, after + 80)].strip(b" \t")
        if rest == b"" or rest == b"--":
            if 0 <= opened < at:
                spans.append((opened, at))
            else:  # two boundary lines in a row hold no part
                empty += 1
            if rest:
                return spans
            opened = min(line_end + 1, end)
        else:
            false_ones += 1
        at = data.find(newline_delimiter, line_end, end)
        if at < 0:
            break
    if opened >= 0 and len(spans) <= max_parts:
        spans.append((opened, end))
    return spans
