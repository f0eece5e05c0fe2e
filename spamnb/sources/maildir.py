"""A Maildir and its folders: the messages in them, and moving one without ever losing it.

Folders are Maildir++'s, ``.Junk``, ``.Work.Plans`` beside the mailbox's own ``cur``, ``new`` and ``tmp``; or nested
ones, ``Mail/INBOX`` beside ``Mail/Junk`` or ``Mail`` with ``Mail/Junk`` in it, as mbsync and offlineimap make them.
Every step leaves a message under at least one name, so what is killed half-way through leaves it twice, never none.
"""

from __future__ import annotations

import itertools
import os
import re
import socket
import time
from pathlib import Path

from spamnb.errors import SpamnbError
from spamnb.naming import escape
from spamnb.sources.mailbox import decoded, encoded

_numbers = itertools.count()
_PARTS = ("tmp", "new", "cur")
_SIZES = re.compile(r",[SW]=[0-9]+(?=[,:]|$)")
_KEYWORDS = re.compile("[a-z]")


def is_maildir(path: str | Path) -> bool:
    """Whether *path* has a Maildir's three parts."""
    return all(os.path.isdir(os.path.join(path, part)) for part in _PARTS)


def checked(path: Path) -> Path:
    """*path*, which must be a Maildir."""
    if not is_maildir(path):
        raise SpamnbError(f"{escape(str(path))}: no Maildir (it has no cur, new and tmp)")
    return path


def locate(maildir: Path, name: str) -> Path:
    """Where the folder that a person calls *name* is, or would be made.

    A name without a separator is Maildir++'s, or that of an existing folder nested in *maildir*; in any case where
    none has it exactly. One with a separator is a path from *maildir* on, or absolute, to a Maildir that exists: the
    current directory decides nothing. A new folder's name is written in modified UTF-7, as servers do. Raises
    SpamnbError for all else.

    >>> locate(Path("Maildir"), "Junk").name, locate(Path("Maildir"), ".Junk").name
    ('.Junk', '.Junk')
    >>> locate(Path("Maildir"), "Indésirables").name
    '.Ind&AOk-sirables'
    """
    box = escape(str(maildir))
    if os.sep in name:
        path = maildir / name
        if not is_maildir(path):
            raise SpamnbError(
                f"{escape(str(path))}: no Maildir, so no folder of {box};"
                " a path names one that exists, and only a plain name, as Junk, one that is to be made"
            )
        if path.samefile(maildir):
            raise SpamnbError(f"{name!r} names no folder of {box} but the mailbox itself")
        return path
    plain = name.removeprefix(".")
    if not all(plain.split(".")):
        raise SpamnbError(f"{name!r} names no folder of a Maildir, as Junk does")
    _check_inbox(maildir, name)
    if existing := _existing(maildir, plain):
        return existing
    # Mail of a nested layout that went to a new .Junk would be lost to sight: mbsync takes it from the server.
    beside = _existing(maildir.resolve().parent, plain)
    if beside is not None and is_maildir(beside):
        why = f"no folder {plain!r} in it but one beside it; write ../{beside.name} if that is meant"
        raise SpamnbError(f"{box}: {why}")
    return maildir / ("." + encoded(plain))


def _check_inbox(maildir: Path, name: str) -> None:
    """SpamnbError where *maildir* is a folder of another Maildir: a folder *name* in it would be one that mail readers
    and programs that synchronise mail do not know."""
    own = maildir.resolve()
    if (own / "maildirfolder").exists() or is_maildir(own.parent):
        raise SpamnbError(
            f"{escape(str(maildir))}: a folder of the Maildir {escape(str(own.parent))}; name that one instead,"
            f" or {name!r} by its path, as ../.{name.removeprefix('.')}"
        )
    if own.name.removeprefix(".").lower() == name.removeprefix(".").lower():
        raise SpamnbError(f"{escape(str(maildir))}: called {name!r} itself; name the Maildir beside it")


def _existing(parent: Path, plain: str) -> Path | None:
    """The folder of this name in *parent*, if there is one, however it is written; one that is spelt exactly so first,
    and Maildir++'s before nested ones."""
    wanted = decoded(plain)
    try:
        names = {name: decoded(name.removeprefix(".")) for name in sorted(os.listdir(parent))}
    except OSError:  # not there yet, or not ours to list
        return None
    like = [name for name, shown in names.items() if shown.lower() == wanted.lower()]
    for name in sorted(like, key=lambda name: names[name] != wanted):
        path = parent / name
        if is_maildir(path) or (name[0] == "." and path.is_dir()):
            return path
    return None


