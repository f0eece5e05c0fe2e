"""A connection to an IMAP server, encrypted and logged in, and what goes wrong with one, in one line.

The password is what the account's password-command prints, SPAMNB_IMAP_PASSWORD, or what the keyring has; it is never
on a command line. The protocol is IMAPClient's, which is imported with the first connection.
"""

from __future__ import annotations

import os
import ssl
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from spamnb.errors import SpamnbError, reason
from spamnb.shown_text import escape
from spamnb.sources.accounts import Account, ImapUrl

if TYPE_CHECKING:
    from imapclient import IMAPClient

VARIABLE = "SPAMNB_IMAP_PASSWORD"
SECONDS = 60.0  # that a server may be silent while it is asked something
_COMMAND_SECONDS = 120  # that a command may take: it may ask its user for a passphrase
MAX_ANSWER = 64 << 20  # bytes: at most 32 MiB of messages are asked for at once
_MAX_SAID = 200  # letters of what a server says that are shown


class Unreachable(SpamnbError):
    """No connection, or one that was lost: the same may succeed later."""


class NeverReached(Unreachable):
    """There has been no connection to this account yet."""


class LoginRefused(SpamnbError):
    """The server does not take this password or token: asking often makes servers lock an account."""


class Denied(SpamnbError):
    """The server said no to one command: a full quota, a folder that is gone."""


@contextmanager
def told(url: ImapUrl, doing: str = "") -> Iterator[None]:
    """What IMAPClient and the network raise, as errors of this file."""
    from imapclient.exceptions import IMAPClientAbortError, IMAPClientError, LoginError, ProtocolError

    where = escape(url.account) + (f": {doing}" if doing else "")
    try:
        yield
    except LoginError as error:
        if isinstance(error.__context__, IMAPClientAbortError):  # IMAPClient calls that refused, too
            raise Unreachable(f"{where}: the connection was lost: {_said(error)}") from None
        raise LoginRefused(f"{where}: the server refused the login: {_said(error)}") from None
    except (IMAPClientAbortError, ProtocolError) as error:
        raise Unreachable(f"{where}: the connection was lost: {_said(error)}") from None
    except IMAPClientError as error:
        raise Denied(f"{where}: the server said: {_said(error)}") from None
    except ssl.SSLCertVerificationError as error:
        why = f"its certificate is not trusted ({escape(error.verify_message)})"
        raise Unreachable(f"{where}: {why}; SSL_CERT_FILE may name an authority of your own") from None
    except ssl.SSLError as error:
        raise Unreachable(f"{where}: no TLS ({escape(reason(error))}); imaps:// mostly has port 993") from None
    except (OSError, EOFError) as error:
        raise Unreachable(f"{where}: {escape(reason(error)) or 'no answer'}") from None
    except SpamnbError:
        raise
    except Exception as error:  # of IMAPClient and Python, for what is nested too deep, too long or no number
        why = _said(error) or type(error).__name__
        raise Unreachable(f"{where}: the server's answer cannot be read: {why}") from None


def _said(error: Exception) -> str:
    """What a server said: it is shown, so it is cut and without control characters."""
    said = str(error.args[0] if error.args else error)
    if said.startswith("b'"):
        said = said[2:-1]
    return escape(said[:_MAX_SAID])


def connect(account: Account) -> IMAPClient:
    """A client that is logged in. Raises Unreachable or LoginRefused, and SpamnbError for what no waiting mends."""
    url = account.url
    try:
        from imapclient import IMAPClient, SocketTimeout
    except ImportError:
        hint = "'pip install imapclient keyring' lets spamnb read IMAP accounts"
        raise SpamnbError(f"{escape(url.account)}: {hint}") from None
    if not url.tls and not is_loopback(url.host.lower()):
        clear = "imap:// sends mail and password in the clear, so only to this machine; write imaps://"
        raise SpamnbError(f"{escape(url.account)}: {clear}")
    context = ssl.create_default_context()  # by SSL_CERT_FILE or the system: certificates and host names are checked
    with told(url):
        client = IMAPClient(
            url.host,
            url.port,  # None: 993, or 143 without TLS
            ssl=url.tls,
            ssl_context=context if url.tls else None,
            timeout=SocketTimeout(connect=SECONDS / 2, read=SECONDS),
        )
        client.answers = Answers(client)
        try:
            _log_in(client, account)
        except BaseException:
            hang_up(client)
            raise
    return client


