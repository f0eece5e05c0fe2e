"""The server's process: models, sockets, signals, and readiness as systemd expects it.

SIGTERM, SIGINT   no new connections; those that are open are answered; then the end
SIGHUP            the model files are opened anew
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import json
import os
import signal
import socket
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from spamnb.errors import SpamnbError
from spamnb.journal.journal import Journal
from spamnb.journal.writer import JournalWriter
from spamnb.serve import metrics
from spamnb.serve.reception import Limits
from spamnb.serve.sockets import BACKLOG, address
from spamnb.serve.spamd import OpenModels, Spamd

DRAIN = 30.0  # seconds after SIGTERM until open connections are closed


def log(**facts: object) -> None:
    """One line of JSON on standard error, written at once so that threads' lines do not mix."""
    line = json.dumps({"time": round(time.time(), 3), "pid": os.getpid(), **facts}) + "\n"
    with contextlib.suppress(OSError):  # its disk is full, or whoever read it has gone: mail is judged all the same
        os.write(2, line.encode("ascii"))


def notify(state: str) -> None:
    """Tell systemd (sd_notify) where this service stands; nothing where it did not ask."""
    path = os.environ.get("NOTIFY_SOCKET", "")
    if not path:
        return
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
        try:
            sender.connect("\0" + path[1:] if path.startswith("@") else path)
            sender.send(state.encode("ascii"))
        except OSError as error:
            log(event="systemd not told", error=str(error))


def check(models: OpenModels, learns: bool, journal: Path | None) -> None:
    """SpamnbError where the model cannot be opened, or written where it ``learns``, or tells no spam."""
    found = models(writable=learns)
    try:
        found.for_classifying("").check_spam()
    finally:
        found.close()
    if journal is not None:
        try:
            Journal.at(journal).close()
        except (SpamnbError, OSError) as error:  # it costs no mail, at the start neither: the writer tries again
            log(event="journal", error=str(error))


def run(
    listening: Sequence[socket.socket],
    watched: Sequence[socket.socket],
    models: OpenModels,
    limits: Limits,
    journal: Path | None,
    **how: Any,
) -> None:
    """Answer the spamd protocol on *listening* and ``/metrics`` on *watched* until SIGTERM; ``Spamd`` takes ``how``."""
    for one in listening:
        log(event="listening", address=address(one))
    for one in watched:
        log(event="metrics", address=address(one))
    asyncio.run(_answer(listening, watched, models, limits, journal, how))
    log(event="stopped")


async def _answer(
    listening: Sequence[socket.socket],
    watched: Sequence[socket.socket],
    models: OpenModels,
    limits: Limits,
    journal: Path | None,
    how: dict[str, Any],
) -> None:
    counts = metrics.Metrics()
    writer = JournalWriter(journal, lambda line: log(event="journal", error=line)) if journal else None
    spamd = Spamd(models, counts, log, limits, journal=writer, **how)
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGHUP, spamd.reopen)
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    expose = functools.partial(metrics.answer, counts)
    servers = [await asyncio.start_server(spamd.converse, sock=one, backlog=BACKLOG) for one in listening]
    servers += [await asyncio.start_server(expose, sock=one) for one in watched]
    log(event="ready")
    notify("READY=1")
    await stop.wait()
    log(event="stopping")
    notify("STOPPING=1")
    for server in servers:
        server.close()
    await spamd.close(DRAIN)
    if writer is not None:
        writer.close()
