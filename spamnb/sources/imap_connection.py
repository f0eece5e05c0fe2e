"""Connections to an IMAP server, encrypted and logged in, and their errors in one line.

The password is printed by the account's password-command, or is in SPAMNB_IMAP_PASSWORD or a keyring; it is never on a
command line. IMAPClient implements the protocol, and is imported with the first connection.
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
SECONDS = 60.0  # that a server may be silent before it answers a request; longer silence is a lost connection
_COMMAND_SECONDS = 120  # that a command may take, because it may ask its user for a passphrase
MAX_ANSWER = 64 << 20  # bytes: one request fetches at most 32 MiB of messages
_MAX_ERROR = 200  # characters of a server's error that are shown


class Unreachable(SpamnbError):
    """There is no connection, or it was lost; a later try may succeed."""


class NeverReached(Unreachable):
    """There has never been a connection to this account."""


class LoginRefused(SpamnbError):
    """The server refused the password or token; it may lock the account after several tries."""


class Denied(SpamnbError):
    """The server refused one command, for example because of a full quota or a missing folder."""


@contextmanager
def translate_errors(url: ImapUrl, action: str = "") -> Iterator[None]:
    """Raise errors of IMAPClient and of the network as errors of this module."""
    from imapclient.exceptions import IMAPClientAbortError, IMAPClientError, LoginError, ProtocolError

    where = escape(url.account) + (f": {action}" if action else "")
    try:
        yield
    except LoginError as error:
        if isinstance(error.__context__, IMAPClientAbortError):  # a lost connection is a LoginError, too
            raise Unreachable(f"{where}: the connection was lost: {_server_text(error)}") from None
        raise LoginRefused(f"{where}: the server refused the login: {_server_text(error)}") from None
    except (IMAPClientAbortError, ProtocolError) as error:
        raise Unreachable(f"{where}: the connection was lost: {_server_text(error)}") from None
    except IMAPClientError as error:
        raise Denied(f"{where}: the server said: {_server_text(error)}") from None
    except ssl.SSLCertVerificationError as error:
        problem = f"its certificate is not trusted ({escape(error.verify_message)})"
        raise Unreachable(f"{where}: {problem}; SSL_CERT_FILE may name an authority of your own") from None
    except ssl.SSLError as error:
        raise Unreachable(f"{where}: no TLS ({escape(reason(error))}); imaps:// mostly has port 993") from None
    except (OSError, EOFError) as error:
        raise Unreachable(f"{where}: {escape(reason(error)) or 'no answer'}") from None
    except SpamnbError:
        raise
    except Exception as error:  # of IMAPClient and Python, for text that is nested too deep, too long or no number
        problem = _server_text(error) or type(error).__name__
        raise Unreachable(f"{where}: the server's answer cannot be read: {problem}") from None


def _server_text(error: Exception) -> str:
    """Return the server's text of an error, truncated and without control characters."""
    text = str(error.args[0] if error.args else error)
    if text.startswith("b'"):
        text = text[2:-1]
    return escape(text[:_MAX_ERROR])


def connect(account: Account) -> IMAPClient:
    """Return a client that is logged in. Raises Unreachable, LoginRefused, or SpamnbError for a wrong setting."""
    url = account.url
    try:
        from imapclient import IMAPClient, SocketTimeout
    except ImportError:
        hint = "'pip install imapclient keyring' lets spamnb read IMAP accounts"
        raise SpamnbError(f"{escape(url.account)}: {hint}") from None
    if not url.tls and not is_loopback(url.host.lower()):
        problem = "imap:// sends mail and password in the clear, so only to this machine; write imaps://"
        raise SpamnbError(f"{escape(url.account)}: {problem}")
    context = ssl.create_default_context()  # checks certificates and host names, with SSL_CERT_FILE or the system's
    with translate_errors(url):
        client = IMAPClient(
            url.host,
            url.port,  # None: 993, or 143 without TLS
            ssl=url.tls,
            ssl_context=context if url.tls else None,
            timeout=SocketTimeout(connect=SECONDS / 2, read=SECONDS),
        )
        client.answer_limit = AnswerLimit(client)
        try:
            _log_in(client, account)
        except BaseException:
            hang_up(client)
            raise
    return client


