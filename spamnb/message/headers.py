"""The header section: fields, encoded words (RFC 2047) and parameters (RFC 2045, RFC 2231), as tolerant as mail needs."""

from __future__ import annotations

import binascii
import functools
import re
from urllib.parse import unquote_to_bytes

from .charsets import decode

MAX_HEADER_BYTES = 1 << 18  # the longest header section of the SpamAssassin corpus has 11 kB
MAX_FIELDS = 1000
MAX_STRAY_LINES = 20

# Possessive quantifiers (++, *+) keep every pattern linear on hostile input.
SECTION = re.compile(rb"(?:[!-9;-~]++:[^\n]*+(?:\n[ \t][^\n]*+)*+(?:\n|\Z))*+")
FIELD = re.compile(r"([!-9;-~]++)[ \t]*+:[ \t]*+([^\n]*+(?:\n[ \t][^\n]*+)*+)")
LOOSE_FIELD = re.compile(rb"[!-9;-~]++[ \t]++:")
KNOWN_NAMES = (
    "subject from to cc bcc date sender reply-to received return-path message-id in-reply-to references"
    " mime-version content-type content-transfer-encoding content-disposition content-id content-length lines"
    " organization newsgroups path xref delivered-to errors-to precedence importance priority status user-agent"
    " list-id list-unsubscribe list-post dkim-signature authentication-results envelope-to keywords approved"
).split()
KNOWN_FIELD = re.compile(b"(?i:%b|x-[!-9;-~]{1,60})[ \t]{0,9}:" % "|".join(KNOWN_NAMES).encode())
ENVELOPE = re.compile(rb">?From [^\n]{0,500}[0-9]:[0-9][0-9]")
ENCODED_WORD = re.compile(r"=\?([^?\s]{1,75})\?([BbQq])\?([^?]*+)\?=([ \t\n]*+(?==\?))?")
PARAMETER = re.compile(r';\s*+([^\s=;"]++)\s*+=\s*+(?:"((?:[^"\\]++|\\.)*+)"?|([^;]*+))', re.DOTALL)
CONTINUED = re.compile(r"([^*]+)(?:\*(\d{1,3}))?(\*)?\Z")


def skip_envelope(data: bytes, start: int, end: int) -> int:
    """Where the header section starts: behind a byte order mark and the ``From `` line that mboxes put before it."""
    if data.startswith(b"\xef\xbb\xbf", start):
        start += 3
    if data.startswith((b"From ", b">From "), start):
        line_end = data.find(b"\n", start, end)
        if line_end >= 0 and (ENVELOPE.match(data, start, line_end) or KNOWN_FIELD.match(data, line_end + 1, end)):
            return line_end + 1
    return start


def split(data: bytes, start: int, end: int, cut: list[str]) -> tuple[list[tuple[str, str]], int, int]:
    """Raw fields (name, unfolded value) of the section at ``start``, where the section ends and where the body starts.

    A line that is no field ends the section, as in the standard library, unless a well-known field follows it.

    >>> split(b"Subject: a\\n b\\nTo: c\\n\\nbody", 0, 25, [])
    ([('Subject', 'a b'), ('To', 'c')], 20, 21)
    """
    limit = min(end, start + MAX_HEADER_BYTES)
    stop = SECTION.match(data, start, limit).end()  # type: ignore[union-attr]  # the pattern matches nothing too
    if stop < limit and data[stop] != 10:
        section, stop = _irregular(data, start, stop, limit)
    else:
        section = data[start:stop]
    if stop == limit < end:
        cut.append(f"headers after {MAX_HEADER_BYTES} bytes")
        body = data.find(b"\n\n", limit, end)
        stop, body = (body, body + 2) if body >= 0 else (end, end)
    elif stop < end and data[stop] == 10:
        body = stop + 1
    else:
        body = stop
        # Plain text handed over as if it were a message: "URGENT: call now" has no header.
        if section and not any(KNOWN_FIELD.match(line) for line in section.split(b"\n", MAX_FIELDS)):
            return [], start, start
    fields = FIELD.findall(section.decode("latin-1"))
    if len(fields) > MAX_FIELDS:
        cut.append(f"{len(fields) - MAX_FIELDS} header fields")
        del fields[MAX_FIELDS:]
    if b"\n " in section or b"\n\t" in section:
        fields = [(name, value.replace("\n", "") if "\n" in value else value) for name, value in fields]
    if not section.isascii():
        fields = [(name, value if value.isascii() else decode(value.encode("latin-1"))) for name, value in fields]
    return fields, stop, body


