"""A mailbox and the person whose it is, who works there with a mail reader: the same for a Maildir and an account."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from click.testing import Result
from commands import run
from mail import message, never

from spamnb.mailbox import maildir
from spamnb.mailbox.box import Move
from spamnb.mailbox.maildir import MaildirBox
from spamnb.mailbox.memory import Memory
from spamnb.reader.message import digest
from spamnb.sources.entries import Report

Everything = dict[str, list[tuple[str, str]]]  # by Message-ID: folders, with the flags as a Maildir has them


def key_of(raw: bytes) -> str:
    found = re.search(rb"^Message-ID: (\S+)", raw, re.MULTILINE)
    assert found is not None
    return found.group(1).decode()


def key(label: str, seed: int) -> str:
    return key_of(message(label, seed))


def sides(seeds: range, junk: str = "Junk") -> dict[str, str]:
    return {key(label, seed): folder for seed in seeds for label, folder in (("ham", "INBOX"), ("spam", junk))}


class Person:
    """``junk`` is what the person calls the folder of spam, ``name`` what spamnb calls the mailbox.

    What a person does, each kind of mailbox does in its own way: deliver, move, copy and remove mail, and list it all.
    ``half_move`` leaves what spamnb leaves that is killed in the middle of a move from the inbox to Junk.
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
        """{Message-ID: folder}, each message being in one."""
        mail = self.mail()
        assert all(len(places) == 1 for places in mail.values()), {k: v for k, v in mail.items() if len(v) > 1}
        return {key: places[0][0] for key, places in mail.items()}

    def whole_move(self, key: str) -> None:
        """The same of one that is killed a moment later."""
        self.half_move(key)
        self.remove(key, "INBOX")

    def command(self, name: str, *options: str) -> list[str]:
        return [name, *self.options, *options, "-m", str(self.model), self.name]

    def sort(self, *options: str) -> Result:
        return run(*self.command("sort", *options))

    def watch(self, *options: str) -> Result:
        return run(*self.command("watch", "--once", *options))

    @contextmanager
    def remembering(self, report: Report = never) -> Iterator[Memory]:
        box = self.box()
        try:
            with Memory.of(box, report) as memory:
                yield memory
        finally:
            box.close()


def begin(memory: Memory, note: str = "") -> list[bytes]:
    """Note moves of all new mail to Junk, as just before they are made; the digests of that mail."""
    into = memory.box.junk()
    raws = {one: raw for one, raw in memory.box.read(memory.unjudged()) if isinstance(raw, bytes)}
    mark, source, target = memory.box.mark(into), memory.box.key(memory.box.inbox), memory.box.key(into)
    moves = [
        Move(source, each.key, kin, digest(raws[each]), target, mark, True, note)
        for each, kin in memory.box.kin([*raws])
    ]
    with memory.writing():
        memory.executemany("INSERT INTO moves VALUES (?, ?, ?, ?, ?, ?, ?, ?)", moves)
    return [digest(raw) for raw in raws.values()]


class MaildirPerson(Person):
    """A Maildir with Junk, Trash and Work in it; or, as mbsync and offlineimap make them, ``beside`` it."""

    def __init__(self, folder: Path, model: Path, beside: bool = False) -> None:
        self.model = model
        root = folder / "Mail"
        self.path = root / "INBOX" if beside else root
        self.folders = {"INBOX": maildir.made(self.path)}
        for name in ("Junk", "Trash", "Work"):
            self.folders[name] = maildir.made(root / (name if beside else f".{name}"))
        if beside:
            self.options = ("--junk", "../Junk")
        self.name, self._count = str(self.path), 0

    def deliver(self, raw: bytes, folder: str = "INBOX", flags: str = "") -> None:
        self._count += 1
        fresh = f"new/{self._count}.delivered"
        (self.folders[folder] / (f"cur/{self._count}.read:2,{flags}" if flags else fresh)).write_bytes(raw)

    def paths(self, folder: str, key: str | None = None) -> list[Path]:
        found = [path for part in ("new", "cur") for path in maildir.files(self.folders[folder] / part)]
        return [path for path in found if key is None or f"\nMessage-ID: {key}\n".encode() in path.read_bytes()]

    def move(self, key: str, source: str, target: str) -> None:
        """As mail readers do it: a copy under a new name, then the old one goes."""
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

    def mail(self) -> Everything:
        """All that has a Message-ID."""
        found: Everything = {}
        for folder in self.folders:
            for path in self.paths(folder):
                flags, raw = "".join(sorted(path.name.partition(":2,")[2])), path.read_bytes()
                if b"\nMessage-ID: " in raw:
                    found.setdefault(key_of(raw), []).append((folder, flags))
        return found

    def box(self) -> MaildirBox:
        return MaildirBox(self.path, "../Junk" if self.options else None)
