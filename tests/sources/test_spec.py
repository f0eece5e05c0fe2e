"""Every form of a SOURCE on small trees made here; the standard library's mailbox module is an oracle."""

import bz2
import errno
import gzip
import lzma
import mailbox
import os
import socket
import tracemalloc
from collections.abc import Iterable
from pathlib import Path

import pytest
from mail import write

from spamnb.errors import SpamnbError
from spamnb.sources.entries import Entry, messages, unquoted
from spamnb.sources.notes import notes, one_too_high
from spamnb.sources.one_class import ReadOptions, unlabelled
from spamnb.sources.spec import entries

Unreadable = list[tuple[str, Exception]]


def read(*specs: object, unreadable: Unreadable | None = None) -> list[tuple[str | None, str, bytes]]:
    """All messages; a test that expects unreadable ones hands over the list."""
    found: Unreadable = []

    def report(name: str, error: Exception) -> None:
        found.append((name, error))

    result = [(entry.label, entry.name, raw) for entry, raw in messages(entries(map(str, specs), report), report)]
    if unreadable is None:
        assert not found
    else:
        unreadable.extend(found)
    return result


def short(result: Iterable[tuple[str | None, str, bytes]], root: Path) -> list[tuple[str | None, str]]:
    return [(label, os.path.relpath(name, root)) for label, name, _ in result]


def test_folder_per_class_in_order_with_nested_folders(tmp_path: Path) -> None:
    for name in ("spam/b", "spam/a", "spam/2001/may/c", "ham/z", "ham/2002/y", "ham/10"):
        write(tmp_path / name, name.encode())
    assert short(read(tmp_path), tmp_path) == [
        ("ham", "ham/10"),
        ("ham", "ham/z"),
        ("ham", "ham/2002/y"),
        ("spam", "spam/a"),
        ("spam", "spam/b"),
        ("spam", "spam/2001/may/c"),
    ]
    assert [raw for _, _, raw in read(tmp_path)][-1] == b"spam/2001/may/c"


def test_classes_may_be_called_as_a_part_of_a_maildir(tmp_path: Path) -> None:
    write(tmp_path / "new/1")
    write(tmp_path / "old/1")
    assert short(read(tmp_path), tmp_path) == [("new", "new/1"), ("old", "old/1")]


def test_what_is_no_message(tmp_path: Path) -> None:
    write(tmp_path / "ham/1")
    write(tmp_path / "ham/.hidden")
    write(tmp_path / "ham/cmds")
    write(tmp_path / "ham/empty", b"")
    write(tmp_path / "ham/.git/config")
    write(tmp_path / ".cache/x")
    (tmp_path / "spam/empty folder").mkdir(parents=True)
    assert short(read(tmp_path), tmp_path) == [("ham", "ham/1")]


def test_special_files_are_never_opened(tmp_path: Path) -> None:
    write(tmp_path / "ham/1")
    os.mkfifo(tmp_path / "ham/fifo")  # opening one for reading would wait for ever
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "ham/socket"))
        assert short(read(tmp_path), tmp_path) == [("ham", "ham/1")]
    with pytest.raises(SpamnbError, match="neither file nor folder"):
        read(f"ham={tmp_path}/ham/fifo")
    with pytest.raises(OSError, match="not a file") as caught:
        Entry("ham", "fifo", str(tmp_path / "ham/fifo")).read()
    assert caught.value.errno == errno.EINVAL


def test_symbolic_links(tmp_path: Path) -> None:
    write(tmp_path / "elsewhere/letter")
    write(tmp_path / "mail/ham/1")
    (tmp_path / "mail/ham/loop").symlink_to(tmp_path / "mail")
    (tmp_path / "mail/ham/self").symlink_to("self")
    (tmp_path / "mail/ham/linked").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "mail/ham/nowhere").symlink_to("missing")
    unreadable: Unreadable = []
    assert short(read(tmp_path / "mail", unreadable=unreadable), tmp_path) == [
        ("ham", "mail/ham/1"),
        ("ham", "mail/ham/linked/letter"),
    ]
    assert [(os.path.basename(name), error.errno) for name, error in unreadable if isinstance(error, OSError)] == [
        ("nowhere", errno.ENOENT),
        ("self", errno.ELOOP),
    ]


