"""Accounts that a person has described once, in a file: ``~/.config/spamnb/accounts.toml``.

    [work]
    url = "imaps://ann@mail.example.org"
    password-command = "pass show mail/work"

"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from spamnb.errors import SpamnbError, reason
from spamnb.naming import escape
from spamnb.sources.imap_login import Login
from spamnb.sources.imap_url import ImapUrl, parsed

_MAX_BYTES = 1 << 20
_LOGIN = {"password-command": str, "token-command": str, "ca-file": str, "starttls": bool}
_OWN = {"url": str, "junk": str, "unsure": str, "model": str, "sort": bool}


class Account(NamedTuple):
    """An account, and what is to be done in it."""

    name: str
    url: ImapUrl
    login: Login = Login()
    junk: str | None = None  # the folder of spam; None: which one, the server says
    unsure: str | None = None
    model: Path | None = None
    sort: bool = False  # whether 'watch' sorts new mail: one that stands in the file, unless it says otherwise


def accounts_path() -> Path:
    """Where the file is: what SPAMNB_ACCOUNTS names, or in the user's folder of settings."""
    if named := os.environ.get("SPAMNB_ACCOUNTS"):
        return Path(named)
    home = os.environ.get("XDG_CONFIG_HOME") or os.path.join(os.path.expanduser("~"), ".config")
    return Path(home, "spamnb", "accounts.toml")


def read_accounts(path: Path) -> list[Account]:
    """The accounts of a file, in its order; none where there is no such file. SpamnbError says what is wrong in it."""
    try:
        with path.open("rb") as file:
            status = os.fstat(file.fileno())
            text = file.read(_MAX_BYTES + 1)
    except FileNotFoundError:
        return []
    except OSError as error:
        raise SpamnbError(f"{escape(str(path))}: cannot be read: {reason(error)}") from None
    shown = escape(str(path))
    # It names commands that are run: whoever may write it may do what its owner may.
    if status.st_mode & 0o022 or status.st_uid not in (os.getuid(), 0):
        raise SpamnbError(f"{shown}: others can write it, and it says what is run; 'chmod 600 {shown}'")
    if len(text) > _MAX_BYTES:
        raise SpamnbError(f"{shown}: longer than {_MAX_BYTES >> 20} MiB, so no list of accounts")
    try:
        found = tomllib.loads(text.decode())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise SpamnbError(f"{shown}: no TOML: {escape(str(error)[:200])}") from None
    return [_account(name, values, shown) for name, values in found.items()]


def _account(name: str, values: Any, shown: str) -> Account:
    where = f"{shown}: [{escape(name)}]"
    if not isinstance(values, dict):
        raise SpamnbError(f"{shown}: {escape(name)} stands in no account; write [NAME] above it")
    for key, value in values.items():
        kind = {**_LOGIN, **_OWN}.get(key)
        if kind is None:
            hint = "; no password stands in this file: password-command prints one" if "pass" in key else ""
            raise SpamnbError(f"{where}: unknown setting {escape(key)!r}{hint}")
        if not isinstance(value, kind):
            raise SpamnbError(f"{where}: {key} is {'true or false' if kind is bool else 'a text in quotes'}")
    if "url" not in values:
        raise SpamnbError(f'{where}: no url; write url = "imaps://USER@HOST"')
    try:
        url = parsed(values["url"])
    except SpamnbError as error:
        raise SpamnbError(f"{where}: {error}") from None
    if url.folder and url.folder.upper() != "INBOX":
        raise SpamnbError(f"{where}: url names a folder of an account; name the account, {escape(url.account)}")
    login = Login(**{key.replace("-", "_"): value for key, value in values.items() if key in _LOGIN})
    if login.ca_file:
        login = login._replace(ca_file=os.path.expanduser(login.ca_file))
    own: Mapping[str, Any] = {key.replace("-", "_"): value for key, value in values.items() if key in _OWN}
    model = Path(os.path.expanduser(own["model"])) if "model" in own else None
    return Account(name, login=login, **{"sort": True, **own, "url": url, "model": model})


def account_of(url: ImapUrl) -> Account:
    """The account of a URL, with what the file of accounts says of it."""
    for known in read_accounts(accounts_path()):
        if known.url[:4] == url[:4]:
            return known._replace(url=url)
    return Account(url.account, url)
