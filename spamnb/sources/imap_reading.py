"""Reads an IMAP account: its folders with their roles, and messages by UID.

Folders are opened read-only, and messages are fetched with BODY.PEEK, so no message is marked as read. A message is
identified by its UID, its folder, and the folder's UIDVALIDITY. A message longer than MAX_READ is truncated.
"""

from __future__ import annotations

import errno
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from spamnb.errors import SpamnbError
from spamnb.shown_text import escape, pluralize
from spamnb.sources.accounts import ImapUrl, find_account
from spamnb.sources.entries import Entry, OnError
from spamnb.sources.imap_connection import (
    ANSWER_SECONDS,
    ListedName,
    NeverReached,
    Unreachable,
    connect,
    hang_up,
    translate_errors,
)
from spamnb.sources.mailbox import NOT_WANTED, Folder, MailboxMessage, folder_role

if TYPE_CHECKING:
    from imapclient import IMAPClient

MAX_READ = 1 << 20  # bytes of a message: later bytes nearly always belong to attachments
PAUSES = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0)  # seconds before each new connection: the restart of a server takes a minute
_MESSAGE_BATCH = 32  # messages that one request fetches: 32 MiB at most
FIELD_BATCH = 1000  # messages for which one request fetches header fields (16 KB each) or sizes
_MAX_LINE = 800_000  # bytes of the line with the UIDs of a search: imaplib refuses more than a million
_MAX_NAME = 200  # bytes of an odd folder name that are shown
_MAX_NUMBER = 1 << 32  # RFC 9051: UIDs and numbers of messages have 32 bits
_BODY = f"BODY.PEEK[]<0.{MAX_READ}>"
_ROLES = {  # by attribute in lower case, because Cyrus writes \junk, and others \Junk
    b"\\junk": "junk",
    b"\\trash": "trash",
    b"\\drafts": "drafts",
    b"\\sent": "sent",
    b"\\all": "all",
    b"\\flagged": "all",  # Gmail's Starred and Important show messages of other folders
    b"\\important": "all",
    b"\\archive": "archive",
}
ODD_NAME = "a folder whose name IMAP does not allow; rename it"
INBOX = Folder("INBOX", "INBOX", "inbox", "INBOX")
_NOT_FOLDERS = {b"\\noselect", b"\\nonexistent"}  # attributes of listed names that are no folders of mail
T = TypeVar("T")


class Uid(NamedTuple):
    """The UIDVALIDITY of a folder, and the UID of a message in it."""

    validity: int
    uid: int


class ImapState(NamedTuple):
    """The state of a folder, which changes when mail comes or goes."""

    validity: int
    next_uid: int
    n_messages: int

    @property
    def mark(self) -> str:
        """The highest UID so far. Messages that come later are after this mark."""
        return f"{self.validity}.{max(self.next_uid - 1, 0)}"


class Renumbered(SpamnbError):
    """A folder got a new UIDVALIDITY, so earlier UIDs are no longer valid."""


