"""Hosts, addresses, URLs and ids → tokens: who sent a message, by which route and program, and where it leads.

Figures: docs/experiments.md#hosts-and-links.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from spamnb.message.links import MAX_URL, mixes_scripts, read_link, registrable_domain, same_owner
from spamnb.tokens.ascii_bytes import MAX_HOST
from spamnb.tokens.ascii_words import AsciiWord

# Services that hide where a link leads, and that anyone may use: what sends through them is told from what does not,
# whichever of them it is. 391 phishing messages name those of the first line 67 times; the others are as open to all.
SHORTENERS = frozenset("""
    t.co is.gd bit.ly rb.gy t.ly cutt.ly clck.ru buff.ly 2u.pw urly.fi ln.run
    bl.ink da.gd goo.gl j.mp lnkd.in n9.cl ow.ly qrco.de rebrand.ly s.id shorturl.at shrtco.de tiny.cc tiny.one
    tinyurl.com tr.im u.to v.gd vk.cc x.co
    """.split())
# Most URLs name their host in plain letters and no other URL: they need no closer look.
_PLAIN_URL = re.compile(r"https?://((?:[a-z0-9-]++\.)*+[a-z][a-z0-9-]*+)(?=[/?#]|\Z)", re.IGNORECASE | re.ASCII)


def normalize_host(raw: str) -> tuple[str, ...]:
    """A host with the domains above it, an address with the networks it is in.

    >>> normalize_host("mail.example.org"), normalize_host("192.0.2.7"), normalize_host("localhost")
    (('mail.example.org', 'example.org'), ('192', '192.0', '192.0.2', '192.0.2.7'), ('localhost',))
    """
    return _normalize_host(raw) if len(raw) <= 2 * MAX_HOST else _normalize_host.__wrapped__(raw)


@lru_cache(maxsize=4096)  # mail names the same few again and again: URLs of HTML are read in two thirds of the time
def _normalize_host(raw: str, received: bool = False) -> tuple[str, ...]:
    data = raw.encode()
    word = AsciiWord(len(data))
    word.read_host(data, 0, len(data), received)
    return tuple(word.texts(data))


def normalize_received(raw: str) -> tuple[str, ...]:
    """Hosts and networks; of queue ids and versions the shape, which tells the mail program.

    >>> normalize_received("g7LBx45"), normalize_received("8.11.6")
    (('#g0lbx00',), ('8.11.6', '11.6', '#0.00.0'))
    """
    return _normalize_host.__wrapped__(raw, True)


def url_tokens(urls: Iterable[str]) -> list[str]:
    """The hosts that URLs lead to with their domains, and those of the URLs inside; the scheme of those that lead to
    none; and how they hide it: ``url:shortener``, ``url:redirector`` (another owner's URL inside), ``url:user`` (a name
    before the host), ``url:disguised`` (the host is not written as it is), ``url:mixed-scripts``, ``url:long-host``.

    The words of their paths are left out: newsletters have hundreds.

    >>> url_tokens(["http://www.example.org/offer?id=7", "mailto:someone@example.net"])
    ['url:mailto:', 'url:www.example.org', 'url:example.org']
    >>> url_tokens(["http://bank.example@evil%2Eexample/?u=https://bit.ly/x"])
    ['url:bit.ly', 'url:evil.example', 'url:disguised', 'url:redirector', 'url:shortener', 'url:user']
    """
    hosts: set[str] = set()
    tricks: set[str] = set()
    for url in set(urls):
        url = url[:MAX_URL]
        found = _PLAIN_URL.match(url)
        if found and not _may_hold_url(url[found.end() :]):
            hosts.add(found.group(1).lower())
        else:
            _look_closer(url, hosts, tricks)
    tokens: list[str] = []
    for host in sorted(hosts):
        named, hidden_by = _url_host_tokens(host) if len(host) <= 2 * MAX_HOST else _url_host_tokens.__wrapped__(host)
        tokens += named
        tricks.update(hidden_by)
    return tokens + sorted(tricks)


@lru_cache(maxsize=4096)
def _url_host_tokens(host: str) -> tuple[list[str], list[str]]:
    """The tokens of a host or, with ":" behind it, a scheme, and of how it hides where it leads."""
    if host[-1] == ":":
        return ["url:" + host], []
    tricks = ["url:mixed-scripts"] if mixes_scripts(host) else []
    if registrable_domain(host) in SHORTENERS:
        tricks.append("url:shortener")
    if len(host) > MAX_HOST:
        tricks.append("url:long-host")
        host = host[-MAX_HOST:].partition(".")[2]
    return ["url:" + token for token in normalize_host(host)], tricks


def _may_hold_url(rest: str) -> bool:
    """May what follows a host hold another URL, as far as a quick look tells?"""
    low = rest.lower()
    return "%" in low or ":/" in low or "\\" in low or "=//" in low or "=www." in low or "-3a__" in low or "/s/" in low


def _look_closer(url: str, hosts: set[str], tricks: set[str]) -> None:
    """Add where ``url`` leads to ``hosts``, and how it hides that to ``tricks``."""
    link = read_link(url)
    hosts.add(link.host or url[:12].partition(":")[0].lower() + ":")
    hosts.update(link.targets)
    if link.has_user:
        tricks.add("url:user")
    if link.disguised:
        tricks.add("url:disguised")
    if link.host and not all([same_owner(link.host, target) for target in link.targets]):
        tricks.add("url:redirector")
