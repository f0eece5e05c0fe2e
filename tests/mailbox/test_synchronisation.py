"""``sort`` and ``watch`` on a Maildir that mbsync or offlineimap keeps in step with Dovecot: the real programs.

``SPAMNB_MAIL_ROOT`` names a folder that Debian's packages dovecot-core and dovecot-imapd with their libraries, isync,
offlineimap3, python3-imaplib2, python3-distro and python3-rfc6555 were unpacked into with ``dpkg -x``. Needs root.

After every synchronisation each message is in one folder, in the same one on both sides, with the same flags.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from commands import SPAMNB
from imap_account import account
from mail import message as mail
from person import FoldersOfMail, MaildirPerson, Person, key, sides
from programs import watching
from unpacked import command_of_unpacked, wait_until

pytestmark = pytest.mark.slow

FOLDERS = ("INBOX", "Junk", "Work")
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
        self.address = place / "home"
        self.address.mkdir()
        root = self.address / "Mail"
        beside = program != "mbsync, Maildir++"
        self.near = MaildirPerson(self.address, model, beside)
        shutil.rmtree(root)  # the program makes it
        if beside:
            root.mkdir()
        if program == "offlineimap":
            self.program = offlineimap(place, port, root)
        else:
            layout = f"Path {root}/\nSubFolders Verbatim" if beside else "SubFolders Maildir++"
            self.program = mbsync(place, port, self.near.path, layout)

    def run(self) -> subprocess.CompletedProcess:
        environment = {"HOME": str(self.address), "PATH": "/usr/bin:/bin"}
        return subprocess.run(self.program, env=environment, capture_output=True, text=True, timeout=120)

    def __call__(self) -> FoldersOfMail:
        """Where everything is after a run without complaints: on both sides."""
        ran = self.run()
        assert ran.returncode == 0 and "error" not in ran.stderr.lower(), ran.stdout + ran.stderr
        mail = self.near.mail()
        assert mail == self.far.mail() and all(len(places) == 1 for places in mail.values())
        return mail

    def spamnb(self, *arguments: str) -> str:
        command = [*SPAMNB, *self.near.command(*arguments)]
        ran = subprocess.run(command, capture_output=True, text=True, cwd="/", timeout=120)
        assert ran.returncode == 0, ran.stderr
        return ran.stdout


PROGRAMS = ["mbsync, folders beside INBOX", "mbsync, Maildir++", "offlineimap"]


@pytest.mark.parametrize("program", PROGRAMS)
def test_no_message_is_lost_or_doubled(program: str, server: tuple[Person, int], place: Path, model: Path):
    synchronised = Synchronised(program, server, place, model)
    far, near, spamnb = synchronised.far, synchronised.near, synchronised.spamnb

    seeds = range(500, 506)
    for seed in seeds:
        far.deliver(mail("ham", seed), flags="F" if seed == 500 else "")
        far.deliver(mail("spam", seed), flags="FS" if seed == 500 else "")
    far.deliver(mail("ham", 510), folder="Work")
    everything = {key(label, seed) for label in ("ham", "spam") for seed in seeds} | {key("ham", 510)}

    # Down, sorted, up.
    assert synchronised().keys() == everything
    assert spamnb("watch", "--once") == ""
    assert spamnb("sort", "--all").count("Junk\t") == len(seeds)
    assert spamnb("watch", "--once") == ""
    after = synchronised()
    expected = {name: [(folder, "")] for name, folder in sides(seeds).items()}
    expected |= {key("spam", 500): [("Junk", "FS")], key("ham", 500): [("INBOX", "F")], key("ham", 510): [("Work", "")]}
    assert after == expected

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
    moved = [after[key(*each)][0][0] for each in (("spam", 501), ("ham", 501), ("spam", 502), ("ham", 502))]
    assert moved == ["INBOX", "Junk", "Work", "Junk"]
    told = spamnb("watch", "--once").splitlines()
    assert sorted(line.split("\t")[1] for line in told) == ["ham", "ham", "spam", "spam"]
    assert "Junk\t" in spamnb("sort")
    after = synchronised()
    assert after.keys() == everything and after[key("spam", 520)] == [("Junk", "")]
    assert after[key("spam", 501)] == [("INBOX", "")]  # where the person put it

    # Nothing is left to do.
    files = sorted(path.name for folder in FOLDERS for path in near.paths(folder))
    assert synchronised() == after
    assert spamnb("sort") == spamnb("watch", "--once") == ""
    assert sorted(path.name for folder in FOLDERS for path in near.paths(folder)) == files


@pytest.mark.parametrize("program", PROGRAMS)
def test_watch_sorts_while_mail_is_synchronised(program: str, server: tuple[Person, int], place: Path, model: Path):
    synchronised = Synchronised(program, server, place, model)
    synchronised()
    with watching(place, *synchronised.near.command("watch", "--sort", "--interval", "1")[1:]) as watch:
        for seed in range(500, 540):
            for label in ("ham", "spam"):
                synchronised.far.deliver(mail(label, seed))
            if seed % 8 == 7:
                synchronised.run()  # a message that it has just listed may be gone; the runs below must be whole
        wait_until(lambda: "moved\tspam" in watch.said, watch.process)
    assert "\nlearned" not in watch.said, "nobody but the filter moved mail"
    synchronised()
    synchronised.spamnb("sort")
    after = synchronised()
    assert {key: places[0][0] for key, places in after.items()} == sides(range(500, 540))
