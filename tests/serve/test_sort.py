"""What ``sort`` does once, says, and leaves alone."""

import os
from pathlib import Path

import commands
import pytest
from click.testing import Result
from mail import never
from served import mail

from spamnb.classifier import Classifier
from spamnb.journal.journal import Journal
from spamnb.mailbox.box import Move
from spamnb.mailbox.maildir import MaildirBox
from spamnb.mailbox.memory import Memory
from spamnb.reader.message import digest
from spamnb.sources import maildir


@pytest.fixture
def box(tmp_path: Path) -> Path:
    """``Mail/INBOX`` with five messages of each class, beside ``Mail/Junk`` and ``Mail/Work``."""
    for name in ("INBOX", "Junk", "Work"):
        maildir.made(tmp_path / "Mail" / name)
    for seed in range(5):
        for label in ("spam", "ham"):
            deliver(tmp_path / "Mail" / "INBOX", mail(label, 500 + seed), f"{seed}.{label},U={seed + 1}")
    return tmp_path / "Mail" / "INBOX"


def deliver(box: Path, raw: bytes, name: str) -> None:
    (box / "new" / name).write_bytes(raw)


def run(*arguments: object, status: int = 0) -> Result:
    result = commands.run(*arguments)
    assert result.exit_code == status, result.output
    return result


def tree(box: Path) -> dict[str, tuple[bytes, int]]:
    """All files of the mailbox and around it: content and date."""
    files = [path for path in sorted(box.parent.rglob("*")) if path.is_file()]
    return {str(path): (path.read_bytes(), path.stat().st_mtime_ns) for path in files}


@pytest.mark.parametrize("elsewhere", ["/", "."])
def test_mail_goes_to_the_junk_beside_the_maildir_wherever_we_are(box, model, monkeypatch, tmp_path, elsewhere):
    monkeypatch.chdir(tmp_path / elsewhere)
    run("sort", "--junk", "../Junk", "-m", model, box)
    moved = maildir.files(box.parent / "Junk" / "new")
    assert sorted(path.read_bytes() for path in moved) == sorted(mail("spam", 500 + seed) for seed in range(5))
    assert len(maildir.files(box / "new")) == 5 and not any(",U=" in path.name for path in moved)
    assert [path for path in tmp_path.iterdir() if path.is_dir()] == [tmp_path / "Mail"]


@pytest.mark.parametrize("name", ["../Spam", "Junk", "/tmp", "../INBOX", "Junk/New", ""])
def test_a_folder_that_is_not_there_is_refused_and_nothing_is_made(box, model, name):
    before = tree(box)
    for command in (["sort", "--junk"], ["watch", "--once", "--junk"], ["sort", "--junk", "../Junk", "--unsure"]):
        told = run(*command, name, "-m", model, box, status=1)
        assert told.stdout == "" and told.stderr.count("\n") == 1, told.output
        assert tree(box) == before and sorted(os.listdir(box.parent)) == ["INBOX", "Junk", "Work"]


def test_watch_learns_in_a_nested_layout(box, model):
    def watch() -> str:
        return run("watch", "--once", "--junk", "../Junk", "-m", model, box).stdout

    assert watch() == ""
    run("sort", "--quiet", "--junk", "../Junk", "-m", model, box)
    assert watch() == ""  # sort's moves are no lessons
    raw = mail("ham", 500)
    maildir.move(box / "new" / "0.ham,U=1", box.parent / "Junk")
    assert watch().startswith("learned\tspam\t")
    (path,) = (path for path in maildir.files(box.parent / "Junk" / "new") if path.read_bytes() == raw)
    maildir.move(path, box.parent / "Work")  # beside, neither INBOX nor in it
    assert watch().startswith("learned\tham\t")
    with Classifier.open(model) as classifier:
        assert classifier.learned(raw) == "ham"


