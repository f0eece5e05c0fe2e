"""``watch`` in an account on a real Dovecot: what another client moves is learned, what comes is sorted."""

import time
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result
from commands import run
from imap_account import Server, deliver, key, sides, sort
from imap_programs import watching
from mail import learned
from served import mail
from unpacked import wait_until

from spamnb.journal.journal import Journal
from spamnb.reader.message import digest

pytestmark = pytest.mark.slow


def once(server: Server, model: Path, *options: str) -> Result:
    return run("watch", "--once", *options, "-m", model, server.url)


def test_moves_by_a_person_are_lessons_and_others_are_not(made, model):
    server = made()
    spam, ham, deleted, filed, sorted_ = (
        mail(label, seed) for label, seed in (("spam", 700), ("ham", 700), ("ham", 701), ("ham", 702), ("spam", 703))
    )
    with server.person() as person:
        for raw in (spam, deleted, filed, sorted_):
            person.deliver(raw)
        person.deliver(ham, "Junk")
        first = once(server, model)
        said = "5 messages noted; from now on it learns from moves into Junk and out of it"
        assert (first.exit_code, first.output) == (0, f"spamnb: {server.url}: {said}\n")
        person.move(key("spam", 700), "INBOX", "Junk")
        person.move(key("ham", 700), "Junk", "INBOX")
        person.move(key("ham", 701), "INBOX", "Trash")
        person.move(key("ham", 702), "INBOX", "Work")
        dry = once(server, model, "--dry-run")
        assert {line.split("\t")[0] for line in dry.stdout.splitlines()} == {"would learn"}
        assert learned(model, spam) is None
        told = once(server, model)
        lines = sorted(line.split("\t")[:2] for line in told.stdout.splitlines())
        assert lines == [["learned", "ham"], ["learned", "spam"]]
        assert learned(model, spam) == "spam" and learned(model, ham) == "ham"
        assert learned(model, deleted) is None and learned(model, filed) is None
        assert once(server, model).output == ""
        person.move(key("spam", 700), "Junk", "Work")
        assert once(server, model).stdout.startswith("learned\tham\t") and learned(model, spam) == "ham"
        assert "to Junk" in sort(server, model, "--all").stdout  # the filter's own move
        assert person.where()[key("spam", 703)] == "Junk"
        assert once(server, model).output == "" and learned(model, sorted_) is None
        person.move(key("spam", 703), "Junk", "INBOX")
        assert once(server, model).stdout.startswith("learned\tham\t")
        person.move(key("ham", 700), "INBOX", "Junk")
        person.move(key("ham", 700), "Junk", "Trash")  # junk that is thrown away is no good mail
        assert once(server, model).output == ""
        assert {flags for places in person.mail().values() for _, flags in places} == {""}


def test_a_message_on_both_sides_is_no_lesson_yet(made, model):
    server = made()
    with server.person() as person:
        person.deliver(mail("spam", 800))
        person.deliver(mail("ham", 801))
        assert once(server, model).exit_code == 0
        person.client.select("INBOX")
        person.client.copy("1", "Junk")
        assert once(server, model).output == ""
        person.client.store("1", "+FLAGS", r"\Deleted")
        person.client.expunge()
        assert once(server, model).stdout.startswith("learned\tspam\t")


def test_the_same_spam_sent_again_is_no_message_that_was_moved_out_of_junk(made, model):
    """A sender writes all fields but those that the person's own server puts on top."""
    server = made()
    spam = mail("spam", 820)
    with server.person() as person:
        person.deliver(b"Received: by mx.example.org id 1; Mon, 2 Nov 2026 10:00:00 +0000\n" + spam)
        assert once(server, model).exit_code == 0 and sort(server, model).stdout.count("to Junk") == 1
        assert once(server, model).output == ""
        person.client.select("Junk")
        person.client.store("1", "+FLAGS", r"\Deleted")
        person.client.expunge()
        person.deliver(b"Received: by mx.example.org id 2; Mon, 2 Nov 2026 11:00:00 +0000\n" + spam)
        assert once(server, model).output == ""


def test_a_folder_that_is_numbered_anew_teaches_nothing(made, model):
    server = made()
    with server.person() as person:
        deliver(person, range(500, 505))
        person.deliver(mail("spam", 510), "Junk")
        assert once(server, model).exit_code == 0
    server.renumber()
    assert once(server, model).output == ""
    with server.person() as person:
        person.move(key("spam", 500), "INBOX", "Junk")
    assert once(server, model).stdout.count("learned\tspam") == 1


