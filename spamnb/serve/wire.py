"""The types that all protocols use: requests, refusals, a client that is read in bounded steps, and ``Wire``.

A wire is a protocol: it reads requests and formats replies. It neither classifies nor learns.
"""

from __future__ import annotations

import asyncio
import enum
import math
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from spamnb.model.classification import Classification

CHUNK = 1 << 16  # bytes that are read at once: the default limit of asyncio's StreamReader


class ExitCode(enum.IntEnum):
    """The codes of sysexits.h that a refusal carries, and spamd's own 79."""

    EX_USAGE = 64
    EX_NOUSER = 67
    EX_UNAVAILABLE = 69
    EX_SOFTWARE = 70
    EX_TEMPFAIL = 75
    EX_PROTOCOL = 76
    EX_TIMEOUT = 79


class Refusal(Exception):
    """An error reply to a request."""

    def __init__(self, code: ExitCode, text: str) -> None:
        super().__init__(text)
        self.code = code


class LostClient(Exception):
    """The connection broke while the server read from it."""


class ModelFacts(NamedTuple):
    """The shared model, as replies to requests for totals show it."""

    spam_messages: int  # of the class of spam
    other_messages: int
    n_bytes: int  # of the file and its write-ahead log
    changed_at: float  # Unix time of the last change of the file
    trained_at: float | None  # Unix time of the training; None if the model was never trained


@dataclass(frozen=True, slots=True)
class Request:
    """A client's request, without the message."""

    method: str  # the request's name in the log and the metrics; TELL changes the model
    version: tuple[int, int] = (1, 5)  # of the spamd protocol
    user: str = ""
    content_length: int | None = None  # bytes of the message; None if it is chunked, or ends with the stream
    label: str = ""  # the class to learn, "ham" or "spam"; empty if there is nothing to learn
    forgets: bool = False
    # The whole reply, for a request without a message; for a request for totals, a function that returns it.
    reply: bytes | Callable[[ModelFacts], bytes] | None = None


class Client:
    """A client's stream of bytes, read in bounded steps. Its methods raise LostClient if the connection breaks."""

    def __init__(self, reader: asyncio.StreamReader, max_line: int, max_head: int) -> None:
        self._reader, self._max_line, self._max_head = reader, max_line, max_head

    async def read_line(self) -> bytes | None:
        """Return the next line without its line break; None at the end of the stream."""
        too_long = Refusal(ExitCode.EX_PROTOCOL, f"Bad header line: (over {self._max_line} bytes)")
        try:
            line = await self._reader.readuntil(b"\n")
        except asyncio.IncompleteReadError as error:
            if error.partial:
                raise Refusal(ExitCode.EX_PROTOCOL, "Bad header line: (EOF within a line)") from None
            return None
        except asyncio.LimitOverrunError:
            raise too_long from None
        except OSError:
            raise LostClient from None
        if len(line) > self._max_line:
            raise too_long
        return line[:-1].removesuffix(b"\r")

    async def read_headers(self, *, may_end: bool = False) -> dict[str, str]:
        """Return the header fields by their names in lower case. If a name occurs several times, the last field counts.

        Raise Refusal if the stream ends before the empty line, unless ``may_end``.
        """
        fields: dict[str, str] = {}
        size = 0
        while line := await self.read_line():
            size += len(line)
            name, colon, value = line.partition(b":")
            key = name.strip().lower().decode("latin-1")
            if not colon:
                raise Refusal(ExitCode.EX_PROTOCOL, "Bad header line: (header not in 'Name: value' format)")
            if key in fields and key in ("content-length", "transfer-encoding"):
                raise Refusal(ExitCode.EX_PROTOCOL, f"Bad header line: (a second {key})")
            if size > self._max_head:
                raise Refusal(ExitCode.EX_PROTOCOL, f"Bad header line: (headers over {self._max_head} bytes)")
            fields[key] = value.strip().decode("utf-8", "replace")
        if line is None and not may_end:
            raise Refusal(ExitCode.EX_PROTOCOL, "Bad header line: (EOF during headers)")
        return fields

    async def read_parts(self, length: int | None) -> AsyncIterator[bytes]:
        """Yield ``length`` bytes in parts, or all bytes up to the end of the stream if it is None."""
        remaining = math.inf if length is None else length
        while remaining and (part := await self.read(int(min(CHUNK, remaining)))):
            remaining -= len(part)
            yield part
        if 0 < remaining < math.inf:
            mismatch = f"Expected {length} bytes, {remaining} of them are missing"
            raise Refusal(ExitCode.EX_PROTOCOL, f"Bad header line: (Content-Length mismatch: {mismatch})")

    async def read(self, limit: int) -> bytes:
        """Return the next bytes, at most ``limit``; none at the end of the stream."""
        try:
            return await self._reader.read(limit)
        except OSError:
            raise LostClient from None


def parse_length(fields: Mapping[str, str]) -> int | None:
    """Return the message's length from Content-Length; None without this field."""
    length = fields.get("content-length", "")
    if length and not (length.isascii() and length.isdigit() and len(length) <= 18):
        raise Refusal(ExitCode.EX_PROTOCOL, "Bad header line: (Content-length contains non-numeric bytes)")
    return int(length) if length else None


class Wire(Protocol):
    """A protocol, which reads requests and messages, and formats replies."""

    async def read_request(self, client: Client) -> Request | None:
        """Return the client's request; None if the client sends nothing."""

    def read_message(self, client: Client, request: Request) -> AsyncIterator[bytes]:
        """Yield the message in parts."""

    def verdict_reply(self, request: Request, classification: Classification, raw: bytes) -> bytes:
        """Return the reply with the verdict on a message."""

    def change_reply(self, request: Request, is_changed: bool) -> bytes:
        """Return the reply to a TELL."""

    def refusal_reply(self, refusal: Refusal) -> bytes:
        """Return the reply with an error."""
