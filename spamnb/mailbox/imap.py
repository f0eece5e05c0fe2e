"""An IMAP account as a mailbox: ``ImapReader`` reads it, and this module moves mail and waits for new mail.

A move is MOVE, or COPY and then EXPUNGE by UID. EXPUNGE without UIDs would also remove messages that others marked as
deleted. No move is requested twice: after a lost connection, `settle` finds out whether the move was done.

The key of a message is its UIDVALIDITY and UID. The mark of a folder is the highest key so far (UIDNEXT - 1).
"""

from __future__ import annotations

import os
import re
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b
from pathlib import Path
from urllib.parse import quote, unquote

from spamnb.errors import SpamnbError
from spamnb.mailbox import interface
from spamnb.mailbox.interface import Arrivals, Move, Part, wait_readable
from spamnb.sources.accounts import parse_url
from spamnb.sources.imap_connection import Denied
from spamnb.sources.imap_reading import FIELD_BATCH, INBOX, ImapReader, ImapState, Uid
from spamnb.sources.mailbox import SPAM, Folder, MailboxMessage

# The first 512 bytes of these fields, which contain the first Received field.
_IDENTITY_FIELDS = "BODY.PEEK[HEADER.FIELDS (RECEIVED MESSAGE-ID DATE FROM TO SUBJECT)]<0.512>"
_HEADER = "BODY.PEEK[HEADER]<0.16384>"  # the first bytes of a header of sent mail, which contain To
_MOVE_SECONDS = 300.0  # how long a server may be silent while it moves mail: long, because no move is requested twice
_IDLE_SECONDS = 30.0  # length of an IDLE: a message that comes at its beginning is announced only at its end
_CHANGES = (b"EXISTS", b"EXPUNGE", b"VANISHED")
_MAX_MISSING = 100  # recorded messages that may be missing in a folder before the whole folder is listed, which is slow
_MAX_LOOKUP = 100  # newest messages that `lookup` returns, because the caller reads them one by one


