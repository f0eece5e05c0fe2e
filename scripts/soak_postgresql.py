"""Three servers of the spamd protocol on one PostgreSQL, load from spamc on all, and kills: is every lesson there?

    python scripts/soak_postgresql.py                    two minutes, one SIGKILL every two seconds
    python scripts/soak_postgresql.py --kills 3 --every 1 --clients 3

Every client asks a server by chance: it has a message judged, teaches one or has one forgotten, and tries again until
that is acknowledged. Meanwhile one of the servers, or PostgreSQL with all its processes, is ended by SIGKILL and
started again. At the end every acknowledged lesson must be there once, the sums must be those of the messages, and
weights the sums of what the messages brought. One line of JSON says what happened; it ends 1 where something was lost
or altered.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path

import numpy as np
from postgresql_server import Server

from spamnb.api.train import train
from spamnb.classifier import Classifier
from spamnb.settings import Settings
from spamnb.store.snapshot import read_snapshot

HOSTS = 3
SPAMNB = [sys.executable, "-m", "spamnb"]
LEARNED, ALREADY = b"Message successfully un/learned", b"Message was already un/learned"  # what spamc prints
PATIENCE = 120.0  # seconds until something must have worked
WORDS = {
    "ham": "meeting minutes lunch report thanks invoice project draft agenda tomorrow".split(),
    "spam": "pills winner casino offer cheap click viagra million lottery prize".split(),
}


def message(label: str, number: int) -> bytes:
    chance = random.Random(number)
    words = chance.choices(WORDS[label], k=8) + [f"word{chance.randrange(400)}" for _ in range(25)]
    return f"Subject: {label} {number}\nMessage-ID: <{number}@soak>\n\n{' '.join(words)}\n".encode()


class Hosts:
    """Several ``spamnb serve`` on one model."""

    def __init__(self, model: str, log: Path) -> None:
        self.model, self.log = model, log
        self.ports = [_free_port() for _ in range(HOSTS)]
        self._running: list[subprocess.Popen[bytes] | None] = [None] * HOSTS
        for which in range(HOSTS):
            self.start(which)
        for port in self.ports:
            _wait(lambda port=port: _answers(port), "a server that answers")  # type: ignore[misc]

    def start(self, which: int) -> None:
        command = [*SPAMNB, "serve", "-m", self.model, "--port", str(self.ports[which]), "--allow-tell"]
        with (self.log / f"serve{which}").open("ab") as log:
            self._running[which] = subprocess.Popen(command, stderr=log, start_new_session=True)

    def start_ended(self) -> None:
        """Those that could not start while PostgreSQL was away."""
        for which, running in enumerate(self._running):
            if running is not None and running.poll() is not None:
                self.start(which)

    def kill(self, which: int) -> None:
        """SIGKILL to a server and its workers."""
        running = self._running[which]
        assert running is not None
        with contextlib.suppress(ProcessLookupError):
            os.killpg(running.pid, signal.SIGKILL)
        running.wait()

    def stop(self) -> None:
        for which in range(HOSTS):
            self.kill(which)


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return int(taken.getsockname()[1])


def _answers(port: int) -> bool:
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 10) as client:
        client.sendall(b"PING SPAMC/1.5\r\n\r\n")
        return b"PONG" in client.recv(100)
    return False


def _wait(condition, what: str) -> None:  # type: ignore[no-untyped-def]
    deadline = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > deadline:
            raise SystemExit(f"soak_postgresql: waited {PATIENCE:.0f} s for {what}")
        time.sleep(0.05)


class Client(threading.Thread):
    """Asks, teaches and has forgotten, one after the other, until it is told to end."""

    def __init__(self, number: int, hosts: Hosts, ending: threading.Event) -> None:
        super().__init__()
        self.number, self.hosts, self.ending = number, hosts, ending
        self.known: dict[int, str] = {}  # what must be there, by number
        self.counts: Counter[str] = Counter()
        self.failed: str | None = None

    def run(self) -> None:
        chance, n = random.Random(self.number), 0
        try:
            while not self.ending.is_set():
                n += 1
                number = self.number * 1_000_000 + n
                label = chance.choice(["ham", "spam"])
                self.until_acknowledged(["-L", label], message(label, number), chance)
                self.known[number] = label
                self.counts["taught"] += 1
                if n % 5 == 0:
                    gone, label = chance.choice(list(self.known.items()))
                    self.until_acknowledged(["-L", "forget"], message(label, gone), chance)
                    del self.known[gone]
                    self.counts["forgotten"] += 1
                raw = message(label, number)
                answer = self.spamc([], raw, chance)
                if raw.split(b"\n\n", 1)[1].strip() not in answer.stdout:
                    raise RuntimeError("spamc did not pass the message on")
                self.counts["judged" if b"X-Spam" in answer.stdout else "passed on unjudged"] += 1
        except Exception as error:  # told by whoever waits for this thread
            self.failed = repr(error)

    def spamc(self, options: list[str], raw: bytes, chance: random.Random) -> subprocess.CompletedProcess[bytes]:
        port = str(chance.choice(self.hosts.ports))
        command = ["spamc", "-d", "127.0.0.1", "-p", port, "-t", "60", "--connect-retries=1", *options]
        return subprocess.run(command, input=raw, capture_output=True, timeout=PATIENCE)

    def until_acknowledged(self, options: list[str], raw: bytes, chance: random.Random) -> None:
        deadline = time.monotonic() + PATIENCE
        while (told := self.spamc([*options, "-x"], raw, chance).stdout.strip()) not in (LEARNED, ALREADY):
            self.counts["tried again"] += 1
            if time.monotonic() > deadline:
                raise RuntimeError(f"spamc {options} was not answered for {PATIENCE:.0f} s")
            time.sleep(0.05)
        self.counts["acknowledged the second time"] += told == ALREADY


def soak(server: Server, model: str, folder: Path, kills: int, every: float, clients: int, seed: int) -> dict:
    """Load, kills, and what is wrong at the end."""
    hosts, ending, chance = Hosts(model, folder), threading.Event(), random.Random(seed)
    load = [Client(number, hosts, ending) for number in range(1, clients + 1)]
    killed: Counter[str] = Counter()
    try:
        for client in load:
            client.start()
        for n in range(kills):
            acknowledged = sum(client.counts["taught"] for client in load)
            time.sleep(every)
            if n % 3 == 2:
                server.kill()
                _start(server)
                killed["PostgreSQL"] += 1
            else:
                which = chance.randrange(HOSTS)
                hosts.kill(which)
                hosts.start(which)
                killed["serve"] += 1
            hosts.start_ended()
            _wait(
                lambda before=acknowledged: (  # type: ignore[misc]
                    hosts.start_ended() or sum(client.counts["taught"] for client in load) > before
                ),
                "a lesson after a kill",
            )
        ending.set()
        deadline = time.monotonic() + PATIENCE
        while any(client.is_alive() for client in load) and time.monotonic() < deadline:
            hosts.start_ended()
            time.sleep(0.1)
    finally:
        ending.set()
        for client in load:
            client.join(PATIENCE)
        hosts.stop()
    counts = sum((client.counts for client in load), Counter())
    known = {number: label for client in load for number, label in client.known.items()}
    wrong = [client.failed for client in load if client.failed] + damage(model, known, folder)
    return {"killed": dict(killed), **dict(sorted(counts.items())), "lessons": len(known), "wrong": wrong}


def _start(server: Server) -> None:
    """A process that was killed may still hold the server's memory for a moment."""

    def started() -> bool:
        try:
            server.start()
        except subprocess.SubprocessError:
            return False
        return True

    _wait(started, "PostgreSQL to start")