def test_crossing_links_end(tmp_path: Path) -> None:
    """Ten folders that each link to all ten: the paths through them are without number."""
    for number in range(10):
        write(tmp_path / f"ham/{number}/message")
        for other in range(10):
            (tmp_path / f"ham/{number}/to{other}").symlink_to(tmp_path / f"ham/{other}")
    assert len(read(tmp_path)) == 10


def test_unreadable_file_and_folder_are_reported_and_the_run_goes_on(tmp_path: Path) -> None:
    for name in ("a/1", "b", "c", "d/1"):
        write(tmp_path / "ham" / name)
    unreadable: Unreadable = []
    seen = []

    def report(name: str, error: Exception) -> None:
        unreadable.append((name, error))

    for entry, _ in messages(entries([str(tmp_path)], report), report):
        seen.append(os.path.relpath(entry.name, tmp_path))
        if seen == ["ham/b"]:  # both are listed already
            (tmp_path / "ham/c").unlink()
            (tmp_path / "ham/a/1").unlink()
            (tmp_path / "ham/a").rmdir()
    assert seen == ["ham/b", "ham/d/1"]
    assert [os.path.relpath(name, tmp_path) for name, _ in unreadable] == ["ham/c", "ham/a"]


def test_files_beside_the_class_folders_are_told_once(tmp_path: Path) -> None:
    write(tmp_path / "ham/1")
    write(tmp_path / "readme.txt")
    write(tmp_path / "stray")
    unreadable: Unreadable = []
    assert len(read(tmp_path, unreadable=unreadable)) == 1
    [(name, error)] = unreadable
    assert name.endswith("readme.txt") and "(and 1 file more)" in str(error)


def test_names_fit_a_terminal_and_paths_open(tmp_path: Path) -> None:
    write(tmp_path / "ham/line\nfeed\x1b[31m", b"1")
    write(Path(os.fsdecode(os.fsencode(tmp_path / "ham/latin-") + b"\xe9")), b"2")
    result = read(tmp_path)
    assert sorted(raw for _, _, raw in result) == [b"1", b"2"]
    for _, name, _ in result:
        assert name.isprintable()
        name.encode("utf-8")


def test_class_equals_folder_file_and_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "Mail/2001/a", b"1")
    write(tmp_path / "letter=1.eml", b"Subject: 2\n\n")
    monkeypatch.setenv("HOME", str(tmp_path))
    result = read("good=~/Mail", f"bad={tmp_path}/letter=1.eml")
    assert [(label, raw) for label, _, raw in result] == [("good", b"1"), ("bad", b"Subject: 2\n\n")]


def test_maildir_against_the_standard_library(tmp_path: Path) -> None:
    box = mailbox.Maildir(tmp_path / "Maildir")
    for number in range(5):
        key = box.add(f"Subject: {number}\n\nbody\n".encode())
        if number % 2:
            message = box[key]
            message.set_subdir("cur")
            message.set_flags("S")
            box[key] = message
    write(tmp_path / "Maildir/tmp/half", b"Subject: half written\n")
    write(tmp_path / "Maildir/dovecot-uidlist", b"3 V1\n")
    junk = box.add_folder("Junk")
    junk.add(b"Subject: junk\n\n")
    got = sorted(raw for _, _, raw in read(f"ham={tmp_path}/Maildir"))
    assert got == sorted(box.get_bytes(key) for key in box.iterkeys())
    assert [raw for _, _, raw in read(f"spam={tmp_path}/Maildir/.Junk")] == [b"Subject: junk\n\n"]


