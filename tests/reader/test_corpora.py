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

from spamnb.reader.message import Message as ReadMessage
from spamnb.reader.message import parse

# One text to us, a tree of header sections to the oracle.
REPORTS = ("message/delivery-status", "message/disposition-notification", "text/rfc822-headers")
COMMANDS = ("text/enriched", "text/richtext", "text/rtf")  # texts with commands, which the oracle does not read
# Enron's messages are a Subject line and text without an empty line between: the oracle splits them as we do.
TOLERATED = {"MissingHeaderBodySeparatorDefect"}


def is_ambiguous(part: Message) -> bool:
    """Return whether readers may take one or another of fields of a part that differ."""
    names = ("content-type", "content-transfer-encoding", "content-disposition")
    return any(len(set(part.get_all(name, []))) > 1 for name in names)


def text_parts(message: Message, is_shown: bool = True) -> Iterator[tuple[Message, bool]]:
    """Text parts, and whether all readers show them.

    Of alternatives they show the last one, or one that is no plain text, and of related or signed parts the first.
    """
    kind = message.get_content_type()
    if kind in (*REPORTS, *COMMANDS):
        return
    is_shown = is_shown and not is_ambiguous(message)
    if message.is_multipart():
        parts: list[Message] = message.get_payload()  # type: ignore[assignment]
        rich = [part for part in parts if part.is_multipart() or part.get_content_type() == "text/html"]
        shown = rich[-1:] or parts[-1:] if kind == "multipart/alternative" else parts
        shown = parts[:1] if kind in ("multipart/related", "multipart/signed") else shown
        for part in parts:
            yield from text_parts(part, is_shown and any(part is each for each in shown))
    elif message.get_content_maintype() == "text":
        is_attached = message.get_content_disposition() == "attachment" or kind not in ("text/plain", "text/html")
        yield message, is_shown and not is_attached


def names_its_charset(part: Message) -> bool:
    """Return whether the oracle can decode a part by itself. Other parts are in a charset that the message names."""
    octets = part.get_payload(decode=True)
    return isinstance(octets, bytes) and (octets.isascii() or part.get_content_charset() not in (None, "us-ascii"))


def read_again(part: Message) -> tuple[str, str]:
    """Return plain and doubtful text of the oracle's bytes, as a message in the charset that the oracle uses."""
    octets = part.get_payload(decode=True)
    assert isinstance(octets, bytes)
    kind = "text/html" if part.get_content_type() == "text/html" else "text/plain"
    charset = part.get_content_charset() or ""
    with suppress(LookupError, UnicodeError):  # where nobody knows it the charset is read from the header
        octets, charset = octets.decode(charset).encode(), "utf-8"
    head = f"Content-Type: {kind}; charset={charset}\nContent-Transfer-Encoding: 8bit\n\n"
    message = parse(head.encode("ascii", "replace") + octets)
    return message.texts[0], message.doubtful


def is_read(message: ReadMessage, part: Message, is_shown: bool) -> bool:
    """Return whether a part's plain text is a whole text of the message, and its other text among the doubtful ones."""
    plain, doubtful = read_again(part)
    return (plain in message.texts if is_shown else plain in message.doubtful) and doubtful in message.doubtful


@pytest.mark.parametrize(
    ("folder", "share"),
    [("mime", 0.98), ("enron-spam/enron1", 0.999), ("20news-bydate/test/sci.med", 0.99), ("spamassassin/spam_2", 0.98)],
)
def test_texts_are_those_of_the_standard_library(corpora: Path, folder: str, share: float) -> None:
    texts, equal = 0, 0
    for path in sorted(path for path in (corpora / folder).rglob("*") if path.is_file()):
        raw = path.read_bytes()
        try:
            oracle = email.message_from_bytes(raw)
            expected = [part for part in text_parts(oracle) if names_its_charset(part[0])]
        except Exception:  # the oracle raises on some broken mail
            continue
        defects = {type(defect).__name__ for part in oracle.walk() for defect in part.defects}
        message = parse(raw)
        if defects <= TOLERATED and not any(part.get_content_type().startswith("message/") for part in oracle.walk()):
            texts += len(expected)
            equal += sum(is_read(message, *part) for part in expected)
    assert equal > share * texts > 100, (equal, texts)