def test_a_line_for_each_message_then_totals(box, model):
    head = b"From: =?utf-8?q?a=1B[2J=09?= <a@spam.example>\nDate: Mon\x1b[2J\nSubject: "
    hostile = head + b"x" * 10_000 + b"\n\nmeeting minutes report agenda draft patch review lunch"
    deliver(box, hostile, "9.hostile")
    told = run("sort", "--junk", "../Junk", "-m", model, box)
    lines = [line.split("\t") for line in told.stdout.splitlines()]
    assert len(lines) == 11 and {len(line) for line in lines} == {7}
    assert told.stdout.replace("\t", "").replace("\n", "").isprintable()
    spam = next(line for line in lines if line[-1] == "0.spam,U=1")
    (sender, subject) = (line.partition(b": ")[2].decode() for line in mail("spam", 500).split(b"\n")[0:3:2])
    assert spam[0] == "spam" and float(spam[1]) >= 5 and spam[2:6] == ["to ../Junk", sender, subject, ""]
    assert {line[2] for line in lines if line[0] != "spam"} == {"stays"}
    assert len(next(line for line in lines if line[-1] == "9.hostile")[4]) <= 66  # "…" may be written as an escape
    assert told.stderr == "spamnb: 11 messages: 5 to ../Junk, 6 stay\n"
    assert run("sort", "--junk", "../Junk", "-m", model, box).stdout == ""
    deliver(box, mail("spam", 600), "10.new")
    told = run("sort", "--junk", "../Junk", "-m", model, box)
    assert told.stdout.count("\n") == 1 and told.stderr == "spamnb: 1 message: 1 to ../Junk\n"


def test_from_now_on_leaves_alone_what_is_there(box, model):
    before = tree(box)
    told = run("sort", "--from-now-on", "--junk", "../Junk", "-m", model, box)
    assert (told.stdout, told.stderr) == ("", "spamnb: 10 new messages count as seen\n")
    after = tree(box)
    assert after.pop(str(box / "spamnb-places.sqlite")) and after.pop(str(box / "spamnb-places.lock"))
    assert after == before
    assert run("sort", "--junk", "../Junk", "-m", model, box).stdout == ""
    deliver(box, mail("spam", 600), "10.new")
    run("sort", "--junk", "../Junk", "-m", model, box)
    (moved,) = maildir.files(box.parent / "Junk" / "new")
    assert moved.read_bytes() == mail("spam", 600)
    run("sort", "--all", "--junk", "../Junk", "-m", model, box)
    assert len(maildir.files(box.parent / "Junk" / "new")) == 6
    assert "--from-now-on" in run("sort", "--from-now-on", "--all", "-m", model, box, status=2).stderr


@pytest.mark.parametrize("name", ["0.ham,U=12", "99.other,U=17,FMD5=7e33429f656f1e6e9d79b29c3f82c57e:2,"])
def test_a_message_that_mbsync_or_offlineimap_gave_another_name_is_no_new_one(box, model, name):
    run("sort", "--junk", "../Junk", "-m", model, box)
    (box / "new" / "0.ham,U=1").rename(box / "new" / name)
    assert run("sort", "--junk", "../Junk", "-m", model, box).stdout == ""


def test_what_a_person_moved_back_stays(box, model):
    run("sort", "--junk", "../Junk", "-m", model, box)
    back, *_ = maildir.files(box.parent / "Junk" / "new")
    back = maildir.move(back, box)
    assert run("sort", "--junk", "../Junk", "-m", model, box).stdout == "" and back.exists()


def test_two_copies_of_one_message_both_go(box, model):
    for name in ("20.a", "21.b"):
        deliver(box, mail("spam", 800), name)
    run("sort", "--junk", "../Junk", "-m", model, box)
    raws = [path.read_bytes() for path in maildir.files(box.parent / "Junk" / "new")]
    assert raws.count(mail("spam", 800)) == 2


