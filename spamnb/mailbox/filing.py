"""One mailbox at work: new mail is judged once and moved, and what a person moved is learned.

``sort`` goes through this once, ``watch`` again and again; Maildirs and accounts go the same way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from spamnb.errors import SpamnbError
from spamnb.mailbox.memory import Lesson, Memory
from spamnb.reader.message import digest
from spamnb.serve.own_mail import learn_unless_own
from spamnb.serve.score import Score, score_message
from spamnb.serve.users import class_of_label
from spamnb.sources.mailbox import Folder, MailboxMessage

if TYPE_CHECKING:
    from spamnb.classifier import Classifier
    from spamnb.mailbox.notes import Notes
    from spamnb.reader.read_message import ReadMessage
    from spamnb.sources.entries import Report

_AT_ONCE, _BYTES_AT_ONCE = 32, 4 << 20  # of the messages that are moved together

#: What alters a message that stays; it hands back the message as it lies then.
Change = Callable[[MailboxMessage, bytes, Score], MailboxMessage]


class Filed(NamedTuple):
    """A message that was judged: what was found, where it went (None: it stays), and where it lies now, if known."""

    message: MailboxMessage
    mail: ReadMessage
    found: Score
    into: Folder | None
    after: MailboxMessage | None = None


class Learned(NamedTuple):
    """A lesson, the class that it was one of, and whether it changed the model; or why it could not be learned."""

    lesson: Lesson
    label: str
    changed: bool
    error: SpamnbError | None = None


@dataclass
class Filing:
    """A mailbox's memory and the model that judges its mail; ``notes`` take down what is done. With ``dry_run`` nothing
    is moved or learned, and the memory is a copy."""

    memory: Memory
    classifier: Classifier
    report: Report
    notes: Notes | None = None
    dry_run: bool = False

    def sort(
        self, folders: Mapping[str, Folder], everything: bool = False, change: Change | None = None
    ) -> Iterator[Filed]:
        """Judge new mail and move it to the folder of its verdict, where there is one; ``change`` may alter what stays.

        What a person moved back is not judged again.
        """
        here: set[bytes] = set()  # judged by this run: what comes again is a second copy, which no person moved back
        waiting: dict[str, list[tuple[Filed, bytes]]] = {}  # by verdict
        for message, raw in self.memory.box.read(self.memory.unjudged(everything)):
            if isinstance(raw, OSError):
                if not isinstance(raw, FileNotFoundError):  # a mail reader moved it on since it was listed
                    self.report(message.name, raw)
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
            if into is not None:
                batch = waiting.setdefault(found.verdict, [])
                batch.append((one, known))
                if len(batch) >= _AT_ONCE or sum(len(each.mail.raw) for each, _ in batch) > _BYTES_AT_ONCE:
                    yield from self._move(waiting.pop(found.verdict), into)
                continue
            try:
                after = change(message, raw, found) if change and not self.dry_run else message
            except FileNotFoundError:
                continue
            except OSError as error:
                self.report(message.name, error)
                continue
            self.memory.keep(after, known)
            yield self._noted(one._replace(after=after))
        for verdict, batch in waiting.items():
            yield from self._move(batch, folders[verdict])
        self.memory.finish()

    def _move(self, batch: list[tuple[Filed, bytes]], into: Folder) -> Iterator[Filed]:
        if self.dry_run:
            yield from (one for one, _ in batch)
            return
        moved = self.memory.move([(one.message, known) for one, known in batch], into)
        for one, _ in batch:
            if one.message in moved:
                yield self._noted(one._replace(after=moved[one.message]))

    def _noted(self, one: Filed) -> Filed:
        if self.notes:
            self.notes.note(one)
        return one

    def learn(self) -> Iterator[Learned]:
        """Learn what a person moved since the last look."""
        for lesson in self.memory.lessons():
            label = class_of_label(self.classifier, "spam" if lesson.spam else "ham")
            try:
                changed = self.dry_run or learn_unless_own(self.classifier, label, lesson.raw)
            except SpamnbError as error:  # busy, mostly: the move is still there to be seen next time
                yield Learned(lesson, label, False, error)
                continue
            self.memory.put(lesson)
            if changed and self.notes:
                self.notes.note_lesson(lesson, label)
            yield Learned(lesson, label, changed)
