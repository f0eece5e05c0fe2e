"""Teach messages of the ledger to the models of their users, undo these corrections, and learn them again.

A message that is still in its mailbox is learned as by ``spamnb learn``. Any other message is learned from its tokens
in the ledger: the counts of the model are the same, but the model cannot keep the message.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Self

from spamnb.errors import SpamnbError, in_options, reason
from spamnb.filter import Classifier
from spamnb.ledger.ledger import Batch, Correction, Ledger, learn_correction
from spamnb.ledger.verdicts import INBOX, JUNK, VerdictRow, identify_token_rules, unpack_tokens
from spamnb.mail_result import class_of_label
from spamnb.mailbox.places import OpenMailboxes
from spamnb.reader.read_message import ReadMessage
from spamnb.sources.entries import one_message
from spamnb.store.database import MAX_TOGETHER
from spamnb.store.lessons import read_lesson
from spamnb.store.messages import read_learned
from spamnb.user_models import Models


class Teacher:
    """Changes models by the messages of one ledger. Its corrections are those of one batch, which 'undo' takes back.

    An error becomes one of the ``problems``, and the other messages are learned.
    """

    def __init__(self, models: Models, ledger: Ledger, batch: Batch) -> None:
        self.batch = batch
        self.n_changed = 0  # messages that changed a model
        self.n_restored = 0  # of these, messages that `undo` left in the class that had learned them before
        self.problems: list[str] = []
        self._models, self._ledger, self._mailboxes = models, ledger, OpenMailboxes(ledger)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self._mailboxes.close()

    def teach(self, positions: Iterable[int], spam: bool, move: bool = False) -> None:
        """Teach messages of the ledger as spam or as good mail.

        With ``move`` each message whose mailbox is in the ledger is moved to the junk folder or to the inbox.
        """
        for position in positions:
            with self._attempt():
                row = self._ledger.verdict(position)
                owner = self._models.owner(row.user)
                correction = self._learn(Correction(row.digest, "", spam, "page", owner), row)
                if move and row.mailbox and self._mailboxes.move_to(row, JUNK if spam else INBOX):
                    self._ledger.put([correction._replace(moved_from=row.folder)])

    def relearn(self, corrections: Sequence[Correction]) -> int:
        """Learn the messages of corrections that their models have not learned; corrections are the newest first.

        Only the last correction of a message by each model counts. Return the number of these.
        """
        last: dict[tuple[bytes, str], tuple[Correction, VerdictRow | None]] = {}
        refused: set[tuple[bytes, str]] = set()
        for correction in corrections:
            key = correction.digest, correction.user
            refused.add(key)
            with self._attempt():
                row, batch = self._ledger.verdict_of(correction), self._ledger.last_batch(batch=correction.batch)
                if not correction.user and batch is not None:  # 'learn --model' may have named a user's model
                    user = self._models.find_relearner(Path(batch.model), batch.of_user)
                    correction = correction._replace(user=user)
                if (correction.digest, correction.user) not in last:
                    last[correction.digest, correction.user] = correction, row
                refused.remove(key)
        for correction, row in reversed(last.values()):
            with self._attempt():
                model = self._models.find_for_learning(correction.user)
                if model is None or read_learned(model.store, correction.digest).label != _label(model, correction):
                    self._learn(correction, row)
        return len(last) + len(refused.difference(last))

    def undo(self, corrections: Sequence[Correction], show: Callable[[int], None] = lambda n_done: None) -> None:
        """Undo corrections. If a message was moved when it was taught, move it back. ``show`` shows the progress."""
        for first in range(0, len(corrections), MAX_TOGETHER):
            part, results = corrections[first : first + MAX_TOGETHER], None
            if not any(each.user or each.moved_from for each in part):
                with suppress(Exception):  # the corrections are undone alone then, which names the one that fails
                    results = self._undo_together(part)
            if results is None:
                results = list(map(self._undo_alone, part))
            self.n_changed += sum(results)
            self.n_restored += sum(bool(each.before) for each, is_changed in zip(part, results) if is_changed)
            show(first + len(part))

    def _undo_together(self, corrections: Sequence[Correction]) -> list[bool]:
        """Undo corrections by the shared model in one transaction, and return for each whether the model changed."""
        model = self._models.for_classifying("")
        with self._ledger.writing(), model.store.writing():  # the model is written first
            return [self._unlearn(each, self._ledger.verdict_of(each)) for each in corrections]

    def _undo_alone(self, correction: Correction) -> bool:
        is_changed = False
        with self._attempt():
            row = self._ledger.verdict_of(correction)
            is_changed = self._unlearn(correction, row)
            if row is not None and correction.moved_from:
                self._mailboxes.move_back(row, correction.moved_from)
        return is_changed

    @contextmanager
    def _attempt(self) -> Iterator[None]:
        try:
            with one_message("", lambda name, error: self._note(reason(error))):
                yield
        except SpamnbError as error:
            self._note(in_options(error))

    def _note(self, problem: str) -> None:
        if problem not in self.problems:
            self.problems.append(problem)

    def _learn(self, correction: Correction, row: VerdictRow | None) -> Correction:
        """Learn the message of a correction, and return the correction as it is written into the ledger."""
        # Read the message before a new model is made for its user, because the message may be missing.
        model = self._models.find_for_learning(correction.user) or self._models.for_classifying("")
        message = self._read(model, correction, row)
        model = self._models.for_learning(correction.user)
        old, label = read_learned(model.store, message.digest), _label(model, correction)
        correction = correction._replace(
            label=label, before=old.label, was_lesson=old.is_lesson, batch=self.batch.batch
        )
        for earlier in self._ledger.corrections(digest=correction.digest, user=correction.user)[:1]:
            if old.label == label == earlier.label:  # after a double click, undo undoes both
                correction = earlier._replace(batch=self.batch.batch, source=correction.source, at=correction.at)
                self._ledger.delete("corrections", digest=earlier.digest, user=earlier.user, batch=earlier.batch)
        self.n_changed += learn_correction(self._ledger, model, self.batch, correction, message)
        return correction

    def _unlearn(self, correction: Correction, row: VerdictRow | None) -> bool:
        """Undo a correction. Return False if the model no longer has the message in the class of the correction.

        Raise SpamnbError if there is neither the message nor its tokens, or if the model cannot forget.
        """
        model = self._models.find_for_learning(correction.user)
        is_changed = correction.before == correction.label  # the model already had the message in this class
        if (
            model is not None
            and not is_changed
            and read_learned(model.store, correction.digest).label == correction.label
        ):
            message = self._read(model, correction, row)
            is_changed = model.forget(correction.label, message)
            if is_changed and correction.before:
                model.learn_all([correction.before], [message], is_lesson=correction.was_lesson)
        self._ledger.delete("corrections", digest=correction.digest, user=correction.user, batch=correction.batch)
        return is_changed

    def _read(self, model: Classifier, correction: Correction, row: VerdictRow | None) -> ReadMessage:
        """Return the message of a correction, from its mailbox, from the model that learned it, or from its tokens.

        Raise SpamnbError if the ledger has no tokens of the message, or if the tokens of the model have changed.
        """
        raw = (self._mailboxes.read(row) if row else None) or read_lesson(model.store, correction.digest)
        if raw is not None:
            return model.read(raw)
        if row is None:
            date = time.strftime("%d %b", time.localtime(correction.at))
            raise SpamnbError(
                f"the message that was taught as {correction.label} on {date} is no longer in the ledger;"
                " name it to 'spamnb forget' or 'spamnb learn'"
            )
        packed_tokens = self._ledger.tokens(row.position)
        problem = "" if packed_tokens else "it is too long for the ledger to have its tokens"
        if packed_tokens and row.token_rules != identify_token_rules(model.settings):
            problem = "the model no longer uses the tokens in the ledger"
        if problem:
            raise SpamnbError(f"the message is no longer in its folder, and {problem}; to teach it, use 'spamnb learn'")
        return ReadMessage.of_counts(unpack_tokens(packed_tokens), row.digest)


def _label(model: Classifier, correction: Correction) -> str:
    """Return the class of a correction in a model: the one that it names, or else the one of spam or of good mail."""
    if correction.label in model.model.totals.classes:
        return correction.label
    return class_of_label(model, "spam" if correction.spam else "ham")
