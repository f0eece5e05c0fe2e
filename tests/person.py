"""A person with a mailbox and a mail reader; the same actions work in a Maildir and in an account."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from click.testing import Result
from commands import run
from mail import fail, message

from spamnb.filter import Classifier
from spamnb.ledger.ledger import Ledger
from spamnb.ledger.verdicts import NOWHERE, VerdictRow
from spamnb.mailbox import maildir
from spamnb.mailbox.interface import Move
from spamnb.mailbox.maildir import MaildirMailbox
from spamnb.mailbox.record import MailboxRecord
from spamnb.reader.message import digest
from spamnb.sources.entries import OnError

FoldersOfMail = dict[str, list[tuple[str, str]]]  # {Message-ID: [(folder, flags as in a Maildir)]}


def key_of(raw: bytes) -> str:
    field = re.search(rb"^Message-ID: (\S+)", raw, re.MULTILINE)
    assert field is not None
    return field.group(1).decode()


def key(label: str, seed: int) -> str:
    return key_of(message(label, seed))


def sides(seeds: range, junk: str = "Junk") -> dict[str, str]:
    return {key(label, seed): folder for seed in seeds for label, folder in (("ham", "INBOX"), ("spam", junk))}


def sides_by(model: Path, seeds: range) -> dict[str, str]:
    """Return where messages belong by the verdicts of a model: of those of ``sides`` some spam may be unsure."""
    with Classifier.open(model) as classifier:
        verdicts = {
            key(kind, n): classifier.classify(message(kind, n)).verdict for n in seeds for kind in ("ham", "spam")
        }
    assert sum(verdict == "spam" for verdict in verdicts.values()) >= 0.9 * len(seeds)
    return {name: "Junk" if verdict == "spam" else "INBOX" for name, verdict in verdicts.items()}


class Person:
    """A person with a mailbox. ``junk`` is the folder of spam, ``name`` the mailbox on spamnb's command line.

    Subclasses deliver, move, copy, remove and list mail. ``half_move`` leaves the mailbox as if spamnb had
    been killed in the middle of a move from the inbox to Junk.
    """

    name: str
    junk = "Junk"
    options: tuple[str, ...] = ()
    model: Path

    def arrive(self, seeds: range, flags: str = "") -> None:
        for seed in seeds:
            for label in ("ham", "spam"):
                self.deliver(message(label, seed), flags=flags)

    def where(self) -> dict[str, str]:
        """Return {Message-ID: folder}. Each message must be in one folder."""
        mail = self.mail()
        assert all(len(places) == 1 for places in mail.values()), {k: v for k, v in mail.items() if len(v) > 1}
        return {key: places[0][0] for key, places in mail.items()}

    def whole_move(self, key: str) -> None:
        """Leave the mailbox as ``half_move`` does, but one step later."""
        self.half_move(key)
        self.remove(key, "INBOX")

    def command(self, name: str, *options: str) -> list[str]:
        return [name, *self.options, *options, "-m", str(self.model), self.name]

    def sort(self, *options: str) -> Result:
        return run(*self.command("sort", *options))

    def watch(self, *options: str) -> Result:
        return run(*self.command("watch", "--once", *options))

    @contextmanager
    def open_record(self, report: OnError = fail) -> Iterator[MailboxRecord]:
        box = self.box()
        try:
            with Ledger.open(os.environ["SPAMNB_LEDGER"]) as ledger:
                yield MailboxRecord(ledger, box, report)
        finally:
            box.close()


def verdict_on(raw: bytes) -> VerdictRow:
    """Return the verdict spam without header fields, tokens or evidence."""
    return VerdictRow(0, "", digest(raw), "", "", "", 0, *NOWHERE, "spam", 0.0, 0.0, "[]", "")


def begin(record: MailboxRecord, position: int = -1) -> list[bytes]:
    """Record moves of all new mail to Junk without moving it, and return the digests of this mail.

    The moves have a verdict only if its ``position`` is given.
    """
    into = record.mailbox.locate()
    raws = {new: raw for new, raw in record.mailbox.read(record.new_messages()) if isinstance(raw, bytes)}
    mark, source = record.mailbox.state(into).mark, record.mailbox.inbox.key
    moves = [
        Move(source, each.key, identity, digest(raws[each]), into.key, mark, True, position)
        for each, identity in record.mailbox.read([*raws], "identity")
    ]
    with record.ledger.writing():
        record._executemany("INSERT INTO moves VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", moves)
    return [digest(raw) for raw in raws.values()]


class MaildirPerson(Person):
    """A Maildir that contains Junk, Trash and Work. With ``beside`` they are beside it, as mbsync stores them."""

    def __init__(self, folder: Path, model: Path, beside: bool = False) -> None:
        self.model = model
        root = folder / "Mail"
        self.path = root / "INBOX" if beside else root
        self.folders = {"INBOX": maildir.make_folder(self.path)}
        for name in ("Junk", "Trash", "Work"):
            self.folders[name] = maildir.make_folder(root / (name if beside else f".{name}"))
        if beside:
            self.options = ("--junk", "../Junk")
        self.name, self._count = str(self.path), 0

    def deliver(self, raw: bytes, folder: str = "INBOX", flags: str = "") -> None:
        self._count += 1
        fresh = f"new/{self._count}.delivered"
        (self.folders[folder] / (f"cur/{self._count}.read:2,{flags}" if flags else fresh)).write_bytes(raw)

    def paths(self, folder: str, key: str | None = None) -> list[Path]:
        paths = [path for part in ("new", "cur") for path in maildir.files(self.folders[folder] / part)]
        return [path for path in paths if key is None or f"\nMessage-ID: {key}\n".encode() in path.read_bytes()]

    def move(self, key: str, source: str, target: str) -> None:
        """Copy a message to a new name, and then remove it, as mail readers do."""
        self.copy(key, source, target)
        self.remove(key, source)

    def copy(self, key: str, source: str, target: str) -> None:
        (path,) = self.paths(source, key)
        self._count += 1
        flags = path.name.partition(":2,")[2]
        (self.folders[target] / "cur" / f"{self._count}.copy:2,{flags}").write_bytes(path.read_bytes())

    def remove(self, key: str, folder: str) -> None:
        (path,) = self.paths(folder, key)
        path.unlink()

    def half_move(self, key: str) -> None:
        (path,) = self.paths("INBOX", key)
        self._count += 1
        path.rename(self.folders["Junk"] / "new" / f"{self._count}.moved")

    whole_move = half_move  # one step

    def mail(self) -> FoldersOfMail:
        """Return all messages with a Message-ID."""
        folders: FoldersOfMail = {}
        for folder in self.folders:
            for path in self.paths(folder):
                flags, raw = "".join(sorted(path.name.partition(":2,")[2])), path.read_bytes()
                if b"\nMessage-ID: " in raw:
                    folders.setdefault(key_of(raw), []).append((folder, flags))
        return folders

    def box(self) -> MaildirMailbox:
        return MaildirMailbox(self.path, "../Junk" if self.options else None)
