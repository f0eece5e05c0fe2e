"""Corrections that were asked for on a page, and how they are undone: each in the model of the mail's user; and mail
that is moved with them.

A lesson is by the mail itself where it still lies where it lay, and is kept whole in the model, as by ``spamnb learn``.
Otherwise it is by the tokens that the journal holds: the model is the same, but the lesson is not kept.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from spamnb.classifier import Classifier
from spamnb.errors import SpamnbError, in_options, reason
from spamnb.journal.entries import INBOX, JUNK, Verdict, token_rules, unpack_tokens
from spamnb.journal.journal import DAYS, Correction, Journal
from spamnb.reader.read_message import ReadMessage
from spamnb.review.moving import Moving
from spamnb.score import class_of_label
from spamnb.serve.users import Models
from spamnb.sources.entries import one_message


@dataclass(frozen=True)
class Taught:
    """What became of a request: ``batch`` undoes it; ``problems`` are lines for a person."""

    batch: str
    changed: int
    problems: tuple[str, ...]


@dataclass(frozen=True)
class Teacher:
    """The models that corrections go to: ``shared``, or where ``users`` is their folder each user's own."""

    shared: Path
    users: Path | None

    def teach(self, journal: Journal, positions: Sequence[int], spam: bool, move: bool = False) -> Taught:
        """Teach messages of the journal as spam or as good mail, and with ``move`` put each where such mail belongs if
        its mailbox is known."""
        batch, changed, problems = secrets.token_hex(8), 0, []
        with closing(Models(self.shared, self.users, writable=True)) as models, Moving(journal) as moving:
            for position in positions:
                entry = journal.verdict(position)
                if entry is None:
                    problems.append(missing(position))
                    continue
                try:
                    with one_message("", lambda name, error: problems.append(reason(error))):
                        known = models.taught(entry.user) or models.for_classifying("")
                        mail = known.read(raw) if (raw := moving.mail(entry)) else _recalled(journal, known, entry)
                        made, new = _learn(journal, models.for_learning(entry.user), entry, spam, batch, mail)
                        changed += new
                        if move and entry.mailbox and moving.to(entry, JUNK if spam else INBOX):
                            journal.correct(made._replace(moved_from=entry.place))
                except SpamnbError as error:
                    problems.append(in_options(error))
        return Taught(batch, changed, tuple(dict.fromkeys(problems)))

    def undo(self, journal: Journal, batch: str) -> Taught:
        """Take back what was taught at once, and put back what was moved with it."""
        changed, problems = 0, []
        with closing(Models(self.shared, self.users, writable=True)) as models, Moving(journal) as moving:
            for made in journal.corrections(batch=batch) if batch else []:
                entry = journal.of_message(made.digest, made.user)
                try:
                    with one_message("", lambda name, error: problems.append(reason(error))):
                        changed += _unlearn(journal, models.for_learning(made.user), made, entry, moving)
                        if entry is not None and made.moved_from:
                            moving.back(entry, made.moved_from)
                except SpamnbError as error:
                    problems.append(in_options(error))
        return Taught(batch, changed, tuple(dict.fromkeys(problems)))

    def move(self, journal: Journal, position: int, role: str) -> None:
        """Move a message to the inbox or to the folder of spam; that teaches nothing."""
        entry = journal.verdict(position)
        if entry is None:
            raise SpamnbError(missing(position))
        with Moving(journal) as moving:
            moving.to(entry, role)


def missing(position: int | str) -> str:
    """What is said of a message that is not in the journal."""
    return f"message {position} is not in the journal, which keeps the mail of {DAYS} days"


def _learn(
    journal: Journal, model: Classifier, entry: Verdict, spam: bool, batch: str, mail: ReadMessage
) -> tuple[Correction, bool]:
    """Teach a message and note it; whether that changed the model, which may have learned it as that already."""
    label = class_of_label(model, "spam" if spam else "ham")
    before = model.learned(mail) or ""
    changed = model.learn(label, mail)
    made = Correction(
        entry.digest,
        label,
        spam,
        "page",
        entry.user,
        entry.verdict,
        before=before,
        batch=batch,
    )
    if not changed:  # taught twice, as by a double click: undo takes back both
        for stands in journal.corrections(digest=entry.digest):
            if (stands.label, stands.user) == (label, entry.user):
                made = made._replace(before=stands.before, moved_from=stands.moved_from)
    journal.correct(made)
    return made, changed


def _unlearn(journal: Journal, model: Classifier, made: Correction, entry: Verdict | None, moving: Moving) -> bool:
    """Take a correction back: the model is as it was before it. False where it no longer held it.

    Raises SpamnbError where neither the mail nor its tokens are left, or the model cannot forget.
    """
    if entry is None:
        taught = time.strftime("%d %b %H:%M", time.localtime(made.at))
        raise SpamnbError(
            f"the journal no longer holds the message that was taught as {made.label} on {taught};"
            " 'spamnb forget' takes it out of the model"
        )
    changed = True
    if made.before != made.label:  # else it had been learned as that before
        message = moving.mail(entry) or _recalled(journal, model, entry)
        changed = model.forget(made.label, message)
        if changed and made.before:
            model.learn(made.before, message)
    journal.undone(made)
    return changed


def _recalled(journal: Journal, model: Classifier, entry: Verdict) -> ReadMessage:
    """The message by its tokens. SpamnbError where they are not kept, or the model makes other tokens now."""
    packed = journal.tokens(entry.position)
    why = "" if packed else "it had too many words to be kept"
    if packed and entry.made_by != token_rules(model.settings):
        why = "the model was made anew and reads mail otherwise"
    if why:
        raise SpamnbError(f"the mail is not where it was, and {why}; 'spamnb learn' takes the mail itself")
    return ReadMessage.of_counts(unpack_tokens(packed), entry.digest)
