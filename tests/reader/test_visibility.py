"""What a person sees of HTML, and what not: mails that were made to deceive, and lexbor's reading."""

from __future__ import annotations

import html.entities

import pytest
from hypothesis import given
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from spamnb.reader.message import Message, Reader

READER = Reader()


def read(page: str) -> Message:
    return READER.parse(b"Content-Type: text/html; charset=utf-8\n\n" + page.encode())


def shown(page: str) -> str:
    return " ".join(" ".join(read(page).texts).split())


# A browser shows the text of all of these.
SEEN = [
    "<title><style>.a{display:none}</style></title><p class=a>text",
    "<p title='<style>.a{display:none}</style>'>x</p><p class=a>text",
    "<title><body text=white></title><p>text",
    "<p style=\"font-family:';display:none;'\">text",
    "<p style='font-size:2e1px'>text",
    # and more of the kind
    "<!-- <style>.a{display:none}</style> --><p class=a>text",
    "<textarea><style>.a{display:none}</style></textarea><p class=a>text",
    "<style>.a{display:none}</style><p class=a>text<style>.a{display:block}</style>",
    "<style>.a{display:none} body .a{display:block}</style><p class=a>text",
    "<style>.a{display:none} @media (min-width:1px){.a{display:block}}</style><p class=a>text",
    "<style>.a{display:none} @supports (color:red){.a{display:block}}</style><p class=a>text",
    "<style>.a{display:none} .a:first-child{display:block}</style><p class=a>text",
    "<style>.a{display:none;&{display:block}}</style><p class=a>text",
    "<style>.x{a:(} .a{display:none} )}</style><p class=a>text",
    "<style>.x{a:url(a'b)} .b{color:red}</style><p class=a>text",
    "<style>.a, :no-such(x){display:none}</style><p class=a>text",
    "<style type=text/plain>.a{display:none}</style><p class=a>text",
    "<style media=print>.a{display:none}</style><p class=a>text",
    "<style>@media print{.a{display:none}}</style><p class=a>text",
    "<template><style>.a{display:none}</style></template><p class=a>text",
    "<p style='display:none;display:block'>text",
    "<p style='display:block!important;display:none'>text",
    "<p style='color:white;background:url(x.png)'>text",
    "<p style='color:white;text-shadow:0 0 2px black'>text",
    "<p style='color:#fff!importan'>text",
    "<p style='color:no-such'>text",
    "<!doctype html><p style='font-size:1'>text",
    "<p style='opacity:50%'>text",
    "<p style='height:0;padding:9px;overflow:hidden'>text",
    "<p style='height:0%;overflow:hidden'>text",
    "<body bgcolor=black text=white><p>text",
    "<p>text<body bgcolor=black text=white>",
    "<table bgcolor=black><tr><td><p><font color=white>x<p>text</table>",
    "<b><div style='background:#000'>x</b><span style='color:#fff'>text</span></div>",
    "<body bgcolor=black text=white><span style='background:white'><div>text</div></span>",
    "<div style='visibility:hidden'><p style='visibility:visible'>text</div>",
    "<div style='display:none'>x</div>text",
    "<span style='display:none'>x</span>text",
    "<p style='display:none'>x<p>text",
    "<style>p{/*}*/}</style><p style='/*;display:none;*/'>text",
    "<p style='" + "color:red;" * 200 + "display:block' hidden>text",
    "<style>.a{display:none}" + "b{color:red}" * 3001 + ".a{display:block}</style><p class=a>text",
    "<style>.a{display:none}" + "@media screen{" * 12 + ".a{display:block}" + "}" * 12 + "</style><p class=a>text",
    "<style>.x0{display:none}.a{display:block}</style><p class='" + " ".join(f"x{i}" for i in range(40)) + " a'>text",
    "<style>.a{display:none} .a:is-new{display:block}</style><p class=a>text",
    "<style>.a{display:none} " + "b" * 5000 + ",.a{display:block}</style><p class=a>text",
    "<style>.a{display:none} @media (x:" + "y" * 1000 + "), all{.a{display:block}}</style><p class=a>text",
    "<p style='display:none;all:unset'>text",
    "<body style='height:0;overflow:hidden'>text",
    "<p style='width:0;padding:0 9px;overflow:hidden'>text",
    "<p style='position:absolute;left:-9999px;transform:translateX(9999px)'>text",
    "<p style='position:absolute;left:-9999px;inset-inline-start:0'>text",
    "<div style='margin-left:-9999px'><p style='position:relative;left:9999px'>text</div>",
    "<div style='margin-left:-9999px'><p style='position:fixed'>text</div>",
    "<style>div .a{margin-left:9999px}</style><div style='margin-left:-9999px'><p class=a>text</div>",
    "<dialog style='display:block'>text</dialog>",
    "<style>.A{display:none}</style><!doctype html><p class=b>text",
]
# And of these it shows none.
UNSEEN = [
    "<p style='opacity:1e-9'>text",
    "<p title='<!--'></p><style>.a{display:none}</style><p class=a>text",
    "<p style='display:none'>text",
    "<p style='DISPLAY : None !IMPORTANT'>text",
    "<p style='display:n\\6f ne'>text",
    "<p style='d\\69splay:none'>text",
    "<p style='/**/display:/**/none'>text",
    "<p hidden>text",
    "<p style='font-size:0'>text",
    "<p style='font-size:1e-1px'>text",
    "<p style='font:0/0 a'>text",
    "<p style='visibility:hidden'>text",
    "<p style='color:white'>text",
    "<p style='color:#fefefe'>text",
    "<p style='color:rgb(255 255 255 / 100%)'>text",
    "<p style='color:rgba(0,0,0,0)'>text",
    "<font color=white>text</font>",
    "<body bgcolor=black><p>text",
    "<body text=white><p>text",
    "<table bgcolor=red><tr><td><font color=red>text</font></table>",
    "<div style='opacity:.3'><p style='opacity:.2'>text</div>",
    "<div style='display:none'><p style='display:block'>text</div>",
    "<div style='font-size:1px'><p style='font-size:2em'>text</div>",
    "<div style='max-height:0;overflow:hidden'>text</div>",
    "<p style='position:absolute;left:-9999px'>text",
    "<p style='margin-left:-9999px'>text",
    "<div style='max-height:0;overflow:hidden'><p style='margin:0 auto'>text</div>",
    "<dialog>text</dialog>",
    "<style>div .a{margin-left:9px}</style><div style='margin-left:-9999px'><p class=a>text</div>",
    "<style>.a{display:none}</style><p class='b a'>text",
    "<style>p.a.b{display:none}</style><p class='b a'>text",
    "<style>#i{display:none}</style><p id=i>text",
    "<style>P{display:none}</style><p>text",
    "<style>.a{display:none!important}</style><p class=a style='display:block'>text",
    "<style>@media screen{.a{display:none}}</style><p class=a>text",
    "<style>@media (max-width:9999px){.a{display:none}}</style><p class=a>text",
    "<style><!-- .a{display:none} --></style><p class=a>text",
    "<style>.a\\:b{display:none}</style><p class=a:b>text",
    "<style>a:hover,.a{display:none}</style><p class=a>text",
    "<p class=a>text<style>.a{display:none}</style>",
    "<details><summary></summary>text</details>",
    "<template>text</template>",
    "<script>text</script>",
    "<!--text-->",
    "<noframes>text</noframes>",
    "<p style='background:black'>text",
    "<div style='color:red'><span style='background:red'>text</span></div>",
]


