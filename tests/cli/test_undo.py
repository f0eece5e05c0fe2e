"""undo: each call takes back the last thing that was done to a mailbox or a model, exactly."""

import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from commands import SPAMNB, output_of, run
from mail import export_lines, learned_class, mail, message, open_teacher, write_folders
from person import MaildirPerson, key

from spamnb.cli.undo import lock_ledger
from spamnb.filter import Classifier
from spamnb.ledger.ledger import Ledger
from spamnb.reader.message import digest, first_fields
from spamnb.store.database import Database
from spamnb.store.lessons import delete_lesson
from spamnb.store.snapshot import previous_model
from spamnb.store.starter import NAME as STARTER


@pytest.fixture
def person(tmp_path: Path, model: Path) -> MaildirPerson:
    return MaildirPerson(tmp_path, model)


def test_each_call_goes_one_step_back_through_sort_watch_and_learn(person: MaildirPerson):
    model, before = person.model, export_lines(person.model)
    person.arrive(range(500, 503))
    where = person.where()
    person.sort()
    sorted_ = person.where()
    person.move(key("spam", 500), "Junk", "INBOX")
    assert "learned\tham" in person.watch().stdout
    after_watch = export_lines(model)
    learned = output_of("learn", "spam", "-m", model, "--yes", stdin=message("ham", 501))
    assert learned.startswith("learned 1 of 1") and learned_class(model, message("ham", 501)) == "spam"

    sort, watch, lesson = reversed(output_of("undo", "--list", "-m", model).splitlines())
    assert sort.startswith("sort of ") and sort.endswith(": 3 messages moved"), "the person moved one of them back"
    assert watch.startswith("watch of ") and watch.endswith(": 1 message learned")
    assert lesson.startswith("learn of ") and lesson.endswith(": 1 message learned")
    learn = run("undo", "-m", model)
    assert learn.stdout.startswith("learn of") and learn.stdout.endswith(" was taken back: 1 message forgotten\n")
    assert learn.stderr.startswith("spamnb: another 'spamnb undo' takes back watch of ")
    assert export_lines(model) == after_watch
    assert "1 message forgotten" in output_of("undo", "-m", model) and export_lines(model) == before
    assert person.where() == {**sorted_, key("spam", 500): "INBOX"}, "the person's move stays"
    done = run("undo", "-m", model)
    assert done.stdout.endswith(" was taken back: 2 messages moved to the inbox\n")
    assert done.exit_code == 1 and done.stderr.count("no longer in Junk") == 1, "the person moved this one"
    assert person.where() == where
    assert person.sort().stdout == "" == person.watch().stdout, "neither classified again nor a lesson"
    for options in ((), ("--list",)):
        done = run("undo", *options, "-m", model)
        assert done.exit_code == 1 and done.stderr.endswith("no command to take back\n")


def test_a_training_that_replaced_a_model_is_taken_back_and_put_back(tmp_path: Path):
    model, second = tmp_path / "model.spamnb", write_folders(tmp_path / "second", mail(60))
    output_of("train", "-m", model, write_folders(tmp_path / "first", mail(40)))
    output_of("learn", "spam", "-m", model, stdin=message("spam", 900))
    first = export_lines(model)
    assert not previous_model(model).exists()
    output_of("train", "--force", "-m", model, second)
    new = export_lines(model)
    assert str(previous_model(model)) in output_of("info", "-m", model) and new != first
    assert {path.stat().st_mode & 0o777 for path in tmp_path.glob("model*")} == {0o600}
    older, newer = "the model of 81 messages, trained ", "the model of 121 messages, trained "
    back = run("undo", "-m", model)
    assert back.stdout.startswith(f"{model}: is again {older}") and f"undo' puts back {newer}" in back.stderr
    assert export_lines(model) == first and learned_class(model, message("spam", 900)) == "spam"
    forth = run("undo", "-m", model)
    assert forth.stdout.startswith(f"{model}: is again {newer}") and f"undo' puts back {older}" in forth.stderr
    assert f"to go further back, remove {previous_model(model)} first" in forth.stderr
    assert export_lines(model) == new
    output_of("learn", "spam", "-m", model, stdin=message("spam", 901))
    first_steps = [line.partition(", trained")[0] for line in output_of("undo", "--list", "-m", model).splitlines()]
    assert first_steps[0].startswith("learn of ") and first_steps[1] == f"training: puts back {older.split(',')[0]}"
    assert "another 'spamnb undo' puts back the model before the last training\n" in output_of("undo", "-m", model)
    assert export_lines(model) == new, "the lesson is newer than the training"
    previous_model(model).unlink()
    assert "undo' has nothing to take back" in output_of("undo", "-m", model), "the lesson of the replaced model"


