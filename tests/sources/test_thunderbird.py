"""Thunderbird's folders on a profile as Thunderbird makes it."""

from __future__ import annotations

from pathlib import Path

import pytest

from spamnb.errors import SpamnbError
from spamnb.sources.spec import entries
from spamnb.sources.thunderbird import class_of_folder

MORK = '// <!-- <mdb:mork:z v="1.4"/> -->\n< <(a=c)> // (f=iso-8859-1)\n'


def message(subject: str, status: str = "0001", end: str = "\n", body: str = "body") -> str:
    lines = ["From - Mon Jan 01 10:00:00 2024", "X-Account-Key: account1", "X-UIDL: 1f", f"X-Mozilla-Status: {status}"]
    lines += ["X-Mozilla-Status2: 00000000", "X-Mozilla-Keys: " + " " * 80, f"Subject: {subject}", "", body, "", ""]
    return end.join(lines)


def mailbox(path: Path, *messages: str, index: bool = True) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes("".join(messages).encode())
    if index:
        path.with_name(path.name + ".msf").write_text(MORK)


@pytest.fixture
def profile(tmp_path: Path) -> Path:
    local, imap = tmp_path / "Mail/Local Folders", tmp_path / "ImapMail/imap.example.org"
    mailbox(local / "Inbox", message("in"), message("gone", "0009"), message("also in", "0000", end="\r\n"))
    mailbox(local / "Junk", message("junk"))
    mailbox(local / "Trash", message("trash"))
    mailbox(local / "Unsent Messages", message("unsent"))
    mailbox(local / "Trash.sbd/Work", message("work in trash"))
    mailbox(local / "Archives.sbd/2024", message("archived"), index=False)
    mailbox(local / "Empty")
    mailbox(imap / "Ind&AOk-sirables", message("indésirable"))
    mailbox(imap / "Entw&APw-rfe", message("Entwurf"))
    mailbox(imap / "Sent", message("sent"))
    mailbox(imap / "INBOX.sbd/Plans", message("plans"))
    (imap / "msgFilterRules.dat").write_text('version="9"\nlogging="no"\n')
    (local / "popstate.dat").write_text("# POP3 State File\n")
    (local / "filterlog.html").write_text("<html></html>")
    mailbox(tmp_path / "cache/x", message("no mail: a cache"))
    (tmp_path / "prefs.js").write_text('user_pref("a", 1);\n')
    return tmp_path


def read(*specs: str) -> list[tuple[str | None, str]]:
    found = entries(specs, lambda name, error: pytest.fail(f"{name}: {error}"))
    subjects = [(entry.label, entry.read().decode().split("Subject: ")[1].splitlines()[0]) for entry in found]
    return subjects


def test_classes_of_a_profile_go_by_the_folders_names(profile: Path) -> None:
    assert read(f"thunderbird:{profile}") == [
        ("spam", "indésirable"),
        ("ham", "plans"),
        ("ham", "in"),
        ("ham", "also in"),
        ("spam", "junk"),
        ("ham", "archived"),
    ]
    local = f"{profile}/Mail/Local Folders"
    assert [subject for _, subject in read(f"thunderbird:{local}")] == ["in", "also in", "junk", "archived"]


def test_one_folder_is_a_class(profile: Path) -> None:
    local = f"{profile}/Mail/Local Folders"
    assert read(f"good={local}/Inbox", f"bad={local}/Junk") == [("good", "in"), ("good", "also in"), ("bad", "junk")]
    mailbox(Path(local) / "Lists.sbd/one", message("1"), message("2", "0008"))
    mailbox(Path(local) / "Lists.sbd/two", message("3"))
    assert read(f"lists={local}/Lists.sbd") == [("lists", "1"), ("lists", "3")]


def test_a_folder_with_a_file_per_message(profile: Path) -> None:
    folder = profile / "Mail/Local Folders/Kept"
    for part in ("cur", "tmp"):
        (folder / part).mkdir(parents=True)
    (folder / "cur/1.eml").write_text("Subject: by itself\n\n")
    assert ("ham", "by itself") in read(f"thunderbird:{profile}")


def test_what_a_sender_writes_does_not_delete_his_message(tmp_path: Path) -> None:
    forged = "From - Mon Jan 01 10:00:00 2024\nX-Mozilla-Status: 0001\nSubject: spam\nX-Mozilla-Status: 0008\n\nbuy\n\n"
    mailbox(tmp_path / "Junk", forged, "From - Mon Jan 01 10:00:00 2024\nSubject: 2\nX-Mozilla-Status: 0008\n\nbuy\n\n")
    assert len(read(f"thunderbird:{tmp_path}")) == 2


def test_what_is_no_thunderbird(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("Subject: x\n\n")
    cases = {tmp_path: "no folder of Thunderbird", tmp_path / "a": "not a folder", tmp_path / "b": "no such file"}
    for spec, what in cases.items():
        with pytest.raises(SpamnbError, match=what):
            entries([f"thunderbird:{spec}"], lambda name, error: None)


def test_links_in_circles_end(tmp_path: Path) -> None:
    mailbox(tmp_path / "Inbox", message("in"))
    for number in range(20):
        (tmp_path / f"{number}.sbd").symlink_to(tmp_path)
    assert read(f"thunderbird:{tmp_path}") == [("ham", "in")]


@pytest.mark.parametrize(
    ("parts", "label"),
    [
        (("Inbox",), "ham"),
        (("Junk-E-Mail",), "spam"),
        (("Spam", "2024"), "spam"),
        (("&UXZO1mWHTvZZOQ-",), "ham"),
        (("&V4NXPpCuTvY-",), "spam"),  # 垃圾邮件
        (("Spam", "Trash"), None),
        (("Gesendete Objekte",), None),
        (("[Gmail]", "All Mail"), None),
        (("[Gmail]", "Spam"), "spam"),
        (("All Mail",), "ham"),
        (("[Gmail]", "Important"), "ham"),
    ],
)
def test_class_of_a_folder(parts: tuple[str, ...], label: str | None) -> None:
    assert class_of_folder(parts) == label
