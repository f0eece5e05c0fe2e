"""Hosts, addresses, URLs and ids → tokens: who sent a message, by which route and program, and where it leads.

Figures: docs/experiments.md#hosts-and-links.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from spamnb.tokens.words import normalize_whole_word

MAX_HOST = 60  # characters
_HOST = re.compile(r"\s*+[a-z]{2,9}:/{1,3}(?:[^/?#@\s]{0,200}@)?([^/?#:\s\"<>]{1,200})", re.IGNORECASE)


def normalize_host(raw: str) -> tuple[str, ...]:
    """A host with the domains above it, an address with the networks it is in.

    >>> normalize_host("mail.example.org"), normalize_host("192.0.2.7"), normalize_host("localhost")
    (('mail.example.org', 'example.org'), ('192', '192.0', '192.0.2', '192.0.2.7'), ('localhost',))
    """
    return _normalize_host(raw) if len(raw) <= 2 * MAX_HOST else _normalize_host.__wrapped__(raw)


@lru_cache(maxsize=4096)  # mail names the same few again and again: URLs of HTML are read in two thirds of the time
def _normalize_host(raw: str) -> tuple[str, ...]:
    word = raw.strip("-._,'!%$").lower()
    if not word or len(word) > MAX_HOST:
        return ()
    parts = word.split(".")
    if len(parts) == 4 and parts[3].isdigit():
        return tuple([".".join(parts[:i]) for i in (1, 2, 3, 4)])
    return tuple([".".join(parts[i:]) for i in range(max(0, len(parts) - 4), max(1, len(parts) - 1))])


def normalize_received(raw: str) -> tuple[str, ...]:
    """Hosts and networks; of queue ids and versions the shape, which tells the mail program.

    >>> normalize_received("g7LBx45"), normalize_received("8.11.6")
    (('#g0lbx00',), ('8.11.6', '11.6', '#0.00.0'))
    """
    hosts = normalize_host(raw)
    if not hosts or not any(map(str.isdigit, raw)) or hosts[0].isdigit():
        return hosts
    shape = normalize_whole_word(raw)[-1:]
    return (*hosts, *shape) if "." in hosts[0] else shape


def url_tokens(urls: Iterable[str]) -> list[str]:
    """The hosts that URLs lead to with their domains, or the scheme of those that lead to none.

    The words of their paths are left out: newsletters have hundreds.

    >>> url_tokens(["http://www.example.org/offer?id=7", "mailto:someone@example.net"])
    ['url:mailto:', 'url:www.example.org', 'url:example.org']
    """
    hosts = set()
    for url in set(urls):
        found = _HOST.match(url)
        hosts.add(found.group(1) if found else url[:12].partition(":")[0] + ":")
    return [
        "url:" + token
        for host in sorted(hosts)
        for token in (normalize_host(host) if host[-1] != ":" else (host.lower(),))
    ]
