"""What the protocols share: a request, a refusal, a client that is read in bounded steps, and what a protocol does.

A wire is a protocol as bytes: it reads requests and writes replies, and decides nothing.
"""

from __future__ import annotations

import asyncio
import enum
import math
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Protocol

from spamnb.classification import Classification

CHUNK = 1 << 16  # bytes that are read at once: as many as asyncio keeps for a reader


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
    """A request that gets an error instead of an answer."""

    def __init__(self, code: ExitCode, text: str) -> None:
        super().__init__(text)
        self.code = code


class LostClient(Exception):
    """The connection broke while its client was read."""


@dataclass(frozen=True, slots=True)
class Request:
    """What a client asks for, without the message itself.

    - ``method``: as the log and the metrics call it; TELL changes the model
    - ``content_length``: bytes of the message; None if the message itself says where it ends
    - ``label``: the class to learn, "ham" or "spam"; empty if there is nothing to learn
    - ``reply``: of a request without a message
    """

    method: str
    version: tuple[int, int] = (1, 5)
    user: str = ""
    content_length: int | None = None
    label: str = ""
    forgets: bool = False
    reply: bytes | None = None


class Client:
    """What a client sends, read in bounded steps. LostClient where its connection breaks."""

    def __init__(self, reader: asyncio.StreamReader, max_line: int, max_head: int) -> None:
        self._reader, self._max_line, self._max_head = reader, max_line, max_head

    async def read_line(self) -> bytes | None:
        """Return the next line without its end; None where the client has ended."""
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
        """Return the header fields up to the empty line, by name in small letters; the last of a name counts.

        A client that ends before the empty line is refused, unless it ``may_end`` there.
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
        """Yield so many bytes in parts; all until the client ends where ``length`` is None."""
        left = math.inf if length is None else length
        while left and (part := await self.read(int(min(CHUNK, left)))):
            left -= len(part)
            yield part
        if 0 < left < math.inf:
            got = f"Expected {length} bytes, {left} of them are missing"
            raise Refusal(ExitCode.EX_PROTOCOL, f"Bad header line: (Content-Length mismatch: {got})")

    async def read(self, most: int) -> bytes:
        """Return the next bytes, at most so many; none where the client has ended."""
        try:
            return await self._reader.read(most)
        except OSError:
            raise LostClient from None


def parse_length(fields: Mapping[str, str]) -> int | None:
    """Return the length of the message, where these header fields name it."""
    length = fields.get("content-length", "")
    if length and not (length.isascii() and length.isdigit() and len(length) <= 18):
        raise Refusal(ExitCode.EX_PROTOCOL, "Bad header line: (Content-length contains non-numeric bytes)")
    return int(length) if length else None


class Wire(Protocol):
    """A protocol: how requests and messages are read, and replies written."""

    async def read_request(self, client: Client) -> Request | None:
        """Return what the client asks for; None where it ends without a word."""

    def read_message(self, client: Client, request: Request) -> AsyncIterator[bytes]:
        """Yield the message in parts."""

    def verdict_reply(self, request: Request, classification: Classification, raw: bytes) -> bytes:
        """Return the reply to a question about a message."""

    def change_reply(self, request: Request, is_changed: bool) -> bytes:
        """Return the reply to a TELL."""

    def refusal_reply(self, refusal: Refusal) -> bytes:
        """Return the reply to what cannot be answered."""
