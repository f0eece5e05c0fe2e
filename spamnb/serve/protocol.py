"""The spamd protocol as pure functions: bytes to request, finding to reply. Nothing here touches a socket.

What a reply may carry follows from the version the client named, because old clients compare it literally:
Exim 4.96 asks ``REPORT SPAMC/1.2`` and defers every message when it sees both header lines.

    client     PROCESS, HEADERS             SYMBOLS, REPORT, REPORT_IFSPAM   CHECK
    >= 1.3     Content-length and Spam      Content-length and Spam          Spam
    <= 1.2     Content-length               Spam                             Spam
"""

from __future__ import annotations

import enum
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass


class ExitCode(enum.IntEnum):
    """The codes of sysexits.h that a refusal carries, and spamd's own 79."""

    EX_NOUSER = 67
    EX_UNAVAILABLE = 69
    EX_SOFTWARE = 70
    EX_TEMPFAIL = 75
    EX_PROTOCOL = 76
    EX_TIMEOUT = 79


class Refusal(Exception):
    """A request that gets one line of error instead of an answer."""

    def __init__(self, code: ExitCode, text: str) -> None:
        super().__init__(text)
        self.code = code


@dataclass(frozen=True, slots=True)
class Request:
    """What a client asks for, without the message itself."""

    method: str
    version: tuple[int, int]
    user: str = ""
    content_length: int | None = None  # bytes on the wire; None: up to the client's half-close
    message_class: str = ""
    set_local: bool = False
    remove_local: bool = False
    chunked: bool = False  # the message comes in HTTP's chunks


METHODS = frozenset(["PING", "SKIP", "CHECK", "SYMBOLS", "REPORT", "REPORT_IFSPAM", "HEADERS", "PROCESS", "TELL"])
_REQUEST_LINE = re.compile(rb"([A-Z_]{1,20}) SPAMC/([0-9]{1,3})\.([0-9]{1,3})[ \t]*\Z")


def parse_request_line(line: bytes) -> tuple[str, tuple[int, int]]:
    """Method and version of a request's first line.

    >>> parse_request_line(b"REPORT SPAMC/1.2")
    ('REPORT', (1, 2))
    """
    match = _REQUEST_LINE.match(line)
    if match is None:
        raise Refusal(ExitCode.EX_PROTOCOL, f"Bad header line: {line.decode('latin-1')}")
    method = match[1].decode("ascii")
    if method not in METHODS:
        raise Refusal(ExitCode.EX_PROTOCOL, f"Bad header line: no such method {method}")
    return method, (int(match[2]), int(match[3]))


def has_headers(method: str, version: tuple[int, int]) -> bool:
    """Whether header lines and a blank line follow the first line.

    Before 1.5 a PING or SKIP is that one line and its client waits, so waiting for more would hang both.
    """
    return version >= (1, 5) if method in ("PING", "SKIP") else version > (1, 0)


def parse_request(method: str, version: tuple[int, int], lines: Sequence[bytes]) -> Request:
    """The request from its first line's parts and its header lines; unknown headers are ignored.

    >>> parse_request("TELL", (1, 5), [b"Message-class: spam", b"Set: local, remote", b"User: ann"])
    ... # doctest: +NORMALIZE_WHITESPACE
    Request(method='TELL', version=(1, 5), user='ann', content_length=None, message_class='spam',
            set_local=True, remove_local=False, chunked=False)
    """
    headers: dict[str, str] = {}
    for line in lines:
        name, colon, value = line.partition(b":")
        if not colon:
            raise Refusal(ExitCode.EX_PROTOCOL, "Bad header line: (header not in 'Name: value' format)")
        # A user's name may hold any byte; whether it names a model is another file's question.
        headers[name.strip().lower().decode("latin-1")] = value.strip().decode("utf-8", "replace")
    if headers.get("compress"):
        raise Refusal(ExitCode.EX_PROTOCOL, f"Bad header line: (compression type not supported: {headers['compress']})")
    asked = Request(
        method=method,
        version=version,
        user=headers.get("user", ""),
        content_length=length_of(headers),
        message_class=headers.get("message-class", "").lower(),
        set_local=_names_local(headers.get("set", "")),
        remove_local=_names_local(headers.get("remove", "")),
    )
    if asked.set_local and asked.remove_local:
        raise Refusal(ExitCode.EX_PROTOCOL, "Bad header line: (cannot set local and remove local in one request)")
    if asked.set_local and asked.message_class not in ("ham", "spam"):
        raise Refusal(ExitCode.EX_PROTOCOL, "Bad header line: (Set needs Message-class: ham or spam)")
    return asked


def length_of(headers: Mapping[str, str]) -> int | None:
    """The message's length, where these header lines name it."""
    length = headers.get("content-length", "")
    if length and not (length.isascii() and length.isdigit() and len(length) <= 18):
        raise Refusal(ExitCode.EX_PROTOCOL, "Bad header line: (Content-length contains non-numeric bytes)")
    return int(length) if length else None


def _names_local(value: str) -> bool:
    return "local" in (name.strip().lower() for name in value.split(","))


PONG = b"SPAMD/1.5 0 PONG\r\n"


def refusal_reply(refusal: Refusal) -> bytes:
    """The reply to what cannot be answered.

    >>> refusal_reply(Refusal(ExitCode.EX_UNAVAILABLE, "too many connections"))
    b'SPAMD/1.0 69 EX_UNAVAILABLE too many connections\\r\\n'
    """
    # The text may quote what a stranger sent: one line of printable ASCII, whatever that was.
    text = "".join(c if " " <= c <= "~" else "?" for c in str(refusal)[:200])
    return f"SPAMD/1.0 {refusal.code.value} {refusal.code.name} {text}\r\n".encode("ascii")


def verdict_reply(asked: Request, spam: bool, score: str, threshold: str, body: bytes) -> bytes:
    """The reply to CHECK, SYMBOLS, REPORT, REPORT_IFSPAM, HEADERS and PROCESS.

    >>> verdict_reply(Request("CHECK", (1, 5)), True, "9.5", "5.0", b"")
    b'SPAMD/1.1 0 EX_OK\\r\\nSpam: True ; 9.5 / 5.0\\r\\n\\r\\n'
    """
    verdict = f"Spam: {spam} ; {score} / {threshold}\r\n".encode("ascii")
    length = f"Content-length: {len(body)}\r\n".encode("ascii")
    ok = b"SPAMD/1.1 0 EX_OK\r\n"
    if asked.method == "CHECK":
        return ok + verdict + b"\r\n"
    if asked.version >= (1, 3):
        return ok + length + verdict + b"\r\n" + body
    return ok + (length if asked.method in ("PROCESS", "HEADERS") else verdict) + b"\r\n" + body


def tell_reply(did_set: bool, did_remove: bool) -> bytes:
    """The reply to TELL, which names what changed and nothing else.

    >>> tell_reply(True, False)
    b'SPAMD/1.1 0 EX_OK\\r\\nDidSet: local\\r\\n\\r\\n'
    """
    changes = b"DidSet: local\r\n" * did_set + b"DidRemove: local\r\n" * did_remove
    return b"SPAMD/1.1 0 EX_OK\r\n" + changes + b"\r\n"
