"""What a SOURCE is, and the messages of several, one at a time: memory does not grow with their number.

    DIRECTORY           a folder per class; folders inside a class's folder belong to the class
    CLASS=PATH          a folder, Maildir, MH folder, mbox (also gzipped) or single message, all of one class
    CLASS=imaps://…     the same of a folder of an IMAP account
    index:PATH          a TREC index: lines ``spam ../data/inmail.1``, relative to the index's folder, order kept
    thunderbird:PATH    a profile, account or folder of Thunderbird, classes by the folders' names
    gmail:PATH          an mbox of Google Takeout, classes by Gmail's labels
    TABLE.csv           a row per message (.tsv and .jsonl too), classes by a column
    FILE                lines of ``label TAB text``

Each format is a function that gives the entries of a path, in a file of its own, and reports what it cannot read to
``on_unreadable``; the run goes on. A SOURCE that is none raises SpamnbError before a message is read; so does, when it
is its turn, one of whose files none can be read as mail.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import NamedTuple

from spamnb.class_names import check_class_name
from spamnb.errors import SpamnbError, Wording, reason
from spamnb.shown_text import escape, pluralize
from spamnb.sources.entries import Entry, ReadOptions, Report, one_message
from spamnb.sources.folders import folder_notes, listing, tree
from spamnb.sources.formats import is_table
from spamnb.sources.mbox import mail_file

_KINDS = ("index", "thunderbird", "gmail")
_IMAP = ("imaps://", "imap://")  # how URLs of accounts begin
_FORMS = (
    "a SOURCE is a directory with a folder per class, CLASS=PATH, index:PATH, thunderbird:PATH, gmail:PATH, a table "
    "or a file of label TAB text"
)


class Source(NamedTuple):
    """The parts of a SOURCE: ``kind`` is what stands before a colon, ``label`` what stands before an equals sign."""

    spec: str
    path: str
    kind: str = ""
    label: str | None = None


DEFAULT = ReadOptions()


def source_of(spec: str) -> Source:
    """The parts of a SOURCE, with the person's home where the path begins with a tilde.

    >>> source_of("ham=/mail/a=b"), source_of("./a=b").label, source_of("index:full/index").kind
    (Source(spec='ham=/mail/a=b', path='/mail/a=b', kind='', label='ham'), None, 'index')
    """
    kind, colon, path = spec.partition(":")
    if colon and kind in _KINDS:
        return Source(spec, os.path.expanduser(path), kind)
    label, equals, path = spec.partition("=")
    if equals and "/" not in label:  # ./a=b is a path
        return Source(spec, os.path.expanduser(path), label=label)
    return Source(spec, spec)


def entries(specs: Iterable[str], on_unreadable: Report, options: ReadOptions = DEFAULT) -> Iterator[Entry]:
    """Labelled entries of each SOURCE in turn, lazily. Raises SpamnbError at once for a SOURCE that is none.

    ``on_unreadable(name, error)`` is called for each file, folder or line that could not be read.
    """
    sources = [source_of(spec) for spec in specs]
    found = [_labelled(source, on_unreadable, options) for source in sources]
    _check_one_class_each(sources)
    return chain.from_iterable(found)


def unlabelled(
    paths: Iterable[str], on_unreadable: Report, options: ReadOptions = DEFAULT, label: str | None = None
) -> Iterator[Entry]:
    """Entries out of folders, Maildirs, MH folders, mboxes, tables and single messages, lazily. With a ``label`` they
    are those of ``label=PATH``; without one folders within Maildirs are read, too.

    Raises SpamnbError at once for a path where nothing is, and later where nothing of what there is can be read.
    """
    paths = list(paths)
    shown = escape(paths[0]) if len(paths) == 1 else "the sources"
    return _with_mail(
        shown,
        lambda report: chain.from_iterable([_of_class(label, path, path, report, options) for path in paths]),
        on_unreadable,
    )


def notes(spec: str, recursive: bool = False) -> Iterator[str]:
    """A line for each thing that whoever gave this SOURCE may want to know before it is read."""
    source = source_of(spec)
    if source.label is not None and is_account(source.path):
        from spamnb.sources.accounts import parsed
        from spamnb.sources.imap_reading import unread_note

        yield from unread_note(source.label, parsed(source.path), recursive)
    elif source.label is not None:
        for note in folder_notes(source.label, source.path, recursive):
            yield Wording("{spec}: {note}", spec=escape(spec), note=note)


def absolute(spec: str) -> str:
    """The SOURCE with its path made absolute, so that it means the same from any folder.

    >>> absolute("ham=/mail/../mail/in"), absolute("index:/trec/full/index"), absolute("spam=imaps://ann@example.org")
    ('ham=/mail/in', 'index:/trec/full/index', 'spam=imaps://ann@example.org')
    """
    source = source_of(spec)
    if is_account(source.path):
        return spec
    before = f"{source.kind}:" if source.kind else "" if source.label is None else f"{source.label}="
    return before + os.path.abspath(source.path)


def is_account(path: str) -> bool:
    """Is it the URL of an IMAP account, and no path?

    >>> is_account("imaps://ann@mail.example.org/Junk"), is_account("./imaps:")
    (True, False)
    """
    return path.lower().startswith(_IMAP)


# What a SOURCE is


def _labelled(source: Source, on_unreadable: Report, options: ReadOptions) -> Iterator[Entry]:
    """The entries of a SOURCE, by its form and by what lies there."""
    spec, path, label = source.spec, source.path, source.label
    shown = escape(spec)
    if os.path.isfile(path) and not os.path.getsize(path):  # another was meant, or its copying failed
        raise SpamnbError(f"{shown}: an empty file, so no message")
    if label is not None:
        _check_class(source)
        return _with_mail(shown, lambda report: _of_class(label, path, spec, report, options), on_unreadable, True)
    if is_account(path):
        from spamnb.sources.accounts import parsed

        raise SpamnbError(f"{escape(parsed(path).account)}: an account, which has no class; write CLASS={shown}")
    if _is_folder(path, spec, hint="" if source.kind else f"; {_FORMS}") and not source.kind:
        return _folder_per_class(path, on_unreadable, options)
    from spamnb.sources import gmail, tables, thunderbird  # whose own formats tell the classes

    kinds = {"gmail": gmail.gmail, "index": tables.trec_index, "thunderbird": thunderbird.thunderbird}
    find = kinds.get(source.kind, lambda path, report: tables.table(path, options, True, report))
    return _with_mail(shown, lambda report: find(path, report), on_unreadable)


def _of_class(label: str | None, path: str, spec: str, on_unreadable: Report, options: ReadOptions) -> Iterator[Entry]:
    """Mail of one class, or of none that is known."""
    if is_account(path):
        from spamnb.sources.accounts import parsed
        from spamnb.sources.imap_reading import imap_entries

        return imap_entries(label, parsed(path), on_unreadable, options.recursive)
    if _is_folder(path, spec):
        return tree(label, path, on_unreadable, options.recursive)
    if is_table(path):
        from spamnb.sources.tables import table

        return table(path, options, False, on_unreadable)
    return mail_file(label, path, on_unreadable)


def _folder_per_class(folder: str, on_unreadable: Report, options: ReadOptions) -> Iterator[Entry]:
    try:
        files, folders, _, maildir = listing(folder, on_unreadable)
    except OSError as error:
        raise SpamnbError(f"{escape(folder)}: cannot be listed: {error.strerror}") from error
    if maildir and {"cur", "new"}.issubset(folders):
        raise SpamnbError(f"{escape(folder)}: a Maildir, which has no class; write CLASS={escape(folder)}")
    if not folders:
        what = "messages but no folder per class" if files else "no folder per class"
        raise SpamnbError(f"{escape(folder)}: {what}; write CLASS={escape(folder)} if all is of one class")
    if files:
        more = f" (and {pluralize(len(files) - 1, 'file')} more)" if len(files) > 1 else ""
        beside = ValueError(f"beside the class folders, so in no class{more}")
        on_unreadable(escape(os.path.join(folder, files[0])), beside)
    paths = [os.path.join(folder, name) for name in folders]
    classes = [Source(path, path, label=name) for name, path in zip(folders, paths)]
    return chain.from_iterable([_labelled(each, on_unreadable, options) for each in classes])


# What is none


def _is_folder(path: str, spec: str, hint: str = "") -> bool:
    """Is a folder there, and not a file? SpamnbError where neither is."""
    shown = escape(spec)
    try:
        mode = os.stat(path).st_mode
    except FileNotFoundError as error:
        missing = shown if path == spec else f"{shown}: {escape(path)}"
        advice = "; mail elsewhere is downloaded first" if "://" in path else hint
        raise SpamnbError(f"{missing}: no such file or folder{advice}") from error
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        raise SpamnbError(f"{shown}: cannot be opened: {reason(error)}") from error
    if not (stat.S_ISDIR(mode) or stat.S_ISREG(mode)):
        raise SpamnbError(f"{shown}: neither file nor folder; save its content to a file first")
    return stat.S_ISDIR(mode)


def _check_class(source: Source) -> None:
    """SpamnbError for CLASS=PATH that names no class, or no mail of one class."""
    shown = escape(source.spec)
    if not source.path:
        raise SpamnbError(f"{shown}: no path after the '='; write CLASS=PATH")
    if is_table(source.path) and not is_account(source.path):
        raise SpamnbError(f"{shown}: a table, whose rows have classes of their own; write {escape(source.path)}")
    try:
        check_class_name(source.label or "")
    except ValueError as error:
        raise SpamnbError(f"{shown}: {error}; give the class another name, as in CLASS=PATH") from error


def _check_one_class_each(sources: Iterable[Source]) -> None:
    """SpamnbError where one file or folder is named for two classes: its mail would count for the later one only."""
    met: dict[str, Source] = {}
    for source in [source for source in sources if source.label is not None]:
        path = source.path
        place = path.rstrip("/").removesuffix("/INBOX") if is_account(path) else os.path.realpath(path)
        other = met.setdefault(place, source)
        if other.label != source.label:
            both = f"{escape(other.spec)} and {escape(source.spec)}"
            raise SpamnbError(f"{both}: one source for two classes; name a source of its own for each")


def _with_mail(
    shown: str, find: Callable[[Report], Iterator[Entry]], on_unreadable: Report, is_class: bool = False
) -> Iterator[Entry]:
    """The entries that ``find`` gives, from the first that can be read on; SpamnbError where there are files and none
    can be read. What is unreadable is told once it is known that anything can be read; so is a class without mail."""
    failures: list[tuple[str, Exception]] = []  # that are not told yet

    def from_the_first(found: Iterator[Entry]) -> Iterator[Entry]:
        any_read = False
        for entry in found:
            if not any_read:
                with one_message(entry.name, lambda name, error: failures.append((name, error))):
                    entry.read()
                    any_read = True
                if not any_read:
                    continue
            while failures:
                on_unreadable(*failures.pop(0))
            yield entry
        if failures and not any_read:
            name, why = failures[0]
            none = f"{shown}: none of its {len(failures):,} files or lines can be read as mail; "
            raise SpamnbError(f"{none if len(failures) > 1 else ''}{name}: {reason(why)}")
        if is_class and not any_read:
            failures.append((shown, ValueError("no message in it")))
        for failure in failures:
            on_unreadable(*failure)

    return from_the_first(find(lambda name, error: failures.append((name, error))))
