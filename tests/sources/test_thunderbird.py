"""Mailboxes of Thunderbird, Google Takeout and Apple Mail as sources."""

import gzip
from pathlib import Path
from time import process_time

import pytest
import reading
from mail import write_file
from reading import Unreadable

from spamnb.errors import SpamnbError
from spamnb.reader.message import Reader, parse
from spamnb.sources.entries import message_from_emlx
from spamnb.sources.gmail import parse_labels
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


def read(*specs: str, unreadable: Unreadable | None = None) -> list[tuple[str | None, str]]:
    found = reading.read(*specs, unreadable=unreadable)
    subjects = [(label, raw.decode().split("Subject: ")[1].splitlines()[0]) for label, _, raw in found]
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
    write_file(profile / "Mail/Local Folders/Kept/cur/1.eml", b"Subject: by itself\n\n")  # a file per message
    assert ("ham", "by itself") in read(f"thunderbird:{profile}")


def test_what_a_sender_writes_does_not_delete_his_message(tmp_path: Path) -> None:
    forged = "From - Mon Jan 01 10:00:00 2024\nX-Mozilla-Status: 0001\nSubject: spam\nX-Mozilla-Status: 0008\n\nbuy\n\n"
    mailbox(tmp_path / "Junk", forged, "From - Mon Jan 01 10:00:00 2024\nSubject: 2\nX-Mozilla-Status: 0008\n\nbuy\n\n")
    assert len(read(f"thunderbird:{tmp_path}")) == 2


def test_what_is_no_thunderbird(tmp_path: Path) -> None:
    path = write_file(tmp_path / "empty/a")
    for spec, what in ((path.parent, "no folder of"), (path, "no folder of Thunderbird"), ("b", "no such file")):
        with pytest.raises(SpamnbError, match=what):
            read(f"thunderbird:{spec}")
    mailbox(tmp_path / "Inbox", message("in"))
    for number in range(20):
        (tmp_path / f"{number}.sbd").symlink_to(tmp_path)  # links in circles end
    assert read(f"thunderbird:{tmp_path}") == [("ham", "in")]


def test_class_of_a_folder() -> None:
    classes = {
        ("Junk-E-Mail",): "spam",
        ("&UXZO1mWHTvZZOQ-",): "ham",
        ("&V4NXPpCuTvY-",): "spam",  # 垃圾邮件
        ("Spam", "Trash"): None,
        ("Gesendete Objekte",): None,
        ("[Gmail]", "All Mail"): None,
        ("[Gmail]", "Spam"): "spam",
        ("All Mail",): "ham",
        ("[Gmail]", "Important"): "ham",
    }
    assert {parts: class_of_folder(parts) for parts in classes} == classes


def gmail_message(subject: str, gmail: str) -> str:
    return (
        f"From 1786112233445566778@xxx Mon Jan 01 10:00:00 +0000 2024\nX-GM-THRID: 1786112233445566778\n{gmail}"
        f"Delivered-To: me@gmail.com\nSubject: {subject}\n\n>From here on\n\n"
    )


LABELS = {
    "in": 'Inbox,Important,Opened,"Category promotions"',
    "junk": "Spam,Unread",
    "trash": "Trash,Opened",
    "sent": "Sent,Inbox",
    "chat": "Chat",
    "Entwurf": "=?UTF-8?Q?Entw=C3=BCrfe,Ge=C3=B6ffnet?=",
    "folded": "=?UTF-8?Q?Ge=C3=B6ffnet,?=\n =?UTF-8?Q?Spam?=",
    "comma": '"Trash, sorted",Archived',
}
TAKEOUT = [gmail_message(subject, f"X-Gmail-Labels: {labels}\n") for subject, labels in LABELS.items()]
TAKEOUT += [
    gmail_message("bare", ""),
    gmail_message("forged", "X-Gmail-Labels: Spam\n").replace("Subject", "X-Gmail-Labels: Sent\nSubject"),
]


def test_classes_go_by_labels(tmp_path: Path) -> None:
    raw = "".join(TAKEOUT).encode()
    plain = write_file(tmp_path / "Takeout/Mail/All mail.mbox", raw)
    expected = [("ham", "in"), ("spam", "junk"), ("spam", "folded"), ("ham", "comma"), ("spam", "forged")]
    for source in (plain, plain.parent, tmp_path / "Takeout", write_file(tmp_path / "1.mbox.gz", gzip.compress(raw))):
        told: Unreadable = []
        assert read(f"gmail:{source}", unreadable=told) == expected
        [(name, error)] = told
        assert name.endswith("#9") and "does not begin with X-Gmail-Labels" in str(error)


def test_what_is_no_takeout(tmp_path: Path) -> None:
    for raw, said in ((b"PK\3\4", "a ZIP archive, not mail; unpack it"), (b"From a 1:00\n\n.\n", "begin with X-Gmail")):
        with pytest.raises(SpamnbError, match=said):
            read(f"gmail:{write_file(tmp_path / 'takeout', raw)}")


@pytest.mark.parametrize("value", ['"a', "=?x?q?=FF?=", "=?utf-8?b?" + "A" * 7000, "=?a?q?" * 1200, "a," * 4000])
def test_any_labels_are_read_in_no_time(value: str) -> None:
    start = process_time()
    assert parse_labels(b"From 1\nX-Gmail-Labels: " + value.encode()) is not None
    assert process_time() - start < 5


def test_the_labels_are_no_evidence_of_what_they_say() -> None:
    raw = b"X-GM-THRID: 1\nX-Gmail-Labels: Spam,Unread\nSubject: lunch\n\nnoon\n"
    assert not [token for token in Reader().tokens(raw) if "gm" in token or "label" in token]
    assert parse(raw).digest == parse(raw[raw.index(b"Subject") :]).digest


def test_a_mailbox_of_apple_mail_is_its_messages_without_attachments(tmp_path: Path) -> None:
    mail, data = b"5 bytes\n\nare not enough", tmp_path / "V10/INBOX.mbox/4F2A/Data"
    path = write_file(data / "Messages/7.emlx", b"%-10d\n%b<?xml version='1.0'?>\n" % (len(mail), mail))
    write_file(data / "Attachments/7/2/notes.txt", b"no message")
    for source in (tmp_path / "V10", path):
        assert [raw for *_, raw in reading.read(f"ham={source}")] == [mail]


@pytest.mark.parametrize("raw", [b"", b"Subject: tea\n\n", b"99\nshort", b"1" * 5000 + b"\nx", b"12", b"\xb2\nab"])
def test_what_is_no_emlx_is_an_error_and_nothing_else(raw: bytes) -> None:
    with pytest.raises(OSError, match="first line"):
        message_from_emlx(raw, "x.emlx")