@pytest.mark.parametrize("options", [[], ["--all"], ["--tag"], ["--from-now-on"]])
@pytest.mark.parametrize("known", [False, True])
def test_a_dry_run_writes_nothing_at_all(box, model, options, known):
    if known:  # there is a record to read
        run("sort", "--from-now-on", "--junk", "../Junk", "-m", model, box)
        deliver(box, mail("spam", 600), "10.new")
    before, folders = tree(box), sorted(box.parent.rglob("*"))
    dates = [path.stat().st_mtime_ns for path in folders]
    told = run("sort", "--dry-run", "--junk", "../Junk", "-m", model, *options, box)
    assert tree(box) == before and sorted(box.parent.rglob("*")) == folders
    assert [path.stat().st_mtime_ns for path in folders] == dates
    if options == []:
        assert told.stderr == f"spamnb: {'1 message' if known else '10 messages'}, dry run: " + (
            "1 to ../Junk\n" if known else "5 to ../Junk, 5 stay\n"
        )
    elif options == ["--from-now-on"]:
        assert "would count as seen" in told.stderr


def test_the_record_of_names_does_not_grow_with_mail_that_is_gone(box, model):
    run("sort", "--junk", "../Junk", "-m", model, box)
    for path in maildir.files(box / "new"):
        path.unlink()
    run("sort", "--junk", "../Junk", "-m", model, box)
    with remembering(box) as memory, memory.reading():
        assert memory.execute("SELECT count(*) FROM new_mail").fetchone() == (0,)


def remembering(box: Path) -> Memory:
    return Memory.of(MaildirBox(box, "../Junk"), never)


def begin(memory: Memory, raw: bytes) -> None:
    """Note a move of what is in the inbox, as just before it is made."""
    (message,) = memory.box.messages(memory.box.inbox)
    into = memory.box.junk()
    mark = memory.box.mark(into)
    move = Move(".", message.key, digest(raw), digest(raw), memory.box.key(into), mark, True)
    with memory.writing():
        memory.execute("INSERT INTO begun VALUES (?, ?, ?, ?, ?, ?, ?)", move)


@pytest.mark.parametrize("killed", ["before", "between", "after"])
def test_a_move_that_a_kill_interrupted_is_made_whole(box, model, killed):
    """A move is a second name, and then the first one's end."""
    for path in maildir.files(box / "new"):
        path.unlink()
    raw, junk = mail("spam", 700), box.parent / "Junk" / "new"
    deliver(box, raw, "1.host")
    deliver(box.parent / "Junk", raw, "0.the-same-sent-before")
    with remembering(box) as memory:
        begin(memory, raw)
        if killed != "before":
            os.link(box / "new" / "1.host", junk / "2.host")
        if killed == "after":
            (box / "new" / "1.host").unlink()
        memory.recover()
        assert memory.begun() == [] and memory.judged(digest(raw)) is (killed != "before")
    assert len(maildir.files(junk)) + len(maildir.files(box / "new")) == 2
    assert len(maildir.files(junk)) == (1 if killed == "before" else 2)
    run("sort", "--junk", "../Junk", "-m", model, box)
    assert len(maildir.files(junk)) == 2 and run("watch", "--once", "--junk", "../Junk", "-m", model, box).stdout == ""


def test_what_vanished_before_its_move_is_not_told_as_moved(box, model):
    with remembering(box) as memory:
        gone, *rest = (one for one in memory.unjudged() if ".spam" in one.name)
        gone.place.unlink()
        moved = memory.move([(one, digest(one.key.encode())) for one in (gone, *rest)], memory.box.junk())
        assert list(moved) == rest and not memory.judged(digest(gone.key.encode()))
        assert len(maildir.files(box.parent / "Junk" / "new")) == 4


def test_two_empty_messages_of_one_batch_are_noted(box, model, tmp_path):
    for name in ("20.a", "21.b"):
        deliver(box, b"", name)
    run("sort", "--junk", "../Junk", "--journal", tmp_path / "journal", "-m", model, box)
    with Journal.at(tmp_path / "journal") as journal:
        assert journal.count() == 12
