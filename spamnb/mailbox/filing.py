"""One mailbox at work: new mail is judged once and moved, and what a person moved is learned.

``sort`` goes through this once, ``watch`` again and again; Maildirs and accounts go the same way.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from spamnb.errors import SpamnbError
from spamnb.journal.entries import INBOX, JUNK, NOWHERE, OTHER, Place, entry_of
from spamnb.journal.journal import Correction
from spamnb.journal.writer import JournalWriter
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
    """A mailbox's memory and the model that judges its mail. In a dry run nothing is moved or learned.

    What is done is written into the journal; ``junk`` is what a person calls the folder of spam there.
    """

    memory: Memory
    classifier: Classifier
    journal: JournalWriter | None = None
    junk: str = ""

    def sort(self, folders: Mapping[str, Folder], everything: bool = False) -> Iterator[Filed]:
        """Judge new mail and move it to the folder of its verdict, where there is one.

        What a person moved back is not judged again.
        """
        here: set[bytes] = set()  # judged by this run: what comes again is a second copy, which no person moved back
        waiting: dict[str, list[Filed]] = {}  # by verdict
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
            batch.append(one)
            if len(batch) >= _AT_ONCE or sum(len(each.mail.raw) for each in batch) > _BYTES_AT_ONCE:
                yield from self._move(waiting.pop(found.verdict), into)
        for verdict, batch in waiting.items():
            yield from self._move(batch, folders[verdict])
        self.memory.finish()

    def _move(self, batch: list[Filed], into: Folder) -> Iterator[Filed]:
        if self.memory.dry_run:
            yield from batch
            return
        moved = self.memory.move([(one.message, one.mail.digest) for one in batch], into)
        for one in batch:
            if one.message in moved:
                yield self._noted(one._replace(after=moved[one.message]))

    def _noted(self, one: Filed) -> Filed:
        if self.journal is not None:
            lies = lies_in(self.memory.box, one.into or one.message.folder, one.after, self.junk)
            self.journal.put(entry_of(one.mail, one.found, self.classifier.settings, lies=lies))
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
            if changed and self.journal is not None:
                self.journal.put(Correction(digest(lesson.raw), label, lesson.spam, "move"))
            yield Learned(lesson, label, changed)


def lies_in(box: Box, folder: Folder, message: MailboxMessage | None, junk: str) -> Place:
    """What the journal keeps of where a message lies; without the message, its folder as far as that helps."""
    place = box.place(folder, message)
    role = INBOX if folder.place == box.inbox.place else JUNK if folder.place == box.junk().place else OTHER
    return Place(place, box.home, folder.name, role, junk) if place else NOWHERE
