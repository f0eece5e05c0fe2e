"""One message of a source: its class, its name for people, and how its bytes are read; files opened with care."""

from __future__ import annotations

import errno
import io
import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import BinaryIO, NamedTuple, TypeVar

from spamnb.errors import SpamnbError, fault, reason
from spamnb.shown_text import escape
from spamnb.sources.formats import COMPOUND_FILE, COMPRESSED, COMPRESSIONS, MAX_MESSAGE, NotMail, foreign_format

Report = Callable[[str, Exception], None]  # told the name of what cannot be read, and why

# Opened without waiting, and then looked at: a fifo may have taken the file's place since it was listed.
_FLAGS = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
R = TypeVar("R")
_SEPARATOR = re.compile(rb"\n\r?\nFrom \S{1,999} {1,9}(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) [A-Z][a-z]{2} [ 0-9]\d \d\d:\d\d")
GZIP = b"\x1f\x8b"  # what such a file begins with


class ReadOptions(NamedTuple):
    """How sources are read: Maildirs and accounts with their folders, and which columns of a table hold the text and
    the class."""

    recursive: bool = False
    text_column: str | None = None
    label_column: str | None = None


class Entry(NamedTuple):
    """Where one message is: in a file of its own, or here (``content``).

    ``name`` is for people (unprintable characters escaped, ``inbox#3`` for the third message of an mbox,
    ``sms.txt:7`` for a line); ``path`` is for opening.

    >>> Entry("ham", "note", "", content=b"Subject: tea\\n\\nAt four?\\n").read()
    b'Subject: tea\\n\\nAt four?\\n'
    """

    label: str | None
    name: str
    path: str
    content: bytes | None = None

    def read(self) -> bytes:
        """The raw message, with gzip, Apple's ``.emlx`` and Outlook's ``.msg`` undone.

        Raises OSError, also when over MAX_MESSAGE, and NotMail for a file that is something else.
        """
        return message_of_file(contents(self.path), self.path) if self.content is None else self.content


class Raw(NamedTuple):
    """A message that was read, and its number among the entries."""

    number: int
    entry: Entry
    raw: bytes


class LeftOut:
    """Counts what could not be read and tells of it; the run goes on.

    What is wrong with a file is told once, also where it is read again and again, as by 'spamnb watch'.
    """

    def __init__(self, tell: Callable[[str], None]) -> None:
        self.count = 0
        self._tell = tell
        self._told: set[tuple[str, str]] = set()

    def __call__(self, name: str, error: Exception) -> None:
        self.count += 1
        why = reason(error).removeprefix(f"{name}: ")  # an account's errors name it
        if (name, why) not in self._told:
            self._told.add((name, why))
            self._tell(f"{name}: {why}; left out")


def message_of_text(text: str) -> bytes:
    """A text as a raw message: the blank line says that it has no headers, whatever it looks like.

    >>> message_of_text("Re: tea")
    b'\\nRe: tea\\n'
    """
    return b"\n" + text.encode("utf-8", "replace") + b"\n"


def raw_message(given: str | bytes) -> bytes:
    """What a program gave as a message: bytes are raw mail, a str is a text without headers. TypeError for all else.

    >>> raw_message(b"Subject: tea"), raw_message("at four")
    (b'Subject: tea', b'\\nat four\\n')
    """
    if isinstance(given, str):
        return message_of_text(given)
    if not isinstance(given, (bytes, bytearray)):
        kind = type(given).__name__
        raise TypeError(f"a message is bytes (raw mail) or str (a text without headers), and this is {kind}")
    return bytes(given)


def _blamed(error: Exception) -> OSError:
    """Return what was raised while one message was read, judged or learned as an error of this message.

    MemoryError and RecursionError, too. SpamnbError is raised again: it speaks of a model or a mailbox.
    """
    if isinstance(error, SpamnbError):
        raise error
    return error if isinstance(error, OSError) and str(error) else OSError(errno.EBADMSG, fault(error))


@contextmanager
def one_message(name: str, report: Report) -> Iterator[None]:
    """Read, judge or learn one message inside: what it makes raise is reported, and the others go on."""
    try:
        yield
    except Exception as error:
        report(name, _blamed(error))


def attempt(work: Callable[[], R]) -> R | OSError:
    """Return what the work on one message returns, or what it raises."""
    try:
        return work()
    except Exception as error:
        return _blamed(error)


def in_batches(
    entries: Iterable[Entry], work: Callable[[list[Raw]], R], report: Report, size: int, most_bytes: int
) -> Iterator[tuple[list[Raw], R]]:
    """Read messages and work on so many at once, or so many bytes; yield those of a batch with the result.

    Where a batch fails, each of its messages makes one, and those that fail are reported.

    >>> entries = [Entry("ham", str(number), "", content=bytes(number)) for number in range(3)]
    >>> for batch, result in in_batches(entries, lambda batch: [6 // len(each.raw) for each in batch], print, 9, 9):
    ...     print([each.number for each in batch], result)
    0 [Errno 74] failed (ZeroDivisionError: integer division or modulo by zero)
    [1] [6]
    [2] [3]
    """

    def worked(batch: list[Raw]) -> Iterator[tuple[list[Raw], R]]:
        result = attempt(partial(work, batch))
        if not isinstance(result, OSError):
            yield batch, result
        elif len(batch) == 1:
            report(batch[0].entry.name, result)
        else:
            for each in batch:
                yield from worked([each])

    batch: list[Raw] = []
    carried = 0
    for number, entry in enumerate(entries):
        if isinstance(raw := attempt(entry.read), OSError):
            yield from worked(batch) if batch else ()
            report(entry.name, raw)
            batch, carried = [], 0
            continue
        batch.append(Raw(number, entry, raw))
        carried += len(raw)
        if len(batch) == size or carried > most_bytes:
            yield from worked(batch)
            batch, carried = [], 0
    yield from worked(batch) if batch else ()


