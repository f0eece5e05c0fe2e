"""An account as a mailbox: what ``ImapReader`` finds is moved, and new mail is waited for.

A move is MOVE, or COPY and then EXPUNGE by UID; never EXPUNGE alone, which would take with it what others have marked
as deleted. None is tried twice: after a lost connection `settle` sees first what became of it.

A message's key is its UIDVALIDITY and UID; a folder's mark is the key that its last message may have.
"""

from __future__ import annotations

import os
import re
import time
from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Sequence
from hashlib import blake2b
from pathlib import Path
from urllib.parse import quote, unquote

from spamnb.errors import SpamnbError
from spamnb.mailbox.box import Arrived, Move, readable
from spamnb.shown_text import escape
from spamnb.sources.accounts import account_of, parsed
from spamnb.sources.imap_connection import Denied
from spamnb.sources.imap_reading import INBOX, WINDOW, ImapReader, State, Uid
from spamnb.sources.mailbox import Folder, MailboxMessage

_HEAD = "BODY.PEEK[HEADER.FIELDS (RECEIVED MESSAGE-ID DATE FROM TO SUBJECT)]<0.512>"
_HEADER = "BODY.PEEK[HEADER]<0.16384>"  # of sent mail: To is among the first fields
_PATIENCE = 300.0  # seconds that a server may be silent while it moves mail: asked anew, it may move it twice
_LONGEST = 30.0  # seconds of one IDLE: what comes in the very moment that it begins is told only when it ends
_CHANGES = (b"EXISTS", b"EXPUNGE", b"VANISHED")
_STALE = 100  # messages that a folder has lost: below that, they stay in the record
_MOST = 100  # messages that are looked at to find one


