"""Parts, transfer encodings and charsets: the standard library is the oracle, and small cases beyond it."""

from __future__ import annotations

import base64
import binascii
import email
import quopri
import sys
from collections import Counter
from email.message import EmailMessage

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spamnb.reader.message import Message, Reader, parse

TEXT, PAGE = "Content-Type: text/plain\n\none", "Content-Type: text/html\n\n<b>two</b>"
SHOP = "<p>Cheap pills: <a href=http://pills.example/>here</a></p>"
MIXED = "Content-Type: multipart/mixed; boundary=b\n"


def multipart(*parts: str, boundary: str = "b", end: str = "--b--\n", kind: str = "mixed") -> bytes:
    body = "".join(f"--{boundary}\n{part}\n" for part in parts)
    return f"Content-Type: multipart/{kind}; boundary={boundary}\n\npreamble\n{body}{end}".encode()


def words(message: Message) -> str:
    return " ".join(" ".join(message.texts).split())


def kinds_of_parts(raw: bytes) -> Counter[str]:
    tokens = Reader().tokens(raw).items()
    return Counter({token.removeprefix("part:"): count for token, count in tokens if token.startswith("part:")})


def is_read_as_html(raw: str) -> bool:
    message = parse(raw.encode())
    return message.links == ("http://pills.example/",) and "Cheap pills: here" in f"{words(message)} {message.doubtful}"


def coded(octets: bytes, encoding: str = "base64", kind: str = "text/plain", charset: str = "") -> bytes:
    claim = f"; charset={charset}" if charset else ""
    body = base64.encodebytes(octets) if encoding == "base64" else octets
    return f"Content-Type: {kind}{claim}\nContent-Transfer-Encoding: {encoding}\n\n".encode() + body


PLAIN = st.text(st.characters(codec="utf-8", exclude_characters="\0\r", exclude_categories=["Cs", "Cc"]), max_size=80)
PARTS = st.lists(st.tuples(PLAIN, st.sampled_from(["plain", "html", "x-other"])), min_size=1, max_size=5)


@given(PARTS, st.sampled_from(["mixed", "related"]))
def test_parts_are_those_of_the_standard_library(parts: list[tuple[str, str]], kind: str) -> None:
    message = EmailMessage()
    message.set_content("first")
    getattr(message, f"make_{kind}")()
    for number, (text, subtype) in enumerate(parts):
        message.add_attachment(text.encode(), maintype="text", subtype=subtype, filename=f"ä{number}.txt")
    oracle = [part for part in email.message_from_bytes(message.as_bytes()).walk() if not part.is_multipart()]
    found = kinds_of_parts(message.as_bytes())
    assert found == Counter(part.get_content_type() for part in oracle)


@given(PLAIN, st.sampled_from(["base64", "quoted-printable"]), st.sampled_from(["utf-8", "gb18030", "utf-16-le"]))
def test_bodies_are_decoded(text: str, encoding: str, charset: str) -> None:
    octets = (text + ".").encode(charset)
    encoding = "base64" if charset == "utf-16-le" else encoding  # whose line ends quoted-printable would change
    body = octets if encoding == "base64" else quopri.encodestring(octets)
    assert parse(coded(body, encoding, charset=charset)).texts[0].strip("\n") == (text + ".").strip("\n")


ALTERNATIVES = f"Content-Type: multipart/alternative; boundary=i\n\n--i\n{TEXT}\n--i\n{PAGE}"
LIKE_ANOTHER = "Content-Type: multipart/mixed; boundary=bc\n\n--bc\n\none\n--bc\n\ntwo\n--bc--"
ATTACHED = "Content-Disposition: attachment\n\nthree"
TWICE = b"Content-Type: multipart/mixed; boundary=b\n\n--b\n--b\n\none\n--b\n--b\n--b\n\ntwo\n--b--\n"


