"""PDF documents → their text and links, by pypdf (the extra ``pdf``) in a process that can be ended.

A document may be made to take any time and memory. ``pdf_process`` bounds what it reads; where that is not enough its
process is ended, and the next document starts a new one. A process serves many documents and goes when this one does.
"""

from __future__ import annotations

import atexit
import json
import os
import subprocess
import sys
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from threading import Lock, Timer
from typing import NamedTuple

MAX_BYTES = 1 << 22  # of one document; 24 phishing messages that are nothing but a PDF have less than a tenth
MAX_WAIT = 10.0  # seconds: on a busy machine a second of the processor takes longer, and so does starting
MAX_ANSWER = 1 << 23  # bytes: no document has as many


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
        program = [sys.executable, "-P", str(Path(__file__).with_name("pdf_process.py"))]
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
