"""Raw bytes → headers and visible text; tolerant, bounded, never raises.

``headers`` reads the header section, ``mime`` takes the body apart, ``charsets`` makes text of bytes; ``tags``,
``html`` and ``css`` tell what a reader of HTML sees.
"""

from __future__ import annotations

import re
from hashlib import blake2b
from typing import TYPE_CHECKING, NamedTuple

from .charsets import decode, is_ascii
from .headers import decode_words, skip_envelope, split
from .mime import MAX_TEXT, Part, leaves, normalise, take_uuencoded, transfer_decode

if TYPE_CHECKING:
    from .html import Html

__all__ = ["Message", "Part", "digest", "header_of", "identity", "is_volatile", "parse"]

# Fields that mailboxes, readers and filters add to a message they hold: tomorrow the same message has other ones.
VOLATILE = frozenset([
    "status", "content-length", "lines", "x-status", "x-uid", "x-uidl", "x-keywords", "x-imap", "x-imapbase",
    "x-bogosity", "x-label", "x-spam", "x-account-key", "x-spamprobe",
])  # fmt: skip
VOLATILE_PREFIXES = (
    "x-spam-", "x-mozilla-", "x-envelope-", "x-evolution", "x-gnus-", "x-dspam-", "x-rspamd-", "x-crm114-",
    "x-spambayes-",
)  # fmt: skip
# Starts with a plain line feed, which the search finds by memchr: 2 µs a section where "^" takes 7.
VOLATILE_FIELD = re.compile(
    b"\n(?:[Xx]-(?i:(?:%b)|(?:%b)[!-9;-~]*+)|(?i:%b)):[^\n]*+(?:\n[ \t][^\n]*+)*+"
    % (
        "|".join(sorted(name[2:] for name in VOLATILE if name.startswith("x-"))).encode(),
        "|".join(prefix[2:] for prefix in VOLATILE_PREFIXES).encode(),
        "|".join(sorted(name for name in VOLATILE if not name.startswith("x-"))).encode(),
    )
)

# Fields that delivery puts on top: evidence, but not what makes a message this one.
TRACE_FIELD = re.compile(
    b"\n(?i:received|return-path|delivered-to|x-original-to|envelope-to|delivery-date)[ \t]*:"
    b"[^\n]*+(?:\n[ \t][^\n]*+)*+"
)


def is_volatile(name: str) -> bool:
    """Whether a header field of this name (lower case) is in neither the digest nor the tokens.

    >>> is_volatile("x-spam-status"), is_volatile("lines"), is_volatile("subject")
    (True, True, False)
    """
    return name in VOLATILE or name.startswith(VOLATILE_PREFIXES)


class Message(NamedTuple):
    """A decoded message: every text is without lone surrogates and has LF line ends.

    headers: (name as written, decoded value) in order
    texts: visible text, one per text part
    links, images, forms: URLs of the HTML parts
    hidden: text of the HTML parts that their reader does not see
    html: structural facts: ``tag:font``, ``tag:unknown``, ``comment-split``, ``tag-split``, ``hidden``,
        ``link-mismatch``
    parts: every leaf of the MIME tree
    cut: what was left out because a bound was reached, described in words
    digest: 16 bytes, the same however the message is stored
    """

    headers: tuple[tuple[str, str], ...]
    texts: tuple[str, ...]
    links: tuple[str, ...]
    images: tuple[str, ...]
    forms: tuple[str, ...]
    hidden: str
    html: tuple[str, ...]
    parts: tuple[Part, ...]
    cut: tuple[str, ...]
    digest: bytes

    def header(self, name: str) -> str:
        """The first value of a header field, whatever the case of its name; empty when there is none."""
        name = name.lower()
        return next((value for key, value in self.headers if key.lower() == name), "")

    def header_all(self, name: str) -> list[str]:
        """All values of a header field, in order."""
        name = name.lower()
        return [value for key, value in self.headers if key.lower() == name]