@pytest.mark.parametrize(
    ("raw", "texts"),
    [
        (multipart(TEXT, PAGE, "Content-Type: image/gif; name=a.gif\n\nGIF", "\nno header"), "one two no header"),
        (multipart(ALTERNATIVES, "\nfour"), "two four"),  # unclosed, it ends with its parent
        (multipart(ATTACHED, ALTERNATIVES + "\n--i--"), "two"),  # what a reader shows
        (multipart(LIKE_ANOTHER, "\nthree"), "one two three"), (TWICE, "one two"),
        (b"Content-Type: multipart/mixed; boundary=b\n\njust text", "just text"),
        (multipart("\nSubject: a\n\none", "\nSubject: b\n\ntwo", kind="digest"), "a one b two"),
        *((multipart(TEXT, PAGE, end=end), "one two") for end in ("--b--\nepilogue", "--b--", "", "--b\n")),
        *((b"Content-Type: " + kind + b"\n\n<b>x", "<b>x") for kind in (b"nonsense", b"", b";", b"/")),
        (b"Content-Type: text/html (comment)\n\n<b>x", "x"), (b"Content-Type : text/html\n\n<b>x", "x"),
        ("Content-Type: text/plain charset=koi8-r\n\nда".encode("koi8-r"), "да"),
        ("Content-Type: text/html\n\n<meta charset=koi8-r><p>да".encode("koi8-r"), "да"),
    ],
)  # fmt: skip
def test_texts_of_a_message(raw: bytes, texts: str) -> None:
    assert words(parse(raw)) == texts


@pytest.mark.parametrize("gap", ["", " \n", "\t\n \n", "\n", "a stray line\n"])
def test_a_boundary_line_separates_whatever_stands_before_it(gap: str) -> None:
    assert is_read_as_html(f"{MIXED}{gap}--b\nContent-Type: text/html\n\n{SHOP}\n--b--\n")


@pytest.mark.parametrize(
    "boundaries",
    [
        "boundary=real; boundary*=utf-8''decoy",
        "boundary*=utf-8''decoy; boundary=real",
        "boundary*0=de; boundary=real; boundary*1=coy",
        "boundary=decoy; boundary=real",
        "boundary=real; boundary=decoy",
    ],
)
def test_no_boundary_hides_what_another_one_shows(boundaries: str) -> None:
    seen, hidden = base64.b64encode(b"buy pills").decode(), base64.b64encode(b"minutes").decode()
    part = "Content-Transfer-Encoding: base64\n\n"
    body = f"--real\n{part}{seen}\n--decoy\n{part}{hidden}\n--decoy--\n--real--\n"
    raw = f"Content-Type: multipart/mixed; {boundaries}\n\n{body}"
    message = parse(raw.encode())
    assert "buy pills" in message.doubtful and "minutes" in message.doubtful and not "".join(message.texts).split()


@pytest.mark.parametrize(
    "kind",
    [
        '"text/html"', "text/html,", "text/html\0", "TEXT/HTML (page)", "text/htm", "text/xhtml",
        "application/xhtml+xml", "image/svg+xml", "'text/html'; charset=utf-8", "text/html charset=utf-8",
        'application/x-thing; name="Invoice.HTM"', "ext/htm; name=a.html", "html", "text/html/",
        'application/octet-stream\nContent-Disposition: attachment filename="a.svg"',
    ],
)  # fmt: skip
def test_html_is_read_by_whatever_name(kind: str) -> None:
    assert is_read_as_html(f"{MIXED}\n--b\nContent-Type: {kind}\n\n{SHOP}\n--b--\n")
    assert is_read_as_html(f"Content-Type: {kind}\n\n{SHOP}")


QUOTED = ["quoted printable", "QUOTED-PRINTABLE (x)", "quotedprintable", "quoted/printable", "Quoted_Printeable"]


