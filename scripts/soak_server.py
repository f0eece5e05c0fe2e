"""Load on a server of the spamd protocol: rate, latency, memory, and what becomes of it when its workers are killed.

    python scripts/soak_server.py MODEL MAIL...                 spamnb serve with MODEL, asked about the MAIL folders
    python scripts/soak_server.py MODEL MAIL... --kill 1        a worker killed with SIGKILL every second
    python scripts/soak_server.py MODEL MAIL... --trickle 200   200 connections that send a byte a second meanwhile
    python scripts/soak_server.py - MAIL... --port 1783         another server that runs already, such as SpamAssassin's

Each connection asks, waits for the whole reply and asks again, every fifth time teaching where ``--teach`` is given.
Everything stays on the loopback interface. It ends 1 where a reply was wrong, a taught message was lost, or the model
file is damaged.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path


class Load:
    """Clients that ask in a closed loop, and what they saw."""

    def __init__(self, port: int, mail: list[bytes], teach: bool, seed: int) -> None:
        self.port = port
        self.mail = mail
        self.teach = teach
        self.chance = random.Random(seed)
        self.seconds: list[float] = []
        self.refused = self.cut = 0
        self.wrong: list[bytes] = []
        self.told: list[bytes] = []

    async def ask(self) -> None:
        raw = self.chance.choice(self.mail)
        method, extra = "CHECK", b""
        if self.teach and self.chance.random() < 0.2:
            method, extra = "TELL", b"Message-class: spam\r\nSet: local\r\n"
            raw += b"\n%d\n" % self.chance.getrandbits(60)
        head = f"{method} SPAMC/1.5\r\n".encode() + extra + b"Content-length: %d\r\n\r\n" % len(raw)
        started = time.perf_counter()
        try:
            reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
            with contextlib.closing(writer):
                writer.write(head + raw)
                reply = await reader.read()
        except OSError:
            self.cut += 1
            return
        self.seconds.append(time.perf_counter() - started)
        if not reply:
            self.cut += 1  # the worker was killed while it had the request: the client knows it has no answer
        elif reply.startswith(b"SPAMD/1.0 69") or reply.startswith(b"SPAMD/1.0 75"):
            self.refused += 1
        elif not reply.startswith(b"SPAMD/1.1 0 EX_OK\r\n"):
            self.wrong.append(reply)
        elif method == "TELL" and b"DidSet: local" in reply:
            self.told.append(raw)

    async def run(self, connections: int, seconds: float) -> None:
        end = time.monotonic() + seconds

        async def client() -> None:
            while time.monotonic() < end:
                await asyncio.wait_for(self.ask(), 60)

        await asyncio.gather(*(client() for _ in range(connections)))

    def figures(self, seconds: float) -> dict[str, object]:
        ordered = sorted(self.seconds) or [0.0]
        return {
            "answered": len(self.seconds),
            "per_second": round(len(self.seconds) / seconds, 1),
            "p50_ms": round(1000 * ordered[len(ordered) // 2], 2),
            "p99_ms": round(1000 * ordered[len(ordered) * 99 // 100], 2),
            "refused": self.refused,
            "cut_off": self.cut,
            "wrong": len(self.wrong),
        }


async def trickle(port: int, connections: int) -> None:
    """Connections that send one byte a second, opened anew when the server has had enough of them."""

    async def one() -> None:
        while True:
            with contextlib.suppress(OSError):
                _, writer = await asyncio.open_connection("127.0.0.1", port)
                with contextlib.closing(writer):
                    for byte in b"CHECK SPAMC/1.5\r\nUser: somebody\r\n" * 10:
                        writer.write(bytes([byte]))
                        await writer.drain()
                        await asyncio.sleep(1)

    await asyncio.gather(*(one() for _ in range(connections)))


def children(parent: int) -> list[int]:
    """The worker processes of the server."""
    with contextlib.suppress(FileNotFoundError):
        return [int(pid) for pid in Path(f"/proc/{parent}/task/{parent}/children").read_text().split()]
    return []


def resident(parent: int) -> float:
    """Megabytes that the workers hold."""
    pages = 0
    for pid in children(parent):
        with contextlib.suppress(FileNotFoundError):
            pages += int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return round(pages * os.sysconf("SC_PAGE_SIZE") / 1e6, 1)


async def kill(parent: int, every: float) -> None:
    """SIGKILL to one worker after the other, for ever."""
    turn = 0
    while True:
        await asyncio.sleep(every)
        workers = children(parent)
        turn += 1
        if workers:
            with contextlib.suppress(ProcessLookupError):
                os.kill(workers[turn % len(workers)], signal.SIGKILL)


def lost(model: Path, told: list[bytes]) -> int:
    """How many messages that the server said it learned are not in the model."""
    from spamnb.classifier import Classifier

    with Classifier.open(model) as classifier:
        return sum(classifier.learned(raw) != classifier.settings.spam for raw in told)


def damage(model: Path) -> list[str]:
    """What is wrong with the model file: SQLite's own check, and whether the sums are those of the messages."""
    with contextlib.closing(sqlite3.connect(model)) as database:
        (check,) = database.execute("PRAGMA integrity_check").fetchone()
        (messages,) = database.execute("SELECT count(*) FROM messages").fetchone()
        (documents,) = database.execute("SELECT sum(documents) FROM classes").fetchone()
    return [] if (check, messages) == ("ok", documents) else [f"{check}; {messages} messages, {documents} counted"]


