"""Bytes written as letters, decoded: encoded words of headers (RFC 2047), base64, quoted-printable, uuencode."""

from __future__ import annotations

import binascii
import re

from .charsets import decode

MAX_CHUNKS = 1000  # pieces of base64 that were padded one by one
MAX_CONTROLS = 50  # a text has less than one control character in so many bytes; random bytes have one in nine

# A question mark that some programs leave as it is ends no word. One behind "=" does: it may begin the next word, and
# without that a thousand words that never end would each be searched to the end of the field. Words of base64 that
# follow each other are one match: long fields have hundreds, and one by one they take twice as long.
_BASE64_BODY = r"[A-Za-z0-9+/]*+={0,2}\?="
ENCODED_WORD = re.compile(
    rf"=\?([^?\s]{{1,75}})\?(?:[Bb]\?({_BASE64_BODY}(?:[ \t\n]*+=\?\1\?[Bb]\?{_BASE64_BODY})*+)"
    r"|([BbQq])\?([^?]*+(?:(?<!=)\?(?!=)[^?]*+)*+)\?=)([ \t\n]*+(?==\?))?"
)
BASE64_LETTERS = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
BLANKS = b" \t\r\n"
NOT_BASE64 = bytes(set(range(256)) - set(BASE64_LETTERS))
PLAIN_BASE64 = re.compile(rb"(?:[A-Za-z0-9+/]++\n?+)*+={0,2}\n*+\Z")
BASE64_LINE = re.compile(rb"^[ \t]*+[A-Za-z0-9+/]{20,}+={0,2}[ \t]*+$", re.MULTILINE)
BASE64_LINES = re.compile(rb"(?:[ \t]*+[A-Za-z0-9+/]++={0,2}[ \t]*+(?:\n|\Z))++")
CONTROLS = bytes({*range(0x20)} - {*b"\t\n\v\f\r\x1b"}) + b"\x7f"  # ESC: ISO-2022-JP is full of it
SOFT_BREAK = re.compile(rb"=[ \t]{1,80}(?=\n)")
UU_NAMES = frozenset(["uuencode", "x-uuencode", "uue", "x-uue"])
UU_BEGIN = re.compile(r"^begin [0-7]{3,4} ([^\n]{1,200})\n", re.MULTILINE)
UU_LINES = re.compile(r"(?:[ -`]{0,200}+\n)*+")
UU_END = re.compile(r"end[ \t]{0,9}(?=\n|\Z)")
MIN_UU_LINES = 5  # of a file without end: the first post of several that share a file


