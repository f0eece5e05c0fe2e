"""Apple Mail's files, as it writes them."""

from __future__ import annotations

from pathlib import Path

import pytest

from spamnb.sources.emlx import message_in
from spamnb.sources.spec import entries

PLIST = (
    b'<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" '
    b'"http://www.apple.com/DTDs/PropertyList-1.0.dtd">\n<plist version="1.0">\n<dict>\n\t<key>flags</key>\n'
    b"\t<integer>8590195713</integer>\n</dict>\n</plist>\n"
)
MAIL = b"Subject: tea\n\nAt four?\n"


def emlx(message: bytes) -> bytes:
    return b"%-10d\n" % len(message) + message + PLIST


def test_a_mailbox_of_apple_mail_is_its_messages_without_attachments(tmp_path: Path) -> None:
    data = tmp_path / "V10/INBOX.mbox/4F2A/Data"
    (data / "Messages").mkdir(parents=True)
    (data / "Attachments/7/2").mkdir(parents=True)
    (data / "Messages/7.emlx").write_bytes(emlx(MAIL))
    (data / "Messages/8.partial.emlx").write_bytes(emlx(b"Subject: 8\n\n"))
    (data / "Attachments/7/2/notes.txt").write_text("no message")
    found = list(entries([f"ham={tmp_path}/V10"], lambda name, error: pytest.fail(f"{name}: {error}")))
    assert [entry.read() for entry in found] == [MAIL, b"Subject: 8\n\n"]
    single = entries([f"ham={data}/Messages/7.emlx"], lambda name, error: pytest.fail(f"{name}: {error}"))
    assert [entry.read() for entry in single] == [MAIL]


@pytest.mark.parametrize(
    "raw",
    [b"", MAIL, b"99\nshort", b"-1\nx", b"1" * 5000 + b"\nx", "٣\nabc".encode(), b"1e3\nx", b"12", b"\xb2\nab"],
)
def test_what_is_no_emlx_is_an_error_and_nothing_else(raw: bytes) -> None:
    with pytest.raises(OSError, match="first line"):
        message_in(raw, "x.emlx")


def test_the_message_is_what_the_line_counts() -> None:
    assert message_in(emlx(b"5 bytes\n\nare not enough"), "x") == b"5 bytes\n\nare not enough"
    assert message_in(b"0\n" + PLIST, "x") == b""
