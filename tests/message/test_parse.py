"""Small cases, each with the one thing that it must show; the corpora are in test_oracle.py."""

import base64
import binascii
import pickle
import re
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from uncompiled import uncompiled

import spamnb.message
from spamnb.message import headers
from spamnb.message.charsets import decode, resolve
from spamnb.message.colors import NAMED_COLORS, parse_color
from spamnb.message.encodings import decode_words, transfer_decode
from spamnb.message.field_scanner import VOLATILE, VOLATILE_PREFIXES, FieldScanner, is_volatile
from spamnb.message.headers import MAX_FIELDS, MAX_HEADER_BYTES, VOLATILE_FIELD, parameters
from spamnb.message.html import MAX_TAGS, TAIL, read_html
from spamnb.message.mime import MAX_DEPTH, MAX_PARTS, MAX_TEXT, MIN_TEXT
from spamnb.message.parse import Message, parse
from spamnb.message.truncations import KINDS, what_was_cut


def html(body: str, charset: str = "utf-8") -> Message:
    head = f"Content-Type: text/html; charset={charset}\n\n"
    return parse(head.encode() + body.encode(charset))


def words(message: Message) -> list[str]:
    return " ".join(message.texts).split()


def test_fields_in_order_unfolded_and_found_by_any_case():
    message = parse(b"Received: a\n\tb\nSubject: hi\nreceived:c\n\nbody")
    assert message.headers == (("Received", "a\tb"), ("Subject", "hi"), ("received", "c"))
    assert message.header("RECEIVED") == "a\tb"
    assert message.header_all("Received") == ["a\tb", "c"]
    assert message.header("to") == "" and message.header_all("to") == []


@pytest.mark.parametrize(
    ("raw", "names", "text"),
    [
        (b"", [], ""),
        (b"\n", [], ""),
        (b"\nbody", [], "body"),
        (b"body only", [], "body only"),
        (b"Subject: no body", ["Subject"], ""),
        (b"Subject: no body\n", ["Subject"], ""),
        (b"Subject: x\nbody without a blank line\nmore", ["Subject"], "body without a blank line\nmore"),
        (b"Subject: x\nbody: with a colon is a field\nmore", ["Subject", "body"], "more"),
        (b"Subject: re : fwd : x\nto : be or not\n", ["Subject"], "to : be or not\n"),
        (b"URGENT: call 0900 now", [], "URGENT: call 0900 now"),
        (b"Received: a\nwrapped without indent\nSubject: x\n\nbody", ["Received", "Subject"], "body"),
        (b"Received: a\nSubject : x\nTo: y\n\nbody", ["Received", "Subject", "To"], "body"),
        (b"From a@b.example Thu Jan  1 00:00:00 2004\nTo: x\n\nbody", ["To"], "body"),
        (b">From a@b.example Thu Jan  1 00:00:00 2004\nTo: x\n\nbody", ["To"], "body"),
        (b"From someone\nTo: x\n\nbody", ["To"], "body"),
        (b"From now on, everything is free", [], "From now on, everything is free"),
        (b"From now on, everything\nis free", [], "From now on, everything\nis free"),
        (b"\xef\xbb\xbfTo: x\n\nbody", ["To"], "body"),
        (b" continuation first\nTo: x\n\nbody", ["To"], "body"),
        (b"To: x\n: no name\nCc: y\n\nbody", ["To", "Cc"], "body"),
    ],
)
def test_where_headers_end(raw, names, text):
    message = parse(raw)
    assert [name for name, _ in message.headers] == names
    assert message.texts == (text,)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("=?iso-8859-1?Q?caf=E9?=", "café"),
        ("=?utf-8?B?Y2Fmw6k=?= au lait", "café au lait"),
        ("=?utf-8?Q?a?= =?utf-8?Q?b?=", "ab"),
        ("=?utf-8?Q?a?= b =?utf-8?Q?c?=", "a b c"),
        ("=?utf-8?Q?caf=C3?= =?utf-8?Q?=A9?=", "café"),  # a character cut in two
        ("=?koi8-r?B?8NLJ18XU?=", "Привет"),
        ("=?utf-8*en?Q?x_y?=", "x y"),
        ("=?no-such?Q?caf=C3=A9?=", "café"),
        ("=?rot13?Q?abc?=", "abc"),
        ("=?utf-8?Q?unclosed", "=?utf-8?Q?unclosed"),
        ("=?utf-8?X?abc?=", "=?utf-8?X?abc?="),
        ("(=?utf-8?Q?a?=)", "(a)"),
        ("=?utf-8?Q?a=0Ab?=", "a b"),
        ("=?utf-8?B?YWJjZA?=", "abcd"),  # padding left out
        ("café", "café"),
    ],
)
def test_encoded_words(value, text):
    assert decode_words(value) == text
    assert parse(f"Subject: {value}\n\n".encode()).header("subject") == text


