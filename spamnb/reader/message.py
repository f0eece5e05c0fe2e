"""Messages → rows of token ids; and one message for people: its fields, text, doubtful text and links."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import NamedTuple

import numpy as np

from spamnb.reader.answers import Answers
from spamnb.reader.binding import BODY, DATE, DIGEST, DOUBTFUL, FIELDS, SENDER, ReaderCore
from spamnb.reader.evidence import TRUNCATIONS, header_rules
from spamnb.reader.rows import UNDATED, Rows
from spamnb.reader.tokens import Vocabulary
from spamnb.settings import Settings

# Controls show nothing. The core puts some of them where a word may end.
_CONTROLS: dict[int, None] = dict.fromkeys([*range(9), *range(14, 32), 127])


class Message(NamedTuple):
    """A decoded message. Its texts have no controls and LF line ends.

    headers: (name as written, decoded value) of the header fields in order
    texts: text that is shown plainly, one per text part
    links: URLs of the HTML parts, their images and forms included, of plain texts and of PDF documents
    doubtful: text that a mail reader may hide, and text of attachments and documents
    attachments: (name of the file, content type) of the parts that are files
    truncations: names of ``TRUNCATIONS``: the parts that were not read because a bound was reached
    digest: 16 bytes that identify the message, however it is stored
    """

    headers: tuple[tuple[str, str], ...]
    texts: tuple[str, ...]
    links: tuple[str, ...]
    doubtful: str
    attachments: tuple[tuple[str, str], ...]
    truncations: tuple[str, ...]
    digest: bytes

    def header(self, name: str) -> str:
        """Return the first value of a header field, ignoring the case of ``name``; empty without such a field."""
        name = name.lower()
        return next((value for key, value in self.headers if key.lower() == name), "")


class Reader(ReaderCore):
    r"""Reads messages with one set of settings. Only one thread at a time may use a reader.

    Raise SpamnbError for a stemmer that does not exist.

    >>> reader = Reader(Settings(body_only=True))
    >>> reader.tokens(b"Subject: offer\n\nBuy NOW: $5!")
    {'p::': 1, 'p:$': 1, 'p:!': 1, 'buy': 1, 'now': 1, '$5!': 1, '#$0!': 1, 'buy now': 1, 'now $5!': 1,
     'length:2': 1, 'caps:1': 1, 'line:4': 1, 'capitals:5': 1}
    """

    def __init__(self, settings: Settings | None = None) -> None:
        self.settings = settings or Settings()
        super().__init__(header_rules(self.settings.ignore_headers), Answers(self.settings), self.settings)

    def tokens(self, raw: bytes, doubtful: bool = False) -> dict[str, int]:
        """Return the tokens of one message with their occurrences, in the order of their first occurrence.

        With ``doubtful``, the tokens that occur only in text that may be hidden follow.
        """
        vocabulary = Vocabulary()
        rows = self.read([raw], vocabulary, identify=False, doubtful=doubtful)
        return dict(zip(vocabulary.take(rows.ids), rows.counts.tolist()))

    def read(
        self,
        raws: Sequence[bytes],
        vocabulary: Vocabulary,
        identify: bool = True,
        doubtful: bool = False,
        with_origin: bool = False,
    ) -> Rows:
        """Return messages as rows of the vocabulary's ids, the tokens of each in the order of their first occurrence.

        Digests are read with ``identify``, dates and senders with ``with_origin``. With ``doubtful``, the rows have the
        tokens that occur only in text that may be hidden, after the others.
        """
        parts = BODY | identify * DIGEST | doubtful * DOUBTFUL | with_origin * (DATE | SENDER)
        ids, counts, (lengths, n_plain, digests, dates, senders, truncations) = self.read_cells(raws, vocabulary, parts)
        columns: dict[str, np.ndarray] = {"truncations": truncations}
        if doubtful:
            columns["plain_ends"] = np.cumsum(lengths, dtype=np.int64) - lengths + n_plain
        if identify:
            columns["digests"] = digests
        if with_origin:
            seconds = [parse_date(date.decode()) for date in dates.tolist()]
            columns["dates"] = np.array([UNDATED if each is None else each for each in seconds], np.int64)
            columns["senders"] = senders
        return Rows.of_cells(vocabulary, lengths, ids, counts, **columns)

    def parse(self, raw: bytes, parts: int = FIELDS | BODY | DIGEST) -> Message:
        """Return a message with these parts; a part that is not requested is empty."""
        (fields, texts, links, doubtful, files), (_, _, digests, _, _, truncations) = self.read_lists(raw, parts)
        return Message(
            headers=tuple(zip(fields[::2], fields[1::2])),
            texts=tuple([text.translate(_CONTROLS) for text in texts]),
            links=tuple(links),
            doubtful="\n".join(doubtful).translate(_CONTROLS),
            attachments=tuple(zip(files[::2], files[1::2])),
            truncations=_names_of_bits(TRUNCATIONS, int(truncations[0])),
            digest=digests.tobytes(),
        )


def describe_truncations(bits: int) -> tuple[str, ...]:
    """Describe the parts of a message that were not read; ``bits`` is the message's number in ``Rows.truncations``.

    >>> describe_truncations(0), describe_truncations(1)
    ((), ('a part of the header section, which is too long',))
    """
    return _names_of_bits(TRUNCATIONS.values(), bits) if bits else ()


def has_unread_parts(truncations: np.ndarray) -> np.ndarray:
    """Return whether parts of messages were not read (n,), by their numbers in ``Rows.truncations``.

    >>> has_unread_parts(np.array([0, 8, 16])).tolist()
    [False, True, False]
    """
    return (truncations >> list(TRUNCATIONS).index("parts") & 1).astype(bool)


def _names_of_bits(names: Iterable[str], bits: int) -> tuple[str, ...]:
    return tuple([name for bit, name in enumerate(names) if bits >> bit & 1])


class _ThreadReader(threading.local):
    """A reader for each thread that reads messages for people."""

    def __init__(self) -> None:
        self.reader = Reader()


_readers = _ThreadReader()


def parse(raw: bytes) -> Message:
    r"""Decode a message for people. Any bytes are a message.

    Parameters
    ----------
    raw : bytes
        The raw message.

    Returns
    -------
    Message
        Headers, texts, links and doubtful text.

    Raises
    ------
    TypeError
        If ``raw`` is not bytes.

    Examples
    --------
    >>> message = parse(b"Subject: =?utf-8?q?caf=C3=A9?=\r\n\r\nHello\r\n")
    >>> message.header("subject"), message.texts
    ('café', ('Hello\n',))
    """
    if not isinstance(raw, bytes):
        raise TypeError(f"raw is {type(raw).__name__}: give the bytes of a message")
    return _readers.reader.parse(raw)


def read_rows(raws: Sequence[bytes], settings: Settings) -> Rows:
    """Return messages as rows over their own tokens."""
    return Reader(settings).read(raws, Vocabulary()).compact()


def first_fields(raw: bytes) -> dict[str, str]:
    r"""Return the decoded value of the first header field of each name (lower case); the body is not read.

    >>> first_fields(b"Subject: =?utf-8?q?caf=C3=A9?=\nsubject: tea\n\nHello")
    {'subject': 'café'}
    """
    return {name.lower(): value for name, value in reversed(_readers.reader.parse(raw, FIELDS).headers)}


def digest(raw: bytes) -> bytes:
    """Return 16 bytes that identify a message, however it is stored."""
    return _readers.reader.parse(raw, DIGEST).digest


def arrival(raw: bytes) -> int | None:
    r"""Return the time of receipt of a message, in seconds since 1970; None if it has no legible date.

    >>> arrival(b"Received: from a by b; Thu, 22 Aug 2002 18:26:25 +0700\nDate: Fri, 1 Jan 2038 00:00:00 +0000\n\n")
    1030015585
    >>> arrival(b"Date: Thu, 22 Aug 102 18:26:25 +0700\n\n"), arrival(b"Subject: Date: unknown\n\n")
    (1030015585, None)
    """
    _, (_, _, _, dates, *_) = _readers.reader.read_lists(raw, DATE)
    return parse_date(dates[0].decode())


_TIME = re.compile(r"(?i)\b(\d\d?)(?: ?: ?|\.)(\d\d?)(?:(?: ?: ?|\.)(\d\d?))?(?:[.,]\d+)?(?: ?([ap])\.?m\b)?")
_MONTH = re.compile(r"(?i)\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)")
_NUMBERS = re.compile(r"\b(?:(\d{4})([-/. ])(\d\d?)\2(\d\d?)|(\d\d?)([-/. ])(\d\d?)\6(\d{4}))(?!\d)T?")
# Months of other languages, of which "?" stands for each byte that is not ASCII, by the English name.
_MONTHS = dict(name.split(":") for name in (
    "ene:jan gen:jan f??v:feb m??r:mar mrz:mar mrt:mar avr:apr abr:apr mai:may mei:may mag:may maj:may giu:jun "
    "juin:jun juil:jul lug:jul ao??:aug ago:aug set:sep okt:oct ott:oct out:oct d??c:dec dez:dec dic:dec"
).split())  # fmt: skip
_OTHER_MONTH = re.compile(rf"(?i)\b({'|'.join(map(re.escape, _MONTHS))})[a-z?]*")
_OFFSET = re.compile(r"([-+]) ?(\d\d?)(?::?(\d\d))?(?!\d)")  # from UTC: +0100, +01:00, +1


def _name_month(numbers: re.Match[str]) -> str:
    """Return a date of numbers with the name of its month, the first number of at most 12, as GMime reads it.

    Where dots or blanks are between the numbers, the day comes first.
    """
    first, second, year = map(int, numbers.group(3, 4, 1) if numbers[1] else numbers.group(5, 7, 8))
    is_month_first = first <= 12 and (numbers[6] not in (".", " ") or second > 12)
    month, day = (first, second) if is_month_first else (second, first)
    return f"{datetime(year, month, day).ctime()[4:10]} {year} "


def _normalize_date(date: str) -> str:
    """Return a date in the form of RFC 5322. Raise ValueError if a month, a time, a day or a year is lacking.

    >>> _normalize_date("Jul, 5 0102 3:57: 49 p.m. GMT-0100"), _normalize_date("2002-07-05T15:57Z")
    ('5 Jul 2002 15:57:49 -0100', '5 Jul 2002 15:57:00 Z')
    """
    date = _OTHER_MONTH.sub(lambda match: _MONTHS[match[1].lower()], _NUMBERS.sub(_name_month, date))
    if (time := _TIME.search(date)) is None:
        raise ValueError(f"no time in {date!r}")
    before, after = date[: time.start()], date[time.end() :]
    month = [*_MONTH.findall(before)[-1:], *_MONTH.findall(after)][0]  # "mar" before another month is a day of the week
    if offset := next(reversed([*_OFFSET.finditer(after)]), None):
        zone = f"{offset[1]}{offset[2]:0>2}{offset[3] or '00'}"
        after = after.replace(offset[0], " ", 1)
    else:
        zone = "".join(re.findall(r"[A-Za-z]+", after)[:1])
    day, year, *_ = map(int, re.findall(r"\b\d+", f"{before} {after}"))
    year %= 19000  # 19102 is 2002 in programs of before 2000
    if year < 1000:
        year += 2000 if year < 50 else 1900
    hour, minute, second, half = time.groups()
    if half:
        hour = int(hour) % 12 + (12 if half in "pP" else 0)
    return f"{day} {month} {year} {hour}:{minute}:{min(int(second or 0), 59):02} {zone}"


def parse_date(date: str) -> int | None:
    """Return the time in ``date`` in seconds since 1970; None if it is illegible, or before 1970.

    The core takes the date after the last semicolon of the topmost Received field that has a date. The recipient's
    server wrote this field, so no sender can forge the date (docs/experiments.md#dates-that-cannot-be-forged). Without
    such a field the core takes the Date field. A missing or unknown zone is UTC. Years of two or three digits are read
    as RFC 5322, section 4.3, says.
    """
    from email.utils import parsedate_to_datetime  # importing this takes 9 ms

    try:
        moment = parsedate_to_datetime(_normalize_date(" ".join(date.split())))
        seconds = int((moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment).timestamp())
    except (ValueError, TypeError, IndexError, OverflowError):  # no such day, time or zone
        return None
    return seconds if seconds >= 0 else None
