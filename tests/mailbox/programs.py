"""``watch`` as a process."""

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from commands import SPAMNB
from unpacked import PATIENCE


class Watch(NamedTuple):
    log: Path
    process: subprocess.Popen

    @property
    def said(self) -> str:
        return self.log.read_text()


@contextmanager
def watching(tmp_path: Path, *arguments: str) -> Iterator[Watch]:
    """Run a program, and end it at last. Its log is printed, which pytest shows if the test fails."""
    log = tmp_path / f"log{time.monotonic_ns()}"
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "PYTHONUNBUFFERED": "1"}
    with log.open("wb") as output:
        command = [*SPAMNB, "watch", *arguments]
        watch = Watch(log, subprocess.Popen(command, stdout=output, stderr=output, env=environment))
    try:
        yield watch
        watch.process.send_signal(signal.SIGTERM)
        assert watch.process.wait(PATIENCE) == 0, watch.said
    finally:
        watch.process.kill()
        watch.process.wait()
        print(watch.said)