@pytest.mark.parametrize("name", ["BASE64 (coded)", "base-64", '"base64"', "Base64;", "base 64", *QUOTED])
def test_encodings_are_known_by_whatever_name(name: str) -> None:
    quoted = SHOP.replace("=", "=3D").replace("pills:", "pil=\nls:")
    body = quoted if name in QUOTED else base64.encodebytes(SHOP.encode()).decode()
    assert is_read_as_html(f"Content-Type: text/html\nContent-Transfer-Encoding: {name}\n\n{body}")


@pytest.mark.parametrize("encoding", ["7bit", "base64", "quoted-printable"])
@pytest.mark.parametrize("kind", ["message/rfc822", "application/octet-stream"])
def test_a_message_inside_keeps_its_subject_sender_and_name(kind: str, encoding: str) -> None:
    inner = f"From: Shop <shop@pills.example>\nSubject: =?utf-8?q?caf=C3=A9?=\nContent-Type: text/html\n\n{SHOP}\n"
    body = quopri.encodestring(inner.encode()) if encoding == "quoted-printable" else inner.encode()
    message = parse(coded(body, encoding, f"{kind}; name=note.eml"))
    found = words(message) if kind == "message/rfc822" else " ".join(message.doubtful.split())
    assert found == "café Shop <shop@pills.example> Cheap pills: here" and message.header("subject") == ""
    assert kinds_of_parts(coded(body, encoding, f"{kind}; name=note.eml")) == {"message/rfc822": 1, "text/html": 1}


def test_depth_parts_and_text_are_bounded() -> None:
    deep, inside = b"the end", b"the end"
    for level in range(300):
        deep = b"Content-Type: multipart/mixed; boundary=b%d\n\n--b%d\n%b\n--b%d--\n" % (level, level, deep, level)
        inside = b"Content-Type: message/rfc822\n\n" + inside
    for raw in (deep, inside):
        assert parse(raw).truncations == () and parse(raw).texts[-1].strip() == "the end"
    multi = b"Content-Type: multipart/mixed; boundary=b%d\n\n"
    body = b"".join([b"--b%d\n" % level + multi % (level + 1) for level in range(9999)])
    deeper = parse(multi % 0 + body + b"--b9999\n\nthe end")
    assert deeper.truncations == ("parts",) and "the end" in deeper.texts[-1]
    many = multipart(*["\nx"] * 30_000)
    assert 5_000 < kinds_of_parts(many).total() < 30_000 and parse(many).truncations == ("parts",)
    texts = parse(multipart("\n" + "word " * 400_000, *["\n" + "more " * 400_000] * 9, "\nlast"))
    assert texts.truncations == ("text",) and texts.texts[-1] == "last" and sum(map(len, texts.texts)) < 3_000_000
    assert all("more" in text for text in texts.texts[1:-1])


def test_of_text_that_is_too_long_the_beginning_and_the_end_are_read() -> None:
    long = b"begins " + b"word " * 1_000_000 + b"ends"
    for encoding in ("7bit", "base64"):
        (text,) = parse(coded(long, encoding)).texts
        assert text.startswith("begins word") and text.endswith("word ends") and len(text) < len(long)


PILLS = b"<html><body>Cheap pills at <a href=http://pills.example/>our shop</a>, today only.</body></html>\n" * 3
CODED = base64.encodebytes(PILLS)
SPACED = [b" ".join([CODED[at : at + n] for at in range(0, len(CODED), n)]) for n in (4, 7)]
B64 = base64.b64encode


@pytest.mark.parametrize(
    ("encoding", "body", "expected"),
    [
        ("base64", b"aGVsbG8gYW!dhaW4", b"hello again"), ("base64", b"====", b""),
        *(("base64", body, PILLS) for body in SPACED),
        # other text follows the end
        *(("base64", B64(b"hello, ") + end + CODED, b"hello, ") for end in (b"", b"\n", b"\n====\n", b" ignored\n")),
        *(("base64", B64(b"hey") + b"\n" + footer, b"hey") for footer in (b"-- \nThe list", b"\n_____\nThe list")),
        ("quoted-printable", b"caf=C3=A9=\n!", "café!".encode()), ("quoted-printable", b"=ZZ =", b"=ZZ "),
        ("quoted-printable", b"a cheap p= \nill and= \t\nmore=\n!", b"a cheap pill andmore!"),
        ("no-such", b"as it is", b"as it is"),
    ],
)  # fmt: skip
def test_transfer_encodings(encoding: str, body: bytes, expected: bytes) -> None:
    raw = f"Content-Transfer-Encoding: {encoding}\n\n".encode() + body
    assert parse(raw).texts == (expected.decode(),)


