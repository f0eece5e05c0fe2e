"""Measure how many messages ``spamnb serve`` classifies and learns per second, over several connections.

    python scripts/soak_server.py --model MODEL spam=FOLDER ham=FOLDER [--seconds 30] [--connections 8] [--tell 0.05]
    python scripts/soak_server.py --model MODEL spam=FOLDER ham=FOLDER --requests 20000 --users 1000

With ``--users N`` each message is of one of N users, who have models of their own (``serve --models``), and with
``--requests N`` the script ends after about N messages; it then prints ten times in between how many messages were
answered and how much memory the server has, which must not grow.

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
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import numpy as np


class Message(NamedTuple):
    """A message and the class that its folder has."""

    label: str
    raw: bytes


class Answers(NamedTuple):
    """Times and errors of all connections."""

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


def load(
    port: int, mail: list[Message], share: float, n_users: int, answers: Answers, seed: int, is_over: Callable[[], bool]
) -> None:
    """Send messages until ``is_over``, and append to ``answers``."""
    chance = random.Random(seed)
    while not is_over():
        message, teaches = chance.choice(mail), chance.random() < share
        headers = (f"Message-class: {message.label}", "Set: local") if teaches else ()
        headers += (f"User: user{chance.randrange(n_users)}",) if n_users else ()
        start = time.monotonic()
        try:
            answer = ask(port, "TELL" if teaches else "CHECK", message.raw, *headers)
        except OSError as error:
            answer = str(error).encode()
        (answers.learning_seconds if teaches else answers.verdict_seconds).append(time.monotonic() - start)
        if b" 0 EX_OK" not in answer[:40]:
            answers.errors.append(answer[:100].decode(errors="replace"))


def resident_megabytes(process: int) -> float:
    """Return the memory of a process."""
    return int(Path(f"/proc/{process}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


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
    parser.add_argument("--requests", type=int, metavar="N", help="end after N messages, and not after --seconds")
    parser.add_argument("--users", type=int, default=0, metavar="N", help="number of users with models of their own")
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
        users = Path(folder, "users")
        users.mkdir()
        command = [*shlex.split(options.python), "-m", "spamnb", "serve", "-m", model, "--port", "0", "--allow-tell"]
        command += ["--workers", str(options.workers), *(["--models", str(users)] if options.users else [])]
        server = subprocess.Popen(command, stderr=subprocess.PIPE)
        assert server.stderr is not None
        events = (json.loads(line) for line in server.stderr if line.startswith(b"{"))
        port = int(next(event["address"] for event in events if event["event"] == "listening").rpartition(":")[2])
        with ThreadPoolExecutor(options.connections + 1) as executor:
            executor.submit(lambda: [None for _ in events])  # the server waits if nobody reads its log
            ask(port, "CHECK", mail[0].raw)
            cpu, start, answers = cpu_seconds(server.pid), time.monotonic(), Answers([], [], [])

            def count() -> int:
                return len(answers.verdict_seconds) + len(answers.learning_seconds)

            def is_over() -> bool:
                if options.requests:
                    return count() >= options.requests
                return time.monotonic() >= start + options.seconds

            running = [
                executor.submit(load, port, mail, options.tell, options.users, answers, n, is_over)
                for n in range(options.connections)
            ]
            next_line = (options.requests or 0) // 10
            while options.requests and not is_over() and not all(each.done() for each in running):
                time.sleep(0.1)
                if count() >= next_line:
                    print(f"{count()} messages: {resident_megabytes(server.pid):.0f} MB", flush=True)
                    next_line += options.requests // 10
            for each in running:
                each.result()
            seconds, megabytes = time.monotonic() - start, resident_megabytes(server.pid)
            cpu = cpu_seconds(server.pid) - cpu
            server.terminate()
            status = server.wait(60)
    verdict_seconds, learning_seconds, errors = answers
    messages = len(verdict_seconds) + len(learning_seconds)
    print(f"{messages / seconds:.0f} messages per second, {len(learning_seconds)} of {messages} learned")
    print(f"{megabytes:.0f} MB of memory at the end")
    print(f"{cpu / messages * 1000:.2f} ms of the server's CPU time per message")
    print(f"a verdict takes {percentiles(verdict_seconds)}; learning takes {percentiles(learning_seconds)}")
    print(f"{len(errors)} errors; exit status {status}")
    for error in sorted(set(errors))[:10]:
        print(f"  {error}")
    return int(bool(errors) or status != 0)


if __name__ == "__main__":
    sys.exit(main())
