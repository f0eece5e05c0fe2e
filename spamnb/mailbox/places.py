"""Read and move messages of the ledger in their mailboxes.

A move is recorded as ``sort`` records it. So no message is lost or doubled, and ``watch`` does not learn from the move.
A message is moved only if its digest is the digest in the ledger.
"""

from __future__ import annotations

from contextlib import ExitStack

from spamnb.errors import SpamnbError
from spamnb.ledger.ledger import Ledger
from spamnb.ledger.verdicts import JUNK, VerdictRow
from spamnb.mailbox import open_mailbox
from spamnb.mailbox.interface import Mailbox
from spamnb.mailbox.record import MailboxRecord
from spamnb.reader.message import digest
from spamnb.shown_text import escape
from spamnb.sources.entries import attempt
from spamnb.sources.mailbox import Folder, MailboxMessage

LOCK_SECONDS = 20.0  # seconds to wait for another program that sorts the same mailbox


class Gone(SpamnbError):
    """A message, or the folder to which it should go, is no longer in its mailbox."""


class OpenMailboxes(ExitStack):
    """The open mailboxes of one request. They are closed at the end of the context."""

    def __init__(self, ledger: Ledger) -> None:
        super().__init__()
        self._ledger = ledger
        self._open: dict[str, Mailbox] = {}

    def read(self, row: VerdictRow) -> bytes | None:
        """Return the raw message, or None if its mailbox does not have it or cannot be reached."""
        try:
            result = attempt(lambda: _find_message(self._mailbox(row), row)) if row.mailbox else None
        except SpamnbError:  # for example, the server cannot be reached
            return None
        return result[1] if isinstance(result, tuple) else None

    def move_to(self, row: VerdictRow, role: str) -> bool:
        """Move a message to the inbox or to the junk folder. Return False if it is there already.

        Raise Gone if the mailbox no longer has the message, and SpamnbError if it cannot be reached or changed.
        """
        if not row.mailbox:
            raise SpamnbError("the ledger does not have the mailbox of the message; move it in your mail program")
        if row.role == role:
            return False
        mailbox = self._mailbox(row)
        self._move(mailbox, row, mailbox.locate() if role == JUNK else mailbox.inbox)
        return True

    def move_back(self, row: VerdictRow, folder_name: str) -> None:
        """Move a message to the folder of this name, in which it was before."""
        if row.folder != folder_name:
            mailbox = self._mailbox(row)
            folders = [folder for folder in mailbox.folders() if folder.name == folder_name]
            if not folders:
                raise Gone(f"the folder {folder_name} is no longer there, so the message was not moved back")
            self._move(mailbox, row, folders[0])

    def _move(self, mailbox: Mailbox, row: VerdictRow, into: Folder) -> None:
        message_and_bytes = _find_message(mailbox, row)
        if message_and_bytes is None:
            where = f"{row.folder} of {escape(row.mailbox)}"
            raise Gone(f"the message is no longer in {where}, so it was not moved")
        message, _ = message_and_bytes
        errors: list[str] = []
        record = MailboxRecord(self._ledger, mailbox, lambda name, error: errors.append(str(error)), row.junk)
        with record.lock(LOCK_SECONDS):  # finishes earlier moves that were interrupted
            new_messages = record.move([(message, row)], into)
        if message not in new_messages:
            raise SpamnbError(f"{message.name}: not moved: {errors[-1] if errors else 'another program removed it'}")

    def _mailbox(self, row: VerdictRow) -> Mailbox:
        if row.mailbox not in self._open:
            self._open[row.mailbox] = open_mailbox(row.mailbox, row.junk or None)
            self.callback(self._open[row.mailbox].close)
        return self._open[row.mailbox]


def _find_message(mailbox: Mailbox, row: VerdictRow) -> tuple[MailboxMessage, bytes] | None:
    """Return the message at the place in the ledger and its bytes, or None if no message there has this digest."""
    for message, raw in mailbox.read(mailbox.lookup(row.place, row.message_id)):
        if isinstance(raw, bytes) and digest(raw) == row.digest:
            return message, raw
    return None