def test_raw_bytes_in_a_header_that_are_no_utf8_are_windows_1252():
    assert parse(b"Subject: caf\xe9 \x93x\x94\n\n").header("subject") == "café “x”"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("text/plain; charset=UTF-8", {"charset": "UTF-8"}),
        ('a; b="c\\"; d"; e=f', {"b": 'c"; d', "e": "f"}),
        ("a; filename*=UTF-8''caf%C3%A9.txt", {"filename": "café.txt"}),
        ("a; filename*1*=%A9.txt; filename*0*=UTF-8'en'caf%C3", {"filename": "café.txt"}),
        ('a; filename="=?utf-8?Q?caf=C3=A9?="', {"filename": "café"}),
        ('a; name="unclosed', {"name": "unclosed"}),
        ("a; name=my file.doc", {"name": "my file.doc"}),
        ("a; b=1; b=2", {"b": "1"}),
    ],
)
def test_parameters(value, expected):
    assert parameters(value)[1] == expected


def test_what_hostile_mail_says_of_its_parts_is_not_remembered_at_length():
    before = headers._parameters.cache_info().currsize
    for n in range(9):
        assert parameters(f"text/plain; name={n}" + "x" * 2000)[1]["name"] == str(n) + "x" * 2000
    assert headers._parameters.cache_info().currsize == before


def multipart(*parts: str, boundary: str = "b", end: str = "--b--\n", kind: str = "mixed") -> bytes:
    body = "".join(f"--{boundary}\n{part}\n" for part in parts)
    return f"Content-Type: multipart/{kind}; boundary={boundary}\n\npreamble\n{body}{end}".encode()


TEXT, PAGE = "Content-Type: text/plain\n\none", "Content-Type: text/html\n\n<b>two</b>"


TWICE = b"Content-Type: multipart/mixed; boundary=b\n\n--b\n--b\n\none\n--b\n--b\n--b\n\ntwo\n--b--\n"
ALTERNATIVES = "Content-Type: multipart/alternative; boundary=i\n\n--i\n" + TEXT + "\n--i\n" + PAGE
LIKE_ANOTHER = "Content-Type: multipart/mixed; boundary=bc\n\n--bc\n\none\n--bc\n\ntwo\n--bc--"
ATTACHED = "Content-Disposition: attachment\n\nthree"


@pytest.mark.parametrize(
    ("raw", "texts"),
    [
        (multipart(ALTERNATIVES, "\nthree"), ("two", "one", "three")),  # unclosed, it ends with its parent
        (multipart(ATTACHED, ALTERNATIVES + "\n--i--"), ("two", "one", "three")),  # as a reader sees them
        (multipart(LIKE_ANOTHER, "\nthree"), ("one", "two", "three")),
        (TWICE, ("one", "two")),
        (b"Content-Type: multipart/mixed; boundary=b\n\njust text", ("just text",)),
        (multipart("\nSubject: a\n\none", "\nSubject: b\n\ntwo", kind="digest"), ("a", "one", "b", "two")),
        (multipart("Content-Type: message/delivery-status\n\nAction: failed\n"), ("Action: failed",)),
        *((b"Content-Type: " + kind + b"\n\n<b>x", ("<b>x",)) for kind in (b"text", b"nonsense", b"text/plain/x", b"")),
        *((b"Content-Type: " + kind + b"\n\n<b>x", ("<b>x",)) for kind in (b";", b"/", b"text / plain")),
        (b"Content-Type: text/html (comment)\n\n<b>x", ("x",)),
        ("Content-Type: text/plain charset=koi8-r\n\nда".encode("koi8-r"), ("да",)),
        ("Content-Type: text/html\n\n<meta charset=koi8-r><p>да".encode("koi8-r"), ("да",)),
    ],
)
def test_texts_of_a_message(raw, texts):
    assert tuple(text.strip() for text in parse(raw).texts) == texts


