"""Labelled messages out of whatever mail is kept in, one at a time: memory does not grow with their number.

A SOURCE is

    DIRECTORY      a folder per class; folders inside a class's folder belong to the class
    CLASS=PATH     a folder, Maildir, MH folder, mbox (also gzipped) or single message, all of one class
    index:PATH     a TREC index: lines ``spam ../data/inmail.1``, relative to the index's folder, order kept
    FILE           lines of ``label TAB text``

Order is the same on every run: the files of a folder by name, then its folders by name. Hidden files and
folders, files called ``cmds`` (the SpamAssassin corpus has them), empty files and whatever is no regular file
(fifos, sockets, devices) are no messages; the last are never opened. A SOURCE that is none raises
SpamnbError before a message is read; what cannot be read later goes to ``on_unreadable`` and the run goes on.
"""

from __future__ import annotations

import errno
import gzip
import os
import stat
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import NamedTuple

from spamnb.errors import SpamnbError, reason
from spamnb.naming import check_class_name, escape, pluralize
from spamnb.sources.labelled_lines import Report, first_line, index, label_and_text, labelled_texts
from spamnb.sources.mbox import contents, open_mail, split_mbox, too_long, unquoted

_USUAL = frozenset({"ham", "spam"})
_FEW = 10
_FORMS = "a SOURCE is a directory with a folder per class, CLASS=PATH, index:PATH or a file of label TAB text"


class Entry(NamedTuple):
    """Where one message is: a file, a byte range of an mbox, or the bytes themselves.

    ``name`` is for people (unprintable characters escaped, ``inbox#3`` for the third message of an mbox,
    ``sms.txt:7`` for a line); ``path`` is for opening. Small, so that processes can share the reading.

    >>> Entry("ham", "note", "", content=b"Subject: tea\\n\\nAt four?\\n").read()
    b'Subject: tea\\n\\nAt four?\\n'
    """

    label: str | None
    name: str
    path: str
    start: int = 0
    stop: int | None = None
    content: bytes | None = None

    def read(self) -> bytes:
        """The raw message, with gzip and an mbox's ``>From `` undone. OSError, also when over MAX_MESSAGE."""
        if self.content is not None:
            return self.content
        raw = contents(self.path, self.start, self.stop)
        if self.stop is None:
            return raw
        if len(raw) < self.stop - self.start or not raw.startswith(b"From "):
            raise OSError(errno.ESTALE, "the mailbox changed while it was being read", self.path)
        return unquoted(raw)


def entries(specs: Iterable[str], on_unreadable: Report) -> Iterator[Entry]:
    """Labelled entries of each SOURCE in turn, lazily. Raises SpamnbError at once for a SOURCE that is none.

    ``on_unreadable(name, error)`` is called for each file, folder or line that could not be read.
    """
    return chain.from_iterable([_labelled(spec, on_unreadable) for spec in specs])


def unlabelled(paths: Iterable[str], on_unreadable: Report) -> Iterator[Entry]:
    """Entries with label None out of folders, Maildirs, MH folders, mboxes and single messages, lazily."""
    return chain.from_iterable([_of_class(None, path, path, on_unreadable) for path in paths])


def messages(found: Iterable[Entry], on_unreadable: Report) -> Iterator[tuple[Entry, bytes]]:
    """Entries with their raw messages; the unreadable are only reported."""
    for entry in found:
        try:
            raw = entry.read()
        except OSError as error:
            on_unreadable(entry.name, error)
        else:
            yield entry, raw


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


# What a SOURCE is


def _labelled(spec: str, on_unreadable: Report) -> Iterator[Entry]:
    if spec.startswith("index:"):
        path = os.path.expanduser(spec.removeprefix("index:"))
        if not stat.S_ISREG(_status(path, spec).st_mode):
            raise SpamnbError(f"{escape(spec)}: not a file; give the TREC index itself, as index:PATH")
        return _index(path, on_unreadable)
    label, equals, path = spec.partition("=")
    if equals and "/" not in label:  # ./a=b is a path
        if not path:
            raise SpamnbError(f"{escape(spec)}: no path after the '='; write CLASS=PATH")
        return _of_class(_class_of(label, spec), os.path.expanduser(path), spec, on_unreadable)
    mode = _status(spec, spec, hint=f"; {_FORMS}").st_mode
    if stat.S_ISDIR(mode):
        return _folder_per_class(spec, on_unreadable)
    if stat.S_ISREG(mode):
        return _lines(spec, on_unreadable)
    raise SpamnbError(f"{escape(spec)}: neither file nor folder; {_FORMS}")


def _of_class(label: str | None, path: str, spec: str, on_unreadable: Report) -> Iterator[Entry]:
    mode = _status(path, spec).st_mode
    if stat.S_ISDIR(mode):
        return _tree(label, path, on_unreadable)
    if stat.S_ISREG(mode):
        return _file(label, path, on_unreadable)
    raise SpamnbError(f"{escape(spec)}: neither file nor folder; save its content to a file first")


