"""Sorting a Maildir and learning from what is moved in it; Python's own ``mailbox`` plays the mail reader."""

from __future__ import annotations

import gzip
import mailbox
import os
import shutil
import signal
import subprocess
import sys
import time
import tracemalloc
from contextlib import redirect_stderr
from io import StringIO
from pathlib import Path

import pytest
from click.testing import CliRunner
from served import mail

from spamnb.classifier import Classifier
from spamnb.cli import cli
from spamnb.cli.options import Unreadable
from spamnb.errors import SpamnbError
from spamnb.serve.moves import SeenFolders
from spamnb.sources import maildir
from spamnb.sources.entries import MAX_MESSAGE


@pytest.fixture
def box(tmp_path: Path) -> mailbox.Maildir:
    """A Maildir with folders as IMAP servers lay them out."""
    made = mailbox.Maildir(tmp_path / "Maildir")
    for name in ("Junk", "Trash", "Work"):
        made.add_folder(name)
    return made


def run(*arguments: object) -> str:
    result = CliRunner().invoke(cli, [str(argument) for argument in arguments])
    assert result.exit_code == 0, result.output
    return result.output


def subjects(folder: mailbox.Maildir) -> list[str]:
    return sorted(message["Message-ID"] for message in folder)


def made(box: Path, name: str) -> Path:
    return maildir.made(maildir.locate(box, name))


def path_of(box: mailbox.Maildir) -> Path:
    return Path(box._path)  # type: ignore[attr-defined]


def test_sort_moves_spam_and_nothing_else(box, model):
    for seed in range(5):
        box.add(mail("spam", 500 + seed))
        box.add(mail("ham", 500 + seed))
    before = {message["Message-ID"] for message in box}
    files = sorted(path_of(box).rglob("*"))
    assert "to Junk" in run("sort", "--dry-run", "-m", model, path_of(box))
    assert sorted(path_of(box).rglob("*")) == files and len(box) == 10
    run("sort", "-m", model, path_of(box))
    assert subjects(box.get_folder("Junk")) == [f"<{500 + seed}.spam@example.org>" for seed in range(5)]
    assert subjects(box) == [f"<{500 + seed}.ham@example.org>" for seed in range(5)]
    assert {message["Message-ID"] for place in (box, box.get_folder("Junk")) for message in place} == before
    raw = next(iter(box.get_folder("Junk").itervalues())).as_bytes()
    assert raw in {mail("spam", 500 + seed) for seed in range(5)}  # moved, not altered
    run("sort", "-m", model, path_of(box))
    assert len(box) == 5


def test_mail_that_was_looked_at_is_sorted_only_when_told(box, model):
    (path_of(box) / "cur" / "1:2,S").write_bytes(mail("spam", 650))
    assert run("sort", "-m", model, path_of(box)) == ""
    assert "to Junk" in run("sort", "--all", "-m", model, path_of(box))
    (moved,) = maildir.files(path_of(box) / ".Junk" / "cur")
    assert moved.name.endswith(":2,S") and moved.name != "1:2,S"


def test_what_sort_cannot_read_is_told_and_stays(box, model):
    (path_of(box) / "new" / "1").write_bytes(gzip.compress(mail("spam", 651))[:-9])
    (path_of(box) / "new" / "2").write_bytes(mail("spam", 652))
    result = CliRunner().invoke(cli, ["sort", "-m", str(model), str(path_of(box))])
    assert result.exit_code == 1 and f"{path_of(box) / 'new' / '1'}: broken gzip data" in result.stderr
    assert result.stdout.count("\n") == 1 and "\tto Junk\t" in result.stdout and result.stdout.endswith("\t2\n")
    assert result.stderr.endswith("\nspamnb: 1 message: 1 to Junk\n")
    assert [path.name for path in maildir.files(path_of(box) / "new")] == ["1"]


