"""A server of the spamd protocol and of rspamd's: one connection, one request, one reply, each step bounded in size and
time.

Anything that fails is answered with the protocol's error. Clients then pass the mail on unfiltered or defer
it, as they were told to; no mail is ever held here.
"""

from __future__ import annotations

import asyncio
import contextlib
import queue
import re
import time
import traceback
from collections import defaultdict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from types import ModuleType
from typing import Any, NamedTuple, TypeVar

from spamnb.classification import SPAM_POINTS, Classification
from spamnb.classifier import Classifier
from spamnb.errors import SpamnbError, in_options
from spamnb.journal.entries import entry_of
from spamnb.journal.journal import Correction
from spamnb.journal.writer import JournalWriter
from spamnb.reader import spam_fields
from spamnb.reader.message import digest
from spamnb.reader.spam_fields import section_length
from spamnb.score import class_of_label, classify_mails, header_fields, report, symbols
from spamnb.serve import metrics, protocol, rspamd
from spamnb.serve.batches import Batches
from spamnb.serve.protocol import ExitCode, Refusal, Request
from spamnb.serve.users import Models, NoSuchUser

CHUNK = 1 << 16
MAX_TOP = 1 << 19  # bytes that mail software puts on top: one search of 8 MB keeps all threads waiting for 180 ms
_MESSAGE_ID = re.compile(rb"(?im)^message-id:\s{0,9}([^\s]{1,200})")
T = TypeVar("T")
Body = asyncio.StreamReader | rspamd.Chunks


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


class Task(NamedTuple):
    """A request with its message, for a judge's thread or the learner's."""

    asked: Request
    raw: bytes
    facts: dict[str, Any]  # of the log

    @property
    def label(self) -> str | None:
        """The class that is to be learned; None where the message is to be forgotten."""
        return self.asked.message_class if self.asked.set_local else None


