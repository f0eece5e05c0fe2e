"""What the ledger knows of a mailbox: classified messages, which messages were in Junk, and moves that were begun.

A message is on one of two sides: in Junk, or in another folder. Mail in Trash, Drafts or Sent is on neither side. A
message is found again by its folder and key, or after a move by its identity. So a scan reads only messages that came
since the last scan. The program records its own moves before it makes them. All other moves are a person's, and teach
the model. The next run finishes moves that a kill interrupted.
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, TypeVar

from spamnb.errors import SpamnbError
from spamnb.ledger.ledger import Batch, Ledger
from spamnb.ledger.verdicts import INBOX, JUNK, MAX_PLACE, NOWHERE, OTHER, Place, VerdictRow
from spamnb.mailbox.interface import FolderState, Mailbox, Move
from spamnb.mailbox.sent import read_sent_mail
from spamnb.people import SentMail
from spamnb.shown_text import escape
from spamnb.sources.entries import OnError, attempt, check_link
from spamnb.sources.imap_connection import Denied
from spamnb.sources.mailbox import SPAM, Folder, MailboxMessage
from spamnb.store.database import sql_text

# Roles of folders on neither side, except the folder of spam itself.
_ROLES_WITHOUT_SIDE = frozenset({"junk", "trash", "drafts", "templates", "sent", "outbox", "chats", "all"})
_BATCH = 1000  # messages that are recorded in one transaction: an interrupted scan goes on after the last batch
T = TypeVar("T")
LOCK_SECONDS = 60.0  # to wait until another process unlocks the mailbox, because runs of a cron job may overlap


class MailboxRecord:
    """What a ledger knows of one mailbox; with ``dry_run`` the ledger is a copy in memory.

    ``junk`` is the folder of spam that the person chose, or empty.
    """

    def __init__(
        self, ledger: Ledger, mailbox: Mailbox, on_error: OnError, junk: str = "", *, dry_run: bool = False
    ) -> None:
        self.ledger, self.mailbox, self.on_error, self.junk, self.dry_run = ledger, mailbox, on_error, junk, dry_run
        self._states: dict[str, FolderState] = {}  # of each folder at the last scan
        self.sent: list[SentMail] = []  # mail that came into Sent folders, whose recipients are known people
        self._may_have_moves = True  # whether a message may be on another side than before
        self._ledger_path = os.fsencode(os.path.abspath(ledger.file))
        address = sql_text(mailbox.address)
        with ledger.writing():
            ledger.execute("INSERT OR IGNORE INTO mailboxes (address) VALUES (?)", (address,))
            select = "SELECT number FROM mailboxes WHERE address = ?"
            (self._number,) = ledger.execute(select, (address,)).fetchone()

    @contextmanager
    def lock(self, timeout: float = LOCK_SECONDS) -> Iterator[dict[Move, MailboxMessage]]:
        """Lock the mailbox against other spamnb processes, finish interrupted moves, and yield the finished ones."""
        if self.dry_run:
            yield {}
            return
        deadline = time.monotonic() + timeout
        self.mailbox.prepare_lock()
        path = self.mailbox.lock_path
        check_link(path.parent, path)
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
            self._check_ledger(descriptor)
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, self._ledger_path, 0)
            self.mailbox.folders(fresh=True)
            yield self.finish_moves()
        finally:
            os.close(descriptor)

    def _check_ledger(self, descriptor: int) -> None:
        """Raise SpamnbError if the file of the lock names another ledger, whose moves would look like a person's."""
        other = os.pread(descriptor, MAX_PLACE, 0)
        if other not in (b"", self._ledger_path) and _may_exist(other):
            name = escape(os.fsdecode(other))
            problem = (
                f"its ledger is {name}; name it with --ledger: another would take what 'sort' moves for your moves"
            )
            raise SpamnbError(f"{self.mailbox.display_name}: {problem}")

    def place(self, folder: Folder, message: MailboxMessage | None) -> Place:
        """Return the place of a message, which is NOWHERE if `Mailbox.format_path` returns no path."""
        mailbox, path = self.mailbox, self.mailbox.format_path(folder, message)
        role = INBOX if folder.path == mailbox.inbox.path else JUNK if folder.role == SPAM else OTHER
        return Place(path, mailbox.address, folder.name, role, self.junk) if path else NOWHERE

    def _execute(self, statement: str, *values: Any) -> Any:
        """Run a statement whose first question mark is the number of the mailbox."""
        return self.ledger.execute(statement, (self._number, *values))

    def _executemany(self, statement: str, rows: Iterable[Sequence[Any]]) -> None:
        self.ledger.executemany(statement, [(self._number, *row) for row in rows])

    # -- messages to classify --------------------------------------------------------------------------------

    def new_messages(self, everything: bool = False) -> list[MailboxMessage]:
        """Return the new mail that no run has classified, or ``everything`` in the inbox."""
        if everything:
            return self.mailbox.messages(self.mailbox.inbox)
        with self.ledger.reading():
            recorded = dict(self._execute("SELECT key, is_classified FROM new_mail WHERE mailbox = ?").fetchall())
        waiting = [key for key, is_classified in recorded.items() if not is_classified]
        arrivals = self.mailbox.arrivals(self.mailbox.inbox, self._mark(""), unseen=True)
        earlier = [] if arrivals.is_complete else self.mailbox.messages(self.mailbox.inbox, waiting)
        messages = list(dict.fromkeys([*earlier, *arrivals.messages]))
        keys = {message.key for message in messages}
        absent, added = [(key,) for key in recorded if key not in keys], [(key,) for key in keys.difference(recorded)]
        with self.ledger.writing():
            self._put_mark("", arrivals.mark)
            self._executemany("DELETE FROM new_mail WHERE mailbox = ? AND key = ?", absent)
            self._executemany("INSERT OR IGNORE INTO new_mail VALUES (?, ?, 0)", added)
        return [message for message in messages if not recorded.get(message.key)]

    def was_classified(self, digest: bytes) -> bool:
        """Return whether a message with this digest was ever classified, even if it was in another folder."""
        return self._has("classified", "digest = ?", digest)

    def add_verdicts(self, messages: Sequence[tuple[MailboxMessage, VerdictRow]]) -> None:
        """Record the verdicts on messages that stay where they are. A later move out of the inbox is a person's."""
        identities = self.mailbox.read([message for message, _ in messages], "identity")
        sides = [(identity, False, int(time.time())) for _, identity in identities if isinstance(identity, bytes)]
        with self.ledger.writing():
            self.ledger.put([row for _, row in messages])
            for message, row in messages:
                self.skip(message, row.digest)
            self._executemany("INSERT OR IGNORE INTO sides VALUES (?, ?, ?, ?)", sides)

    def skip(self, message: MailboxMessage, digest: bytes) -> None:
        """Record that no run need classify a message of the inbox again. The digest is empty if it was never read."""
        with self.ledger.writing():
            self._execute("INSERT OR REPLACE INTO new_mail VALUES (?, ?, 1)", message.key)
            self._put_digest(digest)

    def _put_side(self, identity: bytes, is_junk: bool) -> None:
        self._execute("INSERT OR REPLACE INTO sides VALUES (?, ?, ?, ?)", identity, is_junk, int(time.time()))

    def _put_digest(self, digest: bytes) -> None:
        self._execute("INSERT OR REPLACE INTO classified VALUES (?, ?, ?)", digest, int(time.time()))

    # -- moves of the program --------------------------------------------------------------------------------

    def move(
        self, messages: Sequence[tuple[MailboxMessage, VerdictRow]], into: Folder, batch: Batch | None = None
    ) -> dict[MailboxMessage, MailboxMessage | None]:
        """Move messages of one folder, each with its verdict, as `Mailbox.move` does.

        The transaction that records the moves writes the verdicts and their ``batch`` if the ledger does not have them.
        A verdict gets its new place when the move ends. Messages that are gone or cannot be moved are left out.
        Raise Unreachable if the connection is lost; `finish_moves` then finds out which messages were moved.
        """
        if self.dry_run:
            return {message: None for message, _ in messages}
        moves: dict[MailboxMessage, Move] = {}
        try:
            mark = self.mailbox.state(into).mark
            identities = dict(self.mailbox.read([message for message, _ in messages], "identity"))
            with self.ledger.writing():
                positions = self.ledger.put([*([batch] if batch is not None else []), *(row for _, row in messages)])
                for (message, row), position in zip(messages, positions):
                    if isinstance(identity := identities.get(message), bytes):
                        of_message = message.folder.key, message.key, identity, row.digest
                        moves[message] = Move(*of_message, into.key, mark, into.role == SPAM, position)
                self._executemany("INSERT OR REPLACE INTO moves VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", moves.values())
            results = self.mailbox.move(list(moves), into)
        except (Denied, OSError) as error:
            self.on_error(self.mailbox.display_name, error)
            self.mailbox.folders(fresh=True)
            finished = self.finish_moves()
            return {message: finished[move] for message, move in moves.items() if move in finished}
        moved: dict[MailboxMessage, MailboxMessage | None] = {}
        for message, result in results.items():
            if isinstance(result, OSError):
                self.on_error(message.name, result)
            else:
                moved[message] = result
        self._end_moves({move: (message in moved, into, moved.get(message)) for message, move in moves.items()})
        return moved

    def finish_moves(self) -> dict[Move, MailboxMessage]:
        """Finish the moves that were interrupted; return those that are done now."""
        finished: dict[Move, MailboxMessage] = {}
        if moves := self.unfinished_moves():
            for move, message in self.mailbox.settle(moves):
                folder = message.folder if message is not None else self.mailbox.inbox
                self._end_moves({move: (message is not None, folder, message)})
                if message is not None:
                    finished[move] = message
        return finished

    def unfinished_moves(self) -> list[Move]:
        """Return the moves that may not be done."""
        columns = ", ".join(Move._fields)
        with self.ledger.reading():
            rows = self._execute(f"SELECT {columns} FROM moves WHERE mailbox = ?").fetchall()  # noqa: S608 (our names)
        return [Move(*row) for row in rows]

    def _end_moves(self, ends: Mapping[Move, tuple[bool, Folder, MailboxMessage | None]]) -> None:
        """Record for each move whether it was done, and the folder and the message after it."""
        places = {move: self.place(folder, message) for move, (is_done, folder, message) in ends.items() if is_done}
        with self.ledger.writing():
            for move, (is_done, _, _) in ends.items():
                row = move.folder, move.key
                self._execute("DELETE FROM moves WHERE mailbox = ? AND folder = ? AND key = ?", *row)
                if not is_done:
                    if not self.was_classified(move.digest):  # the next run classifies the message again
                        self.ledger.delete("verdicts", position=move.position)
                    continue
                self._put_side(move.identity, move.is_junk)
                self._put_digest(move.digest)
                self._execute("DELETE FROM locations WHERE mailbox = ? AND folder = ? AND key = ?", *row)
                if move.folder == self.mailbox.inbox.key:
                    self._execute("DELETE FROM new_mail WHERE mailbox = ? AND key = ?", move.key)
                self.ledger.put_place(move.position, places[move])

    # -- moves of a person -----------------------------------------------------------------------------------

    def has_scanned(self) -> bool:
        return self._has("marks", "folder != ''")

    def count_messages(self) -> int:
        """Return the number of messages whose side is recorded."""
        with self.ledger.reading():
            return self._execute("SELECT count(*) FROM locations WHERE mailbox = ? AND identity != x''").fetchone()[0]

    def inbox_state(self) -> FolderState | None:
        return self._states.get(self.mailbox.inbox.key)

    def learn_moves(self, learn: Callable[[MailboxMessage, bytes, bool], T]) -> Iterator[T]:
        """Call ``learn`` for each message that a person moved into or out of Junk since the last scan.

        Its arguments are the message, its bytes, and whether it is in Junk now. The results are yielded. If ``learn``
        fails, the next scan finds the message again. New messages are recorded on the side where they are. A message on
        both sides, for example while a mail reader copies it, is left for the next scan.
        """
        try:
            descriptor = os.open(self.mailbox.lock_path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
            with os.fdopen(descriptor):
                self._check_ledger(descriptor)
        except FileNotFoundError:  # no run has locked the mailbox yet
            pass
        except PermissionError:
            problem = "another user sorts it, and what 'sort' moves would look like your moves; let one user do both"
            raise SpamnbError(f"{self.mailbox.display_name}: {problem}") from None
        try:
            folders = {folder.key: folder for folder in self.mailbox.folders(fresh=True)}
        except OSError as error:  # the mailbox was removed, perhaps with its user; 'watch' goes on with other mailboxes
            self.on_error(self.mailbox.display_name, error)
            return
        junk = self.mailbox.locate()
        # If the folder of spam was renamed or mistyped, all mail in the old folder would be learned as good.
        if junk.key not in folders and self._has("sides", "is_junk"):
            problem = f"no folder {junk.name!r}, but spam is recorded in another folder; nothing is learned"
            self.on_error(self.mailbox.display_name, SpamnbError(problem))
            return
        self._delete_other_folders(folders)
        for key, folder in folders.items():
            side = _side(folder)
            if side is not None:
                self._scan(key, folder, partial(self._record_side, key, side))
            elif folder.role == "sent":
                self._scan(key, folder, partial(self._record_sent, key))
        if self._may_have_moves:
            self._may_have_moves = False
            for message, identity, is_junk in self._find_moved(folders):
                ((_, raw),) = self.mailbox.read([message])
                result = raw if isinstance(raw, OSError) else attempt(partial(learn, message, raw, is_junk))
                if not isinstance(result, OSError):
                    with self.ledger.writing():
                        self._put_side(identity, is_junk)
                    yield result
                elif not isinstance(result, FileNotFoundError):
                    self.on_error(message.name, result)

    def _scan(self, key: str, folder: Folder, record_batch: Callable[[list[MailboxMessage]], None]) -> None:
        """Record the messages that came into a folder since the last scan, in batches."""
        try:
            state = self.mailbox.state(folder)
            if state != self._states.get(key):
                for batch in self._arrivals(key, folder):
                    record_batch(batch)
                self._states[key] = state
                self._may_have_moves = True
        except (Denied, OSError) as error:  # the folder was removed after it was listed, or belongs to another user
            self.on_error(f"{self.mailbox.display_name}/{escape(key)}", error)

    def _arrivals(self, key: str, folder: Folder) -> Iterator[list[MailboxMessage]]:
        """Yield the messages that came into a folder since the last scan, and record its mark after each batch."""
        with self.ledger.reading():
            n_recorded = self._execute(
                "SELECT count(*) FROM locations WHERE mailbox = ? AND folder = ?", key
            ).fetchone()[0]
        arrivals = self.mailbox.arrivals(folder, self._mark(key), n_recorded)
        messages = arrivals.messages
        if arrivals.is_complete:
            with self.ledger.writing():
                rows = self._execute("SELECT key FROM locations WHERE mailbox = ? AND folder = ?", key)
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
        rows, now = [], int(time.time())
        for message, identity in self.mailbox.read(batch, "identity"):
            if isinstance(identity, bytes):
                rows.append((key, message.key, identity, is_junk))
            elif not isinstance(identity, FileNotFoundError):
                self.on_error(message.name, identity)
        with self.ledger.writing():
            self._executemany("INSERT OR REPLACE INTO locations VALUES (?, ?, ?, ?, ?)", rows)
            self._executemany("INSERT OR IGNORE INTO sides VALUES (?, ?, ?, ?)", [(*row[2:], now) for row in rows])

    def _record_sent(self, key: str, batch: list[MailboxMessage]) -> None:
        """Record messages of a Sent folder, which has no side, and add their people to ``sent``."""
        self.sent += read_sent_mail(self.mailbox, batch)
        rows = [(key, message.key, b"", False) for message in batch]
        with self.ledger.writing():
            self._executemany("INSERT OR REPLACE INTO locations VALUES (?, ?, ?, ?, ?)", rows)

    def _find_moved(self, folders: dict[str, Folder]) -> Iterator[tuple[MailboxMessage, bytes, bool]]:
        """Yield the messages that are no longer on their recorded side, with identity and whether they are in Junk."""
        with self.ledger.reading():
            candidates = self._execute(
                "SELECT DISTINCT identity, sides.is_junk FROM locations JOIN sides USING (mailbox, identity)"
                " WHERE mailbox = ? AND locations.is_junk != sides.is_junk"
            ).fetchall()
        for identity, was_junk in candidates:
            with self.ledger.reading():
                select = "SELECT folder, key, is_junk FROM locations WHERE mailbox = ? AND identity = ?"
                rows = self._execute(select, identity).fetchall()
            by_side: dict[bool, list[MailboxMessage]] = {False: [], True: []}
            for folder, key, is_junk in rows:
                messages = self.mailbox.messages(folders[folder], [key]) if folder in folders else []
                by_side[bool(is_junk)] += messages
                if not messages:
                    self._delete_locations([(folder, key)])
            if self._has("moves", "identity = ?", identity) or (by_side[False] and by_side[True]):
                self._may_have_moves = True
            elif copies := by_side[not was_junk]:
                yield copies[-1], identity, not was_junk

    def _has(self, table: str, condition: str, *values: bytes) -> bool:
        statement = f"SELECT 1 FROM {table} WHERE mailbox = ? AND {condition} LIMIT 1"  # noqa: S608 (constant text)
        with self.ledger.reading():
            return bool(self._execute(statement, *values).fetchone())

    def _mark(self, folder: str) -> str:
        with self.ledger.reading():
            row = self._execute("SELECT mark FROM marks WHERE mailbox = ? AND folder = ?", folder).fetchone()
        return row[0] if row else ""

    def _put_mark(self, folder: str, mark: str) -> None:
        with self.ledger.writing():
            # An unchanged mark is not written, so that a scan need not wait for the disk.
            upsert = "ON CONFLICT (mailbox, folder) DO UPDATE SET mark = excluded.mark WHERE mark != excluded.mark"
            self._execute(f"INSERT INTO marks VALUES (?, ?, ?) {upsert}", folder, mark)  # noqa: S608 (constant text)

    def _delete_locations(self, messages: Iterable[tuple[str, str]]) -> None:
        with self.ledger.writing():
            self._executemany("DELETE FROM locations WHERE mailbox = ? AND folder = ? AND key = ?", messages)

    def _delete_other_folders(self, folders: Iterable[str]) -> None:
        """Delete the rows of folders that no longer exist."""
        with self.ledger.writing():
            recorded = {
                folder for (folder,) in self._execute("SELECT folder FROM marks WHERE mailbox = ? AND folder != ''")
            }
            absent = [(folder,) for folder in recorded.difference(folders)]
            for table in ("locations", "marks"):
                self._executemany(f"DELETE FROM {table} WHERE mailbox = ? AND folder = ?", absent)  # noqa: S608 (one of these two)


def _may_exist(path: bytes) -> bool:
    """Return whether a file may exist: another user's cannot be seen."""
    try:
        return bool(os.stat(path))
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return False
    except OSError:
        return True


def _side(folder: Folder) -> bool | None:
    """Return whether a folder is on Junk's side; None if it is on neither."""
    return None if folder.role in _ROLES_WITHOUT_SIDE else folder.role == SPAM
