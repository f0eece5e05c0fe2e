"""How much mail ``spamnb serve`` judges and is taught a second, with real messages over several connections.

    python scripts/soak_server.py --model MODEL spam=FOLDER ham=FOLDER [--seconds 30] [--connections 8] [--tell 0.05]

A server is started on a copy of the model. Each connection asks about one message after the other, and teaches a share
of them (``--tell``) the class of their folder. Printed are messages a second, the server's CPU time for each, the 50th
and 99th percentile of the time to an answer, and errors. The exit status is 1 where there was one.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
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


class Answered(NamedTuple):
    """What one connection after the other met."""

    seconds: list[float]  # of each answer
    taught: int
    errors: list[str]


def ask(port: int, method: str, raw: bytes, *headers: str) -> bytes:
    """The server's answer to one request."""
    head = "\r\n".join([f"{method} SPAMC/1.5", *headers, f"Content-length: {len(raw)}", "", ""])
    with socket.create_connection(("127.0.0.1", port), timeout=60) as client:
        client.sendall(head.encode() + raw)
        return b"".join(iter(lambda: client.recv(1 << 16), b""))


def load(port: int, mail: list[tuple[str, Path]], share: float, seed: int, ends: float) -> Answered:
    """Ask and teach until ``ends``."""
    chance, found = random.Random(seed), Answered([], 0, [])
    while time.monotonic() < ends:
        label, path = chance.choice(mail)
        tells = chance.random() < share
        headers = (f"Message-class: {label}", "Set: local") if tells else ()
        begun = time.monotonic()
        try:
            answer = ask(port, "TELL" if tells else "CHECK", path.read_bytes(), *headers)
        except OSError as error:
            answer = str(error).encode()
        found.seconds.append(time.monotonic() - begun)
        found = found._replace(taught=found.taught + tells)
        if b" 0 EX_OK" not in answer[:40]:
            found.errors.append(answer[:100].decode(errors="replace"))
    return found


def main() -> int:
    """Start the server, load it and print what it did."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", nargs="+", help="CLASS=FOLDER, in which each file is a message; CLASS is ham or spam")
    parser.add_argument("--model", required=True)
    parser.add_argument("--seconds", type=float, default=30.0)
    parser.add_argument("--connections", type=int, default=8)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--tell", type=float, default=0.05, help="share of messages that are taught (.05)")
    options = parser.parse_args()
    sources = [source.partition("=")[::2] for source in options.source]
    mail = [(label, path) for label, folder in sources for path in Path(folder).rglob("*") if path.is_file()]
    with tempfile.TemporaryDirectory() as folder:
        model = shutil.copy(options.model, Path(folder, "model.spamnb"))
        command = [sys.executable, "-m", "spamnb", "serve", "-m", model, "--port", "0", "--allow-tell"]
        server = subprocess.Popen([*command, "--workers", str(options.workers)], stderr=subprocess.PIPE)
        assert server.stderr is not None
        events = (json.loads(line) for line in server.stderr if line.startswith(b"{"))
        port = int(next(event["address"] for event in events if event["event"] == "listening").rpartition(":")[2])
        with ThreadPoolExecutor(options.connections + 1) as executor:
            executor.submit(lambda: [None for _ in events])  # its log is read, or it would wait
            ends = time.monotonic() + options.seconds
            running = [executor.submit(load, port, mail, options.tell, n, ends) for n in range(options.connections)]
            found = [each.result() for each in running]
            server.terminate()
            status = server.wait(60)
    seconds, errors = np.concatenate([each.seconds for each in found]), [said for each in found for said in each.errors]
    p50, p99 = np.percentile(seconds, [50, 99]) * 1000
    taught = sum(each.taught for each in found)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = (used.ru_utime + used.ru_stime) / len(seconds) * 1000
    print(f"{len(seconds) / options.seconds:.0f} messages a second, {taught} of {len(seconds)} taught")
    print(f"{cpu:.2f} ms of the server's CPU time a message, its start included")
    print(f"an answer takes {p50:.1f} ms (p50), {p99:.1f} ms (p99); {len(errors)} errors; exit status {status}")
    for said in sorted(set(errors))[:10]:
        print(f"  {said}")
    return int(bool(errors) or status != 0)


if __name__ == "__main__":
    sys.exit(main())
