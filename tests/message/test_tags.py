"""message/tags.py: what is compiled reads what the patterns read, whatever the bytes."""

from __future__ import annotations

from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from spamnb.message import tags
from spamnb.message.html import OPENING
from spamnb.message.tags import ATTRIBUTE_WEIGHT, BLOCK, FORMATTING, MAX_TAG, WORDS, find_words, tags_of, weigh
from spamnb.sources.spec import entries

BUILT = [path for end in EXTENSION_SUFFIXES if (path := Path(tags.__file__ or "").with_name("_tags" + end)).exists()]
needs_compiler = pytest.mark.skipif(
    not BUILT, reason="_tags is not built: needs a C compiler when spamnb is installed"
)
PIECES = st.sampled_from(
    [*"<>/! \n\x0b1aB-é\x00\xa0", "</", "<!", "<!--", "-->", "<br", "<BR/>", "</P>", "<h1 ", "<h7>", "<b", "<b></b>",
     "x<I></i>y", "<Font ", "</font>a", "blockquote", "<blockquotes>", "<blockquot3>", "V<!--x-->i", "V<!x>i",
     "<" + "b" * 11, "<" + "a1" * 6 + ">", "=" * (MAX_TAG - 5),
     "<a ", "<b/x='", '<A\fhref="', " x = y", "=", "'", '"', "\t"]
)  # fmt: skip
STYLES = st.sampled_from(
    [*"=:\"' \n(),.#g-G_é\x00", *map(bytes.decode, WORDS), "COLOR", "bgcolor", "x-Color", "Style", "colorcolor",
     "\t" * 8, "\t" * 9, "ff", "red", "#FfF", "a1" * 10, "rgb(", "(1, 2.", "9" * 29, "9" * 30]
)  # fmt: skip
PAGES = st.lists(PIECES, max_size=40).map("".join).map(str.encode) | st.binary(max_size=60)
STYLED = st.lists(STYLES, max_size=12).map("".join).map(str.encode)


@needs_compiler
def test_what_is_built_is_used() -> None:
    assert tags.compiled is not None, f"{BUILT[0]} does not import, or was built of other source: build it anew"


@needs_compiler
@settings(max_examples=1000, deadline=None)
@given(PAGES)
@example(b"<br>at the start<br")
@example(b"x<b" + b" " * (MAX_TAG - 2) + b"></b>y")
@example(b"x<b" + b" " * (MAX_TAG - 1) + b"></b>y")
@example(b"<!-- x<!-- y -->a<!-- never ends x<!>y")
@example(b"<b></b>x")
def test_the_compiled_scan_is_the_patterns(page: bytes) -> None:
    assert tags.compiled.scan(page) == tags_of(page)


@needs_compiler
@settings(max_examples=2000, deadline=None)
@given(STYLED)
@example(b"color=bgcolor=white")
@example(b"color=red(1, 2)color:\t\t\t\t\t\t\t\t\t#fff")
@example(b"gcolor=fffcolor=" + b"9" * 21 + b"color='ff(123)'")
def test_the_compiled_words_are_the_patterns(page: bytes) -> None:
    assert tags.compiled.words_of(page) == find_words(page)


@needs_compiler
@pytest.mark.parametrize("name", [*sorted(BLOCK | FORMATTING), b"a", b"noscript", b"trx"])
def test_each_name(name: bytes) -> None:
    for shape in b"x<%>y x</%>y \v<%>y x<%\vy x<%/y x<% x<%.y <%><%> <//%> <%_>".split(b" "):
        for spelt in (name, name.upper(), name.title()):
            page = shape.replace(b"%", spelt)
            assert tags.compiled.scan(page) == tags_of(page)
    assert (b"\n" in tags_of(b"x<%b>" % name).marked) == (name in BLOCK)


@needs_compiler
def test_real_mail(corpora: Path) -> None:
    count = 0
    for entry in entries([f"spam={corpora}/spamassassin/spam"], lambda name, error: pytest.fail(name)):
        raw = entry.read()
        assert tags.compiled.scan(raw) == tags_of(raw), entry.name
        assert tags.compiled.words_of(raw) == find_words(raw), entry.name
        count += raw.count(b"<")
    assert count > 10_000


@pytest.mark.parametrize("scan", [tags_of, pytest.param(tags.scan, id="scan")])
@pytest.mark.parametrize("piece", [b"<", b"<b", b"<!", b"<!--", b"></b", b"a<b ></b>", b"<a1", b"a<!", b"<br>"])
def test_repeats_are_read_to_their_end(scan, piece: bytes) -> None:
    found = scan(piece * 50_000)
    assert found.marked.replace(b"\n", b"") == piece * 50_000 and len(found.names) <= 2
    assert found.total == 50_000 * piece.count(b"<")


def test_words_and_colours() -> None:
    page = b"<BODY text=Red bgcolor=#FFF background=p.gif style='Color: rgb(1, 2, 3)'>http://www.a.example"
    found = {b"<body", b" text", b"color", b"background", b"style", b">http"}
    assert tags.words_of(page) == (found, {b"rgb(1, 2, 3"}, {b"#fff"})
    assert all(tags.words_of(word.upper())[0] >= {word} for word in WORDS)


@settings(max_examples=1000, deadline=None)
@given(PAGES, st.sampled_from([b"a", b"b", b"FONT"]), st.sampled_from([b"", b"<!-- <b x=' -->", b"<p title='<b x='>"]))
@example(b" ==\"'x>y\"' z", b"b", b"")
@example(b" x=\x0b\"y='> z", b"b", b"")
def test_attributes_are_not_weighed_short(page: bytes, name: bytes, before: bytes) -> None:
    """What lexbor finds in a tag weighs no more than was counted, whatever stands before it."""
    html = before + b"<" + name + page
    attributes = [node.attributes for node in LexborHTMLParser(html).tags(name.decode().lower())]
    heaviest = max((ATTRIBUTE_WEIGHT * len(found) + len("".join(found)) for found in attributes), default=0)
    assert weigh(html.lower()) >= heaviest


@given(PAGES)
def test_formatting_is_not_counted_short(page: bytes) -> None:
    assert tags.scan(page).formatting >= len(OPENING.findall(page))
