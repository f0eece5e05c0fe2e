"""Teach messages of the ledger to the models of their users, undo these corrections, and move the messages.

A message that is still in its mailbox is learned as by ``spamnb learn``. Any other message is learned from its tokens
in the ledger: the counts of the model are the same, but the model cannot keep the message.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from threading import Lock

from spamnb.errors import SpamnbError, in_options, reason
from spamnb.filter import Classifier
from spamnb.ledger.entries import INBOX, JUNK, LedgerEntry, identify_token_rules, unpack_tokens
from spamnb.ledger.ledger import DAYS, Batch, Correction, Ledger, learn_correction
from spamnb.mail_result import class_of_label
from spamnb.reader.read_message import ReadMessage
from spamnb.review.mailboxes import OpenMailboxes
from spamnb.serve.users import Models
from spamnb.sources.entries import one_message
from spamnb.store.stored_messages import read_stored_message


@dataclass(frozen=True)
class Outcome:
    """The result of a request."""

    batch: str  # the identifier by which the corrections of the request are undone
    n_changed: int  # the number of messages that changed the model
    problems: tuple[str, ...]  # a line for each message that failed


class Teacher:
    """The models that learn: one for each user in the folder ``users``, or ``shared`` if ``users`` is None.

    The models stay open, because closing an SQLite file takes longer than learning a message.
    """

    def __init__(self, shared: Path, users: Path | None) -> None:
        self.shared = shared
        self._models = Models(shared, users, writable=True)
        self._lock = Lock()

    def close(self) -> None:
        """Close the models."""
        self._models.close()

    def teach(self, ledger: Ledger, positions: Sequence[int], spam: bool, move: bool = False) -> Outcome:
        """Teach messages of the ledger as spam or as good mail.

        With ``move`` each message whose mailbox is in the ledger is moved to the junk folder or to the inbox.
        """
        begun = Batch.begin("review", self.shared)
        ledger.put([begun])
        batch = begun.batch
        corrections: dict[int, tuple[LedgerEntry, Correction]] = {}  # by position

        def teach_one(position: int, mailboxes: OpenMailboxes) -> bool:
            entry = ledger.find(position=position)
            if entry is None:
                raise SpamnbError(describe_missing(position))
            # Read the message before a new model is made for its user, because the message may be missing.
            model = self._models.find_for_learning(entry.user) or self._models.for_classifying("")
            raw = mailboxes.read(entry)
            message = model.read(raw) if raw else _read_tokens(ledger, model, entry)
            correction, is_changed = _learn(ledger, self._models.for_learning(entry.user), entry, spam, batch, message)
            corrections[position] = entry, correction
            return is_changed

        def move_one(position: int, mailboxes: OpenMailboxes) -> bool:
            entry, correction = corrections.get(position, (None, None))
            if entry and correction and entry.mailbox and mailboxes.move_to(entry, JUNK if spam else INBOX):
                ledger.put([correction._replace(moved_from=entry.folder)])
            return False  # a move changes no model

        steps = [teach_one, move_one] if move else [teach_one]
        changes = [partial(step, position) for position in positions for step in steps]
        return self._for_each(ledger, batch, changes)

    def undo(self, ledger: Ledger, corrections: Sequence[Correction]) -> Outcome:
        """Undo corrections. If a message was moved when it was taught, move it back."""

        def undo_one(correction: Correction, mailboxes: OpenMailboxes) -> bool:
            entry = ledger.find(digest=correction.digest, user=correction.user)
            is_changed = _unlearn(ledger, self._models.for_learning(correction.user), correction, entry, mailboxes)
            if entry is not None and correction.moved_from:
                mailboxes.move_back(entry, correction.moved_from)
            return is_changed

        return self._for_each(ledger, "", [partial(undo_one, each) for each in corrections])

    def relearn(self, ledger: Ledger) -> Outcome:
        """Learn the messages of all corrections in the ledger, the oldest first."""

        def relearn_one(correction: Correction, mailboxes: OpenMailboxes) -> bool:
            entry = ledger.find(digest=correction.digest, user=correction.user)
            model = self._models.for_learning(correction.user)
            label = correction.label
            if label not in model.model.totals.classes:
                label = class_of_label(model, "spam" if correction.spam else "ham")
            return model.learn(label, _read(ledger, model, correction, entry, mailboxes))

        return self._for_each(ledger, "", [partial(relearn_one, each) for each in reversed(ledger.corrections())])

    def move(self, ledger: Ledger, position: int, role: str) -> None:
        """Move a message to the inbox or to the junk folder, without teaching it."""
        entry = ledger.find(position=position)
        if entry is None:
            raise SpamnbError(describe_missing(position))
        with OpenMailboxes(ledger) as mailboxes:
            mailboxes.move_to(entry, role)

    def _for_each(self, ledger: Ledger, batch: str, changes: Sequence[Callable[[OpenMailboxes], bool]]) -> Outcome:
        """Call each change. An error becomes a problem of the outcome, and the other changes are made."""
        n_changed, problems = 0, []
        with self._lock, OpenMailboxes(ledger) as mailboxes:
            for change in changes:
                try:
                    with one_message("", lambda name, error: problems.append(reason(error))):
                        n_changed += change(mailboxes)
                except SpamnbError as error:
                    problems.append(in_options(error))
        return Outcome(batch, n_changed, tuple(dict.fromkeys(problems)))


def describe_missing(position: int | str) -> str:
    """Return the error for a message that is not in the ledger."""
    return f"message {position} is not in the ledger, which keeps verdicts for {DAYS} days"


def _learn(
    ledger: Ledger, model: Classifier, entry: LedgerEntry, spam: bool, batch: str, message: ReadMessage
) -> tuple[Correction, bool]:
    """Learn a message, and write a correction to the ledger. Return the correction, and whether the model changed."""
    label = class_of_label(model, "spam" if spam else "ham")
    old_class = model.learned(message) or ""
    correction = Correction(entry.digest, label, spam, "page", entry.user, entry.verdict, before=old_class, batch=batch)
    for earlier in ledger.corrections(digest=entry.digest, user=entry.user)[:1]:
        if old_class == label == earlier.label:  # after a double click, undo undoes both
            correction = correction._replace(before=earlier.before, moved_from=earlier.moved_from)
            ledger.delete("corrections", digest=earlier.digest, user=earlier.user, batch=earlier.batch)
    return correction, learn_correction(ledger, model, correction, message)


def _unlearn(
    ledger: Ledger, model: Classifier, correction: Correction, entry: LedgerEntry | None, mailboxes: OpenMailboxes
) -> bool:
    """Undo a correction. Return False if the model no longer has the message in the class of the correction.

    Raise SpamnbError if there is neither the message nor its tokens, or if the model cannot forget.
    """
    is_changed = True
    if correction.before != correction.label:  # equal if the model already had the message in this class
        message = _read(ledger, model, correction, entry, mailboxes)
        is_changed = model.forget(correction.label, message)
        if is_changed and correction.before:
            model.learn(correction.before, message)
    ledger.delete("corrections", digest=correction.digest, user=correction.user, batch=correction.batch)
    return is_changed


def _read(
    ledger: Ledger, model: Classifier, correction: Correction, entry: LedgerEntry | None, mailboxes: OpenMailboxes
) -> bytes | ReadMessage:
    """Return the message of a correction, from its mailbox, from the model that learned it, or from its tokens."""
    raw = (mailboxes.read(entry) if entry else None) or read_stored_message(model.store, correction.digest)
    if raw is not None:
        return raw
    if entry is not None:
        return _read_tokens(ledger, model, entry)
    date = time.strftime("%d %b %H:%M", time.localtime(correction.at))
    raise SpamnbError(
        f"the message that was taught as {correction.label} on {date} is no longer in the ledger;"
        " name it to 'spamnb forget' or 'spamnb learn'"
    )


def _read_tokens(ledger: Ledger, model: Classifier, entry: LedgerEntry) -> ReadMessage:
    """Return a message from its tokens in the ledger.

    Raise SpamnbError if the ledger has no tokens of the message, or if the tokens of the model have changed.
    """
    packed_tokens = ledger.tokens(entry.position)
    problem = "" if packed_tokens else "it is too long for the ledger to have its tokens"
    if packed_tokens and entry.token_rules != identify_token_rules(model.settings):
        problem = "the model no longer uses the tokens in the ledger"
    if problem:
        raise SpamnbError(f"the message is no longer in its folder, and {problem}; to teach it, use 'spamnb learn'")
    return ReadMessage.of_counts(unpack_tokens(packed_tokens), entry.digest)
