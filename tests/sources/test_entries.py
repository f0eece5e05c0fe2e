"""How the bytes of a message are read: gzip, ranges, limits of size, files that are none."""

import gzip
import os
from pathlib import Path

import pytest
from mail import write

from spamnb.errors import SpamnbError
from spamnb.sources import entries
from spamnb.sources.labelled_lines import first_line, index, label_and_text, labelled_texts


def test_unquoted_takes_one_mark_and_leaves_the_headers() -> None:
    raw = b"From a 1:00\n>From uucp!b\nSubject: x\n\n>From me\n>>From you\n> From\nx >From\n"
    assert entries.unquoted(raw) == b"From a 1:00\n>From uucp!b\nSubject: x\n\nFrom me\n>From you\n> From\nx >From\n"
    assert entries.unquoted(b"no body\n>From x\n") == b"no body\n>From x\n"


def test_opened_tells_gzip_by_its_first_bytes(tmp_path: Path) -> None:
    path = tmp_path / "m"
    path.write_bytes(gzip.compress(b"one") + gzip.compress(b"two"))
    with entries.open_mail(str(path)) as stream:
        assert stream.read() == b"onetwo"
    path.write_bytes(b"\x1f\x8b then nothing like it")
    with pytest.raises(OSError, match="broken gzip data"), entries.open_mail(str(path)) as stream:
        stream.read()


def test_contents_are_a_range_or_all_of_it_decompressed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "m"
    path.write_bytes(b"0123456789")
    assert entries.contents(str(path)) == b"0123456789"
    assert entries.contents(str(path), 3, 5) == b"34"
    assert entries.contents(str(path), 8, 12) == b"89"  # shorter than asked for: the caller knows what that means
    for written in (gzip.compress(b"x" * 100_000), b"x" * 100_000):
        path.write_bytes(written)
        monkeypatch.setattr(entries, "MAX_MESSAGE", 100_000)
        assert entries.contents(str(path)) == b"x" * 100_000
        monkeypatch.setattr(entries, "MAX_MESSAGE", 99_999)
        with pytest.raises(OSError, match="longer than"):
            entries.contents(str(path))


def test_what_is_left_out_is_told_once_and_named_once() -> None:
    told: list[str] = []
    left_out = entries.LeftOut(told.append)
    for error in (ValueError("imaps://a@b: no room"), ValueError("imaps://a@b: no room"), OSError(13, "not yours")):
        left_out("imaps://a@b", error)
    assert told == ["imaps://a@b: no room; left out", "imaps://a@b: not yours; left out"] and left_out.count == 3


Unreadable = list[tuple[str, Exception]]


def test_an_index_names_files_relative_to_itself(tmp_path: Path) -> None:
    for number in (1, 2, 3):
        write(tmp_path / f"data/inmail.{number}")
    write(tmp_path / "data/empty", b"")
    path = write(
        tmp_path / "full/index",
        b"spam ../data/inmail.3\r\nham ../data/inmail.1\n\nham ../data/empty\nspam ../data/missing\nodd\n"
        b"ham ../data\nunsure ../data/inmail.1\nspam ../data/inmail.2",
    )
    unreadable: Unreadable = []
    found = list(index(str(path), lambda *told: unreadable.append(told)))
    assert [(label, os.path.basename(name)) for label, name in found] == [
        ("spam", "inmail.3"),
        ("ham", "inmail.1"),
        ("spam", "inmail.2"),
    ]
    assert [os.path.basename(name) for name, _ in unreadable] == ["missing", "index:6", "data", "index:8"]


def test_what_is_no_index_is_told_once(tmp_path: Path) -> None:
    words = write(tmp_path / "essay", b"It was a dark and stormy night.\n" * 500)
    unreadable: Unreadable = []
    with pytest.raises(SpamnbError, match="essay: none of its first 20 lines is a class and a file"):
        list(index(str(words), lambda *told: unreadable.append(told)))
    assert len(unreadable) == 20


def test_label_tab_text(tmp_path: Path) -> None:
    path = write(
        tmp_path / "sms.txt",
        b"\n\xef\xbb\xbfham\tSee you at 5: tea?\r\n\nspam\tWIN a \xc2\xa3 prize\tnow\nno label here\n"
        b"ham\t" + b"x" * (1 << 21) + b"\nham\tlast",
    )
    unreadable: Unreadable = []
    assert list(labelled_texts(str(path), lambda *told: unreadable.append(told))) == [
        ("ham", f"{path}:2", b"See you at 5: tea?"),
        ("spam", f"{path}:4", b"WIN a \xc2\xa3 prize\tnow"),
        ("ham", f"{path}:7", b"last"),
    ]
    assert [name for name, _ in unreadable] == [f"{path}:5", f"{path}:6"]
    assert label_and_text(first_line(str(path))) == ("ham", b"See you at 5: tea?")


def test_a_file_that_cannot_be_read_is_reported(tmp_path: Path) -> None:
    unreadable: Unreadable = []
    assert not list(labelled_texts(str(tmp_path), lambda *told: unreadable.append(told)))
    assert [name for name, _ in unreadable] == [str(tmp_path)]
    assert first_line(str(write(tmp_path / "blank", b"\n\n"))) == b""
