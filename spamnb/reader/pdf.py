"""PDF documents → their text and links, by pypdf (the extra ``pdf``) in a process that can be ended.

A document may be made to take any time and memory. The process, this file run as a program, bounds what it reads; where
that is not enough it is ended, and the next document starts a new one. A process serves many documents and goes when
this one does. A document goes there as its length (four bytes, big-endian) and its bytes. A line of JSON comes back,
``[text, links, whether this is all]``: of a document that costs more than the bounds below, the pages before.
"""

from __future__ import annotations

import atexit
import json
import logging
import os
import signal
import subprocess
import sys
from functools import cache
from importlib.util import find_spec
from io import BytesIO
from threading import Lock, Timer
from typing import Any, NamedTuple

MAX_BYTES = 1 << 22  # of one document; 24 phishing messages that are nothing but a PDF have less than a tenth
MAX_WAIT = 10.0  # seconds: on a busy machine a second of the processor takes longer, and so does starting
MAX_ANSWER = 1 << 23  # bytes: no document has as many
MAX_PAGES = 5
MAX_CHARACTERS = 20_000  # of text in one document
MAX_LINKS = 200  # on one page
MAX_LINK = 2000  # characters
MAX_CONTENT = 1 << 18  # bytes of drawing commands on one page: by them, not by the clock, what is read is bounded
MAX_SECONDS = 1.0  # of the processor for one document
MAX_MEMORY = 1 << 29  # bytes of addresses, the interpreter's own included


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
    # Each process has one of its own, also where it was forked from another while that had the lock.
    return processes.setdefault(os.getpid(), _Process()).read(document)


class _Process:
    """A process that reads documents, started when the first one comes, and anew where it has ended."""

    def __init__(self) -> None:
        self._lock = Lock()
        self.running: subprocess.Popen[bytes] | None = None

    def read(self, document: bytes) -> PdfText:
        with self._lock:
            if self.running is None or self.running.poll() is not None:
                self._start()
            process = self.running
            assert process and process.stdin and process.stdout
            timer = Timer(MAX_WAIT, process.kill)
            timer.start()
            try:
                process.stdin.write(len(document).to_bytes(4, "big") + document)
                process.stdin.flush()
                answer = process.stdout.readline(MAX_ANSWER)
            except BrokenPipeError:
                answer = b""
            finally:
                timer.cancel()
            if answer.endswith(b"\n"):
                return PdfText(*json.loads(answer))
            self.end()
            return PdfText("", [], False)

    def _start(self) -> None:
        self.end()
        program = [sys.executable, "-P", __file__]
        self.running = subprocess.Popen(
            program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True
        )

    def end(self) -> None:
        if self.running:
            self.running.kill()
            self.running.communicate()


processes: dict[int, _Process] = {}  # by the number of the process that asks


@atexit.register
def end_process() -> None:
    """End the process that reads documents, where there is one."""
    if process := processes.pop(os.getpid(), None):
        process.end()


class TooSlow(BaseException):
    """A document takes too much time."""


def _end(*_: object) -> None:
    raise TooSlow


def answer_documents() -> None:
    """Answer until nothing more comes."""
    import resource

    import pypdf

    resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY, MAX_MEMORY))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.signal(signal.SIGPROF, _end)
    logging.disable()
    source, sink = sys.stdin.buffer, sys.stdout.buffer
    while len(header := source.read(4)) == 4:
        document = source.read(int.from_bytes(header, "big"))
        sink.write(json.dumps(answer(pypdf, document)).encode() + b"\n")
        sink.flush()


def answer(pypdf: Any, document: bytes) -> tuple[str, list[str], bool]:
    """What there is to say of a document."""
    texts: list[str] = []
    links: list[str] = []
    is_whole, left = True, MAX_CHARACTERS
    try:
        signal.setitimer(signal.ITIMER_PROF, MAX_SECONDS)
        for number, page in enumerate(pypdf.PdfReader(BytesIO(document)).pages):
            if number == MAX_PAGES or not left:
                is_whole = False
                break
            text = ""
            content = page.get_contents()
            if content is not None and len(content.get_data()) > MAX_CONTENT:
                is_whole = False
            elif content is not None:
                text = page.extract_text()
            is_whole = is_whole and len(text) <= left
            texts.append(text[:left])
            left -= len(texts[-1])
            links += links_of(page)
        signal.setitimer(signal.ITIMER_PROF, 0)
    except (Exception, TooSlow):  # a broken document may raise anything
        signal.setitimer(signal.ITIMER_PROF, 0)
        is_whole = False
    return "\n".join(texts), links, is_whole


def links_of(page: Any) -> list[str]:
    """Where the page's links lead."""
    links = []
    for annotation in (page.get("/Annots") or ())[:MAX_LINKS]:
        action = annotation.get_object().get("/A")
        target = None if action is None else action.get_object().get("/URI")
        if target is not None:
            link = target.get_object()
            links.append((link.decode("latin-1") if isinstance(link, bytes) else str(link))[:MAX_LINK])
    return links


if __name__ == "__main__":
    answer_documents()