def start(model: str, options: list[str]) -> tuple[subprocess.Popen, int]:
    """A server on a free port, and the port."""
    log = tempfile.NamedTemporaryFile(suffix=".log")  # noqa: SIM115 - open as long as the server
    command = [sys.executable, "-m", "spamnb", "serve", "-m", model, "--port", "0", *options]
    process = subprocess.Popen(command, stderr=log)
    deadline = time.monotonic() + 120
    while b'"ready"' not in (text := Path(log.name).read_bytes()):
        if process.poll() is not None or time.monotonic() > deadline:
            raise SystemExit(text.decode())
        time.sleep(0.05)
    listening = next(line for line in text.splitlines() if b'"listening"' in line)
    return process, int(json.loads(listening)["address"].rpartition(":")[2])


async def measure(arguments: argparse.Namespace, port: int, server: int | None, mail: list[bytes]) -> int:
    """Run each number of connections in turn; the number of things that were wrong."""
    wrong = 0
    for connections in arguments.connections:
        load = Load(port, mail, arguments.teach, seed=connections)
        await Load(port, mail, False, seed=0).run(connections, 0.5)  # warm
        before = resident(server) if server else 0.0
        beside = []
        if arguments.trickle:
            beside.append(asyncio.create_task(trickle(port, arguments.trickle)))
            await asyncio.sleep(1)
        if arguments.kill and server:
            beside.append(asyncio.create_task(kill(server, arguments.kill)))
        await load.run(connections, arguments.seconds)
        for task in beside:
            task.cancel()
        await asyncio.gather(*beside, return_exceptions=True)
        found: dict[str, object] = {"connections": connections, **load.figures(arguments.seconds)}
        if server:
            found |= {"memory_before_mb": before, "memory_after_mb": resident(server)}
        if load.told:
            gone = lost(Path(arguments.model), load.told)
            found |= {"taught": len(load.told), "lost": gone}
            wrong += gone
        wrong += len(load.wrong) + (load.cut if not arguments.kill else 0)
        print(json.dumps(found), flush=True)
        for reply in load.wrong[:3]:
            print(f"wrong: {reply[:200]!r}", file=sys.stderr)
    return wrong


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", help="model file; it learns with --teach, so give a copy. '-' with --port")
    parser.add_argument("mail", nargs="+", type=Path, help="folders of messages to ask about")
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--connections", type=int, nargs="+", default=[1, 8, 64])
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--teach", action="store_true", help="every fifth request is a TELL")
    parser.add_argument("--kill", type=float, metavar="SECONDS", help="SIGKILL to a worker this often")
    parser.add_argument("--trickle", type=int, default=0, metavar="N", help="slow connections meanwhile")
    parser.add_argument("--port", type=int, help="a server that runs already")
    arguments = parser.parse_args()
    mail = [path.read_bytes() for folder in arguments.mail for path in sorted(folder.iterdir())[:1000]]
    process = None
    port = arguments.port
    if port is None:
        process, port = start(arguments.model, ["--workers", str(arguments.workers), "--allow-tell"])
    try:
        wrong = asyncio.run(measure(arguments, port, process.pid if process else None, mail))
    finally:
        if process is not None:
            process.terminate()
            process.wait(60)
    if process is not None:
        found = damage(Path(arguments.model))
        print(json.dumps({"exit": process.returncode, "damage": found}))
        wrong += len(found) + abs(process.returncode)
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
