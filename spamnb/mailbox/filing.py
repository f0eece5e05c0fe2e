"""The work in one mailbox: new mail is classified once and moved, and the messages that a person moved are learned.

``sort`` does this once, and ``watch`` again and again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from spamnb.errors import SpamnbError
from spamnb.ledger.ledger import Batch, Correction, learn_correction
from spamnb.ledger.verdicts import VerdictRow, make_verdict
from spamnb.mail_result import class_of_label, classify_mail
from spamnb.mailbox.record import MailboxRecord
from spamnb.model.classification import Classification
from spamnb.model.trust import SWAP_TEST_MESSAGES, looks_swapped
from spamnb.reader.message import digest
from spamnb.sources.entries import attempt, one_message
from spamnb.sources.mailbox import Folder, MailboxMessage
from spamnb.store.messages import read_learned

if TYPE_CHECKING:
    from spamnb.filter import Classifier
    from spamnb.reader.read_message import ReadMessage

MAX_UNCHECKED_MOVES = 20  # messages that a run may always move, because more than half of a small mailbox may be spam
BATCH_MESSAGES, BATCH_BYTES = 32, 4 << 20  # bounds on the messages that one request to an account moves


class SortResult(NamedTuple):
    """A classified message, and the folder for its verdict, into which it is moved (None: the message stays)."""

    message: MailboxMessage  # after the move if the mailbox knows it, otherwise before the move
    mail: ReadMessage
    classification: Classification
    target: Folder | None
    row: VerdictRow

    @property
    def short_name(self) -> str:
        """The message's name without the name of the mailbox."""
        return self.message.name.rpartition("/")[2]


