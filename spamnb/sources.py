"""Labelled messages out of what mail is kept in, one at a time: memory does not grow with their number.

A SOURCE is

    DIRECTORY      a folder per class; nested folders below a class count to it
    CLASS=PATH     a folder, Maildir, MH folder, mbox (also gzipped) or single message, all of one class
    index:PATH     a TREC index: lines ``spam ../data/inmail.1``, relative to the index's folder, order kept
    FILE           lines of ``label TAB text``

Order is the same on every run: the files of a folder by name, then its folders by name. Hidden files and
folders, files called ``cmds`` (the SpamAssassin corpus has them), empty files and whatever is no regular file
(fifos, sockets, devices) are no messages; the last are never opened. What the user got wrong raises
SpamnbError before a message is read; what cannot be read later goes to ``on_unreadable`` and the run goes on.
"""

from __future__ import annotations

import errno
import gzip
import os
import stat
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import BinaryIO, NamedTuple

from spamnb.errors import SpamnbError
from spamnb.mbox import contents, opened, split_mbox, too_long, unquoted

MAX_CLASS_NAME = 100

_LONGEST_LINE = 1 << 20
_HOPELESS = 20  # lines of an index that name no file before it is taken for something else
_FORMS = "a SOURCE is a directory with a folder per class, CLASS=PATH, index:PATH or a file of label TAB text"

Report = Callable[[str, Exception], None]


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


def messages(specs: Iterable[str], on_unreadable: Report) -> Iterator[tuple[str | None, str, bytes]]:
    """(label, name, raw bytes) of each message: `entries`, read. The unreadable are only reported."""
    for entry in entries(specs, on_unreadable):
        try:
            raw = entry.read()
        except OSError as error:
            on_unreadable(entry.name, error)
        else:
            yield entry.label, entry.name, raw


def unlabelled(paths: Iterable[str], on_unreadable: Report) -> Iterator[Entry]:
    """Entries with label None out of folders, Maildirs, MH folders, mboxes and single messages, lazily."""
    return chain.from_iterable([_of_class(None, path, path, on_unreadable) for path in paths])


def check_class_name(name: str) -> str:
    """The name back; ValueError where it cannot name a class: empty, unprintable, over 100 letters, unsure.

    >>> check_class_name("talk.politics.misc")
    'talk.politics.misc'
    """
    if not name or name != name.strip() or not name.isprintable() or len(name) > MAX_CLASS_NAME:
        raise ValueError(f"{name[:MAX_CLASS_NAME]!r} cannot name a class")
    if name == "unsure":
        raise ValueError("'unsure' cannot name a class: it is the verdict when none is sure enough")
    return name


# What a SOURCE is


def _labelled(spec: str, on_unreadable: Report) -> Iterator[Entry]:
    if spec.startswith("index:"):
        path = os.path.expanduser(spec.removeprefix("index:"))
        if not stat.S_ISREG(_status(path, spec).st_mode):
            raise SpamnbError(f"{shown(spec)}: not a file; give the TREC index itself, as index:PATH")
        return _index(path, on_unreadable)
    label, equals, path = spec.partition("=")
    if equals and "/" not in label:  # ./a=b is a path
        if not path:
            raise SpamnbError(f"{shown(spec)}: no path after the '='; write CLASS=PATH")
        return _of_class(_class_of(label, spec), os.path.expanduser(path), spec, on_unreadable)
    mode = _status(spec, spec, hint=f"; {_FORMS}").st_mode
    if stat.S_ISDIR(mode):
        return _folder_per_class(spec, on_unreadable)
    if stat.S_ISREG(mode):
        return _lines(spec, on_unreadable)
    raise SpamnbError(f"{shown(spec)}: neither file nor folder; {_FORMS}")


def _of_class(label: str | None, path: str, spec: str, on_unreadable: Report) -> Iterator[Entry]:
    mode = _status(path, spec).st_mode
    if stat.S_ISDIR(mode):
        return _tree(label, path, on_unreadable)
    if stat.S_ISREG(mode):
        return _file(label, path, on_unreadable)
    raise SpamnbError(f"{shown(spec)}: neither file nor folder; save its content to a file first")


def _folder_per_class(folder: str, on_unreadable: Report) -> Iterator[Entry]:
    try:
        files, folders = _listing(folder, on_unreadable)
    except OSError as error:
        raise SpamnbError(f"{shown(folder)}: cannot be listed: {error.strerror}") from error
    if {"cur", "new"}.issubset(folders):
        raise SpamnbError(f"{shown(folder)}: a Maildir, which has no class; write CLASS={shown(folder)}")
    if not folders:
        what = "messages but no folder per class" if files else "no folder per class"
        raise SpamnbError(f"{shown(folder)}: {what}; write CLASS={shown(folder)} if all is of one class")
    if files:
        beside = ValueError(f"{len(files)} file(s) beside the class folders left out, being in no class")
        on_unreadable(shown(os.path.join(folder, files[0])), beside)
    labels = [_class_of(name, folder) for name in folders]
    return chain.from_iterable(_tree(label, os.path.join(folder, label), on_unreadable) for label in labels)


def _class_of(label: str, spec: str) -> str:
    try:
        return check_class_name(label)
    except ValueError as error:
        raise SpamnbError(f"{shown(spec)}: {error}; name the class otherwise, as in CLASS=PATH") from error


