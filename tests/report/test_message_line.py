"""message_line.py: whatever a message says of itself, it is one printable line that fits the terminal."""

import base64

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from rich.cells import cell_len

from spamnb.report.message_line import Heading, fit_columns, format_message_line, read_heading
from spamnb.shown_text import to_printable

CHINESE = "免費無限次任打中港長途電話，一網天下，您的滿意是我們追求的目標"
ANN = Heading("Ann <ann@x.example>", "Minutes of the meeting", "2002-08-22")


def encoded(text: str, charset: str) -> bytes:
    return b"=?" + charset.encode() + b"?b?" + base64.b64encode(text.encode(charset)) + b"?="


@pytest.mark.parametrize("charset", ["big5", "gb18030", "utf-8"])
def test_encoded_words_are_decoded_and_columns_stand_below_one_another(charset: str) -> None:
    raw = b"Subject: " + encoded(CHINESE, charset) + b"\nFrom: " + encoded("易生活", charset) + b" <e@x.example>\n\n"
    of = read_heading(raw)
    assert (of.sender, of.subject) == ("易生活 <e@x.example>", CHINESE)
    for width in (80, 120):
        lines = [format_message_line("spam", each, "inbox#3", width) for each in (of, ANN)]
        before = [cell_len(line[: line.index(start)]) for line, start in zip(lines, ("免費", "Minutes"))]
        assert before[0] == before[1] and all(cell_len(line) <= width for line in lines)
        assert lines[0].count("…") >= (width == 80)


def test_what_moves_the_cursor_or_turns_the_writing_is_escaped_and_the_rest_stays() -> None:
    raw = b"From: a\x1b[2J\x9b2J\x07\nDate: \x1b]0;x\x07\n"
    raw += b"Subject: =?utf-8?q?=E4=B8=AD=E2=80=AE=1B[31m=0D=0A=E6=96=87?=\n\n"
    of = read_heading(raw)
    assert of.subject == "中\\u202e\\x1b[31m 文"
    assert of.sender.startswith("a\\x1b[2J") and of.sender.endswith("\\x07") and of.day.startswith("\\x1b]0;x")
    assert to_printable("a\u2066b\u200fc\ufeffd\ud800") == "a\\u2066b\\u200fc\\ufeffd\\ud800"
    assert to_printable("e" + "\u0301" * 99 + "x") == "e" + "\u0301" * 3 + "x"


def test_a_message_without_fields_shows_its_text_and_its_name() -> None:
    of = read_heading(b"\nFreeMsg: text WIN to 80086 now")
    assert (
        format_message_line("spam  0.9913", of, "corpora/sms.csv:7", 80).split("  ")[-1]
        == "FreeMsg: text WIN to 80086 now"
    )
    assert "sms.csv:7" in format_message_line("spam  0.9913", of, "corpora/sms.csv:7", 80)


@given(st.binary(max_size=300), st.binary(max_size=300), st.integers(1, 200), st.integers(0, 30))
@example(b"=?utf-8?q?=E4=B8=AD?=" * 40, b"=?gb2312?b?" + b"A" * 75 + b"?=", 80, 6)
@example(b"\xe4\xb8\xad\xcc\x81" * 60, b"Mon, 1 Jan 0000 00:00:00 +9999", 120, 14)
def test_any_message_makes_one_printable_line_that_fits(subject: bytes, date: bytes, width: int, head: int) -> None:
    of = read_heading(b"From: " + subject[::-1] + b"\nSubject: " + subject + b"\nDate: " + date + b"\n\n" + subject)
    line = format_message_line("h" * head, of, "a/b", width)
    assert line.isprintable() and cell_len(line) <= width


@given(st.text(max_size=60), st.integers(0, 40))
def test_what_is_fitted_has_exactly_so_many_columns(text: str, columns: int) -> None:
    text = to_printable(text)
    fitted = fit_columns(text, columns)
    assert cell_len(fitted) == columns
    assert text in fitted or "…" in fitted or not columns
