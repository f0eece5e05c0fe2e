"""Bytes in a charset that the core does not read → text, and the name of a charset → Python's codec.

The charset that a message names may be wrong, unknown, or a codec that is no charset. Bytes that a codec cannot decode
are U+FFFD, and the other text stays. Texts have no lone surrogates.
"""

from __future__ import annotations

import codecs
import functools
import re
from base64 import b64decode
from contextlib import suppress

# By codec the labels of the WHATWG Encoding Standard, other names in mail, and Windows' numbers of charsets, if Python
# lacks the name or takes it for a smaller charset. Only the letters and digits of a name count, without "x" at its
# beginning. A longer name, such as "gb2312_charset", is the longest one with which it begins, except for "unicode".
# All charsets of ISO 2022 are decoded alike, so those of Chinese are read as the one of Korean.
_LABELS = """
utf_8: unicode11utf8 unicode20utf8 65001
utf_16: csunicode iso10646ucs2 ucs2 unicode unicodefeff
utf_16_be: unicodefffe
utf_32: iso10646ucs4 ucs4
utf_7: unicode11utf7 unicode20utf7 csunicode11utf7 65000
iso8859_6: csiso88596e csiso88596i iso88596e iso88596i
iso8859_7: suneugreek
iso8859_8: csiso88598e csiso88598i iso88598e iso88598i logical visual
iso8859_15: csisolatin9
koi8_r: koi koi8 isoir111 20866
koi8_u: koi8ru 21866
mac_roman: csmacintosh mac
mac_latin2: macce
mac_cyrillic: macukrainian
cp874: iso885911 iso8859112001 tis620 222
cp1250: 238
cp1251: 204
cp1252: ansix341968 ascii cp819 csisolatin1 ibm819 iso88591 isoir100 iso885911987 l1 latin1 usascii 0 1
cp1253: 161
cp1254: csisolatin5 iso88599 isoir148 iso885991989 l5 latin5 162
cp1255: 177
cp1256: 178
cp1257: 186
cp1258: 163
gb18030: 1381 1386 chinese csgb2312 csiso58gb231280 gb2312 gbk isoir58 cngb macchinesesimp 134
hz: 52936
big5hkscs: big5 chinesebig5 cnbig5 csbig5 macchinesetrad 136
euc_jp: 33722 cseucpkdfmtjapanese extendedunixcodepackedformatforjapanese 51932
iso2022_jp: iso2022jp1 iso2022jp2 iso2022jp3 iso2022jp2004 iso2022jpext jis jis7 windowsiso2022jp 50220 50221 50222
cp932: 943 942 csshiftjis macjapanese shiftjis shiftjis2004 shiftjisx0213 sjis windows31j 128
cp949: cseuckr csksc56011987 euckr isoir149 korean ksc5601 mackorean 51949 129
johab: 130
iso2022_kr: iso2022cn
"""
MAX_NAME = 60  # characters of a charset's name; the longest that Python knows has 23
_MIN_BEGINNING = 4  # characters of a name with which a longer name begins
_CODE_PAGE = re.compile(r"(?:microsoft|windows|win|ansi|cp|ibm|ms|dos)+([0-9]{3,5})")


# Charsets of 7-bit bytes. Between an escape and the next escape or line end, bytes stand for characters of a larger
# charset, in whose 8-bit form their high bits are set. The byte 0E switches to the last charset that "ESC $ )" named.
_ISO_2022 = re.compile(rb"(\x1b(?:\$?[(-/][0-~]|\$[@-B])|[\x0e\x0f\n])")
_SWITCHES = {
    b"\x1b$@": "euc_jp", b"\x1b$B": "euc_jp", b"\x1b$(@": "euc_jp", b"\x1b$(B": "euc_jp", b"\x1b(I": "cp932",
    b"\x1b$(D": "jisx0212", b"\x1b$(O": "euc_jis_2004", b"\x1b$(Q": "euc_jis_2004", b"\x1b$(C": "cp949",
    b"\x1b$A": "gb18030", b"\x1b$(A": "gb18030", b"\x1b$)A": "gb18030", b"\x1b$)C": "cp949",
}  # fmt: skip
_HIGH = bytes([byte | 0x80 if 0x20 < byte < 0x7F else byte for byte in range(256)])
_HZ = re.compile(rb"~(?:\{((?:(?!~\})[!-~][!-~]|[^!-~\n])*)(?:~\})?|[~\n])")
_UTF_7 = re.compile(rb"\+(?:-|([A-Za-z0-9+/]+)-?)")

