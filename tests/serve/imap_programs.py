"""``sort`` and ``watch`` as processes beside a server that runs, or is killed."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from imap_account import Server, sides, sort
from mail import never
from unpacked import PATIENCE

from spamnb.mailbox.imap import ImapBox
from spamnb.mailbox.memory import Memory


def sort_and_kill(server: Server, model: Path, after: float) -> tuple[bool, str]:
    """Sort, kill the server so many seconds after the first move was begun, and start it anew; whether it was still
    sorting then, and what it said."""
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "spamnb", "sort", "--quiet", "-m", str(model), server.url]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, env=environment, text=True)
    with Memory.of(ImapBox(server.url), never) as memory:
        while process.poll() is None and not memory.begun():
            pass
    time.sleep(after)
    running = process.poll() is None
    server.kill()
    server.start()
    told = process.communicate(timeout=PATIENCE)[1]
    assert process.returncode == 0, told
    return running, told


def keeps_all_through_kills(
    server: Server, model: Path, arrive: Callable[[range], None], junk: str = "Junk", least: int = 3
) -> None:
    """Mail arrives, is sorted, and the server is killed meanwhile, until ``least`` sorts were interrupted: after each
    kill every message is in exactly one folder, the right one."""
    interrupted = number = 0
    expected: dict[str, str] = {}
    while interrupted < least:
        assert number < 20  # not all of them end before they are killed
        seeds = range(1000 + 36 * number, 1000 + 36 * number + 36)
        arrive(seeds)
        expected |= sides(seeds, junk)
        running, told = sort_and_kill(server, model, 0.003 * (number % 5))
        interrupted += running
        number += 1
        with server.person() as person:
            assert person.where() == expected, told
    assert sort(server, model).stdout == ""


class Watch:
    def __init__(self, log: Path, *arguments: str) -> None:
        self.log = log
        environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "PYTHONUNBUFFERED": "1"}
        with log.open("wb") as output:
            command = [sys.executable, "-m", "spamnb", "watch", *arguments]
            self.process = subprocess.Popen(command, stdout=output, stderr=output, env=environment)

    @property
    def said(self) -> str:
        return self.log.read_text()

    def end(self) -> None:
        self.process.send_signal(signal.SIGTERM)
        assert self.process.wait(PATIENCE) == 0, self.said


@contextmanager
def watching(tmp_path: Path, *arguments: str) -> Iterator[Watch]:
    watch = Watch(tmp_path / f"log{time.monotonic_ns()}", *arguments)
    try:
        yield watch
        watch.end()
    finally:
        watch.process.kill()
        watch.process.wait()
