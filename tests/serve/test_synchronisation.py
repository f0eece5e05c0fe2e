"""``sort`` and ``watch`` on a Maildir that mbsync or offlineimap keeps in step with Dovecot: the real programs.

``SPAMNB_MAIL_ROOT`` names a folder that Debian's packages dovecot-core and dovecot-imapd with their libraries, isync,
offlineimap3, python3-imaplib2, python3-distro and python3-rfc6555 were unpacked into with ``dpkg -x``. Needs root.

After every synchronisation each message is in one folder, in the same one on both sides, with the same flags.
"""

from __future__ import annotations

import mailbox
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from imap_account import Person, account, key, key_of
from served import mail
from unpacked import command_of_unpacked

from spamnb.classifier import Classifier
from spamnb.sources import maildir

pytestmark = pytest.mark.slow

FOLDERS = ("INBOX", "Junk", "Work")
FLAGS = {"S": r"\Seen", "F": r"\Flagged", "R": r"\Answered"}
MBSYNC_CONF = """
IMAPAccount server
Host 127.0.0.1
Port {port}
User ann
Pass secret
SSLType None
AuthMechs LOGIN

IMAPStore far
Account server

MaildirStore near
{folders}
Inbox {box}

Channel mail
Far :far:
Near :near:
Patterns *
Create Both
Expunge Both
SyncState *
"""
OFFLINEIMAP_CONF = """
[general]
accounts = mail
metadata = {place}/offlineimap
fsync = false

[Account mail]
localrepository = near
remoterepository = far

[Repository near]
type = Maildir
localfolders = {path}
sep = /

[Repository far]
type = IMAP
remotehost = 127.0.0.1
remoteport = {port}
remoteuser = ann
remotepass = secret
ssl = no
starttls = no
auth_mechanisms = LOGIN
"""


def mail_of(person: Person) -> dict[str, tuple[str, str, bool]]:
    """{Message-ID: (folder, flags, tagged)} on Dovecot's side."""
    found: list[tuple[str, tuple[str, str, bool]]] = []
    for folder in FOLDERS:
        count = int(person.client.select(folder, readonly=True)[1][0])
        for number in range(1, count + 1):
            head, raw = person.client.fetch(str(number), "(FLAGS BODY.PEEK[])")[1][0]
            flags = "".join(letter for letter in sorted(FLAGS) if FLAGS[letter].encode() in head)
            assert rb"\Deleted" not in head
            found.append((key_of(raw), (folder, flags, b"X-Spam-Status:" in raw)))
        person.client.unselect()
    return once(found)


class Near:
    """The Maildirs' side, and a mail reader's."""

    def __init__(self, folders: dict[str, Path]) -> None:
        self.folders = folders

    def move(self, key: str, source: str, target: str) -> None:
        (message,) = (path for path in self.paths(source) if key_of(path.read_bytes()) == key)
        flags = "".join(filter(str.isupper, message.name.partition(":2,")[2]))
        copy = mailbox.MaildirMessage(message.read_bytes())
        copy.set_subdir("cur")
        copy.set_flags(flags)
        mailbox.Maildir(self.folders[target]).add(copy)
        message.unlink()

    def mail(self) -> dict[str, tuple[str, str, bool]]:
        found: list[tuple[str, tuple[str, str, bool]]] = []
        for folder in FOLDERS:
            for path in self.paths(folder):
                flags = "".join(letter for letter in sorted(FLAGS) if letter in path.name.partition(":2,")[2])
                raw = path.read_bytes()
                found.append((key_of(raw), (folder, flags, b"X-Spam-Status:" in raw)))
        return once(found)

    def paths(self, folder: str) -> list[Path]:
        return [path for part in ("new", "cur") for path in maildir.files(self.folders[folder] / part)]


def once(found: list[tuple[str, tuple[str, str, bool]]]) -> dict[str, tuple[str, str, bool]]:
    keys = [key for key, _ in found]
    assert len(keys) == len(set(keys)), sorted(found)
    return dict(found)


