"""What only an account has: what servers can and cannot do, restarts and kills, passwords, its settings."""

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from commands import run
from cyrus_account import Cyrus
from imap_account import WITHOUT_MOVE, Server
from mail import message, open_teacher
from person import Person, begin, key, sides, sides_by
from programs import watching
from unpacked import PATIENCE, wait_until

from spamnb.ledger.ledger import Ledger
from spamnb.ledger.verdicts import INBOX, JUNK
from spamnb.mailbox.places import OpenMailboxes
from spamnb.reader.message import digest

pytestmark = pytest.mark.slow

Made = Callable[..., Server]
WITHOUT_BOTH = "protocol imap {\n  imap_capability = IMAP4rev1 SASL-IR NAMESPACE LITERAL+\n}\n"
QUOTA = """
mail_plugins = quota
protocol imap {
  mail_plugins = quota imap_quota
}
plugin {
  quota = count:User quota
  quota_vsizes = yes
  quota_rule = *:storage=%dk
}
"""


@pytest.mark.parametrize(("kind", "more"), [(Server, ""), (Server, WITHOUT_MOVE), (Cyrus, "")])
def test_no_message_is_lost_or_doubled_when_the_server_is_killed(made: Made, sure_model: Path, kind, more):
    """Until three sorts were interrupted: after each kill every message is in exactly one folder, the right one."""
    server = made(more, kind=kind)
    interrupted = number = 0
    expected: dict[str, str] = {}
    while interrupted < 3:
        assert number < 20  # not all of them end before they are killed
        seeds = range(1000 + 36 * number, 1036 + 36 * number)
        expected |= sides_by(sure_model, seeds)
        with server.person(sure_model) as person:
            person.arrive(seeds)
            command = [sys.executable, "-m", "spamnb", *person.command("sort", "--quiet")]
            process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
            with person.open_record() as record:
                while process.poll() is None and not record.unfinished_moves():
                    pass
        time.sleep(0.003 * (number % 5))
        interrupted += process.poll() is None
        number += 1
        server.kill()
        server.start()
        told = process.communicate(timeout=PATIENCE)[1]
        assert process.returncode == 0, told
        with server.person(sure_model) as person:
            assert person.where() == expected, told
            assert person.sort().stdout == ""


def test_what_others_marked_as_deleted_stays_and_so_does_all_where_single_messages_cannot_be_moved(
    made: Made, model: Path
):
    server = made(WITHOUT_MOVE)
    with server.person(model) as person:
        person.arrive(range(500, 503))
        person.deliver(message("ham", 512), flags="T")
        assert person.sort().exit_code == 0 and person.mail()[key("ham", 512)] == [("INBOX", "T")]
    server.configure(WITHOUT_BOTH)
    server.stop()
    server.start()
    with server.person(model) as person:
        person.arrive(range(520, 522))
        before = person.mail()
        done = person.sort()
        assert done.exit_code == 1 and "neither MOVE nor UIDPLUS" in done.stderr and person.mail() == before


@pytest.mark.parametrize("junk", ["Unerwünscht; alt", "Filter/Spam"])
def test_names_of_folders(made: Made, model: Path, junk: str):
    """One that the server says is for spam, and one that is to be made."""
    said = ";" in junk
    server = made(junk=f'"{junk}"' if said else "Junk")
    server.junk = junk
    options = [] if said else ["--junk", junk]
    spam, path = message("spam", 800), Path(os.environ["SPAMNB_LEDGER"])
    with server.person(model) as person:
        person.deliver(spam)
        person.watch(*options)
        assert person.sort(*options).exit_code == 0
        assert person.where() == {key("spam", 800): junk} and person.watch(*options).output == ""
        with Ledger.open(path) as ledger:
            entry = ledger.find(digest=digest(spam))
            assert entry is not None and ";UID=" not in entry.place and entry.role == JUNK
            with OpenMailboxes(ledger) as mailboxes:
                mailboxes.move_to(entry, INBOX)
                assert person.where() == {key("spam", 800): "INBOX"}
                mailboxes.move_to(ledger.verdict(entry.position), JUNK)
                assert person.where() == {key("spam", 800): junk}
            server.kill()
            with open_teacher(model, ledger) as gone:
                gone.teach([entry.position], False, move=True)
            assert gone.n_changed == 1 and len(gone.problems) == 1 and "\n" not in gone.problems[0]
        for name in ("sort", "watch"):
            folder = run(name, "-m", model, f"{server.url}/Work")
            assert folder.exit_code == 1 and f"name the account, {server.url}\n" in folder.stderr


def test_folders_that_are_numbered_anew_are_not_sorted_twice_and_teach_nothing(made: Made, model: Path):
    server = made()
    with server.person(model) as person:
        assert "is the inbox; name another folder" in person.sort("--junk", "inbox").stderr
        person.arrive(range(500, 503))
        person.watch()
        assert person.sort().exit_code == 0
        person.move(key("spam", 501), "Junk", "INBOX")
        assert person.watch().stdout.count("learned\tham") == 1
        for seed in (540, 541):
            person.deliver(message("spam", seed))
        with person.open_record() as record:
            begin(record)
        person.half_move(key("spam", 540))
    server.renumber()
    with server.person(model) as person:
        with person.open_record() as record:
            record.finish_moves()
        whole = {key("spam", 540): "Junk", key("spam", 541): "INBOX"}
        assert person.where() == {**sides(range(500, 503)), key("spam", 501): "INBOX", **whole}
        assert person.watch().stdout == ""
        done = person.sort()
        assert done.stdout.count("\n") == 1 == done.stdout.count("\tto Junk\t")
        person.move(key("ham", 500), "INBOX", "Junk")
        assert person.watch().stdout.count("learned\tspam") == 1


