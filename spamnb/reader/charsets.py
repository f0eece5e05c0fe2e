"""Bytes in a charset that the core does not read → text, and the name of a charset → Python's codec.

The charset that a message names may be wrong, unknown, or a codec that is no charset. Texts have no lone surrogates.
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

# Names of charsets in mail that Python does not have, with "_" for punctuation. CODE_PAGE matches numbered code pages.
OTHER_NAMES = {
    "iso_8859_8_i": "iso8859_8", "iso_8859_8_e": "iso8859_8", "logical": "iso8859_8", "visual": "iso8859_8",
    "koi8_ru": "koi8_u", "koi8": "koi8_r", "koi": "koi8_r", "windows_31j": "cp932", "cn_big5": "big5",
    "cn_gb": "gb2312", "ks_c_5601_1989": "cp949", "mac_ce": "mac_latin2", "mac_ukrainian": "mac_cyrillic",
    "ucs_2": "utf_16", "iso_10646_ucs_2": "utf_16", "unicode": "utf_16", "unicodefeff": "utf_16",
    "ucs_4": "utf_32", "iso_10646_ucs_4": "utf_32", "unicode_1_1_utf_8": "utf_8",
}  # fmt: skip
MAX_NAME = 60  # characters of a charset's name; Python's longest has 21
CODE_PAGE = re.compile(r"(?:windows|win|cp|ibm|ms|dos)_?([0-9]{3,5})\Z")

# The escapes of families of charsets. Text without the escape of its family is plain ASCII, which the core reads. UTF-8
# is always decoded here, because a byte order mark may precede plain ASCII.
ESCAPES = {
    "utf-7": re.compile(rb"\+[A-Za-z0-9+/]{3}"), "utf-8": re.compile(rb""), "hz": re.compile(rb"~\{"),
    "iso2022": re.compile(rb"[\x0e\x1b]"),
}  # fmt: skip
NOT_ASCII = re.compile(rb"[^\x00-\x7f]")  # the escape of all other families
# UTF-16 and UTF-32 have no long run of printable ASCII, and no text in them is printable ASCII as a whole.
PRINTABLE = re.compile(rb"[\t\n\r -~]{32}|\A[\t\n\r -~]*\Z")
PROBE = bytes(range(256))  # a codec that cannot decode these bytes even with "replace", such as idna, is no charset
BYTE_ORDER_MARKS = (
    (b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe\0\0", "utf-32-le"), (b"\0\0\xfe\xff", "utf-32-be"),
    (b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be"),
)  # fmt: skip


def decode(octets: bytes, charset: str) -> str | None:
    r"""Decode ``octets`` by their byte order mark, else by the charset that the message names; never raise.

    Return None for text that the core reads by itself: windows-1252, UTF-8 under a wrong name, and plain ASCII.

    >>> decode(b"caf\xe9", "iso-8859-15"), decode("café".encode(), "no-such-charset"), decode(b"hello", "utf-16")
    ('café', None, None)
    """
    codec = find_codec(charset) if charset else "cp1252"
    texts = ((octets[len(mark) :], name) for mark, name in BYTE_ORDER_MARKS if octets.startswith(mark))
    octets, codec = next(((text, name) for text, name in texts if _may_be(text, name)), (octets, codec))
    if codec == "cp1252" or not _may_be(octets, codec):
        return None
    if codec in ("utf-16", "utf-32"):  # the zero bytes of ASCII letters show the byte order
        codec += "-be" if octets[::2].count(0) > octets[1::2].count(0) or octets.startswith(b"\0\0") else "-le"
    if not codec.startswith("utf-16") and not _is_valid(octets, codec) and _is_valid(octets, "utf-8"):
        return None
    text = octets.decode(codec, "replace")
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")  # UTF-7 can encode lone surrogates


@functools.lru_cache(maxsize=512)
def find_codec(charset: str) -> str:
    """Return Python's codec for a charset's name; cp1252 if no charset has this name.

    >>> [find_codec(name) for name in ("KS_C_5601-1987", "zip", "ISO-2022-JP", "windows-874")]
    ['cp949', 'cp1252', 'iso2022_jp', 'cp874']
    """
    written = re.sub(r"[-.: ]", "_", charset[:MAX_NAME].strip().strip("\"'").lower())
    bare = re.sub(r"\A(x_)+", "", written)
    names = (CODE_PAGE.sub(r"cp\1", name) for name in (written, bare, bare.removeprefix("cs")))
    name = next((name for name in [OTHER_NAMES.get(name, name) for name in names] if name in _codec_names()), "cp1252")
    try:
        codec = codecs.lookup(name).name
        codec = SUPERSETS.get(codec, codec)
        is_ascii = PROBE.decode(codec, "replace")[:128] == PROBE[:128].decode("ascii")
        is_text = is_ascii or codec.startswith(("utf-16", "utf-32", *ESCAPES))
    except (LookupError, UnicodeError):  # mbcs and oem exist on Windows only; zip is no charset
        is_text = False
    return codec if is_text else "cp1252"


@functools.cache
def _codec_names() -> frozenset[str]:
    """Return Python's names of codecs. Other names must not reach ``codecs.lookup``, which caches them for ever."""
    import encodings
    import encodings.aliases
    import pkgutil

    modules = {module.name for module in pkgutil.iter_modules(encodings.__path__)}
    return frozenset(name for name in modules | set(encodings.aliases.aliases) if "escape" not in name)


def _may_be(octets: bytes, codec: str) -> bool:
    """Return whether ``octets`` may be text of this codec, by its escapes."""
    if codec.startswith(("utf-16", "utf-32")):
        return not PRINTABLE.search(octets)
    escape = next((escape for family, escape in ESCAPES.items() if codec.startswith(family)), NOT_ASCII)
    return escape.search(octets) is not None


def _is_valid(octets: bytes, codec: str) -> bool:
    try:
        octets.decode(codec)
    except UnicodeError:
        return False
    return True
