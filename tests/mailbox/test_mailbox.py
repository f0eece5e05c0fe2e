"""``sort``, ``watch`` and ``review`` in a mailbox of any kind.

No message is lost, doubled or marked as read; each is classified once; messages that a person moves are learned.
"""

import os
import subprocess
import sys
import time
from pathlib import Path
from unittest.mock import Mock

import pytest
from click.testing import Result
from commands import run
from mail import count_messages, count_verdicts, learned_class, mail, message, open_teacher, train_file
from person import MaildirPerson, Person, begin, key, sides, sides_by, verdict_on
from programs import watching
from unpacked import PATIENCE, wait_until

from spamnb.errors import SpamnbError
from spamnb.filter import Classifier
from spamnb.ledger.ledger import Ledger
from spamnb.ledger.verdicts import INBOX, JUNK, make_verdict
from spamnb.mail_result import classify_mail
from spamnb.mailbox.places import OpenMailboxes
from spamnb.reader.message import digest, first_fields
from spamnb.settings import Settings
from spamnb.sources.imap_connection import Denied

SLOW = [pytest.param(name, marks=pytest.mark.slow) for name in ("Dovecot", "Dovecot without MOVE", "Cyrus")]
every_kind = pytest.mark.parametrize("person", ["Maildir", "Maildir beside", *SLOW], indirect=True)


def fields(done: Result, number: int = 2) -> list[list[str]]:
    assert done.exit_code == 0, done.output
    return sorted(line.split("\t")[:number] for line in done.stdout.splitlines())


@every_kind
def test_spam_goes_to_junk_once_and_nothing_else_changes(person: Person):
    person.arrive(range(500, 505))
    person.deliver(message("spam", 511), flags="FS")  # a reader has shown it
    before = person.mail()
    dry = person.sort("--dry-run")
    junk = dry.stderr.partition(" to ")[2].partition(",")[0]
    assert dry.stderr == f"spamnb: 10 messages: 5 to {junk}, 5 stay (dry run)\n" and junk.endswith("Junk")
    assert person.mail() == before and not Path(os.environ["SPAMNB_LEDGER"]).exists()
    done = person.sort()
    assert (done.exit_code, done.stderr) == (0, f"spamnb: 10 messages: 5 to {junk}, 5 stay\n"), done.output
    lines = [line.split("\t") for line in done.stdout.splitlines()]
    spam = next(line for line in lines if line[3] == "spam500@spam.example")
    assert spam[0] == "spam" and spam[1].startswith(("P(spam) 9", "P(spam) over"))
    assert spam[2] == f"to {junk}" and len(spam) == 7
    assert {line[2] for line in lines if line[0] != "spam"} == {"stays"}
    assert person.where() == {**sides(range(500, 505)), key("spam", 511): "INBOX"}
    flags = {key: places[0][1] for key, places in person.mail().items()}
    assert flags.pop(key("spam", 511)) == "FS" and set(flags.values()) == {""}
    assert person.sort().output == f"spamnb: {person.name}: no new messages\n"
    person.move(key("spam", 500), "Junk", "INBOX")
    assert person.sort().stdout == "" and person.where()[key("spam", 500)] == "INBOX", "where the person put it"
    assert person.sort("--all", "--quiet").output == ""
    assert person.mail()[key("spam", 511)] == [("Junk", "FS")]


def test_a_damaged_ledger_says_what_to_do(person: Person):
    ledger = Path(os.environ["SPAMNB_LEDGER"])
    ledger.write_text("no database")
    for done in (person.sort(), person.watch()):
        assert done.exit_code == 1 and "; name another file" in done.output and "Traceback" not in done.output
    ledger.unlink()
    person.sort()
    assert ledger.stat().st_mode & 0o777 == 0o600


