"""How a program gets into an IMAP account: passwords and tokens out of the places that keep them, never a command line.

In this order: what the account's token-command or password-command prints, SPAMNB_IMAP_PASSWORD, ~/.netrc, the
keyring.
"""

from __future__ import annotations

import netrc
import os
import stat
import subprocess
from pathlib import Path
from typing import NamedTuple

from spamnb.errors import SpamnbError, reason
from spamnb.naming import escape
from spamnb.sources.imap_url import ImapUrl

VARIABLE = "SPAMNB_IMAP_PASSWORD"
_SECONDS = 120  # that a command may take: it may ask its user for a passphrase
_MAX_SECRET = 16_384  # bytes: tokens of OAuth 2 have some two thousand


class Login(NamedTuple):
    """How an account on an IMAP server is entered, as the file of accounts says.

    >>> Login(password_command="pass show mail").starttls
    False
    """

    password_command: str | None = None
    token_command: str | None = None  # prints an access token of OAuth 2
    ca_file: str | None = None  # certificates to trust in place of the system's
    starttls: bool = False  # encrypt a connection that begins in the clear


def password(url: ImapUrl, login: Login) -> str:
    """The password of an account. SpamnbError where none is found; it says where one may be kept."""
    if login.password_command:
        return _printed(login.password_command, "password-command", url)
    if own := os.environ.get(VARIABLE):
        return own
    for found in (_of_netrc(url), _of_keyring(url)):
        if found:
            return found
    raise SpamnbError(
        f"{escape(url.account)}: no password found; 'keyring set {escape(url.host)} {escape(url.user)}' keeps one,"
        f" {VARIABLE} or ~/.netrc may hold it, or a password-command in the file of accounts prints one"
    )


def token(url: ImapUrl, login: Login) -> str:
    """An access token for an account, by its command; each connection asks anew, since tokens last an hour."""
    assert login.token_command
    return _printed(login.token_command, "token-command", url)


def _printed(command: str, setting: str, url: ImapUrl) -> str:
    """The first line that a command prints. A shell runs it, as with other mail programs; it knows host and user."""
    environment = {**os.environ, "SPAMNB_IMAP_HOST": url.host, "SPAMNB_IMAP_USER": url.user}
    try:
        ran = subprocess.run(
            ["/bin/sh", "-c", command], capture_output=True, timeout=_SECONDS, env=environment, stdin=subprocess.DEVNULL
        )
    except subprocess.TimeoutExpired:
        raise SpamnbError(f"{setting}: no answer after {_SECONDS} seconds") from None
    except OSError as error:
        raise SpamnbError(f"{setting}: cannot be run: {reason(error)}") from None
    if ran.returncode:
        said = ran.stderr.decode("utf-8", "replace").strip().splitlines()
        more = f": {escape(said[-1][:200])}" if said else ""
        raise SpamnbError(f"{setting}: ended with {ran.returncode}{more}")
    line = ran.stdout[:_MAX_SECRET].partition(b"\n")[0].rstrip(b"\r").decode("utf-8", "replace")
    if not line:
        raise SpamnbError(f"{setting}: printed nothing; it has to print the secret in its first line")
    return line


def _of_netrc(url: ImapUrl) -> str | None:
    """The password that ~/.netrc, or the file that NETRC names, has for this host and user."""
    path = Path(os.environ.get("NETRC") or Path(os.path.expanduser("~"), ".netrc"))
    try:
        status = path.stat()
    except OSError:
        return None
    try:
        entries = netrc.netrc(str(path)).hosts  # without its own check, which ``default`` machines escape
    except (netrc.NetrcParseError, OSError, UnicodeDecodeError) as error:
        raise SpamnbError(f"{escape(str(path))}: cannot be read: {getattr(error, 'msg', None) or error}") from None
    user, _, secret = entries.get(url.host, (None, None, None))
    if not secret or user not in (url.user, "", None):
        return None
    if status.st_uid not in (os.getuid(), 0) or status.st_mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise SpamnbError(f"{escape(str(path))}: others can read the password in it; 'chmod 600 {escape(str(path))}'")
    return secret


def _of_keyring(url: ImapUrl) -> str | None:
    """The password that the desktop's keyring has for this host and user; None where there is no keyring."""
    try:
        import keyring
        from keyring.errors import KeyringError
    except ImportError:
        return None
    try:
        return keyring.get_password(url.host, url.user)
    except KeyringError:  # none on this machine, or locked: other ways are named to whoever asked
        return None
