"""X-Spam-* rewriting, against the standard library's reading of the same message."""

import email
import re
from email import policy

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spamnb.reader.spam_fields import replace_spam_fields, section_length, strip_envelope

OURS = [("X-Spam-Flag", "YES"), ("X-Spam-Status", "Yes, score=9.5 " + " ".join(["word"] * 30))]
HARMLESS = [b"To: x", b"Subject: y", b" more", b"R: \xff"]
ODD = [b"", b"no colon", b"A: b\rX-Spam-Level: ***", b"X-Spam-A: 1\rTo: y", b"X-Spam-A: 1\r", b": odd", b"e\xe9: \xff"]
FORGED = [b"X-Spam-Flag: NO", b"x-SPAM-status : No,", b"\tcontinued", b"X-Spammer: z"]
ENDS = st.sampled_from([b"\n", b"\r\n"])


def sections(lines: list[bytes]) -> st.SearchStrategy[bytes]:
    return st.lists(st.builds(bytes.__add__, st.sampled_from(lines), ENDS), max_size=12).map(b"".join)


@given(sections(HARMLESS + ODD + FORGED), st.binary(max_size=40))
def test_only_x_spam_fields_change(section: bytes, tail: bytes) -> None:
    raw = section + tail
    new = replace_spam_fields(raw, OURS)
    seen = email.message_from_bytes(new, policy=policy.compat32)
    assert seen.get_all("X-Spam-Flag") == ["YES"] and len(seen.get_all("X-Spam-Status") or []) == 1
    names = [name.lower().strip() for name in seen]
    assert [name for name in names if name.startswith("x-spam-")] == ["x-spam-flag", "x-spam-status"]
    assert new.endswith(raw[section_length(raw) :])  # the body, byte for byte
    assert replace_spam_fields(new, OURS) == new


@pytest.mark.parametrize("newline", [b"\n", b"\r\n"])
def test_our_fields_have_the_messages_line_ends_and_width(newline: bytes) -> None:
    new = replace_spam_fields(newline.join([b"To: x", b"", b"hi", b""]), OURS)
    head = new[: section_length(new)]
    assert set(re.findall(rb"\r?\n", head)) == {newline} and max(len(line) for line in head.splitlines()) <= 78
    assert email.message_from_bytes(new)["X-Spam-Status"].split() == OURS[1][1].split()


def test_forged_fields_go_with_their_continuation_lines_and_the_mbox_line_stays_first() -> None:
    raw = b"To: x\nX-Spam-Status: No,\n score=-99\n\tX-Spam-Flag: NO\nCc: y\n folded\n\nX-Spam-Flag: body\n"
    assert replace_spam_fields(raw, []) == b"To: x\nCc: y\n folded\n\nX-Spam-Flag: body\n"
    raw = b"From ann@example.org Mon Jan  1 00:00:00 2024\nX-Spam-Level: *\nTo: x\n\nFrom me\n"
    assert replace_spam_fields(raw, [("X-Spam-Flag", "YES")]) == raw.replace(b"X-Spam-Level: *", b"X-Spam-Flag: YES")


def test_what_the_mail_software_put_on_top_goes_and_nothing_else() -> None:
    message = b"Received: real\r\n more\r\nTo: x\r\n\r\nX-Envelope-From: body"
    envelope = b"X-Envelope-From: <a@b>\r\nX-Envelope-To: c,\r\n\td\r\n"
    received = b"Received: from x\r\n\tby y; now\r\n"
    assert strip_envelope(envelope + received + message) == message
    assert strip_envelope(b"From a@b Mon Jan  1 00:00:00 2024\n" + envelope + received + message) == message
    for raw in (message, received + message, b"X-Envelope-From: a\n" + message, b"To: y\n" + envelope + message):
        assert strip_envelope(raw) == raw
    assert strip_envelope(envelope + received) == b"" and strip_envelope(b"") == b""