def parse(raw: bytes) -> Message:
    """``raw`` decoded; any bytes are a message.

    >>> message = parse(b"Subject: =?utf-8?q?caf=C3=A9?=\\r\\n\\r\\nHello\\r\\n")
    >>> message.header("subject"), message.texts
    ('café', ('Hello\\n',))
    """
    cut: list[str] = []
    data, start, fields, stop, body = _head(raw, cut)
    texts: list[str] = []
    pages: list[Html] = []
    parts: list[Part] = []
    room = MAX_TEXT
    for part, buffer, begin, end in leaves(data, fields, body, cut):
        parts.append(part)
        kind = part.content_type
        if not kind.startswith(("text", "message/")):
            continue
        if end - begin > 3 * room:  # an encoding takes at most three bytes for one
            end = begin + 3 * room
        octets = transfer_decode(buffer[begin:end], part.encoding)
        if len(octets) > room:
            cut.append(f"text after {MAX_TEXT} bytes")
            octets = octets[:room]
        room -= len(octets)
        if kind == "text/html":
            from .html import declared_charset, read  # 10 ms of patterns that plain mail does not need

            charset = part.charset or declared_charset(octets)
            if not is_ascii(octets, charset):
                octets = decode(octets, charset).encode()
            pages.append(read(octets, cut, pages))
            texts.append(pages[-1].text)
            continue
        text = decode(octets, part.charset)
        if "\r" in text:
            text = text.replace("\r\n", "\n").replace("\r", "\n")
        texts.append(text)
        if "begin" in text:  # "begin ", looked for by its last letter, would take twice as long
            texts[-1], files = take_uuencoded(text)
            for name, content, size in files:
                readable = name.lower().endswith((".txt", ".text", ".asc"))
                file_kind = "text/plain" if readable else "application/octet-stream"
                parts.append(Part(file_kind, "", "x-uuencode", "attachment", name, size))
                if readable:
                    texts.append(decode(normalise(content)))
    if data.find(b"=?", start, stop) >= 0:
        fields = [(name, decode_words(value)) if "=?" in value else (name, value) for name, value in fields]
    links: tuple[str, ...] = ()
    images = forms = facts = links
    hidden = ""
    if pages:  # 0.6 of the 15 µs that a message without HTML takes
        links = tuple([url for page in pages for url in page.links])
        images = tuple([url for page in pages for url in page.images])
        forms = tuple([url for page in pages for url in page.forms])
        facts = tuple(sorted({fact for page in pages for fact in page.facts}))
        hidden = "\n".join([page.hidden for page in pages if page.hidden])
    said = tuple(dict.fromkeys(cut)) if cut else ()
    digest = _digest(data, start, stop, body)
    return Message(tuple(fields), tuple(texts), links, images, forms, hidden, facts, tuple(parts), said, digest)


def header_of(raw: bytes, name: str) -> str:
    """``parse(raw).header(name)`` at the cost of the header section.

    >>> header_of(b"Subject: =?utf-8?q?caf=C3=A9?=\\n\\nHello", "subject")
    'café'
    """
    fields = _head(raw, [])[2]
    value = next((value for key, value in fields if key.lower() == name), "")
    return decode_words(value) if "=?" in value else value


def digest(raw: bytes) -> bytes:
    """``parse(raw).digest`` without taking the body apart."""
    data, start, _, stop, body = _head(raw, [])
    return _digest(data, start, stop, body)


def identity(raw: bytes) -> bytes:
    r"""16 bytes, the same for a message on its way and in any mailbox: its digest less the fields that delivery adds.

    >>> identity(b"Received: from a\n by b\nSubject: x\n\nhi") == identity(b"Subject: x\n\nhi\n")
    True
    """
    data, start, _, stop, body = _head(raw, [])
    section = TRACE_FIELD.sub(b"", b"\n" + data[start:stop])
    return _digest(section + data[stop:], 0, len(section), len(section) + body - stop)


def _head(raw: bytes, cut: list[str]) -> tuple[bytes, int, list[tuple[str, str]], int, int]:
    """The message with LF line ends; where its header section begins, its fields, where it ends and the body begins."""
    data = normalise(raw)
    start = skip_envelope(data, 0, len(data))
    return data, start, *split(data, start, len(data), cut)


def _digest(data: bytes, start: int, stop: int, body: int) -> bytes:
    """The digest of header section less volatile fields, empty line, and body less the line ends behind it."""
    section = VOLATILE_FIELD.sub(b"", b"\n" + data[start:stop])
    text = section.strip(b"\n") + b"\n\n" + data[body:].rstrip(b"\n")
    return digest_of(text)


def digest_of(text: bytes) -> bytes:
    """16 bytes that stand for ``text``."""
    return blake2b(text, digest_size=16, usedforsecurity=False).digest()
