"""When a message was received, also by hostile headers."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

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
        b"", b"\n\nDate: %s\n" % DAY, b"Received: from a by b; yesterday\n\n",
        *(b"Date: %s\n\n" % date for date in (
            b"Thu, 22 Aug 1902 18:26:25 +0700", b"22 Aug 99999999999 18:26:25 +0700", b"31 Feb 2002 18:26:25 +0700",
            b"1 Feb 2002 05:26:25 +9999", b"\xe9\xff 2002")),
    ],
)  # fmt: skip
def test_what_says_nothing_legible_has_no_date(raw: bytes) -> None:
    assert arrival(raw) is None


@pytest.mark.parametrize(
    "before",
    [
        b"Received: by a id 1, Fri, 1 Jan 1999 00:00:00 +0000\n", b"Received: by a; soon\n", b"Received: (x; y)\n",
        b"Received: by a; id 12:34\n", b"Date: 12:34\n", b"Received: by a; 99 Foo 2001 99:99:99;\n",
    ],
)  # fmt: skip
def test_a_received_field_without_a_date_says_nothing(before: bytes) -> None:
    assert arrival(before + b"Received: by b; " + DAY + b"\n\n") == arrival(before + b"Date: " + DAY + b"\n\n") == WHEN


@pytest.mark.parametrize(
    "date",
    [
        b"Thu (a), (b) 22 (c) Aug (d) 2002 (e(f)) 18:26:25 (g) +0700 (h)", b"22 Aug 2002 11:26:25 Z",
        b"Thu, 22 Aug 2002\n 18:26:25 +0700;", b"Thu Aug 22 18:26:25 2002 +0700", b"(x;y) 22 Aug 02 07:26:25 EDT",
    ],
)  # fmt: skip
def test_obsolete_forms_of_dates_are_read(date: bytes) -> None:
    assert arrival(b"Date: %s\n\n" % date) == arrival(b"Received: from a (b; c); %s\n\n" % date) == WHEN


@pytest.mark.parametrize(
    ("year", "full"),
    [("19101", 2001), ("101", 2001), ("070", 1970), ("99", 1999), ("70", 1970), ("49", 2049), ("00", 2000)],
)
def test_years_of_two_and_three_digits_are_those_of_rfc_5322(year: str, full: int) -> None:
    for form in ("13 Dec {} 15:30 +0000", "Thu, 13 Dec {} 15:30:00 WET", "13-Dec-{} 15:30 +0000"):
        expected = datetime(full, 12, 13, 15, 30, tzinfo=UTC).timestamp()
        assert arrival(f"Date: {form.format(year)}\n\n".encode()) == expected


# Forms of dates in mail, in the words of strftime. %z is the offset from UTC, as the form below it writes it.
DATES = [
    "%a, %d %b %Y %H:%M:%S {}", "%b, %d %Y %I:%M:%S %p {}", "%a, %d %b 0102 %H:%M: %S {}", "%d-%b-%Y %H:%M:%S.123 {}",
    "%a. %d. %B %Y at %H.%M.%S {}", "%a %b %d %Y %H:%M:%S {} (x)", "%A, %B %d, %Y %I:%M:%S%p {}",
    "%a %b %d %H:%M:%S {} %Y", "=?utf-8?Q?%a,?= %d %b %Y %H:%M:%S {}", "%d %b 19102 %I:%M:%S p.m. {}",
    "Sept %d %Y %H:%M:%S,5 {}", "%d/%b/%Y:%H:%M:%S {}", "%a, %d %b %y. %H:%M:%S {}", "%H:%M:%S %d-%b-%y {}",
    "mar, %d %b %Y %H:%M:%S {}", "%Y-%m-%dT%H:%M:%S{}", "%a, %Y/%m/%d %H:%M:%S.12 {}", "%m/%d/%Y %I:%M:%S %p {}",
    "%H:%M:%S %Y-%m-%d {}",
]  # fmt: skip
OFFSETS = ["{0}{1:02}{2:02}", "GMT{0}{1:02}{2:02}", "UTC {0}{1:02}:{2:02}", "{0}{1}{2:02}", "{0} {1:02}{2:02} EST",
           "<{0}{1:02}{2:02}>"]  # fmt: skip


@given(
    st.datetimes(datetime(2002, 9, 1, 12), datetime(2002, 9, 30), timezones=st.just(UTC)), st.integers(-720, 840),
    st.sampled_from(DATES), st.sampled_from(OFFSETS),
)  # fmt: skip
@example(datetime(2002, 9, 22, 0, 10, 38, tzinfo=UTC), -60, DATES[1], OFFSETS[0])
def test_dates_in_the_forms_that_programs_write(moment: datetime, minutes: int, form: str, offset: str) -> None:
    hours, rest = divmod(abs(minutes), 60)
    local = moment.astimezone(timezone(timedelta(minutes=minutes))).replace(microsecond=0)
    if "p.m." in form and local.hour < 12:
        local += timedelta(hours=12)
    date = local.strftime(form.format(offset.format("+" if minutes >= 0 else "-", hours, rest)))
    if "Sept" not in form or local.month == 9:
        assert arrival(f"Date: {date}\n\n".encode()) == local.timestamp(), date


@pytest.mark.parametrize("form", ["{d}.{m}.{y} {t}", "Thu, {d}.{m}.{y} {t}", "Thu, {d} {m} {y} {t}", "{y}.{m}.{d} {t}"])
def test_of_numbers_with_dots_or_blanks_the_first_is_the_day(form: str) -> None:
    for day, month in ((1, 2), (12, 1), (31, 12)):
        expected = datetime(2020, month, day, 10, 11, 12, tzinfo=UTC).timestamp()
        date = form.format(d=f"{day:02}", m=f"{month:02}", y=2020, t="10:11:12")
        assert arrival(f"Date: {date}\n\n".encode()) == expected, date


@pytest.mark.parametrize(("date", "month"), [
    ("Mo, 6 Mai 2002", 5), ("Mi., 6 M\xe4rz 2002", 3), ("Do, 6. Okt. 2002", 10), ("Di, 6 Dez 2002", 12),
    ("mar., 6 ao\xfbt 2002", 8), ("ven, 6 d\xe9c. 2002", 12), ("lun, 6 f\xe9vr. 2002", 2), ("jue, 6 ene 2002", 1),
    ("gio, 6 lug 2002", 7), ("gio, 6 giu 2002", 6), ("qua, 6 out 2002", 10), ("za, 6 mrt 2002", 3),
])  # fmt: skip
def test_months_may_have_names_of_other_languages(date: str, month: int) -> None:
    expected = datetime(2002, month, 6, 8, tzinfo=UTC).timestamp()
    assert arrival(f"Date: {date} 10:00:00 +0200\n\n".encode()) == expected


def test_a_leap_second_is_the_second_before_it() -> None:
    assert arrival(b"Date: Thu, 31 Dec 1998 23:59:60 +0000\n\n") == 915148799


def test_a_zone_may_have_digits_in_its_name() -> None:
    for zone in ("EST5EDT", "EST", "-05", "-0500 (EST)"):
        assert arrival(f"Date: Thu Aug 22 06:26:25 {zone} 2002\n\n".encode()) == WHEN
