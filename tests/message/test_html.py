"""message/html.py: compiled as uncompiled, whatever the bytes; and what a whole parser of HTML, lexbor, finds."""

from html import unescape
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser
from uncompiled import uncompiled

from spamnb.message import elements, html, references, scanner, stack
from spamnb.message.html import read_html
from spamnb.message.parse import parse
from spamnb.message.references import KNOWN, MAX_PIECES, resolve_references
from spamnb.sources.spec import entries

with uncompiled("spamnb.message.html") as (source,):
    read_source = source.read_html

NAMES = st.sampled_from(
    "a b i u font nobr p div span h1 h2 li ul dd dt table tbody tr td th caption form button option select title"
    " textarea object script style svg x br img body html".split()
)
PIECES = st.one_of(
    st.builds("<{}>".format, NAMES), st.builds("</{}>".format, NAMES), st.sampled_from(["x", "y ", " ", "z\n"]),
)  # fmt: skip
ODD = st.sampled_from(
    [*"<>/!?=\"' \n\x0b\0é&;", "</", "<!", "<!--", "-->", "--!>", "<a href=", "<A\fhref='http://a.example'>",
     "http://b.example",
     "<p style='display:none'>", "<td bgcolor=red>", "<font color=white>", "<body text=white>", "<i hidden>",
     " class=x",
     "<style>.x{display:none}</style>", "&#105;", "&copy=", "&amp", "<title>", "<frameset>", "</p>", "V<b></b>i",
     "<plaintext>", "<xmp>", "<form action=f>", "<?x>", "<![CDATA["]
)  # fmt: skip


def page_of(pieces: list[str]) -> bytes:
    return "".join(pieces).encode()


@settings(max_examples=300)
@given(st.lists(PIECES | ODD, max_size=40).map(page_of) | st.binary(max_size=80))
@example(b"<b><div><i>x</b>y</div>z")
@example(b"<table>a<b>c<tr>d<td>e</table>f")
def test_compiled_or_not_the_same_is_read(page: bytes) -> None:
    page = page.decode("utf-8", "replace").encode()
    cut: list[str] = []
    assert tuple(read_html(page, cut)) == tuple(read_source(page, cut))


def test_the_other_one_is_not_compiled() -> None:
    assert source.__file__.endswith(".py")
    compiled = {module.__file__.endswith(".py") for module in (html, elements, scanner, stack)}
    assert len(compiled) == 1  # all or none


UNLIKE = ("svg", "select", "form", "button", "object", "caption", "body", "html", "x", "script", "style", "textarea")


@settings(max_examples=300)
@given(st.lists(PIECES, max_size=25).map(page_of).filter(lambda page: not any(n.encode() in page for n in UNLIKE)))
@example(b"<p><font><p>x</font>y")
@example(b"<table>a<tr>b<td>c<table>d</table>e</table>f")
def test_text_is_the_text_of_a_whole_parser(page: bytes) -> None:
    """The characters and their order, blanks aside."""
    expected = LexborHTMLParser(page).root.text()
    assert "".join(read_html(page, []).text.split()) == "".join(expected.split())


STYLED = st.one_of(
    st.sampled_from(["<b style='display:none'>", "<p style='display:none'>", "<i>", "<b>", "<p>", "<div>", "<td>",
                     "<tr>", "<table>", "<div style='display:none'>", "</b>", "</i>", "</p>", "</div>", "</td>",
                     "</table>",
                     "<font style='display:none'>", "</font>", "<li>", "<li style='display:none'>"]),
    st.sampled_from("uvwxyz"),
)  # fmt: skip


@settings(max_examples=300)
@given(st.lists(STYLED, max_size=16).map(page_of))
def test_hidden_is_what_a_whole_parser_puts_inside_of_hidden_elements(page: bytes) -> None:
    tree = LexborHTMLParser(page)
    for node in tree.css("[style]"):
        node.decompose()
    assert sorted("".join(read_html(page, []).text.split())) == sorted("".join(tree.root.text().split()))


REFERENCES = st.sampled_from([*"&#;x1aA=z ", "&amp", "&copy", "&#x41", "&#128;", "&nosuch;", "&lt;", "&notit;"])


@settings(max_examples=200)
@given(st.lists(REFERENCES).map(page_of))
def test_references_are_those_of_a_whole_parser(text: bytes) -> None:
    assert resolve_references(text).decode() == (LexborHTMLParser(b"<p>." + text).css_first("p").text())[1:]
    attribute = LexborHTMLParser(b'<p title=".' + text + b'">').css_first("p").attributes["title"]
    assert resolve_references(text, True).decode() == attribute[1:]


def test_compiled_or_not_real_mail_is_read_the_same(corpora: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pages: list[bytes] = []

    def keep(page: bytes, cut: list[str], before: list[html.Html]) -> html.Html:
        pages.append(page)
        return read_html(page, cut, before)

    monkeypatch.setattr("spamnb.message.html.read_html", keep)
    for entry in entries([f"spam={corpora}/spamassassin/spam"], lambda name, error: pytest.fail(name)):
        parse(entry.read())
    assert len(pages) > 200
    for page in pages:
        assert tuple(read_html(page, [])) == tuple(read_source(page, []))


WRITTEN = st.sampled_from([
    b"&", b"&amp", b"&amp;", b"&nbsp;", b"nbsp;", b"&lt;b&gt;", b"&copy2", b"&copy=", b"#39;", b"&#39;", b"&#xa0;",
    b"&NBSP;", b"&zwnj;=", b"&;", b"&nosuch;", b"&#", b"&#x110000;", b"a", b";", b"=", b"&amp;lt;",
])  # fmt: skip


@given(st.lists(WRITTEN, max_size=20).map(b"".join), st.booleans())
def test_looking_up_changes_nothing(octets: bytes, in_attribute: bool) -> None:
    by_pattern = references.REFERENCE.sub(references._in_attribute if in_attribute else references._in_text, octets)
    assert resolve_references(octets, in_attribute) == by_pattern


def test_what_is_looked_up_is_what_the_standard_says() -> None:
    for name, octets in KNOWN.items():
        assert unescape("&" + name.decode()) == octets.decode()


@pytest.mark.parametrize("octets", [b"&nbsp;", b"&", b"&nosuch;"])
def test_as_many_as_there_may_be_are_resolved(octets: bytes) -> None:
    expected = {b"&nbsp;": "\xa0"}.get(octets, octets.decode())
    assert resolve_references(octets * (3 * MAX_PIECES)).decode() == expected * (3 * MAX_PIECES)
