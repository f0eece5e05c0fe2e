"""Connections to an IMAP server, encrypted and logged in, and their errors in one line.

The password is printed by the account's password-command, or it is in SPAMNB_IMAP_PASSWORD or a keyring. It is never on
a command line. IMAPClient implements the protocol, and is imported with the first connection.
"""

from __future__ import annotations

import os
import re
import ssl
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from spamnb.errors import SpamnbError, reason
from spamnb.shown_text import escape
from spamnb.sources.accounts import Account, ImapUrl

if TYPE_CHECKING:
    from imapclient import IMAPClient

PASSWORD_VARIABLE = "SPAMNB_IMAP_PASSWORD"
ANSWER_SECONDS = 60.0  # if the server is silent for longer, the connection is regarded as lost
_COMMAND_SECONDS = 120  # the longest run of a password-command, which may ask the person for a passphrase
MAX_ANSWER = 64 << 20  # bytes, twice the 32 MiB of messages that one request fetches
_MAX_ERROR = 200  # characters of a server's error that are shown
_ITEM_BYTES = 500  # added to the size of each line and literal: the memory of Python's objects


# imaplib knows keywords in capitals alone, and no literals with zero bytes (RFC 3516).
_KEYWORD = re.compile(rb"\A(?:\*(?: \d+)?|\w+) [A-Za-z-]+(?: \[[A-Za-z-]+)?")
_LITERAL_8 = re.compile(rb"~(\{\d+\}\r\n)\Z")


class Unreachable(SpamnbError):
    """There is no connection, or it was lost; a later try may succeed."""


class NeverReached(Unreachable):
    """There has never been a connection to this account."""


class LoginRefused(SpamnbError):
    """The server refused the password or token. After several tries a server may lock the account."""


class Denied(SpamnbError):
    """The server refused one command, for example because of a full quota or a missing folder, or answered nonsense."""


@contextmanager
def translate_errors(url: ImapUrl, action: str = "") -> Iterator[None]:
    """Raise errors of IMAPClient and of the network as errors of this module."""
    from imapclient.exceptions import IMAPClientAbortError, IMAPClientError, LoginError, ProtocolError

    where = escape(url.address) + (f": {action}" if action else "")
    try:
        yield
    except LoginError as error:
        if isinstance(error.__context__, IMAPClientAbortError):  # a lost connection is a LoginError, too
            raise Unreachable(f"{where}: the connection was lost: {_server_text(error)}") from None
        raise LoginRefused(f"{where}: the server refused the login: {_server_text(error)}") from None
    except IMAPClientAbortError as error:
        raise Unreachable(f"{where}: the connection was lost: {_server_text(error)}") from None
    except ProtocolError as error:  # of one answer; the next command may have another
        raise Denied(f"{where}: the server's answer cannot be read: {_server_text(error)}") from None
    except IMAPClientError as error:
        raise Denied(f"{where}: the server refused: {_server_text(error)}") from None
    except ssl.SSLCertVerificationError as error:
        problem = f"the server's certificate is not trusted ({escape(error.verify_message)})"
        raise Unreachable(f"{where}: {problem}; to trust another authority, set SSL_CERT_FILE") from None
    except ssl.SSLError as error:
        raise Unreachable(f"{where}: no TLS ({escape(reason(error))}); the port of imaps:// is mostly 993") from None
    except (OSError, EOFError) as error:
        raise Unreachable(f"{where}: {escape(reason(error)) or 'no answer'}") from None
    except SpamnbError:
        raise
    except Exception as error:  # IMAPClient and Python raise many types for malformed or too deeply nested text
        problem = _server_text(error) or type(error).__name__
        raise Unreachable(f"{where}: the server's answer cannot be read: {problem}") from None


def _server_text(error: Exception) -> str:
    """Return the server's text in an error, truncated and without control characters."""
    text = str(error.args[0] if error.args else error)
    if text.startswith(("b'", 'b"')):
        text = text[2:-1]
    return escape(text[:_MAX_ERROR])


