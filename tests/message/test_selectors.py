"""Which elements a selector matches, beside what lexbor says."""

import pytest
from selectolax.lexbor import LexborHTMLParser
from uncompiled import uncompiled

from spamnb.message.html import read_html
from spamnb.message.selectors import parse_selector

with uncompiled("spamnb.message.html") as (source,):
    read_source = source.read_html

BODY = """<div class="a b"><p id="x">w0 </p><p class="b C">w1 </p><i>w2 </i><p>w3 </p></div>
<ul><li>w4 </li><li class="a">w5 </li><li><b title="t">w6 </b></li><li>w7 </li><li class="a b">w8 </li></ul>
<p href="One">w9 </p>"""
SELECTORS = [
    "p", "DIV P", "div > p", "ul > li b", "p.C", "p.c", ".b", ".a.b", "#x", "#X", "p#x", "div#x", "div .b", "ul li.a",
    "* > i", r".\61", ".a, #x", "div p, li > b",
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


@pytest.mark.parametrize("selector", ["p:hover", "p::before", "p:visited", "p:first-letter"])
def test_what_matches_no_element_is_left_out_alone(selector: str) -> None:
    assert parse_selector(selector) is None
    page = f"<!doctype html><style>{selector}, p {{display: none}}</style><p>w</p>".encode()
    assert read_html(page, []).hidden.split() == ["w"]


@pytest.mark.parametrize(
    "selector",
    ["p:has(b)", "p:last-child", "p::-webkit-x", "p:lang(en)", "p:nth-child(x)", "p::no-such", "p:no-such", "> p",
     "p >", "p:not(", "1p", "", "p[id]", "i + p", "i ~ p", "p:is(.b)", "*|p", "p" + ".b" * 200],
)  # fmt: skip
def test_a_rule_in_doubt_hides_nothing_and_shows_what_others_hide(selector: str) -> None:
    for sheet in (f"p, {selector} {{display: none}}", f"p {{display: none}} i, {selector} {{display: block}}"):
        page = f"<!doctype html><style>{sheet}</style><i>x</i><p class=b>w</p>".encode()
        assert read_html(page, []).text.split() == ["x", "w"]
        assert read_source(page, []) == tuple(read_html(page, []))


def test_names_are_compared_with_case_on_new_pages_alone() -> None:
    page = b"<style>.A, #B {display: none}</style><p class=a>w1<p class=A>w2<p id=b>w3<p id=B>w4"
    assert read_html(page, []).hidden.split() == ["w1", "w2", "w3", "w4"]
    assert read_html(b"<!doctype html>" + page, []).hidden.split() == ["w2", "w4"]