def _status(path: str, spec: str, hint: str = "") -> os.stat_result:
    try:
        return os.stat(path)
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        if isinstance(error, FileNotFoundError):
            missing = shown(spec) if path == spec else f"{shown(spec)}: {shown(path)}"
            raise SpamnbError(f"{missing}: no such file or folder{hint}") from error
        reason = getattr(error, "strerror", None) or error
        raise SpamnbError(f"{shown(spec)}: cannot be opened: {reason}") from error


def shown(text: str) -> str:
    """A path or token for a terminal: bytes that are no UTF-8 and control characters as escapes."""
    return text if text.isprintable() else ascii(text)[1:-1]


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
            on_unreadable(shown(folder), error)
            continue
        for name in files:
            path = os.path.join(folder, name)
            # In a folder only the name tells an mbox: single messages of the SpamAssassin corpus start alike.
            if name.endswith((".mbox", ".mbox.gz")):
                yield from _file(label, path, on_unreadable)
            else:
                yield Entry(label, shown(path), path)
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
                on_unreadable(shown(item.path), error)
    if len({"cur", "new", "tmp"}.intersection(folders)) > 1:  # a Maildir: loose in it are a server's indexes
        return [], [name for name in folders if name != "tmp"]
    if numbered:  # an MH folder: ",12" is a removed message
        files = sorted((name for name in files if name.isascii() and name.isdecimal()), key=int)
    return files, folders


# Files


def _file(label: str | None, path: str, on_unreadable: Report) -> Iterator[Entry]:
    """An mbox when it starts as one, else a single message; nothing when it is empty."""
    try:
        with opened(path) as stream:
            head = stream.read(1024)
            if not head.lstrip(b"\r\n").startswith(b"From "):
                if head:
                    yield Entry(label, shown(path), path)
                return
            stream.seek(0)
            # A gzipped mbox has no random access, so its entries carry their bytes.
            keep = isinstance(stream, gzip.GzipFile)
            for number, (start, stop, content, only) in enumerate(split_mbox(stream, keep), 1):
                name = shown(path) if only else f"{shown(path)}#{number}"
                if not keep:
                    yield Entry(label, name, path, start, stop)
                elif content is None:
                    on_unreadable(name, too_long(path))
                else:
                    yield Entry(label, name, path, content=unquoted(content))
    except OSError as error:
        on_unreadable(shown(path), error)


def _lines(path: str, on_unreadable: Report) -> Iterator[Entry]:
    """A message per line ``label TAB text``. The first line decides at once whether it is such a file."""

    def generate() -> Iterator[Entry]:
        try:
            with opened(path) as stream:
                for number, line in _numbered(stream, on_unreadable, path):
                    name = f"{shown(path)}:{number}"
                    try:
                        label, text = _label_and_text(line)
                    except ValueError as error:
                        on_unreadable(name, error)
                    else:
                        # The blank line says that the message has no headers, whatever its text looks like.
                        yield Entry(label, name, path, content=b"\n" + text + b"\n")
        except OSError as error:
            on_unreadable(shown(path), error)

    try:
        with opened(path) as stream:
            for first in iter(lambda: stream.readline(_LONGEST_LINE), b""):
                if first.strip():
                    _label_and_text(first)
                    break
    except ValueError as error:
        raise SpamnbError(f"{shown(path)}: {error}; for a mailbox or a message write CLASS={shown(path)}") from error
    except OSError as error:
        raise SpamnbError(f"{shown(path)}: cannot be read: {error.strerror}") from error
    return generate()


def _label_and_text(line: bytes) -> tuple[str, bytes]:
    label, tab, text = line.removeprefix(b"\xef\xbb\xbf").rstrip(b"\r\n").partition(b"\t")
    if not tab:
        raise ValueError("no label TAB text in this line")
    return check_class_name(label.decode("utf-8", "replace").strip()), text


def _index(path: str, on_unreadable: Report) -> Iterator[Entry]:
    folder = os.path.dirname(path)
    found = False
    try:
        with opened(path) as stream:
            for number, line in _numbered(stream, on_unreadable, path):
                if not found and number > _HOPELESS:
                    what = f"none of its first {_HOPELESS} lines is a class and a file"
                    raise SpamnbError(f"{shown(path)}: {what}; no index")
                try:
                    label, name = os.fsdecode(line).split(maxsplit=1)
                    check_class_name(label)
                except ValueError:
                    on_unreadable(f"{shown(path)}:{number}", ValueError("not a class and a path"))
                    continue
                target = os.path.join(folder, name.rstrip())
                try:
                    status = os.stat(target)
                    if not stat.S_ISREG(status.st_mode):
                        raise OSError(errno.EINVAL, "not a file", target)
                except (OSError, ValueError) as error:
                    on_unreadable(shown(target), error)
                else:
                    found = True
                    if status.st_size:
                        yield Entry(label, shown(target), target)
    except OSError as error:
        on_unreadable(shown(path), error)


def _numbered(stream: BinaryIO, on_unreadable: Report, path: str) -> Iterator[tuple[int, bytes]]:
    """(number, line) of the lines that are not blank; one over a mebibyte is reported and passed over."""
    number, inside = 0, False
    for line in iter(lambda: stream.readline(_LONGEST_LINE), b""):
        whole = line.endswith(b"\n") or len(line) < _LONGEST_LINE
        if not inside:
            number += 1
            if not whole:
                on_unreadable(f"{shown(path)}:{number}", ValueError("a line longer than 1 MiB"))
            elif line.strip():
                yield number, line
        inside = not whole
