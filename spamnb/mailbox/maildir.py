"""A Maildir as a mailbox. A folder's ``place`` is its path, and so is a message's."""

from __future__ import annotations

import os
import time
from collections.abc import Hashable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from spamnb.errors import SpamnbError
from spamnb.mailbox.box import Arrived, Move, readable
from spamnb.naming import escape
from spamnb.reader.message import digest
from spamnb.sources import maildir
from spamnb.sources.entries import contents
from spamnb.sources.mailbox import Folder, MailboxMessage, decoded, role_of

_SETTLED = 2.0  # seconds: a directory changed more recently may change again without a new time stamp


class MaildirBox:
    """A Maildir and its folders; where Junk lies beside it, those that do so too."""

    separator = "."

    def __init__(self, path: Path, junk: str | None = None) -> None:
        self.path = maildir.checked(path)
        self.shown, self.home = escape(str(path)), str(path.absolute())
        self.record = path / "spamnb-places.sqlite"
        self.inbox = Folder("INBOX", path, "inbox")
        self._junk_name = "Junk" if junk is None else junk
        self._junk = self.locate(self._junk_name)
        self._listed: dict[Path, dict[str, MailboxMessage]] = {}

    def folders(self) -> list[Folder]:
        paths = maildir.mailbox(self.path, self.junk().place)
        return [self.inbox, *(self._folder(path) for path in paths if path != self.path)]

    def refresh(self) -> None:
        """The file system is asked each time."""

    def _folder(self, path: Path) -> Folder:
        name = os.path.relpath(path, self.path)
        return _named(name if name.startswith("..") else name.removeprefix("."), path)

    def locate(self, name: str) -> Folder:
        return _named(name, maildir.locate(self.path, name))

    def junk(self) -> Folder:
        with suppress(SpamnbError):  # it was there when the mailbox was opened
            self._junk = self.locate(self._junk_name)
        return self._junk

    def exists(self, folder: Folder) -> bool:
        return folder.place.is_dir()

    def make(self, folder: Folder) -> None:
        maildir.made(folder.place)

    def is_below(self, folder: Folder, parent: Folder) -> bool:
        """By Maildir++'s names or nested, whatever links lead there."""
        path, above = str(folder.place.resolve()), str(parent.place.resolve())
        return path == above or path.startswith((above + ".", above + os.sep))

    def key(self, folder: Folder) -> str:
        return _text(os.path.relpath(folder.place, self.path))

    def messages(self, folder: Folder) -> list[MailboxMessage]:
        found = []
        for part in ("new", "cur"):
            with suppress(FileNotFoundError):
                found += [self._message(folder, path) for path in maildir.files(folder.place / part)]
        return found

    def _message(self, folder: Folder, path: Path) -> MailboxMessage:
        return MailboxMessage(folder, _text(maildir.delivered(path)), escape(str(path)), path)

    def find(self, folder: Folder, keys: Sequence[str]) -> list[MailboxMessage]:
        known = self._listed.get(folder.place, {})
        if not all(key in known and known[key].place.exists() for key in keys):
            known = self._list(folder)
        return [known[key] for key in keys if key in known]

    def _list(self, folder: Folder) -> dict[str, MailboxMessage]:
        self._listed[folder.place] = {message.key: message for message in self.messages(folder)}
        return self._listed[folder.place]

    def lookup(self, place: str, message_id: str) -> Iterator[list[MailboxMessage]]:
        yield self.find(self.folder_at(place), [_text(maildir.delivered(Path(place)))])

    def read(self, messages: Sequence[MailboxMessage]) -> Iterator[tuple[MailboxMessage, bytes | OSError]]:
        for message in messages:
            try:
                raw = contents(str(message.place))
            except OSError as error:
                yield message, error
            else:
                yield message, raw

    def kin(self, messages: Sequence[MailboxMessage]) -> Iterator[tuple[MailboxMessage, bytes | OSError]]:
        """Digests: mail readers give a message another file name when they move it."""
        for message, raw in self.read(messages):
            yield message, digest(raw) if isinstance(raw, bytes) else raw

    def new(self, mark: str, waiting: Sequence[str]) -> tuple[list[MailboxMessage], str]:
        return [self._message(self.inbox, path) for path in maildir.files(self.path / "new")], ""

    def state(self, folder: Folder) -> Hashable:
        changed = []
        for part in ("new", "cur"):
            with suppress(FileNotFoundError):
                changed.append((part, (folder.place / part).stat().st_mtime))
        settled = all(time.time() - stamp > _SETTLED for _, stamp in changed)
        return tuple(changed) if settled else None

    def arrived(self, folder: Folder, mark: str, known: int) -> Arrived:
        return Arrived(list(self._list(folder).values()), "", True)

    def mark(self, folder: Folder) -> str:
        return str(time.time())

    def move(
        self, messages: Sequence[MailboxMessage], into: Folder
    ) -> dict[MailboxMessage, MailboxMessage | OSError | None]:
        moved: dict[MailboxMessage, MailboxMessage | OSError | None] = {}
        for message in messages:
            try:
                moved[message] = self._message(into, maildir.move(message.place, into.place))
            except FileNotFoundError:  # a mail reader moved it meanwhile
                continue
            except OSError as error:
                moved[message] = error
        return moved

    def settle(self, moves: Sequence[Move]) -> Iterator[tuple[Move, bool]]:
        """A message in both folders is one file of two names, of which the first is taken away."""
        folders = {self.key(folder): folder for folder in self.folders()}
        for move in moves:
            if move.folder not in folders or move.target not in folders:
                yield move, False
                continue
            since = float(move.mark) - _SETTLED
            late = [one for one in self.messages(folders[move.target]) if _changed(one.place) >= since]
            copies = [one for one, kin in self.kin(late) if kin == move.kin]
            left = self.find(folders[move.folder], [move.key])
            doubled = [one for one in left if any(copy.place.samefile(one.place) for copy in copies)]
            for one in doubled:
                one.place.unlink()
            yield move, bool(doubled or (copies and not left))

    def place(self, folder: Folder, message: MailboxMessage | None) -> str:
        return str(message.place.absolute()) if message is not None else ""

    def folder_at(self, place: str) -> Folder:
        path = Path(place).parent.parent
        return self.inbox if path == self.path else self._folder(path)

    def wait(self, state: Hashable, seconds: float, stop: int) -> None:
        readable([stop], seconds)

    def close(self) -> None:
        """A Maildir holds nothing open."""


def _named(name: str, path: Path) -> Folder:
    name = decoded(name)
    return Folder(escape(name), path, role_of(name.replace(os.sep, ".").rpartition(".")[2]))


def _changed(path: Path) -> float:
    """When a file got the name that it has; 0 where it is gone."""
    try:
        return path.stat().st_ctime
    except OSError:
        return 0.0


def _text(name: str) -> str:
    """A file's name as SQLite takes it, which has no way to spell bytes that are not UTF-8."""
    return name.encode("utf-8", "backslashreplace").decode("utf-8")
