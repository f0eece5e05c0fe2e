"""Google Takeout: an mbox of all of a person's mail, each message with its labels in ``X-Gmail-Labels``."""

from __future__ import annotations

import csv
import os
import re
from collections.abc import Iterator
from contextlib import suppress

from spamnb.shown_text import escape
from spamnb.sources.entries import Entry, OnError, read_entries
from spamnb.sources.formats import MBOXES
from spamnb.sources.mailbox import folder_role
from spamnb.sources.mbox import TOP_BYTES, file_entries

# Google writes its fields above the message's own. A later X-Gmail-Labels may be a forgery, and is not read.
_LABELS = re.compile(rb"From [^\n]*+\n(?:X-GM-[^\n]*+\n)*+X-Gmail-Labels:([^\n]*+(?:\n[ \t][^\n]*+)*+)")
_SKIPPED_ROLES = frozenset({"trash", "drafts", "sent", "chats", "templates", "outbox"})


def gmail_entries(path: str, on_unreadable: OnError) -> Iterator[Entry]:
    """Yield the messages of a Takeout's mbox, plain or gzipped, or of all mboxes in a folder.

    Messages with the label for spam are spam, and the others ham. Trash, drafts, sent mail and chats are skipped. A
    message without labels is reported.
    """
    files = [path]
    if os.path.isdir(path):
        walk = os.walk(path, onerror=lambda error: on_unreadable(escape(error.filename), error))
        paths = (os.path.join(folder, name) for folder, _, names in walk for name in names)
        files = sorted(path for path in paths if path.endswith(MBOXES))
    for file in files:
        for entry, raw in read_entries(file_entries(None, file, on_unreadable), on_unreadable):
            labels = parse_labels(raw[:TOP_BYTES])
            if labels is None:
                on_unreadable(entry.name, ValueError("does not begin with X-Gmail-Labels, as mail of Takeout does"))
                continue
            roles = {folder_role(label) for label in labels}
            if _SKIPPED_ROLES.isdisjoint(roles):
                yield entry._replace(label="spam" if "junk" in roles else "ham")


def parse_labels(head: bytes) -> list[str] | None:
    r"""Return the labels in the first bytes of a message, or None if Google wrote none.

    >>> parse_labels(b"From 1@xxx\nX-GM-THRID: 1\nX-Gmail-Labels: =?UTF-8?Q?Gesendet,Entw=C3=BCrfe?=\n")
    ['Gesendet', 'Entwürfe']
    """
    from email.errors import HeaderParseError
    from email.header import decode_header, make_header

    field = _LABELS.match(head.replace(b"\r\n", b"\n"))
    if not field:
        return None
    text = re.sub(r"\s*\n\s*", " ", field[1].decode("utf-8", "replace"))
    with suppress(HeaderParseError, LookupError, ValueError):  # an unknown charset, or wrong bytes
        text = str(make_header(decode_header(text)))  # encoded words (RFC 2047)
    cells = next(csv.reader([text.strip()]), [])  # a label with a comma is quoted
    return [label for cell in cells if (label := cell.strip())]