def test_base64_below_the_padding_is_doubtful() -> None:
    body = B64(b"hello") + b"\n\n" + base64.encodebytes(b"Your account has been suspended. " * 3)
    message = parse(b"Content-Transfer-Encoding: base64\n\n" + body)
    assert message.texts == ("hello",) and "account has been suspended" in message.doubtful


@pytest.mark.parametrize("text", ["- Hello", "!!! foo bar", "* one\n* two", "(see below)\nHello all"])
def test_text_that_is_wrongly_labelled_as_base64_is_doubtful(text: str) -> None:
    assert parse(f"Content-Transfer-Encoding: base64\n\n{text}".encode()).doubtful == text


TYPED, FILE = "Content-Type: text/plain\n", "Content-Disposition: attachment; filename=a\n"
INNER, PART = f"Subject: good\n{TYPED}\ngood\n", f"{TYPED}\ngood\n"
FILES = ["text/vcard", "text/css", "text/csv", "text/x-unknown", "text/rfc822-headers", "message/delivery-status",
         "message/partial; number=2", "message/external-body; access-type=local-file", "message/http",
         "application/octet-stream; name=a.txt"]  # fmt: skip


@pytest.mark.parametrize(
    "raw",
    [
        *(multipart(SHOP, f"Content-Type: {kind}\n\ngood\n") for kind in FILES),
        *(
            multipart(SHOP, f"{TYPED}Content-Disposition: {value}\n\ngood")
            for value in ("x", '"attachment"', "attachment, a")
        ),
        multipart(SHOP, f"{TYPED}Content-Disposition: inline\nContent-Disposition: attachment\n\ngood"),
        multipart(SHOP, f"Content-Type: message/rfc822\n{FILE}\n{INNER}"),
        multipart(SHOP, f"Content-Type: multipart/mixed; boundary=i\n{FILE}\n--i\n{PART}--i--"),
        multipart(SHOP, f"Content-Type: multipart/encrypted; boundary=i\n\n--i\n{PART}--i--"),
        multipart(SHOP, "Content-Type: multipart/mixed; boundary=no\n\n--i\nContent-Type: text/plain\n\ngood\n--i--"),
        multipart(SHOP, end=f"--b--\n--b\n{PART}--b--\n"),
        *(multipart(SHOP, PART, kind=kind) for kind in ("related", "signed", "appledouble")),
        multipart(PART, f"Content-ID: <r>\n{SHOP}", kind="related; start=<r>"),
        *(multipart(first, "\nbuy", kind="alternative") for first in (PART, "Content-Type: text/calendar\n\ngood")),
        multipart(f"Content-Type: message/rfc822\n\n{INNER}", PAGE, kind="alternative"),
        multipart(PAGE, "Content-Type: text/x-amp-html\n\n<p>good", kind="alternative"),
        b"Subject: good\nSubject: buy\n\nbuy",
        b"Subject: buy\nSubject: good\nSubject: buy\n\nbuy",
        *(f"{TYPED}\nbuy\n{line * 70}good".encode() for line in ("\u200b\n", "\u3000\n", ".\n", "\1\n", "- -\n")),
    ],
)
def test_text_that_some_mail_readers_do_not_show_is_doubtful(raw: bytes) -> None:
    plain, every = set(Reader().tokens(raw)), set(Reader().tokens(raw, doubtful=True))
    assert "good" in every - plain and "subject:good" not in every


