"""Mail of one class, or of none that is known: a folder, Maildir, MH folder, mbox, table, single message or account.

A path where nothing is raises SpamnbError at once; one all of whose files are something else than mail does when it is
its turn. What else cannot be read goes to ``on_unreadable`` and the run goes on.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import NamedTuple

from spamnb.errors import SpamnbError, reason
from spamnb.naming import escape
from spamnb.sources import remote
from spamnb.sources.entries import Entry, Report, is_remote
from spamnb.sources.files import is_archive, is_table, mail_file
from spamnb.sources.folders import tree
from spamnb.sources.formats import NotMail

IMAP = ("imaps://", "imap://")  # how URLs of accounts begin


class ReadOptions(NamedTuple):
    """How sources are read: Maildirs and accounts with their folders, and which columns of a table hold the text and
    the class."""

    recursive: bool = False
    text_column: str | None = None
    label_column: str | None = None


DEFAULT = ReadOptions()


def unlabelled(paths: Iterable[str], on_unreadable: Report, options: ReadOptions = DEFAULT) -> Iterator[Entry]:
    """Entries with label None out of folders, Maildirs, MH folders, mboxes, tables and single messages, lazily.

    Raises SpamnbError at once for a path where nothing is, and later where all files are something else than mail.
    """
    paths = list(paths)
    shown = escape(paths[0]) if len(paths) == 1 else "the sources"
    return with_mail(
        shown,
        lambda report: chain.from_iterable([of_class(None, path, path, report, options) for path in paths]),
        on_unreadable,
        only_foreign=True,
    )


def of_class(label: str | None, path: str, spec: str, on_unreadable: Report, options: ReadOptions) -> Iterator[Entry]:
    if path.lower().startswith(IMAP):
        from spamnb.sources.imap_entries import imap_entries

        return imap_entries(label, path, on_unreadable, options)
    mode = mode_of(path, spec)
    if stat.S_ISDIR(mode):
        if label is not None:
            _check_listable(path)
        return tree(label, path, on_unreadable, options.recursive)
    if not stat.S_ISREG(mode):
        raise SpamnbError(f"{escape(spec)}: neither file nor folder; save its content to a file first")
    if label is not None and is_archive(path):  # what is judged may be an attachment that somebody saved
        from spamnb.sources.archives import archive_entries  # 20 ms for tar and ZIP

        return archive_entries(label, path, on_unreadable)
    if is_table(path):
        return rows_of(path, False, on_unreadable, options)
    return mail_file(label, path, on_unreadable)


def mode_of(path: str, spec: str, hint: str = "") -> int:
    """What is there: a folder, a file or something else. SpamnbError where nothing is."""
    if not is_remote(path):
        return status_of(path, spec, hint).st_mode
    try:
        return remote.remote_mode(path)
    except FileNotFoundError:
        raise SpamnbError(f"{escape(path)}: no such file or folder{hint}") from None
    except OSError as error:
        raise SpamnbError(f"{escape(path)}: {reason(error)}") from None


def status_of(path: str, spec: str, hint: str = "") -> os.stat_result:
    try:
        return os.stat(path)
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        if isinstance(error, FileNotFoundError):
            missing = escape(spec) if path == spec else f"{escape(spec)}: {escape(path)}"
            raise SpamnbError(f"{missing}: no such file or folder{hint}") from error
        raise SpamnbError(f"{escape(spec)}: cannot be opened: {reason(error)}") from error


def _check_listable(folder: str) -> None:
    """SpamnbError for a class's folder that cannot be read: the model would be one without that class."""
    try:
        if is_remote(folder):
            remote.items(folder)
        else:
            os.scandir(folder).close()
    except OSError as error:
        raise SpamnbError(f"{escape(folder)}: cannot be listed: {error.strerror}") from error


def rows_of(path: str, labelled: bool, on_unreadable: Report, options: ReadOptions) -> Iterator[Entry]:
    from spamnb.sources.tables import Columns, table

    return table(path, Columns(options.text_column, options.label_column), labelled, on_unreadable)


class _Reports:
    """Counts what cannot be read, and holds back the first until it is known whether anything can be."""

    def __init__(self, on_unreadable: Report) -> None:
        self._tell = on_unreadable
        self.first: tuple[str, Exception] | None = None
        self.holding = True
        self.count = self.foreign = 0

    def __call__(self, name: str, error: Exception) -> None:
        self.count += 1
        self.foreign += isinstance(error, NotMail)
        if self.holding and self.count == 1:
            self.first = name, error
            return
        self.release()
        self._tell(name, error)

    def release(self) -> None:
        """Tell what was held back; from here on nothing is."""
        self.holding = False
        if self.first:
            self._tell(*self.first)
            self.first = None


def with_mail(
    shown: str, find: Callable[[Report], Iterator[Entry]], on_unreadable: Report, only_foreign: bool = False
) -> Iterator[Entry]:
    """The entries that ``find`` gives, made at once, from the first that can be read on.

    SpamnbError where there are files and none can be read; with ``only_foreign``, where all are something else.
    """
    reports = _Reports(on_unreadable)
    return _from_the_first(shown, find(reports), reports, only_foreign)


def _from_the_first(shown: str, found: Iterator[Entry], reports: _Reports, only_foreign: bool) -> Iterator[Entry]:
    for entry in found:
        try:
            entry.read()
        except OSError as error:
            reports(entry.name, error)
        else:
            reports.release()
            yield entry
            yield from found
            return
    if reports.count and (not only_foreign or reports.foreign == reports.count):
        if reports.first:
            name, why = reports.first
            raise SpamnbError(f"{name}: {reason(why)}")
        raise SpamnbError(f"{shown}: none of its {reports.count:,} files can be read as mail")
    reports.release()