@every_kind
def test_moves_by_a_person_are_lessons_and_others_are_not(person: Person):
    model = person.model
    spam, ham, sorted_ = message("spam", 700), message("ham", 700), message("spam", 703)
    for raw in (spam, sorted_, message("ham", 701), message("ham", 702)):
        person.deliver(raw)
    person.deliver(ham, "Junk")
    first = person.watch()
    assert first.exit_code == 0 and first.stdout == "" and "recorded 5 messages; from now on" in first.stderr
    person.move(key("spam", 700), "INBOX", "Junk")
    person.move(key("ham", 700), "Junk", "INBOX")
    person.move(key("ham", 701), "INBOX", "Trash")
    person.move(key("ham", 702), "INBOX", "Work")
    assert fields(person.watch()) == [["learned", "ham"], ["learned", "spam"]]
    assert (learned_class(model, spam), learned_class(model, ham)) == ("spam", "ham")
    assert person.watch().output == ""
    person.move(key("spam", 700), "Junk", "Work")  # out again, to another folder
    assert fields(person.watch()) == [["learned", "ham"]] and learned_class(model, spam) == "ham"
    assert person.sort("--all").exit_code == 0 and person.where()[key("spam", 703)] == "Junk"
    assert person.watch().output == "" and learned_class(model, sorted_) is None, "the filter's own move"
    person.move(key("spam", 703), "Junk", "INBOX")
    assert fields(person.watch()) == [["learned", "ham"]]
    person.move(key("ham", 700), "INBOX", "Junk")
    person.move(key("ham", 700), "Junk", "Trash")  # junk that is thrown away is no good mail
    assert person.watch().output == ""
    assert {flags for places in person.mail().values() for _, flags in places} == {""}


@every_kind
def test_sort_moves_nothing_by_a_model_whose_classes_were_swapped(person: Person, tmp_path: Path):
    right = person.model
    person.model = tmp_path / "swapped"
    pairs = [({"ham": "spam", "spam": "ham"}[label], raw) for label, raw in mail(120)]
    train_file(person.model, count_messages(pairs), Settings(strictness="strict"))
    for seed in range(720, 732):
        person.deliver(message("ham", seed), flags="S")
    for seed in range(740, 743):  # few, so that the guard of more than half of the mail does not see them
        person.deliver(message("ham", seed))
    before = person.mail()
    refused = person.sort()
    assert refused.exit_code == 1 and "were classes swapped in training?" in refused.output
    assert person.mail() == before
    assert "3 to " in person.sort("--dry-run").stderr
    person.model = right
    assert person.sort().stderr == "spamnb: 3 messages: 3 stay\n"


@every_kind
def test_a_move_between_sort_and_the_first_watch_is_a_lesson(person: Person):
    person.arrive(range(710, 712))
    assert person.sort().exit_code == 0
    assert person.where() == sides(range(710, 712))
    person.move(key("ham", 710), "INBOX", "Junk")  # sort left it there
    person.move(key("spam", 711), "Junk", "INBOX")  # sort moved it there
    first = person.watch()
    assert first.exit_code == 0 and fields(first) == [["learned", "ham"], ["learned", "spam"]]
    assert learned_class(person.model, message("ham", 710)) == "spam"
    assert person.watch().output == ""


def test_a_message_on_both_sides_is_no_lesson_yet(person: Person):
    person.deliver(message("spam", 800))
    assert person.watch().exit_code == 0
    person.copy(key("spam", 800), "INBOX", "Junk")
    assert person.watch().output == ""
    person.remove(key("spam", 800), "INBOX")
    assert fields(person.watch()) == [["learned", "spam"]]


def test_a_lesson_that_is_missed_is_told_and_comes_again(person: Person, monkeypatch):
    person.deliver(message("spam", 680))
    person.watch()
    person.move(key("spam", 680), "INBOX", "Junk")

    with monkeypatch.context() as patched:
        patched.setattr(Classifier, "learn", Mock(side_effect=SpamnbError("the disk is full")))
        result = person.watch()
    assert (result.exit_code, result.output) == (1, "Error: the disk is full\n")
    assert fields(person.watch()) == [["learned", "spam"]]


