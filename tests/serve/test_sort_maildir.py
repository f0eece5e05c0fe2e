"""``sort`` in a Maildir with folders as IMAP servers lay them out: what it moves, tags and refuses."""

import gzip
import os

from commands import printed, run
from mail import learned
from maildirs import path_of
from served import mail

from spamnb.sources import maildir


def test_mail_that_was_looked_at_is_sorted_only_when_told(box, model):
    (path_of(box) / "cur" / "1:2,S").write_bytes(mail("spam", 650))
    assert printed("sort", "-m", model, path_of(box)) == ""
    assert "to Junk" in printed("sort", "--all", "-m", model, path_of(box))
    (moved,) = maildir.files(path_of(box) / ".Junk" / "cur")
    assert moved.name.endswith(":2,S") and moved.name != "1:2,S"


def test_what_sort_cannot_read_is_told_and_stays(box, model):
    (path_of(box) / "new" / "1").write_bytes(gzip.compress(mail("spam", 651))[:-9])
    (path_of(box) / "new" / "2").write_bytes(mail("spam", 652))
    quiet = run("sort", "--quiet", "--dry-run", "-m", model, path_of(box))
    assert quiet.stdout == "" and quiet.stderr.count("\n") == 1 and "broken gzip data" in quiet.stderr
    result = run("sort", "-m", model, path_of(box))
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
    assert "tagged" in printed("sort", "--all", "--tag", "-m", model, path_of(box))
    (tagged,) = maildir.files(path_of(box) / "cur")
    assert tagged.name != path.name and tagged.name.endswith(":2,F") and tagged.stat().st_mtime == 1_000_000_000
    assert tagged.read_bytes().startswith(b"X-Spam-Flag: YES\n") and tagged.read_bytes().endswith(mail("spam", 600))
    printed("sort", "--all", "--tag", "-m", model, path_of(box))
    assert maildir.files(path_of(box) / "cur") == [tagged]  # nothing new to say, nothing written
    assert not maildir.files(path_of(box) / "tmp")


def test_mail_that_dovecot_keeps_compressed(box, model):
    spam, ham = mail("spam", 650), mail("ham", 650)
    new = path_of(box) / "new"
    for name, raw in (("1.a,S=9", spam), ("2.b", ham)):
        (new / name).write_bytes(gzip.compress(raw))
    told = run("sort", "--tag", "-m", model, path_of(box))
    assert [line.split("\t")[0] for line in told.stdout.splitlines()] == ["spam", "ham"]
    assert told.stderr == "spamnb: 2 messages: 1 tagged ham, 1 tagged spam\n"
    tagged = sorted(gzip.decompress(path.read_bytes()) for path in maildir.files(new))  # X-Spam-Flag stands first
    assert tagged[0].startswith(b"X-Spam-Flag: YES\n") and [raw[-80:] for raw in tagged] == [spam[-80:], ham[-80:]]
    assert printed("sort", "-m", model, path_of(box)) == ""  # judged once
    printed("sort", "--all", "-m", model, path_of(box))
    (moved,), (kept,) = maildir.files(path_of(box) / ".Junk" / "new"), maildir.files(new)
    assert gzip.decompress(moved.read_bytes()) == tagged[0] and gzip.decompress(kept.read_bytes()) == tagged[1]
    assert printed("watch", "--once", "-m", model, path_of(box)) == ""
    maildir.move(moved, path_of(box))
    assert printed("watch", "--once", "-m", model, path_of(box)).startswith("learned\tham\t")
    assert learned(model, spam) == "ham"


def test_names_of_the_folder_of_spam(box, model, tmp_path):
    """With its dot, in another case, with folders below it; what names the mailbox itself is refused."""
    for label in ("spam", "ham"):
        (tmp_path / "mail" / label).mkdir(parents=True)
        for seed in range(20):
            (tmp_path / "mail" / label / str(seed)).write_bytes(mail(label, seed))
    printed("train", "-m", tmp_path / "unsure", "--set", "unsure_cost=0.000001", tmp_path / "mail")
    box.add(mail("spam", 670))
    assert "to .Junk\t" in printed("sort", "-m", model, "--junk", ".Junk", path_of(box))
    box.add(mail("ham", 670))
    assert "to Junk.Maybe" in printed("sort", "-m", tmp_path / "unsure", "--unsure", "Junk.Maybe", path_of(box))
    for name in (".Junk", "junk", "Junk"):  # all was sort's doing
        assert printed("watch", "--once", "--junk", name, "-m", model, path_of(box)) == ""
    for name in ("", ".", ".."):
        for command in ("sort", "watch"):
            result = run(command, "-m", model, "--junk", name, path_of(box))
            assert result.exit_code == 1 and "names no folder" in result.output, (command, name)


def test_no_maildir_is_said_in_one_line(tmp_path, model):
    for name in ("sort", "watch"):
        result = run(name, "-m", model, tmp_path)
        assert result.exit_code == 1 and "no Maildir" in result.output and "Traceback" not in result.output


def test_a_damaged_record_says_what_to_do(box, model):
    box.add(mail("spam", 960))
    (path_of(box) / "spamnb-places.sqlite").write_text("no database")
    for command in (["sort"], ["watch", "--once"]):
        result = run(*command, "-m", model, path_of(box))
        assert result.exit_code == 1 and "; remove it:" in result.output and "train" not in result.output


def test_nothing_new_is_said_in_a_line(box, model):
    def told(*options: str) -> tuple[str, str]:
        done = run("sort", *options, "-m", model, path_of(box))
        assert done.exit_code == 0
        return done.stdout, done.stderr

    assert told() == ("", f"spamnb: {path_of(box)}: no new messages\n")
    assert told("--all") == ("", f"spamnb: {path_of(box)}: no messages\n")
    assert told("--quiet") == ("", "")


def test_a_folder_of_a_maildir_is_no_maildir_of_its_own(box, model, monkeypatch):
    """Mail in .Junk/.Junk is lost to sight: no reader looks there, and mbsync takes it from the server."""
    raw = mail("spam", 670)
    for name in (".Junk", ".Work"):
        (path_of(box) / name / "new" / "1").write_bytes(raw)
    before = sorted(path_of(box).rglob("*"))
    for command in (["sort"], ["watch", "--once"]):
        for name in (".Junk", ".Work"):
            said = f"{path_of(box) / name}: a folder of the Maildir {path_of(box)}; name that one instead, or 'Junk'"
            done = run(*command, "-m", model, path_of(box) / name)
            assert done.exit_code == 1 and f"{said} by its path, as ../.Junk\n" in done.stderr
    monkeypatch.chdir(path_of(box) / ".Work")
    assert run("sort", "-m", model, ".").exit_code == 1
    assert sorted(path_of(box).rglob("*")) == before
    assert "to ../.Junk\t" in printed("sort", "--junk", "../.Junk", "-m", model, ".")
    assert [path.read_bytes() for path in maildir.files(path_of(box) / ".Junk" / "new")] == [raw, raw]
