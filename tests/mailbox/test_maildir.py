"""What only a Maildir has: layouts, names of files and folders, compressed mail, what cannot be read."""

import errno
import gzip
import os
import shutil
import signal
from contextlib import nullcontext, redirect_stderr
from io import StringIO
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from commands import run, stdout_of
from mail import count_verdicts, learned_class, mail, message, write_folders
from person import MaildirPerson, key
from programs import watching
from unpacked import wait_until

from spamnb.cli.mailboxes import Target
from spamnb.cli.options import tell
from spamnb.cli.watch import Stop, Watcher
from spamnb.errors import SpamnbError
from spamnb.ledger.ledger import Ledger
from spamnb.mailbox import maildir
from spamnb.mailbox.maildir import MaildirMailbox
from spamnb.reader.message import digest
from spamnb.sources.entries import SkippedMessages
from spamnb.sources.formats import MAX_MESSAGE


@pytest.fixture
def person(tmp_path: Path, model: Path) -> MaildirPerson:
    return MaildirPerson(tmp_path, model)


@pytest.fixture
def nested(tmp_path: Path, model: Path) -> MaildirPerson:
    """``Mail/INBOX`` with two messages of each class, beside ``Mail/Junk`` and others."""
    made = MaildirPerson(tmp_path, model, beside=True)
    made.arrive(range(500, 502))
    return made


def tree(root: Path) -> dict[str, object]:
    """All there is: content and date."""
    files = [(path, path.read_bytes() if path.is_file() else None) for path in sorted(root.rglob("*"))]
    return {str(path): (content, path.stat().st_mtime_ns) for path, content in files}


@pytest.mark.parametrize(
    "name", ["", ".", "..", "...", "a..b", "Junk.", "./", "INBOX", "../Spam", "Junk", "Junk/New", "/", "/tmp"]
)
def test_a_folder_that_is_not_there_is_refused_and_nothing_is_made(nested, model, tmp_path, name):
    before = tree(nested.path.parent)
    for command in (["sort", "--junk"], ["watch", "--once", "--junk"], ["sort", "--junk", "../Junk", "--unsure"]):
        told = run(*command, name, "-m", model, nested.path)
        assert told.exit_code == 1 and told.stdout == "" and told.stderr.count("\n") == 1, told.output
        assert tree(nested.path.parent) == before


@pytest.mark.parametrize("known", [False, True])
def test_a_dry_run_writes_nothing_at_all(nested, known):
    if known:  # there is a record to read
        nested.sort()
        nested.deliver(message("spam", 600))
    before = tree(nested.path.parent)
    for options in ([], ["--all"]):
        told = nested.sort("--dry-run", *options)
        assert told.exit_code == 0 and tree(nested.path.parent) == before
        if not options:
            assert told.stderr.startswith(f"spamnb: {'1 message' if known else '4 messages'}: ")
            assert told.stderr.endswith(" (dry run)\n")


def test_what_is_being_moved_at_ctrl_c_is_moved_and_told_and_noted(person, tmp_path, monkeypatch):
    move = MaildirMailbox.move

    def interrupted(*arguments: Any) -> Any:
        signal.raise_signal(signal.SIGINT)
        return move(*arguments)

    monkeypatch.setattr(MaildirMailbox, "move", interrupted)
    for seed in range(500, 540):
        person.deliver(message("spam", seed))
    told = person.sort("--all", "--ledger", str(tmp_path / "ledger"))
    assert told.exit_code == 130 and told.stdout.count("to Junk") == 32 == len(person.paths("Junk"))
    assert told.stderr.endswith(": 32 messages: 32 to Junk; the next run sorts the rest\n\nspamnb: interrupted\n")
    with Ledger.open(tmp_path / "ledger") as ledger:
        assert count_verdicts(ledger) == 32
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_hostile_header_fields_leave_a_line_a_line(person):
    head = b"From: =?utf-8?q?a=1B[2J=09?= <a@spam.example>\nDate: Mon\x1b[2J\nSubject: "
    person.deliver(head + b"x" * 10_000 + b"\n\nmeeting minutes report agenda draft patch review lunch")
    told = person.sort().stdout
    assert told.count("\n") == 1 and told.replace("\t", "").replace("\n", "").isprintable()
    line = told.split("\t")
    assert len(line) == 7 and len(line[4]) <= 66  # "…" may be written as an escape


