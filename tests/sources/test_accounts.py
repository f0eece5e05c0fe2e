"""The file of accounts: what it may say, and what is refused in one line."""

from pathlib import Path

import pytest

from spamnb.errors import SpamnbError
from spamnb.sources.accounts import Account, account_of, accounts_path, read_accounts
from spamnb.sources.imap_login import Login
from spamnb.sources.imap_url import parsed

TEXT = """
[work]
url = "imaps://ann@mail.example.org"
password-command = "pass show mail"
unsure = "Perhaps"
[home]
url = "imaps://bob@home.example:1993"
token-command = "oama access bob"
ca-file = "~/ca.pem"
starttls = true
model = "~/home.spamnb"
sort = false
"""


@pytest.fixture
def accounts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    path = tmp_path / "accounts.toml"
    monkeypatch.setenv("SPAMNB_ACCOUNTS", str(path))
    path.write_text(TEXT)
    path.chmod(0o600)
    return path


def test_accounts_in_their_order(accounts: Path, tmp_path: Path):
    work, home = read_accounts(accounts_path())
    url = parsed("imaps://ann@mail.example.org")
    assert work == Account("work", url, Login("pass show mail"), unsure="Perhaps", sort=True)
    assert home.login == Login(None, "oama access bob", str(tmp_path / "ca.pem"), True)
    assert home.model == tmp_path / "home.spamnb" and not home.sort


def test_a_url_finds_its_account(accounts: Path):
    found = account_of(parsed("imaps://ann@mail.example.org/Junk"))
    assert found.login.password_command == "pass show mail" and found.url.folder == "Junk"
    other = parsed("imaps://ann@mail.example.org:1993")
    assert account_of(other) == Account(other.account, other)  # another port, another server


def test_no_file_is_no_account(accounts: Path):
    accounts.unlink()
    assert read_accounts(accounts_path()) == []


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[a]\n", "no url; write url ="),
        ('[a]\nurl = "imaps://a@b/Work"', "url names a folder of an account; name the account, imaps://a@b"),
        ('[a]\nurl = "imaps://ann:secret@h"\n', "a password has no place in a URL"),
        ('[a]\nurl = "imaps://ann@h"\npassword = "secret"\n', "no password stands in this file"),
        ('[a]\nurl = "imaps://ann@h"\nstarttls = "yes"\n', "starttls is true or false"),
        ('[a]\nurl = 7\n', "url is a text in quotes"),
        ('url = "imaps://ann@h"\n', "url stands in no account"),
        ("[a\n", "no TOML"),
        ("\udcff", "no TOML"),
        ("#" * 1_100_000, "longer than 1 MiB"),
    ],
)
def test_what_is_wrong_in_it_is_said(accounts: Path, text: str, said: str):
    accounts.write_bytes(text.encode(errors="surrogateescape"))
    with pytest.raises(SpamnbError, match=said) as told:
        read_accounts(accounts)
    assert "secret" not in str(told.value) and "\n" not in str(told.value)


def test_one_that_others_can_write_is_refused(accounts: Path):
    accounts.chmod(0o620)
    with pytest.raises(SpamnbError, match="others can write it, and it says what is run"):
        read_accounts(accounts)
