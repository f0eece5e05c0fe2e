"""Raw bytes → headers and visible text; tolerant, bounded, never raises.

``headers`` reads the header section, ``mime`` takes the body apart, ``charsets`` makes text of bytes, ``html`` and
``style`` tell what a reader of HTML sees.
"""

from __future__ import annotations

import re
from hashlib import blake2b
from typing import NamedTuple

from . import headers as header_section
from .charsets import decode
from .mime import META_CHARSET, MAX_TEXT, Part, leaves, normalise, take_uuencoded, transfer_decode

__all__ = ["VOLATILE", "VOLATILE_PREFIXES", "Message", "Part", "is_volatile", "parse"]

# Fields that mailboxes, readers and filters add to a message they have received: the same message has others tomorrow.
VOLATILE = frozenset(
    "status x-status x-uid x-uidl x-keywords x-imap x-imapbase content-length lines x-bogosity x-label x-spam"
    " x-evolution x-evolution-source x-account-key x-crm114-status x-spambayes-classification x-spamprobe".split()
)
VOLATILE_PREFIXES = (
    "x-spam-", "x-mozilla-", "x-envelope-", "x-gnus-", "x-dspam-", "x-rspamd-", "x-crm114-", "x-spambayes-",
)  # fmt: skip
VOLATILE_FIELD = re.compile(
    b"^(?:(?:%b)|(?:%b)[!-9;-~]*+):[^\n]*+(?:\n[ \t][^\n]*+)*+(?:\n|\\Z)"
    % ("|".join(sorted(VOLATILE)).encode(), "|".join(VOLATILE_PREFIXES).encode()),
    re.MULTILINE | re.IGNORECASE,
)


def is_volatile(name: str) -> bool:
    """Whether a header field of this name (lower case) is in neither the digest nor the tokens."""
    return name in VOLATILE or name.startswith(VOLATILE_PREFIXES)


class Message(NamedTuple):
    """A decoded message: text in every field, without lone surrogates and with LF line ends.

    headers: (name as written, decoded value) in order
    texts: visible text, one per text part
    links, images, forms: URLs of the HTML parts
    hidden: text of HTML parts that their reader does not see
    html: structural facts, such as ``tag:font``, ``comment-split``, ``hidden``, ``link-mismatch``
    parts: every leaf of the MIME tree
    cut: what was left out because a bound was reached, in words
    digest: 16 bytes, the same however the message was stored
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
    """The message that ``raw`` is; any bytes are one.

    >>> message = parse(b"Subject: =?utf-8?q?caf=C3=A9?=\\r\\n\\r\\nHello\\r\\n")
    >>> message.header("subject"), message.texts
    ('café', ('Hello\\n',))
    """
    data = normalise(raw)
    cut: list[str] = []
    start = header_section.skip_envelope(data, 0, len(data))
    fields, stop, body = header_section.split(data, start, len(data), cut)
    texts: list[str] = []
    pages: list[tuple] = []
    parts: list[Part] = []
    budget = MAX_TEXT
    for part, buffer, begin, end in leaves(data, fields, body, cut):
        parts.append(part)
        if not part.content_type.startswith("text"):
            continue
        room = budget if part.encoding in ("", "7bit", "8bit", "binary") else 3 * budget
        if end - begin > room:
            cut.append(f"text after {MAX_TEXT} bytes")
            end = begin + room
        octets = transfer_decode(buffer[begin:end], part.encoding)[:budget]
        budget -= len(octets)
        if part.content_type == "text/html":
            pages.append(_page(octets, part.charset, texts, cut))
        else:
            text = decode(octets, part.charset)
            if "\r" in text:
                text = text.replace("\r\n", "\n").replace("\r", "\n")
            if "begin " in text:
                text = _uuencoded(text, texts, parts)
            texts.append(text)
    return Message(
        tuple([(name, header_section.decode_words(value) if "=?" in value else value) for name, value in fields]),
        tuple(texts),
        tuple([url for page in pages for url in page.links]),
        tuple([url for page in pages for url in page.images]),
        tuple([url for page in pages for url in page.forms]),
        "\n".join([page.hidden for page in pages if page.hidden]),
        tuple(sorted({fact for page in pages for fact in page.facts})),
        tuple(parts),
        tuple(dict.fromkeys(cut)),
        _digest(data, start, stop, body, fields),
    )


def _page(octets: bytes, charset: str, texts: list[str], cut: list[str]):
    from .html import read

    if not charset and not octets.isascii() and (meta := META_CHARSET.search(octets, 0, 2048)):
        charset = meta.group(1).decode("ascii")
    page = read(decode(octets, charset).encode("utf-8"), cut)
    texts.append(page.text)
    return page


def _uuencoded(text: str, texts: list[str], parts: list[Part]) -> str:
    """``text`` without the files in it; those that are text are read as text parts."""
    text, files = take_uuencoded(text)
    for name, content, size in files:
        readable = name.lower().endswith((".txt", ".text", ".asc"))
        parts.append(Part("text/plain" if readable else "application/octet-stream", "", "x-uuencode", "attachment", name, size))
        if readable:
            texts.append(normalise(content).decode("utf-8", "replace"))
    return text


def _digest(data: bytes, start: int, stop: int, body: int, fields: list[tuple[str, str]]) -> bytes:
    """Of the header section without volatile fields, an empty line, and the body without trailing line ends."""
    section = data[start:stop]
    if any(is_volatile(name.lower()) for name, _ in fields):
        section = VOLATILE_FIELD.sub(b"", section)
    return blake2b(section.rstrip(b"\n") + b"\n\n" + data[body:].rstrip(b"\n"), digest_size=16).digest()
