"""Every form of a SOURCE on small trees made here; the standard library's mailbox module is an oracle."""

import bz2
import errno
import gzip
import lzma
import mailbox
import os
import socket
import tracemalloc
from pathlib import Path

import pytest
from commands import run
from mail import write_file
from reading import Unreadable, read

from spamnb.errors import SpamnbError, in_options
from spamnb.mailbox import open_mailbox
from spamnb.sources import folders
from spamnb.sources.entries import Entry, ReadOptions, read_entries
from spamnb.sources.folders import list_folder
from spamnb.sources.spec import find_entries, find_labelled_entries, source_notes


def names(root: Path, *specs: object, unreadable: Unreadable | None = None) -> list[str]:
    return [os.path.relpath(name, root) for _, name, _ in read(*specs or [root], unreadable=unreadable)]


def test_folder_per_class_in_order_with_nested_folders(tmp_path: Path) -> None:
    for name in ("spam/b", "spam/a", "spam/2001/may/c", "ham/z", "ham/2002/y", "ham/10"):
        write_file(tmp_path / name, name.encode())
    in_order = ["ham/10", "ham/z", "ham/2002/y", "spam/a", "spam/b", "spam/2001/may/c"]
    assert names(tmp_path) == in_order
    assert [(label, raw.decode()) for label, _, raw in read(tmp_path)] == [(n.split("/")[0], n) for n in in_order]


def test_what_is_no_message(tmp_path: Path) -> None:
    for name in ("ham/1", "ham/.hidden", "ham/cmds", "ham/.git/config", ".cache/x", "new/1"):
        write_file(tmp_path / name)  # a class may be called as a part of a Maildir
    write_file(tmp_path / "ham/empty", b"")
    (tmp_path / "spam/empty folder").mkdir(parents=True)
    os.mkfifo(tmp_path / "ham/fifo")  # opening one for reading would wait for ever
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "ham/socket"))
        unreadable: Unreadable = []
        assert names(tmp_path, unreadable=unreadable) == ["ham/1", "new/1"]
    assert [(name, str(why)) for name, why in unreadable] == [(f"{tmp_path}/spam", "contains no message")]
    with pytest.raises(SpamnbError, match="neither file nor folder"):
        read(f"ham={tmp_path}/ham/fifo")
    with pytest.raises(OSError, match="not a file"):
        Entry("ham", "fifo", str(tmp_path / "ham/fifo")).read()


def test_symbolic_links(tmp_path: Path) -> None:
    write_file(tmp_path / "elsewhere/letter")
    write_file(tmp_path / "mail/ham/1")
    for name, target in (("loop", tmp_path / "mail"), ("self", "self"), ("linked", "../../elsewhere"), ("none", "x")):
        (tmp_path / "mail/ham" / name).symlink_to(target)
    unreadable: Unreadable = []
    assert names(tmp_path / "mail", unreadable=unreadable) == ["ham/1", "ham/linked/letter"]
    told = [(os.path.basename(name), getattr(error, "errno", 0)) for name, error in unreadable]
    assert sorted(told) == [("none", errno.ENOENT), ("self", errno.ELOOP)]
    for number in range(10):  # ten folders that each link to all ten: the paths through them are without number
        write_file(tmp_path / f"many/ham/{number}/message")
        for other in range(10):
            (tmp_path / f"many/ham/{number}/to{other}").symlink_to(tmp_path / f"many/ham/{other}")
    assert len(read(tmp_path / "many")) == 10


def test_unreadable_file_and_folder_are_reported_and_the_run_goes_on(tmp_path: Path) -> None:
    for name in ("ham/a/1", "ham/b", "ham/c", "ham/d/1", "readme.txt", "stray"):
        write_file(tmp_path / name)
    told: list[str] = []
    seen = []

    def report(name: str, error: Exception) -> None:
        told.append(os.path.relpath(name, tmp_path) + (" (and 1" if "(and 1 file more)" in str(error) else ""))

    for entry, _ in read_entries(find_labelled_entries([str(tmp_path)], report), report):
        seen.append(os.path.relpath(entry.name, tmp_path))
        if seen == ["ham/b"]:  # both are listed already
            (tmp_path / "ham/c").unlink()
            (tmp_path / "ham/a/1").unlink()
            (tmp_path / "ham/a").rmdir()
    assert seen == ["ham/b", "ham/d/1"] and told == ["readme.txt (and 1", "ham/c", "ham/a"]


