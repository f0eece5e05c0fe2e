"""What the journal says of an account's mail, and moves by the page in an account on a real Dovecot."""

from pathlib import Path

import pytest
from click.testing import CliRunner
from commands import run
from imap_account import Person, key, sort
from mail import learned
from served import mail

from spamnb.cli import cli
from spamnb.errors import SpamnbError
from spamnb.journal.journal import Journal
from spamnb.journal.whereabouts import INBOX, JUNK, folder_noted
from spamnb.reader.message import digest
from spamnb.review.lessons import Teacher

pytestmark = pytest.mark.slow


def person_mail(person: Person) -> dict[str, list[str]]:
    """{Message-ID: folders}."""
    return {key: [folder for folder, _ in places] for key, places in person.mail().items()}


def row_of(journal: Journal, raw: bytes) -> int:
    row = journal.of_message(digest(raw))
    assert row is not None
    return row.position


@pytest.mark.parametrize("junk", ["Junk", "Unerwünscht; alt"])
def test_mail_of_an_account_is_found_taught_moved_and_moved_back(made, model, tmp_path, junk):
    server = made(junk=f'"{junk}"')
    spam, ham, path = mail("spam", 800), mail("ham", 800), tmp_path / "journal"
    nameless = mail("spam", 801).replace(b"Message-ID:", b"X-Was:")
    watch = ["watch", "--once", "--journal", str(path), "-m", str(model), server.url]
    teacher = Teacher(model, None)
    with server.person() as person:
        assert CliRunner().invoke(cli, watch).exit_code == 0
        for raw in (spam, ham, nameless):
            person.deliver(raw)
        assert sort(server, model, "--journal", str(path)).exit_code == 0
        with Journal.at(path) as journal:
            places = [journal.row(row_of(journal, raw)).entry.place for raw in (spam, ham)]
            assert ";UID=" not in places[0] and places[1].startswith(f"{server.url}/INBOX;UIDVALIDITY=")
            known = [folder_noted(journal, place) for place in places]
            assert [(one.role, one.mailbox) for one in known] == [(JUNK, server.url), (INBOX, server.url)]

            taught = teacher.teach(journal, [row_of(journal, raw) for raw in (spam, nameless)], False, None, move=True)
            assert taught.problems == () and learned(model, spam) == "ham" == learned(model, nameless)
            assert key("spam", 800) in [name for name, found in person_mail(person).items() if found == ["INBOX"]]
            looked = run(*watch, "--sort")
            assert looked.exit_code == 0 and looked.stdout == "", "the page's move is neither a lesson nor judged again"
            assert learned(model, spam) == "ham"
            assert teacher.undo(journal, taught.batch, None).problems == ()
            assert learned(model, spam) is None and len(person_mail(person)[key("spam", 800)]) == 1
            assert person_mail(person)[key("spam", 800)] != ["INBOX"]

            teacher.move(journal, row_of(journal, ham), JUNK, None)
            assert person_mail(person)[key("ham", 800)] == person_mail(person)[key("spam", 800)]
            teacher.move(journal, row_of(journal, ham), INBOX, None)
            assert person_mail(person)[key("ham", 800)] == ["INBOX"]
            assert run(*watch, "--sort").stdout == "" and learned(model, ham) is None

            person.move(key("ham", 800), "INBOX", "Work")
            with pytest.raises(SpamnbError, match="no longer in INBOX of imaps://"):
                teacher.move(journal, row_of(journal, ham), JUNK, None)
            assert person_mail(person)[key("ham", 800)] == ["Work"]
            server.kill()
            gone = teacher.teach(journal, [row_of(journal, spam)], False, None, move=True)
            assert gone.changed == 1 and len(gone.problems) == 1 and "\n" not in gone.problems[0]


def test_a_digest_comes_into_an_account_and_is_neither_judged_nor_learned(made, model, tmp_path):
    server, path = made(), tmp_path / "journal"
    watch = ["watch", "--once", "--sort", "--journal", str(path), "-m", str(model), server.url]
    digest_to = ["review", "--digest", "--to", server.url, "--journal", str(path), "-m", str(model)]
    with server.person() as person:
        person.deliver(mail("spam", 820))
        assert CliRunner().invoke(cli, watch).exit_code == 0
        sent = CliRunner().invoke(cli, digest_to)
        assert (sent.exit_code, sent.output) == (0, "")
        assert CliRunner().invoke(cli, digest_to).exit_code == 0, "nothing new: no second one"
        assert CliRunner().invoke(cli, watch).stdout == ""
        found = person.mail()
        ((digest_key, where),) = [(key_, where) for key_, where in found.items() if key_ != key("spam", 820)]
        assert where == [("INBOX", "")]
        assert "ham\t-99.9\tstays" in sort(server, model, "--all").stdout
        person.move(digest_key, "INBOX", "Junk")
        assert CliRunner().invoke(cli, watch).stdout.startswith("known\tspam")
    with Journal.at(path) as journal:
        assert journal.corrections(0) == []


def test_what_a_person_teaches_by_moving_in_an_account_is_noted(made, model, tmp_path):
    server, path = made(), tmp_path / "journal"
    watch = ["watch", "--once", "--journal", str(path), "-m", str(model), server.url]
    with server.person() as person:
        person.deliver(mail("spam", 810))
        assert sort(server, model, "--journal", str(path)).exit_code == 0
        assert CliRunner().invoke(cli, watch).exit_code == 0
        person.move(key("spam", 810), "Junk", "INBOX")
        assert CliRunner().invoke(cli, watch).stdout.startswith("learned\tham")
    with Journal.at(Path(path)) as journal:
        (made_,) = journal.corrections(0)
        assert (made_.label, made_.verdict, made_.source) == ("ham", "spam", "move")
