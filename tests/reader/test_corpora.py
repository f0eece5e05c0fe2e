"""The standard library's email package as the oracle, on every well-formed message of the corpora.

It determines the text parts of a message and their bytes. Decoded from UTF-8 these must be the texts of ``parse``.
Intended differences have names below, and there may be no others.
"""

from __future__ import annotations

import email
from collections.abc import Iterator
from contextlib import suppress
from email.message import Message
from pathlib import Path

import pytest

from spamnb.reader.message import parse

REPORTS = ("message/delivery-status", "message/disposition-notification", "text/rfc822-headers")
# Enron's messages are a Subject line and text without an empty line between: the oracle splits them as we do.
TOLERATED = {"MissingHeaderBodySeparatorDefect"}


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


def read_again(part: Message) -> str:
    """Return the text of the oracle's bytes, as a message in the charset that the oracle uses."""
    octets = part.get_payload(decode=True)
    assert isinstance(octets, bytes)
    kind = "text/html" if part.get_content_type() == "text/html" else "text/plain"
    charset = part.get_content_charset() or ""
    with suppress(LookupError, UnicodeError):  # where nobody knows it the charset is read from the header
        octets, charset = octets.decode(charset).encode(), "utf-8"
    head = f"Content-Type: {kind}; charset={charset}\nContent-Transfer-Encoding: 8bit\n\n"
    return parse(head.encode("ascii", "replace") + octets).texts[0]


@pytest.mark.parametrize(
    ("folder", "share"),
    [("mime", 0.95), ("enron-spam/enron1", 0.99), ("20news-bydate/test/sci.med", 0.99), ("spamassassin/spam_2", 0.97)],
)
def test_texts_are_those_of_the_standard_library(corpora: Path, folder: str, share: float) -> None:
    texts, equal = 0, 0
    for path in sorted(path for path in (corpora / folder).rglob("*") if path.is_file()):
        raw = path.read_bytes()
        try:
            oracle = email.message_from_bytes(raw)
            wanted = [part for part in text_parts(oracle) if part.get_content_disposition() != "attachment"]
        except Exception:  # the oracle raises on some broken mail
            continue
        defects = {type(defect).__name__ for part in oracle.walk() for defect in part.defects}
        message = parse(raw)
        if defects <= TOLERATED and not any(part.get_content_type().startswith("message/") for part in oracle.walk()):
            texts += len(wanted)
            found = [*message.texts, message.doubtful]  # attachments are doubtful
            equal += sum(any(read_again(part) in text for text in found) for part in wanted)
    assert equal > share * texts > 100, (equal, texts)
