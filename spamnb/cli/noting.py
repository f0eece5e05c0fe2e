"""The journal of what ``sort`` and ``watch`` do in a mailbox: verdicts, and what people put right by moving mail."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from spamnb.cli.options import tell
from spamnb.errors import SpamnbError

if TYPE_CHECKING:
    from spamnb.classifier import Classifier
    from spamnb.cli.mailboxes import Target
    from spamnb.journal.journal import Journal
    from spamnb.reader.read_message import ReadMessage
    from spamnb.serve.moves import Lesson
    from spamnb.serve.score import Score
    from spamnb.serve.sorting import Sorted


class Notes:
    """Judges messages of one mailbox and writes each verdict into a journal.

    Where the journal cannot be opened or written, on a full disk or after damage, mail is filtered all the same; a line
    says so, and the next verdict tries again.
    """

    def __init__(self, classifier: Classifier, path: Path, target: Target) -> None:
        self._classifier, self._path, self._target = classifier, path, target
        self._journal: Journal | None = None
        self._told: set[str] = set()
        self._noted: set[str] = set()  # folders
        self._read: dict[bytes, ReadMessage] = {}  # messages between their verdict and its note, by their bytes

    @contextmanager
    def journal(self) -> Iterator[Journal | None]:
        """The journal, opened where it is not; None where it cannot be. What goes wrong inside is told, once."""
        from spamnb.journal.journal import Journal

        try:
            if self._journal is None:
                self._journal = Journal.at(self._path)
        except (SpamnbError, OSError) as error:
            self._tell(error)
            yield None
            return
        try:
            yield self._journal
        except (SpamnbError, OSError) as error:
            self._tell(error)

    def close(self) -> None:
        if self._journal is not None:
            self._journal.close()

    def _tell(self, error: Exception) -> None:
        line = f"spamnb: {error}; meanwhile nothing is noted"
        if line not in self._told:
            self._told.add(line)
            tell(line)

    def begin(self) -> None:
        """Drop messages whose moves were not made: they are judged again."""
        self._read.clear()

    def judge(self, raw: bytes) -> Score:
        """The verdict on a message, which is read once for it and its note."""
        from spamnb.serve.score import score_message

        message = self._classifier.read(raw)
        self._read[raw] = message
        return score_message(self._classifier, message)

    def note(self, one: Sorted) -> None:
        """Write the verdict down, and where the message lies now."""
        from spamnb.journal.entries import entry_of

        message = self._read.pop(one.raw, None) or self._classifier.read(one.raw)  # one of two that are equal
        place = self._place(one)
        with self.journal() as journal:
            if journal is not None:
                self._note_folder(journal, one, place)
                journal.add([entry_of(message, one.found, self._classifier.settings, place=place)])

    def _place(self, one: Sorted) -> str:
        """Where the message lies now, as the journal keeps it."""
        from spamnb.journal.whereabouts import place_in_account

        account = self._target.account
        if account is None:
            return str(one.after.place.absolute()) if one.after is not None else ""
        if one.into is not None:  # moved: which number it has there the server need not say
            return place_in_account(account.url.account, one.into.place)
        return place_in_account(account.url.account, one.message.folder.place, one.message.place)

    def _note_folder(self, journal: Journal, one: Sorted, place: str) -> None:
        """Note once which mailbox the message's folder is of."""
        from spamnb.journal.whereabouts import INBOX, JUNK, OTHER, FolderNoted, folder_of_place, note_folder

        folder = folder_of_place(place)
        if not place or folder in self._noted:
            return
        target = self._target
        mailbox = str(target.path.absolute()) if target.path is not None else ""
        if target.account is not None:
            mailbox = target.account.url.account
        role = INBOX if one.into is None else JUNK if one.found.spam else OTHER
        name = (one.into or one.message.folder).name
        note_folder(journal, FolderNoted(folder, name, role, mailbox, target.junk or ""))
        self._noted.add(folder)

    def note_lesson(self, lesson: Lesson, label: str) -> None:
        """Write down what a person put right by moving a message."""
        from spamnb.journal.teaching import noted
        from spamnb.reader.message import digest

        with self.journal() as journal:
            if journal is not None:
                journal.correct([noted(digest(lesson.raw), label, lesson.spam, "move")])


@contextmanager
def noting(classifier: Classifier | None, path: Path | None, target: Target) -> Iterator[Notes | None]:
    """What notes verdicts on a mailbox's mail in the journal at ``path``; None where nothing is to be noted."""
    if path is None or classifier is None:
        yield None
        return
    notes = Notes(classifier, path, target)
    try:
        with notes.journal():  # what is wrong with it is told before any mail moves
            pass
        yield notes
    finally:
        notes.close()