def test_a_maildir_says_which_folders_it_does_not_read(tmp_path: Path) -> None:
    box = mailbox.Maildir(tmp_path / "Maildir")
    box.add(b"Subject: in\n\n")
    for name in ("Work", "Work.Plans", "Junk", "Trash.Old", "Entw&APw-rfe", "Modèles", "Sent"):
        box.add_folder(name).add(f"Subject: {name}\n\n".encode())
    nested = mailbox.Maildir(tmp_path / "Maildir/Lists")  # Dovecot's LAYOUT=fs
    nested.add(b"Subject: Lists\n\n")
    spec = f"ham={tmp_path}/Maildir"
    assert [raw for _, _, raw in read(spec)] == [b"Subject: in\n\n"]
    left = ".Entwürfe, .Junk, .Modèles, .Sent, .Trash.Old, .Work, .Work.Plans, Lists"
    said = "reads all but junk, trash, drafts and templates"
    assert list(notes(spec)) == [f"{spec}: 8 folders not read: {left}; --recursive (recursive=True) {said}"]
    found: Unreadable = []
    deep = entries([spec], lambda *told: found.append(told), ReadOptions(recursive=True))
    subjects = {entry.read().decode().split()[1] for entry in deep}
    assert subjects == {"in", "Work", "Work.Plans", "Sent", "Lists"} and not found
    assert list(notes(spec, recursive=True)) == [
        f"{spec}: 4 folders not read: .Entwürfe, .Junk, .Modèles, .Trash.Old"
    ]
    assert not list(notes(f"ham={tmp_path}/missing")) and not list(notes(f"ham={tmp_path}/Maildir/Lists"))


def test_mail_that_nobody_saw_is_named_where_it_is_given_as_good(tmp_path: Path) -> None:
    box = tmp_path / "Maildir"
    mailbox.Maildir(box)
    write(box / "new/1")
    spec = f"ham={box}"
    assert not list(notes(spec))  # filled by a program
    write(box / "cur/2:2,S")
    [note] = notes(spec)
    assert "takes for ham, too, 1 message in new" in note and note.endswith(f"; {spec}/cur leaves them out")
    assert len(read(f"{spec}/cur")) == 1 and not list(notes(f"{spec}/cur"))
    assert not list(notes(f"spam={box}"))  # seldom does anybody open spam


def test_junk_among_maildirs_is_not_of_their_class(tmp_path: Path) -> None:
    """As mbsync makes a folder of Maildirs."""
    (tmp_path / "Mail").mkdir()
    for name in ("INBOX", "Junk", "Work", "Trash"):
        mailbox.Maildir(tmp_path / "Mail" / name).add(f"Subject: {name}\n\n".encode())
    assert [raw.split()[1] for _, _, raw in read(f"ham={tmp_path}/Mail")] == [b"INBOX", b"Work"]
    [note] = notes(f"ham={tmp_path}/Mail")
    assert "2 folders not read: Junk, Trash" in note
    assert [raw.split()[1] for _, _, raw in read(f"spam={tmp_path}/Mail/Junk")] == [b"Junk"]
    write(tmp_path / "corpus/ham/Junk/1", b"a folder that is no Maildir is what it was")
    assert len(read(f"ham={tmp_path}/corpus/ham")) == 1


def test_a_class_folder_that_cannot_be_read_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "ham/1")
    write(tmp_path / "spam/1")
    listed = os.scandir

    def denied(path: str) -> object:
        if str(path).endswith("spam"):
            raise PermissionError(errno.EACCES, "Permission denied", path)
        return listed(path)

    monkeypatch.setattr(os, "scandir", denied)
    for specs in ([tmp_path], [f"ham={tmp_path}/ham", f"spam={tmp_path}/spam"]):
        with pytest.raises(SpamnbError, match="spam: cannot be listed: Permission denied"):
            entries(map(str, specs), pytest.fail)  # not iterated
    monkeypatch.undo()

    def unreadable(entry: Entry) -> bytes:
        raise PermissionError(errno.EACCES, "Permission denied", entry.path)

    write(tmp_path / "spam/2")
    monkeypatch.setattr(Entry, "read", unreadable)
    with pytest.raises(SpamnbError, match="spam: none of its 2 files can be read as mail"):
        list(entries([f"spam={tmp_path}/spam"], lambda *told: None))


def test_maildir_in_a_class_folder(tmp_path: Path) -> None:
    for name in ("spam/cur/1:2,S", "spam/new/2", "spam/tmp/3", "ham/lists/cur/4", "ham/lists/tmp/5", "ham/6"):
        write(tmp_path / name)
    assert short(read(tmp_path), tmp_path) == [
        ("ham", "ham/6"),
        ("ham", "ham/lists/cur/4"),
        ("spam", "spam/cur/1:2,S"),
        ("spam", "spam/new/2"),
    ]


