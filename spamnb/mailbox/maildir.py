"""A Maildir as a mailbox. A folder's ``place`` is its path, and so is a message's.

Folders are Maildir++'s, ``.Junk``, ``.Work.Plans`` beside the mailbox's own ``cur``, ``new`` and ``tmp``; or nested
ones, ``Mail/INBOX`` beside ``Mail/Junk`` or ``Mail`` with ``Mail/Junk`` in it, as mbsync and offlineimap make them.
A message is renamed into its folder: whatever is killed leaves it in one of the two.
"""

from __future__ import annotations

import itertools
import os
import re
import socket
import time
from collections.abc import Hashable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path

from spamnb.errors import SpamnbError
from spamnb.mailbox.box import Arrived, Move, readable
from spamnb.reader.message import digest
from spamnb.reader.spam_fields import section_length
from spamnb.shown_text import escape
from spamnb.sources.entries import attempt, check_link, read_file
from spamnb.sources.folders import is_maildir
from spamnb.sources.mailbox import Folder, MailboxMessage, decode_name, encode_name, folder_role
from spamnb.store.database import sql_text

_SETTLED = 2.0  # seconds: a directory changed more recently may change again without a new time stamp
_numbers = itertools.count()
_PARTS = ("tmp", "new", "cur")
_SIZES = re.compile(r",[SW]=[0-9]+(?=[,:]|$)")
_KEYWORDS = re.compile("[a-z]")


