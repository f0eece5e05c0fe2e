"""An IMAP account, read: its folders and what they are for, and messages by UID.

Mail is looked at in folders that are opened read-only, with BODY.PEEK, so nothing is ever marked as read. A message
is known by its folder, the folder's UIDVALIDITY and its UID. Of one larger than MAX_READ its first part is read.
"""

from __future__ import annotations

import errno
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from spamnb.errors import SpamnbError
from spamnb.shown_text import escape, pluralize
from spamnb.sources.accounts import Account, ImapUrl, account_of
from spamnb.sources.entries import Entry, Report
from spamnb.sources.imap_connection import SECONDS, NeverReached, Unreachable, connect, hang_up, told
from spamnb.sources.mailbox import NOT_WANTED, Folder, MailboxMessage, folder_role

if TYPE_CHECKING:
    from imapclient import IMAPClient

MAX_READ = 1 << 20  # bytes of a message: what is further on is attachments, nearly always
PAUSES = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0)  # seconds before a lost connection is made anew
_BATCH = 32  # messages asked for at once
WINDOW = 1000  # messages of which a header field, or the size, is asked for at once
_LONGEST_LINE = 800_000  # bytes: a search's numbers come in one line, and of one IMAPClient reads a million
_BODY = f"BODY.PEEK[]<0.{MAX_READ}>"
_ROLES = {  # in any case: Cyrus writes \junk, others \Junk
    b"\\junk": "junk",
    b"\\trash": "trash",
    b"\\drafts": "drafts",
    b"\\sent": "sent",
    b"\\all": "all",
    b"\\flagged": "all",  # Gmail's Starred and Important show what lies elsewhere
    b"\\important": "all",
    b"\\archive": "archive",
}
INBOX = Folder("INBOX", "INBOX", "inbox")
_NOT_FOLDERS = {b"\\noselect", b"\\nonexistent"}
T = TypeVar("T")


class Uid(NamedTuple):
    """What a message is called in its folder."""

    validity: int
    uid: int


class State(NamedTuple):
    """What a folder says of itself: when it changes, there is something to look at."""

    validity: int
    next_uid: int
    messages: int


class Renumbered(SpamnbError):
    """A folder got a new UIDVALIDITY: no number that was known before means anything."""


