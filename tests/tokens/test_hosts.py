"""hosts.py: which part of a host, an address or an id counts, and bounds on how long it may be."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spamnb.message.links import read_link
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
        "MAILTO:someone@example.com", "cid:part1", "//example.com", "x" * 50, "",
    ]  # fmt: skip
    assert sorted(url_tokens(urls)) == sorted([
        "url:example.org", "url:other.example", "url:a.example.net", "url:example.net", "url:mailto:", "url:cid:",
        "url:example.com", "url:" + "x" * 12 + ":", "url::", "url:redirector", "url:user",
    ])  # fmt: skip


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://bit.ly/abc", ["url:bit.ly", "url:shortener"]),
        ("http://e.vil.example%2Fpath", ["url:e.vil.example", "url:vil.example", "url:disguised"]),
        ("http://0x7f000001/", ["url:127", "url:127.0", "url:127.0.0", "url:127.0.0.1", "url:disguised"]),
        ("http://[2001:db8::1]:80/x", ["url:[2001:db8::1]"]),
        ("http://xn--pypal-4ve.example/", ["url:xn--pypal-4ve.example", "url:mixed-scripts"]),
        ("https://shop.example/?next=https://www.shop.example/a", ["url:shop.example", "url:www.shop.example",
                                                                    "url:shop.example"]),
        ("HTTPS://\u212aauf.example", ["url:kauf.example"]),
        ("http://" + "login." * 20 + "evil.example", ["url:login.login.evil.example", "url:login.evil.example",
                                                      "url:evil.example", "url:long-host"]),
    ],
)  # fmt: skip
def test_urls_tell_how_they_hide_where_they_lead(url: str, expected: list[str]) -> None:
    assert url_tokens([url]) == expected


@pytest.mark.parametrize("host", sorted(hosts.SHORTENERS))
def test_a_shortener_is_the_domain_that_its_links_have(host: str) -> None:
    assert url_tokens([f"https://{host}/x"])[-1] == "url:shortener"


URLS = st.lists(
    st.sampled_from(["http", "s", ":", "/", "//", "\\", "?u=", "%", "%2F", "%3A", "www.", "a.example", "@", "[::1]",
                     "0x7f", "1.2.3.4", ".", "=", "&", "#", "xn--", "é", "\u3002", "\xad", "/s/", "-3A__", "\t"])
    | st.text(max_size=3)
).map("".join)  # fmt: skip


@given(URLS)
def test_a_quick_look_at_a_url_tells_what_a_close_one_tells(url: str) -> None:
    found = hosts._PLAIN_URL.match(url)
    if found and not hosts._may_hold_url(url[found.end() :]):
        assert read_link(url) == (found.group(1).lower(), (), False, False)
    assert not any(map(str.isspace, "".join(url_tokens(["http://" + url]))))
