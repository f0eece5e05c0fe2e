"""Programs of a mail system that were unpacked and not installed, each run as a process of this test's own."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

OVERLAY = 'mount -t overlay overlay -o "lowerdir=$0:/usr" /usr && exec "$@"'


def command_of_unpacked(*needed: str) -> list[str]:
    """What to put before a command so that it runs with the programs below SPAMNB_MAIL_ROOT in /usr."""
    root = os.environ.get("SPAMNB_MAIL_ROOT", "")
    if not root:
        pytest.skip("no unpacked mail programs: set SPAMNB_MAIL_ROOT")
    if lacking := [name for name in needed if not Path(root, name).exists()]:
        pytest.skip(f"{root} holds no {' and no '.join(lacking)}")
    command = ["unshare", "-m", "bash", "-c", OVERLAY, f"{root}/usr"]
    tried = subprocess.run([*command, "true"], capture_output=True, text=True)
    if tried.returncode:
        pytest.skip(f"no mount namespace here (it needs root): {tried.stderr.strip()}")
    return command


@contextlib.contextmanager
def running(command: list[str], port: int | None = None, path: Path | None = None) -> Iterator[None]:
    """A process that is up once it answers on *port* or has made *path*, ended with all it started."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    try:
        wait_until(lambda: path.exists() if path is not None else answers(port), process)
        yield
    finally:
        process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(10)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def answers(port: int | None) -> bool:
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port or 0), 5) as client:
        return bool(client.recv(100))
    return False


def wait_until(condition: Callable[[], bool], process: subprocess.Popen | None = None) -> None:
    deadline = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < deadline and (process is None or process.poll() is None)
        time.sleep(0.05)


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return taken.getsockname()[1]
