"""One message of a source: its class, its name for people, and its bytes.

An error of one message is reported, and the other messages are read. Another program may replace a file by a fifo at
any time, so opening a file never waits.
"""

from __future__ import annotations

import errno
import io
import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from typing import BinaryIO, NamedTuple, TextIO, TypeVar

from spamnb.errors import SpamnbError, check_type, describe_error, reason
from spamnb.shown_text import escape
from spamnb.sources.formats import COMPRESSED, COMPRESSIONS, MAX_MESSAGE, NotMail, foreign_format

OnError = Callable[[str, Exception], None]  # takes the name of an unreadable file or message, and its error

_OPEN_FLAGS = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
R = TypeVar("R")
# The second separator line of an mbox. The bounds in the pattern keep the search linear in the size of a hostile file.
_SEPARATOR = re.compile(rb"\n\r?\nFrom \S{1,999} {1,9}(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) [A-Z][a-z]{2} [ 0-9]\d \d\d:\d\d")
GZIP = b"\x1f\x8b"  # the first bytes of a gzip file


@dataclass(frozen=True)
class ReadOptions:
    """Options for reading: whether all folders of Maildirs and accounts are read, and the columns of a table.

    Raise SpamnbError for values of other types.
    """

    recursive: bool = False
    text_column: str | None = None
    label_column: str | None = None

    def __post_init__(self) -> None:
        check_type("recursive", self.recursive, bool, "True or False")
        check_type("text_column", self.text_column, str | None, "the name of a column")
        check_type("label_column", self.label_column, str | None, "the name of a column")

    def command_line(self) -> list[str]:
        """Return these options as arguments of a command line."""
        columns = {"--text-column": self.text_column, "--label-column": self.label_column}
        arguments = [part for option, column in columns.items() if column is not None for part in (option, column)]
        return ["--recursive"] * self.recursive + arguments


class Entry(NamedTuple):
    r"""A message with its class. The message is ``content``; if that is None, the message is in the file ``path``.

    ``name`` is shown to people: unprintable characters are escaped, the third message of an mbox is ``inbox#3``, and a
    line of a table is ``sms.txt:7``.

    >>> Entry("ham", "note", "", content=b"Subject: tea\n\nAt four?\n").read()
    b'Subject: tea\n\nAt four?\n'
    """

    label: str | None
    name: str
    path: str
    content: bytes | None = None

    def read(self) -> bytes:
        """Return the raw message, extracted from gzip or Apple's ``.emlx``.

        Raise OSError for a file that cannot be read or has more than MAX_MESSAGE bytes, and NotMail for another format.
        """
        return message_from_file(read_file(self.path), self.path) if self.content is None else self.content


class SkippedMessages:
    """Count the reports of messages that could not be read, and print each error of a message once.

    'spamnb watch' reads a file several times, and reports its error each time.
    """

    def __init__(self, print_line: Callable[[str], None]) -> None:
        check_type("tell", print_line, Callable, "a function that takes a line")
        self.count = 0
        self._print_line = print_line
        self._reported: set[tuple[str, str]] = set()

    def __call__(self, name: str, error: Exception) -> None:
        self.count += 1
        problem = reason(error).removeprefix(f"{name}: ")  # an account's errors begin with its name
        if (name, problem) not in self._reported:
            self._reported.add((name, problem))
            # A SpamnbError is of a mailbox, and says itself what follows.
            self._print_line(f"{name}: {problem}" + ("" if isinstance(error, SpamnbError) else "; left out"))


def message_from_text(text: str) -> bytes:
    r"""Return a text as a raw message without headers: it begins with a blank line.

    >>> message_from_text("Re: tea")
    b'\nRe: tea\n'
    """
    return b"\n" + text.encode("utf-8", "replace") + b"\n"


def to_raw_message(message: str | bytes) -> bytes:
    r"""Return bytes as they are, and a str as a message without headers. Raise TypeError for other types.

    >>> to_raw_message(b"Subject: tea"), to_raw_message("at four")
    (b'Subject: tea', b'\nat four\n')
    """
    if isinstance(message, str):
        return message_from_text(message)
    if not isinstance(message, (bytes, bytearray)):
        kind = type(message).__name__
        raise TypeError(f"a message must be bytes (raw mail) or str (a text without headers), not {kind}")
    return bytes(message)


