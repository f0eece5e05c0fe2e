"""Mail of an account on a real Dovecot as a SOURCE: the same models and verdicts as of the same mail in folders."""

import json
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import mail
import pytest
from commands import run
from imap_account import Server, account

from spamnb.sources import imap_reading
from spamnb.sources.accounts import parse_url
from spamnb.sources.imap_reading import ImapReader
from spamnb.store.store import Store

pytestmark = pytest.mark.slow

LARGE = mail.message("spam", 2) + b"".join(b"Zm9vYmFy" * 9 + b"\n" for _ in range(40_000))


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with TemporaryDirectory(prefix="spamnb-imap-") as folder:  # that Dovecot's users may enter, unlike pytest's own
        Path(folder).chmod(0o755)
        with account(Path(folder), "Unerwünscht") as server, server.person() as person:
            person.client.create("Work/Plans")
            for seed in range(60):
                person.deliver(mail.message("ham", seed))
                person.deliver(mail.message("spam", seed), "Unerwünscht")
            person.deliver(mail.message("ham", 70), "Work/Plans")
            person.deliver(mail.message("spam", 71), "Trash")
            yield server


@pytest.fixture(autouse=True)
def environment(server: Server, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name, value in {**server.login, "HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path)}.items():
        monkeypatch.setenv(name, value)


@pytest.fixture
def folders(tmp_path: Path) -> Path:
    return mail.write_folders(tmp_path / "mail", mail.mail(60))


def test_a_model_is_that_of_the_same_mail_in_folders(server: Server, tmp_path: Path, folders: Path):
    ham, spam = f"ham={server.url}", f"spam={server.url}/Unerwünscht"
    made = run("train", "-m", tmp_path / "imap", ham, spam)
    assert made.exit_code == 0, made.output
    unseen, unread = made.stderr.splitlines()
    assert unseen == f"spamnb: {server.url}: ham includes 60 messages that no mail reader has shown"
    assert unread.startswith(f"spamnb: {ham}: not read: 1 other folder of this mailbox with 1 message: Work/Plans; ")
    assert run("train", "-m", tmp_path / "folders", folders).exit_code == 0
    exported = [run("export", "-m", tmp_path / name).stdout.splitlines() for name in ("imap", "folders")]
    first, second = ([line for line in lines if '"meta"' not in line] for lines in exported)
    assert len(first) > 20 and first[1:] == second[1:]  # but for when and of what it was made

    told = run("classify", "--format", "json", "-m", tmp_path / "imap", f"{server.url}/unerwünscht")
    lines = [json.loads(line) for line in told.stdout.splitlines()]
    assert len(lines) == 60 and {line["verdict"] for line in lines} == {"spam"}
    with server.person() as person:
        assert {flags for places in person.mail().values() for _, flags in places} == {""}, "none is marked as read"
    assert lines[0]["source"] == f"{server.url}/Unerwünscht#1"
    local = run("classify", "--format", "json", "-m", tmp_path / "imap", folders / "spam")
    assert [{**json.loads(line), "source": 0} for line in local.stdout.splitlines()] == [
        {**line, "source": 0} for line in lines
    ]


def test_a_server_that_does_not_answer_is_given_up_and_asked_again(server: Server, monkeypatch):
    monkeypatch.setattr(time, "sleep", lambda pause: server.go_on())
    monkeypatch.setattr(imap_reading, "ANSWER_SECONDS", 0.3)
    box = ImapReader(parse_url(server.url), [5.0])
    try:
        inbox = box.folders()[0]
        server.pause()
        assert box.state(inbox).n_messages == 60
    finally:
        server.go_on()
        box.close()


class DottedServer(Server):
    """Folders are called as Courier calls them, and many hosts of mail to this day: INBOX.Work.Plans."""

    def configure(self, more: str) -> None:
        super().configure(more)
        path = self.place / "dovecot.conf"
        path.write_text(path.read_text().replace("separator = /", "separator = .\n  prefix = INBOX."))


def test_a_folder_may_be_written_with_slashes_whatever_the_server_puts_there(made):
    server = made(kind=DottedServer)
    with server.person() as person:
        person.client.create("INBOX.Work.Entw&APw-rfe")
    box = ImapReader(parse_url(server.url))
    try:
        for name in ("Work/Entwürfe", "work.entwürfe", "INBOX/Work/Entwürfe", "INBOX.Work.Entwürfe"):
            assert box.locate(name).path == "INBOX.Work.Entwürfe"
        assert box.locate("Work/New").path == "INBOX.Work.New"  # to be made
    finally:
        box.close()


def test_recursive_reads_all_but_junk_and_trash(server: Server, tmp_path: Path):
    def learned(*arguments: str) -> str:
        made = run("train", "--one-class", "--force", "-m", tmp_path / "m", *arguments)
        assert made.exit_code == 0, made.output
        return made.output

    ham = f"ham={server.url}"
    inbox = learned(ham)
    assert "60 messages" in inbox
    assert (
        f"{ham}: not read: 1 other folder of this mailbox with 1 message: Work/Plans; --recursive with {ham}" in inbox
    )
    whole = learned("--recursive", ham)
    assert "61 messages" in whole and "not read" not in whole
    both = learned("--recursive", f"{ham}/Work/Plans", f"{ham}/INBOX")
    assert "61 messages" in both and "not read" not in both


def test_of_a_large_message_the_first_part_is_read(server: Server, tmp_path: Path, folders: Path):
    assert run("train", "-m", tmp_path / "m", folders).exit_code == 0
    with server.person() as person:
        person.client.create("Large")
        person.deliver(LARGE, "Large")
    told = run("classify", "-m", tmp_path / "m", f"{server.url}/Large")
    assert told.exit_code == 0 and told.stdout.startswith("spam\t")
    with server.person() as person:
        person.client.delete("Large")


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("imaps://ann:secret@localhost", "a URL must not contain a password"),
        ("imaps://ann@localhost:1", "Connection refused"),
        ("imaps://ann@127.0.0.2:{port}", "to trust another authority, set SSL_CERT_FILE"),
        ("imaps://ann@localhost:{plain}", "the port of imaps:// is mostly 993"),
        ("imaps://ann@localhost:{port}/Nowhere", "no folder 'Nowhere'; there are INBOX, "),
        ("imaps://bob@localhost:{port}", "the server refused the login"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(server: Server, url: str, said: str, folders: Path):
    ham = f"ham={url.format(port=server.port, plain=server.plain)}"
    done = run("train", "-m", folders.parent / "m", ham, f"spam={folders}/spam")
    assert done.exit_code == 1 and said in done.stderr and "Traceback" not in done.output
    assert done.stderr.count("\n") == 1 and "secret" not in done.output


def test_upgrade_enters_an_account_only_when_it_is_named(server: Server, tmp_path: Path, folders: Path):
    assert run("train", "-m", tmp_path / "m", f"ham={folders}/ham", f"spam={folders}/spam").exit_code == 0
    with Store.open(tmp_path / "m", writable=True) as store:
        store.put_meta({"trained_from": [f"ham={server.url}"], "tokens_version": 1})
    refused = run("upgrade", "-m", tmp_path / "m")
    assert refused.exit_code == 1 and "left out, because it is an account" in refused.stderr
