"""Lessons by what the ledger holds are those by the mail itself, and undo leaves the model as it was."""

from pathlib import Path

import pytest
from commands import output_of, run
from mail import learned_class, message, open_teacher, without_calibration, write_ledger

from spamnb.filter import Classifier
from spamnb.ledger.ledger import Ledger
from spamnb.mailbox import maildir
from spamnb.reader.message import digest

RAW = message("spam", 950)


def tokens(model: Path) -> list[dict]:
    return [line for line in without_calibration(output_of("export", "-m", model).splitlines()) if "token" in line]


def teach(folder: Path, model: Path, label: str) -> str:
    with Ledger.open(folder / "ledger") as ledger:
        entry = ledger.find(digest=digest(RAW))
        assert entry is not None
        with open_teacher(model, ledger) as teacher:
            teacher.teach([entry.position], label == "spam")
    assert teacher.problems == []
    return teacher.batch.batch


def undo(folder: Path, model: Path, batch: str) -> list[str]:
    with Ledger.open(folder / "ledger") as ledger, open_teacher(model, ledger) as teacher:
        teacher.undo(ledger.corrections(batch=batch))
    return teacher.problems


def test_a_lesson_by_tokens_is_the_lesson_by_mail_and_undo_leaves_the_model_as_it_was(model, tmp_path):
    write_ledger(tmp_path, model, RAW)
    untouched = tokens(model)
    _, again, other = (teach(tmp_path, model, label) for label in ("ham", "ham", "spam"))
    assert learned_class(model, RAW) == "spam"
    assert undo(tmp_path, model, other) == [] and learned_class(model, RAW) == "ham"
    by_tokens = tokens(model)
    assert undo(tmp_path, model, again) == [] and learned_class(model, RAW) is None, "two equal clicks are one lesson"
    assert tokens(model) == untouched
    with Classifier.open(model, writable=True) as classifier:
        classifier.learn("ham", RAW)
    assert tokens(model) == by_tokens != untouched


@pytest.mark.parametrize("kept", [True, False])
def test_mail_that_still_lies_there_is_taught_and_kept(model, tmp_path, kept):
    box = maildir.make_folder(tmp_path / "Mail")
    (box / "new" / "1").write_bytes(RAW)
    write_ledger(tmp_path, model, RAW, place=str(box / "new" / "1"))
    if not kept:
        (box / "new" / "1").unlink()
    batch = teach(tmp_path, model, "ham")
    with Classifier.open(model) as classifier:
        assert classifier.store.execute("SELECT count(*) FROM kept_lessons").fetchone()[0] == 240 + kept
    assert undo(tmp_path, model, batch) == [] and learned_class(model, RAW) is None


def test_copies_that_one_run_moved_to_junk_are_moved_back_one_by_one(model, tmp_path):
    box = maildir.make_folder(tmp_path / "Mail")
    maildir.make_folder(box / ".Junk")
    for name in ("1", "2"):
        (box / "new" / name).write_bytes(RAW)
    assert "2 to Junk" in output_of("sort", "-m", model, "--ledger", tmp_path / "ledger", box)
    with Ledger.open(tmp_path / "ledger") as ledger:
        for row in ledger.find_all(digest=digest(RAW)):
            with open_teacher(model, ledger) as teacher:
                teacher.teach([row.position], False, move=True)
            assert teacher.problems == []
        places = {row.place for row in ledger.find_all(digest=digest(RAW))}
    assert places == set(map(str, maildir.files(box / "new"))) and len(places) == 2


def test_a_message_that_was_corrected_twice_is_learned_again_in_its_last_class(model, tmp_path):
    write_ledger(tmp_path, model, RAW)
    for label in ("ham", "spam"):
        teach(tmp_path, model, label)
    with Classifier.open(model, writable=True) as classifier:
        classifier.forget("spam", RAW)
    with Ledger.open(tmp_path / "ledger") as ledger, open_teacher(model, ledger) as teacher:
        taught_at = ledger.corrections()[0].at - 1_000
        with ledger.writing():
            ledger.execute("UPDATE corrections SET at = ?", (taught_at,))
        assert teacher.relearn(ledger.corrections()) == 1
        (first, *others) = ledger.corrections()
    assert teacher.n_changed == 1 and teacher.problems == [] and learned_class(model, RAW) == "spam"
    assert (first.label, first.batch, first.at) == ("spam", teacher.batch.batch, taught_at) and len(others) == 2


def test_what_cannot_be_taught_or_undone_is_said(model, tmp_path):
    write_ledger(tmp_path, model, RAW)
    batch = teach(tmp_path, model, "ham")
    with Ledger.open(tmp_path / "ledger") as ledger:
        entry = ledger.find(digest=digest(RAW))
        with ledger.writing():
            ledger.execute("UPDATE verdicts SET token_rules = 'other'")
        with open_teacher(model, ledger) as teacher:
            teacher.teach([entry.position], True)
        (problem,) = teacher.problems
        assert "no longer uses the tokens" in problem and learned_class(model, RAW) == "ham"
        with ledger.writing():
            ledger.execute("DELETE FROM verdicts")
    (problem,) = undo(tmp_path, model, batch)
    assert "the message that was taught as ham" in problem and learned_class(model, RAW) == "ham"


