"""Listening sockets: TCP, Unix, or those that systemd passed on."""

from __future__ import annotations

import os
import socket
from pathlib import Path

from spamnb.errors import SpamnbError, reason

BACKLOG = 1024
_FIRST_INHERITED = 3  # sd_listen_fds(3): descriptors start after standard error


def listen_tcp(host: str, port: int, option: str = "--port") -> list[socket.socket]:
    """Listening sockets on all addresses of *host*; port 0 takes a free one, *option* another."""
    cannot = f"cannot listen on {host} port {port}"
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        addresses = dict.fromkeys((family, address) for family, _, _, _, address in found)
    except (OSError, UnicodeError) as error:  # UnicodeError: no name of a host at all
        raise SpamnbError(f"{cannot}: {reason(error)}; --host takes another") from None
    try:
        return [socket.create_server(address, family=family, backlog=BACKLOG) for family, address in addresses]
    except OSError as error:  # which quotes the address once more
        raise SpamnbError(f"{cannot}: {os.strerror(error.errno or 0)}; {option} takes another") from None


def listen_unix(path: Path, mode: int) -> socket.socket:
    """A listening Unix socket; one that a dead server left is replaced."""
    try:
        if path.is_socket():
            with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
                if probe.connect_ex(str(path)) == 0:
                    raise SpamnbError(f"{path}: another server answers there; stop it or choose another --socket")
            path.unlink()
        made = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        made.bind(str(path))
        path.chmod(mode)
        made.listen(BACKLOG)
        return made
    except OSError as error:
        raise SpamnbError(f"cannot listen on {path}: {reason(error)}; --socket takes another") from None


def inherited_sockets() -> list[socket.socket]:
    """The sockets systemd passed to this process, if any (socket activation)."""
    if os.environ.pop("LISTEN_PID", "") != str(os.getpid()):
        return []
    count = int(os.environ.pop("LISTEN_FDS", "0"))
    os.environ.pop("LISTEN_FDNAMES", None)
    passed = [socket.socket(fileno=number) for number in range(_FIRST_INHERITED, _FIRST_INHERITED + count)]
    for one in passed:
        os.set_inheritable(one.fileno(), False)
    return passed


def address(listening: socket.socket) -> str:
    """How to name a socket in a log line."""
    name = listening.getsockname()
    return name if isinstance(name, str) else f"{name[0]}:{name[1]}"
