"""Real processes, killed and racing: the model is the state before or after, and nothing learned is lost."""

import contextlib
import os
import random
import signal
import sqlite3
import subprocess
import time
from pathlib import Path

import pytest
from commands import SPAMNB, killed_after
from mail import folders, mail, message, model_of, same_counts, sums

from spamnb.classifier import Classifier
from spamnb.store.jsonl import export
from spamnb.store.snapshot import read_snapshot
from spamnb.store.store import Store

pytestmark = pytest.mark.slow

def whole(path: Path) -> list[str]:
    with Store.open(path) as store:
        lines = list(export(store))
    connection = sqlite3.connect(path)
    assert connection.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
    connection.close()
    return lines


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_train_told_to_end_leaves_nothing_behind(tmp_path: Path, sent: signal.Signals) -> None:
    if signal.getsignal(sent) is signal.SIG_IGN:
        pytest.skip("spamnb heeds nohup, under which these tests run")
    mail_folder, temporary = folders(tmp_path / "mail", mail(1000)), tmp_path / "temporary"  # half a second of work
    temporary.mkdir()
    (tmp_path / "models").mkdir()
    train = [*SPAMNB, "train", "--workers", "2", "-m", str(tmp_path / "models" / "m.spamnb"), str(mail_folder)]
    ended = 0
    for n in range(8):
        process = subprocess.Popen(
            train,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            start_new_session=True,
            env={**os.environ, "TMPDIR": str(temporary)},
        )
        if n >= 4:  # while it writes the model; before, while it reads
            while not any((tmp_path / "models").iterdir()) and process.poll() is None:
                time.sleep(0.001)
        else:
            time.sleep(0.3)
        time.sleep(0.03 * n)
        with contextlib.suppress(ProcessLookupError):  # Ctrl-C goes to all processes of a terminal
            os.killpg(process.pid, sent) if sent is signal.SIGINT else process.send_signal(sent)
        _, told = process.communicate(timeout=120)
        # Python itself may end by the signal: where it comes while the interpreter is being taken down, or inside a
        # string that some library executes (Python then repeats the signal after all is cleaned up).
        assert process.returncode in (128 + sent, 0, -sent), told
        assert b"Traceback" not in told
        ended += process.returncode != 0
        assert not list(temporary.iterdir())
        left = {path.name for path in (tmp_path / "models").glob("*")}
        assert not left or {"m.spamnb"} <= left <= {"m.spamnb", "m.spamnb-wal", "m.spamnb-shm"}
        for name in left:
            (tmp_path / "models" / name).unlink()
    assert ended >= 1


def test_learn_killed_at_any_moment_keeps_whole_messages_only(tmp_path: Path) -> None:
    model = tmp_path / "m.spamnb"
    folders(tmp_path, mail(250))
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
    straight = model_of([*mail(3), *[("spam", message("spam", n)) for n in range(250)]])
    assert sums(whole(model)) == sums(export(straight.store))


def test_two_processes_that_learn_at_once_lose_nothing(tmp_path: Path) -> None:
    model = tmp_path / "m.spamnb"
    Classifier.create(model).close()
    folders(tmp_path, mail(120))
    learners = [
        subprocess.Popen([*SPAMNB, "learn", "-m", str(model), label, str(tmp_path / label)], stdout=subprocess.DEVNULL)
        for label in ("ham", "spam", "ham")  # the third brings nothing new
    ]
    assert [learner.wait(120) for learner in learners] == [0, 0, 0]
    straight = Classifier.create(":memory:")
    whole(model)
    with Classifier.open(model, writable=True) as classifier, classifier.store.writing():
        for label, raw in mail(120):
            straight.learn(label, raw)
        both = (read_snapshot(one.store) for one in (classifier, straight))
        assert same_counts(*(snapshot.counts for snapshot in both))
        for label, raw in mail(120):  # weights are what messages brought, whoever learned them
            assert classifier.forget(label, raw)
        assert not len(classifier.store.cells()[0])
