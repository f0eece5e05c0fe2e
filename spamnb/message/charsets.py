"""Bytes and the charset that a message claims → text.

A claim is only a claim: it may be wrong, unknown, or the name of a codec that is no charset at all. What comes out
is always text without lone surrogates.
"""

from __future__ import annotations

import codecs
import functools
import re

# Mail readers take these names for the larger code page that senders really use (WHATWG Encoding Standard).
SUPERSETS = {
    "ascii": "cp1252", "iso8859-1": "cp1252", "iso8859-9": "cp1254", "tis-620": "cp874", "gb2312": "gb18030",
    "gbk": "gb18030", "shift_jis": "cp932", "euc_kr": "cp949", "big5": "cp950",
}  # fmt: skip

# Text codecs of Python that are no charsets of text.
NO_CHARSETS = frozenset(["idna", "punycode", "unicode-escape", "raw-unicode-escape", "undefined", "mbcs", "oem"])

NAME = re.compile(r"[a-z0-9][a-z0-9_.:+-]{0,39}\Z")

# All of ASCII, and the escapes by which UTF-7, HZ and ISO 2022 spell other characters in it.
PROBE = bytes(range(128)) + b"+AOk- ~{VPND~} \x1b$B0!\x1b(B"


def decode(octets: bytes, charset: str | None = None) -> str:
    """Text of ``octets``: as the claimed charset says, else UTF-8, else windows-1252; never raises.

    >>> decode(b"caf\\xe9", "us-ascii"), decode("café".encode(), "no-such-charset"), decode(b"hello", "rot13")
    ('café', 'café', 'hello')
    """
    codec, transparent = resolve(charset) if charset else ("cp1252", True)
    if transparent and octets.isascii():
        return octets.decode("ascii")
    if codec != "cp1252":
        try:
            return _whole(octets.decode(codec))
        except UnicodeError:
            pass
    try:
        return octets.decode("utf-8")
    except UnicodeDecodeError:
        pass
    if codec != "cp1252":
        text = octets.decode(codec, "replace")
        # A wrong claim of UTF-8 turns most accented letters into U+FFFD; a spoilt text loses a few.
        if codec != "utf-8" or 2 * text.count("\ufffd") < len(text) - len(text.encode("ascii", "ignore")):
            return _whole(text)
    try:
        return octets.decode("cp1252")
    except UnicodeDecodeError:
        return octets.decode("latin-1")


def is_ascii(octets: bytes, charset: str) -> bool:
    """Whether ``octets`` are ASCII text, whatever their charset is claimed to be."""
    return octets.isascii() and (not charset or resolve(charset)[1])


@functools.lru_cache(maxsize=512)
def resolve(charset: str) -> tuple[str, bool]:
    """Python's codec for a claimed charset (cp1252 when there is none), and whether it leaves ASCII as it is.

    >>> resolve("KS_C_5601-1987"), resolve("zip"), resolve("ISO-2022-JP")
    (('cp949', True), ('cp1252', True), ('iso2022_jp', False))
    """
    claimed = charset.strip().strip("\"'").lower()
    for name in (claimed, claimed.removeprefix("x-"), claimed.removeprefix("cs")):
        if NAME.match(name) and re.sub(r"[-.: ]", "_", name) in _codec_names():
            break
    else:
        return "cp1252", True
    try:
        info = codecs.lookup(name)
    except LookupError:  # mbcs and oem exist on Windows only
        return "cp1252", True
    if not info._is_text_encoding or info.name in NO_CHARSETS:
        return "cp1252", True
    codec = SUPERSETS.get(info.name, info.name)
    try:
        return codec, PROBE.decode(codec) == PROBE.decode("ascii")
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


def _whole(text: str) -> str:
    """``text`` with surrogate pairs joined and lone surrogates replaced (UTF-7 can spell them)."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text
