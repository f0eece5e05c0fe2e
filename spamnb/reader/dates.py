"""When a message was received: by the clock of the reader's own server, which a sender cannot set.

Each server that a message passes puts a Received field on top of those that are there, so the topmost was written by
the last, the reader's own. The Date field says what the sender likes. SpamAssassin's mail, judged and learned in the
order of one field or the other: docs/experiments.md#dates-that-cannot-be-forged.
"""

from __future__ import annotations

import functools
import re
from datetime import date

from spamnb.reader.message import fields_of

MAX_DATE = 200  # characters read of a date: a real one has 31, and a comment of the zone's name behind it

_RFC_2822 = re.compile(
    r"\s*+(?:[A-Za-z]{3,9},)?\s*+([0-9]{1,2})\s++([A-Za-z]{3}\s++[0-9]{4})\s++"
    r"([0-9]{2}):([0-9]{2})(?::([0-9]{2}))?\s++([+-])([0-9]{2})([0-9]{2})(?![0-9])"
)
_MONTHS = {name: n for n, name in enumerate("jan feb mar apr may jun jul aug sep oct nov dec".split(), 1)}
_NUMBERS = {f"{n:02}": n for n in range(100)}  # a third of the time of int()
_EPOCH = date(1970, 1, 1).toordinal()


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
    if not (found := _RFC_2822.match(value)):
        return _unusual(value)
    day, hour, minute, second, sign, zone_hours, zone_minutes = found.group(1, 3, 4, 5, 6, 7, 8)
    hours, minutes, east, past = _NUMBERS[hour], _NUMBERS[minute], _NUMBERS[zone_hours], _NUMBERS[zone_minutes]
    rest = _NUMBERS[second] if second else 0
    if hours > 23 or minutes > 59 or rest > 60 or east > 23 or past > 59 or (days := _days(day, found[2])) is None:
        return None
    offset = east * 3600 + past * 60
    moment = days * 86_400 + hours * 3600 + minutes * 60 + rest
    return _since_1970(moment + offset if sign == "-" else moment - offset)


@functools.lru_cache(maxsize=1024)
def _days(day: str, month_and_year: str) -> int | None:
    """Days since 1970, None where there is no such day; remembered, for mail of one day comes together."""
    month, year = month_and_year.split()
    try:
        return date(int(year), _MONTHS[month.lower()], int(day)).toordinal() - _EPOCH
    except (KeyError, ValueError):
        return None


def _unusual(value: str) -> int | None:
    """A date in another of the forms that are met: with the zone's name, two digits of the year, or the month first."""
    from datetime import UTC
    from email.utils import parsedate_to_datetime  # 9 ms to import, and few dates need it

    try:
        moment = parsedate_to_datetime(value)
        moment = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment
        return _since_1970(int(moment.timestamp()))
    except (ValueError, TypeError, IndexError, OverflowError):
        return None


def _since_1970(moment: int) -> int | None:
    return moment if moment >= 0 else None