def test_mh_against_the_standard_library(tmp_path: Path) -> None:
    box = mailbox.MH(tmp_path / "inbox")
    for number in range(12):
        box.add(f"Subject: {number}\n\nbody\n".encode())
    box.set_sequences({"unseen": [1, 2]})
    write(tmp_path / "inbox/,3", b"Subject: removed\n\n")
    assert (tmp_path / "inbox/.mh_sequences").exists()
    assert [raw for _, _, raw in read(f"ham={tmp_path}/inbox")] == [
        box.get_bytes(key) for key in sorted(box.iterkeys())
    ]


def test_mbox_plain_and_gzipped_against_the_standard_library(tmp_path: Path) -> None:
    box = mailbox.mbox(tmp_path / "inbox")
    for number in range(7):
        box.add(f"Subject: {number}\n\nFrom here on\n\nFrom: no\n>From mboxrd\nend {number}\n".encode())
    box.flush()
    expected = [unquoted(box.get_bytes(key, from_=True)) for key in box.iterkeys()]
    assert b"\n\nFrom here on" in expected[0] and b"\nFrom mboxrd" in expected[0]
    (tmp_path / "inbox.gz").write_bytes(gzip.compress((tmp_path / "inbox").read_bytes()))
    box.close()
    for name in ("inbox", "inbox.gz"):
        result = read(f"ham={tmp_path}/{name}")
        assert [raw for _, _, raw in result] == expected
        assert [shown for _, shown, _ in result] == [f"{tmp_path}/{name}#{n}" for n in range(1, 8)]


def test_mbox_in_a_folder_is_known_by_its_name(tmp_path: Path) -> None:
    two = b"From a@example.org Mon Jan  1 00:00:00 2001\nSubject: 1\n\nx\n\nFrom b@example.org 1:02\nSubject: 2\n\ny\n"
    write(tmp_path / "ham/list.mbox", two)
    write(tmp_path / "ham/list2.mbox.gz", gzip.compress(two))
    write(tmp_path / "ham/00001", two)
    write(tmp_path / "ham/plain.mbox", b"Subject: no mbox\n\n")
    names = [name for _, name in short(read(tmp_path), tmp_path / "ham")]
    assert names == ["00001", "list.mbox#1", "list.mbox#2", "list2.mbox.gz#1", "list2.mbox.gz#2", "plain.mbox"]


def test_mailbox_that_changes_meanwhile(tmp_path: Path) -> None:
    box = write(tmp_path / "inbox", b"From a 1:00\nSubject: 1\n\nlonger\n\nFrom b 2:00\nSubject: 2\n\ny\n")
    first, second = unlabelled([str(box)], lambda name, error: pytest.fail(f"{name}: {error}"))
    box.write_bytes(b"From b 2:00\nSubject: 2\n\ny\n")
    with pytest.raises(OSError, match="changed"):
        first.read()
    with pytest.raises(OSError, match="changed"):
        second.read()


def test_what_is_compressed_in_another_way_is_told(tmp_path: Path) -> None:
    lz4 = b"Dovecot-LZ4\x0d\x2a\x9b\xc5\0\1\0\0\0\0\0\5hello"
    zstd = bytes.fromhex("28b52ffd0458290000") + b"hello" + bytes(4)
    kept = bz2.compress(b"Subject: z\n\nhello"), lzma.compress(b"Subject: z\n\nhello"), lz4, zstd
    for number, raw in enumerate(kept):
        write(tmp_path / f"cur/{number}", raw)
    write(tmp_path / "new/5", b"BZh is how bzip2 begins")
    unreadable: Unreadable = []
    assert [raw for _, _, raw in read(f"ham={tmp_path}", unreadable=unreadable)] == [b"BZh is how bzip2 begins"]
    assert [str(error).count("another way than gzip") for _, error in unreadable] == [1] * 4


def test_gzipped_single_message_as_dovecot_keeps_it(tmp_path: Path) -> None:
    write(tmp_path / "cur/1", gzip.compress(b"Subject: z\n\n"))
    write(tmp_path / "new/2", gzip.compress(b"Subject: cut\n\n" * 9)[:-12])
    unreadable: Unreadable = []
    assert [raw for _, _, raw in read(f"ham={tmp_path}", unreadable=unreadable)] == [b"Subject: z\n\n"]
    assert "broken gzip data" in str(unreadable[0][1])