def test_a_subject_that_is_there_twice_is_plain() -> None:
    assert {"good", "subject:good"} <= set(Reader().tokens(b"Subject: good\nSubject: good\n\nbuy"))


@pytest.mark.parametrize("start", ["", "; start=<r>", '; start="<r>"', "; start=<none>"])
def test_the_root_of_related_parts_is_plain(start: str) -> None:
    raw = multipart(
        f"Content-ID: <r>\n{PART}", "Content-ID: <i>\nContent-Type: image/gif\n\nGIF", kind=f"related{start}"
    )
    assert "good" in Reader().tokens(raw)


@pytest.mark.parametrize("kind", ["alternative", "related"])
def test_lines_that_are_no_fields_hide_no_alternative_and_no_root(kind: str) -> None:
    page = "Content-Type: text/html\nno field\nContent-ID: x\n\n<b>shown"
    parts = [TEXT, page] if kind == "alternative" else [page, TEXT]
    assert words(parse(multipart(*parts, kind=kind))) == "shown"


@pytest.mark.parametrize("delimiter", ["--B", ">--b", "x--b", "", "--b(", "--bb"])
def test_parts_above_the_first_delimiter_are_doubtful_text(delimiter: str) -> None:
    pills = "Content-Transfer-Encoding: base64\n\n" + base64.b64encode(b"buy pills").decode()
    message = parse(f"{MIXED}{delimiter}\n{pills}\n{delimiter}\n{pills}\n--b\n\nshown\n--b--\n".encode())
    assert message.texts == ("shown",) and "buy pills" in message.doubtful


def test_lines_that_are_folded_are_read_as_one() -> None:
    flowed = b"Content-Type: text/plain; format=flowed; delsp=yes\n\nvia \ngra now\nand here"
    assert parse(flowed).texts == ("viagra now\nand here",)
    for kind in ("text/calendar; method=REQUEST", "text/vcard", "application/ics"):
        assert "via gra" in parse(f"Content-Type: {kind}\n\nNOTE:vi\n a gr\n\ta\nEND".encode()).doubtful
    assert parse(b"\nvia \n gra").texts == ("via \n gra",)


def test_uuencode_as_a_transfer_encoding() -> None:
    body = b"".join([binascii.b2a_uu(PILLS[at : at + 45]) for at in range(0, len(PILLS), 45)])
    for name in ("x-uuencode", "uuencode", "X-UUE"):
        fields = f"Content-Type: text/html\nContent-Transfer-Encoding: {name}\n\n".encode()
        for raw in (fields + b"begin 644 x\n" + body, fields + b"\nbegin 644 x\n" + body + b"`\nend\n"):
            assert "Cheap pills" in parse(raw).texts[0] and parse(raw).links == ("http://pills.example/",) * 3


@pytest.mark.parametrize(("lines", "texts"), [
    (b"--b junk\n\none\n--b\tx\n\ntwo", ["one", "two"]),
    (b"--b\n\none\n--bb\n\ntwo", ["one\n--bb\n\ntwo"]),
])  # fmt: skip
def test_parts_are_found_as_any_program_may_find_them(lines: bytes, texts: list[str]) -> None:
    assert list(parse(b"Content-Type: multipart/mixed; boundary=b\n\n" + lines).texts) == texts


@pytest.mark.parametrize("part", [b"--b\n\n\n", b"--b\nX: y\n\n \n", b"--b\nContent-Type: text/html\n\n"])
def test_text_is_found_behind_empty_parts(part: bytes) -> None:
    found = parse(b"Content-Type: multipart/mixed; boundary=b\n\n" + part * 20_000 + b"--b\n\nthe end\n--b--")
    assert found.texts[-1] == "the end" and found.truncations == ()


