"""The journal of what is done in a mailbox: verdicts, and what people put right by moving mail."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from spamnb.classifier import Classifier
from spamnb.errors import SpamnbError
from spamnb.journal.entries import entry_of
from spamnb.journal.journal import Journal
from spamnb.journal.teaching import noted
from spamnb.journal.whereabouts import INBOX, JUNK, OTHER, FolderNoted, folder_of_place, note_folder
from spamnb.mailbox.box import Box
from spamnb.reader.message import digest

if TYPE_CHECKING:
    from spamnb.mailbox.filing import Filed
    from spamnb.mailbox.memory import Lesson


class Notes:
    """Writes verdicts on one mailbox's mail into a journal; ``junk`` is what a person calls its folder of spam.

    Where the journal cannot be opened or written, on a full disk or after damage, mail is filtered all the same; a line
    says so, and the next verdict tries again.
    """

    def __init__(
        self, classifier: Classifier, path: Path, box: Box, junk: str | None, tell: Callable[[str], None]
    ) -> None:
        self._classifier, self._path, self._box, self._junk, self._tell = classifier, path, box, junk, tell
        self._journal: Journal | None = None
        self._told: set[str] = set()
        self._noted: set[str] = set()  # folders
        self._write(lambda journal: None)  # what is wrong with it is told before any mail moves

    def _write(self, change: Callable[[Journal], None]) -> None:
        """Change the journal, opened where it is not; what goes wrong is told once."""
        try:
            if self._journal is None:
                self._journal = Journal.at(self._path)
            change(self._journal)
        except (SpamnbError, OSError) as error:
            line = f"spamnb: {error}; meanwhile nothing is noted"
            if line not in self._told:
                self._told.add(line)
                self._tell(line)

    def close(self) -> None:
        if self._journal is not None:
            self._journal.close()

    def note(self, one: Filed) -> None:
        """Write the verdict down, and where the message lies now."""
        folder = one.into or one.message.folder
        place = self._box.place(folder, one.after)
        at = folder_of_place(place)

        def write(journal: Journal) -> None:
            if at and at not in self._noted:
                role = INBOX if one.into is None else JUNK if one.found.spam else OTHER
                note_folder(journal, FolderNoted(at, folder.name, role, self._box.home, self._junk or ""))
                self._noted.add(at)
            journal.add([entry_of(one.mail, one.found, self._classifier.settings, place=place)])

        self._write(write)

    def note_lesson(self, lesson: Lesson, label: str) -> None:
        """Write down what a person put right by moving a message."""
        self._write(lambda journal: journal.correct([noted(digest(lesson.raw), label, lesson.spam, "move")]))
