"""How senders write parts and bytes, as readers decode them and a filter must too, and text that looks like that."""

import base64 as standard
import binascii
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spamnb.message.encodings import base64, take_uuencoded, transfer_decode
from spamnb.message.headers import parameters
from spamnb.message.mime import MAX_PARTS, children
from spamnb.message.parse import Message, parse

TEXT = b"<html><body>Cheap pills at <a href=http://pills.example/>our shop</a>, today only.</body></html>\n" * 3
CODED = standard.encodebytes(TEXT)


def uuencoded(content: bytes) -> str:
    lines = [binascii.b2a_uu(content[at : at + 45]).decode() for at in range(0, len(content), 45)]
    return "".join(["begin 644 a.bin\n", *lines, "`\nend\n"])


@given(st.binary(max_size=500))
def test_base64_is_what_the_standard_library_decodes(octets: bytes) -> None:
    assert base64(standard.encodebytes(octets)) == octets


@pytest.mark.parametrize(
    "written",
    [
        CODED.replace(b"\n", b"\n   "),
        b"  " + CODED.replace(b"\n", b" \n\t"),
        b" ".join([CODED[at : at + 4] for at in range(0, len(CODED), 4)]),
        b" ".join([CODED[at : at + 7] for at in range(0, len(CODED), 7)]),
    ],
)
def test_base64_with_blanks_inside_is_decoded(written: bytes) -> None:
    assert base64(written) == TEXT


def test_base64_beside_lines_of_prose_is_decoded_and_they_are_left_out_as_readers_do() -> None:
    assert base64(b"This is a message in parts:\n" + CODED) == TEXT
    assert base64(CODED + b"-- \nList: see http://list.example/\n") == TEXT
    assert base64(b"Dear friend, this is it.\n" * 30 + CODED) == TEXT


def test_data_after_the_padding_is_decoded() -> None:
    both = standard.b64encode(b"hello, ") + b"\n" + CODED
    assert base64(standard.b64encode(b"hello ") + b"==\n" + CODED) == b"hello " + TEXT
    assert base64(both) == b"hello, " + TEXT
    assert base64(standard.b64encode(b"a") + standard.b64encode(b"bc") + standard.b64encode(b"d")) == b"abcd"


@pytest.mark.parametrize(
    "prose", [b"See you at four, as agreed.\n", b"the minutes of the meeting are below\n" * 9, b"so I say: no!", b""]
)
def test_prose_that_claims_to_be_base64_stays(prose: bytes) -> None:
    assert base64(prose) == prose


def test_soft_line_breaks_with_blanks_behind_them_join_lines() -> None:
    assert transfer_decode(b"a cheap p= \nill and= \t\nmore=\n!", "quoted-printable") == b"a cheap pill andmore!"


@pytest.mark.parametrize(
    "text",
    [
        "begin 644 a\n#86)C\nBuy cheap pills at http://pills.example/ now.\n",  # no end
        "begin 644 a\n#86)C\nBuy cheap pills at http://pills.example/ now.\nend\n",  # other lines before it
        "begin 644 a\n#86)C\nBUY CHEAP PILLS\nVISIT US TODAY\nBEST PRICES\nend\n",  # capitals of any length
    ],
)
def test_text_after_a_line_that_begins_a_file_is_read(text: str) -> None:
    assert take_uuencoded(text, 9) == (text, [])


@pytest.mark.parametrize("following", ["Buy pills\n", "BUY CHEAP PILLS\n" * 3, "BUY\nend\nof story", "", "\n\nBuy"])
def test_of_a_file_without_end_only_its_own_lines_are_taken(following: str) -> None:
    lines = uuencoded(TEXT).replace("`\nend\n", "")
    text, [(name, content, _)] = take_uuencoded("see\n" + lines + following, 9)
    assert (name, content) == ("a.bin", TEXT) and text == "see\n" + following


