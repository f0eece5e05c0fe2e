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


def with_mail(
    shown: str, find: Callable[[Report], Iterator[Entry]], on_unreadable: Report, only_foreign: bool = False
) -> Iterator[Entry]:
    """The entries that ``find`` gives, made at once, from the first that can be read on.

    SpamnbError where there are files and none can be read; with ``only_foreign``, where all are something else. What
    is unreadable is told once it is known that anything can be read.
    """
    failures: list[tuple[str, Exception]] = []
    is_readable = False

    def report(name: str, error: Exception) -> None:
        if is_readable:
            on_unreadable(name, error)
        else:
            failures.append((name, error))

    def from_the_first(found: Iterator[Entry]) -> Iterator[Entry]:
        nonlocal is_readable
        for entry in found:
            try:
                entry.read()
            except OSError as error:
                report(entry.name, error)
            else:
                is_readable = True
                break
        is_error = not (is_readable or only_foreign) or all(isinstance(error, NotMail) for _, error in failures)
        if len(failures) == 1 and is_error and not is_readable:
            name, why = failures[0]
            raise SpamnbError(f"{name}: {reason(why)}")
        for failure in failures:
            on_unreadable(*failure)
        if is_readable:
            yield entry
            yield from found
        elif failures and is_error:
            raise SpamnbError(f"{shown}: none of its {len(failures):,} files can be read as mail")

    return from_the_first(find(report))
