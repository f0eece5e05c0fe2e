"""Folders by the names that people give them, and moves that leave a message a name which holds where it goes."""

import os
import re
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from spamnb.errors import SpamnbError
from spamnb.mailbox import maildir
from spamnb.sources.mailbox import decode_name, encode_name, folder_role


@pytest.fixture
def mail(tmp_path: Path) -> Path:
    """Make nested folders as mbsync and offlineimap do; INBOX has a folder of Maildir++ as well."""
    for name in ("INBOX", "INBOX/.Old", "Junk", "Archive", "[Gmail]/Spam", "[Gmail]/Trash"):
        maildir.make_folder(tmp_path / "Mail" / name)
    return tmp_path / "Mail"


@pytest.mark.parametrize(
    ("before", "kept"),
    [
        ("1.M2P3.host,U=222:2,FS", ":2,FS"),
        ("1.M2P3.host,U=222", ""),
        ("1_0.2.host,U=7,FMD5=7e33429f656f1e6e9d79b29c3f82c57e:2,S", ":2,S"),
        ("1.M2P3.host,S=321,W=330:2,RS", ",S=321,W=330:2,RS"),
        ("1.M2P3.host,W=330,U=9,S=321:2,", ",W=330,S=321:2,"),
        ("1.M2P3.host:2,FSab", ":2,FS"),  # a and b are keywords of the folder it was in
    ],
)
def test_a_moved_message_keeps_flags_and_sizes_and_nothing_else_of_its_name(tmp_path, before, kept):
    one, other = maildir.make_folder(tmp_path / "One"), maildir.make_folder(tmp_path / "Other")
    (one / "cur" / before).write_bytes(b"x")
    moved = maildir.move_file(one / "cur" / before, other)
    fresh = moved.name.removesuffix(kept)
    assert moved.name.endswith(kept) and re.fullmatch(r"\d+\.M\d+P\d+Q\d+\.[^,:]+", fresh), moved.name
    assert not maildir.files(one / "cur") and maildir.files(other / "cur") == [moved]


@pytest.mark.parametrize(
    ("name", "folder"),
    [
        ("Old", "INBOX/.Old"),
        (".old", "INBOX/.Old"),
        ("./.Old", "INBOX/.Old"),
        ("../Junk", "Junk"),
        ("../[Gmail]/Spam", "[Gmail]/Spam"),
        ("Nested", "INBOX/Nested"),
        ("Spam", "INBOX/.Spam"),  # this one and those below are to be made
        ("Junk.2024", "INBOX/.Junk.2024"),
        ("Indésirables", "INBOX/.Ind&AOk-sirables"),  # as Dovecot would write it
        (".Ind&AOk-sirables", "INBOX/.Ind&AOk-sirables"),
        ("R&D.Été", "INBOX/.R&-D.&AMk-t&AOk-"),
    ],
)
def test_a_folder_is_sought_from_the_maildir_wherever_we_are(mail, monkeypatch, name, folder):
    maildir.make_folder(mail / "INBOX" / "Nested")
    for place, box in (("/", mail / "INBOX"), (mail / "INBOX", Path())):
        monkeypatch.chdir(place)
        assert os.path.abspath(maildir.locate_folder(box, name)) == str(mail / folder)
    assert maildir.locate_folder(mail / "INBOX", str(mail / "Junk")) == mail / "Junk"


def test_a_new_junk_beside_one_that_exists_is_refused_with_what_to_write(mail):
    maildir.make_folder(mail / "Ind&AOk-sirables")
    for name, beside in (("Junk", r"\.\./Junk"), ("Indésirables", r"\.\./Ind&AOk-sirables")):
        with pytest.raises(SpamnbError, match=rf"is beside this Maildir, not in it; write {beside}"):
            maildir.locate_folder(mail / "INBOX", name)
    maildir.make_folder(mail / "INBOX" / ".Junk")
    assert maildir.locate_folder(mail / "INBOX", "Junk") == mail / "INBOX" / ".Junk"


def test_a_mailbox_is_what_lies_in_it_and_beside_it_where_the_layout_is_nested(mail):
    box = mail / "INBOX"
    maildir.make_folder(mail / "Archive" / "2024")
    maildir.make_folder(mail.parent / "Other")  # another mailbox
    (box / "loop").symlink_to(box)

    def names(junk: Path) -> set[str]:
        found = maildir.list_mailbox_folders(box, junk)
        assert len(found) == len({path.resolve() for path in found})
        return {os.path.relpath(path, mail) for path in found}

    assert names(box / ".Junk") == {"INBOX", "INBOX/.Old"}
    beside = {"INBOX", "INBOX/.Old", "Junk", "Archive", "Archive/2024"}
    assert names(box / "../Junk") == beside
    assert names(box / "../[Gmail]/Spam") == beside | {"[Gmail]/Spam", "[Gmail]/Trash"}
    assert names(maildir.make_folder(mail.parent / "Far" / "Junk")) == {"INBOX", "INBOX/.Old", "../Far/Junk"}
    (box / ".Junk").symlink_to(mail / "Junk")
    assert names(box / ".Junk") == {*beside - {"Junk"}, "INBOX/.Junk"}


def test_folders_and_messages_are_what_maildirs_call_so(tmp_path):
    box, _ = [maildir.make_folder(maildir.locate_folder(tmp_path, name)) for name in ("Mailbox", "A.B")]
    (box / "cur" / "1").write_bytes(b"x")
    (box / "cur" / "2").symlink_to(box / "cur" / "1")
    (box / "cur" / ".4").write_bytes(b"x")
    for name in (".Mailbox/cur/3", ".folder", "visible/cur"):
        (tmp_path / name).mkdir(parents=True)
    assert maildir.files(box / "cur") == [box / "cur" / "1"]
    assert maildir.list_folders(tmp_path) == [tmp_path, tmp_path / ".A.B", tmp_path / ".Mailbox"]


def test_the_names_that_dovecot_made_on_disk() -> None:
    """Seen with Dovecot 2.3.19: CREATE of ``été`` and ``R&D`` made these folders; the last is RFC 3501's example."""
    on_disk = {"été": "&AOk-t&AOk-", "R&D": "R&-D", "~peter/mail/台北/日本語": "~peter/mail/&U,BTFw-/&ZeVnLIqe-"}
    for name, written in on_disk.items():
        assert encode_name(name) == written and decode_name(written) == name


@given(st.text(st.characters(exclude_categories=["Cs"])))
@example("😀&é,/+~\\\0")
def test_what_is_encoded_is_printable_ascii_and_decodes_to_the_name(name: str) -> None:
    written = encode_name(name)
    assert re.fullmatch("[ -~]*", written)
    assert decode_name(written) == decode_name(name)  # a name that is encoded already stays
    assert encode_name(written) == written or "&" not in written.replace("&-", "")


@pytest.mark.parametrize("name", ["Нежелательная почта", "Indésirables", "迷惑メール", "สแปม", "דואר זבל"])
def test_junk_is_known_in_many_languages(name: str) -> None:
    assert folder_role(encode_name(name)) == folder_role(name) == "junk"