def test_comments_and_markup_do_not_use_up_the_bound_of_text() -> None:
    comment, sheet = b"<!--" + b"x " * 700_000 + b"-->", b"<style>" + b"b{} " * 400_000 + b"</style>"
    for nothing in (comment, sheet, b"<b></b>" * 200_000, b"<i hidden>x</i>" * 2000):
        page = parse(b"Content-Type: text/html\n\n" + nothing + b"<p>the end</p>" + nothing)
        words = [*page.texts[0].split(), *page.doubtful.split()]
        assert [word for word in words if "x" not in word] == ["the", "end"] and page.truncations in ((), ("html",))


LETTER = "Dear friend, cheap pills and watches await you at our shop, today only.\n"
FRENCH = "Chère amie, voilà l'été : déjà trois crèmes à l'essai.\n"


def text_of(octets: bytes, charset: str = "", kind: str = "text/plain") -> str:
    return parse(coded(octets, kind=kind, charset=charset)).texts[0]


def test_every_charset_of_python_round_trips() -> None:
    tried = 0
    for name in sorted(set(sys.modules["encodings.aliases"].aliases.values()) | {"koi8_u", "cp720", "mac_roman"}):
        try:
            octets = LETTER.encode(name)
            assert octets.decode(name) == LETTER and (octets.isascii() or octets[1::2].count(0) > 9)
        except (LookupError, TypeError, AttributeError, UnicodeError, AssertionError):
            continue  # zlib, hex and other codecs that are no charsets
        if name not in ("unicode_escape", "raw_unicode_escape"):
            assert text_of(octets, name) == LETTER, name
            tried += 1
    assert tried > 80


@pytest.mark.parametrize(
    ("charset", "codec", "text"),
    [
        ("windows-874", "cp874", "ลดราคา"), ("iso-8859-8-i", "iso8859-8", "שלום"), ("windows-31j", "cp932", "日本語①"),
        ("koi8-ru", "koi8-u", "Привіт"), ("x-x-big5", "big5", "中文"), ("x-x-x-gbk", "gbk", "免费"),
        ("utf-16", "utf-16-be", "free, дёшево"), ("microsoft-nonsense", "utf-8", "free, дёшево"),
        ("hz", "hz", "免费"), ("iso-2022-kr", "iso2022_kr", "무료"), ("iso-2022-jp", "iso-2022-jp", "日本"),
        ("utf-7", "utf-7", "日本"),
        # wrong claims
        ("us-ascii", "utf-8", "naïve café"), ("utf-8", "cp1252", "naïve café"), ("", "cp1252", "“x” é"),
        ("hz", "cp1252", LETTER + FRENCH), ("utf-7", "cp1252", LETTER + FRENCH), ("utf-16", "cp1252", LETTER + "café"),
    ],
)  # fmt: skip
def test_charsets_by_the_names_that_mail_uses(charset: str, codec: str, text: str) -> None:
    assert text_of(text.encode(codec), charset) == text
    if charset and "\n" not in text:
        word = base64.b64encode(text.encode(codec)).decode()
        assert parse(f"Subject: =?{charset}?B?{word}?=\n\n".encode()).header("subject") == text


NO_CHARSETS = "rot13 zip bz2 hex base64 idna punycode unicode_escape undefined uu ../os é"


@pytest.mark.parametrize("name", [*NO_CHARSETS.split(), "x" * 1000, "x-" * 9999])
def test_codecs_that_are_no_charset(name: str) -> None:
    assert text_of("café \\u0041".encode(), name) == "café \\u0041"


@pytest.mark.parametrize("charset", ["", "us-ascii", "windows-1251", "utf-16"])
@pytest.mark.parametrize("codec", ["utf-8-sig", "utf-16", "utf-16-be", "utf-32", "utf-32-be"])
def test_a_byte_order_mark_says_what_is_claimed_otherwise(charset: str, codec: str) -> None:
    mark = "" if codec in ("utf-8-sig", "utf-16", "utf-32") else "\ufeff"
    for text in (LETTER, "Дёшево!\n", "中文"):
        assert text_of((mark + text).encode(codec), charset) == text
        assert text_of((mark + f"<p>{text}").encode(codec), charset, "text/html").strip() == text.strip()