def test_a_lesson_that_was_forgotten_since_is_not_said_to_be_taken_back(model: Path):
    before = export_lines(model)
    for number in (900, 901):
        output_of("learn", "spam", "-m", model, stdin=message("spam", number))
    assert "1 already learned" in output_of("learn", "spam", "-m", model, stdin=message("spam", 901))
    output_of("forget", "spam", "-m", model, stdin=message("spam", 901))
    forgotten = run("undo", "-m", model)
    assert forgotten.stdout.startswith("learn of ") and "nothing of it was left to take back" in forgotten.stdout
    assert "another 'spamnb undo' takes back learn of " in forgotten.stderr
    learned = output_of("undo", "-m", model)
    assert "was taken back: 1 message forgotten" in learned and "undo' has nothing to take back" in learned
    assert export_lines(model) == before


def test_a_lesson_that_a_model_made_again_lacks_is_not_looked_for(tmp_path: Path):
    model, folder = tmp_path / "model.spamnb", write_folders(tmp_path / "mail", mail(60))
    output_of("train", "-m", model, folder)
    output_of("learn", "spam", "-m", model, stdin=message("spam", 900))
    model.unlink()
    output_of("train", "-m", model, folder)
    before = export_lines(model)
    undone = run("undo", "-m", model)
    assert undone.exit_code == 0 and "nothing of it was left to take back" in undone.stdout
    assert "spamnb forget" not in undone.stderr and export_lines(model) == before


@pytest.mark.parametrize("comes_back", [True, False])
def test_lessons_of_a_missing_model_wait_for_it_or_are_passed_over(tmp_path: Path, model: Path, comes_back: bool):
    other, before = tmp_path / "other.spamnb", export_lines(model)
    for path in (model, other):
        output_of("learn", "spam", "-m", path, stdin=message("spam", 900))
    other.rename(tmp_path / "away")
    for _ in range(2):
        refused = run("undo", "-m", model)
        assert refused.exit_code == 1 and refused.output.count("\n") == 1
        assert f"{other}: no such model" in refused.stderr and "'spamnb undo --skip'" in refused.stderr
    if comes_back:
        (tmp_path / "away").rename(other)
        assert "1 message forgotten" in output_of("undo", "-m", model) and learned_class(model, message("spam", 900))
        assert learned_class(other, message("spam", 900)) is None
    else:
        assert " stays as it is\n" in output_of("undo", "--skip", "-m", model)
        with Ledger.open(os.environ["SPAMNB_LEDGER"]) as ledger:
            assert len(ledger.corrections()) == 2
    assert "1 message forgotten" in output_of("undo", "-m", model) and export_lines(model) == before


def test_two_undos_at_once_do_not_share_a_step(model: Path):
    before = export_lines(model)
    for number in (900, 901):
        output_of("learn", "spam", "-m", model, stdin=message("spam", number))
    with lock_ledger(Path(os.environ["SPAMNB_LEDGER"])):
        refused = run("undo", "-m", model)
    assert refused.exit_code == 1 and refused.output == "Error: another 'spamnb undo' is running; wait until it ends\n"
    assert learned_class(model, message("spam", 901)) == "spam"
    for _ in range(2):
        assert "1 message forgotten" in output_of("undo", "-m", model)
    assert export_lines(model) == before


def test_a_missing_starter_beside_the_ledger_is_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("SPAMNB_LEDGER", str(tmp_path / "ledger.sqlite"))
    model = tmp_path / "own.spamnb"
    output_of("learn", "spam", "-m", model, stdin=message("spam", 900))
    (tmp_path / STARTER).unlink()
    undone = subprocess.run([*SPAMNB, "undo", "-m", model], capture_output=True, text=True, timeout=60)
    assert undone.returncode == 0 and "1 message forgotten" in undone.stdout and (tmp_path / STARTER).exists()


def test_a_training_is_not_skipped(tmp_path: Path):
    model, folder = tmp_path / "model.spamnb", write_folders(tmp_path / "mail", mail(60))
    for options in ((), ("--force",)):
        output_of("train", *options, "-m", model, folder)
    refused = run("undo", "--skip", "-m", model)
    assert refused.exit_code == 1 and f"to go further back, remove {previous_model(model)}\n" in refused.stderr