class ImapReader:
    """Reads an account. It connects at the first request, and again after the connection was lost.

    ``pauses`` are the seconds before each new attempt of a request that only reads (`retry`).
    """

    def __init__(self, url: ImapUrl, pauses: Sequence[float] = ()) -> None:
        self.display_name = escape(url.address)
        self.url, self._account, self._pauses = url, find_account(url), pauses
        self._client: IMAPClient | None = None
        self._has_connected = False
        self._folders: list[Folder] | None = None
        self.odd_names: list[str] = []  # of folders that are left out, because their names cannot be read
        self._selected: tuple[Any, bool, ImapState] | None = None  # path, whether the folder is writable, its state
        self.separator = "/"
        self._prefix = ""  # the beginning of all folders' names on some servers, such as "INBOX."

    def close(self) -> None:
        self._folders = None
        if self._client is not None:
            hang_up(self._client)
            self._client = None

    @contextmanager
    def connected(self, action: str = "", seconds: float | None = None) -> Iterator[IMAPClient]:
        """Yield the connection, and connect if necessary. Raise Unreachable if the connection is lost.

        ``action`` is part of the text of errors. ``seconds`` is the time that the server may be silent.
        """
        try:
            if self._client is None:
                self._client, self._selected = connect(self._account), None
                self._has_connected = True
            with translate_errors(self.url, action):
                self._client.socket().settimeout(seconds or ANSWER_SECONDS)
                self._client.answer_limit.received = 0
                yield self._client
        except Unreachable as error:
            self.close()
            raise error if self._has_connected else NeverReached(str(error)) from None

    def retry(self, request: Callable[[IMAPClient], T]) -> T:
        """Return the answer to a request. After a lost connection, send the request again."""
        for pause in self._pauses:
            try:
                with self.connected() as client:
                    return request(client)
            except NeverReached:  # not tried again, because the name of the host is probably wrong
                raise
            except Unreachable:
                time.sleep(pause)
        with self.connected() as client:
            return request(client)

    def folders(self, fresh: bool = False) -> list[Folder]:
        """Return the folders that can contain mail, the inbox first. Roles are by attribute or else by name.

        The list is requested again if it must be ``fresh``.
        """
        if self._folders is not None and not fresh:
            return self._folders

        def request(client: IMAPClient) -> tuple[list[ListedName], str]:
            personal = client.namespace().personal if client.has_capability("NAMESPACE") else None
            names = client.list_folders()
            if all(listed.name is None for listed in names):  # every account has an inbox
                raise ValueError("it has no folder's name")
            return names, _decode(personal[0][0] or "") if personal else ""

        folders, self.odd_names = [], []
        listing, self._prefix = self.retry(request)
        for attributes, separator, name, answer in listing:
            self.separator = separator or self.separator
            if not _NOT_FOLDERS.isdisjoint(attributes):
                continue
            if name is None:
                self.odd_names.append(escape(answer[:_MAX_NAME].decode("utf-8", "replace")))
                continue
            special = next((_ROLES[flag] for flag in attributes if flag in _ROLES), None)
            role = "inbox" if name.upper() == "INBOX" else special or folder_role(name.rpartition(self.separator)[2])
            folders.append((name.upper() != "INBOX", special is None, Folder(escape(name), name, role, name)))
        folders.sort(key=lambda row: (row[0], row[1], row[2].name))
        self._folders = [folder for *_, folder in folders]
        return self._folders

    def locate(self, name: str | None) -> Folder:
        """Return the folder of this name, which may not exist yet. Raise SpamnbError if the name is empty or INBOX.

        The name None is the folder with the role "junk", or else Junk.
        """
        folders = ImapReader.folders(self)  # with the roles on the server
        if name is None:
            junk = [folder for folder in folders if folder.role == "junk"]
            name = min(junk, key=lambda folder: folder.path.count(self.separator)).path if junk else "Junk"
        plain = name.strip(self.separator)
        if not plain or plain.upper() == "INBOX":
            raise SpamnbError(f"{self.display_name}: {name!r} is the inbox; name another folder, such as Junk")
        for normalize in (str, str.casefold):
            for path in (plain, plain.replace("/", self.separator)):  # Work/Plans is Work.Plans on some servers
                paths = [normalize(path), normalize(self._prefix + path)]
                for folder in folders:
                    if normalize(folder.path) in paths:
                        return folder
        plain = plain.replace("/", self.separator)
        path = self._prefix + plain
        return Folder(escape(path), path, folder_role(plain.rpartition(self.separator)[2]), path)

    def state(self, folder: Folder) -> ImapState:
        """Return the state of a folder without opening it."""

        def request(client: IMAPClient) -> ImapState:
            status = client.folder_status(folder.path, ["UIDVALIDITY", "UIDNEXT", "MESSAGES"])
            return _read_state(status, b"MESSAGES")

        return self.retry(request)

    def open_folder(self, folder: Folder, validity: int | None = None, writable: bool = False) -> ImapState:
        """Open a folder and return its state. Raise Renumbered if its UIDVALIDITY is not ``validity``."""
        return self.retry(lambda client: self.select_folder(client, folder, validity, writable))

    def select_folder(
        self, client: IMAPClient, folder: Folder, validity: int | None, writable: bool = False
    ) -> ImapState:
        """Open a folder as `open_folder` does, with this client and without another attempt."""
        if self._selected is None or self._selected[:2] != (folder.path, writable):
            self._selected = None
            status = client.select_folder(folder.path, readonly=not writable)
            self._selected = folder.path, writable, _read_state(status, b"EXISTS")
        if validity not in (None, self._selected[2].validity):
            raise Renumbered(f"{self.display_name}: the server has given the messages of {folder.name} new numbers")
        return self._selected[2]

    def search(self, folder: Folder, first_uid: int = 1, criteria: Sequence[str] = ()) -> list[MailboxMessage]:
        """Return the messages with a UID of ``first_uid`` or more that meet the criteria of a search, the oldest first.

        Messages that are marked as deleted are left out.
        """

        def request(client: IMAPClient) -> list[MailboxMessage]:
            self._selected = None  # the folder is opened again, because its state may have changed
            state = self.select_folder(client, folder, None)
            if not state.n_messages or 0 < state.next_uid <= first_uid:
                return []
            ranges: Iterable[str] = [f"{first_uid}:*"]
            digits = len(str(state.next_uid)) + 1
            if state.n_messages * digits > _MAX_LINE:  # the server would answer with all UIDs in one line
                width = _MAX_LINE // digits
                ranges = (f"{start}:{start + width - 1}" for start in range(first_uid, state.next_uid, width))
            uids = {uid for span in ranges for uid in client.search(["UID", span, "UNDELETED", *criteria])}
            return [self.make_message(folder, Uid(state.validity, uid)) for uid in sorted(uids) if uid >= first_uid]

        return self.retry(request)

    def make_message(self, folder: Folder, uid: Uid) -> MailboxMessage:
        name = f"{self.display_name}/{folder.name}#{uid.uid}"
        return MailboxMessage(folder, f"{uid.validity}.{uid.uid}", name, uid)

    def read(self, messages: Sequence[MailboxMessage]) -> Iterator[tuple[MailboxMessage, bytes | OSError]]:
        """Yield each message with its first MAX_READ bytes and line feeds as line ends, or with its error."""
        for message, raw in self.fetch_items(messages, _BODY, b"BODY[]", _MESSAGE_BATCH):
            if raw is None:
                yield message, FileNotFoundError(errno.ENOENT, "no longer in its folder", message.name)
            else:
                yield message, raw[:MAX_READ].replace(b"\r\n", b"\n") if isinstance(raw, bytes) else b""

    def sizes(self, messages: Sequence[MailboxMessage]) -> dict[MailboxMessage, int]:
        """Return the sizes of the messages that are still in their folder, even if they are marked as deleted."""
        sizes = self.fetch_items(messages, "RFC822.SIZE", b"RFC822.SIZE", FIELD_BATCH)
        return {message: size for message, size in sizes if size is not None}

    def fetch_items(
        self, messages: Sequence[MailboxMessage], item: str, answer_name: bytes, batch_size: int
    ) -> Iterator[tuple[MailboxMessage, Any]]:
        """Yield each message with one ``item`` of FETCH; b"" if the answer lacks it, None if the message is gone.

        ``answer_name`` is the beginning of the item's name in the server's answer.
        """
        for start in range(0, len(messages), batch_size):
            batch = messages[start : start + batch_size]
            uids = [message.location.uid for message in batch]
            folder, validity = batch[0].folder, batch[0].location.validity

            def fetch(client: IMAPClient) -> dict[int, dict[bytes, Any]]:
                self.select_folder(client, folder, validity)  # noqa: B023 (called at once)
                return client.fetch(uids, [item])  # noqa: B023 (called at once)

            answers = self.retry(fetch)
            for message in batch:
                if (answer := answers.get(message.location.uid)) is None:
                    yield message, None
                else:
                    content = next((value for name, value in answer.items() if name.startswith(answer_name)), None)
                    yield message, b"" if content is None else content