class ImapReader:
    """An account on a server; it connects when it is first asked, and anew where it was lost.

    Reading is done again by itself, after ``pauses`` of seconds; moving is not.
    """

    def __init__(self, account: Account, pauses: Sequence[float] = ()) -> None:
        self.shown = escape(account.url.account)
        self.url, self._account, self._pauses = account.url, account, pauses
        self._client: IMAPClient | None = None
        self._met = False  # whether there was a connection at some time
        self._folders: list[Folder] | None = None
        self._open: tuple[Any, bool, State] | None = None  # the folder that is open, whether writable, its state
        self.separator = "/"
        self._prefix = ""  # what the names of the person's own folders begin with: nothing, or "INBOX."

    def close(self) -> None:
        self.refresh()
        if self._client is not None:
            hang_up(self._client)
            self._client = None

    @contextmanager
    def asking(self, doing: str = "", seconds: float | None = None) -> Iterator[IMAPClient]:
        """The connection, made where there is none, to a server that may be silent for so many seconds. Unreachable
        where it is lost."""
        try:
            if self._client is None:
                self._client, self._open = connect(self._account), None
                self._met = True
            with told(self.url, doing):
                self._client.socket().settimeout(seconds or SECONDS)
                self._client.answers.heard = 0
                yield self._client
        except Unreachable as error:
            self.close()
            raise error if self._met else NeverReached(str(error)) from None

    def ask(self, question: Callable[[IMAPClient], T]) -> T:
        """An answer to what may be asked twice."""
        for pause in self._pauses:
            try:
                with self.asking() as client:
                    return question(client)
            except NeverReached:  # mistyped, mostly
                raise
            except Unreachable:
                time.sleep(pause)
        with self.asking() as client:
            return question(client)

    # -- folders ---------------------------------------------------------------------------------------------

    def folders(self) -> list[Folder]:
        """The folders that hold mail, the inbox first; what each is for says the server, or else its name."""
        if self._folders is not None:
            return self._folders

        def ask(client: IMAPClient) -> tuple[list[Any], str]:
            personal = client.namespace().personal if client.has_capability("NAMESPACE") else None
            return client.list_folders(), _text(personal[0][0] or "") if personal else ""

        found = []
        listed, self._prefix = self.ask(ask)
        for flags, separator, name in listed:
            self.separator = _text(separator) if separator else self.separator
            lowered = [flag.lower() for flag in flags]
            if _NOT_FOLDERS.isdisjoint(lowered):
                name = _text(name)
                special = next((_ROLES[flag] for flag in lowered if flag in _ROLES), None)
                role = (
                    "inbox" if name.upper() == "INBOX" else special or folder_role(name.rpartition(self.separator)[2])
                )
                found.append((name.upper() != "INBOX", special is None, Folder(escape(name), name, role)))
        self._folders = [folder for *_, folder in sorted(found, key=lambda each: (each[0], each[1], each[2].name))]
        return self._folders

    def refresh(self) -> None:
        """Ask the server anew which folders there are."""
        self._folders = None

    def locate(self, name: str | None) -> Folder:
        """The folder that a person calls so; None: that of spam, by SPECIAL-USE, by its name in many languages, or
        Junk, which is then to be made. Raises SpamnbError for a name of the inbox."""
        known = self.folders()
        if name is None:
            junk = [folder for folder in known if folder.role == "junk"]
            return min(junk, key=lambda folder: folder.place.count(self.separator)) if junk else self.locate("Junk")
        plain = name.strip(self.separator)
        if not plain or plain.upper() == "INBOX":
            raise SpamnbError(f"{self.shown}: {name!r} names no folder beside the inbox, as Junk does")
        for spelt in (str, str.casefold):
            for one in (plain, plain.replace("/", self.separator)):  # where servers call Work/Plans Work.Plans
                wanted = [spelt(one), spelt(self._prefix + one)]
                for folder in known:
                    if spelt(folder.place) in wanted:
                        return folder
        plain = plain.replace("/", self.separator)
        place = self._prefix + plain
        return Folder(escape(place), place, folder_role(plain.rpartition(self.separator)[2]))

    def state(self, folder: Folder) -> State:
        """A folder's state, without opening it."""

        def ask(client: IMAPClient) -> State:
            found = client.folder_status(folder.place, ["UIDVALIDITY", "UIDNEXT", "MESSAGES"])
            return State(*(int(found.get(name, 0)) for name in (b"UIDVALIDITY", b"UIDNEXT", b"MESSAGES")))

        return self.ask(ask)

    def opened(self, folder: Folder, validity: int | None = None, writable: bool = False) -> State:
        """Open a folder; its state then. Renumbered where it has another UIDVALIDITY."""
        return self.ask(lambda client: self.select(client, folder, validity, writable))

    def select(self, client: IMAPClient, folder: Folder, validity: int | None, writable: bool = False) -> State:
        if self._open is None or self._open[:2] != (folder.place, writable):
            self._open = None
            found = client.select_folder(folder.place, readonly=not writable)
            state = State(*(int(found.get(name, 0)) for name in (b"UIDVALIDITY", b"UIDNEXT", b"EXISTS")))
            self._open = folder.place, writable, state
        if validity not in (None, self._open[2].validity):
            raise Renumbered(f"{self.shown}: the server has renumbered the messages of {folder.name} meanwhile")
        return self._open[2]

    # -- messages --------------------------------------------------------------------------------------------

    def messages(self, folder: Folder, since: int = 1, criteria: Sequence[str] = ()) -> list[MailboxMessage]:
        """The messages with a UID of ``since`` or more that meet a search's criteria, the oldest first; without those
        that are marked as deleted."""

        def ask(client: IMAPClient) -> list[MailboxMessage]:
            self._open = None  # opened anew: what there is may have changed
            state = self.select(client, folder, None)
            if not state.messages or 0 < state.next_uid <= since:
                return []
            ranges = [f"{since}:*"]
            digits = len(str(state.next_uid)) + 1
            if state.messages * digits > _LONGEST_LINE:
                width = _LONGEST_LINE // digits
                ranges = [f"{start}:{start + width - 1}" for start in range(since, state.next_uid, width)]
            found = {uid for each in ranges for uid in client.search(["UID", each, "UNDELETED", *criteria])}
            return [self.message(folder, Uid(state.validity, uid)) for uid in sorted(found) if uid >= since]

        return self.ask(ask)

    def message(self, folder: Folder, place: Uid) -> MailboxMessage:
        """A message of this account by its number."""
        return MailboxMessage(folder, f"{place.validity}.{place.uid}", f"{self.shown}/{folder.name}#{place.uid}", place)

    def read(self, messages: Sequence[MailboxMessage]) -> Iterator[tuple[MailboxMessage, bytes | OSError]]:
        """Each message's first MAX_READ bytes with line feeds, as servers keep mail, or why there are none."""
        for message, raw in self.items(messages, _BODY, b"BODY[]", _BATCH):
            if raw is None:
                yield message, FileNotFoundError(errno.ENOENT, "moved on since it was listed", message.name)
            else:
                yield message, raw[:MAX_READ].replace(b"\r\n", b"\n") if isinstance(raw, bytes) else b""

    def sizes(self, messages: Sequence[MailboxMessage]) -> dict[MailboxMessage, int]:
        """The sizes of those, of one folder, that are still in it, even if they are marked as deleted."""
        sizes = self.items(messages, "RFC822.SIZE", b"RFC822.SIZE", WINDOW)
        return {message: size for message, size in sizes if size is not None}

    def items(
        self, messages: Sequence[MailboxMessage], what: str, key: bytes, at_once: int
    ) -> Iterator[tuple[MailboxMessage, Any]]:
        """What the server says of each message under a key, b"" for nothing; None for messages that are gone."""
        for start in range(0, len(messages), at_once):
            batch = messages[start : start + at_once]
            uids = [message.place.uid for message in batch]
            folder, validity = batch[0].folder, batch[0].place.validity

            def fetch(client: IMAPClient) -> dict[int, dict[bytes, Any]]:
                self.select(client, folder, validity)  # noqa: B023 (asked at once)
                return client.fetch(uids, [what])  # noqa: B023 (the same)

            answers = self.ask(fetch)
            for message in batch:
                if (about := answers.get(message.place.uid)) is None:
                    yield message, None
                else:
                    said = next((value for name, value in about.items() if name.startswith(key)), None)
                    yield message, b"" if said is None else said


