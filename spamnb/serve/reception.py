"""A request off a connection, every step of it bounded: lines, headers, size, time, and memory over all connections."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

from spamnb.serve import protocol
from spamnb.serve.protocol import ExitCode, Refusal, Request

CHUNK = 1 << 16


@dataclass(frozen=True, slots=True)
class Limits:
    """What one client may ask of the server; sizes in bytes, times in seconds."""

    message_size: int = 8 << 20
    line_size: int = 4096
    header_lines: int = 64
    head_time: float = 10.0
    message_time: float = 60.0
    reply_time: float = 30.0
    linger_time: float = 2.0
    connections: int = 512
    held: int = 128 << 20  # of the messages of all connections together


class Reception:
    """Receives requests. Raises `Refusal` for what is malformed, too large or too slow."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self._held = 0  # bytes of messages that are being received or judged

    async def head(self, reader: asyncio.StreamReader, facts: dict[str, Any]) -> Request | None:
        """What is asked, or None from a client that says nothing; *facts* get what is known even where it fails."""
        try:
            async with asyncio.timeout(self.limits.head_time):
                return await self._read_head(reader, facts)
        except TimeoutError:
            raise Refusal(ExitCode.EX_TIMEOUT, "Timeout: the request's headers took too long") from None

    async def _read_head(self, reader: asyncio.StreamReader, facts: dict[str, Any]) -> Request | None:
        first = await self._line(reader)
        if first is None:
            return None  # a probe that only connected
        method, version = protocol.parse_request_line(first)
        facts["method"] = method
        lines: list[bytes] = []
        if protocol.has_headers(method, version):
            while line := await self._line(reader):
                lines.append(line)
                if len(lines) > self.limits.header_lines:
                    raise Refusal(ExitCode.EX_PROTOCOL, "Bad header line: (too many headers)")
            if line is None and protocol.has_message(method):
                raise Refusal(ExitCode.EX_PROTOCOL, "Bad header line: (EOF during headers)")
        asked = protocol.parse_request(method, version, lines)
        if asked.user:
            facts["user"] = asked.user[:128]
        return asked

    async def _line(self, reader: asyncio.StreamReader) -> bytes | None:
        """The next line without its end; None where the client has ended."""
        too_long = Refusal(ExitCode.EX_PROTOCOL, f"Bad header line: (over {self.limits.line_size} bytes)")
        try:
            line = await reader.readuntil(b"\n")
        except asyncio.IncompleteReadError as error:
            if error.partial:
                raise Refusal(ExitCode.EX_PROTOCOL, "Bad header line: (EOF within a line)") from None
            return None
        except asyncio.LimitOverrunError:
            raise too_long from None
        if len(line) > self.limits.line_size:
            raise too_long
        return line[:-1].removesuffix(b"\r")

    @contextlib.asynccontextmanager
    async def message(self, reader: asyncio.StreamReader, asked: Request) -> AsyncIterator[bytes]:
        """The message that follows, inflated where it came compressed; its bytes count as held inside the block."""
        received = bytearray()
        held = 0
        try:
            try:
                async with asyncio.timeout(self.limits.message_time):
                    await self._receive(reader, asked.content_length, received)
            except TimeoutError:
                raise Refusal(ExitCode.EX_TIMEOUT, "Timeout: the message took too long") from None
            raw = bytes(received)
            if asked.compressed:
                raw = protocol.inflate(raw, self.limits.message_size)
                self._held += (held := len(raw))
            yield raw
        finally:
            self._held -= len(received) + held

    async def _receive(self, reader: asyncio.StreamReader, length: int | None, received: bytearray) -> None:
        limit = self.limits.message_size
        if length is not None and length > limit:
            raise protocol.too_large(limit)
        while length is None or len(received) < length:
            chunk = await reader.read(CHUNK if length is None else min(CHUNK, length - len(received)))
            if not chunk:
                break
            received += chunk
            self._held += len(chunk)
            if len(received) > limit:
                raise protocol.too_large(limit)
            if self._held > self.limits.held:
                raise Refusal(ExitCode.EX_UNAVAILABLE, "Service Unavailable: too many large messages at once")
        if length is not None and len(received) < length:
            got = f"Expected {length} bytes, got {len(received)} bytes"
            raise Refusal(ExitCode.EX_PROTOCOL, f"Bad header line: (Content-Length mismatch: {got})")
