"""A Maildir as a mailbox. The ``location`` of a message is the path of its file.

In the layout Maildir++ the folders are ``.Junk`` and ``.Work.Plans``, beside the mailbox's ``cur``, ``new`` and
``tmp``. In nested layouts, as mbsync and offlineimap make them, ``Mail/Junk`` is beside the Maildir ``Mail/INBOX``, or
in the Maildir ``Mail``. A message is moved by renaming its file, so after a kill it is in one of the folders.
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
from spamnb.mailbox.interface import Arrivals, Move, wait_readable
from spamnb.reader.message import digest
from spamnb.reader.spam_fields import section_length
from spamnb.shown_text import escape
from spamnb.sources.entries import attempt, check_link, read_file
from spamnb.sources.folders import is_maildir
from spamnb.sources.mailbox import Folder, MailboxMessage, decode_name, encode_name, folder_role
from spamnb.store.database import sql_text

_MIN_AGE = 2.0  # seconds: until its time stamp is older, a directory may change again and keep the time stamp
_numbers = itertools.count()
_PARTS = ("tmp", "new", "cur")
_SIZES = re.compile(r",[SW]=[0-9]+(?=[,:]|$)")  # in a message's file name
_KEYWORDS = re.compile("[a-z]")  # among the flags in a message's file name


class MaildirMailbox:
    """A Maildir and its folders. If Junk is beside the Maildir, all folders beside the two belong to the mailbox."""

    def __init__(self, path: Path, junk: str | None = None) -> None:
        self.path, self.display_name, self.address = path, escape(str(path)), str(path.absolute())
        _check_is_maildir(path, self.display_name)
        self.lock_path = path / "spamnb-places.lock"
        self.inbox = Folder("INBOX", path, "inbox")
        self._junk = junk
        self.junk()  # raises SpamnbError for a wrong name
        self._by_key: dict[Path, dict[str, MailboxMessage]] = {}  # of each folder, at its last listing

    def folders(self) -> list[Folder]:
        paths = list_mailbox_folders(self.path, self.junk().path)
        return [self.inbox, *(self._folder(path) for path in paths if path != self.path)]

    def forget_folders(self) -> None:
        """Do nothing, because each call of `folders` reads the file system."""

    def _folder(self, path: Path) -> Folder:
        name = os.path.relpath(path, self.path)
        return _folder_of_name(name if name.startswith("..") else name.removeprefix("."), path)

    def locate(self, name: str) -> Folder:
        return _folder_of_name(name, locate_folder(self.path, name))

    def junk(self) -> Folder:
        """Return the folder of spam: the person's choice, a folder that is called junk in any language, or Junk."""
        if self._junk is not None:
            return self.locate(self._junk)
        folders = [self._folder(path) for path in list_folders(self.path)[1:]]
        if candidates := [folder for folder in folders if folder.role == "junk"]:
            return min(candidates, key=lambda folder: (folder.name.count("."), folder.name != "Junk", folder.name))
        junk = self.locate("Junk")
        for path in [] if folders else _maildirs_in(self.path.resolve().parent):
            if folder_role(path.name.removeprefix(".")) == "junk":
                problem = f"its folder of spam may be the one beside it; if so, write --junk ../{escape(path.name)}"
                raise SpamnbError(f"{self.display_name}: {problem}")
        return junk

    def exists(self, folder: Folder) -> bool:
        return folder.path.is_dir()

    def make_folder(self, folder: Folder) -> None:
        if not self.exists(folder) and folder.path.parent == self.path:
            subscribe(self.path, folder.path.name.removeprefix("."))
        make_folder(folder.path)

    def is_within(self, folder: Folder, parent: Folder) -> bool:
        """Return whether a folder is ``parent`` or below it, in Maildir++ or a nested layout."""
        path, parent_path = str(folder.path.resolve()), str(parent.path.resolve())
        return path == parent_path or path.startswith((parent_path + ".", parent_path + os.sep))

    def folder_key(self, folder: Folder) -> str:
        return sql_text(os.path.relpath(folder.path, self.path))

    def messages(self, folder: Folder, beginning: str = "") -> list[MailboxMessage]:
        """Return the messages of a folder whose file names begin with ``beginning``."""
        messages = []
        for part in ("new", "cur"):
            with suppress(FileNotFoundError):
                messages += [self._message(folder, path) for path in files(folder.path / part, beginning)]
        return messages

    def _message(self, folder: Folder, path: Path) -> MailboxMessage:
        return MailboxMessage(folder, sql_text(base_name(path)), escape(str(path)), path)

    def count(self) -> int:
        return sum(len(self.messages(folder)) for folder in self.folders())

    def find(self, folder: Folder, keys: Sequence[str]) -> list[MailboxMessage]:
        by_key = self._by_key.get(folder.path, {})
        if not all(key in by_key and by_key[key].location.exists() for key in keys):
            by_key = self._list(folder)
        return [by_key[key] for key in keys if key in by_key]

    def _list(self, folder: Folder) -> dict[str, MailboxMessage]:
        self._by_key[folder.path] = {message.key: message for message in self.messages(folder)}
        return self._by_key[folder.path]

    def lookup(self, path: str, message_id: str) -> list[MailboxMessage]:
        file, folder = Path(path), self.find_folder(path)
        check_link(file.parent)
        # The folder is listed only if a mail reader renamed the file, because listing 15,000 names takes 10 ms.
        exists = file.is_file() and not file.is_symlink()
        return [self._message(folder, file)] if exists else self.messages(folder, base_name(file))

    def read(self, messages: Sequence[MailboxMessage]) -> Iterator[tuple[MailboxMessage, bytes | OSError]]:
        for message in messages:
            yield message, attempt(partial(read_file, str(message.location)))

    def headers(self, messages: Sequence[MailboxMessage]) -> Iterator[tuple[MailboxMessage, bytes | OSError]]:
        for message, raw in self.read(messages):
            yield message, raw[: section_length(raw)] if isinstance(raw, bytes) else raw

    def identities(self, messages: Sequence[MailboxMessage]) -> Iterator[tuple[MailboxMessage, bytes | OSError]]:
        """Yield digests of whole messages, because mail readers rename a message's file when they move it."""
        for message, raw in self.read(messages):
            yield message, attempt(partial(digest, raw)) if isinstance(raw, bytes) else raw

    def list_new(self, mark: str, waiting: Sequence[str]) -> tuple[list[MailboxMessage], str]:
        """Return the messages in ``new``, which contains the waiting messages, too. The mark is not needed."""
        return [self._message(self.inbox, path) for path in files(self.path / "new")], ""

    def state(self, folder: Folder) -> Hashable:
        """Return the times at which the folder's directories changed; None if one changed in the last seconds."""
        times = []
        for part in ("new", "cur"):
            with suppress(FileNotFoundError):
                times.append((part, (folder.path / part).stat().st_mtime))
        is_certain = all(time.time() - changed_at > _MIN_AGE for _, changed_at in times)
        return tuple(times) if is_certain else None

    def list_arrivals(self, folder: Folder, mark: str, n_recorded: int) -> Arrivals:
        return Arrivals(list(self._list(folder).values()), "", True)

    def mark(self, folder: Folder) -> str:
        """Return an empty mark, because `list_arrivals` always lists the whole folder."""
        return ""

    def move(
        self, messages: Sequence[MailboxMessage], into: Folder
    ) -> dict[MailboxMessage, MailboxMessage | OSError | None]:
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
        folders = {self.folder_key(folder): folder for folder in self.folders()}
        for move in moves:
            if move.folder not in folders or move.target not in folders:
                yield move, None
                continue
            if self.find(folders[move.folder], [move.key]):
                yield move, None
            else:
                identities = self.identities(self.messages(folders[move.target]))
                yield move, next((message for message, identity in identities if identity == move.identity), None)

    def format_path(self, folder: Folder, message: MailboxMessage | None) -> str:
        """Return the absolute path of the message's file."""
        return str(message.location.absolute()) if message is not None else ""

    def find_folder(self, path: str) -> Folder:
        folder = Path(path).parent.parent
        return self.inbox if folder == self.path else self._folder(folder)

    def wait(self, state: Hashable, seconds: float, stop: int) -> None:
        """Wait all of ``seconds``, because nothing announces that a Maildir changed."""
        wait_readable([stop], seconds)

    def close(self) -> None:
        """Do nothing, because no file stays open."""


def _check_is_maildir(path: Path, display_name: str) -> None:
    """Raise SpamnbError if a path is no Maildir, or if it cannot be read."""
    try:
        for folder in (path, path / "cur", path / "new"):
            os.scandir(folder).close()
    except (FileNotFoundError, NotADirectoryError):
        if (path / "ImapMail").exists() or "ImapMail" in path.parts or (path / "prefs.js").exists():
            problem = "Thunderbird's mail and no Maildir; name the account on its server, as imaps://USER@HOST"
            raise SpamnbError(f"{display_name}: {problem}") from None
        raise SpamnbError(f"{display_name}: no Maildir, because it has no cur and new") from None
    except OSError as error:
        raise SpamnbError(f"{display_name}: cannot be read: {error.strerror}") from None


def _folder_of_name(name: str, path: Path) -> Folder:
    name = decode_name(name)
    return Folder(escape(name), path, folder_role(name.replace(os.sep, ".").rpartition(".")[2]))


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
    if (root / "maildirfolder").exists() or is_maildir(root.parent):
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
    by_real_path: dict[Path, Path] = {}
    for path in [*folders, folder]:
        by_real_path.setdefault(path.resolve(), path)
    return list(by_real_path.values())


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