@pytest.mark.parametrize("name", ["2.delivered,U=12", "99.other,U=17,FMD5=7e33429f656f1e6e9d79b29c3f82c57e:2,"])
def test_a_message_that_mbsync_or_offlineimap_gave_another_name_is_no_new_one(person, name):
    person.deliver(b"Subject: x\n\nx")
    person.deliver(message("ham", 500))
    person.sort()
    (person.path / "new" / "2.delivered").rename(person.path / "new" / name)
    assert person.sort().stdout == ""
    for path in person.paths("INBOX"):
        path.unlink()
    person.sort()
    with person.open_record() as record, record.ledger.reading():  # which does not grow with mail that is gone
        assert record.ledger.execute("SELECT count(*) FROM new_mail").fetchone() == (0,)


def test_what_cannot_be_read_is_told_and_stays(person):
    (person.path / "new" / "1").write_bytes(gzip.compress(message("spam", 651))[:-9])
    (person.path / "new" / "2").write_bytes(message("spam", 652))
    for told in (person.sort("--quiet", "--dry-run"), person.watch()):
        assert told.exit_code == 1 and told.stdout == "" and told.stderr.count("broken gzip data") == 1
    result = person.sort()
    assert result.exit_code == 1 and f"{person.path / 'new' / '1'}: broken gzip data" in result.stderr
    assert result.stdout.count("\n") == 1 and result.stderr.endswith("\nspamnb: 1 message: 1 to Junk\n")
    assert [path.name for path in maildir.files(person.path / "new")] == ["1"]


def test_mail_that_dovecot_keeps_compressed(person, model):
    spam = message("spam", 650)
    for name, raw in (("1.a,S=9", spam), ("2.b", message("ham", 650))):
        (person.path / "new" / name).write_bytes(gzip.compress(raw))
    assert person.sort().stderr == "spamnb: 2 messages: 1 to Junk, 1 stay\n"
    (moved,) = person.paths("Junk")
    assert gzip.decompress(moved.read_bytes()) == spam and ",S=9" in moved.name
    assert person.watch().stdout == ""
    maildir.move_file(moved, person.path)
    assert person.watch().stdout.startswith("learned\tham\t") and learned_class(model, spam) == "ham"


def test_names_of_the_folder_of_spam(person, model, tmp_path):
    """With its dot, in another case, with folders below it."""
    person.deliver(message("spam", 670))
    assert "to Junk\t" in person.sort("--junk", ".Junk").stdout
    mails = write_folders(tmp_path / "mail", mail(20))
    stdout_of("train", "-m", tmp_path / "unsure", "--set", "unsure_cost=0.000001", mails)
    person.deliver(message("ham", 670))
    told = stdout_of("sort", "-m", tmp_path / "unsure", "--unsure", "Junk.Maybe", person.path)
    assert "to Junk.Maybe" in told
    for name in (".Junk", "junk", "Junk"):  # all was sort's doing
        assert person.watch("--junk", name).stdout == ""
    told = person.watch("--junk", "Unwanted")
    assert told.exit_code == 1 and "no folder 'Unwanted', but spam is recorded in another" in told.stderr
    assert told.stderr.endswith("; nothing is learned\n")
    assert learned_class(model, message("spam", 670)) is None


def test_a_folder_of_a_maildir_is_no_maildir_of_its_own(person, model, monkeypatch, tmp_path):
    """Mail in .Junk/.Junk is lost to sight: no reader looks there, and mbsync takes it from the server."""
    person.deliver(message("spam", 670), "Junk")
    person.deliver(message("spam", 670), "Work")
    before = tree(person.path)
    for command in (["sort"], ["watch", "--once"]):
        for name in (".Junk", ".Work"):
            said = f"{person.path / name}: a folder of the Maildir {person.path}; name that Maildir instead"
            done = run(*command, "-m", model, person.path / name)
            assert done.exit_code == 1 and f"{said}, or write ../.Junk for 'Junk'\n" in done.stderr
        assert "no Maildir" in run(*command, "-m", model, tmp_path).output
    assert tree(person.path) == before
    monkeypatch.chdir(person.path / ".Work")
    assert "to ../.Junk\t" in stdout_of("sort", "--all", "--junk", "../.Junk", "-m", model, ".")
    assert len(person.paths("Junk")) == 2


