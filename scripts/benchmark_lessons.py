"""What lessons cost: latency of TELL, growth of the model file and of the server's memory.

    python scripts/benchmark_lessons.py ~/corpora                       10,000 lessons to 2 workers
    python scripts/benchmark_lessons.py ~/corpora --lessons 1000 --checks 1

The mail of SpamAssassin's, Enron's, Ling-Spam's and the newsgroups' corpora is shared out: every fourth message is kept
for lessons, the others make the model. Where there are more lessons than messages they come again with words respelt,
so that half of their words are new. One client teaches, a lesson after the other, and where --checks asks for it has
other messages judged in between, as mail flows while a person teaches.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from soak_server import children, damage, start

SOURCES = {
    "ham": (
        *(f"enron-spam/enron{n}/ham" for n in (1, 2, 3)),
        *(f"spamassassin/{part}" for part in ("easy_ham", "easy_ham_2", "hard_ham")),
        "20news-bydate/train",
        "20news-bydate/test",
        "lingspam/ham",
    ),
    "spam": (
        *(f"enron-spam/enron{n}/spam" for n in (1, 2, 3)),
        *(f"spamassassin/{part}" for part in ("spam", "spam_2")),
        "lingspam/spam",
        "modern/phishing",
    ),
}
SHARE = 4  # every so manieth message is a lesson
_WORD = re.compile(rb"\b[A-Za-z]{4,20}\b")


def files(root: Path) -> list[tuple[str, Path]]:
    """Class and file of all mail, in the same order on every run."""
    found = [(label, path) for label, parts in SOURCES.items() for part in parts for path in (root / part).rglob("*")]
    mail = sorted((label, path) for label, path in found if path.is_file() and path.name != "cmds")
    random.Random(1).shuffle(mail)
    return mail


def respelt(raw: bytes, chance: random.Random) -> bytes:
    """The message with every second longer word of its body changed: another message of the same kind."""

    def change(match: re.Match[bytes]) -> bytes:
        word = match[0]
        return word if chance.random() < 0.5 else word[:3] + b"%c" % chance.choice(b"aeioubdgkmnrst") + word[3:]

    head, _, body = raw.partition(b"\n\n")
    return head + b"\n\n" + _WORD.sub(change, body)


def lessons(mail: list[tuple[str, Path]], count: int) -> list[tuple[str, bytes]]:
    """So many lessons, of the messages themselves first."""
    own = [(label, path.read_bytes()) for label, path in mail[:count]]
    chance = random.Random(2)
    while len(own) < count:
        label, raw = own[len(own) - len(mail)]
        own.append((label, respelt(raw, chance)))
    return own


def ask(port: int, method: str, raw: bytes, extra: str = "") -> tuple[float, bytes]:
    """Seconds until the whole reply, and the reply."""
    head = f"{method} SPAMC/1.5\r\n{extra}Content-length: {len(raw)}\r\n\r\n".encode()
    started = time.perf_counter()
    with socket.create_connection(("127.0.0.1", port)) as connection:
        connection.sendall(head + raw)
        reply = b""
        while part := connection.recv(65536):
            reply += part
    return time.perf_counter() - started, reply


def tell(port: int, label: str, raw: bytes) -> tuple[float, bytes]:
    """Teach one message."""
    return ask(port, "TELL", raw, f"Message-class: {label}\r\nSet: local\r\n")


def memory(server: int) -> list[float]:
    """Megabytes that each worker has for itself."""
    found = []
    for pid in children(server):
        rollup = Path(f"/proc/{pid}/smaps_rollup").read_text()
        kilobytes = sum(int(n) for n in re.findall(r"^(?:Private_Clean|Private_Dirty): +(\d+)", rollup, re.MULTILINE))
        found.append(round(kilobytes / 1000, 1))
    return found


def written(server: int) -> float:
    """Megabytes that the workers have given to the disk."""
    text = "".join(Path(f"/proc/{pid}/io").read_text() for pid in children(server))
    return sum(map(int, re.findall(r"^write_bytes: (\d+)", text, re.MULTILINE))) / 1e6


def figures(seconds: list[float]) -> dict[str, float]:
    """Median and tail in milliseconds."""
    ordered = sorted(seconds)
    places = {"p50": 0.5, "p90": 0.9, "p99": 0.99, "p999": 0.999, "max": 1}
    last = len(ordered) - 1
    return {name: round(1000 * ordered[min(int(at * len(ordered)), last)], 1) for name, at in places.items()}


def size(model: Path) -> float:
    """Megabytes of the file and its log."""
    return round(sum(path.stat().st_size for path in model.parent.glob(model.name + "*")) / 1e6, 1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpora", type=Path)
    parser.add_argument("--lessons", type=int, default=10_000)
    parser.add_argument("--checks", type=int, default=0, metavar="N", help="N verdicts are asked for after each lesson")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--model", type=Path, help="a model made before by this script; it is copied")
    parser.add_argument("--keep", type=Path, help="where the model that was trained is kept")
    arguments = parser.parse_args()
    mail = files(arguments.corpora)
    with tempfile.TemporaryDirectory() as folder:
        model = Path(folder, "model.spamnb")
        if arguments.model:
            model.write_bytes(arguments.model.read_bytes())
        else:
            index = Path(folder, "index")
            trained = [f"{label} {path}\n" for i, (label, path) in enumerate(mail) if i % SHARE]
            index.write_text("".join(trained))
            command = [sys.executable, "-m", "spamnb", "train", "-m", str(model), f"index:{index}"]
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
            if arguments.keep:
                arguments.keep.write_bytes(model.read_bytes())
        before = size(model)
        taught = lessons(mail[::SHARE], arguments.lessons)
        process, port = start(str(model), ["--workers", str(arguments.workers), "--allow-tell"])
        at_start = memory(process.pid)
        told, checked = [], []
        for i, (label, raw) in enumerate(taught, 1):
            seconds, reply = tell(port, label, raw)
            if b" 0 EX_OK" not in reply:
                raise SystemExit(f"wrong: {reply[:200]!r}")
            told.append(seconds)
            for n in range(arguments.checks):
                checked.append(ask(port, "CHECK", taught[(i * 7 + n) % len(taught)][1])[0])
            if i % max(arguments.lessons // 10, 1) == 0:
                found = {"lessons": i, "file_mb": size(model), "workers_mb": memory(process.pid)}
                print(json.dumps({**found, "written_mb": round(written(process.pid))}), flush=True)
        process.terminate()
        process.wait(60)
        print(json.dumps({"tell_ms": figures(told), **({"check_ms": figures(checked)} if checked else {})}))
        grown = {"file_before_mb": before, "file_after_mb": size(model), "workers_before_mb": at_start}
        print(json.dumps({**grown, "damage": damage(model)}))


if __name__ == "__main__":
    main()