def test_parts_of_a_multipart():
    message = parse(multipart(TEXT, PAGE, "Content-Type: image/gif; name=a.gif\n\nGIF", "\nno header"))
    assert message.texts == ("one", "two", "no header")
    assert [part.content_type for part in message.parts] == ["text/plain", "text/html", "image/gif", "text/plain"]
    assert message.parts[2].filename == "a.gif" and message.parts[2].size == 3


@pytest.mark.parametrize("end", ["--b--\nepilogue", "--b--", "", "--b\n"])
def test_end_of_a_multipart(end):
    assert words(parse(multipart(TEXT, PAGE, end=end))) == ["one", "two"]
    assert "epilogue" not in " ".join(parse(multipart(TEXT, end=end)).texts)


def test_missing_boundary_parameter_is_guessed_from_the_first_line_that_can_be_one():
    raw = multipart(TEXT, PAGE, boundary="=_Next", end="--=_Next--\n")
    for parameter in (b"boundary=other", b"", b"boundary="):
        assert parse(raw.replace(b"boundary==_Next", parameter)).texts == ("one", "two")


@pytest.mark.parametrize("encoding", ["7bit", "base64", "quoted-printable"])
def test_message_inside(encoding):
    inside = b"Subject: inner\nContent-Type: text/html\n\n<p>inside\n"
    coded = {"7bit": inside, "base64": base64.encodebytes(inside), "quoted-printable": binascii.b2a_qp(inside)}
    head = f"Content-Type: message/rfc822\nContent-Transfer-Encoding: {encoding}\n\n"
    message = parse(head.encode() + coded[encoding])
    assert words(message) == ["inner", "inside"] and message.header("subject") == ""


@pytest.mark.parametrize(
    ("encoding", "octets", "expected"),
    [
        ("base64", b"aGVsbG8", b"hello"),
        ("base64", b"aGVsbG8gYW!dhaW4=", b"hello again"),
        ("base64", b"", b""),
        ("base64", b"====", b""),
        ("base64", b"a", b""),
        ("quoted-printable", b"caf=C3=A9=\n!", "café!".encode()),
        ("quoted-printable", b"=ZZ =", b"=ZZ "),
        ("x-uuencode", b"begin 644 x\n%:&5L;&\\\n`\nend\n", b"hello"),
        ("x-uuencode", b"no file", b"no file"),
        ("no-such", b"as it is", b"as it is"),
    ],
)
def test_transfer_encodings(encoding, octets, expected):
    assert transfer_decode(octets, encoding) == expected


def test_uuencoded_file_leaves_the_text_and_becomes_a_part():
    lines = b"".join(binascii.b2a_uu(b"secret words %d\n" % n) for n in range(5))
    for name, texts in ((b"a.exe", 1), (b"a.txt", 2)):
        message = parse(b"\nbefore\nbegin 644 " + name + b"\n" + lines + b"`\nend\nafter\n")
        assert message.texts[0] == "before\n\nafter\n" and len(message.texts) == texts
        assert message.parts[1].filename == name.decode() and message.parts[1].encoding == "x-uuencode"
    assert message.texts[1].splitlines() == [f"secret words {n}" for n in range(5)]


@pytest.mark.parametrize("charset", ["us-ascii", "utf-16-le"])
def test_encoded_line_ends_become_line_feeds(charset):
    raw = f"Content-Type: text/plain; charset={charset}\nContent-Transfer-Encoding: base64\n\n".encode()
    assert parse(raw + base64.encodebytes("a\r\nb\rc\n".encode(charset))).texts == ("a\nb\nc\n",)