class ImapBox(ImapReader):
    """An account that mail can be moved in."""

    def __init__(self, url: str, junk: str | None = None) -> None:
        super().__init__(account_of(parsed(url)))
        self.home = self.url.account
        home = os.environ.get("XDG_DATA_HOME") or os.path.join(os.path.expanduser("~"), ".local", "share")
        account = re.sub(r"[^\w.@+-]", "_", self.home.partition("://")[2])  # the same whether it is encrypted or not
        self.record = Path(home, "spamnb", "accounts", account[:150] + ".sqlite")
        self.inbox = INBOX
        self._junk = junk

    # -- folders ---------------------------------------------------------------------------------------------

    def junk(self) -> Folder:
        return self.locate(self._junk)

    def exists(self, folder: Folder) -> bool:
        return any(known.place == folder.place for known in self.folders())

    def make(self, folder: Folder) -> None:
        if not self.exists(folder):
            with self.asking(f"{folder.name}: cannot be made", _PATIENCE) as client:
                client.create_folder(folder.place)
                client.subscribe_folder(folder.place)
            self.refresh()

    def is_below(self, folder: Folder, parent: Folder) -> bool:
        return folder.place == parent.place or folder.place.startswith(parent.place + self.separator)

    def key(self, folder: Folder) -> str:
        return folder.place

    def mark(self, folder: Folder) -> str:
        return _mark(self.state(folder))

    # -- messages --------------------------------------------------------------------------------------------

    def count(self) -> int:
        return sum(self.state(folder).messages for folder in self.folders())

    def find(self, folder: Folder, keys: Sequence[str]) -> list[MailboxMessage]:
        validity = self.opened(folder).validity
        places = [Uid(*map(int, key.split("."))) for key in keys]
        return list(self.sizes([self.message(folder, place) for place in places if place.validity == validity]))

    def lookup(self, place: str, message_id: str) -> list[MailboxMessage]:
        """By its Message-ID, or among the newest."""
        folder = self.folder_at(place)
        if not self.exists(folder):
            return []
        is_plain = message_id and message_id.isascii() and message_id.isprintable()
        found = self.messages(folder, criteria=["HEADER", "Message-ID", message_id] if is_plain else [])
        return found[: -_MOST - 1 : -1]

    def headers(self, messages: Sequence[MailboxMessage]) -> Iterator[tuple[MailboxMessage, bytes | OSError]]:
        for message, header in self.items(messages, _HEADER, b"BODY[HEADER", WINDOW):
            if isinstance(header, bytes):
                yield message, header

    def kin(self, messages: Sequence[MailboxMessage]) -> Iterator[tuple[MailboxMessage, bytes | OSError]]:
        """By header fields that tell a message from others. The first Received field is that of the person's own
        server: nobody else can send a message of the same kin, which would pass for one that was moved out of Junk."""
        for message, head in self.items(messages, _HEAD, b"BODY[HEADER", WINDOW):
            if isinstance(head, bytes):
                yield message, blake2b(head.replace(b"\r\n", b"\n"), digest_size=16, usedforsecurity=False).digest()

    def new(self, mark: str, waiting: Sequence[str]) -> tuple[list[MailboxMessage], str]:
        """The inbox's messages that no reader has shown."""
        before = self.find(self.inbox, waiting)
        new = self.messages(self.inbox, _since(mark, self.opened(self.inbox)), ["UNSEEN"])
        return list(dict.fromkeys([*before, *new])), _mark(self.opened(self.inbox))

    def arrived(self, folder: Folder, mark: str, known: int) -> Arrived:
        state = self.opened(folder)
        since = _since(mark, state)
        complete = since == 1 or known - state.messages > max(_STALE, known // 10)
        found = self.messages(folder, 1 if complete else since)
        return Arrived(found, _mark(self.opened(folder)), complete)

    # -- moving ----------------------------------------------------------------------------------------------

    def move(
        self, messages: Sequence[MailboxMessage], into: Folder
    ) -> dict[MailboxMessage, MailboxMessage | OSError | None]:
        """Denied where the server says no, as for a full quota; then all are where they were. Unreachable where it was
        lost meanwhile: `settle` then tells what was moved."""
        if not messages:
            return {}
        # EXPUNGE alone would take others with it.
        if not self.ask(lambda client: client.has_capability("MOVE") or client.has_capability("UIDPLUS")):
            raise SpamnbError(f"{self.shown}: the server has neither MOVE nor UIDPLUS; mail there is not moved")
        with self.asking(seconds=_PATIENCE) as client:
            # Opened anew, which alone shows what somebody took away meanwhile.
            self.select(client, messages[0].folder, messages[0].place.validity, writable=True)
            answers = client.fetch([message.place.uid for message in messages], ["UID"])
        there = [message for message in messages if message.place.uid in answers]
        if there:
            uids = [message.place.uid for message in there]
            with self.asking(f"{into.name}: cannot move to it", _PATIENCE) as client:
                moves = client.has_capability("MOVE")
                (client.move if moves else client.copy)(uids, into.place)
            if not moves:
                self._expunge(uids)
        return dict.fromkeys(there)  # not every server says which numbers they have now

    def settle(self, moves: Sequence[Move]) -> Iterator[tuple[Move, MailboxMessage | None]]:
        """A message that is in both folders, byte for byte the same, is taken out of the first."""
        by_kin: dict[tuple[str, str, bytes], list[Move]] = defaultdict(list)
        for move in moves:
            by_kin[move.folder, move.target, move.kin].append(move)
        for (source, target, kin), alike in by_kin.items():
            copies = self._of_kin(Folder(target, target), kin, [move.mark for move in alike])
            there = {move: self._still_there(Folder(source, source), move) for move in alike}
            left = len(copies) - sum(message is None for message in there.values())
            for move, message in there.items():
                if message is None:  # moved, or taken elsewhere by somebody
                    yield move, copies[0] if copies else None
                elif left > 0 and self._same(message, copies):
                    self.opened(message.folder, message.place.validity, writable=True)
                    self._expunge([message.place.uid])
                    left -= 1
                    yield move, copies[0]
                else:
                    yield move, None

    def _of_kin(self, folder: Folder, kin: bytes, marks: Sequence[str]) -> list[MailboxMessage]:
        """The messages of a kin that came into a folder since; into all of it where it was numbered anew."""
        self.refresh()
        if not self.exists(folder):
            return []
        since = min(_since(mark, self.opened(folder)) for mark in marks)
        return [message for message, own in self.kin(self.messages(folder, since)) if own == kin]

    def _still_there(self, folder: Folder, move: Move) -> MailboxMessage | None:
        """The message that a move began with, if it is still where it was."""
        if move.key.split(".")[0] == str(self.opened(folder).validity):
            found = self.find(folder, [move.key])
        else:  # numbered anew: it has another number, if it is there
            found = self._of_kin(folder, move.kin, [""])[-1:]
        return next(iter(found), None)

    def _same(self, message: MailboxMessage, copies: Sequence[MailboxMessage]) -> bool:
        """Whether one of the copies is the message, byte for byte as far as it is read, and in its length."""
        ((_, raw),) = self.read([message])
        size = self.sizes([message]).get(message)
        sizes = self.sizes(copies)
        return isinstance(raw, bytes) and any(
            sizes.get(copy) == size and content == raw for copy, content in self.read(copies)
        )

    def _expunge(self, uids: list[int]) -> None:
        with self.asking("cannot remove what was copied", _PATIENCE) as client:
            if not client.has_capability("UIDPLUS"):
                raise Denied(f"{self.shown}: the server cannot expunge by UID (UIDPLUS), so nothing is removed")
            client.add_flags(uids, [b"\\Deleted"], silent=True)
            client.uid_expunge(uids)

    def place(self, folder: Folder, message: MailboxMessage | None) -> str:
        """Its folder's URL, as RFC 5092 writes it: few servers say which number a message has that was moved."""
        return f"{self.home}/{quote(folder.place, safe='/')}"

    def folder_at(self, place: str) -> Folder:
        name = unquote(place.partition("://")[2].partition("/")[2])
        return self.inbox if name.upper() == "INBOX" else Folder(escape(name), name)

    # -- waiting ---------------------------------------------------------------------------------------------

    def wait(self, state: Hashable, seconds: float, stop: int) -> None:
        """Not at all where more has come than the state says. A server without IDLE says nothing meanwhile."""
        next_uid = state.next_uid if isinstance(state, State) else 0
        deadline = time.monotonic() + seconds
        with self.asking() as client:
            if not client.has_capability("IDLE"):
                readable([stop], seconds)
                return
            # Opened anew: of what came meanwhile the server may have told in between, and tells once.
            self._open = None
            if self.select(client, self.inbox, None).next_uid > next_uid:
                return
            while (left := deadline - time.monotonic()) > 0:
                # What is told together with the answer to IDLE lies in a buffer where no poll sees it, and a server
                # may keep it until then. NOOP makes it tell before.
                heard = client.noop()[1]
                if not _changes(heard):
                    client.idle()
                    readable([stop, client.socket()], min(left, _LONGEST))
                    heard = client.idle_done()[1]
                if _changes(heard) or readable([stop], 0):
                    return


def _changes(heard: Iterable[tuple]) -> bool:
    """Whether a server told that mail came or went."""
    return any(len(each) > 1 and each[1] in _CHANGES for each in heard)


def _mark(state: State) -> str:
    return f"{state.validity}.{max(state.next_uid - 1, 0)}"


def _since(mark: str, state: State) -> int:
    """The first UID after a mark; 1 where there is none, or the folder was numbered anew."""
    validity, _, uid = mark.partition(".")
    return int(uid) + 1 if validity == str(state.validity) else 1