def connect(account: Account) -> IMAPClient:
    """Return a client that is logged in. Raise Unreachable, LoginRefused, or SpamnbError for a wrong setting."""
    url = account.url
    try:
        from imapclient import IMAPClient, SocketTimeout
    except ImportError:
        advice = "to let spamnb read IMAP accounts, run 'pip install imapclient keyring'"
        raise SpamnbError(f"{escape(url.address)}: {advice}") from None
    if not url.tls and not is_loopback(url.host.lower()):
        problem = "imap:// does not encrypt mail and password, so the server must be this machine; write imaps://"
        raise SpamnbError(f"{escape(url.address)}: {problem}")
    context = ssl.create_default_context()  # checks host names; SSL_CERT_FILE may name the authorities
    with translate_errors(url):
        client = _limited(IMAPClient)(
            url.host,
            url.port,  # None: 993, or 143 without TLS
            ssl=url.tls,
            ssl_context=context if url.tls else None,
            timeout=SocketTimeout(connect=ANSWER_SECONDS / 2, read=ANSWER_SECONDS),
        )
        try:
            _log_in(client, account)
        except BaseException:
            hang_up(client)
            raise
    return client


def _limited(base: type[IMAPClient]) -> type[IMAPClient]:
    """Return IMAPClient with a bound on each answer of the server, the greeting included.

    Without it Python keeps any number of lines, and allocates any size that the server announces. ``answer_limit``
    has the memory of the present answer in bytes, ``received``, which is set to 0 before each request.
    """
    from imapclient.imap4 import IMAP4WithTimeout
    from imapclient.tls import IMAP4_TLS

    class Limit:
        received = 0

        def add(self, size: int) -> None:
            self.received += size + _ITEM_BYTES
            if self.received > MAX_ANSWER:
                raise ValueError(f"an answer of more than {MAX_ANSWER >> 20} MiB")

        def read(self, size: int) -> bytes:
            self.add(size)
            content: bytes = super().read(size)  # type: ignore[misc]
            return content

        def readline(self) -> bytes:
            line: bytes = super().readline()  # type: ignore[misc]
            self.add(len(line))
            return _KEYWORD.sub(lambda match: match[0].upper(), _LITERAL_8.sub(rb"\1", line))

    class Plain(Limit, IMAP4WithTimeout):  # type: ignore[misc]
        """A connection without TLS."""

    class Encrypted(Limit, IMAP4_TLS):  # type: ignore[misc]
        """A connection with TLS."""

    class LimitedClient(base):  # type: ignore[misc]
        def _create_IMAP4(self) -> Any:  # noqa: N802 (IMAPClient's name)
            seconds = self._timeout.connect
            if self.ssl:
                self.answer_limit = Encrypted(self.host, self.port, self.ssl_context, seconds)
            else:
                self.answer_limit = Plain(self.host, self.port, seconds)
            return self.answer_limit

        def _proc_folder_list(self, folder_data: list[Any]) -> list[ListedName]:
            return [read_listed(item) for item in folder_data if item not in (b"", None)]

    return LimitedClient


class ListedName(NamedTuple):
    """A folder in the answer to LIST. ``name`` is None if it cannot be read, or cannot be written as it was."""

    attributes: list[bytes]
    separator: str
    name: str | None
    answer: bytes


_BEFORE_NAME = re.compile(rb'\A\(([^()]*)\) +((?i:NIL)|"\\?[^\r\n]?"|[^\w\s"(){]) +')
_LISTED = re.compile(  # extended data may follow the name (RFC 5258)
    _BEFORE_NAME.pattern + rb'(?:"((?:[^"\\]|\\.)*)"|(?!NIL *\Z)([^"\s{][^"\s]*))(?: +\(.*\))? *\Z'
)


