"""What ``sort`` knows of a Maildir: a ``SeenFolders`` that is asked by message."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

from spamnb.reader.message import digest as message_digest
from spamnb.serve.moves import LEARN, Lesson, SeenFolders, is_junk, lasting_name
from spamnb.serve.sorting import Moved
from spamnb.sources import maildir
from spamnb.sources.mailbox import Folder, MailboxMessage
from spamnb.sources.maildir_box import MaildirBox

_BATCH = 100  # messages that stay are noted together; one by one each would wait for the disk


class MaildirMemory:
    """The record of a Maildir, and the mail in it that is new."""

    at_once = 1  # a move and its note are one change

    def __init__(
        self,
        box: MaildirBox,
        seen: SeenFolders,
        junk: str | None,
        on_unreadable: Callable[[str, Exception], None],
        learn_folder: str | None = None,
        dry_run: bool = False,
    ) -> None:
        self.seen = seen
        self._learn_folder, self._dry_run = learn_folder, dry_run
        self._box, self._junk, self._on_unreadable = box, "Junk" if junk is None else junk, on_unreadable
        self._before: frozenset[str] = frozenset()
        self._new: list[Path] = []
        self._stayed: dict[str, bytes] = {}  # {name: digest}

    def alone(self, patience: float = 0.0) -> AbstractContextManager[None]:
        """Others may move mail in a Maildir at the same time: each move is one step."""
        return nullcontext()

    def unjudged(self, everything: bool) -> Sequence[MailboxMessage]:
        self._new, self._before = maildir.files(self._box.path / "new"), self.seen.judged_names()
        paths = [*self._new, *(maildir.files(self._box.path / "cur") if everything else ())]
        if not everything:
            paths = [path for path in paths if lasting_name(path) not in self._before]
        return [self._box.message(self._box.inbox, path) for path in paths]

    def judged(self, digest: bytes) -> bool:
        return self.seen.judged(digest)

    def keep(self, message: MailboxMessage, digest: bytes) -> None:
        if message.place.parent.name == "new":
            self._stayed[lasting_name(message.place)] = digest
        if len(self._stayed) >= _BATCH:
            self._note()

    def _note(self) -> None:
        self.seen.put_judged(self._stayed, self._stayed.values())
        self._stayed.clear()

    def gone(self, message: MailboxMessage) -> None:
        """A mail reader moved it on since it was listed: its name goes with the others that are gone."""

    def move(
        self, messages: Sequence[tuple[MailboxMessage, bytes, bytes]], into: Folder
    ) -> Moved | None:
        """Move messages and note that it was this program, so that 'spamnb watch' takes it for no lesson."""
        moved: Moved = {}
        side = is_junk(into.place, maildir.locate(self._box.path, self._junk))
        for message, _, digest in messages:
            try:
                with self.seen.writing():
                    (moved[message],) = self._box.move([message], into)
                    self.seen.put(digest, side)
                    self.seen.put_judged([], [digest])
            except FileNotFoundError:
                return None
            except OSError as error:
                self._on_unreadable(message.name, error)
                return None
        return moved

    def take_for_seen(self) -> int:
        names = list(map(lasting_name, maildir.files(self._box.path / "new")))
        self.seen.put_judged(names)
        return len(names)

    def finish(self) -> None:
        self._note()
        self.seen.forget_judged_names(self._before.difference(map(lasting_name, self._new)))

    # -- what a person moved -----------------------------------------------------------------------------------

    def looked(self) -> bool:
        """Whether a look was taken here before."""
        return self.seen.looked()

    def noted(self) -> int:
        """Of how many messages it is known where they are."""
        return self.seen.noted()

    def has_junk(self) -> bool:
        """Whether there is a folder of spam."""
        return maildir.locate(self._box.path, self._junk).is_dir()

    def lessons(self) -> Iterator[Lesson]:
        """Messages that were moved into or out of Junk since the last look; `put` each once it is learned."""
        yield from self.seen.lessons(self._junk, self._on_unreadable)
        if self._learn_folder is not None:
            yield from self._taught(self._learn_folder)

    def _taught(self, name: str) -> Iterator[Lesson]:
        """What lies in the folders that are made for teaching."""
        for end, spam in LEARN:
            folder = self._box.locate(f"{name}.{end}")
            if not self._dry_run:
                maildir.made(folder.place)
            elif not folder.place.is_dir():
                continue
            for message, raw in self._box.read(self._box.messages(folder)):
                if isinstance(raw, bytes):
                    yield Lesson(spam, message.name, raw, message_digest(raw), message)
                elif not isinstance(raw, FileNotFoundError):
                    self._on_unreadable(message.name, raw)

    def put(self, lesson: Lesson) -> None:
        """A lesson was learned. One of the folder that is made for that goes where such mail belongs."""
        if lesson.message is None:
            self.seen.put(lesson.digest, lesson.spam)
        elif not self._dry_run:
            into = self._box.locate(self._junk) if lesson.spam else self._box.inbox
            self.move([(lesson.message, lesson.raw, lesson.digest)], into)