def _message_error(error: Exception) -> OSError:
    """Return an exception as an OSError of the message that was being read, classified or learned.

    MemoryError and RecursionError are errors of the message, too. SpamnbError is raised again, because it is an error
    of the model or the mailbox.
    """
    if isinstance(error, SpamnbError):
        raise error
    return error if isinstance(error, OSError) and str(error) else OSError(errno.EBADMSG, describe_error(error))


@contextmanager
def one_message(name: str, report: OnError) -> Iterator[None]:
    """Report an exception in the block as an error of the message ``name``, and continue after the block."""
    try:
        yield
    except Exception as error:
        report(name, _message_error(error))


def attempt(work: Callable[[], R]) -> R | OSError:
    """Return the result of the work on one message, or its error."""
    try:
        return work()
    except Exception as error:
        return _message_error(error)


def work_in_batches(
    entries: Iterable[Entry], work: Callable[[list[Entry]], R], report: OnError, size: int, max_bytes: int
) -> Iterator[tuple[list[int], R]]:
    """Read messages, call ``work`` with batches of them, and yield the result of each batch.

    The entries of a batch have their messages as ``content``. With the result are the numbers of the batch's messages
    among all entries. A batch ends after ``size`` messages, after more than ``max_bytes`` bytes, and before an
    unreadable message. If a batch fails, ``work`` is called with each of its messages alone, and the messages that fail
    are reported.

    >>> entries = [Entry("ham", str(number), "", content=bytes(number)) for number in range(3)]
    >>> def divide(batch):
    ...     return [6 // len(entry.read()) for entry in batch]
    >>> for numbers, result in work_in_batches(entries, divide, print, 9, 9):
    ...     print(numbers, result)
    0 [Errno 74] failed (ZeroDivisionError: integer division or modulo by zero)
    [1] [6]
    [2] [3]
    """

    def try_batch(numbers: list[int], batch: list[Entry]) -> Iterator[tuple[list[int], R]]:
        if not batch:
            return
        result = attempt(partial(work, batch))
        if not isinstance(result, OSError):
            yield numbers, result
        elif len(batch) == 1:
            report(batch[0].name, result)
        else:
            for number, entry in zip(numbers, batch):
                yield from try_batch([number], [entry])

    numbers: list[int] = []
    batch: list[Entry] = []
    batch_bytes = 0
    for number, entry in enumerate(entries):
        if isinstance(raw := attempt(entry.read), OSError):
            yield from try_batch(numbers, batch)
            report(entry.name, raw)
            numbers, batch, batch_bytes = [], [], 0
            continue
        numbers.append(number)
        batch.append(entry._replace(content=raw))
        batch_bytes += len(raw)
        if len(batch) == size or batch_bytes > max_bytes:
            yield from try_batch(numbers, batch)
            numbers, batch, batch_bytes = [], [], 0
    yield from try_batch(numbers, batch)


def read_entries(entries: Iterable[Entry], on_unreadable: OnError) -> Iterator[tuple[Entry, bytes]]:
    """Yield entries with their raw messages, and report the entries that cannot be read."""
    for entry in entries:
        if isinstance(raw := attempt(entry.read), OSError):
            on_unreadable(entry.name, raw)
        else:
            yield entry, raw


def read_file(path: str) -> bytes:
    """Return the bytes of a file, decompressed if they are gzip, in which Dovecot can store mail.

    Raise OSError: EFBIG for more than MAX_MESSAGE bytes, EINVAL for another compression. For a message of the
    SpamAssassin corpus ``os.read`` takes 14 µs, and a file object would take 34 µs.
    """
    descriptor = os.open(path, _OPEN_FLAGS)
    try:
        size = _regular_size(descriptor, path)
        if size > MAX_MESSAGE:
            raise too_long_error(path)
        raw = os.read(descriptor, size)
    finally:
        os.close(descriptor)
    return decompress(raw, path)