def test_new_mail_is_sorted_as_it_comes_and_moves_are_learned(person: Person, tmp_path):
    interval = ("--interval", "1") if isinstance(person, MaildirPerson) else ()  # an account tells of new mail
    arguments = person.command("watch", "--sort", *interval)[1:]
    with watching(tmp_path, *arguments) as watch:
        wait_until(lambda: "recorded" in watch.said, watch.process)
        time.sleep(1)
        begun = time.monotonic()
        person.arrive(range(500, 503))
        wait_until(lambda: watch.said.count("moved\tspam\tJunk") == 3, watch.process)
        assert time.monotonic() - begun < 40, "one that is not told of new mail looks after 60 s"
        assert person.where() == sides(range(500, 503))
        person.move(key("spam", 500), "Junk", "INBOX")
        wait_until(lambda: "learned\tham" in watch.said, watch.process)
        raw = message("spam", 500)
        told = "\t".join(first_fields(raw).get(name, "") for name in ("from", "subject", "date"))
        lines = [line for line in watch.said.splitlines() if f"\t{told}\t" in line]
        assert [line.partition("\t")[0] for line in lines] == ["moved", "learned"], watch.said
        assert person.where()[key("spam", 500)] == "INBOX"
        assert {flags for places in person.mail().values() for _, flags in places} == {""}
    with Ledger.open(Path(os.environ["SPAMNB_LEDGER"])) as ledger:
        assert count_verdicts(ledger) == 6
        (made,) = ledger.corrections()
        assert (made.digest, made.label) == (digest(message("spam", 500)), "ham")


# -- what a kill leaves --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("by", ["recover", "sort", "watch"])
def test_moves_that_a_kill_interrupted_are_made_whole(person: Person, by: str):
    person.watch()
    for seed in range(500, 504):
        person.deliver(message("spam", seed))
    with person.open_record() as record:
        digests = begin(record)
        person.half_move(key("spam", 500))
        person.whole_move(key("spam", 501))
        person.move(key("spam", 503), "INBOX", "Trash")  # by the person meanwhile
        if by == "recover":
            record.finish_moves()
        else:
            done = person.sort() if by == "sort" else person.watch()
            assert done.exit_code == 0 and "learned" not in done.stdout
        moved = {key("spam", 500): "Junk", key("spam", 501): "Junk", key("spam", 503): "Trash"}
        assert person.where() == moved | {key("spam", 502): "Junk" if by == "sort" else "INBOX"}
        assert record.unfinished_moves() == []
        assert [record.was_classified(each) for each in digests] == [True, True, by == "sort", False]
    assert person.watch().stdout == ""


def test_verdicts_of_moves_that_a_kill_interrupted_are_in_the_ledger(person: Person, tmp_path):
    spam, path = message("spam", 500), Path(os.environ["SPAMNB_LEDGER"])
    person.deliver(spam)
    with Classifier.open(person.model) as classifier, person.open_record() as record:
        read = classifier.read(spam)
        (written,) = record.ledger.put([make_verdict(read, classify_mail(classifier, read), classifier)])
        begin(record, written)
    person.whole_move(key("spam", 500))
    told = person.sort()
    assert told.exit_code == 0 and "1 message moved by a run that was interrupted\n" in told.stderr
    with Ledger.open(path) as ledger:
        entry = ledger.find(digest=digest(spam))
        assert count_verdicts(ledger) == 1 and entry is not None and (entry.role, entry.verdict) == (JUNK, "spam")
        with OpenMailboxes(ledger) as mailboxes:
            assert mailboxes.read(entry) == spam


@pytest.mark.parametrize("before", ["one of two alike is moved", "another of the same header", "it was there"])
def test_what_was_not_copied_from_the_inbox_stays_there(person: Person, before: str):
    raw = message("spam", 510)
    if before == "it was there":
        person.deliver(raw, "Junk")
    person.deliver(raw)
    with person.open_record() as record:
        begin(record)
        if before == "one of two alike is moved":
            person.whole_move(key("spam", 510))
            person.deliver(raw)
            begin(record)
        if before == "another of the same header":
            person.deliver(raw[:-3] + b"zz" + raw[-1:], "Junk")
        record.finish_moves()
        assert sorted(folder for folder, _ in person.mail()[key("spam", 510)]) == ["INBOX", "Junk"]
        assert record.unfinished_moves() == []


