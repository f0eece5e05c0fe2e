"""A Maildir as a mailbox. The ``location`` of a message is the path of its file.

In the layout Maildir++ the folders are ``.Junk`` and ``.Work.Plans``, beside the mailbox's ``cur``, ``new`` and
``tmp``. In nested layouts, as mbsync and offlineimap make them, ``Mail/Junk`` is beside the Maildir ``Mail/INBOX``, or
in the Maildir ``Mail``. A message is moved by renaming its file, so after a kill it is in one of the folders.
"""

from __future__ import annotations

import errno
import itertools
import os
import re
import socket
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import NamedTuple

from spamnb.errors import SpamnbError
from spamnb.mailbox.interface import Arrivals, FolderState, Move, Part, wait_readable
from spamnb.reader.message import digest
from spamnb.reader.spam_fields import section_length
from spamnb.shown_text import escape
from spamnb.sources.entries import attempt, check_link, read_file
from spamnb.sources.folders import is_maildir
from spamnb.sources.imap_connection import Denied
from spamnb.sources.mailbox import SPAM, Folder, MailboxMessage, decode_name, encode_name, folder_role
from spamnb.store.database import sql_text

_MIN_AGE = 2.0  # seconds: until its time stamp is older, a directory may change again and keep the time stamp
_numbers = itertools.count()
_PARTS = ("tmp", "new", "cur")
_SIZES = re.compile(r",[SW]=[0-9]+(?=[,:]|$)")  # in a message's file name
_KEYWORDS = re.compile("[a-z]")  # among the flags in a message's file name


class _MaildirState(NamedTuple):
    """The times at which the directories of a folder changed, and now if one changed in the last seconds."""

    times: tuple[float, ...]
    mark: str = ""  # `MaildirMailbox.arrivals` always lists the whole folder