class MaildirBox:
    """A Maildir and its folders; where Junk lies beside it, those that do so too."""

    def __init__(self, path: Path, junk: str | None = None) -> None:
        self.path, self.shown, self.home = path, escape(str(path)), str(path.absolute())
        if not is_maildir(path):
            raise SpamnbError(f"{self.shown}: no Maildir (it has no cur and new)")
        self.record = path / "spamnb-places.sqlite"
        self.inbox = Folder("INBOX", path, "inbox")
        self._junk = junk
        self.junk()  # a name that is none is refused at once
        self._listed: dict[Path, dict[str, MailboxMessage]] = {}

    def folders(self) -> list[Folder]:
        paths = mailbox(self.path, self.junk().place)
        return [self.inbox, *(self._folder(path) for path in paths if path != self.path)]

    def refresh(self) -> None:
        """Do nothing: the file system is asked each time."""

    def _folder(self, path: Path) -> Folder:
        name = os.path.relpath(path, self.path)
        return _named(name if name.startswith("..") else name.removeprefix("."), path)

    def locate(self, name: str) -> Folder:
        return _named(name, locate(self.path, name))

    def junk(self) -> Folder:
        """One that is there by its name in any language, or Junk."""
        if self._junk is not None:
            return self.locate(self._junk)
        inside = [self._folder(path) for path in folders_in(self.path)[1:]]
        if there := [folder for folder in inside if folder.role == "junk"]:
            return min(there, key=lambda folder: (folder.name.count("."), folder.name != "Junk", folder.name))
        found = self.locate("Junk")
        for path in [] if inside else _maildirs_in(self.path.resolve().parent):
            if folder_role(path.name.removeprefix(".")) == "junk":
                why = f"no folder of spam in it but one beside it; --junk ../{escape(path.name)} names that one"
                raise SpamnbError(f"{self.shown}: {why}")
        return found

    def exists(self, folder: Folder) -> bool:
        return folder.place.is_dir()

    def make(self, folder: Folder) -> None:
        if not self.exists(folder) and folder.place.parent == self.path:
            subscribe(self.path, folder.place.name.removeprefix("."))
        made(folder.place)

    def is_below(self, folder: Folder, parent: Folder) -> bool:
        """By Maildir++'s names or nested, whatever links lead there."""
        path, above = str(folder.place.resolve()), str(parent.place.resolve())
        return path == above or path.startswith((above + ".", above + os.sep))

    def key(self, folder: Folder) -> str:
        return sql_text(os.path.relpath(folder.place, self.path))

    def messages(self, folder: Folder, beginning: str = "") -> list[MailboxMessage]:
        """Return the messages of a folder whose file names have this beginning."""
        messages = []
        for part in ("new", "cur"):
            with suppress(FileNotFoundError):
                messages += [self._message(folder, path) for path in files(folder.place / part, beginning)]
        return messages

    def _message(self, folder: Folder, path: Path) -> MailboxMessage:
        return MailboxMessage(folder, sql_text(delivered(path)), escape(str(path)), path)

    def count(self) -> int:
        return sum(len(self.messages(folder)) for folder in self.folders())

    def find(self, folder: Folder, keys: Sequence[str]) -> list[MailboxMessage]:
        known = self._listed.get(folder.place, {})
        if not all(key in known and known[key].place.exists() for key in keys):
            known = self._list(folder)
        return [known[key] for key in keys if key in known]

    def _list(self, folder: Folder) -> dict[str, MailboxMessage]:
        self._listed[folder.place] = {message.key: message for message in self.messages(folder)}
        return self._listed[folder.place]

    def lookup(self, place: str, message_id: str) -> list[MailboxMessage]:
        path, folder = Path(place), self.folder_at(place)
        check_link(path.parent)
        # A mail reader renames a message to flag it. Only then the folder is listed: 15,000 names take 10 ms.
        is_there = path.is_file() and not path.is_symlink()
        return [self._message(folder, path)] if is_there else self.messages(folder, delivered(path))

    def read(self, messages: Sequence[MailboxMessage]) -> Iterator[tuple[MailboxMessage, bytes | OSError]]:
        for message in messages:
            yield message, attempt(partial(read_file, str(message.place)))

    def headers(self, messages: Sequence[MailboxMessage]) -> Iterator[tuple[MailboxMessage, bytes | OSError]]:
        for message, raw in self.read(messages):
            yield message, raw[: section_length(raw)] if isinstance(raw, bytes) else raw

    def kin(self, messages: Sequence[MailboxMessage]) -> Iterator[tuple[MailboxMessage, bytes | OSError]]:
        """By digests: mail readers give a message another file name when they move it."""
        for message, raw in self.read(messages):
            yield message, attempt(partial(digest, raw)) if isinstance(raw, bytes) else raw

    def new(self, mark: str, waiting: Sequence[str]) -> tuple[list[MailboxMessage], str]:
        """What lies in ``new``: there is no mark, and what waits is still there."""
        return [self._message(self.inbox, path) for path in files(self.path / "new")], ""

    def state(self, folder: Folder) -> Hashable:
        """When its directories changed."""
        changed = []
        for part in ("new", "cur"):
            with suppress(FileNotFoundError):
                changed.append((part, (folder.place / part).stat().st_mtime))
        settled = all(time.time() - stamp > _SETTLED for _, stamp in changed)
        return tuple(changed) if settled else None

    def arrived(self, folder: Folder, mark: str, known: int) -> Arrived:
        return Arrived(list(self._list(folder).values()), "", True)

    def mark(self, folder: Folder) -> str:
        """No mark: a folder is looked at as a whole."""
        return ""

    def move(
        self, messages: Sequence[MailboxMessage], into: Folder
    ) -> dict[MailboxMessage, MailboxMessage | OSError | None]:
        moved: dict[MailboxMessage, MailboxMessage | OSError | None] = {}
        for message in messages:
            try:
                moved[message] = self._message(into, move(message.place, into.place))
            except FileNotFoundError:  # a mail reader moved it meanwhile
                continue
            except OSError as error:
                moved[message] = error
        return moved

    def settle(self, moves: Sequence[Move]) -> Iterator[tuple[Move, MailboxMessage | None]]:
        """A move is one step, so it is done where the message is in the one folder and no longer in the other."""
        folders = {self.key(folder): folder for folder in self.folders()}
        for move in moves:
            if move.folder not in folders or move.target not in folders:
                yield move, None
                continue
            if self.find(folders[move.folder], [move.key]):
                yield move, None
            else:
                there = self.kin(self.messages(folders[move.target]))
                yield move, next((message for message, kin in there if kin == move.kin), None)

    def place(self, folder: Folder, message: MailboxMessage | None) -> str:
        """Its path."""
        return str(message.place.absolute()) if message is not None else ""

    def folder_at(self, place: str) -> Folder:
        path = Path(place).parent.parent
        return self.inbox if path == self.path else self._folder(path)

    def wait(self, state: Hashable, seconds: float, stop: int) -> None:
        """As long as it may be: nothing tells that a Maildir changed."""
        readable([stop], seconds)

    def close(self) -> None:
        """A Maildir holds nothing open."""


def _named(name: str, path: Path) -> Folder:
    name = decode_name(name)
    return Folder(escape(name), path, folder_role(name.replace(os.sep, ".").rpartition(".")[2]))


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
    if not all(plain.split(".")) or plain.upper() == "INBOX":
        raise SpamnbError(f"{name!r} names no folder of a Maildir, as Junk does")
    own = maildir.resolve()
    # A folder in a folder of another Maildir would be one that mail readers, and what synchronises mail, do not know.
    if (own / "maildirfolder").exists() or is_maildir(own.parent):
        raise SpamnbError(
            f"{box}: a folder of the Maildir {escape(str(own.parent))}; name that one instead,"
            f" or {name!r} by its path, as ../.{plain}"
        )
    if own.name.removeprefix(".").lower() == plain.lower():
        raise SpamnbError(f"{box}: called {name!r} itself; name the Maildir beside it")
    if existing := _existing(maildir, plain):
        return existing
    # Mail of a nested layout that went to a new .Junk would be lost to sight: mbsync takes it from the server.
    beside = _existing(own.parent, plain)
    if beside is not None and is_maildir(beside):
        why = f"no folder {plain!r} in it but one beside it; write ../{beside.name} if that is meant"
        raise SpamnbError(f"{box}: {why}")
    return maildir / ("." + encode_name(plain))


