"""Folders of mail: trees of single messages, Maildirs and their folders, MH, and what of them is left unread.

Order is the same on every run: the files of a folder by name, then its folders by name. Hidden files and
folders, files called ``cmds`` (the SpamAssassin corpus has them), empty files and whatever is no regular file
(fifos, sockets, devices) are no messages; the last are never opened.
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
from spamnb.sources.mbox import INDEX_SUFFIX, mail_file, starts_as_mbox

_MAILDIR = frozenset({"cur", "new", "tmp"})
_MAX_NAMES = 8  # folders that a note lists
_NO_MESSAGES = (*TABLES, *(name + ".gz" for name in TABLES))


class Listing(NamedTuple):
    """What a folder holds, in order."""

    files: list[str]  # names of those that can be messages
    folders: list[str]
    hidden: list[str]  # of a Maildir: what begins with a dot, as its folders do
    maildir: bool


def listing(folder: str, on_unreadable: Report) -> Listing:
    """What stands in a folder. OSError where it cannot be listed."""
    files: list[str] = []
    folders: list[str] = []
    hidden: list[str] = []
    with os.scandir(folder) as found:
        for item in sorted(found, key=lambda item: item.name):
            try:
                if item.name.startswith("."):
                    hidden.append(item.name)
                elif item.is_dir():
                    folders.append(item.name)
                elif item.name != "cmds":
                    status = item.stat()  # 1 µs, and raises where a symbolic link leads nowhere
                    if status.st_size and stat.S_ISREG(status.st_mode):
                        files.append(item.name)
            except OSError as error:
                on_unreadable(escape(item.path), error)
    if len(_MAILDIR.intersection(folders)) > 1:  # a Maildir: loose in it are a server's indexes
        return Listing([], [name for name in folders if name != "tmp"], hidden, True)
    if ".mh_sequences" in hidden:  # an MH folder: ",12" is a removed message
        files = sorted((name for name in files if name.isascii() and name.isdecimal()), key=int)
    elif {"Messages", "Attachments"}.issubset(folders):  # Apple Mail's: pieces of the messages beside them
        folders.remove("Attachments")
    return Listing(files, folders, [], False)


def tree(label: str | None, root: str, on_unreadable: Report, recursive: bool = False) -> Iterator[Entry]:
    """Every message below ``root``; a folder that symbolic links reach twice is read once.

    Of a Maildir only its own messages, and with ``recursive`` those of its folders too, but for junk, trash, drafts and
    templates.
    """
    waiting, seen = [root], set()
    while waiting:
        folder = waiting.pop()
        try:
            status = os.stat(folder)
            if (status.st_dev, status.st_ino) in seen:
                continue
            seen.add((status.st_dev, status.st_ino))
            found = listing(folder, on_unreadable)
        except OSError as error:
            on_unreadable(escape(folder), error)
            continue
        yield from _messages(label, os.path.join(folder, ""), found.files, on_unreadable)
        read, _ = _inside(label, folder, found, recursive)
        waiting.extend(os.path.join(folder, name) for name in reversed(read))


def _messages(label: str | None, before: str, files: list[str], on_unreadable: Report) -> Iterator[Entry]:
    """The messages in a folder's files. ``before`` is its path up to their names, which alone tell an mbox: single
    messages of the SpamAssassin corpus start alike."""
    indexes = {name for name in files if name.endswith(INDEX_SUFFIX)}
    for name in files:
        path = before + name
        if name.endswith(MBOXES) or (name + INDEX_SUFFIX in indexes and starts_as_mbox(path)):
            yield from mail_file(label, path, on_unreadable)
        elif name.endswith(_NO_MESSAGES):
            what = "a table of text; its rows have classes of their own, so it is a SOURCE by itself"
            on_unreadable(escape(path), NotMail(what, path))
        elif name not in indexes:
            yield Entry(label, escape(path), path)


def _inside(label: str | None, folder: str, found: Listing, recursive: bool) -> tuple[list[str], list[str]]:
    """The folders in a folder that are read, and the mail folders that are not."""
    mail = [name for name in (*found.hidden, *found.folders) if is_maildir(os.path.join(folder, name))]
    if found.maildir:
        own = [name for name in found.folders if name in _MAILDIR]
        if not recursive:
            return own, mail
    else:  # a folder of Maildirs, as mbsync makes it: junk among the rest is not of their class
        own = [name for name in found.folders if name not in mail]
    left = [name for name in mail if label is not None and _unwanted(label, name)]
    return sorted(own + [name for name in mail if name not in left]), left


def _unwanted(label: str, name: str) -> bool:
    """Does a folder of this name hold what is of no such class? Junk is welcome in a class of junk."""
    from spamnb.sources.mailbox import NOT_WANTED, role_of

    roles = {role_of(part) for part in name.split(".")}  # a folder within .Trash is called .Trash.Work
    return not roles.isdisjoint(NOT_WANTED - {role_of(label)})


def is_maildir(path: str | Path) -> bool:
    """Whether a folder has ``cur`` and ``new``."""
    return os.path.isdir(os.path.join(path, "cur")) and os.path.isdir(os.path.join(path, "new"))


# What is said of a folder before it is read, since it may not be what was meant


def folder_notes(label: str | None, folder: str, recursive: bool | None = None) -> Iterator[str]:
    """A line that names the mail folders in a folder that ``tree`` leaves out, and one that counts a Maildir's mail
    that no mail reader has shown, where it is given as good mail: nobody said that it is.

    Not the second where all lies in ``new``, as in Maildirs that a program filled. ``recursive`` is None where a person
    cannot choose it.
    """
    try:
        found = listing(folder, lambda name, error: None)
        new, seen = (os.listdir(os.path.join(folder, part)) if found.maildir else [] for part in ("new", "cur"))
    except OSError:  # no folder, or not ours to read: reading it will tell
        return
    from spamnb.sources.mailbox import decoded, role_of  # a millisecond that judging one message is spared

    if left := _inside(label, folder, found, bool(recursive))[1]:
        names = ", ".join(escape(decoded(name)) for name in left[:_MAX_NAMES]) + ", …" * (len(left) > _MAX_NAMES)
        choice = "; {option.recursive} reads all but junk, trash, drafts and templates" * (recursive is False)
        yield Wording("{folders} not read: {names}" + choice, folders=pluralize(len(left), "folder"), names=names)
    if new and seen and label is not None and role_of(label) != "junk":
        only = escape(os.path.join(folder, "cur"))
        unseen = f"{pluralize(len(new), 'message')} in new, which no mail reader has shown"
        yield f"takes for {escape(label)}, too, {unseen}; {only} leaves them out"
