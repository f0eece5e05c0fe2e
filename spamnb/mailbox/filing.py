"""One mailbox at work: new mail is judged once and moved, and what a person moved is learned.

``sort`` goes through this once, ``watch`` again and again; Maildirs and accounts go the same way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from spamnb.classification import Classification
from spamnb.errors import SpamnbError
from spamnb.journal.entries import INBOX, JUNK, NOWHERE, OTHER, JournalEntry, Place, entry_of, entry_of_note, note_of
from spamnb.journal.journal import Correction
from spamnb.journal.writer import JournalWriter
from spamnb.mailbox.box import Box, Move
from spamnb.mailbox.memory import PATIENCE, Memory, MovedMessage
from spamnb.reader.message import digest
from spamnb.score import class_of_label, classify_mail
from spamnb.sources.entries import attempt, one_message
from spamnb.sources.mailbox import Folder, MailboxMessage

if TYPE_CHECKING:
    from spamnb.classifier import Classifier
    from spamnb.reader.read_message import ReadMessage

_FEW = 20  # messages that a run may move whatever their share is
_AT_ONCE, _BYTES_AT_ONCE = 32, 4 << 20  # of the messages that are filed together


class Filed(NamedTuple):
    """A message that was judged, where it lies now: what was found, and where it went (None: it stays)."""

    message: MailboxMessage
    mail: ReadMessage
    classification: Classification
    into: Folder | None
    entry: JournalEntry | None = None  # for the journal

    @property
    def short_name(self) -> str:
        """The message's name without the mailbox's."""
        return self.message.name.rpartition("/")[2]


class Learned(NamedTuple):
    """A lesson, the class that it was one of, and whether it changed the model; or why it could not be learned."""

    lesson: MovedMessage
    label: str
    changed: bool
    error: SpamnbError | None = None


@dataclass
class Filing:
    """A mailbox's memory and the model that judges its mail.

    What is done is written into the journal; ``junk`` is what a person calls the folder of spam there.
    """

    memory: Memory
    classifier: Classifier
    journal: JournalWriter | None = None
    junk: str = ""

    @contextmanager
    def alone(self, patience: float = PATIENCE) -> Iterator[int]:
        """While no other process files mail here; how many moves that were interrupted are done now."""
        with self.memory.alone(patience) as finished:
            self._write(noted(self.memory.box, finished, self.junk))
            yield len(finished)

    def sort(
        self, folders: Mapping[str, Folder], stopped: Callable[[], bool], everything: bool = False
    ) -> Iterator[Filed]:
        """Judge new mail and move it to the folder of its verdict, where there is one; in batches, each of which stands
        in the record before it is told. Once it is ``stopped``, no batch is begun.

        What a person moved back is not judged again.
        """
        new = self.memory.unjudged(everything)
        if not everything and not self.memory.dry_run and len(new) > _FEW:
            self._check_share(new, folders)
        here: set[bytes] = set()  # judged by this run: what comes again is a second copy, which no person moved back
        waiting: dict[str, list[Filed]] = {}  # by verdict
        for message, raw in self.memory.box.read(new):
            if stopped():
                return
            if isinstance(raw, OSError):
                if not isinstance(raw, FileNotFoundError):  # a mail reader moved it on since it was listed
                    self.memory.report(message.name, raw)
                continue
            known = b""

            def leave(name: str, error: Exception) -> None:
                """It stays where it is; the next run would fail the same way."""
                self.memory.report(name, error)
                self.memory.keep([(message, known)])  # noqa: B023 (called at once)

            with one_message(message.name, leave):
                known = digest(raw)
                if not everything and known not in here and self.memory.judged(known):
                    self.memory.keep([(message, known)])
                    continue
                here.add(known)
                mail = self.classifier.read(raw)
                classification = classify_mail(self.classifier, mail)
                settings, verdict = self.classifier.settings, classification.mail_verdict
                entry = entry_of(mail, classification, settings) if self.journal is not None else None
                one = Filed(message, mail, classification, folders.get(verdict), entry)
                waiting.setdefault(verdict, []).append(one)
            for verdict, batch in list(waiting.items()):
                if len(batch) >= _AT_ONCE or sum(len(each.mail.raw) for each in batch) > _BYTES_AT_ONCE:
                    yield from self._file(waiting.pop(verdict))
        for batch in waiting.values():
            yield from self._file(batch)

    def _check_share(self, new: Sequence[MailboxMessage], folders: Mapping[str, Folder]) -> None:
        """SpamnbError where more than half of the mail of all folders would be moved."""
        total = self.memory.box.count()
        moved, left, most = 0, len(new), max(_FEW, total // 2)
        for _, raw in self.memory.box.read(new) if left > most else ():
            left -= 1
            if isinstance(raw, bytes):
                moved += attempt(partial(self._verdict, raw)) in folders
            if moved > most:
                raise SpamnbError(
                    f"{self.memory.box.shown}: more than half of its mail ({total:,}) would be moved; were classes"
                    " swapped in training? 'spamnb sort --dry-run' shows what would go, 'spamnb sort --all' moves it"
                )
            if moved + left <= most:
                return

    def _verdict(self, raw: bytes) -> str:
        return classify_mail(self.classifier, raw).mail_verdict

    def _file(self, batch: list[Filed]) -> list[Filed]:
        """Move messages of one verdict to its folder, or let them stay; those that are there now."""
        into = batch[0].into
        messages = [(one.message, one.mail.digest) for one in batch]
        entries = {one.message: one.entry for one in batch if one.entry is not None}
        after: Mapping[MailboxMessage, MailboxMessage | None]
        if into is None:
            after = self.memory.keep(messages)
        else:  # what the journal shall have is noted before: a run that is killed leaves it to the next
            after = self.memory.move(messages, into, {one: note_of(entry) for one, entry in entries.items()})
        self._write(
            [
                entries[one].at_place(lies_in(self.memory.box, into or one.folder, lies, self.junk))
                for one, lies in after.items()
                if one in entries
            ]
        )
        return [one._replace(message=after[one.message] or one.message) for one in batch if one.message in after]

    def _write(self, entries: Sequence[JournalEntry]) -> None:
        """Write verdicts into the journal, where there is one; from then on no later run has to."""
        if not entries:
            return
        if self.journal is not None:
            for entry in entries:
                self.journal.put(entry)
            self.journal.flush()
        self.memory.written(entry.digest for entry in entries)

    def learn(self) -> Iterator[Learned]:
        """Learn what a person moved since the last look."""
        for lesson in self.memory.lessons():
            label = class_of_label(self.classifier, "spam" if lesson.spam else "ham")
            with one_message(lesson.message.name, self.memory.report):
                try:
                    changed = self.classifier.learn(label, lesson.raw)
                except SpamnbError as error:  # busy, mostly: the move is still there to be seen next time
                    yield Learned(lesson, label, False, error)
                    continue
                self.memory.put(lesson)
                if changed and self.journal is not None:
                    self.journal.put(Correction(digest(lesson.raw), label, lesson.spam, "move"))
                yield Learned(lesson, label, changed)


def noted(box: Box, finished: Mapping[Move, MailboxMessage], junk: str) -> list[JournalEntry]:
    """What the journal shall have of moves that were interrupted and are done now."""
    return [
        entry.at_place(lies_in(box, message.folder, message, junk))
        for move, message in finished.items()
        if move.note and (entry := entry_of_note(move.note, move.digest))
    ]


def lies_in(box: Box, folder: Folder, message: MailboxMessage | None, junk: str) -> Place:
    """What the journal keeps of where a message lies; without the message, its folder as far as that helps."""
    place = box.place(folder, message)
    role = INBOX if folder.place == box.inbox.place else JUNK if folder.place == box.junk().place else OTHER
    return Place(place, box.home, folder.name, role, junk) if place else NOWHERE
