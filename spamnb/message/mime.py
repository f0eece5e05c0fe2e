"""The body: multipart structure, transfer encodings, uuencoded files inside text."""

from __future__ import annotations

import binascii
import re
from collections.abc import Iterator
from typing import NamedTuple

from .headers import base64, parameters, skip_envelope, split

MAX_DEPTH = 16
MAX_PARTS = 250
MAX_TEXT = 1 << 20  # bytes of decoded text in one message; the largest of the SpamAssassin corpus has 190 kB

UU_BEGIN = re.compile(r"^begin [0-7]{3,4} ([^\n]{1,200})\n", re.MULTILINE)
UU_NAMES = frozenset(["uuencode", "x-uuencode", "uue", "x-uue"])
META_CHARSET = re.compile(rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?\s*([A-Za-z0-9_.:-]{1,40})", re.IGNORECASE)


class Part(NamedTuple):
    """One leaf of the MIME tree. ``size`` is the number of bytes it takes in the message, still encoded."""

    content_type: str
    charset: str
    encoding: str
    disposition: str
    filename: str
    size: int


def leaves(
    data: bytes, fields: list[tuple[str, str]], start: int, cut: list[str]
) -> Iterator[tuple[Part, bytes, int, int]]:
    """Leaf parts in order, each with the buffer and the range where its still encoded body stands."""
    stack: list[tuple[bytes, list[tuple[str, str]] | None, int, int, str, int]] = []
    stack.append((data, fields, start, len(data), "text/plain", 0))
    count = 0
    while stack:
        data, own_fields, start, end, default, depth = stack.pop()
        if own_fields is None:
            own_fields, _, start = split(data, start, end, cut)
        fields = own_fields
        part, boundary = describe(fields, default, end - start)
        kind = part.content_type
        if kind.startswith("multipart/"):
            spans = children(data, start, end, boundary, MAX_PARTS - count)
            if spans and depth < MAX_DEPTH:
                inner = "message/rfc822" if kind == "multipart/digest" else "text/plain"
                stack += [(data, None, a, b, inner, depth + 1) for a, b in reversed(spans)]
                continue
            if spans:
                cut.append(f"parts nested deeper than {MAX_DEPTH}")
            part = part._replace(content_type="text/plain")  # no boundary in it: people read it as text
        elif kind in ("message/rfc822", "message/global", "message/news"):
            if depth < MAX_DEPTH:
                if part.encoding in ("base64", "quoted-printable"):
                    data = normalise(transfer_decode(data[start : min(end, start + 2 * MAX_TEXT)], part.encoding))
                    start, end = 0, len(data)
                start = skip_envelope(data, start, end)
                stack.append((data, None, start, end, "text/plain", depth + 1))
                continue
            cut.append(f"messages nested deeper than {MAX_DEPTH}")
        count += 1
        if count > MAX_PARTS:
            cut.append(f"parts after the first {MAX_PARTS}")
            return
        yield part, data, start, end


def describe(fields: list[tuple[str, str]], default: str, size: int) -> tuple[Part, str]:
    """What the Content-* fields of a part say of it, and its boundary."""
    values: dict[str, str] = {}
    for name, value in fields:
        if name[:8] in ("Content-", "content-", "CONTENT-") or name[:8].lower() == "content-":
            values.setdefault(name.lower(), value)
    if not values:
        return Part(default, "", "", "", "", size), ""
    kind, found = parameters(values.get("content-type", default))
    if kind.count("/") != 1:
        kind = kind.split()[0] if kind.split() and kind.split()[0].count("/") == 1 else "text/plain"
    charset = found.get("charset", "")
    if not charset and "charset" in values.get("content-type", ""):
        charset = values["content-type"].partition("charset")[2].lstrip(" =")
    charset = charset.strip("\"' ").split(" ", 1)[0][:60].lower()
    encoding = values.get("content-transfer-encoding", "").partition(";")[0].strip("\"' \t").lower()[:40]
    disposition, filename = "", found.get("name", "")
    if "content-disposition" in values:
        disposition, more = parameters(values["content-disposition"])
        filename = more.get("filename", filename)
    return Part(kind, charset, encoding, disposition[:40], filename[:255], size), found.get("boundary", "")


def children(data: bytes, start: int, end: int, boundary: str, most: int) -> list[tuple[int, int]]:
    """Ranges between the boundary lines of a multipart body; empty when no boundary line is found.

    >>> body = b"pre\\n--b\\nC: 1\\n\\none\\n--b\\n\\ntwo\\n--b--\\nepilogue"
    >>> [body[a:b] for a, b in children(body, 0, len(body), "b", 9)]
    [b'C: 1\\n\\none', b'\\ntwo']
    """
    spans = _between(data, start, end, b"--" + boundary.encode("utf-8", "replace"), most) if boundary else []
    if spans:
        return spans
    # The boundary parameter is missing or wrong: the first line that looks like a boundary is taken for it.
    guess = GUESSED_BOUNDARY.search(data, start, min(end, start + 65536))
    return _between(data, start, end, guess.group(1), most) if guess else []


GUESSED_BOUNDARY = re.compile(rb"^(--[!-~]{3,70})[ \t]*\n(?i:content-[!-9;-~]{1,40}:)", re.MULTILINE)


def _between(data: bytes, start: int, end: int, delimiter: bytes, most: int) -> list[tuple[int, int]]:
    spans: list[tuple[int, int]] = []
    opened = -1
    needle = b"\n" + delimiter
    at = start if data.startswith(delimiter, start, end) else data.find(needle, start, end) + 1
    while at > 0 or (at == start == 0 and data.startswith(delimiter)):
        after = at + len(delimiter)
        line_end = data.find(b"\n", after, end)
        if line_end < 0:
            line_end = end
        rest = data[after : min(line_end, after + 80)].strip(b" \t")
        if rest in (b"", b"--"):
            if opened >= 0:
                spans.append((opened, max(opened, at - 1)))
            opened = min(line_end + 1, end) if not rest else -1
            if rest or len(spans) > most:
                break
        at = data.find(needle, line_end, end) + 1
    if opened >= 0 and len(spans) <= most:
        spans.append((opened, end))
    return spans


def normalise(data: bytes) -> bytes:
    """CRLF and CR line ends made LF."""
    return data.replace(b"\r\n", b"\n").replace(b"\r", b"\n") if b"\r" in data else data


def transfer_decode(octets: bytes, encoding: str) -> bytes:
    """The body of a part without its Content-Transfer-Encoding; an unknown encoding is none."""
    if encoding == "quoted-printable":
        return binascii.a2b_qp(octets)
    if encoding == "base64":
        return base64(octets)
    if encoding in UU_NAMES:
        begin = octets.find(b"begin ")
        return _uu(octets[octets.find(b"\n", begin) + 1 :]) if begin >= 0 else octets
    return octets


def _uu(lines: bytes) -> bytes:
    """Decoded uuencoded lines, up to ``end`` or the first line that cannot be one."""
    out = []
    for line in lines.split(b"\n"):
        if not line or line in (b"end", b"`", b" "):
            break
        count = (line[0] - 32) & 63
        if not 33 <= line[0] <= 96 or count == 0:
            break
        try:
            out.append(binascii.a2b_uu(line))
        except binascii.Error:
            # Old encoders pad the line: as many characters count as its first one says.
            try:
                out.append(binascii.a2b_uu(line[: 1 + (count * 4 + 5) // 3]))
            except binascii.Error:
                break
    return b"".join(out)


def take_uuencoded(text: str) -> tuple[str, list[tuple[str, bytes, int]]]:
    """``text`` without its uuencoded files, and these as (name, content, size in the text)."""
    files: list[tuple[str, bytes, int]] = []
    kept: list[str] = []
    position = 0
    for begin in UU_BEGIN.finditer(text):
        if begin.start() < position or len(files) >= MAX_PARTS:
            continue
        stop = text.find("\nend", begin.end() - 1)
        if stop < 0:
            stop = len(text)
        body = text[begin.end() : stop]
        first = body.partition("\n")[0]
        if not first or not first.isascii() or abs((ord(first[0]) - 32 & 63) * 4 / 3 - len(first) + 1) > 4:
            continue  # prose that happens to start like one
        kept.append(text[position : begin.start()])
        files.append((begin.group(1).strip(), _uu(body.encode("ascii", "replace")), len(body)))
        position = min(stop + 4, len(text))
    kept.append(text[position:])
    return "".join(kept), files