def test_many_beginnings_of_uuencoded_files():
    text = "begin 644 a.txt\n" * 20_000
    message = parse(b"\n" + text.encode())
    assert message.texts == (text,) and len(message.parts) == 1
    lines = "begin 644 a.txt\n%:&5L;&\\\n"
    assert len(parse(b"\n" + lines.encode() * 20_000).parts) == 1
    assert len(parse(b"\n" + (lines + "end\n").encode() * 20_000).parts) == MAX_PARTS


def test_every_charset_of_python_round_trips():
    tried = 0
    for name in sorted(set(sys.modules["encodings.aliases"].aliases.values()) | {"koi8_u", "cp720", "mac_roman"}):
        try:
            octets = "Hello, plain words; ".encode(name)
            assert octets.decode(name) == "Hello, plain words; "
        except (LookupError, TypeError, AttributeError, UnicodeError, AssertionError):
            continue  # zlib, hex and other codecs that are no charsets
        if name in ("idna", "punycode", "unicode_escape", "raw_unicode_escape"):
            continue
        assert decode(octets, name) == "Hello, plain words; ", name
        tried += 1
    assert tried > 90


@pytest.mark.parametrize("name", ["rot13", "zip", "bz2", "hex", "base64", "idna", "punycode", "unicode_escape",
                                  "undefined", "uu", "../os", "\0", "é", "x" * 1000, "", "utf-8\ud800"])  # fmt: skip
def test_codecs_that_are_no_charset(name):
    assert resolve(name)[0] == "cp1252"
    assert decode("café \\u0041".encode(), name) == "café \\u0041"


def test_names_that_mail_makes_up_are_not_looked_up(monkeypatch):
    looked_up = []
    monkeypatch.setattr("spamnb.message.charsets.codecs.lookup", looked_up.append)
    assert resolve("made-up-1") == resolve("x-made-up-2") == ("cp1252", True)
    assert not looked_up  # Python remembers each of these for ever


def test_wrong_claims():
    assert decode("naïve café".encode(), "us-ascii") == "naïve café"
    assert decode("naïve café".encode(), "iso-8859-1") == "naïve café"
    assert decode(b"na\xefve caf\xe9", "utf-8") == "naïve café"
    assert decode("naïve café".encode() + b"\xe9", "utf-8") == "naïve café\ufffd"  # a spoilt end is no wrong claim
    assert decode(b"\x93x\x94", "iso-8859-1") == "“x”"
    assert decode(b"\x81\xff", None) == "\x81ÿ"


def test_no_lone_surrogates():
    for octets in (b"+2AA-", b"+3AA-x", b"\xed\xa0\x80", b"+2AA-+3AA-"):
        decode(octets, "utf-7").encode()
        decode(octets, "utf-8").encode()
    html("&#xD800;&#xDFFF;x").texts[0].encode()


@pytest.mark.parametrize(
    ("body", "expected", "fact"),
    [
        ("V<b></b>iagra", "Viagra", "tag-split"),
        ("V<!-- x -->iagra", "Viagra", "comment-split"),
        ("V<!x>iagra", "Viagra", "comment-split"),
        ("V<font size=1></font>iagra", "Viagra", "tag-split"),
        ("V<xyz>iagra", "Viagra", "tag:unknown"),
        ("V<i>i</i>agra", "Viagra", "tag:i"),
        ("V&#105;agra", "Viagra", None),
        ("V<span style='display:none'>xx</span>iagra", "Viagra", "hidden"),
    ],
)
def test_what_stands_inside_a_word_does_not_split_it(body, expected, fact):
    message = html(f"<p>buy {body} now</p>")
    assert words(message) == ["buy", expected, "now"]
    assert fact is None or fact in message.html


def test_no_split_where_none_is():
    assert html("<p>a <b></b> b <!-- c --> d</p><!-- e --><td></td>x").html == ("tag:b", "tag:p", "tag:td")


