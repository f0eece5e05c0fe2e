"""PDF documents → their text and links, by pypdf (the extra ``pdf``) in a process that can be ended.

A document may be made to take any time and memory. ``pdf_process`` bounds what it reads, and its process ends where a
document takes more than a second of the processor or half a gigabyte; the next document starts a new one. A process
serves many documents and goes when it is idle, or when this one does.
"""

from __future__ import annotations

import atexit
import json
import os
import select
import signal
import struct
import subprocess
import sys
import time
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

MAX_BYTES = 1 << 22  # of one document; 24 phishing messages that are nothing but a PDF have less than a tenth
MAX_WAIT = 10.0  # seconds: on a busy machine a second of the processor takes longer, and so does starting
MAX_ANSWER = 1 << 22  # bytes


@cache
def is_available() -> bool:
    """Whether PDF documents are read here: pypdf is installed, and processes can be bounded."""
    return find_spec("pypdf") is not None and find_spec("resource") is not None


class PdfText(NamedTuple):
    """What was read of a document, and whether that is all of it."""

    text: str
    links: list[str]
    is_whole: bool


def read_pdf(document: bytes) -> PdfText:
    """Text and links of the first pages; nothing where pypdf is not installed."""
    if not is_available() or not document.strip():
        return PdfText("", [], True)
    if len(document) > MAX_BYTES:
        return PdfText("", [], False)
    texts: list[str] = []
    links: list[str] = []
    with _lock:
        is_whole = _ask(document, texts, links)
    return PdfText("\n".join(texts), links, is_whole)


def _ask(document: bytes, texts: list[str], links: list[str]) -> bool:
    """Adds what the process answers; returns whether that is all of the document."""
    until = time.monotonic() + MAX_WAIT
    for _ in range(2):
        process = _process()
        try:
            process.send(document)
            while (answer := process.answer(until)) is not None:
                if "is_whole" in answer:
                    return bool(answer["is_whole"])
                texts.append(answer["text"])
                links += answer["links"]
        except OSError:
            pass  # it went, idle, before it took the document
        is_too_slow = bool(texts) or process.has_ended_for(signal.SIGPROF) or time.monotonic() > until
        process.end()
        if is_too_slow:
            break
    return False


class _Process:
    """A running ``pdf_process``."""

    def __init__(self) -> None:
        program = str(Path(__file__).with_name("pdf_process.py"))
        self.owner = os.getpid()
        self._popen = subprocess.Popen(
            [sys.executable, "-P", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, start_new_session=True, bufsize=0,
        )  # fmt: skip

    @property
    def lives(self) -> bool:
        """Whether it is this process's own and has not ended."""
        return self.owner == os.getpid() and self._popen.poll() is None

    def send(self, document: bytes) -> None:
        """Hand over a document; OSError where nobody takes it."""
        assert self._popen.stdin is not None
        rest = memoryview(struct.pack(">I", len(document)) + document)
        while rest:
            rest = rest[os.write(self._popen.stdin.fileno(), rest) :]

    def answer(self, until: float) -> dict[str, Any] | None:
        """The next answer; None where the process ends, or none comes in time."""
        header = self._receive(4, until)
        size = struct.unpack(">I", header)[0] if header else MAX_ANSWER + 1
        octets = self._receive(size, until) if size <= MAX_ANSWER else None
        return None if octets is None else json.loads(octets)

    def _receive(self, size: int, until: float) -> bytes | None:
        assert self._popen.stdout is not None
        pipe, received = self._popen.stdout.fileno(), b""
        while len(received) < size:
            wait = select.poll()  # select() takes no descriptor above 1,023
            wait.register(pipe, select.POLLIN)
            ready = wait.poll(max(until - time.monotonic(), 0) * 1000)
            octets = os.read(pipe, size - len(received)) if ready else b""
            if not octets:
                return None
            received += octets
        return received

    def has_ended_for(self, number: int) -> bool:
        """Whether it was ended by this signal."""
        try:
            return self._popen.wait(0.2) == -number
        except subprocess.TimeoutExpired:
            return False

    def end(self) -> None:
        """End it; where it belongs to another process, only let go of it."""
        assert self._popen.stdin is not None and self._popen.stdout is not None
        if self.owner == os.getpid():
            self._popen.kill()
            self._popen.wait()
        else:
            self._popen.returncode = 0  # not ours to wait for
        self._popen.stdin.close()
        self._popen.stdout.close()


_lock = Lock()
_running: list[_Process] = []  # at most one


def _process() -> _Process:
    """The process of this process, a new one where it has none."""
    if _running and not _running[0].lives:
        _running.pop().end()
    if not _running:
        _running.append(_Process())
    return _running[0]


def _after_fork() -> None:
    """In a forked process: another thread may have held the lock."""
    global _lock
    _lock = Lock()


@atexit.register
def end_process() -> None:
    """End the process that reads documents, where there is one."""
    while _running:
        _running.pop().end()


os.register_at_fork(after_in_child=_after_fork)
