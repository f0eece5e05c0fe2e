"""The spamd protocol as spamc, Exim and spamass-milter speak it.

The header lines of a reply depend on the client's version, because old clients compare them literally: Exim 4.96 sends
``REPORT SPAMC/1.2``, and defers every message if the reply has both header lines.

    client     PROCESS, HEADERS             SYMBOLS, REPORT, REPORT_IFSPAM   CHECK
    >= 1.3     Content-length and Spam      Content-length and Spam          Spam
    <= 1.2     Content-length               Spam                             Spam
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Mapping

from spamnb.mail_result import format_report, format_symbols, header_fields
from spamnb.model.classification import SPAM_POINTS, Classification
from spamnb.reader.spam_fields import replace_spam_fields, section_length
from spamnb.serve.wire import Client, ExitCode, Refusal, Request, parse_length

METHODS = frozenset(["PING", "SKIP", "CHECK", "SYMBOLS", "REPORT", "REPORT_IFSPAM", "HEADERS", "PROCESS", "TELL"])
REPLIES = {"PING": b"SPAMD/1.5 0 PONG\r\n", "SKIP": b""}  # to the methods without a message
_REQUEST_LINE = re.compile(rb"([A-Z_]{1,20}) SPAMC/([0-9]{1,3})\.([0-9]{1,3})[ \t]*\Z")
_OK = b"SPAMD/1.1 0 EX_OK\r\n"


class SpamdWire:
    """The spamd protocol."""

    async def read_request(self, client: Client) -> Request | None:
        """Return the client's request; unknown header fields are ignored."""
        line = await client.read_line()
        if line is None:
            return None  # a probe that only connected
        method, version = parse_request_line(line)
        # Before version 1.5 PING and SKIP are a single line, after which the client waits for the reply.
        has_headers = version >= (1, 5) if method in REPLIES else version > (1, 0)
        headers = await client.read_headers(may_end=method in REPLIES) if has_headers else {}
        return parse_request(method, version, headers)

    def read_message(self, client: Client, request: Request) -> AsyncIterator[bytes]:
        return client.read_parts(request.content_length)

    def verdict_reply(self, request: Request, classification: Classification, raw: bytes) -> bytes:
        r"""Return the reply to CHECK, SYMBOLS, REPORT, REPORT_IFSPAM, HEADERS and PROCESS.

        >>> import numpy as np
        >>> classification = Classification("spam", {}, {}, 4.4, [], np.zeros(2), "", (), threshold=2.2)
        >>> SpamdWire().verdict_reply(Request("CHECK"), classification, b"")
        b'SPAMD/1.1 0 EX_OK\r\nSpam: True ; 10.0 / 5.0\r\n\r\n'
        """
        verdict = f"Spam: {classification.is_spam} ; {classification.points:.1f} / {SPAM_POINTS}\r\n".encode("ascii")
        if request.method == "CHECK":
            return _OK + verdict + b"\r\n"
        body = _body(request, classification, raw)
        length = f"Content-length: {len(body)}\r\n".encode("ascii")
        if request.version >= (1, 3):
            return _OK + length + verdict + b"\r\n" + body
        return _OK + (length if request.method in ("PROCESS", "HEADERS") else verdict) + b"\r\n" + body

    def change_reply(self, request: Request, is_changed: bool) -> bytes:
        r"""Return the reply to TELL. It has DidSet or DidRemove only if the model changed.

        >>> SpamdWire().change_reply(Request("TELL", label="spam"), True)
        b'SPAMD/1.1 0 EX_OK\r\nDidSet: local\r\n\r\n'
        """
        change = b"DidSet: local\r\n" if request.label else b"DidRemove: local\r\n"
        return _OK + change * is_changed + b"\r\n"

    def refusal_reply(self, refusal: Refusal) -> bytes:
        r"""Return one line of printable ASCII. Other characters, which the text may quote from a request, become "?".

        >>> SpamdWire().refusal_reply(Refusal(ExitCode.EX_UNAVAILABLE, "too many connections"))
        b'SPAMD/1.0 69 EX_UNAVAILABLE too many connections\r\n'
        """
        text = "".join(c if " " <= c <= "~" else "?" for c in str(refusal)[:200])
        return f"SPAMD/1.0 {refusal.code.value} {refusal.code.name} {text}\r\n".encode("ascii")


def parse_request_line(line: bytes) -> tuple[str, tuple[int, int]]:
    """Return the method and the version in a request's first line.

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


def parse_request(method: str, version: tuple[int, int], headers: Mapping[str, str]) -> Request:
    """Return the request that has these header fields.

    >>> parse_request("TELL", (1, 5), {"message-class": "spam", "set": "local, remote", "user": "ann"}).label
    'spam'
    """
    if headers.get("compress"):
        raise Refusal(ExitCode.EX_PROTOCOL, f"Bad header line: (compression type not supported: {headers['compress']})")
    label, is_set, is_removed = "", _has_local(headers.get("set", "")), _has_local(headers.get("remove", ""))
    if is_set and is_removed:
        raise Refusal(ExitCode.EX_PROTOCOL, "Bad header line: (cannot set local and remove local in one request)")
    if is_set:
        label = headers.get("message-class", "").lower()
        if label not in ("ham", "spam"):
            raise Refusal(ExitCode.EX_PROTOCOL, "Bad header line: (Set needs Message-class: ham or spam)")
    user, length = headers.get("user", ""), parse_length(headers)
    return Request(method, version, user, length, label, is_removed, REPLIES.get(method))


def _has_local(value: str) -> bool:
    return "local" in (name.strip().lower() for name in value.split(","))


def _body(request: Request, classification: Classification, raw: bytes) -> bytes:
    match request.method:
        case "PROCESS":
            return replace_spam_fields(raw, header_fields(classification))
        case "HEADERS":
            return replace_spam_fields(raw[: section_length(raw)], header_fields(classification))
        case "SYMBOLS":
            return format_symbols(classification).encode("ascii") + b"\r\n" * (request.version < (1, 3))
        case "REPORT_IFSPAM" if not classification.is_spam:
            return b""
    return format_report(classification)
