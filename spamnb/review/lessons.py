"""Teach messages of the journal, undo it, and move the mail with it: each in the model of the message's user.

A message that is still in its mailbox is learned from the mail, and the model keeps it whole, as ``spamnb learn`` does.
Any other is learned from the tokens in the journal: the counts are the same, but the model does not keep the message.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from threading import Lock

from spamnb.classifier import Classifier
from spamnb.errors import SpamnbError, in_options, reason
from spamnb.journal.entries import INBOX, JUNK, JournalEntry, token_rules, unpack_tokens
from spamnb.journal.journal import DAYS, Correction, Journal
from spamnb.reader.read_message import ReadMessage
from spamnb.review.moving import Moving
from spamnb.score import class_of_label
from spamnb.serve.users import Models
from spamnb.sources.entries import one_message


@dataclass(frozen=True)
class Outcome:
    """The result of a request: ``batch`` undoes it; ``problems`` are lines for a person."""

    batch: str
    changed: int
    problems: tuple[str, ...]


class Teacher:
    """The models that learn: ``shared``, or if ``users`` names a folder the model of each user in it.

    They stay open, because closing a file of SQLite takes longer than a lesson. One thread at a time uses them.
    """

    def __init__(self, shared: Path, users: Path | None) -> None:
        self.shared = shared
        self._models = Models(shared, users, writable=True)
        self._lock = Lock()

    def close(self) -> None:
        """Close the models."""
        self._models.close()

    def teach(self, journal: Journal, positions: Sequence[int], spam: bool, move: bool = False) -> Outcome:
        """Teach messages of the journal as spam or as good mail.

        With ``move`` each message whose mailbox is known is moved to the folder of its class.
        """
        batch = secrets.token_hex(8)

        def teach_one(position: int, moving: Moving) -> bool:
            entry = journal.verdict(position)
            if entry is None:
                raise SpamnbError(missing(position))
            current = self._models.taught(entry.user) or self._models.for_classifying("")
            raw = moving.mail(entry)
            mail = current.read(raw) if raw else _recall(journal, current, entry)
            correction, changed = _learn(journal, self._models.for_learning(entry.user), entry, spam, batch, mail)
            if move and entry.mailbox and moving.to(entry, JUNK if spam else INBOX):
                journal.correct(correction._replace(moved_from=entry.place))
            return changed

        return self._for_each(journal, batch, [partial(teach_one, position) for position in positions])

    def undo(self, journal: Journal, corrections: Sequence[Correction]) -> Outcome:
        """Undo corrections, and move the mail back that was moved with them."""

        def undo_one(correction: Correction, moving: Moving) -> bool:
            entry = journal.of_message(correction.digest, correction.user)
            changed = _unlearn(journal, self._models.for_learning(correction.user), correction, entry, moving)
            if entry is not None and correction.moved_from:
                moving.back(entry, correction.moved_from)
            return changed

        return self._for_each(journal, "", [partial(undo_one, each) for each in corrections])

    def move(self, journal: Journal, position: int, role: str) -> None:
        """Move a message to the inbox or to the folder of spam, and teach nothing."""
        entry = journal.verdict(position)
        if entry is None:
            raise SpamnbError(missing(position))
        with Moving(journal) as moving:
            moving.to(entry, role)

    def _for_each(self, journal: Journal, batch: str, works: Sequence[Callable[[Moving], bool]]) -> Outcome:
        """Work on each message, and go on with the others where one fails."""
        changed, problems = 0, []
        with self._lock, Moving(journal) as moving:
            for work in works:
                try:
                    with one_message("", lambda name, error: problems.append(reason(error))):
                        changed += work(moving)
                except SpamnbError as error:
                    problems.append(in_options(error))
        return Outcome(batch, changed, tuple(dict.fromkeys(problems)))


def missing(position: int | str) -> str:
    """Return the line about a message that is not in the journal."""
    return f"message {position} is not in the journal, which keeps the mail of {DAYS} days"


def _learn(
    journal: Journal, model: Classifier, entry: JournalEntry, spam: bool, batch: str, mail: ReadMessage
) -> tuple[Correction, bool]:
    """Learn a message and note it in the journal; return the correction, and whether the model changed."""
    label = class_of_label(model, "spam" if spam else "ham")
    before = model.learned(mail) or ""
    changed = model.learn(label, mail)
    correction = Correction(
        entry.digest,
        label,
        spam,
        "page",
        entry.user,
        entry.verdict,
        before=before,
        batch=batch,
    )
    earlier = journal.correction_of(entry.digest, entry.user)
    if not changed and earlier is not None and earlier.label == label:  # a double click: undo takes back both
        correction = correction._replace(before=earlier.before, moved_from=earlier.moved_from)
    journal.correct(correction)
    return correction, changed


def _unlearn(journal: Journal, model: Classifier, made: Correction, entry: JournalEntry | None, moving: Moving) -> bool:
    """Undo a correction; return whether the model had still learned it.

    Raises SpamnbError if neither the mail nor its tokens are left, or if the model cannot forget.
    """
    if entry is None:
        day = time.strftime("%d %b %H:%M", time.localtime(made.at))
        raise SpamnbError(
            f"the journal no longer holds the message that was taught as {made.label} on {day};"
            " 'spamnb forget' takes it out of the model"
        )
    changed = True
    if made.before != made.label:  # otherwise the lesson changed nothing
        raw = moving.mail(entry)
        message = raw or _recall(journal, model, entry)
        changed = model.forget(made.label, message)
        if changed and made.before:
            model.learn(made.before, message)
    journal.delete(made)
    return changed


def _recall(journal: Journal, model: Classifier, entry: JournalEntry) -> ReadMessage:
    """Return the message of these tokens. SpamnbError if there are none, or if the model makes other tokens now."""
    packed = journal.tokens(entry.position)
    why = "" if packed else "it had too many words to be kept"
    if packed and entry.made_by != token_rules(model.settings):
        why = "the model was made anew and reads mail otherwise"
    if why:
        raise SpamnbError(f"the mail is not where it was, and {why}; 'spamnb learn' takes the mail itself")
    return ReadMessage.of_counts(unpack_tokens(packed), entry.digest)
