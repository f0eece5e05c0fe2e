"""The forms of a SOURCE. Messages are yielded one at a time, so memory does not grow with their number.

    DIRECTORY           a folder per class; folders inside a class's folder belong to the class
    CLASS=PATH          a folder, Maildir, MH folder, mbox (also gzipped) or single message, all of one class
    CLASS=imaps://…     a folder of an IMAP account, all of one class
    index:PATH          a TREC index: lines ``spam ../data/inmail.1`` with paths relative to the index's folder
    thunderbird:PATH    a profile, account or folder of Thunderbird, classes by the folders' names
    gmail:PATH          an mbox of Google Takeout, classes by Gmail's labels
    TABLE.csv           a row per message (.tsv and .jsonl too), classes by a column
    FILE                lines of ``label TAB text``

Each format has a module with a function that yields the entries of a path, and reports unreadable files and messages to
``on_unreadable``. A SOURCE without one of these forms raises SpamnbError before any message is read. If nothing in
a SOURCE can be read as mail, reading the SOURCE raises SpamnbError.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import partial
from itertools import chain
from typing import NamedTuple

from spamnb.class_names import check_class_name
from spamnb.errors import SpamnbError, Wording, reason
from spamnb.shown_text import escape, pluralize
from spamnb.sources.entries import Entry, OnError, ReadOptions, one_message
from spamnb.sources.folders import (
    DiskFolder,
    find_unread_folders,
    folder_entries,
    has_content,
    is_maildir,
    list_folder,
    list_names,
    note_unread,
    read_folders,
)
from spamnb.sources.formats import is_table
from spamnb.sources.mbox import file_entries, note_separators

_KINDS = ("index", "thunderbird", "gmail")  # written before a colon
_IMAP = ("imaps://", "imap://")  # the beginnings of URLs of accounts
_FORMS = (
    "a SOURCE is a directory with a folder per class, CLASS=PATH, index:PATH, thunderbird:PATH, gmail:PATH, a table "
    "or a file of label TAB text"
)


_ADVICE = "; {option.recursive} with {whole} reads all but junk, trash, drafts and templates"


class Source(NamedTuple):
    """The parts of a SOURCE: ``kind`` is written before a colon, ``label`` before an equals sign."""

    spec: str
    path: str
    kind: str = ""
    label: str | None = None

    def is_junk(self) -> bool:
        """Return whether the path is a folder or mbox whose name means junk in one of many languages."""
        from spamnb.sources.mailbox import folder_role

        *_, name = [part for part in self.path.split("/") if part not in ("", "cur", "new")] or [""]
        name = name.removesuffix(".gz").removesuffix(".mbox")
        return "junk" in (folder_role(name), folder_role(name.rpartition(".")[2]))


DEFAULT_OPTIONS = ReadOptions()


def parse_source(spec: str) -> Source:
    """Return the parts of a SOURCE. A tilde after the class or kind becomes the person's home directory.

    >>> parse_source("ham=/mail/a=b"), parse_source("./a=b").label, parse_source("index:full/index").kind
    (Source(spec='ham=/mail/a=b', path='/mail/a=b', kind='', label='ham'), None, 'index')
    """
    kind, colon, path = spec.partition(":")
    if colon and kind in _KINDS:
        return Source(spec, os.path.expanduser(path), kind)
    label, equals, path = spec.partition("=")
    if equals and "/" not in label:  # "./a=b" is a path
        return Source(spec, os.path.expanduser(path), label=label)
    return Source(spec, spec)


def find_labelled_entries(
    specs: Iterable[str], on_unreadable: OnError, options: ReadOptions = DEFAULT_OPTIONS
) -> Iterator[Entry]:
    """Return an iterator of the labelled entries of each SOURCE in turn. Raise SpamnbError at once for a bad SOURCE.

    ``on_unreadable(name, error)`` is called for each file, folder or line that cannot be read.
    """
    sources = [parse_source(spec) for spec in specs]
    entries = [_labelled_entries(source, on_unreadable, options) for source in sources]
    _check_one_class_each(sources)
    return chain.from_iterable(entries)


def find_entries(
    paths: Iterable[str], on_unreadable: OnError, options: ReadOptions = DEFAULT_OPTIONS, label: str | None = None
) -> Iterator[Entry]:
    """Return an iterator of the entries of folders, Maildirs, MH folders, mboxes, tables and single messages.

    They have the class ``label``, except those of tables, which have none. With a label, `folder_entries` leaves some
    folders out. Raise SpamnbError at once for a path that does not exist, and later if no file can be read as mail.
    """
    paths = list(paths)
    return _require_mail(
        escape(paths[0]) if len(paths) == 1 else "the sources",
        lambda report: chain.from_iterable([_class_entries(label, path, path, options, report) for path in paths]),
        on_unreadable,
    )


def source_notes(specs: Iterable[str], recursive: bool = False) -> Iterator[str]:
    """Yield lines about folders of mailboxes that no SOURCE reads, and about unseen messages."""
    sources = [source for source in map(parse_source, specs) if source.label is not None]
    folders_of_each = [read_folders(source.label, source.path, recursive) for source in sources]
    read = {os.path.realpath(folder.path) for folders in folders_of_each for folder in folders}
    for source, folders in zip(sources, folders_of_each):
        if is_account(source.path):
            from spamnb.sources.accounts import parse_url
            from spamnb.sources.imap_reading import unseen_note

            yield from unseen_note(str(source.label), parse_url(source.path), recursive)
        else:
            notes = [*note_unread(folders, recursive or not is_maildir(source.path), read)]
            if os.path.isfile(source.path) and not is_table(source.path):
                notes += note_separators(source.path)
            yield from (f"{escape(source.spec)}: {note}" for note in notes)
    if not recursive:
        yield from _unread_notes(sources, folders_of_each, read)


def _unread_notes(
    sources: Sequence[Source], folders_of_each: Sequence[Sequence[DiskFolder]], read: Collection[str]
) -> Iterator[str]:
    """Yield a line for each mailbox of good mail that has folders with mail which no SOURCE reads.

    ``read`` are the real paths of the folders that are read.
    """
    from spamnb.sources.mailbox import decode_name, folder_role

    classes_by_mailbox: dict[str, tuple[Source, set[str], dict[str, int]]] = {}
    for source, folders in zip(sources, folders_of_each):
        if source.is_junk() or folder_role(source.label or "") == "junk":
            continue
        if is_account(source.path):
            from spamnb.sources.accounts import parse_url
            from spamnb.sources.imap_reading import count_unread_folders

            urls = [parse_url(other.path) for other in sources if is_account(other.path)]
            mailbox, numbers = count_unread_folders(str(source.label), parse_url(source.path), urls)
        elif folders:
            mailbox, numbers = find_unread_folders(str(source.label), folders, read)
        else:
            continue
        classes_by_mailbox.setdefault(mailbox, (source, set(), numbers))[1].add(str(source.label))
    for mailbox, (source, labels, numbers) in classes_by_mailbox.items():
        if not numbers:
            continue
        # With several classes in one mailbox, only the user knows the class of its other folders.
        yield Wording(
            "{spec}: not read: {folders} of this mailbox with {messages}: {names}" + _ADVICE * (len(labels) == 1),
            spec=escape(source.spec),
            folders=pluralize(len(numbers), "other folder"),
            messages=pluralize(sum(numbers.values()), "message"),
            names=list_names([decode_name(name) for name in sorted(numbers, key=numbers.__getitem__, reverse=True)]),
            whole=escape(f"{source.label}={mailbox}"),
        )


def absolute_spec(spec: str) -> str:
    """Return the SOURCE with an absolute path.

    >>> absolute_spec("ham=/mail/../mail/in"), absolute_spec("index:/trec/full/index"), absolute_spec("spam=imaps://ann@example.org")
    ('ham=/mail/in', 'index:/trec/full/index', 'spam=imaps://ann@example.org')
    """
    source = parse_source(spec)
    if is_account(source.path):
        return spec
    prefix = f"{source.kind}:" if source.kind else "" if source.label is None else f"{source.label}="
    return prefix + os.path.abspath(source.path)


def is_account(path: str) -> bool:
    """Return whether a path is the URL of an IMAP account.

    >>> is_account("imaps://ann@mail.example.org/Junk"), is_account("./imaps:")
    (True, False)
    """
    return path.lower().startswith(_IMAP)


def _labelled_entries(source: Source, on_unreadable: OnError, options: ReadOptions) -> Iterator[Entry]:
    spec, path, label = source.spec, source.path, source.label
    shown_spec = escape(spec)
    if os.path.isfile(path) and not os.path.getsize(path):  # probably a wrong name, or a copy that failed
        raise SpamnbError(f"{shown_spec}: the file is empty")
    if label is not None:
        _check_class(source)
        find = partial(_class_entries, label, path, spec, options)
        return _require_mail(shown_spec, find, on_unreadable, is_class=True)
    if is_account(path):
        from spamnb.sources.accounts import parse_url

        raise SpamnbError(f"{escape(parse_url(path).address)}: an account without a class; write CLASS={shown_spec}")
    if _is_folder(path, spec, hint="" if source.kind else f"; {_FORMS}") and not source.kind:
        return _folder_per_class(path, on_unreadable, options)
    from spamnb.sources import gmail, tables, thunderbird  # formats in which each message has a class

    readers = {
        "gmail": gmail.gmail_entries,
        "index": tables.trec_index_entries,
        "thunderbird": thunderbird.thunderbird_entries,
    }
    read = readers.get(source.kind, lambda path, report: tables.table_entries(path, options, True, report))
    return _require_mail(shown_spec, lambda report: read(path, report), on_unreadable)


def _class_entries(
    label: str | None, path: str, spec: str, options: ReadOptions, on_unreadable: OnError
) -> Iterator[Entry]:
    """Return the entries of a path, of the class ``label`` (None: no class); those of a table have no class."""
    if is_account(path):
        from spamnb.sources.accounts import parse_url
        from spamnb.sources.imap_reading import imap_entries

        return imap_entries(label, parse_url(path), on_unreadable, options.recursive)
    if _is_folder(path, spec):
        return folder_entries(label, path, on_unreadable, options.recursive)
    if is_table(path):
        from spamnb.sources.tables import table_entries

        return table_entries(path, options, False, on_unreadable)
    return file_entries(label, path, on_unreadable)


def _folder_per_class(folder: str, on_unreadable: OnError, options: ReadOptions) -> Iterator[Entry]:
    try:
        listed, folders, *_ = list_folder(folder, on_unreadable)
    except OSError as error:
        raise SpamnbError(f"{escape(folder)}: cannot be listed: {error.strerror}") from error
    files = [name for name in listed if has_content(os.path.join(folder, name), on_unreadable)]
    if "ImapMail" in folders or "prefs.js" in listed:
        raise SpamnbError(f"{escape(folder)}: a profile of Thunderbird; write thunderbird:{escape(folder)}")
    if is_maildir(folder):
        raise SpamnbError(f"{escape(folder)}: a Maildir without a class; write CLASS={escape(folder)}")
    if not folders:
        problem = "messages but no folder per class" if files else "no folder per class"
        raise SpamnbError(f"{escape(folder)}: {problem}; if all its mail has one class, write CLASS={escape(folder)}")
    if files:
        more = f" (and {pluralize(len(files) - 1, 'file')} more)" if len(files) > 1 else ""
        no_class = ValueError(f"not in a class, because it is beside the folders of the classes{more}")
        on_unreadable(escape(os.path.join(folder, files[0])), no_class)
    paths = [os.path.join(folder, name) for name in folders]
    classes = [Source(path, path, label=name) for name, path in zip(folders, paths)]
    return chain.from_iterable([_labelled_entries(source, on_unreadable, options) for source in classes])


def _is_folder(path: str, spec: str, hint: str = "") -> bool:
    """Return True for a folder and False for a file. Raise SpamnbError if the path is neither."""
    shown_spec = escape(spec)
    try:
        mode = os.stat(path).st_mode
    except FileNotFoundError as error:
        shown_path = shown_spec if path == spec else f"{shown_spec}: {escape(path)}"
        advice = "; download mail from the web first" if "://" in path else hint
        raise SpamnbError(f"{shown_path}: no such file or folder{advice}") from error
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        raise SpamnbError(f"{shown_spec}: cannot be opened: {reason(error)}") from error
    if not (stat.S_ISDIR(mode) or stat.S_ISREG(mode)):
        raise SpamnbError(f"{shown_spec}: neither file nor folder; save its content to a file first")
    return stat.S_ISDIR(mode)


def _check_class(source: Source) -> None:
    """Raise SpamnbError for a CLASS=PATH without a class or a path, or with a table."""
    shown_spec = escape(source.spec)
    if not source.path:
        raise SpamnbError(f"{shown_spec}: no path after the '='; write CLASS=PATH")
    if is_table(source.path) and not is_account(source.path):
        raise SpamnbError(f"{shown_spec}: a table has a class in each row; write {escape(source.path)} alone")
    try:
        check_class_name(source.label or "")
    except ValueError as error:
        raise SpamnbError(f"{shown_spec}: {error}; give the class another name, as in CLASS=PATH") from error


def _check_one_class_each(sources: Iterable[Source]) -> None:
    """Raise SpamnbError if two classes have the same file or folder: its mail would count for the later class only."""
    by_path: dict[str, Source] = {}
    for source in [source for source in sources if source.label is not None]:
        path = source.path
        resolved = path.rstrip("/").removesuffix("/INBOX") if is_account(path) else os.path.realpath(path)
        other = by_path.setdefault(resolved, source)
        if other.label != source.label:
            both = f"{escape(other.spec)} and {escape(source.spec)}"
            raise SpamnbError(f"{both}: two classes have the same source; name another source for one of them")


def _require_mail(
    name: str, find: Callable[[OnError], Iterator[Entry]], on_unreadable: OnError, is_class: bool = False
) -> Iterator[Entry]:
    """Call ``find``, and return an iterator of its entries, beginning with the first readable one.

    The iterator raises SpamnbError if there are files and none can be read. Otherwise it reports unreadable files, and
    a class without mail.
    """
    unreported: list[tuple[str, Exception]] = []

    def add_error(entry_name: str, error: Exception) -> None:
        unreported.append((entry_name, error))

    def skip_unreadable(entries: Iterator[Entry]) -> Iterator[Entry]:
        has_mail = False
        for entry in entries:
            if not has_mail:
                with one_message(entry.name, add_error):
                    entry.read()
                    has_mail = True
                if not has_mail:
                    continue
            while unreported:
                on_unreadable(*unreported.pop(0))
            yield entry
        if unreported and not has_mail:
            first_name, error = unreported[0]
            summary = f"{name}: none of its {len(unreported):,} files or lines can be read as mail; "
            raise SpamnbError(f"{summary if len(unreported) > 1 else ''}{first_name}: {reason(error)}")
        if is_class and not has_mail:
            add_error(name, ValueError("contains no message"))
        for entry_error in unreported:
            on_unreadable(*entry_error)

    return skip_unreadable(find(add_error))
