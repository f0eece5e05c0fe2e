"""link_mismatch.py: what a link's text names, and whether the link leads elsewhere."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spamnb.message.link_mismatch import is_link_mismatch, shown_host


@pytest.mark.parametrize(
    ("shown", "url"),
    [
        ("http://www.bank.example", "http://evil.example/x"), ("www.bank.com/login", "https://evil.example"),
        ("Visit https://bank.example", "http://evil.example"), ("https://bank.example", "//evil.example"),
        ("bank.com", "http:\\\\evil.example"), ("https://bank.example", "https:evil.example"),
        ("https://bank.example", "http://bank.example@evil.example"), ("https://bank.co.uk", "http://evil.co.uk"),
        ("h\u200bttps://ba\xadnk.example", "http://evil.example"), ("bank。com", "http://evil.example"),
        ("bank.com", "http://bаnk.com"), ("(www.bank.example)", "http://3221225985/"), ("paypal.com", "http://paypal.top"),
        ("https://bank.example", "https://click.evil.example/?u=https%3A%2F%2Fother.example"),
        ("paypal.com", "https://bit.ly/x"), ("bücher.com", "http://bucher.com"),
    ],
)  # fmt: skip
def test_a_link_that_shows_another_host_is_a_mismatch(shown: str, url: str) -> None:
    assert is_link_mismatch(shown, url)


@pytest.mark.parametrize(
    ("shown", "url"),
    [
        ("www.bank.com", "http://click.bank.com"), ("your bank", "http://evil.example"),
        ("www.bank.com", "mailto:a@b.example"), ("https://bank.example", "#top"), ("", "http://evil.example"),
        ("Visit https://bank.example.", "http://BANK.example/"), ("bank.com: log in", "http://www.bank.com"),
        ("http://bücher.example", "http://xn--bcher-kva.example"), ("bank.com", "https://bank.de"),
        ("https://bank.co.uk/", "http://bank.com.au"), ("report.pdf", "http://evil.example"),
        ("e.g. this", "//evil.example"),
        ("setup.py", "https://git.example/setup.py"), ("v1.2.3", "http://a.example"), ("a@bank.com", "http://evil.example"),
        ("https://bank.example", "https://eur01.safelinks.protection.outlook.com/?url=https%3A%2F%2Fbank.example%2F&d=1"),
        ("bank.com", "https://www.google.com/url?q=http://bank.com/"), ("http://192.0.2.1", "http://0xC0000201/"),
    ],
)  # fmt: skip
def test_a_link_that_leads_where_it_says_or_says_nothing_is_none(shown: str, url: str) -> None:
    assert not is_link_mismatch(shown, url)


@given(st.text(max_size=60), st.text(max_size=60))
def test_any_text_and_url_are_compared(shown: str, url: str) -> None:
    assert isinstance(is_link_mismatch(shown, "http://" + url), bool)
    assert not is_link_mismatch(shown, "https://" + shown_host(shown))


@pytest.mark.parametrize("piece", ["a.", "www.", "http://", " ", "-", "w", "\u200b", "ﷺ.", "。"])
def test_the_time_for_a_long_text_is_bounded(piece: str) -> None:
    start = time.process_time()
    for _ in range(50):
        is_link_mismatch(piece * 10_000, "http://a.example")
    assert time.process_time() - start < 0.5
