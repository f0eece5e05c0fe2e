"""What an override of direction turns around is read as it is seen."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from uncompiled import uncompiled

from spamnb.message.bidi import MAX_MARKS, MAX_NESTED, reading_order
from spamnb.message.html import read_html
from spamnb.message.parse import header_of, parse

with uncompiled("spamnb.message.html") as (source,):
    read_source = source.read_html

LRE, RLE, PDF, LRO, RLO = "\u202a\u202b\u202c\u202d\u202e"


@pytest.mark.parametrize(
    ("written", "read"),
    [
        (f"buy {RLO}argaiV{PDF} now", "buy Viagra now"),
        (f"{RLO}yadot sllip paehc\nplain", "cheap pills today\nplain"),  # a line ends it
        (f"{RLO}argaiV", "Viagra"),
        (f"{RLO}fe{RLO}dc{PDF}ba{PDF}", "abcdef"),
        (f"{RLO}llip {LRO}cheap{PDF} yub{PDF}", "buy cheap pill"),
        (f"{RLO}llip {LRE}cheap{PDF} yub{PDF}", "buy cheap pill"),
        (f"{RLE}left as it is{PDF}{RLO}x", "left as it isx"),
        (f"{RLO}e\u0301fac{PDF}", "cafe\u0301"),
        (f"{RLO}שלום{PDF} {LRO}םולש{PDF}", "שלום שלום"),  # right to left anyhow, and against it
        (f"{PDF}{PDF}a{RLO}", "a"),
        ("no mark", "no mark"),
    ],
)
def test_what_is_turned_around_is_read_as_it_is_seen(written: str, read: str) -> None:
    assert reading_order(written) == read


def test_subject_text_and_page_are_in_reading_order() -> None:
    seen = f"{RLO}argaiV{PDF} now"
    raw = f"Subject: {seen}\nContent-Type: text/html; charset=utf-8\n\n<p>{seen}<p>&#x202E;argaiV&#x202C;".encode()
    message = parse(raw)
    assert message.header("subject") == header_of(raw, "subject") == "Viagra now"
    assert message.texts[0].split() == ["Viagra", "now", "Viagra"]
    assert parse(f"\n{seen}".encode()).texts == ("Viagra now",)


@pytest.mark.parametrize(
    ("page", "words"),
    [
        ("<bdo dir=rtl>argaiV</bdo> now", "Viagra now"),
        ("<bdo dir=RTL>argaiV\n<b>yub</b></bdo> now", "Viagra buy now"),
        ("<bdo dir=rtl>now yub</bdo>", "buy won"),
        ("<bdo dir=rtl><bdo></bdo>argaiV yub\nwon</bdo>", "now buy Viagra"),
        ("<bdo dir=rtl>arg<i>ai</i>V<br>yub</bdo>", "Viagra buy"),
        ("<div><bdo dir=rtl>argaiV</div>now", "Viagra now"),
        ("<p dir=rtl>now</p><bdo>now</bdo><bdo dir=ltr>now</bdo>", "now nownow"),
        ("<bdo dir=ltr>\u05d1\u05d0</bdo>", "\u05d0\u05d1"),
        ("<bdo dir=rtl style='display:none'>neddih</bdo><bdo dir=rtl><i style='display:none'>x</i>nees</bdo>", "seen"),
        ("<bdo dir=rtl>fo<table><td>llec</table></bdo>", "of cell"),
    ],
)
def test_bdo_elements_are_in_reading_order(page: str, words: str) -> None:
    raw = f"Content-Type: text/html; charset=utf-8\n\n{page}".encode()
    assert parse(raw).texts[0].split() == words.split()
    assert read_source(page.encode(), []) == tuple(read_html(page.encode(), []))


def test_a_file_keeps_its_name() -> None:
    """It is opened as what the end of its name says, whatever a reader sees."""
    head = f'Content-Type: application/octet-stream; name="annual{RLO}fdp.exe"\n\n'
    assert parse(head.encode()).parts[0].filename.endswith(".exe")


@given(st.text(f"ab \n{LRE}{RLE}{PDF}{LRO}{RLO}", max_size=200))
def test_no_letter_is_lost(text: str) -> None:
    letters = [char for char in text if char not in LRE + RLE + PDF + LRO + RLO]
    assert sorted(char for char in reading_order(text) if char in "ab \n") == sorted(letters)
    assert reading_order(text).count("\n") == text.count("\n")


@pytest.mark.parametrize("piece", [RLO, f"{RLO}a", f"{RLO}a{PDF}", f"{RLO}a{LRO}b", f"{RLO}ab\n", "a" * 99 + RLO])
def test_many_marks_take_linear_time(piece: str) -> None:
    started = time.process_time()
    reading_order(piece * (1_000_000 // len(piece)))
    reading_order(piece * MAX_MARKS)
    reading_order((RLO + LRO) * MAX_NESTED + "a" * 1_000_000)
    assert time.process_time() - started < 3