@pytest.fixture
def server(place: Path) -> Iterator[tuple[Person, int]]:
    with account(place) as server:
        server.set_password("secret")
        with server.person() as person:
            yield person, server.plain


def mbsync(place: Path, port: int, box: Path, folders: str) -> list[str]:
    (place / "mbsyncrc").write_text(MBSYNC_CONF.format(port=port, box=box, folders=folders))
    return [*command_of_unpacked("usr/bin/mbsync"), "/usr/bin/mbsync", "-c", f"{place}/mbsyncrc", "-a"]


def offlineimap(place: Path, port: int, path: Path) -> list[str]:
    (place / "offlineimaprc").write_text(OFFLINEIMAP_CONF.format(place=place, port=port, path=path))
    overlaid = command_of_unpacked("usr/bin/offlineimap")
    return [*overlaid, "/usr/bin/offlineimap", "-o", "-u", "quiet", "-c", f"{place}/offlineimaprc"]


class Synchronised:
    """Maildirs that *program* keeps in step with the server, and the model that sorts them."""

    def __init__(self, program: str, server: tuple[Person, int], place: Path, model: Path) -> None:
        self.far, port = server
        self.model = model
        self.home = place / "home"
        self.home.mkdir()
        root = self.home / "Mail"
        if program == "mbsync, Maildir++":
            self.box, self.junk = root, "Junk"
            self.near = Near({"INBOX": root, "Junk": root / ".Junk", "Work": root / ".Work"})
            self.program = mbsync(place, port, root, "SubFolders Maildir++")
            return
        root.mkdir()
        self.box, self.junk = root / "INBOX", "../Junk"
        self.near = Near({name: root / name for name in FOLDERS})
        if program == "offlineimap":
            self.program = offlineimap(place, port, root)
        else:
            self.program = mbsync(place, port, self.box, f"Path {root}/\nSubFolders Verbatim")

    def run(self) -> subprocess.CompletedProcess:
        environment = {"HOME": str(self.home), "PATH": "/usr/bin:/bin"}
        return subprocess.run(self.program, env=environment, capture_output=True, text=True, timeout=120)

    def __call__(self) -> dict[str, tuple[str, str, bool]]:
        """{Message-ID: (folder, flags, tagged)} after a run without complaints."""
        ran = self.run()
        assert ran.returncode == 0 and "error" not in ran.stderr.lower(), ran.stdout + ran.stderr
        mail = self.near.mail()
        assert mail == mail_of(self.far)
        return mail

    def command(self, *arguments: object) -> list[str]:
        started = [sys.executable, "-m", "spamnb", *map(str, arguments)]
        return [*started, "--junk", self.junk, "-m", str(self.model), str(self.box)]

    def spamnb(self, *arguments: object) -> str:
        ran = subprocess.run(self.command(*arguments), capture_output=True, text=True, cwd="/", timeout=120)
        assert ran.returncode == 0, ran.stderr
        return ran.stdout


PROGRAMS = ["mbsync, folders beside INBOX", "mbsync, Maildir++", "offlineimap"]


