"""Which elements a selector matches, beside what lexbor says."""

from __future__ import annotations

import pytest
from selectolax.lexbor import LexborHTMLParser
from uncompiled import uncompiled

from spamnb.message.html import read_html
from spamnb.message.rule_index import MAX_FORMULAS
from spamnb.message.selectors import parse_selector

with uncompiled("spamnb.message.html") as (source,):
    read_source = source.read_html

BODY = """<div class="a b"><p id="x">w0 </p><p class="b C">w1 </p><i>w2 </i><p>w3 </p></div>
<ul><li>w4 </li><li class="a">w5 </li><li><b title="t">w6 </b></li><li>w7 </li><li class="a b">w8 </li></ul>
<p href="One">w9 </p>"""
SELECTORS = [
    "p:first-child", ":first-child", "li:nth-child(2)", "li:nth-child(odd)", "li:nth-child(even)", "li:nth-child(3n-1)",
    "li:nth-child(n + 3)", "li:nth-child(-n+2)", "li:nth-child(+3n)", "li:nth-child(-2n+5)", "li:nth-child(0n+4)",
    "p:first-of-type", "p:nth-of-type(2)", "i:nth-of-type(1)", "p:nth-of-type(2n+1)", "li:not(.a)", "li:not(.a.b)",
    "li:not(.a, :first-child)", "p:not([id])", ":not(li) > b", "li:not(:not(.a))", "li:is(.b, :nth-child(2))",
    ":is(div, ul) > :not(p, li)", "ul :where(b, .b)", "li:not(:nth-child(n+3)):not(:first-child)", "p.C", "p.c", "#X",
    "[class='b C']", "[class='b c']", "[class='B C' i]", "[class~=C]", "[class~=c]", "[href=One]", "[href=ONE]",
    "[href^=on i]", "li:first-child + li", "li:nth-child(2) ~ li", "li:nth-child(2) ~ :not(.b)", "DIV P:First-Child",
    r"[class~=\61]", "p:nth-child( 2n + 1 )",
]  # fmt: skip


PAGE = f"<!doctype html><html><head>{{}}</head><body>{BODY}</body></html>"


@pytest.mark.parametrize("selector", SELECTORS)
def test_selectors_match_what_they_match_elsewhere(selector: str) -> None:
    nodes = LexborHTMLParser(PAGE.format("")).css(selector)
    expected = {text for node in nodes if (text := node.text(deep=False).strip())}
    sheet = f"<style>* {{visibility: visible}} {selector} {{visibility: hidden!important}}</style>"
    octets = PAGE.format(sheet).encode()
    found = read_html(octets, [])
    assert set(found.hidden.split()) == expected
    assert read_source(octets, []) == tuple(found)


@pytest.mark.parametrize("selector", ["p:nth-child(x)", "p::no-such", "p:no-such", "> p", "p >", "p:not(", "1p", ""])
def test_what_browsers_do_not_understand_spoils_its_rule(selector: str) -> None:
    page = f"<!doctype html><style>p, {selector} {{{{display: none}}}}</style><p>{{}}</p>".format("w").encode()
    assert read_html(page, []).text.split() == ["w"]


@pytest.mark.parametrize("selector", ["p:hover", "p::before", "p:has(b)", "p:last-child", "p::-webkit-x", "p:lang(en)"])
def test_what_cannot_be_decided_is_left_out_alone(selector: str) -> None:
    assert parse_selector(selector) is None
    page = f"<!doctype html><style>{selector}, p {{display: none}}</style><p>w</p>".encode()
    assert read_html(page, []).hidden.split() == ["w"]


def test_names_are_compared_with_case_on_new_pages_alone() -> None:
    page = b"<style>.A, #B {display: none}</style><p class=a>w1<p class=A>w2<p id=b>w3<p id=B>w4"
    assert read_html(page, []).hidden.split() == ["w1", "w2", "w3", "w4"]
    assert read_html(b"<!doctype html>" + page, []).hidden.split() == ["w2", "w4"]


def test_what_is_in_the_head_is_no_sibling_of_what_is_in_the_body() -> None:
    sheet = b"<style>p:first-child {display: none}</style>"
    for page in (sheet + b"<p>w", b"<head>" + sheet + b"</head><body><p>w", b"<title></title>" + sheet + b"<body><p>w"):
        assert read_html(b"<!doctype html>" + page, []).hidden.split() == ["w"]
    assert read_html(b"<!doctype html><body>" + sheet + b"<p>w", []).text.split() == ["w"]


def test_more_places_than_the_bound_are_cut() -> None:
    sheet = "".join([f"p:nth-child({number}) {{display: none}}" for number in range(1, 2 * MAX_FORMULAS)])
    truncations: list[str] = []
    found = read_html(f"<style>{sheet}</style><div><p>w1</p><p>w2</p></div>".encode(), truncations)
    assert found.hidden.split() == ["w1", "w2"] and truncations == ["HTML's style sheets beyond their bounds"]
