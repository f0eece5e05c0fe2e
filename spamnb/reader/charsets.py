"""Bytes in a charset that the core does not read → text, and which charset a name means.

A claim is only a claim: it may be wrong, unknown, or the name of a codec that is no charset at all. What comes out
is always text without lone surrogates.
"""

from __future__ import annotations

import codecs
import functools
import re

# Mail readers take these names for the larger code page that senders really use (WHATWG Encoding Standard).
SUPERSETS = {
    "ascii": "cp1252", "iso8859-1": "cp1252", "iso8859-9": "cp1254", "tis-620": "cp874", "iso8859-11": "cp874",
    "gb2312": "gb18030", "gbk": "gb18030", "shift_jis": "cp932", "euc_kr": "cp949", "big5": "cp950",
}  # fmt: skip

# Names that mail uses and Python lacks, with "_" for their punctuation. Numbers of code pages: CODE_PAGE.
OTHER_NAMES = {
    "iso_8859_8_i": "iso8859_8", "iso_8859_8_e": "iso8859_8", "logical": "iso8859_8", "visual": "iso8859_8",
    "koi8_ru": "koi8_u", "koi8": "koi8_r", "koi": "koi8_r", "windows_31j": "cp932", "cn_big5": "big5",
    "cn_gb": "gb2312", "ks_c_5601_1989": "cp949", "mac_ce": "mac_latin2", "mac_ukrainian": "mac_cyrillic",
    "ucs_2": "utf_16", "iso_10646_ucs_2": "utf_16", "unicode": "utf_16", "unicodefeff": "utf_16",
    "ucs_4": "utf_32", "iso_10646_ucs_4": "utf_32", "unicode_1_1_utf_8": "utf_8",
}  # fmt: skip
CODE_PAGE = re.compile(r"(?:windows|win|cp|ibm|ms|dos)_?([0-9]{3,5})\Z")

# Text codecs of Python that are no charsets of text.
NO_CHARSETS = frozenset(["idna", "punycode", "unicode-escape", "raw-unicode-escape", "undefined", "mbcs", "oem"])
# What is written without the escapes that these need.
EIGHT_BIT = {"iso2022_jp": "euc_jp", "iso2022_kr": "euc_kr", "hz": "gb2312"}
EBCDIC = frozenset(["cp037", "cp273", "cp424", "cp500", "cp875", "cp1026", "cp1140"])

# All of ASCII, and the escapes by which UTF-7, HZ and ISO 2022 spell other characters in it.
PROBE = bytes(range(128)) + b"+AOk- ~{VPND~} \x1b$B0!\x1b(B"
ASCII = bytes(range(128))
UTF7_ESCAPE = re.compile(rb"\+[A-Za-z0-9+/]{3}")
ASCII_TEXT = re.compile(rb"[\t\n\r -~]{32}")
CONTROL = re.compile(rb"[\x00-\x08\x0b\x0e-\x1f]")  # in UTF-16 every other byte of Latin or Cyrillic letters is one
MARKS = (
    (b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe\0\0", "utf-32-le"), (b"\0\0\xfe\xff", "utf-32-be"),
    (b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be"),
)  # fmt: skip


def decode(octets: bytes, charset: str) -> str | None:
    """Text of ``octets`` as a byte order mark says, else the claimed charset; never raises.

    What is plainly ASCII stays it, whatever the claim. None where it is UTF-8 or windows-1252, which the core reads.

    >>> decode(b"caf\\xe9", "iso-8859-15"), decode("café".encode(), "no-such-charset"), decode(b"hello", "cp037")
    ('café', None, 'hello')
    """
    codec, transparent = resolve(charset) if charset else ("cp1252", True)
    is_plausible = transparent or _fits(octets, codec)
    if octets.isascii() and (transparent or not is_plausible):
        return octets.decode("ascii")
    for mark, marked in MARKS:
        if octets.startswith(mark) and _fits(octets[len(mark) :], marked):
            octets, codec = octets[len(mark) :], marked
            break
    else:
        if not is_plausible:
            other = EIGHT_BIT.get(codec[:10], "cp1252")
            codec = other if _is(octets, other) and not _is(octets, "utf-8") else "cp1252"
    if codec == "cp1252":
        return None
    if codec == "utf-16":  # in the order in which the bytes make sense
        codec = "utf-16-be" if octets[::2].count(0) > octets[1::2].count(0) else "utf-16-le"
    elif codec == "utf-32":
        codec = "utf-32-be" if octets.startswith(b"\0") else "utf-32-le"
    if not codec.startswith("utf-16") and not _is(octets, codec) and _is(octets, "utf-8"):
        codec = "utf-8"
    return _decoded(octets, codec)


@functools.lru_cache(maxsize=512)
def resolve(charset: str) -> tuple[str, bool]:
    """Python's codec for a claimed charset (cp1252 when there is none), and whether it leaves ASCII as it is.

    >>> resolve("KS_C_5601-1987"), resolve("zip"), resolve("ISO-2022-JP"), resolve("windows-874")
    (('cp949', True), ('cp1252', True), ('iso2022_jp', False), ('cp874', True))
    """
    claimed = re.sub(r"[-.: ]", "_", charset[:60].strip().strip("\"'").lower())
    bare = re.sub(r"\A(x_)+", "", claimed)
    for name in (claimed, bare, bare.removeprefix("cs")):
        if page := CODE_PAGE.match(name):
            name = "cp" + page.group(1)
        name = OTHER_NAMES.get(name, name)
        if name in _codec_names():
            break
    else:
        return "cp1252", True
    codec = name
    try:
        codec = codecs.lookup(name).name
        if codec in NO_CHARSETS:
            return "cp1252", True
        codec = SUPERSETS.get(codec, codec)
        return codec, PROBE.decode(codec) == PROBE.decode("ascii")
    except LookupError:  # mbcs and oem exist on Windows only, and zip is no charset
        return "cp1252", True
    except UnicodeError:
        return codec, False


@functools.cache
def _codec_names() -> frozenset[str]:
    """Names under which Python knows codecs; ``codecs.lookup`` would remember every other name for ever."""
    import encodings
    import encodings.aliases
    import pkgutil

    modules = {module.name for module in pkgutil.iter_modules(encodings.__path__)}
    return frozenset(modules | set(encodings.aliases.aliases))


def _fits(octets: bytes, codec: str) -> bool:
    """Whether ``octets`` can be what a codec makes that writes ASCII otherwise or mixes it with escapes."""
    if codec.startswith("iso2022"):
        return b"\x1b" in octets or b"\x0e" in octets
    if codec == "hz":
        return b"~{" in octets
    if codec == "utf-7":
        return UTF7_ESCAPE.search(octets) is not None
    if codec.startswith(("utf-16", "utf-32")):
        return bool(CONTROL.search(octets)) if octets.isascii() else not ASCII_TEXT.search(octets)
    if codec in EBCDIC:  # its letters and digits are bytes above 0x80
        return 2 * len(octets.translate(None, ASCII)) > len(octets)
    return codec == "utf-8" or not octets.isascii()


def _is(octets: bytes, codec: str) -> bool:
    try:
        octets.decode(codec)
    except UnicodeError:
        return False
    return True


def _decoded(octets: bytes, codec: str) -> str:
    """``octets`` by a codec; what it cannot decode, and lone surrogates, which UTF-7 can spell, are replaced."""
    text = octets.decode(codec, "replace")
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
