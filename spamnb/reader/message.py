"""Messages → rows of token ids; and one message for people: what it says, shows, hides and leads to."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from datetime import UTC
from typing import NamedTuple

from spamnb.reader.attachments import Program
from spamnb.reader.binding import BODY, DATE_OF, DIGEST_OF, FIELDS, ReaderCore
from spamnb.reader.evidence import CUTS, header_rules
from spamnb.reader.options import TokenOptions
from spamnb.reader.tokens import Vocabulary

# What shows nothing, and where the core found something in a word that may take no room.
_CONTROLS: dict[int, None] = dict.fromkeys([*range(9), *range(14, 32), 127])


class Message(NamedTuple):
    """A decoded message: every text is without controls, has LF line ends, and stands in reading order.

    headers: (name as written, decoded value) in order
    texts: visible text, one per text part: what a reader shows first, then attachments, then text in documents
    links: URLs of the HTML parts, of their images and forms too, and of PDF documents
    hidden: text of the HTML parts that their reader does not see
    cuts: what was left out because a bound was reached: of ``CUTS``
    digest: 16 bytes, the same however the message is stored
    """

    headers: tuple[tuple[str, str], ...]
    texts: tuple[str, ...]
    links: tuple[str, ...]
    hidden: str
    cuts: tuple[str, ...]
    digest: bytes

    def header(self, name: str) -> str:
        """The first value of a header field, whatever the case of its name; empty when there is none."""
        name = name.lower()
        return next((value for key, value in self.headers if key.lower() == name), "")


class Reader(ReaderCore):
    """Reads messages with one set of options, for one thread at a time; other threads may run meanwhile.

    SpamnbError for a stemmer that does not exist.

    >>> reader = Reader(TokenOptions(body_only=True))
    >>> reader.tokens(b"Subject: offer\\n\\nBuy NOW: $5!")
    {'p::': 1, 'p:$': 1, 'p:!': 1, 'buy': 1, 'now': 1, '$5!': 1, '#$0!': 1, 'buy now': 1, 'now $5!': 1,
     'length:2': 1, 'caps:1': 1, 'line:4': 1, 'capitals:5': 1}
    """

    def __init__(self, options: TokenOptions | None = None) -> None:
        self.options = options or TokenOptions()
        super().__init__(header_rules(self.options.ignore_headers), Program(self.options), self.options)

    def tokens(self, raw: bytes) -> dict[str, int]:
        """The tokens of one message with their occurrences, in the order in which they were met."""
        vocabulary = Vocabulary()
        rows = self.read([raw], vocabulary).rows
        return dict(zip(vocabulary.take(rows.ids), rows.counts.tolist()))

    def parse(self, raw: bytes) -> Message:
        """One message, for people."""
        found = self.parse_with(raw, FIELDS | BODY | DIGEST_OF)
        return Message(
            headers=tuple(found["headers"]),
            texts=tuple([text.translate(_CONTROLS) for text in found["texts"]]),
            links=tuple(found["links"]),
            hidden="\n".join(found["hidden"]).translate(_CONTROLS),
            cuts=_names(CUTS, found["cuts"]),
            digest=found["digest"],
        )


def cuts_in_words(bits: int) -> tuple[str, ...]:
    """What was left out of a message, for people, of a member of ``ReadRows.cuts``.

    >>> cuts_in_words(0), cuts_in_words(1)
    ((), ('a part of the header section, which is too long',))
    """
    return _names(CUTS.values(), bits) if bits else ()


def _names(names: Iterable[str], bits: int) -> tuple[str, ...]:
    return tuple([name for bit, name in enumerate(names) if bits >> bit & 1])


class _Own(threading.local):
    """A reader for each thread, which nobody asks for tokens."""

    def __init__(self) -> None:
        self.reader = Reader()


_own = _Own()


def parse(raw: bytes) -> Message:
    """``raw`` decoded; any bytes are a message.

    >>> message = parse(b"Subject: =?utf-8?q?caf=C3=A9?=\\r\\n\\r\\nHello\\r\\n")
    >>> message.header("subject"), message.texts
    ('café', ('Hello\\n',))
    """
    if not isinstance(raw, bytes):
        raise TypeError(f"raw is {type(raw).__name__}: give the bytes of a message")
    return _own.reader.parse(raw)


def fields_of(raw: bytes) -> list[tuple[str, str]]:
    """(name as written, decoded value) of the header fields in order; the body is not read."""
    fields: list[tuple[str, str]] = _own.reader.parse_with(raw, FIELDS)["headers"]
    return fields


def header_of(raw: bytes, name: str) -> str:
    """The decoded value of the first header field called ``name`` (lower case); empty when there is none.

    >>> header_of(b"Subject: =?utf-8?q?caf=C3=A9?=\\n\\nHello", "subject")
    'café'
    """
    return next((value for key, value in fields_of(raw) if key.lower() == name), "")


def digest(raw: bytes) -> bytes:
    """16 bytes, the same however the message is stored."""
    found: bytes = _own.reader.parse_with(raw, DIGEST_OF)["digest"]
    return found


def arrival(raw: bytes) -> int | None:
    """When a message was received, in seconds since 1970, as ``seconds`` has it.

    >>> arrival(b"Received: from a by b; Thu, 22 Aug 2002 18:26:25 +0700\\nDate: Fri, 1 Jan 2038 00:00:00 +0000\\n\\n")
    1030015585
    >>> arrival(b"Date: Thu, 22 Aug 2002 18:26:25 +0700\\n\\n"), arrival(b"Subject: Date: unknown\\n\\n")
    (1030015585, None)
    """
    return seconds(_own.reader.parse_with(raw, DATE_OF)["date"])


def seconds(date: str) -> int | None:
    """When a message with this date, of ``ReadRows.dates``, was received; None where it is illegible, or before 1970.

    It is what follows the last semicolon of the topmost Received field, which the reader's own server wrote: a sender
    cannot forge it. Only without such a field it is the Date field. No zone, and one that is unknown, is UTC. See
    docs/experiments.md#dates-that-cannot-be-forged.
    """
    from email.utils import parsedate_to_datetime  # 9 ms to import

    try:
        moment = parsedate_to_datetime(date)
        received = int((moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment).timestamp())
    except (ValueError, TypeError, IndexError, OverflowError):  # no such day, time or zone
        return None
    return received if received >= 0 else None