@pytest.mark.parametrize("command", ["undo", "relearn"])
def test_a_correction_of_a_users_model_is_refused_without_the_folder_of_models(model, tmp_path, command):
    folder, own = tmp_path / "users", tmp_path / "users" / "ann.spamnb"
    folder.mkdir()
    write_ledger(tmp_path, model, RAW, user="ann")  # the first verdict for a user is by the shared model
    with Ledger.open(tmp_path / "ledger") as ledger, open_teacher(model, ledger, folder) as teacher:
        teacher.teach([0], True)
        assert learned_class(own, RAW) == "spam"
        refused = run(command, "-m", model, "--ledger", tmp_path / "ledger")
        assert refused.exit_code == 1 and "--models names the folder" in refused.stderr
        assert learned_class(own, RAW) == "spam" and learned_class(model, RAW) is None
        assert [each.user for each in ledger.corrections()] == ["ann"]
        if command == "relearn":
            own.unlink()
        output_of(command, "-m", model, "--ledger", tmp_path / "ledger", "--models", folder)
        assert learned_class(own, RAW) == (None if command == "undo" else "spam") and learned_class(model, RAW) is None


def test_a_lesson_that_learn_taught_a_users_model_is_learned_again_by_it(model, tmp_path):
    own, ledger = tmp_path / "users" / "ann.spamnb", tmp_path / "ledger"
    own.parent.mkdir()
    output_of("learn", "spam", "--yes", "--shared", model, "-m", own, "--ledger", ledger, stdin=RAW)
    write_ledger(tmp_path, model, RAW)
    own.unlink()
    relearn = "relearn", "-m", model, "--ledger", ledger, "--models", own.parent
    assert output_of(*relearn) == "learned 1 of 1 correction\n" and learned_class(own, RAW) == "spam"
    assert learned_class(model, RAW) is None and output_of(*relearn).startswith("learned 0 of ")


def test_each_model_learns_its_last_lesson_of_a_message_again(model, tmp_path):
    own, ledger = tmp_path / "users" / "ann.spamnb", tmp_path / "ledger"
    own.parent.mkdir()
    learn = "learn", "--yes", "--ledger", ledger
    for label in ("ham", "spam"):
        output_of(*learn, label, *(() if own.exists() else ("--shared", model)), "-m", own, stdin=RAW)
    output_of(*learn, "ham", "-m", model, stdin=RAW)
    write_ledger(tmp_path, model, RAW)
    own.unlink()
    output_of("forget", "ham", "-m", model, stdin=RAW)
    relearned = output_of("relearn", "-m", model, "--ledger", ledger, "--models", own.parent)
    assert relearned == "learned 2 of 2 corrections\n"
    assert learned_class(own, RAW) == "spam" and learned_class(model, RAW) == "ham"


@pytest.mark.parametrize("other", ["the shared model", "another user"])
@pytest.mark.parametrize("is_lost", [False, True])
def test_a_lesson_that_learn_taught_a_users_model_is_learned_by_no_other_model(model, tmp_path, other, is_lost):
    own, ledger = tmp_path / "users" / "ann.spamnb", tmp_path / "ledger"
    own.parent.mkdir()
    raws, learn = [message("spam", number) for number in (950, 951)], ("learn", "spam", "--yes", "--ledger", ledger)
    output_of(*learn, "--shared", model, "-m", own, stdin=raws[0])
    output_of(*learn, "-m", own, stdin=raws[1])
    learner = model
    if other == "another user":
        learner = own.with_name("bob.spamnb")
        output_of("learn", "ham", "--shared", model, "-m", learner, "--ledger", tmp_path / "bob", stdin=b"A: b\n\nc")
    if is_lost:
        own.unlink()
    write_ledger(tmp_path, model, *raws)
    refused = run("relearn", "-m", learner, "--ledger", ledger)
    assert refused.exit_code == 1 and refused.stdout == "learned 0 of 2 corrections\n"
    assert refused.stderr.count("\n") == 1 and f"{own}: it is of a user's model; --models names" in refused.stderr
    assert [learned_class(learner, raw) for raw in raws] == [None, None]


def test_a_users_model_learns_its_own_lessons_again_and_not_those_of_the_shared_model(model, tmp_path):
    own, ledger, shared_raw = tmp_path / "ann.spamnb", tmp_path / "ledger", message("spam", 951)
    learn = "learn", "spam", "--yes", "--ledger", ledger
    output_of(*learn, "-m", model, stdin=shared_raw)
    output_of(*learn, "--shared", model, "-m", own, stdin=RAW)
    own.unlink()
    output_of("learn", "ham", "--shared", model, "-m", own, "--ledger", tmp_path / "new", stdin=b"A: b\n\nc")
    write_ledger(tmp_path, model, RAW, shared_raw)
    told = run("relearn", "-m", own, "--ledger", ledger)
    assert told.stdout == "learned 1 of 2 corrections\n" and told.exit_code == 1
    assert f"a lesson of {model}, to which {own} adds: -m names the other model" in told.stderr
    assert learned_class(own, RAW) == "spam" and learned_class(own, shared_raw) is None


@pytest.mark.parametrize("command", ["undo", "relearn"])
def test_a_correction_of_the_shared_model_needs_no_folder_though_the_mail_is_for_a_user(model, tmp_path, command):
    write_ledger(tmp_path, model, RAW, user="ann")
    with Ledger.open(tmp_path / "ledger") as ledger:
        with open_teacher(model, ledger) as teacher:
            teacher.teach([0], False)
        assert ledger.corrections()[0].user == "" and learned_class(model, RAW) == "ham"
        if command == "relearn":
            with Classifier.open(model, writable=True) as classifier:
                classifier.forget("ham", RAW)
        output_of(command, "-m", model, "--ledger", tmp_path / "ledger")
    assert learned_class(model, RAW) == (None if command == "undo" else "ham")
