"""Mail of the journal, read and moved in the mailbox where it lies.

The moves are those of ``sort``, so that ``watch`` takes none for a lesson and none is lost or doubled. A message is
moved only where the very one that was judged is found.
"""

from __future__ import annotations

from contextlib import ExitStack

from spamnb.errors import SpamnbError
from spamnb.journal.entries import Verdict
from spamnb.journal.journal import Journal, Noted
from spamnb.journal.whereabouts import JUNK, FolderNoted, folder_noted, folder_of_place, note_folder, note_place
from spamnb.mailbox.box import Box, box_at
from spamnb.mailbox.memory import Memory
from spamnb.naming import escape
from spamnb.reader.message import digest
from spamnb.sources.mailbox import MailboxMessage

PATIENCE = 20.0  # seconds for another program that sorts the same mailbox


class Moving:
    """The mailboxes that a request needs, each opened once; a context that closes them.

    Raises SpamnbError where one cannot be reached, where the mail is no longer there, and where it is not moved.
    """

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._open: dict[str, Box] = {}
        self._stack = ExitStack()

    def __enter__(self) -> Moving:
        return self

    def __exit__(self, *exception: object) -> None:
        self._stack.close()

    def mail(self, row: Noted) -> bytes | None:
        """The mail, where it lies where it lay; None where it does not, or nobody knows its mailbox."""
        known = folder_noted(self._journal, row.entry.place)
        found = _same(self._box(known), row.entry, row.entry.place) if known is not None else None
        return found[1] if found is not None else None

    def to(self, row: Noted, role: str, batch: str = "") -> bool:
        """Move a message to the inbox or to the folder of spam; False where it lies there already. With ``batch``
        undoing the lesson of that name moves it back."""
        known = folder_noted(self._journal, row.entry.place)
        if known is not None and known.role == role:
            return False
        return self._move(row, known, None, role, batch)

    def back(self, row: Noted, before: str) -> bool:
        """Move a message to the folder in which it lay before; False where it lies there already."""
        known, target = (folder_noted(self._journal, place) for place in (row.entry.place, before))
        if known is None or target is None or known.folder == target.folder:
            return False
        return self._move(row, known, before, target.role, "")

    def _move(self, row: Noted, known: FolderNoted | None, place: str | None, role: str, batch: str) -> bool:
        """Move a message to the folder of a place, or where there is none, to that of a role."""
        if known is None:
            raise SpamnbError("it is not known in which mailbox this mail lies; move it in your mail program")
        box = self._box(known)
        found = _same(box, row.entry, row.entry.place)
        if found is None:
            raise SpamnbError(f"the mail is no longer in {known.name} of {escape(known.mailbox)}, so it was not moved")
        message, _ = found
        into = box.folder_at(place) if place is not None else box.junk() if role == JUNK else box.inbox
        failed: list[str] = []
        with Memory.of(box, lambda name, error: failed.append(str(error))) as memory, memory.alone(PATIENCE):
            moved = memory.move([(message, row.entry.digest)], into)
        if message not in moved:
            raise SpamnbError(f"{message.name}: not moved: {failed[-1] if failed else 'it is gone'}")
        after = moved[message]
        if after is None:  # few servers say which number it has now
            there = _same(box, row.entry, box.place(into, None))
            if there is None:
                raise SpamnbError(f"{message.name}: taken elsewhere meanwhile, so it was not moved")
            after, _ = there
        place = box.place(into, after)
        with self._journal.writing():
            note_folder(self._journal, known._replace(folder=folder_of_place(place), name=into.name, role=role))
            note_place(self._journal, row.position, place, batch)
        return True

    def _box(self, known: FolderNoted) -> Box:
        if known.mailbox not in self._open:
            self._open[known.mailbox] = box_at(known.mailbox, known.junk or None)
            self._stack.callback(self._open[known.mailbox].close)
        return self._open[known.mailbox]


def _same(box: Box, entry: Verdict, place: str) -> tuple[MailboxMessage, bytes] | None:
    """The message of the journal at a place or near it, to the byte as far as it is read."""
    for messages in box.lookup(place, entry.message_id):
        for message, raw in box.read(messages):
            if isinstance(raw, bytes) and digest(raw) == entry.digest:
                return message, raw
    return None
