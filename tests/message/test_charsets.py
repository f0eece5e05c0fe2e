"""Bytes whose charset is named oddly, marked, claimed wrongly, or spoilt, on made-up messages."""

import base64
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spamnb.message.charsets import decode, is_ascii, resolve, shown
from spamnb.message.encodings import decode_words
from spamnb.message.parse import header_of, parse

LETTER = "Dear friend, cheap pills and watches await you at our shop, today only.\n"
FRENCH = "Chère amie, voilà l'été : déjà trois crèmes à l'essai.\n"


def text_of(octets: bytes, charset: str = "", kind: str = "text/plain") -> str:
    claim = f"; charset={charset}" if charset else ""
    head = f"Content-Type: {kind}{claim}\nContent-Transfer-Encoding: base64\n\n".encode()
    return parse(head + base64.encodebytes(octets)).texts[0]


@pytest.mark.parametrize(
    ("charset", "codec", "text"),
    [
        ("windows-874", "cp874", "ลดราคา"),
        ("iso-8859-11", "cp874", "ลดราคา"),
        ("iso-8859-8-i", "iso8859-8", "שלום"),
        ("ISO-8859-8-E", "iso8859-8", "שלום"),
        ("windows-31j", "cp932", "日本語①"),
        ("windows-932", "cp932", "日本語"),
        ("windows-949", "cp949", "무료 상품"),
        ("windows-936", "gb18030", "免费"),
        ("x-windows-950", "cp950", "中文"),
        ("koi8-ru", "koi8-u", "Привіт"),
        ("x-x-big5", "big5", "中文"),
        ("x-x-x-gbk", "gbk", "免费"),
        ("ks_c_5601-1989", "cp949", "무료"),
        ("ucs-2", "utf-16-le", "free, дёшево"),
        ("iso-10646-ucs-2", "utf-16-be", "free, дёшево"),
        ("UCS-4", "utf-32-be", "free, дёшево"),
        ("utf-16", "utf-16-be", "free, дёшево"),
        ("microsoft-nonsense", "utf-8", "free, дёшево"),
    ],
)
def test_charsets_by_the_names_that_mail_uses(charset: str, codec: str, text: str) -> None:
    assert text_of(text.encode(codec), charset) == text
    word = base64.b64encode(text.encode(codec)).decode()
    assert parse(f"Subject: =?{charset}?B?{word}?=\n\n".encode()).header("subject") == text


@pytest.mark.parametrize("charset", ["", "us-ascii", "iso-8859-1", "utf-8", "windows-1251", "utf-16"])
@pytest.mark.parametrize("codec", ["utf-8-sig", "utf-16", "utf-16-be", "utf-32", "utf-32-be"])
def test_a_byte_order_mark_says_what_is_claimed_otherwise(charset: str, codec: str) -> None:
    mark = "" if codec in ("utf-8-sig", "utf-16", "utf-32") else "\ufeff"
    for text in (LETTER, FRENCH, "Дёшево!\n", "免费 领取\n", "中文"):
        assert text_of((mark + text).encode(codec), charset) == text
        assert text_of((mark + f"<p>{text}").encode(codec), charset, "text/html").strip() == text.strip()


def test_a_mark_before_ascii_hides_no_text() -> None:
    assert text_of(b"\xff\xfe" + LETTER.encode(), "us-ascii").endswith(LETTER)
    assert text_of(b"\xfe\xff" + LETTER.encode() + b"\xe9").endswith(LETTER + "é")
    assert text_of(LETTER.encode(), "utf-16") == text_of(LETTER.encode(), "ucs-2") == LETTER
    assert text_of(LETTER.encode() + b"caf\xe9\n", "utf-16") == LETTER + "café\n"


def test_a_spoilt_end_of_utf_16_loses_one_character() -> None:
    assert text_of("привет".encode("utf-16") + b"x", "utf-16") == "привет\ufffd"


@pytest.mark.parametrize("charset", ["", "utf-8", "iso-8859-1", "us-ascii", "windows-1252", "no-such"])
def test_one_bad_byte_leaves_the_rest_utf8(charset: str) -> None:
    for bad in (b"\xff", b"\xe9", b"\xc3"):
        octets = FRENCH.encode() + bad + b" " + LETTER.encode()
        assert text_of(octets, charset) == FRENCH + "\ufffd " + LETTER


def test_one_bad_byte_of_a_header_leaves_the_rest_utf8() -> None:
    raw = "Déjà vu à Genève".encode()
    word = base64.b64encode(raw + b" \xff")
    message = parse(b"Subject: " + raw + b" \xff\nX-Word: =?iso-8859-1?B?" + word + b"?=\n\n")
    assert message.header("subject") == message.header("x-word") == "Déjà vu à Genève \ufffd"