@pytest.mark.parametrize("program", PROGRAMS)
def test_no_message_is_lost_or_doubled(program: str, server: tuple[Person, int], place: Path, model: Path):
    synchronised = Synchronised(program, server, place, model)
    far, near, junk, spamnb = synchronised.far, synchronised.near, synchronised.junk, synchronised.spamnb

    def learned(label: str, seed: int) -> str | None:
        contents = [path.read_bytes() for name in FOLDERS for path in near.paths(name)]
        with Classifier.open(model) as classifier:
            return classifier.learned(next(raw for raw in contents if key_of(raw) == key(label, seed)))

    seeds = range(500, 506)
    for seed in seeds:
        far.deliver(mail("ham", seed), flags=r"(\Flagged)" if seed == 500 else "")
        far.deliver(mail("spam", seed), flags=r"(\Seen \Flagged)" if seed == 500 else "")
    far.deliver(mail("ham", 510), folder="Work")
    everything = {key(label, seed) for label in ("ham", "spam") for seed in seeds} | {key("ham", 510)}

    # Down, sorted, up.
    assert synchronised().keys() == everything
    assert spamnb("watch", "--once") == ""
    assert spamnb("sort", "--all").count("\tto " + junk) == len(seeds)
    assert spamnb("watch", "--once") == ""
    after = synchronised()
    assert after.keys() == everything
    assert all(after[key("spam", seed)][0] == "Junk" and after[key("ham", seed)][0] == "INBOX" for seed in seeds)
    assert after[key("spam", 500)][1] == "FS" and after[key("ham", 500)][1] == "F"

    # A person moves mail, there and here, while more arrives.
    assert spamnb("watch", "--once") == ""
    far.move(key("spam", 501), "Junk", "INBOX")
    far.move(key("ham", 501), "INBOX", "Junk")
    near.move(key("spam", 502), "Junk", "Work")
    near.move(key("ham", 502), "INBOX", "Junk")
    for label in ("spam", "ham"):
        far.deliver(mail(label, 520))
        everything.add(key(label, 520))
    after = synchronised()
    assert after.keys() == everything
    moved = [after[key(*each)][0] for each in (("spam", 501), ("ham", 501), ("spam", 502), ("ham", 502))]
    assert moved == ["INBOX", "Junk", "Work", "Junk"]
    told = spamnb("watch", "--once").splitlines()
    assert sorted(line.split("\t")[1] for line in told) == ["ham", "ham", "spam", "spam"]
    assert [learned("spam", 501), learned("ham", 501)] == ["ham", "spam"]
    told = spamnb("sort").splitlines()
    assert sum("\tto " + junk in line for line in told) >= 1
    after = synchronised()
    assert after.keys() == everything and after[key("spam", 520)][0] == "Junk"
    assert after[key("spam", 501)][0] == "INBOX"  # where the person put it

    # Tagged mail replaces what it was on the server, too.
    far.deliver(mail("ham", 530), flags=r"(\Flagged)")
    everything.add(key("ham", 530))
    synchronised()
    spamnb("sort", "--all", "--tag")
    after = synchronised()
    assert after.keys() == everything and after[key("ham", 530)] == ("INBOX", "F", True)
    inbox = {key for key, (folder, _, _) in after.items() if folder == "INBOX"}
    assert inbox == {key for key, (_, _, tagged) in after.items() if tagged}

    # Nothing is left to do.
    files = sorted(path.name for folder in FOLDERS for path in near.paths(folder))
    assert synchronised() == after
    assert spamnb("sort") == spamnb("watch", "--once") == ""
    assert sorted(path.name for folder in FOLDERS for path in near.paths(folder)) == files


@pytest.mark.parametrize("program", PROGRAMS)
def test_sort_and_watch_while_mail_is_synchronised(program: str, server: tuple[Person, int], place: Path, model: Path):
    synchronised = Synchronised(program, server, place, model)
    far = synchronised.far
    synchronised()
    watch = subprocess.Popen(synchronised.command("watch", "--interval", "0.05"), cwd="/", stdout=subprocess.PIPE)
    stop = threading.Event()

    def sort_again_and_again() -> str:
        told = ""
        while not stop.is_set():
            told += synchronised.spamnb("sort")
        return told

    pool = ThreadPoolExecutor(1)
    sorting = pool.submit(sort_again_and_again)
    try:
        for seed in range(500, 540):
            for label in ("ham", "spam"):
                far.deliver(mail(label, seed))
            if seed % 8 == 7:
                synchronised.run()  # a message that it has just listed may be gone; the runs below must be whole
    finally:
        stop.set()
        pool.shutdown()
        watch.terminate()
        told = watch.communicate(timeout=120)[0]
    assert watch.returncode == 0 and told == b""  # nobody but sort moved mail
    synchronised()
    synchronised.spamnb("sort")
    after = synchronised()
    assert {key: folder for key, (folder, _, _) in after.items()} == {
        key(label, seed): folder for seed in range(500, 540) for label, folder in (("ham", "INBOX"), ("spam", "Junk"))
    }
    assert "\nspam\t" in sorting.result()
