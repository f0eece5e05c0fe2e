"""Real processes, killed and racing: the model is the state before or after, and nothing learned is lost."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest
from mail import folders, mail, message, same_counts, sums

from spamnb.classifier import Classifier
from spamnb.store.jsonl import export
from spamnb.store.snapshot import read_snapshot
from spamnb.store.store import Store

SPAMNB = [sys.executable, "-m", "spamnb"]


def killed_after(command: list[str], seconds: float, scratch: Path) -> int:
    """Start it in a process group of its own, kill the group after ``seconds``; its exit status.

    Its temporary files, which it cannot take away then, are in ``scratch``.
    """
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        env={**os.environ, "TMPDIR": str(scratch)},
    )
    try:
        return process.wait(seconds)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        return process.wait()


def whole(path: Path) -> list[str]:
    """The export, after SQLite itself has found the file sound."""
    with Store.open(path) as store:
        lines = list(export(store))
    connection = sqlite3.connect(path)
    assert connection.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
    connection.close()
    return lines


@pytest.mark.slow
@pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGHUP])
def test_train_told_to_end_leaves_nothing_behind(tmp_path: Path, sent: signal.Signals) -> None:
    if signal.getsignal(sent) is signal.SIG_IGN:
        pytest.skip("spamnb heeds nohup, under which these tests run")
    mail_folder, scratch = folders(tmp_path / "mail", mail(1000)), tmp_path / "scratch"  # half a second of work
    scratch.mkdir()
    train = [*SPAMNB, "train", "--workers", "2", "-m", str(tmp_path / "models" / "m.spamnb"), str(mail_folder)]
    ended = 0
    for n in range(12):
        process = subprocess.Popen(
            train, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env={**os.environ, "TMPDIR": str(scratch)}
        )
        deadline = time.monotonic() + 120
        while not any(scratch.iterdir()) and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.001)
        time.sleep(0.02 * n)
        process.send_signal(sent)
        _, told = process.communicate(timeout=120)
        assert process.returncode in (128 + sent, 0, -sent), told
        assert b"Traceback" not in told
        ended += process.returncode == 128 + sent
        assert not list(scratch.iterdir())
        left = {path.name for path in (tmp_path / "models").glob("*")}
        assert not left or {"m.spamnb"} <= left <= {"m.spamnb", "m.spamnb-wal", "m.spamnb-shm"}
        for name in left:
            (tmp_path / "models" / name).unlink()
    assert ended >= 2


@pytest.mark.slow
def test_train_killed_at_any_moment_leaves_the_old_model_or_the_new(tmp_path: Path) -> None:
    small, large = folders(tmp_path / "small", mail(10)), folders(tmp_path / "large", mail(400))
    model = tmp_path / "m.spamnb"
    train = [*SPAMNB, "train", "--workers", "1", "--force", "-m", str(model)]
    started = time.monotonic()
    subprocess.run([*train, str(large)], check=True, capture_output=True)
    takes = time.monotonic() - started
    new = whole(model)
    subprocess.run([*train, str(small)], check=True, capture_output=True)
    old = whole(model)
    rng, seen = random.Random(4), set()
    for _ in range(10):
        started = time.monotonic()
        status = killed_after([*train, str(large)], rng.uniform(0.2, 1.1) * takes, tmp_path)
        if status == 0:
            takes = min(takes, time.monotonic() - started)  # the machine is faster now
        lines = whole(model)
        assert lines in (old, new)
        assert status != 0 or lines == new
        seen.add(status)
        with Classifier.open(model) as classifier:
            assert classifier.classify(message("spam", 999)).verdict in ("ham", "spam")
        if lines == new:
            subprocess.run([*train, str(small)], check=True, capture_output=True)
    assert -signal.SIGKILL in seen


@pytest.mark.slow
def test_learn_killed_at_any_moment_keeps_whole_messages_only(tmp_path: Path) -> None:
    model = tmp_path / "m.spamnb"
    for label in ("ham", "spam"):
        (tmp_path / label).mkdir()
        for n in range(250):
            (tmp_path / label / f"{n:04}").write_bytes(message(label, n))
    with Classifier.create(model) as classifier:
        for label, raw in mail(3):
            classifier.learn(label, raw)
    learn = [*SPAMNB, "learn", "-m", str(model), "spam", str(tmp_path / "spam")]
    rng = random.Random(5)
    for _ in range(8):
        killed_after(learn, rng.uniform(0.15, 0.9), tmp_path)
        whole(model)
    subprocess.run(learn, check=True, capture_output=True)
    with Classifier.open(model) as classifier:
        assert dict(zip(classifier.store.totals().classes, classifier.store.totals().documents)) == {
            "ham": 3,
            "spam": 250,
        }
    straight = Classifier.create(":memory:")
    for label, raw in [*mail(3), *[("spam", message("spam", n)) for n in range(250)]]:
        straight.learn(label, raw)
    assert sums(whole(model)) == sums(export(straight.store))


def test_two_processes_that_learn_at_once_lose_nothing(tmp_path: Path) -> None:
    model = tmp_path / "m.spamnb"
    Classifier.create(model).close()
    for label in ("ham", "spam"):
        (tmp_path / label).mkdir()
        for n in range(120):
            (tmp_path / label / f"{n:04}").write_bytes(message(label, n))
    learners = [
        subprocess.Popen([*SPAMNB, "learn", "-m", str(model), label, str(tmp_path / label)], stdout=subprocess.DEVNULL)
        for label in ("ham", "spam", "ham")  # the third brings nothing new
    ]
    assert [learner.wait(60) for learner in learners] == [0, 0, 0]
    straight = Classifier.create(":memory:")
    whole(model)
    with Classifier.open(model, writable=True) as classifier, classifier.store.writing():
        for label, raw in mail(120):
            straight.learn(label, raw)
        both = (read_snapshot(one.store) for one in (classifier, straight))
        assert same_counts(*(snapshot.counts for snapshot in both))
        for label, raw in mail(120):  # weights are what messages brought, whoever learned them
            assert classifier.forget(label, raw)
        assert not len(classifier.store.corrections.whole().weights.keys)


@pytest.mark.parametrize("seconds", [0.0, 0.2, 0.4])
def test_interrupted_training_leaves_nothing_behind(tmp_path: Path, seconds: float) -> None:
    source = folders(tmp_path / "mail", mail(1500))
    models, temporary = tmp_path / "models", tmp_path / "temporary"
    models.mkdir()
    temporary.mkdir()
    process = subprocess.Popen(
        [*SPAMNB, "train", "-m", str(models / "m"), str(source)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        env={**os.environ, "TMPDIR": str(temporary)},
    )
    while process.poll() is None and not list(temporary.iterdir()):  # it has not begun
        time.sleep(0.01)
    time.sleep(seconds)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=120)
    # Python itself may end by the signal: where it comes while the interpreter is being taken down, or inside a string
    # that some library executes (Python then repeats the signal after all is cleaned up).
    assert process.returncode in (130, -signal.SIGINT, 0)
    assert b"Traceback" not in err
    assert list(temporary.iterdir()) == []
    interrupted = process.returncode == 130 or b"interrupted" in err
    if interrupted and not (models / "m").exists():  # it may come when the model is there already
        assert list(models.iterdir()) == []
    else:
        assert whole(models / "m")
