"""What a person teaches by moving mail into Junk or out of it, and what `sort` has done already.

A message is known by its digest, since mail readers give it another file name when they move it. Whether it was last
seen in Junk or outside is kept beside the mail, so moves made while nobody watched are noticed too. `sort` notes its
own moves here: only a person's moves are lessons, and what a person moved back is not moved again. Mail in Trash,
Drafts or Sent is on neither side.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from spamnb.errors import SpamnbError
from spamnb.naming import escape
from spamnb.reader import message
from spamnb.sources import maildir
from spamnb.sources.entries import contents
from spamnb.sources.mailbox import MailboxMessage
from spamnb.store.database import Database

NEITHER = frozenset(["trash", "deleted messages", "deleted items", "drafts", "sent", "sent messages", "templates"])
_FILE = "spamnb-places.sqlite"
_SETTLED = 2.0  # seconds: a directory changed more recently may change again without a new time stamp


def is_junk(folder: Path, junk: Path) -> bool:
    """Whether *folder* is *junk* or below it, by Maildir++'s names or nested, whatever links lead there.

    >>> box = Path("Maildir")
    >>> [is_junk(box / name, box / ".Junk") for name in (".Junk.2024", ".Junkyard", ".Junk/2024", ".")]
    [True, False, True, False]
    """
    path, own = str(folder.resolve()), str(junk.resolve())
    return path == own or path.startswith((own + ".", own + os.sep))


# Folders for those whose mail reader cannot reach Junk, by the end of their names, and whether what is in them is spam.
LEARN = (("spam", True), ("ham", False))


class Lesson(NamedTuple):
    """A message that a person moved."""

    spam: bool
    name: str  # for people
    raw: bytes
    digest: bytes  # what it is known by: its digest, or in an account its kin
    message: MailboxMessage | None = None  # where it lies, if it is to go on from there


class SeenFolders(Database):
    """On which side each message of a Maildir was last seen; a small SQLite file in it."""

    KIND = "record of where mail was seen"
    REMEDY = "remove it: mail is then noted anew, and moves made since are no lessons"

    def __init__(self, path: str, connection: sqlite3.Connection) -> None:
        super().__init__(path, connection)
        self._maildir = Path(self.path).parent
        self._listed: dict[Path, tuple[float, list[Path]]] = {}

    @classmethod
    def of(cls, box: Path) -> SeenFolders:
        """The record of the Maildir *box*."""
        seen = cls.connect(maildir.checked(box) / _FILE, writable=True)
        seen._make_tables()
        return seen

    @classmethod
    def copy_of(cls, box: Path) -> SeenFolders:
        """The same in memory, for a trial that must leave no trace."""
        copy = cls.connect(":memory:", writable=True)
        file = maildir.checked(box) / _FILE
        if file.exists():
            with cls.connect(file, writable=False) as kept, kept.reading():
                kept.copy_to(copy)
        copy._make_tables()
        return copy

    def _make_tables(self) -> None:
        with self.writing():
            execute = self.execute
            execute("CREATE TABLE IF NOT EXISTS places (digest BLOB PRIMARY KEY, junk INTEGER NOT NULL) WITHOUT ROWID")
            execute(
                "CREATE TABLE IF NOT EXISTS names (folder TEXT NOT NULL, name TEXT NOT NULL, digest BLOB NOT NULL,"
                " PRIMARY KEY (folder, name)) WITHOUT ROWID"
            )
            # What 'sort' judged: all by digest, and by name what is still new, which need not be read again.
            execute("CREATE TABLE IF NOT EXISTS judged (digest BLOB PRIMARY KEY) WITHOUT ROWID")
            execute("CREATE TABLE IF NOT EXISTS judged_names (name TEXT PRIMARY KEY) WITHOUT ROWID")

    def looked(self) -> bool:
        """Whether 'watch' has looked here before."""
        with self.reading():
            return bool(self.execute("SELECT 1 FROM names LIMIT 1").fetchone())

    def noted(self) -> int:
        """Of how many messages it is known where they are."""
        with self.reading():
            return self.execute("SELECT count(*) FROM places").fetchone()[0]

    def judged_names(self) -> frozenset[str]:
        """The `lasting_name` each message that is not to be judged again."""
        with self.reading():
            return frozenset(name for (name,) in self.execute("SELECT name FROM judged_names"))

    def judged(self, digest: bytes) -> bool:
        """Whether 'sort' judged this message at some time, whatever it is called and wherever it was since."""
        with self.reading():
            return bool(self.execute("SELECT 1 FROM judged WHERE digest = ?", (digest,)).fetchone())

    def put_judged(self, names: Iterable[str], digests: Iterable[bytes] = ()) -> None:
        """Note messages as judged: what is still new by `lasting_name`, and all by digest."""
        with self.writing():
            execute = self.executemany
            execute("INSERT OR IGNORE INTO judged_names VALUES (?)", [(name,) for name in names])
            execute("INSERT OR IGNORE INTO judged VALUES (?)", [(digest,) for digest in digests])

    def forget_judged_names(self, names: Iterable[str]) -> None:
        """Forget the names of messages that are gone."""
        with self.writing():
            self.executemany("DELETE FROM judged_names WHERE name = ?", [(name,) for name in names])

    def put(self, digest: bytes, junk: bool) -> None:
        """Note where a message is, so that being there is no lesson."""
        with self.writing():
            self.execute("INSERT OR REPLACE INTO places VALUES (?, ?)", (digest, junk))

    def lessons(self, junk: str, on_unreadable: Callable[[str, Exception], None]) -> Iterator[Lesson]:
        """Messages moved into or out of Junk since they were last seen, one at a time; `put` each once it is learned.

        A message that was never seen is noted where it is. One that is on both sides, as while a mail reader copies
        it, is left for the next time.
        """
        # One transaction: a program that moves mail inside ``writing`` is seen before or after its move.
        with self.writing():
            crossed = self._crossed(self._sides(junk, on_unreadable))
        for spam, path, digest in crossed:
            try:
                raw = contents(str(path))
            except FileNotFoundError:
                continue  # moved on since it was listed
            except OSError as error:
                on_unreadable(escape(str(path)), error)
            else:
                yield Lesson(spam, escape(str(path)), raw, digest)

    def _sides(self, junk: str, on_unreadable: Callable[[str, Exception], None]) -> dict[bytes, dict[bool, Path]]:
        """{digest: {in Junk or not: a path}} of each message."""
        where: dict[bytes, dict[bool, Path]] = {}
        try:
            own = maildir.locate(self._maildir, junk)
            folders = maildir.mailbox(self._maildir, own)
            # A mistyped name, or a folder that was renamed: all that is in it would be a lesson of good mail.
            if not own.is_dir() and self.execute("SELECT 1 FROM places WHERE junk LIMIT 1").fetchone():
                raise SpamnbError(f"no folder {junk!r}, though spam was noted in one; nothing is learned without it")
        except (OSError, SpamnbError) as error:  # gone, with its user perhaps; others are watched on
            on_unreadable(escape(str(self._maildir)), error)
            return where
        for folder in folders:
            if folder.name.lower().rpartition(".")[2] in NEITHER and folder != self._maildir:
                continue
            side = is_junk(folder, own)
            try:
                for path, digest in self._digests(folder, on_unreadable):
                    where.setdefault(digest, {})[side] = path
            except OSError as error:
                on_unreadable(escape(str(folder)), error)
        return where

    def _crossed(self, where: dict[bytes, dict[bool, Path]]) -> list[tuple[bool, Path, bytes]]:
        """(side, path, digest) of each message that is on another side than before."""
        before = dict(self.execute("SELECT digest, junk FROM places"))
        crossed = []
        for digest, paths in where.items():
            if len(paths) > 1:
                continue
            (side, path), *_ = paths.items()
            if digest not in before:
                self.put(digest, side)
            elif bool(before[digest]) != side:
                crossed.append((side, path, digest))
        return crossed

    def _digests(self, folder: Path, on_unreadable: Callable[[str, Exception], None]) -> Iterator[tuple[Path, bytes]]:
        """The messages of a folder with their digests; only files of new names are read."""
        label = _text(os.path.relpath(folder, self._maildir)) if folder != self._maildir else ""
        paths = [path for part in ("new", "cur") for path in self._list(folder / part)]
        known = dict(self.execute("SELECT name, digest FROM names WHERE folder = ?", (label,)))
        found: dict[str, bytes] = {}
        for path in paths:
            name = _text(maildir.unique(path))
            digest = known.get(name)
            if digest is None:
                try:
                    digest = message.digest(contents(str(path)))
                except FileNotFoundError:
                    continue  # moved on since it was listed
                except OSError as error:
                    on_unreadable(escape(str(path)), error)
                    continue
            found[name] = digest
            yield path, digest
        if found != known:
            gone = [(label, name) for name in known.keys() - found.keys()]
            self.executemany("DELETE FROM names WHERE folder = ? AND name = ?", gone)
            come = [(label, name, found[name]) for name in found.keys() - known.keys()]
            self.executemany("INSERT OR REPLACE INTO names VALUES (?, ?, ?)", come)

    def _list(self, part: Path) -> list[Path]:
        """A directory's messages, from memory while its time stamp stands."""
        try:
            changed = part.stat().st_mtime
        except FileNotFoundError:
            return []
        before = self._listed.get(part)
        if before is not None and before[0] == changed:
            return before[1]
        try:
            listed = maildir.files(part)
        except FileNotFoundError:
            return []
        if time.time() - changed > _SETTLED:
            self._listed[part] = (changed, listed)
        return listed


def lasting_name(path: Path) -> str:
    """What a message is called as long as it lies in one folder."""
    return _text(maildir.delivered(path))


def _text(name: str) -> str:
    """A file's name as SQLite takes it, which has no way to spell bytes that are not UTF-8."""
    return name.encode("utf-8", "backslashreplace").decode("utf-8")
