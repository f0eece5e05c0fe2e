"""``sort`` in an account on a real Dovecot: what it moves and remembers, and what a killed server leaves."""

import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from click.testing import Result
from imap_account import PASSWORD, Person, Server, deliver, drop, key, sides, sort
from imap_programs import keeps_all_through_kills
from mail import never
from served import mail
from unpacked import PATIENCE

from spamnb.mailbox.box import Move
from spamnb.mailbox.imap import ImapBox, record_path
from spamnb.mailbox.memory import Memory
from spamnb.reader.message import digest
from spamnb.sources.accounts import parsed
from spamnb.sources.entries import Report
from spamnb.sources.imap_connection import Denied
from spamnb.sources.mailbox import Folder

pytestmark = pytest.mark.slow

WITHOUT_MOVE = "protocol imap {\n  imap_capability = IMAP4rev1 SASL-IR UIDPLUS IDLE NAMESPACE SPECIAL-USE LITERAL+\n}\n"
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


@pytest.mark.parametrize("more", ["", WITHOUT_MOVE], ids=["MOVE", "COPY and EXPUNGE"])
def test_spam_goes_to_junk_and_nothing_else_changes(made, model, more):
    server = made(more, junk="Unerwünscht")
    folder = "Unerw&APw-nscht"
    with server.person() as person:
        deliver(person, range(500, 505))
        person.deliver(mail("spam", 510), flags=r"(\Flagged)")
        person.deliver(mail("spam", 511), flags=r"(\Seen)")  # a reader has shown it
        person.deliver(mail("ham", 512), flags=r"(\Deleted)")  # not to be expunged by us
        before = person.mail()
        dry = sort(server, model, "--dry-run")
        assert dry.exit_code == 0 and dry.stderr == "spamnb: 11 messages, dry run: 6 to Unerwünscht, 5 stay\n"
        assert person.mail() == before and not record_path(parsed(server.url)).exists()
        done = sort(server, model)
        assert (done.exit_code, done.stderr) == (0, "spamnb: 11 messages: 6 to Unerwünscht, 5 stay\n"), done.output
        line = next(line for line in done.stdout.splitlines() if "\tto Unerw" in line).split("\t")
        assert line[0] == "spam" and float(line[1]) >= 5 and line[-1] == "INBOX#2"
        expected = {**sides(range(500, 505), folder), key("spam", 510): folder, key("spam", 511): "INBOX"}
        assert person.where() == {**expected, key("ham", 512): "INBOX"}
        after = person.mail()
        assert after[key("spam", 510)] == [(folder, r"\Flagged")] and after[key("ham", 512)] == [("INBOX", r"\Deleted")]
        assert {flags for (_, flags), in (after[key("ham", seed)] for seed in range(500, 505))} == {""}

        assert sort(server, model).output == f"spamnb: {server.url}: no new messages\n"
        person.move(key("spam", 500), folder, "INBOX")  # what a person moves back stays
        assert sort(server, model).stdout == ""
        assert person.where()[key("spam", 500)] == "INBOX"
        assert sort(server, model, "--all").stderr == "spamnb: 7 messages: 2 to Unerwünscht, 5 stay\n"
    path = record_path(parsed(server.url))
    assert path.stat().st_mode & 0o777 == 0o600 and path.parent.stat().st_mode & 0o777 == 0o700


def test_a_server_that_cannot_take_out_one_message_keeps_all(made, model):
    server = made(WITHOUT_BOTH)
    with server.person() as person:
        deliver(person, range(500, 503))
        done = sort(server, model)
        assert done.exit_code == 1 and "neither MOVE nor UIDPLUS" in done.stderr
        assert set(person.where().values()) == {"INBOX"}


def test_from_now_on_and_a_folder_that_is_to_be_made(made, model):
    server = made()
    with server.person() as person:
        deliver(person, range(500, 503))
        assert sort(server, model, "--from-now-on").stderr == "spamnb: 6 new messages count as seen\n"
        assert sort(server, model).stdout == ""
        deliver(person, range(510, 512))
        done = sort(server, model, "--junk", "Filter/Spam")
        assert done.exit_code == 0 and person.where()[key("spam", 510)] == "Filter/Spam"
        assert person.where()[key("spam", 500)] == "INBOX"
        refused = sort(server, model, "--junk", "inbox")
        assert refused.exit_code == 1 and "names no folder beside the inbox" in refused.stderr
        tag = sort(server, model, "--tag")
        assert tag.exit_code == 2 and "--tag is for Maildirs" in tag.stderr


