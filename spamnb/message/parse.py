"""Raw bytes → headers and visible text; tolerant, bounded, never raises.

``headers`` reads the header section, ``mime`` takes the body apart, ``encodings`` and ``charsets`` make text of bytes;
``tags``, ``html`` and ``css`` tell what a reader of HTML sees.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

try:
    from _blake2 import blake2b  # as hashlib has it, which loads all of OpenSSL with it: 2 to 3 ms
except ImportError:
    from hashlib import blake2b

from .charsets import decode, is_ascii, shown
from .encodings import take_uuencoded, transfer_decode
from .headers import VOLATILE_FIELD, HeaderSection, as_read, field_pattern, normalise, read_section, scan_section
from .mime import MAX_PARTS, MAX_TEXT, MIN_TEXT, OPENED, Part, leaves, read_as

if TYPE_CHECKING:
    from .html import Html

__all__ = ["Message", "Part", "digest", "header_of", "identity", "parse"]

# Fields that delivery puts on top: evidence, but not what makes a message this one.
TRACE_FIELD = field_pattern("(?i:received|return-path|delivered-to|x-original-to|envelope-to|delivery-date)[ \t]*")


class Message(NamedTuple):
    """A decoded message: every text is without lone surrogates and NUL, has LF line ends, and stands in reading order.

    headers: (name as written, decoded value) in order
    texts: visible text, one per text part: what a reader shows first, then text alternatives of HTML, then attachments
    links, images, forms: URLs of the HTML parts
    hidden: text of the HTML parts that their reader does not see
    html: structural facts: ``tag:font``, ``tag:unknown``, ``comment-split``, ``tag-split``, ``hidden``,
        ``link-mismatch``
    parts: every leaf of the MIME tree
    truncations: what was left out because a bound was reached, described in words
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
    truncations: tuple[str, ...]
    digest: bytes

    def header(self, name: str) -> str:
        """The first value of a header field, whatever the case of its name; empty when there is none."""
        name = name.lower()
        return next((value for key, value in self.headers if key.lower() == name), "")

    def header_all(self, name: str) -> list[str]:
        """All values of a header field, in order."""
        name = name.lower()
        return [value for key, value in self.headers if key.lower() == name]


def parse(raw: bytes, identify: bool = True) -> Message:
    """``raw`` decoded; any bytes are a message. Without ``identify`` the digest is empty, and that takes less time.

    >>> message = parse(b"Subject: =?utf-8?q?caf=C3=A9?=\\r\\n\\r\\nHello\\r\\n")
    >>> message.header("subject"), message.texts
    ('café', ('Hello\\n',))
    """
    truncations: list[str] = []
    section = read_section(raw, truncations)
    fields = section.fields(truncations)
    read = _Reader(truncations)
    for part, buffer, begin, end in leaves(section.data, fields, section.body, truncations):
        read.part(part, buffer, begin, end)
    if b"=?" in section.text or b"\0" in section.text or not section.text.isascii():
        fields = [
            (name, as_read(value)) if "=?" in value or "\0" in value or not value.isascii() else (name, value)
            for name, value in fields
        ]
    links = tuple(read.links)
    images: tuple[str, ...] = ()
    forms = facts = images
    hidden = ""
    if pages := read.pages:  # 0.6 of the 15 µs that a message without HTML takes
        links = (*[url for page in pages for url in page.links], *links)
        images = tuple([url for page in pages for url in page.images])
        forms = tuple([url for page in pages for url in page.forms])
        facts = tuple(sorted({fact for page in pages for fact in page.facts}))
        hidden = "\n".join([page.hidden for page in pages if page.hidden])
    left_out = tuple(dict.fromkeys(truncations)) if truncations else ()
    digest = _digest(section) if identify else b""
    texts, parts = (*read.texts, *read.attached, *read.extracted), tuple(read.parts)
    return Message(tuple(fields), texts, links, images, forms, hidden, facts, parts, left_out, digest)


class _Reader:
    """Reads the parts of one message; what is left of its bounds is shared by all."""

    def __init__(self, truncations: list[str]) -> None:
        self.texts: list[str] = []
        self.attached: list[str] = []  # texts that a reader opens
        self.extracted: list[str] = []  # texts in documents of other kinds
        self.links: list[str] = []  # of documents that are no HTML
        self._n_documents: Counter[str] = Counter()
        self.pages: list[Html] = []
        self.parts: list[Part] = []
        self._truncations = truncations
        self._bytes_left = MAX_TEXT

    def part(self, part: Part, data: bytes, start: int, end: int) -> None:
        """One leaf, whose body stands in ``data[start:end]``."""
        self.parts.append(part)
        kind = read_as(part.content_type, part.filename)
        if not kind:
            return
        if part.content_type == "message/rfc822":
            section = scan_section(data, start, end, self._truncations)
            shown = f"{section.value('subject')}\n{section.value('from')}\n"
            self._add("text/plain", shown.encode(), "utf-8", self.texts)
            return
        if kind in OPENED:
            self._extract(kind, part, data, start, end)
            return
        texts = self.attached if part.disposition == "attachment" else self.texts
        self._add(kind, self._decoded(part, data, start, end), part.charset, texts)

    def _room(self) -> int:
        """How many bytes are read of the next text."""
        return max(self._bytes_left, MIN_TEXT)

    def _extract(self, kind: str, part: Part, data: bytes, start: int, end: int) -> None:
        """What stands in a document; S/MIME is a message whose parts come by themselves."""
        if kind == "application/pdf":
            from .pdf import MAX_BYTES

            end = min(end, start + 3 * MAX_BYTES)  # far too long in any encoding: read_pdf says so
            self._read_pdf(transfer_decode(data[start:end], part.encoding))
        elif kind == "application/ms-tnef":
            from .tnef import MAX_DOCUMENTS, read_tnef

            if self._are_too_many("TNEF", MAX_DOCUMENTS):
                return
            for text in read_tnef(self._decoded(part, data, start, end), self._truncations):
                self.parts += text.parts
                self._add(text.kind, text.octets, text.charset, self.extracted)

    def _are_too_many(self, kind: str, most: int) -> bool:
        """Counts documents of a kind, and says when no more are read."""
        self._n_documents[kind] += 1
        if self._n_documents[kind] > most:
            self._truncations.append(f"{kind} documents after the first {most}")
        return self._n_documents[kind] > most

    def _read_pdf(self, document: bytes) -> None:
        from .pdf import MAX_DOCUMENTS, is_available, read_pdf

        if not is_available() or self._are_too_many("PDF", MAX_DOCUMENTS):
            return
        text, links = read_pdf(document, self._truncations)
        self.links += links
        if text:
            self._add("text/plain", text.encode("utf-8", "replace"), "utf-8", self.extracted)

    def _decoded(self, part: Part, data: bytes, start: int, end: int) -> bytes:
        """The body of a part; of one that is far too long beginning and end."""
        half = 3 * self._room() // 2 + 1  # an encoding takes at most three bytes for one
        if end - start <= 2 * half:
            return transfer_decode(data[start:end], part.encoding)
        line = data.find(b"\n", end - half, end) + 1
        last = transfer_decode(data[line or end - half : end], part.encoding)
        return transfer_decode(data[start : start + half], part.encoding) + last

    def _add(self, kind: str, octets: bytes, charset: str, texts: list[str]) -> None:
        room = self._room()
        if len(octets) > room:
            self._truncations.append(f"text beyond {MAX_TEXT} bytes")
            octets = octets[: room - room // 2] + octets[len(octets) - room // 2 :]
        self._bytes_left -= len(octets)
        if kind == "text/html":
            from .html import declared_charset, read_html  # 10 ms of patterns that plain mail does not need

            charset = charset or declared_charset(octets)
            if not is_ascii(octets, charset):
                octets = decode(octets, charset).encode()
            self.pages.append(read_html(octets, self._truncations, self.pages))
            texts.append(shown(self.pages[-1].text))
            return
        text = shown(decode(octets, charset))
        if "\r" in text:
            text = text.replace("\r\n", "\n").replace("\r", "\n")
        if "begin" in text:  # "begin ", looked for by its last letter, would take twice as long
            text, files = take_uuencoded(text, MAX_PARTS - len(self.parts))
            texts.append(text)
            for file in files:
                self._add_file(*file)
        else:
            texts.append(text)

    def _add_file(self, name: str, content: bytes, size: int) -> None:
        """One uuencoded file that stood in a text."""
        kind = read_as("application/octet-stream", name)
        kind = "" if kind in OPENED and kind != "application/pdf" else kind
        content_type = "" if kind.startswith("message/") else kind
        self.parts.append(Part(content_type or "application/octet-stream", "", "x-uuencode", "attachment", name, size))
        if kind == "application/pdf":
            self._read_pdf(content)
        elif kind:
            self._add(kind, normalise(content), "", self.attached)


def header_of(raw: bytes, name: str) -> str:
    """``parse(raw).header(name)`` at the cost of the header section; ``name`` in lower case.

    >>> header_of(b"Subject: =?utf-8?q?caf=C3=A9?=\\n\\nHello", "subject")
    'café'
    """
    return read_section(raw, []).value(name)


def digest(raw: bytes) -> bytes:
    """``parse(raw).digest`` without taking the body apart."""
    return _digest(read_section(raw, []))


def identity(section: HeaderSection) -> bytes:
    r"""16 bytes, the same for a message on its way and in any mailbox: its digest less the fields that delivery adds.

    >>> one, other = b"Received: from a\n by b\nSubject: x\n\nhi", b"Subject: x\n\nhi\n"
    >>> identity(read_section(one, [])) == identity(read_section(other, []))
    True
    """
    trace = TRACE_FIELD.sub(b"", b"\n" + section.data[section.start : section.stop])
    return _digest_of_parts(VOLATILE_FIELD.sub(b"", trace).strip(b"\n"), section)


def _digest(section: HeaderSection) -> bytes:
    return _digest_of_parts(section.lasting(), section)


def _digest_of_parts(fields: bytes, section: HeaderSection) -> bytes:
    """The digest of these fields, an empty line, and the section's body less the line ends behind it."""
    data, body = section.data, section.body
    return digest_of(fields, b"\n\n", memoryview(data)[body : max(body, len(data.rstrip(b"\n")))])


def digest_of(*pieces: bytes | memoryview) -> bytes:
    """16 bytes that stand for these pieces, put together."""
    hashed = blake2b(digest_size=16, usedforsecurity=False)
    for piece in pieces:
        hashed.update(piece)
    return hashed.digest()