def test_uuencoded_files_share_the_bound_on_parts() -> None:
    part = b"--b\n\n" + (uuencoded(b"abc") * 160).encode()
    message = parse(b"Content-Type: multipart/mixed; boundary=b\n\n" + part * 240 + b"--b--\n")
    assert len(message.parts) < 2 * MAX_PARTS


def test_a_uuencoded_page_is_read_as_html() -> None:
    message = parse(b"\n" + uuencoded(TEXT).replace("a.bin", "offer.html").encode())
    assert message.links == ("http://pills.example/",) * 3 and "Cheap pills" in message.texts[1]


PAGE = "<p>Cheap pills: <a href=http://pills.example/>here</a></p>"
MIXED = "Content-Type: multipart/mixed; boundary=b\n"


def shown(message: Message) -> str:
    return " ".join(" ".join(message.texts).split())


def is_read_as_html(raw: str) -> bool:
    message = parse(raw.encode())
    return message.links == ("http://pills.example/",) and "Cheap pills: here" in shown(message)


@pytest.mark.parametrize("gap", ["", " \n", "\t\n \n", "\n", "a stray line\n"])
def test_a_boundary_line_separates_whatever_stands_before_it(gap: str) -> None:
    assert is_read_as_html(f"{MIXED}{gap}--b\nContent-Type: text/html\n\n{PAGE}\n--b--\n")
    inner = f"Content-Type: multipart/alternative; boundary=c\n{gap}--c\nContent-Type: text/html\n\n{PAGE}\n--c--"
    assert is_read_as_html(f"{MIXED}\n--b\n{inner}\n--b--\n")


@pytest.mark.parametrize(
    "kind",
    [
        '"text/html"', "text/html,", "text / html", "text/html\0", "TEXT/HTML (page)", "text/htm", "text/xhtml",
        "application/xhtml+xml", "image/svg+xml", "'text/html'; charset=utf-8", "text/html charset=utf-8",
        "application/octet-stream; name=invoice.html", 'application/x-thing; name="Invoice.HTM"',
        "application/octet-stream\nContent-Disposition: attachment; filename=a.xhtml",
        'application/octet-stream\nContent-Disposition: attachment filename="a.svg"',
    ],
)  # fmt: skip
def test_html_is_read_by_whatever_name(kind: str) -> None:
    assert is_read_as_html(f"{MIXED}\n--b\nContent-Type: {kind}\n\n{PAGE}\n--b--\n")
    assert is_read_as_html(f"Content-Type: {kind}\n\n{PAGE}")


def test_a_blank_before_the_colon_hides_no_type() -> None:
    assert is_read_as_html(f"Content-Type : text/html\n\n{PAGE}")
    assert is_read_as_html(f"{MIXED}\n--b\nContent-Type : text/html\n\n{PAGE}\n--b--\n")


@pytest.mark.parametrize("name", ["BASE64 (coded)", "base-64", '"base64"', "Base64;", "base 64"])
def test_base64_is_decoded_by_whatever_name(name: str) -> None:
    coded = standard.encodebytes(PAGE.encode()).decode()
    assert is_read_as_html(f"Content-Type: text/html\nContent-Transfer-Encoding: {name}\n\n{coded}")


@pytest.mark.parametrize("name", ["quoted printable", "QUOTED-PRINTABLE (x)", "quotedprintable"])
def test_quoted_printable_is_decoded_by_whatever_name(name: str) -> None:
    coded = PAGE.replace("=", "=3D").replace("pills:", "pil=\nls:")
    assert is_read_as_html(f"Content-Type: text/html\nContent-Transfer-Encoding: {name}\n\n{coded}")


@pytest.mark.parametrize("kind", ["plain/text", "application/ics", "application/octet-stream; name=a.txt", "text"])
def test_text_is_read_by_whatever_name(kind: str) -> None:
    assert parse(f"Content-Type: {kind}\n\ncheap pills".encode()).texts == ("cheap pills",)


