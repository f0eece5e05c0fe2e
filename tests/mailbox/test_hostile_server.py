"""An IMAP server that answers nonsense: ``watch`` tells it in one line and goes on with the other mailboxes."""

import re
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from commands import run
from mail import message
from programs import watching
from unpacked import wait_until

from spamnb.mailbox import maildir

ANSWERS = {
    "nested": b"* LIST " + b"(" * 100_000 + b"\r\n",
    "literal": b'* LIST () "/" {99999999999}\r\nx',
    "no literal": b'* LIST () "/" {9' + b"9" * 5_000 + b"}\r\nx",
    "no folder": b'* LIST (\\HasNoChildren) "/" \r\n',
    "no names": b"* LIST 1 2 3 4 5\r\n",
    "letters": b'* LIST () "/" "\xff\xfe&&&-"\r\n* LIST () NIL {0}\r\n\r\n',
    "flood": b"* OK x\r\n" * 200_000,
    "untagged": b"* )))\r\n* 99999999999999999999999 FETCH (\r\n",
}


@pytest.fixture(params=ANSWERS)
def url(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[str]:
    """Return the account of a server that sends this reply to every command except the login."""
    listening = socket.create_server(("127.0.0.1", 0))

    def serve(client: socket.socket) -> None:
        with client, client.makefile("rwb", buffering=0) as stream:
            stream.write(b"* OK [CAPABILITY IMAP4rev1 MOVE UIDPLUS] ready\r\n")
            for line in stream:
                tag, command, *_ = [*line.split(), b"", b""]
                done = tag + b" OK done\r\n"
                if command in (b"LOGIN", b"CAPABILITY"):
                    stream.write(b"* CAPABILITY IMAP4rev1 MOVE UIDPLUS\r\n" * (command == b"CAPABILITY") + done)
                else:
                    stream.write(ANSWERS[request.param] + done)

    def accept() -> None:
        while True:
            try:
                client, _ = listening.accept()
            except OSError:
                return
            threading.Thread(target=serve, args=(client,), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    for name in ("HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.setenv(name, str(tmp_path))
    monkeypatch.setenv("SPAMNB_IMAP_PASSWORD", "secret")
    yield f"imap://ann@127.0.0.1:{listening.getsockname()[1]}"
    listening.shutdown(socket.SHUT_RDWR)
    listening.close()


@pytest.mark.slow
def test_others_are_watched_on(url: str, model: Path, tmp_path: Path):
    box = maildir.make_folder(tmp_path / "Mail")
    with watching(tmp_path, "--sort", "--interval", "0.1", "-m", str(model), url, str(box)) as watch:
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
