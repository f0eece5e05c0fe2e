"""Where a link leads: the host that a browser goes to, and the hosts of the URLs inside of a URL.

The rules are those of the URL Standard (https://url.spec.whatwg.org, "host parsing") for URLs by themselves: mail has
no page that they could be relative to. Where a browser refuses a host, what stands before its first forbidden character
is read: a link that is broken is evidence too.

Names in other scripts become punycode by the mapping of UTS 46, which is NFKC and case folding in all but a few
characters. The standard library's ``idna`` is IDNA 2003: it reads straße.example as strasse.example, where browsers go
elsewhere.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import NamedTuple

MAX_URL = 2000  # characters
MAX_TARGETS = 4  # URLs inside of one
MAX_NAME_LENGTH = 255  # of a host; of a longer one the end is read, where its owner stands
MAX_LABEL = 63  # of the name's labels
MAX_DECODINGS = 3  # of a URL inside of a URL inside of a URL

_SPECIAL = ("http", "https", "ftp", "ws", "wss", "file")
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]{0,30}):")
_LINE_BREAKS = {9: None, 10: None, 13: None}
_BLANKS = "".join(map(chr, range(33)))
_SLASHES = "/\\"
_AUTHORITY_END = re.compile(r"[/\\?#]")
_OPAQUE_AUTHORITY_END = re.compile(r"[/?#]")
_PORT = re.compile(r":\d*+\Z")
_FORBIDDEN = re.compile(r"[\x00- \"#%/:<>?@\[\\\]^`{|}\x7f]")
_REFUSED = re.compile(_FORBIDDEN.pattern.replace("%", ""))  # by which a name ends that is followed by other text
_ESCAPES = re.compile(rb"%([0-9A-Fa-f]{2})")
_DOTS = {0x3002: ".", 0xFF0E: ".", 0xFF61: "."}
_KEPT = frozenset("ßς")  # are letters of their own in names
_FILLERS = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0")  # marks and letters that show nothing
# URLs inside: with their scheme, or where a value begins. What a browser takes for a scheme's slashes counts.
_TARGET = re.compile(r"https?:[/\\]{1,3}|(?<==)(?:[/\\]{2}|www\.)", re.IGNORECASE | re.ASCII)
_TARGET_END = re.compile(r"[\s&<>\"'|]")
_DASHED_TARGET = re.compile(r"(?<=[?&]u=)https?-3[Aa]__[^&]++")  # of Proofpoint's second form
_DASHED = str.maketrans("-_", "%/")
_MIRRORED = re.compile(r"/(?:amp|[civ])/(?:s/)?([^/?#.]++\.[^/?#]++)")  # Google's AMP: the page's URL is the path
# Second-level domains under which countries register names.
_REGISTRIES = frozenset("ac co com edu gob gouv gov ltd mil ne net nom or org plc sch".split())
_FIRMS_DOMAINS = frozenset("com net org eu".split())
# Scripts that one name may mix: those of East Asia, with Latin letters too.
_EAST_ASIAN = frozenset("BOPOMOFO CJK HANGUL HIRAGANA IDEOGRAPHIC KATAKANA KATAKANA-HIRAGANA MODIFIER".split())


class Link(NamedTuple):
    """Where a URL leads.

    host: in ASCII and lower case; an address in dotted or, in brackets, in the shortest form; "" where it leads to none
    targets: hosts of the URLs inside, each once
    has_user: a name stands before the host, as in ``http://bank.example@evil.example``
    disguised: the host is not written as it is: percent-escapes, a number as address, characters that no one sees
    """

    host: str
    targets: tuple[str, ...]
    has_user: bool
    disguised: bool


def read_link(url: str) -> Link:
    r"""Where ``url`` leads; MAX_URL characters are read.

    >>> read_link("http:\\\\bank.example@%65vil.example:80/?u=https%3A%2F%2Fother.example%2Fx")
    Link(host='evil.example', targets=('other.example',), has_user=True, disguised=True)
    >>> read_link("https:0x7f.1").host, read_link("//evil.example").host, read_link("mailto:a@b.example").host
    ('127.0.0.1', 'evil.example', '')
    >>> read_link("HTTP://user@WWW.Example。org:8080/x").host, read_link("www.example.org/x").host
    ('www.example.org', 'www.example.org')
    """
    url = url[:MAX_URL].strip(_BLANKS).translate(_LINE_BREAKS)
    special, rest = _after_scheme(url)
    if rest is None:
        return Link("", _targets(url), False, False)
    end = (_AUTHORITY_END if special else _OPAQUE_AUTHORITY_END).search(rest)
    stop = end.start() if end else len(rest)
    user, at, written = rest[:stop].rpartition("@")
    written = _PORT.sub("", written)
    host = canonical_host(written)
    targets = _targets(rest[stop:])
    if host.endswith(".ampproject.org") or host.startswith(("google.", "www.google.")):
        mirrored = _MIRRORED.match(rest, stop)
        if mirrored and (target := canonical_host(mirrored.group(1))):
            targets = tuple(dict.fromkeys((*targets, target)))
    return Link(host, targets, bool(at and user), bool(host) and written != host and _is_disguised(written, host))


def canonical_host(written: str) -> str:
    """A host as it is written in a URL → the name or address that it is.

    >>> canonical_host("bücher.EXAMPLE."), canonical_host("%65xample.org"), canonical_host("3232235521")
    ('xn--bcher-kva.example', 'example.org', '192.168.0.1')
    """
    if written[:1] == "[":
        return _ipv6(written)
    host = percent_decoded(written) if "%" in written else written
    host = host[-MAX_NAME_LENGTH:]
    host = host.lower() if host.isascii() else _mapped(host)
    if forbidden := _FORBIDDEN.search(host):
        host = host[: forbidden.start()]
    if not host.isascii():
        host = ".".join([_punycode(label) for label in host.split(".")])
    host = host.strip(".")
    last = host.rpartition(".")[2]
    return _ipv4(host) if last.isdigit() or last[:2] == "0x" else host


def percent_decoded(text: str) -> str:
    """``text`` with its percent-escapes decoded, as UTF-8.

    >>> percent_decoded("%65vil%2Eexample 100%")
    'evil.example 100%'
    """
    octets = _ESCAPES.sub(lambda escape: bytes.fromhex(escape.group(1).decode()), text.encode("utf-8", "replace"))
    return octets.decode("utf-8", "replace")


def mixes_scripts(host: str) -> bool:
    """Does a label of a host, in punycode, mix scripts that no language mixes, as Latin and Cyrillic?

    >>> mixes_scripts("xn--pypal-4ve.example"), mixes_scripts("xn--e1afmkfd.xn--p1ai"), mixes_scripts("example.org")
    (True, False, False)
    """
    return "xn--" in host and any(map(_mixes, host.split(".")))


def registrable_domain(host: str) -> str:
    """What the owner of a host registered: its last two labels, or three under second-level domains such as co.uk.

    >>> registrable_domain("www.bank.co.uk"), registrable_domain("a.b.example"), registrable_domain("192.0.2.1")
    ('bank.co.uk', 'b.example', '192.0.2.1')
    """
    labels = host.split(".")
    if labels[-1].isdigit() or host[:1] == "[":
        return host
    under_country = len(labels) > 2 and len(labels[-1]) == 2 and labels[-2] in _REGISTRIES
    return ".".join(labels[-3 if under_country else -2 :])


def same_owner(host: str, other: str) -> bool:
    """Do two hosts seem to be of one firm: the same domain, or the same name under domains of countries and firms?

    >>> same_owner("www.paypal.com", "paypal.de"), same_owner("paypal.com", "paypal.top")
    (True, False)
    """
    domain, other_domain = registrable_domain(host), registrable_domain(other)
    name, _, suffix = domain.partition(".")
    other_name, _, other_suffix = other_domain.partition(".")
    firms = len(name) > 1 and not name.isdigit() and _may_be_the_firms(suffix) and _may_be_the_firms(other_suffix)
    return domain == other_domain or (name == other_name and firms)


def _may_be_the_firms(suffix: str) -> bool:
    return suffix in _FIRMS_DOMAINS or len(suffix.rpartition(".")[2]) == 2


def _after_scheme(url: str) -> tuple[bool, str | None]:
    """Whether the scheme is one of those of hosts, and what stands behind its slashes; None where no host can."""
    scheme = _SCHEME.match(url)
    if not scheme:
        if url[:1] in _SLASHES and url[1:2] in _SLASHES and url[1:2]:
            return True, url.lstrip(_SLASHES)
        return True, url if url[:4].lower() == "www." else None
    rest = url[scheme.end() :]
    name = scheme.group(1).lower()
    if name == "file":
        rest = rest.replace("\\", "/")
        return True, rest[2:] if rest.startswith("//") and rest[2:3] != "/" else None
    if name in _SPECIAL:
        return True, rest.lstrip(_SLASHES)
    if "." in name and url[:4].lower() == "www.":  # www.example.org:80
        return True, url
    return False, rest[2:] if rest.startswith("//") else None


def _targets(rest: str) -> tuple[str, ...]:
    """The hosts of the URLs in what follows a host, as it stands and percent-decoded."""
    hosts: dict[str, None] = {}
    if dashed := _DASHED_TARGET.search(rest):
        rest = rest[: dashed.start()] + dashed.group().translate(_DASHED) + rest[dashed.end() :]
    for _ in range(MAX_DECODINGS):
        for found in _TARGET.finditer(rest):
            begin = found.start() if found.group()[-1] == "." else found.end()
            end = _AUTHORITY_END.search(rest, begin)
            authority = rest[begin : end.start() if end else begin + MAX_NAME_LENGTH]
            authority = _TARGET_END.split(authority, maxsplit=1)[0]
            host = canonical_host(_PORT.sub("", authority.rpartition("@")[2]))
            if host:
                hosts[host] = None
                if len(hosts) == MAX_TARGETS:
                    return tuple(hosts)
        if "%" not in rest or (decoded := percent_decoded(rest)) == rest:
            break
        rest = decoded
    return tuple(hosts)


def _is_disguised(written: str, host: str) -> bool:
    """Is ``written`` more than ``host`` in capitals or in the letters of its script?"""
    if written[:1] == "[":
        return False
    plain = _REFUSED.split(written[-MAX_NAME_LENGTH:], maxsplit=1)[0].lower().strip(".")
    if not plain.isascii():
        plain = ".".join([_punycode(label) for label in unicodedata.normalize("NFC", plain).split(".")])
    return plain != host


def _mapped(host: str) -> str:
    """``host`` by the mapping of UTS 46: of each character NFKC in small letters, of what shows nothing nothing."""
    host = host.encode("utf-8", "replace").decode()
    seen = [_mapped_character(char) for char in host.translate(_DOTS) if not _is_invisible(char)]
    return unicodedata.normalize("NFC", "".join(seen)).translate(_DOTS)[-MAX_NAME_LENGTH:]


def _mapped_character(char: str) -> str:
    if char in _KEPT:
        return char
    return "ß" if char == "ẞ" else unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", char).casefold())


def _is_invisible(char: str) -> bool:
    return unicodedata.category(char) == "Cf" or char in _FILLERS or "\u180b" <= char <= "\u180f" or (
        "\ufe00" <= char <= "\ufe0f"
    )  # fmt: skip


@lru_cache(maxsize=1024)  # the standard library's codec is Python, and takes quadratic time
def _punycode(label: str) -> str:
    return label if label.isascii() else "xn--" + label[:MAX_LABEL].encode("punycode").decode()


def _ipv4(host: str) -> str:
    """A host whose last label is a number → dotted; as it is where it is no address."""
    labels = host.split(".")
    numbers = [_number(label) for label in labels]
    if len(labels) > 4 or -1 in numbers or max(numbers[:-1], default=0) > 255:
        return host
    if numbers[-1] >= 256 ** (5 - len(numbers)):
        return host
    address = numbers[-1] + sum([number << 8 * (3 - i) for i, number in enumerate(numbers[:-1])])
    return ".".join([str(address >> shift & 255) for shift in (24, 16, 8, 0)])


def _number(label: str) -> int:
    """A part of an address: hexadecimal after 0x, octal after 0, else decimal; −1 where it is none."""
    if len(label) > 40 or not label.isascii() or not label.isalnum():
        return -1
    if label[:2] == "0x":
        base, digits, allowed = 16, label[2:], "0123456789abcdef"
    elif label[0] == "0":
        base, digits, allowed = 8, label[1:], "01234567"
    else:
        base, digits, allowed = 10, label, "0123456789"
    return -1 if digits.strip(allowed) else int(digits or "0", base)


def _ipv6(written: str) -> str:
    """An address in brackets in its shortest form, one of IPv4 inside of it dotted; "" where it is none."""
    from ipaddress import AddressValueError, IPv6Address  # 5 ms that few messages need

    try:
        address = IPv6Address(written[1:].partition("]")[0][:50].partition("%")[0])
    except AddressValueError:
        return ""
    return str(address.ipv4_mapped) if address.ipv4_mapped else f"[{address}]"


def _mixes(label: str) -> bool:
    """Does a label mix scripts? East Asian ones may stand beside each other and beside Latin."""
    if not label.startswith("xn--"):
        return False
    try:
        letters = label[4:MAX_NAME_LENGTH].encode().decode("punycode")
    except UnicodeError:  # no such name can be registered
        return False
    scripts = {unicodedata.name(char, "?").partition(" ")[0] for char in letters if char.isalpha()}
    return len(scripts - _EAST_ASIAN) > 1
