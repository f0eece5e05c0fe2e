"""An IMAP server that answers nonsense: ``watch`` tells it in one line and goes on with the other mailboxes."""

import re
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from commands import run
from hypothesis import given
from hypothesis import strategies as st
from imapclient.imap_utf7 import encode
from mail import message
from programs import watching
from unpacked import wait_until

from spamnb.mailbox import maildir
from spamnb.sources import imap_connection

ANSWERS = {
    "nested": b"* LIST " + b"(" * 100_000 + b"\r\n",
    "literal": b'* LIST () "/" {99999999999}\r\nx',
    "no literal": b'* LIST () "/" {9' + b"9" * 5_000 + b"}\r\nx",
    "no folder": b'* LIST (\\HasNoChildren) "/" \r\n',
    "no names": b"* LIST 1 2 3 4 5\r\n",
    "letters": b'* LIST () "/" "\xff\xfe&&&-"\r\n* LIST () NIL {0}\r\n\r\n',
    "no list": b"* OK x\r\n" * 50_000,
    "flood": b"* OK x\r\n" * 200_000,
    "untagged": b"* )))\r\n* 99999999999999999999999 FETCH (\r\n",
}


@contextmanager
def serving(
    replies: dict[bytes, bytes], other: bytes, greeting: bytes = b"* OK ready\r\n", done: bytes = b" OK done\r\n"
) -> Iterator[str]:
    """Serve the account whose URL is yielded, with a reply for each command."""
    listening = socket.create_server(("127.0.0.1", 0))

    def serve(client: socket.socket) -> None:
        with client, client.makefile("rwb", buffering=0) as stream, suppress(OSError):
            stream.write(greeting)
            for line in stream:
                tag, command, *_ = [*line.split(), b"", b""]
                stream.write(replies.get(command, other) + tag + done)

    def accept() -> None:
        with suppress(OSError):
            while True:
                threading.Thread(target=serve, args=(listening.accept()[0],), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    yield f"imap://ann@127.0.0.1:{listening.getsockname()[1]}"
    listening.shutdown(socket.SHUT_RDWR)
    listening.close()


@pytest.fixture(autouse=True)
def person(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.setenv(name, str(tmp_path))
    monkeypatch.setenv("SPAMNB_IMAP_PASSWORD", "secret")


CAPABLE = {b"CAPABILITY": b"* CAPABILITY IMAP4rev1 MOVE UIDPLUS\r\n", b"LOGIN": b""}


@pytest.fixture(params=ANSWERS)
def url(request: pytest.FixtureRequest) -> Iterator[str]:
    """Return the account of a server that sends this reply to every command except the login."""
    greeting = b"* OK [CAPABILITY IMAP4rev1 MOVE UIDPLUS] ready\r\n"
    with serving(CAPABLE, ANSWERS[request.param], greeting) as address:
        yield address


STATUS = b"* STATUS x (MESSAGES 3 UIDNEXT 4 UIDVALIDITY 1)\r\n"
ODD_NAMES = {
    b"NIL": "NIL", b'"R&D"': "R&D", b"Da\tOggetto\tDim\t": "Da", b"[a(b": "", b'"\xffx"': "x", b"{3}\r\na\nb": "a",
    b'"x" y': "y", b"": "",
}  # fmt: skip


@pytest.mark.parametrize("name", ODD_NAMES)
def test_an_odd_folder_is_named_and_leaves_the_others(name: bytes) -> None:
    listing = b'* LIST () "/" INBOX\r\n* LIST () "/" %b\r\n* LIST (\\Junk) "/" "Entw&APw-rfe"\r\n' % name
    with serving({**CAPABLE, b"LIST": listing, b"STATUS": STATUS}, b"") as address:
        result = run("check", address)
    lines = [" ".join(line.split()) for line in result.stdout.splitlines()]
    assert result.exit_code == 0 and lines[0] == "INBOX inbox 3 messages", result.output
    assert "Entwürfe junk 3 messages" in lines and ODD_NAMES[name] in result.stdout
    assert ("left out" in result.stdout) == (name != b"[a(b")


@given(st.text(st.characters(exclude_categories=["C", "Zl", "Zp"]), min_size=1, max_size=20).filter(str.isprintable))
def test_listed_names_are_those_that_imapclient_encodes(name: str) -> None:
    encoded = encode(name)
    quoted = b'"' + encoded.replace(b"\\", b"\\\\").replace(b'"', b'\\"') + b'"'
    extended = b'(\\Marked)  "."  ' + quoted + b' ("CHILDINFO" ("SUBSCRIBED")) '
    for item in (b'(\\Marked) "." ' + quoted, extended, (b'(\\Marked) "." {%d}' % len(encoded), encoded)):
        assert imap_connection.read_listed(item)[:3] == ([b"\\marked"], ".", name)


def test_the_separator_of_names_may_lack_its_quotes_and_nil_may_be_small() -> None:
    quoted = ((b'""', ""), (b'"\\\\"', "\\"), (b'"\\"', "\\"), (b'"\\""', '"'))
    for written, separator in ((b"nil", ""), (b"/", "/"), *quoted):
        assert imap_connection.read_listed(b"(\\Sent) %b Sent" % written)[:3] == ([b"\\sent"], separator, "Sent")


LISTING = b'* LIST () "/" INBOX\r\n* LIST () "/" Work\r\n'


def test_an_answer_about_one_folder_that_cannot_be_read_is_shown_beside_it() -> None:
    status = b'* STATUS "x (MESSAGES 3 UIDNEXT 4 UIDVALIDITY 1)\r\n'
    with serving({**CAPABLE, b"LIST": LISTING, b"STATUS": status}, b"") as address:
        result = run("check", address)
    assert result.exit_code == 0 and result.stdout.count("the server's answer cannot be read") == 2, result.output


@pytest.mark.parametrize("body", [b"", b" BODY[]<0> NIL", b" BODY[]<0> 12"])
def test_a_message_without_its_text_is_named_and_leaves_the_others(body: bytes, model: Path) -> None:
    state = b"* 2 EXISTS\r\n* OK [UIDVALIDITY 1] x\r\n* OK [UIDNEXT 3] x\r\n"
    fetched = b"* 1 FETCH (UID 1%b)\r\n* 2 FETCH (UID 2 BODY[]<0> {7}\r\n\r\nhello)\r\n" % body
    replies = {b"LIST": LISTING, b"EXAMINE": state, b"UID": b"* SEARCH 1 2\r\n" + fetched}
    with serving({**CAPABLE, **replies}, b"") as address:
        result = run("classify", "-m", model, address)
    assert result.exit_code == 1 and result.stdout.count("\n") == 1 and "INBOX#2" in result.stdout
    assert result.stderr == f"spamnb: {address}/INBOX#1: the server sent no text of it; left out\n"


def test_an_empty_message_is_none_as_an_empty_file_is(model: Path) -> None:
    state = b"* 2 EXISTS\r\n* OK [UIDVALIDITY 1] x\r\n* OK [UIDNEXT 3] x\r\n"
    empty = b"* 1 FETCH (UID 1 RFC822.SIZE 0 BODY[]<0> {0}\r\n)\r\n"
    fetched = empty + b"* 2 FETCH (UID 2 RFC822.SIZE 7 BODY[]<0> {7}\r\n\r\nhello)\r\n"
    replies = {b"LIST": LISTING, b"EXAMINE": state, b"UID": b"* SEARCH 1 2\r\n" + fetched}
    with serving({**CAPABLE, **replies}, b"") as address:
        result = run("classify", "-m", model, address)
    assert result.exit_code == 0 and result.stdout.count("\n") == 1 and result.stderr == ""


def test_keywords_may_be_small_and_a_literal_may_have_zero_bytes(model: Path) -> None:
    state = b"* 1 exists\r\n* ok [uidvalidity 1] x\r\n* OK [uidnext 2] x\r\n"
    fetched = b"* 1 fetch (uid 1 body[]<0> ~{8}\r\n\r\nhell\0o)\r\n"
    replies = {b"LIST": LISTING.replace(b"LIST", b"list"), b"EXAMINE": state, b"UID": b"* search 1\r\n" + fetched}
    with serving({**CAPABLE, **replies}, b"", done=b" ok done\r\n") as address:
        result = run("classify", "-m", model, address)
    assert result.exit_code == 0 and "INBOX#1" in result.stdout and result.stderr == "", result.output


@pytest.mark.parametrize("number", [b"99999999999", b"9" * 5000, b"-1"])
def test_a_number_that_no_folder_can_have_is_refused_at_once(number: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("spamnb.sources.imap_reading.PAUSES", (0.0,))
    state = b"* %b EXISTS\r\n* OK [UIDVALIDITY 1] x\r\n* OK [UIDNEXT %b] x\r\n" % (number, number)
    with serving({**CAPABLE, b"LIST": b'* LIST () "/" INBOX\r\n', b"EXAMINE": state}, b"") as address:
        result = run("train", "-m", "m", f"ham={address}", f"spam={address}")
    assert result.exit_code == 1 and result.stderr.count("\n") == 1 and "cannot be read" in result.stderr


def test_a_greeting_without_an_end_is_not_kept() -> None:
    with serving(CAPABLE, b"", (b"* OK " + b"x" * 60_000 + b"\r\n") * 2000) as address:
        result = run("check", address)
    assert result.exit_code == 1 and "an answer of more than 64 MiB" in result.stderr


@pytest.mark.slow
def test_others_are_watched_on(url: str, model: Path, tmp_path: Path):
    box = maildir.make_folder(tmp_path / "Mail")
    with watching(tmp_path, "--sort", "--interval", "1", "-m", str(model), url, str(box)) as watch:
        wait_until(lambda: "retrying after growing pauses" in watch.said, watch.process)
        (box / "new" / "1").write_bytes(message("spam", 900))
        wait_until(lambda: "moved\tspam\tJunk" in watch.said, watch.process)
        (told,) = [line for line in watch.said.splitlines() if "retrying" in line]
        assert told.startswith(f"spamnb: {url}: ") and len(told) < 500 and "Traceback" not in watch.said


def test_sort_and_train_tell_it_in_one_line(url: str, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("spamnb.sources.imap_reading.PAUSES", (0.0,))
    box = maildir.make_folder(tmp_path / "Mail")
    (box / "new" / "1").write_bytes(message("spam", 900))
    result = run("sort", "-q", "-m", model, url, box)
    assert result.exit_code == 1 and len(maildir.files(box / ".Junk" / "new")) == 1
    assert re.fullmatch(rf"(spamnb: {url}: [^\n]{{5,400}}\n)+", result.stderr), result.stderr
    result = run("train", "-m", tmp_path / "m", f"ham={url}/Work", f"spam={box / '.Junk'}")
    assert result.exit_code == 1 and result.stderr.startswith("Error: ") and result.stderr.count("\n") == 1