def test_sort_tags_and_keeps_date_flags_and_body(box, model):
    key = box.add(mail("spam", 600))
    message = box[key]
    message.set_subdir("cur")
    message.add_flag("F")
    box[key] = message
    path = maildir.files(path_of(box) / "cur")[0]
    os.utime(path, (1_000_000_000, 1_000_000_000))
    assert "tagged" in run("sort", "--all", "--tag", "-m", model, path_of(box))
    (tagged,) = maildir.files(path_of(box) / "cur")
    assert tagged.name != path.name and tagged.name.endswith(":2,F") and tagged.stat().st_mtime == 1_000_000_000
    assert tagged.read_bytes().startswith(b"X-Spam-Flag: YES\n") and tagged.read_bytes().endswith(mail("spam", 600))
    run("sort", "--all", "--tag", "-m", model, path_of(box))
    assert maildir.files(path_of(box) / "cur") == [tagged]  # nothing new to say, nothing written
    assert not maildir.files(path_of(box) / "tmp")


def test_mail_that_dovecot_keeps_compressed(box, model):
    spam, ham = mail("spam", 650), mail("ham", 650)
    new = path_of(box) / "new"
    for name, raw in (("1.a,S=9", spam), ("2.b", ham)):
        (new / name).write_bytes(gzip.compress(raw))
    told = run("sort", "--tag", "-m", model, path_of(box)).splitlines()
    assert [line.split("\t")[0] for line in told[:-1]] == ["spam", "ham"]
    assert told[-1] == "spamnb: 2 messages: 1 tagged ham, 1 tagged spam"
    tagged = sorted(gzip.decompress(path.read_bytes()) for path in maildir.files(new))  # X-Spam-Flag stands first
    assert tagged[0].startswith(b"X-Spam-Flag: YES\n") and [raw[-80:] for raw in tagged] == [spam[-80:], ham[-80:]]
    assert run("sort", "-m", model, path_of(box)) == ""  # judged once
    run("sort", "--all", "-m", model, path_of(box))
    (moved,), (kept,) = maildir.files(path_of(box) / ".Junk" / "new"), maildir.files(new)
    assert gzip.decompress(moved.read_bytes()) == tagged[0] and gzip.decompress(kept.read_bytes()) == tagged[1]
    assert run("watch", "--once", "-m", model, path_of(box)) == ""
    maildir.move(moved, path_of(box))
    assert run("watch", "--once", "-m", model, path_of(box)).startswith("learned\tham\t")
    assert learned(model, spam) == "ham"


def test_watch_takes_names_that_are_not_utf_8(box, model):
    folder = made(path_of(box), os.fsdecode(b"Entw\xfcrfe\x07"))
    path = folder / "cur" / os.fsdecode(b"1.\xe9:2,S")
    path.write_bytes(mail("spam", 660))
    assert run("watch", "--once", "-m", model, path_of(box)) == ""
    path.rename(path_of(box) / ".Junk" / "cur" / path.name)
    assert "1.\\udce9:2,S" in run("watch", "--once", "-m", model, path_of(box))
    assert learned(model, mail("spam", 660)) == "spam"


def test_a_lesson_that_is_missed_is_told_and_comes_again(box, model, monkeypatch):
    raw = mail("spam", 680)
    box.add(raw)
    run("watch", "--once", "-m", model, path_of(box))
    put(box, box, box.get_folder("Junk"), raw)
    with monkeypatch.context() as patched:
        patched.setattr(Classifier, "learn", full)
        result = CliRunner().invoke(cli, ["watch", "--once", "-m", str(model), str(path_of(box))])
    assert (result.exit_code, result.output) == (1, "spamnb: the disk is full\n")
    assert run("watch", "--once", "-m", model, path_of(box)).startswith("learned\tspam\t")


def full(*arguments: object) -> bool:
    raise SpamnbError("the disk is full")


