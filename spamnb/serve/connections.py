"""The open connections of a server, and the bounds on their number and on the memory of their messages.

When a bound is reached, the server ends the connection that has waited longest for its client.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from spamnb.serve.wire import ExitCode, Refusal


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds on requests. Mail software sends a request at once, so the time limits end only connections that hang."""

    message_bytes: int = 8 << 20  # the longest message of four public corpora has 300,734
    line_bytes: int = 4096  # the longest header line of a request; a user's name has at most 128
    head_bytes: int = 1 << 16  # all header lines; HTTP clients (http_wire.py) send one per recipient, up to a thousand
    head_seconds: float = 10.0
    message_seconds: float = 60.0
    reply_seconds: float = 30.0
    linger_seconds: float = 2.0  # for the rest of the request after a refusal
    connections: int = 512  # a mail server opens hundreds at once
    total_bytes: int = 128 << 20  # all messages that are being received or classified: 16 of the largest


class Connections:
    """The open connections, and the total size of their messages."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._tasks: set[asyncio.Task[None]] = set()
        self._waiting: dict[asyncio.StreamWriter, None] = {}  # these wait for their client, the longest first
        self._message_bytes = 0

    @contextmanager
    def open(self, writer: asyncio.StreamWriter) -> Iterator[None]:
        """Count a connection during the block, and close it at the end."""
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        self._waiting[writer] = None
        try:
            yield
        finally:
            writer.close()
            self._waiting.pop(writer, None)
            self._tasks.discard(task)

    @contextmanager
    def protect(self, writer: asyncio.StreamWriter) -> Iterator[None]:
        """Do not end a connection during the block, because the server works on its request."""
        self._waiting.pop(writer, None)
        try:
            yield
        finally:
            self._waiting[writer] = None

    def limit_number(self, writer: asyncio.StreamWriter) -> None:
        """End another connection if too many are open. Raise Refusal if no other connection waits for its client."""
        if len(self._tasks) > self._limits.connections:
            self._end_slowest(writer, "connections")

    async def add_bytes(self, writer: asyncio.StreamWriter, size: int) -> None:
        """Count bytes of a message. End other connections, or raise Refusal, while all messages exceed their bound."""
        self._message_bytes += size
        while self._message_bytes > self._limits.total_bytes:
            self._end_slowest(writer, "large messages at once")
            await asyncio.sleep(0.01)  # until the ended connection has removed its bytes

    def remove_bytes(self, size: int) -> None:
        self._message_bytes -= size

    def _end_slowest(self, writer: asyncio.StreamWriter, bound: str) -> None:
        slowest = next((other for other in self._waiting if other is not writer), None)
        if slowest is None:
            raise Refusal(ExitCode.EX_UNAVAILABLE, f"Service Unavailable: too many {bound}")
        del self._waiting[slowest]
        slowest.transport.abort()

    async def wait_closed(self, seconds: float) -> None:
        if self._tasks and seconds:
            await asyncio.wait(self._tasks, timeout=seconds)
