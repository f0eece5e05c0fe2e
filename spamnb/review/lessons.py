"""Teach messages of the journal to the models of their users, undo lessons, and move the messages.

A message that is still in its mailbox is learned as by ``spamnb learn``, and the model keeps it. Any other message is
learned from its tokens in the journal: the counts are the same, but the model does not keep the message.
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
from spamnb.journal.entries import INBOX, JUNK, JournalEntry, identify_token_rules, unpack_tokens
from spamnb.journal.journal import DAYS, Correction, Journal
from spamnb.reader.read_message import ReadMessage
from spamnb.review.moving import Moving
from spamnb.score import class_of_label
from spamnb.serve.users import Models
from spamnb.sources.entries import one_message


@dataclass(frozen=True)
class Outcome:
    """The result of a request.

    - ``batch``: an identifier of the lessons, with which they are undone
    - ``changed``: the number of messages that changed the model
    - ``problems``: lines for a person
    """

    batch: str
    changed: int
    problems: tuple[str, ...]


class Teacher:
    """The models that learn: the model of each user in the folder ``users``, or ``shared`` if there is no such folder.

    They stay open, because closing an SQLite file takes longer than a lesson. One thread at a time uses them.
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

        With ``move`` each message whose mailbox is in the journal is moved to the folder of its class.
        """
        batch = secrets.token_hex(8)
        learned: dict[int, tuple[JournalEntry, Correction]] = {}  # by position

        def teach_one(position: int, moving: Moving) -> bool:
            entry = journal.verdict_at(position)
            if entry is None:
                raise SpamnbError(describe_missing(position))
            current = self._models.find_for_learning(entry.user) or self._models.for_classifying("")
            raw = moving.read(entry)
            mail = current.read(raw) if raw else _read_tokens(journal, current, entry)
            correction, changed = _learn(journal, self._models.for_learning(entry.user), entry, spam, batch, mail)
            learned[position] = entry, correction
            return changed

        def move_one(position: int, moving: Moving) -> bool:
            entry, correction = learned.get(position, (None, None))
            if entry and correction and entry.mailbox and moving.move_to(entry, JUNK if spam else INBOX):
                journal.put_correction(correction._replace(moved_from=entry.place))
            return False  # a move changes no model

        steps = [teach_one, move_one] if move else [teach_one]
        changes = [partial(step, position) for position in positions for step in steps]
        return self._for_each(journal, batch, changes)

    def undo(self, journal: Journal, corrections: Sequence[Correction]) -> Outcome:
        """Undo corrections, and move their messages back if they were moved."""

        def undo_one(correction: Correction, moving: Moving) -> bool:
            entry = journal.last_verdict(correction.digest, correction.user)
            changed = _unlearn(journal, self._models.for_learning(correction.user), correction, entry, moving)
            if entry is not None and correction.moved_from:
                moving.move_back(entry, correction.moved_from)
            return changed

        return self._for_each(journal, "", [partial(undo_one, each) for each in corrections])

    def move(self, journal: Journal, position: int, role: str) -> None:
        """Move a message to the inbox or to the folder of spam, and teach nothing."""
        entry = journal.verdict_at(position)
        if entry is None:
            raise SpamnbError(describe_missing(position))
        with Moving(journal) as moving:
            moving.move_to(entry, role)

    def _for_each(self, journal: Journal, batch: str, changes: Sequence[Callable[[Moving], bool]]) -> Outcome:
        """Make the change of each message. One that fails is a problem, and the others are made."""
        changed, problems = 0, []
        with self._lock, Moving(journal) as moving:
            for change in changes:
                try:
                    with one_message("", lambda name, error: problems.append(reason(error))):
                        changed += change(moving)
                except SpamnbError as error:
                    problems.append(in_options(error))
        return Outcome(batch, changed, tuple(dict.fromkeys(problems)))


def describe_missing(position: int | str) -> str:
    """Return the error for a message that is not in the journal."""
    return f"message {position} is not in the journal, which keeps verdicts for {DAYS} days"


def _learn(
    journal: Journal, model: Classifier, entry: JournalEntry, spam: bool, batch: str, mail: ReadMessage
) -> tuple[Correction, bool]:
    """Learn a message, and write the correction into the journal; return it, and whether the model changed."""
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
    if not changed and earlier is not None and earlier.label == label:  # a double click: undoing it undoes both
        correction = correction._replace(before=earlier.before, moved_from=earlier.moved_from)
    journal.put_correction(correction)
    return correction, changed


def _unlearn(
    journal: Journal, model: Classifier, correction: Correction, entry: JournalEntry | None, moving: Moving
) -> bool:
    """Undo a correction. Return False if the model no longer has the message in the class that was taught.

    Raise SpamnbError if neither the message nor its tokens are left, or if the model cannot forget.
    """
    if entry is None:
        day = time.strftime("%d %b %H:%M", time.localtime(correction.at))
        raise SpamnbError(
            f"the message that was taught as {correction.label} on {day} is no longer in the journal;"
            " to remove it from the model, use 'spamnb forget'"
        )
    changed = True
    if correction.before != correction.label:  # otherwise the lesson changed nothing
        raw = moving.read(entry)
        message = raw or _read_tokens(journal, model, entry)
        changed = model.forget(correction.label, message)
        if changed and correction.before:
            model.learn(correction.before, message)
    journal.delete_correction(correction)
    return changed


def _read_tokens(journal: Journal, model: Classifier, entry: JournalEntry) -> ReadMessage:
    """Return a message from its tokens in the journal.

    Raise SpamnbError if the journal has no tokens of it, or if the model makes other tokens now.
    """
    packed = journal.tokens(entry.position)
    why = "" if packed else "the journal has no tokens of a message with so many words"
    if packed and entry.token_rules != identify_token_rules(model.settings):
        why = "the model now makes other tokens than the journal has"
    if why:
        raise SpamnbError(f"the message is no longer in its folder, and {why}; to teach it, give it to 'spamnb learn'")
    return ReadMessage.of_counts(unpack_tokens(packed), entry.digest)
