"""Messages in files: where those of an mbox begin and end, against the standard library; gzip, limits of size."""

import gzip
import io
import mailbox
import os
import pty
import random
import re
import shutil
import subprocess
import tracemalloc
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from mail import fail, write_file

from spamnb.sources import entries, mbox

LINES = ["x", "", "", "words " * 12, "From", "from a 1:00", ">From a 1:00", ">>From b", " From c 1:00", "Fro", "F"]
BODIES = st.lists(st.sampled_from(LINES), max_size=9)


def split(raw: bytes) -> list[bytes | None]:
    return list(mbox.split_mbox(io.BytesIO(raw)))


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    bodies=st.lists(BODIES, min_size=1, max_size=5), chunk=st.integers(50, 200), crlf=st.booleans(), end=st.booleans()
)
def test_messages_against_the_standard_library(
    tmp_path: Path, bodies: list[list[str]], chunk: int, crlf: bool, end: bool
) -> None:
    written = [
        f"From a@b Mon Jan  1 00:0{number}:00 2001\nSubject: {number}\n\n" + "\n".join(body) + "\n"
        for number, body in enumerate(bodies)
    ]
    raw = ("\n".join(written) + ("\n" if end else "")).encode()
    if crlf:
        raw = raw.replace(b"\n", b"\r\n")
    path = tmp_path / "box"
    path.write_bytes(raw)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(mbox, "_CHUNK_BYTES", chunk)  # so that separators and ends fall across reads
        patch.setattr(mbox, "_LOOKAHEAD", 48)
        found = split(raw)
    if not crlf:  # the standard library looks for the separators' blank lines in the platform's form only
        box = mailbox.mbox(path)
        assert found == [box.get_bytes(key, from_=True) for key in box.iterkeys()]
        box.close()
    else:
        plain = split(raw.replace(b"\r\n", b"\n"))
        assert [(content or b"").replace(b"\r\n", b"\n") for content in found] == plain


def test_prose_that_was_not_quoted_does_not_separate() -> None:
    raw = (
        b"From a@example.org Mon Jan  1 00:00:00 2001\nSubject: 1\n\nAs agreed.\n\n"
        b"From now on we meet on Mondays.\nBring tea.\n\n"
        b"From b@example.org\nSubject: no time, yet headers follow\n\n.\n\n"
        b"From c@example.org Tue Jan  2 10:00:00 2001\n\nno headers, yet a time\n"
    )
    assert [content[:20] for content in split(raw) if content] == [
        b"From a@example.org M",
        b"From b@example.org\nS",
        b"From c@example.org T",
    ]


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(bodies=st.lists(BODIES, min_size=1, max_size=5), chunk=st.integers(50, 200), mark=st.booleans())
def test_separators_without_blank_lines_are_those_of_the_standard_library(
    tmp_path: Path, bodies: list[list[str]], chunk: int, mark: bool
) -> None:
    separator = "From a@b Mon Jan  1 00:00:00 2001\nX-Mozilla-Status: 0001\n\n"
    raw = "".join(separator + "\n".join([*body, "."]) + "\n" for body in bodies).encode()
    path = tmp_path / "box"
    path.write_bytes(raw)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(mbox, "_CHUNK_BYTES", chunk)
        patch.setattr(mbox, "_LOOKAHEAD", 70)
        found = split((b"\xef\xbb\xbf" if mark else b"") + raw)
    box = mailbox.mbox(path)
    assert found == [box.get_bytes(key, from_=True) for key in box.iterkeys()]
    box.close()
    notes = list(mbox.note_separators(str(path)))
    assert len(notes) == (len(bodies) > 1)
    assert all(f"{len(bodies) - 1} begin a message without a blank line above" in note for note in notes)


@pytest.mark.parametrize("name", ["noblank", "tb_noblank"])
def test_messages_of_mailboxes_that_other_programs_wrote(name: str) -> None:
    found = split(Path(__file__).parents[1].joinpath("reader", "real", f"{name}.mbox").read_bytes())
    assert len(found) == 3 and all(content and content.startswith(b"From ") for content in found)


