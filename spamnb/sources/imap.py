"""An IMAP account as a mailbox: what ``imap_reading`` finds is moved, and new mail is waited for.

A move is MOVE, or COPY and then EXPUNGE by UID; never EXPUNGE alone, which would take with it what others have marked
as deleted. None is tried twice: after a lost connection it must be seen first what became of it.
"""

from __future__ import annotations

import select
import socket
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from spamnb.errors import SpamnbError
from spamnb.sources.imap_connection import SECONDS, Denied, Unreachable, told
from spamnb.sources.imap_reading import ImapReader
from spamnb.sources.mailbox import Folder, MailboxMessage

if TYPE_CHECKING:
    from imapclient import IMAPClient

_PATIENCE = 300.0  # seconds that a server may be silent while it moves mail: asked anew, it may move it twice
_LONGEST = 30.0  # seconds of one IDLE: what comes in the very moment that it begins is told only when it ends
_CHANGES = (b"EXISTS", b"EXPUNGE", b"VANISHED")


class ImapMailbox(ImapReader):
    """An account that mail can be moved in."""


    def can_move(self) -> bool:
        """Whether this server takes single messages out of a folder: EXPUNGE alone would take others with them."""
        return self._reading(lambda client: client.has_capability("MOVE") or client.has_capability("UIDPLUS"))

    def move(self, messages: Sequence[MailboxMessage], into: Folder) -> list[MailboxMessage]:
        """Move messages of one folder. Unreachable where the server was lost: it may have moved some, or copied them.

        Denied where it says no, as for a full quota; then all are where they were.
        """
        if not messages:
            return []
        folder, uids = messages[0].folder, [message.place.uid for message in messages]
        if not self.can_move():
            raise SpamnbError(f"{self.shown}: the server has neither MOVE nor UIDPLUS; mail there is not moved")
        with self._changing() as client:
            with told(self._url):
                self._select(client, folder, messages[0].place.validity, writable=True)
            with told(self._url, f"{into.name}: cannot move to it"):
                if client.has_capability("MOVE"):
                    client.move(uids, into.place)
                else:
                    client.copy(uids, into.place)
            if not client.has_capability("MOVE"):
                self._expunge(client, uids)
        return []  # not every server says which numbers they have now

    def take_out(self, message: MailboxMessage) -> None:
        """Remove one message from its folder: the second half of a move whose first half is known to be done."""
        with self._changing() as client:
            with told(self._url):
                self._select(client, message.folder, message.place.validity, writable=True)
            self._expunge(client, [message.place.uid])

    @contextmanager
    def _changing(self) -> Iterator[IMAPClient]:
        """The connection, for what is not to be done twice: a server that is busy is waited for longer."""
        client = self.client
        try:
            client.socket().settimeout(_PATIENCE)
            yield client
        except Unreachable:
            self.close()
            raise
        finally:
            if self._client is not None:
                self._client.socket().settimeout(SECONDS)

    def _expunge(self, client: IMAPClient, uids: Iterable[int]) -> None:
        if not client.has_capability("UIDPLUS"):
            raise Denied(f"{self.shown}: the server cannot expunge by UID (UIDPLUS), so nothing is removed")
        with told(self._url, "cannot remove what was copied"):
            client.add_flags(list(uids), [b"\\Deleted"], silent=True)
            client.uid_expunge(list(uids))

    def append(self, raw: bytes, folder: Folder) -> None:
        """Put a message, with line feeds, into a folder. Unreachable where the server was lost: it may have it then."""
        client = self.client
        try:
            with told(self._url, f"{folder.name}: cannot put a message there"):
                client.append(folder.place, raw.replace(b"\n", b"\r\n"))
        except Unreachable:
            self.close()
            raise

    def make(self, folder: Folder) -> None:
        """Make a folder where it is missing."""
        if all(known.place != folder.place for known in self.folders()):
            with self._changing() as client, told(self._url, f"{folder.name}: cannot be made"):
                client.create_folder(folder.place)
                client.subscribe_folder(folder.place)

    # -- waiting ---------------------------------------------------------------------------------------------

    def wait(self, folder: Folder, next_uid: int, seconds: float, woken: socket.socket) -> None:
        """Wait until something happens in a folder, ``seconds`` have passed, or ``woken`` can be read; not at all where
        more has come than ``next_uid`` says. A server without IDLE says nothing meanwhile."""
        deadline = time.monotonic() + seconds
        client = self.client
        try:
            with told(self._url):
                if not client.has_capability("IDLE"):
                    _readable([woken], seconds)
                    return
                # Opened anew: of what came meanwhile the server may have told in between, and tells once.
                self._open = None
                if self._select(client, folder, None).next_uid > next_uid:
                    return
                while (left := deadline - time.monotonic()) > 0:
                    # What is told together with the answer to IDLE lies in a buffer where no poll sees it, and a server
                    # may keep it until then. NOOP makes it tell before.
                    heard = client.noop()[1]
                    readable = set()
                    if not _changes(heard):
                        client.idle()
                        readable = _readable([woken, client.socket()], min(left, _LONGEST))
                        heard = client.idle_done()[1]
                    if woken.fileno() in readable or _changes(heard):
                        return
        except Unreachable:
            self.close()
            raise


def _changes(heard: Iterable[tuple]) -> bool:
    """Whether a server told that mail came or went."""
    return any(len(each) > 1 and each[1] in _CHANGES for each in heard)


def _readable(sockets: Iterable[socket.socket], seconds: float) -> set[int]:
    """Which of these can be read within so many seconds, by file descriptor."""
    poll = select.poll()
    for each in sockets:
        poll.register(each, select.POLLIN)
    return {number for number, _ in poll.poll(seconds * 1000)}