@pytest.mark.parametrize("page", SEEN)
def test_what_a_browser_shows_is_seen(page: str) -> None:
    message = read(page)
    assert "text" in " ".join(message.texts) and "text" not in message.hidden


@pytest.mark.parametrize("page", UNSEEN)
def test_what_a_browser_hides_is_not_seen(page: str) -> None:
    assert "text" not in shown(page)


def test_why_text_is_hidden_is_told_once() -> None:
    page = "<p style='display:none'>a<p style='display:none'>b<p style='font-size:0'>c<p style='color:white'>d"
    facts = [fact for fact in read(page).html if fact.startswith("css:")]
    assert sorted(facts) == ["css:display-none", "css:same-color", "css:tiny"]


def test_splits_and_mismatches_are_told() -> None:
    assert "tag-split" in read("V<b></b>iagra").html and "comment-split" in read("V<!-- x -->iagra").html
    link = "<a href=http://evil.example>https://www.bank.example/login</a>"
    assert "link-mismatch" in read(link).html
    assert "link-mismatch" not in read(link.replace("bank.example/login", "evil.example")).html


def test_all_references_are_those_of_the_standard_library() -> None:
    names = list(html.entities.html5)
    page = "<pre>" + "|".join(f"&{name}" if name.endswith(";") else f"&{name} " for name in names) + "</pre>"
    expected = "|".join(html.entities.html5[name] + ("" if name.endswith(";") else " ") for name in names)
    found = read(page).texts[0]
    assert found.strip("\n ").replace("\r", "\n") == expected.strip("\n ").replace("\r", "\n")


@given(st.text(st.sampled_from("<>/&;=\"'!-ab1 #xp"), max_size=60))
def test_text_outside_of_tags_is_lexbors(page: str) -> None:
    if any(word in page.lower() for word in ("<xp", "<b", "<a", "</a", "</b", "<p", "</p", "<x", "</x")):
        page = page.replace("<", "&lt;")
    body = LexborHTMLParser(f"<!doctype html><body><div>{page}</div>").body
    expected = body.text(deep=True) if body else ""
    found = read(f"<!doctype html><body><div>{page}</div>").texts[0]
    assert "".join(found.split()) == "".join(expected.split())


BLOCKS = st.recursive(
    st.text("abc ", min_size=1, max_size=8),
    lambda inside: st.tuples(
        st.sampled_from("p div b i span td table tr ul li font a h1".split()), st.lists(inside, max_size=3)
    ).map(lambda found: f"<{found[0]}>{''.join(found[1])}</{found[0]}>"),
    max_leaves=12,
)


@given(st.lists(BLOCKS, max_size=5).map("".join))
def test_words_of_nested_elements_are_lexbors(page: str) -> None:
    body = LexborHTMLParser(f"<!doctype html><body>{page}").body
    expected = body.text(deep=True) if body else ""
    assert sorted(shown(page).replace(" ", "")) == sorted("".join(expected.split()))
