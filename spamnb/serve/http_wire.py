"""HTTP with one request per connection, and the paths of rspamd's protocol that mail servers use.

``POST /checkv2`` classifies a message, ``/learnspam`` and ``/learnham`` learn it, ``GET /ping`` tests the connection,
and ``GET /stat`` (`metrics.py`) shows totals.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Callable, Mapping
from functools import partial

from spamnb.mail_result import format_symbols, header_fields
from spamnb.model.classification import SPAM_POINTS, Classification
from spamnb.serve.wire import Client, ExitCode, Refusal, Request, parse_length

_STATUS = {
    ExitCode.EX_USAGE: "404 Not Found",
    ExitCode.EX_NOUSER: "404 Not Found",
    ExitCode.EX_UNAVAILABLE: "503 Service Unavailable",
    ExitCode.EX_SOFTWARE: "500 Internal Server Error",
    ExitCode.EX_TEMPFAIL: "503 Service Unavailable",
    ExitCode.EX_PROTOCOL: "400 Bad Request",
    ExitCode.EX_TIMEOUT: "408 Request Timeout",
}
LOCAL_HOSTS = ("127.0.0.1", "localhost")  # any site can resolve its own name to 127.0.0.1
_REQUEST_LINE = re.compile(rb"([A-Z]{1,9} /[a-z0-9]{0,20})(?:\?[!-~]*)? HTTP/1\.[01]\Z")
_CHUNK_SIZE = re.compile(rb"([0-9A-Fa-f]{1,8})[ \t]*(?:;.*)?\Z")
_SPAM_FIELDS = ("X-Spam-Flag", "X-Spam-Level", "X-Spam-Status", "X-Spam-Checker-Version")


def http_reply(status: str, body: bytes, kind: str = "application/json") -> bytes:
    """Return an HTTP reply: status, headers and body."""
    head = f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\nConnection: close"
    return head.encode("ascii") + b"\r\n\r\n" + body


Routes = Mapping[str, Callable[..., Request]]  # functions that make a request, by HTTP method and path
RSPAMD_ROUTES: Routes = {
    "POST /checkv2": partial(Request, "CHECKV2"),
    "POST /learnspam": partial(Request, "TELL", label="spam"),
    "POST /learnham": partial(Request, "TELL", label="ham"),
    "GET /ping": partial(Request, "PING", reply=http_reply("200 OK", b"pong\r\n")),
}


class HttpWire:
    """HTTP with these ``routes``. The reply for any other request is "404 Not Found".

    With ``is_local`` only requests for one of LOCAL_HOSTS are answered. No web page reaches a Unix socket, which needs
    no such check.
    """

    def __init__(self, routes: Routes = RSPAMD_ROUTES, *, is_local: bool = True) -> None:
        self._routes, self._is_local = routes, is_local

    async def read_request(self, client: Client) -> Request | None:
        """Return the client's request; unknown header fields are ignored.

        A request with the header Origin is refused, because it comes from a web page, which may not use the model. A
        page sends no Origin to its own host. So a request for a host of another name is refused too, because a site can
        name this machine as its host.
        """
        line = await client.read_line()
        if line is None:
            return None  # a probe that only connected
        match = _REQUEST_LINE.match(line)
        if match is None:
            raise Refusal(ExitCode.EX_PROTOCOL, f"not a request line of HTTP/1.1: {line.decode('latin-1')}")
        route = match[1].decode("ascii")
        if route not in self._routes:
            raise Refusal(ExitCode.EX_USAGE, f"no such request: {route}; the server has {', '.join(self._routes)}")
        headers = await client.read_headers()
        host = headers.get("host", "").lower()  # each browser sends it, but not each program of HTTP/1.0
        if self._is_local and host and host.partition(":")[0] not in LOCAL_HOSTS:
            raise Refusal(ExitCode.EX_PROTOCOL, f"the header Host must be one of {', '.join(LOCAL_HOSTS)}")
        if "origin" in headers:
            raise Refusal(ExitCode.EX_PROTOCOL, "web pages may not use this server")
        if headers.keys() & {"compression", "content-encoding", "key"}:
            raise Refusal(ExitCode.EX_PROTOCOL, "compressed and encrypted messages are not supported")
        length, encoding = parse_length(headers), headers.get("transfer-encoding", "").lower()
        request = self._routes[route](user=headers.get("deliver-to", ""), content_length=length)
        if request.reply is None and (length is None, encoding) not in ((False, ""), (True, "chunked")):
            raise Refusal(ExitCode.EX_PROTOCOL, "the message needs a Content-Length, or Transfer-Encoding: chunked")
        return request

    async def read_message(self, client: Client, request: Request) -> AsyncIterator[bytes]:
        """Yield the message in parts: Content-Length bytes, or the chunks of ``Transfer-Encoding: chunked``."""
        if request.content_length is not None:
            async for part in client.read_parts(request.content_length):
                yield part
            return
        size = -1
        while size:
            match = _CHUNK_SIZE.match(await client.read_line() or b"")
            if match is None:
                raise Refusal(ExitCode.EX_PROTOCOL, "a chunk does not begin with its size")
            size = int(match[1], 16)
            async for part in client.read_parts(size):
                yield part
            if await client.read_line() != b"":
                raise Refusal(ExitCode.EX_PROTOCOL, "a chunk does not end with a line break")
            await asyncio.sleep(0)  # other connections get their turn, because a chunk may be a single byte

    def verdict_reply(self, request: Request, classification: Classification, raw: bytes) -> bytes:
        """Return a classification as rspamd's JSON.

        The action for spam is "add header", and never "reject", because nobody would see good mail that was rejected.
        """
        names = format_symbols(classification)
        symbol = {"name": "SPAMNB", "score": classification.points, "options": names.split(",") if names else []}
        answer = {
            "is_skipped": False,
            "score": classification.points,
            "required_score": SPAM_POINTS,
            "action": "add header" if classification.is_spam else "no action",
            "symbols": {"SPAMNB": symbol},
            "milter": {
                "add_headers": dict(header_fields(classification)),
                "remove_headers": dict.fromkeys(_SPAM_FIELDS, 0),
            },
        }
        return http_reply("200 OK", json.dumps(answer).encode("ascii"))

    def change_reply(self, request: Request, is_changed: bool) -> bytes:
        if is_changed:
            return http_reply("200 OK", b'{"success": true}')
        return http_reply("208 Already Reported", b'{"error": "the message was already learned as this class"}')

    def refusal_reply(self, refusal: Refusal) -> bytes:
        r"""Return the status of the refusal's code, and its text as JSON.

        >>> HttpWire().refusal_reply(Refusal(ExitCode.EX_PROTOCOL, "no")).partition(b"\r\n")[0]
        b'HTTP/1.1 400 Bad Request'
        """
        return http_reply(_STATUS[refusal.code], json.dumps({"error": str(refusal)[:200]}).encode("ascii"))
