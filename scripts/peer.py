"""What a filter is to the comparison: it learns files and scores files; higher is more like spam.

Work is done in child processes, so that the peak memory the kernel tells of them is the filter's own.
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


class Judged(NamedTuple):
    """One run of one filter: ``calls`` holds per cut or verdict which messages it calls spam."""

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
    """A filter in a folder of its own. ``cuts``: name of a decision → score above which a message is called spam."""

    name = ""
    needs: Sequence[str] = ()
    codes: Sequence[int] = (0,)  # exit codes that are no failure
    cuts: Mapping[str, float] = MappingProxyType({"p > .5": 0.5})

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.peak = 0
        folder.mkdir(parents=True, exist_ok=True)

    def missing(self) -> str | None:
        """Return what is not installed, or None."""
        lacking = [program for program in self.needs if shutil.which(program) is None]
        return f"{', '.join(lacking)} not installed" if lacking else None

    def run(self, *command: str | Path, given: str | bytes = b"", where: Path | None = None) -> str:
        """Return standard output of a child, and note its peak memory. Raise RuntimeError if it fails."""
        files = [str(self.folder / name) for name in STREAMS]
        Path(files[0]).write_bytes(given.encode("utf-8", "surrogateescape") if isinstance(given, str) else given)
        code, peak, *error = _launch([str(part) for part in command], str(where or self.folder), files)
        self.peak = max(self.peak, peak)
        if code not in self.codes:
            said = error or Path(files[2]).read_bytes()[-400:]
            raise RuntimeError(f"{self.name}: {command[0]} ended {code}: {said!r}")
        return Path(files[1]).read_bytes().decode("utf-8", "surrogateescape")

    def train(self, mail: Sequence[Mail]) -> None:
        raise NotImplementedError

    def score(self, paths: Sequence[Path]) -> list[float]:
        raise NotImplementedError

    def learn(self, mail: Mail) -> None:
        """One message, as in a stream."""
        self.train([mail])

    def model_mb(self) -> float:
        """Return the bytes that the filter has on disk."""
        kept = [p for p in self.folder.rglob("*") if p.is_file() and p.name not in (*STREAMS, "list")]
        return sum(path.stat().st_blocks * 512 for path in kept) / 1e6

    def split(self, learned: Sequence[Mail], asked: Sequence[Mail]) -> Judged:
        """Learn some messages, score others."""
        start = time.perf_counter()
        self.train(learned)
        between = time.perf_counter()
        scores = self.score([mail.path for mail in asked])
        return self.judged(scores, between - start, time.perf_counter() - between)

    def stream(self, mail: Sequence[Mail]) -> Judged:
        """Score each message, then learn it."""
        asking = learning = 0.0
        scores = []
        for message in mail:
            start = time.perf_counter()
            scores += self.score([message.path])
            between = time.perf_counter()
            self.learn(message)
            asking, learning = asking + between - start, learning + time.perf_counter() - between
        return self.judged(scores, learning, asking)

    def judged(self, scores: list[float], training: float, scoring: float) -> Judged:
        calls = {name: [score > cut for score in scores] for name, cut in self.cuts.items()}
        return Judged(training, scoring, self.peak / 1024, self.model_mb(), scores, calls, scores)