def _existing(parent: Path, plain: str) -> Path | None:
    """The folder of this name in *parent*, if there is one, however it is written; one that is spelt exactly so first,
    and Maildir++'s before nested ones."""
    wanted = decode_name(plain)
    try:
        names = {name: decode_name(name.removeprefix(".")) for name in sorted(os.listdir(parent))}
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
    check_link(folder, *(folder / part for part in _PARTS))
    for part in _PARTS:
        (folder / part).mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder


def subscribe(maildir: Path, name: str) -> None:
    """Add a folder to the list of those that Dovecot or Courier shows; its name is as it is written on disk."""
    dovecot, courier = maildir / "subscriptions", maildir / "courierimapsubscribed"
    if courier.exists():
        check_link(courier)
        with courier.open("a") as file:
            file.write(f"INBOX.{name}\n")
    if dovecot.exists() or any(maildir.glob("dovecot*")):
        check_link(dovecot)
        with dovecot.open("a+") as file:
            file.seek(0)
            file.write((name.replace(".", "\t") if file.readline().startswith("V\t2") else name) + "\n")


def _maildirs_in(folder: Path) -> list[Path]:
    """The Maildirs in a folder that can be listed, by name."""
    try:
        return [path for path in sorted(folder.iterdir()) if is_maildir(path)]
    except OSError:
        return []


def folders_in(maildir: Path) -> list[Path]:
    """The mailbox itself and the folders in it, in order of their names; those, too, that may not be looked into."""
    with os.scandir(maildir) as entries:
        inside = [entry for entry in entries if entry.name not in _PARTS and entry.is_dir()]
    dotted = [Path(entry.path) for entry in inside if entry.name[0] == "."]
    found = [path for path in dotted if not os.access(path, os.X_OK) or (path / "cur").is_dir()]
    nested = [entry.path for entry in inside if entry.name[0] != "." and not entry.is_symlink()]  # a link may lead back
    for path in nested:
        if os.access(path, os.R_OK) and is_maildir(path):
            found += folders_in(Path(path))
    return [maildir, *sorted(found)]


def mailbox(maildir: Path, folder: Path) -> list[Path]:
    """The folders of the mailbox that *folder* is part of: those in *maildir*, and where *folder* lies outside of it,
    as in nested layouts, also those beside the two, each under one name.

    For ``Mail/INBOX`` and ``Mail/[Gmail]/Spam`` that is every Maildir in ``Mail`` and in ``Mail/[Gmail]``.
    """
    found = folders_in(maildir)
    box, outside = maildir.resolve(), folder.resolve()
    if outside.is_relative_to(box):
        return found
    for parent in outside.parents:
        if parent.is_relative_to(box.parent):
            with os.scandir(parent) as entries:
                beside = sorted(entry.path for entry in entries if os.access(entry.path, os.R_OK))
            found += [each for path in beside if is_maildir(path) for each in folders_in(Path(path))]
    named: dict[Path, Path] = {}
    for path in [*found, folder]:
        named.setdefault(path.resolve(), path)
    return list(named.values())


def files(part: Path, beginning: str = "") -> list[Path]:
    """Return the messages in ``cur`` or ``new`` whose names have this beginning, in order of their names."""
    check_link(part)
    with os.scandir(part) as entries:
        return sorted(
            Path(entry.path)
            for entry in entries
            if entry.name.startswith(beginning) and entry.name[0] != "." and entry.is_file(follow_symlinks=False)
        )


def delivered(message: Path) -> str:
    """The part of a message's file name that also stays where programs that synchronise mail add theirs.

    >>> delivered(Path("new/1700000000.M1P2.host,U=7"))
    '1700000000.M1P2.host'
    """
    return re.split("[,:]", message.name, maxsplit=1)[0]


def move(message: Path, into: Path) -> Path:
    """Move a message to a folder in one step; its new path. Raises FileNotFoundError where a mail reader moved it
    meanwhile.

    It gets a new name: mbsync and offlineimap write its UID into the old one, ``,U=222``, which holds in that folder
    only, and mbsync refuses a folder where two messages have the same. Its date, its flags and the sizes that Dovecot
    wrote, ``,S=321,W=330``, are kept; keywords, the small letters, mean others in another folder and are not.
    """
    base, colon, flags = message.name.partition(":")
    sizes = "".join(_SIZES.findall(base))
    if flags.startswith("2,"):
        flags = _KEYWORDS.sub("", flags)
    part = into / message.parent.name
    check_link(into, part)
    return message.rename(part / f"{_fresh_name()}{sizes}{colon}{flags}")


def _fresh_name() -> str:
    """A unique name as Maildir's rules make them."""
    now = time.time_ns()
    host = socket.gethostname().replace("/", "\\057").replace(":", "\\072")
    return f"{now // 10**9}.M{now % 10**9 // 1000}P{os.getpid()}Q{next(_numbers)}.{host}"
