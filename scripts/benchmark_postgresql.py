"""A model in a file and on a PostgreSQL server, side by side: processor time a message, the server's included.

    python scripts/benchmark_postgresql.py ~/corpora                        the default model
    python scripts/benchmark_postgresql.py ~/corpora --model-type boolean --rounds 5

The server is a new one on a Unix socket, with PostgreSQL's own settings. The model is of 3,000 messages of
SpamAssassin's; 300 others are judged with nothing in memory, judged one after the other, judged while another process
learns one after every 20, and learned. Files and the server take turns; the medians of the rounds are printed.
"""

from __future__ import annotations

import argparse
import random
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from postgresql_server import Server

from spamnb.api.train import train
from spamnb.classifier import Classifier
from spamnb.settings import Settings

TRAINED, ASKED, TAUGHT_AFTER = 3000, 300, 20
PARTS = {"ham": ("easy_ham", "easy_ham_2", "hard_ham"), "spam": ("spam", "spam_2")}
Message = tuple[str, bytes]


def mail(corpora: Path) -> list[Message]:
    """All messages of SpamAssassin's corpus, in the same order on every run."""
    found = [
        (label, path)
        for label, parts in PARTS.items()
        for part in parts
        for path in sorted((corpora / "spamassassin" / part).iterdir())
        if path.name != "cmds"
    ]
    random.Random(1).shuffle(found)
    return [(label, path.read_bytes()) for label, path in found]


def judged_cold(name: str, asked: Sequence[Message]) -> None:
    for _, raw in asked[::6]:
        with Classifier.open(name) as classifier:
            classifier.classify(raw, tokens=0)


def judged(name: str, asked: Sequence[Message]) -> None:
    with Classifier.open(name) as classifier:
        for _, raw in asked:
            classifier.classify(raw, tokens=0)


def judged_while_taught(name: str, asked: Sequence[Message]) -> None:
    with Classifier.open(name) as classifier, Classifier.open(name, writable=True) as teacher:
        for n, (label, raw) in enumerate(asked):
            if n % TAUGHT_AFTER == 0:
                teacher.learn(label, raw + b"\nonce more\n")
            classifier.classify(raw, tokens=0)


def learned(name: str, asked: Sequence[Message]) -> None:
    with Classifier.open(name, writable=True) as classifier:
        for label, raw in asked:
            classifier.learn(label, raw)


STEPS: dict[str, tuple[Callable[[str, Sequence[Message]], None], int]] = {
    "classified, nothing in memory": (judged_cold, ASKED // 6),
    "classified one after the other": (judged, ASKED),
    f"the same, another learns after every {TAUGHT_AFTER}": (judged_while_taught, ASKED),
    "learned": (learned, ASKED),
}


def measured(corpora: Path, model_type: str, rounds: int) -> None:
    every = mail(corpora)
    folder = Path(tempfile.mkdtemp(prefix="pg", dir="/tmp"))
    server, place = Server(folder, ""), Path(tempfile.mkdtemp())
    figures: dict[str, list[list[float]]] = {step: [[], []] for step in STEPS}
    try:
        for label in PARTS:
            (place / "mail" / label).mkdir(parents=True)
        for n, (label, raw) in enumerate(every[:TRAINED]):
            (place / "mail" / label / f"{n:05}").write_bytes(raw)
        for n in range(rounds):
            names = str(place / f"model{n}"), server.url(f"benchmark{n}")  # a training would teach its lessons again
            for name in names:
                train(str(place / "mail"), name, model_type=model_type, workers=1)
            for step, (run, messages) in STEPS.items():
                for which, name in enumerate(names):
                    before = server.seconds(), time.process_time()
                    run(name, every[TRAINED : TRAINED + ASKED])
                    parts = time.process_time() - before[1], server.seconds() - before[0]
                    figures[step][which].append(1000 * sum(parts) / messages)
                    print(f"  {step}: {name[:10]} {parts[0]:.2f} s and the server {parts[1]:.2f} s", flush=True)
        print(f"| {model_type}, ms a message | file | server | |\n|---|---|---|---|")
        for step, both in figures.items():
            file, server_time = map(statistics.median, both)
            print(f"| {step} | {file:.1f} | {server_time:.1f} | × {server_time / file:.2f} |")
    finally:
        server.stop()
        shutil.rmtree(folder)
        shutil.rmtree(place)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpora", type=Path)
    parser.add_argument("--model-type", default=Settings().model_type)
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    measured(given.corpora, given.model_type, given.rounds)


if __name__ == "__main__":
    main()
