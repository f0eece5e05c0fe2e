"""A file by itself: a table, an mbox (plain, gzipped or Thunderbird's) or a single message."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import BinaryIO

from spamnb.naming import escape
from spamnb.sources.entries import OTHERWISE, Entry, Report, is_remote, open_mail, too_long, unquoted
from spamnb.sources.formats import HEAD, NotMail, foreign_format
from spamnb.sources.mbox import split_mbox

TABLES = (".csv", ".tsv", ".jsonl", ".parquet")  # how the names of tables end
ARCHIVES = (".tar", ".tar.gz", ".tgz", ".zip")
TOP = 8 << 10  # bytes of a message in which Thunderbird's and Google's own fields stand
INDEX_SUFFIX = ".msf"  # beside each mailbox of Thunderbird lies its index
_EXPUNGED = 0x0008  # nsMsgMessageFlags::Expunged
# Thunderbird's own lines stand before the message's: what its sender writes further down does not count.
_STATUS = re.compile(
    rb"From [^\n]*+\n(?:X-(?:Account-Key|UIDL):[^\n]*+\n)*+X-Mozilla-Status:[ \t]*([0-9A-Fa-f]{1,8})\s"
)


def is_table(path: str) -> bool:
    """Is a file of this name a table?

    >>> is_table("spam.csv"), is_table("train.JSONL.gz"), is_table("SMSSpamCollection")
    (True, True, False)
    """
    return path.lower().removesuffix(".gz").endswith(TABLES)


def is_archive(path: str) -> bool:
    """Is a file of this name an archive whose files can be read?

    >>> is_archive("s3://mail/2026.tar.gz"), is_archive("mail.zip"), is_archive("mail.mbox.gz")
    (True, True, False)
    """
    return path.lower().endswith(ARCHIVES)


def starts_as_mbox(path: str) -> bool:
    """Does the file begin with a separator line? False also where it cannot be read."""
    try:
        with open_mail(path) as stream:
            return _is_mbox(stream.read(HEAD))
    except OSError:  # whoever reads it will tell
        return False


def is_empty(path: str) -> bool:
    """Is it a file of no bytes, also once it is decompressed? False where it is no file, or cannot be read."""
    try:
        with open_mail(path) as stream:
            return not stream.read(1)
    except (OSError, ValueError):  # whoever reads it will tell
        return False


def _is_mbox(head: bytes) -> bool:
    return head.lstrip(b"\r\n").startswith(b"From ")


def has_index(path: str) -> bool:
    """Is the file a mailbox of Thunderbird, with its index beside it?"""
    return os.path.exists(path + INDEX_SUFFIX)


def mail_file(label: str | None, path: str, on_unreadable: Report) -> Iterator[Entry]:
    """The messages of an mbox when it starts as one, else the file as a message; nothing when it is empty.

    What Thunderbird has deleted stays in its mailbox until that is compacted, and is left out.
    """
    try:
        with open_mail(path) as stream:
            head = stream.read(HEAD)
            if _is_mbox(head):
                stream.seek(0)
                may_be_deleted = has_index(path)
                for entry, top in mbox_entries(path, stream, on_unreadable):
                    if not (may_be_deleted and _is_deleted(top)):
                        yield entry._replace(label=label)
            elif OTHERWISE.match(head):
                on_unreadable(escape(path), NotMail(foreign_format(head) or "compressed", path))
            elif head:
                yield Entry(label, escape(path), path)
    except OSError as error:
        on_unreadable(escape(path), error)


def mbox_entries(path: str, stream: BinaryIO, on_unreadable: Report) -> Iterator[tuple[Entry, bytes]]:
    """Each message of an mbox, without a class, and its first TOP bytes.

    A message that has the file for itself is taken as it stands, with its ``>From `` lines: so it is the same message
    to ``spamnb learn FILE`` as to ``spamc < FILE``.
    """
    import gzip

    # What is compressed or elsewhere has no cheap random access, so its entries carry their bytes.
    keep = isinstance(stream, gzip.GzipFile) or is_remote(path)
    for number, (start, stop, content, only) in enumerate(split_mbox(stream, keep), 1):
        name = escape(path) if only else f"{escape(path)}#{number}"
        only = only and not start
        if not keep:
            top = os.pread(stream.fileno(), min(TOP, stop - start), start)
            yield Entry(None, name, path) if only else Entry(None, name, path, start, stop), top
        elif content is None:
            on_unreadable(name, too_long(path))
        else:
            yield Entry(None, name, path, content=content if only else unquoted(content)), content[:TOP]


def _is_deleted(head: bytes) -> bool:
    status = _STATUS.match(head.replace(b"\r\n", b"\n"))
    return bool(status and int(status[1], 16) & _EXPUNGED)
