"""Folders of mail: trees of message files, Maildirs with subfolders, and MH folders.

The order is the same on every run: the files of a folder by name, then its folders by name. Skipped are hidden files
and folders except a Maildir's subfolders, files called ``cmds`` (of the SpamAssassin corpus), empty and special files.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from spamnb.shown_text import escape, pluralize
from spamnb.sources.entries import Entry, OnError
from spamnb.sources.formats import MBOXES, TABLES, NotMail
from spamnb.sources.mbox import INDEX_SUFFIX, file_entries, starts_as_mbox

_MAILDIR = frozenset({"cur", "new", "tmp"})
_MAX_NAMES = 8  # folders that a note lists
_TABLE_SUFFIXES = (*TABLES, *(name + ".gz" for name in TABLES))


class Listing(NamedTuple):
    """The names of a folder's files and folders, in order."""

    files: list[str]  # files that may contain messages; some may be empty or no regular files
    folders: list[str]
    hidden: list[str]  # names in a Maildir that begin with a dot, as its subfolders do; empty for other folders
    is_maildir: bool


def list_folder(folder: str, on_unreadable: OnError) -> Listing:
    """List a folder. Raise OSError if it cannot be listed."""
    files: list[str] = []
    folders: list[str] = []
    hidden: list[str] = []
    with os.scandir(folder) as items:
        for item in sorted(items, key=lambda item: item.name):
            try:
                if item.name.startswith("."):
                    hidden.append(item.name)
                elif item.is_dir():
                    folders.append(item.name)
                elif item.name != "cmds":
                    files.append(item.name)
            except OSError as error:
                on_unreadable(escape(item.path), error)
    if len(_MAILDIR.intersection(folders)) > 1:  # a Maildir, in which other files are indexes of a mail server
        return Listing([], [name for name in folders if name != "tmp"], hidden, True)
    if ".mh_sequences" in hidden:  # an MH folder: ",12" is a removed message
        files = sorted((name for name in files if name.isascii() and name.isdecimal()), key=int)
    elif {"Messages", "Attachments"}.issubset(folders):  # Apple Mail: Attachments contains parts of the messages
        folders.remove("Attachments")
    return Listing(files, folders, [], False)


def folder_entries(label: str | None, root: str, on_unreadable: OnError, recursive: bool = False) -> Iterator[Entry]:
    """Yield the messages below ``root``. A folder with several symbolic links to it is read once.

    The subfolders of a Maildir are read only if ``recursive``. If ``label`` is not None, Maildirs below ``root`` for
    junk, trash, drafts and templates are left out, unless they have the role of this class, and so is mail that no mail
    reader has shown (`_count_unseen`).
    """
    for folder in _walk(label, root, on_unreadable, recursive):
        yield from _messages(label, os.path.join(folder.path, ""), folder.listing.files, on_unreadable)


class DiskFolder(NamedTuple):
    """A folder that `folder_entries` reads."""

    path: str
    listing: Listing
    skipped: list[str]  # the Maildirs in it that are not read
    n_unseen: int  # the result of `_count_unseen`


def _walk(
    label: str | None, root: str, on_unreadable: OnError, recursive: bool, with_parts: bool = True
) -> Iterator[DiskFolder]:
    """Yield ``root`` and the folders below it that `folder_entries` reads; ``cur`` and ``new`` only ``with_parts``."""
    pending, seen = [root], set()
    while pending:
        folder = pending.pop()
        try:
            status = os.stat(folder)
            if (status.st_dev, status.st_ino) in seen:
                continue
            seen.add((status.st_dev, status.st_ino))
            listing = list_folder(folder, on_unreadable)
        except OSError as error:
            on_unreadable(escape(folder), error)
            continue
        n_unseen = _count_unseen(label, folder) if listing.is_maildir else 0
        parts = _MAILDIR - {"new"} if n_unseen else _MAILDIR
        subfolders, skipped = _select_subfolders(label, folder, listing, recursive, parts if with_parts else ())
        yield DiskFolder(folder, listing, skipped, n_unseen)
        pending.extend(os.path.join(folder, name) for name in reversed(subfolders))


def _messages(label: str | None, prefix: str, files: list[str], on_unreadable: OnError) -> Iterator[Entry]:
    """Yield the messages in these files of a folder; the path of a file is ``prefix`` + its name.

    A file is read as an mbox if its name ends with .mbox, or if it has an index file. A first line "From " is not
    enough, because single messages of the SpamAssassin corpus also begin with it.
    """
    indexes = {name for name in files if name.endswith(INDEX_SUFFIX)}
    for name in files:
        path = prefix + name
        if not has_content(path, on_unreadable):
            continue
        if name.endswith(MBOXES) or (name + INDEX_SUFFIX in indexes and starts_as_mbox(path)):
            yield from file_entries(label, path, on_unreadable)
        elif name.endswith(_TABLE_SUFFIXES):
            table = "a table of text, whose rows have classes; name the table as a SOURCE by itself"
            on_unreadable(escape(path), NotMail(table, path))
        elif name not in indexes:
            yield Entry(label, escape(path), path)


def has_content(path: str, on_unreadable: OnError) -> bool:
    """Return whether a path is a regular file that is not empty. Report a broken symbolic link."""
    try:
        status = os.stat(path)
    except OSError as error:
        on_unreadable(escape(path), error)
        return False
    return bool(status.st_size) and stat.S_ISREG(status.st_mode)


