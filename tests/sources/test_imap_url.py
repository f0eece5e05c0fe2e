"""URLs of accounts: what they name, and what they may not hold."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spamnb.errors import SpamnbError
from spamnb.sources.accounts import ImapUrl, parsed


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("imaps://ann@mail.example.org", ImapUrl(True, "ann", "mail.example.org")),
        ("IMAPS://ann@mail.example.org/", ImapUrl(True, "ann", "mail.example.org")),
        ("imap://ann@[::1]:143/Junk", ImapUrl(False, "ann", "::1", 143, "Junk")),
        ("imaps://ann@example.org@imap.example.org", ImapUrl(True, "ann@example.org", "imap.example.org")),
        ("imaps://ann%3Ab@h", ImapUrl(True, "ann:b", "h")),
        ("imaps://ann@h/Entwürfe/a b", ImapUrl(True, "ann", "h", None, "Entwürfe/a b")),
        ("imaps://ann@h/%5BGmail%5D/Spam?#x", ImapUrl(True, "ann", "h", None, "[Gmail]/Spam?#x")),
    ],
)
def test_a_url_names_an_account_and_a_folder(text: str, url: ImapUrl):
    assert parsed(text) == url


@pytest.mark.parametrize(
    "text",
    ["imaps://", "imaps://h", "imaps://@h", "imaps://ann@", "imaps://ann@h:0", "imaps://ann@h:1:2", "pop://ann@h",
     "imaps://an\nn@h", "imaps://ann@h/a%0ab", "imaps://ann@h /x", "imaps:ann@h", "imaps://ann@" + "h" * 3000],
)  # fmt: skip
def test_what_is_none_is_refused(text: str):
    with pytest.raises(SpamnbError):
        parsed(text)


@given(st.text(max_size=30))
def test_a_password_in_a_url_is_refused_and_not_repeated(secret: str):
    try:
        parsed(f"imaps://ann:{secret}-hunter2@mail.example.org/Junk")
    except SpamnbError as error:
        assert "hunter2" not in str(error) or "/" in secret  # a slash ends the part that has users and passwords
    else:
        pytest.fail("taken for a URL")


def test_what_stays_on_this_machine():
    hosts = ["localhost", "127.0.0.1", "127.9.9.9", "::1", "mail.example.org", "10.0.0.1", "localhost.example.org"]
    assert [ImapUrl(False, "ann", host).is_loopback for host in hosts] == [True] * 4 + [False] * 3


@given(st.text(min_size=1, max_size=20), st.integers(1, 65535))
def test_an_account_written_out_is_the_same_account(user: str, port: int):
    url = ImapUrl(True, user, "mail.example.org", port)
    try:
        again = parsed(url.account)
    except SpamnbError:
        assert any(ord(letter) < 32 or ord(letter) == 127 for letter in user)
    else:
        assert again == url