@pytest.mark.parametrize(
    ("body", "seen"),
    [
        ("<p>a&#13;&#10;b&#13;c</p>", "a\nb\nc\n"),
        ("<title>offer</title><style>p {x}</style><script>var y</script><noscript>n</noscript><p>z", "offer\nn\nz"),
    ],
)
def test_line_ends_in_references_are_line_feeds_and_scripts_and_styles_no_text(body, seen):
    assert html(body).texts[0].split() == seen.split() and "\r" not in html(f"{body}<p hidden>a&#13;b").hidden


def test_names_of_colours_are_those_of_css():
    css = pytest.importorskip("matplotlib.colors", reason="the extra spamnb[plot] is not installed").CSS4_COLORS
    assert {name: parse_color(hexadecimal) for name, hexadecimal in css.items()} == NAMED_COLORS


HIDDEN = [
    '<span style="DISPLAY : None">',
    '<span style="font-size: 0px;">',
    '<span style="font-size:1px">',
    '<span style="&#100;isplay:none">',
    "<span style=display:none>",
    "<span style = 'display:none'>",
    '<span style="background:black;color:#010101">',
    "<font color='#FFFFFE'>",
    "<div style='max-height: 0px; overflow-y: hidden'>",
    "<span hidden>",
    "<style>#x{color:#fff}</style><span id=x>",
]


@pytest.mark.parametrize("opening", HIDDEN)
def test_hidden_text(opening):
    tag = opening.rpartition("<")[2].split()[0].rstrip(">")
    message = html(f"<body><p>seen {opening}secret <b>too</b></{tag}> shown</p>")
    assert words(message) == ["seen", "shown"]
    assert message.hidden.split() == ["secret", "too"]
    assert "hidden" in message.html


@pytest.mark.parametrize(
    "body",
    [
        "<table bgcolor=black><tr><td><font color=white>{}</font></table>",
        "<div style='background:url(a.png)'><font color=white>{}</font></div>",
        "<table><td background=a.png><font color=white>{}</font></td></table>",
        "<table><td style='background-image:url(a.png)'><font color=white>{}</font></td></table>",
        "<style>body{{margin:0}}\nhtml, body{{background-color:#000}}</style><font color=white>{}</font>",
        "<style>body{{background:url(a.png)}}</style><span style='color:#fff'>{}</span>",
        "<style>body{{color:#fff}}</style><body bgcolor=navy><i style='opacity:0'></i>{}",
        "<font color=white><font color=black>{}</font></font>",
        "<span style='font-size:1.2em'>{}</span>",
        "<span style='font: 12px/1 Arial'>{}</span>",
        "<span style='overflow:hidden;height:20px'>{}</span>",
        "<p>the hidden {}",
        "<input type=hidden value=x><p>{}",
    ],
)
def test_text_that_only_looks_hidden(body):
    message = html(body.format("shown"))
    assert "shown" in words(message) and message.hidden == "" and "hidden" not in message.html


def test_body_colours():
    assert html("<body text=white>secret").hidden.strip() == "secret"
    assert html("<body text=white bgcolor=navy>shown").hidden == ""
    assert html("<style>body{color:#fff}</style><body>secret").hidden.strip() == "secret"
    assert html("<style>body{background:#000}</style><font color=black>secret</font>").hidden.strip() == "secret"
    stronger = "<style>body{background:#000}</style><body bgcolor=white><p style='color:#fff'>shown"
    assert html(stronger).hidden == ""


def test_links_images_forms():
    message = html(
        "<a href=' http://a.example/x\ny '>a</a><area href=mailto:b@c><img src=cid:1><table background=p.gif>"
        "<form action=http://f.example></form><link href=s.css><script src=s.js></script><a>none</a><a href>"
    )
    assert message.links == ("http://a.example/xy", "mailto:b@c")
    assert message.images == ("cid:1", "p.gif")
    assert message.forms == ("http://f.example",)
    assert {"tag:a", "tag:img", "tag:form", "tag:script"} <= set(message.html)