def test_names_of_the_folder_of_spam(box, model, tmp_path):
    """With its dot, in another case, with folders below it; what names the mailbox itself is refused."""
    for label in ("spam", "ham"):
        (tmp_path / "mail" / label).mkdir(parents=True)
        for seed in range(20):
            (tmp_path / "mail" / label / str(seed)).write_bytes(mail(label, seed))
    run("train", "-m", tmp_path / "unsure", "--unsure-cost", "0.000001", tmp_path / "mail")
    box.add(mail("spam", 670))
    assert "to .Junk\t" in run("sort", "-m", model, "--junk", ".Junk", path_of(box))
    box.add(mail("ham", 670))
    assert "to Junk.Maybe" in run("sort", "-m", tmp_path / "unsure", "--unsure", "Junk.Maybe", path_of(box))
    for name in (".Junk", "junk", "Junk"):  # all was sort's doing
        assert run("watch", "--once", "--junk", name, "-m", model, path_of(box)) == ""
    for name in ("", ".", ".."):
        for command in ("sort", "watch"):
            result = CliRunner().invoke(cli, [command, "-m", str(model), "--junk", name, str(path_of(box))])
            assert result.exit_code == 1 and "names no folder" in result.output, (command, name)


def test_many_moves_are_read_one_at_a_time(box, model):
    for seed in range(20):
        box.add(mail("spam", 1000 + seed) + b"x" * 500_000)
    run("watch", "--once", "-m", model, path_of(box))
    for path in maildir.files(path_of(box) / "new"):
        maildir.move(path, path_of(box) / ".Junk")
    tracemalloc.start()
    try:
        with SeenFolders.of(path_of(box)) as places:
            assert sum(lesson.spam for lesson in places.lessons("Junk", Unreadable())) == 20
        assert tracemalloc.get_traced_memory()[1] < 5_000_000
    finally:
        tracemalloc.stop()


def test_watch_once_ends_with_1_where_it_could_not_read(box, model):
    (path_of(box) / "new" / "1").write_bytes(gzip.compress(mail("spam", 653))[:-9])
    result = CliRunner().invoke(cli, ["watch", "--once", "-m", str(model), str(path_of(box))])
    assert result.exit_code == 1 and result.stderr.count("broken gzip data") == 1


def test_watch_tells_once_what_it_cannot_read(box, model):
    with (path_of(box) / "cur" / "1.long").open("wb") as file:
        file.truncate(MAX_MESSAGE + 1)
    unreadable = Unreadable()
    with SeenFolders.of(path_of(box)) as places, redirect_stderr(StringIO()) as told:
        assert [*places.lessons("Junk", unreadable), *places.lessons("Junk", unreadable)] == []
    assert unreadable.count == 2 and told.getvalue().count("left out") == 1


def test_a_folder_that_cannot_be_read_does_not_end_watch(box, model):
    raw = mail("spam", 704)
    box.add(raw)
    run("watch", "--once", "-m", model, path_of(box))
    put(box, box, box.get_folder("Junk"), raw)
    shutil.rmtree(path_of(box) / ".Work" / "new")
    (path_of(box) / ".Work" / "new").touch()
    result = CliRunner().invoke(cli, ["watch", "--once", "-m", str(model), str(path_of(box))])
    assert (result.exit_code, "/.Work: Not a directory; left out" in result.output) == (1, True)
    assert learned(model, raw) == "spam"
    unreadable = Unreadable()
    with SeenFolders.of(path_of(box)) as places, redirect_stderr(StringIO()) as told:
        path_of(box).rename(path_of(box).with_name("elsewhere"))
        assert [*places.lessons("Junk", unreadable)] == []
    assert "Maildir: No such file or directory" in told.getvalue()


def test_moving_never_overwrites_and_minds_what_is_gone(tmp_path):
    one, other = made(tmp_path, "One"), made(tmp_path, "Other")
    (one / "cur" / "1.a:2,S").write_bytes(b"first")
    (other / "cur" / "1.a:2,S").write_bytes(b"second")
    moved = maildir.move(one / "cur" / "1.a:2,S", other)
    assert moved.name.endswith(":2,S") and moved.read_bytes() == b"first"
    assert (other / "cur" / "1.a:2,S").read_bytes() == b"second" and not maildir.files(one / "cur")
    with pytest.raises(FileNotFoundError):
        maildir.move(one / "cur" / "1.a:2,S", other)
    with pytest.raises(FileNotFoundError):
        maildir.replace(one / "cur" / "1.a:2,S", b"x")
    assert len(maildir.files(other / "cur")) == 2 and not maildir.files(one / "tmp")


