"""Conversations with clients: one connection, one request, one reply, each step bounded in size and time.

The reply to a failed request is an error of the protocol. The client then delivers the mail unfiltered or defers it,
as the client is configured; the server stores no mail.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
import time
import traceback
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, TypeVar

from spamnb.errors import SpamnbError, in_options
from spamnb.reader.spam_fields import section_length
from spamnb.serve import metrics
from spamnb.serve.batches import Task
from spamnb.serve.connections import Connections, Limits
from spamnb.serve.wire import CHUNK, Client, ExitCode, LostClient, Refusal, Wire
from spamnb.serve.workers import Workers
from spamnb.user_models import NoSuchUser

MAX_USER = 128  # characters of a user's name in the log; user_models.py allows no longer names
_MESSAGE_ID = re.compile(rb"(?im)^message-id:\s{0,9}([^\s]{1,200})")
T = TypeVar("T")


class Conversations:
    """Answers the requests of all connections.

    ``workers`` classify and learn; ``log`` takes the fields of a line of the log as keywords.
    """

    def __init__(self, workers: Workers, log: Callable[..., None], limits: Limits) -> None:
        self.totals: metrics.Totals = defaultdict(float)
        self.latency = metrics.Latency()
        self._workers, self._log, self._limits = workers, log, limits
        self._connections = Connections(limits)

    async def close(self, seconds: float = 0) -> None:
        """Wait at most ``seconds`` for the open conversations, and end the workers."""
        await self._connections.wait_closed(seconds)
        await asyncio.to_thread(self._workers.close)

    async def converse(self, wire: Wire, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one connection and close it."""
        self.totals[metrics.CONNECTIONS, ""] += 1
        try:
            # A lost client gets no reply.
            with self._connections.open(writer), contextlib.suppress(LostClient):
                await self._answer(Client(reader, self._limits.line_bytes, self._limits.head_bytes), writer, wire)
        finally:
            self.totals[metrics.CONNECTIONS, ""] -= 1

    async def _answer(self, client: Client, writer: asyncio.StreamWriter, wire: Wire) -> None:
        """Read a request, log it, and send its reply or a refusal."""
        start = time.perf_counter()
        log_fields: dict[str, Any] = {}
        is_refusal = False
        try:
            reply = await self._handle(client, writer, wire, log_fields)
        except LostClient:
            raise
        except Exception as error:
            refusal, is_refusal = self._to_refusal(error, log_fields), True
            log_fields.update(code=int(refusal.code), error=str(refusal))
            self.totals[metrics.REFUSALS, refusal.code.name] += 1
            reply = wire.refusal_reply(refusal)
        if log_fields:
            self._log_request(log_fields, time.perf_counter() - start)
        if await self._send(writer, reply, end_stream=is_refusal) and is_refusal:
            await self._linger(client)

    def _to_refusal(self, error: Exception, log_fields: dict[str, Any]) -> Refusal:
        """Return the refusal for any error, because a bug must cost one reply and not the other connections."""
        if isinstance(error, Refusal):
            return error
        if isinstance(error, SpamnbError):  # the model cannot be read or written
            code = ExitCode.EX_NOUSER if isinstance(error, NoSuchUser) else ExitCode.EX_TEMPFAIL
            return Refusal(code, in_options(error))
        lines = traceback.format_exception(error, limit=-4)
        self._log(event="fault", id=log_fields.get("id", ""), error="".join(lines))
        return Refusal(ExitCode.EX_SOFTWARE, "internal error; the server's log says more")

    def _log_request(self, log_fields: dict[str, Any], seconds: float) -> None:
        if "method" in log_fields:
            self.totals[metrics.REQUESTS, log_fields["method"]] += 1
            self.totals[metrics.BYTES, ""] += log_fields.get("size", 0)
            if "size" in log_fields:  # the others, which have no message, take no time
                self.latency.add(seconds)
        self._log(event="request", **log_fields, ms=round(1000 * seconds, 2))

    async def _handle(
        self, client: Client, writer: asyncio.StreamWriter, wire: Wire, log_fields: dict[str, Any]
    ) -> bytes:
        """Read a request with its message, and return the reply."""
        limits = self._limits
        self._connections.limit_number(writer)
        request = await _within(limits.head_seconds, wire.read_request(client), "the request's headers")
        if request is None:
            return b""
        log_fields["method"] = request.method
        if request.user:
            log_fields["user"] = request.user[:MAX_USER]
        if callable(request.reply):
            return request.reply(await asyncio.to_thread(self._workers.describe_model))
        if request.reply is not None:
            return request.reply
        if request.method == "TELL" and not self._workers.may_change:
            raise Refusal(ExitCode.EX_UNAVAILABLE, "Service Unavailable: TELL needs --allow-tell")
        if request.content_length is not None:
            self._check_size(request.content_length)
        message = bytearray()
        try:
            receiving = self._receive(wire.read_message(client, request), writer, message)
            await _within(limits.message_seconds, receiving, "the message")
            with self._connections.protect(writer):
                task = Task(request, bytes(message), wire, log_fields)
                log_fields.update(size=len(task.raw), id=_message_id(task.raw))
                return await (self._change(task) if request.method == "TELL" else self._classify(task))
        finally:
            self._connections.remove_bytes(len(message))

    def _check_size(self, size: int) -> None:
        if size > self._limits.message_bytes:
            text = f"Service Unavailable: the message is over {self._limits.message_bytes} bytes"
            raise Refusal(ExitCode.EX_UNAVAILABLE, text)

    async def _receive(self, parts: AsyncIterator[bytes], writer: asyncio.StreamWriter, message: bytearray) -> None:
        async for part in parts:
            self._check_size(len(message) + len(part))
            message += part
            await self._connections.add_bytes(writer, len(part))

    async def _classify(self, task: Task) -> bytes:
        classification, reply = await self._workers.classify(task)
        task.log_fields.update(verdict=classification.mail_verdict, score=classification.points)
        self.totals[metrics.VERDICTS, classification.mail_verdict] += 1
        return reply

    async def _change(self, task: Task) -> bytes:
        """Learn or forget a message, and return the reply. A TELL that asks for neither changes nothing."""
        request = task.request
        is_changed = bool(request.label or request.forgets) and await self._workers.change(task)
        if request.label or request.forgets:
            task.log_fields["learned" if request.label else "forgotten"] = is_changed and (request.label or True)
            self.totals[metrics.CHANGES, ""] += is_changed
        return task.wire.change_reply(request, is_changed)

    async def _send(self, writer: asyncio.StreamWriter, reply: bytes, end_stream: bool) -> bool:
        """Send the reply, and end the stream if ``end_stream``. Return whether the whole reply was sent."""
        try:
            async with asyncio.timeout(self._limits.reply_seconds):
                writer.write(reply)
                await writer.drain()
                if end_stream and writer.can_write_eof():  # otherwise the closed connection ends the reply
                    writer.write_eof()
        except TimeoutError:
            writer.transport.abort()
            return False
        except OSError:
            return False
        return True

    async def _linger(self, client: Client) -> None:
        """Read what the client still sends. If the connection were closed before, the client would lose the reply."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self._limits.linger_seconds):
                while await client.read(CHUNK):
                    pass


async def _within(seconds: float, reading: Awaitable[T], part: str) -> T:
    """Return the result of ``reading`` a part of a request. Raise Refusal if it takes longer than ``seconds``."""
    try:
        async with asyncio.timeout(seconds):
            return await reading
    except TimeoutError:
        raise Refusal(ExitCode.EX_TIMEOUT, f"Timeout: {part} took too long") from None


def _message_id(raw: bytes) -> str:
    """Return the first Message-ID in the first CHUNK bytes of a message."""
    match = _MESSAGE_ID.search(raw, 0, section_length(raw[:CHUNK]))
    return match[1].decode("ascii", "backslashreplace") if match else ""
