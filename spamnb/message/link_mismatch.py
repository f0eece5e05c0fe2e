"""Does a link show another host than the one that it leads to?"""

from __future__ import annotations

import re
import unicodedata

from .links import canonical_host, read_link, same_owner

MAX_SHOWN = 300  # characters of a link's text

_SHOWN_URL = re.compile(r"(?:https?:[/\\]{1,3}|(?<![\w.@-])(?=www\.))([^\s/\\?#<>\"'()]+)", re.IGNORECASE)
_SHOWN_NAME = re.compile(r"\s*+([\w-]++(?:[.\u3002\uff0e\uff61][\w-]++)++)(?=[/:?#\s]|\Z)")
_NOT_BEHIND_NAME = ".,;:!"
# What a name without http or www has to end with. A file has a name with a dot in it too, so the domains of countries
# that are the endings of programs and texts are left out, as report.md and setup.py.
_DOMAINS = frozenset("app biz cloud com dev edu gov info int io mil net online org shop site store xyz".split())
_FILE_ENDINGS = frozenset("cc md ps py rs sh so".split())


def is_link_mismatch(shown: str, url: str) -> bool:
    """Does a link to ``url`` with the text ``shown`` name a host of another owner than of the hosts that it leads to?

    The target of a redirector counts as led to, and so does a firm's name under the domain of another country.

    >>> is_link_mismatch("Visit https://www.bank.example/login", "//evil.example")
    True
    >>> is_link_mismatch("www.bank.example", "https://click.example/?url=https%3A%2F%2Fbank.example%2Flogin")
    False
    >>> is_link_mismatch("paypal.com", "https://www.paypal.de/"), is_link_mismatch("your bank", "http://evil.example")
    (False, False)
    """
    if "." not in shown and shown.isascii():  # most links' texts: a host has a dot, and those of other scripts are not
        return False
    host = shown_host(shown)
    if not host:
        return False
    link = read_link(url)
    return bool(link.host) and not any(same_owner(host, other) for other in (link.host, *link.targets))


def shown_host(text: str) -> str:
    """The first host that a text names: behind http:// or from www on, else what the text begins with; "" for none.

    >>> shown_host("Visit HTTPS://Bank.example/login now"), shown_host("bank.com: log in"), shown_host("report.pdf")
    ('bank.example', 'bank.com', '')
    """
    text = text[:MAX_SHOWN]
    if not text.isascii():
        text = "".join([char for char in text if unicodedata.category(char) != "Cf"])
        text = unicodedata.normalize("NFKC", text)
    low = text.lower()  # in which the pattern is seldom needed
    found = _SHOWN_URL.search(text) if "http" in low or "www." in low else None
    if found:
        return canonical_host(found.group(1).rpartition("@")[2].partition(":")[0].rstrip(_NOT_BEHIND_NAME))
    found = _SHOWN_NAME.match(text)
    host = canonical_host(found.group(1)) if found else ""
    ending = host.rpartition(".")[2]
    is_country = len(ending) == 2 and ending.isalpha() and ending not in _FILE_ENDINGS
    return host if is_country or ending in _DOMAINS or ending.startswith("xn--") else ""
