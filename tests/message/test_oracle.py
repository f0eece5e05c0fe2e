"""The standard library's email package as the oracle, on every well-formed message of the corpora.

It reads each message and says which text parts it has and what bytes they decode to; these, decoded by their claimed
charset, must be the texts of `parse`. Where the two differ on purpose, the difference belongs to one of the classes
that stand below, and nothing else may differ.
"""

import email
import os
from collections import Counter
from collections.abc import Iterator
from email.message import Message as EmailMessage
from pathlib import Path

import pytest

from spamnb.message.charsets import decode, shown
from spamnb.message.encodings import base64 as base64_decoded
from spamnb.message.encodings import take_uuencoded
from spamnb.message.html import declared_charset, read_html
from spamnb.message.mime import MAX_TEXT, OPENED, REPORTS, read_as
from spamnb.message.parse import Message, Part, parse

EQUAL = "equal"
UNEXPLAINED = "unexplained"
C1 = "iso-8859-1 is read as windows-1252: typographic quotes, not control characters"
FALSE_LATIN = "UTF-8 that claims to be iso-8859-1"
WRONG = "unknown or wrong charset: the oracle does not decode"
META = "the page's meta element names the charset, the header none"
UUENCODED = "uuencoded files are taken out of the text"
GIVEN_UP = "base64 with a stray character: the oracle does not decode"
NO_BASE64 = "plain text that claims to be base64"
LONE_CR = "a carriage return before a soft line break is a line end"
INSIDE = "an attached message, whose texts stand behind the others"
BOUNDED = "longer than the bound"
STRAY = "a stray line amid the header fields does not end them, and the oracle takes any 'From' for an envelope"

# Enron's messages are a Subject line and text without an empty line between: the oracle splits them as we do.
TOLERATED = {"MissingHeaderBodySeparatorDefect"}


def files(folder: Path) -> Iterator[tuple[str, bytes]]:
    for root, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            path = os.path.join(root, name)
            with open(path, "rb") as file:
                yield path, file.read()