MUTT_DATES = [  # those that mutt knows
    "Mon Jan  1 00:00:00 2001", "Mon Jan  1 00:00 2001", "Mon Jan  1 00:00:00 EST 01", "Mon Jan  1 0:00:00 2001 +0100",
    "Mon Jan  1 00:00:00 MET DST 1995", "Mon Jan  1 00:00:00 2001 remote from b", "Mon Jan 01 12:00:00AM 2001",
    "Mon January 1 00:00:00 GMT+0100 2001", "Mon Jan  1 00:00:00 -05:00 2001", "Mon Jan  1 00:00:00.12 2001",
    "Mon Jan  1 00:00:00 2001 (+0700)",
]  # fmt: skip
DATES = [
    *MUTT_DATES, "2001-01-01 00:00:00", "2001-01-01T00:00:00+01:00", "2001-01-01 00:00:00.123 +0000",
    "Mon, 1 Jan 2001 00:00:00 +0000", "Jan 1, 2001 00:00:00", "1 Jan 00:00:00 2001",
    "Mon Jan  1 00:00:00 -0500 (EST) 2001", "2001/01/01 00:00", "1-Jan-2001 00:00", "Monday, January 1, 2001 12:00 PM",
]  # fmt: skip
FIELDS = [
    "Subject: x", "X-Mozilla-Status: 0001", ">From b 1:00", "Received: a\n\tb", "subject : x", "Message-ID:\n <a@b>",
    "Originator: a", "Replied:b", "X.400-Id: c",
]  # fmt: skip
PROSE = [
    "From now on 10:00 we meet in 2001", "From 8:30 to 9:45 on 12.12.2001\n1234: Tel", "From here\nyou go: x",
    "From your friends at 10:00 in 2001\nhttp://x", "From a@b.org at 10:00 in 2001", ">From b Mon Jan  1 0:00 2001",
    "From Tue, Jan 5 at 10:30 the office is closed", "From 1 Jan 12:30 on", "From now on, decade 3 12:00",
    "From Jan 5 2024 at 10:30 on", "From 10:00 on 5 Jan 2001 the shop", "From Jan 2001 we meet at 10:30 in May\n1989:",
    "From Monday, 6 January 2020, we open daily at 9:00", "From what I saw in Jan 2020 at 10:30",
    "From 3 May 2021 trains leave at 10:15 AM", "From 1 March 2020 the office opens at 9:00 - 17:00",
    "From now on:\nNote: we meet at five.", "From 2024-01-05 10:30 we are open",
    "From here to 2024-01-05 10:30 we sell",
]  # fmt: skip


@given(st.lists(st.tuples(*map(st.sampled_from, (DATES, FIELDS, PROSE, ["", "\n"]))), min_size=1, max_size=5))
def test_prose_below_a_blank_line_is_no_separator_and_a_date_needs_none(
    messages: list[tuple[str, str, str, str]],
) -> None:
    raw = "".join(f"From a b {date}\n{field}\n\nx\n\n{prose}\n{blank}" for date, field, prose, blank in messages)
    found = split(raw.encode())
    assert len(found) == len(messages) and all(content and b"\n\nx\n" in content for content in found)


def test_lines_that_are_read_as_text_are_noted(tmp_path: Path) -> None:
    raw = b"From a Mon Jan  1 00:00:00 2001\nSubject: 1\n\n.\n\nFrom now on\n\n"
    box = write_file(tmp_path / "box", raw * 2)
    assert "2 are read as text" in next(mbox.note_separators(str(box)))
    assert list(mbox.note_separators(str(write_file(tmp_path / "one", raw.replace(b"now on", b"x 1:00"))))) == []


def test_a_separator_may_have_no_text_at_all() -> None:
    for end in ("\n", "\r\n"):
        raw = ("From \nFrom: a\nTo: b\n\nx\n" * 3 + "From \nmemory\n").replace("\n", end)
        assert len(split(raw.encode())) == 3


