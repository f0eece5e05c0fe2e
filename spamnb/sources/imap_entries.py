"""Mail of an IMAP account as a SOURCE: each message is fetched when it is its turn, and a lost connection made anew."""

from __future__ import annotations

from collections.abc import Iterator

from spamnb.errors import SpamnbError
from spamnb.sources.accounts import account_of
from spamnb.sources.entries import Entry, Report
from spamnb.sources.folder_names import role_of
from spamnb.sources.folders import NOT_WANTED
from spamnb.sources.imap_reading import PAUSES, ImapReader
from spamnb.sources.imap_url import ImapUrl, parsed
from spamnb.sources.mailbox import Folder
from spamnb.sources.one_class import ReadOptions


def imap_entries(label: str | None, text: str, on_unreadable: Report, options: ReadOptions) -> Iterator[Entry]:
    """The messages of the folder that a URL names, the inbox where it names none, in the order of their UIDs.

    With ``recursive`` and without a folder in the URL those of all folders but junk, trash, drafts, templates and
    copies of everything. SpamnbError at once for what is no URL, and later where the account cannot be read.
    """
    url = parsed(text)
    return _entries(label, url, on_unreadable, options)


def _entries(label: str | None, url: ImapUrl, on_unreadable: Report, options: ReadOptions) -> Iterator[Entry]:
    account = account_of(url)
    box = ImapReader(url, account.login, PAUSES)
    try:
        for folder in _folders(box, label, url, options.recursive):
            for message, raw in box.read(box.messages(folder)):
                if isinstance(raw, OSError):
                    on_unreadable(message.name, raw)
                elif raw:
                    yield Entry(label, message.name, "", content=raw)
    finally:
        box.close()


def _folders(box: ImapReader, label: str | None, url: ImapUrl, recursive: bool) -> list[Folder]:
    known = box.folders()
    if not url.folder and recursive:
        wanted_junk = label is not None and role_of(label) == "junk"
        unwanted = (NOT_WANTED | {"all"}) - ({"junk"} if wanted_junk else set())
        return [folder for folder in known if folder.role not in unwanted]
    if not url.folder or url.folder.upper() == "INBOX":
        return known[:1] if known and known[0].role == "inbox" else [Folder("INBOX", "INBOX", "inbox")]
    found = box.locate(url.folder)
    if found not in known:
        there = ", ".join(folder.name for folder in known[:20])
        raise SpamnbError(f"{box.shown}: no folder {url.folder!r}; there are {there}")
    return [found]