def line_feeds(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


def defects(message: EmailMessage) -> set[str]:
    return {type(defect).__name__ for part in message.walk() for defect in part.defects} - TOLERATED


def expected(message: EmailMessage) -> Iterator[EmailMessage]:
    """Text parts, in the order in which a reader sees them. Reports (message/delivery-status …) are one text to us, and
    to the oracle a tree of header sections, which are no text: so these are left out on both sides."""
    if message.get_content_type() in REPORTS:
        return
    if message.is_multipart():
        parts = message.get_payload()
        if message.get_content_type() == "multipart/alternative":  # of which a reader sees the HTML first
            parts = sorted(parts, key=lambda part: part.get_content_maintype() == "text" and not is_html(part))
        for part in parts:
            yield from expected(part)
    elif message.get_content_maintype() == "text":
        yield message


def got(message: Message) -> list[tuple[Part, str]]:
    read = [part for part in message.parts if read_as(part.content_type, part.filename) not in ("", *OPENED)]
    read.sort(key=attached)
    assert len(read) <= len(message.texts)
    texts = [part.content_type.startswith("text") for part in read]
    return [found for found, is_text in zip(zip(read, message.texts), texts) if is_text]


def is_html(part: EmailMessage) -> bool:
    return read_as(part.get_content_type(), "") == "text/html"


def attached(part: Part | EmailMessage) -> bool:
    return (part.disposition if isinstance(part, Part) else part.get_content_disposition()) == "attachment"


def difference(text: str, oracle: EmailMessage) -> str:
    """The class of difference between our text and the oracle's: EQUAL, or why they differ, or UNEXPLAINED."""
    octets = oracle.get_payload(decode=True)
    assert isinstance(octets, bytes)
    encoded = oracle.get_payload(decode=False)
    assert isinstance(encoded, str)
    encoding = str(oracle.get("content-transfer-encoding", "")).lower()
    charset = oracle.get_content_charset()
    if oracle.get_content_type() == "text/html":
        what = page_difference(text, octets, charset)
    else:
        what = text_difference(text, octets, charset)
    if what != UNEXPLAINED:
        return what
    if encoding == "base64" and text == line_feeds(encoded):
        return NO_BASE64
    if encoding == "base64":
        repaired = base64_decoded(line_feeds(encoded).encode("ascii", "surrogateescape"))
        found = page_difference if oracle.get_content_type() == "text/html" else text_difference
        return GIVEN_UP if repaired != octets and found(text, repaired, charset) != UNEXPLAINED else UNEXPLAINED
    if encoding == "quoted-printable" and "\r=\n" in encoded:
        same = text.replace("\n", "") == line_feeds(decode(octets, charset)).replace("\n", "")
        return LONE_CR if same else UNEXPLAINED
    return UNEXPLAINED


def page_text(html: str) -> str:
    return shown(read_html(html.encode(), []).text)


def page_difference(text: str, octets: bytes, charset: str | None) -> str:
    """``difference`` of an HTML part. The oracle does not say what is visible, only what the bytes of the page are."""
    if text == page_text(decode(octets, charset)):
        return EQUAL
    if not charset and text == page_text(decode(octets, declared_charset(octets))):
        return META
    if len(octets) > MAX_TEXT and text == page_text(decode(octets[:MAX_TEXT], charset)):
        return BOUNDED
    return UNEXPLAINED


def text_difference(text: str, octets: bytes, charset: str | None) -> str:
    try:
        plain = line_feeds(shown(octets.decode(charset or "us-ascii")))
    except (LookupError, UnicodeDecodeError):
        # The oracle leaves such a part undecoded; ours must at least be a decoding of the same bytes.
        return WRONG if text == line_feeds(shown(decode(octets, charset))) else UNEXPLAINED
    if text == plain:
        return EQUAL
    if len(octets) > MAX_TEXT and text == plain[: MAX_TEXT // 2] + plain[-(MAX_TEXT // 2) :]:
        return BOUNDED
    if "\nbegin " in plain and text == take_uuencoded(plain, 250)[0]:
        return UUENCODED
    if charset == "iso-8859-1" and text == line_feeds(octets.decode("cp1252", "replace")):
        return C1
    if charset == "iso-8859-1" and text == line_feeds(octets.decode("utf-8", "replace")):
        return FALSE_LATIN
    return UNEXPLAINED


def compare(folder: Path) -> tuple[int, Counter[str], list[str]]:
    """Messages compared, texts by class of difference, and the files where one is unexplained."""
    seen: Counter[str] = Counter()
    unexplained: list[str] = []
    compared = 0
    for path, raw in files(folder):
        try:
            oracle = email.message_from_bytes(raw)
            wanted = sorted(expected(oracle), key=attached)
        except Exception as error:  # the oracle raises on some broken mail, which is why it is no engine
            seen[f"the oracle raises {type(error).__name__}"] += 1
            continue
        if defects(oracle):
            continue
        message = parse(raw)
        found = got(message)
        whats = [difference(text, other) for (_, text), other in zip(found, wanted)]
        if len(found) != len(wanted):
            whats.append(UNEXPLAINED)
        strays = oracle.defects and (oracle.get_unixfrom() or len(oracle.keys()) < len(message.headers))
        if UNEXPLAINED in whats and strays:
            whats = [STRAY]
        # The texts of an attached message are attached too, which its own parts do not say.
        if UNEXPLAINED in whats and any(part.content_type == "message/rfc822" for part in message.parts):
            whats = [INSIDE]
        if UNEXPLAINED in whats:
            unexplained.append(path)
        seen.update(whats)
        compared += 1
    return compared, seen, unexplained


MIME, ENRON, NEWS = "mime", "enron-spam/enron1", "20news-bydate/test"


@pytest.mark.parametrize("folder", [MIME, ENRON, NEWS, pytest.param("spamassassin", marks=pytest.mark.slow)])
def test_same_texts_as_the_standard_library(corpora, folder):
    compared, seen, unexplained = compare(corpora / folder)
    print(folder, compared, dict(seen))
    assert not unexplained
