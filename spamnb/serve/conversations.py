"""Conversations with clients: one connection, one request, one reply, each step bounded in size and time.

The reply to a failed request is an error of the protocol. The client then delivers the mail unfiltered or defers it, as
it is configured; the server stores no mail.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
import time
import traceback
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from spamnb.errors import SpamnbError, in_options
from spamnb.reader.spam_fields import section_length
from spamnb.serve import metrics
from spamnb.serve.users import NoSuchUser
from spamnb.serve.wire import CHUNK, Client, ExitCode, LostClient, Refusal, Wire
from spamnb.serve.workers import Task, Workers

MAX_USER = 128  # characters of a user's name in the log: as many as a model's file can have
_MESSAGE_ID = re.compile(rb"(?im)^message-id:\s{0,9}([^\s]{1,200})")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds on the requests of clients; sizes in bytes, times in seconds."""

    message_size: int = 8 << 20
    line_size: int = 4096
    head_size: int = 1 << 16  # HTTP clients send a header line for each of up to a thousand recipients
    head_time: float = 10.0
    message_time: float = 60.0
    reply_time: float = 30.0
    linger_time: float = 2.0
    connections: int = 512
    received: int = 128 << 20  # all messages that are being received or classified, together


class Conversations:
    """All open connections.

    ``workers`` classify and learn; ``log`` takes the facts of each request as keywords.
    """

    def __init__(self, workers: Workers, log: Callable[..., None], limits: Limits) -> None:
        self.totals: metrics.Totals = defaultdict(float)
        self._workers, self._log, self._limits = workers, log, limits
        self._received = 0  # bytes of messages that are being received or classified
        self._open: set[asyncio.Task | None] = set()
        self._slow: dict[asyncio.StreamWriter, None] = {}  # connections that wait for their client, longest first

    async def close(self, patience: float = 0) -> None:
        """Wait at most ``patience`` seconds for the open conversations, and end the workers."""
        if self._open and patience:
            await asyncio.wait([task for task in self._open if task], timeout=patience)
        await asyncio.to_thread(self._workers.close)

    async def converse(self, wire: Wire, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one connection and close it."""
        self._open.add(asyncio.current_task())
        self._slow[writer] = None
        self.totals[metrics.CONNECTIONS, ""] += 1
        facts: dict[str, Any] = {}
        started = time.perf_counter()
        try:
            client = Client(reader, self._limits.line_size, self._limits.head_size)
            try:
                reply = await self._answer(client, writer, wire, facts)
            except Refusal as refusal:
                facts.update(code=int(refusal.code), error=str(refusal))
                self.totals[metrics.REFUSALS, refusal.code.name] += 1
                reply = wire.refusal_reply(refusal)
            if facts:
                self._count(facts, time.perf_counter() - started)
            if await self._send(writer, reply, is_last="code" in facts) and "code" in facts:
                await self._linger(client)
        except LostClient:
            pass  # nobody would read the reply
        finally:
            writer.close()
            self._slow.pop(writer, None)
            self.totals[metrics.CONNECTIONS, ""] -= 1
            self._open.discard(asyncio.current_task())

    def _count(self, facts: dict[str, Any], seconds: float) -> None:
        """Log a request, and add it to the totals."""
        if "method" in facts:
            self.totals[metrics.REQUESTS, facts["method"]] += 1
            self.totals[metrics.BYTES, ""] += facts.get("size", 0)
            self.totals[metrics.SECONDS, ""] += seconds
        self._log(event="request", **facts, ms=round(1000 * seconds, 2))

    async def _answer(self, client: Client, writer: asyncio.StreamWriter, wire: Wire, facts: dict[str, Any]) -> bytes:
        """Return the reply to a request. Raise Refusal for every error, except LostClient if the connection breaks."""
        try:
            return await self._reply(client, writer, wire, facts)
        except (Refusal, LostClient):
            raise
        except SpamnbError as error:  # the model cannot be read or written
            code = ExitCode.EX_NOUSER if isinstance(error, NoSuchUser) else ExitCode.EX_TEMPFAIL
            raise Refusal(code, in_options(error)) from None
        except Exception:  # a bug must cost one reply, not the server and its other connections
            self._log(event="fault", id=facts.get("id", ""), error=traceback.format_exc(limit=-4))
            raise Refusal(ExitCode.EX_SOFTWARE, "internal error; the server's log says more") from None

    async def _reply(self, client: Client, writer: asyncio.StreamWriter, wire: Wire, facts: dict[str, Any]) -> bytes:
        limits = self._limits
        if len(self._open) > limits.connections and not self._end_slowest(writer):
            raise Refusal(ExitCode.EX_UNAVAILABLE, "Service Unavailable: too many connections")
        request = await _within(limits.head_time, wire.read_request(client), "the request's headers")
        if request is None:
            return b""
        facts["method"] = request.method
        if request.user:
            facts["user"] = request.user[:MAX_USER]
        if request.reply is not None:
            return request.reply
        if request.method == "TELL" and not self._workers.may_change:
            raise Refusal(ExitCode.EX_UNAVAILABLE, "Service Unavailable: TELL needs --allow-tell")
        if request.content_length is not None and request.content_length > limits.message_size:
            raise self._too_large()
        message = bytearray()
        try:
            receiving = self._receive(wire.read_message(client, request), writer, message)
            await _within(limits.message_time, receiving, "the message")
            self._slow.pop(writer, None)
            task = Task(request, bytes(message), wire, facts)
            facts.update(size=len(task.raw), id=_message_id(task.raw))
            return await (self._change(task) if request.method == "TELL" else self._classify(task))
        finally:
            self._received -= len(message)
            self._slow[writer] = None

    def _too_large(self) -> Refusal:
        text = f"Service Unavailable: the message is over {self._limits.message_size} bytes"
        return Refusal(ExitCode.EX_UNAVAILABLE, text)

    async def _receive(self, parts: AsyncIterator[bytes], writer: asyncio.StreamWriter, message: bytearray) -> None:
        """Append the parts to ``message``. If all messages together are too large, end other connections."""
        async for part in parts:
            message += part
            self._received += len(part)
            if len(message) > self._limits.message_size:
                raise self._too_large()
            while self._received > self._limits.received:
                if not self._end_slowest(writer):
                    raise Refusal(ExitCode.EX_UNAVAILABLE, "Service Unavailable: too many large messages at once")
                await asyncio.sleep(0.01)  # the ended connection frees its bytes

    def _end_slowest(self, writer: asyncio.StreamWriter) -> bool:
        """End the connection that has waited longest for its client. Return False if there is no other connection."""
        slowest = next((other for other in self._slow if other is not writer), None)
        if slowest is not None:
            del self._slow[slowest]
            slowest.transport.abort()
        return slowest is not None

    async def _classify(self, task: Task) -> bytes:
        classification, reply = await self._workers.classify(task)
        task.facts.update(verdict=classification.mail_verdict, score=classification.points)
        self.totals[metrics.VERDICTS, classification.mail_verdict] += 1
        return reply

    async def _change(self, task: Task) -> bytes:
        """Learn or forget a message, and return the reply. A TELL that asks for neither changes nothing."""
        request = task.request
        is_changed = bool(request.label or request.forgets) and await self._workers.change(task)
        if request.label or request.forgets:
            task.facts["learned" if request.label else "forgotten"] = is_changed and (request.label or True)
            self.totals[metrics.LESSONS, ""] += is_changed
        return task.wire.change_reply(request, is_changed)

    async def _send(self, writer: asyncio.StreamWriter, reply: bytes, is_last: bool) -> bool:
        """Send the reply, and with ``is_last`` end the stream. Return whether the client received it."""
        try:
            async with asyncio.timeout(self._limits.reply_time):
                writer.write(reply)
                await writer.drain()
                if is_last and writer.can_write_eof():  # otherwise the closed connection ends the reply
                    writer.write_eof()
        except TimeoutError:
            writer.transport.abort()
            return False
        except OSError:
            return False
        return True

    async def _linger(self, client: Client) -> None:
        """Read what the client still sends: if the connection were closed before, the client would lose the reply."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self._limits.linger_time):
                while await client.read(CHUNK):
                    pass


async def _within(seconds: float, reading: Awaitable[T], what: str) -> T:
    """Return the result of ``reading``. Raise Refusal if it takes longer than ``seconds``."""
    try:
        async with asyncio.timeout(seconds):
            return await reading
    except TimeoutError:
        raise Refusal(ExitCode.EX_TIMEOUT, f"Timeout: {what} took too long") from None


def _message_id(raw: bytes) -> str:
    """Return the first Message-ID in the first CHUNK bytes of a message."""
    match = _MESSAGE_ID.search(raw, 0, section_length(raw[:CHUNK]))
    return match[1].decode("ascii", "backslashreplace") if match else ""
