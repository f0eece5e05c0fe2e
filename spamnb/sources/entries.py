"""One message of a source: its class, its name for people, and how its bytes are read."""

from __future__ import annotations

import errno
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from spamnb.sources import emlx
from spamnb.sources.formats import HEAD, SUSPICIOUS, NotMail, foreign_format
from spamnb.sources.labelled_lines import Report
from spamnb.sources.mbox import contents, unquoted


class Entry(NamedTuple):
    """Where one message is: a file, a byte range of an mbox, or the bytes themselves.

    ``name`` is for people (unprintable characters escaped, ``inbox#3`` for the third message of an mbox,
    ``sms.txt:7`` for a line); ``path`` is for opening. Small, so that processes can share the reading.

    >>> Entry("ham", "note", "", content=b"Subject: tea\\n\\nAt four?\\n").read()
    b'Subject: tea\\n\\nAt four?\\n'
    """

    label: str | None
    name: str
    path: str
    start: int = 0
    stop: int | None = None
    content: bytes | None = None

    def read(self) -> bytes:
        """The raw message, with gzip, an mbox's ``>From `` and Apple's ``.emlx`` undone.

        Raises OSError, also when over MAX_MESSAGE, and NotMail for a file that is something else.
        """
        if self.content is not None:
            return self.content
        raw = contents(self.path, self.start, self.stop)
        if self.stop is None:
            # Asked here first: nearly all mail is neither, and is spared a call.
            suspicious = raw[:2] in SUSPICIOUS or raw.find(b"\0", 0, HEAD) >= 0
            if suspicious and (what := foreign_format(raw)):
                raise NotMail(what, self.path)
            return emlx.message_in(raw, self.path) if self.path.endswith(".emlx") else raw
        if len(raw) < self.stop - self.start or not raw.startswith(b"From "):
            raise OSError(errno.ESTALE, "the mailbox changed while it was being read", self.path)
        return unquoted(raw)


def messages(found: Iterable[Entry], on_unreadable: Report) -> Iterator[tuple[Entry, bytes]]:
    """Entries with their raw messages; the unreadable are only reported."""
    for entry in found:
        try:
            raw = entry.read()
        except OSError as error:
            on_unreadable(entry.name, error)
        else:
            yield entry, raw