def damage(model: str, known: dict[int, str], folder: Path) -> list[str]:
    """What is not as it should be in a model that was trained on ``folder``/mail and taught the messages ``known``."""
    wrong, plain = [], folder / "plain"
    train(str(folder / "mail"), plain, model_type="boolean", workers=1)
    with Classifier.open(plain, writable=True) as expected:
        for number, label in known.items():
            expected.learn(label, message(label, number))
        should = read_snapshot(expected.store)
    with Classifier.open(model) as found:
        there = read_snapshot(found.store)  # which raises where sums do not add up
        labels = [{digest: learned.label for digest, learned in snapshot.messages} for snapshot in (should, there)]
        if labels[0] != labels[1]:
            differ = len(labels[0].items() ^ labels[1].items())
            wrong.append(f"{differ} messages that are missing, too many, or of another class")
        if list(should.tokens) != list(there.tokens) or str(_counts(should)) != str(_counts(there)):
            wrong.append("sums that are not those of the messages")
        if there.correction is not None:
            wrong += _wrong_weights(found, there, known, folder)
    return wrong


def _counts(snapshot) -> list:  # type: ignore[no-untyped-def]
    counts = snapshot.counts
    return [counts.classes, counts.documents.tolist(), [[values.tolist() for values in row] for row in counts.rows]]


def _wrong_weights(classifier: Classifier, there, known: dict[int, str], folder: Path) -> list[str]:  # type: ignore[no-untyped-def]
    """Weights must be what all messages brought to their tokens."""
    _, weights, brought = there.correction
    units = dict(zip(brought.digests, brought.units))
    raws = [path.read_bytes() for path in sorted((folder / "mail").glob("*/*"))]
    raws += [message(label, number) for number, label in known.items()]
    sums: dict[str, np.ndarray] = {}
    for raw in {classifier.read(raw).digest: raw for raw in raws}.values():
        read = classifier.read(raw)
        if read.digest in units:
            for token in read.counts:
                sums[token] = sums.get(token, 0) + units[read.digest]
    of_key = dict(zip(weights.keys.tolist(), weights.units.tolist()))
    place = dict(zip(there.tokens, there.tokens.hashes.tolist()))
    found = {token: of_key[key] for token, key in place.items() if key in of_key}
    expected = {token: of.tolist() for token, of in sums.items() if of.any()}
    return [] if found == expected else ["weights that are not what the messages brought"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=60)
    parser.add_argument("--every", type=float, default=2.0, metavar="SECONDS")
    parser.add_argument("--clients", type=int, default=6)
    parser.add_argument("--model-type", default=Settings().model_type)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--mail", type=Path, default=Path(__file__).parents[1] / "corpora" / "mail")
    given = parser.parse_args()
    place = Path(tempfile.mkdtemp(prefix="pg", dir="/tmp"))
    folder = Path(tempfile.mkdtemp())
    shutil.copytree(given.mail, folder / "mail")
    server = Server(place)
    started = time.monotonic()
    try:
        model = server.url("soak")
        train(str(folder / "mail"), model, model_type=given.model_type, workers=1)
        report = soak(server, model, folder, given.kills, given.every, given.clients, given.seed)
    finally:
        if server.pids():
            server.stop()
        shutil.rmtree(place)
        shutil.rmtree(folder)
    print(json.dumps({"seconds": round(time.monotonic() - started, 1), **report}))
    raise SystemExit(1 if report["wrong"] else 0)


if __name__ == "__main__":
    main()
