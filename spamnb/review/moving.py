"""Mail of the journal, read and moved in the mailbox where it lies.

The moves are those of ``sort``, so that ``watch`` takes none for a lesson and none is lost or doubled. A message is
moved only where the very one that was judged is found.
"""

from __future__ import annotations

from contextlib import ExitStack

from spamnb.errors import SpamnbError
from spamnb.journal.entries import JUNK, JournalEntry
from spamnb.journal.journal import Journal
from spamnb.mailbox import box_at
from spamnb.mailbox.box import Box
from spamnb.mailbox.filing import lies_in, noted
from spamnb.mailbox.memory import Memory
from spamnb.reader.message import digest
from spamnb.shown_text import escape
from spamnb.sources.entries import attempt
from spamnb.sources.mailbox import Folder, MailboxMessage

PATIENCE = 20.0  # seconds for another program that sorts the same mailbox


class Moving(ExitStack):
    """The mailboxes that a request needs, each opened once; a context that closes them.

    A move raises SpamnbError where a mailbox cannot be reached, or the mail is no longer there.
    """

    def __init__(self, journal: Journal) -> None:
        super().__init__()
        self._journal = journal
        self._open: dict[str, Box] = {}

    def mail(self, entry: JournalEntry) -> bytes | None:
        """Return the message from its mailbox, or None if it is not there or the mailbox cannot be reached.

        Its tokens in the journal are used instead.
        """
        try:
            found = attempt(lambda: _same(self._box(entry), entry)) if entry.mailbox else None
        except SpamnbError:  # a server that is away, mostly: a lesson is the same without it
            return None
        return found[1] if isinstance(found, tuple) else None

    def to(self, entry: JournalEntry, role: str) -> bool:
        """Move a message to the inbox or to the folder of spam; False where it lies there already."""
        if not entry.mailbox:
            raise SpamnbError("it is not known in which mailbox this mail lies; move it in your mail program")
        if entry.role == role:
            return False
        box = self._box(entry)
        self._move(box, entry, box.junk() if role == JUNK else box.inbox)
        return True

    def back(self, entry: JournalEntry, before: str) -> None:
        """Move a message to the folder of the place where it lay before."""
        box = self._box(entry)
        if box.folder_at(before).place != box.folder_at(entry.place).place:
            self._move(box, entry, box.folder_at(before))

    def _move(self, box: Box, entry: JournalEntry, into: Folder) -> None:
        found = _same(box, entry)
        if found is None:
            where = f"{entry.folder} of {escape(entry.mailbox)}"
            raise SpamnbError(f"the mail is no longer in {where}, so it was not moved")
        message, _ = found
        failed: list[str] = []
        with (
            Memory.of(box, lambda name, error: failed.append(str(error))) as memory,
            memory.alone(PATIENCE) as finished,
        ):
            interrupted = noted(box, finished, entry.junk)
            self._journal.add(interrupted)
            memory.written(each.digest for each in interrupted)
            moved = memory.move([(message, entry.digest)], into, {})
        if message not in moved:
            raise SpamnbError(f"{message.name}: not moved: {failed[-1] if failed else 'it is gone'}")
        self._journal.put_place(entry.position, lies_in(box, into, moved[message], entry.junk))

    def _box(self, entry: JournalEntry) -> Box:
        if entry.mailbox not in self._open:
            self._open[entry.mailbox] = box_at(entry.mailbox, entry.junk or None)
            self.callback(self._open[entry.mailbox].close)
        return self._open[entry.mailbox]


def _same(box: Box, entry: JournalEntry) -> tuple[MailboxMessage, bytes] | None:
    """Return the message at its place in the journal, if its bytes are the same as far as they are read."""
    for message, raw in box.read(box.lookup(entry.place, entry.message_id)):
        if isinstance(raw, bytes) and digest(raw) == entry.digest:
            return message, raw
    return None