def imap_entries(label: str | None, url: ImapUrl, on_unreadable: Report, recursive: bool) -> Iterator[Entry]:
    """The messages of the folder that a URL names, the inbox where it names none, in the order of their UIDs. Each is
    fetched when it is its turn.

    With ``recursive`` and without a folder in the URL those of all folders but junk, trash, drafts, templates and
    copies of everything. SpamnbError where the account cannot be read.
    """
    box = ImapReader(account_of(url), PAUSES)
    try:
        for folder in _wanted_folders(box, label, recursive):
            for message, raw in box.read(box.messages(folder)):
                if isinstance(raw, OSError):
                    on_unreadable(message.name, raw)
                elif raw:
                    yield Entry(label, message.name, "", content=raw)
    finally:
        box.close()


def unread_note(label: str, url: ImapUrl, recursive: bool) -> Iterator[str]:
    """A line that counts an account's mail that no mail reader has shown, where it is given as good mail: nobody said
    that it is. SpamnbError where the account cannot be read."""
    if folder_role(label) == "junk":
        return
    box = ImapReader(account_of(url), PAUSES)
    try:
        folders = _wanted_folders(box, label, recursive)
        if unread := sum(len(box.messages(folder, criteria=["UNSEEN"])) for folder in folders):
            count = pluralize(unread, "message")
            yield f"{box.shown}: takes for {escape(label)}, too, {count} that no mail reader has shown"
    finally:
        box.close()


def _wanted_folders(box: ImapReader, label: str | None, recursive: bool) -> list[Folder]:
    known, wanted = box.folders(), box.url.folder
    if not wanted and recursive:
        unwanted = (NOT_WANTED | {"all"}) - {folder_role(label or "")}
        return [folder for folder in known if folder.role not in unwanted]
    if not wanted or wanted.upper() == "INBOX":
        return [INBOX]
    found = box.locate(wanted)
    if found not in known:
        there = ", ".join(folder.name for folder in known[:20])
        raise SpamnbError(f"{box.shown}: no folder {wanted!r}; there are {there}")
    return [found]


def _text(name: bytes | str) -> str:
    return name.decode("utf-8", "replace") if isinstance(name, bytes) else name