class Answers:
    """Bounds what a server answers: Python allocates what it announces, and keeps all lines up to the last one.

    ``heard`` counts bytes, and 500 for each line or literal; whoever asks sets it to 0.
    """

    heard = 0

    def __init__(self, client: IMAPClient) -> None:
        imap = client._imap
        self._read, self._readline = imap.read, imap.readline
        imap.read, imap.readline = self._literal, self._line

    def _count(self, size: int) -> None:
        self.heard += size
        if self.heard > MAX_ANSWER:
            raise ValueError(f"an answer of more than {MAX_ANSWER >> 20} MiB")

    def _literal(self, size: int) -> bytes:
        self._count(size + 500)
        return self._read(size)

    def _line(self) -> bytes:
        line: bytes = self._readline()
        self._count(len(line) + 500)
        return line


def _log_in(client: IMAPClient, account: Account) -> None:
    url = account.url
    if account.token_command:  # asked anew for each connection: tokens last an hour
        token = _printed(account.token_command, "token-command", url)
        if client.has_capability("AUTH=OAUTHBEARER") and not client.has_capability("AUTH=XOAUTH2"):
            client.oauthbearer_login(url.user, token)
        else:
            client.oauth2_login(url.user, token)
        return
    secret = password(account)
    if client.has_capability("AUTH=PLAIN"):  # of any letters; LOGIN is for ASCII
        client.plain_login(url.user, secret)
    elif client.has_capability("LOGINDISABLED"):
        raise SpamnbError(f"{escape(url.account)}: the server takes no password here; it may take a token")
    else:
        client.login(url.user, secret)


def hang_up(client: IMAPClient) -> None:
    """End a connection without a word: a server that no longer answers would be waited for."""
    with suppress(OSError):  # it was lost before
        client.shutdown()


def password(account: Account) -> str:
    """The password of an account. SpamnbError where none is found; it says where one may be kept."""
    url = account.url
    if account.password_command:
        return _printed(account.password_command, "password-command", url)
    if found := os.environ.get(VARIABLE) or _of_keyring(url):
        return found
    raise SpamnbError(
        f"{escape(url.account)}: no password found; 'keyring set {escape(url.host)} {escape(url.user)}' keeps one,"
        f" {VARIABLE} may hold it, or a password-command in the file of accounts prints one"
    )


def _printed(command: str, setting: str, url: ImapUrl) -> str:
    """The first line that a command prints. A shell runs it, as with other mail programs; it knows host and user."""
    environment = {**os.environ, "SPAMNB_IMAP_HOST": url.host, "SPAMNB_IMAP_USER": url.user}
    try:
        ran = subprocess.run(
            ["/bin/sh", "-c", command],
            capture_output=True,
            timeout=_COMMAND_SECONDS,
            env=environment,
            stdin=subprocess.DEVNULL,
        )
    except subprocess.TimeoutExpired:
        raise SpamnbError(f"{setting}: no answer after {_COMMAND_SECONDS} seconds") from None
    if ran.returncode:
        said = ran.stderr.decode("utf-8", "replace").strip().splitlines()
        more = f": {escape(said[-1][:200])}" if said else ""
        raise SpamnbError(f"{setting}: ended with {ran.returncode}{more}")
    line = ran.stdout.partition(b"\n")[0].rstrip(b"\r").decode("utf-8", "replace")
    if not line:
        raise SpamnbError(f"{setting}: printed nothing; it has to print the secret in its first line")
    return line


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


def is_loopback(host: str) -> bool:
    """Is that an address of this machine that others cannot reach?

    >>> is_loopback("127.0.0.1"), is_loopback("::1"), is_loopback("192.0.2.1"), is_loopback("localhost")
    (True, True, False, True)
    """
    import ipaddress  # 1.5 ms, which few commands need

    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