@dataclass
class Filing:
    """The record of a mailbox and the model that classifies its mail.

    Classifications and corrections are written into the ledger of the record, with their ``batch``.
    """

    record: MailboxRecord
    classifier: Classifier
    batch: Batch
    _is_checked: bool = False  # whether the classes of the model were tested on the mail in the folders

    def sort(
        self, folders: Mapping[str, Folder], stopped: Callable[[], bool], everything: bool = False
    ) -> Iterator[SortResult]:
        """Classify new mail, or ``everything`` in the inbox, move it to the folder of its verdict, and yield it.

        Mail stays if ``folders`` has no folder for its verdict. A batch is written into the record before its messages
        are yielded. A message that a person moved back is not classified again.
        """
        messages = self.record.new_messages(everything)
        if messages and not everything and not self.record.dry_run:
            self._check_classes(messages)
            if len(messages) > MAX_UNCHECKED_MOVES:
                self._check_share(messages, folders)
        run_digests: set[bytes] = set()  # another message with such a digest is a copy, which nobody moved back
        batches: dict[str, list[SortResult]] = {}  # by verdict
        for message, raw in self.record.mailbox.read(messages):
            if stopped():
                return
            if isinstance(raw, OSError):
                if not isinstance(raw, FileNotFoundError):  # FileNotFoundError: a mail reader moved the message
                    self.record.on_error(message.name, raw)
                continue
            raw_digest = b""

            def skip(name: str, error: Exception) -> None:
                """Report an error, and record the message as classified, because the next run would fail, too."""
                self.record.on_error(name, error)
                self.record.skip(message, raw_digest)  # noqa: B023 (called at once)

            with one_message(message.name, skip):
                raw_digest = digest(raw)
                if not everything and raw_digest not in run_digests and self.record.was_classified(raw_digest):
                    self.record.skip(message, raw_digest)
                    continue
                run_digests.add(raw_digest)
                mail = self.classifier.read(raw)
                classification = classify_mail(self.classifier, mail)
                verdict = classification.mail_verdict
                row = make_verdict(mail, classification, self.classifier, batch=self.batch.batch)
                row = row.with_place(self.record.place(message.folder, message))
                result = SortResult(message, mail, classification, folders.get(verdict), row)
                batches.setdefault(verdict, []).append(result)
            for verdict, batch in list(batches.items()):
                if len(batch) >= BATCH_MESSAGES or sum(len(result.mail.raw) for result in batch) > BATCH_BYTES:
                    yield from self._move_batch(batches.pop(verdict))
        for batch in batches.values():
            yield from self._move_batch(batch)

    def _check_classes(self, new: Sequence[MailboxMessage]) -> None:
        """Raise SpamnbError if the model takes the mail in Junk for good and the other mail in the inbox for spam.

        A folder of less than SWAP_TEST_MESSAGES messages is not tested. This is tested once.
        """
        if self._is_checked:
            return
        mailbox, keys, swapped = self.record.mailbox, {message.key for message in new}, set()
        junk = mailbox.locate().key
        for folder in mailbox.folders():
            if folder.key not in (mailbox.inbox.key, junk):
                continue
            name = "spam" if folder.key == junk else "ham"
            listed = mailbox.messages(folder)
            sample = [message for message in listed if name == "spam" or message.key not in keys]
            raws = [raw for _, raw in mailbox.read(sample[-SWAP_TEST_MESSAGES:]) if isinstance(raw, bytes)]
            results = attempt(partial(self.classifier.classify_all, raws, 0))
            if len(raws) == SWAP_TEST_MESSAGES and not isinstance(results, OSError):
                label = class_of_label(self.classifier, name)
                swapped.add(looks_swapped([self.classifier.trust(label, result) for result in results]))
        if swapped == {True}:
            raise SpamnbError(
                f"{mailbox.display_name}: the model takes mail that is kept in the inbox for spam, or mail in the junk"
                " folder for good mail; were classes swapped in training? 'spamnb sort --dry-run' shows which messages;"
                " 'spamnb sort --all' moves them"
            )
        self._is_checked = True

    def _check_share(self, messages: Sequence[MailboxMessage], folders: Mapping[str, Folder]) -> None:
        """Raise SpamnbError if more than half of the mailbox's mail would be moved."""
        mailbox = self.record.mailbox
        total = sum(len(mailbox.messages(folder)) for folder in mailbox.folders())
        n_moved, n_unchecked, limit = 0, len(messages), max(MAX_UNCHECKED_MOVES, total // 2)
        for _, raw in mailbox.read(messages) if n_unchecked > limit else ():
            n_unchecked -= 1
            if isinstance(raw, bytes):
                result = attempt(partial(classify_mail, self.classifier, raw))
                n_moved += not isinstance(result, OSError) and result.mail_verdict in folders
            if n_moved > limit:
                raise SpamnbError(
                    f"{mailbox.display_name}: more than half of its {total:,} messages would be moved; were classes"
                    " swapped in training? 'spamnb sort --dry-run' shows which messages; 'spamnb sort --all' moves them"
                )
            if n_moved + n_unchecked <= limit:
                return

    def _move_batch(self, batch: list[SortResult]) -> list[SortResult]:
        """Move messages to their target, if they have one, and return them without those that could not be moved."""
        target, messages = batch[0].target, [(result.message, result.row) for result in batch]
        if target is None:
            self.record.add_verdicts(messages)
            return batch
        moved = self.record.move(messages, target, self.batch)
        return [
            result._replace(message=moved[result.message] or result.message)
            for result in batch
            if result.message in moved
        ]

    def learn(self) -> Iterator[tuple[MailboxMessage, bytes, Correction]]:
        """Learn the messages that a person moved since the last scan, and yield each with its bytes and its lesson.

        If the model had learned the message in this class before, the lesson changes nothing and is not written.
        """
        return self.record.learn_moves(self._learn)

    def _learn(self, message: MailboxMessage, raw: bytes, is_spam: bool) -> tuple[MailboxMessage, bytes, Correction]:
        label = class_of_label(self.classifier, "spam" if is_spam else "ham")
        lesson = Correction(digest(raw), label, is_spam, "move", batch=self.batch.batch)
        old = read_learned(self.classifier.store, lesson.digest)
        lesson = lesson._replace(before=old.label, was_lesson=old.is_lesson)
        if old.label != label:
            learn_correction(self.record.ledger, self.classifier, self.batch, lesson, raw)
        return message, raw, lesson