@given(st.text("abc éèàüößñç", min_size=1))
def test_latin_1_is_read_as_before(text: str) -> None:
    assert decode(text.encode("latin-1")) == text
    assert decode(text.encode("latin-1"), "utf-8") == text


@pytest.mark.parametrize(
    "charset", ["cp037", "cp500", "ibm1140", "iso-2022-jp", "iso-2022-kr", "hz", "utf-7", "utf-16", "utf-32", "cp864"]
)
def test_plain_ascii_stays_ascii_whatever_the_claim(charset: str) -> None:
    text = LETTER + "1 + 1 = 2, C++ and 100% of ~all~ \\o/ at http://pills.example/\n"
    assert text_of(text.encode(), charset) == text
    assert text_of(f"<p>{text}".encode(), charset, "text/html") == text
    assert parse(f"Content-Type: text/plain; charset={charset}\n\n{text}".encode()).texts == (text,)
    assert is_ascii(text.encode(), charset)


@pytest.mark.parametrize("charset", ["cp037", "iso-2022-jp", "hz", "utf-7"])
def test_nearly_plain_ascii_is_read_as_if_nothing_were_claimed(charset: str) -> None:
    assert text_of(LETTER.encode() + FRENCH.encode("cp1252"), charset) == LETTER + FRENCH
    assert text_of(LETTER.encode() + FRENCH.encode(), charset) == LETTER + FRENCH


def test_without_escapes_it_is_the_charset_that_needs_none() -> None:
    assert text_of("無料です\n".encode("euc_jp"), "iso-2022-jp") == "無料です\n"
    assert text_of("무료 상품".encode("euc_kr"), "iso-2022-kr") == "무료 상품"
    assert text_of("免费".encode("gb2312"), "hz-gb-2312") == "免费"


def test_what_really_is_so_encoded_is_decoded() -> None:
    for charset in ("cp037", "cp500", "cp1140"):
        assert text_of(LETTER.strip().encode(charset), charset) == LETTER.strip()
    for charset in ("iso-2022-jp", "utf-7", "utf-16-le", "utf-32-be"):
        assert text_of(f"{LETTER}日本".encode(charset), charset) == f"{LETTER}日本"
    assert text_of("免费".encode("hz"), "hz") == "免费"
    assert text_of("무료".encode("iso2022_kr"), "iso-2022-kr") == "무료"


def test_iso_2022_jp_that_the_page_alone_declares() -> None:
    page = "<html><meta http-equiv=content-type content='text/html; charset=iso-2022-jp'><p>無料です"
    message = parse(b"Content-Type: text/html\n\n" + page.encode("iso-2022-jp"))
    assert message.texts[0].strip() == "無料です"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("=?utf-8?Q?Are_you_ready??=", "Are you ready?"),
        ("=?utf-8?Q?Why?_Why_not??= =?utf-8?Q?_Now!?=", "Why? Why not? Now!"),
        ("=?utf-8?Q?=C3=A9t=C3=A9_??= =?utf-8?B?w6k=?=", "été ?é"),
        ("=?utf-8?Q??= x", " x"),
        ("=?utf-8?Q?=41?=", "A"),
        ("=?utf-8?Q?never closed? =?utf-8?Q?a?=", "=?utf-8?Q?never closed? a"),
        ("a =? b ?= c", "a =? b ?= c"),
    ],
)
def test_question_marks_inside_encoded_words(value: str, text: str) -> None:
    assert decode_words(value) == text
    assert parse(f"Subject: {value}\n\n".encode()).header("subject") == text


@pytest.mark.parametrize("piece", ["=?a?Q?x", "=?a?Q?", "=?a?Q?x? ", "?", "=?a?b?c?", "=?a?Q?x?=\t"])
def test_words_that_never_end_take_linear_time(piece: str) -> None:
    value = "=?a?Q?" + piece * (250_000 // len(piece))
    started = time.process_time()
    decode_words(value)
    assert time.process_time() - started < 5


def test_nul_is_not_seen() -> None:
    raw = b"Subject: V\0ia\0gra =?utf-8?Q?a=00b?=\n\nche\0ap\n"
    message = parse(raw)
    assert message.header("subject") == header_of(raw, "subject") == "Viagra ab"
    assert message.texts == ("cheap\n",)
    assert parse(b"Content-Type: text/html\n\n<p>che\0ap").texts == ("cheap",)


def test_only_names_without_end_are_cut() -> None:
    assert resolve("x-" * 10_000 + "big5") == ("cp1252", True)
    assert shown("plain") == "plain"
