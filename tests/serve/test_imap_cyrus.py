"""``sort`` and ``watch`` in an account on a real Cyrus: what they do on Dovecot, on another server."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from cyrus_account import Cyrus
from imap_account import Server, deliver, key, sides, sort
from imap_programs import keeps_all_through_kills, watching
from mail import learned
from served import mail
from unpacked import wait_until

pytestmark = pytest.mark.slow


@pytest.fixture
def cyrus(made: Callable[..., Server]) -> Iterator[Server]:
    return made(junk="Abfall", kind=Cyrus)


def test_spam_goes_to_the_folder_that_the_server_calls_junk(cyrus: Server, model: Path):
    with cyrus.person() as person:
        deliver(person, range(500, 505))
        before = person.mail()
        assert sort(cyrus, model, "--dry-run").stderr == "spamnb: 10 messages, dry run: 5 to Abfall, 5 stay\n"
        assert person.mail() == before
        done = sort(cyrus, model)
        assert (done.exit_code, done.stderr) == (0, "spamnb: 10 messages: 5 to Abfall, 5 stay\n"), done.output
        assert person.where() == sides(range(500, 505), "Abfall")
        assert {flags for (_, flags), in person.mail().values()} == {""}
        assert sort(cyrus, model).stdout == ""


def test_new_mail_is_sorted_and_moves_are_learned(cyrus: Server, model: Path, tmp_path: Path):
    with cyrus.person() as person, watching(tmp_path, "--sort", "-m", str(model), cyrus.url) as watch:
        wait_until(lambda: "noted" in watch.said, watch.process)
        deliver(person, range(500, 502))
        wait_until(lambda: watch.said.count("moved\tspam\tAbfall") == 2, watch.process)
        assert person.where() == sides(range(500, 502), "Abfall")
        person.move(key("spam", 500), "Abfall", "INBOX")
        wait_until(lambda: "learned\tham" in watch.said, watch.process)
        assert learned(model, mail("spam", 500)) == "ham"
        assert person.where()[key("spam", 500)] == "INBOX"


def test_no_message_is_lost_or_doubled_when_the_server_is_killed(cyrus: Server, model: Path):
    def arrive(seeds: range) -> None:
        with cyrus.person() as person:
            deliver(person, seeds)

    keeps_all_through_kills(cyrus, model, arrive, "Abfall", least=2)
