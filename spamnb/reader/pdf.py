"""PDF documents → their text and links, by pypdf (the extra ``pdf``) in a process that can be ended.

A document may be made to take any time and memory. ``pdf_process`` bounds what it reads, and its process ends where a
document takes more than a second of the processor or half a gigabyte; the next document starts a new one. A process
serves many documents and goes when it is idle, or when this one does.
"""

from __future__ import annotations

import atexit
import json
import os
import signal
import subprocess
import sys
from contextlib import suppress
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from threading import Lock, Timer
from typing import NamedTuple

MAX_BYTES = 1 << 22  # of one document; 24 phishing messages that are nothing but a PDF have less than a tenth
MAX_WAIT = 10.0  # seconds: on a busy machine a second of the processor takes longer, and so does starting
MAX_ANSWER = 1 << 22  # bytes: no page has as many


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
    """Adds what the process answers, a line of JSON for each page; returns whether that is all of the document."""
    for _ in range(2):  # the first may be gone, since it was idle
        process = _process()
        assert process.stdin and process.stdout
        timer = Timer(MAX_WAIT, process.kill)
        timer.start()
        try:
            process.stdin.write(len(document).to_bytes(4, "big") + document)
            process.stdin.flush()
            while (line := process.stdout.readline(MAX_ANSWER)).endswith(b"\n"):
                answer = json.loads(line)
                if "is_whole" in answer:
                    return bool(answer["is_whole"])
                texts.append(answer["text"])
                links += answer["links"]
            is_too_slow = bool(texts) or process.wait() == -signal.SIGPROF or not timer.is_alive()
        except BrokenPipeError:
            is_too_slow = False
        finally:
            timer.cancel()
        end_process()
        if is_too_slow:
            break
    return False


_lock = Lock()
_running: list[tuple[int, subprocess.Popen[bytes]]] = []  # at most one, with the process that started it


def _process() -> subprocess.Popen[bytes]:
    """The process of this process, a new one where it has none."""
    if not _running or _running[0][0] != os.getpid() or _running[0][1].poll() is not None:
        end_process()
        program = [sys.executable, "-P", str(Path(__file__).with_name("pdf_process.py"))]
        started = subprocess.Popen(
            program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True
        )
        _running.append((os.getpid(), started))
    return _running[0][1]


def _after_fork() -> None:
    """In a forked process: another thread may have held the lock."""
    global _lock
    _lock = Lock()


@atexit.register
def end_process() -> None:
    """End the process that reads documents, where there is one; one of another process is only let go of."""
    while _running:
        owner, process = _running.pop()
        assert process.stdin and process.stdout
        if owner == os.getpid():
            process.kill()
            process.wait()
        else:
            process.returncode = 0  # not ours to wait for
        with suppress(BrokenPipeError):  # it went before it took all
            process.stdin.close()
        process.stdout.close()


os.register_at_fork(after_in_child=_after_fork)