class MaildirMailbox:
    """A Maildir and its folders. If Junk is beside the Maildir, all folders beside the two belong to the mailbox."""

    def __init__(self, path: Path, junk: str | None = None) -> None:
        self.path, self.display_name, self.address = path, escape(str(path)), str(path.absolute())
        self.prepare_lock()
        self.lock_path = path / "spamnb-places.lock"
        self.inbox = Folder("INBOX", path, "inbox", ".")
        self._junk = junk
        self.locate()  # raises SpamnbError for a wrong name
        self._by_key: dict[Path, dict[str, MailboxMessage]] = {}  # of each folder, at its last listing

    def prepare_lock(self) -> None:
        _check_is_maildir(self.path, self.display_name)

    def folders(self, fresh: bool = False) -> list[Folder]:
        """Return the folders that the file system has now."""
        junk = self._junk_path()
        paths = list_mailbox_folders(self.path, junk)
        return [self.inbox, *(self._folder(path, junk) for path in paths if path != self.path)]

    def _folder(self, path: Path, junk: Path | None = None) -> Folder:
        """Return the folder at a path. Its role is SPAM if it is ``junk`` or in it, in Maildir++ or a nested layout."""
        key = sql_text(os.path.relpath(path, self.path))
        name = decode_name(key if key.startswith("..") else key.removeprefix("."))
        role = folder_role(name.replace(os.sep, ".").rpartition(".")[2])
        if junk is not None:
            real_path, real_junk = str(path.resolve()), str(junk.resolve())
            role = SPAM if f"{real_path}/".startswith((f"{real_junk}/", f"{real_junk}.")) else role
        return Folder(escape(name), path, role, key)

    def locate(self, name: str | None = None) -> Folder:
        junk = self._junk_path()
        return self._folder(junk if name is None else locate_folder(self.path, name), junk)

    def _junk_path(self) -> Path:
        """Return the folder of spam: the person's choice, a folder that is called junk in any language, or Junk."""
        if self._junk is not None:
            return locate_folder(self.path, self._junk)
        folders = [self._folder(path) for path in list_folders(self.path)[1:]]
        if candidates := [folder for folder in folders if folder.role == "junk"]:
            return min(candidates, key=lambda folder: (folder.name.count("."), folder.name != "Junk", folder.name)).path
        junk = locate_folder(self.path, "Junk")
        for path in [] if folders else _maildirs_in(self.path.resolve().parent):
            if folder_role(path.name.removeprefix(".")) == "junk":
                problem = f"its folder of spam may be the one beside it; if so, write --junk ../{escape(path.name)}"
                raise SpamnbError(f"{self.display_name}: {problem}")
        return junk

    def state(self, folder: Folder) -> _MaildirState:
        times = []
        for part in ("new", "cur"):
            with suppress(FileNotFoundError):
                times.append((folder.path / part).stat().st_mtime)
        now = time.time()
        is_certain = all(now - changed_at > _MIN_AGE for changed_at in times)
        return _MaildirState(tuple(times) if is_certain else (*times, now))

    def messages(self, folder: Folder, keys: Sequence[str] | None = None) -> list[MailboxMessage]:
        if keys is None:
            return self._files(folder)
        by_key = self._by_key.get(folder.path, {})
        if not all(key in by_key and by_key[key].location.exists() for key in keys):
            by_key = self._list(folder)
        return [by_key[key] for key in keys if key in by_key]

    def _list(self, folder: Folder) -> dict[str, MailboxMessage]:
        self._by_key[folder.path] = {message.key: message for message in self._files(folder)}
        return self._by_key[folder.path]

    def _files(self, folder: Folder, beginning: str = "", parts: Sequence[str] = _PARTS[1:]) -> list[MailboxMessage]:
        """Return the messages of a folder whose file names begin with ``beginning``."""
        messages = []
        for part in parts:
            with suppress(FileNotFoundError):
                messages += [self._message(folder, path) for path in files(folder.path / part, beginning)]
        return messages

    def _message(self, folder: Folder, path: Path) -> MailboxMessage:
        return MailboxMessage(folder, sql_text(base_name(path)), escape(str(path)), path)

    def arrivals(self, folder: Folder, mark: str, n_recorded: int = 0, *, unseen: bool = False) -> Arrivals:
        """Return the messages in ``new``, or all messages. The mark is not needed."""
        messages = self._files(folder, parts=["new"]) if unseen else list(self._list(folder).values())
        return Arrivals(messages, "", True)

    def lookup(self, path: str, message_id: str) -> list[MailboxMessage]:
        file = Path(path)
        folder = self.inbox if file.parent.parent == self.path else self._folder(file.parent.parent)
        check_link(file.parent)
        # The folder is listed only if a mail reader renamed the file, because listing 15,000 names takes 10 ms.
        exists = file.is_file() and not file.is_symlink()
        return [self._message(folder, file)] if exists else self._files(folder, base_name(file))

    def format_path(self, folder: Folder, message: MailboxMessage | None) -> str:
        """Return the absolute path of the message's file."""
        return str(message.location.absolute()) if message is not None else ""

    def read(
        self, messages: Sequence[MailboxMessage], part: Part = "whole"
    ) -> Iterator[tuple[MailboxMessage, bytes | OSError]]:
        """Yield messages. An identity is a digest of the message, because mail readers rename its file to move it."""
        for message in messages:
            raw = attempt(partial(read_file, str(message.location)))
            if part == "header" and isinstance(raw, bytes):
                raw = raw[: section_length(raw)]
            elif part == "identity" and isinstance(raw, bytes):
                raw = attempt(partial(digest, raw))
            yield message, raw

    def move(
        self, messages: Sequence[MailboxMessage], into: Folder
    ) -> dict[MailboxMessage, MailboxMessage | OSError | None]:
        try:
            if not into.path.is_dir() and into.path.parent == self.path:
                subscribe(self.path, into.path.name.removeprefix("."))
            make_folder(into.path)
            for part in {message.location.parent.name for message in messages}:
                _check_writable(into.path / part)
        except OSError as error:
            raise Denied(f"{into.name}: cannot move mail to it: {error.strerror}") from None
        moved: dict[MailboxMessage, MailboxMessage | OSError | None] = {}
        for message in messages:
            try:
                moved[message] = self._message(into, move_file(message.location, into.path))
            except FileNotFoundError:  # a mail reader moved the file
                continue
            except OSError as error:
                moved[message] = error
        return moved

    def settle(self, moves: Sequence[Move]) -> Iterator[tuple[Move, MailboxMessage | None]]:
        """Find out which moves were done. A move is one step, so the message is in only one of the folders."""
        folders = {folder.key: folder for folder in self.folders()}
        for move in moves:
            if move.folder not in folders or move.target not in folders:
                yield move, None
                continue
            if self.messages(folders[move.folder], [move.key]):
                yield move, None
            else:
                identities = self.read(self.messages(folders[move.target]), "identity")
                yield move, next((message for message, identity in identities if identity == move.identity), None)

    def wait(self, state: FolderState | None, seconds: float, stop: int) -> None:
        """Wait all of ``seconds``, because nothing announces that a Maildir changed."""
        wait_readable([stop], seconds)

    def close(self) -> None:
        """Do nothing, because no file stays open."""


