"""Bytes written as letters, decoded: encoded words of headers (RFC 2047), base64, quoted-printable, uuencode."""

from __future__ import annotations

import binascii
import re

from .charsets import decode

MAX_FILES = 250  # uuencoded ones in one text

ENCODED_WORD = re.compile(r"=\?([^?\s]{1,75})\?([BbQq])\?([^?]*+)\?=([ \t\n]*+(?==\?))?")
BASE64_ONLY = re.compile(rb"[A-Za-z0-9+/\s]*+\Z")
BASE64_LETTERS = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=\n"
NOT_BASE64 = bytes(set(range(256)) - set(BASE64_LETTERS[:64]))
UU_BEGIN = re.compile(r"^begin [0-7]{3,4} ([^\n]{1,200})\n", re.MULTILINE)
UU_NAMES = frozenset(["uuencode", "x-uuencode", "uue", "x-uue"])


def decode_words(value: str) -> str:
    """A header value with its encoded words decoded; neighbours of one charset are joined before decoding.

    >>> decode_words("=?utf-8?q?caf=C3?= =?utf-8?q?=A9_au?= lait =?iso-8859-1?b?6Q?=")
    'café au lait é'
    """
    out: list[str] = []
    run: list[bytes] = []
    run_charset, position = "", 0
    for word in ENCODED_WORD.finditer(value):
        charset, encoding, body, joined = word.groups()
        charset = charset.partition("*")[0].lower()  # RFC 2231 lets a language follow
        if run and charset != run_charset:
            out.append(decode(b"".join(run), run_charset))
            run = []
        out.append(value[position : word.start()])
        if encoding in "Bb":
            run.append(base64(body.encode("latin-1", "replace")))
        else:
            run.append(binascii.a2b_qp(body.encode("utf-8"), header=True))
        run_charset, position = charset, word.end()
        if joined is None:
            out.append(decode(b"".join(run), run_charset))
            run = []
    out.append(value[position:])
    text = "".join(out)
    return text.replace("\r", " ").replace("\n", " ") if "\n" in text or "\r" in text else text


def base64(octets: bytes) -> bytes:
    """Decoded base64; characters outside its alphabet are skipped, missing or early padding is no error.

    What is plain text in spite of its header (more than a twelfth of it is foreign to the alphabet) stays as it is.

    >>> base64(b"aGVsbG8gYWdh aW4"), base64(b"aGVsbG8=d29ybGQ="), base64(b"a"), base64(b"so I say: no!")
    (b'hello again', b'helloworld', b'', b'so I say: no!')
    """
    padding = octets.find(b"=")
    head = octets[: min(1024, padding)] if padding >= 0 else octets[:1024]
    if 12 * len(head.translate(None, BASE64_LETTERS)) > len(head):
        return octets
    if padding >= 0 and octets[padding : padding + 80].strip(b"=\n\t "):
        # More follows the padding. Chunks that were encoded one by one are decoded one by one; other text, such as
        # what mailing lists append, is no part of the data.
        chunks = octets.split(b"=", 10_000)
        if all(BASE64_ONLY.match(chunk) for chunk in chunks[:10_000]):
            return b"".join([base64(chunk) for chunk in chunks[:10_000] if chunk])
        octets = octets[:padding]
    try:
        return binascii.a2b_base64(octets)
    except binascii.Error:
        letters = octets.translate(None, NOT_BASE64)
        return binascii.a2b_base64(letters[: len(letters) - (len(letters) % 4 == 1)] + b"==")


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
        if not line or not 33 <= line[0] <= 95:  # a space or a grave accent says: no more bytes
            break
        try:
            out.append(binascii.a2b_uu(line))
        except binascii.Error:
            # Some encoders pad the line; its first character says how many of the others count.
            try:
                out.append(binascii.a2b_uu(line[: 1 + ((line[0] - 32) * 4 + 2) // 3]))
            except binascii.Error:
                break
    return b"".join(out)


def take_uuencoded(text: str) -> tuple[str, list[tuple[str, bytes, int]]]:
    """``text`` without its uuencoded files, and these as (name, content, size in the text).

    >>> take_uuencoded("see:\\nbegin 644 a.txt\\n#86)C\\n`\\nend\\nbye")
    ('see:\\n\\nbye', [('a.txt', b'abc', 7)])
    """
    files: list[tuple[str, bytes, int]] = []
    kept: list[str] = []
    position, stop = 0, -1
    for begin in UU_BEGIN.finditer(text):
        first = begin.end()
        if begin.start() < position or len(files) >= MAX_FILES:
            continue
        if not _uu(text[first : text.find("\n", first) + 1].encode("ascii", "replace")):
            continue  # prose that happens to start like one
        if stop < first:
            stop = text.find("\nend", first)
            stop = len(text) if stop < 0 else stop
        lines = text[first:stop].encode("ascii", "replace")
        content = _uu(lines)
        kept.append(text[position : begin.start()])
        files.append((begin.group(1).strip(), content, len(lines)))
        position = min(stop + 4, len(text))
    kept.append(text[position:])
    return "".join(kept), files
