"""``watch`` learns what a person moves into Junk and out of it, and nothing else."""

import gzip
import mailbox
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
import tracemalloc
from contextlib import redirect_stderr
from io import StringIO
from pathlib import Path

import pytest
from click.testing import Result
from commands import printed, run
from mail import learned, never
from maildirs import made, path_of, put
from served import mail
from unpacked import wait_until

from spamnb.classifier import Classifier
from spamnb.cli.mailboxes import Target
from spamnb.cli.options import Unreadable
from spamnb.cli.watching import Stop, Watching
from spamnb.errors import SpamnbError
from spamnb.mailbox.maildir import MaildirBox
from spamnb.mailbox.memory import Memory
from spamnb.sources import maildir
from spamnb.sources.entries import MAX_MESSAGE, Report


def test_watch_takes_names_that_are_not_utf_8(box, model):
    folder = made(path_of(box), os.fsdecode(b"Entw\xfcrfe\x07"))
    path = folder / "cur" / os.fsdecode(b"1.\xe9:2,S")
    path.write_bytes(mail("spam", 660))
    assert printed("watch", "--once", "-m", model, path_of(box)) == ""
    path.rename(path_of(box) / ".Junk" / "cur" / path.name)
    assert "1.\\udce9:2,S" in printed("watch", "--once", "-m", model, path_of(box))
    assert learned(model, mail("spam", 660)) == "spam"


def test_a_lesson_that_is_missed_is_told_and_comes_again(box, model, monkeypatch):
    raw = mail("spam", 680)
    box.add(raw)
    printed("watch", "--once", "-m", model, path_of(box))
    put(box, box, box.get_folder("Junk"), raw)
    with monkeypatch.context() as patched:
        patched.setattr(Classifier, "learn", full)
        result = run("watch", "--once", "-m", model, path_of(box))
    assert (result.exit_code, result.output) == (1, "spamnb: the disk is full\n")
    assert printed("watch", "--once", "-m", model, path_of(box)).startswith("learned\tspam\t")


def full(*arguments: object) -> bool:
    raise SpamnbError("the disk is full")


def test_many_moves_are_read_one_at_a_time(box, model):
    for seed in range(20):
        box.add(mail("spam", 1000 + seed) + b"x" * 500_000)
    printed("watch", "--once", "-m", model, path_of(box))
    for path in maildir.files(path_of(box) / "new"):
        maildir.move(path, path_of(box) / ".Junk")
    tracemalloc.start()
    try:
        with remembering(box) as memory:
            assert sum(lesson.spam for lesson in memory.lessons()) == 20
        assert tracemalloc.get_traced_memory()[1] < 5_000_000
    finally:
        tracemalloc.stop()


def test_watch_once_ends_with_1_where_it_could_not_read(box, model):
    (path_of(box) / "new" / "1").write_bytes(gzip.compress(mail("spam", 653))[:-9])
    result = run("watch", "--once", "-m", model, path_of(box))
    assert result.exit_code == 1 and result.stderr.count("broken gzip data") == 1


def test_watch_tells_once_what_it_cannot_read(box, model):
    with (path_of(box) / "cur" / "1.long").open("wb") as file:
        file.truncate(MAX_MESSAGE + 1)
    unreadable = Unreadable()
    with remembering(box, unreadable) as memory, redirect_stderr(StringIO()) as told:
        assert [*memory.lessons(), *memory.lessons()] == []
    assert unreadable.count and told.getvalue().count("left out") == 1


def test_a_folder_that_cannot_be_read_does_not_end_watch(box, model):
    raw = mail("spam", 704)
    box.add(raw)
    printed("watch", "--once", "-m", model, path_of(box))
    put(box, box, box.get_folder("Junk"), raw)
    shutil.rmtree(path_of(box) / ".Work" / "new")
    (path_of(box) / ".Work" / "new").touch()
    result = run("watch", "--once", "-m", model, path_of(box))
    assert (result.exit_code, "/.Work: Not a directory; left out" in result.output) == (1, True)
    assert learned(model, raw) == "spam"
    with remembering(box, Unreadable()) as memory, redirect_stderr(StringIO()) as told:
        path_of(box).rename(path_of(box).with_name("elsewhere"))
        assert [*memory.lessons()] == []
    assert "Maildir: No such file or directory" in told.getvalue()


