"""Corrections that were asked for on a page, and how they are undone: each in the model of the mail's user."""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from spamnb.classifier import Classifier
from spamnb.errors import SpamnbError
from spamnb.journal import teaching
from spamnb.journal.journal import Journal
from spamnb.serve.users import Models, class_of_label


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

    def teach(self, journal: Journal, positions: Sequence[int], spam: bool, viewer: str | None) -> Taught:
        """Teach messages of the journal as spam or as good mail; others' mail is as if it were not there."""
        self.check(viewer)
        batch, changed, problems = secrets.token_hex(8), 0, []
        with self._models() as models:
            for position in positions:
                row = journal.row(position, viewer)
                if row is None:
                    problems.append("a message is no longer in the journal")
                    continue
                try:
                    model = self._model(models, row.entry.user)
                    label = class_of_label(model, "spam" if spam else "ham")
                    changed += teaching.teach(journal, model, row, label, batch)
                except SpamnbError as error:
                    problems.append(str(error))
        return Taught(batch, changed, tuple(dict.fromkeys(problems)))

    def undo(self, journal: Journal, batch: str, viewer: str | None) -> Taught:
        """Take back what was taught at once."""
        self.check(viewer)
        changed, problems = 0, []
        with self._models() as models:
            for made in journal.batch(batch, viewer):
                try:
                    changed += teaching.undo(journal, self._model(models, made.user), made)
                except SpamnbError as error:
                    problems.append(str(error))
        return Taught(batch, changed, tuple(dict.fromkeys(problems)))

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