def test_messages_over_the_bound_are_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("entries", "mbox"):
        monkeypatch.setattr(f"spamnb.sources.{module}.MAX_MESSAGE", 1000)
    long = b"From a 1:00\nSubject: long\n\n" + b"0123456\n" * 1000
    both = b"From z 0:59\nSubject: 0\n\n.\n\n" + long + b"\nFrom b 2:00\nSubject: short\n\nx\n"
    write(tmp_path / "box", both)
    write(tmp_path / "box.gz", gzip.compress(both))
    write(tmp_path / "bomb/0")
    write(tmp_path / "bomb/1", gzip.compress(b"Subject: bomb\n\n" + bytes(10**7)))
    for spec, readable in (("box", 2), ("box.gz", 2), ("bomb", 1)):
        unreadable: Unreadable = []
        result = read(f"ham={tmp_path}/{spec}", unreadable=unreadable)
        assert len(result) == readable, spec
        [(_, error)] = unreadable
        assert isinstance(error, OSError) and error.errno == errno.EFBIG


def test_files_that_list_messages(tmp_path: Path) -> None:
    write(tmp_path / "data/1", b"Subject: 1\n\n")
    index = write(tmp_path / "full/index", b"spam ../data/1\n")
    assert [(label, raw) for label, _, raw in read(f"index:{index}")] == [("spam", b"Subject: 1\n\n")]
    path = write(tmp_path / "sms.txt", b"ham\tSubject: tea\n")  # text, though it looks like a header
    assert read(path) == [("ham", f"{path}:1", b"\nSubject: tea\n")]


@pytest.mark.parametrize(
    ("names", "told"),
    [
        (["a/ham/1", "a/spam/1", "b/ham/1", "b/spam/1", "a/Summary.txt"], "its 2 folders"),
        (["train/rec.autos/1", "train/sci.med/1", "test/rec.autos/2", "test/sci.med/2"], "/test and the like"),
        (["corpus/ham/1", "corpus/spam/1"], "its only folder becomes the class, and holds ham, spam; if"),
        (["ham/1", "spam/1"], None),
        (["ham/inbox/1", "ham/old/1", "spam/inbox/1", "spam/old/1"], None),  # above them are the classes
        (["work/2001/1", "work/2002/1", "home/2001/1", "home/2002/1"], None),  # by year
        (["a/cur/1", "a/new/1", "b/cur/1", "b/new/1"], None),  # Maildirs
        (["comp/graphics/1", "comp/windows/1", "rec/autos/1", "rec/sport/1"], None),  # newsgroups
        (["a/ham/1", "a/spam/1", "b/ham/1", "b/spam/1", *(f"b/{n}" for n in range(30))], None),  # has mail of its own
        (["a/ham/1", "b/ham/1"], None),
        (["a/1"], None),
        (["1"], None),
        (["cur/1", "new/1"], None),
        (["work/may/1", "work/2002/1", "home/may/1", "home/2002/1"], "its 2 folders"),  # hardly by year
    ],
)
def test_a_folder_of_corpora_is_told_and_nothing_else(tmp_path: Path, names: list[str], told: str | None) -> None:
    for name in names:
        write(tmp_path / name)
    note = one_too_high(str(tmp_path))
    assert (told in note) if told and note else note is told
    assert one_too_high(f"ham={tmp_path}") is one_too_high(str(tmp_path / "missing")) is None


