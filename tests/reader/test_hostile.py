"""No message hides what people see, ends the reader, or takes much longer than others of its size.

None makes the core read or write out of bounds.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import pytest

from spamnb.reader.message import Reader
from spamnb.reader.tokens import Vocabulary

sys.path.insert(0, str(Path(__file__).parent))
import fuzzing
from fuzzing import NoSanitizer, fuzz
from hostile import NAMES, hostile, made

MOST = 0.2  # seconds of the processor a megabyte, on a machine that does other things, too: the slowest takes .07
MADE = made()
# What a client shows of nearly all of them.
SENTENCE = (
    "customer account suspended please verify password billing information immediately clicking button below mailbox "
    "permanently deleted within hours congratulations free gift card worth bitcoin bonus unsubscribe"
).split()
# Of these it shows something else, or by means that are not followed: letters in another order by boxes, documents of
# Word, encrypted text.
OTHERS = "ev_vis_row_reverse mime_docx mime_pgp_mime".split()


def seconds(raw: bytes) -> float:
    begin = time.process_time()
    Reader().read([raw], Vocabulary(), doubtful=True)
    return time.process_time() - begin


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("megabytes", [1, pytest.param(20, marks=pytest.mark.slow)])
def test_time_is_linear_and_short(name: str, megabytes: int) -> None:
    raw = hostile(name, megabytes * 1_000_000)
    assert any(seconds(raw) < MOST * megabytes for _ in range(3))


@pytest.mark.parametrize("name", ["readings of long fields", "readings of readings", "depth"])
def test_a_short_message_with_many_parts_takes_a_tenth_of_a_second_at_most(name: str) -> None:
    raw = hostile(name, 40_000)
    assert any(seconds(raw) < MOST / 2 for _ in range(3))


@pytest.mark.parametrize("name", [name for name in MADE if name not in OTHERS and name.startswith(("ev_", "mime_"))])
def test_what_a_client_shows_counts(name: str) -> None:
    assert not set(SENTENCE) - set(Reader().tokens(MADE[name], doubtful=True))


# A client shows the sentence of all of these, and 1,000 good words of the first ones to nobody.
HIDING = [name for name in MADE if name.startswith("hid_")] + ["alt_html_decoy100"]
SHOWING = "css_display_invalid css_first_line css_font_size_attr css_opacity_invalid css_overflow_x_clip srcdoc_flood"


@pytest.mark.parametrize("name", HIDING)
def test_good_words_that_nobody_sees_are_doubtful(name: str) -> None:
    plain, every = Reader().tokens(MADE[name]), Reader().tokens(MADE[name], doubtful=True)
    assert not {"kernel", "perl", "exmh"} & set(plain) and len(set(SENTENCE) - set(every)) < 4


@pytest.mark.parametrize("name", SHOWING.split())
def test_what_a_client_shows_accuses(name: str) -> None:
    assert not set(SENTENCE) - set(Reader().tokens(MADE[name], doubtful=True))


def test_tokens_say_what_lies_there_unread() -> None:
    word = {"attachment:docx", "part:application/vnd.openxmlformats-officedoc"}
    for name, expected in (("mime_docx", word), ("mime_pgp_mime", {"part:application/pgp-encrypted"})):
        assert expected <= set(Reader().tokens(MADE[name]))


@pytest.mark.parametrize("name", MADE)
def test_nothing_ends_the_reader_or_makes_very_many_tokens(name: str) -> None:
    assert 5 < len(Reader().tokens(MADE[name], doubtful=True)) <= 50_000
    size = len(MADE[name])
    assert size < 100_000 or any(seconds(MADE[name]) < MOST * size / 1e6 for _ in range(3))


@pytest.mark.slow
def test_mutated_messages_are_read() -> None:
    try:
        number, failure = fuzz(seconds=3, seed=1)
    except NoSanitizer as error:
        pytest.skip(str(error))
    assert failure == "" and number > 20


def test_a_signal_that_ends_the_fuzzed_process_is_a_failure(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def build(folder: Path) -> dict[str, str]:
        (folder / "message").touch()
        (folder / "sitecustomize.py").write_text("import os\nos.kill(os.getpid(), 9)")
        return {**os.environ, "PYTHONPATH": str(folder)}

    monkeypatch.setattr(fuzzing, "build", build)
    monkeypatch.chdir(tmp_path)
    assert "-9" in fuzz(seconds=1, seed=1)[1]


# The plain parts of a doubtful word are bounded, and here the bound is within the letter Œ.
MANY_PARTS = (
    b"Content-Type:text/htm\nn style>accouk'>ha/span><span style>suspended.>Pspan><s>/span><span "
    b"style>your'>passwan><span style>an><c'>bispan><span style=''>informatix><span>immediatel><"
    b"k'>by</span>cli/span><s>the</>>button<k'>below,\x8c<n>a"
)


def test_a_bound_of_parts_of_a_doubtful_word_cuts_no_letter() -> None:
    assert all(token.isprintable() for token in Reader().tokens(MANY_PARTS, doubtful=True))
