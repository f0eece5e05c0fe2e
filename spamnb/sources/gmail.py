"""Google Takeout: an mbox of all of a person's mail, each message with its labels in ``X-Gmail-Labels``."""

from __future__ import annotations

import csv
import os
import re
from collections.abc import Iterator
from contextlib import suppress

from spamnb.shown_text import escape
from spamnb.sources.entries import Entry, Report, messages
from spamnb.sources.formats import MBOXES
from spamnb.sources.mailbox import role_of
from spamnb.sources.mbox import TOP, mail_file

# Google's own fields stand before the message's: labels that its sender wrote further down do not count.
_LABELS = re.compile(rb"From [^\n]*+\n(?:X-GM-[^\n]*+\n)*+X-Gmail-Labels:([^\n]*+(?:\n[ \t][^\n]*+)*+)")
_LEFT_OUT = frozenset({"trash", "drafts", "sent", "chats", "templates", "outbox"})


def gmail(path: str, on_unreadable: Report) -> Iterator[Entry]:
    """Messages of a Takeout's mbox, plain or gzipped, or of the mboxes in the folder that its archive unpacks to: spam
    by its label, ham the rest.

    Trash, drafts, sent mail and chats are left out; a message without labels is reported.
    """
    files = [path]
    if os.path.isdir(path):
        walk = os.walk(path, onerror=lambda error: on_unreadable(escape(error.filename), error))
        within = (os.path.join(folder, name) for folder, _, names in walk for name in names)
        files = sorted(file for file in within if file.endswith(MBOXES))
    for file in files:
        for entry, raw in messages(mail_file(None, file, on_unreadable), on_unreadable):
            names = labels(raw[:TOP])
            if names is None:
                on_unreadable(entry.name, ValueError("no X-Gmail-Labels on top, as Google Takeout writes them"))
                continue
            roles = {role_of(name) for name in names}
            if _LEFT_OUT.isdisjoint(roles):
                yield entry._replace(label="spam" if "junk" in roles else "ham")


def labels(head: bytes) -> list[str] | None:
    """The labels of a message that begins so; None where Google put none on top.

    >>> labels(b"From 1@xxx\\nX-GM-THRID: 1\\nX-Gmail-Labels: =?UTF-8?Q?Gesendet,Entw=C3=BCrfe?=\\n")
    ['Gesendet', 'Entwürfe']
    """
    from email.errors import HeaderParseError
    from email.header import decode_header, make_header

    found = _LABELS.match(head.replace(b"\r\n", b"\n"))
    if not found:
        return None
    text = re.sub(r"\s*\n\s*", " ", found[1].decode("utf-8", "replace"))
    with suppress(HeaderParseError, LookupError, ValueError):  # an unknown charset, or bytes that are none of it
        text = str(make_header(decode_header(text)))  # encoded words (RFC 2047)
    cells = next(csv.reader([text.strip()]), [])  # a label with a comma is quoted
    return [name for cell in cells if (name := cell.strip())]
