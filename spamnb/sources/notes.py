"""What is said of a SOURCE before it is read, since it may not be what was meant."""

from __future__ import annotations

import os
from collections.abc import Iterator

from spamnb.naming import escape, pluralize
from spamnb.sources.folders import unread_folders
from spamnb.sources.mailbox import decoded, role_of
from spamnb.sources.spec import Source, source_of

_MAX_NAMES = 8  # folders that a note lists


def notes(spec: str, recursive: bool = False) -> Iterator[str]:
    """A line for each thing that whoever gave this SOURCE may want to know."""
    source = source_of(spec)
    if source.label is not None:
        for note in (_not_read(source, source.label, recursive), _not_seen(source, source.label)):
            if note:
                yield f"{escape(spec)}: {note}"


def _not_read(source: Source, label: str, recursive: bool) -> str | None:
    """The mail folders of a Maildir, or of a folder of Maildirs, that are left out of its class."""
    left = unread_folders(label, source.path, recursive)
    if not left:
        return None
    names = ", ".join(escape(decoded(name)) for name in left[:_MAX_NAMES]) + (", …" if len(left) > _MAX_NAMES else "")
    wanted = "" if recursive else "; --recursive (recursive=True) reads all but junk, trash, drafts and templates"
    return f"{pluralize(len(left), 'folder')} not read: {names}{wanted}"


def _not_seen(source: Source, label: str) -> str | None:
    """A Maildir's mail that no mail reader has shown, given as good mail: nobody said that it is.

    None where all lies in ``new``, as in Maildirs that a program filled.
    """
    if role_of(label) == "junk":
        return None
    try:
        new, seen = (os.listdir(os.path.join(source.path, part)) for part in ("new", "cur"))
    except OSError:  # no Maildir, or not ours to read: reading it will tell
        return None
    if not new or not seen:
        return None
    unseen = f"{pluralize(len(new), 'message')} in new, which no mail reader has shown"
    only = escape(os.path.join(source.spec, "cur"))
    return f"takes for {escape(label)}, too, {unseen}; {only} leaves them out"