def _folder_per_class(folder: str, on_unreadable: Report) -> Iterator[Entry]:
    try:
        files, folders = _listing(folder, on_unreadable)
    except OSError as error:
        raise SpamnbError(f"{escape(folder)}: cannot be listed: {error.strerror}") from error
    if {"cur", "new"}.issubset(folders):
        raise SpamnbError(f"{escape(folder)}: a Maildir, which has no class; write CLASS={escape(folder)}")
    if not folders:
        what = "messages but no folder per class" if files else "no folder per class"
        raise SpamnbError(f"{escape(folder)}: {what}; write CLASS={escape(folder)} if all is of one class")
    if files:
        more = f" (and {pluralize(len(files) - 1, 'file')} more)" if len(files) > 1 else ""
        beside = ValueError(f"beside the class folders, so in no class{more}")
        on_unreadable(escape(os.path.join(folder, files[0])), beside)
    labels = [_class_of(name, folder) for name in folders]
    return chain.from_iterable(_tree(label, os.path.join(folder, label), on_unreadable) for label in labels)


def _class_of(label: str, spec: str) -> str:
    try:
        return check_class_name(label)
    except ValueError as error:
        raise SpamnbError(f"{escape(spec)}: {error}; give the class another name, as in CLASS=PATH") from error


def _status(path: str, spec: str, hint: str = "") -> os.stat_result:
    try:
        return os.stat(path)
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        if isinstance(error, FileNotFoundError):
            missing = escape(spec) if path == spec else f"{escape(spec)}: {escape(path)}"
            raise SpamnbError(f"{missing}: no such file or folder{hint}") from error
        raise SpamnbError(f"{escape(spec)}: cannot be opened: {reason(error)}") from error


# Folders


def _tree(label: str | None, root: str, on_unreadable: Report) -> Iterator[Entry]:
    """Every message below ``root``; a folder that symbolic links reach twice is read once."""
    waiting, seen = [root], set()
    while waiting:
        folder = waiting.pop()
        try:
            status = os.stat(folder)
            if (status.st_dev, status.st_ino) in seen:
                continue
            seen.add((status.st_dev, status.st_ino))
            files, folders = _listing(folder, on_unreadable)
        except OSError as error:
            on_unreadable(escape(folder), error)
            continue
        for name in files:
            path = os.path.join(folder, name)
            # In a folder only the name tells an mbox: single messages of the SpamAssassin corpus start alike.
            if name.endswith((".mbox", ".mbox.gz")):
                yield from _file(label, path, on_unreadable)
            else:
                yield Entry(label, escape(path), path)
        waiting.extend(os.path.join(folder, name) for name in reversed(folders))


def _listing(folder: str, on_unreadable: Report) -> tuple[list[str], list[str]]:
    """Names of the files that can be messages, and of the folders, both in order."""
    files: list[str] = []
    folders: list[str] = []
    numbered = False
    with os.scandir(folder) as found:
        for item in sorted(found, key=lambda item: item.name):
            if item.name.startswith("."):
                numbered |= item.name == ".mh_sequences"
                continue
            try:
                if item.is_dir():
                    folders.append(item.name)
                    continue
                status = item.stat()  # 1 µs, and raises where a symbolic link leads nowhere
                if stat.S_ISREG(status.st_mode) and status.st_size and item.name != "cmds":
                    files.append(item.name)
            except OSError as error:
                on_unreadable(escape(item.path), error)
    if len({"cur", "new", "tmp"}.intersection(folders)) > 1:  # a Maildir: loose in it are a server's indexes
        return [], [name for name in folders if name != "tmp"]
    if numbered:  # an MH folder: ",12" is a removed message
        files = sorted((name for name in files if name.isascii() and name.isdecimal()), key=int)
    return files, folders


# Files


def _file(label: str | None, path: str, on_unreadable: Report) -> Iterator[Entry]:
    """An mbox when it starts as one, else a single message; nothing when it is empty."""
    try:
        with open_mail(path) as stream:
            head = stream.read(1024)
            if not head.lstrip(b"\r\n").startswith(b"From "):
                if head:
                    yield Entry(label, escape(path), path)
                return
            stream.seek(0)
            # A gzipped mbox has no random access, so its entries carry their bytes.
            keep = isinstance(stream, gzip.GzipFile)
            for number, (start, stop, content, only) in enumerate(split_mbox(stream, keep), 1):
                name = escape(path) if only else f"{escape(path)}#{number}"
                if not keep:
                    yield Entry(label, name, path, start, stop)
                elif content is None:
                    on_unreadable(name, too_long(path))
                else:
                    yield Entry(label, name, path, content=unquoted(content))
    except OSError as error:
        on_unreadable(escape(path), error)


def _lines(path: str, on_unreadable: Report) -> Iterator[Entry]:
    """A message per line ``label TAB text``. The first line decides at once whether it is such a file."""
    try:
        if first := first_line(path):
            label_and_text(first)
    except ValueError as error:
        raise SpamnbError(f"{escape(path)}: {error}; for a mailbox or a message write CLASS={escape(path)}") from error
    except OSError as error:
        raise SpamnbError(f"{escape(path)}: cannot be read: {error.strerror}") from error
    # The blank line says that the message has no headers, whatever its text looks like.
    found = labelled_texts(path, on_unreadable)
    return (Entry(label, name, path, content=b"\n" + text + b"\n") for label, name, text in found)


def _index(path: str, on_unreadable: Report) -> Iterator[Entry]:
    return (Entry(label, escape(target), target) for label, target in index(path, on_unreadable))