def test_what_vanished_before_its_move_is_not_told_as_moved(person: Person):
    raws = [message("spam", seed) for seed in (570, 571, 572)]
    for raw in raws:
        person.deliver(raw)
    with person.open_record() as record:
        messages = record.new_messages()
        person.move(key("spam", 571), "INBOX", "Work")
        moved = record.move([*zip(messages, map(verdict_on, raws))], record.mailbox.locate())
        assert list(moved) == [messages[0], messages[2]]
        assert [record.was_classified(digest(raw)) for raw in raws] == [True, False, True]
    assert person.where() == {key("spam", 570): "Junk", key("spam", 571): "Work", key("spam", 572): "Junk"}


def test_what_would_not_be_moved_stays_and_is_tried_again(person: Person, monkeypatch):
    person.deliver(message("spam", 560))
    told: list[str] = []
    with person.open_record(lambda name, error: told.append(str(error))) as record:
        (one,) = record.new_messages()
        with monkeypatch.context() as patched:
            patched.setattr(record.mailbox, "move", Mock(side_effect=Denied("over quota")))
            assert record.move([(one, verdict_on(message("spam", 560)))], record.mailbox.locate()) == {}
        assert record.new_messages() == [one] and told == ["over quota"] and set(person.where().values()) == {"INBOX"}


@pytest.mark.parametrize("person", ["Maildir", *SLOW[:2]], indirect=True)
def test_sorts_that_are_killed_or_run_at_once_leave_each_message_in_one_folder_classified_once(
    person: Person, sure_model: Path, tmp_path
):
    person.model = sure_model
    path = Path(os.environ["SPAMNB_LEDGER"])
    command = [sys.executable, "-m", "spamnb", *person.command("sort", "--quiet")]
    expected: dict[str, str] = {}
    for number in range(3):
        seeds = range(500 + 30 * number, 530 + 30 * number)
        person.arrive(seeds)
        expected |= sides_by(sure_model, seeds)
        process = subprocess.Popen(command)
        with person.open_record() as record:
            until = time.monotonic() + PATIENCE
            while process.poll() is None and not record.unfinished_moves() and time.monotonic() < until:
                pass
        time.sleep(0.002 * number)
        process.kill()
        process.wait()
    both = [subprocess.Popen(command, stderr=subprocess.PIPE, text=True) for _ in range(2)]
    told = [process.communicate(timeout=PATIENCE)[1] for process in both]
    assert [process.returncode for process in both] == [0, 0], told
    assert person.where() == expected and person.watch().stdout == ""
    with Ledger.open(path) as ledger:
        counts = ledger.execute("SELECT count(*), count(DISTINCT digest), sum(role = 'junk') FROM verdicts").fetchone()
    assert counts[0] == counts[1] and counts[2] == [*expected.values()].count("Junk"), (
        "all that was moved is noted, and nothing twice"
    )


# -- review --------------------------------------------------------------------------------------------------------


def position(ledger: Ledger, raw: bytes) -> int:
    entry = ledger.find(digest=digest(raw))
    assert entry is not None
    return entry.position


def move(ledger: Ledger, number: int, role: str) -> None:
    with OpenMailboxes(ledger) as mailboxes:
        mailboxes.move_to(ledger.verdict(number), role)


