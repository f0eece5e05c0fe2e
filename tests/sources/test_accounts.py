"""IMAP accounts: URLs, the file of accounts, where passwords and tokens come from, and what a server is told."""

import socketserver
import threading
from collections.abc import Iterator
from pathlib import Path

import keyring
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spamnb.errors import SpamnbError
from spamnb.sources.accounts import Account, ImapUrl, find_account, parse_url, read_accounts
from spamnb.sources.imap_connection import LoginRefused, Unreachable, connect, find_password

URL = ImapUrl(True, "ann", "mail.example.org")
ANN = Account("ann", URL)


def test_the_first_place_that_has_a_password_gives_it(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("SPAMNB_IMAP_PASSWORD", raising=False)
    held: dict[tuple[str, str], str] = {}
    monkeypatch.setattr(keyring, "get_password", lambda *asked: held.get(asked))
    with pytest.raises(SpamnbError, match=r"no password; run 'keyring set mail.example.org ann'"):
        find_password(ANN)
    held["mail.example.org", "ann"] = "of the keyring"
    assert find_password(ANN) == "of the keyring"
    assert find_password(ANN._replace(password_command="echo own")) == "own"
    monkeypatch.setenv("SPAMNB_IMAP_PASSWORD", "of the variable")
    assert find_password(ANN) == "of the variable"
    told = "printf '%s at %s\\nsecond line' $SPAMNB_IMAP_USER $SPAMNB_IMAP_HOST"
    assert find_password(ANN._replace(password_command=told)) == "ann at mail.example.org"


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("exit 7", "the command ended with status 7"),
        ("true", "the command must print the secret"),
        ("no-such-program", "the command ended with status 127: .*not found"),
    ],
)
def test_a_command_that_fails_is_told(command: str, said: str):
    with pytest.raises(SpamnbError, match=f"^password-command: {said}"):
        find_password(ANN._replace(password_command=command))


class Talk(socketserver.StreamRequestHandler):
    """A server that refuses each login, and tells the test what it was sent."""

    def handle(self) -> None:
        self.wfile.write(b"* OK [CAPABILITY IMAP4rev1 SASL-IR AUTH=PLAIN] ready\r\n")
        while line := self.rfile.readline():
            tag, _, command = line.strip().partition(b" ")
            self.server.sent.append(command)  # type: ignore[attr-defined]
            if command == b"CAPABILITY":
                self.wfile.write(b"* CAPABILITY IMAP4rev1 SASL-IR AUTH=PLAIN\r\n" + tag + b" OK done\r\n")
            else:
                self.wfile.write(tag + b" NO [AUTHENTICATIONFAILED] Ann's \x1b[31mcredentials\r\n")


@pytest.fixture
def server() -> Iterator[socketserver.ThreadingTCPServer]:
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Talk) as server:
        server.sent = []  # type: ignore[attr-defined]
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


def test_a_password_is_told_to_nobody_else(server):
    port = server.server_address[1]
    clear = Account("clear", ImapUrl(False, "ann", "mail.example.org"))
    for account in (clear, clear._replace(token_command="echo x")):
        with pytest.raises(SpamnbError, match="does not encrypt mail and password"):
            connect(account)
    with pytest.raises(Unreachable):  # it answers a hello of TLS with a greeting of IMAP
        connect(Account("a", ImapUrl(True, "ann", "127.0.0.1", port), "echo secret"))
    assert not any(b"AUTH" in command or b"LOGIN" in command for command in server.sent)
    with pytest.raises(LoginRefused, match="the server refused the login") as told:
        connect(Account("a", ImapUrl(False, "ann", "127.0.0.1", port), "echo secret"))
    assert "\x1b" not in str(told.value) and "secret" not in str(told.value)
    assert ": [AUTHENTICATIONFAILED] Ann's" in str(told.value) and not str(told.value).endswith('"')