@pytest.mark.parametrize(
    "older", ["PRAGMA user_version = 13", "UPDATE meta SET value = '1' WHERE key = 'tokens_version'"]
)
def test_a_model_of_an_older_version_is_not_put_back_and_stays(tmp_path: Path, older: str):
    model, folder = tmp_path / "model.spamnb", write_folders(tmp_path / "mail", mail(60))
    previous = previous_model(model)
    for options in ((), ("--force",)):
        output_of("train", *options, "-m", model, folder)
    with sqlite3.connect(previous) as file:
        file.execute(older)
    before = export_lines(model)
    refused = run("undo", "-m", model)
    assert refused.exit_code == 1 and refused.stderr.count("\n") == 1
    assert f"{previous}: " in refused.stderr and "remove it, and 'undo' takes back" in refused.stderr
    assert export_lines(model) == before and previous.exists()
    assert "puts back nothing: it was of an older version of spamnb\n" in output_of("undo", "--list", "-m", model)
    assert f"{previous}, a model of an older version" in output_of("info", "-m", model)
    previous.unlink()
    assert run("undo", "-m", model).stderr.endswith("no command to take back\n")


def test_messages_that_are_gone_are_counted_in_one_line_and_named_if_asked(person: MaildirPerson):
    person.arrive(range(500, 503))
    person.sort()
    for number in range(500, 503):
        person.remove(key("spam", number), "Junk")
    result = run("undo", "-v", "-m", person.model)
    first, *names = result.stderr.splitlines()
    assert result.exit_code == 1 and first.endswith("so it was not moved (3 messages)")
    subjects = [first_fields(message("spam", number))["subject"] for number in range(500, 503)]
    assert len(names) == 3 and all(any(line.endswith(subject) for line in names) for subject in subjects)


def test_nothing_is_given_up_while_the_mailbox_is_missing_or_the_model_is_locked(person: MaildirPerson, monkeypatch):
    monkeypatch.setattr("spamnb.store.database.BUSY_SECONDS", 0.1)
    person.arrive(range(500, 503))
    before = person.where()
    person.sort()
    output_of("learn", "spam", "--yes", "-m", person.model, stdin=message("ham", 900))
    with Classifier.open(person.model, writable=True) as classifier, classifier.store.writing():
        result = run("undo", "-m", person.model)
        assert result.exit_code == 1 and "another process keeps writing to it; try again" in result.stderr
    assert "1 message forgotten" in output_of("undo", "-m", person.model)
    person.path.rename(person.path.with_name("unmounted"))
    result = run("undo", "-m", person.model)
    remedy = "if this lasts, 'spamnb undo --skip' leaves the step as it is"
    assert result.exit_code == 1 and result.output == f"Error: {person.path}: no such folder; {remedy}\n"
    person.path.with_name("unmounted").rename(person.path)
    assert "3 messages moved to the inbox" in output_of("undo", "-m", person.model) and person.where() == before


def test_a_model_that_is_missing_is_told_with_the_one_before_it(tmp_path: Path):
    model, folder = tmp_path / "model.spamnb", write_folders(tmp_path / "mail", mail(60))
    for options in ((), ("--force",)):
        output_of("train", *options, "-m", model, folder)
    before = export_lines(previous_model(model))
    model.unlink()
    result = run("undo", "-m", model)
    advice = f"'spamnb backup -m {previous_model(model)} {model}' copies the one before it\n"
    assert result.exit_code == 1 and result.stderr == f"Error: {model}: no model there; {advice}"
    output_of("backup", "-m", previous_model(model), model)
    assert export_lines(model) == before


def test_a_copy_that_arrives_later_does_not_hide_the_first_from_undo(person: MaildirPerson):
    raw = message("spam", 500)
    for _ in range(2):
        person.deliver(raw)
        assert "1 to Junk" in person.sort("--all").stderr
    with Ledger.open(os.environ["SPAMNB_LEDGER"]) as ledger:
        assert [row.role for row in ledger.list_verdicts()] == ["junk", "junk"]
    for number in (1, 2):
        assert "1 message moved to the inbox" in output_of("undo", "-m", person.model)
        assert len(person.paths("INBOX")) == number


def test_a_kill_of_undo_loses_and_doubles_no_message(person: MaildirPerson, sure_model: Path):
    person.model = sure_model
    person.arrive(range(500, 530))
    command = [sys.executable, "-m", "spamnb", "undo", "-m", str(person.model)]
    before = person.where()
    person.sort("--quiet")
    process = subprocess.Popen(command)
    with Ledger.open(os.environ["SPAMNB_LEDGER"]) as ledger:
        while process.poll() is None:
            with ledger.reading():
                if ledger.execute("SELECT count(*) FROM verdicts WHERE role = 'inbox'").fetchone()[0] > 40:
                    break
    process.kill()
    process.wait()
    assert person.where().keys() == before.keys()
    if ledger_has_batch():
        assert subprocess.run(command, check=False).returncode in (0, 1)
    assert person.where() == before and person.sort().stdout == ""


def ledger_has_batch() -> bool:
    with Ledger.open(os.environ["SPAMNB_LEDGER"]) as ledger:
        return ledger.last_batch() is not None


