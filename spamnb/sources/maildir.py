"""A Maildir and its folders: the messages in them, and moving or replacing one without ever losing it.

Folders are Maildir++'s: the mailbox itself, and ``.Junk``, ``.Work.Plans`` beside its ``cur``, ``new`` and ``tmp``.
A message keeps its flags. Every step leaves the message under at least one name, so what is killed half-way through
leaves a message twice, never none.
"""

from __future__ import annotations

import gzip
import itertools
import os
import socket
import time
from pathlib import Path

from spamnb.errors import SpamnbError
from spamnb.sources.mbox import GZIP

_numbers = itertools.count()


def checked(path: Path) -> Path:
    """*path*, which must be a Maildir."""
    if not all((path / name).is_dir() for name in ("cur", "new", "tmp")):
        raise SpamnbError(f"{path}: no Maildir (it has no cur, new and tmp)")
    return path


def place(maildir: Path, name: str) -> Path:
    """Where the folder called *name* is, or would be; a path with a separator is taken as it is.

    >>> place(Path("Maildir"), "Junk").name, place(Path("Maildir"), ".Junk").name
    ('.Junk', '.Junk')
    """
    if os.sep in name:
        return Path(name)
    if not name.strip("."):  # the mailbox itself
        raise SpamnbError(f"{name!r} names no folder of a Maildir, as Junk does")
    return maildir / ("." + name.lstrip("."))


def folder(maildir: Path, name: str) -> Path:
    """The folder called *name*, made where there is none."""
    path = place(maildir, name)
    for part in ("tmp", "new", "cur"):
        (path / part).mkdir(mode=0o700, parents=True, exist_ok=True)
    return path


def folders(maildir: Path) -> list[Path]:
    """The mailbox itself and its folders, in order of their names; those, too, that may not be looked into."""
    with os.scandir(maildir) as entries:
        found = [Path(entry.path) for entry in entries if entry.name[0] == "." and entry.is_dir()]
    return [maildir, *sorted(path for path in found if not os.access(path, os.X_OK) or (path / "cur").is_dir())]


def files(part: Path) -> list[Path]:
    """The messages in a folder's ``cur`` or ``new``, in order of their names."""
    with os.scandir(part) as entries:
        return sorted(
            Path(entry.path) for entry in entries if entry.name[0] != "." and entry.is_file(follow_symlinks=False)
        )


def unique(message: Path) -> str:
    """The part of a message's file name that stays while its flags change.

    >>> unique(Path("cur/1700000000.M1P2.host,S=321:2,RS"))
    '1700000000.M1P2.host,S=321'
    """
    return message.name.partition(":")[0]


def move(message: Path, into: Path) -> Path:
    """Move a message to a folder; its new path. Raises FileNotFoundError where a mail reader moved it meanwhile."""
    target = into / message.parent.name / message.name
    try:
        os.link(message, target)
    except FileExistsError:
        target = target.with_name(_fresh_name(message))
        os.link(message, target)
    return _instead(message, target)


def replace(message: Path, content: bytes) -> Path:
    """Give a message other content; its new path. Raises FileNotFoundError where a mail reader moved it meanwhile.

    It gets a new name, since a name may hold the message's size, and keeps its date and flags; where it was kept
    compressed, as Dovecot does, it is again.
    """
    name = _fresh_name(message)
    written = message.parent.parent / "tmp" / name.partition(":")[0]
    try:
        status = message.stat()
        with message.open("rb") as before:
            compressed = before.read(len(GZIP)) == GZIP
        with written.open("xb") as file:
            os.fchmod(file.fileno(), status.st_mode & 0o777)
            file.write(gzip.compress(content) if compressed else content)
            file.flush()
            os.fsync(file.fileno())
        os.utime(written, ns=(status.st_atime_ns, status.st_mtime_ns))
        target = message.with_name(name)
        os.rename(written, target)
    except BaseException:
        written.unlink(missing_ok=True)
        raise
    return _instead(message, target)


def _instead(message: Path, target: Path) -> Path:
    """Leave the message as *target* only; where a mail reader has just renamed it, under that name only."""
    try:
        message.unlink()
    except FileNotFoundError:
        target.unlink(missing_ok=True)
        raise
    return target


def _fresh_name(message: Path) -> str:
    """A unique name as Maildir's rules make them, with the message's flags."""
    now = time.time_ns()
    host = socket.gethostname().replace("/", "\\057").replace(":", "\\072")
    unique = f"{now // 10**9}.M{now % 10**9 // 1000}P{os.getpid()}Q{next(_numbers)}.{host}"
    return unique + "".join(message.name.partition(":")[1:])
