"""What a person teaches by moving mail into an account's Junk or out of it, or into a folder made for that.

A message that comes into a folder is known by its kin. One that was last seen on the other side of Junk, and is no
longer there, was moved by a person: this program's own moves are noted before they are made. Only what came since the
last look is asked of the server, so a look at 100,000 messages in which nothing happened is one STATUS a folder.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from spamnb.reader.message import digest
from spamnb.serve.imap_memory import ImapMemory
from spamnb.serve.imap_record import AccountRecord, kin_of
from spamnb.serve.moves import LEARN, Lesson
from spamnb.sources.imap import ImapMailbox
from spamnb.sources.imap_connection import Denied
from spamnb.sources.imap_reading import State, Uid
from spamnb.sources.mailbox import NEITHER, Folder, MailboxMessage, is_below

_NOTED_AT_ONCE = 1000
_STALE = 100  # messages that a folder has lost: below that, their rows wait for more


class ImapMoves(ImapMemory):
    """An account's record, and the moves that a person makes."""

    def __init__(
        self,
        box: ImapMailbox,
        record: AccountRecord,
        junk: str | None,
        on_unreadable: Callable[[str, Exception], None],
        lock: str | None = None,
        learn_folder: str | None = None,
    ) -> None:
        super().__init__(box, record, junk, on_unreadable, lock)
        self._learn_folder = learn_folder
        self._states: dict[str, State] = {}  # of each folder at the last look
        self._is_busy = True  # whether a crossing waits to be decided

    def looked(self) -> bool:
        """Whether the account was watched before."""
        return self.record.looked()

    def noted(self) -> int:
        """Of how many messages it is known where they are."""
        return self.record.noted()

    def next_uid(self) -> int:
        """How far the inbox had got at the last look."""
        state = self._states.get(self.inbox.place)
        return state.next_uid if state is not None else 0

    def has_junk(self) -> bool:
        """Whether there is a folder of spam."""
        return any(folder.place == self.junk_folder().place for folder in self._box.folders())

    def lessons(self) -> Iterator[Lesson]:
        """Messages that were moved into or out of Junk since the last look; `put` each once it is learned."""
        self._known.clear()
        known = self._box.folders()
        self.record.drop_folders([folder.place for folder in known])
        validities = {}
        changed = False
        for folder in known:
            if (side := self._side(folder)) is None:
                continue
            try:
                state = self._box.state(folder)
            except Denied as error:  # gone since it was listed, or another's
                self._on_unreadable(f"{self._box.shown}/{folder.name}", error)
                continue
            validities[folder.place] = state.validity
            if state != self._states.get(folder.place):
                self._note_arrivals(folder, state, side)
                self._states[folder.place] = state
                changed = True
        if changed or self._is_busy:
            self._is_busy = False
            yield from self._decided({folder.place: folder for folder in known}, validities)
        if self._learn_folder is not None:
            yield from self._taught(known)

    def put(self, lesson: Lesson) -> None:
        """A lesson was learned. One of the folder that is made for that goes where such mail belongs."""
        if lesson.message is None:
            self.record.put(lesson.digest, lesson.spam)
        elif self._lock is not None:  # no dry run
            into = self.junk_folder() if lesson.spam else self.inbox
            self.move([(lesson.message, lesson.raw, lesson.digest)], into)

    # -- which side mail is on -----------------------------------------------------------------------------------

    def _side(self, folder: Folder) -> bool | None:
        """Whether a folder is on Junk's side; None for one on neither."""
        if self.is_junk(folder):
            return True
        if folder.role in NEITHER or folder.role in ("junk", "all"):
            return None
        if self._learn_folder is not None and is_below(
            folder.place, self.located(self._learn_folder).place, self._box.separator
        ):
            return None
        return False

    def _note_arrivals(self, folder: Folder, state: State, side: bool) -> None:
        before = self.record.watched_until(folder.place)
        same = before is not None and before[0] == state.validity
        since = before[1] if before is not None and same else 1
        if not same or state.next_uid > since:
            listed = self._box.numbered(folder, since)
            for start in range(0, len(listed), _NOTED_AT_ONCE):
                batch = listed[start : start + _NOTED_AT_ONCE]
                found = [(message, kin_of(head)) for message, head in self._box.heads(batch)]
                until = State(state.validity, batch[-1].place.uid + 1, 0)
                self.record.put_mail(folder.place, until, side, found)
            if not listed:
                self.record.put_mail(folder.place, state, side, [])
        rows = self.record.count(folder.place)
        if rows - state.messages > max(_STALE, rows // 10):
            gone = self.record.uids(folder.place) - {one.place.uid for one in self._box.numbered(folder)}
            self.record.drop_mail(folder.place, gone)

    # -- lessons -------------------------------------------------------------------------------------------------

    def _decided(self, folders: dict[str, Folder], validities: dict[str, int]) -> Iterator[Lesson]:
        """The crossings that a person made. One that is on both sides, as while a mail reader copies it, waits."""
        for kin, left in self.record.crossed():
            there: dict[bool, list[MailboxMessage]] = {False: [], True: []}
            for place, uid, side in self.record.where(kin):
                if place not in validities:
                    continue
                message = self._box.message(folders[place], Uid(validities[place], uid))
                if self._box.sized([message]):
                    there[side].append(message)
                else:
                    self.record.drop_mail(place, [uid])
            if self.record.being_moved(kin) or (there[left] and there[not left]):
                self._is_busy = True
                continue
            if not there[not left]:  # moved back, or on to where it is on neither side
                self.record.put(kin, left)
                continue
            ((message, raw),) = self._box.read(there[not left][-1:])
            if isinstance(raw, bytes):
                yield Lesson(not left, message.name, raw, kin)

    def _taught(self, known: list[Folder]) -> Iterator[Lesson]:
        """What lies in the folders that are made for teaching."""
        parent = self.located(self._learn_folder)
        for name, spam in LEARN:
            folder = Folder(f"{parent.name}{self._box.separator}{name}", f"{parent.place}{self._box.separator}{name}")
            if all(each.place != folder.place for each in known):
                if self._lock is None:
                    continue
                self._box.make(folder)
            for message, raw in self._box.read(self._box.messages(folder)):
                if isinstance(raw, bytes):
                    yield Lesson(spam, message.name, raw, digest(raw), message)
