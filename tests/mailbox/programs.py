"""``watch`` as a process."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from unpacked import PATIENCE


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
