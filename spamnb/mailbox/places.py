"""Read and move messages of the ledger in their mailboxes.

A move is recorded as ``sort`` records it. So no message is lost or doubled, and ``watch`` does not learn from the move.
A message is moved only if its digest is the digest in the ledger.
"""

from __future__ import annotations

from contextlib import ExitStack

from spamnb.errors import SpamnbError
from spamnb.ledger.entries import JUNK, LedgerEntry
from spamnb.ledger.ledger import Ledger
from spamnb.mailbox import open_mailbox
from spamnb.mailbox.interface import Mailbox
from spamnb.mailbox.record import MailboxRecord
from spamnb.reader.message import digest
from spamnb.shown_text import escape
from spamnb.sources.entries import attempt
from spamnb.sources.mailbox import Folder, MailboxMessage

LOCK_SECONDS = 20.0  # seconds to wait for another program that sorts the same mailbox


class OpenMailboxes(ExitStack):
    """The open mailboxes of one request. They are closed at the end of the context."""

    def __init__(self, ledger: Ledger) -> None:
        super().__init__()
        self._ledger = ledger
        self._open: dict[str, Mailbox] = {}

    def read(self, entry: LedgerEntry) -> bytes | None:
        """Return the raw message, or None if its mailbox does not have it or cannot be reached."""
        try:
            result = attempt(lambda: _find_message(self._mailbox(entry), entry)) if entry.mailbox else None
        except SpamnbError:  # for example, the server cannot be reached
            return None
        return result[1] if isinstance(result, tuple) else None

    def move_to(self, entry: LedgerEntry, role: str) -> bool:
        """Move a message to the inbox or to the junk folder. Return False if it is there already.

        Raise SpamnbError if the mailbox cannot be reached or no longer has the message.
        """
        if not entry.mailbox:
            raise SpamnbError("the ledger does not have the mailbox of the message; move it in your mail program")
        if entry.role == role:
            return False
        mailbox = self._mailbox(entry)
        self._move(mailbox, entry, mailbox.locate() if role == JUNK else mailbox.inbox)
        return True

    def move_back(self, entry: LedgerEntry, folder_name: str) -> None:
        """Move a message to the folder of this name, in which it was before."""
        if entry.folder != folder_name:
            mailbox = self._mailbox(entry)
            folders = [folder for folder in mailbox.folders() if folder.name == folder_name]
            if not folders:
                raise SpamnbError(f"the folder {folder_name} is no longer there, so the message was not moved back")
            self._move(mailbox, entry, folders[0])

    def _move(self, mailbox: Mailbox, entry: LedgerEntry, into: Folder) -> None:
        message_and_bytes = _find_message(mailbox, entry)
        if message_and_bytes is None:
            where = f"{entry.folder} of {escape(entry.mailbox)}"
            raise SpamnbError(f"the message is no longer in {where}, so it was not moved")
        message, _ = message_and_bytes
        errors: list[str] = []
        record = MailboxRecord(self._ledger, mailbox, lambda name, error: errors.append(str(error)), entry.junk)
        with record.lock(LOCK_SECONDS):  # finishes earlier moves that were interrupted
            new_messages = record.move([(message, entry.digest)], into, lambda: [entry.position])
        if message not in new_messages:
            raise SpamnbError(f"{message.name}: not moved: {errors[-1] if errors else 'another program removed it'}")

    def _mailbox(self, entry: LedgerEntry) -> Mailbox:
        if entry.mailbox not in self._open:
            self._open[entry.mailbox] = open_mailbox(entry.mailbox, entry.junk or None)
            self.callback(self._open[entry.mailbox].close)
        return self._open[entry.mailbox]


def _find_message(mailbox: Mailbox, entry: LedgerEntry) -> tuple[MailboxMessage, bytes] | None:
    """Return the message at the place in the ledger and its bytes, or None if no message there has this digest."""
    for message, raw in mailbox.read(mailbox.lookup(entry.place, entry.message_id)):
        if isinstance(raw, bytes) and digest(raw) == entry.digest:
            return message, raw
    return None