def imap_entries(label: str | None, url: ImapUrl, on_unreadable: OnError, recursive: bool) -> Iterator[Entry]:
    """Yield the messages of a URL's folder, or else of the inbox, in the order of their UIDs.

    If the URL has no folder and ``recursive``, yield the messages of all folders except junk (unless ``label`` is
    spam), trash, drafts, templates and copies of all mail. Raise SpamnbError if the account cannot be read.
    """
    with closing(ImapReader(url, PAUSES)) as mailbox:
        folders = _select_folders(mailbox, label, recursive, mailbox.url.folder)
        for name in mailbox.odd_names if recursive and not mailbox.url.folder else ():
            on_unreadable(f"{mailbox.display_name}/{name}", ValueError(ODD_NAME))
        for folder in folders:
            for message, raw in mailbox.read(mailbox.search(folder)):
                if isinstance(raw, OSError):
                    on_unreadable(message.name, raw)
                elif raw:
                    yield Entry(label, message.name, "", content=raw)
                elif mailbox.sizes([message]).get(message) != 0:  # an empty message is none, as an empty file is
                    on_unreadable(message.name, ValueError("the server sent no text of it"))


def unseen_note(label: str, url: ImapUrl, recursive: bool) -> Iterator[str]:
    """Yield a line that counts the unseen messages of a class of good mail, because some of them may be spam.

    Raise SpamnbError if the account cannot be read.
    """
    if folder_role(label) == "junk":
        return
    with closing(ImapReader(url, PAUSES)) as mailbox:
        folders = _select_folders(mailbox, label, recursive, mailbox.url.folder)
        if n_unseen := sum(len(mailbox.search(folder, criteria=["UNSEEN"])) for folder in folders):
            count = pluralize(n_unseen, "message")
            yield f"{mailbox.display_name}: {escape(label)} includes {count} that no mail reader has shown"


