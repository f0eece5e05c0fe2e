"""The record of one mailbox: classified messages, whether each message was in Junk or not, and moves that were begun.

A message is on one of two sides: in Junk, or in another folder. Mail in Trash, Drafts or Sent is on neither side. A
message is found again by its folder and key, or after a move by its identity. So a scan reads only messages that came
since the last scan. The program records its own moves before it makes them. All other moves are a person's, and teach
the model. The next run finishes moves that a kill interrupted.
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
from spamnb.mailbox.interface import Mailbox, Move
from spamnb.mailbox.sent import read_sent_mail
from spamnb.people import SentMail
from spamnb.shown_text import escape
from spamnb.sources.entries import Report, check_link
from spamnb.sources.imap_connection import Denied
from spamnb.sources.mailbox import Folder, MailboxMessage
from spamnb.store.database import Database

# Roles of folders on neither side, except the folder of spam itself.
_ROLES_WITHOUT_SIDE = frozenset({"junk", "trash", "drafts", "templates", "sent", "outbox", "chats", "all"})
_BATCH = 1000  # messages that are recorded in one transaction: an interrupted scan goes on after the last batch
LOCK_SECONDS = 60.0  # to wait until another process unlocks the mailbox, because runs of a cron job may overlap
_TABLES = (
    "classified (digest BLOB PRIMARY KEY) WITHOUT ROWID",
    "new_mail (key TEXT PRIMARY KEY, is_classified INTEGER NOT NULL) WITHOUT ROWID",
    # The mark up to which each folder was scanned; for the folder "" the mark up to which new mail was listed.
    "marks (folder TEXT PRIMARY KEY, mark TEXT NOT NULL) WITHOUT ROWID",
    # Where messages were at the last scan.
    "locations (folder TEXT NOT NULL, key TEXT NOT NULL, identity BLOB NOT NULL, is_junk INTEGER NOT NULL,"
    " PRIMARY KEY (folder, key)) WITHOUT ROWID",
    # The side on which a message was recorded first, or since then moved by the program or learned.
    "sides (identity BLOB PRIMARY KEY, is_junk INTEGER NOT NULL) WITHOUT ROWID",
    "moves (folder TEXT NOT NULL, key TEXT NOT NULL, identity BLOB NOT NULL, digest BLOB NOT NULL,"
    " target TEXT NOT NULL, mark TEXT NOT NULL, is_junk INTEGER NOT NULL, note TEXT NOT NULL,"
    " PRIMARY KEY (folder, key)) WITHOUT ROWID",
)


class MovedMessage(NamedTuple):
    """A message that a person moved into Junk (``is_spam``) or out of it."""

    is_spam: bool
    message: MailboxMessage
    raw: bytes
    identity: bytes


class MailboxRecord(Database):
    """The record of a mailbox; `open` makes its file."""

    KIND = "record of a mailbox's mail"
    REMEDY = "remove it; new mail is then classified again, and the present folder of each message is recorded"

    @classmethod
    def _has_own_id(cls, file: str) -> bool:  # True, because this program chose the name of the file
        return True

    mailbox: Mailbox
    report: Report
    dry_run: bool

    def __init__(self, path: str, connection: sqlite3.Connection) -> None:
        super().__init__(path, connection)
        self._states: dict[str, Hashable] = {}  # of each folder at the last scan
        self.sent: list[SentMail] = []  # mail that came into Sent folders, for the file of people
        self._may_have_moves = True  # whether a message may be on another side than before

    @classmethod
    def open(cls, mailbox: Mailbox, report: Report, dry_run: bool = False) -> Self:
        """Open the record of a mailbox, or with ``dry_run`` a copy of it. Only its owner can read a new file."""
        path = mailbox.record_path
        if dry_run:
            record = cls.connect(":memory:", writable=True)
            if path.exists():
                with cls.connect(path, writable=False) as original, original.reading():
                    original.copy_to(record)
        else:
            try:
                path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            except OSError as error:
                raise SpamnbError(f"{escape(str(path.parent))}: cannot be made: {error.strerror}") from None
            check_link(path.parent, *(f"{path}{suffix}" for suffix in ("", "-wal", "-shm", "-journal")))
            record = cls.connect(path, writable=True)
        record.mailbox, record.report, record.dry_run = mailbox, report, dry_run
        with record.writing():
            for table in _TABLES:
                record.execute(f"CREATE TABLE IF NOT EXISTS {table}")
            record.execute("CREATE INDEX IF NOT EXISTS locations_by_identity ON locations (identity)")
        return record

    @contextmanager
    def lock(self, timeout: float = LOCK_SECONDS) -> Iterator[dict[Move, MailboxMessage]]:
        """Lock the mailbox against other spamnb processes, finish interrupted moves, and yield the finished ones."""
        if self.dry_run:
            yield {}
            return
        deadline = time.monotonic() + timeout
        path = self.mailbox.record_path.with_suffix(".lock")
        check_link(path)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            while True:
                try:
                    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except BlockingIOError:
                    if time.monotonic() > deadline:
                        raise SpamnbError(f"{self.mailbox.display_name}: another spamnb is sorting it") from None
                    time.sleep(0.1)
            self.mailbox.forget_folders()
            yield self.finish_moves()
        finally:
            os.close(descriptor)

    # -- messages to classify --------------------------------------------------------------------------------

    def new_messages(self, everything: bool = False) -> list[MailboxMessage]:
        """Return the new mail that no run has classified, or ``everything`` in the inbox."""
        if everything:
            return self.mailbox.messages(self.mailbox.inbox)
        with self.reading():
            recorded = dict(self.execute("SELECT key, is_classified FROM new_mail").fetchall())
        waiting = [key for key, is_classified in recorded.items() if not is_classified]
        messages, mark = self.mailbox.list_new(self._mark(""), waiting)
        keys = {message.key for message in messages}
        absent, added = [(key,) for key in recorded if key not in keys], [(key,) for key in keys.difference(recorded)]
        with self.writing():
            self._put_mark("", mark)
            self.executemany("DELETE FROM new_mail WHERE key = ?", absent)
            self.executemany("INSERT OR IGNORE INTO new_mail VALUES (?, 0)", added)
        return [message for message in messages if not recorded.get(message.key)]

    def was_classified(self, digest: bytes) -> bool:
        """Return whether a message with this digest was ever classified, even if it was in another folder."""
        return self._has("classified WHERE digest = ?", digest)

    def add_classified(self, messages: Sequence[tuple[MailboxMessage, bytes]]) -> None:
        """Record that messages, each with its digest, were classified and stay where they are."""
        with self.writing():
            rows = [(message.key,) for message, _ in messages]
            self.executemany("INSERT OR REPLACE INTO new_mail VALUES (?, 1)", rows)
            self.executemany("INSERT OR IGNORE INTO classified VALUES (?)", [(digest,) for _, digest in messages])

    def add_staying(self, messages: Sequence[MailboxMessage]) -> None:
        """Record that classified messages stay outside of Junk, and so a later move is a person's."""
        identities = [identity for _, identity in self.mailbox.identities(messages) if isinstance(identity, bytes)]
        with self.writing():
            self.executemany("INSERT OR IGNORE INTO sides VALUES (?, 0)", [(identity,) for identity in identities])

    # -- moves of the program --------------------------------------------------------------------------------

    def move(
        self, messages: Sequence[tuple[MailboxMessage, bytes]], into: Folder, notes: Mapping[MailboxMessage, str]
    ) -> dict[MailboxMessage, MailboxMessage | None]:
        """Move messages of one folder, each with its digest, as `Mailbox.move` does.

        The note of a message stays in the record until `drop_notes`. Messages that are gone or cannot be moved are left
        out. Raise Unreachable if the connection is lost; `finish_moves` then finds out which messages were moved.
        """
        if self.dry_run:
            return {message: None for message, _ in messages}
        moves: dict[MailboxMessage, Move] = {}
        try:
            self.mailbox.make_folder(into)
            mark, is_junk = self.mailbox.mark(into), self.mailbox.is_within(into, self.mailbox.junk())
            identities = dict(self.mailbox.identities([message for message, _ in messages]))
            source, target = self.mailbox.folder_key(messages[0][0].folder), self.mailbox.folder_key(into)
            moves = {
                message: Move(source, message.key, identity, digest, target, mark, is_junk, notes.get(message, ""))
                for message, digest in messages
                if isinstance(identity := identities.get(message), bytes)
            }
            with self.writing():
                self.executemany("INSERT OR REPLACE INTO moves VALUES (?, ?, ?, ?, ?, ?, ?, ?)", moves.values())
            results = self.mailbox.move(list(moves), into)
        except (Denied, OSError) as error:
            self.report(self.mailbox.display_name, error)
            self.mailbox.forget_folders()
            finished = self.finish_moves()
            return {message: finished[move] for message, move in moves.items() if move in finished}
        moved: dict[MailboxMessage, MailboxMessage | None] = {}
        for message, result in results.items():
            if isinstance(result, OSError):
                self.report(message.name, result)
            else:
                moved[message] = result
        self._end_moves([moves[message] for message in moved], True)
        self._end_moves([move for message, move in moves.items() if message not in moved], False)
        return moved

    def finish_moves(self) -> dict[Move, MailboxMessage]:
        """Finish the moves that were interrupted or whose note was not written; return those that are done now."""
        finished: dict[Move, MailboxMessage] = {}
        if moves := self.unfinished_moves():
            for move, message in self.mailbox.settle(moves):
                self._end_moves([move], message is not None)
                if message is not None:
                    finished[move] = message
        return finished

    def drop_notes(self, digests: Iterable[bytes]) -> None:
        """Delete the notes of these messages' moves, because the journal has them now."""
        with self.writing():
            self.executemany("DELETE FROM moves WHERE digest = ?", [(digest,) for digest in digests])

    def unfinished_moves(self) -> list[Move]:
        """Return the moves that may not be done, and the moves whose note was not written."""
        with self.reading():
            return [Move(*row) for row in self.execute("SELECT * FROM moves").fetchall()]

    def _end_moves(self, moves: Sequence[Move], is_done: bool) -> None:
        with self.writing():
            for move in moves:
                row = move.folder, move.key
                if not (is_done and move.note):
                    self.execute("DELETE FROM moves WHERE folder = ? AND key = ?", row)
                if is_done:
                    self.execute("INSERT OR REPLACE INTO sides VALUES (?, ?)", (move.identity, move.is_junk))
                    self.execute("INSERT OR IGNORE INTO classified VALUES (?)", (move.digest,))
                    self.execute("DELETE FROM locations WHERE folder = ? AND key = ?", row)
                    if move.folder == self.mailbox.folder_key(self.mailbox.inbox):
                        self.execute("DELETE FROM new_mail WHERE key = ?", (move.key,))

    # -- moves of a person -----------------------------------------------------------------------------------

    def has_scanned(self) -> bool:
        return self._has("marks WHERE folder != ''")

    def count_messages(self) -> int:
        """Return the number of messages whose side is recorded."""
        with self.reading():
            return self.execute("SELECT count(*) FROM locations WHERE identity != x''").fetchone()[0]

    def inbox_state(self) -> Hashable:
        return self._states.get(self.mailbox.folder_key(self.mailbox.inbox))

    def moved_messages(self) -> Iterator[MovedMessage]:
        """Yield the messages that a person moved into or out of Junk since the last scan.

        The caller calls `add_learned` for each message that was learned. New messages are recorded on the side where
        they are. A message on both sides, for example while a mail reader copies it, is left for the next scan.
        """
        self.mailbox.forget_folders()
        try:
            folders = {self.mailbox.folder_key(folder): folder for folder in self.mailbox.folders()}
        except OSError as error:  # the mailbox was removed, perhaps with its user; 'watch' goes on with other mailboxes
            self.report(self.mailbox.display_name, error)
            return
        junk = self.mailbox.junk()
        # If the folder of spam was renamed or mistyped, all mail in the old folder would be learned as good.
        if not self.mailbox.exists(junk) and self._has("sides WHERE is_junk"):
            problem = f"no folder {junk.name!r}, but spam is recorded in another folder; nothing is learned"
            self.report(self.mailbox.display_name, SpamnbError(problem))
            return
        self._delete_other_folders(folders)
        for key, folder in folders.items():
            side = self._side(folder, junk)
            if side is not None:
                self._scan(key, folder, partial(self._record_side, key, side))
            elif folder.role == "sent":
                self._scan(key, folder, partial(self._record_sent, key))
        if self._may_have_moves:
            self._may_have_moves = False
            yield from self._find_moved(folders)

    def add_learned(self, moved: MovedMessage) -> None:
        """Record that the message was learned on its new side."""
        with self.writing():
            self.execute("INSERT OR REPLACE INTO sides VALUES (?, ?)", (moved.identity, moved.is_spam))

    def _side(self, folder: Folder, junk: Folder) -> bool | None:
        """Return whether a folder is on Junk's side; None if it is on neither."""
        if self.mailbox.is_within(folder, junk):
            return True
        return None if folder.role in _ROLES_WITHOUT_SIDE else False

    def _scan(self, key: str, folder: Folder, record_batch: Callable[[list[MailboxMessage]], None]) -> None:
        """Record the messages that came into a folder since the last scan, in batches."""
        try:
            state = self.mailbox.state(folder)
            if state is None or state != self._states.get(key):
                for batch in self._arrivals(key, folder):
                    record_batch(batch)
                self._states[key] = state
                self._may_have_moves = True
        except (Denied, OSError) as error:  # the folder was removed after it was listed, or belongs to another user
            self.report(f"{self.mailbox.display_name}/{escape(key)}", error)

    def _arrivals(self, key: str, folder: Folder) -> Iterator[list[MailboxMessage]]:
        """Yield the messages that came into a folder since the last scan, and record its mark after each batch."""
        with self.reading():
            n_recorded = self.execute("SELECT count(*) FROM locations WHERE folder = ?", (key,)).fetchone()[0]
        arrivals = self.mailbox.list_arrivals(folder, self._mark(key), n_recorded)
        messages = arrivals.messages
        if arrivals.is_complete:
            with self.writing():
                rows = self.execute("SELECT key FROM locations WHERE folder = ?", (key,))
                recorded = {message_key for (message_key,) in rows}
                absent = recorded.difference(message.key for message in messages)
                self._delete_locations((key, message_key) for message_key in absent)
            messages = [message for message in messages if message.key not in recorded]
        for start in range(0, len(messages), _BATCH):
            batch = messages[start : start + _BATCH]
            yield batch
            if arrivals.mark:  # not in a Maildir; in an account an interrupted scan goes on after this batch
                self._put_mark(key, batch[-1].key)
        self._put_mark(key, arrivals.mark)

    def _record_side(self, key: str, is_junk: bool, batch: list[MailboxMessage]) -> None:
        """Record where messages are, and their side if they have none yet."""
        rows = []
        for message, identity in self.mailbox.identities(batch):
            if isinstance(identity, bytes):
                rows.append((key, message.key, identity, is_junk))
            elif not isinstance(identity, FileNotFoundError):
                self.report(message.name, identity)
        with self.writing():
            self.executemany("INSERT OR REPLACE INTO locations VALUES (?, ?, ?, ?)", rows)
            self.executemany("INSERT OR IGNORE INTO sides VALUES (?, ?)", [row[2:] for row in rows])

    def _record_sent(self, key: str, batch: list[MailboxMessage]) -> None:
        """Record messages of a Sent folder, which has no side, and add their people to ``sent``."""
        self.sent += read_sent_mail(self.mailbox, batch)
        rows = [(key, message.key, b"", False) for message in batch]
        with self.writing():
            self.executemany("INSERT OR REPLACE INTO locations VALUES (?, ?, ?, ?)", rows)

    def _find_moved(self, folders: dict[str, Folder]) -> Iterator[MovedMessage]:
        """Yield the messages that are no longer on their recorded side."""
        with self.reading():
            candidates = self.execute(
                "SELECT DISTINCT identity, sides.is_junk FROM locations JOIN sides USING (identity)"
                " WHERE locations.is_junk != sides.is_junk"
            ).fetchall()
        for identity, was_junk in candidates:
            with self.reading():
                select = "SELECT folder, key, is_junk FROM locations WHERE identity = ?"
                rows = self.execute(select, (identity,)).fetchall()
            by_side: dict[bool, list[MailboxMessage]] = {False: [], True: []}
            for folder, key, is_junk in rows:
                messages = self.mailbox.find(folders[folder], [key]) if folder in folders else []
                by_side[bool(is_junk)] += messages
                if not messages:
                    self._delete_locations([(folder, key)])
            if self._has("moves WHERE identity = ?", identity) or (by_side[False] and by_side[True]):
                self._may_have_moves = True
            elif copies := by_side[not was_junk]:
                ((message, raw),) = self.mailbox.read(copies[-1:])
                if isinstance(raw, bytes):
                    yield MovedMessage(not was_junk, message, raw, identity)
                elif not isinstance(raw, FileNotFoundError):
                    self.report(message.name, raw)

    def _has(self, rows: str, *values: bytes) -> bool:
        with self.reading():
            return bool(self.execute(f"SELECT 1 FROM {rows} LIMIT 1", values).fetchone())  # noqa: S608 (constant text)

    def _mark(self, folder: str) -> str:
        with self.reading():
            row = self.execute("SELECT mark FROM marks WHERE folder = ?", (folder,)).fetchone()
        return row[0] if row else ""

    def _put_mark(self, folder: str, mark: str) -> None:
        with self.writing():
            # An unchanged mark is not written, so that a scan need not wait for the disk.
            upsert = "ON CONFLICT (folder) DO UPDATE SET mark = excluded.mark WHERE mark != excluded.mark"
            self.execute(f"INSERT INTO marks VALUES (?, ?) {upsert}", (folder, mark))  # noqa: S608 (constant text)

    def _delete_locations(self, messages: Iterable[tuple[str, str]]) -> None:
        with self.writing():
            self.executemany("DELETE FROM locations WHERE folder = ? AND key = ?", messages)

    def _delete_other_folders(self, folders: Iterable[str]) -> None:
        """Delete the rows of folders that no longer exist."""
        with self.writing():
            recorded = {folder for (folder,) in self.execute("SELECT folder FROM marks WHERE folder != ''")}
            absent = [(folder,) for folder in recorded.difference(folders)]
            for table in ("locations", "marks"):
                self.executemany(f"DELETE FROM {table} WHERE folder = ?", absent)  # noqa: S608 (one of these two)
