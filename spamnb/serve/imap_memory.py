"""What ``sort`` does in an account, so that no message is ever lost, doubled or moved twice.

Each move is noted before it is made. Where the connection was lost meanwhile, ``recover`` looks what became of it: a
message that is in both folders, byte for byte the same, is taken out of the first; one that is in the first only is
judged again.
"""

from __future__ import annotations

import fcntl
import os
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from spamnb.errors import SpamnbError
from spamnb.serve.imap_record import AccountRecord, Move, kin_of
from spamnb.serve.sorting import Moved
from spamnb.sources.imap import ImapMailbox
from spamnb.sources.imap_connection import Denied
from spamnb.sources.imap_reading import Uid
from spamnb.sources.mailbox import Folder, MailboxMessage, is_below

_BATCH = 100  # messages that stay are noted together; one by one each would wait for the disk
_PATIENCE = 60.0  # seconds that another process may be sorting the same account
_AFTER_DENIAL, _LONGEST_DENIAL = 60.0, 3600.0  # seconds before what a server would not move is tried again; doubled


class ImapMemory:
    """The record of an account, and the mail in its inbox that is new."""

    at_once = 32  # messages moved by one command

    def __init__(
        self,
        box: ImapMailbox,
        record: AccountRecord,
        junk: str | None,
        on_unreadable: Callable[[str, Exception], None],
        lock: str | None = None,
    ) -> None:
        self.record = record
        self._box, self._junk, self._on_unreadable, self._lock = box, junk, on_unreadable, lock
        self._stayed: list[tuple[int, bytes]] = []
        self._denials, self._denied_until = 0, 0.0
        self._known: dict[str | None, Folder] = {}  # folders by what a person calls them, and those that are made
        self.inbox = Folder("INBOX", "INBOX", "inbox")

    def is_junk(self, folder: Folder) -> bool:
        """Whether a folder is that of spam, or below it."""
        return is_below(folder.place, self.junk_folder().place, self._box.separator)

    def junk_folder(self) -> Folder:
        """The folder of spam."""
        return self.located(self._junk)

    def located(self, name: str | None) -> Folder:
        """The folder that a person calls so; the server is asked once a look."""
        key = None if name is None else f"/{name}"
        if key not in self._known:
            self._known[key] = self._box.locate(name)
        return self._known[key]

    @contextmanager
    def alone(self, patience: float = _PATIENCE) -> Iterator[None]:
        """While no other process moves mail in this account; what a lost connection left undone is put right first."""
        if self._lock is None:  # a dry run
            yield
            return
        deadline = time.monotonic() + patience
        descriptor = os.open(self._lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            while True:
                try:
                    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except BlockingIOError:
                    if time.monotonic() > deadline:
                        raise SpamnbError(f"{self._box.shown}: another spamnb is sorting it") from None
                    time.sleep(0.1)
            self.recover()
            yield
        finally:
            os.close(descriptor)

    # -- what is to be judged ------------------------------------------------------------------------------------

    def unjudged(self, everything: bool) -> Sequence[MailboxMessage]:
        """The inbox's messages that no reader has shown and no run has judged; or all of them."""
        if everything:
            return self._box.messages(self.inbox)
        if time.monotonic() < self._denied_until:
            return []
        state = self._box.opened(self.inbox)
        mark = self.record.sorted_until(self.inbox.place, state.validity)
        waiting = self.record.waiting() if mark > 1 else set()
        new = self._box.messages(self.inbox, mark, unseen=True)
        after = self._box.opened(self.inbox, state.validity)  # as it was searched
        before = [self._box.message(self.inbox, Uid(state.validity, uid)) for uid in sorted(waiting) if uid < mark]
        unjudged = [*self._box.sized(before), *new]
        self.record.begin_sorting(self.inbox.place, after, [one.place.uid for one in unjudged])
        return unjudged

    def judged(self, digest: bytes) -> bool:
        return self.record.judged(digest)

    def keep(self, message: MailboxMessage, digest: bytes) -> None:
        self._stayed.append((message.place.uid, digest))
        if len(self._stayed) >= _BATCH:
            self._note()

    def gone(self, message: MailboxMessage) -> None:
        self.record.no_longer_waiting([message.place.uid])

    def _note(self) -> None:
        stayed, self._stayed = self._stayed, []
        if stayed:
            self.record.put_judged(stayed)

    def take_for_seen(self) -> int:
        new = self._box.numbered(self.inbox, unseen=True)
        self.record.begin_sorting(self.inbox.place, self._box.opened(self.inbox), [])
        return len(new)

    def finish(self) -> None:
        self._note()

    # -- moving --------------------------------------------------------------------------------------------------

    def move(
        self, messages: Sequence[tuple[MailboxMessage, bytes, bytes]], into: Folder
    ) -> Moved | None:
        """Move messages of one folder, of which those that are gone meanwhile are left out; None where the server would
        not. Unreachable where the connection is lost: ``recover`` then finds out what was moved."""
        self._note()
        first = messages[0][0]
        try:
            if into.place not in self._known:
                self._box.make(into)
                self._known[into.place] = into
            state = self._box.state(into)
            # As the server shows them, and 'watch' will see them; those that are gone meanwhile are not among them.
            kin = {one.place: kin_of(head) for one, head in self._box.heads([one for one, _, _ in messages])}
            begun = [
                Move(first.folder.place, one.place, kin[one.place], digest, into.place, state.validity, state.next_uid)
                for one, _, digest in messages
                if one.place in kin
            ]
            self.record.begin(begun)
            there = [one for one, _, _ in messages if one.place in kin]
            self._box.move(there, into)
        except Denied as error:
            self._on_unreadable(self._box.shown, error)
            self._known.clear()
            self.recover()
            self._denied_until = time.monotonic() + min(_AFTER_DENIAL * 2**self._denials, _LONGEST_DENIAL)
            self._denials += 1
            return None
        self._denials = 0
        self.record.end(begun, True, self.is_junk(into))
        return dict.fromkeys(there)  # not every server says which numbers they have now

    def recover(self) -> None:
        """Find out what became of moves that were begun and not ended, and make each whole: done, or not begun."""
        by_kin: dict[tuple[str, str, bytes], list[Move]] = defaultdict(list)
        for move in self.record.begun():
            by_kin[move.folder, move.target, move.kin].append(move)
        for (source, target, kin), moves in by_kin.items():
            into = Folder(target, target)
            copies = self._find(into, kin, moves[0].validity, min(move.next_uid for move in moves))
            there = {move: self._still_there(Folder(source, source), move) for move in moves}
            junk = self.is_junk(into)
            left = len(copies) - sum(message is None for message in there.values())
            for move, message in there.items():
                if message is None:  # moved, or taken elsewhere by somebody
                    self.record.end([move], bool(copies), junk)
                elif left > 0 and self._same(message, copies):
                    self._box.take_out(message)
                    self.record.end([move], True, junk)
                    left -= 1
                else:
                    self.record.end([move], False, junk)

    def _find(self, folder: Folder, kin: bytes, validity: int, since: int) -> list[MailboxMessage]:
        """The messages of a kin that came into a folder since; into all of it where it was numbered anew."""
        if all(known.place != folder.place for known in self._box.folders()):
            return []
        state = self._box.opened(folder)
        listed = self._box.numbered(folder, since if state.validity == validity else 1)
        return [message for message, head in self._box.heads(listed) if kin_of(head) == kin]

    def _still_there(self, folder: Folder, move: Move) -> MailboxMessage | None:
        """The message that a move began with, if it is still where it was."""
        state = self._box.opened(folder)
        if state.validity != move.place.validity:  # numbered anew: it has another number, if it is there
            found = self._find(folder, move.kin, state.validity, 1)[-1:]
        else:
            found = [self._box.message(folder, move.place)]
        return next(iter(self._box.sized(found)), None)

    def _same(self, message: MailboxMessage, copies: Sequence[MailboxMessage]) -> bool:
        """Whether one of the copies is the message, byte for byte as far as it is read, and in its length."""
        ((_, raw),) = self._box.read([message])
        sized = self._box.sized(copies)
        return any(
            copy.size == message.size and content == raw and isinstance(raw, bytes)
            for copy, content in self._box.read(sized)
        )
