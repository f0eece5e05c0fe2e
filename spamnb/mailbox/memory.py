"""The record of one mailbox: what was judged, on which side of Junk mail was last seen, and which moves were begun.

A message that stays is known by its folder and key, one that was moved by its kin; so only what came since the last
look is read. This program's own moves are noted before they are made: only a person's are lessons, and what a kill
interrupted is made whole by the next run. Mail in Trash, Drafts or Sent is on neither side.
"""

from __future__ import annotations

import fcntl
import os
import sqlite3
import time
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import NamedTuple, Self

from spamnb.errors import SpamnbError
from spamnb.mailbox.box import Box, Move
from spamnb.mailbox.sent import sent_among
from spamnb.people import SentMail
from spamnb.shown_text import escape
from spamnb.sources.entries import Report, check_link
from spamnb.sources.imap_connection import Denied
from spamnb.sources.mailbox import Folder, MailboxMessage
from spamnb.store.database import Database

# Folders whose mail is neither good nor spam, by what they are for; beside the folder of spam itself.
_NEITHER = frozenset({"junk", "trash", "drafts", "templates", "sent", "outbox", "chats", "all"})
_NOTED_AT_ONCE = 1000
PATIENCE = 60.0  # seconds that another process may be filing mail in the same mailbox
_TABLES = (
    "judged (digest BLOB PRIMARY KEY) WITHOUT ROWID",
    "new_mail (key TEXT PRIMARY KEY, judged INTEGER NOT NULL) WITHOUT ROWID",
    # How far each folder was looked at; "" stands for the inbox as far as it was judged.
    "looked (folder TEXT PRIMARY KEY, mark TEXT NOT NULL) WITHOUT ROWID",
    "seen_mail (folder TEXT NOT NULL, key TEXT NOT NULL, kin BLOB NOT NULL, junk INTEGER NOT NULL,"
    " PRIMARY KEY (folder, key)) WITHOUT ROWID",
    "sides (kin BLOB PRIMARY KEY, junk INTEGER NOT NULL) WITHOUT ROWID",
    "moves (folder TEXT NOT NULL, key TEXT NOT NULL, kin BLOB NOT NULL, digest BLOB NOT NULL, target TEXT NOT NULL,"
    " mark TEXT NOT NULL, junk INTEGER NOT NULL, note TEXT NOT NULL, PRIMARY KEY (folder, key)) WITHOUT ROWID",
)


class MovedMessage(NamedTuple):
    """A message that a person moved."""

    spam: bool
    message: MailboxMessage
    raw: bytes
    kin: bytes


