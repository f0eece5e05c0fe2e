"""What is said of a SOURCE before it is read, since it may not be what was meant."""

from __future__ import annotations

import os
from collections.abc import Iterator

from spamnb.naming import escape, pluralize
from spamnb.sources.folder_names import role_of
from spamnb.sources.folders import unread_folders
from spamnb.sources.modified_utf7 import decoded

_USUAL = frozenset({"ham", "spam"})
_FEW = 10
_MAX_NAMES = 8  # folders that a note lists


def notes(spec: str, recursive: bool = False) -> Iterator[str]:
    """A line for each thing that whoever gave this SOURCE may want to know."""
    for note in (one_too_high(spec), not_read(spec, recursive), not_seen(spec)):
        if note:
            yield note


def not_read(spec: str, recursive: bool = False) -> str | None:
    """A note on the mail folders of a Maildir, or of a folder of Maildirs, that are left out of its class."""
    label, equals, path = spec.partition("=")
    if not equals or "/" in label:
        return None
    left = unread_folders(label, os.path.expanduser(path), recursive)
    if not left:
        return None
    names = ", ".join(escape(decoded(name)) for name in left[:_MAX_NAMES]) + (", …" if len(left) > _MAX_NAMES else "")
    wanted = "" if recursive else "; --recursive (recursive=True) reads all but junk, trash, drafts and templates"
    return f"{escape(spec)}: {pluralize(len(left), 'folder')} not read: {names}{wanted}"


def not_seen(spec: str) -> str | None:
    """A note on a Maildir's mail that no mail reader has shown, given as good mail: nobody said that it is.

    None where all lies in ``new``, as in Maildirs that a program filled.
    """
    label, equals, path = spec.partition("=")
    if not equals or "/" in label or role_of(label) == "junk":
        return None
    folder = os.path.expanduser(path)
    try:
        new, seen = (os.listdir(os.path.join(folder, part)) for part in ("new", "cur"))
    except OSError:  # no Maildir, or not ours to read: reading it will tell
        return None
    if not new or not seen:
        return None
    only = escape(f"{label}={os.path.join(path, 'cur')}")
    unseen = f"{pluralize(len(new), 'message')} in new, which no mail reader has shown"
    return f"{escape(spec)}: takes for {escape(label)}, too, {unseen}; {only} leaves them out"


def one_too_high(spec: str) -> str | None:
    """A note for whoever gave a folder whose class folders each hold the same folders, as a corpus in parts has them.

    Given where these inner folders are called ham or spam and the class folders are not, or else where several class
    folders have hardly a message of their own; not for Maildirs, nor for folders named by number or date. None where
    there is nothing to note.
    """
    try:
        classes = sorted(_folders(spec) or ())
        inside = _folders(os.path.join(spec, classes[0])) if classes else None
        if not inside or len(inside) < 2 or any(_folders(os.path.join(spec, name)) != inside for name in classes[1:]):
            return None
    except OSError:  # not a folder, or gone, or not ours to read: reading it will tell
        return None
    by_name = not _USUAL.isdisjoint(inside)
    dated = all(any(letter.isdecimal() for letter in name) for name in inside)
    if not _USUAL.isdisjoint(classes) or not (by_name or (len(classes) > 1 and not dated)):
        return None
    within = ", ".join(map(escape, sorted(inside)[:4])) + (", …" if len(inside) > 4 else "")
    several = f"its {len(classes)} folders become the classes, and each holds"
    these = several if len(classes) > 1 else "its only folder becomes the class, and holds"
    instead = escape(os.path.join(spec, classes[0])) + (" and the like" if len(classes) > 1 else "")
    return f"{escape(spec)}: {these} {within}; if these are the classes, give {instead} instead"


def _folders(path: str) -> frozenset[str] | None:
    """The folders that ``path`` holds; None where it holds messages: more files than folders."""
    folders, files = set(), 0
    with os.scandir(path) as found:
        for item in found:
            if item.is_dir():
                if not item.name.startswith("."):
                    folders.add(item.name)
            else:
                files += 1
            if files > max(_FEW, len(folders)):  # a folder of mail is not read to its end for this
                return None
    maildir = len({"cur", "new", "tmp"} & folders) > 1
    return None if maildir or files > len(folders) else frozenset(folders)
