"""Run programs of a mail system that are unpacked and not installed, each as a child process of the test."""

import contextlib
import os
import random
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

OVERLAY = 'mount -t overlay overlay -o "lowerdir=$0:/usr" /usr && exec "$@"'
USERS = 'mount --bind "$0/passwd" /etc/passwd && mount --bind "$0/group" /etc/group && exec "$@"'


def command_with_user(name: str, folder: Path) -> list[str]:
    """Return the beginning of a command line for which a user and group of this name exist."""
    for file in ("passwd", "group"):
        entry = f"{name}:x:65533:65533::/nonexistent:/bin/false\n" if file == "passwd" else f"{name}:x:65533:\n"
        (folder / file).write_text(Path("/etc", file).read_text() + entry)
        (folder / file).chmod(0o644)
    return _in_own_mounts(USERS, folder)


def command_of_unpacked(*needed: str) -> list[str]:
    """Return the beginning of a command line for which the programs below SPAMNB_MAIL_ROOT are in /usr."""
    root = os.environ.get("SPAMNB_MAIL_ROOT", "")
    if not root:
        pytest.skip("no unpacked mail programs: set SPAMNB_MAIL_ROOT")
    if missing := [name for name in needed if not Path(root, name).exists()]:
        pytest.skip(f"{root} has no {' and no '.join(missing)}")
    return _in_own_mounts(OVERLAY, f"{root}/usr")


def _in_own_mounts(script: str, folder: object) -> list[str]:
    command = ["unshare", "-m", "bash", "-c", script, str(folder)]
    result = subprocess.run([*command, "true"], capture_output=True, text=True)
    if result.returncode:
        pytest.skip(f"a mount namespace needs root: {result.stderr.strip()}")
    return command


@contextlib.contextmanager
def running(command: list[str], port: int | None = None, path: Path | None = None) -> Iterator[None]:
    """Run a process that is ready once it answers on *port* or *path* exists, and end it with its children."""
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


PATIENCE = 120.0  # seconds to wait for a condition; long, because a busy machine must not fail a test


def wait_until(condition: Callable[[], bool], process: subprocess.Popen | None = None) -> None:
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline and (process is None or process.poll() is None)
        time.sleep(0.05)


def free_port() -> int:
    """Return a port below those that the system gives to clients, so that it stays free during a restart."""
    first = int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    chance = random.SystemRandom()  # test runners may give all processes the same seed
    while True:
        port = chance.randrange(min(10_000, first - 1), first)
        with contextlib.suppress(OSError), socket.create_server(("127.0.0.1", port)):
            return port
