"""The interface of a filter in a comparison: it learns files and scores files; a higher score means spam.

Filters run as child processes, so that the kernel reports their peak memory.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

HERE = Path(__file__).parent.resolve()
STREAMS = ("stdin", "stdout", "stderr")


class Mail(NamedTuple):
    label: str  # "spam" or "ham"
    path: Path


class Run(NamedTuple):
    """The results of one run of a filter. ``calls``: by decision rule, whether each message is called spam."""

    train_seconds: float
    score_seconds: float
    peak_mb: float
    model_mb: float
    scores: list[float]
    calls: dict[str, list[bool]]
    probabilities: list[float] | None = None


@cache
def _launcher() -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-S", HERE / "launch.py"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )


def _launch(command: list[str], where: str, files: list[str]) -> list:
    pipe = _launcher()
    assert pipe.stdin is not None and pipe.stdout is not None
    pipe.stdin.write(json.dumps([command, where, files]) + "\n")
    pipe.stdin.flush()
    return json.loads(pipe.stdout.readline())


class Peer:
    """A filter in a folder of its own. ``thresholds``: by decision rule, the score above which mail is spam."""

    name = ""
    needs: Sequence[str] = ()
    codes: Sequence[int] = (0,)  # exit codes of success
    thresholds: Mapping[str, float] = MappingProxyType({"p > .5": 0.5})

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.peak = 0
        folder.mkdir(parents=True, exist_ok=True)

    def describe_missing(self) -> str | None:
        """Return a sentence about programs that are not installed, or None."""
        programs = [program for program in self.needs if shutil.which(program) is None]
        return f"{', '.join(programs)} not installed" if programs else None

    def run(self, *command: str | Path, stdin: str | bytes = b"", where: Path | None = None) -> str:
        """Return standard output of a child, and update the peak memory. Raise RuntimeError if the child fails."""
        files = [str(self.folder / name) for name in STREAMS]
        Path(files[0]).write_bytes(stdin.encode("utf-8", "surrogateescape") if isinstance(stdin, str) else stdin)
        code, peak, *error = _launch([str(part) for part in command], str(where or self.folder), files)
        self.peak = max(self.peak, peak)
        if code not in self.codes:
            message = error or Path(files[2]).read_bytes()[-400:]
            raise RuntimeError(f"{self.name}: {command[0]} ended with status {code}: {message!r}")
        return Path(files[1]).read_bytes().decode("utf-8", "surrogateescape")

    def train(self, mail: Sequence[Mail]) -> None:
        raise NotImplementedError

    def score(self, paths: Sequence[Path]) -> list[float]:
        raise NotImplementedError

    def learn(self, mail: Mail) -> None:
        """Learn one message of a stream."""
        self.train([mail])

    def model_mb(self) -> float:
        """Return the size of the filter's files in megabytes."""
        files = [p for p in self.folder.rglob("*") if p.is_file() and p.name not in (*STREAMS, "list")]
        return sum(path.stat().st_blocks * 512 for path in files) / 1e6

    def split(self, train: Sequence[Mail], test: Sequence[Mail]) -> Run:
        """Learn some messages, score others."""
        start = time.perf_counter()
        self.train(train)
        between = time.perf_counter()
        scores = self.score([mail.path for mail in test])
        return self.make_run(scores, between - start, time.perf_counter() - between)

    def stream(self, mail: Sequence[Mail]) -> Run:
        """Score each message, then learn it."""
        scoring = learning = 0.0
        scores = []
        for message in mail:
            start = time.perf_counter()
            scores += self.score([message.path])
            between = time.perf_counter()
            self.learn(message)
            scoring, learning = scoring + between - start, learning + time.perf_counter() - between
        return self.make_run(scores, learning, scoring)

    def make_run(self, scores: list[float], training: float, scoring: float) -> Run:
        calls = {name: [score > limit for score in scores] for name, limit in self.thresholds.items()}
        return Run(training, scoring, self.peak / 1024, self.model_mb(), scores, calls, scores)
