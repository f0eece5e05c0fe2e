"""Those to whom mail was sent become known people, in a Maildir and in an account on a real server."""

from collections.abc import Callable
from pathlib import Path

import pytest
from commands import output_of
from imap_account import Server
from mail import message
from person import MaildirPerson, Person

from spamnb.mailbox.maildir import make_folder
from spamnb.mailbox.sent import find_mailboxes
from spamnb.people import recipients_path


def letter(recipient: str) -> bytes:
    return b"From: me@a.example\nTo: %s\nSubject: tea\nMessage-ID: <%s>\n\nfour\n" % ((recipient.encode(),) * 2)


@pytest.mark.parametrize("kind", ["Maildir", "Dovecot"])
def test_watch_learns_whom_its_user_writes_to(
    kind: str, tmp_path: Path, model: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    if kind == "Maildir":
        monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
        person = MaildirPerson(tmp_path, model)
        person.folders["Sent"] = make_folder(Path(person.name) / ".Sent")
        check(person, person.name, model)
    else:
        made: Callable[..., Server] = request.getfixturevalue("made")
        server = made()
        with server.person(model) as at_server:
            at_server.client.create("Sent")
            check(at_server, server.url, model)


def check(person: Person, name: str, model: Path) -> None:
    watch = "watch", "--once", "-m", str(model), name
    person.deliver(letter("ann@b.example"), "Sent")
    person.deliver(message("ham", 1))
    assert ": 1 recipient of your mail; mail from" in output_of(*watch)
    assert recipients_path().read_text() == "ann@b.example\n"
    assert "recipient" not in output_of(*watch)
    person.deliver(letter("bob@b.example"), "Sent")
    person.deliver(letter("ann@b.example"), "Sent")
    assert (
        "1 recipient of your mail" in output_of(*watch)
        and recipients_path().read_text() == "ann@b.example\nbob@b.example\n"
    )


def test_train_reads_the_sent_folder_of_the_mailbox_of_its_sources(
    tmp_path: Path, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    person = MaildirPerson(tmp_path, model)
    person.folders["Sent"] = make_folder(Path(person.name) / ".Sent")
    person.deliver(letter("ann@b.example"), "Sent")
    for number in range(12):
        person.deliver(message("ham", number))
        person.deliver(message("spam", number), "Junk")
    sources = f"ham={person.name}/new", f"spam={person.name}/.Junk"
    assert find_mailboxes(sources) == [person.name]
    assert "1 recipient of your mail" in output_of("train", "-m", str(tmp_path / "new.spamnb"), *sources)
    assert recipients_path().read_text() == "ann@b.example\n"