def test_a_full_quota_leaves_mail_where_it_is(made: Made, model: Path):
    server = made(WITHOUT_MOVE + QUOTA % 60)
    with server.person(model) as person:
        person.arrive(range(500, 510))
        person.deliver(b"Message-ID: <fill@example.org>\n\n" + b"x" * 76 * 500 + b"\n", "Work")
        more = b"Subject: more\r\n\r\n" + b"x" * 3000
        while person.client.append("Work", "", "", more)[0] == "OK":
            pass
        before = person.mail()
        done = person.sort()
        assert done.exit_code == 1 and done.stderr.count("uota") == 1, done.output
        assert person.mail() == before
    server.configure(WITHOUT_MOVE + QUOTA % 600)
    server.stop()
    server.start()
    with server.person(model) as person:
        assert person.sort().exit_code == 0
        assert person.where() == {**sides(range(500, 510)), "<fill@example.org>": "Work"}


@pytest.mark.parametrize("person", ["Dovecot"], indirect=True)
def test_the_same_spam_sent_again_is_no_message_that_was_moved_out_of_junk(person: Person):
    """A sender writes all fields but those that the person's own server puts on top."""
    received = b"Received: by mx.example.org id %d; Mon, 2 Nov 2026 10:00:00 +0000\n" + message("spam", 820)
    person.deliver(received % 1)
    person.watch()
    assert person.sort().stdout.count("to Junk") == 1 and person.watch().output == ""
    person.remove(key("spam", 820), "Junk")
    person.deliver(received % 2)
    assert person.watch().output == ""


def test_a_server_that_restarts_is_told_once_and_found_again(made: Made, model: Path, tmp_path):
    server = made()
    with watching(tmp_path, "--sort", "-m", str(model), server.url) as watch:
        wait_until(lambda: "recorded" in watch.said, watch.process)
        server.kill()
        wait_until(lambda: "retrying after growing pauses" in watch.said, watch.process)
        wait_until(lambda: "refused" in watch.said, watch.process)
        time.sleep(2.5)  # it is asked again meanwhile
        server.start()
        wait_until(lambda: "works again" in watch.said, watch.process)
        with server.person() as person:
            person.arrive(range(500, 502))
            wait_until(lambda: watch.said.count("moved\tspam\tJunk") == 2, watch.process)
            assert person.where() == sides(range(500, 502))
        assert watch.said.count("refused") == 1  # though it was asked several times


def write_accounts(home: Path, text: str) -> Path:
    file = home / "spamnb" / "config.toml"
    file.parent.mkdir(exist_ok=True)
    file.write_text(text)
    file.chmod(0o600)
    return file


@pytest.mark.parametrize("mechanism", ["xoauth2", "oauthbearer"])
def test_a_token_is_asked_for_anew_and_one_that_is_no_longer_good_is_said(
    made: Made, model: Path, tmp_path, monkeypatch, mechanism: str
):
    server = made(f"auth_mechanisms = plain {mechanism}\n")
    server.set_password("good-token")  # which it takes for a token, too
    monkeypatch.delenv("SPAMNB_IMAP_PASSWORD")
    file = tmp_path / "token"
    write_accounts(tmp_path, f"[accounts.account]\nurl = '{server.url}'\ntoken-command = 'cat {file}'\n")
    with server.person(model) as person:
        for number in range(500, 502):
            person.arrive(range(number, number + 1))
            file.write_text("bad-token\n")
            refused = person.sort()
            assert refused.exit_code == 1 and "the server refused the login" in refused.stderr
            assert refused.stderr.count("\n") == 1 and "bad-token" not in refused.stderr
            file.write_text("good-token\n")
            assert person.sort().exit_code == 0 and person.where() == sides(range(500, number + 1))


def test_accounts_of_the_file_are_watched_together(made: Made, model: Path, tmp_path):
    server = made()
    bob = server.url.replace("ann", "bob")
    of_ann = f'[accounts.ann]\nurl = "{server.url}"\nmodel = "{model}"\nsort = true\n'
    accounts = write_accounts(tmp_path, of_ann + f'[accounts.bob]\nurl = "{bob}"\nmodel = "{model}"\n')
    with server.person() as person, watching(tmp_path) as watch:
        wait_until(lambda: "recorded" in watch.said and "refused the login" in watch.said, watch.process)
        person.arrive(range(500, 502))
        wait_until(lambda: watch.said.count("moved\tspam\tJunk") == 2, watch.process)
        assert "bob" in next(line for line in watch.said.splitlines() if "refused" in line)
    done = run("sort")
    assert done.exit_code == 1 and f"{server.url}: no new messages" in done.stderr
    assert done.stderr.count(f"{bob}: the server refused the login") == 1
    accounts.unlink()
    nothing = run("watch")
    assert nothing.exit_code == 2 and "config.toml" in nothing.stderr
