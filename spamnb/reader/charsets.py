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

# Charsets that write ASCII otherwise, or mix it with escapes. All others that are read leave it as it is.
MIXED = ("utf-7", "utf-16", "utf-32", "hz", "iso2022")
PROBE = bytes(range(128))
# What is written without the escapes that these need.
EIGHT_BIT = {"iso2022_jp": "euc_jp", "iso2022_kr": "euc_kr", "hz": "gb2312"}
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

    >>> decode(b"caf\\xe9", "iso-8859-15"), decode("café".encode(), "no-such-charset"), decode(b"hello", "utf-16")
    ('café', None, 'hello')
    """
    codec = resolve(charset) if charset else "cp1252"
    is_plausible = not codec.startswith(MIXED) or _fits(octets, codec)
    if octets.isascii() and not (codec.startswith(MIXED) and is_plausible):
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
def resolve(charset: str) -> str:
    """Python's codec for a claimed charset; cp1252 where none of text is meant.

    >>> resolve("KS_C_5601-1987"), resolve("zip"), resolve("ISO-2022-JP"), resolve("windows-874")
    ('cp949', 'cp1252', 'iso2022_jp', 'cp874')
    """
    claimed = re.sub(r"[-.: ]", "_", charset[:60].strip().strip("\"'").lower())
    bare = re.sub(r"\A(x_)+", "", claimed)
    names = (CODE_PAGE.sub(r"cp\1", name) for name in (claimed, bare, bare.removeprefix("cs")))
    name = next((name for name in [OTHER_NAMES.get(name, name) for name in names] if name in _codec_names()), "cp1252")
    try:
        codec = codecs.lookup(name).name
        codec = SUPERSETS.get(codec, codec)
        is_text = codec.startswith(MIXED) or PROBE.decode(codec) == PROBE.decode("ascii")
    except (LookupError, UnicodeError):  # mbcs and oem exist on Windows only, and zip is no charset
        is_text = False
    return codec if is_text else "cp1252"


@functools.cache
def _codec_names() -> frozenset[str]:
    """Names under which Python knows codecs; ``codecs.lookup`` would remember every other name for ever."""
    import encodings
    import encodings.aliases
    import pkgutil

    modules = {module.name for module in pkgutil.iter_modules(encodings.__path__)}
    return frozenset(name for name in modules | set(encodings.aliases.aliases) if "escape" not in name)


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
    return True


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