def made(folder: Path) -> Path:
    """*folder*, made where there is none."""
    for part in _PARTS:
        (folder / part).mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder


def folders(maildir: Path) -> list[Path]:
    """The mailbox itself and the folders in it, in order of their names; those, too, that may not be looked into."""
    with os.scandir(maildir) as entries:
        inside = [entry for entry in entries if entry.name not in _PARTS and entry.is_dir()]
    dotted = [Path(entry.path) for entry in inside if entry.name[0] == "."]
    found = [path for path in dotted if not os.access(path, os.X_OK) or (path / "cur").is_dir()]
    nested = [entry.path for entry in inside if entry.name[0] != "." and not entry.is_symlink()]  # a link may lead back
    for path in nested:
        if os.access(path, os.R_OK) and is_maildir(path):
            found += folders(Path(path))
    return [maildir, *sorted(found)]


def mailbox(maildir: Path, folder: Path) -> list[Path]:
    """The folders of the mailbox that *folder* is part of: those in *maildir*, and where *folder* lies outside of it,
    as in nested layouts, also those beside the two, each under one name.

    For ``Mail/INBOX`` and ``Mail/[Gmail]/Spam`` that is every Maildir in ``Mail`` and in ``Mail/[Gmail]``.
    """
    found = folders(maildir)
    box, outside = maildir.resolve(), folder.resolve()
    if outside.is_relative_to(box):
        return found
    for parent in outside.parents:
        if parent.is_relative_to(box.parent):
            with os.scandir(parent) as entries:
                beside = sorted(entry.path for entry in entries if os.access(entry.path, os.R_OK))
            found += [each for path in beside if is_maildir(path) for each in folders(Path(path))]
    named: dict[Path, Path] = {}
    for path in [*found, folder]:
        named.setdefault(path.resolve(), path)
    return list(named.values())


def files(part: Path) -> list[Path]:
    """The messages in a folder's ``cur`` or ``new``, in order of their names."""
    with os.scandir(part) as entries:
        return sorted(
            Path(entry.path) for entry in entries if entry.name[0] != "." and entry.is_file(follow_symlinks=False)
        )


def delivered(message: Path) -> str:
    """The part of a message's file name that also stays where programs that synchronise mail add theirs.

    >>> delivered(Path("new/1700000000.M1P2.host,U=7"))
    '1700000000.M1P2.host'
    """
    return re.split("[,:]", message.name, maxsplit=1)[0]


def move(message: Path, into: Path) -> Path:
    """Move a message to a folder; its new path. Raises FileNotFoundError where a mail reader moved it meanwhile.

    It gets a new name: mbsync and offlineimap write its UID into the old one, ``,U=222``, which holds in that folder
    only, and mbsync refuses a folder where two messages have the same. Its date, its flags and the sizes that Dovecot
    wrote, ``,S=321,W=330``, are kept; keywords, the small letters, mean others in another folder and are not.

    Where it may not be taken out of its folder, one of somebody else's or of a read-only file system, it stays there
    only: else each run would put one more copy into the other.
    """
    base, colon, flags = message.name.partition(":")
    sizes = "".join(_SIZES.findall(base))
    if flags.startswith("2,"):
        flags = _KEYWORDS.sub("", flags)
    target = into / message.parent.name / f"{_fresh_name()}{sizes}{colon}{flags}"
    os.link(message, target)
    try:
        message.unlink()
    except FileNotFoundError:  # a mail reader has just renamed it: it stays under that name only
        target.unlink(missing_ok=True)
        raise
    except OSError:
        if message.exists():  # else it was taken out after all, and *target* is the only one
            target.unlink(missing_ok=True)
        raise
    return target


def _fresh_name() -> str:
    """A unique name as Maildir's rules make them."""
    now = time.time_ns()
    host = socket.gethostname().replace("/", "\\057").replace(":", "\\072")
    return f"{now // 10**9}.M{now % 10**9 // 1000}P{os.getpid()}Q{next(_numbers)}.{host}"
