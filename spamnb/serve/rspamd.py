"""The part of rspamd's HTTP protocol that mail servers speak, as pure functions with the names of `protocol`.

``POST /checkv2`` asks about a message, ``/learnspam`` and ``/learnham`` teach it, ``GET /ping`` asks nothing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable, Sequence

from spamnb.classification import SPAM_POINTS, Classification
from spamnb.score import header_fields, symbols
from spamnb.serve.protocol import ExitCode, Refusal, Request, length_of

_STATUS = {
    ExitCode.EX_NOUSER: "404 Not Found",
    ExitCode.EX_UNAVAILABLE: "503 Service Unavailable",
    ExitCode.EX_SOFTWARE: "500 Internal Server Error",
    ExitCode.EX_TEMPFAIL: "503 Service Unavailable",
    ExitCode.EX_PROTOCOL: "400 Bad Request",
    ExitCode.EX_TIMEOUT: "408 Request Timeout",
}
_METHODS = {"POST /checkv2": "CHECKV2", "POST /learnspam": "TELL", "POST /learnham": "TELL", "GET /ping": "PING"}
_REQUEST_LINE = re.compile(rb"([A-Z]{1,9} /[a-z0-9]{0,20})(?:\?[!-~]*)? HTTP/(1)\.([01])\Z")
_CHUNK_SIZE = re.compile(rb"([0-9A-Fa-f]{1,8})[ \t]*(?:;.*)?\Z")
_OURS = ("X-Spam-Flag", "X-Spam-Level", "X-Spam-Status", "X-Spam-Checker-Version")


def parse_request_line(line: bytes) -> tuple[str, tuple[int, int]]:
    """What a request's first line asks for, method and path, and its version.

    >>> parse_request_line(b"POST /checkv2 HTTP/1.1")
    ('POST /checkv2', (1, 1))
    """
    match = _REQUEST_LINE.match(line)
    asked = match[1].decode("ascii") if match else ""
    if match is None or asked not in _METHODS:
        raise Refusal(ExitCode.EX_PROTOCOL, f"there are {', '.join(_METHODS)}; asked was {line.decode('latin-1')}")
    return asked, (int(match[2]), int(match[3]))


def has_headers(asked: str, version: tuple[int, int]) -> bool:
    """They always follow."""
    return True


def parse_request(asked: str, version: tuple[int, int], lines: Sequence[bytes]) -> Request:
    """The request from its first line's parts and its header lines; unknown headers are ignored.

    A browser names the page that asks: no page may teach the model or ask for its opinion.

    >>> parse_request("POST /learnham", (1, 1), [b"Deliver-To: ann", b"Content-Length: 9"])
    ... # doctest: +NORMALIZE_WHITESPACE
    Request(method='TELL', version=(1, 1), user='ann', content_length=9, message_class='ham', set_local=True,
            remove_local=False, chunked=False)
    """
    headers: dict[str, str] = {}
    for line in lines:
        name, colon, value = line.partition(b":")
        key = name.lower().decode("latin-1")
        if not colon or (key in headers and key in ("content-length", "transfer-encoding")):
            raise Refusal(ExitCode.EX_PROTOCOL, f"a header line that cannot be: {line.decode('latin-1')}")
        headers[key] = value.strip().decode("utf-8", "replace")
    length, encoding = length_of(headers), headers.get("transfer-encoding", "").lower()
    if "origin" in headers:
        raise Refusal(ExitCode.EX_PROTOCOL, "web pages may not ask")
    if "compression" in headers or "content-encoding" in headers or "key" in headers:
        raise Refusal(ExitCode.EX_PROTOCOL, "messages are neither compressed nor encrypted")
    method, learned = _METHODS[asked], asked.removeprefix("POST /learn")
    if method != "PING" and (encoding not in ("", "chunked") or (length is None) != bool(encoding)):
        raise Refusal(ExitCode.EX_PROTOCOL, "the message needs a Content-Length, or Transfer-Encoding: chunked")
    return Request(
        method=method,
        version=version,
        user=headers.get("deliver-to", ""),  # "User" names who sent the message
        content_length=length,
        message_class=learned if method == "TELL" else "",
        set_local=method == "TELL",
        chunked=bool(encoding),
    )


class Chunks:
    """A message that comes in chunks, as a reader; ``line`` reads a line, ``more`` at most so many bytes."""

    def __init__(self, line: Callable[[], Awaitable[bytes | None]], more: Callable[[int], Awaitable[bytes]]) -> None:
        self._line, self._more = line, more
        self._left = 0  # bytes of this chunk

    async def read(self, most: int) -> bytes:
        """What comes next of the message; nothing at its end."""
        if not self._left:
            size = _CHUNK_SIZE.match(await self._line() or b"")
            if size is None:
                raise Refusal(ExitCode.EX_PROTOCOL, "a chunk's size is lacking")
            self._left = int(size[1], 16)
        part = await self._more(min(most, self._left)) if self._left else b""
        if self._left and not part:
            raise Refusal(ExitCode.EX_PROTOCOL, "the message ends within a chunk")
        self._left -= len(part)
        if not self._left and await self._line() != b"":
            raise Refusal(ExitCode.EX_PROTOCOL, "a chunk's end is lacking")
        return part


def _reply(status: str, body: bytes) -> bytes:
    head = f"HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\nConnection: close"
    return head.encode("ascii") + b"\r\n\r\n" + body


PONG = _reply("200 OK", b"pong\r\n")


def refusal_reply(refusal: Refusal) -> bytes:
    """The reply to what cannot be answered.

    >>> refusal_reply(Refusal(ExitCode.EX_PROTOCOL, "no")).partition(b"\\r\\n")[0]
    b'HTTP/1.1 400 Bad Request'
    """
    return _reply(_STATUS[refusal.code], json.dumps({"error": str(refusal)[:200]}).encode("ascii"))


def verdict_body(found: Classification) -> bytes:
    """A score as rspamd's JSON. Spam gets its header fields: no message is refused for what a filter thinks."""
    names = symbols(found)
    symbol = {"name": "SPAMNB", "score": found.points, "options": names.split(",") if names else []}
    told = {
        "is_skipped": False,
        "score": found.points,
        "required_score": SPAM_POINTS,
        "action": "add header" if found.is_spam else "no action",
        "symbols": {"SPAMNB": symbol},
        "milter": {"add_headers": dict(header_fields(found)), "remove_headers": dict.fromkeys(_OURS, 0)},
    }
    return json.dumps(told).encode("ascii")


def verdict_reply(asked: Request, spam: bool, score: str, threshold: str, body: bytes) -> bytes:
    """The reply to a question; *body* tells all of it."""
    return _reply("200 OK", body)


def tell_reply(did_set: bool, did_remove: bool) -> bytes:
    """The reply to a lesson, which says whether it was new."""
    if did_set or did_remove:
        return _reply("200 OK", b'{"success": true}')
    return _reply("208 Already Reported", b'{"error": "the message was learned as this before"}')
