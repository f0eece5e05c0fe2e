"""Mail of the journal, read and moved in the mailbox where it lies: a Maildir, or an account on a server.

The moves are those of ``sort``: noted before or with their making, so that ``watch`` takes none for a lesson and none
is lost or doubled. A message is moved only where the very one that was judged is found.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple, Protocol

from spamnb.errors import SpamnbError
from spamnb.journal.entries import Verdict
from spamnb.journal.journal import Journal, Noted
from spamnb.journal.teaching import file_of
from spamnb.journal.whereabouts import (
    JUNK,
    FolderNoted,
    folder_in_account,
    folder_noted,
    folder_of_place,
    note_folder,
    note_place,
    place_in_account,
)
from spamnb.naming import escape
from spamnb.reader.message import digest
from spamnb.serve.imap_memory import ImapMemory
from spamnb.serve.imap_record import AccountRecord, record_path
from spamnb.serve.maildir_memory import MaildirMemory
from spamnb.serve.moves import SeenFolders
from spamnb.sources.accounts import account_of
from spamnb.sources.imap import ImapMailbox
from spamnb.sources.imap_reading import Uid
from spamnb.sources.imap_url import parsed
from spamnb.sources.mailbox import Folder, MailboxMessage
from spamnb.sources.maildir_box import MaildirBox
from spamnb.sources.spec import is_account

PATIENCE = 20.0  # seconds for another program that sorts the same account
_MOST = 20  # messages of one Message-ID that are looked at
_NEWEST = 100  # messages that are looked at where one has no Message-ID to be found by


class Lies(NamedTuple):
    """A message that was found, and its bytes."""

    message: MailboxMessage
    raw: bytes


class OpenMailbox(Protocol):
    """A mailbox of either kind, and how mail is found and moved in it."""

    def find(self, entry: Verdict) -> Lies | None: ...
    def folder(self, role: str) -> Folder: ...
    def folder_at(self, place: str) -> Folder: ...
    def move(self, entry: Verdict, found: Lies, into: Folder) -> tuple[str, str]: ...


class Moving:
    """The mailboxes that a request needs, each opened once; a context that closes them.

    Raises SpamnbError where one cannot be reached, where the mail is no longer there, and where it is not moved.
    """

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._open: dict[str, OpenMailbox] = {}
        self._found: dict[int, Lies] = {}  # by position
        self._stack = ExitStack()

    def __enter__(self) -> Moving:
        return self

    def __exit__(self, *exception: object) -> None:
        self._stack.close()

    def mail(self, row: Noted) -> bytes | None:
        """The mail, where it lies where it lay; None where it does not, or nobody knows its mailbox."""
        known = folder_noted(self._journal, row.entry.place)
        found = self._find(row, known) if known is not None else None
        return found.raw if found is not None else None

    def to(self, row: Noted, role: str, batch: str = "") -> bool:
        """Move a message to the inbox or to the folder of spam; False where it lies there already. With ``batch``
        undoing the lesson of that name moves it back."""
        known = folder_noted(self._journal, row.entry.place)
        if known is not None and known.role == role:
            return False
        return self._move(row, known, lambda box: box.folder(role), role, batch)

    def back(self, row: Noted, before: str) -> bool:
        """Move a message to the folder in which it lay before; False where it lies there already."""
        known, target = (folder_noted(self._journal, place) for place in (row.entry.place, before))
        if known is None or target is None or known.folder == target.folder:
            return False
        return self._move(row, known, lambda box: box.folder_at(before), target.role, "")

    def _move(
        self, row: Noted, known: FolderNoted | None, into: Callable[[OpenMailbox], Folder], role: str, batch: str
    ) -> bool:
        if known is None:
            raise SpamnbError("it is not known in which mailbox this mail lies; move it in your mail program")
        found = self._find(row, known)
        if found is None:
            raise SpamnbError(f"the mail is no longer in {known.name} of {escape(known.mailbox)}, so it was not moved")
        box = self._mailbox(known)
        folder = into(box)
        del self._found[row.position]
        place, name = box.move(row.entry, found, folder)
        with self._journal.writing():
            note_folder(self._journal, known._replace(folder=folder_of_place(place), name=name, role=role))
            note_place(self._journal, row.position, place, batch)
        return True

    def _find(self, row: Noted, known: FolderNoted) -> Lies | None:
        if row.position not in self._found:
            found = self._mailbox(known).find(row.entry)
            if found is None:
                return None
            self._found[row.position] = found
        return self._found[row.position]

    def _mailbox(self, known: FolderNoted) -> OpenMailbox:
        if known.mailbox not in self._open:
            kind = OpenAccount if is_account(known.mailbox) else OpenMaildir
            self._open[known.mailbox] = kind(known, self._stack)
        return self._open[known.mailbox]


class OpenMaildir:
    """A Maildir, and the record of what was seen in it."""

    def __init__(self, known: FolderNoted, stack: ExitStack) -> None:
        self._box = MaildirBox(Path(known.mailbox))
        seen = stack.enter_context(SeenFolders.of(self._box.path))
        self._failed: list[str] = []
        self._memory = MaildirMemory(self._box, seen, known.junk or None, _keep(self._failed))
        self._junk = known.junk or None

    def find(self, entry: Verdict) -> Lies | None:
        """The message, under whatever flags."""
        found = file_of(entry)
        if found is None:
            return None
        path, raw = found
        return Lies(self._box.message(self.folder_at(str(path)), path), raw)

    def folder(self, role: str) -> Folder:
        """The inbox or the folder of spam."""
        return self._box.locate(self._junk) if role == JUNK else self._box.inbox

    def folder_at(self, place: str) -> Folder:
        """The folder in which a message lay."""
        path = Path(folder_of_place(place))
        return next((each for each in self._box.folders() if each.place == path), Folder(escape(path.name), path))

    def move(self, entry: Verdict, found: Lies, into: Folder) -> tuple[str, str]:
        """Move a message; its path then, and the folder's name."""
        moved = self._memory.move([(found.message, found.raw, entry.digest)], into) or {}
        after = moved.get(found.message)
        if after is None:
            raise SpamnbError(f"{found.message.name}: not moved: {self._failed[-1] if self._failed else 'it is gone'}")
        return str(after.place.absolute()), into.name