def test_watch_learns_what_a_person_moves(box, model):
    spam, ham, sorted_ = mail("spam", 700), mail("ham", 700), mail("spam", 703)
    deleted, filed = mail("ham", 701), mail("ham", 702)
    junk, trash, work = (box.get_folder(name) for name in ("Junk", "Trash", "Work"))
    for raw in (spam, deleted, filed, sorted_):
        box.add(raw)
    junk.add(ham)

    def watch() -> str:
        return printed("watch", "--once", "-m", model, path_of(box))

    assert watch() == "" and learned(model, ham) is None  # where things are at first is no lesson
    put(box, box, junk, spam)
    put(box, junk, box, ham)
    put(box, box, trash, deleted)
    put(box, box, work, filed)
    assert {line.split("\t")[1] for line in watch().splitlines()} == {"spam", "ham"}
    assert learned(model, spam) == "spam" and learned(model, ham) == "ham"
    assert learned(model, deleted) is None and learned(model, filed) is None
    assert watch() == ""
    put(box, junk, work, spam)  # out again, to another folder
    assert watch().startswith("learned\tham\t") and learned(model, spam) == "ham"
    assert "to Junk" in printed("sort", "--all", "-m", model, path_of(box))  # the filter's move of the last one
    assert sorted_ in [message.as_bytes() for message in junk]
    assert watch() == "" and learned(model, sorted_) is None
    put(box, junk, box, sorted_)
    assert watch().startswith("learned\tham\t")


@pytest.mark.parametrize("name", ["Trash", "Deleted Messages", "Drafts", "Sent", "INBOX.Trash"])
def test_junk_that_is_thrown_away_is_no_good_mail(box, model, name):
    raw, junk, away = mail("spam", 750), box.get_folder("Junk"), box.add_folder(name)
    junk.add(raw)
    assert printed("watch", "--once", "-m", model, path_of(box)) == ""
    put(box, junk, away, raw)
    assert printed("watch", "--once", "-m", model, path_of(box)) == "" and learned(model, raw) is None
    put(box, away, box, raw)
    assert printed("watch", "--once", "-m", model, path_of(box)).startswith("learned\tham\t")


def test_a_folder_that_lacks_a_part_is_read_all_the_same(box, model):
    raw = mail("spam", 760)
    box.add(raw)
    (path_of(box) / ".Junk" / "new").rmdir()
    assert printed("watch", "--once", "-m", model, path_of(box)) == ""
    (path_of(box) / "new" / next(iter(box.keys()))).rename(path_of(box) / ".Junk" / "cur" / "1:2,")
    assert printed("watch", "--once", "-m", model, path_of(box)).startswith("learned\tspam\t")


@pytest.mark.parametrize(("age", "noticed"), [(-600, 1), (60, 0)])
def test_what_changed_just_now_is_listed_again_though_its_time_stamp_stands(box, age, noticed):
    part, stamp = path_of(box) / "cur", time.time() - age
    os.utime(path_of(box) / "new", (0, 0))
    with remembering(box) as memory:
        noted = []
        for name in ("1", "2"):
            (part / name).write_bytes(b"x")
            os.utime(part, (stamp, stamp))
            assert list(memory.lessons()) == []
            noted.append(memory.noted())
    assert noted == [1, 1 + noticed]


def test_a_message_on_both_sides_is_no_lesson_yet(box, model):
    raw = mail("spam", 800)
    box.add(raw)
    printed("watch", "--once", "-m", model, path_of(box))
    box.get_folder("Junk").add(raw)  # IMAP: COPY first
    assert printed("watch", "--once", "-m", model, path_of(box)) == ""
    box.clear()  # then EXPUNGE
    assert printed("watch", "--once", "-m", model, path_of(box)).startswith("learned\tspam\t")


def test_flags_and_tags_make_no_move(box, model):
    box.add(mail("spam", 900))
    printed("watch", "--once", "-m", model, path_of(box))
    (path,) = maildir.files(path_of(box) / "new")
    path.rename(path_of(box) / "cur" / (path.name + ":2,RS"))
    printed("sort", "--all", "--tag", "-m", model, path_of(box))
    assert printed("watch", "--once", "-m", model, path_of(box)) == ""
    with remembering(box) as memory:
        assert list(memory.lessons()) == []


