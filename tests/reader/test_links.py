"""Links: the hosts of URLs, and which attributes hold URLs."""

from __future__ import annotations

import html
import socket
import unicodedata

import idna
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from spamnb.reader.answers import Answers
from spamnb.reader.message import Reader, parse
from spamnb.settings import Settings

READER = Reader()


def page(body: str) -> bytes:
    return b"Content-Type: text/html; charset=utf-8\n\n" + body.encode("utf-8", "replace")


def told(url: str) -> list[str]:
    """Return the hosts of links in the tokens, and the domains above them."""
    link = page(f'<a href="{html.escape(url)}">x</a>')
    return [token.removeprefix("url:") for token in READER.tokens(link) if token.startswith("url:")]


@pytest.mark.parametrize(
    "url",
    [
        "http://evil.example", "http:\\\\evil.example", "http:/\\evil.example/x", "//evil.example",
        "\\\\evil.example\\x",
        "https:evil.example", "https:////evil.example", "HTTP://EVIL.example.", "ftp://evil.example",
        "http://evil%2Eexample", "http://evil。example", "http://e\u00advil.example", "ht\ntp://ev\til.exa\rmple",
        " \x01http://evil.example", "http://bank.example@evil.example", "http://bank.example%2f@evil.example",
        "http://a:b@c@evil.example:8080/", "http://evil.example:80", "http://evil.example:/?@bank.example",
        "http://evil.example\\@bank.example", "http://evil.example#@bank.example", "http://ｅｖｉｌ.example",
        *(f"http://bank.example{sign}@evil.example/" for sign in "&'<>\"|^ `{}"),
        " " * 3000 + "http://evil.example", "http:" + "/" * 3000 + "evil.example",
        "http://bank.example" + "x" * 3000 + "@evil.example",
        "http://" + "a" * 63 + "." + "b" * 63 + "." + "c" * 63 + ".evil.example",
    ],
)  # fmt: skip
def test_the_host_is_the_one_that_a_browser_goes_to(url: str) -> None:
    assert "evil.example" in told(url) and "bank.example" not in told(url)


@pytest.mark.parametrize("url", "#top /page.htm mailto:a@b.example data:text/html,x http: http:///?x http://@/".split())
def test_a_url_that_leads_to_no_host_has_none(url: str) -> None:
    assert told(url) == []


NUMBERS = st.integers(0, 1 << 33).flatmap(
    lambda number: st.sampled_from([str(number), hex(number), f"0X{number:X}", f"0{number:o}", str(number & 255)])
)


@given(st.lists(NUMBERS, min_size=1, max_size=4).map(".".join))
@example("256.1")
def test_addresses_are_read_as_the_c_library_reads_them(written: str) -> None:
    try:
        expected = socket.inet_ntoa(socket.inet_aton(written))
    except OSError:
        return  # no address
    assert expected in told(f"http://{written}/")


LETTERS = st.characters(categories=("Ll", "Lu", "Lo"), max_codepoint=0x3000)


@given(st.text(LETTERS, min_size=1, max_size=8))
@example("straße")
@example("Βόλος")
@example("ＥＸＡＭＰＬＥ")
@example("faß.BÜCHER")
@example("ẞ")
@example("A\u115f")
@example("ϲ")
def test_names_in_other_scripts_are_those_of_idna(written: str) -> None:
    try:
        coded = idna.encode(written, uts46=True).decode()
    except idna.IDNAError:
        return  # no such name can be registered
    expected = f"{idna.decode(coded)}.example"
    assert expected in told(f"http://{written}.example") and expected in told(f"http://{coded}.example")


def test_each_character_of_a_host_is_mapped_as_by_idna() -> None:
    answers, n_equal = Answers(Settings()), 0
    for char in map(chr, range(0x80, 0x110000)):
        if unicodedata.category(char) in ("Cs", "Cn"):  # Cn: this Python's Unicode is older than the character
            continue
        try:
            expected = idna.uts46_remap(char, std3_rules=False)
        except idna.IDNAError:
            continue  # allowed in no name
        assert answers.host(char.encode()).decode() == expected, f"U+{ord(char):04X}"
        n_equal += 1
    assert n_equal > 130_000


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://bücher.example.", ["bücher.example"]),
        ("https:/user:secret@a.example.net:8080", ["a.example.net", "example.net"]),
        ("http://0x7f000001/", ["127", "127.0", "127.0.0", "127.0.0.1"]),
        ("http://xn--pypal-4ve.example/", ["pаypal.example"]),
        ("http://a.b.c.d.e.example.org", ["d.e.example.org", "e.example.org", "example.org"]),
        ("http://[2001:DB8:0:0::1]:80/x", ["2001:db8::1"]), ("http://a@[::ffff:1.2.3.4]", ["::ffff:1.2.3.4"]),
        ("http://[::1", ["::1"]), ("http://[x]", []),
        (f"http://{'a' * 63}.example", ["a" * 63 + ".example"]),
    ],
)  # fmt: skip
def test_what_is_told_of_a_url(url: str, expected: list[str]) -> None:
    assert sorted(told(url)) == sorted(expected)