def test_header_bounds():
    many = parse(b"".join(b"X-%d: y\n" % n for n in range(MAX_FIELDS + 7)) + b"\nbody")
    assert len(many.headers) == MAX_FIELDS and many.texts == ("body",) and len(many.truncations) == 1
    long = parse(b"Subject: " + b"x" * (2 * MAX_HEADER_BYTES) + b"\nTo: y\n\nbody")
    assert len(long.header("subject")) <= MAX_HEADER_BYTES and long.texts == ("body",) and len(long.truncations) == 1
    full = parse(b"Subject: " + b"x" * (MAX_HEADER_BYTES - 10) + b"\n\nbody\n\nmore")
    assert len(full.header("subject")) == MAX_HEADER_BYTES - 10 and full.texts == ("body\n\nmore",)


def test_depth_bound():
    raw = b"the end"
    for level in range(3 * MAX_DEPTH):
        raw = b"Content-Type: multipart/mixed; boundary=b%d\n\n--b%d\n%b\n--b%d--\n" % (level, level, raw, level)
    message = parse(raw)
    assert message.truncations == (f"parts nested deeper than {MAX_DEPTH}",)
    assert "the end" in message.texts[0]
    raw = b"the end"
    for _ in range(3 * MAX_DEPTH):
        raw = b"Content-Type: message/rfc822\n\n" + raw
    assert parse(raw).truncations == (f"parts nested deeper than {MAX_DEPTH}",)