def test_a_folder_that_is_numbered_anew_is_not_sorted_twice(made, model):
    server = made()
    with server.person() as person:
        deliver(person, range(500, 505))
        assert sort(server, model).exit_code == 0
        person.move(key("spam", 501), "Junk", "INBOX")
        before = int(person.client.status("INBOX", "(UIDVALIDITY)")[1][0].rstrip(b")").rpartition(b" ")[2])
    server.renumber()
    with server.person() as person:
        after = int(person.client.status("INBOX", "(UIDVALIDITY)")[1][0].rstrip(b")").rpartition(b" ")[2])
        assert after != before
        deliver(person, range(510, 512))
        done = sort(server, model)
        assert done.stdout.count("\n") == 4 and done.stdout.count("\tto Junk\t") == 2
        assert person.where() == {**sides(range(500, 505)), **sides(range(510, 512)), key("spam", 501): "INBOX"}


def test_a_full_quota_leaves_mail_where_it_is(made, model):
    server = made(WITHOUT_MOVE + QUOTA % 60)
    with server.person() as person:
        deliver(person, range(500, 510))
        person.deliver(b"Message-ID: <fill@example.org>\n\n" + b"x" * 76 * 500 + b"\n", "Work")
        while person.client.append("Work", "", "", mail("ham", 900).replace(b"\n", b"\r\n") + b"x" * 3000)[0] == "OK":
            pass
        before = person.mail()
        done = sort(server, model)
        assert done.exit_code == 1 and done.stderr.count("uota") == 1, done.output
        assert {k: v for k, v in person.mail().items() if "900" not in k} == {
            k: v for k, v in before.items() if "900" not in k
        }
    server.configure(WITHOUT_MOVE + QUOTA % 600)
    server.stop()
    server.start()
    with server.person() as person:
        assert sort(server, model).exit_code == 0
        found = {k: v[0][0] for k, v in person.mail().items() if k in sides(range(500, 510))}
        assert found == sides(range(500, 510))


def test_a_password_that_changed_is_said_in_one_line(made, model):
    server = made()
    server.set_password("another")
    done = sort(server, model)
    assert done.exit_code == 1 and "the server refused the login" in done.stderr and done.stderr.count("\n") == 1
    server.set_password(PASSWORD)


@pytest.mark.parametrize("more", ["", WITHOUT_MOVE], ids=["MOVE", "COPY and EXPUNGE"])
def test_no_message_is_lost_or_doubled_when_the_server_is_killed(made, model, more):
    server = made(more)
    keeps_all_through_kills(server, model, lambda seeds: drop(server, seeds))


def test_two_sorts_at_once_move_each_message_once(made, model):
    server = made()
    drop(server, range(500, 540))
    command = [sys.executable, "-m", "spamnb", "sort", "--quiet", "-m", str(model), server.url]
    processes = [subprocess.Popen(command, stderr=subprocess.PIPE, text=True) for _ in range(2)]
    told = [process.communicate(timeout=PATIENCE)[1] for process in processes]
    assert [process.returncode for process in processes] == [0, 0], told
    with server.person() as person:
        assert person.where() == sides(range(500, 540))


def test_mail_that_a_person_moves_meanwhile_is_in_one_folder(made, model):
    server = made()
    drop(server, range(500, 560))
    done: list[Result] = []
    thread = threading.Thread(target=lambda: done.append(sort(server, model)))
    with server.person() as person:
        person.client.select("INBOX")
        person.client.uid("MOVE", "2", "Work")
        thread.start()
        for uid in range(6, 120, 4):
            person.client.uid("MOVE", str(uid), "Work")
        thread.join()
        assert done[0].exit_code == 0, done[0].output
        where = person.where()
        assert where.keys() == sides(range(500, 560)).keys() and "Work" in where.values()
        assert {where[key("ham", seed)] for seed in range(500, 560)} <= {"INBOX", "Work"}


INBOX, JUNK = Folder("INBOX", "INBOX", "inbox"), Folder("Junk", "Junk", "junk")


@contextmanager
def remembering(server: Server, report: Report = never) -> Iterator[Memory]:
    box = ImapBox(server.url)
    try:
        with Memory.of(box, report) as memory:
            yield memory
    finally:
        box.close()


def begin(memory: Memory, raws: list[bytes]) -> None:
    """Note moves of all new mail, as just before they are made."""
    messages, mark = memory.unjudged(), memory.box.mark(JUNK)
    with memory.writing():
        memory.executemany(
            "INSERT INTO begun VALUES (?, ?, ?, ?, ?, ?, ?)",
            [
                Move("INBOX", message.key, kin, digest(raw), "Junk", mark, True)
                for (message, kin), raw in zip(memory.box.kin(messages), raws, strict=True)
            ],
        )


def everywhere(person: Person) -> list[tuple[str, str]]:
    return sorted((name, folder) for name, places in person.mail().items() for folder, _ in places)


