"""The server's process: sockets, signals, its log, and readiness as systemd expects it.

On SIGTERM and SIGINT there are no new connections; those that are open are answered; then it ends.
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

from spamnb.serve import metrics
from spamnb.serve.sockets import BACKLOG, address
from spamnb.serve.spamd import Spamd

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


async def run(spamd: Spamd, listening: Sequence[socket.socket], watched: Sequence[socket.socket]) -> None:
    """Answer the spamd protocol on *listening* and ``/metrics`` on *watched* until SIGTERM."""
    for event, sockets in (("listening", listening), ("metrics", watched)):
        for one in sockets:
            log(event=event, address=address(one))
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)  # a model that was replaced is noticed without being told
    expose = functools.partial(metrics.answer, spamd.counts)
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
    log(event="stopped")