# The escapes of families of charsets. Text without the escape of its family is plain ASCII, which the core reads.
_ESCAPES = {
    "utf-7": re.compile(rb"\+(?:-|[A-Za-z0-9+/]{3})"),
    "hz": re.compile(rb"~\{"),
    "iso2022": re.compile(rb"[\x0e\x1b]"),
}
# By codec the codecs in which text without escapes may be. Japanese may be in another charset of Japan than it says;
# euc_jis_2004 is EUC-JP with more characters.
_READINGS = {
    "iso2022_jp": ("utf-8", "euc_jis_2004", "cp932"), "euc_jp": ("euc_jp", "utf-8", "cp932"), "utf-7": ("utf-8",),
    "cp932": ("cp932", "utf-8", "euc_jis_2004"), "iso2022_kr": ("utf-8", "cp949"), "hz": ("utf-8", "gb18030"),
}  # fmt: skip
_MISREAD = re.compile("[\ufffd\uff61-\uff9f]")  # what wrong charsets of Japan make of a text: half-width katakana
_SMALL = re.compile("[\0-\x7f\u3000-\u30ff\uff00-\uff9f]")  # ASCII, kana and punctuation, also of other widths
_WIDE = ("utf-16", "utf-32")
# UTF-16 and UTF-32 have no long run of printable ASCII, and no text in them is UTF-8 without controls.
_PRINTABLE = re.compile(rb"[\t\n\r -~]{32}")
_CONTROL = re.compile(rb"[\0-\x08\x0e-\x1f]")
_PROBE = bytes(range(256))  # a codec that cannot decode these bytes even with "replace", such as idna, is no charset
_BYTE_ORDER_MARKS = (
    (b"\xff\xfe\0\0", "utf-32-le"), (b"\0\0\xfe\xff", "utf-32-be"), (b"\xff\xfe", "utf-16-le"),
    (b"\xfe\xff", "utf-16-be"),
)  # fmt: skip
_UTF_8_MARK = b"\xef\xbb\xbf"


def decode(octets: bytes, charset: str) -> str | None:
    r"""Decode ``octets`` by their byte order mark, else by the charset that the message names; never raise.

    Return None for text that the core reads by itself: windows-1252, UTF-8 also under a wrong name, and plain ASCII.

    >>> decode(b"caf\xe9", "iso-8859-15"), decode("café".encode(), "no-such-charset"), decode(b"hello", "utf-16")
    ('café', None, None)
    """
    if octets.startswith(_UTF_8_MARK):
        return octets[len(_UTF_8_MARK) :].decode("utf-8", "replace")
    codec = find_codec(charset) if charset else "cp1252"
    texts = ((octets[len(mark) :], name) for mark, name in _BYTE_ORDER_MARKS if octets.startswith(mark))
    octets, codec = next(((text, name) for text, name in texts if _may_be(text, name)), (octets, codec))
    if codec.startswith(_WIDE):
        if not _may_be(octets, codec):
            return None
        if codec in _WIDE:  # the zero bytes of ASCII letters show the byte order
            codec += "-be" if octets[::2].count(0) > octets[1::2].count(0) or octets.startswith(b"\0\0") else "-le"
        return octets.decode(codec, "spamnb.pair")
    if b"\x1b$" in octets or (codec.startswith("iso2022") and _may_be(octets, codec)):
        return _decode_iso_2022(octets, codec)
    if codec in _SEVEN_BIT and _may_be(octets, codec):
        shift, decode_shift = _SEVEN_BIT[codec]
        return shift.sub(decode_shift, octets).decode("utf-8", "replace")
    return _decode_8_bit(octets, codec)