# -- watch ---------------------------------------------------------------------------------------------------------


def test_names_that_are_not_utf_8(person, model):
    folder = maildir.make_folder(person.path / os.fsdecode(b".Entw\xfcrfe\x07"))
    path = folder / "cur" / os.fsdecode(b"1.\xe9:2,S")
    path.write_bytes(message("spam", 660))
    assert person.watch().stdout == ""
    path.rename(person.path / ".Junk" / "cur" / path.name)
    assert "1.\\udce9:2,S" in person.watch().stdout and learned_class(model, message("spam", 660)) == "spam"


def test_a_message_or_a_folder_that_cannot_be_read_does_not_end_watch(person, model):
    raw = message("spam", 704)
    person.deliver(raw)
    person.watch()
    with (person.path / "cur" / "1.long").open("wb") as file:
        file.truncate(MAX_MESSAGE + 1)
    person.move(key("spam", 704), "INBOX", "Junk")
    shutil.rmtree(person.path / ".Work" / "new")
    (person.path / ".Work" / "new").touch()
    result = person.watch()
    assert result.exit_code == 1 and "/.Work: Not a directory; left out" in result.output and "1.long" in result.output
    assert learned_class(model, raw) == "spam"
    unreadable = SkippedMessages(tell)
    with person.open_record(unreadable) as record, redirect_stderr(StringIO()) as told:
        assert [*record.learn_moves(pytest.fail), *record.learn_moves(pytest.fail)] == []
        assert unreadable.count and told.getvalue().count("1.long") == 1, "once"
        person.path.rename(person.path.with_name("elsewhere"))
        assert [*record.learn_moves(pytest.fail)] == []
    assert "Mail: No such file or directory" in told.getvalue()


def test_a_mailbox_that_is_moved_or_not_mounted_is_not_made_again(person):
    place, elsewhere = person.path, person.path.with_name("elsewhere")
    with person.open_record() as record:
        place.rename(elsewhere)
        with pytest.raises(SpamnbError, match="Mail: no such folder"), record.lock():
            pass
        assert not place.exists()
        place.mkdir()
        with pytest.raises(SpamnbError, match="Mail: no Maildir"), record.lock():
            pass
        assert not [*place.iterdir()]
        place.rmdir()
        elsewhere.rename(place)
        with record.lock() as finished:
            assert not finished


def test_flags_make_no_move_and_junk_may_come_later(person):
    person.deliver(message("spam", 900))
    shutil.rmtree(person.path / ".Junk")
    assert person.watch().stderr.endswith("into or out of Junk; there is no folder Junk yet\n")
    assert person.watch().output == ""
    maildir.make_folder(person.path / ".Junk")
    (path,) = person.paths("INBOX")
    path.rename(person.path / "cur" / (path.name + ":2,RS"))
    assert person.watch().output == ""
    person.move(key("spam", 900), "INBOX", "Junk")
    assert person.watch().stdout.startswith("learned\tspam")


class Lost:
    """A mailbox that is out of reach."""

    mailbox = property(lambda self: self)
    record = property(lambda self: self)
    classifier = SimpleNamespace(
        store=SimpleNamespace(file="model.spamnb", shared=None, starter=None, reading=nullcontext)
    )

    def unfinished_moves(self) -> bool:
        raise SpamnbError("out of reach")

    def inbox_state(self) -> None:
        pass

    def wait(self, *_: object) -> None:
        pass

    def close(self) -> None:
        pass


def test_a_mailbox_that_failed_is_told_to_work_again(model: Path, monkeypatch: pytest.MonkeyPatch):
    watcher = Watcher(Target("here", model), Lost(), Stop())
    with redirect_stderr(StringIO()) as told:
        watcher.scan_and_wait(60)
        monkeypatch.setattr(watcher, "scan", lambda: None)
        assert watcher.scan_and_wait(60) == watcher.scan_and_wait(60) == 0
    assert told.getvalue().endswith("pauses\nspamnb: here: works again\n")


def test_a_server_that_was_lost_is_asked_again_within_half_a_minute(model: Path):
    watcher = Watcher(Target("here", model), Lost(), Stop())
    with redirect_stderr(StringIO()) as told:
        pauses = [watcher.scan_and_wait(60) for _ in range(2000)]
    assert pauses[0] <= 1 and 20 < max(pauses) <= 30
    assert told.getvalue() == "spamnb: out of reach; retrying after growing pauses\n"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may give a link to another user")