class OpenAccount:
    """An account, and the record of what was seen in it."""

    def __init__(self, known: FolderNoted, stack: ExitStack) -> None:
        url = parsed(known.mailbox)
        self._account = known.mailbox
        self._box = ImapMailbox(url, account_of(url).login)
        stack.callback(self._box.close)
        record = stack.enter_context(AccountRecord.of(url))
        self._failed: list[str] = []
        lock = str(record_path(url).with_suffix(".lock"))
        self._memory = ImapMemory(self._box, record, known.junk or None, _keep(self._failed), lock)

    def find(self, entry: Verdict) -> Lies | None:
        """The message in the folder where it lay: by its number, by its Message-ID, or among the newest."""
        name, uid = folder_in_account(entry.place)
        folder = next((each for each in self._box.folders() if each.place == name), None)
        return self._in_folder(folder, entry, uid) if folder is not None else None

    def _in_folder(self, folder: Folder, entry: Verdict, uid: Uid | None = None) -> Lies | None:
        if uid is not None and uid.validity == self._box.opened(folder).validity:
            found = self._same(entry, [self._box.message(folder, uid)])
            if found is not None:
                return found
        wanted = entry.message_id
        if wanted and wanted.isascii() and wanted.isprintable():
            return self._same(entry, self._box.with_message_id(folder, wanted)[-_MOST:])
        return self._same(entry, self._box.numbered(folder)[-_NEWEST:])

    def _same(self, entry: Verdict, messages: Iterable[MailboxMessage]) -> Lies | None:
        """The newest that is the message of the journal, to the byte as far as it is read."""
        for message, raw in self._box.read(list(messages)[::-1]):
            if isinstance(raw, bytes) and digest(raw) == entry.digest:
                return Lies(message, raw)
        return None

    def folder(self, role: str) -> Folder:
        """The inbox or the folder of spam."""
        return self._memory.junk_folder() if role == JUNK else self._memory.inbox

    def folder_at(self, place: str) -> Folder:
        """The folder in which a message lay."""
        name, _ = folder_in_account(place)
        return self._memory.inbox if name.upper() == "INBOX" else Folder(escape(name), name)

    def move(self, entry: Verdict, found: Lies, into: Folder) -> tuple[str, str]:
        """Move a message; its URL then, and the folder's name."""
        with self._memory.alone(PATIENCE):
            moved = self._memory.move([(found.message, found.raw, entry.digest)], into)
        if moved is None:
            why = self._failed[-1] if self._failed else "the server would not"
            raise SpamnbError(f"{found.message.name}: not moved: {why}")
        # Few servers say which number it has now.
        there = self._in_folder(into, entry) if moved else None
        if there is None:
            raise SpamnbError(f"{found.message.name}: taken elsewhere meanwhile, so it was not moved")
        return place_in_account(self._account, into.place, there.message.place), into.name


def _keep(lines: list[str]) -> Callable[[str, Exception], None]:
    """What is told of a message that is not moved, kept for whoever asked."""
    return lambda name, error: lines.append(str(error))