class ImapMailbox(ImapReader):
    """An IMAP account in which mail can be moved."""

    def __init__(self, url: str, junk: str | None = None) -> None:
        super().__init__(parse_url(url))
        self.address = self.url.address
        home = os.environ.get("XDG_DATA_HOME") or os.path.join(os.path.expanduser("~"), ".local", "share")
        # The same file for imap:// and imaps://.
        account = re.sub(r"[^\w.@+-]", "_", self.address.partition("://")[2])
        self.lock_path = Path(home, "spamnb", "accounts", account[:150] + ".lock")
        self.inbox = INBOX
        self._junk = junk

    def prepare_lock(self) -> None:
        self.lock_path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)

    def folders(self, fresh: bool = False) -> list[Folder]:
        listed = super().folders(fresh)
        junk = super().locate(self._junk)
        return [self._with_role(folder, junk) for folder in listed]

    def locate(self, name: str | None = None) -> Folder:
        junk = super().locate(self._junk)
        return self._with_role(junk if name is None else super().locate(name), junk)

    def _with_role(self, folder: Folder, junk: Folder) -> Folder:
        is_within = (folder.path + self.separator).startswith(junk.path + self.separator)
        return folder._replace(role=SPAM) if is_within else folder

    def _exists(self, folder: Folder) -> bool:
        return folder.role == "inbox" or any(other.path == folder.path for other in self.folders())

    def state(self, folder: Folder) -> ImapState:
        return super().state(folder) if self._exists(folder) else ImapState(0, 1, 0)

    def messages(self, folder: Folder, keys: Sequence[str] | None = None) -> list[MailboxMessage]:
        if keys is None:
            return self.search(folder)
        validity = self.open_folder(folder).validity
        uids = [Uid(*map(int, key.split("."))) for key in keys]
        return list(self.sizes([self.make_message(folder, uid) for uid in uids if uid.validity == validity]))

    def lookup(self, path: str, message_id: str) -> list[MailboxMessage]:
        """Return the newest messages with this Message-ID, or any newest messages if it cannot be searched."""
        name = unquote(path.partition("://")[2].partition("/")[2])
        folder = next((folder for folder in (self.inbox, *self.folders()) if folder.path == name), None)
        if folder is None:
            return []
        is_plain = message_id and message_id.isascii() and message_id.isprintable()
        messages = self.search(folder, criteria=["HEADER", "Message-ID", message_id] if is_plain else [])
        return messages[: -_MAX_LOOKUP - 1 : -1]

    def read(
        self, messages: Sequence[MailboxMessage], part: Part = "whole"
    ) -> Iterator[tuple[MailboxMessage, bytes | OSError]]:
        """Yield messages. An identity is a digest of header fields.

        A message in the inbox with the identity of a message in Junk counts as moved by the person, and is learned as
        good mail. No sender can forge this identity, because the person's server writes the first Received field.
        """
        if part == "whole":
            yield from super().read(messages)
            return
        item = _HEADER if part == "header" else _IDENTITY_FIELDS
        for message, fields in self.fetch_items(messages, item, b"BODY[HEADER", FIELD_BATCH):
            if isinstance(fields, bytes) and part == "header":
                yield message, fields
            elif isinstance(fields, bytes):
                content = fields.replace(b"\r\n", b"\n")
                yield message, blake2b(content, digest_size=16, usedforsecurity=False).digest()

    def arrivals(self, folder: Folder, mark: str, n_recorded: int = 0, *, unseen: bool = False) -> Arrivals:
        state = self.open_folder(folder)
        first_uid = _first_uid(mark, state)
        is_complete = first_uid == 1 or n_recorded - state.n_messages > max(_MAX_MISSING, n_recorded // 10)
        messages = self.search(folder, 1 if is_complete else first_uid, ["UNSEEN"] * unseen)
        return Arrivals(messages, self.open_folder(folder).mark, is_complete)

    def move(
        self, messages: Sequence[MailboxMessage], into: Folder
    ) -> dict[MailboxMessage, MailboxMessage | OSError | None]:
        """Move messages. The new UIDs are unknown, because not every server reports them.

        Raise Denied if the server refuses, for example because of a full quota; no message is moved then. Raise
        Unreachable if the connection is lost; `settle` then finds out which messages were moved.
        """
        if not messages:
            return {}
        if not self._exists(into):
            with self.connected(f"{into.name}: cannot be made", _MOVE_SECONDS) as client:
                client.create_folder(into.path)
                client.subscribe_folder(into.path)
            self.folders(fresh=True)
        if not self.retry(lambda client: client.has_capability("MOVE") or client.has_capability("UIDPLUS")):
            raise SpamnbError(f"{self.display_name}: the server has neither MOVE nor UIDPLUS, so mail cannot be moved")
        with self.connected(seconds=_MOVE_SECONDS) as client:
            self._selected = None  # the folder is selected again, because only then all removed messages are known
            self.select_folder(client, messages[0].folder, messages[0].location.validity, writable=True)
            answers = client.fetch([message.location.uid for message in messages], ["UID"])
        present = [message for message in messages if message.location.uid in answers]
        if present:
            uids = [message.location.uid for message in present]
            with self.connected(f"{into.name}: cannot move to it", _MOVE_SECONDS) as client:
                has_move = client.has_capability("MOVE")
                (client.move if has_move else client.copy)(uids, into.path)
            if not has_move:
                self._expunge(uids)
        return dict.fromkeys(present)

    def settle(self, moves: Sequence[Move]) -> Iterator[tuple[Move, MailboxMessage | None]]:
        """Finish interrupted moves: a message is removed from its folder if the target has an identical copy."""
        groups: dict[tuple[str, str, bytes], list[Move]] = defaultdict(list)
        for move in moves:
            groups[move.folder, move.target, move.identity].append(move)
        folders = {folder.key: folder for folder in (*self.folders(fresh=True), self.inbox)}
        for (source, target, identity), group in groups.items():
            copies = self._find_copies(folders.get(target), identity, [move.mark for move in group])
            originals = {move: self._find_original(folders.get(source), move) for move in group}
            # One copy belongs to each original that is gone, the other copies to originals that are not.
            n_copies = len(copies) - sum(message is None for message in originals.values())
            for move, message in originals.items():
                if message is None:  # this program or somebody else moved it
                    yield move, copies[0] if copies else None
                elif n_copies > 0 and self._is_copied(message, copies):
                    self.open_folder(message.folder, message.location.validity, writable=True)
                    self._expunge([message.location.uid])
                    n_copies -= 1
                    yield move, copies[0]
                else:
                    yield move, None

    def _find_copies(self, folder: Folder | None, identity: bytes, marks: Sequence[str]) -> list[MailboxMessage]:
        """Return the messages with this identity that came into a folder since the earliest of the marks."""
        if folder is None:
            return []
        first_uid = min(_first_uid(mark, self.open_folder(folder)) for mark in marks)
        messages = self.search(folder, first_uid)
        return [message for message, other in self.read(messages, "identity") if other == identity]

    def _find_original(self, folder: Folder | None, move: Move) -> MailboxMessage | None:
        """Return the message of a move if it is still in its folder."""
        if folder is None:
            return None
        if move.key.split(".")[0] == str(self.open_folder(folder).validity):
            messages = self.messages(folder, [move.key])
        else:  # the folder was renumbered, so the message has another UID
            messages = self._find_copies(folder, move.identity, [""])[-1:]
        return next(iter(messages), None)

    def _is_copied(self, message: MailboxMessage, copies: Sequence[MailboxMessage]) -> bool:
        """Return whether one of the copies has the message's size and its first MAX_READ bytes."""
        ((_, raw),) = self.read([message])
        size = self.sizes([message]).get(message)
        sizes = self.sizes(copies)
        return isinstance(raw, bytes) and any(
            sizes.get(copy) == size and content == raw for copy, content in self.read(copies)
        )

    def _expunge(self, uids: list[int]) -> None:
        with self.connected("cannot remove the copied messages", _MOVE_SECONDS) as client:
            if not client.has_capability("UIDPLUS"):
                raise Denied(f"{self.display_name}: the server cannot expunge by UID (UIDPLUS), so nothing is removed")
            client.add_flags(uids, [b"\\Deleted"], silent=True)
            client.uid_expunge(uids)

    def format_path(self, folder: Folder, message: MailboxMessage | None) -> str:
        """Return the URL of the message's folder (RFC 5092), because few servers report the UID of a moved message."""
        return f"{self.address}/{quote(folder.path, safe='/')}"

    def wait(self, state: interface.FolderState | None, seconds: float, stop: int) -> None:
        """Wait for changes, and return at once if messages have arrived since ``state``.

        A server without IDLE announces nothing, so this takes all of ``seconds``.
        """
        next_uid = state.next_uid if isinstance(state, ImapState) else 0
        deadline = time.monotonic() + seconds
        with self.connected() as client:
            if not client.has_capability("IDLE"):
                wait_readable([stop], seconds)
                return
            # Select the folder again, because the server announces a message only once, perhaps before this call.
            self._selected = None
            if self.select_folder(client, self.inbox, None).next_uid > next_uid:
                return
            while (remaining := deadline - time.monotonic()) > 0:
                # If the server announced messages together with its answer to IDLE, the announcement would be in a
                # buffer, where poll does not see it. NOOP makes the server announce messages before IDLE.
                responses = client.noop()[1]
                if not _has_changes(responses):
                    client.idle()
                    wait_readable([stop, client.socket()], min(remaining, _IDLE_SECONDS))
                    responses = client.idle_done()[1]
                if _has_changes(responses) or wait_readable([stop], 0):
                    return


def _has_changes(responses: Iterable[tuple]) -> bool:
    """Return whether the server announced that mail came or was removed."""
    return any(len(response) > 1 and response[1] in _CHANGES for response in responses)


def _first_uid(mark: str, state: ImapState) -> int:
    """Return the first UID after a mark; 1 without a mark, or if the folder was renumbered."""
    validity, _, uid = mark.partition(".")
    return int(uid) + 1 if validity == str(state.validity) else 1
