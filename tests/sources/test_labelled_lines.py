"""lists.py: files with a message in each line, whatever else stands in them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from spamnb.errors import SpamnbError
from spamnb.sources.labelled_lines import first_line, index, label_and_text, labelled_texts

Unreadable = list[tuple[str, Exception]]


def write(path: Path, content: bytes = b"Subject: x\n\nbody\n") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


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
