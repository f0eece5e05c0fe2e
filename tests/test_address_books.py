"""The addresses of people in vCards and in Thunderbird's address books, and what hostile files cost."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

import pytest

from spamnb import address_books
from spamnb.address_books import find_book, read_addresses
from spamnb.errors import SpamnbError
from spamnb.people import KNOWN, load_people

CARDS = b"""BEGIN:VCARD\r
VERSION:4.0\r
FN:Ann, email:x@y.example\r
EMAIL;TYPE="work;a:b";PREF=1:Ann@Example.ORG\r
item1.EMAIL;type=INTERNET;type=pref:ann@long-\r
 domain.example\r
E\r
\tMAIL:folded@example.org\r
NOTE:EMAIL:note@example.org\\nEMAIL:note2@example.org\r
X-EMAIL:x@example.org\r
EMAIL:Ann <named@example.org>\r
EMAIL:\r
END:VCARD\r
begin:vcard
VERSION:2.1
email;INTERNET:bob@example.org\x20
PHOTO;ENCODING=BASE64:
 RU1BSUw6
 EMAIL:photo@example.org
END:VCARD
"""
TABLE = "CREATE TABLE properties (card TEXT, name TEXT, value TEXT)"


def read(path: Path) -> frozenset[str]:
    return read_addresses(find_book(str(path)))


def test_the_fields_email_of_vcards_are_read_whatever_their_form(tmp_path: Path) -> None:
    path = tmp_path / "contacts.vcf"
    path.write_bytes(CARDS)
    addresses = {"ann@example.org", "ann@long-domain.example", "folded@example.org", "bob@example.org"}
    assert read(path) == addresses


def make_book(path: Path, rows: Iterable[tuple[str, str]], schema: str = TABLE) -> Path:
    book = sqlite3.connect(path)
    book.execute("PRAGMA journal_mode = WAL")
    book.executescript(schema)
    if schema == TABLE:
        book.executemany("INSERT INTO properties VALUES ('1', ?, ?)", rows)
    book.commit()
    book.close()
    return path


def test_thunderbirds_address_book_is_read_and_not_changed_while_another_program_has_locked_it(tmp_path: Path) -> None:
    rows = [("PrimaryEmail", "Ann@example.org"), ("SecondEmail", "bob@example.org"), ("DisplayName", "x@example.org")]
    path = make_book(tmp_path / "abook.sqlite", [*rows, ("_vCard", CARDS.decode())])
    content, names = path.read_bytes(), set(tmp_path.iterdir())
    thunderbird = sqlite3.connect(path, isolation_level=None)
    thunderbird.execute("PRAGMA locking_mode = EXCLUSIVE")
    thunderbird.execute("BEGIN EXCLUSIVE")
    assert {"ann@example.org", "bob@example.org", "folded@example.org"} < read(path)
    assert "x@example.org" not in read(path)
    thunderbird.execute("ROLLBACK")
    thunderbird.close()
    assert path.read_bytes() == content and set(tmp_path.iterdir()) == names


def test_people_of_an_address_book_are_known_and_a_change_of_it_is_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    configuration, cards = tmp_path / "config.toml", tmp_path / "contacts.vcf"
    monkeypatch.setenv("SPAMNB_CONFIG", str(configuration))
    monkeypatch.setenv("HOME", str(tmp_path))
    cards.write_bytes(CARDS)
    header = b"From: carl@example.org\n\n"
    for name in ("contacts.vcf", "~/contacts.vcf", str(cards)):
        configuration.write_text(f'[people]\naddress_books = ["{name}"]\n')
        configuration.chmod(0o600)
        assert load_people().classify_sender(b"From: bob@example.org\n\n") == KNOWN
        assert load_people().classify_sender(header) == ""
    cards.write_bytes(CARDS.replace(b"bob@", b"carl@"))
    assert load_people().classify_sender(header) == KNOWN


def looping_book(path: Path) -> Path:
    """Return a book whose inner page of the table has each of its children many times over."""
    make_book(path, [("DisplayName", "x" * 200)] * 4000)
    database = sqlite3.connect(path)
    ((root,),) = database.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'properties'")
    ((size,),) = database.execute("PRAGMA page_size")
    database.close()
    content = bytearray(path.read_bytes())
    page = content[(root - 1) * size : root * size]
    number = int.from_bytes(page[3:5])
    pointers = [int.from_bytes(page[12 + 2 * cell : 14 + 2 * cell]) for cell in range(number)]
    for pointer in pointers[1:]:
        page[pointer : pointer + 4] = (root).to_bytes(4)
    content[(root - 1) * size : root * size] = page
    path.write_bytes(content)
    return path


@pytest.mark.parametrize(
    ("schema", "problem"),
    [
        ("CREATE TABLE other (x)", "no table of properties"),
        (
            "CREATE VIEW properties AS WITH RECURSIVE n(card, name, value) AS"
            " (SELECT 1, 'PrimaryEmail', 'a' UNION ALL SELECT card + 1, name, value FROM n) SELECT * FROM n",
            "no table of properties",
        ),
        ("CREATE TABLE properties (card TEXT, name TEXT, value TEXT AS (upper(card)))", "no table of properties"),
    ],
)
def test_a_book_with_another_schema_is_refused(tmp_path: Path, schema: str, problem: str) -> None:
    path = make_book(tmp_path / "abook.sqlite", [], schema)
    with pytest.raises(
        SpamnbError, match=f"abook.sqlite: not a Thunderbird address book, or damaged .*{problem}"
    ) as told:
        read(path)
    assert "\n" not in str(told.value) and "remove" not in str(told.value)


@pytest.mark.parametrize("kind", ["loop", "truncated", "random", "blob"])
def test_a_damaged_book_is_one_line_after_a_bounded_time(tmp_path: Path, kind: str) -> None:
    path = looping_book(tmp_path / "abook.sqlite")
    if kind == "truncated":
        path.write_bytes(path.read_bytes()[:20_000])
    if kind == "random":
        path.write_bytes(b"SQLite format 3\0" + bytes(range(256)) * 64)
    if kind == "blob":
        path.unlink()
        make_book(path, [("PrimaryEmail", sqlite3.Binary(b"\xff"))])  # type: ignore[list-item]
    begun = time.process_time()
    with pytest.raises(SpamnbError) as told:
        read(path)
    assert str(path) in str(told.value) and "\n" not in str(told.value)
    assert time.process_time() - begun < 5


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"From: ann@example.org\n\nhi\n", "neither a file of vCards nor"),
        (b"", "neither a file of vCards nor"),
        (
            b"BEGIN:VCARD\n" + b"".join(b"EMAIL:n%d@a.example\n" % n for n in range(20_001)),
            "more than 20,000 addresses",
        ),
    ],
    ids=["mail", "empty", "many"],
)
def test_a_file_that_is_no_address_book_or_too_large_is_one_line(tmp_path: Path, content: bytes, problem: str) -> None:
    path = tmp_path / "contacts.vcf"
    path.write_bytes(content)
    with pytest.raises(SpamnbError, match=problem):
        read(path)


def test_the_size_of_a_book_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(address_books, "MAX_BYTES", 1 << 20)
    path = tmp_path / "contacts.vcf"
    path.write_bytes(CARDS + b" " * (1 << 20))
    with pytest.raises(SpamnbError, match="more than 1 MiB"):
        read(path)


@pytest.mark.parametrize(
    "part",
    [b"\n ", b"\r\n\t", b"EMAIL;", b'EMAIL;"', b"a.", b'EMAIL;a="b";', b"EMAIL:\n", b"\n", b"\r", b"a-"],
    ids=repr,
)
def test_megabytes_of_a_hostile_vcard_are_read_in_linear_time(tmp_path: Path, part: bytes) -> None:
    path = tmp_path / "contacts.vcf"
    path.write_bytes(b"BEGIN:VCARD\nEMAIL:ann@example.org\n" + part * (4_000_000 // len(part)))
    begun = time.process_time()
    with suppress(SpamnbError):  # more than 20,000 addresses
        read(path)
    assert time.process_time() - begun < 5