@pytest.mark.parametrize("name", ["spamnb-places.lock", ".Junk", ".Junk/new", "new"])
@pytest.mark.parametrize("owner", [0, 65534])
def test_root_follows_no_link_of_the_mailboxs_owner(tmp_path: Path, model: Path, name: str, owner: int):
    box = maildir.make_folder(tmp_path / "Mail")
    elsewhere = maildir.make_folder(tmp_path / "elsewhere")
    if name == ".Junk/new":
        maildir.make_folder(box / ".Junk")
    target = elsewhere if name == ".Junk" else elsewhere / "new" if "new" in name else tmp_path / "made"
    raw = message("spam", 900)
    (box / "new" / "1").write_bytes(raw)
    if "new" in name:
        (box / name).rename(box / f"{name}.before")
    (elsewhere / "new" / "2").write_bytes(raw)
    (box / name).symlink_to(target)
    os.lchown(box / name, owner, owner)
    result = run("sort", "-m", model, box)
    if owner:
        link = f"{box / name}: a symbolic link of another user, which is not followed"
        assert result.exit_code == 1 and result.stderr.startswith(f"Error: {link}")
        assert not (tmp_path / "made").exists() and [each.name for each in (elsewhere / "new").iterdir()] == ["2"]
    elif not name.endswith(".lock"):  # a link in place of this is never followed
        assert result.exit_code == 0, result.output


@pytest.mark.parametrize("name", [".Spam", ".Junk E-mail", ".&BCEEPwQwBDw-", ".INBOX.Spam", "Spam"])
def test_the_folder_of_spam_that_is_there_is_used(tmp_path: Path, model: Path, name: str):
    box = maildir.make_folder(tmp_path / "Mail")
    there = maildir.make_folder(box / name)
    (box / "new" / "1").write_bytes(message("spam", 900))
    (box / "maildirfolder").touch()  # Dovecot's delivery agent makes one in an inbox, too
    result = run("sort", "-m", model, box)
    assert result.exit_code == 0 and len(maildir.files(there / "new")) == 1 and not (box / ".Junk").exists()
    maildir.make_folder(box / ".Junk")
    (box / "new" / "2").write_bytes(message("spam", 901))
    run("sort", "-m", model, "--junk", "Junk", box)
    assert len(maildir.files(box / ".Junk" / "new")) == 1, "a name that is given goes before"


def test_a_folder_of_spam_beside_a_nested_mailbox_is_named_and_no_second_one_made(tmp_path: Path, model: Path):
    box, spam = maildir.make_folder(tmp_path / "Mail" / "INBOX"), maildir.make_folder(tmp_path / "Mail" / "Spam")
    (box / "new" / "1").write_bytes(message("spam", 900))
    result = run("sort", "-m", model, box)
    assert result.exit_code == 1 and "if so, write --junk ../Spam" in result.stderr
    assert sorted(path.name for path in box.iterdir()) == ["cur", "new", "tmp"]
    assert run("sort", "-m", model, "--junk", "../Spam", box).exit_code == 0 and len(maildir.files(spam / "new")) == 1


@pytest.mark.parametrize(
    ("file", "before", "after"),
    [
        ("subscriptions", "Work\n", "Work\nJunk\n"),
        ("subscriptions", "V\t2\n\nWork\n", "V\t2\n\nWork\nJunk\n"),
        ("dovecot-uidlist", "3 V1 N1\n", "3 V1 N1\n"),
        ("courierimapsubscribed", "INBOX.Work\n", "INBOX.Work\nINBOX.Junk\n"),
    ],
)
def test_a_new_folder_of_spam_is_subscribed_once(tmp_path: Path, model: Path, file: str, before: str, after: str):
    box = maildir.make_folder(tmp_path / "Mail")
    (box / file).write_text(before)
    for number in range(2):
        (box / "new" / "1").write_bytes(message("spam", 900 + number))
        assert run("sort", "-m", model, box).exit_code == 0
    assert (box / file).read_text() == after
    assert file != "dovecot-uidlist" or (box / "subscriptions").read_text() == "Junk\n"
    assert file != "courierimapsubscribed" or not (box / "subscriptions").exists()