def test_first_message_counts_however_bare() -> None:
    assert split(b"\n\nFrom nobody\n") == [b"From nobody\n"]
    assert split(b"") == split(b"Subject: none\n\n") == []


def test_a_message_over_the_bound_is_not_held_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mbox, "MAX_MESSAGE", 1000)
    monkeypatch.setattr(mbox, "_CHUNK_BYTES", 10_000)
    good = b"From b Mon Jan  1 00:02:00 2001\n\nShort.\n"
    raw = b"From a 1:00\n" + b"x" * 5_000_000 + b"\n\n" + good
    tracemalloc.start()
    found = split(raw)
    held = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found == [None, good]
    assert held < len(raw) / 10


def test_unquoted_takes_one_mark_and_leaves_the_headers(tmp_path: Path) -> None:
    raw = b"From a 1:00\n>From uucp!b\nSubject: x\n\n>From me\n>>From you\n> From\nx >From\n"
    plain = b"From a 1:00\n>From uucp!b\nSubject: x\n\nFrom me\n>From you\n> From\nx >From\n"
    bare = b"From b 1:00\n>From x\n"
    box = write_file(tmp_path / "box", raw + b"\n" + bare)
    packed = write_file(tmp_path / "box.gz", gzip.compress(box.read_bytes()))
    for path in (box, packed):
        found = [(entry.name, entry.read()) for entry in mbox.file_entries("ham", str(path), fail)]
        assert found == [(f"{path}#1", plain), (f"{path}#2", bare)]


def test_what_is_left_out_is_told_once_and_named_once() -> None:
    told: list[str] = []
    left_out = entries.SkippedMessages(told.append)
    for error in (ValueError("imaps://a@b: no room"), ValueError("imaps://a@b: no room"), OSError(13, "not yours")):
        left_out("imaps://a@b", error)
    assert told == ["imaps://a@b: no room; left out", "imaps://a@b: not yours; left out"] and left_out.count == 3


def read_by_mutt(box: Path, folder: Path) -> list[bytes]:
    """Return the messages of an mbox, which mutt copies to a Maildir, and print what mutt writes to its terminal."""
    keys = f"<tag-pattern>~A<enter><copy-message>{folder}<enter><exit>"
    settings = (
        "set quit=yes auto_tag=yes mbox_type=Maildir confirmcreate=no confirmappend=no delete=no sort=mailbox-order"
        f" folder={box.parent}"  # not ~/Mail: if that is missing, mutt takes the keys as answers to a question
    )
    command = ["mutt", "-n", "-R", "-F", "/dev/null", "-e", settings, "-f", str(box), "-e", f"push {keys}"]
    terminal, end = pty.openpty()
    with subprocess.Popen(command, stdin=end, stdout=end, stderr=end, env={**os.environ, "TERM": "xterm"}):
        os.close(end)
        with suppress(OSError):  # mutt has closed the terminal
            while screen := os.read(terminal, 1 << 16):
                print(screen)
    os.close(terminal)
    return [path.read_bytes() for path in folder.glob("*/*")]


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("mutt"), reason="mutt is not installed")
@pytest.mark.parametrize("seed", range(8))
def test_the_messages_of_a_mailbox_are_those_of_mutt(seed: int, tmp_path: Path) -> None:
    chance = random.Random(seed)
    messages = [
        f"From a@b {chance.choice(MUTT_DATES)}\n{chance.choice(FIELDS)}\nX-N: {number}\n\nx\n\n{prose}\n\n"
        for number, prose in enumerate(chance.choices(PROSE, k=9))
    ]
    raw = "".join(messages).encode()
    found = read_by_mutt(write_file(tmp_path / "box", raw), tmp_path / "folder")
    ours = [re.findall(rb"X-N: \d", content or b"") for content in split(raw)]
    assert ours == sorted([re.findall(rb"X-N: \d", content) for content in found]) and len(ours) == 9