def test_watch_runs_until_it_is_told_to_end(box, model):
    raw = mail("spam", 950)
    box.add(raw)
    command = [sys.executable, "-m", "spamnb", "watch", "--interval", "0.05", "-m", str(model), str(path_of(box))]
    process = subprocess.Popen(command, stdout=subprocess.PIPE)
    try:
        places = path_of(box) / "spamnb-places.sqlite"
        wait_until(lambda: places.exists() and noted(box))
        put(box, box, box.get_folder("Junk"), raw)
        wait_until(lambda: learned(model, raw) == "spam")
        process.send_signal(signal.SIGTERM)
        assert process.communicate(timeout=120)[0].startswith(b"learned\tspam\t") and process.returncode == 0
    finally:
        process.kill()
        process.wait()
        assert process.stdout is not None
        process.stdout.close()


def remembering(box: mailbox.Maildir, report: Report = never) -> Memory:
    return Memory.of(MaildirBox(path_of(box)), report)


def noted(box: mailbox.Maildir) -> int:
    with remembering(box) as memory:
        return memory.noted()


def once(model: Path, box: Path, *options: str) -> Result:
    return run("watch", "--once", *options, "-m", model, box)


def test_the_first_look_is_told(box, model):
    for seed in range(3):
        box.add(mail("ham", 500 + seed))
    said = "3 messages noted; from now on it learns from moves into Junk and out of it"
    assert once(model, path_of(box)).stderr == f"spamnb: {path_of(box)}: {said}\n"
    assert once(model, path_of(box)).output == ""


def test_a_mistyped_junk_is_refused_and_one_that_is_not_there_yet_is_told(tmp_path, model):
    box = mailbox.Maildir(tmp_path / "Maildir")
    box.add_folder("Junk.2024")
    box.add(mail("ham", 500))
    told = once(model, path_of(box))
    assert told.exit_code == 0 and told.stderr.startswith(
        f"spamnb: {path_of(box)}: no folder 'Junk' yet; moves into it are learned once it is there\nspamnb: "
    )
    assert once(model, path_of(box)).output == ""  # as from cron
    assert "no folder 'Junk' yet" in once(model, path_of(box), "--junk", "Junk").stderr
    box.add_folder("Junk")
    mistyped = once(model, path_of(box), "--junk", "Jnk")
    assert mistyped.exit_code == 1 and "no folder 'Jnk'; did you mean --junk Junk?" in mistyped.stderr


def test_another_name_of_junk_makes_no_lessons_of_all_spam(box, model):
    raw = mail("spam", 700)
    box.get_folder("Junk").add(raw)
    assert once(model, path_of(box)).exit_code == 0
    told = once(model, path_of(box), "--junk", "Unwanted")
    assert told.exit_code == 1 and "no folder 'Unwanted', though spam was noted in one" in told.stderr
    assert learned(model, raw) is None


def test_what_is_put_into_the_folder_for_teaching_is_learned_and_goes_on(model, box):
    path, options = path_of(box), ("--learn-folder", "Learn")
    assert once(model, path, *options).exit_code == 0
    (path / ".Learn.spam" / "cur" / "1:2,S").write_bytes(mail("spam", 900))
    (path / ".Learn.ham" / "new" / "2").write_bytes(mail("ham", 900))
    told = once(model, path, *options)
    assert told.exit_code == 0 and told.stdout.count("learned\t") == 2
    assert learned(model, mail("spam", 900)) == "spam" and learned(model, mail("ham", 900)) == "ham"
    assert [each.read_bytes() for each in maildir.files(path / ".Junk" / "cur")] == [mail("spam", 900)]
    assert [each.read_bytes() for each in maildir.files(path / "new")] == [mail("ham", 900)]
    assert once(model, path, *options).output == ""


class Lost:
    """A mailbox that is out of reach."""

    box = property(lambda self: self)
    memory = property(lambda self: self)

    def looked(self) -> bool:
        raise SpamnbError("out of reach")

    def close(self) -> None:
        pass


def test_a_server_that_was_lost_is_asked_again_within_half_a_minute(model: Path):
    watching = Watching(Target("here", model), Lost())
    with redirect_stderr(StringIO()) as told:
        pauses = [watching.look_and_wait(60) for _ in range(2000)]
    assert pauses[0] <= 1 and 20 < max(pauses) <= 30
    assert told.getvalue() == "spamnb: out of reach; asked again after growing pauses\n"


def test_all_that_wait_are_woken():
    stop = Stop()
    threads = [threading.Thread(target=stop.wait) for _ in range(20)]
    for thread in threads:
        thread.start()
    stop()
    for thread in threads:
        thread.join()
    stop.wait()  # of one that comes late
