"""What is no mail, on files made by the programs and libraries that write them."""

import gzip
import io
import sqlite3
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from spamnb.errors import SpamnbError
from spamnb.sources.formats import NotMail, foreign_format, is_archive
from spamnb.sources.spec import entries, unlabelled

MORK = b'// <!-- <mdb:mork:z v="1.4"/> -->\n< <(a=c)> // (f=iso-8859-1)\n'
OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(504)
MAIL = b"From: a@example.org\nSubject: tea\n\nAt four?\n"


def zipped(**files: str) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return out.getvalue()


def tarred() -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        member = tarfile.TarInfo("ham/1")
        member.size = len(MAIL)
        archive.addfile(member, io.BytesIO(MAIL))
    return out.getvalue()


def database(folder: Path) -> bytes:
    with sqlite3.connect(folder / "made.sqlite") as connection:
        connection.execute("CREATE TABLE t (a)")
    connection.close()
    return (folder / "made.sqlite").read_bytes()


CASES: list[tuple[str, Callable[[Path], bytes], str]] = [
    ("invoice.zip", lambda _: zipped(a="1"), "a ZIP archive, not mail"),
    ("letter.docx", lambda _: zipped(**{"[Content_Types].xml": "<Types/>"}), "a ZIP archive, not mail"),
    ("mail.tar", lambda _: tarred(), "a tar archive, not mail"),
    ("mail.tar.gz", lambda _: gzip.compress(tarred()), "a tar archive, not mail"),
    ("note.msg", lambda _: OLE, "a broken Outlook message"),
    ("old.pst", lambda _: b"!BDN" + bytes(508), "'readpst -o FOLDER FILE' makes mailboxes of it"),
    ("popstate.dat", lambda _: b"# POP3 State File\n# This is a generated file!  Do not edit.\n\n", "popstate.dat"),
    ("global-messages-db.sqlite", database, "binary data, not mail"),
    ("a.pdf", lambda _: b"%PDF-1.4\n%\xe2\xe3\n", "a PDF document, not mail"),
    ("a.jpg", lambda _: b"\xff\xd8\xff\xe0\0\x10JFIF\0", "binary data, not mail"),
    ("core", lambda _: b"\x7fELF\2\1\1" + bytes(9), "binary data, not mail"),
    ("zeros", lambda _: bytes(1 << 20), "binary data, not mail"),
    ("notes.txt", lambda _: "Größe: 5".encode("utf-16"), "UTF-16 text, not mail; 'iconv"),
]


@pytest.mark.parametrize(("name", "make", "what"), CASES, ids=[name for name, _, _ in CASES])
def test_what_is_no_mail_is_named_and_left_out(
    tmp_path: Path, name: str, make: Callable[[Path], bytes], what: str
) -> None:
    (tmp_path / "ham").mkdir()
    content = make(tmp_path)
    for copy in (name, f"second {name}"):
        (tmp_path / "ham" / copy).write_bytes(content)
    (tmp_path / "ham" / "zz").write_bytes(MAIL)
    told: list[tuple[str, str]] = []
    found = list(entries([f"ham={tmp_path}/ham"], lambda name, error: told.append((name, error.strerror or ""))))
    for entry in found[:-1]:  # what stands behind the first that can be read is told by whoever reads it
        with pytest.raises(NotMail):
            entry.read()
    assert found[-1].name.endswith("zz")
    assert len(told) == 2 and what in told[0][1]
    told.clear()
    path, report = f"{tmp_path}/ham/{name}", lambda name, error: told.append((name, str(error)))
    with pytest.raises(SpamnbError) as refused:  # by itself; archives of labelled mail are read
        list(unlabelled([path], report) if is_archive(name) else entries([f"ham={path}"], report))
    assert what in str(refused.value) and str(refused.value).startswith(f"{tmp_path}/ham/{name}: ") and not told


def test_a_source_without_mail_is_an_error_and_one_with_some_is_not(tmp_path: Path) -> None:
    for folder in ("ham", "spam"):
        (tmp_path / folder).mkdir()
    for number in range(3):
        (tmp_path / f"ham/{number}.zip").write_bytes(zipped(a="1"))
    (tmp_path / "spam/1").write_bytes(MAIL)
    told: list[str] = []
    with pytest.raises(SpamnbError, match=r"ham: none of its 3 files can be read as mail"):
        list(entries([str(tmp_path)], lambda name, error: told.append(name)))
    assert not told
    with pytest.raises(SpamnbError, match=r"0\.zip: a ZIP archive, not mail"):
        list(unlabelled([f"{tmp_path}/ham/0.zip"], lambda name, error: None))
    told.clear()
    both = [f"{tmp_path}/ham/0.zip", f"{tmp_path}/spam"]
    assert len(list(unlabelled(both, lambda name, error: told.append(name)))) == 1 == len(told)


@pytest.mark.parametrize(
    "raw",
    [
        MAIL,
        b"\n\nFrom a@example.org Mon Jan  1 00:00:00 2001\nSubject: 1\n\n" + bytes(900),
        b"X: y\n" + bytes(2000),  # a sender may write what he likes below the first field
        "Grüße, Köln: naïve café\n".encode("latin-1") * 9,
        "こんにちは".encode("iso-2022-jp") * 40 + b"\0",
        b"a note with one stray \0 in it, and then text that goes on for a while" * 2,
        b"PK is how one begins, and BM too",
        b"Rarely, RIFFs, MZ",
        b"",
    ],
)
def test_mail_and_plain_text_are_no_format(raw: bytes) -> None:
    assert foreign_format(raw) is None


def test_noise_is_binary_data() -> None:
    import random

    dice = random.Random(1)
    assert sum(foreign_format(b"\x01\x02" + dice.randbytes(4000)) == "binary data" for _ in range(200)) > 190
