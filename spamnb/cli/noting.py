"""The journal of what ``sort`` and ``watch`` do in a mailbox: verdicts, and what people put right by moving mail."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from spamnb.classifier import Classifier
    from spamnb.journal.journal import Journal
    from spamnb.serve.moves import Lesson
    from spamnb.serve.score import Score
    from spamnb.serve.sorting import Sorted
    from spamnb.tokens.vectorizer import ReadMessage


class Notes:
    """Judges messages and writes each verdict into a journal."""

    def __init__(self, classifier: Classifier, journal: Journal) -> None:
        self._classifier, self._journal = classifier, journal
        self._read: dict[int, tuple[bytes, ReadMessage]] = {}  # messages between their verdict and its note

    def begin(self) -> None:
        """Drop messages whose moves were not made: they are judged again."""
        self._read.clear()

    def judge(self, raw: bytes) -> Score:
        """The verdict on a message, which is read once for it and its note."""
        from spamnb.serve.score import score_message

        message = self._classifier.read(raw)
        self._read[id(raw)] = raw, message
        return score_message(self._classifier, message)

    def note(self, one: Sorted) -> None:
        """Write the verdict down, with the message's file where it lies on this machine."""
        from spamnb.journal.entries import entry_of

        _, message = self._read.pop(id(one.raw))
        place = one.after.place if one.after is not None else None
        where = str(place.absolute()) if isinstance(place, Path) else ""
        self._journal.add([entry_of(message, one.found, self._classifier.settings, place=where)])

    def note_lesson(self, lesson: Lesson, label: str) -> None:
        """Write down what a person put right by moving a message."""
        from spamnb.journal.teaching import noted
        from spamnb.message.parse import digest

        self._journal.correct([noted(digest(lesson.raw), label, lesson.spam, "move")])


@contextmanager
def noting(classifier: Classifier | None, path: Path | None) -> Iterator[Notes | None]:
    """What notes verdicts in the journal at ``path``; None where nothing is to be noted."""
    if path is None or classifier is None:
        yield None
        return
    from spamnb.journal.journal import Journal

    with Journal.at(path) as journal:
        yield Notes(classifier, journal)
