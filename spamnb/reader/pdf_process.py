"""Text and links of PDF documents, page by page: run as a program by ``pdf.py``, which ends it at will.

A document comes as its length (four bytes, big-endian) and its bytes. For each page a line of JSON goes back,
``{"text": …, "links": […]}``, and at the end ``{"is_whole": …}``: whether all of it was read. What a document costs
beyond the bounds below ends the process; the pages that were answered stay.
"""

from __future__ import annotations

import json
import logging
import resource
import signal
import sys
from collections.abc import Iterator
from io import BytesIO
from typing import Any

MAX_PAGES = 5
MAX_CHARACTERS = 20_000  # of text in one document
MAX_LINKS = 200  # on one page
MAX_LINK = 2000  # characters
MAX_CONTENT = 1 << 18  # bytes of drawing commands on one page: by them, not by the clock, what is read is bounded
MAX_SECONDS = 1.0  # of the processor for one document
MAX_MEMORY = 1 << 29  # bytes of addresses, the interpreter's own included
MAX_IDLE = 60  # seconds


def answer_documents() -> None:
    """Answer until nothing more comes."""
    resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY, MAX_MEMORY))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    logging.disable()
    import pypdf

    source, sink = sys.stdin.buffer, sys.stdout.buffer
    while True:
        signal.alarm(MAX_IDLE)
        header = source.read(4)
        signal.alarm(0)
        if len(header) < 4:
            return
        document = source.read(int.from_bytes(header, "big"))
        signal.setitimer(signal.ITIMER_PROF, MAX_SECONDS)  # SIGPROF ends the process, whatever runs in it
        for answer in answers(pypdf, document):
            sink.write(json.dumps(answer).encode() + b"\n")
            sink.flush()
        signal.setitimer(signal.ITIMER_PROF, 0)


def answers(pypdf: Any, document: bytes) -> Iterator[dict[str, Any]]:
    """What there is to say of a document."""
    is_whole, left = True, MAX_CHARACTERS
    try:
        reader = pypdf.PdfReader(BytesIO(document))
        for number, page in enumerate(reader.pages):
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
            text = text[:left]
            left -= len(text)
            yield {"text": text, "links": links_of(page)}
    except Exception:  # a broken document may raise anything
        is_whole = False
    yield {"is_whole": is_whole}


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
