"""Where passwords and tokens come from, and what a server is told."""

import base64
import socketserver
import threading
from collections.abc import Iterator
from pathlib import Path

import keyring
import pytest
from keyring.backend import KeyringBackend

from spamnb.errors import SpamnbError
from spamnb.sources.accounts import ImapUrl, Login
from spamnb.sources.imap_connection import LoginRefused, Unreachable, connect, hang_up, password

URL = ImapUrl(True, "ann", "mail.example.org")


class Ring(KeyringBackend):
    """A keyring in memory."""

    priority = 1.0  # type: ignore[assignment]

    def __init__(self, held: dict[tuple[str, str], str]) -> None:
        self.held = held

    def get_password(self, service: str, username: str) -> str | None:
        return self.held.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        raise AssertionError("nothing is written into a keyring")


@pytest.fixture(autouse=True)
def clean(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Ring]:
    monkeypatch.delenv("SPAMNB_IMAP_PASSWORD", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    before = keyring.get_keyring()
    ring = Ring({})
    keyring.set_keyring(ring)
    yield ring
    keyring.set_keyring(before)


def test_the_first_place_that_has_a_password_gives_it(clean: Ring, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    with pytest.raises(SpamnbError, match=r"'keyring set mail.example.org ann' keeps one"):
        password(URL, Login())
    clean.held["mail.example.org", "ann"] = "of the keyring"
    assert password(URL, Login()) == "of the keyring"
    assert password(URL._replace(user="bob"), Login(password_command="echo own")) == "own"
    monkeypatch.setenv("SPAMNB_IMAP_PASSWORD", "of the variable")
    assert password(URL, Login()) == "of the variable"
    told = "printf '%s at %s\\nsecond line' $SPAMNB_IMAP_USER $SPAMNB_IMAP_HOST"
    assert password(URL, Login(password_command=told)) == "ann at mail.example.org"


@pytest.mark.parametrize(
    ("command", "said"),
    [("exit 7", "ended with 7"), ("true", "printed nothing"), ("no-such-program", "ended with 127: .*not found")],
)
def test_a_command_that_fails_is_told(command: str, said: str):
    with pytest.raises(SpamnbError, match=f"^password-command: {said}"):
        password(URL, Login(password_command=command))


class Talk(socketserver.StreamRequestHandler):
    """A server that takes one token by XOAUTH2, and tells the test what it was sent."""

    def handle(self) -> None:
        self.wfile.write(b"* OK [CAPABILITY IMAP4rev1 SASL-IR AUTH=XOAUTH2] ready\r\n")
        while line := self.rfile.readline():
            tag, _, command = line.strip().partition(b" ")
            if command.upper().startswith(b"AUTHENTICATE XOAUTH2"):
                self.wfile.write(b"+ \r\n")
                sent = base64.b64decode(self.rfile.readline())
                self.server.sent.append(sent)  # type: ignore[attr-defined]
                if b"Bearer cut" in sent:
                    return
                if b"Bearer good" in sent:
                    self.wfile.write(tag + b" OK done\r\n")
                else:
                    self.wfile.write(b"+ " + base64.b64encode(b'{"status":"401"}') + b"\r\n")
                    self.rfile.readline()
                    self.wfile.write(tag + b" NO [AUTHENTICATIONFAILED] Invalid \x1b[31mcredentials\r\n")
            elif command.upper() == b"CAPABILITY":
                self.wfile.write(b"* CAPABILITY IMAP4rev1 SASL-IR AUTH=XOAUTH2\r\n" + tag + b" OK done\r\n")
            else:
                self.wfile.write(b"* BYE\r\n" + tag + b" OK done\r\n")


@pytest.fixture
def server() -> Iterator[socketserver.ThreadingTCPServer]:
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Talk) as server:
        server.sent = []  # type: ignore[attr-defined]
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


def test_a_token_is_sent_as_xoauth2_wants_it(server, tmp_path: Path):
    url = ImapUrl(False, "ann@example.org", "127.0.0.1", server.server_address[1])
    (tmp_path / "token").write_text("good-token\n")
    login = Login(token_command=f"cat {tmp_path}/token")
    hang_up(connect(url, login))
    assert server.sent == [b"user=ann@example.org\x01auth=Bearer good-token\x01\x01"]
    (tmp_path / "token").write_text("old-token\n")  # the command is asked anew each time
    with pytest.raises(LoginRefused, match="the server refused the login") as told:
        connect(url, login)
    assert "\x1b" not in str(told.value) and "old-token" not in str(told.value)
    (tmp_path / "token").write_text("cut\n")
    with pytest.raises(Unreachable, match="the connection was lost"):  # it may succeed a second later
        connect(url, login)


def test_what_is_not_encrypted_does_not_leave_this_machine():
    for login in (Login(), Login(token_command="echo x")):
        with pytest.raises(SpamnbError, match="in the clear, so only to this machine"):
            connect(ImapUrl(False, "ann", "mail.example.org"), login)


def test_a_server_that_cannot_encrypt_is_not_told_a_password(server):
    url = ImapUrl(True, "ann", "127.0.0.1", server.server_address[1])
    with pytest.raises(SpamnbError):  # STARTTLS is none of its capabilities
        connect(url, Login(password_command="echo secret", starttls=True))
    with pytest.raises(Unreachable):  # it answers a hello of TLS with a greeting of IMAP
        connect(url, Login(password_command="echo secret"))
    assert server.sent == []