def _decode_8_bit(octets: bytes, codec: str) -> str | None:
    """Decode text without escapes. Return None for text that the core reads by itself.

    Text of two-byte characters may be UTF-8 whatever it says. Text of one-byte characters is UTF-8 only if its charset
    lacks some of the bytes, because "ÓŁ" in Polish is also one character of UTF-8.
    """
    if codec == "cp1252" or octets.isascii():
        return None
    first, *others = _READINGS.get(codec, (codec, "utf-8"))
    texts = {first: octets.decode(first, "spamnb.pair")}
    if not _MISREAD.search(texts[first]):
        others = ["utf-8"] if first in _PAIRS else []
    for name in others:
        with suppress(UnicodeDecodeError):
            texts[name] = octets.decode(name)
    best = min(texts, key=lambda name: _information(texts[name])) if len(texts) > 1 else first
    return None if best == "utf-8" else texts[best]


def _information(text: str) -> int:
    """Return the information of a text of Japan in units of 6 bits. A wrong reading has more than the right one.

    A kana or a sign, of any width, has one unit, a frequent kanji two, another character three, and U+FFFD nine.

    >>> [_information(text) for text in ("無料の", "ﾌｵﾎﾎ､ﾎ", "罇")]
    [5, 6, 3]
    """
    n_small, n_frequent = len(_SMALL.findall(text)), len(_frequent_kanji().findall(text))
    return 3 * len(text) - 2 * n_small - n_frequent + 6 * text.count("\ufffd")


@functools.cache
def _frequent_kanji() -> re.Pattern[str]:
    """Return a pattern of the kanji of level 1 of JIS X 0208."""
    rows = (bytes([row, cell]) for row in range(0xB0, 0xD0) for cell in range(0xA1, 0xFF))
    return re.compile("[" + b"".join(rows).decode("euc_jp", "ignore") + "]")


@functools.lru_cache(maxsize=512)
def find_codec(charset: str) -> str:
    """Return Python's codec for a charset's name; cp1252 if no charset has this name.

    >>> [find_codec(name) for name in ("KS_C_5601-1987", "zip", "ISO-2022-JP", "windows-874", "x-ms-cp932")]
    ['cp949', 'cp1252', 'iso2022_jp', 'cp874', 'cp932']
    """
    bare = _bare(charset[:MAX_NAME]).lstrip("x")
    page = _CODE_PAGE.search(bare)
    pages = (page[1], f"cp{page[1]}") if page else ()
    names = [bare, bare.removeprefix("cs"), f"cs{bare}", f"iso{bare}", *pages]
    names += [bare[:size] for size in range(len(bare) - 1, _MIN_BEGINNING - 1, -1) if not bare.startswith("unicode")]
    codec = next((_codecs()[name] for name in names if name in _codecs()), "cp1252")
    try:
        codec = codecs.lookup(codec).name
        codec = _codecs().get(_bare(codec), codec)  # Python's gb2312 is read as gb18030, like the label
        codec = codecs.lookup(codec).name
        is_ascii = _PROBE.decode(codec, "replace")[:128] == _PROBE[:128].decode("ascii")
        is_text = is_ascii or codec.startswith((*_WIDE, *_ESCAPES))
    except (LookupError, UnicodeError):  # mbcs and oem exist on Windows only; zip is no charset
        is_text = False
    return codec if is_text else "cp1252"


def _bare(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())


@functools.cache
def _codecs() -> dict[str, str]:
    """Return the codecs by bare names. Other names must not reach ``codecs.lookup``, which caches them for ever."""
    import encodings
    import encodings.aliases
    import pkgutil

    modules = {module.name: module.name for module in pkgutil.iter_modules(encodings.__path__)}
    names = modules | encodings.aliases.aliases
    labels = (line.split(": ") for line in _LABELS.strip().splitlines())
    return {_bare(name): codec for name, codec in names.items() if "escape" not in name} | {
        label: codec for codec, line in labels for label in line.split()
    }


def _may_be(octets: bytes, codec: str) -> bool:
    """Return whether ``octets`` may be text of this codec, by its escapes."""
    if codec.startswith(_WIDE):
        is_utf_8 = not _CONTROL.search(octets) and "\ufffd" not in octets.decode("utf-8", "replace")
        return not (_PRINTABLE.search(octets) or is_utf_8)
    return any(escape.search(octets) for family, escape in _ESCAPES.items() if codec.startswith(family))


