"""Text and links of PDF documents: run as a program by ``pdf.py``, which ends it at will.

A document comes as its length (four bytes, big-endian) and its bytes. A line of JSON goes back, ``[text, links, whether
this is all]``: of a document that costs more than the bounds below, the pages before.
"""

from __future__ import annotations

import json
import logging
import resource
import signal
import sys
from io import BytesIO
from typing import Any

MAX_PAGES = 5
MAX_CHARACTERS = 20_000  # of text in one document
MAX_LINKS = 200  # on one page
MAX_LINK = 2000  # characters
MAX_CONTENT = 1 << 18  # bytes of drawing commands on one page: by them, not by the clock, what is read is bounded
MAX_SECONDS = 1.0  # of the processor for one document
MAX_MEMORY = 1 << 29  # bytes of addresses, the interpreter's own included


class TooSlow(BaseException):
    """A document takes too much time."""


def _end(*_: object) -> None:
    raise TooSlow


def answer_documents() -> None:
    """Answer until nothing more comes."""
    resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY, MAX_MEMORY))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.signal(signal.SIGPROF, _end)
    logging.disable()
    import pypdf

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
