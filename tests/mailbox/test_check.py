"""``spamnb check``: the folders of an account on a real server, and the lines that it adds to the configuration."""

from collections.abc import Callable
from pathlib import Path

import pytest
from commands import run
from imap_account import PASSWORD, Server
from mail import message

from spamnb.sources.accounts import add_account, parse_url, read_accounts


def check(name: str) -> tuple[int, list[list[str]], str]:
    done = run("check", name)
    return done.exit_code, [line.split(maxsplit=2) for line in done.stdout.splitlines()], done.stderr


def test_it_lists_folders_with_their_use_and_adds_the_account_once(made: Callable[..., Server], tmp_path: Path) -> None:
    server = made()
    file = tmp_path / "spamnb" / "config.toml"
    with server.person() as person:
        person.deliver(message("ham", 1))
        person.deliver(message("ham", 2))
        person.deliver(message("spam", 1), "Junk")
    status, rows, note = check(server.url)
    assert status == 0 and rows == [
        ["INBOX", "inbox", "2 messages"],
        ["Junk", "junk", "1 message"],
        ["Trash", "trash", "0 messages"],
        ["Work", "mail", "0 messages"],
    ]
    section = f"[accounts.ann@localhost:{server.port}]"
    assert note == f"spamnb: {server.url}: the login works; the account was added to {file} as {section}\n"
    assert file.stat().st_mode & 0o777 == 0o600 and PASSWORD not in file.read_text()
    (account,) = read_accounts()
    assert account.url == parse_url(server.url) and account.sort
    before = file.read_text()
    assert check(server.url)[2].endswith(f"the account is in {file}\n") and file.read_text() == before


def test_a_refused_login_and_a_folder_add_nothing(made: Callable[..., Server], tmp_path: Path) -> None:
    server = made()
    server.set_password("another")
    status, rows, note = check(server.url)
    assert (status, rows) == (1, []) and "the server refused the login" in note
    assert check(f"{server.url}/Work")[0] == check("/tmp")[0] == 1
    assert not (tmp_path / "spamnb" / "config.toml").exists()


def test_an_account_is_added_behind_what_a_person_wrote(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "config.toml"
    monkeypatch.setenv("SPAMNB_CONFIG", str(file))
    by_hand = '# mine\n[accounts.home]\nurl = "imaps://ann@a.example"\nsort = false  # for now'
    file.write_text(by_hand)
    file.chmod(0o600)
    names = [
        add_account(parse_url(url))
        for url in ("imaps://ann@a.example", 'imaps://b"ob@b.example', "imap://x@c", "imaps://x@c")
    ]
    assert names == ["", "b%22ob@b.example", "x@c", "imaps://x@c"] and file.read_text().startswith(by_hand + "\n\n[")
    assert [account.name for account in read_accounts()] == ["home", *names[1:]]
    assert [account.sort for account in read_accounts()] == [False, True, True, True]
