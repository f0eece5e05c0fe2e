"""The server's process: sockets, signals, log, and messages to systemd.

On SIGTERM and SIGINT the server accepts no new connections, answers the open ones, and ends.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import socket
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from spamnb.errors import SpamnbError, reason
from spamnb.serve.conversations import Conversations
from spamnb.serve.wire import Wire

DRAIN_SECONDS = 30.0  # from SIGTERM until open connections are closed; a client may still be sending its message
BACKLOG = 1024  # connections that wait to be accepted: a mail server opens hundreds at once
_FIRST_INHERITED = 3  # the first descriptor that systemd passes, sd_listen_fds(3)


class Endpoint(NamedTuple):
    """Listening sockets and their protocol; ``log_event`` is written into the log when the server begins."""

    log_event: str
    sockets: Sequence[socket.socket]
    wire: Wire


def log(**facts: object) -> None:
    """Write a line of JSON to standard error, in a single write, so that lines of several threads do not mix."""
    line = json.dumps({"time": round(time.time(), 3), "pid": os.getpid(), **facts}) + "\n"
    with contextlib.suppress(OSError):  # a full disk or a closed pipe must not stop the server
        os.write(2, line.encode("ascii"))


def notify(state: str) -> None:
    """Send the state of this service to systemd (sd_notify), if systemd set NOTIFY_SOCKET."""
    path = os.environ.get("NOTIFY_SOCKET", "")
    if not path:
        return
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
        try:
            sender.connect("\0" + path[1:] if path.startswith("@") else path)
            sender.send(state.encode("ascii"))
        except OSError as error:
            log(event="systemd not notified", error=str(error))


def listen_tcp(host: str, port: int, option: str = "--port") -> list[socket.socket]:
    """Return listening sockets on all addresses of ``host``. Port 0 is any free port."""
    failure = f"cannot listen on {host} port {port}"
    try:
        infos = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        addresses = dict.fromkeys((family, address) for family, _, _, _, address in infos)
    except (OSError, UnicodeError) as error:  # UnicodeError: the text cannot be the name of a host
        raise SpamnbError(f"{failure}: {reason(error)}; choose another with --host") from None
    try:
        return [socket.create_server(address, family=family, backlog=BACKLOG) for family, address in addresses]
    except OSError as error:  # str(error) would repeat the address
        raise SpamnbError(f"{failure}: {os.strerror(error.errno or 0)}; choose another with {option}") from None


def listen_unix(path: Path, mode: int) -> socket.socket:
    """Return a listening Unix socket. A socket file without a server is replaced."""
    try:
        if path.is_socket():
            with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
                if probe.connect_ex(str(path)) == 0:
                    raise SpamnbError(f"{path}: another server uses this socket; stop it or choose another --socket")
            path.unlink()
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        listener.bind(str(path))
        path.chmod(mode)
        listener.listen(BACKLOG)
        return listener
    except OSError as error:
        raise SpamnbError(f"cannot listen on {path}: {reason(error)}; choose another with --socket") from None


def inherited_sockets() -> list[socket.socket]:
    """Return the sockets that systemd passed to this process, if any (socket activation)."""
    if os.environ.pop("LISTEN_PID", "") != str(os.getpid()):
        return []
    count = int(os.environ.pop("LISTEN_FDS", "0"))
    os.environ.pop("LISTEN_FDNAMES", None)
    sockets = [socket.socket(fileno=number) for number in range(_FIRST_INHERITED, _FIRST_INHERITED + count)]
    for listener in sockets:
        os.set_inheritable(listener.fileno(), False)
    return sockets


def format_address(listener: socket.socket) -> str:
    """Return the name of a socket for the log."""
    name = listener.getsockname()
    return name if isinstance(name, str) else f"{name[0]}:{name[1]}"


async def run(conversations: Conversations, endpoints: Sequence[Endpoint]) -> None:
    """Answer at all endpoints until SIGTERM or SIGINT."""
    for log_event, sockets, _ in endpoints:
        for listener in sockets:
            log(event=log_event, address=format_address(listener))
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    # SIGHUP, with which many servers reload, must not end this one, which notices a new model by itself.
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    servers = [
        await asyncio.start_server(partial(conversations.converse, wire), sock=listener, backlog=BACKLOG)
        for _, sockets, wire in endpoints
        for listener in sockets
    ]
    log(event="ready")
    notify("READY=1")
    await stop.wait()
    log(event="stopping")
    notify("STOPPING=1")
    for server in servers:
        server.close()
    await conversations.close(DRAIN_SECONDS)
    log(event="stopped")
