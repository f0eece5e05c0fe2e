"""Ways to write bytes as letters that readers decode and a filter must too, and text that only looks like them."""

from __future__ import annotations

import base64 as standard
import binascii

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spamnb.message.encodings import base64, take_uuencoded, transfer_decode
from spamnb.message.mime import MAX_PARTS
from spamnb.message.parse import parse

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


def test_a_uuencoded_file_is_taken_out_and_text_around_it_stays() -> None:
    text, [(name, content, _)] = take_uuencoded("before\n" + uuencoded(TEXT) + "after\n", 9)
    assert (text, name, content) == ("before\n\nafter\n", "a.bin", TEXT)


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