def test_a_page_reads_teaches_and_moves_mail_and_moves_it_back(person: Person, tmp_path):
    model, path = person.model, Path(os.environ["SPAMNB_LEDGER"])
    spam, ham = message("spam", 800), message("ham", 800)
    nameless = message("spam", 801).replace(b"Message-ID:", b"X-Message-ID:")
    person.watch()
    for raw in (spam, ham, nameless):
        person.deliver(raw)
    assert person.sort().exit_code == 0
    person.watch()
    with Ledger.open(path) as ledger:
        assert count_verdicts(ledger) == 3
        rows = {raw: ledger.find(digest=digest(raw)) for raw in (spam, ham, nameless)}
        assert [row.role for row in rows.values()] == [JUNK, INBOX, JUNK]
        assert {row.mailbox for row in rows.values()} == {person.box().address}
        with OpenMailboxes(ledger) as mailboxes:
            assert [mailboxes.read(row) for row in rows.values()] == [spam, ham, nameless]

        with open_teacher(model, ledger) as taught:
            taught.teach([position(ledger, raw) for raw in (spam, nameless)], False, move=True)
        assert taught.problems == [] and learned_class(model, spam) == "ham" == learned_class(model, nameless)
        assert person.where()[key("spam", 800)] == "INBOX"
        looked = person.watch("--sort")
        assert looked.exit_code == 0 and looked.stdout == "", "the page's move is neither a lesson nor classified again"
        with open_teacher(model, ledger) as undone:
            undone.undo(ledger.corrections(batch=taught.batch.batch))
        assert undone.problems == []
        assert learned_class(model, spam) is None and person.where()[key("spam", 800)] == "Junk"

        move(ledger, position(ledger, ham), JUNK)
        move(ledger, position(ledger, ham), JUNK)  # twice is once
        assert person.where()[key("ham", 800)] == "Junk"
        move(ledger, position(ledger, ham), INBOX)
        assert person.where()[key("ham", 800)] == "INBOX"
        assert person.watch("--sort").stdout == "" and learned_class(model, ham) is None

        person.move(key("ham", 800), "INBOX", "Work")
        with pytest.raises(SpamnbError, match=r"no longer in INBOX of .*, so it was not moved"):
            move(ledger, position(ledger, ham), JUNK)
        with open_teacher(model, ledger) as gone:
            gone.teach([position(ledger, ham)], False, move=True)
        assert gone.problems == [] and gone.n_changed == 1, "it is where good mail belongs, as far as the ledger knows"
        with pytest.raises(SpamnbError, match="is not in the ledger"):
            move(ledger, 1 << 40, INBOX)
        assert person.where()[key("ham", 800)] == "Work"


def test_a_page_moves_only_the_very_message_and_only_where_it_knows_the_mailbox(tmp_path, model, monkeypatch):
    person, path = MaildirPerson(tmp_path, model), Path(os.environ["SPAMNB_LEDGER"])
    spam = message("spam", 900)
    person.deliver(spam)
    person.sort()
    (kept,) = person.paths("Junk")
    with Ledger.open(path) as ledger:
        number = position(ledger, spam)
        with monkeypatch.context() as patched, pytest.raises(SpamnbError, match=r"not moved: .*No space left"):
            patched.setattr(Path, "rename", Mock(side_effect=OSError(28, "No space left on device")))
            move(ledger, number, INBOX)
        kept.write_bytes(message("ham", 900))
        with OpenMailboxes(ledger) as mailboxes:
            assert mailboxes.read(ledger.find(position=number)) is None
        with pytest.raises(SpamnbError, match="no longer"):
            move(ledger, number, INBOX)
        run("filter", "--ledger", path, "-m", model, stdin=message("spam", 901))
        with pytest.raises(SpamnbError, match="does not have the mailbox"):
            move(ledger, position(ledger, message("spam", 901)), INBOX)
    assert person.where() == {key("ham", 900): "Junk"}


def test_a_second_ledger_takes_no_move_of_sort_for_a_move_of_the_person(person: Person, monkeypatch, tmp_path):
    first = os.environ["SPAMNB_LEDGER"]
    person.watch()
    second = str(tmp_path / "second.ledger")
    monkeypatch.setenv("SPAMNB_LEDGER", second)
    person.watch()
    monkeypatch.setenv("SPAMNB_LEDGER", first)
    person.deliver(message("spam", 500))
    assert "to Junk" in person.sort().stdout
    monkeypatch.setenv("SPAMNB_LEDGER", second)
    for command in (person.watch, person.sort):
        told = command()
        assert told.exit_code == 1 and told.stdout == "" and f"its ledger is {first}; name it with" in told.stderr
    assert learned_class(person.model, message("spam", 500)) is None
    os.unlink(first)
    assert person.sort().exit_code == person.watch().exit_code == 0
