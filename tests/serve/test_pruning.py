"""``spamnb prune`` as a process: beside a filter that goes on answering and learning, and killed at any moment."""

import random
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from served import Server, mail

from spamnb.classifier import Classifier
from spamnb.store.jsonl import export
from spamnb.store.snapshot import read_snapshot
from spamnb.store.store import Store

PRUNE = [sys.executable, "-m", "spamnb", "prune"]


def with_rare_words(label: str, seed: int) -> bytes:
    """A message with forty words that no other has."""
    return mail(label, seed) + " ".join(f"w{label}{seed}x{n}" for n in range(40)).encode() + b"\n"


def whole(path: Path) -> list[str]:
    """The export, which checks that all sums add up, after SQLite's own check."""
    with sqlite3.connect(path) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
    connection.close()
    with Store.open(path) as store:
        return list(export(store))


def grown(path: Path, messages: int) -> None:
    with Classifier.open(path, writable=True) as classifier, classifier.store.writing():
        for seed in range(1000, 1000 + messages):
            for label in ("ham", "spam"):
                classifier.learn(label, with_rare_words(label, seed))


@pytest.mark.slow
def test_prune_beside_a_server_loses_no_lesson_and_no_answer(model: Path, serve: Callable[..., Server]) -> None:
    grown(model, 100)
    server = serve(model, "--workers", "2", "--allow-tell")
    told: list[tuple[str, bytes]] = []
    wrong: list[bytes] = []
    stop = threading.Event()

    def teach() -> None:
        seed = 5000
        while not stop.is_set():
            label, seed = ("ham", "spam")[seed % 2], seed + 1
            raw = with_rare_words(label, seed)
            reply = server.about("TELL", raw, "1.5", f"Message-class: {label}", "Set: local")
            (told.append((label, raw)) if b"DidSet: local" in reply else wrong.append(reply))

    def ask() -> None:
        while not stop.is_set():
            if "True" not in (said := server.verdict(mail("spam", 9999))):
                wrong.append(said.encode())

    threads = [threading.Thread(target=work) for work in (teach, ask)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(3):
            done = subprocess.run(
                [*PRUNE, "--yes", "--months", "0", "-m", str(model)], capture_output=True, text=True, timeout=120
            )
            assert done.returncode == 0, done.stderr
            assert "taken out" in done.stdout
    finally:
        stop.set()
        for thread in threads:
            thread.join(60)
    assert not wrong
    assert len(told) > 5
    assert server.stop() == 0
    whole(model)
    with Classifier.open(model) as classifier:
        assert [classifier.learned(raw) for _, raw in told] == [label for label, _ in told]
        assert classifier.store.totals().documents.sum() == 240 + 200 + len(told)
        content = read_snapshot(classifier.store)
        assert content.counts.documents.sum() == len(content.messages)


@pytest.mark.slow
def test_prune_killed_at_any_moment_leaves_a_whole_model(model: Path, tmp_path: Path) -> None:
    grown(model, 100)
    original = model.read_bytes()
    command = [*PRUNE, "--yes", "--months", "0", "-m", str(model)]
    started = time.monotonic()
    subprocess.run(command, check=True, capture_output=True)
    takes, pruned = time.monotonic() - started, whole(model)
    chance, killed = random.Random(2), 0
    for _ in range(6):
        for suffix in ("-wal", "-shm"):
            Path(f"{model}{suffix}").unlink(missing_ok=True)
        model.write_bytes(original)
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        started = time.monotonic()
        try:
            process.wait(chance.uniform(0.3, 1) * takes)
            takes = min(takes, time.monotonic() - started)  # the machine is faster now
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            killed += process.wait() == -signal.SIGKILL
        whole(model)
        assert subprocess.run(command, capture_output=True).returncode == 0
        assert whole(model)[1:] == pruned[1:]  # but for the number of tokens in "pruned", told in the first line
    assert killed


def test_prune_asks_and_says_what_leaves(model: Path) -> None:
    grown(model, 10)
    before = model.read_bytes()
    asks = [*PRUNE, "--months", "0", "-m", str(model)]
    told = subprocess.run(asks, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    assert told.returncode == 1
    assert "nothing was taken out; --yes" in told.stderr
    dry = subprocess.run([*PRUNE, "--dry-run", "--months", "0", "-m", str(model)], capture_output=True, text=True)
    assert dry.returncode == 0
    assert "held by one message" in dry.stdout
    assert model.read_bytes() == before