def count_unread_folders(label: str, url: ImapUrl, read: Sequence[ImapUrl]) -> tuple[str, dict[str, int]]:
    """Return the URL of an account, and the number of messages in each folder that none of the URLs ``read`` names.

    Folders without messages are left out, and so are those that are not read for this class with ``recursive``.
    """
    with closing(ImapReader(url, PAUSES)) as mailbox:
        paths = {
            folder.path
            for other in read
            if other.address == url.address
            for folder in _select_folders(mailbox, None, False, other.folder)
        }
        folders = [folder for folder in _select_folders(mailbox, label, True, "") if folder.path not in paths]
        numbers = {folder.name: mailbox.state(folder).n_messages for folder in folders}
    return url.address, {name: number for name, number in numbers.items() if number}


def _select_folders(mailbox: ImapReader, label: str | None, recursive: bool, name: str) -> list[Folder]:
    folders = mailbox.folders()
    if not name and recursive:
        excluded = (NOT_WANTED | {"all"}) - {folder_role(label or "")}
        return [folder for folder in folders if folder.role not in excluded]
    if not name or name.upper() == "INBOX":
        return [INBOX]
    folder = mailbox.locate(name)
    if folder not in folders:
        names = ", ".join(folder.name for folder in folders[:20])
        raise SpamnbError(f"{mailbox.display_name}: no folder {name!r}; there are {names}")
    return [folder]


def _read_state(status: Mapping[bytes, Any], number_name: bytes) -> ImapState:
    state = ImapState(*(int(status.get(name, 0)) for name in (b"UIDVALIDITY", b"UIDNEXT", number_name)))
    if not all(0 <= number <= _MAX_NUMBER for number in state):
        raise ValueError(f"a number above {_MAX_NUMBER} in the state of a folder")
    return state


def _decode(name: bytes | str) -> str:
    return name.decode("utf-8", "replace") if isinstance(name, bytes) else name