def read_listed(item: bytes | tuple[bytes, bytes]) -> ListedName:
    r"""Read one folder of a list by itself, so that an odd name leaves the others. A name may be a literal.

    >>> read_listed(b'(\\Junk) "/" "Entw&APw-rfe"').name, read_listed(b'() "/" "R&D"').name
    ('Entwürfe', None)
    """
    from imapclient.imap_utf7 import decode, encode

    line, literal = item if isinstance(item, tuple) else (item, None)
    match = _LISTED.match(line if literal is None else line.rpartition(b"{")[0] + b"x")
    if match is None:
        return ListedName([], "", None, _BEFORE_NAME.sub(b"", line if literal is None else literal))
    raw = literal if literal is not None else match[4] or re.sub(rb"\\(.)", rb"\1", match[3])
    character = match[2].removeprefix(b'"').removesuffix(b'"')[-1:]  # which may be a quote itself
    separator = "" if match[2].upper() == b"NIL" else character.decode("utf-8", "replace")
    try:
        name = decode(raw)
        is_plain = bool(name) and name.isprintable() and encode(name) == raw
    except (ValueError, LookupError):  # "&" that begins no modified UTF-7
        is_plain = False
    return ListedName(match[1].lower().split(), separator, name if is_plain else None, raw)


def _log_in(client: IMAPClient, account: Account) -> None:
    url = account.url
    if account.token_command:  # run for each connection, because tokens expire after an hour
        token = _run_command(account.token_command, "token-command", url)
        if client.has_capability("AUTH=OAUTHBEARER") and not client.has_capability("AUTH=XOAUTH2"):
            client.oauthbearer_login(url.user, token)
        else:
            client.oauth2_login(url.user, token)
        return
    password = find_password(account)
    if client.has_capability("AUTH=PLAIN"):  # LOGIN allows only ASCII in a password
        client.plain_login(url.user, password)
    elif client.has_capability("LOGINDISABLED"):
        raise SpamnbError(f"{escape(url.address)}: the server accepts no password; set token-command if it has OAuth 2")
    else:
        client.login(url.user, password)


def hang_up(client: IMAPClient) -> None:
    """Close a connection without LOGOUT, because the server may no longer answer."""
    with suppress(OSError):  # the connection is closed already
        client.shutdown()


def find_password(account: Account) -> str:
    """Return the password of an account. Raise SpamnbError if there is none."""
    url = account.url
    if account.password_command:
        return _run_command(account.password_command, "password-command", url)
    if password := os.environ.get(PASSWORD_VARIABLE) or _read_keyring(url):
        return password
    raise SpamnbError(
        f"{escape(url.address)}: no password; run 'keyring set {escape(url.host)} {escape(url.user)}',"
        f" set {PASSWORD_VARIABLE}, or set password-command in the configuration file"
    )


def _run_command(command: str, setting: str, url: ImapUrl) -> str:
    """Run a command in a shell, with host and user in its environment, and return the first line of its output."""
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
        raise SpamnbError(f"{setting}: the command has not ended after {_COMMAND_SECONDS} seconds") from None
    if result.returncode:
        lines = result.stderr.decode("utf-8", "replace").strip().splitlines()
        detail = f": {escape(lines[-1][:_MAX_ERROR])}" if lines else ""
        raise SpamnbError(f"{setting}: the command ended with status {result.returncode}{detail}")
    line = result.stdout.partition(b"\n")[0].rstrip(b"\r").decode("utf-8", "replace")
    if not line:
        raise SpamnbError(f"{setting}: the command must print the secret in its first line")
    return line


def _read_keyring(url: ImapUrl) -> str | None:
    """Return the password of this host and user in the desktop's keyring, or None."""
    try:
        import keyring
        from keyring.errors import KeyringError
    except ImportError:
        return None
    try:
        return keyring.get_password(url.host, url.user)
    except KeyringError:  # the keyring is missing or locked
        return None


def is_loopback(host: str) -> bool:
    """Return whether a host is an address of this machine that no other machine can reach.

    >>> is_loopback("127.0.0.1"), is_loopback("::1"), is_loopback("192.0.2.1"), is_loopback("localhost")
    (True, True, False, True)
    """
    import ipaddress  # importing ipaddress takes 1.5 ms, and few commands need it

    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