class Spamd:
    """The server's conversations.

    - ``models`` opens the models of a thread, given ``writable``. SpamnbError where they cannot be opened, or written
      though clients may teach (``allow_tell``), or tell no spam
    - ``log`` takes the facts of each conversation as keywords; ``threads`` judge messages
    """

    def __init__(
        self,
        models: Callable[..., Models],
        log: Callable[..., None],
        limits: Limits,
        *,
        threads: int = 1,
        allow_tell: bool = False,
        journal: JournalWriter | None = None,
    ) -> None:
        self.limits = limits
        self.counts: metrics.Totals = defaultdict(float)
        self._held = 0  # bytes of messages that are being received or judged
        self._log = log
        self._journal = journal
        # One thread that writes: it may wait for another process's change while the others go on answering.
        self._learning_models = models(writable=True) if allow_tell else None
        if self._learning_models is not None:
            self._learning_models.for_classifying("").store.check_writable()
        self._learner = Batches(self._teach, lambda task: task.asked.user, 1, "learner")
        self._all_models = [models(writable=False) for _ in range(threads)]
        self._all_models[0].for_classifying("").check_spam()
        self._models: queue.SimpleQueue[Models] = queue.SimpleQueue()  # those that no thread uses at the moment
        for each in self._all_models:
            self._models.put(each)
        self._judges = Batches(self._judge, lambda task: None, threads, "judge")
        self._conversations: set[asyncio.Task | None] = set()
        self._slow: dict[asyncio.StreamWriter, None] = {}  # connections that wait for their client, longest first

    async def close(self, patience: float = 0) -> None:
        """Wait so many seconds for the open conversations, finish the lessons under way, and close models and
        journal."""
        if self._conversations and patience:
            await asyncio.wait([task for task in self._conversations if task], timeout=patience)
        await asyncio.to_thread(self._judges.shutdown)
        await asyncio.to_thread(self._learner.shutdown)
        for each in self._all_models:
            each.close()
        if self._learning_models is not None:
            self._learning_models.close()  # the last to close, which may write, empties the write-ahead log
        if self._journal is not None:
            self._journal.close()

    # -- a connection ----------------------------------------------------------------------------------------

    async def converse(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, wire: ModuleType = protocol
    ) -> None:
        """Answer one connection and close it; ``wire`` is the module that reads requests and writes replies."""
        self._conversations.add(asyncio.current_task())
        self._slow[writer] = None
        self.counts[metrics.CONNECTIONS, ""] += 1
        facts: dict[str, Any] = {}
        started = time.perf_counter()
        try:
            refused = False
            try:
                reply = await self._answer(reader, writer, facts, wire)
            except Refusal as refusal:
                refused, reply = True, self._refused(refusal, facts, wire)
            except SpamnbError as error:  # of a model
                code = ExitCode.EX_NOUSER if isinstance(error, NoSuchUser) else ExitCode.EX_TEMPFAIL
                refused, reply = True, self._refused(Refusal(code, in_options(error)), facts, wire)
            except ConnectionError:
                raise
            except Exception:  # a fault of ours must cost one reply, not the worker and its connections
                refused, reply = True, self._refused(self._fault(facts), facts, wire)
            if facts:
                seconds = time.perf_counter() - started
                if "method" in facts:
                    self.counts[metrics.REQUESTS, facts["method"]] += 1
                    self.counts[metrics.BYTES, ""] += facts.get("size", 0)
                    self.counts[metrics.SECONDS, ""] += seconds
                self._log(event="request", **facts, ms=round(1000 * seconds, 2))
            await self._send(reader, writer, reply, refused)
        except ConnectionError:
            pass  # the client has gone; what it asked is logged above where it had asked anything
        finally:
            writer.close()
            self._slow.pop(writer, None)
            self.counts[metrics.CONNECTIONS, ""] -= 1
            self._conversations.discard(asyncio.current_task())

    def _end_slowest(self, own: asyncio.StreamWriter) -> bool:
        """End the connection that has waited longest for its client, to make room; False where there is no other."""
        slowest = next((writer for writer in self._slow if writer is not own), None)
        if slowest is not None:
            del self._slow[slowest]
            slowest.transport.abort()
        return slowest is not None

    def _fault(self, facts: dict[str, Any]) -> Refusal:
        """The refusal after an exception, which is logged."""
        self._log(event="fault", id=facts.get("id", ""), error=traceback.format_exc(limit=-4))
        return Refusal(ExitCode.EX_SOFTWARE, "internal error; the server's log says more")

    def _refused(self, refusal: Refusal, facts: dict[str, Any], wire: ModuleType) -> bytes:
        facts.update(code=int(refusal.code), error=str(refusal))
        self.counts[metrics.REFUSALS, refusal.code.name] += 1
        reply: bytes = wire.refusal_reply(refusal)
        return reply

    async def _send(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, reply: bytes, refused: bool
    ) -> None:
        try:
            async with asyncio.timeout(self.limits.reply_time):
                writer.write(reply)
                await writer.drain()
                if refused and writer.can_write_eof():  # else closing ends the reply
                    writer.write_eof()
        except TimeoutError:
            writer.transport.abort()
            return
        except OSError:  # ENOTCONN, which is no ConnectionError: the client has gone before its end of the reply
            return
        if not refused:
            return
        # Closing while the client still sends would reset the connection and destroy the reply on its way.
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self.limits.linger_time):
                while await reader.read(CHUNK):
                    pass

    async def _answer(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, facts: dict[str, Any], wire: ModuleType
    ) -> bytes:
        if len(self._conversations) > self.limits.connections and not self._end_slowest(writer):
            raise Refusal(ExitCode.EX_UNAVAILABLE, "Service Unavailable: too many connections")
        asked = await _within(self.limits.head_time, self._head(reader, facts, wire), "the request's headers")
        if asked is None:
            return b""
        reply: bytes = wire.PONG
        if asked.method == "PING":
            return reply
        if asked.method == "SKIP":
            return b""
        if asked.method == "TELL" and self._learning_models is None:
            raise Refusal(ExitCode.EX_UNAVAILABLE, "Service Unavailable: TELL needs --allow-tell")
        received = bytearray()
        try:
            body = rspamd.Chunks(partial(self._line, reader), reader.read) if asked.chunked else reader
            receiving = self._receive(body, writer, asked.content_length, received)
            await _within(self.limits.message_time, receiving, "the message")
            self._slow.pop(writer, None)
            raw = bytes(received)
            facts.update(size=len(raw), id=_message_id(raw))
            if asked.method == "TELL":
                reply = wire.tell_reply(*await self._tell(asked, raw, facts))
                return reply
            found, told = await self._classify(asked, raw, facts)
            reply = wire.verdict_reply(asked, found.is_spam, f"{found.points:.1f}", str(SPAM_POINTS), told)
            return reply
        finally:
            self._held -= len(received)
            self._slow[writer] = None

    # -- a request off a connection -----------------------------------------------------------------------------

    async def _head(self, reader: asyncio.StreamReader, facts: dict[str, Any], wire: ModuleType) -> Request | None:
        """What is asked, or None from a client that says nothing; *facts* get what is known even where it fails."""
        first = await self._line(reader)
        if first is None:
            return None  # a probe that only connected
        method, version = wire.parse_request_line(first)
        facts["method"] = method
        lines: list[bytes] = []
        if wire.has_headers(method, version):
            while line := await self._line(reader):
                if line[:5].lower() != b"rcpt:":  # HTTP's clients send a line for each of any number of recipients
                    lines.append(line)
                if len(lines) > self.limits.header_lines:
                    raise Refusal(ExitCode.EX_PROTOCOL, "Bad header line: (too many headers)")
            if line is None and method not in ("PING", "SKIP"):
                raise Refusal(ExitCode.EX_PROTOCOL, "Bad header line: (EOF during headers)")
        asked: Request = wire.parse_request(method, version, lines)
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

    async def _receive(
        self, reader: Body, writer: asyncio.StreamWriter, length: int | None, received: bytearray
    ) -> None:
        """Append the message that follows to *received*; its bytes count as held."""
        limit = self.limits.message_size
        too_large = Refusal(ExitCode.EX_UNAVAILABLE, f"Service Unavailable: the message is over {limit} bytes")
        if length is not None and length > limit:
            raise too_large
        while length is None or len(received) < length:
            chunk = await reader.read(CHUNK if length is None else min(CHUNK, length - len(received)))
            if not chunk:
                break
            await asyncio.sleep(0)  # a chunk of HTTP's may be a byte: others are answered between any two
            received += chunk
            self._held += len(chunk)
            if len(received) > limit:
                raise too_large
            while self._held > self.limits.held:
                if not self._end_slowest(writer):
                    raise Refusal(ExitCode.EX_UNAVAILABLE, "Service Unavailable: too many large messages at once")
                await asyncio.sleep(0.01)  # until it has let go of its bytes
        if length is not None and len(received) < length:
            got = f"Expected {length} bytes, got {len(received)} bytes"
            raise Refusal(ExitCode.EX_PROTOCOL, f"Bad header line: (Content-Length mismatch: {got})")

    # -- what was asked --------------------------------------------------------------------------------------

    async def _classify(self, asked: Request, raw: bytes, facts: dict[str, Any]) -> tuple[Classification, bytes]:
        found, body = await self._judges.result(Task(asked, raw, facts))
        facts.update(verdict=found.mail_verdict, score=found.points)
        self.counts[metrics.VERDICTS, found.mail_verdict] += 1
        return found, body

    async def _tell(self, asked: Request, raw: bytes, facts: dict[str, Any]) -> tuple[bool, bool]:
        """Whether the message was learned, and whether it was forgotten."""
        task = Task(asked, raw, facts)
        if task.label is None and not asked.remove_local:
            return False, False
        changed = await self._learner.result(task)
        facts["learned" if task.label else "forgotten"] = changed and (task.label or True)
        self.counts[metrics.LESSONS, ""] += changed
        return changed and task.label is not None, changed and task.label is None

    # -- in a judge's thread ---------------------------------------------------------------------------------

    def _judge(self, tasks: list[Task]) -> list[tuple[Classification, bytes]]:
        """The score of each message by the model that answers for its user, and the body of its reply. The verdicts are
        written into the journal where there is one."""
        models, of_model = self._models.get(), defaultdict[Classifier, list[int]](list)
        results: dict[int, tuple[Classification, bytes]] = {}
        entries = []
        try:
            for number, task in enumerate(tasks):
                of_model[models.for_classifying(task.asked.user)].append(number)
            for model, numbers in of_model.items():
                mail = [_without_filter_headers(tasks[number].raw) for number in numbers]
                for number, raw, found in zip(numbers, mail, classify_mails(model, mail)):
                    asked, whole, facts = tasks[number]
                    facts["model"] = model.store.path
                    results[number] = found, _body(asked, found, whole)
                    if self._journal is not None:
                        entries.append(entry_of(model.read(raw), found, model.settings, user=asked.user))
        finally:
            self._models.put(models)
        for entry in entries:
            assert self._journal is not None
            self._journal.put(entry)
        return [results[number] for number in range(len(tasks))]

    # -- in the learner's thread -----------------------------------------------------------------------------

    def _teach(self, tasks: list[Task]) -> list[bool]:
        """Learn or forget messages of one user, in one transaction; whether each changed anything."""
        assert self._learning_models is not None
        models, user = self._learning_models, tasks[0].asked.user
        model = models.taught(user)
        lessons = [task for task in tasks if task.label is not None]
        if lessons:
            for task in lessons if model is None else ():  # no model is made for what cannot be read
                models.for_classifying("").read(task.raw)
            model = models.for_learning(user)
        if model is None:
            return [False] * len(tasks)
        with model.store.writing():
            changed = [_change(model, task) for task in tasks]
        for task, is_changed in zip(tasks, changed):
            if task.label is not None:
                task.facts["model"] = model.store.path
                if is_changed and self._journal is not None:
                    is_spam = task.label == "spam"
                    self._journal.put(Correction(digest(task.raw), task.label, is_spam, "client", user))
        return changed