def test_a_mark_before_ascii_hides_no_text_and_a_spoilt_end_one_character() -> None:
    assert text_of(b"\xff\xfe" + LETTER.encode(), "us-ascii").endswith(LETTER)
    assert text_of(b"\xfe\xff" + LETTER.encode() + b"\xe9").endswith(LETTER + "é")
    assert text_of("привет".encode("utf-16") + b"x", "utf-16") == "привет\ufffd"


@pytest.mark.parametrize("charset", ["", "utf-8", "iso-8859-1", "us-ascii", "windows-1252", "no-such"])
@pytest.mark.parametrize("bad", [b"\xff", b"\xe9", b"\xc3"])
def test_one_bad_byte_leaves_the_rest_utf8(charset: str, bad: bytes) -> None:
    assert text_of(FRENCH.encode() + bad + b" " + LETTER.encode(), charset) == FRENCH + "\ufffd " + LETTER


@pytest.mark.parametrize("charset", "cp037 iso-2022-jp iso-2022-kr hz utf-7 utf-16 utf-32 cp864".split())
def test_plain_ascii_stays_ascii_whatever_the_claim(charset: str) -> None:
    text = LETTER + "1 + 1 = 2, C++ and 100% of ~all~ \\o/ at http://pills.example/\n"
    assert text_of(text.encode(), charset) == text == parse(coded(text.encode(), "7bit", charset=charset)).texts[0]


def test_texts_have_no_lone_surrogates_nul_or_other_line_ends() -> None:
    assert text_of(b"+2AA-+3AA-x", "utf-7").encode() and text_of(b"\xed\xa0\x80x").encode()
    assert text_of("a\r\nb\rc\0\n".encode("utf-16-le"), "utf-16-le") == "a\nb\nc\n"


def test_attachments_are_the_files_that_pythons_own_parser_finds():
    names = ("plan.pdf", "résumé.pdf.exe", "a;b.zip", "x" * 60)
    message = EmailMessage()
    message["Subject"] = "files"
    message.set_content("see below")
    for name in names:
        message.add_attachment(b"%PDF", maintype="application", subtype="octet-stream", filename=name)
    raw = message.as_bytes()
    found = [(part.get_filename(), part.get_content_type()) for part in message.iter_attachments()]
    assert list(parse(raw).attachments) == found and [name for name, _ in found] == [*names]
    assert parse(b"Subject: none\n\nfile.zip").attachments == ()


@pytest.mark.parametrize("types", ["boundary=x; boundary=y", "boundary=y; boundary=x", "boundary*=''x; boundary=z"])
def test_a_boundary_that_no_line_has_leaves_no_doubt(types: str) -> None:
    raw = f"Content-Type: multipart/mixed; {types}\n\n--x\n\nshown\n--x\nContent-Type: text/plain\n\ntoo\n--x--\n"
    message = Reader().parse(raw.encode())
    assert [text.split() for text in message.texts] == [["shown"], ["too"]] and not message.doubtful.split()


def test_parts_below_those_of_a_boundary_that_the_type_does_not_name_are_doubtful() -> None:
    part = "Content-Type: text/plain\n\n"
    raw = f"Content-Type: multipart/mixed; boundary=z\n\n--x\n{part}shown\n--x--\n--q\n{part}below\n--q--\n"
    message = Reader().parse(raw.encode())
    assert " ".join(message.texts).split() == ["shown"] and message.doubtful.split() == ["below"]


def test_parts_above_the_first_delimiter_do_not_use_up_the_bounds() -> None:
    part = "Content-Type: text/plain\n\n"
    inner = f"--b\nContent-Type: multipart/mixed; boundary=c\n\n--c\n{part}shown\n--c\n{part}too\n--c--\n--b--\n"
    raw = f"{MIXED}\n" + f"--q\n{part}above\n" * 12_000 + inner
    message = Reader().parse(raw.encode())
    assert words(message) == "shown too" and set(message.doubtful.split()) == {"above"}
