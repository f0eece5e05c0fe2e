"""One mailbox at work: new mail is judged once and moved, and what a person moved is learned.

``sort`` goes through this once, ``watch`` again and again; Maildirs and accounts go the same way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from spamnb.errors import SpamnbError
from spamnb.journal.entries import INBOX, JUNK, NOWHERE, OTHER, Place, entry_of
from spamnb.journal.journal import Correction, Journal
from spamnb.mailbox.box import Box
from spamnb.mailbox.memory import Lesson, Memory
from spamnb.reader.message import digest
from spamnb.serve.score import Score, score_message
from spamnb.serve.users import class_of_label
from spamnb.sources.mailbox import Folder, MailboxMessage

if TYPE_CHECKING:
    from spamnb.classifier import Classifier
    from spamnb.reader.read_message import ReadMessage

_AT_ONCE, _BYTES_AT_ONCE = 32, 4 << 20  # of the messages that are moved together


class Filed(NamedTuple):
    """A message that was judged: what was found, where it went (None: it stays), and where it lies now, if known."""

    message: MailboxMessage
    mail: ReadMessage
    found: Score
    into: Folder | None
    after: MailboxMessage | None = None

    @property
    def short_name(self) -> str:
        """The message's name without the mailbox's."""
        return self.message.name.rpartition("/")[2]


class Learned(NamedTuple):
    """A lesson, the class that it was one of, and whether it changed the model; or why it could not be learned."""

    lesson: Lesson
    label: str
    changed: bool
    error: SpamnbError | None = None


@dataclass
class Filing:
    """A mailbox's memory and the model that judges its mail; ``notes`` take down what is done. In a dry run nothing is
    moved or learned."""

    memory: Memory
    classifier: Classifier
    notes: Notes | None = None

    def sort(self, folders: Mapping[str, Folder], everything: bool = False) -> Iterator[Filed]:
        """Judge new mail and move it to the folder of its verdict, where there is one.

        What a person moved back is not judged again.
        """
        here: set[bytes] = set()  # judged by this run: what comes again is a second copy, which no person moved back
        waiting: dict[str, list[tuple[Filed, bytes]]] = {}  # by verdict
        for message, raw in self.memory.box.read(self.memory.unjudged(everything)):
            if isinstance(raw, OSError):
                if not isinstance(raw, FileNotFoundError):  # a mail reader moved it on since it was listed
                    self.memory.report(message.name, raw)
                continue
            known = digest(raw)
            if not everything and known not in here and self.memory.judged(known):
                self.memory.keep(message, known)
                continue
            here.add(known)
            mail = self.classifier.read(raw)
            found = score_message(self.classifier, mail)
            into = folders.get(found.verdict)
            one = Filed(message, mail, found, into)
            if into is None:
                self.memory.keep(message, known)
                yield self._noted(one._replace(after=message))
                continue
            batch = waiting.setdefault(found.verdict, [])
            batch.append((one, known))
            if len(batch) >= _AT_ONCE or sum(len(each.mail.raw) for each, _ in batch) > _BYTES_AT_ONCE:
                yield from self._move(waiting.pop(found.verdict), into)
        for verdict, batch in waiting.items():
            yield from self._move(batch, folders[verdict])
        self.memory.finish()

    def _move(self, batch: list[tuple[Filed, bytes]], into: Folder) -> Iterator[Filed]:
        if self.memory.dry_run:
            yield from (one for one, _ in batch)
            return
        moved = self.memory.move([(one.message, known) for one, known in batch], into)
        for one, _ in batch:
            if one.message in moved:
                yield self._noted(one._replace(after=moved[one.message]))

    def _noted(self, one: Filed) -> Filed:
        if self.notes:
            self.notes.note(one, self.classifier, self.memory.box)
        return one

    def learn(self) -> Iterator[Learned]:
        """Learn what a person moved since the last look."""
        for lesson in self.memory.lessons():
            label = class_of_label(self.classifier, "spam" if lesson.spam else "ham")
            try:
                changed = self.memory.dry_run or self.classifier.learn(label, lesson.raw)
            except SpamnbError as error:  # busy, mostly: the move is still there to be seen next time
                yield Learned(lesson, label, False, error)
                continue
            self.memory.put(lesson)
            if changed and self.notes:
                self.notes.note_lesson(lesson, label)
            yield Learned(lesson, label, changed)


@dataclass
class Notes:
    """Writes into a journal what is done in a mailbox; ``junk`` is what a person calls its folder of spam.

    Where the journal cannot be opened or written, on a full disk or after damage, mail is filtered all the same: one
    line says so, and the next verdict tries again.
    """

    path: Path
    junk: str
    tell: Callable[[str], None]
    _journal: Journal | None = None
    _told: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self._write(lambda journal: None)  # what is wrong with it is told before any mail moves

    def _write(self, change: Callable[[Journal], None]) -> None:
        try:
            if self._journal is None:
                self._journal = Journal.at(self.path)
            change(self._journal)
        except (SpamnbError, OSError) as error:
            if str(error) not in self._told:
                self._told.add(str(error))
                self.tell(f"spamnb: {error}; meanwhile nothing is noted")

    def close(self) -> None:
        """Close the journal."""
        if self._journal is not None:
            self._journal.close()

    def note(self, one: Filed, classifier: Classifier, box: Box) -> None:
        """Write a verdict down, and where the message lies now."""
        lies = lies_in(box, one.into or one.message.folder, one.after, self.junk)
        self._write(lambda journal: journal.add([entry_of(one.mail, one.found, classifier.settings, lies=lies)]))

    def note_lesson(self, lesson: Lesson, label: str) -> None:
        """Write down what a person put right by moving a message."""
        self._write(lambda journal: journal.correct(Correction(digest(lesson.raw), label, lesson.spam, "move")))


def lies_in(box: Box, folder: Folder, message: MailboxMessage | None, junk: str) -> Place:
    """What the journal keeps of where a message lies; without the message, its folder as far as that helps."""
    place = box.place(folder, message)
    role = INBOX if folder.place == box.inbox.place else JUNK if folder.place == box.junk().place else OTHER
    return Place(place, box.home, folder.name, role, junk) if place else NOWHERE