@pytest.mark.parametrize("change", ["move", "replace"])
def test_what_a_mail_reader_renames_meanwhile_is_left_where_that_put_it(tmp_path, monkeypatch, change):
    one, other = made(tmp_path, "One"), made(tmp_path, "Other")
    message, renamed = one / "cur" / "1.a:2,", one / "cur" / "1.a:2,S"
    message.write_bytes(b"first")
    name = "link" if change == "move" else "rename"
    done = getattr(os, name)

    def with_a_reader(source, target):
        done(source, target)
        message.replace(renamed)

    monkeypatch.setattr(os, name, with_a_reader)
    with pytest.raises(FileNotFoundError):
        _ = maildir.move(message, other) if change == "move" else maildir.replace(message, b"x")
    monkeypatch.undo()
    assert maildir.files(one / "cur") == [renamed] and renamed.read_bytes() == b"first"
    assert not maildir.files(other / "cur") and not maildir.files(one / "tmp")


def test_folders_and_messages_are_what_maildirs_call_so(tmp_path):
    box = made(tmp_path, "Box")
    (box / "cur" / "1").write_bytes(b"x")
    (box / "cur" / "2").symlink_to(box / "cur" / "1")
    (box / "cur" / "3").mkdir()
    (box / "cur" / ".4").write_bytes(b"x")
    assert maildir.files(box / "cur") == [box / "cur" / "1"]
    made(tmp_path, "A.B")
    (tmp_path / ".file").write_bytes(b"x")
    (tmp_path / ".folder").mkdir()
    (tmp_path / "visible" / "cur").mkdir(parents=True)
    assert maildir.folders(tmp_path) == [tmp_path, tmp_path / ".A.B", tmp_path / ".Box"]


def learned(model: Path, raw: bytes) -> str | None:
    with Classifier.open(model) as classifier:
        return classifier.learned(raw)


def put(box: mailbox.Maildir, source: mailbox.Maildir, target: mailbox.Maildir, raw: bytes) -> None:
    """Move a message as mail readers do: a copy under a new name, then the old one goes."""
    key = next(key for key, message in source.items() if message.as_bytes() == raw)
    target.add(source[key])
    source.remove(key)


def test_watch_learns_what_a_person_moves(box, model):
    spam, ham, sorted_ = mail("spam", 700), mail("ham", 700), mail("spam", 703)
    deleted, filed = mail("ham", 701), mail("ham", 702)
    junk, trash, work = (box.get_folder(name) for name in ("Junk", "Trash", "Work"))
    for raw in (spam, deleted, filed, sorted_):
        box.add(raw)
    junk.add(ham)

    def watch() -> str:
        return run("watch", "--once", "-m", model, path_of(box))

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
    assert "to Junk" in run("sort", "--all", "-m", model, path_of(box))  # the filter's move of the last one
    assert sorted_ in [message.as_bytes() for message in junk]
    assert watch() == "" and learned(model, sorted_) is None
    put(box, junk, box, sorted_)
    assert watch().startswith("learned\tham\t")


@pytest.mark.parametrize("name", ["Trash", "Deleted Messages", "Drafts", "Sent", "INBOX.Trash"])
def test_junk_that_is_thrown_away_is_no_good_mail(box, model, name):
    raw, junk, away = mail("spam", 750), box.get_folder("Junk"), box.add_folder(name)
    junk.add(raw)
    assert run("watch", "--once", "-m", model, path_of(box)) == ""
    put(box, junk, away, raw)
    assert run("watch", "--once", "-m", model, path_of(box)) == "" and learned(model, raw) is None
    put(box, away, box, raw)
    assert run("watch", "--once", "-m", model, path_of(box)).startswith("learned\tham\t")