def test_what_is_put_into_the_folder_for_teaching_is_learned_and_goes_on(made, model, box):
    server = made()
    with server.person() as person:
        person.deliver(mail("ham", 900))
        person.deliver(mail("spam", 900))
        assert once(server, model, "--learn-folder", "Learn").exit_code == 0
        person.move(key("spam", 900), "INBOX", "Learn/spam")
        person.move(key("ham", 900), "INBOX", "Learn/ham")
        told = once(server, model, "--learn-folder", "Learn")
        assert told.exit_code == 0 and told.stdout.count("learned\t") == 2, told.output
        assert person.where() == {key("spam", 900): "Junk", key("ham", 900): "INBOX"}
        assert learned(model, mail("spam", 900)) == "spam" and learned(model, mail("ham", 900)) == "ham"
        assert once(server, model, "--learn-folder", "Learn").output == ""


def test_new_mail_is_sorted_as_it_comes_and_moves_are_learned(made, model, tmp_path):
    server = made()
    more = ["--journal", str(tmp_path / "journal"), "-m", str(model)]
    with server.person() as person, watching(tmp_path, "--sort", *more, server.url) as watch:
        wait_until(lambda: "noted" in watch.said, watch.process)
        time.sleep(1)
        seconds = []
        for seed in range(500, 505):
            begun = time.monotonic()
            deliver(person, range(seed, seed + 1))
            wait_until(lambda: watch.said.count("moved\tspam\tJunk") == len(seconds) + 1, watch.process)
            seconds.append(time.monotonic() - begun)
        assert min(seconds) < 20, seconds  # one that is not told of new mail looks after 60
        assert person.where() == sides(range(500, 505))
        person.move(key("spam", 500), "Junk", "INBOX")
        wait_until(lambda: "learned\tham" in watch.said, watch.process)
        assert person.where()[key("spam", 500)] == "INBOX"  # where the person put it
        assert {flags for places in person.mail().values() for _, flags in places} == {""}
    with Journal.at(tmp_path / "journal") as journal:
        assert journal.count() == 10
        (correction,) = journal.corrections(0)
        assert correction.digest == digest(mail("spam", 500)) and not correction.spam


def test_a_server_that_restarts_is_told_once_and_found_again(made, model, tmp_path):
    server = made()
    with watching(tmp_path, "--sort", "-m", str(model), server.url) as watch:
        wait_until(lambda: "noted" in watch.said, watch.process)
        server.kill()
        wait_until(lambda: "asked again after growing pauses" in watch.said, watch.process)
        wait_until(lambda: "refused" in watch.said, watch.process)
        time.sleep(2.5)  # it is asked again meanwhile
        server.start()
        wait_until(lambda: "connected again" in watch.said, watch.process)
        with server.person() as person:
            deliver(person, range(500, 502))
            wait_until(lambda: watch.said.count("moved\tspam\tJunk") == 2, watch.process)
            assert person.where() == sides(range(500, 502))
        assert watch.said.count("refused") == 1  # though it was asked several times


def test_accounts_of_the_file_are_watched_together(made: Callable[..., Server], model, tmp_path):
    server = made()
    accounts = tmp_path / "spamnb" / "accounts.toml"
    accounts.parent.mkdir(exist_ok=True)
    bob = server.url.replace("ann", "bob")
    accounts.write_text(
        f'[ann]\nurl = "{server.url}"\nmodel = "{model}"\nsort = true\n[bob]\nurl = "{bob}"\nmodel = "{model}"\n'
    )
    accounts.chmod(0o600)
    with server.person() as person, watching(tmp_path) as watch:
        wait_until(lambda: "noted" in watch.said and "refused the login" in watch.said, watch.process)
        deliver(person, range(500, 502))
        wait_until(lambda: watch.said.count("moved\tspam\tJunk") == 2, watch.process)
        assert "bob" in next(line for line in watch.said.splitlines() if "refused" in line)
    done = run("sort")
    assert done.exit_code == 1 and f"{server.url}: no new messages" in done.stderr and "refused" in done.stderr
    accounts.unlink()
    nothing = run("watch")
    assert nothing.exit_code == 2 and "accounts.toml" in nothing.stderr


@pytest.mark.parametrize("command", ["sort", "watch"])
def test_a_folder_in_place_of_an_account_is_refused(made, model, command):
    server = made()
    done = run(command, "-m", model, f"{server.url}/Work")
    assert done.exit_code == 1 and f"name the account, {server.url}\n" in done.stderr
