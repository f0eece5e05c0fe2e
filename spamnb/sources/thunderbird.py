"""Thunderbird's mailboxes: a profile, its ``Local Folders`` or an account, with classes by the folders' names.

A folder is an mbox without extension, with its index ``.msf`` beside it; the folders in it are in ``NAME.sbd``. Where
Thunderbird was told to keep a file per message, a folder is a directory with ``cur``.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import chain

from spamnb.errors import SpamnbError
from spamnb.shown_text import escape
from spamnb.sources.entries import Entry, Report
from spamnb.sources.folders import listing, tree
from spamnb.sources.mailbox import role_of
from spamnb.sources.mbox import INDEX_SUFFIX, mail_file, starts_as_mbox

_SUBFOLDERS = ".sbd"
_ACCOUNTS = ("ImapMail", "Mail")  # a profile's, beside caches and databases
_GMAIL = {"[Gmail]", "[Google Mail]"}
_GMAILS_OWN = {"all", "chats"}  # elsewhere a person's folder may be called so

Parts = tuple[str, ...]


def thunderbird(path: str, on_unreadable: Report) -> Iterator[Entry]:
    """Messages of the folders below ``path``: spam of those for junk, ham of the others.

    Folders for trash, drafts, templates, sent and unsent mail, and the folders in them, are left out, and so is Gmail's
    copy of everything. Raises SpamnbError where ``path`` holds no folder of Thunderbird.
    """
    roots = [os.path.join(path, name) for name in _ACCOUNTS if os.path.isdir(os.path.join(path, name))] or [path]
    folders = [found for root in roots for found in _folders(root, (), set(), on_unreadable)]
    if not folders:
        raise SpamnbError(
            f"{escape(path)}: no folder of Thunderbird; give a profile, or its 'Mail/Local Folders' or 'ImapMail/HOST'"
        )
    return chain.from_iterable(
        (tree if os.path.isdir(file) else mail_file)(label, file, on_unreadable)
        for file, parts in folders
        if (label := class_of_folder(parts))
    )


def class_of_folder(parts: Parts) -> str | None:
    """The class of a folder by its name and those of the folders it is in; None where it is left out.

    >>> class_of_folder(("Work", "Plans")), class_of_folder(("Junk", "2024")), class_of_folder(("Papierkorb", "Work"))
    ('ham', 'spam', None)
    """
    roles = {role for name in parts if (role := role_of(name))}
    if _GMAIL.isdisjoint(parts):
        roles -= _GMAILS_OWN
    return "ham" if not roles else "spam" if roles == {"junk"} else None


def _folders(folder: str, parts: Parts, seen: set[str], on_unreadable: Report) -> Iterator[tuple[str, Parts]]:
    """Each folder of mail below ``folder``, in order, with its name and those of the folders it is in."""
    real = os.path.realpath(folder)
    if real in seen:  # links may lead in circles
        return
    seen.add(real)
    try:
        files, folders, *_ = listing(folder, on_unreadable)
    except OSError as error:
        on_unreadable(escape(folder), error)
        return
    for name in files:
        # An index may be missing: Thunderbird makes it when the folder is opened.
        if (name + INDEX_SUFFIX in files or "." not in name) and starts_as_mbox(os.path.join(folder, name)):
            yield os.path.join(folder, name), (*parts, name)
    for name in folders:
        inner = os.path.join(folder, name)
        if os.path.isdir(os.path.join(inner, "cur")):
            yield inner, (*parts, name)
        else:
            within = (*parts, name.removesuffix(_SUBFOLDERS)) if name.endswith(_SUBFOLDERS) else parts
            yield from _folders(inner, within, seen, on_unreadable)
