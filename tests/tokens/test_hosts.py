"""hosts.py: which part of a host, an address or an id counts, and bounds on how long it may be."""

from __future__ import annotations

import pytest

from spamnb.tokens import hosts
from spamnb.tokens.hosts import MAX_HOST, normalize_host, normalize_received, url_tokens


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ("a.b.c.d.e.example.org", ("d.e.example.org", "e.example.org", "example.org")),
        ("example.org", ("example.org",)),
        ("-Example.ORG.", ("example.org",)),
        ("10.20.30.40", ("10", "10.20", "10.20.30", "10.20.30.40")),
        ("10.20.30.example", ("10.20.30.example", "20.30.example", "30.example")),
        ("$%!", ()),
    ],
)
def test_a_host_is_told_with_the_domains_above_it(raw: str, expected: tuple[str, ...]) -> None:
    assert normalize_host(raw) == expected


def test_long_hosts_are_read_but_not_remembered() -> None:
    before = hosts._normalize_host.cache_info().currsize
    long = "." * MAX_HOST + "mail.example.org" + "." * MAX_HOST
    assert normalize_host(long) == ("mail.example.org", "example.org")
    assert normalize_host("x" * 2000) == ()
    assert hosts._normalize_host.cache_info().currsize == before
    assert normalize_host("x" * MAX_HOST) == ("x" * MAX_HOST,)
    assert normalize_host("x" * (MAX_HOST + 1)) == ()


def test_of_queue_ids_the_shape_is_told_and_of_what_has_no_digit_nothing_more() -> None:
    assert normalize_received("mail.example.org") == normalize_host("mail.example.org")
    assert normalize_received("mx1.example.org") == ("mx1.example.org", "example.org", "#mx0.example.org")
    assert normalize_received("192.0.2.7") == normalize_host("192.0.2.7")
    assert normalize_received("!!") == ()


def test_urls_tell_their_host_or_else_their_scheme() -> None:
    urls = [
        "http://Example.org/a?http://other.example", "https:/user:secret@a.example.net:8080", "http://Example.org",
        "MAILTO:someone@example.com", "cid:part1", "//nowhere.example", "x" * 50, "",
    ]  # fmt: skip
    assert sorted(url_tokens(urls)) == sorted([
        "url:example.org", "url:a.example.net", "url:example.net", "url:mailto:", "url:cid:", "url://nowhere.ex:",
        "url:" + "x" * 12 + ":", "url::",
    ])  # fmt: skip