def _decode_iso_2022(octets: bytes, codec: str) -> str:
    r"""Decode a charset of ISO 2022. Each line begins with ASCII.

    >>> _decode_iso_2022(b"\x1b$B-!\x1b(B ok", "iso2022_jp")
    '① ok'
    """
    shown, present, shifted = [], "", "cp949" if codec == "iso2022_kr" else "cp932"
    for number, piece in enumerate(_ISO_2022.split(octets)):
        if number % 2 == 0:
            high = piece.translate(_HIGH)
            if present == "jisx0212":
                high = re.sub(rb"[\xa1-\xfe]{2}", lambda pair: b"\x8f" + pair[0], high)
            charset = "euc_jp" if present == "jisx0212" else present
            other = None if present else _decode_8_bit(piece, codec) or piece.decode("utf-8", "replace")
            shown.append(high.decode(charset, "spamnb.pair") if other is None else other)
        elif piece.startswith(b"\x1b$)"):
            shifted = _SWITCHES.get(piece, shifted)
        else:
            present = shifted if piece == b"\x0e" else _SWITCHES.get(piece, "")
            shown.append("\n" if piece == b"\n" else "")
    return "".join(shown)


def _decode_hz(shift: re.Match[bytes]) -> bytes:
    """Decode what stands between "~{" and "~}", or another sequence of HZ."""
    if shift[1] is None:
        return b"~" if shift[0] == b"~~" else b""
    return shift[1].translate(_HIGH).decode("gb18030", "spamnb.pair").encode()


def _decode_utf_7(shift: re.Match[bytes]) -> bytes:
    """Decode what stands between "+" and "-". A sequence that cannot be UTF-16 is text, such as "1+1" or "C++"."""
    if shift[1] is None:
        return b"+"
    n_units, n_bits = divmod(6 * len(shift[1]), 16)
    octets = b64decode(shift[1] + b"A" * (-len(shift[1]) % 4))
    if n_bits >= 6 or any(octets[2 * n_units :]):
        return shift[0]
    return octets[: 2 * n_units].decode("utf-16-be", "replace").encode()


# By codec the shifts of its text, and the function that decodes a shift.
_SEVEN_BIT = {"hz": (_HZ, _decode_hz), "utf-7": (_UTF_7, _decode_utf_7)}


def _replace_pair(error: UnicodeError) -> tuple[str, int]:
    """Return the text of a sequence that a codec lacks, and where the text goes on after it."""
    if not isinstance(error, UnicodeDecodeError):
        raise error
    pair = error.object[error.start : error.start + 2]
    if error.encoding == "gb18030" and pair[0] == 0x80:  # in Windows' form of GBK
        return "€", error.start + 1
    first = 0xA1 if error.encoding.startswith("euc") else 0x81
    if len(pair) < 2 or not first <= pair[0] < 0xFF or error.encoding not in _PAIRS:
        return "\ufffd", error.end
    if error.encoding == "euc_jp":  # NEC's and IBM's characters, which only Windows' form of Shift JIS has
        text = _shift_jis(*pair).decode("cp932", "replace") if min(pair) > 0xA0 else ""
    else:
        text = pair.decode(_PAIRS[error.encoding], "replace") if pair[1] > 0x3F else ""
    if len(text) == 1 and text != "\ufffd":
        return text, error.start + 2
    return "\ufffd", error.start + (2 if pair[1] > 0x7F else 1)


# Codecs whose characters have two bytes: the next byte is not misread after a pair that the codec lacks. By codec a
# codec with more characters.
_PAIRS = {"euc_jp": "cp932", "big5hkscs": "cp950", "cp932": "cp932", "cp949": "cp949", "gb18030": "gb18030",
          "johab": "johab", "euc_jis_2004": "euc_jp"}  # fmt: skip
codecs.register_error("spamnb.pair", _replace_pair)


def _shift_jis(row: int, cell: int) -> bytes:
    """Return a pair of EUC-JP in Shift JIS, which has two rows of 94 characters for one first byte."""
    lead = (row - 0xA1) // 2 + 0x81
    trail = cell - 0x61 + (cell > 0xDF) if row % 2 else cell - 2
    return bytes([lead if lead < 0xA0 else lead + 0x40, trail])
