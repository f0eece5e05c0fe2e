"""IMAP accounts: their URLs, ``imaps://user@host[:port][/folder]``, and what a person has said of them once, in a file.

[work]                                  # in ~/.config/spamnb/accounts.toml
url = "imaps://ann@mail.example.org"
password-command = "pass show mail/work"

"""

from __future__ import annotations

import os
import re
import tomllib
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote, unquote

from spamnb.errors import SpamnbError, reason
from spamnb.naming import escape

_FORM = "imaps://USER@HOST[:PORT][/FOLDER]"
_URL = re.compile(r"(imaps?)://([^/]{0,2000})(?:/(.{0,2000}))?", re.IGNORECASE | re.DOTALL)
_HOST = re.compile(r"(\[[0-9A-Fa-f:.%]{2,60}\]|[^\s\[\]:@/\\]{1,255})(?::([0-9]{1,5}))?")
_CONTROLS = re.compile(r"[\x00-\x1f\x7f]")
_LOGIN = {"password-command": str, "token-command": str}
_SETTINGS = {"url": str, "junk": str, "unsure": str, "model": str, "sort": bool, **_LOGIN}


class ImapUrl(NamedTuple):
    """An account on a server, and a folder in it; "" is the inbox."""

    tls: bool  # imaps, and not imap
    user: str
    host: str
    port: int | None = None
    folder: str = ""

    @property
    def account(self) -> str:
        """The account without the folder.

        >>> parsed("imaps://ann@example.org@mail.example.org:1993/Junk").account
        'imaps://ann@example.org@mail.example.org:1993'
        """
        host = f"[{self.host}]" if ":" in self.host else self.host
        port = "" if self.port is None else f":{self.port}"
        return f"imap{'s' if self.tls else ''}://{quote(self.user, safe='@+!=')}@{host}{port}"


class Login(NamedTuple):
    """How an account on an IMAP server is entered, as the file of accounts says.

    >>> Login(password_command="pass show mail").token_command is None
    True
    """

    password_command: str | None = None
    token_command: str | None = None  # prints an access token of OAuth 2


class Account(NamedTuple):
    """An account, and what is to be done in it."""

    name: str
    url: ImapUrl
    login: Login = Login()
    junk: str | None = None  # the folder of spam; None: which one, the server says
    unsure: str | None = None
    model: Path | None = None
    sort: bool = False  # whether 'watch' sorts new mail: one that stands in the file, unless it says otherwise


def parsed(text: str) -> ImapUrl:
    """The parts of a URL. SpamnbError for one that is none, or that holds a password: whoever lists processes, or
    reads the shell's history, would read it.

    >>> parsed("imaps://ann@mail.example.org/Work/Plans%202024")
    ImapUrl(tls=True, user='ann', host='mail.example.org', port=None, folder='Work/Plans 2024')
    """
    found = _URL.fullmatch(text)
    if not found:
        raise SpamnbError(f"{escape(text[:200])}: no IMAP account; write {_FORM}")
    scheme, authority, folder = found[1].lower(), found[2], unquote(found[3] or "")
    user, at, rest = authority.rpartition("@")
    if ":" in user:
        raise SpamnbError(
            f"{scheme}://…@{escape(rest)}: a password has no place in a URL, where others can read it; leave it out:"
            " a keyring or SPAMNB_IMAP_PASSWORD may hold it"
        )
    host = _HOST.fullmatch(rest)
    user = unquote(user)
    if not at or not user or not host or _CONTROLS.search(user + folder):
        raise SpamnbError(f"{escape(text[:200])}: no IMAP account; write {_FORM}")
    port = int(host[2]) if host[2] else None
    if port is not None and not 0 < port < 65536:
        raise SpamnbError(f"{escape(text[:200])}: no port {port}; ports are 1 to 65535")
    return ImapUrl(scheme == "imaps", user, host[1].strip("[]"), port, folder.rstrip("/"))


def accounts_path() -> Path:
    """Where the file is: what SPAMNB_ACCOUNTS names, or in the user's folder of settings."""
    if named := os.environ.get("SPAMNB_ACCOUNTS"):
        return Path(named)
    home = os.environ.get("XDG_CONFIG_HOME") or os.path.join(os.path.expanduser("~"), ".config")
    return Path(home, "spamnb", "accounts.toml")


def read_accounts(path: Path) -> list[Account]:
    """The accounts of a file, in its order; none where there is no such file. SpamnbError says what is wrong in it."""
    shown = escape(str(path))
    try:
        with path.open("rb") as file:
            status = os.fstat(file.fileno())
            text = file.read()
    except FileNotFoundError:
        return []
    except OSError as error:
        raise SpamnbError(f"{shown}: cannot be read: {reason(error)}") from None
    # It names commands that are run: whoever may write it may do what its owner may.
    if status.st_mode & 0o022 or status.st_uid not in (os.getuid(), 0):
        raise SpamnbError(f"{shown}: others can write it, and it says what is run; 'chmod 600 {shown}'")
    try:
        found = tomllib.loads(text.decode())
    except (ValueError, RecursionError) as error:
        raise SpamnbError(f"{shown}: no TOML: {escape(str(error)[:200])}") from None
    return [_account(name, values, f"{shown}: [{escape(name)}]") for name, values in found.items()]


def _account(name: str, values: Any, where: str) -> Account:
    if not isinstance(values, dict):
        raise SpamnbError(f"{where} is no account; write [NAME] above it")
    for key, value in values.items():
        kind = _SETTINGS.get(key)
        if kind is None:
            hint = "; no password stands in this file: password-command prints one" if "pass" in key else ""
            raise SpamnbError(f"{where}: unknown setting {escape(key)!r}{hint}")
        if not isinstance(value, kind):
            raise SpamnbError(f"{where}: {key} is {'true or false' if kind is bool else 'a text in quotes'}")
    try:
        url = parsed(values.get("url", "(no url)"))
    except SpamnbError as error:
        raise SpamnbError(f"{where}: url: {error}") from None
    if url.folder and url.folder.upper() != "INBOX":
        raise SpamnbError(f"{where}: url names a folder of an account; name the account, {escape(url.account)}")
    login = Login(**{key.replace("-", "_"): value for key, value in values.items() if key in _LOGIN})
    own = {key.replace("-", "_"): value for key, value in values.items() if key not in _LOGIN}
    if "model" in own:
        own["model"] = Path(own["model"]).expanduser()
    return Account(name, login=login, **{"sort": True, **own, "url": url})


def account_of(url: ImapUrl) -> Account:
    """The account of a URL, with what the file of accounts says of it."""
    for known in read_accounts(accounts_path()):
        if known.url[:4] == url[:4]:
            return known._replace(url=url)
    return Account(url.account, url)
