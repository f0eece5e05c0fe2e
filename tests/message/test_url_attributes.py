"""url_attributes.py: where HTML names URLs."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spamnb.message.url_attributes import KINDS, MAX_URLS_OF_VALUE, css_urls, refresh_urls, srcset_urls, urls_of

U = "http://a.example/b"


@pytest.mark.parametrize(
    ("tag", "attribute", "value", "kind"),
    [
        ("a", "href", U, "links"), ("area", "href", U, "links"), ("base", "href", U, "links"), ("link", "href", U, ""),
        ("a", "xlink:href", U, "links"), ("image", "xlink:href", U, "images"), ("image", "href", U, "images"),
        ("img", "src", U, "images"), ("input", "src", U, "images"), ("iframe", "src", U, "links"),
        ("frame", "src", U, "links"), ("embed", "src", U, "links"), ("script", "src", U, ""),
        ("object", "data", U, "links"), ("div", "data", U, ""), ("td", "background", U, "images"),
        ("video", "poster", U, "images"), ("form", "action", U, "forms"), ("button", "formaction", U, "forms"),
        ("a", "ping", U, "links"), ("meta", "content", "0;URL=" + U, "links"), ("p", "content", U, ""),
        ("source", "srcset", U + " 2x", "images"), ("p", "style", f"background:url('{U}')", "images"),
        ("p", "id", U, ""),
    ],
)  # fmt: skip
def test_the_kind_of_url_is_told_by_tag_and_attribute(tag: str, attribute: str, value: str, kind: str) -> None:
    assert urls_of(tag, attribute, value) == (kind, [U] if kind else [])


@pytest.mark.parametrize(
    "value", [f"0;url={U}", f" 5 ; URL = '{U}'", f'0;"{U}"', f"0, {U} ", f'.5;url="{U}" x', f";url={U}"]
)
def test_a_refresh_goes_where_browsers_go(value: str) -> None:
    assert refresh_urls(value) == [U]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("", []), (" , ,", []), (U, [U]), (f"{U}, c.png 2x", [U, "c.png"]), ("a b(1,2), c", ["a", "c"]),
        ("a,, b", ["a", "b"]),
    ],
)  # fmt: skip
def test_candidates_of_a_srcset_are_cut_at_the_commas_behind_them(value: str, expected: list[str]) -> None:
    assert srcset_urls(value) == expected


@given(st.text(max_size=60), st.sampled_from(sorted(KINDS)), st.sampled_from(["a", "img", "meta", "object", "iframe"]))
def test_any_value_is_read(value: str, attribute: str, tag: str) -> None:
    kind, urls = urls_of(tag, attribute, value)
    assert all(urls) and bool(kind or not urls) and sum(map(len, urls)) <= len(value)


@pytest.mark.parametrize("piece", ["url(", "url('", "@import ", "a,", "a ", ", ", "(", ")", "0;url=", " ", "url(x)"])
def test_the_time_for_a_long_value_is_linear(piece: str) -> None:
    start = time.process_time()
    for read in (css_urls, srcset_urls, refresh_urls):
        assert len(read(piece * 100_000)) <= MAX_URLS_OF_VALUE
    assert time.process_time() - start < 1