def _check_writable(folder: Path) -> None:
    """Raise OSError if no file can be moved into a folder."""
    if not os.access(folder, os.W_OK | os.X_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(folder))


def _check_is_maildir(path: Path, display_name: str) -> None:
    """Raise SpamnbError if a path is no Maildir, or if it cannot be read."""
    try:
        for folder in (path, path / "cur", path / "new"):
            os.scandir(folder).close()
    except (FileNotFoundError, NotADirectoryError):
        if (path / "prefs.js").exists() or any(path.glob("*.msf")) or Path(f"{path}.msf").exists():
            problem = "Thunderbird's mail, which only Thunderbird may change; name the account on its server, as"
            hint = "imaps://USER@HOST; for local and POP mail see docs/imap.md#thunderbirds-local-and-pop-mail"
            raise SpamnbError(f"{display_name}: {problem} {hint}") from None
        problem = "no Maildir, because it has no cur and new" if path.exists() else "no such folder"
        raise SpamnbError(f"{display_name}: {problem}") from None
    except OSError as error:
        raise SpamnbError(f"{display_name}: cannot be read: {error.strerror}") from None


def locate_folder(maildir: Path, name: str) -> Path:
    """Return the path of the folder that a person calls *name*, which may not exist yet.

    A name with a slash is the path of an existing Maildir, absolute or relative to *maildir*, not to the current
    directory. Any other name is a folder of Maildir++, or an existing folder nested in *maildir*. Case is ignored if no
    folder has exactly this name. A new folder gets its name in modified UTF-7, as servers write it. Raise SpamnbError
    for a name that cannot be a folder of *maildir*.

    >>> locate_folder(Path("Maildir"), "Junk").name, locate_folder(Path("Maildir"), ".Junk").name
    ('.Junk', '.Junk')
    >>> locate_folder(Path("Maildir"), "Indésirables").name
    '.Ind&AOk-sirables'
    """
    shown_path = escape(str(maildir))
    if os.sep in name:
        path = maildir / name
        if not is_maildir(path):
            raise SpamnbError(
                f"{escape(str(path))}: no Maildir, so it cannot be a folder of {shown_path};"
                " a path must name an existing Maildir, and a name without a slash may be a new folder"
            )
        if path.samefile(maildir):
            raise SpamnbError(f"{name!r} is the mailbox {shown_path} itself; name one of its folders")
        return path
    plain = name.removeprefix(".")
    if not all(plain.split(".")) or plain.upper() == "INBOX":
        raise SpamnbError(f"{name!r} cannot be the name of a folder; write a name such as Junk")
    root = maildir.resolve()
    # If this Maildir is a folder of another Maildir, mail readers and mbsync do not see folders in it.
    if is_maildir(root.parent):
        raise SpamnbError(
            f"{shown_path}: a folder of the Maildir {escape(str(root.parent))}; name that Maildir instead,"
            f" or write ../.{plain} for {name!r}"
        )
    if root.name.removeprefix(".").lower() == plain.lower():
        raise SpamnbError(f"{shown_path}: this mailbox has the name {name!r} itself; name the Maildir of new mail")
    if existing := _find_existing(maildir, plain):
        return existing
    # In a nested layout mbsync would not see a new .Junk, and would delete the mail that was moved there on the server.
    sibling = _find_existing(root.parent, plain)
    if sibling is not None and is_maildir(sibling):
        problem = f"the folder {plain!r} is beside this Maildir, not in it; write ../{sibling.name}"
        raise SpamnbError(f"{shown_path}: {problem}")
    return maildir / ("." + encode_name(plain))


def _find_existing(parent: Path, plain: str) -> Path | None:
    """Return the folder of this name in *parent*, in upper or lower case and any encoding, or None.

    The same case is preferred, and then a folder of Maildir++.
    """
    target = decode_name(plain)
    try:
        names = {name: decode_name(name.removeprefix(".")) for name in sorted(os.listdir(parent))}
    except OSError:  # *parent* does not exist yet, or cannot be listed
        return None
    candidates = [name for name, decoded in names.items() if decoded.lower() == target.lower()]
    for name in sorted(candidates, key=lambda name: names[name] != target):
        path = parent / name
        if is_maildir(path) or (name[0] == "." and path.is_dir()):
            return path
    return None


