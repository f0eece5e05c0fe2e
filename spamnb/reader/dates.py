"""When a message was received: by the clock of the reader's own server, which a sender cannot set.

Each server that a message passes puts a Received field on top of those that are there, so the topmost was written by
the last, the reader's own. The Date field says what the sender likes. SpamAssassin's mail, judged and learned in the
order of one field or the other: docs/experiments.md#dates-that-cannot-be-forged.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone

from spamnb.reader.message import fields_of

MAX_DATE = 200  # characters read of a date: a real one has 31, and a comment of the zone's name behind it

_RFC_2822 = re.compile(
    r"\s*+(?:[A-Za-z]{3,9},)?\s*+([0-9]{1,2})\s++([A-Za-z]{3})\s++([0-9]{4})\s++"
    r"([0-9]{2}:[0-9]{2}(?::[0-9]{2})?)\s++([+-])([0-9]{2})([0-9]{2})(?![0-9])"
)
_MONTHS = {name: n for n, name in enumerate("jan feb mar apr may jun jul aug sep oct nov dec".split(), 1)}


def arrival(raw: bytes) -> int | None:
    """When a message was received, in seconds since 1970; None where it does not say so legibly, or an earlier year.

    By its topmost Received field; by its Date field only where it has no Received field at all.

    >>> arrival(b"Received: from a by b; Thu, 22 Aug 2002 18:26:25 +0700\\nDate: Fri, 1 Jan 2038 00:00:00 +0000\\n\\n")
    1030015585
    >>> arrival(b"Date: Thu, 22 Aug 2002 18:26:25 +0700\\n\\n"), arrival(b"Subject: Date: unknown\\n\\n")
    (1030015585, None)
    """
    stated = None
    for name, value in fields_of(raw):
        match name.lower():
            case "received":
                return seconds(value.rpartition(";")[2])
            case "date" if stated is None:
                stated = value
    return seconds(stated) if stated is not None else None


def seconds(value: str) -> int | None:
    """A date and time as RFC 2822 writes it, in seconds since 1970; no zone, and one that is unknown, is UTC.

    >>> seconds(" Thu, 22 Aug 2002 18:26:25 +0700 (ICT)"), seconds("22 Aug 02 11:26:25 GMT"), seconds("yesterday")
    (1030015585, 1030015585, None)
    """
    value = value[:MAX_DATE]
    found = _RFC_2822.match(value)
    try:
        moment = _moment(*found.groups()) if found else _unusual(value)
    except (KeyError, ValueError, TypeError, IndexError, OverflowError):  # no such day, time or zone
        return None
    received = int(moment.timestamp())
    return received if received >= 0 else None


def _moment(day: str, month: str, year: str, clock: str, sign: str, zone_hours: str, zone_minutes: str) -> datetime:
    hour, minute, second = int(clock[:2]), int(clock[3:5]), int(clock[6:8] or 0)
    east = timedelta(hours=int(zone_hours), minutes=int(zone_minutes))
    zone = timezone(-east if sign == "-" else east)
    return datetime(int(year), _MONTHS[month.lower()], int(day), hour, minute, second - (second == 60), tzinfo=zone)


def _unusual(value: str) -> datetime:
    """A date in another of the forms that are met: with the zone's name, two digits of the year, or the month first."""
    from email.utils import parsedate_to_datetime  # 9 ms to import, and few dates need it

    moment = parsedate_to_datetime(value)
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment
