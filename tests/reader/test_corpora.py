"""The standard library's email package as the oracle, on every well-formed message of the corpora: it says which text
parts a message has and what bytes they decode to. Read as UTF-8 these must be the texts of ``parse``. Where the two
differ on purpose the difference has a name below, and nothing else may differ."""

from __future__ import annotations

import email
from collections import Counter
from collections.abc import Iterator
from email.message import Message
from pathlib import Path

import pytest

from spamnb.reader.message import parse

REPORTS = ("message/delivery-status", "message/disposition-notification", "text/rfc822-headers")
# Enron's messages are a Subject line and text without an empty line between: the oracle splits them as we do.
TOLERATED = {"MissingHeaderBodySeparatorDefect"}
MAX_TEXT = 1 << 20  # bytes; of longer ones beginning and end are read


def text_parts(message: Message) -> Iterator[Message]:
    """Text parts, in the order in which a reader sees them."""
    if message.get_content_type() in REPORTS:  # one text to us, a tree of header sections to the oracle
        return
    if message.is_multipart():
        parts: list[Message] = message.get_payload()  # type: ignore[assignment]
        if message.get_content_type() == "multipart/alternative":  # of which a reader sees the HTML first
            parts = sorted(parts, key=lambda part: part.get_content_type() == "text/plain")
        for part in parts:
            yield from text_parts(part)
    elif message.get_content_maintype() == "text":
        yield message


def read_again(octets: bytes, part: Message) -> str:
    """The text of these bytes, as a message of their own with the charset that the oracle decodes them by."""
    kind = "text/html" if part.get_content_type() == "text/html" else "text/plain"
    charset = part.get_content_charset() or ""
    try:
        octets.decode(charset if charset != "us-ascii" else "ascii")
        octets, charset = octets.decode(charset).encode(), "utf-8"
    except (LookupError, UnicodeError):
        pass  # then nobody knows; the charset must be read alike from a header of its own
    head = f"Content-Type: {kind}; charset={charset}\nContent-Transfer-Encoding: 8bit\n\n"
    return parse(head.encode("ascii", "replace") + octets).texts[0]


def difference(text: str, part: Message) -> str:
    octets = part.get_payload(decode=True)
    assert isinstance(octets, bytes)
    encoding = str(part.get("content-transfer-encoding", "")).lower()
    if text == read_again(octets, part):
        return "equal"
    if part.get_content_charset() in (None, "iso-8859-1", "us-ascii"):
        return "no charset, or one that is often said wrongly"
    if len(octets) > MAX_TEXT:
        return "longer than the bound"
    if encoding == "base64":
        return "base64 with a stray character, which the oracle does not decode"
    if encoding == "quoted-printable" and text.split() == read_again(octets, part).split():
        return "a carriage return before a soft line break is a line end"
    return "unexplained"


@pytest.mark.parametrize("folder", ["mime", "enron-spam/enron1", "20news-bydate/test/sci.med", "spamassassin/spam_2"])
def test_texts_are_those_of_the_standard_library(corpora: Path, folder: str) -> None:
    seen, unexplained = Counter[str](), []
    for path in sorted(path for path in (corpora / folder).rglob("*") if path.is_file()):
        raw = path.read_bytes()
        try:
            oracle = email.message_from_bytes(raw)
            wanted = sorted(text_parts(oracle), key=lambda part: part.get_content_disposition() == "attachment")
        except Exception as error:  # the oracle raises on some broken mail
            seen[f"the oracle raises {type(error).__name__}"] += 1
            continue
        if {type(defect).__name__ for part in oracle.walk() for defect in part.defects} - TOLERATED:
            continue
        message = parse(raw)
        texts = [part for part in message.parts if part.content_type.startswith("text/")]
        if any(part.content_type.startswith("message/") for part in message.parts) or len(texts) != len(wanted):
            seen["other parts"] += 1
            continue
        found = [difference(text, part) for text, part in zip(message.texts, wanted)]
        seen.update(found)
        unexplained += [path] * ("unexplained" in found)
    assert unexplained == [] and seen["equal"] > 0.9 * seen.total(), seen
