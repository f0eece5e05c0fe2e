"""When a message was received: by the clock of the reader's own server, which a sender cannot set.

Each server that a message passes puts a Received field on top of those that are there, so the topmost was written by
the last, the reader's own. The Date field says what the sender likes. SpamAssassin's mail, judged and learned in the
order of one field or the other: docs/experiments.md#dates-that-cannot-be-forged.
"""

from __future__ import annotations

import functools
import re
from datetime import date

from .headers import FOLDED, MAX_HEADER_BYTES, normalise

MAX_DATE = 200  # characters read of a date: a real one has 31, and a comment of the zone's name behind it

_RECEIVED = re.compile(rf"\n(?i:received)[ \t]*+:({FOLDED})".encode())
_DATE = re.compile(rf"\n(?i:date)[ \t]*+:({FOLDED})".encode())
_RFC_2822 = re.compile(
    rb"\s*+(?:[A-Za-z]{3,9},)?\s*+([0-9]{1,2})\s++([A-Za-z]{3}\s++[0-9]{4})\s++"
    rb"([0-9]{2}):([0-9]{2})(?::([0-9]{2}))?\s++([+-])([0-9]{2})([0-9]{2})(?![0-9])"
)
_MONTHS = {name: n for n, name in enumerate(b"jan feb mar apr may jun jul aug sep oct nov dec".split(), 1)}
_NUMBERS = {b"%02d" % n: n for n in range(100)}  # a third of the time of int()
_EPOCH = date(1970, 1, 1).toordinal()


def arrival(raw: bytes) -> int | None:
    """When a message was received, in seconds since 1970; None where it does not say so legibly, or an earlier year.

    By its topmost Received field; by its Date field only where it has no Received field at all.

    >>> arrival(b"Received: from a by b; Thu, 22 Aug 2002 18:26:25 +0700\\nDate: Fri, 1 Jan 2038 00:00:00 +0000\\n\\n")
    1030015585
    >>> arrival(b"Date: Thu, 22 Aug 2002 18:26:25 +0700\\n\\n"), arrival(b"Subject: Date: unknown\\n\\n")
    (1030015585, None)
    """
    head = b"\n" + normalise(raw[:MAX_HEADER_BYTES])  # the first line may be a field, too
    end = head.find(b"\n\n") + 1 or len(head)
    if received := _RECEIVED.search(head, 0, end):
        value = received[1]
        return seconds(value[value.rfind(b";") + 1 :])
    stated = _DATE.search(head, 0, end)
    return seconds(stated[1]) if stated else None


def seconds(value: bytes) -> int | None:
    """A date and time as RFC 2822 writes it, in seconds since 1970; no zone, and one that is unknown, is UTC.

    >>> seconds(b" Thu, 22 Aug 2002 18:26:25 +0700 (ICT)"), seconds(b"22 Aug 02 11:26:25 GMT"), seconds(b"yesterday")
    (1030015585, 1030015585, None)
    """
    value = value[:MAX_DATE]
    if not (found := _RFC_2822.match(value)):
        return _unusual(value)
    day, hour, minute, second, sign, zone_hours, zone_minutes = found.group(1, 3, 4, 5, 6, 7, 8)
    hours, minutes, east, past = _NUMBERS[hour], _NUMBERS[minute], _NUMBERS[zone_hours], _NUMBERS[zone_minutes]
    rest = _NUMBERS[second] if second else 0
    if hours > 23 or minutes > 59 or rest > 60 or east > 23 or past > 59 or (days := _days(day, found[2])) is None:
        return None
    offset = east * 3600 + past * 60
    moment = days * 86_400 + hours * 3600 + minutes * 60 + rest
    return _since_1970(moment + offset if sign == b"-" else moment - offset)


@functools.lru_cache(maxsize=1024)
def _days(day: bytes, month_and_year: bytes) -> int | None:
    """Days since 1970, None where there is no such day; remembered, for mail of one day comes together."""
    month, year = month_and_year.split()
    try:
        return date(int(year), _MONTHS[month.lower()], int(day)).toordinal() - _EPOCH
    except (KeyError, ValueError):
        return None


def _unusual(value: bytes) -> int | None:
    """A date in another of the forms that are met: with the zone's name, two digits of the year, or the month first."""
    from datetime import UTC
    from email.utils import parsedate_to_datetime  # 9 ms to import, and few dates need it

    try:
        moment = parsedate_to_datetime(value.decode("latin-1"))
        moment = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment
        return _since_1970(int(moment.timestamp()))
    except (ValueError, TypeError, IndexError, OverflowError):
        return None


def _since_1970(moment: int) -> int | None:
    return moment if moment >= 0 else None
