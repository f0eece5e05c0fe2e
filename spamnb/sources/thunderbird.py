"""Thunderbird's mailboxes: a profile, its ``Local Folders`` or an account. The name of a folder decides the class.

A folder is an mbox without extension. Its index ``.msf`` is beside it, and its subfolders are in ``NAME.sbd``. If
Thunderbird stores a file per message, a folder is a directory that contains ``cur``.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import chain

from spamnb.errors import SpamnbError
from spamnb.shown_text import escape
from spamnb.sources.entries import Entry, OnError
from spamnb.sources.folders import folder_entries, list_folder
from spamnb.sources.mailbox import folder_role
from spamnb.sources.mbox import INDEX_SUFFIX, file_entries, starts_as_mbox

_SUBFOLDERS = ".sbd"
_ACCOUNTS = ("ImapMail", "Mail")  # the folders of a profile that contain mail
_GMAIL = {"[Gmail]", "[Google Mail]"}
_GMAIL_ROLES = {"all", "chats"}  # roles that a folder has in Gmail's accounts only

Parts = tuple[str, ...]  # the names of a folder's parents and its own name


def thunderbird_entries(path: str, on_unreadable: OnError) -> Iterator[Entry]:
    """Return the messages of the folders below ``path``. Messages in folders for junk are spam, and the others ham.

    Folders for trash, drafts, templates, sent and unsent mail are skipped with their subfolders, and so is Gmail's copy
    of all mail. Raise SpamnbError if ``path`` contains no folder of Thunderbird.
    """
    roots = [os.path.join(path, name) for name in _ACCOUNTS if os.path.isdir(os.path.join(path, name))] or [path]
    folders = [folder for root in roots for folder in _folders(root, (), set(), on_unreadable)]
    if not folders:
        raise SpamnbError(
            f"{escape(path)}: no folder of Thunderbird; name a profile, or its 'Mail/Local Folders' or 'ImapMail/HOST'"
        )
    return chain.from_iterable(
        (folder_entries if os.path.isdir(file) else file_entries)(label, file, on_unreadable)
        for file, parts in folders
        if (label := class_of_folder(parts))
    )


def class_of_folder(parts: Parts) -> str | None:
    """Return the class of a folder, or None if it is skipped.

    >>> class_of_folder(("Work", "Plans")), class_of_folder(("Junk", "2024")), class_of_folder(("Papierkorb", "Work"))
    ('ham', 'spam', None)
    """
    roles = {role for name in parts if (role := folder_role(name))}
    if _GMAIL.isdisjoint(parts):
        roles -= _GMAIL_ROLES
    return "ham" if not roles else "spam" if roles == {"junk"} else None


def _folders(folder: str, parts: Parts, seen: set[str], on_unreadable: OnError) -> Iterator[tuple[str, Parts]]:
    """Yield the paths of the folders of mail below ``folder`` in order, each with its parts."""
    real_path = os.path.realpath(folder)
    if real_path in seen:  # a cycle of symbolic links
        return
    seen.add(real_path)
    try:
        files, folders, *_ = list_folder(folder, on_unreadable)
    except OSError as error:
        on_unreadable(escape(folder), error)
        return
    for name in files:
        # An index may be missing, because Thunderbird writes an index when the folder is opened.
        if (name + INDEX_SUFFIX in files or "." not in name) and starts_as_mbox(os.path.join(folder, name)):
            yield os.path.join(folder, name), (*parts, name)
    for name in folders:
        subfolder = os.path.join(folder, name)
        if os.path.isdir(os.path.join(subfolder, "cur")):
            yield subfolder, (*parts, name)
        else:
            parents = (*parts, name.removesuffix(_SUBFOLDERS)) if name.endswith(_SUBFOLDERS) else parts
            yield from _folders(subfolder, parents, seen, on_unreadable)
