"""When a message was received, also by hostile headers."""

import pytest

from spamnb.reader.message import arrival

DAY = b"Thu, 22 Aug 2002 18:26:25 +0700"
WHEN = 1030015585


@pytest.mark.parametrize(
    "head",
    [
        b"Received: from a by b; %s\nReceived: by a; Fri, 1 Jan 1999 00:00:00 +0000\nDate: 1 Jan 2037 00:00:00 +0000\n",
        b"Date: 1 Jan 2037 00:00:00 +0000\nReceived: from a by b; %s\n",
        b"From a@example.org Fri Jan  1 00:00:00 1999\nRECEIVED: from a (x; y)\n\tby b with SMTP id 1;\n\t%s\n",
        b"Subject: x\r\ndate: %s\r\n", b"X-Received: now\nDate: %s\n",
    ],
)  # fmt: skip
def test_the_topmost_received_field_tells_and_date_only_where_there_is_none(head: bytes) -> None:
    assert arrival(head % DAY + b"\nDate: Fri, 1 Jan 1999 00:00:00 +0000\n") == WHEN
    assert arrival(head % DAY) == WHEN, "a message of headers alone"
    assert arrival(b"X-A: x\n" * 200_000 + head % DAY) == WHEN


@pytest.mark.parametrize(
    "raw",
    [
        b"", b"\n\nDate: %s\n" % DAY, b"Received: from a by b; yesterday\nDate: %s\n\n" % DAY,
        *(b"Date: %s\n\n" % date for date in (
            b"Thu, 22 Aug 1902 18:26:25 +0700", b"22 Aug 99999999999 18:26:25 +0700", b"31 Feb 2002 18:26:25 +0700",
            b"1 Feb 2002 05:26:25 +9999", b"\xe9\xff 2002")),
    ],
)  # fmt: skip
def test_what_says_nothing_legible_has_no_date(raw: bytes) -> None:
    assert arrival(raw) is None
