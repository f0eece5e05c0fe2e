"""When a message was received: by the clock of the reader's own server, which a sender cannot set.

Each server that a message passes puts a Received field on top of those that are there, so the topmost was written by
the last, the reader's own. The Date field says what the sender likes. SpamAssassin's mail, judged and learned in the
order of one field or the other: docs/experiments.md#dates-that-cannot-be-forged.
"""

from __future__ import annotations

from datetime import UTC

from spamnb.reader.message import date_of


def arrival(raw: bytes) -> int | None:
    """When a message was received, in seconds since 1970; None where it does not say so legibly, or an earlier year.

    By its topmost Received field; by its Date field only where it has no Received field at all.

    >>> arrival(b"Received: from a by b; Thu, 22 Aug 2002 18:26:25 +0700\\nDate: Fri, 1 Jan 2038 00:00:00 +0000\\n\\n")
    1030015585
    >>> arrival(b"Date: Thu, 22 Aug 2002 18:26:25 +0700\\n\\n"), arrival(b"Subject: Date: unknown\\n\\n")
    (1030015585, None)
    """
    return seconds(date_of(raw))


def seconds(value: str) -> int | None:
    """A date and time as RFC 2822 writes it, in seconds since 1970; no zone, and one that is unknown, is UTC.

    >>> seconds(" Thu, 22 Aug 2002 18:26:25 +0700 (ICT)"), seconds("22 Aug 02 11:26:25 GMT"), seconds("yesterday")
    (1030015585, 1030015585, None)
    """
    from email.utils import parsedate_to_datetime  # 9 ms to import

    try:
        moment = parsedate_to_datetime(value)
        received = int((moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment).timestamp())
    except (ValueError, TypeError, IndexError, OverflowError):  # no such day, time or zone
        return None
    return received if received >= 0 else None
