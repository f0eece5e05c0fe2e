"""Pages as text: tags, references and words, beside what lexbor, a whole parser of HTML, reads."""

from __future__ import annotations

import html.entities
from collections import Counter

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from spamnb.reader.message import Message, Reader, parse


def read(page: str, charset: str = "utf-8") -> Message:
    return parse(f"Content-Type: text/html; charset={charset}\n\n".encode() + page.encode(charset, "replace"))


def shown(page: str) -> str:
    return " ".join(" ".join(read(page).texts).split())


def every(page: str) -> str:
    """Plain text, and then doubtful text."""
    return f"{shown(page)} {read(page).doubtful}"


def letters(text: str) -> str:
    """Text without what shows nothing."""
    return "".join([char for char in text if char >= " " and char != "\x7f" and not char.isspace()])


def has_all_letters_of(page: str, text: str) -> None:
    """Check that a page is read as this text. Letters beside doubtful text are read twice."""
    found, expected = Counter(letters(every(page))), Counter(letters(text))
    assert found >= expected and found.keys() == expected.keys()


@pytest.mark.parametrize(
    ("body", "expected", "fact"),
    [
        ("V<!-- x -->iagra", "Viagra", "tag:p"), ("V<o:p>iagra", "Viagra", "tag:unknown"),
        ("V<i>i</i>agra", "Viagra", "tag:i"), ("V<span style='display:none'>xx</span>iagra", "V iagra", "hidden"),
        ("V<br>iagra", "V iagra", "tag:br"), ("<td>V</td><td>iagra</td>", "V iagra", "tag:td"),
    ],
)  # fmt: skip
def test_what_stands_inside_a_word_does_not_split_it(body: str, expected: str, fact: str) -> None:
    assert shown(f"<p>buy {body} now</p>") == f"buy {expected} now"
    assert f"html:{fact}" in Reader().tokens(f"Content-Type: text/html\n\n<p>buy {body} now</p>".encode())


def test_line_ends_in_references_are_line_feeds_and_scripts_and_styles_no_text() -> None:
    assert read("<p>a&#13;&#10;b&#13;c</p>").texts[0].strip() == "a\nb\nc"
    page = "<title>offer</title><style>p {x}</style><script>var y</script><noscript>n</noscript><p>z"
    assert (
        shown(page) == "z"
        and read(page).doubtful.split() == ["offer", "n"]
        and "\r" not in read("<p hidden>a&#13;b").doubtful
    )
    assert "\ud800" not in shown("&#xD800;&#xDFFF;x") and "x" in shown("&#xD800;&#xDFFF;x")


def test_all_references_are_those_of_the_standard_library() -> None:
    names = list(html.entities.html5)
    page = "<pre>" + "|".join(f"&{name}" if name.endswith(";") else f"&{name} " for name in names) + "</pre>"
    expected = "|".join(html.entities.html5[name] + ("" if name.endswith(";") else " ") for name in names)
    assert read(page).texts[0].strip("\n ") == expected.strip("\n ").replace("\r", "\n")


REFERENCES = st.lists(
    st.sampled_from([*"&#;x1aA=z ", "&amp", "&amp;", "&copy=", "&#x41", "&#128;", "&nosuch;", "&lt;", "&notit;",
                     "&#39;", "&#xa0;", "&NBSP;", "&#x110000;", "&amp;lt;", "&#"])
).map("".join)  # fmt: skip


@given(REFERENCES)
@example("&amp;lt;")
def test_references_are_lexbors_in_text_and_in_attributes(text: str) -> None:
    for tag in "p title textarea xmp".split():
        page = f"<{tag}>.{text}</{tag}>"
        assert letters(every(page)) == letters(LexborHTMLParser(page).css_first(tag).text())
    tree = LexborHTMLParser(f"<img alt='.{text}'><a href='http://a.example/.{text}'>x</a>")
    assert letters(every(f"<img alt='.{text}'>")) == letters(tree.css_first("img").attributes["alt"] or "")
    found = read(f"<a href='http://a.example/.{text}'>x</a>").links[0]
    assert letters(found) == letters(tree.css_first("a").attributes["href"] or "")


NAMES = st.sampled_from("a b i u font nobr p div span h1 h2 li ul dd dt table tbody tr td th caption".split())
SOUP = st.lists(
    st.builds("<{}>".format, NAMES) | st.builds("</{}>".format, NAMES) | st.sampled_from(["x", "y ", " ", "z\n"]),
    max_size=25,
).map("".join)
ODD = st.lists(st.sampled_from([*"<>/!?=\"' -ab1&;", "</", "<!--", "-->", "--!>", "<?x>", "<![CDATA[", "<a b='"])).map(
    "".join
)