def decode_words(value: str) -> str:
    """A header value with its encoded words decoded; neighbours of one charset are joined before decoding.

    >>> decode_words("=?utf-8?q?caf=C3?= =?utf-8?q?=A9_au?= lait =?iso-8859-1?b?6Q?=")
    'café au lait é'
    >>> decode_words("=?utf-8?Q?Are_you_ready??=")
    'Are you ready?'
    """
    out: list[str] = []
    run: list[bytes] = []
    run_charset, position = "", 0
    for word in ENCODED_WORD.finditer(value):
        charset, words, encoding, body, joined = word.groups()
        charset = charset.partition("*")[0].lower()  # RFC 2231 lets a language follow
        if run and charset != run_charset:
            out.append(decode(b"".join(run), run_charset))
            run = []
        out.append(value[position : word.start()])
        if words is not None:
            bodies = words.split("?")[::4]
            try:
                run += [binascii.a2b_base64(body) for body in bodies]
            except binascii.Error:
                run += [base64(body.encode()) for body in bodies]
        elif encoding in "Bb":
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

    Lines that are no base64 are left out beside those that are: no reader shows them. What is plain text in spite of
    its header stays as it is: more than a twelfth of it is foreign to the alphabet, or it holds words between blanks.

    >>> base64(b"aGVsbG8gYWdhaW4"), base64(b"aGVsbG8=d29ybGQ="), base64(b"a"), base64(b"so I say: no!")
    (b'hello again', b'helloworld', b'', b'so I say: no!')
    >>> base64(b"  aGVs bG8g\\n  YWdh aW4="), base64(b"See below.\\naGVsbG8gYWdhaW4gYW5kIGFnYWlu\\n")
    (b'hello again', b'hello again and again')
    """
    try:  # nearly all
        return binascii.a2b_base64(octets.replace(b"\n", b""), strict_mode=True)
    except binascii.Error:
        pass
    if PLAIN_BASE64.match(octets):
        return _letters(octets)
    padding = octets.find(b"=")
    first, rest = (octets, b"") if padding < 0 else (octets[:padding], octets[padding:].lstrip(b"="))
    letters = first[:1024].translate(None, BLANKS)
    if 12 * len(letters.translate(None, BASE64_LETTERS)) > len(letters):
        return _runs(octets) or octets
    if first.find(b" ") >= 0 or first.find(b"\t") >= 0:
        clean = first.translate(None, BLANKS)
        found = b"" if _is_prose(first) or clean.translate(None, BASE64_LETTERS) else _letters(clean)
        if not _is_text(found):
            return _runs(octets) or octets
    else:
        found = _letters(first)
    if not rest.strip(BLANKS):
        return found
    # More follows the padding: chunks that were encoded one by one, or what mailing lists append.
    if rest.translate(None, BASE64_LETTERS + b"=" + BLANKS) or _is_prose(rest):
        return found + _runs(rest)
    return found + b"".join(map(_letters, rest.translate(None, BLANKS).split(b"=", MAX_CHUNKS)))


def _letters(octets: bytes) -> bytes:
    """What the letters of base64 among ``octets`` stand for, up to the padding."""
    try:
        return binascii.a2b_base64(octets)
    except binascii.Error:
        letters = octets.partition(b"=")[0].translate(None, NOT_BASE64)
        return binascii.a2b_base64(letters[: len(letters) - (len(letters) % 4 == 1)] + b"==")


def _runs(octets: bytes) -> bytes:
    """Runs of lines of base64 decoded, each piece that was padded by itself; without other lines."""
    out: list[bytes] = []
    left = MAX_CHUNKS
    first = BASE64_LINE.search(octets)
    while first and left:
        run = BASE64_LINES.match(octets, first.start())
        if run is None:  # padding within the line
            break
        chunks = [chunk for chunk in run.group().translate(None, BLANKS).split(b"=", left) if chunk]
        left = max(left - len(chunks), 0)
        out.extend(map(_letters, chunks))
        first = BASE64_LINE.search(octets, run.end())
    return b"".join(out)


def _is_prose(octets: bytes) -> bool:
    """Whether most of what stands between blanks are words: one piece of base64 in forty is, of four letters."""
    pieces = octets[:1024].split()
    words = sum(piece.isalpha() and (piece[1:].islower() or piece.isupper()) for piece in pieces)
    return 2 * words > len(pieces)


def _is_text(octets: bytes) -> bool:
    """Whether ``octets`` may be text in some charset."""
    head = octets[:1024]
    return bool(head) and MAX_CONTROLS * (len(head) - len(head.translate(None, CONTROLS))) <= len(head)


def quoted_printable(octets: bytes) -> bytes:
    """Decoded quoted-printable; blanks between a soft line break and the line's end are no error.

    >>> quoted_printable(b"caf=C3=A9 in= \\nside")
    b'caf\\xc3\\xa9 inside'
    """
    return binascii.a2b_qp(SOFT_BREAK.sub(b"=", octets))  # which takes half the time that looking for "= " does


def transfer_decode(octets: bytes, encoding: str) -> bytes:
    """The body of a part without its Content-Transfer-Encoding; an unknown encoding is none."""
    if encoding == "quoted-printable":
        return quoted_printable(octets)
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
                out.append(binascii.a2b_uu(line[: 1 + _uu_length(line[0])]))
            except binascii.Error:
                break
    return b"".join(out)


def _uu_length(first: int) -> int:
    """How many characters follow the first one of a uuencoded line."""
    return ((first - 32 & 63) * 4 + 2) // 3


def _uu_lines(text: str, start: int) -> tuple[int, int]:
    """Where the lines of a file at ``start`` end, and where text goes on; twice ``start`` where there is no file.

    Of a file that ends with ``end`` nine lines of ten are as long as their first character says: capitals alone make no
    file. Of one without it those lines are taken that are, and no others.
    """
    found = UU_LINES.match(text, start)
    stop = found.end() if found else start
    lines = text[start:stop].split("\n")
    exact = [bool(line) and 0 <= len(line) - 1 - _uu_length(ord(line[0])) <= 3 for line in lines]
    end = UU_END.match(text, stop)
    if end and 0 < 10 * sum(map(bool, lines)) <= 11 * sum(exact):
        return stop, end.end()
    whole = [*exact, False].index(False)
    if whole < MIN_UU_LINES:
        return start, start
    stop = start + sum(len(line) + 1 for line in lines[:whole])
    return stop, stop


def take_uuencoded(text: str, max_files: int) -> tuple[str, list[tuple[str, bytes, int]]]:
    """``text`` without the first ``max_files`` uuencoded files in it, and these as (name, content, size in the text).

    Only lines that belong to a file are taken: what else stands there is text that a person reads.

    >>> take_uuencoded("see:\\nbegin 644 a.txt\\n#86)C\\n`\\nend\\nbye", 9)
    ('see:\\n\\nbye', [('a.txt', b'abc', 7)])
    >>> take_uuencoded("see:\\nbegin 644 a.txt\\n#86)C\\nBuy now\\nend\\n", 9)[1]
    []
    """
    files: list[tuple[str, bytes, int]] = []
    kept: list[str] = []
    position = 0
    begin = UU_BEGIN.search(text)
    while begin and len(files) < max_files:
        first = begin.end()
        stop, after = _uu_lines(text, first)
        if after > first:
            lines = text[first : stop - 1]
            kept.append(text[position : begin.start()])
            files.append((begin.group(1).strip(), _uu(lines.encode("ascii", "replace")), len(lines)))
            position = after
        begin = UU_BEGIN.search(text, after)
    kept.append(text[position:])
    return "".join(kept), files
