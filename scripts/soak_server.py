"""Measure how many messages ``spamnb serve`` classifies and learns per second, over several connections.

    python scripts/soak_server.py --model MODEL spam=FOLDER ham=FOLDER [--seconds 30] [--connections 8] [--tell 0.05]

The server uses a copy of the model. Each connection sends one message after the other; the server learns a share of
them (``--tell``) in the class of their folder, and classifies the others. The script prints messages per second, CPU
time per message without the start of the server, the 50th and 99th percentile of the time to an answer, and errors.
With errors the exit status is 1. ``--python`` is the command before ``-m spamnb``, such as ``env PYTHONPATH=… python``
for another version of spamnb.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shlex
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import numpy as np


class Message(NamedTuple):
    """A message and the class that its folder has."""

    label: str
    raw: bytes


class Answers(NamedTuple):
    """Times and errors of one connection."""

    verdict_seconds: list[float]
    learning_seconds: list[float]
    errors: list[str]


def ask(port: int, method: str, raw: bytes, *headers: str) -> bytes:
    """Return the server's answer to one request."""
    head = "\r\n".join([f"{method} SPAMC/1.5", *headers, f"Content-length: {len(raw)}", "", ""])
    with socket.socket() as client:
        client.settimeout(60)
        client.connect(("127.0.0.1", port))
        client.sendall(head.encode() + raw)
        return b"".join(iter(lambda: client.recv(1 << 16), b""))


def load(port: int, mail: list[Message], share: float, seed: int, end: float) -> Answers:
    """Send messages until ``end``."""
    chance, answers = random.Random(seed), Answers([], [], [])
    while time.monotonic() < end:
        message, teaches = chance.choice(mail), chance.random() < share
        headers = (f"Message-class: {message.label}", "Set: local") if teaches else ()
        start = time.monotonic()
        try:
            answer = ask(port, "TELL" if teaches else "CHECK", message.raw, *headers)
        except OSError as error:
            answer = str(error).encode()
        (answers.learning_seconds if teaches else answers.verdict_seconds).append(time.monotonic() - start)
        if b" 0 EX_OK" not in answer[:40]:
            answers.errors.append(answer[:100].decode(errors="replace"))
    return answers


def cpu_seconds(process: int) -> float:
    """Return the processor time of a process so far."""
    user, system = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def percentiles(seconds: list[float]) -> str:
    """Return the median and the 99th percentile in milliseconds."""
    p50, p99 = np.percentile(seconds, [50, 99]) * 1000 if seconds else (0, 0)
    return f"{p50:.1f} ms (p50), {p99:.1f} ms (p99)"


def main() -> int:
    """Start the server, load it and print what it did."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", nargs="+", help="CLASS=FOLDER, in which each file is a message; CLASS is ham or spam")
    parser.add_argument("--model", required=True)
    parser.add_argument("--seconds", type=float, default=30.0)
    parser.add_argument("--connections", type=int, default=8)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--tell", type=float, default=0.05, help="share of messages that are learned (.05)")
    parser.add_argument("--python", default=shlex.quote(sys.executable), help="command of Python for the server")
    options = parser.parse_args()
    sources = [source.partition("=")[::2] for source in options.source]
    files = [(label, path) for label, folder in sources for path in Path(folder).rglob("*") if path.is_file()]
    mail = [Message(label, path.read_bytes()) for label, path in files]
    with tempfile.TemporaryDirectory() as folder:
        model = shutil.copy(options.model, Path(folder, "model.spamnb"))
        command = [*shlex.split(options.python), "-m", "spamnb", "serve", "-m", model, "--port", "0", "--allow-tell"]
        server = subprocess.Popen([*command, "--workers", str(options.workers)], stderr=subprocess.PIPE)
        assert server.stderr is not None
        events = (json.loads(line) for line in server.stderr if line.startswith(b"{"))
        port = int(next(event["address"] for event in events if event["event"] == "listening").rpartition(":")[2])
        with ThreadPoolExecutor(options.connections + 1) as executor:
            executor.submit(lambda: [None for _ in events])  # the server waits if nobody reads its log
            ask(port, "CHECK", mail[0].raw)
            cpu, end = cpu_seconds(server.pid), time.monotonic() + options.seconds
            running = [executor.submit(load, port, mail, options.tell, n, end) for n in range(options.connections)]
            answers = [each.result() for each in running]
            cpu = cpu_seconds(server.pid) - cpu
            server.terminate()
            status = server.wait(60)
    verdict_seconds = [seconds for each in answers for seconds in each.verdict_seconds]
    learning_seconds = [seconds for each in answers for seconds in each.learning_seconds]
    errors = [error for each in answers for error in each.errors]
    messages = len(verdict_seconds) + len(learning_seconds)
    print(f"{messages / options.seconds:.0f} messages per second, {len(learning_seconds)} of {messages} learned")
    print(f"{cpu / messages * 1000:.2f} ms of the server's CPU time per message")
    print(f"a verdict takes {percentiles(verdict_seconds)}; learning takes {percentiles(learning_seconds)}")
    print(f"{len(errors)} errors; exit status {status}")
    for error in sorted(set(errors))[:10]:
        print(f"  {error}")
    return int(bool(errors) or status != 0)


if __name__ == "__main__":
    sys.exit(main())