@pytest.mark.parametrize(
    ("spec", "what"),
    [
        ("{0}/missing", "no such file or folder; a SOURCE is"),
        ("ham={0}/missing", "no such file or folder"),
        ("ham=", "no path after"),
        ("={0}", "cannot name a class"),
        ("unsure={0}/loose", "cannot name a class"),
        ("a\nb={0}/loose", "cannot name a class"),
        ("index:{0}/missing", "no such file or folder"),
        ("index:{0}", "not a file"),
        ("{0}/loose", "messages but no folder per class; write CLASS="),
        ("{0}/nothing", "no folder per class"),
        ("{0}/Maildir", "a Maildir, which has no class"),
        ("{0}/loose/1", "no label TAB text"),
        ("/dev/null", "neither file nor folder"),
        ("{0}/a\0b", "cannot be opened"),
        ("", "no such file or folder"),
    ],
)
def test_mistakes_are_one_line_and_told_before_anything_is_read(tmp_path: Path, spec: str, what: str) -> None:
    write(tmp_path / "loose/1")
    for name in ("cur", "new", "tmp"):
        write(tmp_path / "Maildir" / name / "1")
    (tmp_path / "nothing").mkdir()
    spec = spec.format(tmp_path)
    with pytest.raises(SpamnbError) as caught:
        entries([f"ham={tmp_path}/loose", spec], lambda name, error: None)  # not iterated
    assert what in str(caught.value) and str(caught.value).isprintable()


def test_unlabelled_takes_every_form(tmp_path: Path) -> None:
    write(tmp_path / "folder/a/1", b"1")
    write(tmp_path / "Maildir/cur/2", b"2")
    write(tmp_path / "Maildir/tmp/x", b"x")
    write(tmp_path / "one.eml", b"3")
    write(tmp_path / "box", b"From a 1:00\nSubject: 4\n\n")
    write(tmp_path / "empty", b"")
    paths = [str(tmp_path / name) for name in ("folder", "Maildir", "one.eml", "box", "empty")]
    found = list(unlabelled(paths, lambda name, error: pytest.fail(f"{name}: {error}")))
    assert [entry.read() for entry in found] == [b"1", b"2", b"3", b"From a 1:00\nSubject: 4\n\n"]
    assert {entry.label for entry in found} == {None}
    assert found[-1].name == str(tmp_path / "box")  # not box#1: it is the only one
    with pytest.raises(SpamnbError, match="no such file or folder"):
        unlabelled([str(tmp_path / "missing")], lambda name, error: None)


@pytest.mark.parametrize("name", ["big", "big.gz"])
def test_memory_stays_flat_over_a_big_mbox(tmp_path: Path, name: str) -> None:
    body = b"Subject: %d\n\n" + b"All work and no play makes a dull mailbox.\n" * 40
    one = b"From a@example.org Mon Jan  1 00:00:00 2001\n" + body
    count = 20_000
    opener = gzip.open if name.endswith(".gz") else open
    with opener(tmp_path / name, "wb") as out:  # type: ignore[operator]
        out.writelines(one % number + b"\n" for number in range(count))
    tracemalloc.start()
    seen = sum(1 for entry in entries([f"ham={tmp_path / name}"], pytest.fail) if entry.read())
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert seen == count
    assert len(one) * count > 30 << 20 > 6 << 20 > peak  # 35 MB of mail; three buffers of a mebibyte


def test_an_empty_file_as_a_source_is_an_error(tmp_path: Path) -> None:
    write(tmp_path / "empty", b"")
    write(tmp_path / "table.csv", b"")
    (tmp_path / "box.gz").write_bytes(gzip.compress(b""))
    for spec in ("spam={}/empty", "{}/empty", "{}/table.csv", "ham={}/box.gz", "index:{}/empty", "gmail:{}/empty"):
        with pytest.raises(SpamnbError, match=r"(empty|csv|gz): an empty file, so no message"):
            entries([spec.format(tmp_path)], pytest.fail)  # not iterated
    paths = [str(tmp_path / "empty"), str(tmp_path), str(tmp_path / "missing")]
    assert not list(unlabelled(paths[:1], pytest.fail))  # as a spool without mail: no error, but the command says so


def test_a_message_alone_in_its_file_is_the_same_message_as_on_standard_input(tmp_path: Path) -> None:
    raw = b"From a 1:00\nSubject: 4\n\n>From here on\n"
    plain, zipped = write(tmp_path / "box", raw), write(tmp_path / "box.gz", gzip.compress(raw))
    for path in (plain, zipped):
        assert [entry.read() for entry in unlabelled([str(path)], pytest.fail)] == [raw]
        assert [entry.read() for entry in entries([f"ham={path}"], pytest.fail)] == [raw]
