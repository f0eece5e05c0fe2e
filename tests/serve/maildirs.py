"""A Maildir in the hands of a mail reader, for which Python's own ``mailbox`` stands."""

import mailbox
from pathlib import Path

from spamnb.sources import maildir


def made(box: Path, name: str) -> Path:
    return maildir.made(maildir.locate(box, name))


def path_of(box: mailbox.Maildir) -> Path:
    return Path(box._path)  # type: ignore[attr-defined]


def put(box: mailbox.Maildir, source: mailbox.Maildir, target: mailbox.Maildir, raw: bytes) -> None:
    """Move a message as mail readers do: a copy under a new name, then the old one goes."""
    key = next(key for key, message in source.items() if message.as_bytes() == raw)
    target.add(source[key])
    source.remove(key)