def messages(found: Iterable[Entry], on_unreadable: Report) -> Iterator[tuple[Entry, bytes]]:
    """Entries with their raw messages; the unreadable are only reported."""
    for entry in found:
        if isinstance(raw := attempt(entry.read), OSError):
            on_unreadable(entry.name, raw)
        else:
            yield entry, raw


def contents(path: str) -> bytes:
    """The bytes of a file, decompressed where the first of them say gzip, as Dovecot can keep mail.

    Raises OSError, with EFBIG when it is more than MAX_MESSAGE, and with EINVAL for what is compressed in another way.
    Not through a file object: 14 µs instead of 34 for a message of the SpamAssassin corpus.
    """
    descriptor = os.open(path, _FLAGS)
    try:
        size = _size(descriptor, path)
        if size > MAX_MESSAGE:
            raise too_long(path)
        raw = os.read(descriptor, size)
    finally:
        os.close(descriptor)
    return decompress(raw, path)


def decompress(raw: bytes, path: str) -> bytes:
    """A message without gzip, where it is compressed. Raises OSError as ``contents`` does."""
    if raw[:2] == GZIP:
        with _decompressed(io.BytesIO(raw), path) as stream:
            plain = stream.read(MAX_MESSAGE + 1)
        if len(plain) > MAX_MESSAGE:
            raise too_long(path)
        return plain
    if raw.startswith(COMPRESSIONS):
        raise NotMail(COMPRESSED, path)
    return raw


@contextmanager
def open_mail(path: str) -> Iterator[BinaryIO]:
    """The file as a stream, decompressed when it is gzip. OSError also where it is no regular file."""
    with open(path, "rb", opener=lambda name, flags: os.open(name, flags | _FLAGS)) as plain:
        _size(plain.fileno(), path)
        if plain.peek(2)[:2] != GZIP:
            yield plain
        else:
            with _decompressed(plain, path) as stream:
                yield stream


@contextmanager
def _decompressed(compressed: BinaryIO, path: str) -> Iterator[BinaryIO]:
    import gzip  # 1 ms that most mail need not wait for
    import zlib

    try:
        with gzip.GzipFile(fileobj=compressed) as stream:
            yield stream  # type: ignore[misc]
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise OSError(errno.EIO, f"broken gzip data: {error}", path) from error


def private(path: str, flags: int) -> int:
    """Open a file for ``open(…, opener=private)``: one that is made is for nobody else, as it tells of private mail."""
    return os.open(path, flags | os.O_CLOEXEC, 0o600)


def check_link(*paths: str | os.PathLike[str]) -> None:
    """Raise SpamnbError for a symbolic link of another user than root: root would write where its maker may not."""
    for path in paths:
        with suppress(FileNotFoundError):
            status = os.lstat(path)
            if stat.S_ISLNK(status.st_mode) and status.st_uid not in (0, os.geteuid()):
                raise SpamnbError(f"{escape(os.fspath(path))}: a symbolic link of another user, which is not followed")


def _size(descriptor: int, path: str) -> int:
    """The size of a regular file; OSError for what is none."""
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode):
        raise OSError(errno.EINVAL, "not a file", path)
    return status.st_size


def too_long(path: str) -> OSError:
    """The error of a message over the bound."""
    return OSError(errno.EFBIG, f"longer than {MAX_MESSAGE >> 20} MiB, the bound on one message", path)


def message_of_file(raw: bytes, path: str) -> bytes:
    """The message in a file of these bytes. NotMail where they are something else."""
    if raw.startswith(COMPOUND_FILE):
        from spamnb.sources.outlook import message_of_msg  # other mail has nothing of it

        return message_of_msg(raw, path)
    what = foreign_format(raw)
    if what is None and path != "-" and is_mailbox(raw):
        what = "a mailbox of several messages; as CLASS=FILE, or with a name that ends in .mbox, it is read"
    if what is not None:
        raise NotMail(what, path)
    return message_of_emlx(raw, path) if path.endswith(".emlx") else raw


def is_mailbox(raw: bytes) -> bool:
    """Whether these bytes are an mbox of several messages, each under its line with sender and date.

    No message of six public collections is taken for one, 5,523 of which begin with such a line.
    """
    return raw.startswith(b"From ") and _SEPARATOR.search(raw) is not None


def message_of_emlx(raw: bytes, path: str) -> bytes:
    """The message in Apple Mail's ``.emlx``: a line with its length in bytes, the message, and an XML property list.

    >>> message_of_emlx(b"14        \\nSubject: tea\\n\\n<?xml version='1.0'?>", "1.emlx")
    b'Subject: tea\\n\\n'
    """
    first = re.match(rb"([0-9]{1,10}) {0,10}\n", raw)
    message = raw[first.end() :][: int(first[1])] if first else b""
    if not first or len(message) < int(first[1]):
        raise OSError(errno.EINVAL, "no message of the length that its first line says, as an .emlx has it", path)
    return message