class Memory(Database):
    """What is known of a mailbox's mail; its file is made by `of`."""

    KIND = "record of a mailbox's mail"
    REMEDY = "remove it: new mail is then judged again, and mail is noted anew where it is"

    @classmethod
    def _is_own(cls, file: str) -> bool:  # by its name, which nobody chose
        return True

    box: Box
    report: Report
    dry_run: bool

    def __init__(self, path: str, connection: sqlite3.Connection) -> None:
        super().__init__(path, connection)
        self._states: dict[str, Hashable] = {}  # of each folder at the last look
        self.sent: list[SentMail] = []  # mail that came into Sent folders, for the file of people
        self._undecided = True  # whether a crossing may wait to be decided

    @classmethod
    def of(cls, box: Box, report: Report, dry_run: bool = False) -> Self:
        """The record of a mailbox, made where there is none, for nobody else to read; ``dry_run``: a copy."""
        if dry_run:
            memory = cls.connect(":memory:", writable=True)
            if box.record.exists():
                with cls.connect(box.record, writable=False) as kept, kept.reading():
                    kept.copy_to(memory)
        else:
            try:
                box.record.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            except OSError as error:
                raise SpamnbError(f"{escape(str(box.record.parent))}: cannot be made: {error.strerror}") from None
            check_link(box.record.parent, *(f"{box.record}{suffix}" for suffix in ("", "-wal", "-shm", "-journal")))
            memory = cls.connect(box.record, writable=True)
        memory.box, memory.report, memory.dry_run = box, report, dry_run
        with memory.writing():
            for table in _TABLES:
                memory.execute(f"CREATE TABLE IF NOT EXISTS {table}")
            memory.execute("CREATE INDEX IF NOT EXISTS seen_mail_by_kin ON seen_mail (kin)")
        return memory

    @contextmanager
    def alone(self, patience: float = PATIENCE) -> Iterator[dict[Move, MailboxMessage]]:
        """While no other process files mail here. Moves that were interrupted are made whole first: those that are done
        now, and where each message lies."""
        if self.dry_run:
            yield {}
            return
        deadline = time.monotonic() + patience
        lock = self.box.record.with_suffix(".lock")
        check_link(lock)
        descriptor = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            while True:
                try:
                    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except BlockingIOError:
                    if time.monotonic() > deadline:
                        raise SpamnbError(f"{self.box.shown}: another spamnb is sorting it") from None
                    time.sleep(0.1)
            self.box.refresh()
            yield self.recover()
        finally:
            os.close(descriptor)

    # -- what is to be judged --------------------------------------------------------------------------------

    def unjudged(self, everything: bool = False) -> list[MailboxMessage]:
        """New mail that no run has judged, or ``everything`` in the inbox."""
        if everything:
            return self.box.messages(self.box.inbox)
        with self.reading():
            known = dict(self.execute("SELECT key, judged FROM new_mail").fetchall())
        waiting = [key for key, judged in known.items() if not judged]
        new, mark = self.box.new(self._mark(""), waiting)
        keys = {message.key for message in new}
        with self.writing():
            self._put_mark("", mark)
            self.executemany("DELETE FROM new_mail WHERE key = ?", [(key,) for key in known if key not in keys])
            self.executemany("INSERT OR IGNORE INTO new_mail VALUES (?, 0)", [(key,) for key in keys.difference(known)])
        return [message for message in new if not known.get(message.key)]

    def judged(self, digest: bytes) -> bool:
        """Whether a message of this content was judged at some time, wherever it was since."""
        with self.reading():
            return bool(self.execute("SELECT 1 FROM judged WHERE digest = ?", (digest,)).fetchone())

    def keep(self, messages: Sequence[tuple[MailboxMessage, bytes]]) -> dict[MailboxMessage, MailboxMessage]:
        """Note that messages, each with its digest, were judged and stay; where each lies."""
        with self.writing():
            self.executemany("INSERT OR REPLACE INTO new_mail VALUES (?, 1)", [(one.key,) for one, _ in messages])
            self.executemany("INSERT OR IGNORE INTO judged VALUES (?)", [(digest,) for _, digest in messages])
        return {one: one for one, _ in messages}

    # -- moves -----------------------------------------------------------------------------------------------

    def move(
        self, messages: Sequence[tuple[MailboxMessage, bytes]], into: Folder, notes: Mapping[MailboxMessage, str]
    ) -> dict[MailboxMessage, MailboxMessage | None]:
        """Move messages of one folder, each with its digest and perhaps a note, which stays until it is `written`:
        where each lies now, if that is known. Those that are gone or would not be moved are left out. Unreachable where
        a server is lost: `recover` then finds out what moved."""
        if self.dry_run:
            return {one: None for one, _ in messages}
        begun: dict[MailboxMessage, Move] = {}
        try:
            self.box.make(into)
            mark, junk = self.box.mark(into), self.box.is_below(into, self.box.junk())
            # As the mailbox shows them, and 'watch' will see them; those that are gone are not among them.
            kin = {one: kin for one, kin in self.box.kin([one for one, _ in messages]) if isinstance(kin, bytes)}
            source, target = self.box.key(messages[0][0].folder), self.box.key(into)
            begun = {
                one: Move(source, one.key, kin[one], digest, target, mark, junk, notes.get(one, ""))
                for one, digest in messages
                if one in kin
            }
            with self.writing():
                self.executemany("INSERT OR REPLACE INTO moves VALUES (?, ?, ?, ?, ?, ?, ?, ?)", begun.values())
            moved = self.box.move(list(begun), into)
        except (Denied, OSError) as error:
            self.report(self.box.shown, error)
            self.box.refresh()
            finished = self.recover()
            return {one: finished[move] for one, move in begun.items() if move in finished}
        done: dict[MailboxMessage, MailboxMessage | None] = {}
        for one, after in moved.items():
            if isinstance(after, OSError):
                self.report(one.name, after)
            else:
                done[one] = after
        self._end([begun[one] for one in done], True)
        self._end([move for one, move in begun.items() if one not in done], False)
        return done

    def recover(self) -> dict[Move, MailboxMessage]:
        """Make each move whole that was begun and not ended, or whose note was not written: those that are done, and
        where each message lies."""
        finished: dict[Move, MailboxMessage] = {}
        if begun := self.begun():
            for move, message in self.box.settle(begun):
                self._end([move], message is not None)
                if message is not None:
                    finished[move] = message
        return finished

    def written(self, digests: Iterable[bytes]) -> None:
        """The notes of the moves of these messages stand where they should."""
        with self.writing():
            self.executemany("DELETE FROM moves WHERE digest = ?", [(digest,) for digest in digests])

    def begun(self) -> list[Move]:
        """Moves of which it is not known what became of them, or whose note was not written."""
        with self.reading():
            return [Move(*row) for row in self.execute("SELECT * FROM moves").fetchall()]

    def _end(self, moves: Sequence[Move], done: bool) -> None:
        with self.writing():
            for move in moves:
                known = move.folder, move.key
                if not (done and move.note):
                    self.execute("DELETE FROM moves WHERE folder = ? AND key = ?", known)
                if done:
                    self.execute("INSERT OR REPLACE INTO sides VALUES (?, ?)", (move.kin, move.junk))
                    self.execute("INSERT OR IGNORE INTO judged VALUES (?)", (move.digest,))
                    self.execute("DELETE FROM seen_mail WHERE folder = ? AND key = ?", known)
                    if move.folder == self.box.key(self.box.inbox):
                        self.execute("DELETE FROM new_mail WHERE key = ?", (move.key,))

    # -- what a person moved ---------------------------------------------------------------------------------

    def looked(self) -> bool:
        """Whether a look was taken here before."""
        return self._has("looked WHERE folder != ''")

    def noted(self) -> int:
        """Of how many messages it is known where they are."""
        with self.reading():
            return self.execute("SELECT count(*) FROM seen_mail WHERE kin != x''").fetchone()[0]

    def state_of_inbox(self) -> Hashable:
        """The inbox's state at the last look."""
        return self._states.get(self.box.key(self.box.inbox))

    def lessons(self) -> Iterator[MovedMessage]:
        """Messages that were moved into or out of Junk since the last look; `put` each once it is learned.

        A message that was never seen is noted where it is. One that is on both sides, as while a mail reader copies
        it, is left for the next time.
        """
        self.box.refresh()
        try:
            folders = {self.box.key(folder): folder for folder in self.box.folders()}
        except OSError as error:  # gone, with its user perhaps; others are watched on
            self.report(self.box.shown, error)
            return
        junk = self.box.junk()
        # A mistyped name, or a folder that was renamed: all that is in it would be a lesson of good mail.
        if not self.box.exists(junk) and self._has("sides WHERE junk"):
            told = f"no folder {junk.name!r}, though spam was noted in one; nothing is learned without it"
            self.report(self.box.shown, SpamnbError(told))
        else:
            self._forget_folders(folders)
            sides = {key: self._side(folder, junk) for key, folder in folders.items()}
            for key, side in sides.items():
                if side is not None:
                    self._look(key, folders[key], partial(self._note_side, key, side))
                elif folders[key].role == "sent":
                    self._look(key, folders[key], partial(self._note_sent, key))
            if self._undecided:
                self._undecided = False
                yield from self._crossed(folders)

    def put(self, lesson: MovedMessage) -> None:
        """A lesson was learned."""
        with self.writing():
            self.execute("INSERT OR REPLACE INTO sides VALUES (?, ?)", (lesson.kin, lesson.spam))

    def _side(self, folder: Folder, junk: Folder) -> bool | None:
        """Whether a folder is on Junk's side; None for one on neither."""
        if self.box.is_below(folder, junk):
            return True
        return None if folder.role in _NEITHER else False

    def _look(self, key: str, folder: Folder, note: Callable[[list[MailboxMessage]], None]) -> None:
        """Note what came into a folder since the last look, in batches."""
        try:
            state = self.box.state(folder)
            if state is None or state != self._states.get(key):
                for batch in self._arrivals(key, folder):
                    note(batch)
                self._states[key] = state
                self._undecided = True
        except (Denied, OSError) as error:  # gone since it was listed, or another's
            self.report(f"{self.box.shown}/{escape(key)}", error)

    def _arrivals(self, key: str, folder: Folder) -> Iterator[list[MailboxMessage]]:
        """Yield the messages that came into a folder since the last look; the mark passes each batch that was noted."""
        with self.reading():
            known = self.execute("SELECT count(*) FROM seen_mail WHERE folder = ?", (key,)).fetchone()[0]
        arrived = self.box.arrived(folder, self._mark(key), known)
        messages = arrived.messages
        if arrived.complete:
            with self.writing():
                before = {each for (each,) in self.execute("SELECT key FROM seen_mail WHERE folder = ?", (key,))}
                gone = before.difference(message.key for message in messages)
                self._forget((key, each) for each in gone)
            messages = [message for message in messages if message.key not in before]
        for start in range(0, len(messages), _NOTED_AT_ONCE):
            batch = messages[start : start + _NOTED_AT_ONCE]
            yield batch
            if arrived.mark:  # what is lost half-way goes on from here
                self._put_mark(key, batch[-1].key)
        self._put_mark(key, arrived.mark)

    def _note_side(self, key: str, side: bool, batch: list[MailboxMessage]) -> None:
        """Note the kin of messages, and the side on which each was first seen."""
        rows = []
        for message, kin in self.box.kin(batch):
            if isinstance(kin, bytes):
                rows.append((key, message.key, kin, side))
            elif not isinstance(kin, FileNotFoundError):
                self.report(message.name, kin)
        with self.writing():
            self.executemany("INSERT OR REPLACE INTO seen_mail VALUES (?, ?, ?, ?)", rows)
            self.executemany("INSERT OR IGNORE INTO sides VALUES (?, ?)", [(kin, junk) for _, _, kin, junk in rows])

    def _note_sent(self, key: str, batch: list[MailboxMessage]) -> None:
        """Note messages of a Sent folder as seen, on no side, and keep whom they went to in ``sent``."""
        self.sent += sent_among(self.box, batch)
        rows = [(key, message.key, b"", False) for message in batch]
        with self.writing():
            self.executemany("INSERT OR REPLACE INTO seen_mail VALUES (?, ?, ?, ?)", rows)

    def _crossed(self, folders: dict[str, Folder]) -> Iterator[MovedMessage]:
        """The messages that a person took to the other side."""
        with self.reading():
            crossed = self.execute(
                "SELECT DISTINCT kin, sides.junk FROM seen_mail JOIN sides USING (kin)"
                " WHERE seen_mail.junk != sides.junk"
            ).fetchall()
        for kin, left in crossed:
            with self.reading():
                seen = self.execute("SELECT folder, key, junk FROM seen_mail WHERE kin = ?", (kin,)).fetchall()
            there: dict[bool, list[MailboxMessage]] = {False: [], True: []}
            for folder, key, side in seen:
                found = self.box.find(folders[folder], [key]) if folder in folders else []
                there[bool(side)] += found
                if not found:
                    self._forget([(folder, key)])
            if self._has("moves WHERE kin = ?", kin) or (there[False] and there[True]):
                self._undecided = True
            elif arrived := there[not left]:
                ((message, raw),) = self.box.read(arrived[-1:])
                if isinstance(raw, bytes):
                    yield MovedMessage(not left, message, raw, kin)
                elif not isinstance(raw, FileNotFoundError):
                    self.report(message.name, raw)

    # -- rows ------------------------------------------------------------------------------------------------

    def _has(self, rows: str, *values: bytes) -> bool:
        with self.reading():
            return bool(self.execute(f"SELECT 1 FROM {rows} LIMIT 1", values).fetchone())  # noqa: S608 (our own words)

    def _mark(self, folder: str) -> str:
        with self.reading():
            found = self.execute("SELECT mark FROM looked WHERE folder = ?", (folder,)).fetchone()
        return found[0] if found else ""

    def _put_mark(self, folder: str, mark: str) -> None:
        with self.writing():
            # A mark that stands is not written: looks would wait for the disk.
            upsert = "ON CONFLICT (folder) DO UPDATE SET mark = excluded.mark WHERE mark != excluded.mark"
            self.execute(f"INSERT INTO looked VALUES (?, ?) {upsert}", (folder, mark))  # noqa: S608 (our own words)

    def _forget(self, messages: Iterable[tuple[str, str]]) -> None:
        with self.writing():
            self.executemany("DELETE FROM seen_mail WHERE folder = ? AND key = ?", messages)

    def _forget_folders(self, there: Iterable[str]) -> None:
        """Forget folders that are gone."""
        with self.writing():
            known = {folder for (folder,) in self.execute("SELECT folder FROM looked WHERE folder != ''")}
            gone = [(folder,) for folder in known.difference(there)]
            for table in ("seen_mail", "looked"):
                self.executemany(f"DELETE FROM {table} WHERE folder = ?", gone)  # noqa: S608 (one of these two)
