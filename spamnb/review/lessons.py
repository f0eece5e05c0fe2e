"""Corrections that were asked for on a page, and how they are undone: each in the model of the mail's user; and mail
that is moved with them."""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from spamnb.classifier import Classifier
from spamnb.errors import SpamnbError
from spamnb.journal import teaching
from spamnb.journal.journal import DAYS, Journal, Noted
from spamnb.journal.whereabouts import INBOX, JUNK, folder_noted, moves_of
from spamnb.review.moving import Moving
from spamnb.serve.users import Models, class_of_label

ENOUGH = 100  # messages of each class that a user's own model holds before it answers, as with 'serve'


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

    def check(self, viewer: str | None) -> None:
        """SpamnbError where ``viewer``, None for the admin, has no model to teach."""
        if viewer is not None and self.users is None:
            raise SpamnbError("one model serves all users here, and the admin alone corrects it")

    def teach(
        self, journal: Journal, positions: Sequence[int], spam: bool, viewer: str | None, move: bool = False
    ) -> Taught:
        """Teach messages of the journal as spam or as good mail, and with ``move`` put each where such mail belongs if
        its mailbox is known; others' mail is as if it were not there."""
        self.check(viewer)
        batch, changed, problems = secrets.token_hex(8), 0, []
        with self._models() as models, Moving(journal) as moving:
            for position in positions:
                row = journal.row(position, viewer)
                if row is None:
                    problems.append(missing(position))
                    continue
                try:
                    model = self._model(models, row.entry.user)
                    label = class_of_label(model, "spam" if spam else "ham")
                    changed += teaching.teach(journal, model, row, label, batch, _mail(moving, row))
                    if move and folder_noted(journal, row.entry.place) is not None:
                        moving.to(row, JUNK if spam else INBOX, batch)
                except (SpamnbError, OSError) as error:
                    problems.append(str(error))
        return Taught(batch, changed, tuple(dict.fromkeys(problems)))

    def undo(self, journal: Journal, batch: str, viewer: str | None) -> Taught:
        """Take back what was taught at once, and put back what was moved with it."""
        self.check(viewer)
        changed, problems = 0, []
        with self._models() as models, Moving(journal) as moving:
            for made in journal.batch(batch, viewer):
                try:
                    row = journal.of_message(made.digest, made.user)
                    raw = _mail(moving, row) if row is not None else None
                    changed += teaching.undo(journal, self._model(models, made.user), made, raw)
                except (SpamnbError, OSError) as error:
                    problems.append(str(error))
            for position, before in moves_of(journal, batch):
                row = journal.row(position, viewer)
                try:
                    if row is not None:
                        moving.back(row, before)
                except (SpamnbError, OSError) as error:
                    problems.append(str(error))
        return Taught(batch, changed, tuple(dict.fromkeys(problems)))

    def move(self, journal: Journal, position: int, role: str, viewer: str | None) -> None:
        """Move a message to the inbox or to the folder of spam; that teaches nothing."""
        self.check(viewer)
        row = journal.row(position, viewer)
        if row is None:
            raise SpamnbError(missing(position))
        with Moving(journal) as moving:
            moving.to(row, role)

    def mail(self, journal: Journal, row: Noted) -> bytes | None:
        """The message itself, where it still lies where it lay."""
        with Moving(journal) as moving:
            return _mail(moving, row)

    @contextmanager
    def model_of(self, viewer: str | None) -> Iterator[Classifier]:
        """The model that answers for a user, to be asked."""
        models = Models(self.shared, self.users, ENOUGH, writable=False)
        try:
            yield models.for_classifying(viewer or "")
        finally:
            models.close()

    @contextmanager
    def _models(self) -> Iterator[Models]:
        models = Models(self.shared, self.users, 1, writable=True)
        try:
            yield models
        finally:
            models.close()

    @staticmethod
    def _model(models: Models, user: str) -> Classifier:
        if not models.may_teach(user):
            raise SpamnbError("this mail's user has a name that no model can have")
        return models.for_learning(user)


def missing(position: int) -> str:
    """What is said of a message that is not in the journal, or is another user's."""
    return f"message {position} is not in the journal, which keeps the mail of {DAYS} days"


def _mail(moving: Moving, row: Noted) -> bytes | None:
    """The mail where it can be had; its tokens in the journal stand in for it otherwise."""
    try:
        return moving.mail(row)
    except (SpamnbError, OSError):  # a server that is away, mostly: the lesson is the same without it
        return None