def decompress(raw: bytes, path: str) -> bytes:
    """Return a message decompressed if it is gzip. Raise OSError as ``read_file`` does."""
    if raw[:2] == GZIP:
        with _decompress_stream(io.BytesIO(raw), path) as stream:
            plain = stream.read(MAX_MESSAGE + 1)
        if len(plain) > MAX_MESSAGE:
            raise too_long_error(path)
        return plain
    if raw.startswith(COMPRESSIONS):
        raise NotMail(COMPRESSED, path)
    return raw


@contextmanager
def open_mail(path: str) -> Iterator[BinaryIO]:
    """Open a file as a stream, decompressed if it is gzip. Raise OSError if it is no regular file."""
    with open(path, "rb", opener=lambda name, flags: os.open(name, flags | _OPEN_FLAGS)) as plain:
        _regular_size(plain.fileno(), path)
        if plain.peek(2)[:2] != GZIP:
            yield plain
        else:
            with _decompress_stream(plain, path) as stream:
                yield stream


@contextmanager
def _decompress_stream(compressed: BinaryIO, path: str) -> Iterator[BinaryIO]:
    import gzip  # importing gzip takes 1 ms, and most mail is not compressed
    import zlib

    try:
        with gzip.GzipFile(fileobj=compressed) as stream:
            yield stream  # type: ignore[misc]
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise OSError(errno.EIO, f"broken gzip data: {error}", path) from error


@contextmanager
def write_private(path: str | os.PathLike[str]) -> Iterator[TextIO]:
    """Open a file for writing. A new file has mode 0600, because mail is private. Raise SpamnbError if this fails."""

    def open_private(name: str, flags: int) -> int:
        return os.open(name, flags | os.O_CLOEXEC, 0o600)

    try:
        with open(path, "w", encoding="utf-8", newline="", opener=open_private) as stream:
            yield stream
    except OSError as error:
        raise SpamnbError(f"{path}: cannot be written: {error.strerror}") from error


def check_link(*paths: str | os.PathLike[str]) -> None:
    """Raise SpamnbError for a symbolic link of another user.

    If root followed such a link, the owner of the link could make root write into any file. Links of root are followed.
    """
    for path in paths:
        with suppress(FileNotFoundError):
            status = os.lstat(path)
            if stat.S_ISLNK(status.st_mode) and status.st_uid not in (0, os.geteuid()):
                raise SpamnbError(f"{escape(os.fspath(path))}: a symbolic link of another user, which is not followed")


def _regular_size(descriptor: int, path: str) -> int:
    """Return the size of a regular file in bytes. Raise OSError if it is no regular file."""
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode):
        raise OSError(errno.EINVAL, "not a file", path)
    return status.st_size


def too_long_error(path: str) -> OSError:
    """Return the error of a message of more than MAX_MESSAGE bytes."""
    return OSError(errno.EFBIG, f"longer than {MAX_MESSAGE >> 20} MiB, the bound on one message", path)


def message_from_file(raw: bytes, path: str) -> bytes:
    """Return the message that the bytes of a file contain. Raise NotMail if they are no message."""
    format_name = foreign_format(raw)
    if format_name is None and path != "-" and is_mbox(raw):
        format_name = "a mailbox of several messages; write CLASS=FILE, or give the file a name that ends in .mbox"
    if format_name is not None:
        raise NotMail(format_name, path)
    return message_from_emlx(raw, path) if path.endswith(".emlx") else raw


def is_mbox(raw: bytes) -> bool:
    """Return whether bytes are an mbox of several messages, each under a line with sender and date.

    5,523 messages of six public collections begin with such a line, and none of them is mistaken for an mbox.
    """
    return raw.startswith(b"From ") and _SEPARATOR.search(raw) is not None


def message_from_emlx(raw: bytes, path: str) -> bytes:
    r"""Return the message in Apple Mail's ``.emlx``, which has the message's length, the message, and an XML list.

    >>> message_from_emlx(b"14        \nSubject: tea\n\n<?xml version='1.0'?>", "1.emlx")
    b'Subject: tea\n\n'
    """
    length = re.match(rb"([0-9]{1,10}) {0,10}\n", raw)
    message = raw[length.end() :][: int(length[1])] if length else b""
    if not length or len(message) < int(length[1]):
        raise OSError(errno.EINVAL, "a broken .emlx file: its first line is not the length of the message", path)
    return message