@settings(max_examples=300)
@given(SOUP)
@example("<p><font><p>x</font>y")
@example("<table>a<tr>b<td>c<table>d</table>e</table>f")
@example("<b><div><i>x</b>y</div>z")
def test_no_text_is_lost_however_tags_are_nested(page: str) -> None:
    """The letters; where a table has text outside of its cells, a browser shows it elsewhere."""
    has_all_letters_of(page, LexborHTMLParser(page).root.text())


@settings(max_examples=300)
@given(ODD)
def test_tags_and_comments_end_where_lexbor_ends_them(odd: str) -> None:
    page = f"<!doctype html><body><div>{odd}</div>"
    body = LexborHTMLParser(page).body
    has_all_letters_of(page, body.text() if body else "")


HIDING = st.sampled_from(["b", "p", "div", "font", "li"]).map("<{} style='display:none'>".format)
CLOSING = st.sampled_from("</b> </i> </p> </div> </font> </li>".split())
STYLED_SOUP = st.lists(
    HIDING | CLOSING | st.sampled_from("<i> <b> <p> <div> <table> <li>".split()) | st.sampled_from("uvwxyz"),
    max_size=16,
).map("".join)


def lexbors_visible(page: str) -> str:
    tree = LexborHTMLParser(page)
    for node in tree.css("[style], [hidden]"):
        node.decompose()
    return letters(tree.root.text())


@settings(max_examples=300)
@given(STYLED_SOUP)
def test_what_stands_beside_hidden_elements_is_seen_however_they_are_nested(page: str) -> None:
    assert not set(lexbors_visible(page)) - set(letters(every(page)))


def test_pages_share_bounds_and_their_ends_are_read() -> None:
    page = "first " + "<i></i>" * 130_000 + "<a href=http://a.example>last</a>"
    message = read(page)
    assert message.doubtful.split() == ["first", "last"] and message.links == ("http://a.example",)
    assert message.truncations == ("html",)


@pytest.mark.parametrize(
    ("page", "text"),
    [
        ("<img src='data:image/svg+xml;utf8,<svg><text>card</text></svg>'>", "card"),
        ("<a href='data:text/html;base64,PHA+Y2FyZDwvcD4='>a</a>", "card"),
        ("<object data='x'></object><iframe src='data:text/plain,gift%20card'></iframe>", "gift card"),
        ("<style>p:before{content:'Gift card'}</style><p>", "gift card"),
        ("<style>meta{display:block}meta:after{content:attr(content)}</style><meta content='Gift card'>", "Gift card"),
        ("<p title='Gift card' style='content:\\61ttr( title )'>", "Gift card"),
        ("<ul style='list-style:inside \"Gift card\"'><li></ul>", "gift card"),
    ],
)
def test_text_that_a_page_shows_by_other_means_is_doubtful(page: str, text: str) -> None:
    assert read(page).doubtful.split() == text.split()
    assert set(text.split()).isdisjoint(shown(page).split())


def test_pictures_in_urls_and_strings_that_are_no_text_are_not_read() -> None:
    page = "<style>p:after{content:none} q{quotes:none} li{list-style:none}</style>"
    assert read(page + "<img src='data:image/png;base64,Y2FyZA=='>").doubtful == ""


def test_words_after_many_line_ends_are_doubtful() -> None:
    for gap in ("<br>", "<p>&nbsp;</p>", "<br><hr> ", "&#8203;<br>"):
        assert shown("see " + gap * 20 + "above").replace("\u200b", "").split() == ["see", "above"]
        assert shown("see " + gap * 200 + "below <b>it").replace("\u200b", "").split() == ["see"]
        assert read("see " + gap * 200 + "below <b>it").doubtful.split() == ["below", "it"]
    message = parse(b"Subject: x\n\nsee\n" + b" \n" * 200 + b"below\nit\n")
    assert message.texts[0].split() == ["see"] and message.doubtful.split() == ["below", "it"]


@pytest.mark.parametrize(
    "page",
    [
        "<bdo dir=rtl>drac</bdo>", "<p style='unicode-bidi:bidi-override;direction:rtl'>drac</p>",
        "<b style='display:inline-flex;flex-direction:row-reverse'><i>d</i><i>r</i><i>&#97;</i><i>c</i></b>",
        "<style>.a{display:flex;flex-flow:row-reverse}</style><div class=a><i>d</i><i>ra</i><i>c</i></div>",
    ],
)  # fmt: skip
def test_text_whose_last_letter_is_shown_first_is_read_both_ways(page: str) -> None:
    tokens = Reader().tokens(f"Content-Type: text/html\n\nfree {page} <p>now".encode(), doubtful=True)
    assert {"free", "drac", "card", "now"} <= set(tokens)


def test_overrides_of_the_direction_are_read_as_they_are_shown() -> None:
    tokens = set(
        Reader().tokens(
            "Content-Type: text/plain; charset=utf-8\n\na \u202edrac t\u00e9g\u202c b \u202ewon\nc".encode()
        )
    )
    assert {"card", "gét", "now", "a", "b", "c"} <= tokens
