"""Google Takeout: an mbox of all of a person's mail, each message with its labels in ``X-Gmail-Labels``."""

from __future__ import annotations

import csv
import os
import re
from collections.abc import Iterator

from spamnb.naming import escape
from spamnb.sources.entries import Entry, Report, open_mail
from spamnb.sources.files import mbox_entries
from spamnb.sources.folder_names import role_of
from spamnb.sources.formats import HEAD, NotMail, foreign_format

# Google's own fields stand before the message's: labels that its sender wrote further down do not count.
_LABELS = re.compile(rb"From [^\n]*+\n(?:X-GM-[^\n]*+\n)*+X-Gmail-Labels:([^\n]*+(?:\n[ \t][^\n]*+)*+)")
_LEFT_OUT = frozenset({"trash", "drafts", "sent", "chats", "templates", "outbox"})


def gmail(path: str, on_unreadable: Report) -> Iterator[Entry]:
    """Messages of a Takeout's mbox, plain or gzipped: spam by its label, ham the rest.

    Trash, drafts, sent mail and chats are left out; a message without labels is reported.
    """
    for file in _mailboxes(path, on_unreadable):
        yield from _messages(file, on_unreadable)


def _mailboxes(path: str, on_unreadable: Report) -> list[str]:
    """The file itself; in a folder the mboxes: the archive unpacks to ``Takeout/Mail``, in the user's language."""
    if not os.path.isdir(path):
        return [path]

    def unreadable(error: OSError) -> None:
        on_unreadable(escape(error.filename), error)

    within = ((folder, name) for folder, _, names in os.walk(path, onerror=unreadable) for name in names)
    return sorted(os.path.join(folder, name) for folder, name in within if name.endswith((".mbox", ".mbox.gz")))


def _messages(path: str, on_unreadable: Report) -> Iterator[Entry]:
    try:
        with open_mail(path) as stream:
            if what := foreign_format(stream.read(HEAD)):
                raise NotMail(what, path)
            stream.seek(0)
            for entry, top in mbox_entries(path, stream, on_unreadable):
                names = labels(top)
                if names is None:
                    on_unreadable(entry.name, ValueError("no X-Gmail-Labels on top, as Google Takeout writes them"))
                elif label := class_of_labels(names):
                    yield entry._replace(label=label)
    except OSError as error:
        on_unreadable(escape(path), error)


def class_of_labels(names: list[str]) -> str | None:
    """The class of a message with these labels; None where it is none that one gets.

    >>> class_of_labels(["Inbox", "Opened"]), class_of_labels(["Spam", "Unread"]), class_of_labels(["Gesendet"])
    ('ham', 'spam', None)
    """
    roles = {role_of(name) for name in names}
    if not _LEFT_OUT.isdisjoint(roles):
        return None
    return "spam" if "junk" in roles else "ham"


def labels(head: bytes) -> list[str] | None:
    """The labels of a message that begins so; None where Google put none on top.

    >>> labels(b"From 1@xxx\\nX-GM-THRID: 1\\nX-Gmail-Labels: =?UTF-8?Q?Gesendet,Entw=C3=BCrfe?=\\n")
    ['Gesendet', 'Entwürfe']
    """
    found = _LABELS.match(head.replace(b"\r\n", b"\n"))
    if not found:
        return None
    text = _decoded(re.sub(r"\s*\n\s*", " ", found[1].decode("utf-8", "replace"))).strip()
    cells = next(csv.reader([text]), [])  # a label with a comma is quoted
    return [name for cell in cells if (name := cell.strip())]


def _decoded(value: str) -> str:
    """The text of encoded words (RFC 2047)."""
    from email.errors import HeaderParseError
    from email.header import decode_header, make_header

    try:
        return str(make_header(decode_header(value)))
    except (HeaderParseError, LookupError, ValueError):  # a charset that nobody knows, or bytes that are none of it
        return value
