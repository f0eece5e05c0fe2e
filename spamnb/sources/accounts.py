"""IMAP accounts: their URLs, ``imaps://user@host[:port][/folder]``, and their settings in the configuration file.

[accounts.work]
url = "imaps://ann@mail.example.org"
password-command = "pass show mail/work"
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote, unquote, urlsplit

from spamnb.configuration import Document, configuration_path, quote_toml, read_document, replace_text
from spamnb.errors import SpamnbError
from spamnb.shown_text import escape

_URL_FORM = "imaps://USER@HOST[:PORT][/FOLDER]"
_HOST = re.compile(r"[^\s\\]{1,255}")  # a host name has at most 255 bytes (RFC 1035)
_CONTROLS = re.compile(r"[\x00-\x1f\x7f]")
_TEXT_SETTINGS = ("url", "password-command", "token-command", "junk", "unsure", "model")
_SETTINGS: dict[str, type] = {**dict.fromkeys(_TEXT_SETTINGS, str), "sort": bool}


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


def read_accounts() -> list[Account]:
    """Return the accounts in the configuration file. Raise SpamnbError if one has a mistake."""
    document = read_document()
    return [_make_account(document, name) for name in document.table("accounts")]


def add_account(url: ImapUrl) -> str:
    """Add an account to the end of the configuration file, and return its new name; "" if the file has the account."""
    accounts = read_accounts()
    if any(account.url.address == url.address for account in accounts):
        return ""
    name = url.address.partition("://")[2]
    if any(account.name == name for account in accounts):
        name = url.address
    text = read_document().text.rstrip("\n")
    lines = [*[text, ""] * bool(text), f"[accounts.{quote_toml(name)}]", f"url = {quote_toml(url.address)}", ""]
    replace_text(configuration_path(), "\n".join(lines))
    return name


def _make_account(document: Document, name: str) -> Account:
    keys = ("accounts", name)
    fields = {key.replace("-", "_"): value for key, value in document.settings(keys, _SETTINGS).items()}
    if "model" in fields:
        fields["model"] = Path(fields["model"]).expanduser()
    try:
        return Account(**{"sort": True, **fields, "name": name, "url": parse_url(fields.get("url", "(no url)"))})
    except SpamnbError as error:
        raise document.error((*keys, "url"), str(error)) from None


def find_account(url: ImapUrl) -> Account:
    """Return the account of a URL, with its settings if the configuration file has the account."""
    for account in read_accounts():
        if account.url.address == url.address:
            return account._replace(url=url)
    return Account(url.address, url)
