"""IMAP accounts: their URLs, ``imaps://user@host[:port][/folder]``, and the file in which a person describes them.

[work]                                  # in ~/.config/spamnb/accounts.toml
url = "imaps://ann@mail.example.org"
password-command = "pass show mail/work"
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote, unquote, urlsplit

from spamnb.errors import SpamnbError, reason
from spamnb.shown_text import escape

_URL_FORM = "imaps://USER@HOST[:PORT][/FOLDER]"
_HOST = re.compile(r"[^\s\\]{1,255}")  # a host name has at most 255 bytes (RFC 1035)
_CONTROLS = re.compile(r"[\x00-\x1f\x7f]")
_TEXT_SETTINGS = ("url", "password-command", "token-command", "junk", "unsure", "model")
_SETTING_TYPES = {"sort": bool, **dict.fromkeys(_TEXT_SETTINGS, str)}


class ImapUrl(NamedTuple):
    """The URL of an account and of a folder in it; the folder "" is the inbox."""

    tls: bool  # whether the scheme is imaps
    user: str
    host: str
    port: int | None = None  # None: 993 with TLS, or else 143
    folder: str = ""

    @property
    def address(self) -> str:
        """The URL of the account without the folder.

        >>> parse_url("imaps://ann@example.org@mail.example.org:1993/Junk").address
        'imaps://ann@example.org@mail.example.org:1993'
        """
        host = f"[{self.host}]" if ":" in self.host else self.host
        port = "" if self.port is None else f":{self.port}"
        return f"imap{'s' if self.tls else ''}://{quote(self.user, safe='@+!=')}@{host}{port}"


class Account(NamedTuple):
    """An account: its URL, the command that prints its secret, and the folders and model for its mail."""

    name: str
    url: ImapUrl
    password_command: str | None = None
    token_command: str | None = None  # prints an access token of OAuth 2
    junk: str | None = None  # the folder of spam; None: the folder that the server marks as Junk
    unsure: str | None = None
    model: Path | None = None
    sort: bool = False  # whether 'watch' sorts new mail; true if the file has the account and no 'sort = false'


def parse_url(text: str) -> ImapUrl:
    """Return the parts of a URL.

    Raise SpamnbError if the text is not the URL of an account, or if it contains a password.

    >>> parse_url("imaps://ann@mail.example.org/Work/Plans%202024")
    ImapUrl(tls=True, user='ann', host='mail.example.org', port=None, folder='Work/Plans 2024')
    """
    without_password = escape(text.rpartition("@")[2][:200])
    wrong_form = SpamnbError(f"{without_password}: not the URL of an IMAP account; write {_URL_FORM}")
    try:
        parts = urlsplit(text)
        user, host, port = unquote(parts.username or ""), parts.hostname or "", parts.port
    except ValueError:
        raise wrong_form from None
    if parts.password is not None:
        raise SpamnbError(
            f"{parts.scheme}://…@{without_password}: a URL must not contain a password, because others can read it;"
            " store the password in a keyring or in SPAMNB_IMAP_PASSWORD"
        )
    has_all_parts = parts.scheme in ("imaps", "imap") and user and _HOST.fullmatch(host) and port != 0
    if not has_all_parts or parts.query or parts.fragment or _CONTROLS.search(unquote(text)):
        raise wrong_form
    return ImapUrl(parts.scheme == "imaps", user, host, port, unquote(parts.path).strip("/"))


def accounts_path() -> Path:
    """Return the path of the file of accounts: SPAMNB_ACCOUNTS, or a file in the user's folder of settings."""
    path = os.environ.get("SPAMNB_ACCOUNTS")
    return Path(path) if path else settings_file("accounts.toml")


def settings_file(name: str) -> Path:
    """Return the path of a file in the user's folder of settings."""
    home = os.environ.get("XDG_CONFIG_HOME") or os.path.join(os.path.expanduser("~"), ".config")
    return Path(home, "spamnb", name)


def read_accounts(path: Path) -> list[Account]:
    """Return the accounts in a file; none if the file does not exist. Raise SpamnbError if the file has a mistake."""
    import tomllib  # importing tomllib takes 3 ms, and few commands need it

    shown_path = escape(str(path))
    try:
        with path.open("rb") as file:
            status = os.fstat(file.fileno())
            text = file.read()
    except FileNotFoundError:
        return []
    except OSError as error:
        raise SpamnbError(f"{shown_path}: cannot be read: {reason(error)}") from None
    if status.st_mode & 0o022 or status.st_uid not in (os.getuid(), 0):
        problem = "other users can write this file, which contains commands that spamnb runs"
        raise SpamnbError(f"{shown_path}: {problem}; run 'chmod 600 {shown_path}'")
    try:
        tables = tomllib.loads(text.decode())
    except (ValueError, RecursionError) as error:
        raise SpamnbError(f"{shown_path}: no TOML: {escape(str(error)[:200])}") from None
    return [_make_account(name, values, shown_path) for name, values in tables.items()]


def add_account(path: Path, url: ImapUrl) -> str:
    """Add an account to the end of the file, and return the name of the new section; "" if the file has the account.

    A new file has mode 0600.
    """
    accounts = read_accounts(path)
    if any(account.url.address == url.address for account in accounts):
        return ""
    name = url.address.partition("://")[2]
    if any(account.name == name for account in accounts):
        name = url.address
    lines = [f"[{_quote_toml(name)}]", f"url = {_quote_toml(url.address)}", ""]
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with open(path, "a", encoding="utf-8", opener=lambda file, flags: os.open(file, flags, 0o600)) as file:
            file.write("\n".join(["", "", *lines] if file.tell() else lines))
    except OSError as error:
        raise SpamnbError(f"{escape(str(path))}: cannot be written: {reason(error)}") from None
    return name


def _quote_toml(text: str) -> str:
    """Return a text without control characters as a string of TOML."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _make_account(name: str, values: Any, path: str) -> Account:
    if not isinstance(values, dict):
        raise SpamnbError(f"{path}: the setting {escape(name)!r} is in no section; write [NAME] above it")
    where = f"{path}: [{escape(name)}]"
    for key, value in values.items():
        kind = _SETTING_TYPES.get(key)
        if kind is None:
            hint = "; set password-command to a command that prints the password" if "pass" in key else ""
            raise SpamnbError(f"{where}: unknown setting {escape(key)!r}{hint}")
        if not isinstance(value, kind):
            raise SpamnbError(f"{where}: {key} must be {'true or false' if kind is bool else 'a text in quotes'}")
    fields = {key.replace("-", "_"): value for key, value in values.items()}
    if "model" in fields:
        fields["model"] = Path(fields["model"]).expanduser()
    try:
        return Account(**{"sort": True, **fields, "name": name, "url": parse_url(values.get("url", "(no url)"))})
    except SpamnbError as error:
        raise SpamnbError(f"{where}: url: {error}") from None


def find_account(url: ImapUrl) -> Account:
    """Return the account of a URL, with the settings in the file of accounts if the file has the account."""
    for account in read_accounts(accounts_path()):
        if account.url.address == url.address:
            return account._replace(url=url)
    return Account(url.address, url)
