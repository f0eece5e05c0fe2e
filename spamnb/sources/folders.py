"""Folders of mail: trees of message files, Maildirs with subfolders, and MH folders.

The order is the same on every run: the files of a folder by name, then its folders by name. Skipped are hidden files
and folders except a Maildir's subfolders, files called ``cmds`` (of the SpamAssassin corpus), empty and special files.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from spamnb.errors import Wording
from spamnb.shown_text import escape, pluralize
from spamnb.sources.entries import Entry, Report
from spamnb.sources.formats import MBOXES, TABLES, NotMail
from spamnb.sources.mbox import INDEX_SUFFIX, file_entries, starts_as_mbox

_MAILDIR = frozenset({"cur", "new", "tmp"})
_MAX_NAMES = 8  # folders that a note lists
_TABLE_SUFFIXES = (*TABLES, *(name + ".gz" for name in TABLES))


class Listing(NamedTuple):
    """The names of a folder's files and folders, in order."""

    files: list[str]  # files that may contain messages
    folders: list[str]
    hidden: list[str]  # names in a Maildir that begin with a dot, as its subfolders do; empty for other folders
    is_maildir: bool


def list_folder(folder: str, on_unreadable: Report) -> Listing:
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
                    status = item.stat()  # raises OSError for a broken symbolic link
                    if status.st_size and stat.S_ISREG(status.st_mode):
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


def folder_entries(label: str | None, root: str, on_unreadable: Report, recursive: bool = False) -> Iterator[Entry]:
    """Yield the messages below ``root``. A folder with several symbolic links to it is read once.

    The subfolders of a Maildir are read only if ``recursive``. If ``label`` is not None, Maildirs below ``root`` for
    junk, trash, drafts and templates are left out, unless they have the role of this class.
    """
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
        yield from _messages(label, os.path.join(folder, ""), listing.files, on_unreadable)
        subfolders, _ = _select_subfolders(label, folder, listing, recursive)
        pending.extend(os.path.join(folder, name) for name in reversed(subfolders))


def _messages(label: str | None, prefix: str, files: list[str], on_unreadable: Report) -> Iterator[Entry]:
    """Yield the messages in these files of a folder; the path of a file is ``prefix`` + its name.

    A file is read as an mbox if its name ends with .mbox, or if it has an index file. A first line "From " is not
    enough, because single messages of the SpamAssassin corpus also begin with it.
    """
    indexes = {name for name in files if name.endswith(INDEX_SUFFIX)}
    for name in files:
        path = prefix + name
        if name.endswith(MBOXES) or (name + INDEX_SUFFIX in indexes and starts_as_mbox(path)):
            yield from file_entries(label, path, on_unreadable)
        elif name.endswith(_TABLE_SUFFIXES):
            table = "a table of text, whose rows have classes; name the table as a SOURCE by itself"
            on_unreadable(escape(path), NotMail(table, path))
        elif name not in indexes:
            yield Entry(label, escape(path), path)


def _select_subfolders(
    label: str | None, folder: str, listing: Listing, recursive: bool
) -> tuple[list[str], list[str]]:
    """Return the subfolders that are read, and the Maildirs among the subfolders that are not read."""
    maildirs = [name for name in (*listing.hidden, *listing.folders) if is_maildir(os.path.join(folder, name))]
    if listing.is_maildir:
        subfolders = [name for name in listing.folders if name in _MAILDIR]
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


def folder_notes(label: str | None, folder: str, recursive: bool | None = None) -> Iterator[str]:
    """Yield a line that names the mail folders that are not read, and a line that counts unseen messages.

    Unseen messages are counted in a Maildir of good mail: nobody has looked at the messages in ``new``, so some may be
    spam. Nothing is counted if ``cur`` is empty, because then no mail reader uses the Maildir. ``recursive`` is None if
    the command does not have the option --recursive.
    """
    try:
        listing = list_folder(folder, lambda name, error: None)
        new, seen = (os.listdir(os.path.join(folder, part)) if listing.is_maildir else [] for part in ("new", "cur"))
    except OSError:  # reported when the folder is read
        return
    from spamnb.sources.mailbox import decode_name, folder_role  # takes 1 ms, and few calls get here

    if skipped := _select_subfolders(label, folder, listing, bool(recursive))[1]:
        names = ", ".join(escape(decode_name(name)) for name in skipped[:_MAX_NAMES])
        names += ", …" * (len(skipped) > _MAX_NAMES)
        choice = "; {option.recursive} reads all but junk, trash, drafts and templates" * (recursive is False)
        yield Wording("{folders} not read: {names}" + choice, folders=pluralize(len(skipped), "folder"), names=names)
    if new and seen and label is not None and folder_role(label) != "junk":
        cur = escape(os.path.join(folder, "cur"))
        unseen = f"{pluralize(len(new), 'message')} in new that no mail reader has shown"
        yield f"{escape(label)} includes {unseen}; to leave new mail out, name {cur}"