def test_names_fit_a_terminal_and_paths_open(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_file(tmp_path / "ham/line\nfeed\x1b[31m", b"1")
    write_file(Path(os.fsdecode(os.fsencode(tmp_path / "ham/latin-") + b"\xe9")), b"2")
    write_file(tmp_path / "letter=1.eml", b"3")
    monkeypatch.setenv("HOME", str(tmp_path))
    result = read("good=~/ham", f"bad={tmp_path}/letter=1.eml")
    assert sorted((label, raw) for label, _, raw in result) == [("bad", b"3"), ("good", b"1"), ("good", b"2")]
    assert all(name.isprintable() and name.encode() for _, name, _ in result)


def test_maildir_against_the_standard_library(tmp_path: Path) -> None:
    box = mailbox.Maildir(tmp_path / "Maildir")
    for number in range(5):
        key = box.add(f"Subject: {number}\n\nbody\n".encode())
        if number % 2:
            message = box[key]
            message.set_subdir("cur")
            message.set_flags("S")
            box[key] = message
    write_file(tmp_path / "Maildir/tmp/half", b"Subject: half written\n")
    write_file(tmp_path / "Maildir/dovecot-uidlist", b"3 V1\n")
    box.add_folder("Junk").add(b"Subject: junk\n\n")
    every = {key: box.get_bytes(key) for key in box.iterkeys()}
    assert sorted(raw for _, _, raw in read(f"spam={tmp_path}/Maildir")) == sorted(every.values())
    shown = sorted(raw for key, raw in every.items() if box[key].get_subdir() == "cur")
    assert sorted(raw for _, _, raw in read(f"ham={tmp_path}/Maildir")) == shown and len(shown) == 2
    assert [raw for _, _, raw in read(f"spam={tmp_path}/Maildir/.Junk")] == [b"Subject: junk\n\n"]


def test_a_maildir_says_which_folders_it_does_not_read(tmp_path: Path) -> None:
    box = mailbox.Maildir(tmp_path / "Maildir")
    box.add(b"Subject: in\n\n")
    for name in ("Work", "Work.Plans", "Junk", "Trash.Old", "Entw&APw-rfe", "Modèles", "Sent"):
        box.add_folder(name).add(f"Subject: {name}\n\n".encode())
    mailbox.Maildir(tmp_path / "Maildir/Lists").add(b"Subject: Lists\n\n")  # Dovecot's LAYOUT=fs
    spec = f"ham={tmp_path}/Maildir"
    assert [raw for _, _, raw in read(spec)] == [b"Subject: in\n\n"]
    others = "not read: 4 other folders of this mailbox with 4 messages: .Sent, .Work, .Work.Plans, Lists"
    said = f"with {spec} reads all but junk, trash, drafts and templates"
    assert list(source_notes([spec])) == [f"{spec}: {others}; recursive=True {said}"]
    assert in_options(next(source_notes([spec]))) == f"{spec}: {others}; --recursive {said}"
    [note] = source_notes([f"{spec}/cur", f"spam={tmp_path}/Maildir/.Junk/cur"])
    assert in_options(note) == f"{spec}/cur: {others}; --recursive {said}"
    deep = find_labelled_entries([spec], pytest.fail, ReadOptions(recursive=True))
    assert {entry.read().decode().split()[1] for entry in deep} == {"in", "Work", "Work.Plans", "Sent", "Lists"}
    junk, unwanted = f"spam={tmp_path}/Maildir/.Junk", ".Entwürfe, .Modèles, .Trash.Old"
    assert list(source_notes([spec, junk], recursive=True)) == [f"{spec}: 3 folders not read: {unwanted}"]
    assert not list(source_notes([f"ham={tmp_path}/missing"]))


def test_one_folder_of_a_mailbox_names_the_folders_that_no_source_reads(tmp_path: Path) -> None:
    root, nested = tmp_path / "Maildir", tmp_path / "Mail"
    box = mailbox.Maildir(root)
    box.add(b"Subject: in\n\n")
    for name, n_messages in (("Work", 1), ("Lists", 3), ("Junk", 2), ("Empty", 0)):
        folder = box.add_folder(name)
        for number in range(n_messages):
            folder.add(f"Subject: {name} {number}\n\n".encode())
    ham, work, junk = f"ham={root}", f"work={root}/.Work", f"spam={root}/.Junk"
    [note] = source_notes([f"{ham}/.Work", junk])
    assert "2 other folders of this mailbox with 4 messages: .Lists, INBOX; " in note and f"with {ham} reads" in note
    [note] = source_notes([f"{ham}/new", f"{ham}/.Work/cur", junk])
    assert note.startswith(f"{ham}/new: not read: 1 other folder of this mailbox with 3 messages: .Lists; ")
    [note] = source_notes([ham, work, junk])  # which class Lists has, only the user knows
    assert note == f"{ham}: not read: 1 other folder of this mailbox with 3 messages: .Lists"
    assert not list(source_notes([ham, f"{ham}/.Lists", work, junk]))
    assert not list(source_notes([junk, f"bad={root}/.Junk"]))
    nested.mkdir()
    for name in ("INBOX", "Junk", "Work"):
        mailbox.Maildir(nested / name).add(f"Subject: {name}\n\n".encode())
    [note] = source_notes([f"ham={nested}/INBOX", f"spam={nested}/Junk"])
    assert "1 other folder of this mailbox with 1 message: Work; " in note and f"with ham={nested} reads" in note
    users = tmp_path / "users"  # whose Maildirs are no folders of one mailbox
    users.mkdir()
    for name in ("ann", "bob"):
        mailbox.Maildir(users / name).add(b"Subject: in\n\n")
    assert not list(source_notes([f"ham={users}/ann"]))


def test_a_profile_of_thunderbird_is_not_a_folder_per_class(tmp_path: Path) -> None:
    write_file(tmp_path / "p/ImapMail/mail.example.org/INBOX", b"From a Thu\nSubject: in\n\n")
    write_file(tmp_path / "p/Mail/Local Folders/Junk", b"From a Thu\nSubject: junk\n\n")
    for name in ("prefs.js", "ImapMail/mail.example.org/INBOX.msf"):
        write_file(tmp_path / "p" / name, b"")
    with pytest.raises(SpamnbError, match=f"a profile of Thunderbird; write thunderbird:{tmp_path}/p$"):
        read(f"{tmp_path}/p")
    for path in ("p", "p/ImapMail/mail.example.org"):
        with pytest.raises(SpamnbError, match="which only Thunderbird may change; name the account on its server"):
            open_mailbox(f"{tmp_path}/{path}")
    with pytest.raises(SpamnbError, match="no Maildir, because it has no cur and new"):
        open_mailbox(str(tmp_path))


def test_mail_that_nobody_saw_is_not_good_mail_yet(tmp_path: Path) -> None:
    box = tmp_path / "Maildir"
    mailbox.Maildir(box)
    write_file(box / "new/1")
    spec = f"ham={box}"
    assert len(read(spec)) == 1 and not list(source_notes([spec]))  # filled by a program
    write_file(box / "cur/2:2,S")
    [note] = source_notes([spec])
    assert note == f"{spec}: 1 message in new not read, because no mail reader has shown it"
    assert len(read(spec)) == len(read(f"{spec}/cur")) == len(read(f"{spec}/new")) == 1
    assert not list(source_notes([f"{spec}/cur", f"{spec}/new"]))
    assert len(read(f"spam={box}")) == 2 and not list(source_notes([f"spam={box}"]))  # seldom does anybody open spam
    work = mailbox.Maildir(box).add_folder("Work")
    [work.add(b"Subject: work\n\n") for _ in range(2)]
    write_file(box / ".Work/cur/1:2,S")
    assert "3 messages in new not read, because no mail reader has shown them" in next(source_notes([spec], True))
    assert len([*find_labelled_entries([spec], pytest.fail, ReadOptions(recursive=True))]) == 2
    mailbox.Maildir(box).add_folder("Junk")
    learned = run("learn", "ham", "-m", tmp_path / "model", box)
    assert learned.exit_code == 0 and f"spamnb: {box}: 1 message in new not read" in learned.stderr
    done = run("classify", "-m", tmp_path / "model", box)
    assert done.exit_code == 0 and f"spamnb: {box}: 2 folders not read: .Junk, .Work\n" in done.stderr
    assert len(done.stdout.splitlines()) == 2


def test_notes_list_a_folder_of_messages_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    box = mailbox.Maildir(tmp_path / "Maildir")
    for folder in (box, box.add_folder("Work")):
        folder.add(b"Subject: in\n\n")
    write_file(tmp_path / "corpus/ham/1")
    listed: list[str] = []
    monkeypatch.setattr(folders, "list_folder", lambda path, report: listed.append(path) or list_folder(path, report))
    assert len(list(source_notes([f"ham={tmp_path}/Maildir", f"ham={tmp_path}/corpus/ham"]))) == 1
    assert [path for path in listed if "/corpus" in path] == [f"{tmp_path}/corpus/ham"]
    assert {path for path in listed if "/Maildir" in path} == {f"{tmp_path}/Maildir", f"{tmp_path}/Maildir/.Work"}


def test_junk_among_maildirs_is_not_of_their_class(tmp_path: Path) -> None:
    """As mbsync makes a folder of Maildirs."""
    (tmp_path / "Mail").mkdir()
    for name in ("INBOX", "Junk", "Work", "Trash"):
        mailbox.Maildir(tmp_path / "Mail" / name).add(f"Subject: {name}\n\n".encode())
    assert [raw.split()[1] for _, _, raw in read(f"ham={tmp_path}/Mail")] == [b"INBOX", b"Work"]
    [note] = source_notes([f"ham={tmp_path}/Mail"])
    assert "2 folders not read: Junk, Trash" in note
    assert [raw.split()[1] for _, _, raw in read(f"spam={tmp_path}/Mail/Junk")] == [b"Junk"]
    write_file(tmp_path / "corpus/ham/Junk/1", b"a folder that is no Maildir is what it was")
    assert len(read(f"ham={tmp_path}/corpus/ham")) == 1


def test_mh_against_the_standard_library(tmp_path: Path) -> None:
    box = mailbox.MH(tmp_path / "inbox")
    for number in range(12):
        box.add(f"Subject: {number}\n\nbody\n".encode())
    box.set_sequences({"unseen": [1, 2]})
    write_file(tmp_path / "inbox/,3", b"Subject: removed\n\n")
    expected = [box.get_bytes(key) for key in sorted(box.iterkeys())]
    assert [raw for _, _, raw in read(f"ham={tmp_path}/inbox")] == expected


def test_mbox_in_a_folder_is_known_by_its_name(tmp_path: Path) -> None:
    two = b"From a@example.org Mon Jan  1 00:00:00 2001\nSubject: 1\n\nx\n\nFrom b@example.org 1:02\nSubject: 2\n\ny\n"
    write_file(tmp_path / "ham/list.mbox", two)
    write_file(tmp_path / "ham/list2.mbox.gz", gzip.compress(two))
    write_file(tmp_path / "ham/00001", two)
    write_file(tmp_path / "ham/plain.mbox", b"Subject: no mbox\n\n")
    found = ["00001", "list.mbox#1", "list.mbox#2", "list2.mbox.gz#1", "list2.mbox.gz#2", "plain.mbox"]
    assert names(tmp_path / "ham", tmp_path) == found


@pytest.mark.parametrize("newline", [b"\n", b"\r\n"])
def test_an_mbox_that_is_not_called_one_is_refused_and_no_single_message(tmp_path: Path, newline: bytes) -> None:
    line = b"From ann@example.org  Thu Aug 22 12:36:23 2002\n"
    one = line + b"Subject: one\n\nFrom now on\n\nFrom the early train\n\n>" + line + b"Subject: x\n"
    several = one + b"\n" + line + b"Subject: two\n\nbody\n"
    write_file(tmp_path / "ham" / "1.eml", one.replace(b"\n", newline))
    write_file(tmp_path / "ham" / "Inbox", several.replace(b"\n", newline))
    write_file(tmp_path / "spam" / "Local Folders" / "Junk", several.replace(b"\n", newline))
    told = Unreadable()
    assert names(tmp_path / "ham", f"ham={tmp_path / 'ham'}", unreadable=told) == ["1.eml"]
    assert "a mailbox of several messages" in str(told)
    for command in (["train", tmp_path], ["learn", "spam", tmp_path / "spam"]):
        result = run(*command, "-m", tmp_path / "m")
        assert result.exit_code == 1 and "a mailbox of several messages, not mail; write CLASS=FILE" in result.stderr
    inbox = tmp_path / "ham" / "Inbox"
    assert len(names(tmp_path, f"ham={inbox}")) == 2, "it is read where it is named"
    result = run("learn", "ham", "-m", tmp_path / "m2", stdin=inbox.read_bytes())
    assert result.exit_code == 1 and "standard input: an mbox of several messages" in result.stderr
    assert not (tmp_path / "m2").exists()


def test_a_message_alone_in_its_file_is_the_same_message_as_on_standard_input(tmp_path: Path) -> None:
    raw = b"From a 1:00\nSubject: 4\n\n>From here on\n"
    for path in (write_file(tmp_path / "box", raw), write_file(tmp_path / "box.gz", gzip.compress(raw))):
        assert [(entry.name, entry.read()) for entry in find_entries([str(path)], pytest.fail)] == [(str(path), raw)]
        assert [entry.read() for entry in find_labelled_entries([f"ham={path}"], pytest.fail)] == [raw]
    empty = write_file(tmp_path / "empty", b"")  # as a spool without mail: no error, but the command says so
    assert not list(find_entries([str(empty)], pytest.fail))


def test_compressed_messages_as_dovecot_keeps_them(tmp_path: Path) -> None:
    lz4 = b"Dovecot-LZ4\x0d\x2a\x9b\xc5\0\1\0\0\0\0\0\5hello"
    zstd = bytes.fromhex("28b52ffd0458290000") + b"hello" + bytes(4)
    kept = bz2.compress(b"Subject: z\n\nhello"), lzma.compress(b"Subject: z\n\nhello"), lz4, zstd
    for number, raw in enumerate(kept):
        write_file(tmp_path / f"cur/{number}", raw)
    write_file(tmp_path / "cur/5", gzip.compress(b"Subject: z\n\n"))
    write_file(tmp_path / "new/6", b"BZh is how bzip2 begins")
    write_file(tmp_path / "new/7", gzip.compress(b"Subject: cut\n\n" * 9)[:-12])
    told: Unreadable = []
    assert [raw[:9] for _, _, raw in read(f"spam={tmp_path}", unreadable=told)] == [b"Subject: ", b"BZh is ho"]
    assert [str(error).count("a format other than gzip") for _, error in told] == [1, 1, 1, 1, 0]
    assert "broken gzip data" in str(told[-1][1])


def test_messages_over_the_bound_are_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("entries", "mbox"):
        monkeypatch.setattr(f"spamnb.sources.{module}.MAX_MESSAGE", 1000)
    long = b"From a 1:00\nSubject: long\n\n" + b"0123456\n" * 1000
    both = b"From z 0:59\nSubject: 0\n\n.\n\n" + long + b"\nFrom b 2:00\nSubject: short\n\nx\n"
    write_file(tmp_path / "box", both)
    write_file(tmp_path / "box.gz", gzip.compress(both))
    write_file(tmp_path / "bomb/0")
    write_file(tmp_path / "bomb/1", gzip.compress(b"Subject: bomb\n\n" + bytes(10**7)))
    for spec, readable in (("box", 2), ("box.gz", 2), ("bomb", 1)):
        unreadable: Unreadable = []
        assert len(read(f"ham={tmp_path}/{spec}", unreadable=unreadable)) == readable, spec
        [(_, error)] = unreadable
        assert isinstance(error, OSError) and error.errno == errno.EFBIG


@pytest.mark.parametrize(
    ("spec", "what"),
    [
        ("{0}/missing", "no such file or folder; a SOURCE is"),
        ("ham=https://example.org/mail.tar", "no such file or folder; download mail from the web first"),
        ("ham=", "no path after"),
        ("={0}", "cannot name a class"),
        ("unsure={0}/loose", "cannot name a class"),
        ("a\nb={0}/loose", "cannot name a class"),
        ("{0}/loose", "messages but no folder per class; if all its mail has one class, write CLASS="),
        ("{0}/nothing", "no folder per class"),
        ("{0}/Maildir", "a Maildir without a class"),
        ("{0}/loose/1", "no label TAB text"),
        ("/dev/null", "neither file nor folder"),
        ("{0}/a\0b", "cannot be opened"),
        ("", "no such file or folder"),
        ("spam={0}/empty", "the file is empty"),
    ],
)
def test_mistakes_are_one_line_and_told_before_anything_is_read(tmp_path: Path, spec: str, what: str) -> None:
    for name in ("loose/1", "Maildir/cur/1", "Maildir/new/1", "Maildir/tmp/1"):
        write_file(tmp_path / name)
    write_file(tmp_path / "empty", b"")
    (tmp_path / "nothing").mkdir()
    with pytest.raises(SpamnbError) as caught:
        find_labelled_entries(
            [f"ham={tmp_path}/loose", spec.format(tmp_path)], lambda name, error: None
        )  # not iterated
    assert what in str(caught.value) and str(caught.value).isprintable()


def test_memory_stays_flat_over_a_big_mbox(tmp_path: Path) -> None:
    body = b"Subject: %d\n\n" + b"All work and no play makes a dull mailbox.\n" * 400
    one = b"From a@example.org Mon Jan  1 00:00:00 2001\n" + body
    count = 2_000
    with gzip.open(tmp_path / "big.gz", "wb", compresslevel=1) as out:
        out.writelines(one % number + b"\n" for number in range(count))
    tracemalloc.start()
    seen = sum(1 for entry in find_labelled_entries([f"ham={tmp_path}/big.gz"], pytest.fail) if entry.read())
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert seen == count
    assert len(one) * count > 30 << 20 > 6 << 20 > peak  # 35 MB of mail; three buffers of a mebibyte