@pytest.mark.parametrize("kind", ["application/octet-stream; name=a.bin", "image/png; name=a.txt", "application/zip"])
def test_what_no_reader_shows_is_not_read(kind: str) -> None:
    assert parse(f"Content-Type: {kind}\n\ncheap pills".encode()).texts == ()


@pytest.mark.parametrize("kind", ["message/rfc822; name=note.eml", "application/octet-stream; name=note.eml"])
def test_a_message_inside_keeps_its_subject_sender_and_name(kind: str) -> None:
    inner = f"From: Pill Shop <shop@pills.example>\nSubject: =?utf-8?q?caf=C3=A9?=\nContent-Type: text/html\n\n{PAGE}"
    message = parse(f"Content-Type: {kind}\n\n{inner}".encode())
    assert shown(message) == "café Pill Shop <shop@pills.example> Cheap pills: here"
    assert [(part.content_type, part.filename) for part in message.parts] == [
        ("message/rfc822", "note.eml"),
        ("text/html", ""),
    ]
    assert message.header("subject") == ""


def test_messages_in_messages_count_as_parts() -> None:
    one = "Content-Type: message/rfc822\n\nSubject: x\n\ntext\n"
    message = parse((f"{MIXED}\n" + f"--b\n{one}" * 1000 + "--b--\n").encode())
    assert len(message.parts) <= MAX_PARTS and message.truncations


HOSTILE = {
    "lines like boundaries": lambda size: b"Content-Type: multipart/mixed; boundary=b\n\n" + b"--x\n" * (size // 4),
    "boundaries that are none": lambda size: b"Content-Type: multipart/mixed; boundary=x\n\n" + b"--xy\n" * (size // 5),
    "parts of padded base64": lambda size: (
        (MIXED + "\n").encode()
        + b"".join(
            b"--b\nContent-Transfer-Encoding: base64\n\n" + b"A=\n" * (size // 249 // 3) + b"\n" for _ in range(249)
        )
    ),
    "parameters": lambda size: (
        (MIXED + "\n").encode()
        + b"".join(b"--b\nContent-Type: text/plain" + b"; a=b" * 25_000 + b"\n\nx\n" for _ in range(size // 125_000))
    ),
    "uuencoded files": lambda size: b"\n" + b"begin 644 a\n#86)C\n`\nend\n" * (size // 24),
    "beginnings of files": lambda size: b"\n" + b"begin 644 a\n" * (size // 12),
    "capitals after a beginning": lambda size: b"\nbegin 644 a\n" + b"M\n" * (size // 2),
    "blanks": lambda size: b"Content-Transfer-Encoding: base64\n\n" + b"A " * (size // 2),
    "soft breaks": lambda size: b"Content-Transfer-Encoding: quoted-printable\n\n" + b"= " * (size // 2),
    "continued headers": lambda size: b"Subject: x\n" + b" \n" * (size // 2),
    "quotes in parameters": lambda size: b"Content-Type: text/plain; a=" + b'"\\' * (size // 2) + b"\n\nx",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_no_message_of_20_megabytes_takes_long(name: str) -> None:
    raw = HOSTILE[name](20_000_000)
    start = time.process_time()
    parse(raw)
    took = time.process_time() - start
    assert took < 5, took  # what is quadratic takes minutes


@pytest.mark.parametrize("line", [b"--b\n", b"--b \n\n", b"--bc\n", b"--b--\n"])
def test_boundary_lines_without_parts_are_bounded(line: bytes) -> None:
    """Five million in a row took five seconds. What comes behind them is read as one part."""
    body = line * (20_000_000 // len(line)) + b"\ntext"
    started = time.process_time()
    spans = children(body, 0, len(body), "b", 250)
    assert time.process_time() - started < 5
    assert spans == [] if b"-\n" in line or b"c" in line else spans[-1][1] == len(body)


def test_of_too_many_parameters_the_first_and_the_last_are_read() -> None:
    value = "text/plain; charset=a" + "; x=y" * 1500 + "; name=b.html"
    assert parameters(value) == ("text/plain", {"charset": "a", "x": "y", "name": "b.html"})