def test_parts_and_text_are_bounded():
    message = parse(multipart(*["\nx"] * (2 * MAX_PARTS)))
    assert len(message.parts) == MAX_PARTS and message.truncations == (f"parts after the first {MAX_PARTS}",)
    message = parse(multipart("\n" + "word " * (MAX_TEXT // 10), "\n" + "more " * MAX_TEXT, "\nlast"))
    assert len(message.texts[0]) + len(message.texts[1]) == MAX_TEXT and message.texts[2] == "last"
    assert message.truncations == (f"text beyond {MAX_TEXT} bytes",)


def test_of_text_that_is_too_long_the_beginning_and_the_end_are_read():
    long = b"begins " + b"word " * MAX_TEXT + b"ends"
    for encoding, body in ((b"7bit", long), (b"base64", base64.encodebytes(long))):
        (text,) = parse(b"Content-Transfer-Encoding: " + encoding + b"\n\n" + body).texts
        assert text.startswith("begins word") and text.endswith("word ends") and len(text) == MAX_TEXT


def test_of_many_texts_that_are_too_long_something_of_each_is_read():
    message = parse(multipart("\n" + "word " * MAX_TEXT, *["\n" + "more " * MAX_TEXT] * 9))
    assert {len(text) for text in message.texts} == {MAX_TEXT, MIN_TEXT}


COSTLY_PAGES = [
    "<div>" * 40_000 + "deep",
    "<b><i><font>" * 16_000,
    "<a " + " ".join(f"x{n}" for n in range(40_000)) + ">x",
    "<p>" + "".join(f"<b id={n}>" for n in range(3000)) + "</p><p>x" * 3000,
    "<p><b " + " ".join(f"x{n}" for n in range(1500)) + ">" + "<p>x" * 1500,
    "<p><a href=x" + " ".join(f"x{n}" for n in range(1500)) + ">" + "<p>x" * 1500,
    "<table><b>" * 5000 + "x" * 1000,
    "<table>x" * 16_000,
    "<p><object>" + "<span>" * 500 + "<div></div>" * 20_000,
    "<x>" + "<y>" * 500 + "</z>" * 40_000,
    "<b>" + "<div>" * 500 + "<b><p></b>" * 5_000,
    "<a href=http://a.example>" + "x" * 500_000,
    "<li><div>" * 20_000,
    "&" * 500_000, "&amp" * 100_000, "&#" * 200_000, "&#x" + "1" * 500_000, "</" * 200_000, "<a b='" * 100_000,
    "<script>" + "</script" * 50_000, "<!--" + "--" * 200_000, "<a" + " style=color:red" * 30_000,
    "<style>" + "a{" * 200_000, "<p style='" + "a:" * 200_000 + "'>x", "<" * 500_000,
    "<!--" * 50_000, "  <!", "  <!--", "a<!<!--", "\0" * 50_000, "<table><tr><td>" * 3000,
    "<font color=white style=font-size:0>x" * 2500, "<object><object>x</object></object>y", "<svg><style><style>x",
    "<style>" + "b > * i * {color: #123}" * 9000 + "</style>" + "<p class=a>x" * 9000, "<style>" + "@media{" * 9000,
    "<a href=http://a.example>www.b.example<table>" * 2000, "></b>a" * 40_000, "<template><template>x",
]  # fmt: skip


@pytest.mark.parametrize("page", COSTLY_PAGES, ids=lambda page: page[:20])
def test_no_page_takes_long(page):
    cut: list[str] = []
    start = time.process_time()
    assert isinstance(read_html(page.encode(), cut).text, str)
    assert len(cut) < 3 and time.process_time() - start < 5  # what is quadratic takes minutes


def test_tags_are_bounded_and_the_end_is_read_too():
    cut: list[str] = []
    found = read_html(b"first" + b"<br>" * (MAX_TAGS + 20_000) + b"<a href=http://a.example>last</a>", cut)
    assert cut == [f"HTML after {MAX_TAGS} tags"] and MAX_TAGS < found.tags < MAX_TAGS + TAIL
    assert found.text.split() == ["first", "last"] and found.links == ["http://a.example"]


def test_what_says_nothing_is_not_counted():
    image = "<img src='data:image/png;base64," + "A" * 400_000 + "'>"
    style = "<style>" + "p {border: 0}" * 20_000 + "</style>"
    message = html(image + style + "<!--" + "x" * 100_000 + "-->" + "<a href=http://a.example>link</a>")
    assert message.links == ("http://a.example",) and words(message) == ["link"] and not message.truncations


def test_decoy_links_do_not_hide_the_last_one():
    cut: list[str] = []
    found = read_html(b"<a href=http://d.example>d</a>" * 1500 + b"<a href=http://a.example>last</a>", cut)
    assert found.links[-1] == "http://a.example" and len(found.links) == 1000 and len(cut) == 1


@pytest.mark.parametrize("tag", ["title", "textarea"])
def test_long_titles_and_fields_are_not_all_seen(tag):
    found = read_html(f"<{tag}>{{}}</{tag}>text".format("gut \u00e9\u00e9\u00e9 " * 100).encode(), [])
    assert len(found.text) < 210 and found.text.endswith("text") and len(found.hidden.split()) > 150


def test_links_lose_nothing_to_a_page_of_usual_size():
    page = "<p><a href=http://a.example/" + "x" * 1500 + " title='a > b' style='color:red'><b>Shop</b></a>" * 10
    message = html(page + "<p>text</p>" * 3000)
    assert not message.truncations and message.links[0].startswith("http://a.example/xxx")


def test_pages_share_one_bound():
    page = "Content-Type: text/html\n\n" + "<br>" * (MAX_TAGS // 2)
    message = parse(multipart(page, page, page, page))
    assert message.truncations == (f"HTML after {MAX_TAGS} tags",)


def test_message_is_immutable_and_travels_between_processes():
    message = parse(multipart(TEXT, PAGE))
    with pytest.raises(AttributeError):
        message.hidden = "x"  # type: ignore[misc]
    assert pickle.loads(pickle.dumps(message)) == message  # noqa: S301


RAW = b"Received: x\nSubject: hello\nFrom: a@b.example\n\nbody\n\nmore\n"


def test_digest_does_not_depend_on_how_the_message_is_stored():
    digest = parse(RAW).digest
    assert len(digest) == 16
    envelope = b"From a@b.example Thu Jan  1 00:00:00 2004\n"
    for stored in (RAW, envelope + RAW, RAW + b"\n", RAW.rstrip(b"\n")):
        for line_end in (b"\n", b"\r\n", b"\r"):
            assert parse(stored.replace(b"\n", line_end)).digest == digest


@pytest.mark.parametrize("name", [*sorted(VOLATILE), *(f"{prefix}Whatever" for prefix in VOLATILE_PREFIXES)])
def test_digest_leaves_volatile_fields_out_wherever_they_stand(name):
    assert is_volatile(name.lower())
    digest = parse(RAW).digest
    field = name.title().encode() + b": some\n\tvalue\n"
    lines = RAW.split(b"\n")
    for at in range(4):
        assert parse(b"\n".join([*lines[:at], field.rstrip(b"\n"), *lines[at:]])).digest == digest, at
    assert parse(field + field + RAW).digest == digest


def test_digest_tells_messages_apart():
    others = [RAW.replace(b"hello", b"hallo"), RAW.replace(b"more", b"less"), RAW.replace(b"Received", b"X-Received"),
              RAW.replace(b"\n\nbody", b"\nbody: \n\n"), RAW[:-8], b""]  # fmt: skip
    assert len({parse(other).digest for other in [RAW, *others]}) == len(others) + 1


def test_who_asks_for_no_digest_gets_the_rest_of_the_message() -> None:
    raw = b"Subject: x\r\nLines: 1\r\nContent-Type: text/html\r\n\r\n<p>tea<i style='display: none'>pills</i>\r\n"
    assert parse(raw, identify=False) == parse(raw)._replace(digest=b"")
    assert len(parse(raw).digest) == 16


def test_whatever_is_cut_is_of_a_known_kind() -> None:
    folder = Path(next(iter(spamnb.message.__path__)))
    source = "".join(path.read_text() for path in [*folder.glob("*.py"), *folder.glob("*.pyx")])
    said = re.findall(r"truncations\.append\(\s*f?\"([^\"]+)\"", source)
    assert len(said) == len(re.findall(r"truncations\.append\(", source)) > 5
    known = {words.partition(" ")[0] for words in said} - {"{kind}"}  # PDF, TNEF
    assert known <= KINDS.keys()


def test_a_cut_of_no_known_kind_is_still_one() -> None:
    assert what_was_cut("something else") == "other"


with uncompiled("spamnb.message.field_scanner") as (source,):
    SourceScanner = source.FieldScanner

FOLDED = r"[^\n]*+(?:\n[ \t][^\n]*+)*+"
SECTION = re.compile(rb"(?:[!-9;-~]++:%b(?:\n|\Z))*+" % FOLDED.encode())
FIELD = re.compile(rf"^([!-9;-~]++):[ \t]*+({FOLDED})", re.MULTILINE)
PIECES = st.sampled_from([
    b"\n", b"\n\n", b"\n ", b"\t", b":", b": ", b"A", b"Subject: ", b"\nX-Spam-Flag: YES", b"\nlines:",
    b"\nStatus: R\n O", b"caf\xe9", b"\x7f", b"a b", b"a" * 101,
])  # fmt: skip


@given(st.lists(PIECES, max_size=30).map(b"".join), st.integers(0, 60), st.integers(0, 200))
def test_fields_are_those_of_patterns(data: bytes, start: int, limit: int) -> None:
    limit = min(limit, len(data))
    start = min(start, limit)
    stop = SECTION.match(data, start, limit).end()  # type: ignore[union-attr]
    fields = [(name, value.replace("\n", "")) for name, value in FIELD.findall(data[start:stop].decode("latin-1"))]
    lasting = VOLATILE_FIELD.sub(b"", b"\n" + data[start:stop]).strip(b"\n")
    for scanner in (FieldScanner(), SourceScanner()):
        assert scanner.scan(data, start, limit) == stop
        assert scanner.values(1000) == fields
        assert scanner.values(1) == fields[:1]
        assert scanner.lasting() == lasting


def test_names_that_are_kept_are_bounded() -> None:
    n_names = 3 * source.MAX_KEPT
    section = b"".join(b"X-%d: y\n" % number for number in range(n_names)) + b"%b: y\n" % (b"n" * 101)
    for scanner in (FieldScanner(), SourceScanner()):
        assert scanner.scan(section, 0, len(section)) == len(section)
        assert len(scanner.names) == n_names + 1
        assert scanner.values(n_names + 1)[-2:] == [(f"X-{n_names - 1}", "y"), ("n" * 101, "y")]
    assert len(source.NAMES) <= source.MAX_KEPT