def test_a_url_names_an_account_and_a_folder():
    urls = {
        "IMAPS://ann@mail.example.org/": ImapUrl(True, "ann", "mail.example.org"),
        "imap://ann@[::1]:143/Junk": ImapUrl(False, "ann", "::1", 143, "Junk"),
        "imaps://ann@example.org@imap.example.org": ImapUrl(True, "ann@example.org", "imap.example.org"),
        "imaps://ann@h/%5BGmail%5D/Entwürfe%3F%23x": ImapUrl(True, "ann", "h", None, "[Gmail]/Entwürfe?#x"),
    }
    assert {text: parse_url(text) for text in urls} == urls
    none = "imaps:// imaps://h imaps://@h imaps://ann@ imaps://ann@h:0 imaps://ann@h:1:2 pop://ann@h imaps:x@h".split()
    none += ["imaps://an\nn@h", "imaps://ann@h/a%0ab", "imaps://ann@h /x", "imaps://ann@h/a?b"]
    for text in (*none, "imaps://ann@" + "h" * 3000):
        with pytest.raises(SpamnbError):
            parse_url(text)


@given(st.text(max_size=30))
def test_a_password_in_a_url_is_refused_and_not_repeated(secret: str):
    try:
        parse_url(f"imaps://ann:{secret}-hunter2@mail.example.org/Junk")
    except SpamnbError as error:
        assert "hunter2" not in str(error) or "/" in secret  # a slash ends the part that has users and passwords
    else:
        pytest.fail("taken for a URL")


@given(st.text(min_size=1, max_size=20), st.integers(1, 65535))
def test_an_account_written_out_is_the_same_account(user: str, port: int):
    url = ImapUrl(True, user, "mail.example.org", port)
    try:
        again = parse_url(url.address)
    except SpamnbError:
        assert any(ord(letter) < 32 or ord(letter) == 127 for letter in user)
    else:
        assert again == url


TEXT = """
[accounts.work]
url = "imaps://ann@mail.example.org"
password-command = "pass show mail"
unsure = "Perhaps"
[accounts.home]
url = "imaps://bob@home.example:1993"
token-command = "oama access bob"
model = "~/home.spamnb"
sort = false
"""


@pytest.fixture
def accounts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    path = tmp_path / "config.toml"
    monkeypatch.setenv("SPAMNB_CONFIG", str(path))
    path.write_text(TEXT)
    path.chmod(0o600)
    return path


def test_accounts_in_their_order_and_by_url(accounts: Path, tmp_path: Path):
    work, home = read_accounts()
    url = parse_url("imaps://ann@mail.example.org")
    assert work == Account("work", url, "pass show mail", unsure="Perhaps", sort=True)
    assert (home.password_command, home.token_command) == (None, "oama access bob")
    assert home.model == tmp_path / "home.spamnb" and not home.sort
    folder = parse_url("imaps://ann@mail.example.org/Junk")
    assert find_account(folder) == work._replace(url=folder)
    other = parse_url("imaps://ann@mail.example.org:1993")
    assert find_account(other) == Account(other.address, other)  # another port, another server
    accounts.chmod(0o620)
    with pytest.raises(SpamnbError, match="other users can write this file"):
        read_accounts()
    accounts.unlink()
    with pytest.raises(SpamnbError, match="cannot be read"):
        read_accounts()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "[accounts.a]\n",
            r"config.toml: accounts\.a\.url: \(no url\): not the URL of an IMAP account; write imaps://U",
        ),
        (
            '[accounts.a]\nurl = "imaps://ann:secret@h"\n',
            "config.toml: accounts.a.url: .*must not contain a password",
        ),
        ('[accounts.a]\nurl = "imaps://ann@h"\npassword = "secret"\n', ": .*set password-command to a command"),
        ('[accounts.a]\nurl = "imaps://ann@h"\nsort = "yes"\n', ": accounts.a.sort: must be true or false"),
        ("[accounts.a]\nurl = 7\n", ": accounts.a.url: must be a text in quotes"),
        ('[accounts]\nurl = "imaps://ann@h"\n', r": accounts.url: must be a table; write \[accounts.url\] above"),
        ("[a\n", "not TOML"),
        ("\udcff", "not TOML"),
    ],
)
def test_what_is_wrong_in_it_is_said(accounts: Path, text: str, said: str):
    accounts.write_bytes(text.encode(errors="surrogateescape"))
    with pytest.raises(SpamnbError, match=said) as told:
        read_accounts()
    assert "secret" not in str(told.value) and "\n" not in str(told.value)