def test_names_of_hosts_are_asked_for_a_number_of_times_and_stay_text() -> None:
    many = READER.tokens(page("".join([f"<a href='http://{n}%ec.bücher.example/'>x</a>" for n in range(300)])))
    assert "truncated:names" in many and all(token.encode() for token in many)


def test_of_too_many_links_the_first_and_the_last_are_read() -> None:
    many = page("".join([f"<a href='http://h{number}.example/'>x</a>" for number in range(3000)]))
    assert {"url:h0.example", "url:h2999.example"} <= set(READER.tokens(many)) and parse(many).truncations == ("links",)


STARTS = st.sampled_from(["", "http://", "//", "http://a@", "http://[", "http://a/?u=http://", "xn--"])
PIECES = st.sampled_from(
    "http s : / // \\ ?u= % %2F %3A www. a.example @ [::1] 0x7f 1.2.3.4 . = & # xn-- é \u3002 \xad /s/ -3A__".split()
)


@given(st.lists(PIECES | st.text(max_size=3)).map("".join) | st.text(max_size=200), STARTS)
@example("%ed%a0%80", "http://")
@example("1" * 5000, "http://")
@example("xn--\U0010ffff", "http://")
def test_any_text_is_a_url(text: str, start: str) -> None:
    for token in told(start + text):
        assert len(token.encode()) < 256 and not set(token) & set(' \t\n/\\@?#<>"')


U = "http://a.example/b"


@pytest.mark.parametrize(
    "tag",
    [
        *(f"<{attribute}='{U}'>" for attribute in (
            "a href", "base href", "a xlink:href", "iframe src", "td background", "form action", "button formaction")),
        *(f"<meta http-equiv=refresh content=\"{value}\">" for value in (f"0;URL={U}", f" 5 ; URL = '{U}' x")),
        "<a href=' http://a.example/b '>",
    ],
)  # fmt: skip
def test_urls_of_tags_are_links(tag: str) -> None:
    assert parse(page(f"{tag}x")).links == (U,)


@pytest.mark.parametrize(
    "body", [f"<a href='{U}'>x</a>", f"<p><a href={U}><img alt=''><br><b>x</b></a>", f"y<a href={U}>&nbsp;x"]
)
def test_a_link_that_shows_text_is_plain(body: str) -> None:
    assert "url:a.example" in READER.tokens(page(body))


@pytest.mark.parametrize(
    "body",
    [
        f"<a href='{U}'></a>x", f"<a href='{U}'> &#8203;&nbsp;</a>x", f"<a href='{U}'><img src=cid:1></a>x",
        f"<a href='{U}'><i style='display:none'>x</i></a>x", f"<div hidden>y<a href='{U}'>x</a></div>x",
        f"<a href='{U}'></a><a href='http://b.example'>x</a>", f"<img src='{U}' width=1>x",
        f"<form action='{U}'>x</form>",
        f"<a href='{U}'><style>a {{ animation: x }}</style>x</a>",
    ],
)  # fmt: skip
def test_a_host_that_nobody_sees_is_doubtful(body: str) -> None:
    """A sender could add any number of links to hosts that good mail has."""
    raw = page(body)
    assert "url:a.example" not in READER.tokens(raw) and "url:a.example" in READER.tokens(raw, doubtful=True)
    assert U in parse(raw).links


def test_links_of_an_attached_page_are_doubtful() -> None:
    raw = b"Content-Disposition: attachment\n" + page(f"<a href='{U}'>x</a>")
    assert "url:a.example" not in READER.tokens(raw) and "url:a.example" in READER.tokens(raw, doubtful=True)


@pytest.mark.parametrize(
    ("text", "links"),
    [
        ("See http://a.example/b?c=d. Or (https://b.example), <ftp://c.example>",
         ("http://a.example/b?c=d", "https://b.example", "ftp://c.example")),
        ("\"http://a.example/\" x://", ("http://a.example/",)), ("://", ()), ("nothing: // here", ()),
    ],
)  # fmt: skip
def test_addresses_in_plain_text_are_links(text: str, links: tuple[str, ...]) -> None:
    raw = b"Content-Type: text/plain\n\n" + text.encode()
    assert parse(raw).links == links
    assert {f"url:{link.split('/')[2]}" for link in links if "/" in link} <= set(READER.tokens(raw))
    alternative = b"Content-Type: multipart/alternative; boundary=b\n\n--b\n" + raw
    assert parse(alternative + b"\n--b\nContent-Type: text/html\n\n<p>x\n--b--\n").links == ()