def _select_subfolders(
    label: str | None, folder: str, listing: Listing, recursive: bool, parts: Collection[str]
) -> tuple[list[str], list[str]]:
    """Return the subfolders that are read, in a Maildir with ``parts``, and the Maildirs in it that are not read."""
    maildirs = [name for name in (*listing.hidden, *listing.folders) if is_maildir(os.path.join(folder, name))]
    if listing.is_maildir:
        subfolders = [name for name in listing.folders if name in parts]
        if not recursive:
            return subfolders, maildirs
    else:  # in other folders, Maildirs are always read, because mbsync makes folders of Maildirs
        subfolders = [name for name in listing.folders if name not in maildirs]
    skipped = [name for name in maildirs if label is not None and _is_unwanted(label, name)]
    return sorted(subfolders + [name for name in maildirs if name not in skipped]), skipped


def _is_unwanted(label: str, name: str) -> bool:
    """Return whether a folder of this name is not read for this class, as Junk is not read for good mail."""
    from spamnb.sources.mailbox import NOT_WANTED, folder_role

    roles = {folder_role(part) for part in name.split(".")}  # the folder Work in .Trash has the name .Trash.Work
    return not roles.isdisjoint(NOT_WANTED - {folder_role(label)})


def is_maildir(path: str | Path) -> bool:
    """Return whether a folder contains ``cur`` and ``new``."""
    return os.path.isdir(os.path.join(path, "cur")) and os.path.isdir(os.path.join(path, "new"))


def read_folders(label: str | None, root: str, recursive: bool) -> list[DiskFolder]:
    """Return the folders that `folder_entries` reads, without ``cur`` and ``new``; none of a file or an account."""
    return list(_walk(label, root, _ignore, recursive, with_parts=False))


def note_unread(folders: Sequence[DiskFolder], with_skipped: bool, read: Collection[str] = ()) -> Iterator[str]:
    """Yield lines about what is not read of ``folders``, as `read_folders` returns them.

    These are messages that no mail reader has shown, and ``with_skipped`` the Maildirs in the first folder that are not
    read, except those that another source reads, whose real paths are ``read``.
    """
    from spamnb.sources.mailbox import decode_name

    if number := sum(folder.n_unseen for folder in folders):
        shown = "it" if number == 1 else "them"
        yield f"{pluralize(number, 'message')} in new not read, because no mail reader has shown {shown}"
    for root in folders[:1] if with_skipped else ():
        names = [name for name in root.skipped if os.path.realpath(os.path.join(root.path, name)) not in read]
        if names:
            yield f"{pluralize(len(names), 'folder')} not read: {list_names(list(map(decode_name, names)))}"


def _count_unseen(label: str | None, maildir: str) -> int:
    """Return the number of files in a Maildir that have no class yet, because no mail reader has shown them.

    These are the files in ``new``: mail readers move them to ``cur`` when they list the folder. There are none if
    ``cur`` is empty, because then no mail reader uses the Maildir, and none of spam, because a filter chose this mail.
    """
    from spamnb.sources.mailbox import folder_role  # takes 1 ms, and few calls get here

    if label is None or folder_role(label) == "junk":
        return 0
    try:
        with os.scandir(os.path.join(maildir, "cur")) as seen:
            return len(os.listdir(os.path.join(maildir, "new"))) if any(True for _ in seen) else 0
    except OSError:  # reported when the folder is read
        return 0


def find_unread_folders(label: str, folders: Sequence[DiskFolder], read: Collection[str]) -> tuple[str, dict[str, int]]:
    """Return the mailbox to which folders belong, and the number of messages in each folder that is not in ``read``.

    ``read`` are real paths, of folders or of their ``cur`` and ``new``. Folders without messages are left out, and so
    are those that `folder_entries` does not read for this class.
    """
    root, numbers = os.path.abspath(folders[0].path), dict[str, int]()
    mailbox = _find_mailbox(root)
    if mailbox == root and not any(folder.listing.is_maildir for folder in folders):  # folders of files
        return mailbox, numbers
    maildirs = {_maildir_of(path) for path in read}
    for path, listing, *_ in read_folders(label, mailbox, recursive=True):
        if listing.is_maildir and os.path.realpath(path) not in maildirs:
            parts = [os.path.join(path, part) for part in ("cur", "new")]
            if number := sum(len(os.listdir(part)) for part in parts if os.access(part, os.R_OK)):
                numbers["INBOX" if path == mailbox else os.path.relpath(path, mailbox)] = number
    return mailbox, numbers


def _find_mailbox(folder: str) -> str:
    """Return the outermost Maildir around a folder, or the folder of Maildirs in which one has a name such as Sent."""
    from spamnb.sources.mailbox import folder_role

    mailbox = _maildir_of(folder)
    while is_maildir(parent := os.path.dirname(mailbox)):
        mailbox = parent
    try:
        is_nested = any(folder_role(name) and is_maildir(os.path.join(parent, name)) for name in os.listdir(parent))
    except OSError:
        return mailbox
    return parent if is_nested and is_maildir(mailbox) else mailbox


def _maildir_of(path: str) -> str:
    """Return the Maildir of a path such as Maildir/cur, and any other path unchanged."""
    parent, name = os.path.split(path)
    return parent if name in _MAILDIR and is_maildir(parent) else path


def list_names(names: Sequence[str]) -> str:
    """Return the first names of folders, for a note."""
    return ", ".join(map(escape, names[:_MAX_NAMES])) + ", …" * (len(names) > _MAX_NAMES)


def _ignore(name: str, error: Exception) -> None:
    """Ignore an error, because it is reported when the folder is read."""