def make_folder(folder: Path) -> Path:
    """Make the Maildir *folder* if it does not exist, and return it."""
    check_link(folder, *(folder / part for part in _PARTS))
    for part in _PARTS:
        (folder / part).mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder


def subscribe(maildir: Path, name: str) -> None:
    """Add a folder, by its name on disk, to the list of folders that Dovecot or Courier shows."""
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
    """Return the Maildirs in a folder, sorted by name; none if it cannot be listed."""
    try:
        return [path for path in sorted(folder.iterdir()) if is_maildir(path)]
    except OSError:
        return []


def list_folders(maildir: Path) -> list[Path]:
    """Return the mailbox and its folders, sorted by name. Unreadable ones are included in Maildir++ only."""
    with os.scandir(maildir) as entries:
        directories = [entry for entry in entries if entry.name not in _PARTS and entry.is_dir()]
    dotted = [Path(entry.path) for entry in directories if entry.name[0] == "."]
    folders = [path for path in dotted if not os.access(path, os.X_OK) or (path / "cur").is_dir()]
    # Links are not followed, because a link may lead back to this folder.
    nested = [entry for entry in directories if entry.name[0] != "." and not entry.is_symlink()]
    for entry in nested:
        if os.access(entry.path, os.R_OK) and is_maildir(entry.path):
            folders += list_folders(Path(entry.path))
    return [maildir, *sorted(folders)]


def list_mailbox_folders(maildir: Path, folder: Path) -> list[Path]:
    """Return the folders of the mailbox that *maildir* and *folder* belong to, each once.

    These are *maildir* and the folders in it. If *folder* is outside of *maildir*, as in nested layouts, the Maildirs
    beside the two are added: for ``Mail/INBOX`` and ``Mail/[Gmail]/Spam``, all in ``Mail`` and in ``Mail/[Gmail]``.
    """
    folders = list_folders(maildir)
    root, target = maildir.resolve(), folder.resolve()
    if target.is_relative_to(root):
        return folders
    for parent in target.parents:
        if parent.is_relative_to(root.parent):
            with os.scandir(parent) as entries:
                siblings = sorted(entry.path for entry in entries if os.access(entry.path, os.R_OK))
            folders += [inner for path in siblings if is_maildir(path) for inner in list_folders(Path(path))]
    return list({path.resolve(): path for path in [*folders, folder]}.values())


def files(part: Path, beginning: str = "") -> list[Path]:
    """Return the files of messages in ``cur`` or ``new`` whose names begin with ``beginning``, sorted by name."""
    check_link(part)
    with os.scandir(part) as entries:
        return sorted(
            Path(entry.path)
            for entry in entries
            if entry.name.startswith(beginning) and entry.name[0] != "." and entry.is_file(follow_symlinks=False)
        )


def base_name(message: Path) -> str:
    """Return the beginning of a message's file name, which programs that flag or synchronise mail do not change.

    >>> base_name(Path("new/1700000000.M1P2.host,U=7"))
    '1700000000.M1P2.host'
    """
    return re.split("[,:]", message.name, maxsplit=1)[0]


def move_file(message: Path, into: Path) -> Path:
    """Move a message to a folder in one step, and return its new path.

    Raise FileNotFoundError if a mail reader moved the message before. The file gets a new name, because mbsync and
    offlineimap write the UID into the old name (``,U=222``). The UID is valid in one folder only, and mbsync refuses a
    folder with a duplicate UID. The new name keeps the flags, and the sizes that Dovecot wrote (``,S=321,W=330``).
    Keywords (small letters) are dropped, because a letter is another keyword in another folder.
    """
    base, colon, flags = message.name.partition(":")
    sizes = "".join(_SIZES.findall(base))
    if flags.startswith("2,"):
        flags = _KEYWORDS.sub("", flags)
    part = into / message.parent.name
    check_link(into, part)
    return message.rename(part / f"{_fresh_name()}{sizes}{colon}{flags}")


def _fresh_name() -> str:
    """Return a unique file name by the rules of Maildir."""
    now = time.time_ns()
    host = socket.gethostname().replace("/", "\\057").replace(":", "\\072")
    return f"{now // 10**9}.M{now % 10**9 // 1000}P{os.getpid()}Q{next(_numbers)}.{host}"