def _change(model: Classifier, task: Task) -> bool:
    """Learn or forget one message; whether that changed anything."""
    if task.label is not None:
        return model.learn(class_of_label(model, task.label), task.raw)
    known = model.learned(task.raw)
    return known is not None and model.forget(known, task.raw)


def _without_filter_headers(raw: bytes) -> bytes:
    return spam_fields.strip_filter_headers(raw[:MAX_TOP]) + raw[MAX_TOP:]


async def _within(seconds: float, reading: Awaitable[T], what: str) -> T:
    """What is read within so many seconds; a refusal where that takes longer."""
    try:
        async with asyncio.timeout(seconds):
            return await reading
    except TimeoutError:
        raise Refusal(ExitCode.EX_TIMEOUT, f"Timeout: {what} took too long") from None


def _message_id(raw: bytes) -> str:
    """The first Message-ID of a message as it stands there, of its beginning."""
    found = _MESSAGE_ID.search(raw, 0, section_length(raw[:CHUNK]))
    return found[1].decode("ascii", "backslashreplace") if found else ""


def _body(asked: Request, found: Classification, raw: bytes) -> bytes:
    match asked.method:
        case "PROCESS":
            return spam_fields.replace_spam_fields(raw, header_fields(found))
        case "HEADERS":
            return spam_fields.replace_spam_fields(raw[: section_length(raw)], header_fields(found))
        case "SYMBOLS":
            return symbols(found).encode("ascii") + b"\r\n" * (asked.version < (1, 3))
        case "REPORT":
            return report(found)
        case "REPORT_IFSPAM":
            return report(found) if found.is_spam else b""
        case "CHECKV2":
            return rspamd.verdict_body(found)
    return b""