def test_a_run_that_would_move_most_of_the_mailbox_stops_before_it_moves_any(tmp_path: Path, model: Path):
    def box(name: str, spam: int, ham: int, seen: int) -> Path:
        made = maildir.make_folder(tmp_path / name)
        for number in range(spam + ham + seen):
            label = "spam" if number < spam else "ham"
            part = "new" if number < spam + ham else "cur"
            (made / part / f"{number:03}").write_bytes(message(label, 900 + number))
        return made

    swapped = box("swapped", 40, 10, 0)
    for command in (["sort", "-q"], ["watch", "--once", "--sort"]):
        result = run(*command, "-m", model, swapped)
        assert result.exit_code == 1 and "Error: " in result.stderr, result.output
        assert f"{swapped}: more than half of its 50 messages would be moved" in result.stderr
        assert len(maildir.files(swapped / "new")) == 50
    assert "50 messages: 40 to Junk, 10 stay (dry run)" in run("sort", "--dry-run", "-m", model, swapped).stderr
    assert "50 messages: 40 to Junk, 10 stay" in run("sort", "--all", "-m", model, swapped).stderr
    for spam, ham, seen in ((20, 0, 0), (24, 26, 0), (40, 0, 60)):
        result = run("sort", "-m", model, box(f"{spam}-{ham}-{seen}", spam, ham, seen))
        assert result.exit_code == 0 and f"{spam} to Junk" in result.stderr, result.stderr


@pytest.mark.parametrize("part", ["", "cur", "new"])
def test_a_maildir_without_permission_is_not_called_something_else(person, model, monkeypatch, part):
    person.arrive(range(500, 502))
    scandir = os.scandir

    def scan_what_is_permitted(path: Any = ".") -> Any:  # root may read each folder, so permissions prove nothing
        if Path(path) == person.path / part:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
        return scandir(path)

    monkeypatch.setattr("os.scandir", scan_what_is_permitted)
    for command in (["sort"], ["watch", "--once"]):
        told = run(*command, "-m", model, person.path)
        assert told.exit_code == 1 and told.stdout == ""
        assert told.stderr == f"Error: {person.path}: cannot be read: Permission denied\n"


@pytest.mark.parametrize("is_missing", [True, False])
def test_a_junk_folder_that_cannot_be_written_is_named_once_and_not_its_messages(person, monkeypatch, is_missing):
    person.arrive(range(500, 503))
    before = person.where()
    if not is_missing:
        maildir.make_folder(person.path / ".Junk")

    def refuse(*_: object) -> None:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    with monkeypatch.context() as patch:  # root may write each folder, so permissions prove nothing
        patch.setattr(maildir, "make_folder" if is_missing else "_check_writable", refuse)
        told = person.sort()
    assert told.exit_code == 1 and told.stderr.count("Permission denied") == 1
    assert f"{person.path}: Junk: cannot move mail to it: Permission denied\n" in told.stderr
    assert "left out" not in told.stderr and person.where() == before
    assert "3 to Junk" in person.sort().stderr


def test_watch_says_on_each_start_that_it_watches_and_once_never_does(person, model, tmp_path):
    person.arrive(range(500, 502))
    first = run("watch", "--once", "-m", model, person.path).output
    assert "recorded 4 messages; from now on, mail is learned when you move it" in first
    for _ in range(2):
        with watching(tmp_path, "-m", str(model), str(person.path)) as watch:
            wait_until(lambda watch=watch: watch.said.count("\n") >= 1)
        assert watch.said == f"spamnb: {person.path}: watching; 4 messages recorded\n"
    assert run("watch", "--once", "-m", model, person.path).output == ""


def test_watch_begins_a_new_ledger_where_one_was_removed(tmp_path, model):
    person, path = MaildirPerson(tmp_path, model), Path(os.environ["SPAMNB_LEDGER"])
    with watching(tmp_path, *person.command("watch", "--interval", "1")[1:]) as watch:
        wait_until(lambda: "recorded 0 messages" in watch.said, watch.process)
        person.deliver(message("spam", 500), "Junk")
        path.unlink()
        wait_until(lambda: "recorded 1 message;" in watch.said, watch.process)
        person.move(key("spam", 500), "Junk", "INBOX")
        wait_until(lambda: "learned\tham" in watch.said, watch.process)
    with Ledger.open(path) as ledger:
        assert [each.digest for each in ledger.corrections()] == [digest(message("spam", 500))]
