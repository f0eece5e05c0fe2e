"""What a SOURCE is, and the messages of several, one at a time: memory does not grow with their number.

    DIRECTORY           a folder per class; folders inside a class's folder belong to the class
    CLASS=PATH          a folder, Maildir, MH folder, mbox (also gzipped) or single message, all of one class
    CLASS=imaps://…     the same of a folder of an IMAP account
    CLASS=ARCHIVE.tar   the same of what is in an archive (.tar.gz, .tgz, .zip); without CLASS a folder per class
    s3://BUCKET/PATH    what lies elsewhere, by URL (gs://, sftp://, https:// and others), wherever a PATH may stand
    index:PATH          a TREC index: lines ``spam ../data/inmail.1``, relative to the index's folder, order kept
    thunderbird:PATH    a profile, account or folder of Thunderbird, classes by the folders' names
    gmail:PATH          an mbox of Google Takeout, classes by Gmail's labels
    TABLE.csv           a row per message (.tsv, .jsonl and .parquet too), classes by a column
    FILE                lines of ``label TAB text``

A SOURCE that is none raises SpamnbError before a message is read; so does, when it is its turn, one of whose files
none can be read as mail. What else cannot be read goes to ``on_unreadable`` and the run goes on.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Hashable, Iterable, Iterator
from itertools import chain

from spamnb.errors import SpamnbError
from spamnb.naming import check_class_name, escape, pluralize
from spamnb.sources.entries import Entry, Report, is_remote, message_of_text, open_mail
from spamnb.sources.files import is_archive, is_empty, is_table
from spamnb.sources.folders import listing
from spamnb.sources.formats import HEAD, NotMail, foreign_format
from spamnb.sources.labelled_lines import first_line, index, label_and_text, labelled_texts
from spamnb.sources.one_class import DEFAULT, IMAP, ReadOptions, mode_of, of_class, rows_of, status_of, with_mail

_FORMS = (
    "a SOURCE is a directory with a folder per class, CLASS=PATH, index:PATH, thunderbird:PATH, gmail:PATH, a table "
    "or a file of label TAB text"
)


def entries(specs: Iterable[str], on_unreadable: Report, options: ReadOptions = DEFAULT) -> Iterator[Entry]:
    """Labelled entries of each SOURCE in turn, lazily. Raises SpamnbError at once for a SOURCE that is none.

    ``on_unreadable(name, error)`` is called for each file, folder or line that could not be read.
    """
    specs = list(specs)
    found = [_labelled(spec, on_unreadable, options) for spec in specs]
    _check_one_class_each(specs)
    return chain.from_iterable(found)


def absolute(spec: str) -> str:
    """The SOURCE with its path made absolute, so that it means the same from any folder.

    >>> absolute("ham=/mail/../mail/in"), absolute("index:/trec/full/index"), absolute("spam=imaps://ann@example.org")
    ('ham=/mail/in', 'index:/trec/full/index', 'spam=imaps://ann@example.org')
    """
    kind, colon, path = spec.partition(":")
    if colon and kind in _KINDS:
        return kind + colon + os.path.abspath(os.path.expanduser(path))
    label, equals, path = spec.partition("=")
    if equals and "/" not in label:
        if is_account(path) or is_remote(path):
            return spec
        return label + equals + os.path.abspath(os.path.expanduser(path))
    return spec if is_remote(spec) else os.path.abspath(spec)


def is_account(path: str) -> bool:
    """Is it the URL of an IMAP account, and no path?

    >>> is_account("imaps://ann@mail.example.org/Junk"), is_account("./imaps:")
    (True, False)
    """
    return path.lower().startswith(IMAP)


# What a SOURCE is


def _check_one_class_each(specs: Iterable[str]) -> None:
    """SpamnbError where one file or folder is named for two classes: its mail would count for the later one only."""
    met: dict[Hashable, str] = {}
    for spec in specs:
        label, equals, path = spec.partition("=")
        if not equals or not path or "/" in label or spec.partition(":")[0] in _KINDS:
            continue
        if is_account(path):
            from spamnb.sources.imap_url import parsed

            url = parsed(path)
            one: Hashable = url._replace(folder=url.folder or "INBOX")
        elif is_remote(path):
            one = path.rstrip("/")
        else:
            status = status_of(os.path.expanduser(path), spec)
            one = status.st_dev, status.st_ino
        before = met.setdefault(one, spec)
        if before.partition("=")[0] != label:
            raise SpamnbError(
                f"{escape(before)} and {escape(spec)}: one source for two classes; name a source of its own for each"
            )


def _labelled(spec: str, on_unreadable: Report, options: ReadOptions) -> Iterator[Entry]:
    kind, colon, path = spec.partition(":")
    if colon and kind in _KINDS:
        path = os.path.expanduser(path)
        _check_not_empty(path, spec)
        return with_mail(escape(spec), lambda report: _KINDS[kind](path, spec, report), on_unreadable)
    if is_account(spec):
        from spamnb.sources.imap_url import parsed

        raise SpamnbError(f"{escape(parsed(spec).account)}: an account, which has no class; write CLASS={escape(spec)}")
    label, equals, path = spec.partition("=")
    if equals and "/" not in label:  # ./a=b is a path
        if not path:
            raise SpamnbError(f"{escape(spec)}: no path after the '='; write CLASS=PATH")
        name, path = _class_of(label, spec), os.path.expanduser(path)
        if is_table(path) and not is_account(path):
            raise SpamnbError(f"{escape(spec)}: a table, whose rows have classes of their own; write {escape(path)}")
        _check_not_empty(path, spec)
        return _of_one_class(name, path, spec, on_unreadable, options)
    mode = mode_of(spec, spec, hint=f"; {_FORMS}")
    if stat.S_ISDIR(mode):
        return _folder_per_class(spec, on_unreadable, options)
    if not stat.S_ISREG(mode):
        raise SpamnbError(f"{escape(spec)}: neither file nor folder; {_FORMS}")
    _check_not_empty(spec, spec)
    if is_table(spec):
        return rows_of(spec, True, on_unreadable, options)
    if is_archive(spec):
        from spamnb.sources.archives import class_folders

        return with_mail(escape(spec), lambda report: class_folders(spec, report), on_unreadable)
    return _lines(spec, on_unreadable)


def _index(path: str, spec: str, on_unreadable: Report) -> Iterator[Entry]:
    if not stat.S_ISREG(status_of(path, spec).st_mode):
        raise SpamnbError(f"{escape(spec)}: not a file; give the TREC index itself, as index:PATH")
    return (Entry(label, escape(target), target) for label, target in index(path, on_unreadable))


def _thunderbird(path: str, spec: str, on_unreadable: Report) -> Iterator[Entry]:
    from spamnb.sources.thunderbird import thunderbird

    if not stat.S_ISDIR(status_of(path, spec).st_mode):
        raise SpamnbError(f"{escape(spec)}: not a folder; write CLASS={escape(path)} for a single mailbox")
    return thunderbird(path, on_unreadable)


def _gmail(path: str, spec: str, on_unreadable: Report) -> Iterator[Entry]:
    from spamnb.sources.gmail import gmail

    mode = status_of(path, spec).st_mode
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        raise SpamnbError(f"{escape(spec)}: neither file nor folder")
    return gmail(path, on_unreadable)


_KINDS: dict[str, Callable[[str, str, Report], Iterator[Entry]]] = {
    "index": _index,
    "thunderbird": _thunderbird,
    "gmail": _gmail,
}


def _of_one_class(label: str, path: str, spec: str, on_unreadable: Report, options: ReadOptions) -> Iterator[Entry]:
    return with_mail(escape(spec), lambda report: of_class(label, path, spec, report, options), on_unreadable)


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
    labels = [_class_of(name, folder) for name in folders]
    paths = [os.path.join(folder, name) for name in folders]
    found = [_of_one_class(label, path, path, on_unreadable, options) for label, path in zip(labels, paths)]
    return chain.from_iterable(found)


def _class_of(label: str, spec: str) -> str:
    try:
        return check_class_name(label)
    except ValueError as error:
        raise SpamnbError(f"{escape(spec)}: {error}; give the class another name, as in CLASS=PATH") from error


def _check_not_empty(path: str, spec: str) -> None:
    """SpamnbError for a file of no bytes: whoever gives one as a SOURCE meant another, or its copying failed."""
    if is_empty(path):
        raise SpamnbError(f"{escape(spec)}: an empty file, so no message")


# Files of text


def _lines(path: str, on_unreadable: Report) -> Iterator[Entry]:
    """A message per line ``label TAB text``. The first line decides at once whether it is such a file."""
    try:
        with open_mail(path) as stream:
            what = foreign_format(stream.read(HEAD))
        if what:
            raise SpamnbError(f"{escape(path)}: {NotMail(what, path).strerror}")
        if first := first_line(path):
            label_and_text(first)
    except ValueError as error:
        raise SpamnbError(f"{escape(path)}: {error}; for a mailbox or a message write CLASS={escape(path)}") from error
    except OSError as error:
        raise SpamnbError(f"{escape(path)}: cannot be read: {error.strerror}") from error
    found = labelled_texts(path, on_unreadable)
    return (Entry(label, name, path, content=message_of_text(text)) for label, name, text in found)
