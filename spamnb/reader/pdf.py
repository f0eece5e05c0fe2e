"""PDF documents → their text and links, by pypdf (the extra ``pdf``) in a process of its own.

A hostile document can take any time and memory. So this file is run as a second program, which bounds both and returns
the pages that it could read. A program that does not answer in MAX_WAIT seconds is killed, and the next document starts
another one. The program ends together with the process that started it. A request is the document's length (four bytes,
big-endian) and its bytes; the answer is a line of JSON, ``[text, links, is_whole]``.
"""

from __future__ import annotations

import atexit
import json
import logging
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib.util import find_spec
from io import BytesIO
from threading import Lock, Timer
from typing import Any, NamedTuple

# The seven legible PDFs in the phishing corpus have at most 85 KB, 10 pages, 3,200 characters, and one link per page,
# of at most 122 characters.
MAX_BYTES = 1 << 22  # of one document
MAX_PAGES = 20
MAX_CHARACTERS = 20_000  # of text in one document
MAX_LINKS = 50  # on one page
MAX_LINK = 2000  # characters
MAX_ANSWER_BYTES = 1 << 25  # more than MAX_CHARACTERS and the links of MAX_PAGES can have, at 12 bytes a character
MAX_CONTENT_BYTES = 1 << 18  # of drawing commands on one page
# Calls of Python functions that read one document. Unlike a time, their number is the same on all machines. It grows
# with the size of the document, because 6 kB in four documents would take 4 s. PDFs of the corpora take 1,300 to
# 231,000 calls, of 0.6 microseconds.
MIN_CALLS, CALLS_PER_BYTE, MAX_CALLS = 100_000, 4, 1_000_000
MAX_SECONDS = 5.0  # of the processor's time for one document, if a single call takes long
MAX_WAIT = 20.0  # seconds: longer than MAX_SECONDS, because other programs may use the processor
MAX_MEMORY_BYTES = 1 << 29  # of address space, the interpreter's included


@cache
def is_available() -> bool:
    """Return whether PDF documents are read here: pypdf is installed, and processes can be bounded."""
    return find_spec("pypdf") is not None and find_spec("resource") is not None


class PdfText(NamedTuple):
    """Text and links of a document."""

    text: str
    links: list[str]
    is_whole: bool  # whether the whole document was read


def read_pdf(document: bytes) -> PdfText:
    """Return text and links of the first pages; nothing if pypdf is not installed."""
    if not is_available() or not document.strip():
        return PdfText("", [], True)
    if len(document) > MAX_BYTES:
        return PdfText("", [], False)
    # Each process that reads mail has its own _Process, because the parent's lock may stay locked after a fork.
    return processes.setdefault(os.getpid(), _Process()).read(document)


class _Process:
    """A process that reads documents. It is started for the first document, and again after it ended."""

    def __init__(self) -> None:
        self._lock = Lock()
        self.process: subprocess.Popen[bytes] | None = None

    def read(self, document: bytes) -> PdfText:
        with self._lock:
            if self.process is None or self.process.poll() is not None:
                self._start()
            process = self.process
            assert process and process.stdin and process.stdout
            timer = Timer(MAX_WAIT, process.kill)
            timer.start()
            try:
                process.stdin.write(len(document).to_bytes(4, "big") + document)
                process.stdin.flush()
                answer = process.stdout.readline(MAX_ANSWER_BYTES)
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
        self.process = subprocess.Popen(
            program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True
        )

    def end(self) -> None:
        if self.process:
            self.process.kill()
            self.process.communicate()


processes: dict[int, _Process] = {}  # by the id of the process that reads the mail


@atexit.register
def end_process() -> None:
    """End the process that reads documents."""
    if process := processes.pop(os.getpid(), None):
        process.end()


class TooMuchWork(BaseException):
    """A document takes more than its calls, or than its time."""


def _raise_too_much_work(*_: object) -> None:
    raise TooMuchWork


@contextmanager
def bounded_work(calls: int) -> Iterator[None]:
    """Raise TooMuchWork after ``calls`` calls of Python functions, or after MAX_SECONDS."""

    def count(*_: object) -> None:
        nonlocal calls
        calls -= 1
        if calls < 0:
            raise TooMuchWork

    signal.setitimer(signal.ITIMER_PROF, MAX_SECONDS)
    sys.settrace(count)
    try:
        yield
    finally:
        sys.settrace(None)
        signal.setitimer(signal.ITIMER_PROF, 0)


def answer_requests() -> None:
    """Answer requests until standard input ends."""
    import resource

    import pypdf

    resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY_BYTES, MAX_MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.signal(signal.SIGPROF, _raise_too_much_work)
    logging.disable()
    source, sink = sys.stdin.buffer, sys.stdout.buffer
    while len(header := source.read(4)) == 4:
        document = source.read(int.from_bytes(header, "big"))
        sink.write(json.dumps(read_pages(pypdf, document)).encode() + b"\n")
        sink.flush()


def read_pages(pypdf: Any, document: bytes) -> PdfText:
    """Return text and links of the first pages."""
    texts: list[str] = []
    links: list[str] = []
    is_whole, characters_left = True, MAX_CHARACTERS
    try:
        with bounded_work(min(MIN_CALLS + CALLS_PER_BYTE * len(document), MAX_CALLS)):
            for number, page in enumerate(pypdf.PdfReader(BytesIO(document)).pages):
                if number == MAX_PAGES or not characters_left:
                    is_whole = False
                    break
                text = ""
                content = page.get_contents()
                if content is not None and len(commands := content.get_data()) > MAX_CONTENT_BYTES:
                    is_whole = False
                    content.set_data(commands[: commands.rfind(b"ET", 0, MAX_CONTENT_BYTES) + 2])  # where a text ends
                    page[pypdf.generic.NameObject("/Contents")] = content
                if content is not None:
                    text = page.extract_text()
                is_whole = is_whole and len(text) <= characters_left
                texts.append(text[:characters_left])
                characters_left -= len(texts[-1])
                links += read_links(page)
    except (Exception, TooMuchWork):  # a damaged document may raise anything
        is_whole = False
    return PdfText("\n".join(texts), links, is_whole)


def read_links(page: Any) -> list[str]:
    """Return the URLs of the page's links."""
    links = []
    for annotation in (page.get("/Annots") or ())[:MAX_LINKS]:
        action = annotation.get_object().get("/A")
        target = None if action is None else action.get_object().get("/URI")
        if target is not None:
            link = target.get_object()
            links.append((link.decode("latin-1") if isinstance(link, bytes) else str(link))[:MAX_LINK])
    return links


if __name__ == "__main__":
    answer_requests()