def test_corrections_are_learned_by_another_model_from_the_mailbox_or_from_their_tokens(person: MaildirPerson):
    person.arrive(range(500, 503))
    person.sort()
    for number in (500, 501):
        person.move(key("spam", number), "Junk", "INBOX")
        person.watch()
    output_of("learn", "spam", "-m", person.model, "--yes", stdin=message("ham", 900))
    (person.path / "cur").rename(person.path / "gone")
    (person.path / "cur").mkdir()
    new = person.path.parent / "new.spamnb"
    output_of("train", "-m", new, write_folders(person.path.parent / "mail", mail(40)))
    done = run("relearn", "-m", new)
    assert done.stdout == "learned 2 of 3 corrections\n" and done.exit_code == 1, done.stderr
    assert done.stderr.count("\n") == 1 and "was taught as spam" in done.stderr, "no sort ever saw this message"
    assert [learned_class(new, message("spam", number)) for number in (500, 501)] == ["ham", "ham"]
    assert run("relearn", "-m", new).stdout == "learned 0 of 3 corrections\n"
    untaught = run("relearn", "-m", person.model)
    assert untaught.stdout == "learned 0 of 3 corrections\n", "it has learned them, as it was corrected"
    assert "relearn of" in (told := output_of("undo", "-m", new)) and "2 messages forgotten" in told
    assert [learned_class(new, message("spam", number)) for number in (500, 501)] == [None, None]
    assert run("relearn", "-m", new).stdout == "learned 2 of 3 corrections\n"


@pytest.mark.parametrize("is_one_lost", [False, True])
def test_many_lessons_are_undone_in_one_transaction_unless_one_of_them_cannot_be(
    tmp_path: Path, model: Path, monkeypatch: pytest.MonkeyPatch, is_one_lost: bool
):
    before, n_transactions = export_lines(model), 0
    spam = [("spam", message("spam", number)) for number in range(900, 906)]
    output_of("learn", "spam", "-m", model, write_folders(tmp_path / "more", spam) / "spam")
    if is_one_lost:
        with Classifier.open(model, writable=True) as classifier, classifier.store.writing():
            delete_lesson(classifier.store, digest(spam[2][1]))

    def empty_log(store: Database) -> None:
        nonlocal n_transactions
        n_transactions += 1

    monkeypatch.setattr(Database, "empty_log", empty_log)
    undone = run("undo", "-m", model)
    if is_one_lost:
        assert undone.exit_code == 1 and "taken back: 5 messages forgotten" in undone.stdout and n_transactions == 5
        assert "is no longer in the ledger; name it to 'spamnb forget'" in undone.stderr
        output_of("forget", "spam", "-m", model, stdin=spam[2][1])
    else:
        assert undone.exit_code == 0 and "taken back: 6 messages forgotten" in undone.stdout and n_transactions == 1
    assert export_lines(model) == before


@pytest.mark.parametrize("by", ["learn", "watch", "review"])
def test_a_message_of_training_is_one_again_after_its_lesson_was_undone(tmp_path: Path, by: str):
    model, raw = tmp_path / "model.spamnb", message("ham", 30)
    output_of("train", "-m", model, write_folders(tmp_path / "mail", mail(60)))
    person = MaildirPerson(tmp_path, model)
    person.deliver(raw)
    before = output_of("info", "-m", model)
    if by == "learn":
        output_of("learn", "spam", "--yes", "-m", model, stdin=raw)
    elif by == "watch":
        person.watch()
        person.move(key("ham", 30), "INBOX", "Junk")
        person.watch()
    else:
        person.sort()
        with Ledger.open(os.environ["SPAMNB_LEDGER"]) as ledger, open_teacher(model, ledger) as teacher:
            for _ in range(2):  # a double click
                teacher.teach([ledger.list_verdicts()[0].position], spam=True)
    assert learned_class(model, raw) == "spam" and "lessons: 1" in output_of("info", "-m", model)
    assert "1 message put back into the class before" in output_of("undo", "-m", model)
    assert learned_class(model, raw) == "ham" and output_of("info", "-m", model) == before


def test_two_corrections_of_one_message_are_undone_one_after_the_other(person: MaildirPerson):
    before = export_lines(person.model)
    raw = message("spam", 900)
    output_of("learn", "spam", "-m", person.model, stdin=raw)
    first = export_lines(person.model)
    output_of("learn", "ham", "-m", person.model, "--yes", stdin=raw)
    again = output_of("undo", "-m", person.model)
    assert again.splitlines()[0].endswith(" was taken back: 1 message put back into the class before")
    assert export_lines(person.model) == first
    assert "1 message forgotten" in output_of("undo", "-m", person.model) and export_lines(person.model) == before