class AnswerLimit:
    """Bound the answer of a server, because Python allocates the size that it announces and stores all its lines.

    ``received`` counts bytes, and 500 for each line or literal. It is set to 0 before each request.
    """

    received = 0

    def __init__(self, client: IMAPClient) -> None:
        imap = client._imap
        self._read, self._readline = imap.read, imap.readline
        imap.read, imap.readline = self._literal, self._line

    def _count(self, size: int) -> None:
        self.received += size
        if self.received > MAX_ANSWER:
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
    if account.token_command:  # it runs for each connection, because tokens expire after an hour
        token = _run_command(account.token_command, "token-command", url)
        if client.has_capability("AUTH=OAUTHBEARER") and not client.has_capability("AUTH=XOAUTH2"):
            client.oauthbearer_login(url.user, token)
        else:
            client.oauth2_login(url.user, token)
        return
    secret = find_password(account)
    if client.has_capability("AUTH=PLAIN"):  # preferred to LOGIN, which takes ASCII only
        client.plain_login(url.user, secret)
    elif client.has_capability("LOGINDISABLED"):
        raise SpamnbError(f"{escape(url.account)}: the server takes no password here; it may take a token")
    else:
        client.login(url.user, secret)


def hang_up(client: IMAPClient) -> None:
    """Close a connection without LOGOUT, because the server may no longer answer."""
    with suppress(OSError):  # it is closed already
        client.shutdown()


def find_password(account: Account) -> str:
    """Return the password of an account. Raises SpamnbError, which names the ways to give one, if there is none."""
    url = account.url
    if account.password_command:
        return _run_command(account.password_command, "password-command", url)
    if secret := os.environ.get(VARIABLE) or _read_keyring(url):
        return secret
    raise SpamnbError(
        f"{escape(url.account)}: no password found; 'keyring set {escape(url.host)} {escape(url.user)}' keeps one,"
        f" {VARIABLE} may hold it, or a password-command in the file of accounts prints one"
    )


def _run_command(command: str, setting: str, url: ImapUrl) -> str:
    """Run a command in a shell, with host and user in its environment, and return the first line that it prints."""
    environment = {**os.environ, "SPAMNB_IMAP_HOST": url.host, "SPAMNB_IMAP_USER": url.user}
    try:
        result = subprocess.run(
            ["/bin/sh", "-c", command],
            capture_output=True,
            timeout=_COMMAND_SECONDS,
            env=environment,
            stdin=subprocess.DEVNULL,
        )
    except subprocess.TimeoutExpired:
        raise SpamnbError(f"{setting}: no answer after {_COMMAND_SECONDS} seconds") from None
    if result.returncode:
        lines = result.stderr.decode("utf-8", "replace").strip().splitlines()
        detail = f": {escape(lines[-1][:_MAX_ERROR])}" if lines else ""
        raise SpamnbError(f"{setting}: ended with {result.returncode}{detail}")
    line = result.stdout.partition(b"\n")[0].rstrip(b"\r").decode("utf-8", "replace")
    if not line:
        raise SpamnbError(f"{setting}: printed nothing; it has to print the secret in its first line")
    return line


def _read_keyring(url: ImapUrl) -> str | None:
    """Return the password of this host and user in the desktop's keyring; None without a keyring."""
    try:
        import keyring
        from keyring.errors import KeyringError
    except ImportError:
        return None
    try:
        return keyring.get_password(url.host, url.user)
    except KeyringError:  # the keyring is missing or locked; the caller's error names other ways
        return None


def is_loopback(host: str) -> bool:
    """Return whether a host is an address of this machine that no other can reach.

    >>> is_loopback("127.0.0.1"), is_loopback("::1"), is_loopback("192.0.2.1"), is_loopback("localhost")
    (True, True, False, True)
    """
    import ipaddress  # its import takes 1.5 ms, which few commands need

    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
