"""A Maildir as a mailbox: what ``maildir`` does with paths, for whoever does not mind where mail lies."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from spamnb.naming import escape
from spamnb.sources import maildir
from spamnb.sources.entries import contents
from spamnb.sources.folder_names import role_of
from spamnb.sources.mailbox import Folder, MailboxMessage
from spamnb.sources.modified_utf7 import decoded


class MaildirBox:
    """A Maildir and its folders. A folder's ``place`` is its path, and so is a message's."""

    def __init__(self, path: Path) -> None:
        self.path = maildir.checked(path)
        self.shown = escape(str(path))
        self.inbox = Folder("INBOX", path, "inbox")

    def folders(self) -> list[Folder]:
        found = [self.inbox]
        for path in maildir.folders(self.path)[1:]:
            name = decoded(os.path.relpath(path, self.path).removeprefix("."))
            found.append(Folder(escape(name), path, role_of(name.replace(os.sep, ".").rpartition(".")[2])))
        return found

    def locate(self, name: str | None) -> Folder:
        """The folder that a person calls so; its name is the person's own. None: Junk."""
        name = "Junk" if name is None else name
        return Folder(escape(decoded(name)), maildir.locate(self.path, name), role_of(name))

    def messages(self, folder: Folder) -> list[MailboxMessage]:
        return [self.message(folder, path) for part in ("new", "cur") for path in maildir.files(folder.place / part)]

    def message(self, folder: Folder, path: Path) -> MailboxMessage:
        """The message that lies there."""
        return MailboxMessage(folder, maildir.delivered(path), escape(str(path)), path, path.parent.name == "cur")

    def read(self, messages: Sequence[MailboxMessage]) -> Iterator[tuple[MailboxMessage, bytes | OSError]]:
        for message in messages:
            try:
                raw = contents(str(message.place))
            except OSError as error:
                yield message, error
            else:
                yield message, raw

    def move(self, messages: Sequence[MailboxMessage], into: Folder) -> list[MailboxMessage]:
        """Move messages, one after the other; where they lie then. FileNotFoundError where a mail reader moved one
        meanwhile."""
        folder = maildir.made(into.place)
        return [self.message(into, maildir.move(message.place, folder)) for message in messages]

    def replace(self, message: MailboxMessage, content: bytes) -> MailboxMessage:
        """Give a message other content."""
        return self.message(message.folder, maildir.replace(message.place, content))

    def close(self) -> None:
        """A Maildir holds nothing open."""
