"""What is no mail, on files made by the programs and libraries that write them."""

import gzip
import shutil
import sqlite3
from pathlib import Path

import pytest
from mail import write_file

from spamnb.errors import SpamnbError
from spamnb.sources.formats import NotMail, foreign_format
from spamnb.sources.spec import find_entries, find_labelled_entries

MAIL = b"From: a@example.org\nSubject: tea\n\nAt four?\n"


def packed(folder: Path, kind: str) -> bytes:
    write_file(folder / "packed/ham/1", MAIL)
    return Path(shutil.make_archive(str(folder / "made"), kind, folder / "packed")).read_bytes()


def database(folder: Path) -> bytes:
    with sqlite3.connect(folder / "made.sqlite") as connection:
        connection.execute("CREATE TABLE t (a)")
    connection.close()
    return (folder / "made.sqlite").read_bytes()


CASES = [
    ("invoice.zip", lambda folder: packed(folder, "zip"), "a ZIP archive, not mail; unpack it"),
    ("mail.tar.gz", lambda folder: gzip.compress(packed(folder, "tar")), "a tar archive, not mail"),
    ("note.msg", lambda _: b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(504), "Office document, not mail; 'msgconvert'"),
    ("old.pst", lambda _: b"!BDN" + bytes(508), "'readpst -o FOLDER FILE' makes mailboxes of it"),
    ("popstate.dat", lambda _: b"# POP3 State File\n# This is a generated file!  Do not edit.\n\n", "popstate.dat"),
    ("global-messages-db.sqlite", database, "binary data, not mail"),
    ("a.pdf", lambda _: b"%PDF-1.4\n%\xe2\xe3\n", "a PDF document, not mail"),
    ("a.jpg", lambda _: b"\xff\xd8\xff\xe0\0\x10JFIF\0", "an image, not mail"),
    ("zeros", lambda _: bytes(1 << 20), "binary data, not mail"),
    ("notes.txt", lambda _: "Größe: 5".encode("utf-16"), "UTF-16 text, not mail; 'iconv"),
]


@pytest.mark.parametrize(("name", "make", "what"), CASES, ids=[name for name, _, _ in CASES])
def test_what_is_no_mail_is_named_and_left_out(tmp_path: Path, name: str, make, what: str) -> None:
    content = make(tmp_path)
    for copy in (name, f"second {name}"):
        write_file(tmp_path / "ham" / copy, content)
    write_file(tmp_path / "ham/zz", MAIL)
    told: list[str] = []
    found = list(find_labelled_entries([f"ham={tmp_path}/ham"], lambda name, error: told.append(str(error))))
    for entry in found[:-1]:  # what stands behind the first that can be read is told by whoever reads it
        with pytest.raises(NotMail):
            entry.read()
    assert found[-1].name.endswith("zz") and len(told) == 2 and what in told[0]
    path = f"{tmp_path}/ham/{name}"
    with pytest.raises(SpamnbError) as refused:
        list(find_labelled_entries([f"ham={path}"], pytest.fail))
    assert what in str(refused.value) and str(refused.value).startswith(f"{path}: ")


def test_a_source_without_mail_is_an_error_and_one_with_some_is_not(tmp_path: Path) -> None:
    for number in range(3):
        write_file(tmp_path / f"ham/{number}.pdf", b"%PDF-1.7")
    write_file(tmp_path / "spam/1", MAIL)
    with pytest.raises(SpamnbError, match=r"ham: none of its 3 files or lines can be read.*; .*0\.pdf: a PDF document"):
        list(find_labelled_entries([str(tmp_path)], pytest.fail))
    told: list[str] = []
    both = [f"{tmp_path}/ham/0.pdf", f"{tmp_path}/spam"]
    assert len(list(find_entries(both, lambda name, error: told.append(name)))) == 1 == len(told)


@pytest.mark.parametrize(
    "raw",
    [
        b"\n\nFrom a@example.org Mon Jan  1 00:00:00 2001\nSubject: 1\n\n" + bytes(900),
        b"X: y\n" + bytes(2000),  # a sender may write what he likes below the first field
        "Grüße, Köln: naïve café\n".encode("latin-1") * 9,
        "こんにちは".encode("iso-2022-jp") * 40 + b"\0",
        b"a note with one stray \0 in it, and then text that goes on for a while" * 2,
        b"PK is how one begins, and BM too",
        b"",
    ],
)
def test_mail_and_plain_text_are_no_format(raw: bytes) -> None:
    assert foreign_format(raw) is None