def test_what_was_copied_and_not_removed_is_removed_and_the_rest_stays(made: Callable[..., Server]):
    server = made()
    raws = [mail("spam", seed) for seed in range(500, 504)]
    with server.person() as person, remembering(server) as memory:
        for raw in raws:
            person.deliver(raw)
        begin(memory, raws)
        person.client.select("INBOX")
        person.client.uid("COPY", "1", "Junk")  # not removed
        person.client.uid("MOVE", "2", "Junk")  # done
        person.client.uid("COPY", "3", "Junk")
        person.client.uid("STORE", "3", "+FLAGS", r"(\Deleted)")  # not expunged
        memory.recover()
        assert person.where() == {key("spam", seed): "Junk" for seed in (500, 501, 502)} | {key("spam", 503): "INBOX"}
        assert memory.begun() == [] and [message.place.uid for message in memory.unjudged()] == [4]
        assert [memory.judged(digest(raw)) for raw in raws] == [True, True, True, False]
        memory.recover()
        assert len(everywhere(person)) == 4


@pytest.mark.parametrize("before", ["one of two alike is moved", "another of the same header", "it was there"])
def test_what_was_not_copied_from_the_inbox_stays_there(made: Callable[..., Server], before: str):
    server = made()
    raw = mail("spam", 510)
    raws = [raw, raw] if "two" in before else [raw]
    with server.person() as person, remembering(server) as memory:
        if before == "it was there":
            person.deliver(raw, "Junk")
        for each in raws:
            person.deliver(each)
        begin(memory, raws)
        if len(raws) == 2:
            person.client.select("INBOX")
            person.client.uid("MOVE", "1", "Junk")  # the one in Junk is this one, and no copy of the other
        if before == "another of the same header":
            person.deliver(raw[:-3] + b"zz" + raw[-1:], "Junk")
        memory.recover()
        assert everywhere(person) == [(key("spam", 510), "INBOX"), (key("spam", 510), "Junk")]
        assert memory.begun() == []


def test_folders_that_were_numbered_anew_meanwhile(made: Callable[..., Server]):
    server = made()
    raws = [mail("spam", seed) for seed in (540, 541)]
    with server.person() as person, remembering(server) as memory:
        for raw in raws:
            person.deliver(raw)
        begin(memory, raws)
        person.client.select("INBOX")
        person.client.uid("COPY", "1", "Junk")
    server.renumber()
    with server.person() as person, remembering(server) as memory:
        memory.recover()
        assert person.where() == {key("spam", 540): "Junk", key("spam", 541): "INBOX"}


def test_a_move_of_what_is_gone_is_done_with(made: Callable[..., Server]):
    server = made()
    raw = mail("spam", 550)
    with server.person() as person, remembering(server) as memory:
        person.deliver(raw)
        begin(memory, [raw])
        person.client.select("INBOX")
        person.client.uid("MOVE", "1", "Trash")
        memory.recover()
        assert person.where() == {key("spam", 550): "Trash"}
        assert memory.begun() == [] and not memory.judged(digest(raw))


def test_what_the_server_would_not_move_is_tried_again_later_and_later(made: Callable[..., Server], monkeypatch):
    server = made()
    raw = mail("spam", 560)
    told: list[str] = []
    now = [1000.0]
    with server.person() as person, remembering(server, lambda name, error: told.append(str(error))) as memory:
        person.deliver(raw)
        monkeypatch.setattr("spamnb.mailbox.memory.time.monotonic", lambda: now[0])

        def refuse(*_: object) -> None:
            raise Denied("over quota")

        with monkeypatch.context() as patched:
            patched.setattr(memory.box, "move", refuse)
            for pause in (60, 120, 240):
                (message,) = memory.unjudged()
                assert memory.move([(message, digest(raw))], JUNK) == {}
                now[0] += pause - 1
                assert memory.unjudged() == []
                now[0] += 2
        (message,) = memory.unjudged()
        assert memory.move([(message, digest(raw))], JUNK) == {message: None} and told == ["over quota"] * 3
        assert person.where() == {key("spam", 560): "Junk"} and memory.unjudged() == []


def test_what_vanished_before_its_move_is_not_told_as_moved(made: Callable[..., Server]):
    server = made()
    raws = [mail("spam", seed) for seed in (570, 571, 572)]
    with server.person() as person, remembering(server) as memory:
        for raw in raws:
            person.deliver(raw)
        messages = memory.unjudged()
        person.move(key("spam", 571), "INBOX", "Work")
        moved = memory.move([(one, digest(raw)) for one, raw in zip(messages, raws)], JUNK)
        assert list(moved) == [messages[0], messages[2]] and person.where()[key("spam", 571)] == "Work"
        assert [memory.judged(digest(raw)) for raw in raws] == [True, False, True]