def _irregular(data: bytes, start: int, stop: int, limit: int) -> tuple[bytes, int]:
    """Header section and its end where a line at ``stop`` is no field: stray lines amid fields are left out."""
    kept = [data[start:stop]]
    for _ in range(MAX_STRAY_LINES):
        line_end = data.find(b"\n", stop, limit)
        if line_end < 0 or not (data[stop] == 58 or KNOWN_FIELD.match(data, line_end + 1, limit)):
            break
        if LOOSE_FIELD.match(data, stop, line_end):
            kept.append(data[stop : line_end + 1])
        following = SECTION.match(data, line_end + 1, limit).end()  # type: ignore[union-attr]
        kept.append(data[line_end + 1 : following])
        stop = following
        if stop >= limit or data[stop] == 10:
            break
    return b"".join(kept), stop


def decode_words(value: str) -> str:
    """A header value with its encoded words decoded; neighbours of one charset are joined before decoding.

    >>> decode_words("=?utf-8?q?caf=C3?= =?utf-8?q?=A9_au?= lait =?iso-8859-1?b?6Q?=")
    'café au lait é'
    """
    out: list[str] = []
    pending, pending_charset, position = b"", "", 0
    for word in ENCODED_WORD.finditer(value):
        charset, encoding, body, joined = word.groups()
        octets = base64(body.encode("latin-1", "replace")) if encoding in "Bb" else _q(body)
        charset = charset.partition("*")[0].lower()  # RFC 2231 lets a language follow
        if word.start() != position or charset != pending_charset:
            out.append(decode(pending, pending_charset))
            pending = b""
            out.append(value[position : word.start()])
        pending, pending_charset = pending + octets, charset
        position = word.end()
        if joined is None:
            out.append(decode(pending, pending_charset))
            pending, pending_charset = b"", ""
    out.append(decode(pending, pending_charset))
    out.append(value[position:])
    return "".join(out)


def _q(body: str) -> bytes:
    octets = body.encode("utf-8")  # raw text beyond ASCII has no place here, but comes
    return binascii.a2b_qp(octets, header=True)


def base64(octets: bytes) -> bytes:
    """Decoded base64; characters outside its alphabet are skipped, missing or early padding is no error.

    >>> base64(b"aGVs bG8"), base64(b"aGVsbG8=d29ybGQ="), base64(b"a")
    (b'hello', b'helloworld', b'')
    """
    padding = octets.find(b"=")
    if padding >= 0 and octets[padding:].strip(b"=\n\t "):  # more follows: chunks were encoded one by one
        chunks = [chunk for chunk in octets.split(b"=") if chunk.strip()]
        if len(chunks) <= 10_000 and all(BASE64_ONLY.match(chunk) for chunk in chunks):
            return b"".join(map(base64, chunks))
        octets = octets[:padding]
    try:
        return binascii.a2b_base64(octets)
    except binascii.Error:
        letters = octets.translate(None, NOT_BASE64)
        return binascii.a2b_base64(letters[: len(letters) - (len(letters) % 4 == 1)] + b"==")


BASE64_ONLY = re.compile(rb"[A-Za-z0-9+/\s]*+\Z")
NOT_BASE64 = bytes(set(range(256)) - set(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"))


@functools.lru_cache(maxsize=1024)
def parameters(value: str) -> tuple[str, dict[str, str]]:
    """The value before the first semicolon in lower case, and the parameters, RFC 2231 pieces put together.

    >>> parameters('Attachment; filename*0*=iso-8859-1\\'\\'caf%E9; filename*1=".txt"')
    ('attachment', {'filename': 'café.txt'})
    """
    main = value.partition(";")[0].strip().lower()
    found: dict[str, str] = {}
    pieces: dict[str, list[tuple[int, bool, str]]] = {}
    for name, quoted, bare in PARAMETER.findall(value[:8192]):
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
    charset, octets = "", b""
    for number, (_, extended, text) in enumerate(pieces):
        if extended and number == 0 and text.count("'") >= 2:
            charset, _, text = text.split("'", 2)
        octets += unquote_to_bytes(text) if extended else text.encode("utf-8", "replace")
    return decode(octets, charset or None)