def test_a_folder_that_lacks_a_part_is_read_all_the_same(box, model):
    raw = mail("spam", 760)
    box.add(raw)
    (path_of(box) / ".Junk" / "new").rmdir()
    assert run("watch", "--once", "-m", model, path_of(box)) == ""
    (path_of(box) / "new" / next(iter(box.keys()))).rename(path_of(box) / ".Junk" / "cur" / "1:2,")
    assert run("watch", "--once", "-m", model, path_of(box)).startswith("learned\tspam\t")


@pytest.mark.parametrize(("age", "noticed"), [(0.5, 1), (60, 0)])
def test_what_changed_just_now_is_listed_again_though_its_time_stamp_stands(box, age, noticed):
    part, stamp = path_of(box) / "cur", time.time() - age
    with SeenFolders.of(path_of(box)) as places:
        listed = []
        for name in ("1", "2"):
            (part / name).write_bytes(b"x")
            os.utime(part, (stamp, stamp))
            listed.append(len(places._list(part)))
    assert listed == [1, 1 + noticed]


def test_a_message_on_both_sides_is_no_lesson_yet(box, model):
    raw = mail("spam", 800)
    box.add(raw)
    run("watch", "--once", "-m", model, path_of(box))
    box.get_folder("Junk").add(raw)  # IMAP: COPY first
    assert run("watch", "--once", "-m", model, path_of(box)) == ""
    box.clear()  # then EXPUNGE
    assert run("watch", "--once", "-m", model, path_of(box)).startswith("learned\tspam\t")


def test_flags_and_tags_make_no_move(box, model):
    box.add(mail("spam", 900))
    run("watch", "--once", "-m", model, path_of(box))
    (path,) = maildir.files(path_of(box) / "new")
    path.rename(path_of(box) / "cur" / (path.name + ":2,RS"))
    run("sort", "--all", "--tag", "-m", model, path_of(box))
    assert run("watch", "--once", "-m", model, path_of(box)) == ""
    with SeenFolders.of(path_of(box)) as places:
        assert list(places.lessons("Junk", lambda name, error: pytest.fail(f"{name}: {error}"))) == []


def test_watch_runs_until_it_is_told_to_end(box, model):
    raw = mail("spam", 950)
    box.add(raw)
    command = [sys.executable, "-m", "spamnb", "watch", "--interval", "0.05", "-m", str(model), str(path_of(box))]
    process = subprocess.Popen(command, stdout=subprocess.PIPE)
    try:
        places = path_of(box) / "spamnb-places.sqlite"
        deadline = time.monotonic() + 20
        while not (places.exists() and seen(path_of(box))):
            assert time.monotonic() < deadline
            time.sleep(0.05)
        put(box, box, box.get_folder("Junk"), raw)
        while learned(model, raw) != "spam":
            assert time.monotonic() < deadline
            time.sleep(0.05)
        process.send_signal(signal.SIGTERM)
        assert process.communicate(timeout=20)[0].startswith(b"learned\tspam\t") and process.returncode == 0
    finally:
        process.kill()
        process.wait()
        assert process.stdout is not None
        process.stdout.close()


def seen(box: Path) -> bool:
    with SeenFolders.of(box) as places:
        return bool(places._connection.execute("SELECT count(*) FROM places").fetchone()[0])


def test_no_maildir_is_said_in_one_line(tmp_path, model):
    for name in ("sort", "watch"):
        result = CliRunner().invoke(cli, [name, "-m", str(model), str(tmp_path)])
        assert result.exit_code == 1 and "no Maildir" in result.output and "Traceback" not in result.output


def test_a_damaged_record_says_what_to_do(box, model):
    box.add(mail("spam", 960))
    (path_of(box) / "spamnb-places.sqlite").write_text("no database")
    for command in (["sort"], ["watch", "--once"]):
        result = CliRunner().invoke(cli, [*command, "-m", str(model), str(path_of(box))])
        assert result.exit_code == 1 and "; remove it:" in result.output and "train" not in result.output
