"""The work in one mailbox: new mail is classified once and moved, and the messages that a person moved are learned.

``sort`` does this once, ``watch`` again and again, in Maildirs as in accounts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from spamnb.classification import Classification
from spamnb.errors import SpamnbError
from spamnb.journal.entries import (
    INBOX,
    JUNK,
    NOWHERE,
    OTHER,
    JournalEntry,
    Place,
    decode_entry,
    encode_entry,
    make_entry,
)
from spamnb.journal.journal import Correction
from spamnb.journal.writer import JournalWriter
from spamnb.mailbox.protocol import Mailbox, Move
from spamnb.mailbox.record import LOCK_SECONDS, MailboxRecord, MovedMessage
from spamnb.reader.message import digest
from spamnb.score import class_of_label, classify_mail
from spamnb.sources.entries import attempt, one_message
from spamnb.sources.mailbox import Folder, MailboxMessage

if TYPE_CHECKING:
    from spamnb.classifier import Classifier
    from spamnb.reader.read_message import ReadMessage

MAX_UNCHECKED_MOVES = 20  # messages that a run may move whatever their share is: a small mailbox may be half spam
BATCH_MESSAGES, BATCH_BYTES = 32, 4 << 20  # moved together: an account answers once a batch, and memory is bounded


class Filed(NamedTuple):
    """A classified message where it is now, and the folder that it was moved to (None: it stays)."""

    message: MailboxMessage
    mail: ReadMessage
    classification: Classification
    target: Folder | None
    entry: JournalEntry | None = None

    @property
    def short_name(self) -> str:
        """The message's name without the mailbox's."""
        return self.message.name.rpartition("/")[2]


class Learned(NamedTuple):
    """A message that a person moved, its class, and whether it changed the model; or the error of learning it."""

    moved: MovedMessage
    label: str
    changed: bool
    error: SpamnbError | None = None


@dataclass
class Filing:
    """The record of a mailbox and the model that classifies its mail.

    Classifications and corrections are written into the journal. ``junk`` is the person's name of the folder of spam.
    """

    record: MailboxRecord
    classifier: Classifier
    journal: JournalWriter | None = None
    junk: str = ""

    @contextmanager
    def lock(self, timeout: float = LOCK_SECONDS) -> Iterator[int]:
        """Keep other processes from filing, and yield the number of interrupted moves that are finished now."""
        with self.record.lock(timeout) as finished:
            self._write(journal_entries(self.record.mailbox, finished, self.junk))
            yield len(finished)

    def sort(
        self, folders: Mapping[str, Folder], stopped: Callable[[], bool], everything: bool = False
    ) -> Iterator[Filed]:
        """Classify new mail, move it to the folder of its verdict, if there is one, and yield it.

        A batch is written into the record before its messages are yielded. No batch begins after ``stopped``. A message
        that a person moved back is not classified again.
        """
        messages = self.record.new_messages(everything)
        if not everything and not self.record.dry_run and len(messages) > MAX_UNCHECKED_MOVES:
            self._check_share(messages, folders)
        run: set[bytes] = set()  # digests of this run: such a message again is a second copy, and was not moved back
        batches: dict[str, list[Filed]] = {}  # by verdict
        for message, raw in self.record.mailbox.read(messages):
            if stopped():
                return
            if isinstance(raw, OSError):
                if not isinstance(raw, FileNotFoundError):  # a mail reader moved it after it was listed
                    self.record.report(message.name, raw)
                continue
            raw_digest = b""

            def leave(name: str, error: Exception) -> None:
                """Report an error and let the message stay, because the next run would fail the same way."""
                self.record.report(name, error)
                self.record.add_judged([(message, raw_digest)])  # noqa: B023 (called at once)

            with one_message(message.name, leave):
                raw_digest = digest(raw)
                if not everything and raw_digest not in run and self.record.was_judged(raw_digest):
                    self.record.add_judged([(message, raw_digest)])
                    continue
                run.add(raw_digest)
                mail = self.classifier.read(raw)
                classification = classify_mail(self.classifier, mail)
                settings, verdict = self.classifier.settings, classification.mail_verdict
                entry = make_entry(mail, classification, settings) if self.journal is not None else None
                filed = Filed(message, mail, classification, folders.get(verdict), entry)
                batches.setdefault(verdict, []).append(filed)
            for verdict, batch in list(batches.items()):
                if len(batch) >= BATCH_MESSAGES or sum(len(filed.mail.raw) for filed in batch) > BATCH_BYTES:
                    yield from self._file(batches.pop(verdict))
        for batch in batches.values():
            yield from self._file(batch)

    def _check_share(self, messages: Sequence[MailboxMessage], folders: Mapping[str, Folder]) -> None:
        """Raise SpamnbError if more than half of the mailbox's mail would be moved."""
        mailbox = self.record.mailbox
        total = mailbox.count()
        n_moved, n_left, limit = 0, len(messages), max(MAX_UNCHECKED_MOVES, total // 2)
        for _, raw in mailbox.read(messages) if n_left > limit else ():
            n_left -= 1
            if isinstance(raw, bytes):
                n_moved += attempt(partial(self._classify, raw)) in folders
            if n_moved > limit:
                raise SpamnbError(
                    f"{mailbox.display_name}: more than half of its mail ({total:,}) would be moved; were classes"
                    " swapped in training? 'spamnb sort --dry-run' shows what would go, 'spamnb sort --all' moves it"
                )
            if n_moved + n_left <= limit:
                return

    def _classify(self, raw: bytes) -> str:
        return classify_mail(self.classifier, raw).mail_verdict

    def _file(self, batch: list[Filed]) -> list[Filed]:
        """Move the messages of one verdict to its folder, if there is one, and return those that are there now."""
        target = batch[0].target
        messages = [(filed.message, filed.mail.digest) for filed in batch]
        entries = {filed.message: filed.entry for filed in batch if filed.entry is not None}
        after: Mapping[MailboxMessage, MailboxMessage | None]
        if target is None:
            self.record.add_judged(messages)
            after = {message: message for message, _ in messages}
        else:  # the journal's entries are recorded first, so that the run after a kill can write them
            notes = {message: encode_entry(entry) for message, entry in entries.items()}
            after = self.record.move(messages, target, notes)
        self._write(
            [
                entries[before].with_place(
                    journal_place(self.record.mailbox, target or before.folder, message, self.junk)
                )
                for before, message in after.items()
                if before in entries
            ]
        )
        return [
            filed._replace(message=after[filed.message] or filed.message) for filed in batch if filed.message in after
        ]

    def _write(self, entries: Sequence[JournalEntry]) -> None:
        """Write entries into the journal, if there is one, and drop their notes in the record."""
        if not entries:
            return
        if self.journal is not None:
            for entry in entries:
                self.journal.put(entry)
            self.journal.flush()
        self.record.drop_notes(entry.digest for entry in entries)

    def learn(self) -> Iterator[Learned]:
        """Learn the messages that a person moved since the last scan, and yield each."""
        for moved in self.record.moved_messages():
            label = class_of_label(self.classifier, "spam" if moved.is_spam else "ham")
            with one_message(moved.message.name, self.record.report):
                try:
                    changed = self.classifier.learn(label, moved.raw)
                except SpamnbError as error:  # mostly a busy file: the next scan will see the move again
                    yield Learned(moved, label, False, error)
                    continue
                self.record.add_learned(moved)
                if changed and self.journal is not None:
                    self.journal.put(Correction(digest(moved.raw), label, moved.is_spam, "move"))
                yield Learned(moved, label, changed)


def journal_entries(mailbox: Mailbox, finished: Mapping[Move, MailboxMessage], junk: str) -> list[JournalEntry]:
    """Return the journal's entries of interrupted moves that are finished now."""
    return [
        entry.with_place(journal_place(mailbox, message.folder, message, junk))
        for move, message in finished.items()
        if move.note and (entry := decode_entry(move.note, move.digest))
    ]


def journal_place(mailbox: Mailbox, folder: Folder, message: MailboxMessage | None, junk: str) -> Place:
    """Return the path of a message for the journal; without the message, that of its folder if a look-up can use it."""
    path = mailbox.format_path(folder, message)
    role = INBOX if folder.path == mailbox.inbox.path else JUNK if folder.path == mailbox.junk().path else OTHER
    return Place(path, mailbox.address, folder.name, role, junk) if path else NOWHERE
